"""Training on shards, whichever engine runs them: what stays as it is, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import perceptron_nlp as pn
from perceptron_nlp.integrations.engines import engine_of
from perceptron_nlp.integrations.shardtraining import Sharding

Small = list[tuple[list[str], list[str]]]
FAST: dict[str, Any] = {"templates": "fast", "epochs": 3}


def own_features(tokens: Any, i: int, history: Any) -> list[str]:
    return [f"w={tokens[i]}", f"end={str(tokens[i])[-2:]}", *(f"t={t}" for t in history[-1:])]


@pytest.mark.parametrize("options", [
    FAST, {"preset": "default", "epochs": 2}, {**FAST, "update": "perceptron", "runs": 2},
    {**FAST, "beam": 3, "dictionary": (2, 0.9)}, {**FAST, "table_bits": 9, "min_count": 2},
    {"features": own_features, "epochs": 2}, {**FAST, "column": ["upos", "xpos"]},
    {**FAST, "column": "feats", "two_passes": False},
    {**FAST, "column": "feats", "two_passes": True, "epochs": 1},
], ids=["fast", "default", "runs", "beam", "table", "function", "columns", "feats", "two passes"])
def test_one_worker_learns_byte_for_byte_what_ordinary_training_does(
        options: dict[str, Any], annotated: list[pn.Sentence], here: Any) -> None:
    whole = pn.train(annotated, dev=annotated[:6], **options)
    alone = pn.train(annotated, dev=annotated[:6], engine=here(1, mixes=2), **options)
    assert bytes(alone.to_bytes()) == bytes(whole.to_bytes())


@pytest.mark.parametrize("mix_by", ["errors", "examples"])
def test_several_workers_learn_the_text(mix_by: str, small: Small, here: Any) -> None:
    tagger = pn.train(small, engine=here(4, mix_by=mix_by, mixes=2), templates="fast", epochs=8)
    assert tagger.evaluate(small).accuracy > 0.97
    assert tagger.model.record["sharding"] == {"workers": 4, "mix_by": mix_by, "mixes": 2}


def test_a_model_of_shards_can_be_resumed_and_holds_what_it_is_the_average_of(
        small: Small, here: Any) -> None:
    whole = pn.train(small, engine=here(3), resumable=True, **FAST)
    state = whole.model.state.runs[0]
    assert state.done == 3 * whole.model.record["train"]["labelled"] and state.epochs == 3
    assert whole.resume(small, epochs=1).evaluate(small).accuracy > 0.97


def test_a_training_on_shards_goes_on_from_its_checkpoint(
        small: Small, here: Any, tmp_path: Path) -> None:
    place = tmp_path / "state"

    def stop(report: pn.EpochReport) -> None:
        if report.epoch == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        pn.train(small, engine=here(3), callback=stop, checkpoint=place, **FAST)
    resumed = pn.train(small, engine=here(3), checkpoint=place, resume=True, **FAST)
    assert bytes(resumed.to_bytes()) == bytes(pn.train(small, engine=here(3), **FAST).to_bytes())
    with pytest.raises(pn.ArgumentError, match="of a training with"):
        pn.train(small, engine=here(2), checkpoint=place, resume=True, **FAST)


def test_only_what_changed_travels(small: Small, here: Any) -> None:
    engine = here(2)
    pn.train(small, engine=engine, templates="fast", epochs=12)
    sent = [sum(count.bytes_sent for count in piece.counts) for piece in engine.rounds]
    assert len(sent) == 12 and sent[-1] < sent[0] / 3
    assert engine.rounds[-1].bytes_mixed < engine.rounds[0].bytes_mixed / 3


def test_a_shard_without_labels_adds_nothing(small: Small, here: Any) -> None:
    labelled = [(words, labels) for words, labels in small]
    labelled[1::3] = [(words, [None] * len(words)) for words, _ in small[1::3]]
    assert pn.train(labelled, engine=here(3), **FAST).evaluate(small).accuracy > 0.6


def test_more_workers_than_sentences_are_refused(small: Small, here: Any) -> None:
    with pytest.raises(pn.ArgumentError, match=r"workers: 13 are more than there are sentences to"
                                               r" learn from \(12\); give 12 at most"):
        pn.train(small, engine=here(13), **FAST)
    assert pn.train(small, engine=here(12), **FAST).evaluate(small).accuracy > 0.9


def test_what_shards_cannot_know_is_refused(small: Small, here: Any) -> None:
    with pytest.raises(pn.ArgumentError, match="min_count: 2 with 3 workers"):
        pn.train(small, engine=here(3), min_count=2, **FAST)
    with pytest.raises(pn.ArgumentError, match="beam: a feature function labels greedily"):
        pn.train(small, engine=here(2), features=own_features, beam=2)


@pytest.mark.parametrize(("options", "error", "message"), [
    ({"workers": 2}, pn.ArgumentError, "workers: are those of an engine; name it"),
    ({"engine": "rey"}, pn.ArgumentError, "engine: 'rey' is not one of ray; did you mean ray"),
    ({"engine": 3}, pn.ArgumentTypeError, "engine: a name or an engine is needed, not int"),
], ids=lambda value: "" if isinstance(value, str) else None)
def test_engines_that_are_none_are_refused(
        options: dict[str, Any], error: type[Exception], message: str, small: Small) -> None:
    with pytest.raises(error, match=message):
        pn.train(small, **options)


def test_workers_are_given_once(here: Any) -> None:
    with pytest.raises(pn.ArgumentError, match="the engine that was given has its own"):
        engine_of(here(2), 3)


@pytest.mark.parametrize(("given", "message"), [
    ({"workers": 0}, "workers: 0 is not between 1 and 10,000"),
    ({"workers": 2, "mix_by": "words"}, "mix_by: 'words' is not one of errors, examples"),
    ({"workers": 2, "mixes": 0}, "mixes: 0 is not between 1 and 1,000"),
], ids=["workers", "mix_by", "mixes"])
def test_shardings_out_of_range_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(pn.ArgumentError, match=message):
        Sharding(**given)
