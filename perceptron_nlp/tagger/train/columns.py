"""Columns: those that are learned, and those that features are made from.

Spans are learned and searched in IOBES and written as the training text writes them. IOBES tells
the last word of a span from the others, which helps a linear model (Ratinov and Roth, 2009,
"Design challenges and misconceptions in named entity recognition"), and its legal transitions keep
the search from sequences that are no spans.

Morphological features are learned together with the part of speech, as sums of components
(label_components.py), so that words of rare labels learn from words of others, as in Smith, Smith
and Tromble (2005, "Context-based morphological disambiguation with random fields").
"""

from __future__ import annotations

import itertools
import logging
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.features.templates import check_templates, look_nearby
from perceptron_nlp.sampling import uniform
from perceptron_nlp.tagger.model.derived import ABSENT, FEATURES, Around
from perceptron_nlp.tagger.model.label_components import (
    JOINT,
    POSITIONS,
    UPOS,
    closure,
    holds_attributes,
    joint,
    part_names,
)
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.loop import resolve_templates
from perceptron_nlp.tagger.train.options import AUTO, LearningOptions
from perceptron_nlp.text.tagset import MAX_LABELS, UNLABELED, is_in, is_span_column

if TYPE_CHECKING:
    from perceptron_nlp.tagger.model.context import DocumentContext
    from perceptron_nlp.tagger.model.word_tables import WordTables

logger = logging.getLogger("perceptron_nlp")

LEXICON, INDUCED = "lexicon", "induced"
CLUSTERS = {"clusters100": 100, "clusters800": 800}
DERIVED = (FEATURES, LEXICON, *CLUSTERS, INDUCED)
# From this share of spans that begin with a capital letter on, they are taken for names.
NAMES_SHARE = 0.5
# From so many labels on, tags may be made of positions: each label is rare then.
MANY_LABELS = 150
# If so many words have no XPOS, it is no oversight.
LEAST_WITHOUT = 0.01


def holds_spans(examples: Examples) -> bool:
    """Tell if all labels are span labels, and every word has one."""
    return examples.n_labeled == examples.n_tokens and is_span_column(examples.tags)


def as_iobes(examples: Examples) -> tuple[Examples, int]:
    """Return the same sentences labeled in IOBES, and how many labels broke their own scheme.

    That stays as their `scheme`; broken labels are read as conlleval reads them.
    """
    # Here and below, since few columns hold spans or look around.
    from perceptron_nlp.text.spans import broken_positions, scheme_of, written

    whole = [[label for label in labels if label is not None] for labels in examples.gold]
    scheme = scheme_of(whole)
    gold: list[Sequence[str | None]] = [written(labels, "iobes") for labels in whole]
    broken = sum(len(broken_positions(labels, scheme=scheme)) for labels in whole)
    return examples.relabeled(gold, scheme=scheme), broken


def hold_names(examples: Examples) -> bool:
    """Tell if most of the spans begin with a capital letter."""
    return capital_share(examples) >= NAMES_SHARE


def capital_share(examples: Examples) -> float:
    """Share of the spans, marked where they begin, that begin with a capital letter."""
    from perceptron_nlp.tagger.model.context import is_capitalised

    first = [
        word
        for sentence, labels in zip(examples.sentences, examples.gold, strict=True)
        for word, label in zip(sentence.words, labels, strict=True)
        if label is not None and label[0] in "BS"
    ]
    return sum(map(is_capitalised, first)) / len(first) if first else 0.0


def holds_features(examples: Examples) -> bool:
    """Tell if all labels are sets of attributes."""
    return holds_attributes(examples.tags)


def mode_of_positions(labels: Collection[str]) -> str | None:
    """Return how labels that may be made of positions are parted; None if they are not so many, or
    so many that a table has no room for parts beside them."""
    if len(labels) < MANY_LABELS:
        return None
    mode = next(
        mode
        for mode, separator in POSITIONS.items()
        if 2 * sum(separator in label[1:-1] for label in labels) > len(labels)
    )
    return mode if len(part_names([*labels], mode)) <= MAX_LABELS else None


def with_upos(examples: Examples) -> Examples:
    """The same sentences with joint labels; unchanged where a word has no part of speech."""
    gold: list[Sequence[str | None]] = []
    for sentence, labels in zip(examples.sentences, examples.gold, strict=True):
        tags = sentence.column(UPOS) if UPOS in sentence.columns else [UNLABELED]
        if UNLABELED in tags:
            return examples
        gold.append(
            [
                None if label is None else joint(upos, label)
                for upos, label in zip(tags, labels, strict=True)
            ]
        )
    return examples.relabeled(gold, scheme=JOINT)


def is_for_some(xpos: Examples, upos: Examples) -> bool:
    """Tell if a treebank gives XPOS to some words only: then ``_`` is the label of the others.

    Else each of those would get a tag, with which its part of speech would have to agree.
    """
    is_whole = upos.n_labeled == upos.n_tokens == xpos.n_tokens
    return is_whole and xpos.n_tokens - xpos.n_labeled >= LEAST_WITHOUT * xpos.n_tokens


def upos_alone(examples: Examples) -> Examples:
    """The sentences of examples with joint labels, with their parts of speech for labels."""
    tags = [s.column(UPOS) for s in examples.sentences]
    return examples.relabeled(tags, scheme=None, parts=None)


def n_unseen(train: Examples, held_out: Examples) -> int:
    """Count the held-out tokens whose label no token of the training text has."""
    known = {None, *(label for labels in train.gold for label in labels)}
    return sum(label not in known for labels in held_out.gold for label in labels)


def closed(examples: Examples) -> Examples:
    """The same sentences, with all labels that can be put together of those met."""
    return replace(examples, tags=closure(examples.tags))


def partly_hidden(examples: Examples, tables: WordTables) -> dict[str, list[tuple[str, ...]]]:
    """Return the column of a lexicon for what is learned from; nothing if there is no lexicon.

    One that was made of the training text knows all words of it, as of no other text. So that it is
    not trusted more than new words allow, an entry is hidden with the probability 2 / (1 + n) where
    its word stands, n times in all: always if that is once.
    """
    if LEXICON not in tables.names:
        return {}
    words = [*itertools.chain.from_iterable(examples.sentences.values("form"))]
    # Of one seed always, so that runs of several learn from the same columns.
    counts, chances = Counter(words), uniform(len(words), 0, 1, seed=1).tolist()
    values = iter(
        [
            ABSENT if chance * (1 + counts[word]) < 2 else value
            for word, chance, value in zip(
                words, chances, tables.columns(words)[LEXICON], strict=True
            )
        ]
    )
    lengths = examples.sentences.lengths.tolist()
    return {LEXICON: [tuple(itertools.islice(values, length)) for length in lengths]}


def learns_from_itself(examples: Examples, options: LearningOptions) -> bool:
    """Tell if clusters of its own words serve: for chunks; they harm names and single labels."""
    return bool(
        options.templates == AUTO
        and options.preset != "fast"
        and options.beam != 1
        and examples.columns
        and holds_spans(examples)
        and not hold_names(examples)
    )


def feature_columns(
    options: LearningOptions,
    fields: Sequence[str] | None,
    learned: Sequence[str],
    derived: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return the columns of the input, besides the words, that features are made of."""
    if isinstance(options.templates, str) and not fields:
        return ()
    from perceptron_nlp.tagger.model.context import derived_names, given_names

    if not isinstance(options.templates, str):
        templates = check_templates(options.templates)
        looked_at = given_names(name for t in templates for name in t.columns)
        wanted = [name for name in looked_at if name not in derived]
    else:
        wanted = [name for name in fields or () if name not in ("form", "_", *learned)]
    clashing = sorted({*wanted} & {*derived_names(wanted)})
    if clashing:
        raise ArgumentError(
            f"fields: {clashing[0]} is the name of a column that the tagger makes"
            " itself; give the column of the input another name"
        )
    for name in learned:
        if name in wanted:
            raise ArgumentError(f"templates: they look at column {name}, which is to be learned")
    return tuple(wanted)


def with_context(
    examples: Examples, context: DocumentContext, vocabulary: npt.NDArray[np.uint32] | memoryview
) -> Examples:
    """Return the examples with what the sentences of a document show of each other's names."""
    given = [name for name in examples.columns if name not in DERIVED]
    around = Around(given, partial(is_in, vocabulary))
    return examples.with_columns(context.add(examples.sentences, around))


def with_neighbours_seen(
    examples: Examples, dev: Examples | None, options: LearningOptions
) -> tuple[Examples, Examples | None, LearningOptions, DocumentContext | None]:
    """Add document context to train and dev sentences if templates look at it; options say it."""
    templates = resolve_templates(options, examples.columns)
    if not look_nearby(templates):
        return examples, dev, replace(options, window=None), None
    from perceptron_nlp.tagger.model.context import WINDOW, DocumentContext

    window = WINDOW if options.window is None else options.window
    context, vocabulary = DocumentContext(window), examples.vocabulary()
    return (
        with_context(examples, context, vocabulary),
        None if dev is None else with_context(dev, context, vocabulary),
        replace(options, window=window, templates=templates),
        context,
    )
