"""Segmentation as its pages tell it, one Python object an atom: the core must do the same."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate

import numpy as np

from oracles.patterns import patterns, sketch
from perceptron_nlp.features.templates import Template
from perceptron_nlp.tagger.model.model import Segmentation, TaggerModel
from perceptron_nlp.tagger.tag.label import Labeler, make_labeler
from perceptron_nlp.tagger.tag.segment import TokenSpan
from perceptron_nlp.text.atoms import Atoms, atoms_of, ending, place_keys
from perceptron_nlp.text.scripts import WHOLE, split
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.tagset import GOES_ON, NOTHING, PARAGRAPH, SENTENCE, TOKEN, Words, holds

WINDOW, MARGIN = 4_000, 200
OPENING, CLOSING, APOSTROPHES = "([{<\"'«“„", '.,;:!?)]}>"»”…', "'’"
"""Marks beside patterns that are no part of their tokens."""


# Models cannot be hashed; labelers are made once for each that is asked.
_LABELERS: dict[int, tuple[TaggerModel, Labeler]] = {}


def _labeler(model: TaggerModel) -> Labeler:
    if id(model) not in _LABELERS:
        _LABELERS[id(model)] = model, make_labeler(model)
    return _LABELERS[id(model)][1]


def put_together(atoms: Atoms, labels: Sequence[str]) -> Iterator[list[tuple[int, int]]]:
    """Yield the sentences that labeled atoms make, each the spans of its tokens.

    An atom before an empty line, and the last, end a sentence whatever their label.
    """
    sentence: list[tuple[int, int]] = []
    begin = -1
    for (start, end), gap, label in zip(*atoms, labels, strict=True):
        begin = start if begin < 0 else begin
        if label != GOES_ON or gap == PARAGRAPH:
            sentence.append((begin, end))
            begin = -1
            if label == SENTENCE or gap == PARAGRAPH:
                yield sentence
                sentence = []


def segmented(segmentation: Segmentation, text: str, window: int) -> list[list[TokenSpan]]:
    """Return the sentences of a text, each its tokens.

    Parameters
    ----------
    window : characters of a paragraph's atoms that are labeled at a time
    """
    found: list[list[tuple[int, int]]] = []
    spans, gaps = atoms_of(text)
    begin = 0
    for end, gap in enumerate(gaps, 1):
        if gap != PARAGRAPH:
            continue
        while begin < end:
            own = Atoms(spans[begin:end], gaps[begin:end])
            taken, labels = _labels(segmentation, text, own, window)
            found += put_together(Atoms(own.spans[:taken], own.gaps[:taken]), labels)
            begin += taken
    splits = None if segmentation.splits is None else _labeler(segmentation.splits)
    sentences = []
    for tokens in found:
        forms = [" ".join(text[start:end].split()) for start, end in tokens]
        scripts = [WHOLE] * len(forms) if splits is None else splits.label([forms])[0]
        sentences.append(
            [
                (*span, split(label, form) or (form,))
                for span, form, label in zip(tokens, forms, scripts, strict=True)
            ]
        )
    return sentences


def _labels(
    segmentation: Segmentation, text: str, atoms: Atoms, window: int
) -> tuple[int, Sequence[str]]:
    """Return how many atoms of a paragraph are labeled at once, and their labels."""
    lengths = [end - start for start, end in atoms.spans]
    if sum(lengths) <= window and len(atoms.spans) <= WINDOW:
        return len(atoms.spans), _labeled(segmentation, text, atoms)
    before = accumulate(lengths, initial=0)
    count = sum(1 for length, _ in zip(before, lengths, strict=False) if length < window)
    count = max(1, min(WINDOW, count - 1))
    labels = _labeled(segmentation, text, Atoms(atoms.spans[:count], atoms.gaps[:count]))
    taken = count - min(count // 4, MARGIN)
    upper = labels[count // 2 : taken]
    for label in (SENTENCE, TOKEN):
        if label in upper:
            taken -= upper[::-1].index(label)
            break
    return taken, [*labels[: taken - 1], SENTENCE]


def _labeled(segmentation: Segmentation, text: str, atoms: Atoms) -> list[str]:
    cut = _labeler(segmentation.cut)
    words = tuple(text[start:end] for start, end in atoms.spans)
    places = list(zip(place_keys(text, atoms), atoms.gaps, strict=True))
    gaps = [gap != NOTHING for gap in atoms.gaps]
    certain = [
        SENTENCE if gap == PARAGRAPH else segmentation.certain.get(key) for key, gap in places
    ]
    for at, (key, gap) in enumerate(places):
        if certain[at] is None and at + 1 < len(words):
            certain[at] = _known(segmentation.words, words[at], words[at + 1], key, gap)
    looks = sketch(words)
    for kind, begin, end in patterns(text, atoms):
        if not holds(kind, segmentation.patterns):
            continue
        certain[begin : end - 1] = [GOES_ON] * (end - 1 - begin)
        if kind not in ("version", "date", "number", "fraction"):
            if begin and not gaps[begin - 1] and looks[begin - 1] in OPENING:
                certain[begin - 1] = TOKEN
            if end == len(looks) or gaps[end - 1]:
                continue
            has_ending = not gaps[end] and looks[end + 1 : end + 2] in ("a", "0")
            if looks[end] in CLOSING or (looks[end] in APOSTROPHES and not has_ending):
                certain[end - 1] = TOKEN
    if None not in certain:
        return [str(label) for label in certain]
    sentence = Sentence.from_reader(words, {"gap": tuple(atoms.gaps)}, "", 0, None)
    if segmentation.lead is not None:
        sure = _sure(segmentation.cut, segmentation.lead, sentence)
        certain = [known or near for known, near in zip(certain, sure, strict=True)]
        if None not in certain:
            return [str(label) for label in certain]
    return [label or GOES_ON for label in cut.label([sentence], [certain])[0]]


def _is_near(template: Template) -> bool:
    """Does it look at one atom or gap alone, or at an atom, the gap behind it, and the next?"""
    kinds = {atom.kind for atom in template.atoms}
    values = [atom for atom in template.atoms if atom.value is not None]
    places = {(atom.value.column, atom.offset) for atom in values if atom.value is not None}
    if "tag" in kinds:
        return False
    return len(places) <= 1 or (
        not kinds & {"first", "last"} and places <= {("form", 0), ("form", 1), ("gap", 0)}
    )


_NEAR: dict[int, tuple[TaggerModel, Labeler]] = {}


def _sure(model: TaggerModel, lead: float, sentence: Sentence) -> list[str | None]:
    """Return the labels that lead by more than that in what is said by the nearest atoms."""
    if id(model) not in _NEAR:
        weights, near = model.weights, [one for one in model.templates if _is_near(one)]
        # A fixed table has its rows for all templates.
        assert weights.table_bits is not None
        starts = np.array([0] + [weights.n_rows] * len(near))
        few = model.replace(templates=tuple(near), weights=weights.replace(group_starts=starts))
        _NEAR[id(model)] = model, make_labeler(few)
    sums = np.rint(_NEAR[id(model)][1].scores(sentence) * model.weights.scale)
    least = math.ceil(lead * model.weights.scale)
    order = np.argsort(-sums, axis=1, kind="stable")[:, 0]
    others = sums.copy()
    others[np.arange(len(sums)), order] = -np.inf
    ahead = sums.max(1) - others.max(1, initial=-np.inf)
    return [
        model.tags.labels[best] if by > least else None
        for best, by in zip(order, ahead, strict=True)
    ]


def _known(words: Words, before: str, after: str, key: str, gap: str) -> str | None:
    """Return the label of a place that the word on either side knows."""
    asked = (
        ("before", before, gap + key[-1]),
        ("before_ending", ending(before), gap + key[-1]),
        ("after", after, gap + key[0]),
        ("after_ending", ending(after), gap + key[0]),
    )
    for side, word, place in asked:
        for label, known in words.get(side, {}).get(place, {}).items():
            if word in known:
                return label
    return None
