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
    from perceptron_nlp.combining.distilling import distill
    from perceptron_nlp.combining.merging import merge
    from perceptron_nlp.comparing.comparison import compare
    from perceptron_nlp.comparing.differences import Comparison
    from perceptron_nlp.features.templates import Template, preset, preset_names
    from perceptron_nlp.formats.columns import read_columns, write_columns
    from perceptron_nlp.formats.conllu import read_conllu
    from perceptron_nlp.formats.conllu_writing import write_conllu
    from perceptron_nlp.formats.corpus import Corpus, open_corpus
    from perceptron_nlp.formats.plain import read_text
    from perceptron_nlp.formats.replace import check_place, replace_file
    from perceptron_nlp.formats.tagged import read_tagged, write_tagged
    from perceptron_nlp.insight.corrections import apply_corrections
    from perceptron_nlp.insight.diagnosis import Diagnosis, Suspect
    from perceptron_nlp.insight.doctoring import doctor
    from perceptron_nlp.insight.inspection import Inspection, inspect
    from perceptron_nlp.integrations.engines import train
    from perceptron_nlp.learning.classifier import PerceptronClassifier
    from perceptron_nlp.reports.report import Report, report
    from perceptron_nlp.tagging.evaluation import Evaluation
    from perceptron_nlp.tagging.explaining import Explanation, WordExplanation
    from perceptron_nlp.tagging.loading import load
    from perceptron_nlp.tagging.model import TaggerModel
    from perceptron_nlp.tagging.modelfile import FORMAT_VERSION as MODEL_FORMAT_VERSION
    from perceptron_nlp.tagging.modelfile import read_model
    from perceptron_nlp.tagging.options import TrainingOptions
    from perceptron_nlp.tagging.reading import WeighedFeature
    from perceptron_nlp.tagging.taggedtext import TextSentence, TextToken, tokenize
    from perceptron_nlp.tagging.tagger import Tagger
    from perceptron_nlp.tagging.templatefile import read_templates
    from perceptron_nlp.tagging.trainer import EpochReport
    from perceptron_nlp.text.sentence import Sentence, Token
    from perceptron_nlp.tuning.trials import Trial, TuningReport, TuningResult
    from perceptron_nlp.tuning.tuning import tune

__all__ = [
    "MODEL_FORMAT_VERSION",
    "ArgumentError",
    "ArgumentTypeError",
    "Comparison",
    "Corpus",
    "Diagnosis",
    "EngineError",
    "EpochReport",
    "Evaluation",
    "Explanation",
    "FileError",
    "FormatError",
    "Inspection",
    "MemoryLimitError",
    "MissingExtraError",
    "ModelError",
    "PerceptronClassifier",
    "PerceptronNLPError",
    "Report",
    "Sentence",
    "Suspect",
    "Tagger",
    "TaggerModel",
    "Template",
    "TemplateError",
    "TextSentence",
    "TextToken",
    "Token",
    "TrainingOptions",
    "Trial",
    "TuningReport",
    "TuningResult",
    "WeighedFeature",
    "WordExplanation",
    "__version__",
    "apply_corrections",
    "check_place",
    "compare",
    "distill",
    "doctor",
    "inspect",
    "load",
    "merge",
    "open_corpus",
    "preset",
    "preset_names",
    "read_columns",
    "read_conllu",
    "read_model",
    "read_tagged",
    "read_templates",
    "read_text",
    "replace_file",
    "report",
    "tokenize",
    "train",
    "tune",
    "write_columns",
    "write_conllu",
    "write_tagged",
]


# The modules of the names that are imported when they are first asked for.
_PLACES = {
    "combining.distilling": ("distill",),
    "combining.merging": ("merge",),
    "comparing.comparison": ("compare",),
    "comparing.differences": ("Comparison",),
    "features.templates": ("Template", "preset", "preset_names"),
    "formats.columns": ("read_columns", "write_columns"),
    "formats.conllu": ("read_conllu",),
    "formats.conllu_writing": ("write_conllu",),
    "formats.corpus": ("Corpus", "open_corpus"),
    "formats.plain": ("read_text",),
    "formats.replace": ("check_place", "replace_file"),
    "formats.tagged": ("read_tagged", "write_tagged"),
    "insight.corrections": ("apply_corrections",),
    "insight.diagnosis": ("Diagnosis", "Suspect"),
    "insight.doctoring": ("doctor",),
    "insight.inspection": ("Inspection", "inspect"),
    "integrations.engines": ("train",),
    "learning.classifier": ("PerceptronClassifier",),
    "reports.report": ("Report", "report"),
    "tagging.evaluation": ("Evaluation",),
    "tagging.explaining": ("Explanation", "WordExplanation"),
    "tagging.loading": ("load",),
    "tagging.model": ("TaggerModel",),
    "tagging.modelfile": ("MODEL_FORMAT_VERSION", "read_model"),
    "tagging.options": ("TrainingOptions",),
    "tagging.reading": ("WeighedFeature",),
    "tagging.taggedtext": ("TextSentence", "TextToken", "tokenize"),
    "tagging.tagger": ("Tagger",),
    "tagging.templatefile": ("read_templates",),
    "tagging.trainer": ("EpochReport",),
    "text.sentence": ("Sentence", "Token"),
    "tuning.trials": ("Trial", "TuningReport", "TuningResult"),
    "tuning.tuning": ("tune",),
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names}
# What a name is called there, where that is not the same.
_THERE = {"MODEL_FORMAT_VERSION": "FORMAT_VERSION"}


def __getattr__(name: str) -> Any:
    # A program that only wants the errors or the version, or to tag a sentence, or to train, does
    # not wait for what it does without.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_MODULES[name]}")
    value = getattr(module, _THERE.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
