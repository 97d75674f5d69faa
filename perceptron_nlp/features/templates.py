"""Templates: the features that a tagger makes of a sentence.

A template is a conjunction of atoms, separated by spaces: ``lower[-1] lower[0]`` is one feature for
each pair of neighboring words. The grammar of an atom:

::

    atom    =  "tag[" -k "]"                    the label given k words ago (k = 1, 2, 3, 4)
            |  "first" | "last"                 is this the first, the last word of the sentence
            |  "bias"                           always the same
            |  [ "column:" NAME "." ] view [ "." affix ] [ "[" offset "]" ]
            |  "column:" NAME [ "[" offset "]" ]        a column of the input as it stands

    view    =  word        as written
            |  lower       lower-cased, code point by code point
            |  norm        lower-cased; numbers and hyphenated words become classes
            |  shape       X upper case, x letter, d digit, others as they are; runs collapsed
            |  shape4      the same with runs cut at four
            |  folded      lower-cased, Latin letters without marks; a e, i u, b p, d t, g k as one
            |  flags       case, digit, hyphen and other marks of the word in one value
            |  capital | allcaps | hasdigit | hashyphen     one mark: 1 or 0

    affix   =  prefixK | suffixK                the first, the last K code points (K = 1 … 16)
            |  ngramsA-B                        all n-grams of A to B code points, edges marked
            |  pieces                           what stands between the bars of the value: a|b

An offset counts words from the one being tagged: ``[0]`` (or nothing) is the word itself, ``[-1]``
the one before it in the text, ``[1]`` or ``[+1]`` the one after. Beyond the ends of the sentence
each distance has a pad of its own. ``tag[-1]`` is the label given one step ago, in whatever
direction the tagger reads, since training may choose it. What people are shown has all offsets in
the order of the text: the same is ``tag[+1]`` if a tagger reads right to left.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from perceptron_nlp._checks import did_you_mean
from perceptron_nlp._core.features.extract import FeatureProgram, hash64
from perceptron_nlp.errors import ArgumentTypeError, TemplateError, quote

VIEWS = (
    "word",
    "lower",
    "norm",
    "shape",
    "shape4",
    "folded",
    "flags",
    "capital",
    "allcaps",
    "hasdigit",
    "hashyphen",
)
AFFIXES = ("none", "prefix", "suffix", "ngrams", "pieces")
# These give a word any number of features instead of one.
MANY = ("ngrams", "pieces")
MAX_OFFSET = 8
MAX_HISTORY = 4
MAX_AFFIX = 16

# Columns that the tagger derives from the document context: tagger/model/context.py tells them.
CONTEXT_COLUMNS = ("near", "near-left", "near-right", "near-case", "near-share")
CONTEXT_SIDES = ("near-left-", "near-right-")


class Value(NamedTuple):
    """Something to see of a single word: a view of a column, perhaps an affix of it.

    ``low`` and ``high`` are the affix's length, or the n-grams' shortest and longest; 0 without
    affix.
    """

    column: str
    view: str
    affix: str = "none"
    low: int = 0
    high: int = 0

    def __str__(self) -> str:
        text = self.view
        if self.column != "form":
            plain = self.view == "word" and self.affix == "none"
            text = f"column:{self.column}" + ("" if plain else f".{self.view}")
        if self.affix == "ngrams":
            return f"{text}.ngrams{self.low}-{self.high}"
        if self.affix in ("none", "pieces"):
            return text if self.affix == "none" else f"{text}.pieces"
        return f"{text}.{self.affix}{self.low}"


class Atom(NamedTuple):
    """One part of a template: a value at an offset, a past label, or a mark of position.

    kind : ``"value"``, ``"tag"``, ``"first"``, ``"last"`` or ``"bias"``
    offset : words from the one being tagged; for a tag the steps back (negative)
    value : what is looked at, if kind is ``"value"``
    """

    kind: str
    offset: int = 0
    value: Value | None = None

    def __str__(self) -> str:
        if self.kind == "value":
            return f"{self.value}[{self.offset}]"
        return f"tag[{self.offset}]" if self.kind == "tag" else self.kind

    def in_text_order(self, right_to_left: bool) -> str:
        """Return the atom as people read it: every offset in the order of the text, with its sign.

        If labels are given from right to left, ``tag[-1]``, the label given one step ago, is that
        of the word after: ``tag[+1]``.
        """
        if self.kind not in ("value", "tag"):
            return self.kind
        offset = -self.offset if right_to_left and self.kind == "tag" else self.offset
        return f"{self.value or 'tag'}[{offset:+d}]" if offset else str(self)


def parse_atom(text: str) -> Atom:
    """Read one atom.

    Raises TemplateError if the text is no atom; the message quotes it and names the nearest one.
    """
    name, bracket, number = text.partition("[")
    number = number.removesuffix("]") if text.endswith("]") else ""
    is_named = name and "]" not in name and len(name.split()) == 1 and name == name.strip()
    if not is_named or (bracket and not _is_number(number[number[:1] in ("+", "-") :])):
        raise TemplateError(f"{quote(text)} is not an atom; write a name and an offset: lower[-1]")
    offset = int(number or 0)
    if name == "tag":
        if not -MAX_HISTORY <= offset <= -1:
            raise TemplateError(
                f"{quote(text)}: labels already given are tag[-1] to tag[-{MAX_HISTORY}]"
            )
        return Atom("tag", offset)
    if name in ("first", "last", "bias"):
        if bracket:
            raise TemplateError(f"{quote(text)}: {name} takes no offset")
        return Atom(name)
    if abs(offset) > MAX_OFFSET:
        raise TemplateError(
            f"{quote(text)}: offsets reach from -{MAX_OFFSET} to {MAX_OFFSET}, not {offset}"
        )
    return Atom("value", offset, _parse_value(name, text))


def _parse_value(name: str, text: str) -> Value:
    column, parts = "form", name.split(".")
    if name.startswith("column:"):
        column = parts[0].removeprefix("column:")
        parts = parts[1:] or ["word"]
        if not column:
            raise TemplateError(f"{quote(text)}: column: needs the name of a column after it")
    view = parts[0]
    if view not in VIEWS:
        names = [*VIEWS, "tag", "first", "last", "bias", "column:NAME"]
        hint = did_you_mean(view, names) or f"; there are {', '.join(names)}"
        raise TemplateError(f"{quote(text)}: no view is called {quote(view)}{hint}")
    if len(parts) == 1:
        return Value(column, view)
    affix = ".".join(parts[1:])
    if affix == "pieces":
        return Value(column, view, affix)
    kind, (shortest, hyphen, longest) = affix[:6], affix[6:].partition("-")
    if kind != "ngrams":
        hyphen, longest = "-" if not hyphen else "", shortest
    if not (kind in AFFIXES[1:4] and hyphen and _is_number(shortest) and _is_number(longest)):
        raise TemplateError(
            f"{quote(text)}: after the view comes prefixK, suffixK, ngramsA-B or pieces,"
            f" not {quote(affix)}"
        )
    low, high = int(shortest), int(longest)
    if not 1 <= low <= high <= MAX_AFFIX:
        raise TemplateError(
            f"{quote(text)}: lengths run from 1 to {MAX_AFFIX}, the shorter one first"
        )
    return Value(column, view, kind, low, high)


def _is_number(digits: str) -> bool:
    return digits.isdecimal() and len(digits) < 10


MAX_ATOMS = 8
MAX_TEMPLATES = 1000


class Template(NamedTuple):
    """One kind of feature: its atoms, all of which must agree.

    ``Template.parse("tag[-1] lower[0]")`` reads one; ``str()`` writes it in the one spelling that
    its hash and the model file use.

    Attributes
    ----------
    atoms : tuple of Atom, 1 to 8 of them, no two alike
    """

    atoms: tuple[Atom, ...]

    @classmethod
    def parse(cls, text: str) -> Template:
        """Read a template.

        Raises
        ------
        TemplateError : it does not follow the language; the message quotes the piece
        ArgumentTypeError : text is not a str
        """
        if not isinstance(text, str):
            raise ArgumentTypeError(f"text: a str is needed, not {type(text).__name__}")
        return _parsed(text)

    def in_text_order(self, right_to_left: bool) -> str:
        """Return the template as people read it; see Atom.in_text_order."""
        return " ".join(atom.in_text_order(right_to_left) for atom in self.atoms)

    def _check_many(self, text: str) -> None:
        """Raise unless many-valued atoms stay on one word, to be worked out once per word."""
        many = [atom for atom in self.atoms if atom.value and atom.value.affix in MANY]
        if not many:
            return
        places = {(a.value.column, a.offset) for a in self.atoms if a.value}
        other = [atom for atom in self.atoms if atom.kind != "value"]
        if len(many) > 1 or len(places) > 1 or other:
            raise TemplateError(
                f"{quote(text)}: n-grams and pieces go together only with other values of the same"
                " word, and once in a template"
            )

    @property
    def columns(self) -> frozenset[str]:
        """The columns that it looks at, in addition to the words themselves."""
        return frozenset(a.value.column for a in self.atoms if a.value) - {"form"}

    def __str__(self) -> str:
        return " ".join(map(str, self.atoms))


# The columns of a model have most of their templates in common.
@functools.lru_cache(maxsize=4096)
def _parsed(text: str) -> Template:
    atoms = tuple(parse_atom(piece) for piece in text.split())
    if not 1 <= len(atoms) <= MAX_ATOMS:
        raise TemplateError(
            f"{quote(text)}: a template has 1 to {MAX_ATOMS} atoms, this one {len(atoms)}"
        )
    if len(set(atoms)) < len(atoms):
        raise TemplateError(f"{quote(text)}: an atom stands in it twice")
    template = Template(atoms)
    template._check_many(text)
    return template


@functools.lru_cache(maxsize=64)
def columns_of(templates: tuple[Template, ...]) -> tuple[str, ...]:
    """Return the columns that templates look at besides the words, in alphabetical order."""
    values = (atom.value for template in templates for atom in template.atoms)
    return tuple(sorted({value.column for value in values if value} - {"form"}))


def look_nearby(templates: Iterable[Template]) -> bool:
    """Return True if any of the templates looks at the document context."""
    return any(
        name in CONTEXT_COLUMNS or name.startswith(CONTEXT_SIDES)
        for name in columns_of(tuple(templates))
    )


def check_templates(
    templates: Iterable[Template | str], name: str = "templates"
) -> tuple[Template, ...]:
    """Return a list of templates, or of their texts, as Template objects, checked.

    Raises TemplateError if the list is empty or too long, has a template twice, or a str that is
    none; ArgumentTypeError if it is no list, or holds anything but Template and str.
    """
    if not isinstance(templates, Iterable):
        raise ArgumentTypeError(
            f"{name}: a list of templates is needed, not {type(templates).__name__}"
        )
    parsed: list[Template] = []
    for item in templates:
        if not isinstance(item, str | Template):
            raise ArgumentTypeError(f"{name}: Template or str is needed, not {type(item).__name__}")
        # A Template may have been put together by hand; its text says whether it is one.
        template = Template.parse(str(item))
        if isinstance(item, Template) and template != item:
            raise TemplateError(f"{name}: {quote(str(item))} does not follow the language")
        parsed.append(template)
    if not 1 <= len(parsed) <= MAX_TEMPLATES:
        raise TemplateError(f"{name}: 1 to {MAX_TEMPLATES} templates are needed, not {len(parsed)}")
    if len(set(parsed)) < len(parsed):
        raise TemplateError(f"{name}: a template stands in it twice")
    return tuple(parsed)


KINDS = ("value", "tag", "first", "last", "bias")
ALWAYS, NOT_FIRST, FIRST, NOT_LAST, LAST = range(5)


class CompiledTemplates(NamedTuple):
    """Numbers for ``perceptron_nlp._core.features.extract.FeatureProgram``.

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


def most_features(templates: Sequence[Template]) -> list[int]:
    """Return how many features of each template a word has at most; 0 for any number."""
    return program_of(tuple(templates)).most_features


@functools.lru_cache(maxsize=16)
def program_of(templates: tuple[Template, ...]) -> FeatureProgram:
    """Return the core's form of a checked list of templates."""
    return FeatureProgram(compile_templates(templates))


def compile_templates(templates: Sequence[Template]) -> CompiledTemplates:
    """Return the numbers for a checked list of templates, in the order of the list."""
    columns = ("form", *columns_of(tuple(templates)))
    value_ids: dict[Value, int] = {}
    atoms: list[tuple[int, ...]] = []
    starts = [0]
    for template in templates:
        for atom in template.atoms:
            if atom.value is None:
                row = KINDS.index(atom.kind), -atom.offset, 0
            else:
                value = value_ids.setdefault(atom.value, len(value_ids))
                row = KINDS.index(atom.kind), value, atom.offset
            atoms.append(row)
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


def _slots_of(template: Template, columns: tuple[str, ...]) -> list[tuple[int, int, int]]:
    """Return the slots that a template belongs to; none if it looks at several words."""
    places = {(columns.index(a.value.column), a.offset) for a in template.atoms if a.value}
    marks = {a.kind for a in template.atoms} & {"first", "last"}
    if len(places) > 1 or len(marks) > 1:
        return []
    column, offset = next(iter(places), (0, 0))
    if not marks:
        return [(column, offset, ALWAYS)]
    yes, no = (FIRST, NOT_FIRST) if "first" in marks else (LAST, NOT_LAST)
    return [(column, offset, no), (column, offset, yes)]
