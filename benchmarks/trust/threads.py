"""T: one tagger, many threads."""

from __future__ import annotations

import sys
import threading

import perceptron_nlp as pn
from benchmarks.trust import samples
from benchmarks.trust.reached import Reached

THREADS = 8


def many_threads(full: bool) -> Reached:
    """T1: threads that share one tagger, switched often, give what one thread gives."""
    sentences = samples.words_of()
    per_pass = sum(map(len, sentences))
    passes = -(-1_000_000 // per_pass) if full else 60
    tagger = pn.Tagger.from_bytes(samples.small_model(), cache_size="1MB")
    expected = tagger.tag_sents(sentences)
    wrong: list[str] = []
    done = [0] * THREADS

    def work(number: int) -> None:
        # Each thread starts elsewhere, so that they meet in the cache in ever new ways.
        shift = number * len(sentences) // THREADS
        mine = sentences[shift:] + sentences[:shift]
        should = expected[shift:] + expected[:shift]
        for _ in range(passes):
            given = tagger.tag_sents(mine)
            done[number] += per_pass
            if given != should:
                wrong.append(f"thread {number}")

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(n,)) for n in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    pooled = pn.Tagger.from_bytes(samples.small_model())
    for count in (2, 4, 8):
        if pooled.tag_sents(sentences * 6, threads=count) != expected * 6:
            wrong.append(f"threads={count}")
    return Reached(
        f"{THREADS} threads × {min(done):,} words, {len(wrong)} differences",
        not wrong and min(done) == passes * per_pass,
    )
