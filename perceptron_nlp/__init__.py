"""Averaged-perceptron taggers: train on your own files, tag fast, ship one small model."""

from __future__ import annotations

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
    from perceptron_nlp._light import (
        Corpus,
        Explanation,
        Sentence,
        Tagger,
        TaggerModel,
        TextSentence,
        TextToken,
        Token,
        WeighedFeature,
        WordExplanation,
        check_place,
        load,
        open_corpus,
        read_columns,
        read_conllu,
        read_model,
        read_tagged,
        read_text,
        replace_file,
        tokenize,
        write_columns,
        write_conllu,
        write_tagged,
    )
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
    from perceptron_nlp.learning.classifier import PerceptronClassifier
    from perceptron_nlp.reports import Report, report

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


# Names that come without what training needs.
_LIGHT = frozenset({
    "Corpus", "Explanation", "Sentence", "Tagger", "TaggerModel", "TextSentence", "TextToken",
    "Token", "WeighedFeature", "WordExplanation", "check_place", "load", "open_corpus",
    "read_columns", "read_conllu", "read_model", "read_tagged", "read_text", "replace_file",
    "tokenize", "write_columns", "write_conllu",
    "write_tagged",
})


def __getattr__(name: str) -> Any:
    # NumPy alone takes longer to import than Python to start: a program that only wants the
    # errors or the version, or help on a command, does not wait for it.
    if name == "PerceptronClassifier":
        from perceptron_nlp.learning.classifier import PerceptronClassifier

        return PerceptronClassifier
    if name in ("Report", "report"):
        from perceptron_nlp import reports

        return getattr(reports, name)
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _LIGHT:
        from perceptron_nlp import _light

        value = getattr(_light, name)
    else:
        from perceptron_nlp import _public

        value = getattr(_public, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
