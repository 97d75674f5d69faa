"""Docstrings as this project writes them, turned into the field lists that Sphinx lays out.

They have numpy's sections, but after a name and a colon stands what it means, not its type, which
the annotations tell::

    Parameters
    ----------
    train : a path, several paths, or labeled sentences
"""

from __future__ import annotations

import re
from typing import Any

UNDERLINE = re.compile(r"-{3,}\s*")
NAMES = re.compile(r"\*{0,2}\w+(, \*{0,2}\w+)*")
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
    is_new = True
    for line in lines:
        entry = ENTRY.fullmatch(line)
        if entry:
            found.append((entry["names"], [entry["text"]]))
        elif line.strip() and is_new and not line.startswith(" "):
            found.append(("", [line]))
        elif line.strip():
            found[-1][1].append(line.strip())
        is_new = not line.strip() or not found
    return found


def plain(text: str) -> str:
    """Text in which nothing is taken for a link: names that end in _, places such as file:line."""
    text = re.sub(r"(?<![`\w])(\w+_)(?![\w`])", r"``\1``", text)
    return text.replace("file:line", r"file\:line")


def name_of(names: str) -> str:
    """The names of an entry, set off from their text."""
    return ", ".join(f"``{name.strip()}``" for name in names.split(","))


def listed(lines: list[str]) -> list[str]:
    """A section as a list of names and what they mean."""
    out: list[str] = []
    for names, text in entries(lines):
        text = [plain(line) for line in text]
        if names:
            out += [f"- {name_of(names)}: {text[0]}", *(f"  {line}" for line in text[1:])]
        else:
            out += ["", *text, ""]
    return out


def raised(lines: list[str]) -> list[str]:
    """A section of errors as fields that link to them."""
    out: list[str] = []
    for names, text in entries(lines):
        out += [
            f":raises {names}: {plain(text[0])}" if names else f"    {plain(text[0])}",
            *(f"    {plain(line)}" for line in text[1:]),
        ]
    return out


def rewritten(lines: list[str]) -> list[str]:
    """A docstring in reStructuredText."""
    out: list[str] = []
    for title, body in sections(lines):
        if title in ("Parameters", "Attributes"):
            out += ["", f":{title}:", *(f"    {line}" for line in listed(body)), ""]
        elif title == "Raises":
            out += ["", *raised(body), ""]
        elif title == "Returns":
            text = [plain(line.strip()) for line in body if line.strip()]
            out += ["", ":Returns:", *(f"    {line}" for line in text), ""]
        elif title:
            out += ["", f"**{title}**", "", *body, ""]
        else:
            out += unheaded(body)
    return out


def unheaded(lines: list[str]) -> list[str]:
    """What stands before all headings; a paragraph that begins with an entry is a list of them."""
    out: list[str] = []
    for paragraph in "\n".join(lines).split("\n\n"):
        piece = paragraph.split("\n")
        entry = ENTRY.fullmatch(piece[0])
        out += [*(listed(piece) if entry and NAMES.fullmatch(entry["names"]) else piece), ""]
    return out


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Rewrite a docstring in place."""
    lines[:] = rewritten(lines)


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
