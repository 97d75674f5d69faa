"""How the bundled model cuts text: that of all models that never learned to."""

from __future__ import annotations

import os
from functools import cache

from perceptron_nlp.formats import read_file_bytes
from perceptron_nlp.tagger.model.file import FOLDER, model_from_bytes
from perceptron_nlp.tagger.model.model import Segmentation


@cache
def bundled_segmentation() -> Segmentation:
    """Return the segmentation of the bundled model.

    Raises FileError, ModelError if it was removed, or is damaged.
    """
    path = os.path.join(FOLDER, "en.model")
    found = model_from_bytes(read_file_bytes(path), path).segmentation
    assert found is not None
    return found
