"""Agreement of columns the slow way: all combinations of a token, one array at a time."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Held = Sequence[tuple[Sequence[int] | None, bool]]


def agreed(
    labels: Sequence[int],
    scores: Sequence[npt.NDArray[np.float64]],
    held: Held,
    rows: npt.NDArray[np.int64],
    staying: set[tuple[int, ...]],
) -> Sequence[int]:
    """Return the labels of a token that agree.

    labels : of each column by itself
    scores : of each column, those of all labels
    held : for each column the labels that it is held to, or None, and whether they must stay
    rows : the combinations that are looked for, ascending
    staying : those that stay if the columns come to them by themselves
    """
    if tuple(labels) in staying:
        return labels
    firm = [stays for _, stays in held]
    places = range(len(labels))
    # All that is held; what dictionaries say given up; and what is held firmly, too.
    for given in ([True] * len(labels), firm, [False] * len(labels)):
        if not any(given) and len(labels) - sum(firm) < 2:
            return labels
        able, total = np.ones(len(rows), np.bool_), np.zeros(len(rows))
        for place in places:
            numbers = held[place][0]
            if numbers is not None and given[place]:
                able &= np.isin(rows[:, place], numbers)
            if numbers is None or (given[place] and len(numbers) > 1):
                total += scores[place][rows[:, place]]
        if able.any():
            best = rows[np.where(able, total, -np.inf).argmax()].tolist()
            return [
                labels[place] if firm[place] and not given[place] else best[place]
                for place in places
            ]
    return labels
