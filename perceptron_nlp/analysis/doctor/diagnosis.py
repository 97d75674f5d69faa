"""The result of an examination of gold labels: candidate errors, with their places and reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import InitVar, asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp import Finding, Sentence
from perceptron_nlp._display import counted, percent
from perceptron_nlp.analysis.doctor.crosstagging import Opinions
from perceptron_nlp.analysis.doctor.pooling import WIDTHS, Variation
from perceptron_nlp.formats import sentence_id
from perceptron_nlp.pages.renderers import Reported, tsv
from perceptron_nlp.pages.reports import Column, Figure, Report, Table

TABLE_COLUMNS = (
    *("file", "line", "sentence", "sentence_id", "word", "form", "context"),
    *("gold", "expected", "confidence", "reason"),
)

# Agreement from which on the taggers err less often than annotators may, or not much more often.
_SURE, _FAIR = 0.97, 0.93


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Labels of the same word elsewhere, with so many words alike on either side.

    expected, gold, others : in how many other places it has the expected label, the label that it
        has here, and further ones
    path, line : one of the places in which it has the expected label; line 0 if that is no file
    """

    width: int
    expected: int
    gold: int
    others: int
    path: str
    line: int

    @property
    def text(self) -> str:
        """In words."""
        what = (
            "the same word",
            "the same word between the same neighbors",
            f"the same word between the same {2 * self.width} words",
        )[min(self.width, 2)]
        others = f", other labels {_times(self.others)}" if self.others else ""
        where = f" ({self.path}:{self.line})" if self.line else ""
        return (
            f"elsewhere {what} has the expected label {_times(self.expected)}{where},"
            f" this one {_times(self.gold)}{others}"
        )


@dataclass(frozen=True, slots=True)
class Candidate:
    """A label that is likely wrong.

    Attributes
    ----------
    path, line : where the word stands; line 0 where that is no file
    sentence, index : its sentence's number in the file (or in memory) from 1, its place in it
        from 0
    sentence_id : the sentence's name in its file, or None
    form, before, after : the word, and up to four words on either side
    gold, expected : the label that stands there, and the one that the rest of the text suggests
    confidence : 0 to 1; the probability of the expected label by all evidence but the label
        that stands there
    gold_confidence : the like of the label that stands there
    log_odds : the logarithm of the ratio of the two; candidate errors are ranked by it
    votes, taggers : how many taggers that have not seen the sentence say the expected label
        first, and how many there are
    elsewhere : how the same word in the same context is labeled, in the widest ones in
        which it has the expected label; None where it nowhere has
    """

    path: str
    line: int
    sentence: int
    index: int
    sentence_id: str | None
    form: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    gold: str
    expected: str
    confidence: float
    gold_confidence: float
    log_odds: float
    votes: int
    taggers: int
    elsewhere: Elsewhere | None

    @property
    def context(self) -> str:
        """The word in brackets among its neighbors."""
        return " ".join([*self.before, f"[{self.form}]", *self.after])

    @property
    def reason(self) -> str:
        """Why, in words."""
        said = (
            f"{self.votes} of {self.taggers} taggers trained on other sentences expect it;"
            f" its probability is {_percent(self.confidence)}, that of the label here"
            f" {_percent(self.gold_confidence)}"
        )
        return said if self.elsewhere is None else f"{said}; {self.elsewhere.text}"

    def row(self) -> tuple[Any, ...]:
        """Return the row of a table."""
        place = f"{self.path}:{self.line}" if self.line else f"{self.path}, word {self.index + 1}"
        rest = [getattr(self, column.key) for column in _CANDIDATES[5:-1]]
        return (
            *(place, self.gold, self.expected, self.confidence, self.context),
            *rest,
            None if self.elsewhere is None else asdict(self.elsewhere),
        )


SHOWN = 20
_CANDIDATES = (
    Column("place", label="location"),
    Column("gold"),
    Column("expected"),
    Column("confidence", "percent"),
    *(Column(key, "prose") for key in ("context", "reason")),
    *(
        Column(key, "data")
        for key in (
            *("path", "line", "sentence", "index", "sentence_id", "form"),
            *("gold_confidence", "log_odds", "votes", "taggers", "elsewhere"),
        )
    ),
)


@dataclass(frozen=True, slots=True)
class Diagnosis(Reported):
    """The result of the examination of a text.

    Attributes
    ----------
    column : the column examined
    sentences, tokens, labeled : how much there was; words without a label are no candidate errors
    folds, runs, seed : how it was examined
    evidence : other columns that were looked at
    agreement : the share of labels that are the ones expected
    tagger_agreement : the share of labels that a tagger says first that has not seen the sentence
    weights : what each expert counts in the pool: the taggers that see words, those that see the
        labels beside, and the labels of the same word in the same context
    candidate errors : likely errors, the likeliest first
    notes : what should be known about the text
    findings : what breaks the rules of Universal Dependencies in files of CoNLL-U, a thousand
        lines at most of each file (see ``perceptron_nlp.validate``)
    """

    column: str
    sentences: int
    tokens: int
    labeled: int
    folds: int
    runs: int
    seed: int
    evidence: tuple[str, ...]
    agreement: float
    tagger_agreement: float
    weights: dict[str, float]
    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...]
    findings: tuple[Finding, ...] = ()

    def report(self, limit: int | None = SHOWN) -> Report:
        """Return the candidate errors, and how far they are to be trusted.

        Parameters
        ----------
        limit : people see so many candidate errors at most; None for all
        """
        shares = ("agreement", "tagger_agreement")
        hidden = ("column", "sentences", "tokens", "labeled", "folds", "runs", "seed")
        return Report(
            f"{self.column}: {counted(len(self.candidates), 'candidate error')} in"
            f" {counted(self.labeled, 'label')} ({percent(1 - self.agreement)})",
            [
                *(Figure(name, getattr(self, name), "data") for name in (*hidden, *shares)),
                Figure("evidence", list(self.evidence), "data"),
                Figure("weights", self.weights, "data"),
            ],
            [
                Table(
                    "candidates",
                    "",
                    _CANDIDATES,
                    [one.row() for one in self.candidates],
                    limit,
                    "--limit shows more, --fix-list writes them",
                )
            ],
            [*self.notes, self.certainty],
            [self._format(limit)] if self.findings else [],
        )

    def _format(self, limit: int | None) -> Report:
        """Return the lines that break rules of their format."""
        columns = [
            *(Column("place", label="location"), Column("level"), Column("rule")),
            *(Column("what", "prose"), Column("cure", "prose")),
        ]
        rows = [(f"{path}:{line}", *rest) for path, line, *rest in self.findings]
        more = "perceptron-nlp validate shows them"
        title = f"{counted(len(self.findings), 'line')} against the rules of CoNLL-U"
        table = Table("found", "", columns, rows, limit, more)
        return Report(title, tables=[table])

    @property
    def certainty(self) -> str:
        """A sentence on how far the candidate errors are to be trusted."""
        said = (
            "taggers that have not seen a sentence agree with"
            f" {percent(self.tagger_agreement, 1)} of its labels"
        )
        if not self.candidates:
            return said
        if self.tagger_agreement >= _SURE:
            return f"{said}, so the first candidates are likely errors"
        if self.tagger_agreement >= _FAIR:
            return f"{said}, so of the first candidates many are errors, and fewer further down"
        return f"{said}, so most candidates are their own mistakes, even among the first"

    def to_table(self, limit: int | None = None) -> str:
        """Return the candidate errors as a table: a heading, then a line each, separated by tabs.

        Its columns are TABLE_COLUMNS, ``word`` being the word's number from 1. Text that a
        spreadsheet would calculate gets an apostrophe, which ``apply_corrections`` takes away.
        """
        rows = [
            (
                *(one.path, one.line, one.sentence, one.sentence_id or "", one.index + 1, one.form),
                *(one.context, one.gold, one.expected, f"{one.confidence:.4f}", one.reason),
            )
            for one in self.candidates[:limit]
        ]
        return tsv(Table("candidates", "", [Column(name) for name in TABLE_COLUMNS], rows))


def _times(count: int) -> str:
    return {0: "never", 1: "once"}.get(count, f"{count:,} times")


def _percent(share: float) -> str:
    """Never 100 % of what is not sure, nor 0 % of what is possible."""
    if share >= 0.9995:
        return "over 99.9 %"
    return "under 0.1 %" if share < 0.0005 else percent(share, 1)


_CONTEXT = 4


@dataclass(eq=False)
class CandidateFinder:
    """Turns the pool's opinion into candidate errors.

    order : the places that the sentences had in the text as it was given
    said : what the taggers said
    variation : of all words
    gold : int64[n_words]: the number of each word's label, -1 for none
    """

    sentences: Sequence[Sentence]
    order: InitVar[Sequence[int]]
    said: Opinions
    variation: Variation
    gold: npt.NDArray[np.int64]

    def __post_init__(self, order: Sequence[int]) -> None:
        self._starts = np.concatenate([[0], np.cumsum([len(s) for s in self.sentences])])
        self._numbers = [0] * len(self.sentences)
        met: dict[str, int] = {}
        for place in np.argsort(order, kind="stable").tolist():
            # Of what is from no file, all sentences are counted together.
            path = self.sentences[place].path if self.sentences[place].line_of(0) else ""
            self._numbers[place] = met[path] = met.get(path, 0) + 1

    def candidates(self, logs: npt.NDArray[np.float64]) -> tuple[Candidate, ...]:
        """All words whose gold label is not the likeliest, the least likely first."""
        said = self.said
        rows = np.arange(len(said.words))
        best = logs.argmax(1)
        place = np.argmax(said.choices == said.gold[:, None], axis=1)
        # Rounded, so that what differs between machines changes no order.
        odds = np.round(logs[rows, best] - logs[rows, place], 6)
        found = [
            self._candidate(
                row,
                int(best[row]),
                float(odds[row]),
                float(logs[row, best[row]]),
                float(logs[row, place[row]]),
            )
            for row in np.flatnonzero(best != place).tolist()
        ]
        return tuple(
            sorted(
                found, key=lambda one: (-one.log_odds, one.path, one.line, one.sentence, one.index)
            )
        )

    def _candidate(
        self, row: int, best: int, odds: float, log_best: float, log_gold: float
    ) -> Candidate:
        said = self.said
        word, expected = int(said.words[row]), int(said.choices[row, best])
        number, index = self._place(word)
        sentence = self.sentences[number]
        words = sentence.words
        return Candidate(
            path=sentence.path,
            line=sentence.line_of(index),
            sentence=self._numbers[number],
            index=index,
            sentence_id=sentence_id(sentence),
            form=words[index],
            before=words[max(0, index - _CONTEXT) : index],
            after=words[index + 1 : index + 1 + _CONTEXT],
            gold=said.labels[int(said.gold[row])],
            expected=said.labels[expected],
            confidence=round(float(np.exp(log_best)), 6),
            gold_confidence=round(float(np.exp(log_gold)), 6),
            log_odds=odds,
            votes=int(said.votes[row, best]),
            taggers=said.taggers,
            elsewhere=self._elsewhere(word, expected),
        )

    def _place(self, word: int) -> tuple[int, int]:
        number = int(np.searchsorted(self._starts, word, "right")) - 1
        return number, word - int(self._starts[number])

    def _elsewhere(self, word: int, expected: int) -> Elsewhere | None:
        """The widest context in which the word has the expected label in another place."""
        own = int(self.gold[word])
        for width in range(len(WIDTHS) - 1, -1, -1):
            counts, totals = self.variation.counts(
                width, np.array([word]), np.array([[expected, own]])
            )
            if not counts[0, 0]:
                continue
            number, index = self._place(self.variation.first(width, word, expected))
            there = self.sentences[number]
            return Elsewhere(
                WIDTHS[width],
                int(counts[0, 0]),
                int(counts[0, 1]),
                int(totals[0] - counts[0].sum()),
                there.path,
                there.line_of(index),
            )
        return None
