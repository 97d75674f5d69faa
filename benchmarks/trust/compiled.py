"""What is compiled for the checks: a shared library of C, a module of the core with sanitizers."""

from __future__ import annotations

import functools
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from benchmarks.trust.children import ROOT

HERE = Path(__file__).resolve().parent


class NoCompiler(Exception):
    """There is no C compiler here, or it lacks the sanitizers."""


class Failed(Exception):
    """Something does not compile; the text is what the compiler said."""


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


def library(name: str) -> str:
    """Where the compiler keeps one of its libraries."""
    found = subprocess.run(
        [*compiler(), f"-print-file-name={name}"], capture_output=True, text=True, check=True
    ).stdout.strip()
    return str(Path(found).resolve())


@functools.cache
def build(source: str) -> Path:
    """The shared library of a C file of this folder."""
    return _compiled(HERE / source, "-Wall", "-Wextra", "-Werror")


@functools.cache
def extension(module: str, sanitize: str) -> Path:
    """A module of the core, such as table/weights, with sanitizers.

    Raises
    ------
    NoCompiler : there is none, or it lacks the sanitizers
    """
    source = Path(_folder().name) / f"{Path(module).name}.c"
    pyx = ROOT / "perceptron_nlp" / "_core" / f"{module}.pyx"
    cython = [sys.executable, "-m", "cython", "-3", str(pyx), "-o", str(source)]
    done = subprocess.run(cython, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoCompiler(f"no Cython: {done.stderr.strip()[-200:]}")
    return _compiled(
        source,
        f"-I{ROOT / 'perceptron_nlp' / '_core'}",
        f"-I{sysconfig.get_paths()['include']}",
        f"-fsanitize={sanitize}",
        "-fno-sanitize-recover=all",
    )


def _compiled(source: Path, *flags: str) -> Path:
    target = Path(_folder().name) / f"{source.stem}.so"
    line = [*compiler(), "-std=gnu11", "-O1", "-g", "-shared", "-fPIC", *flags]
    line += [str(source), "-o", str(target), "-lm", "-ldl"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        if "sanitize" in done.stderr:
            raise NoCompiler(f"the compiler has no sanitizers: {done.stderr.strip()[-200:]}")
        raise Failed(done.stderr)
    return target
