"""Lists of templates: files, and the presets that come with the library."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from perceptron_nlp._checks import did_you_mean
from perceptron_nlp.errors import FormatError, TemplateError, quote
from perceptron_nlp.features.templates import Template, check_templates
from perceptron_nlp.formats import read_file_bytes

if TYPE_CHECKING:
    from pathlib import Path


def read_templates(path: str | os.PathLike[str]) -> tuple[Template, ...]:
    """Return the templates in a file: one on each line; empty lines and ``#`` lines do not count.

    Raises
    ------
    FileError : the file is missing, a folder, or cannot be read
    FormatError : it is not UTF-8; the message names the line
    TemplateError : a line is no template, with file and line, or there is none at all
    """
    name = os.fspath(path)
    data = read_file_bytes(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        raise FormatError(
            f"byte 0x{data[error.start]:02x} is not valid UTF-8; a template list is text",
            name,
            line,
        ) from None
    return parse_templates(text, name)


def parse_templates(text: str, name: str = "templates") -> tuple[Template, ...]:
    """Return a list of templates, one a line, of a text that messages call by its name.

    Raises TemplateError, with ``name:line``; also if a template stands twice, or there is none.
    """
    found: dict[Template, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            template = Template.parse(line)
        except TemplateError as error:
            raise TemplateError(f"{name}:{number}: {error}") from None
        if template in found:
            raise TemplateError(
                f"{name}:{number}: {quote(str(template))} stands in line {found[template]} already"
            )
        found[template] = number
    return check_templates(found, name)


def preset_names() -> list[str]:
    """Return the names of the presets, in alphabetical order."""
    folder = _presets()
    return sorted(
        item.name.removesuffix(".txt") for item in folder.iterdir() if item.name.endswith(".txt")
    )


def preset(name: str, columns: Sequence[str] = ()) -> tuple[Template, ...]:
    """Return a preset, a template list that comes with the library.

    Parameters
    ----------
    name : one of preset_names()
    columns : feature columns; each gets the templates of
        ``presets/COLUMN.template``, or if there is none ``NAME.template``, or if there is
        none ``columns.template``, with its name put in

    Raises
    ------
    TemplateError : no list has that name; the message gives the nearest
    """
    names = preset_names()
    if name not in names:
        hint = did_you_mean(name, names) or f"; there are {', '.join(names)}"
        if "[" in name:
            hint = "; templates of your own are given as a list, or as a file"
        raise TemplateError(f"no template list is called {quote(name)}{hint}")
    folder = _presets()
    text = (folder / f"{name}.txt").read_text("utf-8")
    patterns = {
        item.name.removesuffix(".template"): item
        for item in folder.iterdir()
        if item.name.endswith(".template")
    }
    usual = patterns.get(name, patterns["columns"])
    for column in columns:
        own = usual if column in names else patterns.get(column, usual)
        text += own.read_text("utf-8").replace("NAME", column)
    return parse_templates(text, name)


def _presets() -> Path:
    # Here, since tagging does without. importlib.resources would bring in as much as NumPy does.
    from pathlib import Path

    return Path(__file__).with_name("presets")
