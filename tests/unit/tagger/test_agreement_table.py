"""The table of combinations: bits for labels that were met together or may stay together."""

from __future__ import annotations

import tracemalloc

from perceptron_nlp.tagger.model.agreement import Agreement, Combinations
from perceptron_nlp.tagger.model.label_components import JOINT, written_labels
from perceptron_nlp.text.tagset import TagSet


class Column:
    """The labels of a column."""

    def __init__(self, column: str, labels: list[str], scheme: str | None = None) -> None:
        self.column, self.tags, self.scheme = column, TagSet(sorted(labels)), scheme
        self.written_labels = written_labels(self.tags, scheme)


def labels_of(bits: bytes) -> list[int]:
    return [n for n in range(8 * len(bits)) if bits[n // 8] >> n % 8 & 1]


def test_what_was_never_met_may_stay_beside_its_part_of_speech() -> None:
    models = {
        "upos": Column("upos", ["A", "B"]),
        "feats": Column("feats", ["A|N=1", "A|N=2", "B|N=1", "B|N=3"], JOINT),
    }
    rows = (("A", "N=1"), ("B", "N=1"))
    found = Agreement(("upos", "feats"), rows).table(models)
    assert found.prefixes == [(0,), (1,)]
    assert [labels_of(bits) for bits in found.met] == [[0], [2]]
    assert [labels_of(bits) for bits in found.staying] == [[0, 1], [2, 3]]


def test_combinations_take_bits_not_objects() -> None:
    prefixes = [f"{n:04}" for n in range(1_500)]
    models = {
        "xpos": Column("xpos", prefixes),
        "feats": Column("feats", [f"A|N={n}" for n in range(5_000)], JOINT),
    }
    agreement = Agreement(("xpos", "feats"), tuple((one, "N=0") for one in prefixes))
    assert agreement.is_small(models)
    tracemalloc.start()
    try:
        found: Combinations = agreement.table(models)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(labels_of(found.staying[-1])) == 5_000
    assert peak < 16 << 20
