"""The page of training options, made from their declarations.

``python docs/_ext/options.py`` writes it; a test holds it against them.
"""

from __future__ import annotations

from dataclasses import Field, fields
from pathlib import Path
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp.tagger.train.options import GROUPS, declaration

PAGE = Path(__file__).parents[1] / "reference" / "options.md"
HEAD = """\
# Options of training

These are the keyword arguments of `perceptron_nlp.train`, the fields of
`perceptron_nlp.TrainingOptions` and the options of `perceptron-nlp train` (`--min-count` for
`min_count`). They are declared in `perceptron_nlp/tagger/train/options.py`, from which
`python docs/_ext/options.py` makes this page.
"""


def page() -> str:
    """Return the page: a table for each group of options."""
    parts = [HEAD]
    for group in GROUPS:
        rows = [row(o) for o in fields(pn.TrainingOptions) if declaration(o).group == group]
        parts.append(
            f"## {group.capitalize()}\n\n| option | default | values | |\n|---|---|---|---|\n"
            + "".join(rows)
        )
    return "\n".join(parts)


def row(option: Field[Any]) -> str:
    """Return an option's row of a table."""
    declared = declaration(option)
    default = f"`{option.default!r}`".replace("'", '"')
    if option.default is None and declared.unset:
        default += f": {declared.unset}"
    cells = (f"`{option.name}`", default, values(option), declared.help)
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |\n"


def values(option: Field[Any]) -> str:
    """Return the values that an option may have."""
    declared, kind = declaration(option), str(option.type)
    if declared.choices:
        return ", ".join(f'`"{choice}"`' for choice in declared.choices)
    if declared.range != (0, 0):
        low, high = declared.range
        return f"{low:,} to {'2⁶⁴ - 1' if high == 2**64 - 1 else f'{high:,.0f}'}"
    return "`True`, `False`" if kind.startswith("bool") else f"`{declared.metavar}`"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
