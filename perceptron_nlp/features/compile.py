"""Templates to the numbers that the core runs, once.

Templates differ in how often they must be worked out, and the core treats each kind apart:

* *slots*: all its values are of one word, so its features are made once per word type. A slot is
  (column, offset, condition), the condition being on the word's place in the sentence;
* *static*: values of several words; made once per token;
* *history*: past labels take part; made while tagging.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from perceptron_nlp._core.features.hashing import hash64
from perceptron_nlp.features.atoms import AFFIXES, VIEWS, Atom, Value
from perceptron_nlp.features.templates import Template
from perceptron_nlp.records import record

KINDS = ("value", "tag", "first", "last", "bias")
ALWAYS, NOT_FIRST, FIRST, NOT_LAST, LAST = range(5)


@record()
class CompiledTemplates:
    """Numbers for ``perceptron_nlp._core.features.extract.FeatureProgram``.

    Attributes
    ----------
    columns : names of the columns looked at; the first is ``"form"``
    values : of each value column, view, affix, low, high
    seeds : the hash of each template's own text, the seed of its keys
    atom_starts : n_templates + 1 of them; where each template's atoms begin in `atoms`
    atoms : of each atom kind, value (or steps back), offset
    slots : of each slot column, offset, condition
    slot_starts, slot_templates : which templates each slot is made of
    static, history : template numbers
    """

    columns: tuple[str, ...]
    values: list[tuple[int, ...]]
    seeds: list[int]
    atom_starts: list[int]
    atoms: list[tuple[int, ...]]
    slots: list[tuple[int, ...]]
    slot_starts: list[int]
    slot_templates: list[int]
    static: list[int]
    history: list[int]


def compile_templates(templates: Sequence[Template]) -> CompiledTemplates:
    """The numbers for a checked list of templates, in the order of the list."""
    columns = ("form", *sorted(set().union(*(t.columns for t in templates))))
    value_ids: dict[Value, int] = {}
    atoms: list[tuple[int, ...]] = []
    starts = [0]
    for template in templates:
        for atom in template.atoms:
            atoms.append(_atom_row(atom, value_ids))
        starts.append(len(atoms))
    values: list[tuple[int, ...]] = [
        (columns.index(v.column), VIEWS.index(v.view), AFFIXES.index(v.affix), v.low, v.high)
        for v in value_ids
    ]
    slots: dict[tuple[int, ...], list[int]] = {}
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
    order: list[tuple[int, ...]] = [*sorted(slots)]
    slot_templates = [number for place in order for number in slots[place]]
    return CompiledTemplates(
        columns=columns,
        values=values,
        seeds=[hash64(str(t).encode()) for t in templates],
        atom_starts=starts,
        atoms=atoms,
        slots=order,
        slot_starts=list(itertools.accumulate((len(slots[place]) for place in order), initial=0)),
        slot_templates=slot_templates,
        static=static,
        history=history,
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
