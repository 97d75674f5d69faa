"""Options are declared once: type checkers, the command line and the checks say the same."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import perceptron_nlp as pn
from perceptron_nlp.cli.main import parser_of
from perceptron_nlp.tagger.train.options import GROUPS, TrainOptions, declaration

OPTIONS = {option.name: option for option in fields(pn.TrainingOptions)}


def actions() -> dict[str, argparse.Action]:
    """Options of ``perceptron-nlp train`` by the names that Python has for them."""
    return {action.dest: action for action in parser_of("train").actions()}


def test_the_typed_keyword_arguments_are_the_fields() -> None:
    hints = TrainOptions.__annotations__
    written = {name: hint.__forward_arg__ for name, hint in hints.items()}
    assert written == {name: option.type for name, option in OPTIONS.items()}


def test_a_type_checker_sees_a_misspelled_option(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="types are checked with mypy")
    (tmp_path / "program.py").write_text(
        "import perceptron_nlp as pn\n"
        'pn.train("a.conllu", epochs=3, beam=None, raw=["b.txt"])\n'
        'pn.train("a.conllu", epoch=3)\n'
        'pn.train("a.conllu", epochs="3")\n'
    )
    root = Path(pn.__file__).parents[1]
    # With the library's settings: not all that it can work with is installed.
    own = (f"--cache-dir={root / '.mypy_cache'}", f"--config-file={root / 'pyproject.toml'}")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *own, "program.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(root)},
        capture_output=True,
        text=True,
    )
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert len(errors) == 2, done.stdout + done.stderr
    assert 'program.py:3: error: Unexpected keyword argument "epoch" for "train"' in errors[0]
    assert 'program.py:4: error: Argument "epochs" to "train" has incompatible type' in errors[1]


def test_every_option_is_on_the_command_line_in_its_group() -> None:
    named = {group.title: group._group_actions for group in parser_of("train")._action_groups}
    for name, option in OPTIONS.items():
        (action,) = [a for a in named[declaration(option).group] if a.dest == name]
        assert declaration(option).help.replace("%", "%%") in str(action.help)
        assert action.default in (None, False, [])
    assert [title for title in named if title in GROUPS] == [*GROUPS]


def outside(name: str) -> list[tuple[Any, type[Exception]]]:
    """Values that an option cannot have, with the error of each."""
    option = OPTIONS[name]
    declared, kind = declaration(option), str(option.type)
    wrong: list[tuple[Any, type[Exception]]] = []
    if declared.choices:
        wrong.append(("no such choice", pn.ArgumentError))
    if declared.choices or kind.startswith("bool") or declared.range != (0, 0):
        wrong.append((b"1", pn.ArgumentTypeError))
    if declared.range != (0, 0):
        low, high = declared.range
        below, above = (low - 1, high + 1) if kind.startswith("int") else (-1.0, 2 * high)
        wrong += [(value, pn.ArgumentError) for value in (below, above)]
    return wrong


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [(name, value, error) for name in OPTIONS for value, error in outside(name)],
)
def test_a_value_out_of_its_declared_range_is_named(
    name: str, value: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match=name):
        pn.TrainingOptions(**{name: value})


@pytest.mark.parametrize("digits", [400, 5000])
def test_a_number_of_thousands_of_digits_is_named_and_not_written_out(digits: int) -> None:
    for name in ("epochs", "seed", "margin"):
        with pytest.raises(pn.ArgumentError, match=rf"^{name}: an int of [\d,]+ bits is not betw"):
            pn.TrainingOptions(**{name: 10**digits})
    with pytest.raises(pn.ArgumentError, match=r"^dictionary's share: an int of [\d,]+ bits"):
        pn.TrainingOptions(dictionary=(1, 10**digits))


def test_a_number_is_recorded_alike_whether_it_is_written_as_an_int_or_as_a_float() -> None:
    whole = pn.TrainingOptions(rate=1, margin=0, cost=2, dictionary=(3, 1))
    broken = pn.TrainingOptions(rate=1.0, margin=0.0, cost=2.0, dictionary=(3, 1.0))
    assert json.dumps(whole.record()) == json.dumps(broken.record())


def test_what_may_be_left_out_has_a_default_that_is_allowed() -> None:
    for option in OPTIONS.values():
        options = pn.TrainingOptions(**{option.name: option.default})
        assert getattr(options, option.name) == option.default
