"""``python -m benchmarks.trust [--quick] [--removed] [ROW ...]``: print the table, row by row.

Exit status 1 where a promise is broken, 0 otherwise. A check that cannot run here says what is
missing; it counts as broken in the full size, unless it is of a peer.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

from benchmarks.trust import removed
from benchmarks.trust.reached import Missing, Reached
from benchmarks.trust.table import ROWS


def main() -> int:
    """Run the rows that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trust",
                                     description="Check every promise.")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="such as M1; all if none is given")
    parser.add_argument("--quick", action="store_true", help="seconds instead of minutes")
    parser.add_argument("--removed", action="store_true",
                        help="take each protection out of a copy and see its check fail")
    chosen = parser.parse_args()
    unknown = set(chosen.rows) - {row.id for row in ROWS}
    if unknown:
        parser.error(f"there is no row {min(unknown)}")
    rows = [row for row in ROWS if not chosen.rows or row.id in chosen.rows]
    if chosen.removed:
        return removed.show([row.id for row in rows])
    broken = 0
    for row in rows:
        broken += not _run(row.id, f"{row.promise} ({row.wanted})", row.check, not chosen.quick)
        for name, check in () if chosen.quick else row.beside:
            _run(row.id, f"beside it: {name}", check, True, peer=True)
    print(f"{len(rows) - broken} of {len(rows)} promises kept")
    return 1 if broken else 0


def _run(id: str, title: str, check: Callable[[bool], Reached], full: bool, *,
         peer: bool = False) -> bool:
    begin = time.monotonic()
    try:
        reached = check(full)
        word = "    " if peer else "kept" if reached.kept else "BROKEN"
        kept, figure = reached.kept, reached.figure
    except Missing as error:
        word, kept, figure = "not run", False, str(error)
    print(f"{id}  {title}\n    {word}  {figure}  [{time.monotonic() - begin:.1f} s]", flush=True)
    return kept


if __name__ == "__main__":
    sys.exit(main())
