"""The calibration of a model: what turns its scores into confidences, as its file keeps it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

# The most points that a curve has.
MOST_POINTS = 32
# The longest that a number is when it is written with six digits.
_LONGEST = -1.23456e-300


class Calibration(NamedTuple):
    """An isotonic curve and a temperature (confidence.py).

    temperature : above 0; divides scores before a softmax
    margins : ascending, 1 to 32; the margins of the curve's points
    rates : 0 to 1, never falling; the accuracy at each of the margins
    dictionary : 0 to 1; the accuracy of the tag dictionary
    """

    temperature: float
    margins: tuple[float, ...]
    rates: tuple[float, ...]
    dictionary: float = 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON has them."""
        return {**self._asdict(), "margins": list(self.margins), "rates": list(self.rates)}

    @classmethod
    def from_dict(cls, given: object) -> Calibration:
        """Return the calibration in a JSON object; raise ValueError if there is none."""
        if not isinstance(given, Mapping):
            raise ValueError("not a JSON object")
        margins, rates = given["margins"], given["rates"]
        numbers = [given["temperature"], given["dictionary"], *margins, *rates]
        if any(type(x) not in (int, float) or not math.isfinite(x) for x in numbers):
            raise ValueError("something else than finite numbers")
        temperature, dictionary = float(numbers[0]), float(numbers[1])
        if temperature <= 0 or not 0 <= dictionary <= 1:
            raise ValueError("a number out of its range")
        if (
            not 0 < len(margins) == len(rates)
            or len(margins) > MOST_POINTS
            or any(b <= a for a, b in itertools.pairwise(margins))
        ):
            raise ValueError("a curve that is none")
        if any(not 0 <= rate <= 1 for rate in rates) or list(rates) != sorted(rates):
            raise ValueError("a curve that falls or leaves 0 to 1")
        return cls(temperature, tuple(map(float, margins)), tuple(map(float, rates)), dictionary)


# As long in a file as any calibration can be.
LONGEST = Calibration(_LONGEST, (_LONGEST,) * MOST_POINTS, (_LONGEST,) * MOST_POINTS, _LONGEST)
