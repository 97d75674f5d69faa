"""The sample of training sentences that a model keeps, by which it knows text that it has seen."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.features.extract import hash64_each
from perceptron_nlp.tagger.encoded import EncodedText
from perceptron_nlp.text.sentence import Sentence

# Where the record of the training text has the sample of its sentences.
SAMPLE = "sample"
# A model keeps the lowest hashes of its training sentences, so many, each of so many bytes. Of all
# others, the sentences whose hashes are as low are among them, or were not trained on.
_SAMPLED, _HASH_BYTES = 128, 5
# Shorter sentences recur in any text.
_SHORTEST = 5
# A record may come from a stranger.
_IS_SAMPLE = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
# A share of known sentences that is no chance, and so many of them at least.
_SUSPECT_SHARE, _SUSPECT_COUNT = 0.2, 3
# Tokens hashed at a time: memory stays bounded, however much text there is.
_BATCH = 1 << 20

Hashes = npt.NDArray[np.uint64]


def with_sample(
    record: Mapping[str, Any],
    sentences: Sequence[Sentence],
    before: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a training record with the sample of the sentences that were learned from."""
    kept = "" if before is None else _sample_in(before)
    if kept is None:
        return dict(record)
    lowest = _hashes_of(kept)
    for hashes in _sentence_hashes(sentences):
        lowest = np.unique(np.concatenate([lowest, hashes]))[:_SAMPLED]
    sample = base64.b64encode(lowest.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 3:].tobytes())
    return {**record, "train": {**record["train"], SAMPLE: sample.decode("ascii")}}


def trained_on(record: Mapping[str, Any], sentences: Sequence[Sentence], name: str) -> str | None:
    """Return a warning, which calls them `name`, if many sentences are in a model's training text.

    Models of several origins have no sample in their record, and get none.
    """
    sample = _sample_in(record)
    if sample is None:
        return None
    known = _hashes_of(sample)
    low = np.uint64(2**40) if len(known) < _SAMPLED else known[-1]
    told = np.empty(0, np.uint64)
    for hashes in _sentence_hashes(sentences):
        told = np.union1d(told, hashes[hashes <= low])
    judged, hits = len(told), int(np.isin(told, known).sum())
    if hits < max(_SUSPECT_COUNT, _SUSPECT_SHARE * judged):
        return None
    return (
        f"{name}: {hits:,} of {judged:,} sampled sentences are in the training text: on what it has"
        " learned from, a tagger is better than elsewhere"
    )


def _sample_in(record: Mapping[str, Any]) -> str | None:
    """Return the sample in a record; None where there is none that can be read."""
    counts = record.get("train")
    sample = counts.get(SAMPLE) if isinstance(counts, Mapping) else None
    if not isinstance(sample, str) or not _IS_SAMPLE.fullmatch(sample):
        return None
    return sample if len(base64.b64decode(sample)) % _HASH_BYTES == 0 else None


def _hashes_of(sample: str) -> Hashes:
    """Return the hashes in a sample, in ascending order."""
    data = np.frombuffer(base64.b64decode(sample), np.uint8).reshape(-1, _HASH_BYTES)
    padded = np.zeros((len(data), 8), np.uint8)
    padded[:, 3:] = data
    return np.unique(padded.view(">u8").ravel().astype(np.uint64))


def _sentence_hashes(sentences: Sequence[Sentence]) -> Iterator[Hashes]:
    """Hashes, below 2**40, of the sentences that are long enough, batch by batch."""
    text = EncodedText.of(sentences)
    strings, tokens = text.column("form")
    lengths = text.lengths
    types = np.asarray(hash64_each(strings), np.uint64)
    ends = np.cumsum(lengths)
    first = 0
    while first < len(lengths):
        begin = int(ends[first] - lengths[first])
        last = max(first + 1, int(np.searchsorted(ends, begin + _BATCH, "right")))
        own = lengths[first:last]
        starts = ends[first:last] - own - begin
        places = np.arange(own.sum()) - np.repeat(starts, own)
        # Odd factors that differ with the place: the order of words counts.
        mixed = types[tokens[begin : int(ends[last - 1])]] * (
            places.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C16) + np.uint64(1)
        )
        mixed ^= mixed >> np.uint64(29)
        long = own >= _SHORTEST
        if long.any():
            sums = np.add.reduceat(mixed, starts[own > 0])[long[own > 0]]
            yield (sums * np.uint64(0xBF58476D1CE4E5B9)) >> np.uint64(24)
        first = last
