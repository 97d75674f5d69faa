"""How much of each column of a model stays in a size: bytes go where they buy most.

Each column is labeled by itself with less and less of its weights, and so is running text cut. What
a form loses is how many labels of a text become wrong, and a little for each that becomes another;
a token that is cut wrong is a wrong label in every column. Of a column's forms
those on the lower convex hull of loss over bytes are taken in turn, and of all columns always the
step that loses least for each byte that it saves, until all fits (Shoham and Gersho, Efficient bit
allocation for an arbitrary set of quantizers, IEEE Transactions on ASSP 36, 1988).

A training that knows which features stay learns again with these alone: their weights then do what
those of the others would have done.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise, product, starmap
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from perceptron_nlp.crossfit import unheard
from perceptron_nlp.formats.conllu import one_text
from perceptron_nlp.tagger.model.file import TIGHTEST, model_to_bytes
from perceptron_nlp.tagger.model.model import TEXT, Segmentation, TaggerModel
from perceptron_nlp.tagger.model.weights import QuantizedWeights
from perceptron_nlp.tagger.tag.label import make_labeler
from perceptron_nlp.tagger.tag.segment import Segmenter, TokenSpan
from perceptron_nlp.tagger.train.labeled_atoms import in_paragraphs
from perceptron_nlp.tagger.train.packing import Level, at_level, cut_at_level
from perceptron_nlp.text.sentence import Sentence

Kept: TypeAlias = tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]
"""Features that a part of a model may have: their keys, and the numbers of their templates."""
# The forms of a column that are measured: shares of its rows, and the most steps of their weights.
_SHARES = (1.0, 0.6, 0.4, 0.27, 0.18, 0.11, 0.06)
_STEPS = (127, 31, 15, 7)
# Those of segmentation: a dev set has few sentences. On those of six treebanks less than this cost
# .4 points of sentences in the mean, and this none.
_CUT_SHARES, _CUT_STEPS = (1.0, 0.6, 0.4, 0.27), (127, 31)
# Tokens that are labeled for that, and cut, which is faster, from all over a text.
_MEASURED, _CUT = 6_000, 30_000
# What a label that becomes another costs, and the end of a sentence that is lost, in labels that
# become wrong.
_CHANGED, _END = 0.15, 20


class _Form(NamedTuple):
    """A form of a column: what it loses, in labels a token, and the bytes of its file by itself."""

    level: Level
    loss: float
    n_bytes: int


def choose_levels(
    model: TaggerModel, text: Sequence[Sentence], fits: Callable[[Mapping[str, Level]], bool]
) -> dict[str, Level]:
    """Return what stays of each column, by name: the first choice that fits, or the last there is.

    Its shares can then grow together until nothing is left over.

    Parameters
    ----------
    model : of several columns
    text : sentences with all columns
    fits : tells if the model fits with these
    """
    sample = _sample(text, _MEASURED)
    forms = {part.column: _hull([*_forms(part, sample)]) for part in model.parts_by_column}
    if model.segmentation is not None and all(_is_written(one) for one in text):
        measured = _cut_forms(model.segmentation, _sample(text, _CUT), len(forms))
        forms[TEXT] = _hull([*measured])
    steps = [
        ((to.loss - own.loss) / (own.n_bytes - to.n_bytes), column, to.level)
        for column, found in forms.items()
        for own, to in pairwise(found)
    ]
    levels = {column: found[0].level for column, found in forms.items()}
    # On a hull each step costs more than the one before, so this is their order in a column, too.
    choices = [levels]
    for _, column, level in sorted(steps, key=lambda step: step[0]):
        choices.append({**choices[-1], column: level})
    low, high = 0, len(choices)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(choices[middle]) else (middle, high)
    return choices[min(high, len(choices) - 1)]


def _sample(text: Sequence[Sentence], n_tokens: int) -> list[Sentence]:
    """Return sentences from all over a text, with about so many tokens."""
    every = max(1, sum(map(len, text)) // n_tokens)
    return [*text[::every]]


def _is_written(sentence: Sentence) -> bool:
    """Return True if it is known how the sentence was written."""
    return sentence.layout is not None and sentence.layout.format == "conllu"


def _forms(part: TaggerModel, text: Sequence[Sentence]) -> Iterator[_Form]:
    """Yield the forms of a column, measured."""
    gold = [*chain.from_iterable(sentence.column(part.column) for sentence in text)]

    def labels(own: TaggerModel) -> list[str]:
        found = make_labeler(own).label(own.inputs(text))
        return [*chain.from_iterable(found)]

    whole = labels(part.replace(settled=None))
    right = sum(a == b for a, b in zip(whole, gold, strict=True))
    for level in starmap(Level, product(_SHARES, _STEPS)):
        own = at_level(part, level)
        found = labels(own)
        lost = right - sum(a == b for a, b in zip(found, gold, strict=True))
        changed = sum(a != b for a, b in zip(found, whole, strict=True))
        yield _Form(level, (lost + _CHANGED * changed) / max(1, len(gold)), _n_bytes(own))


def _n_bytes(model: TaggerModel) -> int:
    """Return the bytes of a part of a model by itself, as it is in a model of several columns."""
    return len(model_to_bytes(model.replace(packed=TIGHTEST)))


def _cut_forms(
    segmentation: Segmentation, text: Sequence[Sentence], n_columns: int
) -> Iterator[_Form]:
    """Yield the forms of a segmentation, measured; a token has a label in so many columns."""
    written, tokens, ends = one_text(in_paragraphs(text))
    gold = {*tokens}, {end for (_, end), is_last in zip(tokens, ends, strict=True) if is_last}

    def cut(own: Segmentation) -> tuple[set[TokenSpan], set[int]]:
        sentences = [*Segmenter(own).sentences_of(written)]
        return {*chain.from_iterable(sentences)}, {sentence[-1][1] for sentence in sentences}

    def right(words: Set[TokenSpan], ends: Set[int]) -> int:
        spans = {(start, end) for start, end, _ in words}
        return n_columns * len(spans & gold[0]) + _END * len(ends & gold[1])

    whole = cut(segmentation)
    for level in starmap(Level, product(_CUT_SHARES, _CUT_STEPS)):
        own = cut_at_level(segmentation, level)
        found = cut(own)
        changed = n_columns * len(whole[0] - found[0]) + _END * len(whole[1] ^ found[1])
        lost = right(*whole) - right(*found)
        alone = own.cut.replace(column=TEXT, segmentation=own)
        yield _Form(level, (lost + _CHANGED * changed) / max(1, len(tokens)), _n_bytes(alone))


def _hull(forms: Sequence[_Form]) -> list[_Form]:
    """Return the forms of the lower convex hull, from the largest to the smallest.

    It begins with the largest even if by chance a smaller one loses less, so that no bytes are left
    over.
    """
    hull = [max(forms, key=lambda form: form.n_bytes)]
    while True:
        smaller = [form for form in forms if form.n_bytes < hull[-1].n_bytes]
        if not smaller:
            return hull
        last = hull[-1]
        hull.append(
            min(
                smaller,
                key=lambda form: (
                    (form.loss - last.loss) / (last.n_bytes - form.n_bytes),
                    form.n_bytes,
                ),
            )
        )


@dataclass(slots=True)
class FeatureSelection:
    """Features that a training found, or those that one may have which knows what they are worth.

    Attributes
    ----------
    whole : the model that was learned with all features, or None; not packed
    kept : by part of the model (_weights_of), what it may have; all, if it is not there
    with_dev : the same for a training after this one, which learns the dev set, too
    """

    whole: TaggerModel | None = None
    kept: Mapping[str, Kept] = field(default_factory=dict)
    with_dev: FeatureSelection | None = None

    def left_in(self, small: TaggerModel, with_dev: TaggerModel) -> FeatureSelection:
        """Return what compressed forms of the models have, of which the second has learned dev."""
        own = _weights_of(small)
        found = {} if self.whole is None else _weights_of(self.whole)
        kept = {
            name: features_in(weights, own[name])
            for name, weights in found.items()
            if name in own and weights.table_bits is None
        }
        after = None if self.with_dev is None else self.with_dev.left_in(with_dev, with_dev)
        return FeatureSelection(self.whole, kept, after)


def _weights_of(model: TaggerModel) -> dict[str, QuantizedWeights]:
    """Return the weights of each column, and of what makes tokens and words of text."""
    found = {part.column: part.weights for part in model.parts_by_column}
    if model.segmentation is not None:
        cut, splits = model.segmentation.cut, model.segmentation.splits
        found["cut"] = cut.weights
        if splits is not None:
            found["split"] = splits.weights
    return found


def features_in(weights: QuantizedWeights, small: QuantizedWeights) -> Kept:
    """Return the features that have rows in packed weights made of these."""
    bits = small.table_bits or 64
    groups = np.repeat(np.arange(len(weights.group_starts) - 1), np.diff(weights.group_starts))
    there = np.isin(weights.keys >> np.uint64(64 - bits), small.keys)
    return weights.keys[there], groups[there]


def learned_again(
    plan: Any, before_size: Callable[[Any], object] | None
) -> Generator[Any, tuple[Any, list[Any]], list[Any]]:
    """Yield the plans of trainings in turn, and return the taggers of a size, the best on dev.

    Each plan is answered with the tagger that was learned so, and with one in the size that has not
    learned dev, if a second training does, and that tagger in its size. The second plan learns
    again with what fits the size alone. For `before_size` see ``perceptron_nlp.train``.
    """
    selection = FeatureSelection(with_dev=FeatureSelection())
    plan = replace(plan, told={})
    whole, small = yield replace(plan, selection=selection)
    left = selection.left_in(small[0].model, small[-1].model)
    if small[-1] is whole or not left.kept:
        return small
    if before_size is not None:
        before_size(whole)
    with unheard():
        _, again = yield replace(plan, selection=left, checkpoint=None)
    return max(small, again, key=_dev_score)


def _dev_score(taggers: Sequence[Any]) -> float:
    """Return the dev accuracy of the first of some compressed taggers; 0 if that was whole."""
    told = taggers[0].model.record.get("compressed")
    return told["scores"][1] if told else 0.0
