"""Averaged-perceptron taggers: train on your own files, tag fast, ship one small model."""

from __future__ import annotations

import importlib
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
    from perceptron_nlp._public import (
        MODEL_FORMAT_VERSION,
        Comparison,
        Corpus,
        EpochReport,
        Evaluation,
        Sentence,
        Tagger,
        TaggerModel,
        Template,
        Token,
        TrainingOptions,
        Trial,
        TuningReport,
        TuningResult,
        check_place,
        compare,
        distill,
        load,
        open_corpus,
        preset,
        preset_names,
        read_columns,
        read_conllu,
        read_model,
        read_tagged,
        read_templates,
        read_text,
        replace_file,
        train,
        tune,
        write_columns,
        write_conllu,
        write_tagged,
    )
    from perceptron_nlp.learning.classifier import PerceptronClassifier

__all__ = [
    "MODEL_FORMAT_VERSION", "ArgumentError", "ArgumentTypeError", "Comparison", "Corpus",
    "EpochReport", "Evaluation", "FileError", "FormatError", "MemoryLimitError",
    "MissingExtraError", "ModelError", "PerceptronClassifier", "PerceptronNLPError", "Sentence",
    "Tagger", "TaggerModel", "Template", "TemplateError", "Token", "TrainingOptions", "Trial",
    "TuningReport", "TuningResult", "__version__", "check_place", "compare", "distill", "load",
    "open_corpus", "preset", "preset_names", "read_columns", "read_conllu", "read_model",
    "read_tagged", "read_templates", "read_text", "replace_file", "train", "tune",
    "write_columns", "write_conllu", "write_tagged",
]


# What tagging takes, by the module that it is in: the others bring training in.
_LIGHT = {
    "Corpus": "formats", "Sentence": "text.sentence", "Tagger": "tagging.tagger",
    "TaggerModel": "tagging.model", "Token": "text.sentence", "check_place": "formats",
    "load": "tagging.loading", "open_corpus": "formats", "read_columns": "formats",
    "read_conllu": "formats", "read_model": "tagging.modelfile", "read_tagged": "formats",
    "read_text": "formats", "replace_file": "formats", "write_columns": "formats",
    "write_conllu": "formats", "write_tagged": "formats",
}


def __getattr__(name: str) -> Any:
    # NumPy alone takes longer to import than Python to start: a program that only wants the
    # errors or the version, or help on a command, does not wait for it.
    if name == "PerceptronClassifier":
        from perceptron_nlp.learning.classifier import PerceptronClassifier

        return PerceptronClassifier
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = f"{__name__}.{_LIGHT[name]}" if name in _LIGHT else f"{__name__}._public"
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
