"""Averaged-perceptron taggers: train on your own files, tag fast, ship one small model."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from perceptron_nlp._version import __version__
from perceptron_nlp.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    FormatError,
    MemoryLimitError,
    MissingExtraError,
    ModelError,
    PerceptronNLPError,
    TemplateError,
)

if TYPE_CHECKING:
    from perceptron_nlp.features.templates import Template, preset, preset_names
    from perceptron_nlp.formats import (
        Corpus,
        check_place,
        open_corpus,
        read_columns,
        read_conllu,
        read_tagged,
        read_text,
        replace_file,
        write_columns,
        write_conllu,
        write_tagged,
    )
    from perceptron_nlp.learning.classifier import PerceptronClassifier
    from perceptron_nlp.tagging.evaluation import Evaluation
    from perceptron_nlp.tagging.model import TaggerModel
    from perceptron_nlp.tagging.modelfile import FORMAT_VERSION as MODEL_FORMAT_VERSION
    from perceptron_nlp.tagging.modelfile import read_model
    from perceptron_nlp.tagging.options import TrainingOptions
    from perceptron_nlp.tagging.tagger import Tagger, load, train
    from perceptron_nlp.tagging.templatefile import read_templates
    from perceptron_nlp.tagging.trainer import EpochReport
    from perceptron_nlp.text.sentence import Sentence, Token

__all__ = [
    "MODEL_FORMAT_VERSION", "ArgumentError", "ArgumentTypeError", "Corpus", "EpochReport",
    "Evaluation", "FileError", "FormatError", "MemoryLimitError", "MissingExtraError",
    "ModelError", "PerceptronClassifier", "PerceptronNLPError", "Sentence", "Tagger",
    "TaggerModel", "Template", "TemplateError", "Token", "TrainingOptions", "__version__",
    "check_place", "load", "open_corpus", "preset", "preset_names", "read_columns", "read_conllu",
    "read_model", "read_tagged", "read_templates", "read_text", "replace_file", "train",
    "write_columns", "write_conllu", "write_tagged",
]

# Where each public name lives. A name is imported when it is first asked for: what a program
# does not use costs it nothing, and NumPy alone takes longer to import than Python to start.
_HOMES = {
    "features.templates": ("Template", "preset", "preset_names"),
    "formats": (
        "Corpus", "check_place", "open_corpus", "read_columns", "read_conllu", "read_tagged",
        "read_text", "replace_file", "write_columns", "write_conllu", "write_tagged"),
    "tagging.evaluation": ("Evaluation",),
    "tagging.model": ("TaggerModel",),
    "tagging.modelfile": ("read_model",),
    "tagging.options": ("TrainingOptions",),
    "tagging.tagger": ("Tagger", "load", "train"),
    "tagging.templatefile": ("read_templates",),
    "tagging.trainer": ("EpochReport",),
    "text.sentence": ("Sentence", "Token"),
    "learning.classifier": ("PerceptronClassifier",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "MODEL_FORMAT_VERSION":
        from perceptron_nlp.tagging.modelfile import FORMAT_VERSION

        return FORMAT_VERSION
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
