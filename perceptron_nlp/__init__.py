"""Averaged-perceptron taggers: train on your own files, tag fast, ship one small model."""

from __future__ import annotations

from perceptron_nlp._version import __version__ as __version__
