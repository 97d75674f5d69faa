"""The public names that bring in what training needs; __init__.py knows where the others are."""

from __future__ import annotations

from perceptron_nlp.combining.distilling import distill
from perceptron_nlp.combining.merging import merge
from perceptron_nlp.comparing.comparison import compare
from perceptron_nlp.comparing.differences import Comparison
from perceptron_nlp.features.templates import Template, preset, preset_names
from perceptron_nlp.insight.corrections import apply_corrections
from perceptron_nlp.insight.diagnosis import Diagnosis, Suspect
from perceptron_nlp.insight.doctoring import doctor
from perceptron_nlp.insight.inspection import Inspection, inspect
from perceptron_nlp.integrations.engines import train
from perceptron_nlp.tagging.evaluation import Evaluation
from perceptron_nlp.tagging.modelfile import FORMAT_VERSION as MODEL_FORMAT_VERSION
from perceptron_nlp.tagging.options import TrainingOptions
from perceptron_nlp.tagging.templatefile import read_templates
from perceptron_nlp.tagging.trainer import EpochReport
from perceptron_nlp.tuning.trials import Trial, TuningReport, TuningResult
from perceptron_nlp.tuning.tuning import tune

__all__ = [
    "MODEL_FORMAT_VERSION",
    "Comparison",
    "Diagnosis",
    "EpochReport",
    "Evaluation",
    "Inspection",
    "Suspect",
    "Template",
    "TrainingOptions",
    "Trial",
    "TuningReport",
    "TuningResult",
    "apply_corrections",
    "compare",
    "distill",
    "doctor",
    "inspect",
    "merge",
    "preset",
    "preset_names",
    "read_templates",
    "train",
    "tune",
]
