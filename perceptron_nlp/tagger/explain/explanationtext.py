"""Explanations as text that fits a terminal, and what is said of a word wherever it is said."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from typing import Protocol, TypeAlias

from perceptron_nlp._display import printable
from perceptron_nlp.tagger.explain.reading import WeighedFeature

Paint: TypeAlias = Callable[[str, str], str]
"""Puts a text in a style, an SGR code."""

NARROWEST = 20
_BOLD, _FAINT, _FOR, _AGAINST = "1", "2", "36", "33"
_INDENT = "  "


class ExplainedWord(Protocol):
    """What is shown of a word: ExplainedWord tells what each is."""

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


def text(words: Iterable[ExplainedWord], *, width: int, top: int | None, paint: Paint) -> str:
    """A paragraph a word, an empty line between them; see Explanation.to_text."""
    return "\n\n".join(
        "\n".join(_paragraph(word, max(NARROWEST, width), top, paint)) for word in words
    )


def verdict(word: ExplainedWord) -> str:
    """What a word got, and by how much, in a line."""
    said = f"{word.label} {number(word.score)}"
    if word.learnt != word.label:
        said = f"{word.label} ({word.learnt}) {number(word.score)}"
    if word.runner_up is None or word.runner_up_score is None or word.margin is None:
        return said + ", the only label"
    return f"{said}, {word.runner_up} {number(word.runner_up_score)}: margin {signed(word.margin)}"


def remarks(word: ExplainedWord) -> str:
    """What else there is to say of a word."""
    seen = "seen in training" if word.known else "not seen in training"
    return seen if word.note is None else f"{seen}; {word.note}"


def number(value: float) -> str:
    """A score for people: three decimals; scores have no unit."""
    return f"{value:.3f}"


def signed(value: float) -> str:
    """What is added, with its sign."""
    return f"{value:+.3f}"


def told(feature: WeighedFeature) -> str:
    """What a feature saw, and its value if that is not 1."""
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
