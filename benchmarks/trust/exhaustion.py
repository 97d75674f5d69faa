"""O: running out of memory, undefined behaviour, leaks."""

from __future__ import annotations

import ctypes
import importlib.util
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import perceptron_nlp as pn
from benchmarks.trust import compiled, samples
from benchmarks.trust.children import call
from benchmarks.trust.reached import Missing, Reached
from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp.features.templates import Template
from perceptron_nlp.tagger.sources import MEMORY_COLUMN, Source
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.learners import TemplateLearner
from perceptron_nlp.tagger.train.options import LearningOptions

# n-grams, several columns' worth of history and neighbours: every buffer of the core takes part.
TEMPLATES = (
    "word[0]",
    "lower[-1]",
    "lower.ngrams2-4[0]",
    "lower[-1] lower[0]",
    "tag[-1]",
    "tag[-1] tag[-2]",
    "tag[-1] lower[0]",
    "tag[-1] lower[1]",
    "first word[0]",
    "bias",
)


def _fail_each(
    work: Callable[[], Any], intact: Callable[[], str], wrong: list[str], name: str
) -> int:
    """Let each allocation of `work` fail in turn; how many did.

    Each failure must be a MemoryError, leave `intact()` with nothing to say, and the same work
    must then succeed with the same result.
    """
    library = ctypes.CDLL(None)
    library.trust_fail_at(0)
    expected = work()
    library.trust_stop()
    failed = at = 0
    while at < 5_000:
        at += 1
        library.trust_fail_at(at)
        said = ""
        try:
            work()
        except MemoryError:
            failed += 1
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
        made = library.trust_stop()
        if not said:
            said = intact()
        if not said and work() != expected:
            said = "another result afterwards"
        if said:
            wrong.append(f"{name}, allocation {at}: {said}")
        if made < at:
            break
    return failed


def inject(sentences_each: int) -> dict[str, Any]:
    """Allocation failures in training, tables, loading and tagging; runs under failing.c."""
    wrong: list[str] = []
    counts = {}
    data = samples.small_model()
    sentences = samples.words_of()[:40]
    labeled = list(pn.open_corpus(samples.TRAIN))[:25]
    tagger = pn.Tagger.from_bytes(data)
    before = tagger.tag_sents(sentences)

    def still_tags() -> str:
        return "" if tagger.tag_sents(sentences) == before else "the tagger tags otherwise"

    counts["load"] = _fail_each(
        lambda: pn.Tagger.from_bytes(data).tag_sents(sentences), still_tags, wrong, "load and tag"
    )
    counts["tag"] = _tag_after_failure(data, sentences, before, wrong)
    counts["scores"] = _fail_each(
        lambda: pn.Tagger.from_bytes(data).scores(sentences[0]).tolist(),
        still_tags,
        wrong,
        "scores",
    )
    for options in ({}, {"update": "adagrad", "min_count": 2}, {"table_bits": 8}, {"beam": 4}):
        counts[f"train {options}"] = _fail_each(
            lambda options=options: pn.train(
                labeled, column="upos", epochs=2, templates=TEMPLATES, **options
            ).to_bytes(),
            still_tags,
            wrong,
            f"train {options}",
        )
    counts["table"] = _table(wrong)
    for kind, options in (
        ("greedy", {}),
        ("greedy, adagrad", {"update": "adagrad"}),
        ("beam", {"beam": 4}),
        ("beam, fixed", {"beam": 4, "table_bits": 8}),
        ("beam, adagrad", {"beam": 4, "update": "adagrad"}),
    ):
        counts[f"updates, {kind}"] = _updates(kind, options, sentences_each, wrong)
    counts["updates, parts"] = _updates("parts", {}, sentences_each, wrong)
    return {"wrong": wrong, "counts": counts}


def _tag_after_failure(
    data: bytes, sentences: list[list[str]], before: list[list[str]], wrong: list[str]
) -> int:
    """A tagger whose caches could not grow goes on tagging as if nothing had been."""
    library = ctypes.CDLL(None)
    failed = at = 0
    while at < 5_000:
        at += 1
        tagger = pn.Tagger.from_bytes(data, cache_size=20_000)
        library.trust_fail_at(at)
        try:
            tagger.tag_sents(sentences)
        except pn.MemoryLimitError:
            failed += 1
        made = library.trust_stop()
        if tagger.tag_sents(sentences) != before:
            wrong.append(f"tag, allocation {at}: other labels afterwards")
        if made < at:
            break
    return failed


def _table(wrong: list[str]) -> int:
    """Updates of one table: each failed one leaves every score and average as it was."""
    table = WeightTable(40)
    library = ctypes.CDLL(None)
    failed = 0
    probe = np.arange(1, 600, dtype=np.uint64)
    for number in range(1, 500):
        keys = np.arange(number, number + 30, dtype=np.uint64)
        label = number * 7 % 40
        scores = table.score(probe).tolist()
        means = table.average().score(probe).tolist()
        for at in range(1, 9):
            library.trust_fail_at(at)
            try:
                table.update(keys, label, 1.0)
            except MemoryError:
                failed += 1
                library.trust_stop()
                if (table.score(probe).tolist(), table.average().score(probe).tolist()) != (
                    scores,
                    means,
                ):
                    wrong.append(f"table, update {number}: half an update was made")
                continue
            library.trust_stop()
            break
        table.advance()
    return failed


def _updates(kind: str, options: dict[str, Any], count: int, wrong: list[str]) -> int:
    """Let each allocation of learning from a sentence fail; what was learnt before must stay.

    Whole sentences are learnt at once by a beam; otherwise sentences of one word are taken.
    """
    column, whole = "feats" if kind == "parts" else "upos", "beam" in options
    sentences = list(pn.open_corpus(samples.TRAIN))[: count if whole else 10 * count]
    source = [
        (s.words if whole else s.words[:1], gold if whole else gold[:1])
        for s in sentences
        for gold in (s.column(column),)
    ]
    examples = Examples.read(Source(source, "train"), MEMORY_COLUMN, ())
    if kind == "parts":
        # More parts than a row keeps all of: cells are made one by one.
        examples = replace(examples, parts="pieces+whole")
    learner, undisturbed = (
        TemplateLearner(
            examples,
            [Template.parse(text) for text in TEMPLATES],
            LearningOptions(epochs=1, **{"beam": 1, **options}),
            {},
        )
        for _ in range(2)
    )
    library = ctypes.CDLL(None)
    failed = 0
    for number in range(len(source)):
        library.trust_fail_at(0)
        undisturbed.learn(np.array([number]))
        made = library.trust_stop()
        before = _learnt(learner.table)
        # Learning does without some allocations, and then the sentence is learnt: every other
        # sentence begins with its last one, so that those behind are met, too.
        tried = range(1, made + 1) if number % 2 else range(made, 0, -1)
        for at in (*tried, 0):
            library.trust_fail_at(at)
            try:
                learner.learn(np.array([number]))
            except MemoryError:
                failed += 1
                library.trust_stop()
                if _learnt(learner.table) != before:
                    wrong.append(f"{kind}, sentence {number}, allocation {at}: half an update")
                continue
            library.trust_stop()
            break
    if _learnt(learner.table) != _learnt(undisturbed.table):
        wrong.append(f"{kind}: something else was learnt in the end")
    return failed


def _learnt(table: WeightTable) -> dict[tuple[int, int], tuple[float, ...]]:
    """All that a table says: weights and what averages owe, without cells that say nothing yet."""
    arrays = table.to_arrays()
    keys = np.repeat(arrays["keys"], arrays["counts"])
    said = (arrays["weight"] != 0) | (arrays["total"] != 0)
    return {
        (int(key), int(label)): values
        for key, label, *values in zip(
            keys[said], *(arrays[name][said] for name in ("labels", "weight", "total")), strict=True
        )
    }


def allocations(full: bool) -> Reached:
    """O1: every allocation fails in turn; a MemoryError each time, and nothing is broken."""
    try:
        shim = compiled.build("failing.c")
    except compiled.NoCompiler as error:
        raise Missing(str(error)) from None
    child = call(
        "benchmarks.trust.exhaustion:inject",
        200 if full else 6,
        env={"LD_PRELOAD": str(shim)},
        timeout=1800,
    )
    if child.result is None:
        return Reached(f"{child.fate} {child.err[-500:]}", False)
    wrong, counts = child.result["wrong"], child.result["counts"]
    first = f"; first: {wrong[0]}" if wrong else ""
    failed = sum(counts.values())
    return Reached(
        f"{failed} failed allocations, {len(wrong)} wrong{first}",
        not wrong and min(counts.values()) > 0,
    )


def undefined(full: bool) -> Reached:
    """O2: the weight tables under the address and undefined-behaviour sanitizers."""
    try:
        built = compiled.extension("table/weights", "address,undefined")
        preload = compiled.library("libasan.so")
    except compiled.NoCompiler as error:
        raise Missing(str(error)) from None
    child = call(
        "benchmarks.trust.exhaustion:exercise",
        [str(built), 300 if full else 20],
        env={"LD_PRELOAD": preload, "ASAN_OPTIONS": "detect_leaks=0"},
        timeout=1800,
    )
    if child.result is None:
        return Reached(f"{child.fate} {child.err[-500:]}", False)
    return Reached(f"0 reports in {child.result:,} random updates of the tables", True)


def exercise(what: list[Any]) -> int:
    """Make random updates of tables of all kinds, with a core built elsewhere; how many."""
    built, seeds = what
    name = "perceptron_nlp._core.table.weights"
    spec = importlib.util.spec_from_file_location(name, built)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    updates = 0
    for seed in range(seeds):
        updates += _random_updates(module.WeightTable, random.Random(seed))
    return updates


def _random_updates(table_type: type[WeightTable], chance: random.Random) -> int:
    n_labels, updates = chance.randrange(1, 400), chance.randrange(1, 500)
    bits, gradients = chance.choice([None, None, chance.randrange(1, 9)]), chance.random() < 0.5
    table = table_type(n_labels, table_bits=bits, gradients=gradients)
    for _ in range(updates):
        keys = np.array(
            [chance.randrange(4 + updates) * 0xD1B54A32D192ED03 % 2**64 for _ in range(24)],
            np.uint64,
        )
        label = chance.randrange(n_labels)
        if gradients:
            table.update(keys, label, chance.choice([-1.0, 1.0]), rate=0.1)
        else:
            table.update(keys, label, chance.uniform(-1, 1))
        table.score(keys)
        table.advance(chance.randrange(3))
    again = table_type(n_labels, table_bits=bits, gradients=gradients)
    again.from_arrays(table.to_arrays(), table.done)
    table.clear()
    return updates


def leaks(full: bool) -> Reached:
    """O3: tables of all kinds that are let go leave no memory behind."""
    seeds = 400 if full else 60
    for seed in range(seeds):
        _random_updates(WeightTable, random.Random(seed))
    before = _resident()
    for seed in range(seeds):
        _random_updates(WeightTable, random.Random(seed))
    more = _resident() - before
    return Reached(f"{more / 2**20:.1f} MB more after {seeds} tables again", more < seeds * 2**14)


def _resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as pages:
        return int(pages.read().split()[1]) * 4096
