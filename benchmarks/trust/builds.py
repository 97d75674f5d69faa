"""Copies of the tree, changed and built anew: with sanitizers, or with a protection removed."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks.trust.children import ROOT

_PRODUCTS = shutil.ignore_patterns("*.c")
_NOT_OURS = shutil.ignore_patterns(
    ".git",
    ".venv*",
    "build",
    "dist",
    "out",
    "*.so",
    "__pycache__",
    ".*_cache",
    ".hypothesis",
    "*.egg-info",
)


def _left_out(folder: str, names: list[str]) -> set[str]:
    """What a copy does without; the C sources below the core are made by Cython."""
    is_core = Path(folder).is_relative_to(ROOT / "perceptron_nlp" / "_core")
    return _NOT_OURS(folder, names) | (_PRODUCTS(folder, names) if is_core else set())


class BuildFailed(Exception):
    """The core could not be built; the text is the compiler's."""


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Lives as long as the process."""
    return tempfile.TemporaryDirectory(prefix="perceptron-nlp-trust-")


def copied(name: str, *, with_core: bool) -> Path:
    """A copy of the tree; with the built core, or without it to be built anew."""
    target = Path(_folder().name) / name
    if with_core:
        shutil.copytree(_with_core(), target)
    else:
        shutil.copytree(ROOT, target, ignore=_left_out)
    return target


@functools.cache
def _with_core() -> Path:
    """A copy with its core, built, and all that a further build needs to make only what is old."""
    tree = copied("with-core", with_core=False)
    if (ROOT / "build").is_dir():
        shutil.copytree(ROOT / "build", tree / "build")
    for built in (ROOT / "perceptron_nlp" / "_core").glob("*/*"):
        if built.suffix in (".so", ".c"):
            shutil.copy2(built, tree / "perceptron_nlp" / "_core" / built.parent.name)
    build(tree, {})
    return tree


def build(tree: Path, env: Mapping[str, str]) -> None:
    """Build the core of a tree in place."""
    done = subprocess.run(
        [sys.executable, "setup.py", "build_ext", "--inplace"],
        cwd=tree,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BuildFailed(done.stderr[-2000:])


def built(env: Mapping[str, str]) -> Path:
    """A copy of the tree whose core was built with these switches of setup.py."""
    return _built(tuple(sorted(env.items())))


def renewed(target: Path, env: Mapping[str, str]) -> Path:
    """A built copy that stays in a folder: what is old there is copied and built again."""
    target = target.resolve()
    fresh = copied(f"fresh-{target.name}", with_core=False)
    wanted = {path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file()}
    for path in wanted:
        there = target / path
        if not there.is_file() or there.read_bytes() != (fresh / path).read_bytes():
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(fresh / path, there)
    for folder in ("perceptron_nlp", "tests", "benchmarks"):
        for there in list((target / folder).rglob("*")):
            if (
                there.suffix not in (".so", ".c", "")
                and there.is_file()
                and (there.relative_to(target) not in wanted)
            ):
                there.unlink()
    shutil.rmtree(fresh)
    build(target, env)
    return target


@functools.cache
def _built(env: tuple[tuple[str, str], ...]) -> Path:
    tree = copied(
        "-".join(f"{name}-{value.replace(',', '-')}" for name, value in env).lower(),
        with_core=False,
    )
    build(tree, dict(env))
    return tree
