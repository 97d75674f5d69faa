"""Several taggers merged into one, whose scores are the weighted mean of theirs.

Scores are sums of weights, so the mean of models is the model of mean weights: with models
1 … k of scores s_i and weights a_i, the merged model scores (a_1 s_1 + … + a_k s_k) / (a_1 + … +
a_k), in float64, each weight then rounded once to the step of the new model, by half a step at
most. A label that a model does not know scores 0 there, as does a feature.

Taggers that were resumed from one are mixed rather: their states are, and so the mix can be resumed
(mix.py).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

import numpy as np

from perceptron_nlp._core.model.frozenweights import FrozenWeights
from perceptron_nlp._version import __version__
from perceptron_nlp.combine.mix import mixed
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, in_message, quote
from perceptron_nlp.tagger.model.derived import FirstPass
from perceptron_nlp.tagger.model.file import model_to_bytes
from perceptron_nlp.tagger.model.label_components import part_names
from perceptron_nlp.tagger.model.model import TaggerModel, joined
from perceptron_nlp.tagger.model.state import TrainingState, sum_of
from perceptron_nlp.tagger.model.weights import LARGEST, QuantizedWeights
from perceptron_nlp.tagger.model.word_tables import WordTables
from perceptron_nlp.tagger.tagger import Tagger, load
from perceptron_nlp.tagger.train.resuming import state_of
from perceptron_nlp.text.tagset import TagSet

Taggers: TypeAlias = "Iterable[Tagger | str | os.PathLike[str]]"

# Fields that models must have in common for their weights to mean the same, and their names.
_ALIKE = {
    "templates": "templates",
    "scheme": "scheme of spans",
    "right_to_left": "right_to_left",
    "beam": "beam",
    "parts": "parts of labels",
    "window": "window",
}
# Weights that are whole numbers of steps but for rounding in sums.
_SMALL = 1e-6


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
    columns = {member.columns for member in (*members, *([] if begun is None else [begun]))}
    if len(columns) > 1:
        one, other = sorted(columns)[:2]
        raise ArgumentError(
            f"taggers: columns differ: {quote(', '.join(one))} and {quote(', '.join(other))}"
        )
    models = []
    for number in range(len(members[0].columns)):
        parts = [member.tagger.model.parts_by_column[number] for member in members]
        factors = [member.weight for member in members]
        if begun is not None:
            start = begun.tagger.model.parts_by_column[number]
            _check_alike([start, *parts], [begun, *members])
            models.append(_mix(start, parts, factors))
            continue
        _check_alike(parts, members)
        model = _merged(parts, factors, members)
        record = {
            "version": __version__,
            "merged": [
                {"weight": member.weight, "sha256": member.digest, "record": dict(part.record)}
                for member, part in zip(members, parts, strict=True)
            ],
        }
        models.append(model.replace(record=record))
    agreement = members[0].tagger.model.agreement
    for member in members[1:]:
        agreement = agreement and agreement.united(member.tagger.model.agreement)
    if agreement and not agreement.is_small({part.column: part for part in models}):
        agreement = None
    model = joined(models).replace(agreement=agreement)
    return Tagger(model)


@dataclass(frozen=True, slots=True)
class _Member:
    """A tagger, its name in messages, its weight, and a digest of its model."""

    tagger: Tagger
    name: str
    weight: float
    digest: str

    @property
    def columns(self) -> tuple[str, ...]:
        return self.tagger.columns


def _members(taggers: Taggers, weights: Iterable[float] | None) -> list[_Member]:
    """The taggers in an order that does not depend on the one given, so no sum does."""
    if isinstance(taggers, str | os.PathLike | Tagger) or not isinstance(taggers, Iterable):
        raise ArgumentTypeError(
            f"taggers: a list of taggers or paths is needed, not {type(taggers).__name__}"
        )
    given = list(taggers)
    if not given:
        raise ArgumentError("taggers: there is none; give one at least")
    factors = _factors(weights, len(given))
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


def _factors(weights: Iterable[float] | None, n: int) -> list[float]:
    if weights is None:
        return [1.0] * n
    if isinstance(weights, str | bytes) or not isinstance(weights, Iterable):
        raise ArgumentTypeError(
            f"weights: numbers are needed, one a tagger, not {type(weights).__name__}"
        )
    factors = list(weights)
    if len(factors) != n:
        raise ArgumentError(f"weights: there are {len(factors)} for {n} taggers")
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
    return first.deriving(*second).replace(
        tags=tags,
        weights=_mean(models, factors, tags),
        packed=False,
        record={},
        dictionary=_dictionary(models),
        state=None,
        calibration=None,
        vocabulary=reduce(np.union1d, [model.vocabulary for model in models]),
    )


def _mix(base: TaggerModel, models: Sequence[TaggerModel], factors: Sequence[float]) -> TaggerModel:
    """The mix of models of one column that were resumed from one."""
    tags = TagSet({label for model in (base, *models) for label in model.tags})
    names = {name: number for number, name in enumerate(part_names(tags.labels, base.parts))}
    states = []
    for model in (base, *models):
        numbers = [names[name] for name in part_names(model.tags.labels, model.parts)]
        states.append([run.renumbered(numbers) for run in state_of(model).runs])
    if len({len(runs) for runs in states}) > 1:
        raise ArgumentError("base: not all of the taggers were resumed from it")
    shares = [factor / sum(factors) for factor in factors]
    runs = [mixed(begun, reached, shares) for begun, *reached in zip(*states, strict=True)]
    bits = base.weights.table_bits
    return base.replace(
        tags=tags,
        weights=QuantizedWeights.of(
            sum_of([run.average(len(names), bits) for run in runs]), max(1, len(base.templates))
        ),
        packed=False,
        record=_mixed_record(base, models),
        dictionary=_dictionary(models),
        state=TrainingState(state_of(base).options, tuple(runs)),
        calibration=None,
        vocabulary=reduce(np.union1d, [model.vocabulary for model in models]),
    )


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
    first, name = models[0], members[0].name

    def refuse(what: str, ours: Any, theirs: Any, other: str) -> None:
        own, their = (quote(one) if isinstance(one, str) else f"{one}" for one in (ours, theirs))
        raise ArgumentError(
            f"taggers: {what} of column {quote(first.column)} differ: {own} in {name},"
            f" {their} in {other}; train them with the same"
        )

    for model, member in zip(models[1:], members[1:], strict=True):
        if model.column != first.column:
            refuse("columns of the first pass", first.column, model.column, member.name)
        for field, what in _ALIKE.items():
            ours, theirs = getattr(first, field), getattr(model, field)
            if field == "templates" and ours != theirs:
                ours, theirs = _difference(first, model), _difference(model, first)
                if int in (type(ours), type(theirs)):
                    ours, theirs = len(first.templates), len(model.templates)
                    what = f"numbers of {what}"
                refuse(what, ours, theirs, member.name)
            if ours != theirs:
                refuse(what, ours, theirs, member.name)
        if model.weights.table_bits != first.weights.table_bits:
            refuse(
                "table_bits (compress after merging, not before)",
                first.weights.table_bits,
                model.weights.table_bits,
                member.name,
            )
        if _function(model) != _function(first):
            refuse("the feature function", _function(first), _function(model), member.name)
        if _digest(model.tables) != _digest(first.tables):
            refuse("word tables", _digest(first.tables), _digest(model.tables), member.name)
        if model.lemmas != first.lemmas:
            refuse("known lemmas", _n_known(first), _n_known(model), member.name)
        if model.segmentation is not None and member.digest != members[0].digest:
            raise ArgumentError(
                "taggers: each has learned to cut text in its own way, of which there is no mean;"
                " merge taggers of tags alone, and leave text and all out of their training"
            )
        if (model.first is None) != (first.first is None):
            refuse("two_passes", first.first is not None, model.first is not None, member.name)


def _difference(one: TaggerModel, other: TaggerModel) -> str | int:
    """The first template that one has and the other has not, or the first in another place."""
    own = [str(template) for template in one.templates]
    others = [str(template) for template in other.templates]
    missing = [text for text in own if text not in others]
    moved = [text for text, place in zip(own, others, strict=False) if text != place]
    return next(iter(missing or moved), len(own))


def _function(model: TaggerModel) -> str | None:
    return None if model.function is None else model.function.name


def _n_known(model: TaggerModel) -> int:
    return 0 if model.lemmas is None else len(model.lemmas.lemmas)


def _digest(tables: WordTables | None) -> Any:
    return None if tables is None else tables.record()["sha256"]


def _mean(
    models: Sequence[TaggerModel], factors: Sequence[float], tags: TagSet
) -> QuantizedWeights:
    names = {name: number for number, name in enumerate(part_names(tags.labels, models[0].parts))}
    renumbered = [
        _in_float64(
            model.weights,
            [names[name] for name in part_names(model.tags.labels, model.parts)],
            len(names),
        )
        for model in models
    ]
    whole = sum_of(renumbered, factors)
    mean = FrozenWeights(
        whole.n_labels,
        whole.keys,
        whole.groups,
        whole.starts,
        whole.labels,
        whole.weights / sum(factors),
        table_bits=whole.table_bits,
    )
    n_groups = len(models[0].weights.group_starts) - 1
    scales = {model.weights.scale for model in models}
    # If every weight is a whole number of the members' steps, they need no others.
    if len(scales) == 1:
        steps = mean.weights * scales.pop()
        if np.all(np.abs(steps - np.rint(steps)) <= _SMALL) and np.all(np.abs(steps) <= LARGEST):
            return QuantizedWeights.of(mean, n_groups, models[0].weights.scale)
    return QuantizedWeights.of(mean, n_groups)


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
