"""Explanations as text for a terminal, and as a page of HTML."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias

from perceptron_nlp._display import printable
from perceptron_nlp.pages import render
from perceptron_nlp.tagger.explain.forward_trace import WeighedFeature

Paint: TypeAlias = Callable[[str, str], str]
"""Puts a text in a style, an SGR code."""

NARROWEST = 20
_BOLD, _FAINT, _FOR, _AGAINST = "1", "2", "36", "33"
_INDENT = "  "


class ExplainedWord(Protocol):
    """The part of a WordExplanation that is shown."""

    @property
    def word(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def learnt(self) -> str: ...
    @property
    def score(self) -> float: ...
    @property
    def runner_up(self) -> str | None: ...
    @property
    def runner_up_score(self) -> float | None: ...
    @property
    def margin(self) -> float | None: ...
    @property
    def known(self) -> bool: ...
    @property
    def note(self) -> str | None: ...
    @property
    def top(self) -> int | None: ...
    def heaviest(
        self, top: int | None, /
    ) -> tuple[tuple[WeighedFeature, ...], WeighedFeature | None]: ...


def plain(text: str, style: str) -> str:
    """A text in no style."""
    return text


def text(
    words: Iterable[ExplainedWord],
    *,
    width: int,
    top: int | None,
    paint: Paint,
    head: str | None = None,
) -> str:
    """A paragraph a word, an empty line between them, below a head; see Explanation.to_text."""
    room = max(NARROWEST, width)
    paragraphs = ["\n".join(_paragraph(word, room, top, paint)) for word in words]
    if head is not None:
        paragraphs.insert(0, paint(_cut(head, room), _FAINT))
    return "\n\n".join(paragraphs)


def direction(right_to_left: bool) -> str:
    """Return the note on offsets in features."""
    how = "right to left" if right_to_left else "left to right"
    return f"read {how}; [-1] is the word before, [+1] the word after"


def verdict(word: ExplainedWord) -> str:
    """Return the label of a word and its margin, in a line."""
    said = f"{word.label} {number(word.score)}"
    if word.learnt != word.label:
        said = f"{word.label} ({word.learnt}) {number(word.score)}"
    if word.runner_up is None or word.runner_up_score is None or word.margin is None:
        return said + ", the only label"
    return f"{said}, {word.runner_up} {number(word.runner_up_score)}: margin {signed(word.margin)}"


def remarks(word: ExplainedWord) -> str:
    """Return the further remarks on a word."""
    seen = "seen in training" if word.known else "not seen in training"
    return seen if word.note is None else f"{seen}; {word.note}"


def number(value: float) -> str:
    """A score for people: three decimals; scores have no unit."""
    return f"{value:.3f}"


def signed(value: float) -> str:
    """Return a contribution with its sign."""
    return f"{value:+.3f}"


def told(feature: WeighedFeature) -> str:
    """Return the text of a feature, and its value if that is not 1."""
    return feature.text if feature.value == 1 else f"{feature.text} × {feature.value:g}"


def _paragraph(word: ExplainedWord, width: int, top: int | None, paint: Paint) -> list[str]:
    lines = [
        paint(_cut(f"{printable(word.word)}  {printable(verdict(word))}", width), _BOLD),
        _INDENT + paint(_cut(printable(remarks(word)), width - len(_INDENT)), _FAINT),
    ]
    features, rest = word.heaviest(top if word.top is None else word.top)
    for feature in (*features, *filter(None, [rest])):
        margin = f"{signed(feature.margin):>8}"
        room = width - len(_INDENT) - len(margin) - 2
        lines.append(
            f"{_INDENT}{paint(margin, _FOR if feature.margin >= 0 else _AGAINST)}"
            f"  {_cut(printable(told(feature)), room)}"
        )
    return lines


def _cut(text: str, room: int) -> str:
    """The text cut to so many columns of a terminal, its end shown by an ellipsis."""
    if sum(map(_columns, text)) <= room:
        return text
    used = 1
    for at, character in enumerate(text):
        used += _columns(character)
        if used > room:
            return text[:at] + "…"
    return text


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def page(
    explanations: Iterable[Sequence[ExplainedWord]],
    *,
    top: int | None,
    title: str,
    right_to_left: bool,
) -> str:
    """Return a page with the explanations of some sentences; see Explanation.to_html."""
    sentences = [
        {
            "text": " ".join(word.word for word in explanation),
            "words": [word_view(word, top=top) for word in explanation],
        }
        for explanation in explanations
    ]
    how = direction(right_to_left)
    return render("explanation.html", title=title, sentences=sentences, direction=how)


def word_view(word: ExplainedWord, *, top: int | None) -> dict[str, Any]:
    """Return the variables of the templates' macro ``why`` for one word."""
    features, rest = word.heaviest(top if word.top is None else word.top)
    # The sum of many features would dwarf each of those that are shown.
    widest = max((abs(feature.margin) for feature in features), default=0.0)
    rows = []
    for feature in (*features, *filter(None, [rest])):
        share = 50 * abs(feature.margin) / widest if widest and feature is not rest else 0.0
        is_for = feature.margin >= 0
        rows.append(
            {
                "text": told(feature),
                "margin": signed(feature.margin).replace("-", "−"),
                "kind": "for" if is_for else "against",
                "left": 50.0 if is_for else 50 - share,
                "width": share,
            }
        )
    return {"word": word.word, "verdict": verdict(word), "remarks": remarks(word), "rows": rows}
