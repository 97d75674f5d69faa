"""A person's own template list, read from a file."""

from __future__ import annotations

import os

from perceptron_nlp.errors import FormatError
from perceptron_nlp.features.templates import Template, parse_templates
from perceptron_nlp.formats import read_file_bytes


def read_templates(path: str | os.PathLike[str]) -> tuple[Template, ...]:
    """The templates in a file: one on each line; empty lines and ``#`` lines do not count.

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
