"""Segmentation as its pages tell it, one Python object an atom: the core must do the same."""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence

import numpy as np

from oracles.atoms import Atoms, atoms_of
from oracles.marks import (
    FINAL,
    NOTE,
    PICTURE,
    UNITS,
    breaks_of,
    commas,
    enclosed,
    ends,
    items,
    leads,
    look,
    opened,
    ordinals,
    unspaced,
    wide,
)
from oracles.matches import matches
from oracles.patterns import patterns, sketch
from perceptron_nlp.features.templates import Template
from perceptron_nlp.tagger.model.model import Segmentation, TaggerModel
from perceptron_nlp.tagger.tag.label import Labeler, make_labeler
from perceptron_nlp.tagger.tag.segment import TokenSpan
from perceptron_nlp.tagger.train.labeled_atoms import capital_looks, place_keys
from perceptron_nlp.text.atoms import character_type, ending
from perceptron_nlp.text.script_making import with_known_stems
from perceptron_nlp.text.scripts import STEMS, WHOLE, split, stem_cuts
from perceptron_nlp.text.sentence import Sentence, with_columns
from perceptron_nlp.text.tagset import (
    GOES_ON,
    MATCHES,
    NOTHING,
    PARAGRAPH,
    SENTENCE,
    SMALL,
    SPACE,
    TOKEN,
    Words,
    holds,
    seen,
)

LONGEST, CHUNK, CHUNK_CHARACTERS = 4_000, 1_000, 10_000
LONGEST_LINE, NARROWEST = 400, 25
# Single letters of scripts without spaces, and marks other than apostrophes and pictures.
BARRIER = re.compile(
    r"c|[^\0-\x7fa0\u2019\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\U0001f000-\U0010ffff]"
)
LONGEST_RAISED = 64
OPENING, CLOSING, APOSTROPHES = "([{<\"'«“„", '.,;:!?)]}>"»”…', "'"
"""Marks beside patterns that are no part of their tokens."""


# Models cannot be hashed; labelers are made once for each that is asked.
_LABELERS: dict[int, tuple[TaggerModel, Labeler]] = {}


def _labeler(model: TaggerModel) -> Labeler:
    if id(model) not in _LABELERS:
        _LABELERS[id(model)] = model, make_labeler(model)
    return _LABELERS[id(model)][1]


def put_together(
    atoms: Atoms, labels: Sequence[str], window: int
) -> Iterator[list[tuple[int, int]]]:
    """Yield the sentences that labeled atoms of a paragraph make, each the spans of its tokens.

    The last atom ends a sentence whatever its label. One that gets too long ends with its last
    token, or, if it has none, where it is.
    """
    tokens: list[tuple[int, int]] = []
    own: list[tuple[int, int]] = []
    open_atoms: list[tuple[int, int]] = []
    for at, (span, label) in enumerate(zip(atoms.spans, labels, strict=True), 1):
        own.append(span)
        open_atoms.append(span)
        while own:
            is_long = len(own) >= LONGEST or sum(end - start for start, end in own) >= window
            is_last = at == len(labels)
            if open_atoms and (label != GOES_ON or is_last or (is_long and not tokens)):
                tokens.append((open_atoms[0][0], span[1]))
                open_atoms = []
            if label != SENTENCE and not is_last and not is_long:
                break
            yield tokens
            tokens, own = [], [*open_atoms]


def segmented(segmentation: Segmentation, text: str, window: int) -> list[list[TokenSpan]]:
    """Return the sentences of a text, each its tokens.

    Parameters
    ----------
    window : characters of a sentence's atoms after which it is over
    """
    found: list[list[tuple[int, int]]] = []
    spans, gaps = atoms_of(text, segmentation.single)
    begin = 0
    for end, gap in enumerate(gaps, 1):
        if gap != PARAGRAPH:
            continue
        own = Atoms(spans[begin:end], gaps[begin:end])
        found += put_together(own, _labeled(segmentation, text, own), window)
        begin = end
    splits = None if segmentation.splits is None else _labeler(segmentation.splits)
    sentences = []
    for tokens in found:
        forms = [" ".join(text[start:end].split()) for start, end in tokens]
        scripts = [WHOLE] * len(forms)
        if splits is not None and segmentation.splits is not None:
            cuts = stem_cuts(segmentation.splits.tags)
            columns = {STEMS: with_known_stems(forms, segmentation.stems, cuts)}
            columns = columns if segmentation.stems else {}
            scripts = splits.label([with_columns(forms, columns)])[0]
        sentences.append(
            [
                (*span, split(label, form) or (form,))
                for span, form, label in zip(tokens, forms, scripts, strict=True)
            ]
        )
    return sentences


def _chunk_gaps(text: str, atoms: Atoms) -> list[str]:
    """Return the gaps of atoms, with others in long runs that have none."""
    gaps, begin, chars = [*atoms.gaps], 0, 0
    looks = sketch([text[start:end] for start, end in atoms.spans])
    for at, (start, end) in enumerate(atoms.spans):
        if at and (gaps[at - 1] != NOTHING or at - begin >= CHUNK or chars >= CHUNK_CHARACTERS):
            gaps[at - 1] = gaps[at - 1] if gaps[at - 1] != NOTHING else SPACE
            begin, chars = at, 0
        elif at and BARRIER.fullmatch(looks[at]):
            begin, chars = at, 0
        chars += end - start
    return gaps


def _in_runs(text: str, atoms: Atoms) -> tuple[Atoms, list[int]]:
    """Atoms whose letters are joined, and the first of those that each is made of; one more."""
    spans: list[tuple[int, int]] = []
    gaps: list[str] = []
    places: list[int] = []
    was_letter = False
    for at, (start, end) in enumerate(atoms.spans):
        is_letter = character_type(seen(text[start:end])[0]) in "Aac"
        if was_letter and is_letter and atoms.gaps[at - 1] == NOTHING:
            spans[-1], gaps[-1] = (spans[-1][0], end), atoms.gaps[at]
        else:
            spans.append((start, end))
            gaps.append(atoms.gaps[at])
            places.append(at)
        was_letter = is_letter
    return Atoms(spans, gaps), [*places, len(atoms.spans)]


def _labeled(segmentation: Segmentation, text: str, atoms: Atoms) -> list[str]:
    cut = _labeler(segmentation.cut)
    own = [look(text[start:end]).replace(NOTE, "n") for start, end in atoms.spans]
    first_capital = own.index("A") if "A" in own else len(own)
    as_given = text
    if not segmentation.uncapitalized:
        text = _raised(text, atoms, own[:first_capital])
    words = tuple(seen(text[start:end]) for start, end in atoms.spans)
    places = list(zip(place_keys(words, atoms.gaps), atoms.gaps, strict=True))
    chunk_gaps = _chunk_gaps(text, atoms)
    gaps = [gap != NOTHING for gap in chunk_gaps]
    certain = [
        SENTENCE if gap == PARAGRAPH else segmentation.certain.get(key) for key, gap in places
    ]
    written = [text[start:end] for start, end in atoms.spans]
    breaks = breaks_of(text, atoms.spans)
    marks = [ordinals(written, atoms.gaps), commas(written, chunk_gaps)]
    for kind, at, ends_sentence in itertools.chain(*marks, unspaced(written, chunk_gaps)):
        if holds(kind, segmentation.patterns):
            certain[at] = SENTENCE if ends_sentence else TOKEN
    looks = sketch(words)
    runs, places_of = _in_runs(text, Atoms(atoms.spans, chunk_gaps))
    for kind, *edges in patterns(text, runs):
        begin, end = (places_of[edge] for edge in edges)
        if not holds(kind, segmentation.patterns):
            continue
        certain[begin : end - 1] = [GOES_ON] * (end - 1 - begin)
        beside = looks[max(0, begin - 1) : begin] + looks[end : end + 1]
        are_words = begin and {*beside} <= {*"a0"} and not gaps[begin - 1] and not gaps[end - 1]
        if kind in ("entity", "markup") or (
            kind == "dots" and looks[begin] == "." and len(beside) == 2 and are_words
        ):
            if begin and not gaps[begin - 1]:
                certain[begin - 1] = TOKEN
            if end < len(looks) and not gaps[end - 1]:
                certain[end - 1] = TOKEN
        if kind not in ("version", "date", "number", "fraction"):
            if begin and not gaps[begin - 1] and looks[begin - 1] in OPENING:
                certain[begin - 1] = TOKEN
            if end == len(looks) or gaps[end - 1]:
                continue
            has_ending = not gaps[end] and looks[end + 1 : end + 2] in ("a", "0")
            is_part = kind == "code" and has_ending
            closes = looks[end] in CLOSING or PICTURE.match(looks[end]) is not None
            is_closed = closes and not is_part
            if is_closed or (looks[end] in APOSTROPHES and not has_ending):
                certain[end - 1] = TOKEN
    for kind, at, _ in enclosed(written, chunk_gaps):
        if holds(kind, segmentation.patterns):
            certain[at] = TOKEN
    for kind, at, ends_sentence in wide(written, chunk_gaps):
        if holds(kind, segmentation.patterns) and (ends_sentence or certain[at] != GOES_ON):
            certain[at] = SENTENCE if ends_sentence else TOKEN
    ended = set()
    for kind, at, ends_sentence in ends(written, chunk_gaps, breaks):
        is_sure = ends_sentence or kind in ("emoji", "operator") or at >= first_capital
        if holds(kind, segmentation.patterns) and is_sure:
            certain[at] = SENTENCE if ends_sentence else TOKEN
            ended |= {at} if ends_sentence else set()
            if kind == "operator" and written[at][0] not in UNITS:
                begin = at
                while begin and chunk_gaps[begin - 1] == NOTHING:
                    begin -= 1
                certain[begin:at] = [GOES_ON] * (at - begin)
    for kind, at, _ in opened(written, chunk_gaps):
        if holds(kind, segmentation.patterns):
            certain[at] = TOKEN
    for kind, at, _ in items(written, chunk_gaps, breaks, ended):
        if holds(kind, segmentation.patterns):
            certain[at] = TOKEN
    if not segmentation.wrapped:
        for at in _ends_of_lines(text, atoms, words):
            certain[at] = SENTENCE
    for at, (key, gap) in enumerate(places):
        if certain[at] is None and at + 1 < len(words):
            certain[at] = _known(segmentation.words, words[at], words[at + 1], key, gap)
    if None not in certain:
        return [str(label) for label in certain]
    columns = {"gap": tuple(atoms.gaps), SMALL: capital_looks(words, segmentation.small)}
    if MATCHES in segmentation.cut.feature_columns:
        found = matches(as_given, {*segmentation.entries}, segmentation.single, atoms)
        columns[MATCHES] = tuple(found)
    shown = words
    if cut.decoder.seen_as('"') != '"':
        sides = zip(words, [SPACE, *atoms.gaps], atoms.gaps, strict=False)
        shown = tuple(_quote(*one) if one[0] == '"' else one[0] for one in sides)
    sentence = Sentence.from_reader(shown, columns, "", 0, None)
    sure: list[str | None] = [None] * len(certain)
    if segmentation.lead is not None:
        sure = _sure(segmentation.cut, segmentation.lead, sentence)
    hyphen = holds("hyphen", segmentation.patterns)
    return _evened(cut, sentence, certain, sure, own, hyphen)


def _evened(
    cut: Labeler,
    sentence: Sentence,
    settled: Sequence[str | None],
    sure: Sequence[str | None],
    looks: Sequence[str],
    joins_letters: bool,
) -> list[str]:
    """Return labels, alike on both sides of a mark as in 12-15, unless both are settled."""
    gaps, goes_on = sentence.column("gap"), cut.model.tags.id_of(GOES_ON)
    certain = [known or near for known, near in zip(settled, sure, strict=True)]
    labels = cut.label([sentence], [certain])[0]
    for mark in range(1, len(looks) - 1):
        pair = word, _ = mark - 1, mark
        around = looks[word] + looks[mark + 1]
        is_joint = looks[mark] in '.;,:!?()[]"/=+&~*_–—·×−«»“”…'
        is_joint |= looks[mark] in "-‐‑" and ("n" in around or joins_letters)
        is_joint = is_joint and not {*around} - {*"aAchn"}
        ends = [labels[at] != GOES_ON for at in pair]
        is_open = [settled[at] is None for at in pair]
        if not is_joint or gaps[word] != NOTHING or gaps[mark] != NOTHING:
            continue
        is_part = looks[mark] in ".;" and around != "nn" and ends[1]
        if ends[0] == ends[1] or is_part or not any(is_open):
            continue
        is_end = ends[is_open.index(False)] if False in is_open else False
        if all(is_open) and not any(sure[at] for at in pair):
            scores = cut.scored([sentence], lambda _, __, found: found, [certain])[0]
            leads = np.delete(scores, goes_on, axis=1).max(1) - scores[:, goes_on]
            is_end = bool(np.rint(leads[[*pair]].sum() * cut.model.weights.scale) > 0)
        elif all(is_open) and not all(sure[at] for at in pair):
            is_end = next(sure[at] for at in pair if sure[at]) != GOES_ON
        for at, was_end in zip(pair, ends, strict=True):
            if was_end != is_end:
                labels[at] = TOKEN if is_end else GOES_ON
        certain = [*labels[: mark + 1], *certain[mark + 1 :]]
        labels = cut.label([sentence], [certain])[0]
    return labels


def _raised(text: str, atoms: Atoms, looks: Sequence[str]) -> str:
    """Return a text with a capital where a sentence may begin, in front of its first one."""
    letters = [*text]
    for at, (own, (start, end)) in enumerate(zip(looks, atoms.spans, strict=False)):
        capital = text[start].title()
        is_short = len(text[start:end].encode("utf-8", "surrogatepass")) <= LONGEST_RAISED
        is_greek = unicodedata.name(text[start], "").startswith("GREEK")
        if own == "a" and is_short and len(capital) == 1 and _may_begin(looks, atoms, at, is_greek):
            letters[start] = capital
    return "".join(letters)


def _may_begin(looks: Sequence[str], atoms: Atoms, at: int, is_greek: bool) -> bool:
    """Do white space, the end of a sentence, and three marks at most stand before an atom?"""
    is_apart = False
    for before in range(at - 1, max(-1, at - 5), -1):
        is_apart |= atoms.gaps[before] != NOTHING
        if looks[before] in FINAL + ";":
            if looks[before] == "." and before and looks[before - 1] in "aAch":
                begin, end = atoms.spans[before - 1]
                is_apart &= end - begin > 1
            return is_apart and (is_greek or looks[before] != ";")
        if looks[before] in "aAnch,:":
            return False
    return False


def _quote(word: str, before: str, behind: str) -> str:
    """Return a straight quote that is not known as one that opens, closes, or may do either."""
    if before == NOTHING:
        return word
    return "‟" if behind == NOTHING else "＂"


def _ends_of_lines(text: str, atoms: Atoms, words: Sequence[str]) -> list[int]:
    """Return the atoms of a paragraph whose line breaks end a sentence."""
    lines: list[list[int]] = [[]]
    for at, (_, end) in enumerate(atoms.spans):
        lines[-1].append(at)
        begin = atoms.spans[at + 1][0] if at + 1 < len(words) else end
        if {*"\n\r"} & {*text[end:begin]}:
            lines.append([])

    texts = [
        [*itertools.dropwhile(lambda at: leads(words[at][0], atoms.gaps[at]), line)]
        for line in lines
    ]
    # Nobody knows that the last one has none.
    texts[-1] = texts[-1] or lines[-1][-1:]

    def length(number: int) -> int:
        if not 0 <= number < len(lines) or not texts[number]:
            return 0
        chars = sum(atoms.spans[at][1] - atoms.spans[at][0] for at in lines[number])
        gaps = sum(atoms.gaps[at] != NOTHING for at in lines[number])
        return min(LONGEST_LINE + 1, chars + gaps)

    def level(number: int) -> int:
        line = lines[number]
        marks = line[: -len(texts[number])] if texts[number] else line[:-1]
        return sum(words[at][0] == ">" for at in marks)

    def first_word(number: int) -> int:
        chars = 0
        for at in texts[number]:
            chars += atoms.spans[at][1] - atoms.spans[at][0]
            is_whole = character_type(words[at][0]) in "hkzs"
            if atoms.gaps[at] != NOTHING or is_whole or chars > LONGEST_LINE:
                break
        return chars

    def first_of(number: int) -> str:
        return words[[*texts[number], lines[number][-1]][0]][0]

    def is_small(number: int) -> bool:
        return first_of(number).isalpha() and _is_small(first_of(number))

    found = []
    for number in range(len(lines) - 1):
        second = first_of(number + 1)
        is_other = level(number) != level(number + 1)
        if not texts[number + 1] or (is_other and second.isalpha() and not _is_small(second)):
            found.append(lines[number][-1])
            continue
        nearest = 2 if length(number - 1) else 0
        width = max(map(length, range(number - nearest, number + 2)))
        has_third = number + 2 < len(lines) and length(number + 1) <= LONGEST_LINE
        has_third = has_third and bool(texts[number + 2])
        small_third = has_third and is_small(number + 2)
        first = first_of(number)
        narrowest = NARROWEST // 2 if character_type(second) in "hkzs" else NARROWEST
        has_room = length(number) + first_word(number + 1) < width or width < narrowest
        if first.isdigit() and second.isdigit():
            has_room = True
        if first == second and not first.isalpha() and not first.isdigit():
            has_room = True
        before = length(number - 1)
        is_short = 0 < 4 * before < 3 * width
        if not has_room and not has_third and not is_small(number + 1):
            has_room = is_short
        if not has_room and has_third and is_small(number + 1) == small_third:
            is_item = is_small(number) and is_short
            is_line = not is_small(number) or is_short or not before
            is_room_behind = length(number + 1) + first_word(number + 2) < width
            has_room = is_room_behind and (is_item if small_third else is_line)
        last = words[lines[number][-1]][0]
        goes_on = last in ",;-(&/–—、，،"
        is_item = is_small(number) and (small_third or not has_third)
        if has_room and not goes_on and (not is_small(number + 1) or is_item):
            found.append(lines[number][-1])
    return found


def _is_small(letter: str) -> bool:
    return letter.islower() and letter.title() != letter


def _is_near(template: Template) -> bool:
    """Does it look at one atom or gap alone, or at an atom, the gap behind it, and the next?"""
    kinds = {atom.kind for atom in template.atoms}
    values = [atom for atom in template.atoms if atom.value is not None]
    places = {(atom.value.column, atom.offset) for atom in values if atom.value is not None}
    if "tag" in kinds:
        return False
    return len(places) <= 1 or (
        not kinds & {"first", "last"}
        and places <= {("form", 0), ("form", 1), ("gap", 0), (SMALL, 0), (SMALL, 1)}
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
        _NEAR[id(model)] = model, _labeler(few)
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
