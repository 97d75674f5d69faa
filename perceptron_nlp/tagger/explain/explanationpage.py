"""Explanations as HTML: a page of its own, and the pieces that other pages take in.

No script, no network, nothing by colour alone: what speaks for a label has a plus sign and a bar to
the right, what speaks against it a minus sign and a bar to the left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from perceptron_nlp._display import printable
from perceptron_nlp.tagger.explain.explanationtext import (
    ExplainedWord,
    remarks,
    signed,
    told,
    verdict,
)
from perceptron_nlp.tagger.explain.reading import WeighedFeature

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
