"""The core needs no interpreter lock: it leaves it off, and threads do not disturb each other.

With the lock these tests pass, too; they are there for builds of Python without one.
"""

from __future__ import annotations

import importlib
import sys
import sysconfig
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import perceptron_nlp as pn

Labeled = list[tuple[list[str], list[str]]]
CORE = Path(pn.__file__).parent / "_core"
MODULES = sorted(f"{path.parent.name}.{path.stem}" for path in CORE.glob("*/*.pyi"))


def in_threads(n: int, work: Callable[[int], Any]) -> None:
    """Run work(0 … n-1) at the same time; the first failure is raised here."""
    failures: list[BaseException] = []
    begin = threading.Barrier(n)

    def run(k: int) -> None:
        try:
            begin.wait()
            work(k)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"),
    reason="this Python always has its interpreter lock",
)
def test_importing_the_core_leaves_the_interpreter_lock_off() -> None:
    for name in MODULES:
        importlib.import_module(f"perceptron_nlp._core.{name}")
    assert not sys._is_gil_enabled()  # type: ignore[attr-defined]


def test_every_module_of_the_core_says_that_it_needs_no_lock() -> None:
    sources = sorted(CORE.glob("*/*.pyx"))
    if not sources:
        pytest.skip("the package was installed without its sources")
    assert [f"{path.parent.name}.{path.stem}" for path in sources] == MODULES
    for path in sources:
        head = path.read_text("utf-8").partition('"""')[0]
        assert "freethreading_compatible=True" in head, path.name


def test_threads_that_share_a_tagger_get_what_one_gets(tagger: pn.Tagger, small: Labeled) -> None:
    held = tagger.with_lexicon({"desk": "NOUN"})
    jobs: list[Callable[[], Any]] = [
        lambda: tagger.tag_sents(sentences),
        lambda: tagger.tag_sents(sentences, threads=2),
        lambda: held.tag_sents(sentences),
        lambda: [tagger.tag(words) for words in sentences],
        lambda: tagger.tag_arrays(*buffers).labels[tagger.column][0].tolist(),
        lambda: tagger.scores(sentences[0]).tolist(),
    ]
    sentences = [[*words, f"word{i}"] for i in range(40) for words, _ in small]
    buffers = as_buffers(sentences)
    expected = [job() for job in jobs]

    def work(k: int) -> None:
        for i in range(len(jobs)):
            at = (i + k) % len(jobs)
            assert jobs[at]() == expected[at]

    in_threads(6, work)


def as_buffers(sentences: list[list[str]]) -> tuple[bytes, list[int], list[int]]:
    tokens, ends = [0], [0]
    for sentence in sentences:
        for word in sentence:
            tokens.append(tokens[-1] + len(word.encode()))
        ends.append(len(tokens) - 1)
    return "".join(word for one in sentences for word in one).encode(), tokens, ends


def test_threads_that_train_by_themselves_get_the_same_bytes(small: Labeled) -> None:
    expected = pn.train(small, epochs=3, seed=3).to_bytes()

    def work(k: int) -> None:
        assert pn.train(small, epochs=3, seed=3).to_bytes() == expected

    in_threads(4, work)


def test_words_that_change_in_other_threads_harm_nothing(tagger: pn.Tagger) -> None:
    shared = [["the", "old", "man", f"w{i}"] for i in range(200)]
    known = set(tagger.labels)

    def work(k: int) -> None:
        for i in range(200):
            if k % 2:
                words = shared[(i * 37 + k) % len(shared)]
                words.append(f"new{i}{k}")
                del words[: len(words) // 2]
            else:
                assert all(label in known for one in tagger.tag_sents(shared) for label in one)

    in_threads(4, work)


def test_threads_that_share_a_fitted_classifier_get_what_one_gets() -> None:
    samples = [{"word": f"w{i % 17}", "length": i % 5} for i in range(300)]
    classifier = pn.PerceptronClassifier(max_iter=3)
    classifier.fit(samples, [f"label{i % 17 % 3}" for i in range(300)])
    expected = classifier.predict(samples).tolist()

    def work(k: int) -> None:
        for _ in range(5):
            assert classifier.predict(samples).tolist() == expected

    in_threads(4, work)
