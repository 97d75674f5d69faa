"""Several taggers merged into one, whose scores are the weighted mean of theirs.

Scores are sums of weights, so the mean of models is the model of mean weights: with models
1 … k of scores s_i and weights a_i, the merged model scores (a_1 s_1 + … + a_k s_k) / (a_1 + … +
a_k), in float64, each weight then rounded once to the step of the new model, by half a step at
most. A label that a model does not know scores 0 there, as does a feature.

Taggers that were resumed from one are mixed rather: their states are, and so the mix can be
resumed. That is iterative parameter mixing (McDonald, Hall and Mann, 2010, "Distributed training
strategies for the structured perceptron"), sparsely: a weight is the mean over those shards that
moved it, since most weights belong to rare features, against which the others did not speak. Let
learning begin at state 0 and end on shard i at state i, after n_i tokens; the shares m_i and the
n_i add up to 1 and n. For one weight w, let S be the shards that moved it, M the sum of their
shares, T the sum of w after each token (RunState.sums), g AdaGrad's sum of squares, and D the
difference of a number of state i from that of state 0. The mix is, with c_i = n m_i / n_i and sums
over S alone,

    w = w_0 + (1 / M) sum of m_i Dw_i
    T = T_0 + (1 / M) sum of c_i DT_i
    g = g_0 + (1 / M) sum of m_i Dg_i

If S is empty, T grows by n w_0. So T divided by all tokens of all shards stays the mean of the
weight. Squares are mixed as weights are, not added up: next steps would be shorter.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.model.frozenweights import FrozenWeights
from perceptron_nlp._version import __version__
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, in_message, quote
from perceptron_nlp.features.templates import most_features
from perceptron_nlp.tagger.model.cells import Union, sum_of
from perceptron_nlp.tagger.model.derived import FirstPass
from perceptron_nlp.tagger.model.file import model_to_bytes
from perceptron_nlp.tagger.model.label_components import part_names
from perceptron_nlp.tagger.model.model import TaggerModel, joined
from perceptron_nlp.tagger.model.state import RunState, TrainingState
from perceptron_nlp.tagger.model.weights import LARGEST, QuantizedWeights
from perceptron_nlp.tagger.tagger import Tagger, load
from perceptron_nlp.tagger.train.learners import quantized
from perceptron_nlp.tagger.train.resuming import state_of
from perceptron_nlp.text.tagset import TagSet

Taggers: TypeAlias = "Iterable[Tagger | str | os.PathLike[str]]"

# Weights that are whole numbers of steps but for rounding in sums.
_SMALL = 1e-6
# What rounding makes of a sum is less than this part of it.
ROUNDING = 1e-12

Numbers: TypeAlias = npt.NDArray[np.float64]


def merge(
    taggers: Taggers,
    *,
    weights: Iterable[float] | None = None,
    base: Tagger | str | os.PathLike[str] | None = None,
) -> Tagger:
    """Merge taggers of the same kind; the scores of the result are the weighted mean of theirs.

    All must have the same columns, templates, direction, beam, schemes, tables and so on: taggers
    that were trained on different text with the same options and the templates of one of them
    (``templates=tagger.model.templates``). Labels and vocabularies are united; a label scores 0 in
    a tagger that does not know it. A word of a dictionary stays in it where every tagger that knows
    the word has it there with the same label. The order of the taggers changes nothing. The merged
    tagger is held to no lexicon and cannot be resumed; its record has for each tagger its weight,
    the SHA-256 of its model file, and its own record.

    Parameters
    ----------
    taggers : one at least, or paths of models
    weights : None for equal ones, or a number above 0 for each; their sum does not matter
    base : None, or the tagger that all of them were resumed from, each on text of its own. A
        weight is then the mean over those that moved it, averages are over the tokens of all, and
        the merged tagger can be resumed; its record is that of `base`, and of one more epoch over
        all of the text (docs/engines.md)

    Raises
    ------
    FileError, ModelError : a file cannot be read
    ArgumentError, ArgumentTypeError : the taggers do not fit together; the message says in what
    """
    members = _members(taggers, weights)
    begun = None
    if base is not None:
        ((name, tagger),) = named_taggers("base", [base])
        begun = _Member(tagger, name, 1.0, "")
    everyone = members if begun is None else [begun, *members]
    columns = {member.tagger.columns for member in everyone}
    if len(columns) > 1:
        one, other = sorted(columns)[:2]
        raise ArgumentError(
            f"taggers: columns differ: {quote(', '.join(one))} and {quote(', '.join(other))}"
        )
    factors = [member.weight for member in members]
    models = []
    for parts in zip(*(member.tagger.model.parts_by_column for member in everyone), strict=True):
        _check_alike(parts, everyone)
        if begun is not None:
            models.append(_mix(parts[0], parts[1:], factors))
            continue
        merged = [
            {"weight": member.weight, "sha256": member.digest, "record": dict(part.record)}
            for member, part in zip(members, parts, strict=True)
        ]
        model = _merged(parts, factors, members)
        models.append(model.replace(record={"version": __version__, "merged": merged}))
    agreement = members[0].tagger.model.agreement
    for member in members[1:]:
        agreement = agreement and agreement.united(member.tagger.model.agreement)
    if agreement and not agreement.is_small({part.column: part for part in models}):
        agreement = None
    return Tagger(joined(models).replace(agreement=agreement))


class _Member(NamedTuple):
    """A tagger, its name in messages, its weight, and a digest of its model."""

    tagger: Tagger
    name: str
    weight: float
    digest: str


def _members(taggers: Taggers, weights: Iterable[float] | None) -> list[_Member]:
    """The taggers in an order that does not depend on the one given, so no sum does."""
    if isinstance(taggers, str | os.PathLike | Tagger) or not isinstance(taggers, Iterable):
        raise ArgumentTypeError(
            f"taggers: a list of taggers or paths is needed, not {type(taggers).__name__}"
        )
    given = list(taggers)
    if not given:
        raise ArgumentError("taggers: there is none; give one at least")
    factors = factors_of(weights, len(given))
    members = []
    for (name, tagger), weight in zip(named_taggers("taggers", given), factors, strict=True):
        digest = hashlib.sha256(model_to_bytes(tagger.model)).hexdigest()
        members.append(_Member(tagger, name, weight, digest))
    return sorted(members, key=lambda member: (member.digest, member.weight))


def named_taggers(argument: str, given: Iterable[Any]) -> Iterator[tuple[str, Tagger]]:
    """Yield taggers with their names in messages, loaded if paths are given.

    Raises ArgumentTypeError, with the argument's name, if one is neither a Tagger nor a path;
    FileError, ModelError as for ``perceptron_nlp.load``.
    """
    for number, one in enumerate(given):
        if isinstance(one, Tagger):
            yield f"{argument}[{number}]", one
        elif isinstance(one, str | os.PathLike):
            yield os.fspath(one), load(one)
        else:
            raise ArgumentTypeError(
                f"{argument}[{number}]: a tagger or a path is needed, not {type(one).__name__}"
            )


def factors_of(weights: Iterable[float] | None, n: int, what: str = "taggers") -> list[float]:
    """Return the weights of `n` things, 1 for each if none are given."""
    if weights is None:
        return [1.0] * n
    if isinstance(weights, str | bytes) or not isinstance(weights, Iterable):
        raise ArgumentTypeError(f"weights: numbers are needed, not {type(weights).__name__}")
    factors = list(weights)
    if len(factors) != n:
        raise ArgumentError(f"weights: there are {len(factors)} for {n} {what}")
    for factor in factors:
        if isinstance(factor, bool) or not isinstance(factor, int | float | np.number):
            raise ArgumentTypeError(f"weights: {quote(factor)} is not a number")
        if not 1e-6 <= factor <= 1e6:
            raise ArgumentError(
                f"weights: {in_message(factor)} is not between 0.000001 and 1,000,000"
            )
    return [float(factor) for factor in factors]


def _merged(
    models: Sequence[TaggerModel], factors: Sequence[float], members: Sequence[_Member]
) -> TaggerModel:
    """The mean of models of one column, without a record."""
    first = models[0]
    tags = TagSet({label for model in models for label in model.tags})
    below = [model.first for model in models if model.first is not None]
    if below:
        _check_alike(below, members)
    second = (FirstPass(_merged(below, factors, members)),) if below else ()
    weights = _mean(models, factors, tags)
    return _united(first.deriving(*second), models, tags=tags, weights=weights)


def _united(base: TaggerModel, models: Sequence[TaggerModel], **changes: Any) -> TaggerModel:
    """A model like `base` with these changes, and with what its models know of words."""
    own: dict[str, Any] = {"packed": False, "record": {}, "state": None, "calibration": None}
    own["vocabulary"] = reduce(np.union1d, [model.vocabulary for model in models])
    return base.replace(dictionary=_dictionary(models), settled=None, **(own | changes))


def _mix(base: TaggerModel, models: Sequence[TaggerModel], factors: Sequence[float]) -> TaggerModel:
    """The mix of models of one column that were resumed from one."""
    tags = TagSet({label for model in (base, *models) for label in model.tags})
    numbers, n_labels = _label_numbers((base, *models), tags)
    states = [
        [run.renumbered(own) for run in state_of(model).runs]
        for model, own in zip((base, *models), numbers, strict=True)
    ]
    if len({len(runs) for runs in states}) > 1:
        raise ArgumentError("base: not all of the taggers were resumed from it")
    shares = [factor / sum(factors) for factor in factors]
    runs = [mixed(begun, reached, shares) for begun, *reached in zip(*states, strict=True)]
    averages = [run.average(n_labels, base.weights.table_bits) for run in runs]
    weights = quantized(sum_of(averages), most_features(base.templates) or [1])
    state = TrainingState(state_of(base).options, tuple(runs))
    record = _mixed_record(base, models)
    return _united(base, models, tags=tags, weights=weights, record=record, state=state)


def _label_numbers(models: Sequence[TaggerModel], tags: TagSet) -> tuple[list[list[int]], int]:
    """For each model the numbers that its labels have among `tags`, and how many these are."""
    names = part_names(tags.labels, models[0].parts)
    number_of = {name: number for number, name in enumerate(names)}
    own = [part_names(model.tags.labels, model.parts) for model in models]
    return [[number_of[name] for name in some] for some in own], len(names)


def _mixed_record(base: TaggerModel, models: Sequence[TaggerModel]) -> dict[str, Any]:
    """The record of a base and what was learned from it, counted together."""
    before = base.record.get("epochs", [])
    found = []
    for entries in zip(*(model.record.get("epochs", []) for model in models), strict=False):
        done = sum(entry["run"] == entries[0]["run"] for entry in before)
        sums = {name: sum(entry[name] for entry in entries) for name in ("mistakes", "updates")}
        found.append({**entries[0], **sums, "epoch": done + entries[0]["epoch"]})
    return {
        **base.record,
        "epochs": [*before, *found],
        "best_epoch": found[-1]["epoch"] if found else 0,
        "sharding": {"workers": len(models)},
    }


def _check_alike(models: Sequence[TaggerModel], members: Sequence[_Member]) -> None:
    first, own = models[0], _alike(models[0])
    for model, member in zip(models[1:], members[1:], strict=True):
        if model.segmentation is not None and member.digest != members[0].digest:
            raise ArgumentError(
                "taggers: each has learned to cut text in its own way, of which there is no mean;"
                " merge taggers of tags alone, and leave text and all out of their training"
            )
        for what, theirs in _alike(model).items():
            if own[what] == theirs:
                continue
            shown: Sequence[Any] = own[what], theirs
            if what == "templates":
                shown = _difference(first, model), _difference(model, first)
                if int in map(type, shown):
                    shown, what = (len(first.templates), len(model.templates)), f"numbers of {what}"
            elif what == "known lemmas":
                shown = [0 if one is None else len(one.lemmas) for one in shown]
            ours, other = (quote(one) if isinstance(one, str) else f"{one}" for one in shown)
            raise ArgumentError(
                f"taggers: {what} of column {quote(first.column)} differ: {ours} in"
                f" {members[0].name}, {other} in {member.name}; train them with the same"
            )


def _alike(model: TaggerModel) -> dict[str, Any]:
    """What models must have in common for their weights to mean the same, by its name."""
    return {
        "columns of the first pass": model.column,
        "templates": model.templates,
        "scheme of spans": model.scheme,
        "right_to_left": model.right_to_left,
        "beam": model.beam,
        "parts of labels": model.parts,
        "window": model.window,
        "table_bits (compress after merging, not before)": model.weights.table_bits,
        "the feature function": None if model.function is None else model.function.name,
        "word tables": None if model.tables is None else model.tables.record()["sha256"],
        "known lemmas": model.lemmas,
        "two_passes": model.first is not None,
    }


def _difference(one: TaggerModel, other: TaggerModel) -> str | int:
    """The first template that one has and the other has not, or the first in another place."""
    own = [str(template) for template in one.templates]
    others = [str(template) for template in other.templates]
    missing = [text for text in own if text not in others]
    moved = [text for text, place in zip(own, others, strict=False) if text != place]
    return next(iter(missing or moved), len(own))


def _mean(
    models: Sequence[TaggerModel], factors: Sequence[float], tags: TagSet
) -> QuantizedWeights:
    numbers, n_labels = _label_numbers(models, tags)
    renumbered = [
        _in_float64(model.weights, own, n_labels)
        for model, own in zip(models, numbers, strict=True)
    ]
    mean = sum_of(renumbered, factors)
    mean.weights[:] /= sum(factors)
    most = most_features(models[0].templates) or [1]
    scales = {model.weights.scale for model in models}
    # If every weight is a whole number of the members' steps, they need no others.
    if len(scales) == 1:
        steps = mean.weights * models[0].weights.scale
        if np.all(np.abs(steps - np.rint(steps)) <= _SMALL) and np.all(np.abs(steps) <= LARGEST):
            return quantized(mean, most, *scales)
    return quantized(mean, most)


def _in_float64(weights: QuantizedWeights, numbers: Sequence[int], n_labels: int) -> FrozenWeights:
    """The weights that the model scores with, with label k as label numbers[k]."""
    groups = weights.groups().astype(np.uint16)
    if weights.table_bits is not None:
        groups[:] = 0
    return FrozenWeights(
        n_labels,
        weights.keys,
        groups,
        weights.starts,
        np.asarray(numbers, np.uint32)[weights.labels],
        weights.weights / weights.scale,
        table_bits=weights.table_bits,
    )


def _dictionary(models: Sequence[TaggerModel]) -> dict[str, str]:
    words = sorted({word for model in models for word in model.dictionary})
    found = {}
    for word in words:
        said = {model.dictionary.get(word) for model in models if model.knows(word)}
        if len(said) == 1 and (label := said.pop()) is not None:
            found[word] = label
    return found


def mixed(base: RunState, states: Sequence[RunState], weights: Sequence[float]) -> RunState:
    """Return the mix of states that shards reached from `base`; a single one as it is.

    Raises ArgumentError if one of them cannot have come from there.
    """
    if any(
        state.done < base.done
        or state.epochs < base.epochs
        or (state.squares is None) != (base.squares is None)
        for state in states
    ):
        raise ArgumentError("base: not all of the taggers were resumed from it")
    # Shards without a labeled token have nothing to say.
    moved = [(s, w) for s, w in zip(states, weights, strict=True) if s.done > base.done]
    if len(moved) == 1:
        return moved[0][0]
    union = Union([base.rows, *(state.rows for state, _ in moved)])
    done, epochs = sum(s.done - base.done for s, _ in moved), max(s.epochs for s in states)
    before = _numbers_of(base, union, 0)
    change, share = np.zeros_like(before), np.zeros(union.n_cells)
    for place, (state, weight) in enumerate(moved, 1):
        after, own_done = _numbers_of(state, union, place), state.done - base.done
        has_moved = _moved(before, after, own_done)
        own = weight * (after - before)
        own[1] *= done / own_done
        change += np.where(has_moved, own, 0.0)
        share += np.where(has_moved, weight, 0.0)
    before[1] += np.where(share > 0, 0.0, done * before[0])
    values, sums, *squares = before + change / np.where(share > 0, share, 1.0)
    return RunState.settled(
        union, values, sums, squares[0] if squares else None, base.done + done, epochs
    )


def _numbers_of(state: RunState, union: Union, place: int) -> Numbers:
    """float64[2 or 3, n_cells]: weight, sums, squares of a state at all cells, 0 elsewhere."""
    squares = [] if state.squares is None else [state.squares]
    wide = np.zeros((2 + len(squares), union.n_cells))
    wide[:, union.places[place]] = np.stack([state.weight, state.sums, *squares])
    return wide


def _moved(before: Numbers, after: Numbers, done: int) -> npt.NDArray[np.bool_]:
    """Tell which weights a step was made in, even if others took it back.

    The sum of a weight that stood still is no more than what it came to meanwhile.
    """
    waited = before[1] + done * before[0]
    rounding = ROUNDING * (np.abs(before[1]) + np.abs(after[1]))
    others = (np.delete(before, 1, 0) != np.delete(after, 1, 0)).any(axis=0)
    return np.asarray((np.abs(after[1] - waited) > rounding) | others)
