"""Stacking: a second tagger sees the labels that a first one gave to all words of a sentence.

Columns of features are learned so. The first tagger reads from the end and the second from the
start, so the second knows what is likely on the side that it has not reached. It learns not from
the first tagger's labels of its own training text, which are too good, but from those of taggers
that were trained without the sentence at hand (jackknifing: five folds, each labeled by a tagger
of the other four).

Lemmas learn from predicted tags, too, or would trust tags too much: half of the sentences get them
from quick taggers of the other half.

The first tagger gives joint labels, or parts of speech alone: these are learned better by
themselves where there is much text, and where there is little, what helps is the agreement with the
neighbors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from perceptron_nlp.crossfit import crossfit, in_turn
from perceptron_nlp.features.templates import Template, check_templates
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagger.model.context import DocumentContext
from perceptron_nlp.tagger.model.derived import (
    FIRST_AGREEMENT,
    FIRST_COLUMNS,
    FIRST_LABEL,
    FIRST_UPOS,
    FirstPass,
    with_each,
    with_first_labels,
)
from perceptron_nlp.tagger.model.label_components import UPOS
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.tag.label import Labeler
from perceptron_nlp.tagger.train.auto import has_much_text
from perceptron_nlp.tagger.train.columns import upos_alone
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.loop import Task
from perceptron_nlp.tagger.train.sidebyside import side_by_side
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.tagset import UNLABELED

Fit = Callable[..., TaggerModel]
"""Trains a model: (sentences, dev=…, column=…, **options)."""

QUICK = {"preset": "fast", "epochs": 3, "two_passes": False, "selection": None}
HELD_OUT = slice(1, None, 2)
"""The sentences that get predicted tags; those between teach them."""

# Ten folds and all epochs were no better on Greek, and take twice as long.
FOLDS = 5
FOLD_EPOCHS = 5

# f: the label as a whole; u: its part of speech; g: its case, gender and number.
_PATTERNS = """
f[0] f[1] f[-1] f[2] u[0] u[1] g[0] g[1] g[-2] g[-3] g[3]
u[1]+u[2] g[1]+g[2] u[-1]+u[0]+u[1] g[-1]+g[0]+g[1]
f[0]+lower[0] u[1]+lower[0] u[1]+lower.suffix3[0] g[1]+lower.suffix3[0]
f[1]+tag[-1] u[1]+tag[-1] g[1]+tag[-1]
"""
# The same where the first pass gives parts of speech alone: these are its whole labels.
_UPOS_PATTERNS = """
f[0] f[-1] f[1] f[-2] f[2] f[-1]+f[0] f[0]+f[1] f[-1]+f[0]+f[1]
f[0]+lower[0] f[0]+lower.suffix2[0] f[0]+lower.suffix3[0] f[0]+shape4[0]
f[0]+lower[-1] f[0]+lower[1]
"""


def second_pass_templates(upos_first: bool = False) -> tuple[Template, ...]:
    """Return the templates that the second tagger has in addition to those of the first."""
    names = {"f": FIRST_LABEL, "u": FIRST_UPOS, "g": FIRST_AGREEMENT}
    lines = []
    for pattern in (_UPOS_PATTERNS if upos_first else _PATTERNS).split():
        atoms = [
            f"column:{names[atom[0]]}{atom[1:]}" if atom[1] == "[" else atom
            for atom in pattern.split("+")
        ]
        lines.append(" ".join(atoms))
    return check_templates(lines, "second pass")


def stacked(task: Task, learn: Callable[[Task], TaggerModel]) -> Task:
    """Train the first tagger of a stack, and return what the second one learns."""
    examples, column, options = task.examples, task.column, task.options
    examples_of_first, how = examples, replace(options, templates=task.templates)
    upos_first = has_much_text(examples)
    if upos_first:
        examples_of_first, column, how = upos_alone(examples), UPOS, replace(how, margin=None)

    def labeler_without(part: Examples) -> Callable[[Sequence[Sentence]], list[list[str]]]:
        quick = replace(how, runs=1, epochs=min(options.passes, FOLD_EPOCHS))
        return Labeler(learn(Task(examples=part, column=column, options=quick))).learned_labels

    return replace(
        task,
        examples=jackknifed(examples, examples_of_first, labeler_without),
        options=replace(
            options,
            templates=(*task.templates, *second_pass_templates(upos_first)),
            right_to_left=not options.is_right_to_left,
        ),
        derived=(
            *task.derived,
            FirstPass(
                learn(
                    Task(
                        examples=examples_of_first,
                        column=column,
                        options=how,
                        derived=tuple(d for d in task.derived if isinstance(d, DocumentContext)),
                    )
                )
            ),
        ),
    )


def jackknifed(
    examples: Examples,
    first: Examples,
    train: Callable[[Examples], Callable[[Sequence[Sentence]], list[list[str]]]],
) -> Examples:
    """Return the examples, two at least, with the labels of first taggers that have not seen them.

    `first` are the same sentences with the labels that the first pass learns; `train` makes, from
    some of them, a function that labels sentences.
    """
    order = permutation(len(examples.sentences), 1)
    labels: dict[int, list[str]] = {}
    for found in crossfit(
        in_turn(order, min(FOLDS, len(order))),
        lambda rest: train(first.part(rest)),
        lambda label, own: zip(own, label([examples.sentences[k] for k in own]), strict=True),
    ):
        labels.update(found)
    sentences = [
        with_first_labels(sentence, labels[number])
        for number, sentence in enumerate(examples.sentences)
    ]
    return examples.with_columns(sentences, FIRST_COLUMNS)


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
