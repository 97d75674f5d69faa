"""The report of a study: a page of HTML with its pictures (extra ``report``)."""

from __future__ import annotations

import os
from pathlib import Path

from perceptron_nlp.errors import FileError
from perceptron_nlp.formats.replace import replace_file
from perceptron_nlp.pages import environment, render
from perceptron_nlp.pages.drawing import inlined, plotting
from perceptron_nlp.perceptrons.study.experiments import Study
from perceptron_nlp.perceptrons.study.pictures import Picture, all_pictures

NAMES = {
    "L1": "binary perceptron (L1)",
    "L2": "multiclass perceptron (L2)",
    "L3": "strict maximum (L3)",
    "L4": "margin of 2 (L4)",
    "O2": "shuffled before every epoch (O2)",
}
"""Names of the codes of docs/perceptron-family.md."""

PAGE = "study.html"


def check_libraries() -> None:
    """Raise MissingExtraError unless the libraries of the extra ``report`` are installed."""
    environment()
    plotting()


def report(study: Study, pictures: dict[str, Picture]) -> bytes:
    """Return the page, which loads nothing from anywhere, in UTF-8."""
    return render(
        "study.html",
        title=f"The perceptron family on {study.corpus.name}",
        study=study,
        names=NAMES,
        drawn=lambda name: _drawn(name, pictures[name]),
    ).encode("utf-8", "replace")


def _drawn(name: str, picture: Picture) -> list[tuple[str, str]]:
    """Return the panels of a picture: titles, and elements of a page."""
    return [
        (title, inlined(file, f"{name}-{number}", alt))
        for number, (title, alt, file) in enumerate(picture.panels)
    ]


def write_report(study: Study, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the page and the pictures to a folder, and return the files, the page first."""
    pictures = all_pictures(study)
    page = report(study, pictures)
    place = made_folder(folder)
    contents = {PAGE: page} | {f"{name}.png": one.png for name, one in pictures.items()}
    for name, content in contents.items():
        replace_file(place / name, content)
    return [place / name for name in contents]


def made_folder(folder: str | os.PathLike[str]) -> Path:
    """The folder, which is made if need be."""
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{place}: cannot be made a folder: {reason}") from error
    if not os.access(place, os.W_OK):
        raise FileError(f"{place}: cannot be written to")
    return place
