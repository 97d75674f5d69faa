"""Command lines and what they answer, case by case, as the files of ``cases`` say.

A case begins with ``# its name``. The lines of a case, in which backslashes escape, are

    = NAME CONTENT   a file; a name that ends in / is a folder, one in .gz is packed
    < CONTENT        standard input of the next command
    $ COMMAND        a command line as in a shell; {a|b} stands for several, each a case of its own
    ! MESSAGE        its refusal: the one line on standard error behind the program's name
    | CONTENT        its standard output
    % CONTENT        its standard error

An ellipsis stands for any text, wherever it is. ``en.model`` and ``train.conllu`` are there, and so
is ``old``, which no refusal may change; nor may one leave any file behind.
"""

from __future__ import annotations

import gzip
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("cases")
# Verbs that read a text, that need labels, and that load a model.
GROUPS = {
    "READ": "train --model old|evaluate en.model|tag -o old en.model",
    "LEARN": "train --model old|evaluate en.model",
    "TRAIN": "train train.conllu --model m",
}


def cases() -> Iterator[object]:
    """Each case of each file, once for each way to say its command."""
    for path in sorted(CASES.glob("*.txt")):
        for block in re.split(r"^# ", path.read_text("utf-8"), flags=re.MULTILINE)[1:]:
            name, *lines = block.strip("\n").split("\n")
            text = "\n".join(lines)
            for group, ways in GROUPS.items():
                text = text.replace("{" + group + "}", "{" + ways + "}")
            choices = list(dict.fromkeys(re.findall(r"\{[^{}\n]*\}", text)))
            for chosen in itertools.product(*(one[1:-1].split("|") for one in choices)):
                said = text
                for one, way in zip(choices, chosen, strict=True):
                    said = said.replace(one, way)
                yield pytest.param(said, id="-".join([path.stem, name, *chosen]))


def unescaped(text: str) -> bytes:
    """The bytes that a line of a case means."""
    return text.encode("latin-1", "backslashreplace").decode("unicode-escape").encode("latin-1")


def matches(pattern: str, text: str) -> bool:
    """Is a text what a line says, with any text for its ellipses?"""
    plain = pattern.encode("latin-1", "backslashreplace").decode("unicode-escape")
    return re.fullmatch(".*".join(map(re.escape, plain.split("…"))), text, re.DOTALL) is not None


@pytest.mark.parametrize("case", [*cases()])
def test_a_command_answers_as_its_case_says(
    cli, refuses, model: Path, train_file: Path, case: str
) -> None:
    Path("old").write_bytes(b"what was there before")
    stdin, command, answered = b"", "", False
    for line in [*case.splitlines(), "$"]:
        sign, _, rest = line.partition(" ")
        if sign == "=":
            name, _, content = rest.partition(" ")
            packed = gzip.compress if name.endswith(".gz") else bytes
            if name.endswith("/"):
                Path(name).mkdir()
            else:
                Path(name).write_bytes(packed(unescaped(content)))
        elif sign == "<":
            stdin = unescaped(rest)
        elif sign == "!":
            message = refuses(command, stdin=stdin)
            assert matches(rest, message), message
            answered = True
        elif sign == "$":
            assert answered or not command, f"nothing is said of: {command}"
            command, answered = rest, False
        else:
            outcome = cli(command, stdin=stdin)
            found = outcome.out.decode() if sign == "|" else outcome.err
            assert outcome.status == 0 and sign in "|%", outcome
            assert matches(rest, found), found
            answered = True
