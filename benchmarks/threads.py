"""``python benchmarks/threads.py``: how much faster two threads tag than one.

    PERCEPTRON_NLP_CORPORA=… python benchmarks/threads.py [--rounds 12] [--reserve]

EWT test 40 times, seen before, as lists of strings and as plain buffers, and 4 times as running
text that the bundled model makes CoNLL-U of, or objects; beside it what two processes that share
nothing get done in the time of one, which is what the machine can give. What the threads themselves
cost does not depend on what else the machine does: the *bound* is twice the CPU time of one thread
divided by that of two, which know words and wait for each other each for itself.

Figures of one machine differ from run to run where other programs want its processors: two threads
lose twice, since the one waits for the other at the end. So each row says between what the gain
lay, round by round, and how often a thread was sent off its processor in all rounds of two: believe
a row of a narrow range and few of these. How often threads waited is what the tagger may cost.
``--reserve`` (Linux, for root) keeps all other programs off the processors during each call, and
pauses after it, so that a machine that is otherwise busy gives the figures of a quiet one.
"""

from __future__ import annotations

import argparse
import io
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from resource import RUSAGE_SELF, getrusage
from statistics import median

import numpy as np
import numpy.typing as npt
from corpora import treebank

import perceptron_nlp as pn
from perceptron_nlp.formats.conllu import running_text

COPIES, TEXT_COPIES = 40, 4
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


def clock(work: Callable[[], object], reserve: bool = False) -> tuple[float, float]:
    """Seconds by the clock, and of all processors."""
    with _reserved(reserve):
        start = time.perf_counter(), time.process_time()
        held = work()
        seconds = time.perf_counter() - start[0], time.process_time() - start[1]
        del held  # giving the results back is not part of making them
    return seconds


def switches() -> npt.NDArray[np.int64]:
    """How often threads of this process were sent off a processor, and how often they waited."""
    used = getrusage(RUSAGE_SELF)
    return np.array([used.ru_nivcsw, used.ru_nvcsw])


def side_by_side(work: Callable[[], object], rounds: int, reserve: bool) -> float:
    """Seconds by the clock until two processes that begin together have both done the whole work,
    the least of all rounds."""
    fork = multiprocessing.get_context("fork")
    begin, times = fork.Barrier(2), fork.SimpleQueue()

    def run() -> None:
        work()
        for number in range(rounds):
            begin.wait()
            times.put((number, clock(work, reserve)[0]))

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
            yield thread_row(f"{way}, `{name}`", tag, len(words), rounds, reserve)


def text_rows(rounds: int, reserve: bool = False) -> Iterator[tuple[str, str]]:
    """The same of running text and the bundled model, all columns: CoNLL-U, and objects."""
    english = pn.load("en")
    fill = english.labelers.text_filler()
    assert fill is not None
    plain = running_text(pn.read_conllu(treebank("EWT", "test")))[0]
    text = "\n\n".join([plain] * TEXT_COPIES)
    data, n_words = text.encode(), sum(map(len, english.tag_text(text)))

    def conllu(threads: int) -> int:
        with pn.open_corpus(io.BytesIO(data), format="text") as corpus:
            return sum(map(len, fill.texts(corpus, lambda n: n, threads)))

    ways: dict[str, Callable[[int], object]] = {
        "text to CoNLL-U": conllu,
        "text to objects": lambda n: english.tag_text(text, threads=n),
    }
    for way, tag in ways.items():
        yield thread_row(f"{way}, `en`", tag, n_words, rounds, reserve)


def thread_row(
    label: str, tag: Callable[[int], object], n_words: int, rounds: int, reserve: bool
) -> tuple[str, str]:
    """The row of a way that takes the number of threads: its label, and its figures."""
    best = {n: (float("inf"), float("inf")) for n in (1, 2)}
    for n in best:
        tag(n)
    gains, waits = [], np.zeros(2, np.int64)
    for _ in range(rounds):
        spent = {}
        for n, least in best.items():
            before = switches()
            spent[n] = clock(lambda n=n: tag(n), reserve)
            best[n] = min(least[0], spent[n][0]), min(least[1], spent[n][1])
        waits += switches() - before
        gains.append(spent[1][0] / spent[2][0])
    (one, one_cpu), (two, two_cpu) = best.values()
    label += ", one thread; two threads, by the clock; bound by their CPU time; gains of all rounds"
    figure = (
        f"{n_words / one / 1e6:.3g} M tokens/s; {one / two:.2f} × one"
        f" ({os.cpu_count()} processors); {2 * one_cpu / two_cpu:.2f} × one;"
        f" {min(gains):.2f} to {max(gains):.2f}, median {median(gains):.2f}, threads sent off"
        f" {waits[0]} times, waiting {waits[1]}"
    )
    if "fork" in multiprocessing.get_all_start_methods():
        apart = side_by_side(lambda: tag(1), rounds, reserve)
        label += "; two processes"
        figure += f"; {2 * one / apart:.2f} × one"
    return label, figure


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
    how = options.rounds, options.reserve
    for label, figure in chain(thread_rows(taggers, *how), text_rows(*how)):
        print(f"| {label} | {figure} |", flush=True)


if __name__ == "__main__":
    main()
