"""Columns of features: learnt together with the part of speech, as sums of their parts.

The score of a label is the sum of its parts (attributes.py), so that words of rare labels learn
from words of others, as in Smith, Smith and Tromble (2005, "Context-based morphological
disambiguation with random fields").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from perceptron_nlp.tagger.model.attributes import JOINT, UPOS, closure, holds_attributes, joint
from perceptron_nlp.tagger.train.examples import Examples
from perceptron_nlp.tagger.train.sources import UNLABELLED
from perceptron_nlp.text.tagset import TagSet


def holds_features(examples: Examples) -> bool:
    """Are all labels sets of attributes?"""
    return holds_attributes(examples.tags)


def with_upos(examples: Examples) -> Examples:
    """The same sentences with joint labels; unchanged where a word has no part of speech."""
    gold: list[Sequence[str | None]] = []
    for sentence, labels in zip(examples.sentences, examples.gold, strict=True):
        tags = sentence.column(UPOS) if UPOS in sentence.columns else [UNLABELLED]
        if UNLABELLED in tags:
            return examples
        gold.append(
            [
                None if label is None else joint(upos, label)
                for upos, label in zip(tags, labels, strict=True)
            ]
        )
    tags_met = TagSet({label for labels in gold for label in labels if label is not None})
    return replace(examples, gold=gold, tags=tags_met, scheme=JOINT)


def upos_alone(examples: Examples) -> Examples:
    """The sentences of examples with joint labels, with their parts of speech for labels."""
    gold: list[Sequence[str | None]] = [s.column(UPOS) for s in examples.sentences]
    tags = TagSet({tag for s in examples.sentences for tag in s.column(UPOS)})
    return replace(examples, gold=gold, tags=tags, scheme=None, parts=None)


def unseen_share(train: Examples, held_out: Examples) -> float:
    """Share of the held-out labelled words whose label no word of the training text has."""
    known = {None, *(label for labels in train.gold for label in labels)}
    unseen = sum(label not in known for labels in held_out.gold for label in labels)
    return unseen / held_out.n_labelled if held_out.n_labelled else 0.0


def closed(examples: Examples) -> Examples:
    """The same sentences, with all labels that can be put together of those met."""
    return replace(examples, tags=closure(examples.tags))
