"""Results on standard output."""

from __future__ import annotations

import json
from typing import Any

from perceptron_nlp.cli.style import output


def print_json(value: dict[str, Any]) -> None:
    """One JSON object on lines of its own; in ASCII where the stream is not Unicode.

    JSON's own escapes leave C1 control characters and direction marks as they are.
    """
    lines = json.dumps(value, ensure_ascii=not output().unicode, indent=2).split("\n")
    print("\n".join(line if line.isprintable() else _escaped(line) for line in lines))


def _escaped(line: str) -> str:
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)
