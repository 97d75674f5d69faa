"""M6: the same data, options and seed give the same bytes, whatever the circumstances."""

from __future__ import annotations

import hashlib
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import perceptron_nlp as pn
from benchmarks.trust import builds, samples
from benchmarks.trust.children import ROOT, call
from benchmarks.trust.reached import Reached

OPTIONS: dict[str, dict[str, object]] = {
    "exact": {},
    "fixed": {"table_bits": 14},
    "adagrad": {"update": "adagrad"},
    "beam": {"beam": 4},
    "runs": {"runs": 2, "epochs": 1},
}


def fingerprint(kind: str, threads: int) -> dict[str, str]:
    """Train, save, reload, tag, in this process: the hashes of the file and of the labels."""
    sentences = list(pn.open_corpus(samples.TRAIN))[:200]
    dev = list(pn.open_corpus(samples.DEV))[:40]
    options = {"column": "upos", "epochs": 2, "seed": 5, **OPTIONS[kind]}
    tagger = pn.train(sentences, dev=dev, **options)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pnlp"
        tagger.save(path)
        saved = path.read_bytes()
        again = pn.load(path)
    if again.to_bytes() != saved:
        raise AssertionError("saved, loaded and saved again, the file is another")
    words = samples.words_of() * 9
    labels = again.tag_sents(words, threads=threads)
    if labels != tagger.tag_sents(words):
        raise AssertionError("the reloaded tagger tags otherwise")
    scores = b"".join(again.scores(sentence).tobytes() for sentence in words[:50])
    return {
        "file": hashlib.sha256(saved).hexdigest(),
        "labels": hashlib.sha256(repr(labels).encode()).hexdigest(),
        "scores": hashlib.sha256(scores).hexdigest(),
    }


def circumstances(full: bool) -> list[tuple[int, dict[str, str]]]:
    """Threads and environments: hash seeds, locales, time zones."""
    few = [
        (1, {"PYTHONHASHSEED": "0"}),
        (2, {"PYTHONHASHSEED": "1", "LC_ALL": "C", "PERCEPTRON_NLP_PORTABLE": "1"}),
        (4, {"PYTHONHASHSEED": "random"}),
    ]
    if not full:
        return few
    more = [
        (
            threads,
            {
                "PYTHONHASHSEED": str(seed),
                "LC_ALL": ("C", "C.UTF-8")[seed % 2],
                "TZ": ("UTC", "Asia/Tokyo")[seed % 2],
                "OMP_NUM_THREADS": str(threads),
            },
        )
        for seed, threads in zip(range(2, 19), [1, 2, 4] * 6, strict=False)
    ]
    return few + more


def same_bytes(full: bool) -> Reached:
    """M6: other processes, threads, hash seeds, locales, plain C, a build without wide vectors."""
    wrong = []
    counts = {}
    for kind in OPTIONS if full else ("exact", "fixed"):
        # Both kinds of table in all circumstances, the other ways of training in a few of them.
        tried = [
            (threads, env, ROOT)
            for threads, env in circumstances(full and kind in ("exact", "fixed"))
        ]
        if full:
            tried.append((1, {}, builds.built({"PERCEPTRON_NLP_NARROW": "1"})))
        counts[kind] = len(tried)
        with ThreadPoolExecutor(2) as pool:
            children = list(
                pool.map(
                    lambda one, kind=kind: call(
                        "benchmarks.trust.sameness:fingerprint",
                        kind,
                        one[0],
                        env=one[1],
                        root=one[2],
                    ),
                    tried,
                )
            )
        wrong += [f"{kind}: {child.fate}" for child in children if child.result is None]
        found = {str(child.result) for child in children}
        if len(found) > 1:
            wrong.append(f"{kind}: {len(found)} different results")
    tried_of = ", ".join(f"{count} runs of {kind}" for kind, count in counts.items())
    first = f"{len(wrong)} wrong; first: {wrong[0]}; " if wrong else ""
    return Reached(f"{first}{tried_of}: one result each", not wrong)
