"""Tags of training sentences as they will be in use: predicted by taggers that have not seen them.

Who learns from tags that others predict learns from such tags, too, or trusts them too much
(jackknifing).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from perceptron_nlp.crossfit import in_turn
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.tag.label import Labeler
from perceptron_nlp.tagger.train.sidebyside import side_by_side
from perceptron_nlp.text.sentence import Sentence, with_columns

Fit = Callable[..., TaggerModel]
"""Trains a model: (sentences, dev=…, column=…, **options)."""

FOLDS = 5
QUICK = {"preset": "fast", "epochs": 3, "two_passes": False}


def with_predicted_tags(
    train: Sequence[Sentence], taggers: Sequence[TaggerModel], fit: Fit, seed: int, threads: int
) -> list[Sentence]:
    """Return the sentences with tags from quick taggers of the other folds.

    fit : what trains a tagger of sentences
    taggers : those in use, whose templates the quick ones take, so that they need not be chosen
    threads : folds at a time
    """
    if len(train) < 2:
        return [with_columns(sentence, sentence.columns) for sentence in train]

    def quick(rest: list[int]) -> list[TaggerModel]:
        return [
            fit(
                [train[number] for number in rest],
                dev=None,
                column=tagger.column,
                templates=[t for t in tagger.templates if not t.columns],
                right_to_left=tagger.right_to_left,
                seed=seed,
                **QUICK,
            )
            for tagger in taggers
        ]

    def predicted(models: list[TaggerModel], held_out: list[int]) -> dict[int, Sentence]:
        found = {number: train[number] for number in held_out}
        words: list[Sequence[str]] = [train[number].words for number in held_out]
        for model in models:
            for number, own in zip(held_out, Labeler(model).label(words), strict=True):
                columns = {**found[number].columns, model.column: tuple(own)}
                found[number] = with_columns(found[number], columns)
        return found

    folds = in_turn(permutation(len(train), seed), min(FOLDS, len(train)))

    def of_fold(number: int, _: object) -> dict[int, Sentence]:
        rest = [at for other, fold in enumerate(folds) if other != number for at in fold]
        return predicted(quick(sorted(rest)), folds[number])

    sentences: dict[int, Sentence] = {}
    for own in side_by_side([partial(of_fold, number) for number in range(len(folds))], threads):
        sentences.update(own)
    return [sentences[number] for number in range(len(train))]
