"""Signals, and machines that give too little: the program ends in order and says so in a line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from perceptron_nlp.cli import main
from tests.unit.cli.conftest import environment

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX are needed")

Started = Callable[..., subprocess.Popen[bytes]]

INTERRUPTED_AT = """
import os, runpy, signal, sys
import perceptron_nlp
class AtImport:
    module = sys.argv.pop(1)
    @classmethod
    def find_spec(cls, name, path, target=None):
        if name == cls.module:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, AtImport)
runpy.run_module("perceptron_nlp", run_name="__main__", alter_sys=True)
"""

LIMITED = """
import resource, sys
from perceptron_nlp.__main__ import main
name, room = sys.argv.pop(1), int(sys.argv.pop(1))
if name == "RLIMIT_AS":
    with open("/proc/self/statm") as file:
        room += int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(getattr(resource, name), (room, room))
sys.exit(main())
"""


# What Python 3.11 raises where memory ends while it compiles a module that is imported.
UNCOMPILED = """
import sys
from perceptron_nlp.__main__ import main
class Finder:
    def find_spec(name, path=None, target=None):
        if name == "perceptron_nlp.cli.main":
            raise ValueError("field 'target' is required for AnnAssign")
sys.meta_path.insert(0, Finder)
sys.exit(main())
"""


def run_code(code: str, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        input=b"The dog\n",
        capture_output=True,
        env=environment(),
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "module",
    [
        "perceptron_nlp.cli.main",
        "argparse",
        "perceptron_nlp.cli.parsing",
        "perceptron_nlp.cli.train",
        "numpy",
        "numpy.linalg",
        "perceptron_nlp.tagger.train.loop",
    ],
)
def test_ctrl_c_while_the_program_starts_is_one_line_and_status_130(
    train_file: Path, module: str
) -> None:
    done = run_code(INTERRUPTED_AT, module, "train", train_file, "--model", "m")
    assert done.returncode == 130
    assert done.stderr.replace(b"train.conllu: read as conllu\n", b"") == (
        b"perceptron-nlp: interrupted\n"
    )
    assert not Path("m").exists()


def parts() -> list[str]:
    return [name for name in os.listdir() if name.endswith(".part")]


@pytest.fixture
def writing(model: Path, started: Started) -> subprocess.Popen[bytes]:
    """A process that has begun to write ``out.txt``, which was there, and waits for more."""
    Path("out.txt").write_bytes(b"old")
    running = started("tag", model, "--format", "text", "-o", "out.txt")
    assert running.stdin is not None
    running.stdin.write(b"The dog\n\n" * 50_000)
    running.stdin.flush()
    limit = time.monotonic() + 60
    while not any(Path(part).stat().st_size for part in parts()) and time.monotonic() < limit:
        time.sleep(0.01)
    return running


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_removes_what_was_begun_and_leaves_the_old_file(
    writing: subprocess.Popen[bytes], name: str
) -> None:
    number = getattr(signal, name)
    said = b"interrupted" if name == "SIGINT" else b"terminated"
    assert len(parts()) == 1
    with writing:
        if signal.getsignal(number) is signal.SIG_IGN:
            pytest.skip(f"{name} is ignored here, as under nohup, and by what is started here")
        assert writing.stderr is not None
        writing.send_signal(number)
        assert writing.wait(60) == 128 + number
        assert writing.stderr.read() == b"perceptron-nlp: " + said + b"\n"
    assert parts() == []
    assert Path("out.txt").read_bytes() == b"old"


def test_ctrl_break_of_windows_ends_work_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "SIGBREAK", signal.SIGUSR1, raising=False)
    with main._answering_signals(), pytest.raises(main.Terminated):
        signal.raise_signal(signal.SIGUSR1)
    assert signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL


@pytest.mark.parametrize(
    ("number", "raised"), [(signal.SIGTERM, main.Terminated), (signal.SIGINT, KeyboardInterrupt)]
)
def test_a_signal_is_answered_that_comes_where_nothing_can_be_raised(
    number: int, raised: type[BaseException]
) -> None:
    class Interrupted:
        def __del__(self) -> None:
            signal.raise_signal(number)

    def work() -> None:
        Interrupted()
        limit = time.monotonic() + 10
        while time.monotonic() < limit:
            pass

    begin = time.monotonic()
    with main._answering_signals(), pytest.raises(raised):
        work()
    assert time.monotonic() - begin < 10


def test_a_signal_that_is_ignored_stays_so(model: Path) -> None:
    running = subprocess.Popen(
        ["nohup", sys.executable, "-m", "perceptron_nlp", "tag", str(model), "--format", "text"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    with running:
        assert running.stdin is not None and running.stdout is not None
        running.stdin.write(b"The dog\n")
        running.stdin.flush()
        assert running.stdout.readline() == b"The/DET dog/NOUN\n"
        running.send_signal(signal.SIGHUP)
        assert running.communicate(b"The cat\n", 60)[0] == b"The/DET cat/NOUN\n"
    assert running.returncode == 0


def test_a_training_that_is_terminated_says_how_to_go_on(
    train_file: Path, started: Started
) -> None:
    with started(
        "train", train_file, "--model", "m", "--epochs", 10_000, "--checkpoint", "c"
    ) as running:
        limit = time.monotonic() + 60
        while not Path("c").exists() and time.monotonic() < limit:
            time.sleep(0.01)
        running.terminate()
        _, err = running.communicate(timeout=60)
    assert running.returncode == 128 + signal.SIGTERM
    last = err.decode().splitlines()[-1]
    assert last.startswith("perceptron-nlp: terminated; ") and "--resume" in last
    assert b"Traceback" not in err


@pytest.mark.parametrize("verb", [["tag", "en"], ["inspect", "en"], ["--version"]])
def test_too_few_open_files_are_one_line_and_status_2(verb: list[str]) -> None:
    done = run_code(LIMITED, "RLIMIT_NOFILE", 3, *verb)
    lines = done.stderr.decode().splitlines()
    assert (done.returncode, len(lines)) == (2, 1), lines
    assert lines[0].startswith("perceptron-nlp: ") and "Too many open files" in lines[0]


def test_memory_that_ends_while_a_module_is_compiled_is_one_line_and_status_2() -> None:
    done = run_code(UNCOMPILED, "--version")
    assert done.stderr.decode().splitlines() == [
        "perceptron-nlp: cannot start: there is not enough memory"
    ]
    assert done.returncode == 2


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is asked of /proc")
@pytest.mark.parametrize("megabytes", [1, 3, 5, 10, 20, 30, 40, 60, 80, 100, 110])
def test_too_little_memory_is_one_line_of_ours_and_status_2(
    train_file: Path, megabytes: int
) -> None:
    done = run_code(LIMITED, "RLIMIT_AS", megabytes << 20, "train", train_file, "--model", "m")
    lines = done.stderr.decode().splitlines()
    if done.returncode == 0:
        assert megabytes >= 100
        return
    assert done.returncode == 2, lines
    assert lines[-1].startswith("perceptron-nlp: "), lines
    assert len([line for line in lines if "read as" not in line]) == 1, lines
    assert "unexpected" not in lines[-1]
