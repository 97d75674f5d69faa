"""``python -m benchmarks.trust.sanitize [address] [thread]``: the test suite under sanitizers.

The core is built in copies of the tree and the tests run there, some files at a time and two at a
time:

- ``address``: the whole suite with the address, undefined-behaviour and leak sanitizers;
- ``thread``: the tests and checks in which threads meet, with the thread sanitizer.

Left out of the first are the quick sizes of the promises and what limits memory, since a sanitizer
changes what they measure. Each line says how a group of tests ended; the last lines sum up. Exit
status 1 where a test fails, a group does not end, or a sanitizer reports anything that the core has
a part in.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from benchmarks.trust import builds, compiled
from benchmarks.trust.children import ROOT, environment

# Far above what any group needs; one test that takes this long prints where it is.
SECONDS_FOR_A_GROUP = 1200
SECONDS_FOR_A_TEST = 300
AT_A_TIME = 2


class Kind(NamedTuple):
    """One way to build and run: the compiler's sanitizers, libraries to load first, options."""

    sanitize: str
    libraries: tuple[str, ...]
    options: dict[str, str]


class Group(NamedTuple):
    """Tests that run in one process, or another module of Python."""

    name: str
    line: tuple[str, ...]


class Ended(NamedTuple):
    """How a group ended: in words, what the sanitizers said of the core, whether all is well."""

    summary: str
    reports: list[str]
    clean: bool
    output: str
    seconds: float


# A report must not mix with what a test reads, so it goes to a file; whether there is one decides.
KINDS = {
    "address": Kind("address,undefined", ("libasan.so", "libubsan.so", "libstdc++.so"), {
        "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1:log_path={log}",
        "LSAN_OPTIONS": "exitcode=0",
        "UBSAN_OPTIONS": "print_stacktrace=1:log_path={log}"}),
    "thread": Kind("thread", ("libtsan.so", "libstdc++.so"), {
        "TSAN_OPTIONS": "report_signal_unsafe=0:exitcode=0:die_after_fork=0"
                        ":allocator_may_return_null=1:log_path={log}"}),
}
_THREADED = ("tests/unit/trust/test_circumstances.py", "tests/laws/test_tagger.py",
             "tests/laws/test_filling.py", "tests/laws/test_decode.py", "tests/unit/tagging",
             "tests/unit/combining", "tests/unit/comparing", "tests/unit/insight",
             "tests/unit/tuning", "tests/unit/core")
_CORE = "perceptron_nlp/_core/"
_REPORT = re.compile(
    r"(ERROR: AddressSanitizer|runtime error:|WARNING: ThreadSanitizer|leak of \d+ byte).*")
_FRAME = re.compile(r"\s*#(\d+) ")


def library(name: str) -> str:
    """Where the compiler keeps one of its libraries."""
    found = subprocess.run([*compiled.compiler(), f"-print-file-name={name}"],
                           capture_output=True, text=True, check=True).stdout.strip()
    return str(Path(found).resolve())


def groups(kind: str) -> Iterator[Group]:
    """What runs under a sanitizer: files of laws, folders of other tests."""
    tests = ("-m", "pytest", "-q", "-p", "no:cacheprovider",
             "-o", f"faulthandler_timeout={SECONDS_FOR_A_TEST}", "-k", "not little_memory")
    if kind == "thread":
        yield Group("T1", ("-m", "benchmarks.trust", "--quick", "T1"))
        for place in _THREADED:
            yield Group(place, (*tests, place))
        return
    for place in sorted((ROOT / "tests" / "laws").glob("test_*.py")):
        yield Group(f"tests/laws/{place.name}", (*tests, f"tests/laws/{place.name}"))
    for place in sorted((ROOT / "tests" / "unit").iterdir()):
        if place.name.startswith("test_") or list(place.glob("test_*.py")):
            name = f"tests/unit/{place.name}"
            yield Group(name, (*tests, "--ignore=tests/unit/trust/test_promises.py", name))
    for place in sorted((ROOT / "tests").iterdir()):
        if place.name not in ("laws", "unit") and list(place.glob("test_*.py")):
            yield Group(f"tests/{place.name}", (*tests, f"tests/{place.name}"))


def reports_of(text: str) -> list[str]:
    """What sanitizers reported in which the core has a part: the first line of each report.

    A leak is the core's if the core itself asked for the memory; of the objects of Python, many
    live until the process ends.
    """
    found = []
    lines = text.splitlines()
    for at, line in enumerate(lines):
        match = _REPORT.search(line)
        if match is None:
            continue
        # A report's stack follows it, up to an empty line; a data race has several.
        stack = []
        for follower in lines[at:at + 80]:
            if not follower.strip() and "ThreadSanitizer" not in match[0]:
                break
            stack.append(follower)
        if "leak of" in match[0]:
            stack = [frame for frame in stack
                     if (number := _FRAME.match(frame)) and number[1] == "1"]
        if any(_CORE in frame for frame in stack) or "runtime error" in match[0]:
            found.append(line.strip())
    return found


def _run_group(kind: Kind, tree: Path, group: Group) -> Ended:
    begin = time.monotonic()
    logs = tree / "sanitizer-logs" / re.sub(r"\W", "_", group.name)
    logs.mkdir(parents=True)
    env = environment({
        **{name: value.format(log=logs / "report") for name, value in kind.options.items()},
        "LD_PRELOAD": " ".join(map(library, kind.libraries)),
        "PYTHONMALLOC": "malloc", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1",
    }, tree)
    try:
        done = subprocess.run([sys.executable, *group.line], cwd=tree, env=env, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, errors="replace", check=False,
                              timeout=SECONDS_FOR_A_GROUP)
        output, status = done.stdout, done.returncode
    except subprocess.TimeoutExpired as error:
        given = error.stdout or b""
        output = given if isinstance(given, str) else given.decode(errors="replace")
        status = None
    # 5: pytest found no test, all of a folder's tests being left out.
    reports = [report for log in sorted(logs.iterdir())
               for report in reports_of(log.read_text(errors="replace"))]
    endings = [line.strip("= ") for line in output.splitlines()
               if re.search(r"\d+ (passed|skipped|failed)|promises kept", line)]
    summary = "it did not end in time" if status is None else (
        endings[-1] if endings else f"it ended with status {status} and no summary")
    clean = status == 0 and bool(endings) and not reports
    return Ended(summary, reports, clean, output, time.monotonic() - begin)


def run(name: str) -> bool:
    """Build, run, print; whether all was clean."""
    kind = KINDS[name]
    begin = time.monotonic()
    print(f"{name}: building the core with -fsanitize={kind.sanitize}", flush=True)
    tree = builds.built({"PERCEPTRON_NLP_SANITIZE": kind.sanitize})
    print(f"{name}: built [{time.monotonic() - begin:.0f} s]", flush=True)
    chosen = list(groups(name))
    clean, reports = True, 0
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        running = [(group, pool.submit(_run_group, kind, tree, group)) for group in chosen]
        for number, (group, future) in enumerate(running, 1):
            ended = future.result()
            clean = clean and ended.clean
            reports += len(ended.reports)
            print(f"{name} {number}/{len(chosen)}  {group.name}: {ended.summary};"
                  f" {len(ended.reports)} reports [{ended.seconds:.0f} s]", flush=True)
            if not ended.clean:
                print(*ended.reports[:10], *ended.output.splitlines()[-40:], sep="\n", flush=True)
    print(f"{name}: {'clean' if clean else 'NOT CLEAN'}, {reports} reports of the core"
          f" [{time.monotonic() - begin:.0f} s]", flush=True)
    return clean


def main() -> int:
    """Run the kinds that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trust.sanitize")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    chosen = parser.parse_args().kinds or list(KINDS)
    if unknown := set(chosen) - set(KINDS):
        parser.error(f"there is no kind {min(unknown)}; there are {', '.join(KINDS)}")
    # A shell starts what runs in the background with Ctrl-C ignored, and the tests inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(f"Python {sysconfig.get_python_version()}, {compiled.compiler()[0]}", flush=True)
    return 0 if all([run(name) for name in chosen]) else 1


if __name__ == "__main__":
    os.environ.pop("LD_PRELOAD", None)
    sys.exit(main())
