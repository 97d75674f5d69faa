"""A page on which a tagger can be tried, served to this machine alone."""

from __future__ import annotations

from perceptron_nlp.analysis.serve.server import HOSTS, PORT, TrialServer, make_server

__all__ = ["HOSTS", "PORT", "TrialServer", "make_server"]
