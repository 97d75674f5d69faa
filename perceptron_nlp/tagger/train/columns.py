"""Columns: those that are learned, and those that features are made from.

Spans are learned and searched in IOBES and written as the training text writes them. IOBES tells
the last word of a span from the others, which helps a linear model (Ratinov and Roth, 2009,
"Design challenges and misconceptions in named entity recognition"), and its legal transitions keep
the search from sequences that are no spans.

Morphological features are learned together with the part of speech, as sums of components
(label_components.py), so that words of rare labels learn from words of others, as in Smith, Smith
and Tromble (2005, "Context-based morphological disambiguation with random fields").

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
from functools import partial

import numpy as np
import numpy.typing as npt

from perceptron_nlp._display import percent
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.features.templatefile import preset
from perceptron_nlp.features.templates import check_templates, look_nearby
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagger.model.label_components import (
    JOINT,
    UPOS,
    closure,
    holds_attributes,
    joint,
)
from perceptron_nlp.tagger.model.model import is_in, vocabulary_of
from perceptron_nlp.tagger.model.word_tables import ABSENT, WordTables
from perceptron_nlp.tagger.tag.constraints import Lexicon, LexiconSource
from perceptron_nlp.tagger.tag.context import (
    WINDOW,
    derived_names,
    given_names,
    is_capitalised,
    with_neighbours,
)
from perceptron_nlp.tagger.tag.label import Labeller
from perceptron_nlp.tagger.train.clusters import FEW_KNOWN, RawSource, RawText, word_clusters
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.loop import Task, Trainer, resolve_templates
from perceptron_nlp.tagger.train.options import AUTO, LearningOptions
from perceptron_nlp.text.spans import broken_positions, is_span_column, scheme_of, written
from perceptron_nlp.text.tagset import UNLABELLED

logger = logging.getLogger("perceptron_nlp")

LEXICON, INDUCED = "lexicon", "induced"
CLUSTERS = {"clusters100": 100, "clusters800": 800}
FEW_LABELS = 64
# The training text is small, and rare words in it are many.
OWN_MIN_COUNT = 3
DERIVED = (LEXICON, *CLUSTERS, INDUCED)
# Of the self-training tag dictionary.
INDUCED_FOLDS = 5
INDUCED_EPOCHS = 5
INDUCED_MIN_COUNT = 2
# The share of the second label is given in these steps.
STEPS = (0.02, 0.08, 0.2, 0.35)
# From this share of spans that begin with a capital letter on, they are taken for names.
NAMES_SHARE = 0.5


def holds_spans(examples: Examples) -> bool:
    """Tell if all labels are span labels, and every word has one."""
    return examples.n_labelled == examples.n_tokens and is_span_column(examples.tags)


def as_iobes(examples: Examples) -> tuple[Examples, int]:
    """Return the same sentences labeled in IOBES, and how many labels broke their own scheme.

    That stays as their `scheme`; broken labels are read as conlleval reads them.
    """
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
    return examples.relabeled(gold, scheme=JOINT)


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
    order = permutation(len(examples.sentences), 1)
    columns: list[tuple[str, ...]] = [()] * len(order)
    for fold in range(min(INDUCED_FOLDS, len(order))):
        held_out = order[fold::INDUCED_FOLDS].tolist()
        rest = sorted(set(range(len(order))) - set(held_out))
        table = _lookup_table(examples.part(rest), raw, quick)
        for number in held_out:
            words = examples.sentences[number].words
            columns[number] = tuple(table.get(word.lower(), ABSENT) for word in words)
    return Induced(_lookup_table(examples, raw, quick), columns)


def _lookup_table(examples: Examples, raw: RawText, options: LearningOptions) -> dict[str, str]:
    """The values of all words that are common enough in raw text."""
    task = Task(examples=replace(examples, columns=()), column="", options=options)
    model = Trainer(task, log_level=logging.DEBUG).run()
    labels = Labeller(model).learned_labels(raw.sentences)
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
    examples: Examples, resources: Resources, options: LearningOptions
) -> tuple[Examples, WordTables | None, list[str]]:
    """Return the examples with derived columns, the tables behind them, and notes on both."""
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
    elif _learns_from_itself(examples, options):
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
    return examples.with_tables(made, given), made, notes


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


def _learns_from_itself(examples: Examples, options: LearningOptions) -> bool:
    """Tell if clusters of its own words serve: for chunks; they harm names and single labels."""
    return bool(
        options.templates == AUTO
        and options.preset != "fast"
        and options.beam != 1
        and examples.columns
        and holds_spans(examples)
        and not hold_names(examples)
    )


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


def feature_columns(
    options: LearningOptions,
    fields: Sequence[str] | None,
    learned: Sequence[str],
    derived: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return the columns of the input, besides the words, that features are made of."""
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
    examples: Examples, window: int, vocabulary: npt.NDArray[np.uint32] | memoryview
) -> Examples:
    """Return the examples with what the sentences of a document show of each other's names."""
    given = [name for name in examples.columns if name not in DERIVED]
    return examples.with_columns(
        with_neighbours(examples.sentences, window, given, partial(is_in, vocabulary))
    )


def with_neighbours_seen(
    examples: Examples, dev: Examples | None, options: LearningOptions
) -> tuple[Examples, Examples | None, LearningOptions]:
    """Add document context to train and dev sentences if templates look at it; options say it."""
    templates = resolve_templates(options, examples.columns)
    if not look_nearby(templates):
        return examples, dev, replace(options, window=None)
    window = WINDOW if options.window is None else options.window
    vocabulary = vocabulary_of(examples.vocabulary())
    return (
        with_context(examples, window, vocabulary),
        None if dev is None else with_context(dev, window, vocabulary),
        replace(options, window=window, templates=templates),
    )
