"""The public names apart from the errors, which come with the package itself, and from the
classifier, which would double what importing a tagger costs."""

from __future__ import annotations

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
from perceptron_nlp.tagging.comparison import compare
from perceptron_nlp.tagging.differences import Comparison
from perceptron_nlp.tagging.distilling import distill
from perceptron_nlp.tagging.evaluation import Evaluation
from perceptron_nlp.tagging.loading import load
from perceptron_nlp.tagging.model import TaggerModel
from perceptron_nlp.tagging.modelfile import FORMAT_VERSION as MODEL_FORMAT_VERSION
from perceptron_nlp.tagging.modelfile import read_model
from perceptron_nlp.tagging.options import TrainingOptions
from perceptron_nlp.tagging.tagger import Tagger, train
from perceptron_nlp.tagging.templatefile import read_templates
from perceptron_nlp.tagging.trainer import EpochReport
from perceptron_nlp.tagging.trials import Trial, TuningReport, TuningResult
from perceptron_nlp.tagging.tuning import tune
from perceptron_nlp.text.sentence import Sentence, Token

__all__ = [
    "MODEL_FORMAT_VERSION",
    "Comparison",
    "Corpus",
    "EpochReport",
    "Evaluation",
    "Sentence",
    "Tagger",
    "TaggerModel",
    "Template",
    "Token",
    "TrainingOptions",
    "Trial",
    "TuningReport",
    "TuningResult",
    "check_place",
    "compare",
    "distill",
    "load",
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
    "train",
    "tune",
    "write_columns",
    "write_conllu",
    "write_tagged",
]
