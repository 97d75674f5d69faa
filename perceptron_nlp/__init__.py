"""Averaged-perceptron taggers: train on your own files, tag fast, ship one small model."""

from __future__ import annotations

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
from perceptron_nlp.features.templates import Template
from perceptron_nlp.formats import (
    Corpus,
    open_corpus,
    read_columns,
    read_conllu,
    read_tagged,
    read_text,
    write_columns,
    write_conllu,
    write_tagged,
)
from perceptron_nlp.tagging.evaluation import Evaluation
from perceptron_nlp.tagging.options import TrainingOptions
from perceptron_nlp.tagging.tagger import Tagger, load, train
from perceptron_nlp.tagging.trainer import EpochReport
from perceptron_nlp.text.sentence import Sentence, Token

__all__ = [
    "ArgumentError", "ArgumentTypeError", "Corpus", "EpochReport", "Evaluation", "FileError",
    "FormatError", "MemoryLimitError", "MissingExtraError", "ModelError", "PerceptronNLPError",
    "Sentence", "Tagger", "Template", "TemplateError", "Token",
    "TrainingOptions", "__version__", "load",
    "open_corpus", "read_columns", "read_conllu", "read_tagged", "read_text", "train",
    "write_columns", "write_conllu", "write_tagged",
]
