"""The report of a study: one page of HTML with its pictures within, and the pictures as files."""

from __future__ import annotations

import os
from pathlib import Path

from perceptron_nlp.errors import FileError
from perceptron_nlp.formats.replace import replace_file
from perceptron_nlp.pages.drawing import inlined, plotting
from perceptron_nlp.pages.rendering import environment, render
from perceptron_nlp.perceptrons.study.experiments import Study
from perceptron_nlp.perceptrons.study.pictures import Picture, all_pictures
from perceptron_nlp.perceptrons.study.sections import sections

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
