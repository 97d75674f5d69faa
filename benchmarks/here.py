"""An engine whose workers are in this process, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp.integrations import engines


class Here:
    """Workers in this process: the same bytes as on an engine."""

    def hand_over(self, value: Any) -> Any:
        """See Workers."""
        return value

    def call(self, job: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> Iterable[Any]:
        """See Workers."""
        return [job(*own) for own in arguments]


def train(data: Any, **options: Any) -> pn.Tagger:
    """Train on shards in this process; parameters are those of engines.train."""
    return engines.train(data, engine=Here(), **options)
