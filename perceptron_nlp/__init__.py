"""Averaged-perceptron taggers: train on your own files, tag fast, ship one small model."""

from __future__ import annotations


def _step_aside() -> None:
    """Let an installed package serve if this is a source tree that was not built.

    A Python that is started in the folder of a checkout finds its sources before what is installed.

    Raises ImportError if nothing is installed, or another version.
    """
    import os
    from importlib.machinery import EXTENSION_SUFFIXES, PathFinder

    folder = os.path.dirname(os.path.abspath(__file__))
    core = os.path.join(folder, "_core", "table", "memoryviews")
    if any(os.path.exists(core + suffix) for suffix in EXTENSION_SUFFIXES):
        return
    import sys

    def version(package: str) -> str:
        with open(os.path.join(package, "_version.py"), encoding="utf-8") as file:
            return file.read()

    around = os.path.dirname(folder)
    elsewhere = [path for path in sys.path if os.path.abspath(path) != around]
    found = PathFinder.find_spec(__name__, elsewhere)
    for package in (found and found.submodule_search_locations) or ():
        if version(package) == version(folder):
            __path__[:] = [package]
            return
    raise ImportError(
        f"perceptron_nlp is imported from {folder}, a source tree that was not built for this"
        f" Python: run pip install -e {around}, or work in another folder"
    )


_step_aside()

from perceptron_nlp._version import __version__  # noqa: E402

# As type checkers know it. Nothing is imported here: the command line answers Ctrl-C once this is
# done, and importing typing alone would take longer than all else.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from perceptron_nlp._core.text.sentences import TextWord as TextWord
    from perceptron_nlp.analysis.comparison import compare as compare
    from perceptron_nlp.analysis.crossvalidation import CrossValidation as CrossValidation
    from perceptron_nlp.analysis.crossvalidation import cross_validate as cross_validate
    from perceptron_nlp.analysis.differences import Comparison as Comparison
    from perceptron_nlp.analysis.doctor.corrections import apply_corrections as apply_corrections
    from perceptron_nlp.analysis.doctor.diagnosis import Candidate as Candidate
    from perceptron_nlp.analysis.doctor.diagnosis import Diagnosis as Diagnosis
    from perceptron_nlp.analysis.doctor.doctoring import doctor as doctor
    from perceptron_nlp.analysis.inspection import Inspection as Inspection
    from perceptron_nlp.analysis.inspection import inspect as inspect
    from perceptron_nlp.analysis.learningcurve import CurvePoint as CurvePoint
    from perceptron_nlp.analysis.learningcurve import Forecast as Forecast
    from perceptron_nlp.analysis.learningcurve import LearningCurve as LearningCurve
    from perceptron_nlp.analysis.learningcurve import learning_curve as learning_curve
    from perceptron_nlp.analysis.models import ModelScores as ModelScores
    from perceptron_nlp.analysis.models import PairDifference as PairDifference
    from perceptron_nlp.analysis.models import evaluate_models as evaluate_models
    from perceptron_nlp.analysis.report import WrittenReport as WrittenReport
    from perceptron_nlp.analysis.report import report as report
    from perceptron_nlp.analysis.tuning import Trial as Trial
    from perceptron_nlp.analysis.tuning import TuningResult as TuningResult
    from perceptron_nlp.analysis.tuning import tune as tune
    from perceptron_nlp.combine.distill import distill as distill
    from perceptron_nlp.combine.merge import merge as merge
    from perceptron_nlp.errors import ArgumentError as ArgumentError
    from perceptron_nlp.errors import ArgumentTypeError as ArgumentTypeError
    from perceptron_nlp.errors import EngineError as EngineError
    from perceptron_nlp.errors import FileError as FileError
    from perceptron_nlp.errors import FormatError as FormatError
    from perceptron_nlp.errors import MemoryLimitError as MemoryLimitError
    from perceptron_nlp.errors import MissingExtraError as MissingExtraError
    from perceptron_nlp.errors import ModelError as ModelError
    from perceptron_nlp.errors import NotFittedError as NotFittedError
    from perceptron_nlp.errors import PerceptronNLPError as PerceptronNLPError
    from perceptron_nlp.errors import TemplateError as TemplateError
    from perceptron_nlp.features.templatefile import preset as preset
    from perceptron_nlp.features.templatefile import preset_names as preset_names
    from perceptron_nlp.features.templatefile import read_templates as read_templates
    from perceptron_nlp.features.templates import Template as Template
    from perceptron_nlp.formats.columns import read_columns as read_columns
    from perceptron_nlp.formats.columns import write_columns as write_columns
    from perceptron_nlp.formats.conllu import read_conllu as read_conllu
    from perceptron_nlp.formats.conllu import write_conllu as write_conllu
    from perceptron_nlp.formats.corpus import Corpus as Corpus
    from perceptron_nlp.formats.corpus import open_corpus as open_corpus
    from perceptron_nlp.formats.replace import check_place as check_place
    from perceptron_nlp.formats.replace import replace_file as replace_file
    from perceptron_nlp.formats.tagged import read_tagged as read_tagged
    from perceptron_nlp.formats.tagged import read_text as read_text
    from perceptron_nlp.formats.tagged import write_tagged as write_tagged
    from perceptron_nlp.formats.ud_rules import Finding as Finding
    from perceptron_nlp.formats.validation import validate as validate
    from perceptron_nlp.perceptrons.classifier import PerceptronClassifier as PerceptronClassifier
    from perceptron_nlp.tagger.api import train as train
    from perceptron_nlp.tagger.cutting import tokenize as tokenize
    from perceptron_nlp.tagger.evaluation import Evaluation as Evaluation
    from perceptron_nlp.tagger.evaluation import Mistake as Mistake
    from perceptron_nlp.tagger.explain.explanation import Explanation as Explanation
    from perceptron_nlp.tagger.explain.explanation import WordExplanation as WordExplanation
    from perceptron_nlp.tagger.gold import Evaluations as Evaluations
    from perceptron_nlp.tagger.k_best import k_best as k_best
    from perceptron_nlp.tagger.model.file import MODEL_FORMAT_VERSION as MODEL_FORMAT_VERSION
    from perceptron_nlp.tagger.model.model import TaggerModel as TaggerModel
    from perceptron_nlp.tagger.tag.arrays import LabelArrays as LabelArrays
    from perceptron_nlp.tagger.tag.forward_trace import WeighedFeature as WeighedFeature
    from perceptron_nlp.tagger.tag.text import TextSentence as TextSentence
    from perceptron_nlp.tagger.tag.text import TextToken as TextToken
    from perceptron_nlp.tagger.tagger import Tagger as Tagger
    from perceptron_nlp.tagger.tagger import load as load
    from perceptron_nlp.tagger.tagger import read_model as read_model
    from perceptron_nlp.tagger.text_scores import F1 as F1
    from perceptron_nlp.tagger.text_scores import TextScores as TextScores
    from perceptron_nlp.tagger.text_scores import text_scores as text_scores
    from perceptron_nlp.tagger.train.clusters import RawText as RawText
    from perceptron_nlp.tagger.train.loop import EpochReport as EpochReport
    from perceptron_nlp.tagger.train.options import TrainingOptions as TrainingOptions
    from perceptron_nlp.text.sentence import Sentence as Sentence
    from perceptron_nlp.text.sentence import Token as Token
    from perceptron_nlp.text.spans import spans_of as spans_of

# The modules of the names that are imported when they are first asked for.
_PLACES = {
    "errors": (
        "ArgumentError ArgumentTypeError EngineError FileError FormatError MemoryLimitError "
        "MissingExtraError ModelError NotFittedError PerceptronNLPError TemplateError"
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
    "formats.ud_rules": "Finding",
    "formats.validation": "validate",
    "formats.tagged": "read_tagged read_text write_tagged",
    "analysis.crossvalidation": "CrossValidation cross_validate",
    "analysis.doctor.corrections": "apply_corrections",
    "analysis.doctor.diagnosis": "Diagnosis Candidate",
    "analysis.doctor.doctoring": "doctor",
    "analysis.inspection": "Inspection inspect",
    "tagger.api": "train",
    "tagger.train.clusters": "RawText",
    "perceptrons.classifier": "PerceptronClassifier",
    "analysis.learningcurve": "CurvePoint Forecast LearningCurve learning_curve",
    "analysis.models": "ModelScores PairDifference evaluate_models",
    "analysis.report": "WrittenReport report",
    "tagger.evaluation": "Evaluation Mistake",
    "tagger.gold": "Evaluations",
    "tagger.explain.explanation": "Explanation WordExplanation",
    "tagger.k_best": "k_best",
    "tagger.model.model": "TaggerModel",
    "tagger.model.file": "MODEL_FORMAT_VERSION",
    "tagger.train.options": "TrainingOptions",
    "tagger.tag.forward_trace": "WeighedFeature",
    "tagger.tag.arrays": "LabelArrays",
    "_core.text.sentences": "TextWord",
    "tagger.tag.text": "TextSentence TextToken",
    "tagger.tagger": "Tagger load read_model",
    "tagger.cutting": "tokenize",
    "tagger.text_scores": "F1 TextScores text_scores",
    "features.templatefile": "preset preset_names read_templates",
    "tagger.train.loop": "EpochReport",
    "text.sentence": "Sentence Token",
    "text.spans": "spans_of",
    "analysis.tuning": "Trial TuningResult tune",
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names.split()}
# For programs that build on this library; dir() shows what its users call.
_FOR_PROGRAMS = {"MODEL_FORMAT_VERSION", "TaggerModel", "check_place", "read_model", "replace_file"}
__all__ = [*sorted(_MODULES), "__version__"]


def __getattr__(name: str) -> Any:
    # A program that only wants the errors or the version, or to tag a sentence, or to train, does
    # not wait for what it does without.
    import importlib

    if name == "annotation":
        return importlib.import_module("perceptron_nlp.annotation")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_MODULES[name]}")
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({"annotation", *__all__} - _FOR_PROGRAMS)
