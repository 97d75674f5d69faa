"""What is known of words beyond the labelled sentences: from raw text, and from a lexicon.

Each becomes a column that is looked up (wordtables.py) and that templates see: clusters of words
(clusters.py), the labels that a first tagger gives to words in raw text (inducedlexicon.py), and
the labels that a person's lexicon has.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.features.templates import check_templates
from perceptron_nlp.tagger.model.wordtables import WordTables, with_tables
from perceptron_nlp.tagger.tag.lexicon import Lexicon
from perceptron_nlp.tagger.train.clusters import word_clusters
from perceptron_nlp.tagger.train.examples import Examples
from perceptron_nlp.tagger.train.featurecolumns import holds_features
from perceptron_nlp.tagger.train.inducedlexicon import Induced, induce
from perceptron_nlp.tagger.train.options import AUTO, TrainingOptions
from perceptron_nlp.tagger.train.rawtext import FEW_KNOWN, RawText
from perceptron_nlp.tagger.train.spancolumns import hold_names, holds_spans

logger = logging.getLogger("perceptron_nlp")

LEXICON, INDUCED = "lexicon", "induced"
CLUSTERS = {"clusters100": 100, "clusters800": 800}
FEW_LABELS = 64
# The training text is small, and rare words in it are many.
OWN_MIN_COUNT = 3
MADE = (LEXICON, *CLUSTERS, INDUCED)


@dataclass(frozen=True, slots=True)
class Sources:
    """What a person gives besides labelled sentences.

    Attributes
    ----------
    raw : sentences without labels, or None
    lexicon : forms with labels, or None
    clusters : those learnt already, by names of columns, so that several columns share them
    """

    raw: RawText | None
    lexicon: Lexicon | None
    clusters: dict[tuple[str, ...], list[dict[str, str]]] = field(default_factory=dict)


def take_sources(options: dict[str, Any]) -> Sources:
    """Take ``raw`` and ``lexicon`` out of the options, and read them."""
    raw, lexicon = options.pop("raw", None), options.pop("lexicon", None)
    return Sources(
        None if raw is None else RawText.read(raw), None if lexicon is None else Lexicon.of(lexicon)
    )


def made_columns(sources: Sources) -> tuple[str, ...]:
    """Columns that templates may look at without the input having them."""
    return ((LEXICON,) if sources.lexicon else ()) + ((*CLUSTERS, INDUCED) if sources.raw else ())


def with_evidence(
    examples: Examples, sources: Sources, options: TrainingOptions
) -> tuple[Examples, WordTables | None, list[str]]:
    """The examples with further columns, the tables behind them, and what was made, in words.

    Raises
    ------
    ArgumentError : the person's own templates look at nothing that is made of what was given, or
        a column of the input has the name of one that is made
    """
    wanted = _wanted(sources, options, examples)
    tables: dict[str, Mapping[str, str]] = {}
    given: dict[str, Sequence[tuple[str, ...]]] = {}
    notes: list[str] = []
    if LEXICON in wanted and sources.lexicon is not None:
        tables[LEXICON] = sources.lexicon.values()
        notes.append(f"the lexicon has {len(tables[LEXICON]):,} forms")
    raw = sources.raw
    if raw is not None:
        notes += _look_at(raw, examples)
        names = tuple(name for name in CLUSTERS if name in wanted)
        if names:
            if names not in sources.clusters:
                text = [*raw.sentences, *(sentence.words for sentence in examples.sentences)]
                sources.clusters[names] = word_clusters(text, [CLUSTERS[name] for name in names])
            clusters = sources.clusters[names]
            tables.update(zip(names, clusters, strict=True))
            notes.append(
                f"clusters of {len(clusters[0]):,} words are learnt from raw text of"
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
        notes.append(f"clusters of {len(found[0]):,} words are learnt from the training text")
    if not tables:
        return examples, None, []
    made = WordTables.of(tables)
    for note in notes:
        logger.info("%s", note)
    return with_tables(examples, made, given), made, notes


def _wanted(sources: Sources, options: TrainingOptions, examples: Examples) -> set[str]:
    """The columns to make, of those that can be made."""
    possible = made_columns(sources)
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


def _learns_from_itself(examples: Examples, options: TrainingOptions) -> bool:
    """Do clusters of its own words serve? They do for chunks, and harm names and single labels."""
    return bool(
        options.templates == AUTO
        and options.preset != "fast"
        and options.beam != 1
        and examples.columns
        and holds_spans(examples)
        and not hold_names(examples)
    )


def _look_at(raw: RawText, examples: Examples) -> list[str]:
    """A warning where the raw text is hardly of the training text's language."""
    share = raw.known_share(word for sentence in examples.sentences for word in sentence.words)
    if share >= FEW_KNOWN:
        return []
    note = (
        f"only {100 * share:.1f} % of the words of the raw text are in the training text: it"
        " helps little where it is of another language or script, or not cut into words"
    )
    logger.warning("raw: %s", note)
    return [note]
