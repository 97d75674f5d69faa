"""Training on shards, whichever engine runs them: what stays as it is, and what is refused."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import perceptron_nlp as pn
from benchmarks.here import Here, train
from perceptron_nlp.integrations import engines

Small = list[tuple[list[str], list[str]]]
DATA = Path(__file__).parents[2] / "data"
FAST: dict[str, Any] = {"templates": "fast", "epochs": 3}


@pytest.mark.parametrize(
    "options",
    [
        FAST,
        {"preset": "default", "epochs": 2},
        {**FAST, "update": "perceptron", "runs": 2},
        {**FAST, "beam": 3, "dictionary": (2, 0.9)},
        {**FAST, "table_bits": 9, "min_count": 2},
        {**FAST, "column": ["upos", "xpos"]},
        {**FAST, "column": "feats", "two_passes": True, "epochs": 1},
    ],
    ids=["fast", "default", "runs", "beam", "table", "columns", "two passes"],
)
def test_one_worker_learns_byte_for_byte_what_ordinary_training_does(
    options: dict[str, Any], annotated: list[pn.Sentence]
) -> None:
    whole = pn.train(annotated, dev=annotated[:6], **options)
    alone = train(annotated, workers=1, dev=annotated[:6], **options)
    assert bytes(alone.to_bytes()) == bytes(whole.to_bytes())


@pytest.mark.parametrize(
    "options",
    [
        {"templates": "fast", "epochs": 8},
        {"column": ["upos", "xpos"], "runs": 2},
        {"column": "feats", "beam": 1},
        {"templates": "fast", "table_bits": 12, "epochs": 8},
        {"dictionary": (2, 0.9), "epochs": 8},
    ],
    ids=["fast", "columns", "feats", "table", "dictionary"],
)
def test_several_workers_learn_the_text(
    options: dict[str, Any], annotated: list[pn.Sentence]
) -> None:
    tagger = train(annotated, workers=4, **options)
    for name in tagger.columns:
        assert tagger.evaluate(annotated, column=name).accuracy > 0.95
    assert tagger.model.record["sharding"] == {"workers": 4}
    assert tagger.model.state is None


def test_the_order_in_which_workers_are_done_changes_no_byte(small: Small) -> None:
    class Backwards(Here):
        def call(
            self, job: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]
        ) -> Iterable[Any]:
            return super().call(job, [*arguments][::-1])

    found = [engines.train(small, engine=one(), workers=3, **FAST) for one in (Here, Backwards)]
    assert bytes(found[0].to_bytes()) == bytes(found[1].to_bytes())


def test_a_model_of_shards_can_be_resumed_and_holds_what_it_is_the_average_of(small: Small) -> None:
    whole = train(small, workers=3, resumable=True, **FAST)
    assert whole.model.state is not None
    (state,) = whole.model.state.runs
    assert state.done == 3 * whole.model.record["train"]["labeled"] and state.epochs == 3
    assert whole.resume(small, epochs=1).evaluate(small).accuracy > 0.97


def test_the_epoch_that_does_best_on_the_dev_set_is_kept(
    annotated: list[pn.Sentence], tmp_path: Path
) -> None:
    path = tmp_path / "train.conllu"
    pn.write_conllu(annotated, path)
    seen: list[pn.EpochReport] = []
    tagger = train(
        [path], workers=2, dev=path, patience=1, size="20kB", callback=seen.append, epochs=30
    )
    scores = [report.dev_accuracy for report in seen if report.run == 1]
    assert len(scores) < 30 and scores[-1] is not None
    best = scores.index(max(scores)) + 1
    assert seen[-1].best_epoch == best == tagger.model.record["best_epoch"]
    assert len(tagger.to_bytes()) <= 20_000


def test_files_are_read_as_without_shards() -> None:
    path = DATA / "english-chunks.columns"
    named = {"fields": ["form", "upos", "chunk", "entity"], "column": "chunk"}
    for options in ({}, named):
        whole, found = (
            one(path, preset="fast", epochs=1, **options)
            for one in (pn.train, functools.partial(train, workers=2))
        )
        assert (found.columns, found.labels) == (whole.columns, whole.labels)
        assert found.model.fields == whole.model.fields
        assert found.feature_columns == whole.feature_columns


def test_a_shard_without_labels_adds_nothing(small: Small) -> None:
    labeled: list[Any] = [*small]
    labeled[1::3] = [(words, [None] * len(words)) for words, _ in small[1::3]]
    assert train(labeled, workers=3, **FAST).evaluate(small).accuracy > 0.6


def test_what_shards_cannot_know_is_refused(small: Small) -> None:
    assert train(small, workers=12, **FAST).evaluate(small).accuracy > 0.9
    refused: list[tuple[dict[str, Any], str]] = [
        ({"workers": 13}, r"workers: 13 are more than there are sentences to learn from \(12\)"),
        ({"workers": 0}, "workers: 0 is not between 1 and 10,000"),
        ({"workers": 3, "min_count": 2}, "min_count: 2 with 3 workers"),
        ({"workers": 2, "checkpoint": "state"}, "checkpoint: does not go with shards"),
        ({"workers": 2, "max_memory": "1GB"}, "max_memory: does not go with shards"),
        ({"workers": 2, "column": "tag,lemma"}, "workers: segmentation, lemmas and the second"),
    ]
    for options, message in refused:
        with pytest.raises(pn.ArgumentError, match=message):
            train(small, **{**FAST, **options})
    with pytest.raises(pn.ArgumentTypeError, match="train: a path or labeled sentences are needed"):
        train(7, workers=2)
    with pytest.raises(pn.ArgumentTypeError, match="epoch"):
        train(small, workers=2, epoch=3)


def test_a_worker_of_another_version_is_refused(
    small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines.pn, "__version__", "0.0.1")
    with pytest.raises(pn.EngineError, match=r"has version .*, and the job was begun with 0"):
        train(small, workers=2, **FAST)
