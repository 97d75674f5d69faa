"""``python -m benchmarks.trust [--quick] [--removed] [ROW ...]``: print the table, row by row.

In the full size each row runs in a process of its own, two at a time; rows that measure time run
by themselves at the end. Exit status 1 where a promise is broken, 0 otherwise. A check that cannot
run here says what is missing; it counts as broken in the full size, unless it is of a peer.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from benchmarks.trust import removed
from benchmarks.trust.children import ROOT, environment
from benchmarks.trust.reached import Missing, Reached, Row
from benchmarks.trust.table import ROWS

AT_A_TIME = 2
SECONDS_FOR_A_ROW = 1800


def main() -> int:
    """Run the rows that were asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.trust", description="Check every promise."
    )
    parser.add_argument("rows", nargs="*", metavar="ROW", help="such as M1; all if none is given")
    parser.add_argument("--quick", action="store_true", help="seconds instead of minutes")
    parser.add_argument(
        "--removed",
        action="store_true",
        help="take each protection out of a copy and see its check fail",
    )
    chosen = parser.parse_args()
    unknown = set(chosen.rows) - {row.id for row in ROWS}
    if unknown:
        parser.error(f"there is no row {min(unknown)}")
    rows = [row for row in ROWS if not chosen.rows or row.id in chosen.rows]
    if chosen.removed:
        return removed.show([row.id for row in rows])
    # A shell starts what runs in the background with Ctrl-C ignored, and children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    begin = time.monotonic()
    if chosen.quick or len(rows) == 1:
        broken = [row.id for row in rows if not _row_here(row, not chosen.quick)]
    else:
        broken = _side_by_side([row for row in rows if not row.alone], AT_A_TIME)
        broken += _side_by_side([row for row in rows if row.alone], 1)
    named = f"; broken: {', '.join(sorted(broken))}" if broken else ""
    print(
        f"{len(rows) - len(broken)} of {len(rows)} promises kept{named}"
        f" [{time.monotonic() - begin:.0f} s]"
    )
    return 1 if broken else 0


def _side_by_side(rows: Sequence[Row], at_a_time: int) -> list[str]:
    """Run rows in processes of their own, print each when it has ended; the broken ones."""
    broken = []
    with ThreadPoolExecutor(at_a_time) as pool:
        running = {pool.submit(_row_elsewhere, row): row for row in rows}
        for number, future in enumerate(as_completed(running), 1):
            kept, said = future.result()
            if not kept:
                broken.append(running[future].id)
            print(f"{said}    ({number} of {len(rows)})", flush=True)
    return broken


def _row_elsewhere(row: Row) -> tuple[bool, str]:
    title = f"{row.id}  {row.promise} ({row.wanted})\n"
    try:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.trust", row.id],
            cwd=ROOT,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS_FOR_A_ROW,
        )
    except subprocess.TimeoutExpired:
        return False, f"{title}    BROKEN  no answer after {SECONDS_FOR_A_ROW} s\n"
    lines = done.stdout.splitlines(keepends=True)
    if done.returncode not in (0, 1) or not lines:
        return False, f"{title}    BROKEN  status {done.returncode}: {done.stderr[-500:]}\n"
    return done.returncode == 0, "".join(lines[:-1])


def _row_here(row: Row, full: bool) -> bool:
    kept = _check(row.id, f"{row.promise} ({row.wanted})", row.check, full)
    for name, check in row.beside if full else ():
        _check(row.id, f"beside it: {name}", check, True, peer=True)
    return kept


def _check(
    id: str, title: str, check: Callable[[bool], Reached], full: bool, *, peer: bool = False
) -> bool:
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
