"""One page of HTML that tells how good a tagger is, and the pictures of it as files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from perceptron_nlp._version import __version__
from perceptron_nlp.analysis.compare.significance import RESAMPLES
from perceptron_nlp.analysis.report import png, svg
from perceptron_nlp.analysis.report.charts import Chart, Grid
from perceptron_nlp.analysis.report.diagrams import diagrams
from perceptron_nlp.analysis.report.folder import GENERATOR, PAGE, check_folder, write_folder
from perceptron_nlp.analysis.report.judging import FEWEST, Judged, judge
from perceptron_nlp.analysis.report.markup import data_block, paragraph, safe, word
from perceptron_nlp.analysis.report.sections import column as column_section
from perceptron_nlp.errors import ArgumentTypeError
from perceptron_nlp.tagger.evaluation import Evaluation
from perceptron_nlp.tagger.explain.render import STYLE as WHY_STYLE
from perceptron_nlp.tagger.tag.threads import check_threads
from perceptron_nlp.tagger.tagger import Tagger
from perceptron_nlp.tagger.train.sources import Labelled, Source

DATA = "figures"


@dataclass(frozen=True, slots=True)
class Report:
    """A report that was written.

    Attributes
    ----------
    page : the page, which needs nothing beside itself
    pictures : the charts as files
    evaluations : by column, what the page tells; with calibration where the model is calibrated
    has_png : whether matplotlib was there to draw PNGs, too
    """

    page: Path
    pictures: tuple[Path, ...]
    evaluations: dict[str, Evaluation]
    has_png: bool


def report(
    tagger: Tagger,
    data: Labelled,
    folder: str | os.PathLike[str],
    *,
    column: str | None = None,
    format: str = "auto",
    fields: Sequence[str] | None = None,
    threads: int = 1,
    title: str = "How good the tagger is",
) -> Report:
    """Compare a tagger's labels with gold ones, and write a page about it.

    Intervals are the middle 95 % of 1,000 bootstrap samples of sentences (see
    analysis/compare/significance.py). The page is the same on each run but for the speed, which is
    measured.

    Parameters
    ----------
    tagger : the tagger
    data : labelled text, as for ``Tagger.evaluate``
    folder : where ``index.html`` and the pictures go; it is made if need be. One with an earlier
        report gets the new one in its place; one with other things in it is left alone
    column : as for ``Tagger.evaluate``; None for all that the tagger fills, each in a section
    format, fields : see ``perceptron_nlp.open_corpus``
    threads : 1 to 1,024 that tag
    title : the page's heading

    Raises
    ------
    FileError : the folder is a file, or holds other things than a report, or cannot be written
    FileError, FormatError, ArgumentError : as Tagger.evaluate does
    """
    if not isinstance(tagger, Tagger):
        raise ArgumentTypeError(f"tagger: a Tagger is needed, not {type(tagger).__name__}")
    if not isinstance(title, str):
        raise ArgumentTypeError(f"title: a str is needed, not {type(title).__name__}")
    check_threads(threads)
    place = check_folder(folder)
    source = Source(data, "data", format=format, fields=fields)
    source.hold()
    columns = tagger.columns if column is None else (source.column_named(column),)
    judged = [judge(tagger, source, name, threads) for name in columns]
    charts = [diagrams(one) for one in judged]
    files = {PAGE: page(tagger, judged, charts, title, source.place)}
    has_png = png.is_possible()
    for number, found in enumerate(charts, 1):
        # A number tells the columns apart, whose names may hold what a file's cannot.
        suffix = f"-{number}" if len(charts) > 1 else ""
        for name, chart in found.items():
            files[f"{name}{suffix}.svg"] = svg.file(chart)
            if has_png:
                files[f"{name}{suffix}.png"] = png.file(chart)
    write_folder(place, files)
    return Report(
        place / PAGE,
        tuple(place / name for name in files if name != PAGE),
        {one.evaluation.column: one.evaluation for one in judged},
        has_png,
    )


def page(
    tagger: Tagger,
    judged: Sequence[Judged],
    charts: Sequence[dict[str, Chart | Grid]],
    title: str,
    place: str,
) -> bytes:
    """The page as UTF-8.

    Parameters
    ----------
    tagger : whose labels were judged
    judged, charts : of each column
    title : the heading
    place : what the gold text is called
    """
    size = len(tagger.to_bytes())
    about = [
        paragraph(
            f"Compared with {place}. The model has {size:,} bytes. Intervals are the"
            f" middle 95 % of {RESAMPLES:,} bootstrap samples of sentences, where there"
            f" are {FEWEST} or more."
        )
    ]
    if len(judged) > 1:
        links = "".join(
            f'<li><a href="#column-{k}">{word(one.evaluation.column)}</a></li>'
            for k, one in enumerate(judged, 1)
        )
        about.append(f'<nav aria-label="Columns"><ul>{links}</ul></nav>')
    data: dict[str, Any] = {
        "version": __version__,
        "model_bytes": size,
        "columns": [one.to_dict() for one in judged],
    }
    return (
        Template(_read("page.html"))
        .substitute(
            generator=f"{GENERATOR} {__version__}",
            title=safe(title),
            style=_read("page.css") + svg.STYLE + WHY_STYLE,
            about="\n".join(about),
            body="\n".join(
                column_section(one, found, k)
                for k, (one, found) in enumerate(zip(judged, charts, strict=True), 1)
            ),
            foot=paragraph(
                f"Written by perceptron_nlp {__version__}. All figures are in this page as"
                f" JSON, in the element with the id “{DATA}”."
            ),
            data=data_block(DATA, data),
        )
        .encode("utf-8", "replace")
    )


def _read(name: str) -> str:
    return resources.files("perceptron_nlp.analysis.report").joinpath(name).read_text("utf-8")
