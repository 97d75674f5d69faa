"""M6: the same data, options and seed give the same bytes, whatever the circumstances."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

import perceptron_nlp as pn
from benchmarks.trust import builds, samples
from benchmarks.trust.children import ROOT, call
from benchmarks.trust.reached import Reached

OPTIONS: dict[str, dict[str, object]] = {
    "exact": {}, "fixed": {"table_bits": 14}, "adagrad": {"update": "adagrad"},
    "beam": {"beam": 4}, "runs": {"runs": 2, "epochs": 1},
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
    return {"file": hashlib.sha256(saved).hexdigest(),
            "labels": hashlib.sha256(repr(labels).encode()).hexdigest()}


def circumstances(full: bool) -> list[tuple[int, dict[str, str]]]:
    """Threads and environments: hash seeds, locales, time zones."""
    few = [(1, {"PYTHONHASHSEED": "0"}), (2, {"PYTHONHASHSEED": "1", "LC_ALL": "C"}),
           (4, {"PYTHONHASHSEED": "random"})]
    if not full:
        return few
    more = [(threads, {"PYTHONHASHSEED": str(seed), "LC_ALL": ("C", "C.UTF-8")[seed % 2],
                       "TZ": ("UTC", "Asia/Tokyo")[seed % 2], "OMP_NUM_THREADS": str(threads)})
            for seed, threads in zip(range(2, 19), [1, 2, 4] * 6, strict=False)]
    return few + more


def same_bytes(full: bool) -> Reached:
    """M6: other processes, threads, hash seeds, locales, and a build without wide instructions."""
    kinds = list(OPTIONS) if full else ["exact"]
    wrong = []
    tried = [(threads, env, ROOT) for threads, env in circumstances(full)]
    if full:
        narrow = builds.built({"PERCEPTRON_NLP_NARROW": "1"})
        tried.append((1, {}, narrow))
    for kind in kinds:
        found = []
        for threads, env, root in tried:
            child = call("benchmarks.trust.sameness:fingerprint", kind, threads, env=env, root=root)
            if child.result is None:
                wrong.append(f"{kind}: {child.fate}")
            else:
                found.append(child.result)
        if any(one != found[0] for one in found):
            wrong.append(f"{kind}: {len({str(one) for one in found})} different results")
    first = f"; first: {wrong[0]}" if wrong else ""
    return Reached(f"{len(tried)} runs of each of {', '.join(kinds)} byte-equal{first}"
                   if not wrong else f"{len(wrong)} wrong{first}", not wrong)
