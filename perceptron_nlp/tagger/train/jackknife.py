"""Tags of training sentences as they will be in use: predicted by taggers that have not seen them.

Who learns from tags that others predict learns from such tags, too, or trusts them too much
(jackknifing).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from perceptron_nlp.tagger.model.derived import with_each
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.tag.label import Labeler
from perceptron_nlp.tagger.train.sidebyside import side_by_side
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.tagset import UNLABELED

Fit = Callable[..., TaggerModel]
"""Trains a model: (sentences, dev=…, column=…, **options)."""

QUICK = {"preset": "fast", "epochs": 3, "two_passes": False, "selection": None}
HELD_OUT = slice(1, None, 2)
"""The sentences that get predicted tags; those between teach them."""


def with_predicted_tags(
    train: Sequence[Sentence], taggers: Sequence[TaggerModel], fit: Fit, seed: int, threads: int
) -> list[Sentence]:
    """Return the sentences that are HELD_OUT with tags from quick taggers of the others.

    fit : what trains a tagger of sentences
    taggers : those in use, whose templates the quick ones take, so that they need not be chosen
    threads : taggers at a time
    """
    rest, found = list(train[::2]), list(train[HELD_OUT])

    def labels(tagger: TaggerModel, _: object = None) -> list[list[str]]:
        model = fit(
            rest,
            dev=None,
            column=tagger.column,
            templates=[t for t in tagger.templates if not t.columns],
            right_to_left=tagger.right_to_left,
            seed=seed,
            none_is_label=UNLABELED in tagger.tags,
            **QUICK,
        )
        return Labeler(model).label([sentence.words for sentence in found])

    all_labels = side_by_side([partial(labels, tagger) for tagger in taggers], threads)
    for tagger, own in zip(taggers, all_labels, strict=True):
        found = with_each(found, tagger.column, own)
    return found
