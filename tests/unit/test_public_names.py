"""The names that the package and its objects show."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import perceptron_nlp as pn
import perceptron_nlp.formats as formats

PACKAGE = Path(pn.__file__).parent


@pytest.mark.parametrize("module", [pn, formats])
def test_dir_shows_the_public_names_and_nothing_else(module: object) -> None:
    assert dir(module) == sorted(module.__all__)  # type: ignore[attr-defined]


def test_what_is_called_to_json_gives_text_and_to_dict_a_dictionary() -> None:
    returned = {
        (function.name, ast.unparse(function.returns).partition("[")[0])
        for path in PACKAGE.rglob("*.py")
        for function in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(function, ast.FunctionDef)
        and function.name in ("to_json", "to_dict")
        and function.returns is not None
    }
    assert returned == {("to_json", "str"), ("to_dict", "dict")}
