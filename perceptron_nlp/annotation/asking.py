"""The order in which sentences are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from perceptron_nlp.annotation.pool import Item
from perceptron_nlp.sampling import permutation

ORDERS = ("active", "document", "random")
# One in so many sentences is of the check sample, until that is complete.
_CHECK_EVERY = 4


class Asking:
    """What is asked for next.

    Parameters
    ----------
    items : the sentences of the text
    order : one of ORDERS
    check : tokens of the check sample
    seed : of random choices

    Attributes
    ----------
    check_numbers : the sentences of the text that the check sample has
    skipped : names of sentences that were put off
    """

    def __init__(self, items: Sequence[Item], order: str, check: int, seed: int) -> None:
        self._order = order
        shuffled = permutation(len(items), seed).tolist()
        self._rank = {number: at for at, number in enumerate(shuffled)}
        self.check_numbers = _sample(items, check, seed + 1)
        self.skipped: set[str] = set()

    def chosen(
        self, waiting: Mapping[str, Item], n_records: int, queue: Callable[[], Sequence[str]]
    ) -> Item | None:
        """Return the sentence to ask for next; None if nothing is left.

        Parameters
        ----------
        waiting : sentences that are not annotated, by name, in the order of the text
        n_records : sentences that are
        queue : gives the names of those from which most is learned, the best first
        """
        free = [one for one in waiting.values() if one.name not in self.skipped]
        if not free and waiting:
            self.skipped.clear()
            free = list(waiting.values())
        checks = [one for one in free if one.number in self.check_numbers]
        if checks and (n_records % _CHECK_EVERY == _CHECK_EVERY - 1 or len(checks) == len(free)):
            return min(checks, key=lambda one: (self._rank[one.number], one.start))
        if not free:
            return None
        chosen = set(map(id, checks))
        rest = [one for one in free if id(one) not in chosen]
        if self._order == "active":
            for name in queue():
                item = waiting.get(name)
                if item and name not in self.skipped and item.number not in self.check_numbers:
                    return item
        if self._order == "random":
            return min(rest, key=lambda one: (self._rank[one.number], one.start))
        return rest[0]


def _sample(items: Sequence[Item], n_tokens: int, seed: int) -> frozenset[int]:
    chosen, count = [], 0
    for number in permutation(len(items), seed).tolist():
        if count >= n_tokens:
            break
        chosen.append(number)
        count += len(items[number].words)
    return frozenset(chosen)
