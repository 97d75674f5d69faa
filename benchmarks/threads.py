"""``python benchmarks/threads.py``: how much faster two threads tag than one, by the clock.

    PERCEPTRON_NLP_CORPORA=… python benchmarks/threads.py [--rounds 12] [--reserve]

EWT test 40 times, text seen before, as lists of strings and as plain buffers; beside it what two
processes that share nothing get done in the time of one, which is what the machine can give.
``--reserve`` (Linux, for root) keeps all other programs off the processors during each call, and
pauses after it, so that a machine that is otherwise busy gives the figures of a quiet one.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from corpora import treebank

import perceptron_nlp as pn

COPIES = 40
PAUSE = 0.1


@contextmanager
def _reserved(reserve: bool) -> Iterator[None]:
    """All processors for the calling thread and those that it starts; a pause for others after."""
    if reserve:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    try:
        yield
    finally:
        if reserve:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
            time.sleep(PAUSE)


def clock(work: Callable[[], object], reserve: bool = False) -> float:
    """Seconds by the clock."""
    with _reserved(reserve):
        start = time.perf_counter()
        held = work()
        seconds = time.perf_counter() - start
        del held  # giving the results back is not part of making them
    return seconds


def side_by_side(work: Callable[[], object], rounds: int, reserve: bool) -> float:
    """Seconds by the clock until two processes that begin together have both done the whole work,
    the least of all rounds."""
    fork = multiprocessing.get_context("fork")
    begin, times = fork.Barrier(2), fork.SimpleQueue()

    def run() -> None:
        work()
        for number in range(rounds):
            begin.wait()
            times.put((number, clock(work, reserve)))

    both = [fork.Process(target=run) for _ in range(2)]
    for process in both:
        process.start()
    slower = [0.0] * rounds
    for _ in range(2 * rounds):
        number, seconds = times.get()
        slower[number] = max(slower[number], seconds)
    for process in both:
        process.join()
    return min(slower)


def thread_rows(
    taggers: dict[str, pn.Tagger], rounds: int, reserve: bool = False
) -> Iterator[tuple[str, str]]:
    """One thread, two threads and two processes, the least of some rounds, in turns."""
    text = [list(sentence.words) for sentence in pn.read_conllu(treebank("EWT", "test"))] * COPIES
    words = [word.encode() for sentence in text for word in sentence]
    plain = (b"".join(words), np.cumsum([0, *map(len, words)]), np.cumsum([0, *map(len, text)]))
    for name, tagger in taggers.items():
        ways: dict[str, Callable[[int], object]] = {
            "lists": lambda n, tagger=tagger: tagger.tag_sents(text, threads=n),
            "buffers": lambda n, tagger=tagger: tagger.tag_arrays(*plain, threads=n).labels[
                tagger.column
            ],
        }
        for way, tag in ways.items():
            seconds = {1: float("inf"), 2: float("inf")}
            for n in seconds:
                tag(n)
            for _ in range(rounds):
                for n in seconds:
                    seconds[n] = min(seconds[n], clock(lambda n=n, tag=tag: tag(n), reserve))
            label = f"{way}, `{name}`, one thread; two threads, by the clock"
            figure = (
                f"{len(words) / seconds[1] / 1e6:.1f} M tokens/s;"
                f" {seconds[1] / seconds[2]:.2f} × one ({os.cpu_count()} processors)"
            )
            if "fork" in multiprocessing.get_all_start_methods():
                apart = side_by_side(lambda tag=tag: tag(1), rounds, reserve)
                label += "; two processes"
                figure += f"; {2 * seconds[1] / apart:.2f} × one"
            yield label, figure


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--reserve", action="store_true")
    options = parser.parse_args()
    taggers = {
        name: pn.train(treebank("EWT", "train"), preset=name, update="perceptron", epochs=3)
        for name in ("fast", "default")
    }
    for label, figure in thread_rows(taggers, options.rounds, options.reserve):
        print(f"| {label} | {figure} |", flush=True)


if __name__ == "__main__":
    main()
