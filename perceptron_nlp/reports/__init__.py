"""How good a tagger is, as one page of HTML with pictures."""

from __future__ import annotations

from perceptron_nlp.reports.report import Report, report

__all__ = ["Report", "report"]
