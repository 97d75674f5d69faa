"""M5: what stands in the package's own sources."""

from __future__ import annotations

import ast
import re

from benchmarks.trust.children import ROOT
from benchmarks.trust.reached import Reached, count_of

_RUNNERS = {
    "pickle",
    "cPickle",
    "dill",
    "cloudpickle",
    "joblib",
    "marshal",
    "shelve",
    "runpy",
    "importlib",
    "imp",
    "code",
    "ctypes",
    "subprocess",
    "yaml",
}
_CALLS = {"eval", "exec", "compile", "__import__", "execfile"}
# What is imported there stands in the source: the modules of public names, zstd of Python 3.14, the
# presets and templates of pages, the metadata of packages; verbs and integrations, none of which
# has a part in loading.
_ALLOWED = {
    ("__init__.py", "importlib"),
    ("formats/__init__.py", "importlib"),
    ("formats/opening.py", "importlib"),
    ("features/templates.py", "importlib"),
    ("pages/__init__.py", "importlib"),
    ("tagger/model/installed.py", "importlib"),
}
_APART = (
    "cli/",
    "integrations/",
    "perceptrons/",
    "analysis/report.py",
    "analysis/figures.py",
    "analysis/accuracy.py",
    "analysis/serve.py",
    "annotation/server.py",
    "pages/serving.py",
    # Readers of formats and stages of a training are imported by their names, which are those of
    # a list.
    "formats/corpus.py",
    "tagger/train/learning.py",
)


def no_code(full: bool) -> Reached:
    """M5: nothing that could run code from a file is imported or called anywhere."""
    del full
    package = ROOT / "perceptron_nlp"
    sources = sorted([*package.rglob("*.py"), *package.rglob("*.pyx")])
    wrong: list[str] = []
    for source in sources:
        name = source.relative_to(package).as_posix()
        text = source.read_text("utf-8")
        found = _runners_in(text) if source.suffix == ".py" else _runners_in_cython(text)
        wrong += [
            f"{name}: {what}"
            for what in found
            if (name, what) not in _ALLOWED
            and not (what == "importlib" and name.startswith(_APART))
        ]
        if "allow_pickle=True" in text:
            wrong.append(f"{name}: allow_pickle")
    return count_of(wrong, len(sources), "sources free of code loading")


def _runners_in(text: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(text)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found += [node.func.id] if node.func.id in _CALLS else []
        found += [root for root in (name.split(".")[0] for name in names) if root in _RUNNERS]
    return found


def _runners_in_cython(text: str) -> list[str]:
    imports = re.findall(r"^\s*(?:from|import) (\w+)", text, re.MULTILINE)
    calls = re.findall(r"\b(eval|exec|__import__)\(", text)
    return [name for name in imports if name in _RUNNERS] + calls
