"""The preset best: what folds of the training text choose, and what the model says of it."""

from __future__ import annotations

import itertools
import random
from types import SimpleNamespace
from typing import Any

import pytest

import perceptron_nlp as pn
from perceptron_nlp.tagger.train import best


def text(n: int = 60) -> list[pn.Sentence]:
    """Sentences whose word x is a verb behind a noun, else a noun."""
    drawn = random.Random(1)
    sentences = []
    for _ in range(n):
        words, labels = [], list[str]()
        for _ in range(8):
            words.append(drawn.choice(["x", "the", f"w{drawn.randrange(9)}s"]))
            noun = words[-1].startswith("w")
            verb = words[-1] == "x" and labels[-1:] == ["NOUN"]
            labels.append("DET" if words[-1] == "the" else "VERB" if verb and not noun else "NOUN")
        sentences.append(pn.Sentence(words, {"upos": labels}))
    return sentences


def trained(**options: Any) -> pn.Tagger:
    return pn.train(text(), **{"column": "upos", "preset": "best", **options})


def steps(tagger: pn.Tagger) -> dict[str, str]:
    """What was chosen of each step, by its name."""
    notes = tagger.model.record["choices"]
    return {name: note.split()[-1] for note in notes for name, _ in best.SCHEDULE if name in note}


def test_steps_that_are_taken_become_the_options_and_their_worth_is_on_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harm = ("min_count=9999", {"min_count": 9999})
    reverse = ("right_to_left=False", {"right_to_left": False})
    monkeypatch.setattr(best, "SCHEDULE", (harm, reverse))
    tagger = trained(templates=["bias", "lower[0]", "tag[-1] lower[0]"])
    assert steps(tagger) == {"min_count=9999": "left", "right_to_left=False": "taken"}
    options = tagger.model.record["options"]
    assert (options["preset"], options["min_count"]) == ("default", 1)
    assert options["right_to_left"] is False
    assert tagger.model.record["choices"][0].startswith("by 3 folds of train: preset=default, ")


def test_the_same_steps_make_the_same_bytes_with_any_number_of_threads() -> None:
    whole = trained().to_bytes()
    assert trained(threads=3).to_bytes() == trained(minutes=100).to_bytes() == whole


def test_options_that_are_given_are_not_tried_otherwise() -> None:
    tagger = trained(runs=2, beam=1)
    assert {*steps(tagger)} & {"runs=8", "beam=1 runs=8"} == set()
    assert tagger.model.record["options"]["runs"] == 2


def test_where_the_time_is_over_what_was_taken_before_is_trained(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each look at this clock takes a minute."""
    clock = SimpleNamespace(monotonic=itertools.count(step=60).__next__)
    monkeypatch.setattr(best, "time", clock)
    nothing, some = trained(minutes=1), trained(minutes=400)
    assert not steps(nothing) and nothing.model.record["options"]["preset"] == "default"
    assert 0 < len(steps(some)) < len(best.SCHEDULE) - 1
    for tagger in (nothing, some):
        assert "the time was over before all steps were tried" in tagger.model.record["choices"]


def test_little_text_has_nothing_to_choose_by() -> None:
    little = pn.train(text(2), column="upos", preset="best")
    assert "too little text" in little.model.record["choices"][0]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"preset": "default", "minutes": 3}, "minutes: they bound what the preset best tries"),
        ({"minutes": 0}, "minutes"),
        ({"resumable": True}, "resumable: the preset best trains many times"),
        ({"max_memory": "1GB"}, "max_memory: the preset best trains many times"),
    ],
)
def test_what_does_not_go_with_it_is_said(options: dict[str, Any], said: str) -> None:
    with pytest.raises(pn.ArgumentError, match=said):
        trained(**options)


def test_what_trains_a_student_needs_another_preset() -> None:
    teacher = pn.train(text(), column="upos", preset="fast")
    with pytest.raises(pn.ArgumentError, match="preset: best"):
        pn.distill(teacher, raw=[["x"]], train=text(), column="upos", preset="best")
