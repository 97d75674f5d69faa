"""What an examination of gold labels has found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from perceptron_nlp._display import printable

TABLE_COLUMNS = (
    "file",
    "line",
    "sentence",
    "sentence_id",
    "word",
    "form",
    "context",
    "gold",
    "expected",
    "confidence",
    "reason",
)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """How other places label the same word in the same surroundings.

    Attributes
    ----------
    width : how many words on either side are the same
    expected, gold, others : in how many other places it has the expected label, the label that
        it has here, and further ones
    path, line : one of the places in which it has the expected label; line 0 where that is no file
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
            "the same word between the same neighbours",
            f"the same word between the same {2 * self.width} words",
        )[min(self.width, 2)]
        others = f", other labels {_times(self.others)}" if self.others else ""
        where = f" ({self.path}:{self.line})" if self.line else ""
        return (
            f"elsewhere {what} has the expected label {_times(self.expected)}{where},"
            f" this one {_times(self.gold)}{others}"
        )


@dataclass(frozen=True, slots=True)
class Suspect:
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
    log_odds : the logarithm of the ratio of the two; suspects are ranked by it
    votes, taggers : how many taggers that have not seen the sentence say the expected label
        first, and how many there are
    elsewhere : how the same word in the same surroundings is labelled, in the widest ones in
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
        """The word in brackets among its neighbours."""
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

    def to_dict(self) -> dict[str, Any]:
        """All of it, and the reason, as JSON can say it."""
        return {**asdict(self), "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the examination of a text has found.

    Attributes
    ----------
    column : the column examined
    sentences, tokens, labelled : how much there was; words without a label are no suspects
    folds, runs, seed : how it was examined
    evidence : other columns that were looked at
    agreement : the share of labels that are the ones expected
    weights : what each expert counts in the pool: the taggers that see words, those that see the
        labels beside, and the labels of the same word in the same surroundings
    suspects : likely errors, the likeliest first
    notes : what should be known about the text
    """

    column: str
    sentences: int
    tokens: int
    labelled: int
    folds: int
    runs: int
    seed: int
    evidence: tuple[str, ...]
    agreement: float
    weights: dict[str, float]
    suspects: tuple[Suspect, ...]
    notes: tuple[str, ...]

    def to_dict(self, limit: int | None = None) -> dict[str, Any]:
        """All of it as JSON can say it, of the suspects only the first `limit`."""
        return {
            **{
                name: getattr(self, name)
                for name in (
                    "column",
                    "sentences",
                    "tokens",
                    "labelled",
                    "folds",
                    "runs",
                    "seed",
                    "agreement",
                    "weights",
                )
            },
            "evidence": list(self.evidence),
            "notes": list(self.notes),
            "n_suspects": len(self.suspects),
            "suspects": [suspect.to_dict() for suspect in self.suspects[:limit]],
        }

    def to_table(self, limit: int | None = None) -> str:
        """The suspects as a table to go through: a heading, then a line each, parted by tabs.

        Its columns are TABLE_COLUMNS, ``word`` being the word's number from 1. Control characters
        are escaped as Python writes them.
        """
        lines = ["\t".join(TABLE_COLUMNS)]
        for one in self.suspects[:limit]:
            lines.append(
                "\t".join(
                    map(
                        printable,
                        (
                            one.path,
                            one.line,
                            one.sentence,
                            one.sentence_id or "",
                            one.index + 1,
                            one.form,
                            one.context,
                            one.gold,
                            one.expected,
                            f"{one.confidence:.4f}",
                            one.reason,
                        ),
                    )
                )
            )
        return "\n".join(lines) + "\n"


def _times(count: int) -> str:
    return {0: "never", 1: "once"}.get(count, f"{count:,} times")


def _percent(share: float) -> str:
    """Never 100 % of what is not sure, nor 0 % of what is possible."""
    if share >= 0.9995:
        return "over 99.9 %"
    return "under 0.1 %" if share < 0.0005 else f"{100 * share:.1f} %"
