"""Checkpoints: resumed trainings are the uninterrupted ones, and bad checkpoints are refused."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp._core.table.weights import WeightTable

Small = list[tuple[list[str], list[str]]]
KINDS: list[dict[str, Any]] = [
    {},
    {"table_bits": 9},
    {"update": "perceptron"},
    {"beam": 3},
    {"runs": 3},
    {"min_count": 2},
    {"features": lambda tokens, i: [tokens[i]]},
]


class Stop(Exception):
    pass


def stop_after(epoch: int) -> Any:
    def callback(report: pn.EpochReport) -> None:
        if report.epoch == epoch:
            raise Stop

    return callback


@pytest.mark.parametrize("options", KINDS, ids=lambda options: " ".join(options))
def test_a_resumed_training_gives_the_bytes_of_one_without_a_stop(
    small: Small, tmp_path: Path, options: dict[str, Any]
) -> None:
    place = tmp_path / "state"
    both = {"epochs": 6, "dev": small[:4], "patience": 4, **options}
    whole = pn.train(small, **both).to_bytes()
    with pytest.raises(Stop):
        pn.train(small, checkpoint=place, callback=stop_after(3), **both)
    assert pn.train(small, checkpoint=place, resume=True, **both).to_bytes() == whole


def test_a_training_of_labels_in_parts_resumes_exactly(small: Small, tmp_path: Path) -> None:
    parts = [
        (
            words,
            [
                f"Kind={label[:1]}|Case={len(word) % 3}"
                for word, label in zip(words, labels, strict=True)
            ],
        )
        for words, labels in small
    ]
    sentences = [pn.Sentence(words, {"feats": labels}) for words, labels in parts * 4]
    options: dict[str, Any] = {"column": "feats", "epochs": 4}
    whole = pn.train(sentences, **options)
    assert whole.model.parts is not None
    with pytest.raises(Stop):
        pn.train(sentences, checkpoint=tmp_path / "state", callback=stop_after(2), **options)
    again = pn.train(sentences, checkpoint=tmp_path / "state", resume=True, **options)
    assert again.to_bytes() == whole.to_bytes()


def test_ctrl_c_ends_a_training_at_once_and_its_last_whole_epoch_is_saved(
    small: Small, tmp_path: Path
) -> None:
    whole = pn.train(small, epochs=3).to_bytes()
    place = tmp_path / "state"
    with pytest.raises(KeyboardInterrupt):
        pn.train(
            small,
            epochs=3,
            checkpoint=place,
            callback=lambda _: os.kill(os.getpid(), signal.SIGINT),
        )
    seen: list[int] = []
    again = pn.train(
        small,
        epochs=3,
        checkpoint=place,
        resume=True,
        callback=lambda report: seen.append(report.epoch),
    )
    assert seen == [2, 3] and again.to_bytes() == whole


def test_a_finished_training_resumes_to_its_model(small: Small, tmp_path: Path) -> None:
    place = tmp_path / "state"
    first = pn.train(small, epochs=2, checkpoint=place).to_bytes()
    assert pn.train(small, epochs=2, checkpoint=place, resume=True).to_bytes() == first


def test_checkpoints_come_as_often_as_was_said(small: Small, tmp_path: Path) -> None:
    place = tmp_path / "state"
    seen: list[bool] = []
    pn.train(
        small,
        epochs=4,
        checkpoint=place,
        every=3,
        callback=lambda report: seen.append(place.exists()),
    )
    assert seen == [False, False, True, True]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"seed": 9}, "seed '1', not '9'"),
        ({"templates": ["word[0]"]}, "templates"),
        ({"train": [(["a"], ["X"])]}, "other data"),
        ({"dev": [(["a"], ["NOUN"])]}, "other dev data"),
        ({"raw": [["a", "dog"]] * 40}, "other raw text or another lexicon; resume"),
    ],
)
def test_a_checkpoint_of_another_training_is_refused_by_what_differs(
    small: Small, tmp_path: Path, change: dict[str, Any], word: str
) -> None:
    place = tmp_path / "state"
    pn.train(small, epochs=1, checkpoint=place)
    arguments: dict[str, Any] = {"train": small, "epochs": 1, **change}
    with pytest.raises(pn.ArgumentError, match=word) as caught:
        pn.train(checkpoint=place, resume=True, **arguments)
    assert str(place) in str(caught.value)


def test_a_checkpoint_is_neither_overwritten_nor_missed_in_silence(
    small: Small, tmp_path: Path
) -> None:
    place = tmp_path / "state"
    with pytest.raises(pn.FileError, match="no checkpoint"):
        pn.train(small, checkpoint=place, resume=True)
    place.write_bytes(b"precious")
    with pytest.raises(pn.FileError, match="already"):
        pn.train(small, checkpoint=place)
    assert place.read_bytes() == b"precious"


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:100],
        lambda data: data[:-1],
        lambda data: b"",
        lambda data: data[:500] + b"x" + data[501:],
    ],
)
def test_a_damaged_checkpoint_is_refused(small: Small, tmp_path: Path, damage: Any) -> None:
    place = tmp_path / "state"
    pn.train(small, epochs=1, checkpoint=place)
    place.write_bytes(damage(place.read_bytes()))
    with pytest.raises(pn.ModelError, match="state"):
        pn.train(small, epochs=1, checkpoint=place, resume=True)


def test_a_checkpoint_is_the_model_so_far_which_tags_and_can_be_resumed(
    small: Small, tmp_path: Path
) -> None:
    place = tmp_path / "state"
    with pytest.raises(Stop):
        pn.train(small, epochs=6, runs=1, checkpoint=place, callback=stop_after(2))
    words = [words for words, _ in small]
    so_far, two = pn.load(place), pn.train(small, epochs=2, runs=1, resumable=True)
    assert so_far.tag_sents(words) == two.tag_sents(words)
    more = [(["a", "boat"], ["DET", "NOUN"])] * 3
    again, expected = (one.resume(more, epochs=2) for one in (so_far, two))
    assert again.tag_sents(words) == expected.tag_sents(words)
    assert "checkpoint" not in again.model.record["before"]


def test_the_best_epoch_and_the_last_one_are_in_a_checkpoint(small: Small, tmp_path: Path) -> None:
    place = tmp_path / "state"
    how: dict[str, Any] = {"epochs": 6, "dev": small[:4], "runs": 2}
    for stop in range(1, 7):
        with pytest.raises(Stop):
            pn.train(small, checkpoint=place, callback=stop_after(stop), **how)
        state = pn.load(place).model.state
        assert state is not None and state.states[-1].epochs == stop
        scores = [entry["dev_accuracy"] for entry in pn.load(place).model.record["epochs"]]
        assert state.runs[0].epochs == 1 + scores.index(max(scores))
        place.unlink()


def test_a_model_is_no_checkpoint(small: Small, tmp_path: Path, tagger: pn.Tagger) -> None:
    place = tmp_path / "state"
    tagger.save(place)
    with pytest.raises(pn.ModelError, match="not a checkpoint"):
        pn.train(small, epochs=1, checkpoint=place, resume=True)
    pn.train(small, epochs=1, resumable=True).save(place)
    with pytest.raises(pn.ModelError, match=r"not a checkpoint, but a model; Tagger\.resume"):
        pn.train(small, epochs=1, checkpoint=place, resume=True)


@pytest.mark.parametrize(
    ("options", "error", "word"),
    [
        ({"checkpoint": 3}, pn.ArgumentTypeError, "checkpoint"),
        ({"resume": True}, pn.ArgumentError, "resume"),
        ({"every": 1}, pn.ArgumentError, "every"),
        ({"checkpoint": "x", "resume": 1}, pn.ArgumentTypeError, "resume"),
        ({"checkpoint": "x", "every": 0}, pn.ArgumentError, "every"),
        ({"checkpoint": "x", "every": "2epochs"}, pn.ArgumentTypeError, "every"),
        ({"checkpoint": "no/such/folder/x"}, pn.FileError, "no/such"),
        ({"checkpoint": "a\0b"}, pn.FileError, "name"),
        ({"checkpoint": "."}, pn.FileError, "is a folder"),
    ],
)
def test_checkpoint_options_that_cannot_be_used_are_named(
    small: Small, options: dict[str, Any], error: type[Exception], word: str
) -> None:
    with pytest.raises(error, match=word):
        pn.train(small, **options)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4), st.floats(-9, 9)), max_size=40),
    st.sampled_from([None, 3]),
    st.booleans(),
)
def test_a_table_taken_up_elsewhere_learns_on_as_the_first(
    updates: list[tuple[int, int, float]], bits: int | None, gradients: bool
) -> None:
    def learn(table: WeightTable, part: list[tuple[int, int, float]]) -> None:
        for key, label, step in part:
            keys = np.array([key << 60], np.uint64)
            if gradients:
                table.update(keys, label, step, rate=0.1)
            else:
                table.update(keys, label, step)
            table.advance()

    first = WeightTable(5, table_bits=bits, gradients=gradients)
    learn(first, updates[:20])
    second = WeightTable(5, table_bits=bits, gradients=gradients)
    second.from_arrays(first.to_arrays(), first.done)
    learn(first, updates[20:])
    learn(second, updates[20:])
    for key in range(10):
        keys = np.array([key << 60], np.uint64)
        assert (first.score(keys) == second.score(keys)).all()
        assert (first.average().score(keys) == second.average().score(keys)).all()


def test_arrays_that_do_not_fit_a_table_are_refused() -> None:
    table = WeightTable(3)
    table.update(np.array([1], np.uint64), 2, 1.0)
    table.advance()
    good = table.to_arrays()
    changes: list[dict[str, Any]] = [
        {"labels": np.array([3], np.uint32)},
        {"total": np.array([np.inf])},
        {"total": np.array([1.0, 2.0])},
        {"w": np.array([np.nan])},
        {"counts": np.array([2], np.uint32)},
        {"keys": np.array([1, 2], np.uint64)},
        {"more": 1},
    ]
    for change in changes:
        with pytest.raises(pn.ArgumentError, match="arrays"):
            WeightTable(3).from_arrays({**good, **change}, 1)
    with pytest.raises(pn.ArgumentError, match="arrays"):
        table.from_arrays(good, 1)


@pytest.mark.parametrize(
    "change",
    [
        {"epochs": [{"run": 1}]},
        {"epochs": [{"run": 1, "epoch": 1, "dev_accuracy": "good"}]},
        {"epochs": [7]},
        {"checkpoint": "mine"},
        {"checkpoint": None},
    ],
    ids=str,
)
def test_a_checkpoint_with_a_forged_record_is_refused(
    small: Small, tmp_path: Path, change: dict[str, Any]
) -> None:
    place = tmp_path / "state"
    pn.train(small, epochs=1, checkpoint=place)
    model = pn.load(place).model
    pn.Tagger(model.replace(record={**model.record, **change})).save(place)
    with pytest.raises(pn.ModelError, match="state"):
        pn.train(small, epochs=1, checkpoint=place, resume=True)


def test_a_checkpoint_with_the_state_of_other_labels_is_refused(
    small: Small, tmp_path: Path
) -> None:
    place, other = tmp_path / "state", tmp_path / "other"
    pn.train(small, epochs=1, checkpoint=place)
    more = [*small, (["a", "b"], ["NEW", "NEWER"])]
    pn.train(more, epochs=1, checkpoint=other)
    found = pn.load(other).model
    record = {**found.record, "checkpoint": pn.load(place).model.record["checkpoint"]}
    pn.Tagger(found.replace(record=record)).save(place)
    with pytest.raises(pn.ModelError, match="state: the checkpoint is not valid"):
        pn.train(small, epochs=1, checkpoint=place, resume=True)
