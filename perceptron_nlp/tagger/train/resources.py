"""Raw text and lexicons: what training learns of words beside the labeled sentences.

Derived columns are looked up (word_tables.py) and seen by templates: the labels of words in a
lexicon, clusters of words (clusters.py), and the labels that a tagger gives to words in raw text,
which form a self-training tag dictionary. What the training words' own entries say must not come
from a tagger that has learned from them: the words of each fold get what a tagger of the other
folds found in the raw text, all other text what the tagger of the whole training text found.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from perceptron_nlp._display import percent
from perceptron_nlp.crossfit import crossfit, in_turn
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.features.templatefile import preset
from perceptron_nlp.features.templates import check_templates
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagger.model.derived import ABSENT
from perceptron_nlp.tagger.model.word_tables import WordTables
from perceptron_nlp.tagger.tag.constraints import Lexicon, LexiconSource
from perceptron_nlp.tagger.tag.label import Labeler
from perceptron_nlp.tagger.train.clusters import FEW_KNOWN, RawSource, RawText, word_clusters
from perceptron_nlp.tagger.train.columns import (
    CLUSTERS,
    INDUCED,
    LEXICON,
    holds_features,
    holds_spans,
    learns_from_itself,
    partly_hidden,
)
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.loop import Task, Trainer
from perceptron_nlp.tagger.train.options import AUTO, LearningOptions

logger = logging.getLogger("perceptron_nlp")

FEW_LABELS = 64
# The training text is small, and rare words in it are many.
OWN_MIN_COUNT = 3
# Of the self-training tag dictionary.
INDUCED_FOLDS = 5
INDUCED_EPOCHS = 5
INDUCED_MIN_COUNT = 2
# The share of the second label is given in these steps.
STEPS = (0.02, 0.08, 0.2, 0.35)


@dataclass(frozen=True, slots=True)
class Induced:
    """A self-training tag dictionary of lower-cased words, and its values at those of training."""

    table: Mapping[str, str]
    columns: list[tuple[str, ...]]


def induce(examples: Examples, raw: RawText, options: LearningOptions) -> Induced:
    """Return a self-training tag dictionary out of raw text."""
    quick = replace(
        options,
        templates=preset("default"),
        epochs=INDUCED_EPOCHS,
        beam=1,
        runs=1,
        patience=None,
        seed=1,
        right_to_left=True if options.right_to_left is None else options.right_to_left,
    )
    words = [[word.lower() for word in sentence.words] for sentence in examples.sentences]

    def looked_up(table: dict[str, str], numbers: list[int]) -> dict[int, tuple[str, ...]]:
        return {k: tuple(table.get(word, ABSENT) for word in words[k]) for k in numbers}

    order = permutation(len(words), 1)
    columns: dict[int, tuple[str, ...]] = {}
    for found in crossfit(
        in_turn(order, min(INDUCED_FOLDS, len(order))),
        lambda rest: _lookup_table(examples.part(rest), raw, quick),
        looked_up,
    ):
        columns.update(found)
    return Induced(
        _lookup_table(examples, raw, quick), [columns[number] for number in range(len(words))]
    )


def _lookup_table(examples: Examples, raw: RawText, options: LearningOptions) -> dict[str, str]:
    """The values of all words that are common enough in raw text."""
    task = Task(examples=replace(examples, columns=()), column="", options=options)
    model = Trainer(task, log_level=logging.DEBUG).run()
    labels = Labeler(model).learned_labels(raw.sentences)
    counts: dict[str, Counter[str]] = {}
    lowered: dict[str, Counter[str]] = {}
    for words, found in zip(raw.sentences, labels, strict=True):
        for word, label in zip(words, found, strict=True):
            counter = lowered.get(word)
            if counter is None:
                counter = lowered[word] = counts.setdefault(word.lower(), Counter())
            counter[label] += 1
    return {
        word: _value(counter)
        for word, counter in counts.items()
        if counter.total() >= INDUCED_MIN_COUNT
    }


def _value(counter: Counter[str]) -> str:
    """The commonest label, the second one, and how much of the word is of the second."""
    ranked = sorted(counter.items(), key=lambda item: (-item[1], item[0]))
    if len(ranked) == 1:
        return ranked[0][0]
    share = ranked[1][1] / counter.total()
    return f"{ranked[0][0]}|{ranked[1][0]}|{int(np.searchsorted(STEPS, share, 'right'))}"


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources that a person gives in addition to labeled sentences.

    raw : sentences without labels, or None
    lexicon : forms with labels, or None
    clusters : those learned already, by names of columns, so that several columns share them
    """

    raw: RawText | None = None
    lexicon: Lexicon | None = None
    clusters: dict[tuple[str, ...], list[dict[str, str]]] = field(default_factory=dict)

    @classmethod
    def read(cls, raw: RawSource | None, lexicon: LexiconSource | None) -> Resources:
        """Read the options ``raw`` and ``lexicon``."""
        return cls(
            None if raw is None else RawText.read(raw),
            None if lexicon is None else Lexicon.of(lexicon),
            raw.clusters if isinstance(raw, RawText) else {},
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """Derived columns that templates may look at."""
        return ((LEXICON,) if self.lexicon else ()) + ((*CLUSTERS, INDUCED) if self.raw else ())


def with_derived_columns(
    examples: Examples, resources: Resources | None, options: LearningOptions
) -> tuple[Examples, WordTables | None, list[str]]:
    """Return the examples with derived columns, the tables behind them, and notes on both."""
    resources = resources or Resources()
    wanted = _wanted(resources, options, examples)
    tables: dict[str, Mapping[str, str]] = {}
    given: dict[str, Sequence[tuple[str, ...]]] = {}
    notes: list[str] = []
    if LEXICON in wanted and resources.lexicon is not None:
        tables[LEXICON] = resources.lexicon.values()
        notes.append(f"the lexicon has {len(tables[LEXICON]):,} forms")
    raw = resources.raw
    if raw is not None:
        notes += _look_at(raw, examples)
        names = tuple(name for name in CLUSTERS if name in wanted)
        if names:
            if names not in resources.clusters:
                own = resources.clusters is raw.clusters
                trained_on = () if own else (sentence.words for sentence in examples.sentences)
                text = [*raw.sentences, *trained_on]
                resources.clusters[names] = word_clusters(text, [CLUSTERS[name] for name in names])
            clusters = resources.clusters[names]
            tables.update(zip(names, clusters, strict=True))
            notes.append(
                f"clusters of {len(clusters[0]):,} words are learned from raw text of"
                f" {raw.n_tokens:,} words and the training text"
            )
        if INDUCED in wanted:
            induced: Induced = induce(examples, raw, options)
            tables[INDUCED], given[INDUCED] = induced.table, induced.columns
            notes.append(f"a lexicon of {len(induced.table):,} words is induced from raw text")
    elif learns_from_itself(examples, options):
        found = word_clusters(
            (sentence.words for sentence in examples.sentences), [*CLUSTERS.values()], OWN_MIN_COUNT
        )
        tables.update(zip(CLUSTERS, found, strict=True))
        notes.append(f"clusters of {len(found[0]):,} words are learned from the training text")
    if not tables:
        return examples, None, []
    made = WordTables.of(tables)
    for note in notes:
        logger.info("%s", note)
    return examples.with_tables(made, {**given, **partly_hidden(examples, made)}), made, notes


def _wanted(resources: Resources, options: LearningOptions, examples: Examples) -> set[str]:
    """Return the derived columns that templates look at, of those that are possible."""
    possible = resources.columns
    if isinstance(options.templates, str):
        # Labels that say something of the word alone, and few enough to be told apart in raw text.
        suits = (
            options.templates == AUTO
            and options.preset == "accurate"
            and len(examples.tags) <= FEW_LABELS
            and not holds_spans(examples)
            and not holds_features(examples)
        )
        return {*possible} - (set() if suits else {INDUCED})
    looked_at = set().union(*(t.columns for t in check_templates(options.templates)))
    if possible and not looked_at & {*possible}:
        raise ArgumentError(
            f"templates: they look at none of the columns {', '.join(possible)}, which are made of"
            " raw and lexicon; add some (column:NAME[0]), or leave raw and lexicon out"
        )
    return looked_at & {*possible}


def _look_at(raw: RawText, examples: Examples) -> list[str]:
    """Return a warning if the raw text is hardly of the training text's language."""
    share = raw.known_share(word for sentence in examples.sentences for word in sentence.words)
    if share >= FEW_KNOWN:
        return []
    note = (
        f"only {percent(share, 1)} of the words of the raw text are in the training text: it"
        " helps little where it is of another language or script, or not cut into words"
    )
    logger.warning("raw: %s", note)
    return [note]
