"""How good a tagger is, as one page of HTML with pictures."""

from __future__ import annotations

from perceptron_nlp.analysis.report.report import Report, report

__all__ = ["Report", "report"]
