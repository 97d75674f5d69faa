"""Templates to the arrays that the core runs, once.

Templates differ in how often they must be worked out, and the core treats each kind apart:

* *slots*: all its values are of one word, so its features are made once per word type. A slot is
  (column, offset, condition), the condition being on the word's place in the sentence;
* *static*: values of several words; made once per token;
* *history*: past labels take part; made while tagging.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.hashing import hash64
from perceptron_nlp.features.atoms import AFFIXES, VIEWS, Atom, Value
from perceptron_nlp.features.templates import Template

KINDS = ("value", "tag", "first", "last", "bias")
ALWAYS, NOT_FIRST, FIRST, NOT_LAST, LAST = range(5)


@dataclass(frozen=True, slots=True)
class CompiledTemplates:
    """Index arrays for ``perceptron_nlp._core.extract.FeatureProgram``.

    Attributes
    ----------
    columns : names of the columns looked at; the first is ``"form"``
    values : int32[n_values, 5]; column, view, affix, low, high
    seeds : uint64[n_templates]; the hash of each template's own text, the seed of its keys
    atom_starts : int32[n_templates + 1]; where each template's atoms begin in `atoms`
    atoms : int32[n_atoms, 3]; kind, value (or steps back), offset
    slots : int32[n_slots, 3]; column, offset, condition
    slot_starts, slot_templates : int32; which templates each slot is made of
    static, history : int32; template numbers
    """

    columns: tuple[str, ...]
    values: npt.NDArray[np.int32]
    seeds: npt.NDArray[np.uint64]
    atom_starts: npt.NDArray[np.int32]
    atoms: npt.NDArray[np.int32]
    slots: npt.NDArray[np.int32]
    slot_starts: npt.NDArray[np.int32]
    slot_templates: npt.NDArray[np.int32]
    static: npt.NDArray[np.int32]
    history: npt.NDArray[np.int32]


def compile_templates(templates: Sequence[Template]) -> CompiledTemplates:
    """The arrays for a checked list of templates, in the order of the list."""
    columns = ("form", *sorted(set().union(*(t.columns for t in templates))))
    value_ids: dict[Value, int] = {}
    atoms: list[tuple[int, int, int]] = []
    starts = [0]
    for template in templates:
        for atom in template.atoms:
            atoms.append(_atom_row(atom, value_ids))
        starts.append(len(atoms))
    values = [(columns.index(v.column), VIEWS.index(v.view), AFFIXES.index(v.affix), v.low, v.high)
              for v in value_ids]
    slots: dict[tuple[int, int, int], list[int]] = {}
    static: list[int] = []
    history: list[int] = []
    for number, template in enumerate(templates):
        places = _slots_of(template, columns)
        if any(atom.kind == "tag" for atom in template.atoms):
            history.append(number)
        elif places:
            for place in places:
                slots.setdefault(place, []).append(number)
        else:
            static.append(number)
    order = sorted(slots)
    slot_templates = [number for place in order for number in slots[place]]
    slot_starts = np.cumsum([0, *(len(slots[place]) for place in order)])
    return CompiledTemplates(
        columns=columns,
        values=np.array(values, np.int32).reshape(-1, 5),
        seeds=np.array([hash64(str(t).encode()) for t in templates], np.uint64),
        atom_starts=np.array(starts, np.int32),
        atoms=np.array(atoms, np.int32).reshape(-1, 3),
        slots=np.array(order, np.int32).reshape(-1, 3),
        slot_starts=slot_starts.astype(np.int32),
        slot_templates=np.array(slot_templates, np.int32),
        static=np.array(static, np.int32),
        history=np.array(history, np.int32),
    )


def _atom_row(atom: Atom, value_ids: dict[Value, int]) -> tuple[int, int, int]:
    kind = KINDS.index(atom.kind)
    if atom.value is not None:
        return kind, value_ids.setdefault(atom.value, len(value_ids)), atom.offset
    return kind, -atom.offset, 0


def _slots_of(template: Template, columns: tuple[str, ...]) -> list[tuple[int, int, int]]:
    """The slots that a template belongs to; none where it looks at several words."""
    places = {(columns.index(a.value.column), a.offset) for a in template.atoms if a.value}
    marks = {a.kind for a in template.atoms} & {"first", "last"}
    if len(places) > 1 or len(marks) > 1:
        return []
    column, offset = next(iter(places), (0, 0))
    if not marks:
        return [(column, offset, ALWAYS)]
    yes, no = (FIRST, NOT_FIRST) if "first" in marks else (LAST, NOT_LAST)
    return [(column, offset, no), (column, offset, yes)]
