"""The names that the package and its objects show."""

from __future__ import annotations

import ast
from pathlib import Path

import perceptron_nlp as pn
import perceptron_nlp.formats as formats

PACKAGE = Path(pn.__file__).parent


def test_dir_of_formats_shows_the_public_names_and_nothing_else() -> None:
    assert dir(formats) == sorted(formats.__all__)


def test_dir_of_the_package_shows_what_its_users_call() -> None:
    helpers = {"MODEL_FORMAT_VERSION", "TaggerModel", "check_place", "read_model", "replace_file"}
    assert set(dir(pn)) == {"annotation"} | set(pn.__all__) - helpers
    for name in helpers | set(dir(pn)):
        assert getattr(pn, name) is not None


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
