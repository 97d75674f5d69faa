"""What the tests of the command line share: tiny corpora, a model, and ways to run it."""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.cli.main import main

ROOT = Path(pn.__file__).resolve().parents[1]
TAGGED = [
    "The/DET dog/NOUN barks/VERB ./PUNCT",
    "A/DET small/ADJ cat/NOUN sleeps/VERB ./PUNCT",
    "She/PRON sees/VERB the/DET old/ADJ house/NOUN ./PUNCT",
    "They/PRON run/VERB !/PUNCT",
    "Old/ADJ dogs/NOUN sleep/VERB",
]


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    status: int
    out: bytes
    err: str

    @property
    def message(self) -> str:
        """The only line on standard error."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        return lines[0]


Run = Callable[..., Outcome]


class Screen(io.StringIO):
    """Standard error as a terminal."""

    def isatty(self) -> bool:
        return True


def conllu(sentences: list[str]) -> str:
    """CoNLL-U with UPOS out of ``word/TAG`` lines."""
    blocks = []
    for number, sentence in enumerate(sentences, 1):
        rows = [f"# sent_id = s{number}"]
        for at, token in enumerate(sentence.split(), 1):
            word, _, tag = token.rpartition("/")
            rows.append(f"{at}\t{word}\t{word.lower()}\t{tag}\t_\t_\t_\t_\t_\tNote={at}")
        blocks.append("\n".join(rows) + "\n\n")
    return "".join(blocks)


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty working folder, and no settings of the person who runs the tests."""
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "PERCEPTRON_NLP_TRACEBACK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def model_bytes(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small model of UPOS."""
    path = tmp_path_factory.mktemp("model") / "train.conllu"
    path.write_text(conllu(TAGGED), "utf-8")
    return pn.train(path, epochs=5, templates="default").to_bytes()


@pytest.fixture
def model(model_bytes: bytes) -> Path:
    """The same as a file, ``en.model``."""
    path = Path("en.model")
    path.write_bytes(model_bytes)
    return path


@pytest.fixture
def train_file() -> Path:
    """``train.conllu``, labeled."""
    path = Path("train.conllu")
    path.write_text(conllu(TAGGED), "utf-8")
    return path


@pytest.fixture
def cli(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command line in this process: its arguments, or the one string that a shell splits."""

    def run(*arguments: object, stdin: bytes = b"") -> Outcome:
        if len(arguments) == 1:
            arguments = tuple(shlex.split(str(arguments[0])))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
        status = main([str(argument) for argument in arguments])
        out, err = capsysbinary.readouterr()
        return Outcome(status, out, err.decode("utf-8"))

    return run


@pytest.fixture
def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Makes standard output a terminal of so many columns, without color."""

    def settle(width: int) -> None:
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    return settle


@pytest.fixture
def refuses(cli: Run) -> Callable[..., str]:
    """Runs a command line that is to fail for bad input; the message after the program's name.

    Whatever stood in the folder must stand there afterwards, and nothing else.
    """

    def run(*arguments: object, stdin: bytes = b"") -> str:
        before = snapshot(Path())
        outcome = cli(*arguments, stdin=stdin)
        assert outcome.status == 2, outcome
        assert outcome.message.startswith("perceptron-nlp: ")
        assert snapshot(Path()) == before
        return outcome.message.removeprefix("perceptron-nlp: ")

    return run


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Every file below a folder with its content."""
    return {
        str(path): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def environment() -> dict[str, str]:
    """The environment of a process of its own that finds the package."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


COMMAND = [sys.executable, "-W", "error", "-m", "perceptron_nlp"]


@pytest.fixture
def process() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Runs a command line in a process of its own, `before` being put before it."""

    def run(
        *arguments: object, before: tuple[str, ...] = (), stdin: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*before, *COMMAND, *map(str, arguments)],
            input=stdin,
            capture_output=True,
            env=environment(),
            timeout=60,
            check=False,
        )

    return run


@pytest.fixture
def started() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts a command line in a process of its own, with pipes to it and from it.

    A process that gives no answer is killed after a minute, so that no test waits for ever.
    """
    timers: list[threading.Timer] = []

    def start(*arguments: object) -> subprocess.Popen[bytes]:
        running = subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        )
        timers.append(threading.Timer(60, running.kill))
        timers[-1].start()
        return running

    yield start
    for timer in timers:
        timer.cancel()
