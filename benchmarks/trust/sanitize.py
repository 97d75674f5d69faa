"""``python -m benchmarks.trust.sanitize [address] [thread]``: the test suite under sanitizers.

The core is built in copies of the tree and the tests run there in groups, two at a time (``--jobs``
says otherwise):

- ``address``: the whole suite with the address, undefined-behaviour and leak sanitizers;
- ``thread``: the tests and checks in which threads meet, with the thread sanitizer.

The groups belong to slices, which ``--only`` chooses from: ``core`` comes first (the core's own
tests, laws, hostile input, file formats), then ``tagging``, ``program`` (command line and pages)
and ``integrations``, whose code is not instrumented. ``--match`` keeps the groups whose name has
this text. ``--builds`` names a folder where builds stay, so the next run makes only what is old.

Left out of the first are the quick sizes of the promises and what limits memory or open files,
since a sanitizer changes what they measure, and needs files of its own. Each line says how a group
of tests ended; the last lines sum up. Exit status 1 where a test fails, a group does not end, or a
sanitizer reports anything that the core has a part in.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
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
    slice: str


class Ended(NamedTuple):
    """How a group ended: in words, what the sanitizers said of the core, whether all is well."""

    summary: str
    reports: list[str]
    clean: bool
    output: str
    seconds: float


# Known reports of libraries of integrations, none of our code.
KNOWN = Path(__file__).with_name("integrations.supp")
# A report must not mix with what a test reads, so it goes to a file; whether there is one decides.
KINDS = {
    "address": Kind(
        "address,undefined",
        ("libasan.so", "libubsan.so", "libstdc++.so"),
        {
            "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1:log_path={log}"
            ":suppressions={known}",
            "LSAN_OPTIONS": "exitcode=0",
            "UBSAN_OPTIONS": "print_stacktrace=1:log_path={log}",
        },
    ),
    "thread": Kind(
        "thread",
        ("libtsan.so", "libstdc++.so"),
        {
            "TSAN_OPTIONS": "report_signal_unsafe=0:exitcode=0:die_after_fork=0"
            ":allocator_may_return_null=1:log_path={log}"
        },
    ),
}
SLICES = ("core", "tagging", "program", "integrations")
# The slice of a folder or file of tests; of all others, "program".
_SLICE_OF = {
    **dict.fromkeys(
        (
            "tests/unit/core",
            "tests/laws",
            "tests/unit/trust",
            "tests/unit/formats",
            "tests/unit/features",
            "tests/unit/text",
        ),
        "core",
    ),
    **dict.fromkeys(
        (
            "tests/unit/tagger",
            "tests/unit/combine",
            "tests/unit/analysis",
            "tests/unit/perceptrons",
            "tests/unit/perceptrons/study",
            "tests/corpora",
            "tests/corpora_accuracy",
        ),
        "tagging",
    ),
    **dict.fromkeys(("tests/unit/integrations", "tests/laws/test_arrow_laws.py"), "integrations"),
    # Laws of Python code alone, or nearly.
    **{
        f"tests/laws/test_{name}.py": "program"
        for name in (
            "classifier_laws",
            "imports",
            "lexicon_laws",
            "plaintext_laws",
            "report_laws",
            "significance",
            "textbook_imports",
            "textbook_laws",
        )
    },
}
_THREADED = (
    "tests/unit/core",
    "tests/unit/trust/test_circumstances.py",
    "tests/laws/test_tagger.py",
    "tests/laws/test_filling.py",
    "tests/laws/test_decode.py",
    "tests/laws/test_threads.py",
    "tests/laws/test_free_threads.py",
    "tests/laws/test_reading.py",
    "tests/laws/test_decoding_forms.py",
    "tests/laws/test_explaining.py",
    "tests/unit/tagger",
    "tests/unit/combine",
    "tests/unit/analysis",
)
# Of these folders each file is a group of its own.
_TAKEN_APART = ("tests/laws", "tests/unit/tagger", "tests/unit/cli", "tests/unit/integrations")
_CORE = "perceptron_nlp/_core/"
_REPORT = re.compile(
    r"(ERROR: AddressSanitizer|runtime error:|WARNING: ThreadSanitizer|leak of \d+ byte).*"
)
_FRAME = re.compile(r"\s*#(\d+) ")


def groups(kind: str) -> Iterator[Group]:
    """What runs under a sanitizer: files of tests, or folders of them."""
    tests = (
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--durations=3",
        "-o",
        f"faulthandler_timeout={SECONDS_FOR_A_TEST}",
        "-k",
        "not little_memory and not too_few_open_files",
    )
    if kind == "thread":
        yield Group("T1", ("-m", "benchmarks.trust", "--quick", "T1"), "core")
    for name in _THREADED if kind == "thread" else _places():
        for place in _parts(name):
            where = next((_SLICE_OF[n] for n in (place, name) if n in _SLICE_OF), None) or next(
                (part for folder, part in _SLICE_OF.items() if place.startswith(folder + "/")),
                "program",
            )
            yield Group(place, (*tests, "--ignore=tests/unit/trust/test_promises.py", place), where)


def _places() -> Iterator[str]:
    """Every folder or file of tests, from the core outwards."""
    yield "tests/laws"
    for folder in (ROOT / "tests" / "unit", ROOT / "tests"):
        for place in sorted(folder.iterdir()):
            if place.name not in ("laws", "unit") and (
                place.name.startswith("test_") or list(place.glob("test_*.py"))
            ):
                yield str(place.relative_to(ROOT))


def _parts(place: str) -> list[str]:
    """The files of a folder that is taken apart; other places as they are."""
    if place not in _TAKEN_APART:
        return [place]
    return sorted(str(file.relative_to(ROOT)) for file in (ROOT / place).glob("test_*.py"))


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
        for follower in lines[at : at + 80]:
            if not follower.strip() and "ThreadSanitizer" not in match[0]:
                break
            stack.append(follower)
        if "leak of" in match[0]:
            stack = [
                frame for frame in stack if (number := _FRAME.match(frame)) and number[1] == "1"
            ]
        # Whoever meets it, an address error can be the core's doing; the others name their maker.
        if (
            "AddressSanitizer" in match[0]
            or "runtime error" in match[0]
            or any(_CORE in frame for frame in stack)
        ):
            found.append(line.strip())
    return found


def _run_group(kind: Kind, tree: Path, group: Group) -> Ended:
    begin = time.monotonic()
    logs = tree / "sanitizer-logs" / re.sub(r"\W", "_", group.name)
    logs.mkdir(parents=True)
    env = environment(
        {
            **{
                name: value.format(log=logs / "report", known=KNOWN)
                for name, value in kind.options.items()
            },
            "LD_PRELOAD": " ".join(map(compiled.library, kind.libraries)),
            "PYTHONMALLOC": "malloc",
            "OPENBLAS_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        tree,
    )
    try:
        done = subprocess.run(
            [sys.executable, *group.line],
            cwd=tree,
            env=env,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            errors="replace",
            check=False,
            timeout=SECONDS_FOR_A_GROUP,
        )
        output, status = done.stdout, done.returncode
    except subprocess.TimeoutExpired as error:
        given = error.stdout or b""
        output = given if isinstance(given, str) else given.decode(errors="replace")
        status = None
    # 5: pytest found no test, all of a folder's tests being left out.
    reports = [
        report
        for log in sorted(logs.iterdir())
        for report in reports_of(log.read_text(errors="replace"))
    ]
    endings = [
        line.strip("= ")
        for line in output.splitlines()
        if re.search(r"\d+ (passed|skipped|failed)|promises kept", line)
    ]
    summary = (
        "it did not end in time"
        if status is None
        else (endings[-1] if endings else f"it ended with status {status} and no summary")
    )
    clean = status == 0 and bool(endings) and not reports
    return Ended(summary, reports, clean, output, time.monotonic() - begin)


def run(name: str, asked: argparse.Namespace) -> bool:
    """Build, run, print; whether all was clean."""
    kind = KINDS[name]
    begin = time.monotonic()
    print(f"{name}: building the core with -fsanitize={kind.sanitize}", flush=True)
    switches = {"PERCEPTRON_NLP_SANITIZE": kind.sanitize}
    tree = (
        builds.built(switches)
        if asked.builds is None
        else builds.renewed(asked.builds / name, switches)
    )
    shutil.rmtree(tree / "sanitizer-logs", ignore_errors=True)
    print(f"{name}: built [{time.monotonic() - begin:.0f} s]", flush=True)
    chosen = sorted(
        (
            group
            for group in groups(name)
            if group.slice in (asked.only or SLICES) and asked.match in group.name
        ),
        key=lambda group: SLICES.index(group.slice),
    )
    clean, reports = bool(chosen), 0
    with ThreadPoolExecutor(asked.jobs) as pool:
        running = [(group, pool.submit(_run_group, kind, tree, group)) for group in chosen]
        for number, (group, future) in enumerate(running, 1):
            ended = future.result()
            clean = clean and ended.clean
            reports += len(ended.reports)
            print(
                f"{name} {number}/{len(chosen)}  {group.slice}  {group.name}: {ended.summary};"
                f" {len(ended.reports)} reports [{ended.seconds:.0f} s]",
                flush=True,
            )
            if not ended.clean:
                print(*ended.reports[:10], *ended.output.splitlines()[-40:], sep="\n", flush=True)
    print(
        f"{name}: {'clean' if clean else 'NOT CLEAN'}, {reports} reports of the core"
        f" [{time.monotonic() - begin:.0f} s]",
        flush=True,
    )
    return clean


def main() -> int:
    """Run the kinds that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trust.sanitize")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--only", action="append", choices=SLICES, help="a slice; may come again")
    parser.add_argument("--match", default="", metavar="TEXT", help="groups with this in the name")
    parser.add_argument("--jobs", type=int, default=AT_A_TIME, metavar="N", help="at a time")
    parser.add_argument("--builds", type=Path, metavar="FOLDER", help="where builds stay")
    asked = parser.parse_args()
    chosen = asked.kinds or list(KINDS)
    if unknown := set(chosen) - set(KINDS):
        parser.error(f"there is no kind {min(unknown)}; there are {', '.join(KINDS)}")
    # A shell starts what runs in the background with Ctrl-C ignored, and the tests inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(f"Python {sysconfig.get_python_version()}, {compiled.compiler()[0]}", flush=True)
    return 0 if all([run(name, asked) for name in chosen]) else 1


if __name__ == "__main__":
    os.environ.pop("LD_PRELOAD", None)
    sys.exit(main())
