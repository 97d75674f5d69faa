"""Why a tagger gave its labels: what each feature added to them and to the runners-up.

The tagger is linear, so this is the whole truth and no estimate: what the features of a word add
sums to its score, up to rounding in a float's last digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, overload

import numpy as np

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError
from perceptron_nlp.pages.renderers import Reported
from perceptron_nlp.pages.reports import Column, Report, Table
from perceptron_nlp.tagger.confidence import sure_labels
from perceptron_nlp.tagger.explain.render import Paint, direction, page, plain, text
from perceptron_nlp.tagger.model.label_components import forms_of
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.tag.constraints import DICTIONARY, LEXICON, ConstrainedTokens
from perceptron_nlp.tagger.tag.forward_trace import ComparedFeatures, ForwardTrace, WeighedFeature
from perceptron_nlp.tagger.tag.label import Labeler
from perceptron_nlp.tagger.tag.lemmatize import ScriptLabels
from perceptron_nlp.text.sentence import words_of

T = TypeVar("T")
WEIGHTS = "weights"
SHOWN = 5
_WORDS = (
    *(Column("word"), Column("label"), Column("score", "weight"), Column("runner_up")),
    *(Column("margin", "weight"), Column("confidence", "percent"), Column("known")),
)


@dataclass(frozen=True, eq=False, kw_only=True)
class WordExplanation:
    """Why a word got its label.

    Attributes
    ----------
    word : the word
    label : what ``Tagger.tag`` gives it
    learned : the same as it is learned (in ``Tagger.labels``); not the same for spans, which are
        learned in IOBES, for features learned with parts of speech, and for lemmas: here it is the
        edit script that makes the lemma, such as ``-3 +ell``
    score : what the learned label scored, as in ``Tagger.scores``; the sum of what its features add
    runner_up : the label that scored best of the others that it might have got after the same
        labels, or the one that it was to be compared with (`against`); None where there is none
    runner_up_score : what that scored, or None
    confidence : in the label, 0 to 1; None if the model is not calibrated
    known : was the word in the training text? (Wrongly yes for one word in a hundred thousand.)
    decided_by : ``"weights"``, ``"dictionary"`` or ``"lexicon"``; only weights choose a label
    note : what else there is to say, or None
    top : how many features are kept one by one; None for all
    """

    word: str
    label: str
    learned: str
    score: float
    runner_up: str | None
    runner_up_score: float | None
    confidence: float | None
    known: bool
    decided_by: str
    note: str | None
    top: int | None
    _compared: ComparedFeatures = field(repr=False)
    _number: int = field(repr=False)

    @property
    def margin(self) -> float | None:
        """The score less that of the runner-up; None where there is none.

        Below 0 where something else than this score decided: see `decided_by` and `note`.
        """
        return None if self.runner_up_score is None else self.score - self.runner_up_score

    @property
    def features(self) -> tuple[WeighedFeature, ...]:
        """The features that the model has weights for, those that move the margin most first."""
        return tuple(self._compared.features(self._number, self.top))

    @property
    def rest(self) -> WeighedFeature | None:
        """All features beyond `top` as one; None where there are none."""
        return self.heaviest(self.top)[1]

    def heaviest(self, top: int | None) -> tuple[tuple[WeighedFeature, ...], WeighedFeature | None]:
        """The first `top` features (None for all), and all others as one, or None."""
        features = tuple(self._compared.features(self._number, top))
        n_others = self._compared.count(self._number) - len(features)
        if not n_others:
            return features, None
        return features, WeighedFeature(
            "",
            f"{n_others} more",
            self.score - sum(f.weight for f in features),
            (self.runner_up_score or 0.0) - sum(f.runner_up_weight for f in features),
        )

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """All of it as JSON has it, with at most `top` features one by one."""
        features, rest = self.heaviest(self.top if top is None else top)
        return {
            "word": self.word,
            "label": self.label,
            "learned": self.learned,
            "score": self.score,
            "runner_up": self.runner_up,
            "runner_up_score": self.runner_up_score,
            "margin": self.margin,
            "confidence": self.confidence,
            "known": self.known,
            "decided_by": self.decided_by,
            "note": self.note,
            "features": [feature.to_dict() for feature in features],
            "rest": None if rest is None else rest.to_dict(),
        }

    def __str__(self) -> str:
        return text([self], width=80, top=SHOWN, paint=plain)


@dataclass(frozen=True, eq=False, kw_only=True)
class Explanation(Reported, Sequence[WordExplanation]):
    """Why the words of a sentence got their labels: a sequence of WordExplanation.

    Attributes
    ----------
    column : the column that the labels are for
    words : one WordExplanation a word
    beam : states kept in the search for the best sequence; 1: each word's best label was taken.
        With a beam the scores are those after the labels of the best sequence, and a runner-up is
        the next best at its word, not of the next best sequence
    right_to_left : whether labels were given from the end; offsets are in the order of the text
    first : of a model of two passes, what explains the labels that the first one gave, which this
        one sees as columns; else None
    """

    column: str
    words: tuple[WordExplanation, ...]
    beam: int
    right_to_left: bool
    first: Explanation | None

    def __len__(self) -> int:
        return len(self.words)

    @overload
    def __getitem__(self, at: int) -> WordExplanation: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[WordExplanation, ...]: ...
    def __getitem__(self, at: int | slice) -> WordExplanation | tuple[WordExplanation, ...]:
        return self.words[at]

    def __iter__(self) -> Iterator[WordExplanation]:
        return iter(self.words)

    @property
    def labels(self) -> list[str]:
        """Predicted labels, as ``Tagger.tag`` gives them."""
        return [word.label for word in self.words]

    def report(self) -> Report:
        """Return a table with a row for each word; see `to_text` and `to_html` for features."""
        rows = [tuple(getattr(word, column.key) for column in _WORDS) for word in self.words]
        title = f"column {self.column}: {' '.join(word.word for word in self.words)}"
        return Report(title, tables=[Table("words", "", _WORDS, rows)])

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """All of it as JSON has it, with at most `top` features a word one by one."""
        return {
            "column": self.column,
            "beam": self.beam,
            "right_to_left": self.right_to_left,
            "words": [word.to_dict(top) for word in self.words],
            "first": None if self.first is None else self.first.to_dict(top),
        }

    def to_text(
        self,
        *,
        width: int = 80,
        top: int | None = SHOWN,
        paint: Paint = plain,
        with_direction: bool = True,
    ) -> str:
        """A line with the direction of reading, and a paragraph a word, of at most `width` columns.

        Parameters
        ----------
        width : at least 20
        top : features shown one by one
        paint : puts a text in a style (an SGR code), for a terminal in color
        with_direction : say first in which direction the labels were given
        """
        head = direction(self.right_to_left) if with_direction and self.words else None
        return text(self.words, width=width, top=top, paint=paint, head=head)

    def to_html(self, *, top: int | None = SHOWN, title: str = "Why these labels") -> str:
        """Return a page of HTML that needs nothing else: no script, no network."""
        return page([self], top=top, title=title, right_to_left=self.right_to_left)

    def __str__(self) -> str:
        return self.to_text()


def explanations(
    labeler: Labeler,
    sentences: list[Sequence[str]],
    top: int | None,
    against: Sequence[Sequence[str | None]] | None = None,
) -> list[Explanation]:
    """Explain why prepared sentences are labeled as they are by a model of one column."""
    sure: Sequence[Sequence[float] | None] = [None] * len(sentences)
    if labeler.model.calibration is None:
        given = labeler.label(sentences)
    else:
        given, sure = sure_labels(labeler, sentences)
    others = [None] * len(sentences) if against is None else _checked_against(against)
    if len(others) != len(sentences):
        raise ArgumentError(f"against: labels of {len(others)} sentences for {len(sentences)}")
    constrained = ConstrainedTokens(labeler.model, labeler.lexicon)
    return [
        explanation(
            labeler.trace(sentence), labels, constrained, words_of(sentence), top, wanted, own
        )
        for sentence, labels, wanted, own in zip(sentences, given, others, sure, strict=True)
    ]


def explanation(
    trace: ForwardTrace,
    labels: Sequence[str],
    constrained: ConstrainedTokens,
    words: Sequence[str],
    top: int | None,
    against: Sequence[str | None] | None = None,
    confidences: Sequence[float] | None = None,
) -> Explanation:
    """Explain why a sentence was labeled as it was.

    `labels` are as they are written; `constrained` tells the tokens that could not get any label;
    `top` features are kept one by one for each word (None: all); `against` has for each word the
    label to compare with in place of the runner-up, or None.

    Raises ArgumentError if `against` has not as many labels as there are words, ArgumentTypeError
    if it holds something else.
    """
    model = trace.model
    names = _Names(model, words)
    numbers = names.given(trace)
    runners_up = names.runners_up(trace, labels) or _runners_up(trace, constrained, words)
    if against is not None:
        runners_up = _instead(trace, names, labels, runners_up, against)
    compared = trace.compared(numbers, runners_up)
    places = np.arange(len(words))
    scores = trace.scores[places, numbers].tolist()
    others = trace.scores[places, runners_up].tolist()
    explained = tuple(
        WordExplanation(
            word=word,
            label=label,
            learned=names.learned(numbers[i]),
            score=scores[i],
            runner_up=None if runners_up[i] < 0 else names.of_other(i, runners_up[i]),
            runner_up_score=None if runners_up[i] < 0 else others[i],
            confidence=None if confidences is None else confidences[i],
            known=known,
            decided_by=(constrained.decided_by(word) if constrained.any else None) or WEIGHTS,
            note=_note(model, constrained, word, runners_up[i] >= 0 and others[i] > scores[i]),
            top=top,
            _compared=compared,
            _number=i,
        )
        for i, (word, label, known) in enumerate(
            zip(words, labels, model.known(words), strict=True)
        )
    )
    first, inner = None, trace.first
    if inner is not None:
        own = [inner.model.tags.label_of(number) for number in inner.numbers]
        first = explanation(inner, own, ConstrainedTokens(inner.model, None), words, top)
    return Explanation(
        column=model.column,
        words=explained,
        beam=model.beam,
        right_to_left=model.right_to_left,
        first=first,
    )


class _Names:
    """The names of a model's labels; those of edit scripts depend on the word."""

    def __init__(self, model: TaggerModel, words: Sequence[str]) -> None:
        self._tags, self._words = model.tags, words
        lemmas = model.lemmas
        self._scripts = None if lemmas is None else ScriptLabels(model.tags, lemmas.alphabet)

    def given(self, trace: ForwardTrace) -> list[int]:
        """Return the number of the label that each word got."""
        if self._scripts is None:
            return trace.numbers
        return list(map(self._scripts.best, self._words, trace.scores))

    def runners_up(self, trace: ForwardTrace, lemmas: Sequence[str]) -> list[int] | None:
        """Return the numbers of the best scripts that make other lemmas; None for other labels."""
        if self._scripts is None:
            return None
        return list(map(self._scripts.runner_up, self._words, lemmas, trace.scores))

    def learned(self, number: int) -> str:
        """Return a label as it is learned, for people."""
        return self._tags.label_of(number) if self._scripts is None else self._scripts.brief(number)

    def of_other(self, place: int, number: int) -> str:
        """Return the name of a label that a word might have got: of a script, its lemma."""
        if self._scripts is None:
            return self._tags.label_of(number)
        return self._scripts.lemma(self._words[place], number) or self._scripts.brief(number)

    def able(self, place: int, wanted: str, scheme: str | None) -> list[int]:
        """Return the numbers of the labels that stand for one as it is written."""
        if self._scripts is not None:
            makes = self._scripts.lemma
            word = self._words[place]
            return [n for n in range(len(self._tags)) if makes(word, n) == wanted]
        return [n for n, name in enumerate(self._tags) if wanted in forms_of(name, scheme)]


def _runners_up(
    trace: ForwardTrace, constrained: ConstrainedTokens, words: Sequence[str]
) -> list[int]:
    """The number of the label, or -1, for each word."""
    if len(trace.model.tags) == 1 or not words:
        return [-1] * len(words)
    others = trace.scores.copy()
    others[np.arange(len(words)), trace.numbers] = -np.inf
    found: list[int] = others.argmax(axis=1).tolist()
    for i, word in enumerate(words if constrained.any else ()):
        within = constrained.within(word)
        if within is not None and constrained.decided_by(word) != DICTIONARY:
            left = [label for label in within if label != trace.numbers[i]]
            found[i] = max(left, key=others[i].__getitem__, default=-1)
    return found


def _instead(
    trace: ForwardTrace,
    names: _Names,
    labels: Sequence[str],
    runners_up: list[int],
    against: Sequence[str | None],
) -> list[int]:
    """Runners-up, but where a label is asked for that is learned and was not given, that one."""
    if not all(wanted is None or isinstance(wanted, str) for wanted in _checked_against(against)):
        raise ArgumentTypeError("against: for each word a label is needed, or None")
    if len(against) != len(labels):
        raise ArgumentError(
            f"against: {len(against)} labels for {len(labels)} words; give one for"
            " each word, or None"
        )
    found = list(runners_up)
    for i, (label, wanted) in enumerate(zip(labels, against, strict=True)):
        if wanted is not None and wanted != label:
            # Of those that are written alike, the one that came nearest.
            able = names.able(i, wanted, trace.model.scheme)
            found[i] = max(able, key=trace.scores[i].__getitem__, default=found[i])
    return found


def _checked_against(against: Sequence[T]) -> Sequence[T]:
    """Return the labels to compare with; raise unless they are a list."""
    if isinstance(against, str | bytes) or not isinstance(against, Sequence):
        raise ArgumentTypeError(f"against: a list is needed, not {type(against).__name__}")
    return against


def _note(
    model: TaggerModel, constrained: ConstrainedTokens, word: str, is_behind: bool
) -> str | None:
    behind = "the runner-up scores more here, but the sentence as a whole does not"
    decided_by = constrained.decided_by(word) if constrained.any else None
    if decided_by == DICTIONARY:
        return "the dictionary gives it; scores do not count"
    if decided_by == LEXICON:
        return "the lexicon leaves no other label"
    within = constrained.within(word) if constrained.any else None
    said = []
    if within is not None:
        said.append("the lexicon leaves " + ", ".join(map(model.tags.label_of, within)))
    if is_behind:
        said.append(behind)
    return "; ".join(said) or None
