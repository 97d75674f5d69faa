"""What the atoms of a text with known tokens and sentences tell: labels, certain places, initials.

Places where training met one label alone are settled by a table, and so are those beside words that
met no other there. What most languages treat alike, patterns and marks about words
(text/tagset.py), is found by the core (patterns.h, cut.h); how a treebank treats each is counted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial

from perceptron_nlp._core.text.cutter import TextAtoms
from perceptron_nlp.formats.conllu import Surface, one_text, surfaces
from perceptron_nlp.text.atoms import (
    class_page,
    ending,
    is_abbreviation,
    is_of_letters,
    letter_class,
)
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.tagset import (
    COMPOSING,
    GAPS,
    GOES_ON,
    LONGEST_ENTRY,
    MATCHES,
    NOTHING,
    PARAGRAPH,
    PATTERN_KINDS,
    SENTENCE,
    SIDES,
    SMALL,
    SMALL_CLASSES,
    TOKEN,
    WORD_PLACES,
    Patterns,
    Words,
    seen,
    word_bytes,
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
# Of the sentences of a text, if as many open a paragraph, so many are learned as one: dev parts of
# Arabic-PUD and Japanese-GSD lose tokens where it is six, or all.
_MOST_APART, _TOGETHER = 0.95, 3
_FEW_SPACES = 0.1  # for a token: fewer are those of a script without spaces


def in_paragraphs(sentences: Iterable[Sentence]) -> list[Surface]:
    """Return sentences as they stand in a text from which is learned where they end.

    Some make a paragraph if hardly one ends within a paragraph of its own, as in treebanks of
    sentences that were drawn one by one: nothing would be learned of where they end in others.
    Where words are written without spaces, every other sentence is, too.
    """
    found = surfaces(sentences)
    if sum(is_first for is_first, *_ in found) < _MOST_APART * len(found):
        return found
    n_spaces = sum(text.count(" ") for _, text, *_ in found)
    is_unspaced = n_spaces < _FEW_SPACES * sum(len(tokens) for *_, tokens, _ in found)
    return [
        (number % _TOGETHER == 0, text, tokens, is_glued or (is_unspaced and number % 2 == 0))
        for number, (_, text, tokens, is_glued) in enumerate(found)
    ]


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
    found : the core's form of the atoms
    """

    def __init__(self, sentences: Iterable[Surface], single: str = "") -> None:
        self.text, self.tokens, self.ends = one_text(sentences)
        self.forms = [self.text[start:end] for start, end in self.tokens]
        self.found = TextAtoms(word_bytes(self.text), partial(class_page, single=single))
        self.spans, gaps = self.found.spans()
        self.gaps = [GAPS[gap] for gap in gaps]
        self.words = [seen(self.text[start:end]) for start, end in self.spans]
        self.labels = atom_labels(self.spans, self.tokens, self.ends)
        self.matches: list[str] | None = None

    @cached_property
    def patterns(self) -> Patterns:
        """How often the labels treat patterns of each kind as most languages do, and otherwise."""
        counts: dict[str, list[int]] = {}
        for kind, is_other in _treated(self):
            own = counts.setdefault(kind, [0, 0])
            own[0] += 1
            own[1] += is_other
        return dict(sorted(counts.items()))

    def match(self, entries: Iterable[str]) -> None:
        """Give each atom what these words match about it."""
        self.matches = self.found.matches([*map(word_bytes, entries)])

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
            self.found.matches([word_bytes(form) for form, own in met.items() if own != {k}])
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
        keys = place_keys(self.words, self.gaps)
        return [
            (at, key, label)
            for at, (key, gap, label) in enumerate(zip(keys, self.gaps, self.labels, strict=True))
            if gap != PARAGRAPH
        ]


def atom_labels(
    spans: Iterable[tuple[int, int]], tokens: Sequence[tuple[int, int]], ends: Sequence[bool]
) -> list[str]:
    """Return the label of each atom of a text whose tokens are known.

    ``ends`` tells for each token whether its sentence ends with it. A token that ends within an
    atom ends with that atom.
    """
    labels = []
    token = 0
    for _, end in spans:
        label = GOES_ON
        while token < len(tokens) and tokens[token][1] <= end:
            label = SENTENCE if ends[token] or label == SENTENCE else TOKEN
            token += 1
        labels.append(label)
    return labels


def place_keys(words: Sequence[str], gaps: Sequence[str]) -> list[str]:
    """Return for each atom of a text what is known of the place behind it at a glance.

    A key is the last character of the atom, the gap, and the first character of the next atom;
    letters and digits go by their class, whatever marks are over or under them.
    """
    ends = [letter_class((word.rstrip(COMPOSING) or word[0])[-1]) for word in words]
    starts = [*(letter_class(word[0]) for word in words[1:]), ""]
    return [end + gap + start for end, gap, start in zip(ends, gaps, starts, strict=False)]


def _treated(atoms: LabeledAtoms) -> Iterator[tuple[str, bool]]:
    """Yield the kind of each pattern, and whether labels treat it in another way than most do."""
    words, gaps, labels = atoms.words, atoms.gaps, atoms.labels
    within: set[int] = set()
    for number, begin, end in atoms.found.patterns():
        within.update(range(begin, end - 1))
        yield PATTERN_KINDS[number], any(label != GOES_ON for label in labels[begin : end - 1])
    for at in range(1, len(words) - 1):
        is_joint = words[at] in "-\u2010\u2011" and gaps[at - 1] == gaps[at] == NOTHING
        if is_joint and words[at - 1][-1].isalpha() and words[at + 1][0].isalpha():
            yield "hyphen", (labels[at - 1] == GOES_ON) != (labels[at] == GOES_ON)
    marks = (mark for mark in atoms.found.marks() if mark[1] not in within)
    for number, at, ends_sentence in marks:
        kind = PATTERN_KINDS[number]
        is_year = kind == "year"  # whose number counts with its full stop
        if not ends_sentence and not is_year:
            yield kind, labels[at] == (GOES_ON if gaps[at] == NOTHING else SENTENCE)
        # Of questions and cries in a row some make one sentence: that says nothing of others.
        elif ends_sentence and words[at + 1] not in ("\u00a1", "\u00bf"):
            is_whole = is_year and labels[at - 1] == GOES_ON
            yield kind, is_whole or labels[at] != SENTENCE


def small_words(words: Iterable[str]) -> dict[str, list[str]]:
    """Return the words that a text has in small letters several times, by SMALL_CLASSES."""
    found: dict[str, list[str]] = {often: [] for often in SMALL_CLASSES}
    for word, count in sorted(Counter(word for word in words if word.islower()).items()):
        classes = [often for often, least in SMALL_CLASSES.items() if count >= least]
        if classes:
            found[classes[-1]].append(word)
    return found


def capital_looks(words: Sequence[str], small: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the column SMALL of atoms: of those with a capital, how they look.

    That is ``C``, or ``U`` if they end with a capital, too, and how often they are small words.
    Other letters are ``_``, digits 9, and marks themselves.
    """
    often_of = {word: often for often, own in small.items() for word in own}

    def look(word: str) -> str:
        first = letter_class(word[0])
        if first != "A":
            return "_" if first in "ac" else "9" if first == "9" else word
        is_upper = len(word) > 1 and letter_class(word[-1]) == "A"
        lower = "".join(letter.lower()[0] for letter in word)
        return ("U" if is_upper else "C") + often_of.get(lower, "0")

    return tuple(map(look, words))


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
    """Return the places (place_keys) at which nearly all atoms of a text have one label."""
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
