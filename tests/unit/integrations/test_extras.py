"""An integration whose library is not installed names the extra that brings it."""

from __future__ import annotations

import importlib
import sys

import pytest

import perceptron_nlp as pn
from perceptron_nlp.integrations import hub

MODULES = [
    ("spacy", "spacy", "spacy"),
    ("sklearn", "sklearn.base", "sklearn"),
    ("arrow", "pyarrow", "arrow"),
]


@pytest.mark.parametrize(("module", "library", "extra"), MODULES, ids=[m for m, _, _ in MODULES])
def test_a_missing_library_is_named_with_its_extra(
    module: str, library: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(sys.modules):
        if name.startswith("perceptron_nlp.integrations.") or name.split(".")[0] == library:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        pn.MissingExtraError, match=rf'not installed: pip install "perceptron-nlp\[{extra}\]"'
    ):
        importlib.import_module(f"perceptron_nlp.integrations.{module}")


@pytest.mark.parametrize(
    ("module", "function", "given", "library", "extra"),
    [
        ("engines", "train", ["text"], "ray", "ray"),
        ("arrow", "tag_dataframe", ["frame", "en"], "pyspark.sql.pandas.types", "spark"),
    ],
)
def test_an_engine_that_is_missing_is_named_with_its_extra(
    module: str,
    function: str,
    given: list[str],
    library: str,
    extra: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = pytest.importorskip(
        f"perceptron_nlp.integrations.{module}", exc_type=pn.MissingExtraError
    )
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(pn.MissingExtraError, match=rf"perceptron-nlp\[{extra}\]"):
        getattr(own, function)(*given)


def test_uploading_and_downloading_without_the_hubs_client_name_its_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(pn.MissingExtraError, match=r"perceptron-nlp\[hub\]"):
        hub.from_pretrained("a/b")


def test_importing_the_package_imports_no_optional_library() -> None:
    import subprocess

    libraries = ("spacy", "sklearn", "nltk", "pyarrow", "huggingface_hub", "ray", "pyspark")
    code = (
        "import sys, perceptron_nlp as pn, perceptron_nlp.integrations.hub; pn.train;"
        f"print([name for name in {libraries} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
