"""Walks a tour: runs the blocks of its page one after the other, as a person would type them."""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import os
import pty
import re
import shlex
import shutil
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from oracles.chromium import chromium
from oracles.codeblocks import code_blocks, commands, first_missing, run_python

ROOT = Path(__file__).parents[2]
WIDTH = 80
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass
class Walk:
    """A tour that was walked.

    Attributes
    ----------
    folder : where it was walked; ``data/`` is in it
    printed : what each command printed, by the command as the page shows it
    names : the names that its Python left
    """

    folder: Path
    printed: dict[str, str] = field(default_factory=dict)
    names: dict[str, object] = field(default_factory=dict)

    def run(self, command: str) -> list[str]:
        """Run a command of a shell, which must end well, and return the lines of its pipe."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=self.folder,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=600,
        )
        assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}"
        self.printed[command] = done.stdout
        return done.stdout.splitlines()

    def on_a_terminal(self, command: str) -> list[str]:
        """Run a command on a terminal of 80 columns and return its lines, without colors."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, WIDTH, 0, 0))
        words = shlex.split(command)
        with subprocess.Popen(
            words,
            cwd=self.folder,
            env={**self._environment(), "TERM": "xterm"},
            executable=shutil.which(words[0], path=self._environment()["PATH"]),
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
        ) as running:
            os.close(theirs)
            printed = b""
            with contextlib.suppress(OSError):  # the terminal is gone with the program
                while piece := os.read(ours, 1 << 16):
                    printed += piece
        os.close(ours)
        assert running.returncode == 0, printed.decode()
        return _ESCAPES.sub("", printed.decode()).replace("\r", "\n").splitlines()

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        path = os.pathsep.join((str(self.folder / "bin"), os.environ["PATH"]))
        return {**kept, "PATH": path, "LC_ALL": "C.UTF-8"}

    def session(self, code: str) -> None:
        """Run the commands of a session and hold what they print to what the page shows."""
        for command, shown in commands(code):
            missing = first_missing(shown, self.run(command))
            assert missing is None, (
                f"{command!r} does not print {missing!r} but\n{self.printed[command]}"
            )


def _missing(code: str) -> list[str]:
    """Return the libraries that a block imports and that are not installed."""
    named = re.findall(r"^(?:import|from) (\w+)", code, re.M)
    return [name for name in named if importlib.util.find_spec(name) is None]


@pytest.fixture
def walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Walk]:
    """Walks the tour of a name in docs/tours, but for blocks whose libraries are not installed."""

    def walk(name: str) -> Walk:
        page = ROOT / "docs" / "tours" / f"{name}.md"
        if not page.exists() or not (ROOT / "data").is_dir():
            pytest.skip("the documentation or the sample corpus is not beside the tests")
        shutil.copytree(ROOT / "data", tmp_path / "data")
        programs = {"perceptron-nlp": "-m perceptron_nlp", "python": ""}
        (tmp_path / "bin").mkdir()
        for program, arguments in programs.items():
            script = tmp_path / "bin" / program
            script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n')
            script.chmod(0o755)
        monkeypatch.chdir(tmp_path)
        found = Walk(tmp_path)
        for block in code_blocks(page.read_text("utf-8"), ("sh", "console", "python")):
            if block.kind == "sh":
                found.run(block.code)
            elif block.kind == "console":
                found.session(block.code)
            elif not _missing(block.code):
                run_python(block.code, found.names)
        return found

    return walk


@pytest.fixture
def browser() -> Iterator[Any]:
    """A Chromium, or None where there is none or nothing that drives it."""
    with chromium() as found:
        yield found
