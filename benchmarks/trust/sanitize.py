"""``python -m benchmarks.trust.sanitize [address] [thread] [leak]``: the suite under sanitizers.

The core is built with each sanitizer in a copy of the tree, and the whole suite runs there; the
checks that start compilers or measure memory are left out, since a sanitizer changes what they
measure. Exit status 1 where a test fails or a sanitizer reports anything of the core.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.trust import builds, compiled
from benchmarks.trust.children import environment


class Kind(NamedTuple):
    """One way to build and run: compiler's sanitizers, libraries to load first, their options."""

    sanitize: str
    libraries: tuple[str, ...]
    options: dict[str, str]
    tests: tuple[str, ...]


# What a sanitizer multiplies (memory, threads' stacks, processes) is not to be measured under it.
_LEFT_OUT = ("--deselect=tests/unit/trust", "--ignore=tests/unit/trust", "-p", "no:cacheprovider")
_THREADED = ("tests/laws/test_tagger.py", "tests/laws/test_decode.py", "tests/unit/tagging",
             "tests/unit/core")
KINDS = {
    "address": Kind("address,undefined", ("libasan.so", "libubsan.so", "libstdc++.so"),
                    {"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
                     "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1"}, ("tests",)),
    "thread": Kind("thread", ("libtsan.so", "libstdc++.so"),
                   {"TSAN_OPTIONS": "report_signal_unsafe=0:exitcode=66"}, _THREADED),
    "leak": Kind("address", ("libasan.so", "libstdc++.so"),
                 {"ASAN_OPTIONS": "detect_leaks=1:exitcode=0:allocator_may_return_null=1"},
                 _THREADED),
}
_REPORT = re.compile(
    r"(ERROR: AddressSanitizer|runtime error:|WARNING: ThreadSanitizer|leak of \d+ byte).*")
_FRAME = re.compile(r"perceptron_nlp/_core/")


def library(name: str) -> str:
    """Where the compiler keeps one of its libraries."""
    found = subprocess.run([*compiled.compiler(), f"-print-file-name={name}"],
                           capture_output=True, text=True, check=True).stdout.strip()
    return str(Path(found).resolve())


def reports_of(text: str) -> list[str]:
    """What sanitizers reported in which the core has a part: the first line of each report."""
    found = []
    lines = text.splitlines()
    for at, line in enumerate(lines):
        match = _REPORT.search(line)
        if match is None:
            continue
        # A report's stack follows it, up to an empty line.
        stack = []
        for follower in lines[at:at + 60]:
            if not follower.strip():
                break
            stack.append(follower)
        if any(_FRAME.search(frame) for frame in stack):
            found.append(match[0])
    return found


def run(name: str) -> bool:
    """Build, run, print; whether all was clean."""
    kind = KINDS[name]
    begin = time.monotonic()
    tree = builds.built({"PERCEPTRON_NLP_SANITIZE": kind.sanitize})
    env = environment({
        **kind.options, "LD_PRELOAD": " ".join(map(library, kind.libraries)),
        "PYTHONMALLOC": "malloc", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1",
    }, tree)
    log = tree / f"{name}.log"
    with log.open("w") as out:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-x", "-s", *_LEFT_OUT, *kind.tests],
            cwd=tree, env=env, stdout=out, stderr=subprocess.STDOUT, check=False)
    text = log.read_text(errors="replace")
    reports = reports_of(text)
    summary = next((line for line in reversed(text.splitlines())
                    if " passed" in line or " failed" in line), "the suite did not end")
    print(f"{name}: {len(reports)} reports of the core; {summary.strip('= ')}"
          f" [{time.monotonic() - begin:.0f} s]", flush=True)
    clean = not reports and done.returncode == 0
    if not clean:
        print(*reports[:10], *text.splitlines()[-40:], sep="\n")
    return clean


def main() -> int:
    """Run the kinds that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trust.sanitize")
    parser.add_argument("kinds", nargs="*", choices=list(KINDS), default=list(KINDS))
    chosen = parser.parse_args().kinds
    print(f"Python {sysconfig.get_python_version()}, {compiled.compiler()[0]}")
    return 0 if all([run(name) for name in chosen]) else 1


if __name__ == "__main__":
    os.environ.pop("LD_PRELOAD", None)
    sys.exit(main())
