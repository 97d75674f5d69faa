"""What all tests share: Hypothesis without deadlines, and the place of the real corpora."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A loaded machine is slow, not wrong; no test depends on time.
settings.register_profile("perceptron_nlp", deadline=None)
settings.load_profile("perceptron_nlp")


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder that holds ``treebanks/`` and ``corpora/``."""
    place = os.environ.get("PERCEPTRON_NLP_CORPORA")
    if not place:
        pytest.skip("PERCEPTRON_NLP_CORPORA names no folder with treebanks/ and corpora/")
    return Path(place)
