"""Explanations as text for a terminal, and as a page of HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from perceptron_nlp._display import percent, printable, shortened
from perceptron_nlp.pages import render
from perceptron_nlp.pages.reports import Column, Report, Table
from perceptron_nlp.tagger.tag.forward_trace import WeighedFeature

Paint: TypeAlias = Callable[[str, str], str]
"""Puts a text in a style, an SGR code."""

NARROWEST = 20
# Labels with less confidence are marked.
UNSURE = 0.8
_LETTERS = re.compile(
    r"(?:word|lower)(?:\.(?P<affix>prefix|suffix|ngrams)[\d-]+)?(?P<place>\[[+-]?\d+\])=(?P<letters>\S+)"
)
_BOLD, _FAINT, _FOR, _AGAINST = "1", "2", "36", "33"
_INDENT = "  "


class ExplainedWord(Protocol):
    """The part of a WordExplanation that is shown."""

    @property
    def word(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def learned(self) -> str: ...
    @property
    def score(self) -> float: ...
    @property
    def runner_up(self) -> str | None: ...
    @property
    def runner_up_score(self) -> float | None: ...
    @property
    def margin(self) -> float | None: ...
    @property
    def confidence(self) -> float | None: ...
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
        paragraphs.insert(0, paint(shortened(head, room), _FAINT))
    return "\n\n".join(paragraphs)


def direction(right_to_left: bool) -> str:
    """Return the note on offsets in features."""
    how = "right to left" if right_to_left else "left to right"
    return f"read {how}; [-1] is the word before, [+1] the word after"


def verdict(word: ExplainedWord) -> str:
    """Return the label of a word and its margin, in a line."""
    said = f"{word.label} {number(word.score)}"
    if word.learned != word.label:
        said = f"{word.label} ({word.learned}) {number(word.score)}"
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


def _paragraph(word: ExplainedWord, width: int, top: int | None, paint: Paint) -> list[str]:
    lines = [
        paint(shortened(f"{printable(word.word)}  {printable(verdict(word))}", width), _BOLD),
        _INDENT + paint(shortened(printable(remarks(word)), width - len(_INDENT)), _FAINT),
    ]
    features, rest = word.heaviest(top if word.top is None else word.top)
    for feature in (*features, *filter(None, [rest])):
        margin = f"{signed(feature.margin):>8}"
        room = width - len(_INDENT) - len(margin) - 2
        lines.append(
            f"{_INDENT}{paint(margin, _FOR if feature.margin >= 0 else _AGAINST)}"
            f"  {shortened(printable(feature.text), room)}"
        )
    return lines


def page(
    explanations: Iterable[Sequence[ExplainedWord]],
    *,
    top: int | None,
    title: str,
    right_to_left: bool,
) -> str:
    """Return a page with the explanations of some sentences; see Explanation.to_html."""
    sentences = [[word_view(word, top=top) for word in explanation] for explanation in explanations]
    return render(
        "explanation.html",
        title=title,
        sentences=sentences,
        direction=direction(right_to_left).partition(";")[0],
        has_confidences=any(view["confidence"] for sentence in sentences for view in sentence),
    )


def word_view(word: ExplainedWord, *, top: int | None) -> dict[str, Any]:
    """Return the variables of the templates' macro ``why`` for one word."""
    report = word_report(word, top)
    (table,) = report.tables
    # The sum of many features would dwarf each of those that are shown.
    widest = max((abs(margin) for margin, _, alike in table.rows if alike != _REST), default=0.0)
    rows = [
        {
            "text": text,
            "alike": alike,
            "margin": signed(margin).replace("-", "−"),
            "kind": "for" if margin >= 0 else "against",
            "width": 0 if alike == _REST or not widest else round(100 * abs(margin) / widest),
        }
        for margin, text, alike in table.rows
    ]
    return {
        "word": word.word,
        "label": word.label,
        "known": word.known,
        "confidence": "" if word.confidence is None else percent(word.confidence, 0),
        "is_unsure": word.confidence is not None and word.confidence < UNSURE,
        "verdict": verdict(word),
        "remarks": report.notes[0],
        "rows": rows,
    }


# Beside the sum of features that are not shown, where others have what else looked at the same.
_REST = ""
_FEATURES = (Column("margin", "weight"), Column("feature"), Column("alike", label="and"))


def word_report(word: ExplainedWord, top: int | None) -> Report:
    """Return why a word got its label: the heaviest features, those that say the same in a row."""
    top = word.top if top is None else top
    features, rest = word.heaviest(None)
    lines = folded(features)
    rows = [(line.margin, line.text, ", ".join(line.alike) or None) for line in lines[:top]]
    left = [line.margin for line in lines[len(rows) :]]
    left += [] if rest is None else [rest.margin]
    if left:
        rows.append((sum(left), f"{len(left)} more", _REST))
    sure = "" if word.confidence is None else f"confidence {percent(word.confidence, 1)}; "
    table = Table("features", "features and margins", _FEATURES, rows)
    return Report(f"{word.word}: {verdict(word)}", tables=[table], notes=[sure + remarks(word)])


class Line(NamedTuple):
    """Features that say the same of a word: the plainest, and what others looked at."""

    text: str
    alike: tuple[str, ...]
    margin: float


def folded(features: Sequence[WeighedFeature]) -> list[Line]:
    """Return features with those in one line that say the same of one word, the heaviest first.

    Of the word *old*, these are its letters as they are, as a prefix or suffix, and as n-grams with
    both edges; of its beginning *ol*, prefix and n-gram.
    """
    matches = [_LETTERS.fullmatch(feature.text) for feature in features]
    words = {match["place"] + match["letters"] for match in matches if match and not match["affix"]}
    lines: dict[str, list[WeighedFeature]] = {}
    for feature, match in zip(features, matches, strict=True):
        if match is None:
            lines.setdefault(feature.text, []).append(feature)
            continue
        affix, letters = match["affix"], match["letters"]
        bare = letters.strip("^$")
        if match["place"] + bare in words and (affix != "ngrams" or letters == f"^{bare}$"):
            seen = f"^{bare}$"
        else:
            seen = {"prefix": f"^{letters}", "suffix": f"{letters}$"}.get(affix, letters)
        lines.setdefault(match["place"] + seen, []).append(feature)
    found = []
    for same in lines.values():
        plainest = min(same, key=lambda own: len(own.template))
        others = (own.template for own in same if own.template != plainest.template)
        alike = tuple(dict.fromkeys(template.rpartition("[")[0] for template in others))
        found.append(Line(plainest.text, alike, sum(own.margin for own in same)))
    return sorted(found, key=lambda line: -abs(line.margin))
