"""The best model within a size: how many rows, in how fine steps."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from perceptron_nlp._checks import parse_size
from perceptron_nlp._display import percent
from perceptron_nlp.crossfit import unheard
from perceptron_nlp.errors import ArgumentError, FormatError
from perceptron_nlp.tagger.gold import evaluated
from perceptron_nlp.tagger.label_scores import share_right
from perceptron_nlp.tagger.labelers import ColumnLabelers
from perceptron_nlp.tagger.model.file import TIGHTEST, model_to_bytes
from perceptron_nlp.tagger.model.model import TEXT, TaggerModel, joined
from perceptron_nlp.tagger.sources import Source
from perceptron_nlp.tagger.train.calibrate import calibrated_columns, with_room
from perceptron_nlp.tagger.train.clusters import RawSource, place_of, raw_sentences
from perceptron_nlp.tagger.train.levels import choose_levels
from perceptron_nlp.tagger.train.options import TrainingOptions
from perceptron_nlp.tagger.train.packing import Level, packed
from perceptron_nlp.text.sentence import Sentence

Score = Callable[[TaggerModel], Mapping[str, float]]
"""The share of tokens that a model labels right, by column."""
Calibrate = Callable[[TaggerModel], TaggerModel]
Labelers = Callable[[TaggerModel], ColumnLabelers]
"""Makes a model ready to label."""

# The most that the heaviest weight is as a whole number; None is as fine as it was. Coarser steps
# take fewer bits and leave room for more rows: which is better is measured. The first is for models
# that nothing is measured on.
STEPS = (127, 63, 31, 255, None)
# No model is smaller: the description of its arrays alone takes more.
LEAST_BYTES = 1000
# Of the rows of large models for running text, this share stays. It costs no more than 0.1 points
# in any column of the dev parts of English-EWT and Turkish-IMST.
_KEPT, _MANY_ROWS = 0.85, 300_000
# What a size may cost in any column.
MOST_COST = 0.02
# Sentences that are labeled to see that, and the share of their words that a model should know.
_COMPARED, _LEAST_KNOWN = 2_000, 0.6
_SAMPLE = Path(__file__).parents[2] / "models" / "sample.txt"
# Where the training record tells of it.
RECORD = "compressed"
# A model may have so many times the shares that were chosen, if that fits.
MOST_MORE = 4.0
# The share of rows is found to within one in so many, or until a file is so much too small.
FINEST_SHARE = 1 << 17
_SPARE = 0.001
# The same where the least size is looked for.
LEAST_SHARES = 1 << 8
# As many digits as a score can have in the record.
_LONGEST_SCORE = 0.123456


def compress_model(
    model: TaggerModel,
    size: int,
    score: Score | None = None,
    calibrate: Calibrate | None = None,
    *,
    steps: Sequence[int | None] = (),
    most_cost: float | None = None,
    text: Callable[[], Sequence[Sentence]] | None = None,
    like: TaggerModel | None = None,
) -> TaggerModel:
    """The model in at most `size` bytes.

    A model that fits stays as it is, and one that would without the state of its training loses
    that. Else it is packed, in keys of fewer bits, with as many rows as
    fit; how fine weights are is chosen by `score`, and where there is none, the heaviest weight is
    127 at most. Of several columns each keeps what is worth its bytes, if there is a `text`: see
    levels.py. Its training record then has, as ``compressed``, what it was made from and to:
    ``size``, ``bytes_before``, ``rows_before``, ``steps`` (the most that the heaviest weight may be
    as a whole number), ``scores`` (before and after; null without `score`) and, of several columns,
    ``columns``, the share of rows and the steps of each.

    model : of any kind
    size : bytes, at least 1
    score : how good a model is, from 0 to 1
    calibrate : None, or what calibrates the model that comes out
    steps : what the heaviest weight may be at most, each in turn; none for those of STEPS
    most_cost : how much of the score of any column may be lost; None for whatever it costs
    text : gives sentences with all columns, on which is measured what a column's bytes are worth
    like : a compressed model, as much of whose columns stays

    Raises ArgumentError if not even one row of each table fits, or it costs more than that; the
    message says what is needed.
    """
    n_bytes = len(model_to_bytes(model))
    if n_bytes <= size:
        return model
    # What tags does not need it, and nothing weighs more.
    model = model.without_state()
    if len(model_to_bytes(model)) <= size:
        return model
    before = {} if score is None else score(model)
    forms = _Forms(model, size, n_bytes, _mean(before), calibrate is not None)
    if like is not None and RECORD in like.record:
        forms.levels, steps = levels_of(like), (like.record[RECORD]["steps"],)
    elif text is not None and model.more:
        forms.choose_levels(text())
    best: tuple[float, TaggerModel, Mapping[str, float], int | None] | None = None
    # Fewer steps than these would be another model.
    tried = steps or (STEPS[:1] if score is None or forms.levels else STEPS)
    for most in tried:
        share = forms.largest_share(most)
        if share is None:
            continue
        found = forms.of(share, most)
        after = {} if score is None else score(found)
        points = _mean(after)
        if best is None or (points or 0.0) > best[0]:
            best = points or 0.0, forms.of(share, most, points), after, most
    if best is None:
        raise ArgumentError(
            f"size: {size:,} bytes are too few for this model, whatever is left"
            f" out of it; the least that it can do with is {forms.least(tried):,}"
        )
    _, smaller, after, most = best
    if score is not None and most_cost is not None:
        column, cost = _highest_cost(before, after)
        if cost > most_cost:
            least = forms.least_within(
                most, lambda found: _highest_cost(before, score(found))[1] <= most_cost
            )
            raise ArgumentError(
                f"size: {size:,} bytes cost {100 * cost:.1f} points of {column}; {least:,} are the"
                f" least that cost at most {100 * most_cost:g}: name these, or force it"
            )
    found = smaller if calibrate is None else calibrate(smaller)
    excess = len(model_to_bytes(found)) - size
    if excess <= 0:
        return found
    # Deflate takes a few bytes more or fewer for other figures: then a little less must do.
    forms.size -= excess + size // 1000
    share = forms.largest_share(most)
    if share is None:
        raise ArgumentError(f"size: {size:,} bytes are too few for this model")
    found = forms.of(share, most, _mean(after))
    return found if calibrate is None else calibrate(found)


def checked_size(chosen: TrainingOptions, has_dev: bool) -> int:
    """Return the bytes that a model is to be trained into; ArgumentError if that cannot be."""
    assert chosen.size is not None
    size = parse_size(chosen.size)
    if size < LEAST_BYTES:
        raise ArgumentError(
            f"size: {size:,} bytes are too few for any model; give a size such as 400kB"
        )
    for name, others in (("resumable", chosen.resumable), ("max_memory", chosen.max_memory)):
        if others:
            raise ArgumentError(
                f"{name}: a tagger that is compressed into a size cannot have it; leave size out,"
                " and compress what is trained"
            )
    if not has_dev:
        raise ArgumentError(
            "size: what it costs is measured on dev; give one, or leave size out, and compress what"
            " is trained"
        )
    return size


def _mean(scores: Mapping[str, float]) -> float | None:
    return sum(scores.values()) / len(scores) if scores else None


def _highest_cost(before: Mapping[str, float], after: Mapping[str, float]) -> tuple[str, float]:
    """Return the column that loses most, and how much."""
    return max(((name, before[name] - after[name]) for name in before), key=lambda own: own[::-1])


def compressed(
    model: TaggerModel,
    size: int,
    labelers: Labelers,
    *,
    dev: Source | None = None,
    raw: RawSource | None = None,
    force: bool = False,
    like: TaggerModel | None = None,
) -> TaggerModel:
    """Return a model in so many bytes, compared as Tagger.compress says.

    Raises
    ------
    ArgumentError : it is too small, or without `dev` costs more than MOST_COST; or the model looks
        at more than words, or knows too few of the bundled ones
    FormatError : there is no sentence
    """
    if raw is not None and (dev is not None or force):
        raise ArgumentError("raw: is for a comparison without dev, and without force")
    if like is not None:
        smaller = compress_model(model, size, like=like)
        own = {part.column: part.calibration for part in like.parts_by_column}
        parts = [one.replace(calibration=own[one.column]) for one in smaller.parts_by_column]
        found = joined(parts).replace(packed=smaller.packed)
        excess = len(model_to_bytes(found)) - size
        # Its confidences may take more bytes than those that the size was found with.
        less = size - excess - size // 1000
        return found if excess <= 0 else compressed(model, less, labelers, like=like)
    if dev is not None:
        return _compress_by(dev, model, size, labelers)
    if force:
        return compress_model(model, size)
    return _compress_unseen(model, size, labelers, raw)


def _compress_unseen(
    model: TaggerModel, size: int, labelers: Labelers, raw: RawSource | None
) -> TaggerModel:
    """compress_model, compared on sentences that the model itself has labeled."""
    if len(model_to_bytes(model)) <= size:
        return model
    needed = model.feature_columns
    if needed:
        why = "only cuts text" if model.column == TEXT else f"looks at the column {needed[0]}"
        raise ArgumentError(
            f"dev: the model {why}, so what its size costs is compared on labeled text alone; give"
            " it, or force the size"
        )
    read = raw_sentences(_SAMPLE if raw is None else raw)
    sentences = [*map(list, islice(read, _COMPARED))]
    if not any(sentences):
        raise FormatError("there is no sentence in the raw text", place_of(raw))
    if raw is None:
        known = model.known([word for words in sentences for word in words])
        if sum(known) < _LEAST_KNOWN * len(known):
            raise ArgumentError(
                "dev: what the size costs is compared on English sentences, of whose words the"
                f" model knows {percent(sum(known) / len(known))}; give labeled text, or raw text"
                " of its language, or force the size"
            )
    whole, n = labelers(model).label(sentences), sum(map(len, sentences))

    def score(smaller: TaggerModel) -> dict[str, float]:
        found = labelers(smaller).label(sentences)
        return {name: share_right(whole[name][0], own, n) for name, (own, _) in found.items()}

    def text() -> list[Sentence]:
        own = zip(*(labels for labels, _ in whole.values()), strict=True)
        return [
            Sentence(words, dict(zip(whole, labels, strict=True)))
            for words, labels in zip(sentences, own, strict=True)
        ]

    return compress_model(model, size, score, steps=STEPS[:1], most_cost=MOST_COST, text=text)


def _compress_by(source: Source, model: TaggerModel, size: int, labelers: Labelers) -> TaggerModel:
    """compress_model, and what comes out calibrated again on labeled text, if that does."""

    def score(smaller: TaggerModel) -> dict[str, float]:
        own = labelers(smaller)
        return {name: evaluated(own, source, name).accuracy for name in own.by_column}

    def calibrate(smaller: TaggerModel) -> TaggerModel:
        return calibrated_columns(smaller, source)[0]

    does = len(calibrated_columns(model, source)[1]) < len(model.parts_by_column)
    # What is to be said of the text has been said.
    with unheard():
        return compress_model(
            model, size, score, calibrate if does else None, text=lambda: list(source)
        )


def in_bytes(model: TaggerModel) -> TaggerModel:
    """The model packed, with weights of 8 bits; if it is large, without its lightest rows."""
    is_small = model.column == TEXT or n_rows(model) < _MANY_ROWS
    return packed(model, 1.0 if is_small else _KEPT, STEPS[0])


def levels_of(model: TaggerModel) -> dict[str, Level]:
    """Return how much stayed of each column of a compressed model; none if the same of each did."""
    columns: Mapping[str, Sequence[Any]] = model.record.get(RECORD, {}).get("columns", {})
    return {name: Level(*level) for name, level in columns.items()}


def n_rows(model: TaggerModel) -> int:
    """Features with weights, in all columns and passes."""
    return (
        model.weights.n_rows
        + (0 if model.first is None else n_rows(model.first))
        + sum(n_rows(other) for other in model.more)
    )


class _Forms:
    """Compressed forms of a model, and how large they are."""

    def __init__(
        self, model: TaggerModel, size: int, n_bytes: int, score: float | None, to_calibrate: bool
    ) -> None:
        self._model = model
        self._asked = self.size = size
        self._n_bytes = n_bytes
        self._score = score
        self._to_calibrate = to_calibrate
        self.levels: dict[str, Level] = {}

    @property
    def most_share(self) -> float:
        return MOST_MORE if self.levels else 1.0

    def choose_levels(self, text: Sequence[Sentence]) -> None:
        """Choose how much of each column stays, unless all of it fits in the finest steps."""

        def fits(levels: Mapping[str, Level]) -> bool:
            self.levels = {**levels}
            return self.bytes_of(1.0, STEPS[0]) <= self.size

        self.levels = choose_levels(self._model, text, fits)

    def of(self, share: float, steps: int | None, score: float | None = None) -> TaggerModel:
        """The model with this share of its rows.

        Its record is as long as it can become where `score` is not known yet, so that what fits
        now fits then, too.
        """
        if score is None and self._score is not None:
            score = _LONGEST_SCORE
        scores = [None if one is None else round(one, 6) for one in (self._score, score)]
        smaller = packed(self._model, share, steps, self.levels)
        told: dict[str, Any] = {
            "size": self._asked,
            "bytes_before": self._n_bytes,
            "rows_before": n_rows(self._model),
            "steps": steps,
            "scores": scores,
        }
        if self.levels:
            told["columns"] = {
                name: [round(min(1.0, share * level.share), 6), level.steps]
                for name, level in self.levels.items()
            }
        # One column has little that Deflate would make smaller.
        how = TIGHTEST if self._model.more else smaller.packed
        return smaller.replace(record={**smaller.record, RECORD: told}, packed=how)

    def bytes_of(self, share: float, steps: int | None) -> int:
        """The size of its file, at most."""
        found = self.of(share, steps)
        return len(model_to_bytes(with_room(found) if self._to_calibrate else found))

    def least(self, tried: Sequence[int | None]) -> int:
        """The least size, above the one that was asked for, that a form fits."""
        # A longer number of bytes in the record takes more bytes.
        while (found := min(self.bytes_of(0.0, most) for most in tried)) > self._asked:
            self._asked = found
        return self._asked

    def least_within(self, steps: int | None, holds: Callable[[TaggerModel], bool]) -> int:
        """The least size, to three digits, of a form that holds; the whole size if none does."""
        shares = [at / LEAST_SHARES for at in range(1, LEAST_SHARES + 1)]
        at = bisect_left(shares[:-1], True, key=lambda share: holds(self.of(share, steps)))
        found = self.bytes_of(shares[at], steps)
        unit: int = 10 ** max(0, len(str(found)) - 3)
        # A file of just that size has other rows than the one that was tried, and may be worse.
        for size in range(-(-found // unit) * unit, self._n_bytes, unit):
            self.size = size
            if holds(self.of(self.largest_share(steps) or 0.0, steps)):
                return size
        return self._n_bytes

    def largest_share(self, steps: int | None) -> float | None:
        """The most of the rows that fit; None if not even one of each table does."""
        unit = self.most_share / FINEST_SHARE
        ends = [float(self.size - self.bytes_of(end, steps)) for end in (0.0, self.most_share)]
        spare, lacking = ends
        if lacking >= 0:
            return self.most_share
        if spare < 0:
            return None
        low, high, fitted = 0, FINEST_SHARE, None
        while high - low > 1:
            # Files grow nearly evenly. What an end is off by is halved when it stays a second time,
            # so that both ends come close (the Illinois algorithm).
            middle = low + round((high - low) * spare / (spare - lacking))
            middle = min(max(middle, low + 1), high - 1)
            found = self.size - self.bytes_of(middle * unit, steps)
            if 0 <= found <= _SPARE * self.size:
                return middle * unit
            if found >= 0:
                low, spare, lacking = middle, found, lacking / 2 if fitted else lacking
            else:
                high, spare, lacking = middle, spare / 2 if fitted is False else spare, found
            fitted = found >= 0
        return low * unit
