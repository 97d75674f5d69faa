"""A program that writes into ``tag`` and waits for the answer gets it, by real pipes."""

from __future__ import annotations

import os
import select
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

SENTENCE = b"She sold the boats. They did not sink.\n"
# Beyond what any answer takes, but for a machine that stands still.
LONG = 60.0


class Dialogue:
    """``tag`` in a process of its own, which is written to and read from."""

    def __init__(self, running: subprocess.Popen[bytes]) -> None:
        assert running.stdin is not None and running.stdout is not None
        self._running, self._to, self._from = running, running.stdin, running.stdout
        self._read = b""

    def write(self, text: bytes) -> None:
        """Write, and leave the pipe open."""
        self._to.write(text)
        self._to.flush()

    def read(self, until: bytes, count: int = 1) -> bytes:
        """Read until this was written so often since the last call."""
        while self._read.count(until) < count:
            assert select.select([self._from], [], [], LONG)[0], self._read
            found = os.read(self._from.fileno(), 1 << 16)
            assert found, self._read
            self._read += found
        found, self._read = self._read, b""
        return found

    def nothing_comes(self, seconds: float) -> bool:
        """Return True if nothing is written within this time."""
        return not select.select([self._from], [], [], seconds)[0]

    def leave(self) -> None:
        """End the process, if a test failed before it did."""
        with self._running:
            self._running.kill()

    def end(self) -> bytes:
        """Close the pipe; return what is written at the end."""
        found, errors = self._running.communicate(timeout=LONG)
        assert (self._running.returncode, errors) == (0, b"")
        return self._read + found


@pytest.fixture
def talks(started: Callable[..., subprocess.Popen[bytes]]) -> Iterator[Callable[..., Dialogue]]:
    """Starts ``tag`` with arguments."""
    dialogues: list[Dialogue] = []

    def start(*arguments: object) -> Dialogue:
        dialogues.append(Dialogue(started("tag", *arguments, "--quiet")))
        return dialogues[-1]

    yield start
    for dialogue in dialogues:
        dialogue.leave()


@pytest.mark.parametrize("more", [(), ("--threads", "2"), ("--format", "text")])
def test_running_text_is_answered_after_a_silence(talks, more: tuple[str, ...]) -> None:
    dialogue = talks("en", *more)
    for _ in range(2):
        dialogue.write(SENTENCE)
        assert b"# text = They did not sink.\n" in dialogue.read(b"\n\n", 2)
    assert dialogue.end() == b""


def test_a_line_without_its_end_waits_for_it(talks) -> None:
    dialogue = talks("en", "--column", "upos", "--to", "tagged", "--format", "text")
    dialogue.write(SENTENCE + b"Then they")
    assert dialogue.read(b"\n", 2).startswith(b"She/PRON sold/VERB")
    assert dialogue.nothing_comes(1.5)
    dialogue.write(b" left.\n")
    assert dialogue.read(b"\n") == b"Then/ADV they/PRON left/VERB ./PUNCT\n"
    assert dialogue.end() == b""


def test_sentences_of_a_line_are_answered_before_its_end(talks) -> None:
    dialogue = talks("en", "--column", "upos", "--to", "tagged", "--format", "text")
    dialogue.write(SENTENCE)
    dialogue.read(b"\n", 2)
    dialogue.write(b"Then they left. We went home and slept")
    assert dialogue.read(b"\n") == b"Then/ADV they/PRON left/VERB ./PUNCT\n"
    dialogue.write(b" well.")
    assert dialogue.end().count(b"\n") == 1


def test_an_empty_line_is_answered_at_once(talks) -> None:
    dialogue = talks("en", "--format", "text")
    dialogue.write(SENTENCE + b"\nNow")
    assert dialogue.read(b"\n\n", 2).startswith(b"# sent_id = 1\n")
    assert dialogue.end().startswith(b"# sent_id = 3\n# text = Now\n")


def test_a_model_without_learned_segmentation_is_answered_too(talks, model: Path) -> None:
    dialogue = talks(model, "--format", "text")
    dialogue.write(b"The dog barks\n")
    assert dialogue.read(b"\n").startswith(b"The/DET dog/NOUN")
    assert dialogue.end() == b""


@pytest.mark.parametrize(
    ("text", "tagged"),
    [
        (b"# sent_id = 1\n1\tThe\t_\t_\t_\t_\t_\t_\t_\t_\n\n", b"1\tThe\t_\tDET\t"),
        (b"The/X dog/X barks/X\n", b"The/DET dog/NOUN"),
        (b"The\tX\ndog\tX\n\n", b"The\tDET\n"),
    ],
)
def test_the_format_is_told_by_what_comes_first(talks, model: Path, text: bytes, tagged) -> None:
    dialogue = talks(model, *(("--column", "2") if b"The\tX" in text else ()))
    dialogue.write(text)
    assert tagged in dialogue.read(b"\n", text.count(b"\n"))
    assert dialogue.end() == b""


@pytest.mark.parametrize("threads", ["1", "2"])
def test_with_lines_each_line_is_a_text_of_its_own_answered_at_once(talks, threads: str) -> None:
    dialogue = talks("en", "--lines", "--column", "upos", "--to", "tagged", "--threads", threads)
    for line in (b"disk full on\n", b"the second floor\n"):
        dialogue.write(line + b"\n")
        found = dialogue.read(b"\n").split()
        assert [token.rpartition(b"/")[0] for token in found] == line.split()
    assert dialogue.end() == b""


def test_a_record_is_answered_at_once(talks) -> None:
    dialogue = talks("en", "--column", "upos")
    for word in (b"Stop", b"Go"):
        dialogue.write(b'{"text":"%s!"}\n' % word)
        assert dialogue.read(b"\n").startswith(b'{"text":"%s!","sentences":[[{"form":"' % word)
    assert dialogue.end() == b""


def test_lines_of_a_file_are_the_texts_of_the_lines_one_by_one(cli) -> None:
    lines = ["She sold the", "boats. They did", "", "not sink.\r", "Who", "knows?"]
    Path("all.txt").write_bytes("\n".join(lines).encode())
    how = ("--column", "upos", "--to", "tagged", "--format", "text", "--quiet")
    alone = [cli("tag", "en", *how, stdin=line.encode()).out for line in lines]
    assert cli("tag", "en", "all.txt", *how, "--lines").out == b"".join(alone)


def test_lines_are_lines_without_learned_segmentation(cli, model: Path) -> None:
    text = b"The dog\nbarks at\n\nthe cat\n"
    found = cli("tag", model, "--lines", "--quiet", stdin=text).out
    assert [len(line.split()) for line in found.splitlines()] == [2, 2, 2]


def test_what_goes_into_a_file_does_not_depend_on_when_it_comes(
    started: Callable[..., subprocess.Popen[bytes]], cli
) -> None:
    running = started("tag", "en", "--format", "text", "--quiet", "-o", "slow.conllu")
    assert running.stdin is not None
    halves = SENTENCE.replace(b"\n", b" The\n"), b"boats are new.\n"
    running.stdin.write(halves[0])
    running.stdin.flush()
    assert not select.select([running.stdout], [], [], 2)[0]
    running.communicate(halves[1], timeout=LONG)
    whole = cli("tag", "en", "--format", "text", "--quiet", stdin=b"".join(halves)).out
    assert Path("slow.conllu").read_bytes() == whole
