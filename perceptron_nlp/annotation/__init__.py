"""Annotate a text with a tagger that learns meanwhile: a treebank from nothing.

``Session`` is the whole of it; the page (``perceptron-nlp annotate``) is a client of it.
"""

from __future__ import annotations

from perceptron_nlp.annotation.asking import Task
from perceptron_nlp.annotation.calibration import Estimate
from perceptron_nlp.annotation.goldfile import EmptyNode, Extras
from perceptron_nlp.annotation.review import Agreement, Doubt, Progress, TagAgreement
from perceptron_nlp.annotation.session import Session

__all__ = [
    "Agreement",
    "Doubt",
    "EmptyNode",
    "Estimate",
    "Extras",
    "Progress",
    "Session",
    "TagAgreement",
    "Task",
]
