"""The code blocks of a page of Markdown, and if what they show is what happens."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple


class Block(NamedTuple):
    """A fenced block of code and the word behind its fence."""

    kind: str
    code: str


def code_blocks(text: str, kinds: tuple[str, ...]) -> list[Block]:
    """Return the blocks of these kinds in their order, but for those that doctest runs."""
    found = re.findall(r"^```(\w+)\n(.*?)^```", text, re.S | re.M)
    return [
        Block(kind, code) for kind, code in found if kind in kinds and not code.startswith(">>> ")
    ]


def commands(session: str) -> list[tuple[str, list[str]]]:
    """Return each command of a session behind ``$``, and the lines that it shows.

    A command that ends in a backslash goes on in the next line, as in a shell.
    """
    found = []
    for piece in re.split(r"^\$ ", session, flags=re.M)[1:]:
        lines = piece.splitlines()
        end = next(i for i, line in enumerate(lines) if not line.endswith("\\"))
        found.append(("\n".join(lines[: end + 1]), lines[end + 1 :]))
    return found


def first_missing(shown: list[str], printed: list[str]) -> str | None:
    """Return the first line shown that is not printed in its turn; ``...`` stands for any lines."""
    at = 0
    for line in shown:
        if line == "...":
            continue
        if line not in printed[at:]:
            return line
        at = printed.index(line, at) + 1
    return None


def run_python(code: str, names: dict[str, object]) -> int:
    """Run a block, hold its expressions to the comments behind them, and return how many have one.

    A comment that ends in ``…`` tells the beginning of what the expression gives.
    """
    lines = code.splitlines()
    checked = 0
    for node in ast.parse(code).body:
        piece = ast.get_source_segment(code, node) or ""
        if not isinstance(node, ast.Expr):
            exec(piece, names)
            continue
        value = eval(piece.removeprefix("print"), names)
        expected = comment_after(lines, node.end_lineno or 0)
        if expected:
            assert str(value).startswith(expected.rstrip("…")), f"{piece} gives {value}"
            checked += 1
    return checked


def comment_after(lines: list[str], end: int) -> str:
    """Return the comment on a statement's last line (from 1), or alone on the line after it."""
    below = lines[end].strip() if end < len(lines) else ""
    return lines[end - 1].partition("  # ")[2] or (below[2:] if below.startswith("# ") else "")
