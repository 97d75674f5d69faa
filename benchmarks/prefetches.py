"""Prefetches in the compiled core, by function, held against recorded ones.

    python benchmarks/prefetches.py [--record]

Nothing else sees it when they are lost: labels stay the same, and there are fewer instructions, not
more. GCC drops the calls of a function that only fetches, unless it is inlined. So objdump
disassembles the built modules, and the instructions that fetch are counted. Prints Markdown; leaves
with status 1 where a function has fewer than the record in instructions.json says, which --record
writes. Without objdump, or with another compiler than that of the record, nothing is compared.
"""

from __future__ import annotations

import argparse
import importlib
import re
import shutil
import subprocess
import sys
from collections import Counter

from instructions import recorded, surroundings, write_down

# Those that wait for memory: learning, what is learned as weights, and tagging.
MODULES = (
    "train.greedy",
    "train.factored",
    "table.weights",
    "tag.decode",
    "text.writer",
    "model.frozenmodel",
)
# Of Intel and AMD, and of ARM.
FETCHES = re.compile(r"\t(?:prefetch\w*|prfu?m)\b")
FUNCTION = re.compile(r"^[0-9a-f]+ <(\w+)")


def fetches_of(module: str) -> Counter[str]:
    """How many fetches each function of a module of the core has, of those that have any."""
    path = importlib.import_module(f"perceptron_nlp._core.{module}").__file__
    listing = subprocess.run(
        ["objdump", "--disassemble", "--no-show-raw-insn", str(path)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found: Counter[str] = Counter()
    name = ""
    for line in listing.splitlines():
        if line.endswith(">:"):
            match = FUNCTION.match(line)
            # Of what Cython has named: without the names of packages, modules and classes.
            name = re.sub(r"__pyx_\w*\d", "", match[1]).lstrip("_") if match else ""
        elif FETCHES.search(line):
            found[f"{module} {name}"] += 1
    return found


def main() -> None:
    """Print the table; compare or record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--record", action="store_true", help="write the figures down")
    chosen = parser.parse_args()
    if shutil.which("objdump") is None:
        print("Prefetches are not counted: objdump is not installed.")
        return
    found: Counter[str] = Counter()
    for module in MODULES:
        found += fetches_of(module)
    record, here = recorded(), surroundings()
    before = record.get("prefetches", {})
    print("| function | prefetches | recorded |\n|---|---|---|")
    for name in sorted(found.keys() | before.keys()):
        print(f"| {name} | {found[name]} | {before.get(name, '–')} |")
    if chosen.record:
        write_down(record | {"prefetches": dict(sorted(found.items()))})
        return
    if any(record["surroundings"][name] != here[name] for name in ("machine", "compiler")):
        print("\nNot compared: the record was made with another compiler.")
        return
    lost = [name for name, count in before.items() if found[name] < count]
    if lost:
        sys.exit(
            f"prefetches were lost in {', '.join(lost)}; if they are meant to be, use --record"
        )


if __name__ == "__main__":
    main()
