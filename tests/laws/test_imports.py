"""Imports go one way, and no module is a drawer for odds and ends."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Container
from pathlib import Path

import pytest

import perceptron_nlp

ROOT = Path(perceptron_nlp.__file__).parent
# Layers, each with those that it may import; a layer's own modules need no entry.
LAYERS = {
    "__main__": {"cli"},
    "cli": {
        "annotation",
        "compat",
        "integrations",
        "pages",
        "analysis",
        "combine",
        "perceptrons",
        "tagger",
        "features",
        "formats",
        "text",
        "_core",
    },
    # It could leave the package on any day: it imports public names alone.
    "compat": set(),
    "integrations": set(),
    "annotation": {"pages", "formats"},
    "analysis": {"perceptrons", "tagger", "pages", "features", "formats", "text", "_core"},
    "combine": {"tagger", "features", "formats", "text", "_core"},
    "perceptrons": {"tagger", "pages", "features", "formats", "text", "_core"},
    "tagger": {"pages", "features", "formats", "text", "_core"},
    "features": {"formats", "text", "_core"},
    "formats": {"text", "_core"},
    "pages": set(),
    "_checks": {"text"},
    "text": {"_core"},
    "_core": set(),
}
# Ctrl-C during the start is answered with one line, so the program imports within its function.
# A program that only tags, which is over in less time than importing NumPy takes, does without what
# explains, evaluates, trains and compresses: these import late.
LATE = {
    (f"{module}.py", function)
    for module, functions in {
        "__main__": ("main",),
        "cli/tag": ("run_tag",),
        "cli/tag_files": ("_filled", "_new_batches", "replaces_labels"),
        "cli/training": ("check_checkpoint",),
        "pages/renderers": ("written", "_repr_html_"),
        "formats/conllu": ("_sentence", "_checked", "_blame_what_cuts_the_sentence"),
        "formats/corpus": ("__init__",),
        "tagger/api": ("train",),
        "tagger/labelers": (
            "agreeing",
            "buffers",
            "label",
            "_by_itself",
            "_kept",
            "segmenter",
            "sentences",
            "texts",
            "filler",
            "_text_filler",
            "_words_filler",
            "_lists",
        ),
        "tagger/confidence": ("__init__", "sure_labels"),
        "tagger/label_scores": ("add", "untrained_labels"),
        "tagger/tagger": (
            "with_cutting",
            "labelers",
            "_checked",
            "resume",
            "_source",
            "tag_arrays",
            "scores",
            "with_lexicon",
            "calibrate",
            "explain",
            "evaluate",
            "evaluate_columns",
            "evaluate_text",
            "compress",
            "model_path",
            "named_models",
        ),
        "tagger/tag/agreeing_columns": ("_tokens", "labels", "scored", "written"),
        "tagger/tag/label": (
            "label",
            "learned_labels",
            "scored",
            "trace",
            "_allowed",
            "constraints",
            "_features",
            "_lemmatizer",
            "written",
            "decoder_of",
        ),
        "tagger/model/file": (
            "_segmentation",
            "_part",
            "stored",
            "_derived",
            "model_to_bytes",
            "model_from_bytes",
        ),
        "tagger/model/model": ("with_function", "agreeing"),
        "tagger/train/columns": (
            "as_iobes",
            "capital_share",
            "feature_columns",
            "with_neighbours_seen",
        ),
        "tagger/train/auto": ("_compared",),
        "tagger/train/learners": ("__init__",),
        "tagger/train/loop": ("_state", "_model"),
        "tagger/tag/fill": ("_labeled",),
    }.items()
    for function in functions
}
# Modules that import by a name made at run time: public names when they are first used, the verb of
# a command line, and an engine among those that are listed.
BY_NAME = {
    "__init__.py",
    "formats/__init__.py",
    "formats/corpus.py",
    "cli/extras.py",
    "cli/main.py",
    "cli/tag_folder.py",
    "tagger/train/learning.py",
}
LEAVES = {"errors", "sampling", "crossfit", "probability", "_display", "_version"}
BANNED = {"utils", "util", "helpers", "helper", "common", "misc"}
PYTHON = sorted(ROOT.rglob("*.py")) + sorted(ROOT.rglob("*.pyi"))
CYTHON = sorted(ROOT.rglob("*.pyx")) + sorted(ROOT.rglob("*.pxd"))
HEADERS = sorted(ROOT.rglob("*.h"))
SYSTEM_HEADERS = re.compile(r"<[\w/.]+>")


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def layer(path: Path) -> str:
    """The package of a file, or the name of a module at the top."""
    parts = path.relative_to(ROOT).parts
    return parts[0] if len(parts) > 1 else path.stem


def module_name(path: Path) -> str:
    parts = ("perceptron_nlp", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


def python_imports(path: Path, modules: Container[str] = ()) -> list[str]:
    """What a file imports, and from where; the package of a module that is known counts not."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{place(path)}:{node.lineno}: a relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found += names
            if not all(name in modules for name in names):
                found.append(node.module or "")
    return found


def cython_imports(path: Path) -> list[str]:
    text = path.read_text("utf-8")
    lines = re.findall(r"^\s*from\s+([\w.]+)\s+c?import\b", text, re.M)
    return lines + re.findall(r"^\s*c?import\s+([\w.]+)", text, re.M)


def included(path: Path) -> list[str]:
    """What a file includes or takes declarations from."""
    text = path.read_text("utf-8")
    return re.findall(r'^\s*#\s*include\s+([<"][^>"]+[>"])', text, re.M) + re.findall(
        r'cdef extern from ("[^"]+"|<[^>]+>)', text
    )


def arrows(path: Path) -> set[str]:
    """The parts of this library that a file imports."""
    names = cython_imports(path) if path in CYTHON else python_imports(path)
    ours = [name.split(".") for name in names if name.split(".")[0] == "perceptron_nlp"]
    return {name[1] if len(name) > 1 else "__init__" for name in ours}


def test_there_is_something_to_walk() -> None:
    assert len(PYTHON) > 40 and len(CYTHON) > 5 and len(HEADERS) > 5
    assert arrows(ROOT / "tagger" / "train" / "auto.py") >= {"features", "sampling", "tagger"}
    assert arrows(ROOT / "_core" / "train" / "greedy.pyx") == {"errors", "_core"}


@pytest.mark.parametrize("path", PYTHON + CYTHON, ids=place)
def test_no_import_points_the_wrong_way(path: Path) -> None:
    mine = layer(path)
    if mine == "__init__":
        return
    if mine in LEAVES:
        assert arrows(path) <= LEAVES
        return
    allowed = LAYERS.get(mine)
    assert allowed is not None, f"{mine} has no place in the order of imports"
    # The command line, the integrations and the analysis stand on the public API.
    on_top = mine in ("cli", "annotation", "compat", "integrations", "analysis")
    top = {"__init__", *perceptron_nlp.__all__} if on_top else set()
    wrong = arrows(path) - allowed - {mine, "_checks"} - LEAVES - top
    assert not wrong, f"{place(path)} may not import {', '.join(sorted(wrong))}"


# The rooms of the tagger, from the ground up: folders, and modules that stand by themselves.
STREET = (
    "model",
    "sources",
    "encoded",
    "overlap",
    "tag",
    "confidence",
    "labelers",
    "explain",
    "label_scores",
    "evaluation",
    "gold",
    "text_scores",
    "train",
    "tagger",
    "k_best",
    "cutting",
    "api",
)


def room(name: str) -> str:
    """The room of a module of the tagger, by its full name."""
    return name.split(".")[2]


@pytest.mark.parametrize("path", [p for p in PYTHON if layer(p) == "tagger"], ids=place)
def test_the_tagger_is_a_street_and_no_import_goes_up(path: Path) -> None:
    """Late imports and those for annotations count."""
    mine = module_name(path)
    if mine == "perceptron_nlp.tagger":
        return
    below = STREET[: STREET.index(room(mine)) + 1]
    inside = {name for name in python_imports(path) if name.startswith("perceptron_nlp.tagger.")}
    up = {name for name in inside if room(name) not in below}
    assert not up, f"{place(path)} may not import {', '.join(sorted(up))}"


# Modules above the tagger that import its internals, or how many modules of the tagger a layer
# imports; both may only shrink. Everything else uses the public names and Tagger's methods.
INTERNALS = {"annotation": 0, "analysis": 18, "cli": 7, "combine": {"distill", "merge", "votes"}}


def internals(path: Path) -> set[str]:
    """The modules inside the tagger that a file imports."""
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    names = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name for name in names if name.startswith("perceptron_nlp.tagger")}


def test_layers_above_the_tagger_use_the_public_names() -> None:
    found = {name: {p: internals(p) for p in PYTHON if layer(p) == name} for name in INTERNALS}
    for name, allowed in INTERNALS.items():
        if isinstance(allowed, int):
            count = len(set().union(*found[name].values()))
            assert count <= allowed, f"{name}/ imports {count} modules of the tagger"
        else:
            assert {path.stem for path, modules in found[name].items() if modules} == allowed


# Layers that could leave the package on any day, and what they import of it: names that its doors
# promise, besides the leaves.
DOORS = {"perceptron_nlp", "perceptron_nlp.formats", "perceptron_nlp.pages"}
ON_DOORS = {"annotation"}
SERVED = "perceptron_nlp.pages.serving"


def test_layers_on_public_names_import_what_the_doors_promise() -> None:
    for path in (path for path in PYTHON if layer(path) in ON_DOORS):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not node.module:
                continue
            top, _, rest = node.module.partition(".")
            own = rest.partition(".")[0]
            if top != "perceptron_nlp" or own in LEAVES | {"_checks", layer(path)}:
                continue
            assert node.module in {*DOORS, SERVED}, f"{place(path)}: {node.module} is no door"
            if node.module in DOORS:
                door = importlib.import_module(node.module)
                promised = getattr(door, "__all__", None)
                for alias in node.names:
                    assert promised is None or alias.name in promised, (
                        f"{place(path)}: {alias.name}"
                    )


@pytest.mark.parametrize("path", CYTHON + HEADERS, ids=place)
def test_the_core_includes_only_itself_and_the_system(path: Path) -> None:
    for name in included(path):
        if not SYSTEM_HEADERS.fullmatch(name):
            header = ROOT / "_core" / name.strip('"')
            assert header in HEADERS and layer(header) == layer(path), name


def check_one_way(after: dict[str, set[str]]) -> None:
    """Fail unless all can be put into an order in which each comes after what it needs."""
    done: set[str] = set()
    while len(done) < len(after):
        ready = {name for name in after if name not in done and after[name] <= done}
        assert ready, f"a cycle among {sorted(after.keys() - done)}"
        done |= ready


def test_headers_include_each_other_without_a_cycle() -> None:
    check_one_way(
        {
            path.relative_to(ROOT / "_core").as_posix(): {
                name.strip('"') for name in included(path) if name.startswith('"')
            }
            for path in HEADERS
        }
    )


def test_modules_import_each_other_without_a_cycle() -> None:
    """Late imports and those for annotations count; the public names stand above everything."""
    modules = {module_name(path): set[str]() for path in PYTHON + CYTHON}
    for path in PYTHON + CYTHON:
        names = cython_imports(path) if path in CYTHON else python_imports(path, modules)
        modules[module_name(path)].update(names)
    del modules["perceptron_nlp"]
    check_one_way({name: (names & modules.keys()) - {name} for name, names in modules.items()})


@pytest.mark.parametrize("path", PYTHON + CYTHON + HEADERS, ids=place)
def test_every_module_has_a_name_that_says_what_belongs_there(path: Path) -> None:
    names = {path.stem.lower().strip("_"), *(part.lower() for part in path.parent.parts[-2:])}
    assert not names & BANNED


@pytest.mark.parametrize("path", PYTHON, ids=place)
def test_no_import_hides_in_a_function_but_those_of_optional_packages(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            if (place(path), getattr(node, "name", "")) in LATE:
                continue
            for inner in ast.walk(node):
                names = []
                if isinstance(inner, ast.Import):
                    names = [alias.name for alias in inner.names]
                elif isinstance(inner, ast.ImportFrom):
                    names = [inner.module or ""]
                assert not [n for n in names if n.split(".")[0] == "perceptron_nlp"], (
                    f"{place(path)}:{inner.lineno}"
                )


@pytest.mark.parametrize("path", CYTHON, ids=place)
def test_no_import_hides_in_a_function_of_the_core(path: Path) -> None:
    hidden = re.findall(
        r"^[ \t]+(?:from|c?import)\s+perceptron_nlp.*", path.read_text("utf-8"), re.M
    )
    assert not hidden


@pytest.mark.parametrize("path", PYTHON + CYTHON, ids=place)
def test_nothing_unpickles_or_imports_by_name(path: Path) -> None:
    names = cython_imports(path) if path in CYTHON else python_imports(path)
    found = {name.split(".")[0] for name in names}
    assert not found & {"pickle", "marshal", "shelve", "dill"}
    if path in PYTHON and place(path) not in BY_NAME:
        calls = [n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Call)]
        named = [n for n in calls if ast.unparse(n.func).endswith("import_module")]
        assert all(isinstance(n.args[0], ast.Constant) for n in named), "a name of run time"
    assert not re.search(r"\b(eval|exec|__import__)\(", path.read_text("utf-8"))


ABOVE = ("analysis", "annotation", "cli", "combine", "compat", "integrations", "perceptrons")


@pytest.mark.parametrize("path", [p for p in PYTHON if layer(p) in ABOVE], ids=place)
def test_no_layer_reaches_for_what_another_keeps_to_itself(path: Path) -> None:
    """Names with an underscore are a module's own; the version is everybody's."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("perceptron_nlp"):
            private = {name.name for name in node.names if name.name.startswith("_")}
            assert private <= {"__version__"}, f"{place(path)}:{node.lineno}"
        if isinstance(node, ast.Attribute) and re.fullmatch(r"_[a-z]\w*", node.attr):
            if node.attr in ("_replace", "_asdict"):
                continue
            # Its own objects, or a library's.
            owner = ast.unparse(node.value).split(".")[0]
            text = path.read_text("utf-8")
            is_own = re.search(rf"(?:def |self\.|\n    ){node.attr}\b", text)
            assert is_own or owner in ("self", "cls", "argparse"), (
                f"{place(path)}:{node.lineno}: {ast.unparse(node)}"
            )


def test_what_is_taken_from_the_formats_by_name_is_there() -> None:
    """The type checker cannot tell, since the door finds its names when they are asked for."""
    door = importlib.import_module("perceptron_nlp.formats")
    for path in PYTHON:
        text = path.read_text("utf-8")
        if re.search(r"import formats$", text, re.M):
            taken = {*re.findall(r"(?<![\w.])formats\.([a-zA-Z]\w+)", text)}
            assert taken and not [name for name in taken if not hasattr(door, name)], place(path)
