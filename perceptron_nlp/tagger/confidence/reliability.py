"""Reliability of confidences: of the tokens with 90 %, are 90 % labelled correctly?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

BINS = 15


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Tokens with confidences from ``low`` up to ``high``, their mean confidence and accuracy.

    Both are None if there are none.
    """

    low: float
    high: float
    count: int
    confidence: float | None
    accuracy: float | None


@dataclass(frozen=True, slots=True)
class Reliability:
    """Distance of confidences from accuracies, in 15 bins of equal width from 0 to 1."""

    bins: tuple[ReliabilityBin, ...]

    @classmethod
    def of(
        cls,
        confidences: Iterable[float] | npt.NDArray[np.float64],
        right: Iterable[bool] | npt.NDArray[np.bool_],
    ) -> Reliability:
        """Of words with these confidences (0 to 1), each right or wrong."""
        given = np.array(list(confidences), np.float64)
        hits = np.array(list(right), np.bool_)
        place = np.minimum((given * BINS).astype(np.int64), BINS - 1)
        counts = np.bincount(place, minlength=BINS)
        sums, rights = (np.bincount(place, x, BINS) for x in (given, hits))
        return cls(
            tuple(
                ReliabilityBin(
                    k / BINS,
                    (k + 1) / BINS,
                    n,
                    float(sums[k]) / n if n else None,
                    float(rights[k]) / n if n else None,
                )
                for k, n in enumerate(counts.tolist())
            )
        )

    @property
    def ece(self) -> float:
        """The expected calibration error: |confidence - accuracy| of each bin, weighed by words.

        As in C. Guo et al. (2017), "On calibration of modern neural networks", section 2, with 15
        bins of equal width, of the confidence in the label given; 0 where there are no words.
        """
        total = sum(part.count for part in self.bins)
        gaps = sum(
            part.count * abs(part.confidence - part.accuracy)
            for part in self.bins
            if part.confidence is not None and part.accuracy is not None
        )
        return gaps / total if total else 0.0

    def to_dict(self) -> dict[str, Any]:
        """One JSON object: ``ece``, and ``bins`` with what a ReliabilityBin has."""
        return {
            "ece": self.ece,
            "bins": [
                {
                    "low": part.low,
                    "high": part.high,
                    "count": part.count,
                    "confidence": part.confidence,
                    "accuracy": part.accuracy,
                }
                for part in self.bins
            ],
        }
