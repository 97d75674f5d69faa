"""The core by itself, compiled with or without sanitizers (core.c)."""

from __future__ import annotations

import functools
import shlex
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path

from benchmarks.trust.children import ROOT

HERE = Path(__file__).resolve().parent


class NoCompiler(Exception):
    """There is no C compiler here, or it lacks the sanitizers."""


class Failed(Exception):
    """The compiled program found something wrong; the text is what it said."""


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Lives as long as the process."""
    return tempfile.TemporaryDirectory()


def compiler() -> list[str]:
    """The C compiler's command: the one that builds the core."""
    words = shlex.split(sysconfig.get_config_var("CC") or "cc")[:1]
    found = shutil.which(words[0]) or shutil.which("cc")
    if found is None:
        raise NoCompiler("no C compiler")
    return [found]


@functools.cache
def build(source: str, *flags: str, shared: bool = False) -> Path:
    """The program, or the shared library, of a C file of this folder."""
    target = Path(_folder().name) / f"{Path(source).stem}-{abs(hash(flags))}"
    line = [
        *compiler(),
        "-std=gnu11",
        "-O2",
        "-g",
        "-Wall",
        "-Wextra",
        "-Werror",
        *flags,
        *(["-shared", "-fPIC"] if shared else []),
        f"-I{ROOT / 'perceptron_nlp' / '_core'}",
        str(HERE / source),
        "-o",
        str(target),
        "-lm",
        "-ldl",
    ]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        if flags and "sanitize" in done.stderr:
            raise NoCompiler(f"the compiler has no sanitizers: {done.stderr.strip()[-200:]}")
        raise Failed(done.stderr)
    return target


def run(*arguments: str, sanitize: str = "", timeout: float = 3600) -> str:
    """Run core.c and return what it printed.

    Raises
    ------
    NoCompiler : nothing to compile it with
    Failed : it found something wrong, or a sanitizer did
    """
    flags = (f"-fsanitize={sanitize}", "-fno-sanitize-recover=all") if sanitize else ()
    done = subprocess.run(
        [str(build("core.c", *flags)), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )
    if done.returncode:
        raise Failed(f"core {' '.join(arguments)}: {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout.strip()
