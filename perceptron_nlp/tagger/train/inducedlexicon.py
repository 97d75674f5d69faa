"""A lexicon induced from raw text: which labels a tagger gives to each word there, and how often.

What the training words' own tables say must not come from a tagger that has learnt from them: the
training text is cut into folds, and the words of a fold have what a tagger of the other folds
found in the raw text. All other text has what the tagger of the whole training text found.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from perceptron_nlp.features.templates import preset
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagger.model.wordtables import ABSENT
from perceptron_nlp.tagger.tag.labellers import TemplateLabeller
from perceptron_nlp.tagger.train.examples import Examples
from perceptron_nlp.tagger.train.loop import Trainer
from perceptron_nlp.tagger.train.options import TrainingOptions
from perceptron_nlp.tagger.train.rawtext import RawText

FOLDS = 5
EPOCHS = 5
MIN_COUNT = 2
# The share of the second label is told in these steps.
STEPS = (0.02, 0.08, 0.2, 0.35)


@dataclass(frozen=True, slots=True)
class Induced:
    """An induced lexicon.

    Attributes
    ----------
    table : what new text is looked up in: from lower-cased words to values
    columns : the values of the training words, sentence by sentence
    """

    table: Mapping[str, str]
    columns: list[tuple[str, ...]]


def induce(examples: Examples, raw: RawText, options: TrainingOptions) -> Induced:
    """A lexicon out of raw text.

    Parameters
    ----------
    examples : the training sentences, two at least
    raw : what is labelled by taggers that are trained on them, greedily
    options : the direction to read in, and the learning rule
    """
    quick = replace(
        options,
        templates=preset("default"),
        epochs=EPOCHS,
        beam=1,
        runs=1,
        patience=None,
        seed=1,
        right_to_left=True if options.right_to_left is None else options.right_to_left,
    )
    order = permutation(len(examples.sentences), 1)
    columns: list[tuple[str, ...]] = [()] * len(order)
    for fold in range(min(FOLDS, len(order))):
        held_out = order[fold::FOLDS].tolist()
        rest = sorted(set(range(len(order))) - set(held_out))
        table = _table(examples.part(rest), raw, quick)
        for number in held_out:
            words = examples.sentences[number].words
            columns[number] = tuple(table.get(word.lower(), ABSENT) for word in words)
    return Induced(_table(examples, raw, quick), columns)


def _table(examples: Examples, raw: RawText, options: TrainingOptions) -> dict[str, str]:
    """The values of all words that are common enough in raw text."""
    model = Trainer(
        replace(examples, columns=()), None, "", options, None, log_level=logging.DEBUG
    ).run(None)
    labels = TemplateLabeller(model).label_inside(raw.sentences)
    counts: dict[str, Counter[str]] = {}
    lowered: dict[str, Counter[str]] = {}
    for words, found in zip(raw.sentences, labels, strict=True):
        for word, label in zip(words, found, strict=True):
            counter = lowered.get(word)
            if counter is None:
                counter = lowered[word] = counts.setdefault(word.lower(), Counter())
            counter[label] += 1
    return {
        word: _value(counter) for word, counter in counts.items() if counter.total() >= MIN_COUNT
    }


def _value(counter: Counter[str]) -> str:
    """The commonest label, the second one, and how much of the word is of the second."""
    ranked = sorted(counter.items(), key=lambda item: (-item[1], item[0]))
    if len(ranked) == 1:
        return ranked[0][0]
    share = ranked[1][1] / counter.total()
    return f"{ranked[0][0]}|{ranked[1][0]}|{int(np.searchsorted(STEPS, share, 'right'))}"
