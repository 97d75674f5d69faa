"""The report of a study: a page of HTML with results in words, tables and pictures.

The pictures are files, too.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from perceptron_nlp._display import percent, points
from perceptron_nlp.errors import FileError
from perceptron_nlp.formats.replace import replace_file
from perceptron_nlp.pages.drawing import inlined, plotting
from perceptron_nlp.pages.rendering import environment, render
from perceptron_nlp.perceptrons.study.costs import KEEPERS, VARIABLES, Curve
from perceptron_nlp.perceptrons.study.experiments import Study
from perceptron_nlp.perceptrons.study.pictures import Picture, all_pictures

Rows = list[list[str]]


@dataclass(frozen=True)
class Table:
    """A table whose first column names its rows."""

    caption: str
    head: tuple[str, ...]
    rows: Rows


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Attributes
    ----------
    title : its heading
    paragraphs : text at its beginning
    picture : None, or the name of its picture
    alt : a text for readers who do not see the picture
    tables : after the picture
    remarks : at the end, in small print
    """

    title: str
    paragraphs: tuple[str, ...]
    picture: str | None = None
    alt: str = ""
    tables: tuple[Table, ...] = ()
    remarks: tuple[str, ...] = ()


def sections(study: Study) -> list[Section]:
    """Return all sections in their order."""
    separable, planes = _plane(study)
    return [
        _corpus(study),
        _curves(study),
        _comparison(study),
        _orders(study),
        _margins(study),
        _agreement(study),
        separable,
        planes,
        _growth(study),
    ]


def _corpus(study: Study) -> Section:
    corpus = study.corpus
    sizes = [
        [name, f"{part.sentences:,}", f"{len(part):,}", f"{len(set(part.y.tolist())):,}"]
        for name, part in (("train", corpus.train), ("dev", corpus.dev))
    ]
    return Section(
        "The corpus",
        (
            f"The column {corpus.column} is learned, each token by itself, from"
            f" {corpus.train.X.shape[1]:,} features: the word, its neighbors, their last letters,"
            " its first letter and its shape. No feature is a tag, so these are accuracies of bare"
            " classifiers, below those of a tagger.",
        ),
        tables=(
            Table("The parts of the corpus", ("part", "sentences", "tokens", "labels"), sizes),
        ),
        remarks=(f"How the parts were made: {'; '.join(corpus.notes)}.",),
    )


def _curves(study: Study) -> Section:
    found = study.curves
    last, voted, averaged = (found.dev[name][-1] for name in ("last", "voted", "averaged"))
    rows = [
        [name, *(percent(outputs[output]) for output in ("last", "voted", "averaged"))]
        for name, outputs in study.learners.items()
    ]
    return Section(
        "Last, voted and averaged weights",
        (
            f"One training of {found.epochs} epochs (L2, order O2), three ways to use it. On dev"
            f" the last weights end at {percent(last)}, the vote of all vectors at"
            f" {percent(voted)}, their average at {percent(averaged)}.",
        ),
        "learning-curves",
        "Accuracy on dev over the epochs for last, voted and averaged weights, and mistakes in"
        " training over the epochs",
        (
            Table(
                "Accuracy on dev of all learners after 5 epochs; L4 requires a margin of 2",
                ("learner", "last", "voted", "averaged"),
                rows,
            ),
        ),
    )


def _comparison(study: Study) -> Section:
    found = study.comparison
    rows = [
        [name, f"{1000 * each.seconds:.1f} ms", percent(each.accuracy)]
        for name, each in (("standard", found.standard), ("averaged", found.averaged))
    ]
    gain = found.averaged.accuracy - found.standard.accuracy
    return Section(
        "Standard against averaged",
        (
            f"Training for {found.epochs} epochs, the fastest of {found.repeats} in turn, in"
            f" processor time: the average takes {points(found.more_time, sign=True)} % time and"
            f" changes accuracy by {points(gain, sign=True)} points. In Johansson's lecture it was"
            " 3.4 s to 3.6 s (+6 %), .809 to .829.",
        ),
        tables=(Table("Time and accuracy on dev", ("weights", "time", "accuracy"), rows),),
        remarks=(
            "On a small corpus most of what the average adds is its one pass over all weights at"
            " the end, which is the same after any number of epochs.",
        ),
    )


def _orders(study: Study) -> Section:
    found = study.orders
    rows = [
        [
            output,
            percent(found.mean(output)),
            points(found.deviation(output)),
            percent(min(accuracies)),
            percent(max(accuracies)),
        ]
        for output, accuracies in found.dev.items()
    ]
    return Section(
        "The order of the examples",
        (
            f"{found.orders} trainings that differ in nothing but the order. The last weights"
            " depend on which examples happened to come last: their accuracy deviates by"
            f" {points(found.deviation('last'))} points, that of the average by"
            f" {points(found.deviation('averaged'))}.",
        ),
        "order-spread",
        "Accuracy on dev of each order, a point each, for last, voted and averaged weights",
        (
            Table(
                "Accuracy on dev over the orders",
                ("weights", "mean", "standard deviation, points", "lowest", "highest"),
                rows,
            ),
        ),
    )


def _margins(study: Study) -> Section:
    found = study.margins
    rows = [
        [f"{b:g}", *(percent(found.dev[output][number]) for output in ("last", "averaged"))]
        for number, b in enumerate(found.wanted)
    ]
    return Section(
        "Margins",
        (
            "Left: the lead of the gold label on each token of dev (below 0 it is wrong), in units"
            " of the weights' length. Right: training that corrects narrow answers, too,"
            f" {found.epochs} epochs each.",
        ),
        "margins",
        "Distribution of the lead of the gold label on dev; accuracy on dev over the margin"
        " required in training",
        (Table("Accuracy on dev by margin", ("margin b", "last", "averaged"), rows),),
    )


def _agreement(study: Study) -> Section:
    found = study.agreements
    rows = [
        [
            f"{each.learner}, {each.order}",
            f"{each.last:.1g}",
            f"{each.averaged:.1g}",
            f"{each.voted} of {each.words}",
        ]
        for each in found
    ]
    return Section(
        "Fast and textbook",
        (
            "The figures above are of the fast classifier. On the first"
            f" {found[0].words} tokens it was compared with the textbook's learners. Weights of"
            " these data are whole numbers, so the last ones should be equal without any"
            " difference, averages equal to rounding, and votes in every prediction. Found: last"
            f" weights differ by at most {max(each.last for each in found):.1g}, averages by at"
            f" most {max(each.averaged for each in found):.1g}, and"
            f" {sum(each.voted for each in found)} votes.",
        ),
        tables=(
            Table(
                "The greatest difference of a weight, and predictions that differ",
                ("learner, order", "last", "averaged", "votes that differ"),
                rows,
            ),
        ),
    )


def _plane(study: Study) -> tuple[Section, Section]:
    separable, inseparable = study.clouds
    rows = [
        [
            name,
            f"{len(cloud.mistakes)}",
            f"{sum(cloud.mistakes):,}",
            "–" if cloud.bound is None else f"{cloud.bound:.0f}",
            cloud.halted_by,
            percent(cloud.accuracy(cloud.last)),
            percent(cloud.accuracy(cloud.average)),
        ]
        for name, cloud in (("separable", separable), ("inseparable", inseparable))
    ]
    steps = Section(
        "Seven steps in the plane",
        (
            "Jenkins' example, as the textbook's L1 walks it: mistakes at the 2nd, 4th and 7th"
            " example, then five examples without one.",
        ),
        "seven-steps",
        "Four panels, one for each weight vector, with the five points, the line of the vector and"
        " the point that it gets wrong",
    )
    clouds = Section(
        "Separable and inseparable",
        (
            "Points that a line separates, and the same points with every tenth label turned. On"
            " the first, mistakes are at most (R/γ)² and training halts by itself; on the second it"
            " goes round until the limit.",
        ),
        "separable",
        "Separable and inseparable points with the lines of the last and the average weights, and"
        " the mistakes in each epoch",
        (
            Table(
                "Training on both, and the accuracy of the last and the average weights",
                ("points", "epochs", "mistakes", "(R/γ)²", "halted by", "last", "average"),
                rows,
            ),
        ),
    )
    return steps, clouds


def _growth(study: Study) -> Section:
    return Section(
        "The cost of keeping weights",
        (
            "Huang's table, measured. Each row runs on streams of updates in which d features, D"
            " examples (here T·D, over all epochs) or U updates double three times. Numbers are"
            " fitted powers, the stated ones in brackets. Scoring is left out: it is the same for"
            " all rows. Where the table has d or U in a formula, the power is that of the cost that"
            " d or U adds to the cost of the smallest stream.",
        ),
        "cost-growth",
        "Array elements worked on and bytes kept over d, D and U for each row of the table",
        tuple(
            Table(caption, ("row", "stated", *VARIABLES), power_rows(study.growth, quantity))
            for quantity, caption in (
                ("elements", "Time, in array elements worked on"),
                ("seconds", "Time, in processor seconds"),
                ("bytes", "Space, in bytes at the peak"),
            )
        ),
    )


def power_rows(curves: list[Curve], quantity: str) -> Rows:
    """Return, for each way to keep weights, its name, the stated formula, and fitted powers.

    Powers are in d, D and U, each as ``fitted (stated)``.
    """
    rows = []
    for keeper in KEEPERS:
        own = [c for c in curves if c.keeper is keeper and c.quantity == quantity]
        if own:
            growth = keeper.space if quantity == "bytes" else keeper.time
            # A power of -0.00 would read as a finding.
            powers = [f"{round(c.power, 2) + 0.0:.2f} ({c.stated})" for c in own]
            rows.append([f"{keeper.ids} {keeper.name}", f"O({growth.formula})", *powers])
    return rows


PAGE = "study.html"


def check_libraries() -> None:
    """Raise MissingExtraError unless the libraries of the extra ``report`` are installed."""
    environment()
    plotting()


def report(study: Study, pictures: dict[str, Picture]) -> bytes:
    """Return the page, which loads nothing from anywhere, in UTF-8."""
    views = [
        {
            "title": section.title,
            "paragraphs": section.paragraphs,
            "picture": None
            if section.picture is None
            else inlined(pictures[section.picture].svg, section.picture, section.alt),
            "tables": section.tables,
            "remarks": section.remarks,
        }
        for section in sections(study)
    ]
    return render(
        "study.html",
        title=f"The perceptron family on {study.corpus.name}",
        sections=views,
        seconds=study.seconds,
    ).encode("utf-8", "replace")


def write_report(study: Study, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the page and the pictures to a folder, which is made if need be.

    Returns
    -------
    list[Path] : the files, the page first

    Raises
    ------
    MissingExtraError : Jinja2 or matplotlib is not installed
    FileError : the folder cannot be made or written to
    """
    pictures = all_pictures(study)
    page = report(study, pictures)
    place = made_folder(folder)
    contents = {PAGE: page} | {f"{name}.png": one.png for name, one in pictures.items()}
    for name, content in contents.items():
        replace_file(place / name, content)
    return [place / name for name in contents]


def made_folder(folder: str | os.PathLike[str]) -> Path:
    """The folder, which is made if need be.

    Raises
    ------
    FileError
        when it cannot be
    """
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{place}: cannot be made a folder: {reason}") from error
    if not os.access(place, os.W_OK):
        raise FileError(f"{place}: cannot be written to")
    return place
