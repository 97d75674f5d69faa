"""How much of each column of a model stays in a size: bytes go where they buy most.

Each column is labeled by itself with less and less of its weights. What a form of it loses is how
many labels of a text become wrong, and a little for each that becomes another. Of a column's forms
those on the lower convex hull of loss over bytes are taken in turn, and of all columns always the
step that loses least for each byte that it saves, until all fits (Shoham and Gersho, Efficient bit
allocation for an arbitrary set of quantizers, IEEE Transactions on ASSP 36, 1988).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from perceptron_nlp.tagger.model.file import model_to_bytes
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.tag.label import make_labeler
from perceptron_nlp.tagger.train.packing import Level, at_level
from perceptron_nlp.text.sentence import Sentence

# The forms of a column that are measured: shares of its rows, and the most steps of their weights.
_SHARES = (1.0, 0.6, 0.4, 0.27, 0.18, 0.11, 0.06)
_STEPS = (127, 31, 15, 7)
# Tokens that are labeled for that, from all over a text.
_MEASURED = 4_000
# What a label that becomes another costs, in labels that become wrong.
_CHANGED = 0.15


class _Form(NamedTuple):
    """A form of a column: what it loses, in labels, and the bytes of its file by itself."""

    level: Level
    loss: float
    n_bytes: int


def choose_levels(
    model: TaggerModel, text: Sequence[Sentence], fits: Callable[[Mapping[str, Level]], bool]
) -> dict[str, Level]:
    """Return what stays of each column, by name: the last choice but one before all fits.

    Of that the shares are then to be cut by what is still too much.

    Parameters
    ----------
    model : of several columns
    text : sentences with all columns
    fits : tells if the model fits with these
    """
    sample = _sample(text)
    forms = {part.column: _hull([*_forms(part, sample)]) for part in model.parts_by_column}
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
    return choices[low]


def _sample(text: Sequence[Sentence]) -> list[Sentence]:
    """Return sentences from all over a text."""
    every = max(1, sum(map(len, text)) // _MEASURED)
    return [*text[::every]]


def _forms(part: TaggerModel, text: Sequence[Sentence]) -> Iterator[_Form]:
    """Yield the forms of a column, measured."""
    gold = [*chain.from_iterable(sentence.column(part.column) for sentence in text)]

    def labels(own: TaggerModel) -> list[str]:
        found = make_labeler(own).label(own.inputs(text))
        return [*chain.from_iterable(found)]

    whole = labels(part.replace(settled=None))
    right = sum(a == b for a, b in zip(whole, gold, strict=True))
    for steps in _STEPS:
        for share in _SHARES:
            level = Level(share, steps)
            own = at_level(part, level)
            found = labels(own)
            lost = right - sum(a == b for a, b in zip(found, gold, strict=True))
            changed = sum(a != b for a, b in zip(found, whole, strict=True))
            yield _Form(level, lost + _CHANGED * changed, len(model_to_bytes(own)))


def _hull(forms: Sequence[_Form]) -> list[_Form]:
    """Return the forms of the lower convex hull, from the largest, which loses least, to the
    smallest."""
    best = min(forms, key=lambda form: (form.loss, form.n_bytes))
    hull = [best]
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
