"""Presets: sets of options under one name, by what they cost and give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PRESETS: Mapping[str, Mapping[str, Any]] = {
    # One word at a time, without pairs of words: the fastest to tag with.
    "fast": {},
    # One word at a time, with pairs where there is text enough to learn them from.
    "default": {},
    # Four runs summed, and a beam over whole sentences where labels are learnt whole: some ten
    # times the training.
    "accurate": {"runs": 4},
}
