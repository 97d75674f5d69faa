"""What `make everywhere` runs, and what continuous integration and the release ask of it."""

from __future__ import annotations

import fnmatch
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "everywhere.py"
WORKFLOWS = [ROOT / ".ci" / "run", *sorted((ROOT / ".github" / "workflows").glob("*.yml"))]

if not all(path.exists() for path in WORKFLOWS):
    pytest.skip("a source distribution has no continuous integration", allow_module_level=True)


def commands() -> list[str]:
    """The make commands of the workflows, a line each."""
    return [
        line
        for path in WORKFLOWS
        for line in re.findall(
            r"^[^#\n]*?\b(make [^|;&\n]+)", path.read_text("utf-8"), re.MULTILINE
        )
        if not line.startswith("make VENV=")
    ]


def test_every_target_that_a_workflow_makes_is_one_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8").replace("$(VENV)", ".venv")
    targets = set(re.findall(r"^([\w./-]+):", makefile, re.MULTILINE))
    asked = {
        word
        for line in commands()
        for word in re.sub(r'\w+=("[^"]*"|\S+)', "", line).split()[1:]
        if not word.startswith(("-", '"', "$"))
    }
    assert {"test", "lint", "everywhere", "sdist", ".venv/building"} <= asked
    assert asked <= targets


def test_every_row_that_a_workflow_asks_for_is_there() -> None:
    names = [row.name for row in runpy.run_path(str(SCRIPT))["rows"]()]
    asked = [
        pattern
        for line in commands()
        for rows in re.findall(r'ROWS="([^"]+)"', line)
        for pattern in rows.split()
    ]
    assert asked
    assert all(fnmatch.filter(names, pattern) for pattern in asked)
    assert len(names) == len(set(names))


def test_what_the_machine_lacks_is_named_with_what_installs_it_and_is_no_failure(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, "c-s390x", "clang"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.search(
        r"c-s390x +not run +install: apt-get install .*gcc-s390x-linux-gnu", done.stdout
    )
    assert re.search(r"clang +not run +install: apt-get install clang", done.stdout)
    assert done.returncode == 0


def test_a_row_that_computes_something_else_is_told_and_ends_with_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = runpy.run_path(str(SCRIPT))

    def differs() -> str:
        raise script["Differs"]("other models or labels: beam")

    script["main"].__globals__["rows"] = lambda: [
        script["Row"]("clang", "", differs),
        script["Row"]("gcc", "", lambda: "the same bytes"),
    ]
    monkeypatch.setattr(sys, "argv", ["everywhere.py"])
    assert script["main"]() == 1
    assert "DIFFERS  other models or labels: beam" in capsys.readouterr().out


def test_models_and_labels_are_compared_kind_by_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    script = runpy.run_path(str(SCRIPT))
    here = script["same_bytes"].__globals__
    here["hashes_here"] = lambda: script["lines_by_kind"]("1 2 exact\n3 4 beam\n")
    for told, wrong in (
        ("1 2 exact\n3 4 beam\n", ""),
        ("1 2 exact\n3 5 beam\n", "beam"),
        ("1 2 exact\n", "beam"),
    ):
        here["run"] = lambda *_, told=told, **__: told
        if not wrong:
            assert script["same_bytes"](ROOT, ["python"]).startswith("2 kinds of models")
            continue
        with pytest.raises(script["Differs"], match=f"labels: {wrong}$"):
            script["same_bytes"](ROOT, ["python"])
