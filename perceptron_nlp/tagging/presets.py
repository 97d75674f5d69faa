"""Presets: sets of options under one name, by what they cost and give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PRESETS: Mapping[str, Mapping[str, Any]] = {
    # One word at a time, without pairs of words: the fastest to tag with.
    "fast": {},
    # One word at a time, with pairs where there is text enough to learn them from.
    "default": {},
    # A beam over whole sentences, four runs summed: some ten times the training.
    "accurate": {"beam": 4, "runs": 4},
}
