"""The sections of a report, as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from perceptron_nlp.analysis.report import svg
from perceptron_nlp.analysis.report.charts import Chart, Grid
from perceptron_nlp.analysis.report.judging import Judged, Share, WorstSentence
from perceptron_nlp.analysis.report.markup import (
    bar,
    between,
    paragraph,
    percent,
    safe,
    table,
    word,
)
from perceptron_nlp.tagger.evaluation import Evaluation
from perceptron_nlp.tagger.explain.render import word_fragment

_LABELS, _MOST_LABELS = 40, 1000
_PAIRS = 20
_MOST_WORDS = 200
_MOST_EPOCHS = 400
_SHORT_LABEL = 24

Charts = Mapping[str, Chart | Grid]


def column(judged: Judged, charts: Charts, number: int) -> str:
    """All of one column."""
    result = judged.evaluation
    # Sets of features need the whole width.
    has_room = max((len(label) for label in result.labels), default=0) <= _SHORT_LABEL
    parts = [
        f'<section id="column-{number}" aria-labelledby="heading-{number}">',
        f'<h2 id="heading-{number}">Column {word(result.column)}</h2>',
        tiles(judged),
        *unusual(result),
        pictures(charts),
        *missing(judged),
        *epochs(judged),
        f'<div class="{"pair" if has_room else "one"}"><div>',
        "<h3>By label</h3>",
        labels(result),
        "</div><div>",
        "<h3>Commonest mistakes</h3>",
        pairs(result),
        "</div></div>",
    ]
    if result.spans is not None:
        parts += ["<h3>Spans</h3>", spans(judged)]
    if isinstance(grid := charts.get("confusion"), Grid):
        parts += ["<h3>Gold labels and labels given</h3>", matrix(grid)]
    parts += [
        '<div class="pair"><div>',
        "<h3>Known and unknown words</h3>",
        shares(
            "Words right, by whether they were in the training text",
            "words",
            [judged.accuracy, judged.known, judged.unknown],
        ),
        "</div><div>",
        "<h3>By length of sentence</h3>",
        shares("Words right, by words in their sentence", "length", judged.lengths),
        "</div></div>",
    ]
    if result.calibration is not None:
        parts += ["<h3>Confidences</h3>", reliability(result)]
    parts += ["<h3>Sentences with the most mistakes</h3>", worst(judged.worst), "</section>"]
    return "\n".join(parts)


def tiles(judged: Judged) -> str:
    """The figures that are asked for first."""
    result = judged.evaluation
    shown = [
        ("words right", percent(result.accuracy), _within(judged.accuracy)),
        ("known words right", percent(result.known_accuracy), f"of {result.known_tokens:,}"),
        (
            "unknown words right",
            percent(result.unknown_accuracy),
            f"of {result.tokens - result.known_tokens:,}",
        ),
        ("sentences right", percent(result.sentence_accuracy), f"of {result.sentences:,}"),
    ]
    if result.spans is not None:
        bounds = judged.f1_interval
        shown.insert(
            0,
            (
                "F1 of spans",
                f"{100 * result.spans.f1:.2f}",
                "" if bounds is None else f"95 %: {100 * bounds[0]:.2f} to {100 * bounds[1]:.2f}",
            ),
        )
    if result.calibration is not None:
        shown.append(("calibration error", f"{result.calibration.ece:.4f}", "0 is best"))
    shown.append(
        (
            "words a second",
            f"{judged.words_per_second:,.0f}",
            f"in this run, {_counted(judged.threads, 'thread')}, {judged.tagged_words:,} words",
        )
    )
    return (
        '<dl class="tiles">'
        + "".join(
            f"<div><dt>{safe(name)}</dt><dd>{safe(figure)}</dd><dd>{safe(note)}</dd></div>"
            for name, figure, note in shown
        )
        + "</dl>"
    )


def _within(share: Share) -> str:
    bounds = "" if share.interval is None else f"; 95 %: {between(share.interval)}"
    return f"of {share.words:,}{bounds}"


def _counted(count: int, name: str) -> str:
    return f"{count:,} {name}{'' if count == 1 else 's'}"


def unusual(result: Evaluation) -> Iterable[str]:
    """What one must know of the text."""
    if result.unlabelled:
        yield paragraph(f"{_counted(result.unlabelled, 'word')} without a gold label left out.")
    if result.untrained:
        named = ", ".join(sorted(result.untrained)[:_PAIRS])
        yield paragraph(
            f"{_counted(result.untrained.total(), 'word')} with labels that were"
            f" never trained, so that none can be right: {named}."
        )


def missing(judged: Judged) -> Iterable[str]:
    """Why charts are left out."""
    if not judged.epochs:
        yield paragraph("No learning curve: the model's record has no epochs.")
    if judged.evaluation.calibration is None:
        yield paragraph("No confidences: the model is not calibrated (perceptron-nlp calibrate).")


def epochs(judged: Judged) -> Iterable[str]:
    """The learning curve as a table, closed until it is asked for."""
    if not judged.epochs:
        return
    rows = []
    for epoch in judged.epochs[:_MOST_EPOCHS]:
        mistakes, words = epoch.get("mistakes"), judged.train_words
        rows.append(
            [
                safe(str(epoch.get("epoch", "–"))),
                safe(str(epoch.get("run", 1))),
                percent(1 - mistakes / words if words and mistakes is not None else None),
                percent(epoch.get("dev_accuracy")),
            ]
        )
    yield (
        "<details><summary>Learning curve as a table</summary>"
        + table(
            "Words right in each epoch of training",
            ["epoch", "run", "training text", "dev set"],
            rows,
        )
        + "</details>"
    )


def pictures(charts: Charts) -> str:
    """The charts side by side; the matrix is a table further on."""
    return (
        '<div class="charts">'
        + "\n".join(
            f"<figure><h3>{safe(chart.title)}</h3>{svg.drawn(chart)}</figure>"
            for chart in charts.values()
            if not isinstance(chart, Grid)
        )
        + "</div>"
    )


def labels(result: Evaluation) -> str:
    """Precision, recall and F1 of each label, the most frequent first."""
    rows = [
        [
            word(name),
            f"{100 * score.precision:.2f}",
            f"{100 * score.recall:.2f}",
            f"{100 * score.f1:.2f}{bar(score.f1)}",
            f"{score.support:,}",
        ]
        for name, score in sorted(
            result.labels.items(), key=lambda item: (-item[1].support, item[0])
        )
    ]
    head = ["label", "precision", "recall", "F1", "words"]
    caption = "Words by label, percent; the most frequent labels first"
    if len(rows) <= _LABELS + 5:
        return table(caption, head, rows)
    left = rows[_LABELS : _LABELS + _MOST_LABELS]
    beyond = len(rows) - _LABELS - len(left)
    more = (
        f"<details><summary>{len(left):,} more labels</summary>"
        + table("Words by label, the rest", head, left)
        + "</details>"
    )
    return (
        table(caption, head, rows[:_LABELS])
        + more
        + (paragraph(f"And {beyond:,} more, which the page's JSON has.") if beyond else "")
    )


def pairs(result: Evaluation) -> str:
    """The pairs of labels that are confused most."""
    wrong = sorted(
        (-count, gold, given)
        for (gold, given), count in result.confusion.items()
        if gold != given and count
    )
    if not wrong:
        return paragraph("There are none.")
    total = result.tokens - result.correct
    return table(
        f"The most confused of {_counted(len(wrong), 'pair')}",
        ["gold", "given", "words", "of mistakes"],
        [
            [word(gold), word(given), f"{-count:,}", percent(-count / total, 1)]
            for count, gold, given in wrong[:_PAIRS]
        ],
    )


def spans(judged: Judged) -> str:
    """Precision, recall and F1 of each type of span."""
    scores = judged.evaluation.spans
    assert scores is not None
    found = scores.to_dict()
    rows = [["all", *_figures({**found, "support": scores.gold.total()})]]
    rows += [[word(kind), *_figures(part)] for kind, part in found["spans"].items()]
    return table(
        "Spans by type, percent; right if type and both ends are",
        ["type", "precision", "recall", "F1", "spans"],
        rows,
    )


def _figures(part: Mapping[str, float]) -> list[str]:
    return [
        f"{100 * part['precision']:.2f}",
        f"{100 * part['recall']:.2f}",
        f"{100 * part['f1']:.2f}{bar(part['f1'])}",
        f"{part['support']:,}",
    ]


def matrix(grid: Grid) -> str:
    """Every pair of labels; squares are shaded, and numbers say the same."""
    head = "".join(f'<th scope="col">{word(name)}</th>' for name in grid.names)
    rows = []
    for i, name in enumerate(grid.names):
        cells = "".join(_cell(grid, i, j, count) for j, count in enumerate(grid.counts[i]))
        rows.append(f'<tr><th scope="row">{word(name)}</th>{cells}</tr>')
    caption = "Words by gold label (rows) and label given (columns); outlined squares are right"
    return (
        f'<div class="wide" role="region" aria-label="{caption}" tabindex="0">'
        f'<table class="matrix"><caption><span>{caption}</span></caption>\n'
        f"<thead><tr><td></td>{head}</tr></thead>\n<tbody>"
        + "\n".join(rows)
        + "</tbody></table></div>"
    )


def _cell(grid: Grid, i: int, j: int, count: int) -> str:
    kind = ' class="hit"' if i == j else ""
    if not count:
        return f'<td{kind}><span class="none">·</span></td>'
    return f'<td{kind}><i style="opacity:{0.6 * grid.strength(i, j):.2f}"></i>{count:,}</td>'


def shares(caption: str, of: str, found: Sequence[Share]) -> str:
    """Shares with their intervals."""
    return table(
        caption,
        [of, "right", "95 % interval", "words"],
        [
            [safe(part.name), percent(part.share), between(part.interval), f"{part.words:,}"]
            for part in found
        ],
    )


def reliability(result: Evaluation) -> str:
    """The bins of confidence that have words."""
    found = result.calibration
    assert found is not None
    return (
        f"<p>Calibration error {found.ece:.4f}: the mean, over all words, of how far the mean"
        " confidence of a word&#x27;s bin is from the share of its words that are right.</p>"
        + table(
            "Words by confidence",
            ["confidence", "mean", "right", "words"],
            [
                [
                    f"{part.low:.3f}–{part.high:.3f}",
                    percent(part.confidence),
                    percent(part.accuracy),
                    f"{part.count:,}",
                ]
                for part in found.bins
                if part.count
            ],
        )
    )


def worst(found: Sequence[WorstSentence]) -> str:
    """Sentences with their mistakes, and what spoke for the label given over the gold one."""
    if not found:
        return paragraph("Every word is right.")
    about = (
        "<p>Wrong words are marked with the label <s>given</s> and the gold one. Open a word"
        " to see what its features add to the margin between the two: <b>+</b> speaks for the"
        " label given, <b>−</b> for the gold one.</p>"
    )
    return about + '<ol class="worst">' + "\n".join(map(_sentence, found)) + "</ol>"


def _given(label: str) -> str:
    """A wrong label; what strikes it through for the eye is said to readers aloud."""
    return f'<s>{word(label)}</s><span class="aloud"> given, gold is</span>'


def _sentence(found: WorstSentence) -> str:
    wrong = set(found.wrong)
    place = f"{found.path}:{found.line}" if found.line else found.path
    shown = " ".join(
        f"<mark>{word(form)} <small>{_given(given)} {word(gold or '')}</small></mark>"
        if i in wrong
        else word(form)
        for i, (form, gold, given) in enumerate(
            zip(found.words[:_MOST_WORDS], found.gold, found.given, strict=False)
        )
    )
    cut = " …" if len(found.words) > _MOST_WORDS else ""
    left = len(wrong) - len(found.why)
    return (
        f"<li><h4>{safe(place)}: {len(wrong):,} of {_counted(len(found.words), 'word')}"
        f" wrong</h4><p>{shown}{cut}</p>"
        '<div class="why">'
        + "\n".join(word_fragment(why, top=None) for why in found.why.values())
        + "</div>"
        + (paragraph(f"{left:,} more wrong words are not explained.") if left else "")
        + "</li>"
    )
