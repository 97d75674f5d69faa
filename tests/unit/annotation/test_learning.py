"""What is learned beside the work of a person, and what it takes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

import perceptron_nlp as pn
from perceptron_nlp.annotation import Session
from perceptron_nlp.annotation.asking import Candidate
from perceptron_nlp.annotation.calibration import Calibration, CrossCalibration, confidences
from perceptron_nlp.annotation.learning import Learned, Learner
from tests.unit.annotation.conftest import gold, made, work


def test_a_calibration_takes_no_more_than_one_training_beside_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trainings: list[tuple[int, int]] = []
    count = 0
    learn, train = Learner.learn, Learner.train

    def counted(self: Learner, *given: Any, **options: Any) -> pn.Tagger:
        nonlocal count
        count += 1
        return train(self, *given, **options)

    def told(self: Learner, annotated: Any, waiting: Any) -> Any:
        nonlocal count
        count = 0
        learned = learn(self, annotated, waiting)
        trainings.append((sum(map(len, annotated)), count))
        return learned

    monkeypatch.setattr(Learner, "train", counted)
    monkeypatch.setattr(Learner, "learn", told)
    with Session(made(300), every=10) as session:
        work(session, 150)
    late = [done for n_tokens, done in trainings if n_tokens >= 520]
    assert len(late) > 20 and set(late) == {1, 2}


def test_words_annotated_since_the_training_are_not_asked_for_again() -> None:
    queue = [Candidate("1", 2, {"a": 3.0, "b": 1.0}), Candidate("2", 2, {"c": 2.0, "d": 1.5})]
    learned = Learned(None, Calibration(), None, queue, 0.3)
    assert learned.asked([]) == ["1", "2"]
    assert learned.asked(["a"]) == ["2", "1"]


def test_the_estimate_for_the_words_of_the_folds_is_their_accuracy() -> None:
    chance = random.Random(1)
    sentences = [
        pn.Sentence(words, {"upos": [chance.choice(["X", tag, tag, tag]) for tag in gold(words)]})
        for words in made(60)
    ]
    parts: list[pn.Tagger] = []

    def train(some: Sequence[pn.Sentence], column: str, **options: Any) -> pn.Tagger:
        parts.append(pn.train(list(some), column=column, runs=1, **options))
        return parts[-1]

    found = CrossCalibration(sentences, "upos", train, None).result()
    right, sure = [], []
    for fold, part in enumerate(parts[1:]):
        own = sentences[fold::5]
        right += [part.evaluate(own, column="upos").accuracy] * sum(map(len, own))
        for one in confidences(part, [s.words for s in own], found.temperature):
            sure += one
    assert len(parts) == 6 and 0.6 < sum(right) / len(right) < 0.85
    assert found.estimate(sure).share == pytest.approx(sum(right) / len(right), abs=1e-5)
    assert abs(found.excess) < 0.1
