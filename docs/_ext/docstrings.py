"""Docstrings as this project writes them, turned into the field lists that Sphinx lays out.

They have numpy's sections, but after a name and a colon stands what it means, not its type, which
the annotations tell::

    Parameters
    ----------
    train : a path, several paths, or labelled sentences
"""

from __future__ import annotations

import re
from typing import Any

FIELDS = {"Parameters": "param", "Attributes": "attribute", "Raises": "raises"}
UNDERLINE = re.compile(r"-{3,}\s*")
ENTRY = re.compile(r"(?P<names>[*\w][\w*.…, ]*?) : (?P<text>.*)")


def sections(lines: list[str]) -> list[tuple[str, list[str]]]:
    """What stands before the first heading, under the name "", and each section."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for i, line in enumerate(lines):
        below = lines[i + 1] if i + 1 < len(lines) else ""
        if UNDERLINE.fullmatch(below) and line and len(below.strip()) == len(line.strip()):
            found.append((line.strip(), []))
        elif not (UNDERLINE.fullmatch(line) and found[-1][1] == [] and found[-1][0]):
            found[-1][1].append(line)
    return found


def entries(lines: list[str]) -> list[tuple[str, list[str]]]:
    """The names and the lines of text of each entry of a section."""
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        entry = ENTRY.fullmatch(line)
        if entry:
            found.append((entry["names"], [entry["text"]]))
        elif found and line.strip():
            found[-1][1].append(line.strip())
        elif line.strip():
            found.append(("", [line]))
    return found


def escaped(name: str) -> str:
    """A name whose stars are not markup."""
    return name.replace("*", "\\*")


def fields(kind: str, lines: list[str]) -> list[str]:
    """A section as a field list."""
    out: list[str] = []
    for names, text in entries(lines):
        if not names:
            out += ["", *text]
        elif kind == "attribute":
            out += [f"- ``{names}``: {text[0]}", *(f"  {more}" for more in text[1:])]
        else:
            out += [f":{kind} {escaped(names)}: {text[0]}", *(f"    {more}" for more in text[1:])]
    return out


def rewritten(lines: list[str]) -> list[str]:
    """A docstring in reStructuredText."""
    out: list[str] = []
    for title, body in sections(lines):
        if title in ("Parameters", "Raises"):
            out += ["", *fields(FIELDS[title], body), ""]
        elif title == "Attributes":
            out += ["", "**Attributes**", "", *fields("attribute", body), ""]
        elif title == "Returns":
            text = [line.strip() for line in body if line.strip()]
            out += ["", f":returns: {text[0]}", *(f"    {line}" for line in text[1:]), ""]
        elif title:
            out += ["", f"**{title}**", "", *body, ""]
        else:
            out += body
    return out


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Rewrite a docstring in place."""
    lines[:] = rewritten(lines)


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
