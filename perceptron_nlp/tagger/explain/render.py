"""Explanations as text for a terminal, and as HTML: a page, and pieces for other pages.

The HTML needs no script and no network, and says nothing by color alone: what speaks for a label
has a plus sign and a bar to the right, what speaks against it a minus sign and a bar to the left.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeAlias

from perceptron_nlp._display import printable
from perceptron_nlp.tagger.explain.forward_trace import WeighedFeature

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


# Blue and orange are told apart by all, and both are clear of the grounds that they stand on.
STYLE = """\
.why{--ink:#1b1b1b;--soft:#595959;--line:#d0d0d0;--for:#0068a8;--against:#b35300;
color:var(--ink);font:1rem/1.45 system-ui,sans-serif}
@media(prefers-color-scheme:dark){.why{--ink:#ececec;--soft:#b0b0b0;--line:#4a4a4a;--for:#5cb4f0;
--against:#f0a04b}}
.why details{border-bottom:1px solid var(--line)}
.why summary{cursor:pointer;padding:.35rem 0;overflow-wrap:anywhere}
.why summary b{margin-right:.5rem}
.why small,.why summary span{color:var(--soft)}
.why table{border-collapse:collapse;width:100%;table-layout:fixed;margin:.2rem 0 .8rem}
.why th{font-weight:normal;text-align:left;overflow-wrap:anywhere;padding:.1rem .5rem .1rem 0}
.why td{text-align:right;width:4.5rem;font-variant-numeric:tabular-nums}
.why td+td{width:28%;padding-left:.6rem}
.why svg{display:block;width:100%;height:.7rem}
.why .for{fill:var(--for)}.why .against{fill:var(--against)}.why line{stroke:var(--line)}
"""
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})
_PAGE = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><title>{title}</title>
<style>
:root{{color-scheme:light dark}}
body{{max-width:48rem;margin:1.5rem auto;padding:0 1rem;background:#fff}}
@media(prefers-color-scheme:dark){{body{{background:#161616}}}}
h1{{font-size:1.3rem}}h2{{font-size:1.05rem;margin-top:2rem;overflow-wrap:anywhere}}
{style}</style></head>
<body class="why"><h1>{title}</h1>
<p>A word, its label and score, the runner-up and its score. Open a word to see what its features
add to the margin between the two: <b>+</b> speaks for the label, <b>−</b> for the runner-up.</p>
{body}
</body></html>
"""


def page(explanations: Iterable[Sequence[ExplainedWord]], *, top: int | None, title: str) -> str:
    """A page with the explanations of some sentences; see Explanation.to_html."""
    body = "\n".join(
        f"<h2>{_safe(' '.join(word.word for word in explanation))}</h2>\n"
        + fragment(explanation, top=top)
        for explanation in explanations
    )
    return _PAGE.format(title=_safe(title), style=STYLE, body=body)


def fragment(explanation: Sequence[ExplainedWord], *, top: int | None) -> str:
    """The words of a sentence, for a page that has STYLE, inside an element of class ``why``."""
    return "\n".join(word_fragment(word, top=top) for word in explanation)


def word_fragment(word: ExplainedWord, *, top: int | None) -> str:
    """One word, closed until it is clicked; see fragment."""
    features, rest = word.heaviest(top if word.top is None else word.top)
    shown = [*features, *filter(None, [rest])]
    # The sum of many features would dwarf each of those that are shown.
    widest = max((abs(feature.margin) for feature in features), default=0.0)
    rows = "\n".join(_row(feature, 0.0 if feature is rest else widest) for feature in shown)
    return (
        f"<details><summary><b>{_safe(word.word)}</b> {_safe(verdict(word))}</summary>\n"
        f"<small>{_safe(remarks(word))}</small>\n<table>{rows}</table></details>"
    )


def _row(feature: WeighedFeature, widest: float) -> str:
    share = 50 * abs(feature.margin) / widest if widest else 0.0
    kind, left = ("for", 50.0) if feature.margin >= 0 else ("against", 50 - share)
    return (
        f'<tr><th scope="row">{_safe(told(feature))}</th>'
        f"<td>{signed(feature.margin).replace('-', '−')}</td>"
        '<td><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="{kind}" x="{left:.2f}" width="{share:.2f}" height="10"/>'
        '<line x1="50" x2="50" y2="10"/></svg></td></tr>'
    )


def _safe(text: str) -> str:
    return printable(text).translate(_ESCAPED)
