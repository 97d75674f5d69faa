"""Models of installed packages, by their names, and what the bundled one lends to others.

A package that brings models names, in the entry-point group ``perceptron_nlp.models``, a package
whose folder holds them: ``pt-bosque.model``, and beside it a card, ``pt-bosque.json``, as
``make models`` writes both. Nothing of such a package is run, and no name reaches the network.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any, NamedTuple

from perceptron_nlp.formats import read_file_bytes
from perceptron_nlp.tagger.model.file import FOLDER, model_from_bytes
from perceptron_nlp.tagger.model.model import Segmentation

GROUP = "perceptron_nlp.models"

logger = logging.getLogger("perceptron_nlp")


class InstalledModel(NamedTuple):
    """A model that has a name.

    Attributes
    ----------
    name : of the language and the treebank, such as ``pt-bosque``; of the bundled one ``en``
    path : its file
    package : the distribution that brought it, with its version
    card : what its card says; empty if there is none
    """

    name: str
    path: str
    package: str
    card: Mapping[str, Any]

    @property
    def language(self) -> str:
        """The code of its language."""
        return self.name.partition("-")[0]


def models_in(folder: str, package: str) -> Iterator[InstalledModel]:
    """The models in a folder, by their names; a card that cannot be read is as good as none."""
    for file in sorted(os.listdir(folder)):
        name, end = os.path.splitext(file)
        if end == ".model":
            try:
                with open(os.path.join(folder, f"{name}.json"), encoding="utf-8") as opened:
                    card = json.load(opened)
            except (OSError, ValueError):
                card = {}
            card = card if isinstance(card, dict) else {}
            yield InstalledModel(name, os.path.join(folder, file), package, card)


def installed_models() -> list[InstalledModel]:
    """The models of installed packages, by their names; of two of one name that found first."""
    found: dict[str, InstalledModel] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.value):
        package = "" if point.dist is None else f"{point.dist.name} {point.dist.version}"
        for place in sys.path:
            folder = os.path.join(place, *point.module.split("."))
            if os.path.isdir(folder):
                for model in models_in(folder, package):
                    found.setdefault(model.name, model)
    return [found[name] for name in sorted(found)]


def model_named(name: str) -> InstalledModel | None:
    """The model of a name, or of a language: then the one that learned from the most words."""
    models = installed_models()
    for model in models:
        if model.name == name:
            return model
    several = [model for model in models if model.language == name]
    if not several:
        return None
    best = max(several, key=lambda model: model.card.get("words") or 0)
    if len(several) > 1:
        names = ", ".join(model.name for model in several)
        logger.warning("%s: took %s; there are %s", name, best.name, names)
    return best


@cache
def bundled_segmentation() -> Segmentation:
    """Return the segmentation of the bundled model.

    Raises FileError, ModelError if it was removed, or is damaged.
    """
    path = os.path.join(FOLDER, "en.model")
    found = model_from_bytes(read_file_bytes(path), path).segmentation
    assert found is not None
    return found
