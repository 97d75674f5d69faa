"""The streets through the house: how many functions and modules lie between a door and its loop."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pytest

import perceptron_nlp as pn
from perceptron_nlp.cli.main import main
from perceptron_nlp.tagger.train import learners

ROOT = str(Path(pn.__file__).parent)
LONGEST_TRAINING = 8
# From Tagger.tag to the core, where SentenceDecoder.tag, _run, run_batch and tag_batch follow.
LONGEST_TAGGING = 3
MOST_LOADING = 8

Street = list[tuple[str, str]]


def street_to(
    module: ModuleType, loop: str, action: Callable[[], object], patch: pytest.MonkeyPatch
) -> Street:
    """Return module and name of each function of the package on the way to a loop of the core.

    Parameters
    ----------
    module, loop : where the loop is called from, and its name there; its last call counts
    action : what leads there
    """
    streets: list[Street] = []
    core = getattr(module, loop)

    def traced(*arguments: Any, **options: Any) -> Any:
        streets.append(functions_to(sys._getframe(1)))
        return core(*arguments, **options)

    patch.setattr(module, loop, traced)
    action()
    assert streets, f"{loop} was not called"
    return streets[-1]


def functions_to(frame: FrameType | None) -> Street:
    """Return the functions of the package from the outermost to a frame's."""
    functions: Street = []
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(ROOT):
            functions.append((code.co_filename.removeprefix(f"{ROOT}/"), code.co_qualname))
        frame = frame.f_back
    return functions[::-1]


def check(title: str, street: Street, longest: int) -> None:
    """Print a street, and fail if it has more functions or modules than that."""
    modules = {module for module, _ in street}
    print(f"{title}: {len(street)} functions in {len(modules)} modules")
    for module, function in street:
        print(f"  {module}: {function}")
    assert max(len(street), len(modules)) <= longest


def test_the_training_street_is_short(
    small: list[tuple[list[str], list[str]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, model = tmp_path / "train.conllu", tmp_path / "small.model"
    pn.write_conllu([pn.Sentence(words, {"upos": labels}) for words, labels in small], data)
    arguments = ["train", str(data), "--model", str(model)]
    street = street_to(learners, "learn", lambda: main(arguments), monkeypatch)
    assert model.exists() and street[0] == ("cli/main.py", "main")
    check("train", street, LONGEST_TRAINING)


def test_the_tagging_street_is_short(
    small: list[tuple[list[str], list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    tagger = pn.train(small, epochs=1)
    streets: list[Street] = []

    class Core:
        def tag(self, *arguments: Any) -> list[list[str]]:
            streets.append(functions_to(sys._getframe(1)))
            return [["NOUN"]]

    monkeypatch.setattr(tagger._labeler, "decoder", Core())
    assert tagger.tag(["dog"]) == ["NOUN"]
    assert streets[0][0] == ("tagger/tagger.py", "Tagger.tag")
    check("tag", streets[0], LONGEST_TAGGING)


def test_few_modules_take_part_in_loading(
    small: list[tuple[list[str], list[str]]], tmp_path: Path
) -> None:
    """Modules with a function that runs; a model of one column, without packing, has fewest."""
    path = tmp_path / "small.model"
    pn.train(small, epochs=1).save(path)
    load, modules = pn.load, set[str]()

    def traced(frame: FrameType, event: str, argument: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(ROOT) and frame.f_code.co_name != "<module>":
            modules.add(name.removeprefix(f"{ROOT}/"))

    before = sys.getprofile()
    sys.setprofile(traced)
    try:
        load(path)
    finally:
        sys.setprofile(before)
    print(f"load: {len(modules)} modules", *sorted(modules), sep="\n  ")
    assert {"tagger/tagger.py", "tagger/model/file.py", "formats/tensorfile.py"} <= modules
    assert len(modules) <= MOST_LOADING
