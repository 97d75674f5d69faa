"""Averaged-perceptron taggers: train on your own files, tag fast, ship one small model."""

from __future__ import annotations

from perceptron_nlp._version import __version__

# As type checkers know it. Nothing is imported here: the command line answers Ctrl-C once this is
# done, and importing typing alone would take longer than all else.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from perceptron_nlp.analysis.comparison import compare
    from perceptron_nlp.analysis.crossvalidation import CrossValidation, cross_validate
    from perceptron_nlp.analysis.differences import Comparison
    from perceptron_nlp.analysis.doctor.corrections import apply_corrections
    from perceptron_nlp.analysis.doctor.diagnosis import Candidate, Diagnosis
    from perceptron_nlp.analysis.doctor.doctoring import doctor
    from perceptron_nlp.analysis.inspection import Inspection, inspect
    from perceptron_nlp.analysis.learningcurve import (
        CurvePoint,
        Forecast,
        LearningCurve,
        learning_curve,
    )
    from perceptron_nlp.analysis.report.report import Report, report
    from perceptron_nlp.analysis.tune.trials import Trial, TuningReport, TuningResult
    from perceptron_nlp.analysis.tune.tuning import tune
    from perceptron_nlp.combine.distill import distill
    from perceptron_nlp.combine.merge import merge
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
    from perceptron_nlp.features.templatefile import preset, preset_names, read_templates
    from perceptron_nlp.features.templates import Template
    from perceptron_nlp.formats.columns import read_columns, write_columns
    from perceptron_nlp.formats.conllu import read_conllu, write_conllu
    from perceptron_nlp.formats.corpus import Corpus, open_corpus
    from perceptron_nlp.formats.replace import check_place, replace_file
    from perceptron_nlp.formats.tagged import read_tagged, read_text, write_tagged
    from perceptron_nlp.perceptrons.classifier import PerceptronClassifier
    from perceptron_nlp.tagger.evaluation import Evaluation, Mistake
    from perceptron_nlp.tagger.explain.explanation import Explanation, WordExplanation
    from perceptron_nlp.tagger.explain.forward_trace import WeighedFeature
    from perceptron_nlp.tagger.model.file import FORMAT_VERSION as MODEL_FORMAT_VERSION
    from perceptron_nlp.tagger.model.model import TaggerModel
    from perceptron_nlp.tagger.tag.text import TextSentence, TextToken, tokenize
    from perceptron_nlp.tagger.tagger import Tagger, load, read_model
    from perceptron_nlp.tagger.text_scores import F1, TextScores, text_scores
    from perceptron_nlp.tagger.train.api import train
    from perceptron_nlp.tagger.train.clusters import RawText
    from perceptron_nlp.tagger.train.loop import EpochReport
    from perceptron_nlp.tagger.train.options import TrainingOptions
    from perceptron_nlp.text.sentence import Sentence, Token

__all__ = [
    "F1",
    "MODEL_FORMAT_VERSION",
    "ArgumentError",
    "ArgumentTypeError",
    "Candidate",
    "Comparison",
    "Corpus",
    "CrossValidation",
    "CurvePoint",
    "Diagnosis",
    "EngineError",
    "EpochReport",
    "Evaluation",
    "Explanation",
    "FileError",
    "Forecast",
    "FormatError",
    "Inspection",
    "LearningCurve",
    "MemoryLimitError",
    "MissingExtraError",
    "Mistake",
    "ModelError",
    "PerceptronClassifier",
    "PerceptronNLPError",
    "RawText",
    "Report",
    "Sentence",
    "Tagger",
    "TaggerModel",
    "Template",
    "TemplateError",
    "TextScores",
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
    "cross_validate",
    "distill",
    "doctor",
    "inspect",
    "learning_curve",
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
    "text_scores",
    "tokenize",
    "train",
    "tune",
    "write_columns",
    "write_conllu",
    "write_tagged",
]


# The modules of the names that are imported when they are first asked for.
_PLACES = {
    "errors": (
        "ArgumentError ArgumentTypeError EngineError FileError FormatError MemoryLimitError "
        "MissingExtraError ModelError PerceptronNLPError TemplateError"
    ),
    "combine.distill": "distill",
    "combine.merge": "merge",
    "analysis.comparison": "compare",
    "analysis.differences": "Comparison",
    "features.templates": "Template",
    "formats.columns": "read_columns write_columns",
    "formats.conllu": "read_conllu write_conllu",
    "formats.corpus": "Corpus open_corpus",
    "formats.replace": "check_place replace_file",
    "formats.tagged": "read_tagged read_text write_tagged",
    "analysis.crossvalidation": "CrossValidation cross_validate",
    "analysis.doctor.corrections": "apply_corrections",
    "analysis.doctor.diagnosis": "Diagnosis Candidate",
    "analysis.doctor.doctoring": "doctor",
    "analysis.inspection": "Inspection inspect",
    "tagger.train.api": "train",
    "tagger.train.clusters": "RawText",
    "perceptrons.classifier": "PerceptronClassifier",
    "analysis.learningcurve": "CurvePoint Forecast LearningCurve learning_curve",
    "analysis.report.report": "Report report",
    "tagger.evaluation": "Evaluation Mistake",
    "tagger.explain.explanation": "Explanation WordExplanation",
    "tagger.model.model": "TaggerModel",
    "tagger.model.file": "MODEL_FORMAT_VERSION",
    "tagger.train.options": "TrainingOptions",
    "tagger.explain.forward_trace": "WeighedFeature",
    "tagger.tag.text": "TextSentence TextToken tokenize",
    "tagger.tagger": "Tagger load read_model",
    "tagger.text_scores": "F1 TextScores text_scores",
    "features.templatefile": "preset preset_names read_templates",
    "tagger.train.loop": "EpochReport",
    "text.sentence": "Sentence Token",
    "analysis.tune.trials": "Trial TuningReport TuningResult",
    "analysis.tune.tuning": "tune",
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names.split()}
# What a name is called there, where that is not the same.
_THERE = {"MODEL_FORMAT_VERSION": "FORMAT_VERSION"}


def __getattr__(name: str) -> Any:
    # A program that only wants the errors or the version, or to tag a sentence, or to train, does
    # not wait for what it does without.
    import importlib

    if name == "annotation":
        return importlib.import_module("perceptron_nlp.annotation")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_MODULES[name]}")
    value = getattr(module, _THERE.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
