"""Parts of a training side by side: all comes out, is heard and fails as one after the other."""

from __future__ import annotations

import gc
import logging
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp._core.train.driver import looks
from perceptron_nlp.tagger.train.sidebyside import side_by_side

Tree = list[Any]
logger = logging.getLogger("perceptron_nlp")


def part_of(tree: Tree, name: str, threads: int) -> Callable[[Callable[[Any], object] | None], Any]:
    """A part that reports, logs and has parts of its own; a tree that is empty fails."""

    def part(report: Callable[[Any], object] | None) -> Any:
        assert report is not None
        report(name)
        logger.info("%s begins", name)
        time.sleep(len(name) % 3 * 0.001)
        if not tree:
            raise ValueError(name)
        own = [part_of(one, f"{name}.{k}", threads) for k, one in enumerate(tree) if one != 0]
        found = side_by_side(own, threads, report)
        report(f"{name} ends")
        return name, found

    return part


def heard_of(tree: Tree, threads: int) -> tuple[Any, list[Any], list[str]]:
    """What a tree of parts gives or raises, its reports, and its log."""
    reports: list[Any] = []
    records: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(record.getMessage())  # type: ignore[method-assign]
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        found = part_of(tree, "0", threads)(reports.append)
    except ValueError as error:
        found = repr(error)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    return found, reports, records


TREES = st.recursive(
    st.just([0]) | st.just([]), lambda inner: st.lists(inner, max_size=4), max_leaves=12
)


@given(TREES, st.integers(2, 4))
def test_what_parts_give_report_log_and_raise_does_not_depend_on_the_threads(
    tree: Tree, threads: int
) -> None:
    before = threading.active_count()
    assert heard_of(tree, threads) == heard_of(tree, 1)
    assert threading.active_count() == before and not looks


def test_no_more_parts_work_at_a_time_than_there_are_threads() -> None:
    working, most, guard = 0, 0, threading.Lock()

    def leaf(_: object) -> None:
        nonlocal working, most
        with guard:
            working += 1
            most = max(most, working)
        time.sleep(0.002)
        with guard:
            working -= 1

    def inner(_: object) -> None:
        side_by_side([leaf] * 5, 2)

    side_by_side([inner, inner, leaf, inner], 2)
    assert most == 2


def test_parts_work_where_the_system_gives_no_more_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    start, left = threading.Thread.start, [2]

    def refused(thread: threading.Thread) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refused)
    parts = [lambda _, k=k: k for k in range(5)]
    assert side_by_side(parts, 3) == [*range(5)]


@pytest.fixture
def treebank(french: str, tmp_path: Path) -> str:
    path = tmp_path / "fr.conllu"
    path.write_text(french, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("column", ["all", "upos,feats", "feats"])
@pytest.mark.parametrize("has_dev", [False, True])
def test_models_reports_and_logs_are_the_same_with_more_threads(
    treebank: str, column: str, has_dev: bool, caplog: pytest.LogCaptureFixture
) -> None:
    dev = treebank if has_dev else None
    found = []
    for threads in (1, 2, 3):
        caplog.clear()
        reports: list[pn.EpochReport] = []
        with caplog.at_level(logging.INFO, "perceptron_nlp"):
            tagger = pn.train(
                treebank, dev=dev, column=column, callback=reports.append, threads=threads
            )
        found.append((tagger.to_bytes(), reports, [*caplog.messages]))
    assert found[0] == found[1] == found[2] and found[0][1] and found[0][2]


def test_an_error_of_a_callback_ends_the_training(treebank: str) -> None:
    def fails(report: pn.EpochReport) -> None:
        raise ZeroDivisionError(report.column)

    with pytest.raises(ZeroDivisionError, match="upos"):
        pn.train(treebank, column="all", callback=fails, threads=2)
    assert threading.active_count() == 1 and not looks


def test_an_error_of_a_later_part_comes_after_the_reports_before_it(treebank: str) -> None:
    sentences = list(pn.read_conllu(treebank))
    bad = pn.Sentence(["a"], {"upos": ["X"], "lemma": ["b\tc"]})
    found = []
    for threads in (1, 2):
        reports: list[pn.EpochReport] = []
        with pytest.raises(pn.ArgumentError, match="lemma") as caught:
            pn.train(
                [*sentences, bad],
                column=["upos", "lemma"],
                callback=reports.append,
                threads=threads,
            )
        found.append((str(caught.value), reports))
    assert found[0] == found[1] and found[0][1]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timer")
def test_an_interrupt_ends_all_threads(treebank: str) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    # What is raised in a callback of the collector is lost, and Hypothesis has one.
    callbacks = gc.callbacks[:]
    gc.callbacks.clear()
    usual = signal.signal(signal.SIGALRM, interrupted)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    begin = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            pn.train(treebank, column="all", runs=1000, epochs=1000, threads=2)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, usual)
        gc.callbacks.extend(callbacks)
    assert time.monotonic() - begin < 30
    assert threading.active_count() == 1 and not looks
