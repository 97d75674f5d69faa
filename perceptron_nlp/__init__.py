"""Averaged-perceptron taggers: train on your own files, tag fast, ship one small model."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from perceptron_nlp._version import __version__
from perceptron_nlp.errors import (
    ArgumentError,
    ArgumentTypeError,
    EngineError,
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
        Diagnosis,
        EpochReport,
        Evaluation,
        Inspection,
        Suspect,
        Template,
        TrainingOptions,
        Trial,
        TuningReport,
        TuningResult,
        apply_corrections,
        compare,
        distill,
        doctor,
        inspect,
        merge,
        preset,
        preset_names,
        read_templates,
        train,
        tune,
    )
    from perceptron_nlp.formats.columns import read_columns, write_columns
    from perceptron_nlp.formats.conllu import read_conllu
    from perceptron_nlp.formats.conllu_writing import write_conllu
    from perceptron_nlp.formats.corpus import Corpus, open_corpus
    from perceptron_nlp.formats.plain import read_text
    from perceptron_nlp.formats.replace import check_place, replace_file
    from perceptron_nlp.formats.tagged import read_tagged, write_tagged
    from perceptron_nlp.learning.classifier import PerceptronClassifier
    from perceptron_nlp.reports.report import Report, report
    from perceptron_nlp.tagging.explaining import Explanation, WordExplanation
    from perceptron_nlp.tagging.loading import load
    from perceptron_nlp.tagging.model import TaggerModel
    from perceptron_nlp.tagging.modelfile import read_model
    from perceptron_nlp.tagging.reading import WeighedFeature
    from perceptron_nlp.tagging.taggedtext import TextSentence, TextToken, tokenize
    from perceptron_nlp.tagging.tagger import Tagger
    from perceptron_nlp.text.sentence import Sentence, Token

__all__ = [
    "MODEL_FORMAT_VERSION", "ArgumentError", "ArgumentTypeError", "Comparison", "Corpus",
    "Diagnosis", "EngineError", "EpochReport", "Evaluation", "Explanation", "FileError",
    "FormatError", "Inspection", "MemoryLimitError", "MissingExtraError", "ModelError",
    "PerceptronClassifier", "PerceptronNLPError", "Report", "Sentence", "Suspect", "Tagger",
    "TaggerModel", "Template", "TemplateError", "TextSentence", "TextToken", "Token",
    "TrainingOptions", "Trial", "TuningReport", "TuningResult", "WeighedFeature", "WordExplanation",
    "__version__", "apply_corrections", "check_place", "compare", "distill", "doctor", "inspect",
    "load", "merge", "open_corpus", "preset", "preset_names", "read_columns", "read_conllu",
    "read_model", "read_tagged", "read_templates", "read_text", "replace_file", "report",
    "tokenize", "train", "tune", "write_columns", "write_conllu", "write_tagged",
]


# Names that come without what training needs, and those that are slow to import, by their modules.
_PLACES = {
    "formats.columns": ("read_columns", "write_columns"),
    "formats.conllu": ("read_conllu",),
    "formats.conllu_writing": ("write_conllu",),
    "formats.corpus": ("Corpus", "open_corpus"),
    "formats.plain": ("read_text",),
    "formats.replace": ("check_place", "replace_file"),
    "formats.tagged": ("read_tagged", "write_tagged"),
    "learning.classifier": ("PerceptronClassifier",),
    "reports.report": ("Report", "report"),
    "tagging.explaining": ("Explanation", "WordExplanation"),
    "tagging.loading": ("load",),
    "tagging.model": ("TaggerModel",),
    "tagging.modelfile": ("read_model",),
    "tagging.reading": ("WeighedFeature",),
    "tagging.taggedtext": ("TextSentence", "TextToken", "tokenize"),
    "tagging.tagger": ("Tagger",),
    "text.sentence": ("Sentence", "Token"),
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names}


def __getattr__(name: str) -> Any:
    # A program that only wants the errors or the version, or to tag a sentence, does not wait for
    # what it does without.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_MODULES.get(name, '_public')}")
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
