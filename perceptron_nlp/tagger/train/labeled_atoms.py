"""What the atoms of a text with known tokens and sentences tell: labels, certain places, initials.

Places where training met one label alone are settled by a table, and so are those beside words that
met no other there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from perceptron_nlp.formats.conllu import Surface, one_text
from perceptron_nlp.tagger.train.patterns import count_patterns, matches_of
from perceptron_nlp.text.atoms import (
    atom_labels,
    atoms_of,
    capital_looks,
    ending,
    is_abbreviation,
    is_of_letters,
    place_keys,
)
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.tagset import (
    LONGEST_ENTRY,
    MATCHES,
    PARAGRAPH,
    SENTENCE,
    SIDES,
    SMALL,
    WORD_PLACES,
    Patterns,
    Words,
    seen,
)

# Atoms after which a paragraph of training is cut, where the next sentence ends.
_LONG_PARAGRAPH = 1_000
# A place is certain if it was met so often, and nearly always with one label.
OFTEN, _SHARE = 50, 0.9995
# The share of other labels that is expected beside a certain word, at most.
_MOST_OTHERS = 1e-4
_FOLDS_MATCHED = 10
# How often an abbreviation of raw text must be met.
_LEAST_MET = 3
# Letters of a word before a full stop that is an abbreviation mostly; the share of the tokens from
# which on a capital letter is a word, as I is in English.
_SHORT, _WORD_ALONE = 4, 0.001
# How often a full stop stands behind an abbreviation, and the score from which on a word is one, as
# Kiss and Strunk have them.
_STOPPED, _LEAST_SCORE = 0.99, 0.3


class LabeledAtoms:
    """The atoms of sentences as running text, whose tokens are known.

    sentences : as they stand in a text
    single : classes of letters each of which is an atom (atoms.py)

    Attributes
    ----------
    text, tokens, forms : the text, the places of its tokens, and the tokens
    ends : of each, whether a sentence ends with it
    spans, words : the places of the atoms, and the atoms themselves
    gaps, labels : what stands behind each, and its label (atoms.py)
    matches : None, or the column of what words match about each (matches.h)
    patterns : how the labels treat patterns (tagset.py)
    """

    def __init__(self, sentences: Iterable[Surface], single: str = "") -> None:
        self.text, self.tokens, self.ends = one_text(sentences)
        self.forms = [self.text[start:end] for start, end in self.tokens]
        self._atoms, self._single = atoms_of(self.text, single), single
        self.spans, self.gaps = self._atoms
        self.words = [seen(self.text[start:end]) for start, end in self.spans]
        self.labels = atom_labels(self._atoms, self.tokens, self.ends)
        self.matches: list[str] | None = None

    @cached_property
    def patterns(self) -> Patterns:
        return count_patterns(self.text, self.words, self.gaps, self.labels, self._single)

    def match(self, entries: Iterable[str]) -> None:
        """Give each atom what these words match about it."""
        self.matches = matches_of(self.text, entries, self._single)

    def match_own(self) -> list[str]:
        """Give each atom what words of other sentences match about it; return all words.

        So rare words are as unknown as they will be in use. What a tenth of the sentences alone has
        is unknown there.
        """
        met: dict[str, set[int]] = {}
        for form, number in zip(self.forms, self._folds(self.ends), strict=True):
            if len(form) <= LONGEST_ENTRY and is_of_letters(form):
                met.setdefault(form, set()).add(number)
        found = [
            matches_of(self.text, (form for form, own in met.items() if own != {k}), self._single)
            for k in range(_FOLDS_MATCHED)
        ]
        folds = self._folds(label == SENTENCE for label in self.labels)
        self.matches = [found[fold][at] for at, fold in enumerate(folds)]
        return sorted(met)

    @staticmethod
    def _folds(ends: Iterable[bool]) -> Iterator[int]:
        """Yield for each part of a text in which fold its sentence is."""
        number = 0
        for is_end in ends:
            yield number % _FOLDS_MATCHED
            number += is_end

    @cached_property
    def places(self) -> list[tuple[int, str, str]]:
        """The number, the key and the label of each atom that no empty line follows."""
        keys = place_keys(self.text, self._atoms)
        return [
            (at, key, label)
            for at, (key, gap, label) in enumerate(zip(keys, self.gaps, self.labels, strict=True))
            if gap != PARAGRAPH
        ]


def paragraphs_of(
    atoms: LabeledAtoms, small: Mapping[str, Sequence[str]], longest: int = _LONG_PARAGRAPH
) -> list[Sentence]:
    """Return the atoms of a text with columns and labels, a paragraph each, long ones in pieces."""
    looks = capital_looks(atoms.words, small) if small else ()
    examples, begin = [], 0
    for at, (gap, label) in enumerate(zip(atoms.gaps, atoms.labels, strict=True), 1):
        if gap == PARAGRAPH or (label == SENTENCE and at - begin > longest):
            cut = [*atoms.labels[begin : at - 1], SENTENCE]
            columns: dict[str, Sequence[str]] = {"gap": atoms.gaps[begin:at], "cut": cut}
            if small:
                columns[SMALL] = looks[begin:at]
            elif atoms.matches is not None:
                columns[MATCHES] = atoms.matches[begin:at]
            examples.append(Sentence(atoms.words[begin:at], columns))
            begin = at
    return examples


def certain_places(atoms: LabeledAtoms) -> dict[str, str]:
    """Return the places (atoms.place_keys) at which nearly all atoms of a text have one label."""
    met: dict[str, Counter[str]] = {}
    for _, key, label in atoms.places:
        met.setdefault(key, Counter())[label] += 1
    certain = {}
    for key, counts in sorted(met.items()):
        label, most = counts.most_common(1)[0]
        if counts.total() >= OFTEN and most >= _SHARE * counts.total():
            certain[key] = label
    return certain


def certain_words(atoms: LabeledAtoms, certain: Collection[str]) -> Words:
    """Return words, and endings of words, beside which all atoms of a text have one label.

    Places that are certain by themselves are left out. Between small letters few spaces end a
    sentence; behind "the" none does. How sure that is hangs on how often the word was met there,
    and on the share of other labels at places that look the same: that of a word's places is
    expected to be theirs times 1 / (1 + how often it was met), a beta distribution of strength 1.
    """
    asked = [place for place in atoms.places if place[1] not in certain]
    looks = Counter(key for _, key, _ in asked)
    labeled = Counter((key, label) for _, key, label in asked)
    others = {seen: 1 - count / looks[seen[0]] for seen, count in labeled.items()}
    found: dict[str, dict[str, dict[str, list[str]]]] = {side: {} for side in SIDES}
    for side in SIDES:
        step = side.startswith("after")
        own = atoms.words if side in SIDES[:2] else [ending(word) for word in atoms.words]
        met = Counter((key, own[at + step], label) for at, key, label in asked)
        times = Counter[tuple[str, str]]()
        for (key, word, _), count in met.items():
            times[key, word] += count
        for (key, word, label), count in sorted(met.items()):
            place = key[1] + key[0 if step else 2]
            is_sure = others[key, label] <= _MOST_OTHERS * (1 + count)
            if count >= OFTEN and count == times[key, word] and is_sure and place in WORD_PLACES:
                found[side].setdefault(place, {}).setdefault(label, []).append(word)
    return found


def abbreviations_at(atoms: LabeledAtoms) -> tuple[list[str], bool]:
    """Return initials, as abbreviations, and whether a treebank cuts full stops off abbreviations.

    Initials are capital letters that are no words. Full stops are cut off if they are cut off more
    short words within sentences than they are kept, not counting words that mostly stand before
    none.
    """
    kept, off = 0, Counter[str]()
    for form, behind, (_, end), (begin, _), is_last in zip(
        atoms.forms, atoms.forms[1:], atoms.tokens, atoms.tokens[1:], atoms.ends[1:], strict=False
    ):
        if len(form) <= _SHORT and is_of_letters(form):
            off[form] += (behind, begin, is_last) == (".", end, False)
        elif form[-1] == "." and 1 < len(form) <= _SHORT + 1:
            kept += is_of_letters(form[:-1])
    times, most = Counter(atoms.forms), _WORD_ALONE * len(atoms.forms)
    letters = {form[0] for form in atoms.forms if form[0].isupper()}
    initials = sorted(letter for letter in letters if times[letter] - off[letter] <= most)
    return initials, sum(n for form, n in off.items() if 2 * n > times[form]) > kept


def abbreviations_in(sentences: Iterable[Sequence[str]]) -> list[str]:
    """Return the abbreviations of a text, in small letters and without their last full stop.

    Those are words that stand before a full stop so much more often than others do that chance is
    no reason, short ones before long ones, and which hardly stand without one (T. Kiss and
    J. Strunk, Unsupervised multilingual sentence boundary detection, Computational Linguistics
    32:4, 2006). Full stops at the end of a sentence are left out, and so are words that were met
    less than three times.
    """
    stopped, others = Counter[str](), Counter[str]()
    n_stops = n_words = 0
    for words in sentences:
        n_words += len(words)
        for word, behind, next_one in zip(
            words, (*words[1:], ""), (*words[2:], "", ""), strict=False
        ):
            has_own = len(word) > 1 and word[-1] == "."
            if (has_own and not behind) or (behind == "." and not next_one):
                continue
            is_stopped = has_own or behind == "."
            n_stops += is_stopped
            (stopped if is_stopped else others)[word.removesuffix(".").lower()] += 1
    log, share = math.log, n_stops / max(1, n_words)
    found = []
    for word, count in sorted(stopped.items()):
        if count < _LEAST_MET or not is_abbreviation(word) or share >= 1:
            continue
        bare, letters = others[word], len(word.replace(".", ""))
        chance = count * log(share) + bare * log(1 - share)
        gain = 2 * (count * log(_STOPPED) + bare * log(1 - _STOPPED) - chance)
        score = gain * math.exp(-letters) * (1 + word.count(".")) * letters**-bare
        if score >= _LEAST_SCORE:
            found.append(word)
    return found
