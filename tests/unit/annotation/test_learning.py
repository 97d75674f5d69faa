"""What is learned beside the work of a person, and what it takes."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

import perceptron_nlp as pn
from perceptron_nlp.annotation import Session
from perceptron_nlp.annotation.asking import Candidate
from perceptron_nlp.annotation.calibration import Calibration, Judged, confidences, estimate
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

    def told(self: Learner, annotated: Any, waiting: Any, held_out: Any) -> Any:
        nonlocal count
        count = 0
        learned = learn(self, annotated, waiting, held_out)
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
    learned = Learned(None, Calibration(), None, None, queue, 0.3)
    assert learned.asked([]) == ["1", "2"]
    assert learned.asked(["a"]) == ["2", "1"]


def sampled(chance: random.Random, n_sentences: int) -> list[Judged]:
    """Sentences whose tokens go wrong together, with confidences that are ten points too high."""
    found = []
    for _ in range(n_sentences):
        n_tokens = chance.randint(1, 30)
        share = chance.betavariate(80, 20)
        right = sum(chance.random() < share for _ in range(n_tokens))
        found.append(Judged(n_tokens, right - 0.9 * n_tokens, 0.09 * n_tokens))
    return found


@pytest.mark.parametrize("n_sentences", [1, 2, 5, 20])
def test_intervals_hold_the_truth_however_few_sentences_are_held_out(n_sentences: int) -> None:
    chance = random.Random(1)
    drawn = [estimate(0.9, sampled(chance, n_sentences)) for _ in range(500)]
    holding = [one is not None and one.low <= 0.8 <= one.high for one in drawn]
    assert sum(holding) >= 0.94 * len(holding)
    widths = [one.high - one.low for one in drawn if one is not None]
    # Twice what so many independent tokens leave open.
    assert sum(widths) / len(widths) < 8 * math.sqrt(0.16 / (15 * n_sentences))


def test_the_estimate_by_all_sentences_is_the_accuracy() -> None:
    chance = random.Random(1)
    sentences = [
        pn.Sentence(words, {"upos": [chance.choice(["X", tag, tag, tag]) for tag in gold(words)]})
        for words in made(60)
    ]
    tagger = pn.train(sentences, column="upos", runs=1)
    sure = [x for own in confidences(tagger, [s.words for s in sentences], 3.0) for x in own]
    sample = [Judged.of(tagger, sentence, "upos", 3.0) for sentence in sentences]
    found = estimate(sum(sure) / len(sure), sample)
    accuracy = tagger.evaluate(sentences, column="upos").accuracy
    assert found is not None and found.share == pytest.approx(accuracy, abs=1e-5)
    assert found.low < accuracy < found.high


def test_nothing_is_estimated_without_a_label() -> None:
    tagger = pn.train([pn.Sentence(words, {"upos": gold(words)}) for words in made(9)], runs=1)
    words = made(1)[0]
    unlabeled = Judged.of(tagger, pn.Sentence(words, {"upos": ["_"] * len(words)}), "upos", 1.0)
    assert unlabeled == (0, 0, 0)
    assert estimate(0.9, []) is None and estimate(0.9, [unlabeled]) is None
    one = Judged.of(tagger, pn.Sentence(words, {"upos": gold(words)}), "upos", 1.0)
    assert estimate(0.9, [unlabeled, one]) == estimate(0.9, [one])
