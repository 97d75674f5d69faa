"""Print the size of the house and how far its streets are, and check both: ``make house``.

Lines are counted as formatted. A broken limit is marked, and ends the program with status 1.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "perceptron_nlp"
REPEATED = 10
FACADE = "tagger/tagger.py"


class Figure(NamedTuple):
    name: str
    value: int
    limit: int
    where: str = ""


def written(*suffixes: str) -> list[Path]:
    """Files of the package that somebody wrote; C that Cython wrote is not among them."""
    paths = [path for path in PACKAGE.rglob("*") if path.suffix in suffixes]
    return sorted(path for path in paths if not path.with_suffix(".pyx").exists())


def n_lines(path: Path) -> int:
    return path.read_text("utf-8").count("\n")


def place(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def layer(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0]


def code_lines(path: Path) -> list[tuple[int, str]]:
    """The lines that say something: no blanks, comments, docstrings, imports, lone brackets."""
    text = path.read_text("utf-8")
    left_out: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom) or (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return [
        (number, line.strip())
        for number, line in enumerate(text.split("\n"), start=1)
        if number not in left_out and re.search(r"\w", line) and not line.strip().startswith("#")
    ]


def repeated(paths: list[Path]) -> list[str]:
    """Runs of ten lines that stand in two places, each named once by its first line."""
    seen: dict[tuple[str, ...], tuple[Path, int]] = {}
    found: dict[tuple[Path, Path], str] = {}
    for path in paths:
        lines = code_lines(path)
        for i in range(len(lines) - REPEATED + 1):
            run = tuple(text for _, text in lines[i : i + REPEATED])
            first = seen.setdefault(run, (path, lines[i][0]))
            if first != (path, lines[i][0]):
                found.setdefault(
                    (first[0], path), f"{place(first[0])}:{first[1]} = {place(path)}:{lines[i][0]}"
                )
    return sorted(found.values())


def same_names(paths: list[Path]) -> list[str]:
    """Module names that occur twice within a layer."""
    names: dict[str, Counter[str]] = defaultdict(Counter)
    for path in paths:
        if not path.stem.startswith("__"):
            names[layer(path)][path.stem] += 1
    return sorted(f"{top}: {name}" for top, of in names.items() for name, n in of.items() if n > 1)


# What only one module may do, and how a second home of it would look.
HOMES = {
    "did you mean": re.compile(r"get_close_matches"),
    "escaping for HTML": re.compile(r'replace\("<", *"&lt;"\)'),
    "drawing": re.compile(r"<(svg|polyline|rect) "),
}


def second_homes(paths: list[Path]) -> list[str]:
    """Facts that more than one module knows, as far as their looks betray them."""
    found = []
    for fact, looks in HOMES.items():
        homes = [place(path) for path in paths if looks.search(path.read_text("utf-8"))]
        if len(homes) > 1:
            found.append(f"{fact}: {', '.join(homes)}")
    return found


def figures() -> list[Figure]:
    """The figures of the house, each with its limit."""
    python = written(".py")
    core = sorted([*written(".h", ".c"), *PACKAGE.rglob("*.pyx")])
    lines = {path: n_lines(path) for path in python}
    small = [p for p, n in lines.items() if n < 60 and not p.stem.startswith("__")]
    large = [p for p, n in lines.items() if n > 400 and place(p) != FACADE]
    twice, names, homes = repeated(python), same_names(python), second_homes(python)
    return [
        Figure("lines of Python", sum(lines.values()), 29_000),
        Figure("modules of Python", len(python), 170),
        Figure("modules under 60 lines", len(small), 10, ", ".join(map(place, small))),
        Figure(
            "modules over 400 lines, but the facade", len(large), 0, ", ".join(map(place, large))
        ),
        Figure("module names that occur twice in a layer", len(names), 0, ", ".join(names)),
        Figure("runs of ten lines that stand twice", len(twice), 0, ", ".join(twice)),
        Figure("facts with a second home", len(homes), 0, "; ".join(homes)),
        Figure("lines of the core", sum(n_lines(path) for path in core), 10_500),
        Figure("files of the core", len(core), 48),
    ]


def main() -> int:
    broken = 0
    for name, value, limit, where in figures():
        mark = " " if value <= limit else "!"
        broken += value > limit
        print(f"{mark} {name:<42} {value:>7,}  at most {limit:,}")
        if value > limit and where:
            print(f"    {where}")
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
