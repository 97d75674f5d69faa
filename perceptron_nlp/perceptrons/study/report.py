"""The report of a study: one HTML page with its pictures within, and the pictures as files."""

from __future__ import annotations

import os
from pathlib import Path

from perceptron_nlp._version import __version__
from perceptron_nlp.errors import FileError
from perceptron_nlp.formats.replace import replace_file
from perceptron_nlp.perceptrons.study import sections
from perceptron_nlp.perceptrons.study.experiments import Study
from perceptron_nlp.perceptrons.study.page import page, paragraph
from perceptron_nlp.perceptrons.study.pictures import all_pictures

PAGE = "study.html"


def report(study: Study, pictures: dict[str, bytes]) -> bytes:
    """The page, which loads nothing from anywhere."""
    return page(
        f"The perceptron family on {study.corpus.name}",
        [
            *sections.about(study),
            *sections.curves(study, pictures),
            *sections.comparison(study),
            *sections.orders(study, pictures),
            *sections.margins(study, pictures),
            *sections.agreement(study),
            *sections.plane(study, pictures),
            *sections.growth(study, pictures),
            paragraph(
                f"Measured in {study.seconds:.0f} s by perceptron_nlp {__version__}.", soft=True
            ),
        ],
    )


def write_report(study: Study, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the page and the pictures to a folder, which is made if need be.

    Returns
    -------
    the files, the page first

    Raises
    ------
    MissingExtraError
        when matplotlib is not installed
    FileError
        when the folder cannot be made or written to
    """
    pictures = all_pictures(study)
    place = made_folder(folder)
    contents = {PAGE: report(study, pictures)}
    contents |= {f"{name}.png": png for name, png in pictures.items()}
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
