"""Find candidate errors: gold labels that the rest of the text speaks against.

Three experts score every label of every word, each without having seen the label that stands there:
taggers of the words, taggers that see the labels beside (crosstagging.py), and the labels of the
same word in the same context elsewhere (pooling.py). They are pooled, none of them believed beyond
99 %, with the weights that make the gold labels likeliest, since most of these are right. Labels
are ranked by the log-odds of the likeliest label of the pool against them.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp import Finding, Sentence, validate
from perceptron_nlp._checks import (
    check_callback,
    check_flag,
    check_int,
    check_options,
    check_threads,
)
from perceptron_nlp.analysis.doctor.crosstagging import (
    BESIDE,
    KINDS,
    CrossTagger,
    Opinions,
    fold_sentences,
)
from perceptron_nlp.analysis.doctor.diagnosis import Candidate, CandidateFinder, Diagnosis
from perceptron_nlp.analysis.doctor.pooling import Contexts, Variation, fit_pool, hedged, pooled
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, FormatError, quote
from perceptron_nlp.formats import surface
from perceptron_nlp.tagger.model.label_components import UPOS
from perceptron_nlp.tagger.sources import Labeled, Source, gold_labels, learned_columns
from perceptron_nlp.tagger.train.auto import auto_configure
from perceptron_nlp.tagger.train.columns import feature_columns, holds_features
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.options import make_options
from perceptron_nlp.tagger.train.pipeline import filled_tags
from perceptron_nlp.text.script_making import alphabet_of, make_script
from perceptron_nlp.text.scripts import LEMMA, parse_script
from perceptron_nlp.text.tagset import UNLABELED

FOLDS = 10
MOST_FINDINGS = 1_000
EPOCHS = 4
# Taggers that learn until they lead by more than usual tell better how far to trust them.
MARGIN = 2.0
# Weights of three experts need no more words than this to be known to a hundredth.
FITTED_WORDS = 100_000
ELSEWHERE = "elsewhere"
# What log-odds lose for a lemma that the text has nowhere; more, so that it comes after all others,
# where the text has the gold one elsewhere.
NEW_LEMMA, BESIDE_KNOWN = 2.0, 99.0
TOKENS = "tokens"
Decoder = Callable[[str, str], str | None]
"""Returns what a label makes of a form; None if it cannot be."""
Progress = Callable[[int, int], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorOptions:
    """Options of an examination.

    folds : 2 to 1,000; None for 10, or as many as there are different sentences
    runs : 1 to 1,000; how many taggers of each kind judge each fold, with the seeds seed,
        seed + 1, …
    seed : 0 to 2**64 - 1
    threads : 1 to 1,024; folds that are scored at a time; the result does not depend on it
    evidence : further columns of the text that the taggers look at, of the word and its
        neighbors; None for those that `fields` names
    contexts : only words that have the expected label elsewhere, between the same neighbors
    """

    folds: int | None = None
    runs: int = 1
    seed: int = 1
    threads: int = 1
    evidence: Sequence[str] | None = None
    contexts: bool = False

    def __post_init__(self) -> None:
        if self.folds is not None:
            check_int("folds", self.folds, 2, 1000)
        check_int("runs", self.runs, 1, 1000)
        check_int("seed", self.seed, 0, 2**64 - 1)
        check_threads(self.threads)
        check_flag("contexts", self.contexts)
        if isinstance(self.evidence, str | bytes) or not all(
            isinstance(name, str) for name in self.evidence or ()
        ):
            raise ArgumentTypeError("evidence: a list of names of columns is needed")


def doctor(
    data: Labeled,
    *,
    column: str | None = None,
    format: str = "auto",
    fields: Sequence[str] | None = None,
    callback: Progress | None = None,
    **options: Any,
) -> Diagnosis:
    """Find labels that are likely wrong.

    Parameters
    ----------
    data : a path, several paths, or labeled sentences (see ``perceptron_nlp.train``)
    column : the column to examine, or ``"tokens"``: how text between spaces is cut into tokens and
        words; None for the one that a training would learn
    format, fields : see ``perceptron_nlp.open_corpus``; columns that `fields` names in addition
        to the words and the examined one are evidence
    callback : called with the number of folds that are scored, and the number of all
    **options : fields of DoctorOptions: ``folds``, ``runs``, ``seed``, ``threads``, ``evidence``,
        ``contexts``

    Returns
    -------
    Diagnosis; words without a label (``_`` or None) are never candidate errors

    Raises
    ------
    FormatError : a file breaks its format (file:line), nothing is labeled, all labels are the
        same, or there are not two different sentences
    FileError : a file cannot be read
    ArgumentError, ArgumentTypeError : an option cannot be used, or there are fewer different
        sentences than folds
    """
    chosen = _options(options)
    check_callback(callback)
    source = Source(data, "data", format=format, fields=fields)
    decoded: Decoder | None = None
    evidence: tuple[str, ...] = ()
    if isinstance(column, str) and column == TOKENS:
        if chosen.evidence:
            raise ArgumentError("evidence: how text is cut is examined without other columns")
        name, sentences, decoded = column, list(source), _cut_as
        units = [*map(with_cuts, sentences)]
    else:
        (name,) = learned_columns([] if column is None else [column], source)
        units = sentences = list(source)
        evidence = _evidence(chosen, source, fields, name)
    if name == LEMMA:
        alphabet = alphabet_of(
            (w, x) for s in sentences for w, x in zip(s, s.column(name), strict=True)
        )
        units = [with_scripts(sentence, alphabet) for sentence in sentences]
        decoded = _lemma(alphabet)
        if chosen.evidence is None:
            evidence = tuple(dict.fromkeys((*evidence, *filled_tags(sentences))))
    found = examine(units, name, evidence, chosen, source.place, callback).diagnosis()
    found = replace(found, findings=_findings(sentences))
    if decoded is None:
        return found
    lemmas = Counter(x for s in sentences for x in (s.column(name) if name == LEMMA else ()))
    return _decoded(found, decoded, lemmas)


def _findings(sentences: Sequence[Sentence]) -> tuple[Finding, ...]:
    """Return what breaks the rules of CoNLL-U in the files of sentences, each once."""
    files = {
        one.path for one in sentences if one.layout is not None and one.layout.format == "conllu"
    }
    found = (
        islice(validate(path), MOST_FINDINGS) for path in sorted(files) if os.path.isfile(path)
    )
    return tuple(chain.from_iterable(found))


def with_scripts(sentence: Sentence, alphabet: str) -> Sentence:
    """Return a sentence with edit scripts in place of lemmas."""
    scripts = [
        None if lemma == UNLABELED else make_script(word, lemma, alphabet)
        for word, lemma in zip(sentence.words, sentence.column(LEMMA), strict=True)
    ]
    labels = tuple([UNLABELED if script is None else str(script) for script in scripts])
    lines = [sentence.line_of(index) for index in range(len(sentence))]
    columns = {**sentence.columns, LEMMA: labels}
    return Sentence.from_reader(sentence.words, columns, sentence.path, lines, sentence.layout)


def _lemma(alphabet: str) -> Decoder:
    return lambda label, form: parse_script(label).apply(form, alphabet) or None


def place_in(form: str, place: int) -> str:
    """Return where a token begins as labels have it: counted from the end, unless a short piece or
    an apostrophe is before it."""
    rest = len(form) - place
    from_start = not place or form[place - 1] in "'’" or (place <= 2 and rest > 3)
    return str(place if from_start else -rest)


def with_cuts(sentence: Sentence) -> Sentence:
    """Return what a sentence has between spaces, with how that is cut as labels.

    A label has, of each token that begins there, its place (place_in) and, if it is not one, its
    number of words; ``>`` if the last one goes on behind the space, and ``<`` where none begins.
    """
    text, tokens, _ = surface(sentence)
    firsts = [0, *accumulate(len(words) for *_, words in tokens)]
    units, labels, lines, last = [], [], [], 0
    for unit in re.finditer(r"\S+", text):
        start, end, form = *unit.span(), unit[0]
        begun = [at for at, token in enumerate(tokens) if start <= token[0] < end]
        parts = []
        for at in begun:
            n_words = len(tokens[at][2])
            parts.append(place_in(form, tokens[at][0] - start) + f":{n_words}" * (n_words > 1))
        last = begun[-1] if begun else last
        units.append(form)
        labels.append((",".join(parts) or "<") + ">" * (tokens[last][1] > end))
        lines.append(sentence.line_of(firsts[begun[0] if begun else last]))
    cuts = {TOKENS: tuple(labels)}
    return Sentence.from_reader(tuple(units), cuts, sentence.path, lines, sentence.layout)


def _cut_as(label: str, form: str) -> str | None:
    """Return tokens with spaces between them and their numbers of words; None if it cannot be."""
    places = []
    for part in filter(None, label.strip("<>").split(",")):
        place, _, n_words = part.partition(":")
        places.append((int(place) % len(form) if abs(int(place)) < len(form) else -1, n_words))
    starts = [place for place, _ in places]
    if -1 in starts or starts != sorted(set(starts)):
        return None
    shown = "…" * label.startswith("<") + form[: min(starts, default=len(form))]
    for (start, n_words), end in zip(places, [*starts[1:], len(form)], strict=False):
        shown += f" {form[start:end]}" + f" ({n_words} words)" * bool(n_words)
    return shown.lstrip() + "…" * label.endswith(">")


def _decoded(found: Diagnosis, decoded: Decoder, known: Counter[str]) -> Diagnosis:
    """Return a diagnosis of labels as one of what they make of forms.

    Lemmas that are known are likelier than new ones, as of words that are misspelled.
    """
    candidates = []
    for one in found.candidates:
        gold, expected = decoded(one.gold, one.form), decoded(one.expected, one.form)
        if gold and expected and gold != expected:
            candidates.append(replace(one, gold=gold, expected=expected))

    def odds(one: Candidate) -> float:
        if not known or one.expected in known:
            return one.log_odds
        return one.log_odds - (BESIDE_KNOWN if known[one.gold] > 1 else NEW_LEMMA)

    candidates.sort(key=odds, reverse=True)
    agreement = 1 - len(candidates) / found.labeled
    return replace(found, candidates=tuple(candidates), agreement=agreement)


def examine(
    sentences: Sequence[Sentence],
    column: str,
    evidence: tuple[str, ...],
    chosen: DoctorOptions,
    place: str,
    callback: Progress | None = None,
) -> Examination:
    """Return all opinions of the labels of a column; messages call the sentences `place`."""
    order = _ordered(sentences, column)
    examples = _examples([sentences[number] for number in order], column, evidence, place)
    n_folds = chosen.folds or min(FOLDS, max(2, len({tuple(s) for s in sentences})))
    folds = fold_sentences(examples, n_folds, chosen.seed, place)
    options = make_options(
        {
            "preset": "fast",
            "epochs": EPOCHS,
            "margin": MARGIN,
            "beam": 1,
            "two_passes": False,
            "seed": chosen.seed,
        }
    )
    decided, options, _ = auto_configure(examples, options)
    tagger = CrossTagger(decided, options, column, chosen.runs)
    said = tagger.ask(folds, chosen.threads, lambda done: callback and callback(done, n_folds))
    return Examination(examples, order, column, n_folds, chosen, said, tagger.gold)


def _ordered(sentences: Sequence[Sentence], column: str) -> list[int]:
    """The numbers of the sentences in an order that is the same however the files are ordered."""

    def content(number: int) -> tuple[object, ...]:
        sentence = sentences[number]
        labels = [(label is not None, label or "") for label in gold_labels(sentence, column)]
        return sentence.words, labels, sentence.path, sentence.line_of(0)

    return sorted(range(len(sentences)), key=content)


def _options(given: dict[str, Any]) -> DoctorOptions:
    check_options(given, DoctorOptions.__dataclass_fields__)
    return DoctorOptions(**given)


def _evidence(
    chosen: DoctorOptions, source: Source, fields: Sequence[str] | None, column: str
) -> tuple[str, ...]:
    if chosen.evidence is None:
        return feature_columns(make_options({}), fields, (column,))
    names = tuple(dict.fromkeys(map(source.column_named, chosen.evidence)))
    for name in names:
        if name in (column, "form", BESIDE):
            raise ArgumentError(
                f"evidence: {quote(name)} cannot be evidence for column {quote(column)}"
            )
    return names


def _examples(
    sentences: Sequence[Sentence], column: str, evidence: tuple[str, ...], place: str
) -> Examples:
    """The sentences to learn from, once it is sure that there is something to find."""
    labels = {label for s in sentences for label in gold_labels(s, column)} - {None}
    if not labels:
        raise FormatError(f"no word has a label in column {quote(column)}", place)
    if len(labels) == 1:
        raise FormatError(
            f"every word that has a label in column {quote(column)} has the same,"
            f" {quote(str(next(iter(labels))))}; there is nothing to compare",
            place,
        )
    examples = Examples.read(Source(sentences, "data"), column, evidence)
    if (
        UPOS not in evidence
        and column != UPOS
        and holds_features(examples)
        and all(UPOS in sentence.columns for sentence in sentences)
    ):
        return Examples.read(Source(sentences, "data"), column, (*evidence, UPOS))
    return examples


@dataclass(frozen=True, slots=True)
class Examination:
    """All opinions of the labels of a text, and what they come to.

    order : which of the sentences as they were given each of these is
    said : what the taggers said
    gold : int64[n_words]: the number of each word's label, -1 for none
    """

    examples: Examples
    order: list[int]
    column: str
    folds: int
    options: DoctorOptions
    said: Opinions
    gold: npt.NDArray[np.int64]

    def diagnosis(self) -> Diagnosis:
        """The opinions pooled, and the labels that they speak against."""
        sentences, said = self.examples.sentences, self.said
        contexts = Contexts.of(sentences)
        variation = Variation(contexts, self.gold, len(said.labels))
        weights, logs = self.pool(variation)
        finder = CandidateFinder(sentences, self.order, said, variation, self.gold)
        candidates = finder.candidates(logs)
        if self.options.contexts:
            candidates = tuple(one for one in candidates if one.elsewhere and one.elsewhere.width)
        return Diagnosis(
            column=self.column,
            sentences=len(sentences),
            tokens=self.examples.n_tokens,
            labeled=len(said.words),
            folds=self.folds,
            runs=self.options.runs,
            seed=self.options.seed,
            evidence=self.examples.columns,
            agreement=1 - len(candidates) / len(said.words),
            tagger_agreement=said.agreement,
            weights=dict(zip((*KINDS, ELSEWHERE), weights.tolist(), strict=True)),
            candidates=candidates,
            notes=_notes(self.examples),
        )

    def pool(self, variation: Variation) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The experts' weights, and float64[n, n_choices]: the pool's log-probabilities."""
        said = self.said
        elsewhere = variation.log_shares(said.words, said.choices)[:, :, None]
        opinions = np.concatenate([said.scores, elsewhere], axis=2)
        places = np.argmax(said.choices == said.gold[:, None], axis=1)
        sample = slice(None, None, -(-len(places) // FITTED_WORDS))
        alone = [
            fit_pool(opinions[sample][..., [expert]], places[sample])
            for expert in range(opinions.shape[2])
        ]
        opinions = hedged(opinions, np.concatenate(alone))
        weights = fit_pool(opinions[sample], places[sample])
        return weights, pooled(opinions, weights)


def _notes(examples: Examples) -> tuple[str, ...]:
    notes = []
    missing = examples.n_tokens - examples.n_labeled
    if missing:
        notes.append(
            f"{missing:,} of {examples.n_tokens:,} words have no label and are not examined"
        )
    copies = len(examples.sentences) - len({tuple(s) for s in examples.sentences})
    if copies:
        notes.append(f"{copies:,} sentences are copies of others; they are held out together")
    return tuple(notes)
