"""S: memory that does not grow."""

from __future__ import annotations

import contextlib
import gzip
import io
import random
import tempfile
from pathlib import Path
from typing import Any

import perceptron_nlp as pn
from benchmarks.trust import samples
from benchmarks.trust.children import call, peak_bytes, resident_bytes
from benchmarks.trust.reached import Reached
from perceptron_nlp.cli.main import main


def text_stream(total: int, first: int, cache_size: str | None) -> dict[str, Any]:
    """The same of running text, in all columns of a model that cuts text and finds lemmas.

    Its caches fill up and are emptied, each in a time of its own, and come together again after
    some 2.4 million words. So a mean hangs on where in all this it ends: what does not grow is the
    most of a time that is longer.
    """
    tagger = pn.load("en", cache_size=cache_size)
    chance = random.Random(1)
    begin, held = resident_bytes(), []
    for at in range(0, total, 3_000):
        words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=8)) for _ in range(3_000)]
        tagger.tag_text(". ".join(" ".join(words[k : k + 15]) for k in range(0, 3_000, 15)))
        if at >= first:
            held.append(resident_bytes())
    half = len(held) // 2
    early, late = max(held[:half]), max(held[half:])
    return {"more": max(early, late) - begin, "early": early, "late": late}


def stream(total: int, first: int) -> dict[str, Any]:
    """Tag `total` words never seen before; memory after `first` of them, and the most later."""
    tagger = pn.Tagger.from_bytes(samples.small_model())
    early = late = 0
    for at in range(0, total, 2_000):
        # Few at a time, so that what is measured is the tagger and not these lists.
        tagger.tag_sents(
            [
                [f"w{number:09x}" for number in range(begin, begin + 20)]
                for begin in range(at, at + 2_000, 20)
            ]
        )
        if at % 100_000 == 0:
            if at < first:
                early = resident_bytes()
            else:
                late = max(late, resident_bytes())
    return {"early": early, "late": late}


def steady(full: bool) -> Reached:
    """S1: a tagger that meets nothing but new words does not grow, nor take more than it may."""
    sizes = (100_000_000, 9_000_000) if full else (2_000_000, 600_000)
    firsts = (2_000_000, 3_000_000) if full else (1_400_000, 300_000)
    said, kept = [], True
    # Caches of text are full soon where they are small, and what comes then is seen in little time.
    caches = ((), (None if full else "8MB",))
    for name, total, first, own in zip(
        ("stream", "text_stream"), sizes, firsts, caches, strict=True
    ):
        child = call(f"benchmarks.trust.memory:{name}", total, first, *own, timeout=7200)
        if child.result is None:
            return Reached(child.fate, False)
        found = child.result
        growth = found["late"] / found["early"] - 1
        more = found.get("more", 0)
        # In the quick size a page more or less is more than a hundredth.
        kept = kept and growth < (0.01 if full else 0.03) and more < 144 << 20
        said.append(f"{100 * growth:+.2f} % after the first {first:,} of {total:,} new words")
    return Reached(
        f"{said[0]}; {said[1]} of running text, {more / 2**20:.0f} MB more than at the start", kept
    )


def caches(full: bool) -> Reached:
    """S2: the cache of words stays below its limit, in words and in bytes of text."""
    sizes = (1, 100_000, 16 << 20) if full else (1, 100_000)
    most: list[str] = []
    kept = True
    for size in sizes:
        tagger = pn.Tagger.from_bytes(samples.small_model(), cache_size=size)
        decoder = tagger._labeler.decoder
        held = 0
        for at in range(0, size // 100 + 10_000, 50):
            tagger.tag([f"w{number}" for number in range(at, at + 50)])
            held = max(held, decoder.cache_counts[1])
        # Besides the words: the pads beyond the ends, and one sentence too long for the limit.
        limit = max(decoder.memory.n_words, 50) + 66
        kept = kept and held <= limit
        most.append(f"{held:,} words of {limit:,}")
    child = call("benchmarks.trust.memory:long_words", 400 if full else 200)
    if child.result is None:
        return Reached(child.fate, False)
    grown = child.result["grown"]
    return Reached(
        f"at most {', '.join(most)}; {grown / 2**20:.0f} MB more for endless long words",
        kept and grown < 24 << 20,
    )


def long_words(count: int) -> dict[str, Any]:
    """Tag words of 200,000 letters, one a sentence; how much memory grew after the first few."""
    tagger = pn.Tagger.from_bytes(samples.small_model(), cache_size="8MB")
    chance = random.Random(3)
    before = 0
    for number in range(count):
        tagger.tag([f"{number}-" + chance.choice("abcdef") * 200_000])
        if number == 5:
            before = peak_bytes()
    return {"grown": peak_bytes() - before}


def train_limited(path: str, epochs: int) -> str:
    """Train in a child whose memory is limited; what was raised, or the outcome."""
    finished = []
    try:
        pn.train(path, epochs=epochs, callback=lambda report: finished.append(report.epoch))
    except pn.MemoryLimitError as error:
        return f"limit after {len(finished)} epochs: {error}"
    return "trained"


def bounded_training(full: bool) -> Reached:
    """S3: a corpus too large for the memory allowed is refused clearly, before work is lost."""
    epochs = 10 if full else 1
    text = samples.TRAIN.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.conllu", Path(folder) / "large.conllu"
        small.write_bytes(text)
        with large.open("wb") as out:
            for _ in range(2000 if full else 800):
                out.write(text)
        said = {}
        megabytes = 400 if full else 150
        for name, path in (("small", small), ("large", large)):
            child = call(
                "benchmarks.trust.memory:train_limited",
                str(path),
                epochs,
                megabytes=megabytes,
                env={"OPENBLAS_NUM_THREADS": "1"},
                timeout=3600,
            )
            said[name] = child.result if child.result is not None else child.fate
    kept = said["small"] == "trained" and said["large"].startswith("limit after 0 epochs")
    return Reached(f"in {megabytes} MB: {said['small']}; a corpus too large: {said['large']}", kept)


# What is repeated without end, the format that it is read as, and whether all of it is tagged.
ENDLESS = {
    "comments": (b"# " + b"x" * 61 + b"\n", "conllu", False),
    "empty lines": (b"\n", "tagged", False),
    "a line": (b"a" * 64, "lines", False),
    "a line of words": (b"a b " * 16, "lines", False),
    "a sentence": (b"a\tB\n" * 16, "columns", False),
    "blocks of comments": (b"# c\n\n", "conllu", True),
    "text without a space": (b"a" * 64, "text", True),
}


def tag_unpacked(kind: str, megabytes: int) -> dict[str, Any]:
    """Tag a small compressed file that unpacks to so much; the status, the message, the memory."""
    piece, format, _ = ENDLESS[kind]
    piece *= (1 << 20) // len(piece)
    with tempfile.TemporaryDirectory() as folder:
        text, model = Path(folder) / "text.gz", Path(folder) / "model"
        model.write_bytes(samples.small_model())
        with gzip.open(text, "wb") as packed:
            for _ in range(megabytes):
                packed.write(piece)
        said = io.StringIO()
        before = peak_bytes()
        with contextlib.redirect_stderr(said):
            status = main(
                ["tag", str(model), str(text), "--format", format, "-o", str(Path(folder) / "out")]
            )
        return {"status": status, "said": said.getvalue(), "grown": peak_bytes() - before}


def unpacking(full: bool) -> Reached:
    """S4: what a small compressed file unpacks to is tagged or refused in bounded memory."""
    kinds = ENDLESS if full else ("comments", "a line of words", "text without a space")
    most, wrong = 0, []
    for kind in kinds:
        megabytes = 294 if full else 64
        child = call("benchmarks.trust.memory:tag_unpacked", kind, megabytes)
        if child.result is None:
            return Reached(f"{kind}: {child.fate}", False)
        most = max(most, child.result["grown"])
        refused = child.result["status"] == 2 and "break it up" in child.result["said"]
        if refused == ENDLESS[kind][2] or (not refused and child.result["status"]):
            wrong.append(f"{kind}: status {child.result['status']}, {child.result['said']}")
    return Reached(
        "; ".join([f"{most / 2**20:.0f} MB more at most", *wrong]), not wrong and most < 128 << 20
    )
