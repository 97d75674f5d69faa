"""What a smaller model cost, as a line on stderr."""

from __future__ import annotations

import perceptron_nlp as pn
from perceptron_nlp.cli.style import say


def say_cost(tagger: pn.Tagger) -> None:
    """Say what compressing cost, where the model was compressed."""
    found = tagger.model.record.get("compressed")
    if found is None:
        return
    before, after = found["scores"]
    n_rows = sum(_n_rows(part) for part in tagger.model.parts_by_column)
    line = (
        f"compressed: {found['bytes_before']:,} bytes to {len(tagger.to_bytes()):,},"
        f" {found['rows_before']:,} features to {n_rows:,}"
    )
    if found["steps"] is not None:
        line += f", weights up to {found['steps']}"
    if before is not None:
        line += f"; {100 * before:.2f} % of dev words right before, {100 * after:.2f} % now"
    say(line)


def _n_rows(model: pn.TaggerModel) -> int:
    first = 0 if model.first is None else model.first.weights.n_rows
    return model.weights.n_rows + first
