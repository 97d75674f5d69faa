"""C: what is handed to the API is checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import perceptron_nlp as pn
from benchmarks.trust import samples
from benchmarks.trust.reached import Reached, count_of
from perceptron_nlp._core.table.weights import WeightTable

Case = tuple[str, Callable[[], Any], Any]
GOOD = [(["a", "b"], ["X", "Y"]), (["b", "a"], ["Y", "X"])]


# In place of a result: the call must raise an error of the library that holds this word.
class Refused(str):
    """The word that the message of the expected error holds."""

    __slots__ = ()


def _tagging(tagger: pn.Tagger) -> Iterator[Case]:
    tag, many = tagger.tag, tagger.tag_sents
    yield "an empty sentence", lambda: tag([]), []
    yield "no sentences", lambda: many([]), []
    yield "empty sentences among others", lambda: list(map(len, many([[], ["a"], []]))), [0, 1, 0]
    yield "an empty word", lambda: len(tag([""])), 1
    yield "words of spaces and controls", lambda: len(tag([" ", "\t\n", "\0", "\x7f"])), 4
    yield "a lone surrogate", lambda: len(tag(["\ud800", "a\udfff"])), 2
    yield "the last code point", lambda: len(tag(["\U0010ffff"])), 1
    yield "a tuple", lambda: tag(("a", "b")) == tag(["a", "b"]), True
    yield "an iterator of sentences", lambda: len(many(iter([["a"]]))), 1
    yield "a str subclass", lambda: tag([type("S", (str,), {})("a")]) == tag(["a"]), True
    for bad in (None, 5, "a b", b"a", object()):
        yield f"tag({bad!r:.9})", lambda bad=bad: tag(bad), Refused("tokens")
        yield f"tag_sents({bad!r:.9})", lambda bad=bad: many(bad), Refused("sentences")
        yield f"tag_sents([{bad!r:.9}])", lambda bad=bad: many([bad]), Refused("sentences[0]")
        yield f"scores({bad!r:.9})", lambda bad=bad: tagger.scores(bad), Refused("tokens")
    for bad in (None, 5, b"a", ["a"], float("nan")):
        yield (
            f"the word {bad!r}",
            lambda bad=bad: many([["a"], ["a", bad]]),
            Refused("sentences[1][1]"),
        )
    for bad in (0, -1, 2**40, "2x", None, 1.5, True):
        yield f"threads={bad!r}", lambda bad=bad: many([["a"]], threads=bad), Refused("threads")
        if bad not in (None, 2**40):
            yield (
                f"cache_size={bad!r}",
                lambda bad=bad: pn.Tagger.from_bytes(samples.small_model(), cache_size=bad),
                Refused("cache_size"),
            )
    yield "from_bytes(None)", lambda: pn.Tagger.from_bytes(None), Refused("data")
    yield "from_bytes of a str", lambda: pn.Tagger.from_bytes("a"), Refused("data")
    yield "load(None)", lambda: pn.load(None), Refused("path")
    yield "save(None)", lambda: tagger.save(None), Refused("path")
    yield "evaluate(None)", lambda: tagger.evaluate(None), Refused("data")
    yield "labels never seen", lambda: tagger.evaluate([(["a"], ["NEVER"])]).accuracy, 0.0


def _training() -> Iterator[Case]:
    train = pn.train
    yield "one class", lambda: train([(["a"], ["X"])]).tag(["a", "b"]), ["X", "X"]
    yield "two sentences", lambda: train(GOOD).tag(["a", "b"]), ["X", "Y"]
    yield (
        "labels never seen in dev",
        lambda: train(GOOD, dev=[(["a"], ["NEVER"])]).labels,
        ("X", "Y"),
    )
    yield "no sentences", lambda: train([]), Refused("train")
    yield "only empty sentences", lambda: train([([], [])]), Refused("train")
    for bad in (None, 5, b"x", object()):
        yield f"train({bad!r:.9})", lambda bad=bad: train(bad), Refused("train")
        yield f"train([{bad!r:.9}])", lambda bad=bad: train([bad]), Refused("train")
        if bad is not None:
            yield f"dev={bad!r:.9}", lambda bad=bad: train(GOOD, dev=bad), Refused("dev")
    yield "unequal lengths", lambda: train([(["a", "b"], ["X"])]), Refused("train[0]")
    yield "a label 2", lambda: train([(["a"], [2])]), Refused("train[0]")
    yield "an empty label", lambda: train([(["a"], [""])]), Refused("train")
    yield "a label with a tab", lambda: train([(["a"], ["X\tY"])]), Refused("train")
    yield "a surrogate in a word", lambda: train([(["\ud800"], ["X"])]), Refused("surrogate")
    yield "a surrogate in a label", lambda: train([(["a"], ["\ud800"])]), Refused("surrogate")
    for name, values in {
        "epochs": (0, -1, 1.5, "3", True, 10**9),
        "seed": (-1, 2**64, 1.0, "a"),
        "update": ("perceptrn", 3, None),
        "table_bits": (0, 31, "4", 2.0),
        "min_count": (0, -3, "1"),
        "patience": (0, "1"),
        "templates": ("nothing", 3, [], [3], ["nothing[0]"], ["word[99]"], ["word[0]", "word[0]"]),
        "dictionary": (3, (1,), (0, 1.0), (1, 0.2), (1, float("nan"))),
        "right_to_left": (1, "yes"),
        "column": (3, ""),
        "features": (3, "f"),
        "callback": (3,),
    }.items():
        for value in values:
            yield (
                f"{name}={value!r}",
                lambda name=name, value=value: train(GOOD, **{name: value}),
                Refused(""),
            )
    yield "an unknown option", lambda: train(GOOD, epoch=3), Refused("epoch")
    for result in (3, None, "ab", [3], {"a": 1.0}, {"a": None}, ["\ud800"]):
        yield (
            f"features that return {result!r}",
            lambda result=result: train(GOOD, features=lambda tokens, i: result),
            Refused("features"),
        )


def _tables() -> Iterator[Case]:
    table = WeightTable(3)
    key = np.array([1], np.uint64)
    for keys in ([1.5], np.zeros((2, 2), np.uint64), np.array([1], np.int64), "a", None):
        yield f"keys={keys!r:.20}", lambda keys=keys: table.score(keys), Refused("keys")
    for values in ([1, 2], float("nan"), [float("inf")], [[1.0]]):
        yield f"values={values!r:.9}", lambda v=values: table.score(key, v), Refused("values")
    for label in (-1, 3, 2**40):
        yield f"label={label}", lambda label=label: table.update(key, label, 1.0), Refused("label")
    for step in (float("nan"), float("inf")):
        yield f"step={step}", lambda step=step: table.update(key, 0, step), Refused("step")
    for n in (0, -1, 65_537, 1.5, True, None):
        yield f"n_labels={n!r}", lambda n=n: WeightTable(n), Refused("n_labels")


def _many_classes() -> Iterator[Case]:
    def trained(n: int) -> Any:
        words = [f"w{i}" for i in range(n)]
        labels = [f"L{i:05d}" for i in range(n)]
        tagger = pn.train(
            [(words[at : at + 256], labels[at : at + 256]) for at in range(0, n, 256)],
            epochs=1,
            templates=["word[0]", "tag[-1]"],
        )
        again = pn.Tagger.from_bytes(tagger.to_bytes())
        return len(again.labels), len(again.tag(words[:50]))

    yield "65,536 classes", lambda: trained(65_536), (65_536, 50)
    yield "65,537 classes", lambda: trained(65_537), Refused("65,537")


def checked(full: bool) -> Reached:
    """C1: each bad argument gets an error that names it; each odd one its documented result."""
    tagger = pn.Tagger.from_bytes(samples.small_model())
    cases = [*_tagging(tagger), *_training(), *_tables(), *(_many_classes() if full else ())]
    return count_of(
        [said for case in cases if (said := _try(*case))],
        len(cases),
        "calls answered as they should be",
    )


def _try(name: str, call: Callable[[], Any], expected: Any) -> str:
    try:
        result = call()
    except pn.PerceptronNLPError as error:
        if not isinstance(expected, Refused):
            return f"{name}: refused: {error}"
        return "" if expected in str(error) else f"{name}: unclear: {error}"
    except Exception as error:
        return f"{name}: {type(error).__name__}: {error}"
    if isinstance(expected, Refused):
        return f"{name}: gave {result!r:.60}"
    return "" if result == expected else f"{name}: gave {result!r:.60}"
