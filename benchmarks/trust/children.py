"""Functions run in processes of their own, so that a crash is seen as a crash."""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import perceptron_nlp

# The folder that holds the package under test, and this one.
ROOT = Path(perceptron_nlp.__file__).resolve().parent.parent


class Child(NamedTuple):
    """How a child process ended.

    ``status`` is its exit status, negative for a signal, None when it had to be ended because it
    took too long; ``result`` what its function returned.
    """

    status: int | None
    result: Any
    out: str
    err: str

    @property
    def fate(self) -> str:
        """How it ended, in words."""
        if self.status is None:
            return "hung"
        if self.status < 0:
            return f"killed by {signal.Signals(-self.status).name}"
        last = self.err.strip().splitlines()[-1:] or [""]
        return f"exit {self.status}: {last[0]}"


def command(name: str, *arguments: Any) -> list[str]:
    """The command line that calls ``name`` ("module:function") with JSON arguments."""
    return [sys.executable, "-m", "benchmarks.trust.children", name, json.dumps(arguments)]


def environment(more: Mapping[str, str] | None = None, root: Path = ROOT) -> dict[str, str]:
    """The environment of a child: ours, with the tree under test first on the path."""
    path = os.pathsep.join(p for p in (str(root), os.environ.get("PYTHONPATH")) if p)
    return {**os.environ, "PYTHONPATH": path, **(more or {})}


def call(
    name: str,
    *arguments: Any,
    timeout: float = 600,
    megabytes: int | None = None,
    env: Mapping[str, str] | None = None,
    root: Path = ROOT,
) -> Child:
    """Call a function in a new process.

    Parameters
    ----------
    name : ``module:function``
    arguments : what JSON can carry
    timeout : seconds after which it counts as hung
    megabytes : limit of its address space
    env : more environment
    root : the tree to run in
    """
    limited = None if megabytes is None else (megabytes << 20)

    def limit() -> None:
        if limited is not None:
            resource.setrlimit(resource.RLIMIT_AS, (limited, limited))

    try:
        done = subprocess.run(
            command(name, *arguments),
            capture_output=True,
            text=True,
            timeout=timeout,
            env=environment(env, root),
            cwd=root,
            preexec_fn=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Child(None, None, "", "")
    lines = done.stdout.splitlines()
    result = json.loads(lines[-1]) if done.returncode == 0 and lines else None
    return Child(done.returncode, result, done.stdout, done.stderr)


def peak_bytes() -> int:
    """The most memory that this process has held at a time."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def address_bytes() -> int:
    """The address space that this process has asked for (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE")


def resident_bytes() -> int:
    """The memory that this process holds now (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _main() -> None:
    module, _, function = sys.argv[1].partition(":")
    result = getattr(importlib.import_module(module), function)(*json.loads(sys.argv[2]))
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    _main()
