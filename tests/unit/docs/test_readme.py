"""What README.md and the pages show is what happens: shell sessions and Python are run."""

from __future__ import annotations

import ast
import io
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from perceptron_nlp.cli.main import main

ROOT = Path(__file__).parents[3]
PAGES = ["README.md", "docs/tuning.md", "docs/adapting.md", "docs/insight.md"]

pytestmark = pytest.mark.skipif(
    not (ROOT / "data").is_dir(), reason="the sample corpus is not beside the tests")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place with data/ in it."""
    shutil.copytree(ROOT / "data", tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def blocks(page: str, kind: str) -> list[str]:
    """The blocks of code of one kind in a page."""
    return re.findall(rf"```{kind}\n(.*?)```", (ROOT / page).read_text("utf-8"), re.S)


def run(command: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """What a line of a session prints: standard error, then standard output."""
    echoed, _, program = command.rpartition(" | ")
    text = " ".join(shlex.split(echoed)[1:]) + "\n" if echoed else ""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    words = shlex.split(program)
    assert words[0] == "perceptron-nlp"
    assert main(words[1:]) == 0
    out, err = capfd.readouterr()
    return err + out


@pytest.mark.parametrize("page", PAGES)
def test_the_shell_sessions_print_what_they_show(
        page: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    commands = [piece for session in blocks(page, "console")
                for piece in session.split("$ ")[1:]]
    assert len(commands) >= 4
    for piece in commands:
        command, _, shown = piece.partition("\n")
        printed = run(command, capfd, monkeypatch).splitlines()
        at = 0
        for line in shown.splitlines():
            if line == "...":
                continue
            assert line in printed[at:], f"{command!r} does not print {line!r}"
            at = printed.index(line, at) + 1


def comment_after(lines: list[str], end: int) -> str:
    """The comment on a statement's last line (from 1), or alone on the line after it."""
    below = lines[end].strip() if end < len(lines) else ""
    return lines[end - 1].partition("  # ")[2] or (below[2:] if below.startswith("# ") else "")


@pytest.mark.parametrize("page", PAGES)
def test_the_python_gives_what_its_comments_say(page: str) -> None:
    names: dict[str, object] = {}
    checked = 0
    for block in blocks(page, "python"):
        lines = block.splitlines()
        for node in ast.parse(block).body:
            code = ast.get_source_segment(block, node) or ""
            if not isinstance(node, ast.Expr):
                exec(code, names)
                continue
            value = eval(code.removeprefix("print"), names)
            expected = comment_after(lines, node.end_lineno or 0)
            if expected:
                assert str(value).startswith(expected.rstrip("…")), code
                checked += 1
    assert checked >= 4
