"""The accuracy of a tagger as one page of HTML with charts."""

from __future__ import annotations

from perceptron_nlp.analysis.report.report import Report, report

__all__ = ["Report", "report"]
