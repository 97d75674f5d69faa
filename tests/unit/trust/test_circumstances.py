"""Signals, forks, dropped taggers, full disks and little memory, while the library is at work."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import perceptron_nlp as pn
from benchmarks.trust import samples
from benchmarks.trust.children import address_bytes, call

WORDS = [["The", "old", "man", "the", "boats", "."], ["Stop", "!"]] * 40
Small = list[tuple[list[str], list[str]]]


class Stop(Exception):
    pass


@pytest.fixture
def broken_off() -> Iterator[Callable[[Callable[[], object], float], None]]:
    """Do something again and again until an exception is raised after so many seconds."""
    pending = [False]

    def stop(number: int, frame: object) -> None:
        if pending[0]:
            pending[0] = False
            raise Stop

    def again_and_again(work: Callable[[], object]) -> None:
        # What is raised while Python clears something away is printed and goes no further.
        while pending[0]:
            work()

    def break_off(work: Callable[[], object], seconds: float) -> None:
        pending[0] = True
        # A function of its own: Python 3.13 lets what is raised between two rounds of a loop out of
        # the block that it ends.
        with contextlib.suppress(Stop):
            signal.setitimer(signal.ITIMER_REAL, seconds)
            again_and_again(work)

    before = signal.signal(signal.SIGALRM, stop)
    yield break_off
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


BreakOff = Callable[[Callable[[], object], float], None]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_tagger_whose_work_was_broken_off_tags_as_before(
    tagger: pn.Tagger, broken_off: BreakOff
) -> None:
    data, expected = tagger.to_bytes(), tagger.tag_sents(WORDS)
    for number in range(12):
        fresh = pn.Tagger.from_bytes(data)
        broken_off(lambda mine=fresh: mine.tag_sents(WORDS * 20), 0.0005 * (number + 1))
        assert fresh.tag_sents(WORDS) == expected


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_training_that_was_broken_off_leaves_nothing_behind(
    small: Small, broken_off: BreakOff
) -> None:
    expected = pn.train(small, epochs=2).to_bytes()
    for number in range(8):
        broken_off(lambda: pn.train(small * 50, epochs=2), 0.0005 * (number + 1))
    assert pn.train(small, epochs=2).to_bytes() == expected


def test_a_tagger_may_be_dropped_while_threads_tag_with_it(tagger: pn.Tagger) -> None:
    fresh, expected = pn.Tagger.from_bytes(tagger.to_bytes()), tagger.tag_sents(WORDS)
    given: list[bool] = []
    threads = [
        threading.Thread(
            target=lambda mine=fresh: given.append(mine.tag_sents(WORDS * 20) == expected * 20)
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    del fresh
    for thread in threads:
        thread.join()
    assert given == [True] * 4


def test_taggers_are_loaded_used_and_dropped_by_many_threads(tagger: pn.Tagger) -> None:
    data, expected = tagger.to_bytes(), tagger.tag_sents(WORDS)
    given: list[bool] = []

    def work() -> None:
        for _ in range(5):
            given.append(pn.Tagger.from_bytes(data).tag_sents(WORDS, threads=2) == expected)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert given == [True] * 40


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_while_a_thread_tags_can_tag(tagger: pn.Tagger) -> None:
    expected = tagger.tag_sents(WORDS)
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            tagger.tag_sents(WORDS)

    busy = threading.Thread(target=work)
    busy.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                os._exit(0 if tagger.tag_sents(WORDS, threads=2) == expected else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        over.set()
        busy.join()


@pytest.mark.parametrize("start", ["spawn", "forkserver"])
def test_a_tagger_goes_to_the_processes_of_a_pool(tagger: pn.Tagger, start: str) -> None:
    with multiprocessing.get_context(start).Pool(1) as pool:
        assert pool.map(tagger.tag_sents, [WORDS, WORDS]) == [tagger.tag_sents(WORDS)] * 2


def test_a_model_file_may_go_while_its_model_is_used(tagger: pn.Tagger, tmp_path: Path) -> None:
    path = tmp_path / "a.pnlp"
    tagger.save(path)
    loaded = pn.load(path)
    path.write_bytes(b"")
    assert loaded.tag_sents(WORDS) == tagger.tag_sents(WORDS)
    path.unlink()
    assert loaded.to_bytes() == tagger.to_bytes()


def full_disk(path: str) -> str:
    """Train with a checkpoint that has no room; runs in a child."""
    sentences = list(pn.open_corpus(samples.TRAIN))[:60]
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
    try:
        pn.train(sentences, column="upos", epochs=2, checkpoint=path)
    except pn.FileError as error:
        return str(error)
    return "trained"


def test_a_checkpoint_without_room_is_told_and_leaves_no_litter(tmp_path: Path) -> None:
    path = tmp_path / "state"
    said = call("tests.unit.trust.test_circumstances:full_disk", str(path))
    assert str(said.result).startswith(f"{path}: cannot be written")
    assert list(tmp_path.iterdir()) == []


def squeezed(work: str) -> list[str]:
    """Train in ever more memory; runs in a child. How each try ended, one after the other."""
    # More than what the process has had and given back can hold.
    sentences = list(pn.open_corpus(samples.TRAIN)) * 4
    options = {"greedy": {}, "beam": {"beam": 4}, "parts": {"column": "feats"}}[work]
    column = {"column": "upos", **options}
    tagger = pn.Tagger.from_bytes(samples.small_model())
    before, endings = tagger.tag_sents(WORDS), []
    for kilobytes in (0, 64, 256, 1024, 4096, 65536, 1 << 20):
        room = address_bytes() + (kilobytes << 10)
        resource.setrlimit(resource.RLIMIT_AS, (room, resource.RLIM_INFINITY))
        try:
            pn.train(sentences, epochs=1, **column)
            ending = "trained"
        except Exception as error:
            ending = type(error).__name__
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        endings.append(ending if tagger.tag_sents(WORDS) == before else "other labels")
    return endings


@pytest.mark.parametrize("work", ["greedy", "beam", "parts"])
def test_little_memory_is_told_and_enough_of_it_suffices(work: str) -> None:
    child = call(
        "tests.unit.trust.test_circumstances:squeezed", work, env={"OPENBLAS_NUM_THREADS": "1"}
    )
    assert child.result is not None, child.fate
    assert set(child.result) == {"MemoryLimitError", "trained"}
    assert child.result[0] == "MemoryLimitError" and child.result[-1] == "trained"
