"""Stages of a training before and after the tags: segmentation of text, and lemmas.

Segmentation learns from a treebank where tokens and sentences end, and the words of tokens. The
recipe was chosen on the dev parts of four treebanks: templates of two atoms on either side with the
gaps between them, read from left to right, with the labels of four atoms before. Places where
training met one label alone are settled by a table, and so are those beside words that met no other
there.

Lemmas are a column of edit scripts, learned from words and their tags.
"""

from __future__ import annotations

import itertools
import logging
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

from perceptron_nlp._display import counted
from perceptron_nlp.crossfit import unheard
from perceptron_nlp.errors import ArgumentError, FormatError
from perceptron_nlp.features.templatefile import preset
from perceptron_nlp.features.templates import Template
from perceptron_nlp.formats.conllu import Surface, one_text
from perceptron_nlp.tagger.model.derived import Around, with_each
from perceptron_nlp.tagger.model.label_components import UPOS
from perceptron_nlp.tagger.model.lemmas import KNOWN, SEVERAL, KnownLemmas, form_hash
from perceptron_nlp.tagger.model.model import Segmentation, TaggerModel
from perceptron_nlp.tagger.tag.label import Labeler
from perceptron_nlp.tagger.train.patterns import count_patterns, in_paragraphs, matches_of
from perceptron_nlp.tagger.train.sidebyside import side_by_side
from perceptron_nlp.tagger.train.stacking import HELD_OUT, Fit, with_predicted_tags
from perceptron_nlp.text.atoms import (
    atom_labels,
    atoms_of,
    capital_looks,
    character_type,
    ending,
    is_abbreviation,
    is_of_letters,
    place_keys,
    small_words,
)
from perceptron_nlp.text.script_making import (
    alphabet_of,
    make_script,
    make_split,
    stems_of,
    with_known_stems,
)
from perceptron_nlp.text.scripts import (
    LEMMA,
    LONGEST_PIECE,
    MOST_WORDS,
    STEMS,
    WHOLE,
    Script,
    lowered,
    read_in,
    stem_cuts,
)
from perceptron_nlp.text.sentence import Sentence, with_columns
from perceptron_nlp.text.tagset import (
    CASED,
    CASELESS,
    LONGEST_ENTRY,
    MATCHES,
    NOTHING,
    PARAGRAPH,
    SENTENCE,
    SIDES,
    SMALL,
    SPACE,
    WORD_PLACES,
    Patterns,
    Words,
    check_label,
    seen,
)

logger = logging.getLogger("perceptron_nlp")

# Atoms after which a paragraph of training is cut, where the next sentence ends.
_LONG_PARAGRAPH = 1_000
# A place is certain if it was met so often, and nearly always with one label.
_MET, _SHARE = 50, 0.9995
# How often training has capitalized words in small letters is looked at if that gains so much F1 of
# sentences in folds of the first sentences; a treebank with few of them does without.
_LEAST_GAIN, _FOLDS, _QUICKLY = 0.005, 5, {"epochs": 6, "runs": None, "selection": None}
_LEAST_JUDGED, _MOST_JUDGED = 500, 4_000
# The share of other labels that is expected beside a certain word, at most.
_MOST_OTHERS = 1e-4
# Of all tokens, if more end within runs of letters, each of these letters is an atom; if more end
# between letters, words are looked for.
_CUT_WITHIN, _CUT_BETWEEN = 0.005, 0.05
_FOLDS_MATCHED = 10
# Of so many pieces of paragraphs, each of so many atoms, one is learned a second time, as other
# hands write it.
_OTHERWISE_EVERY, _PIECE = 10, 100
# How often an abbreviation of raw text must be met.
_LEAST_MET = 3
# Letters of a word before a full stop that is an abbreviation mostly; the share of the tokens from
# which on a capital letter is a word, as I is in English.
_SHORT, _WORD_ALONE = 4, 0.001
# How often a full stop stands behind an abbreviation, and the score from which on a word is one, as
# Kiss and Strunk have them.
_STOPPED, _LEAST_SCORE = 0.99, 0.3


def learn_segmentation(
    train: Iterable[Sentence],
    dev: Iterable[Sentence] | None,
    fit: Fit,
    threads: int = 1,
    raw: Iterable[Sequence[str]] = (),
    like: Segmentation | None = None,
    **options: Any,
) -> Segmentation:
    """Return a segmentation of running text, learned from the spaces of a treebank.

    fit : what trains a tagger of sentences
    threads : trainings at a time
    raw : words of further text, whose abbreviations are listed if the treebank does not have them
    like : one of the same text, or of a part of it: what folds told then is so now
    options : further options of the training, such as the seed
    """
    sentences, held_out = list(train), None if dev is None else list(dev)
    if not sentences:
        raise FormatError("train: there are no sentences to learn segmentation from")
    shown, shown_dev = in_paragraphs(sentences), in_paragraphs(held_out or ())
    text = LabeledAtoms(shown)
    _warn_of_spaces(text, len(sentences))
    single, is_unspaced = _letters_alone(text)
    if single:
        text = LabeledAtoms(shown, single)
    others = None if held_out is None else LabeledAtoms(shown_dev, single)
    entries: list[str] = []
    small: Mapping[str, Sequence[str]] = {}
    if single or is_unspaced:
        entries = text.match_own()
        if others is not None:
            others.match(entries)
    elif (
        _tell_sentences(shown, fit, options, threads) if like is None else any(like.small.values())
    ):
        small = small_words(text.words)
    cut = _learn_cut(text, others, small, fit, options)
    certain = certain_places(text)
    words = certain_words(text, certain)
    examples = [*zip(sentences, shown, strict=True)]
    examples_dev = None if held_out is None else [*zip(held_out, shown_dev, strict=True)]
    splits, stems = _learn_splits(examples, examples_dev, fit, options)
    found = Segmentation(cut, certain, words, splits, text.patterns, small)
    known = {word.lower() for word in text.words}
    known.update(form.lower().removesuffix(".") for form in text.forms)
    initials, parted = abbreviations_at(text)
    of_raw = [word for word in abbreviations_in(raw) if word not in known]
    return found._replace(
        single=single,
        entries=tuple(entries),
        stems=stems,
        abbreviations=initials + of_raw,
        parted=parted,
        uncapitalized=_are_uncapitalized(text),
    )


def _are_uncapitalized(text: LabeledAtoms) -> bool:
    """Tell if training has many sentences that end before a small letter in paragraphs without a
    capital so far: then more is learned of these than of words that are seen with one."""
    met, has_capital = 0, False
    places = zip(text.words, text.gaps, text.labels, [*text.words[1:], ""], strict=True)
    for word, gap, label, after in places:
        has_capital |= character_type(word[0]) == "A"
        is_end = gap == SPACE and label == SENTENCE and character_type(after[0]) == "a"
        met += is_end and not has_capital
        has_capital &= gap != PARAGRAPH
    return met >= _MET


def _letters_alone(text: LabeledAtoms) -> tuple[str, bool]:
    """Return the classes of letters (tagset.py) each of which is to be an atom, since tokens end
    within runs of them, and whether many tokens end between letters with nothing between."""
    within, between, n_tokens = Counter[str](), 0, len(text.tokens)
    atoms = {end for _, end in text.spans}
    for (_, end), (begin, _) in pairwise(text.tokens):
        within[character_type(text.text[end - 1])] += end not in atoms
        between += end == begin and text.text[end - 1].isalpha() and text.text[end].isalpha()
    single = "".join(
        letters
        for letters in (CASED, CASELESS)
        if sum(within[look] for look in letters) > _CUT_WITHIN * n_tokens
    )
    return single, between > _CUT_BETWEEN * n_tokens


def _learn_cut(
    text: LabeledAtoms,
    dev: LabeledAtoms | None,
    small: Mapping[str, Sequence[str]],
    fit: Fit,
    options: Mapping[str, Any],
) -> TaggerModel:
    """Return a tagger of atoms, which looks at MATCHES, or at SMALL if there are small words."""
    columns = [SMALL] if small else [MATCHES] if text.matches is not None else []
    examples = _paragraphs(text, small)
    examples += _in_other_hands(_paragraphs(text, small, _PIECE)[::_OTHERWISE_EVERY], small)
    return fit(
        examples,
        dev=None if dev is None else _paragraphs(dev, small),
        column="cut",
        fields=("form", "gap", *columns, "cut"),
        templates=preset("segmentation", columns),
        right_to_left=False,
        **options,
    )


def _in_other_hands(
    paragraphs: Sequence[Sentence], small: Mapping[str, Sequence[str]]
) -> Iterator[Sentence]:
    """Yield paragraphs in small letters, in capitals, and with no space behind commas, in turns."""
    changes: tuple[Callable[[str], str], ...] = (str.lower, str.upper, str)
    for paragraph, change in zip(paragraphs, itertools.cycle(changes), strict=False):
        words = [change(word) for word in paragraph.words]
        columns: dict[str, Sequence[str]] = {**paragraph.columns}
        if MATCHES in columns:
            return
        if change is str:
            places = zip(words, columns["gap"], strict=True)
            columns["gap"] = [NOTHING if own == (",", SPACE) else own[1] for own in places]
        if small:
            columns[SMALL] = capital_looks(words, small)
        yield Sentence(words, columns)


def _tell_sentences(
    train: Sequence[Surface], fit: Fit, options: Mapping[str, Any], threads: int
) -> bool:
    """Tell if the column SMALL is worth its while: by the sentences that are found in folds.

    Where headings have no full stop it is; elsewhere it may do harm.
    """
    sentences = train[:_MOST_JUDGED]
    if len(sentences) < _LEAST_JUDGED:
        return False

    def scores(fold: int, _: object) -> list[float]:
        begin, end = (len(sentences) * at // _FOLDS for at in (fold, fold + 1))
        rest = LabeledAtoms([*sentences[:begin], *sentences[end:]])
        held_out, small = LabeledAtoms(sentences[begin:end]), small_words(rest.words)
        found = []
        for known in ({}, small) if any(small.values()) else ():
            model = _learn_cut(rest, None, known, fit, {**options, **_QUICKLY})
            examples = _paragraphs(held_out, known)
            labels = Labeler(model).label([*examples])
            ends = _sentences(one.columns["cut"] for one in examples)
            guessed = _sentences(labels)
            found.append(2 * len(ends & guessed) / (len(ends) + len(guessed)))
        return found

    found = side_by_side([partial(scores, fold) for fold in range(_FOLDS)], threads)
    if not all(found):
        return False
    without = with_small = 0.0
    for first, second in found:
        without, with_small = without + first, with_small + second
    return with_small - without >= _LEAST_GAIN * _FOLDS


def _sentences(paragraphs: Iterable[Sequence[str]]) -> set[tuple[int, int]]:
    """Return the sentences of labeled paragraphs: their first atoms, and those behind them."""
    ends, place = [0], 0
    for labels in paragraphs:
        closed = [*labels[:-1], SENTENCE]
        ends += [place + at for at, label in enumerate(closed, 1) if label == SENTENCE]
        place += len(closed)
    return {*itertools.pairwise(ends)}


def _learn_splits(
    train: Sequence[tuple[Sentence, Surface]],
    dev: Sequence[tuple[Sentence, Surface]] | None,
    fit: Fit,
    options: dict[str, Any],
) -> tuple[TaggerModel | None, dict[str, int]]:
    """Return a tagger of tokens that makes words of them, None if all are words, and its stems."""
    longest = _is_stem_longest(train)
    examples = _with_splits(train, longest)
    pairs = (zip(one.words, one.columns["split"], strict=True) for one in examples)
    tokens = [*itertools.chain.from_iterable(pairs)]
    labels = {label for _, label in tokens}
    if labels == {WHOLE}:
        return None, {}
    held_out = None if dev is None else _with_splits(dev, longest)
    if not longest:
        return fit(examples, dev=held_out, column="split", preset="fast", **options), {}
    stems, cuts = stems_of(tokens), stem_cuts(labels)

    def known(sentences: list[Sentence]) -> list[Sentence]:
        return [
            with_columns(one, {STEMS: with_known_stems(one.words, stems, cuts)})
            for one in sentences
        ]

    model = fit(
        known(examples),
        dev=None if held_out is None else known(held_out),
        column="split",
        fields=("form", STEMS, "split"),
        templates=preset("fast", [STEMS]),
        **options,
    )
    return model, stems


def _is_stem_longest(sentences: Iterable[tuple[Sentence, Surface]]) -> bool:
    """Return True if far fewer scripts make the words if tokens are cut about the longest one.

    That is so where words are written together with those behind them, as in Hebrew, and not where
    endings are words.
    """
    first, longest = set(), set()
    for _, (_, text, tokens, _) in sentences:
        for start, end, words in tokens:
            if len(words) > 1:
                first.add(make_split(text[start:end], words))
                longest.add(make_split(text[start:end], words, longest=True))
    return 4 * len(longest) < 3 * len(first)


def _with_splits(sentences: Iterable[tuple[Sentence, Surface]], longest: bool) -> list[Sentence]:
    examples, unsplit = [], []
    for sentence, (_, text, tokens, _) in sentences:
        forms = [text[start:end] for start, end, _ in tokens]
        words = [own for _, _, own in tokens]
        labels = list(map(partial(make_split, longest=longest), forms, words))
        first = itertools.accumulate(map(len, words), initial=0)
        unsplit += [
            f"{sentence.path}:{sentence.line_of(at)}"
            for at, own, label in zip(first, words, labels, strict=False)
            if len(own) > 1 and label == WHOLE
        ]
        examples.append(Sentence(forms, {"split": labels}))
    if unsplit:
        logger.warning(
            "%s: %s of more than %d words or %d characters stay whole, this the first",
            unsplit[0],
            counted(len(unsplit), "token"),
            MOST_WORDS,
            LONGEST_PIECE,
        )
    return examples


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


def _paragraphs(
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


def certain_places(atoms: LabeledAtoms) -> dict[str, str]:
    """Return the places (atoms.place_keys) at which nearly all atoms of a text have one label."""
    met: dict[str, Counter[str]] = {}
    for _, key, label in atoms.places:
        met.setdefault(key, Counter())[label] += 1
    certain = {}
    for key, counts in sorted(met.items()):
        label, most = counts.most_common(1)[0]
        if counts.total() >= _MET and most >= _SHARE * counts.total():
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
            if count >= _MET and count == times[key, word] and is_sure and place in WORD_PLACES:
                found[side].setdefault(place, {}).setdefault(label, []).append(word)
    return found


def _warn_of_spaces(atoms: LabeledAtoms, n_sentences: int) -> None:
    """Warn if a treebank with punctuation does not say where there are no spaces."""
    has_spaces = not any(atoms.text[end : end + 1].strip() for _, end in atoms.tokens)
    if has_spaces and len(atoms.tokens) > n_sentences:
        logger.warning(
            "train: no token has SpaceAfter=No in MISC, so that a space stands between all tokens"
            " of the text that segmentation is learned from"
        )


RUNS, EPOCHS = 4, 6  # of lemmas
# If predicted tags cost more accuracy on dev than this, lemmas are learned from such tags, too, and
# dev tells if that was better.
MUCH_LOST = 0.025


def learn_lemmas(
    train: Sequence[Sentence],
    dev: Sequence[Sentence] | None,
    fit: Fit,
    tags: Sequence[str],
    taggers: Callable[[], Sequence[TaggerModel]] = tuple,
    always_jackknife: bool = False,
    lexicon: Iterable[tuple[str, str]] = (),
    threads: int = 1,
    **options: Any,
) -> TaggerModel:
    """Return a model that gives words their lemmas.

    train, dev : sentences with lemmas; ``_`` on a word of another form says that it has none
    fit : what trains a tagger of sentences
    tags : those of upos, xpos and feats that the sentences have, and that all text will have
    taggers : gives those that predict the tags in use, as soon as they are there; none if text has
        them
    always_jackknife : learn from predicted tags, too, even if they cost little on `dev`
    lexicon : further lemmas with their parts of speech
    threads : trainings at a time
    options : further options of the training, such as the seed

    Raises ArgumentError for a lemma that no file format can carry.
    """
    _check_lemmas(train)
    alphabet = alphabet_of(
        (word, lemma)
        for sentence in train
        for word, lemma in zip(sentence.words, sentence.column(LEMMA), strict=True)
        if lemma != "_"
    )
    scripts = [_scripts(sentence, alphabet) for sentence in train]
    lemmas = _known_lemmas(train, scripts, tags, alphabet).with_lexicon(lexicon)
    columns = [*tags, KNOWN]
    short = _unknown_short(train)
    known = itertools.chain(*scripts, *short[1])
    labels = {script: str(script) for script in known if script is not None}

    def example(sentence: Sentence, own: Sequence[Script | None]) -> Sentence:
        """Return the same with its known lemmas, and scripts in place of the lemmas."""
        written = tuple("_" if script is None else labels[script] for script in own)
        return with_columns(_with_known(sentence, lemmas, tags), {LEMMA: written})

    examples = [*map(example, train, scripts), *map(example, *short)]
    held_out = None if dev is None else [_with_known(sentence, lemmas, tags) for sentence in dev]

    def learned(sentences: list[Sentence]) -> TaggerModel:
        return fit(
            sentences,
            dev=held_out,
            column=LEMMA,
            fields=("form", *columns, LEMMA),
            templates=lemma_templates(columns),
            right_to_left=False,
            lemmas=lemmas,
            **{"runs": RUNS, "epochs": EPOCHS, **options},
        )

    gold, behind = None, list[Sentence]()
    if not (always_jackknife and taggers()):
        gold = learned(examples)
        if not taggers() or not dev:
            return gold
        behind = _with_tags(taggers(), dev)
        lost = _n_correct(gold, dev) - _n_correct(gold, behind)
        if lost <= MUCH_LOST * sum(map(len, dev)):
            return gold
    predicted = with_predicted_tags(train, taggers(), fit, options.get("seed", 1), threads)
    examples += map(example, predicted, scripts[HELD_OUT])
    if gold is None:
        return learned(examples)
    with unheard():
        both = learned(examples)
    return max(gold, both, key=lambda model: _n_correct(model, behind))


def _known_lemmas(
    train: Sequence[Sentence],
    scripts: Sequence[Sequence[Script | None]],
    tags: Sequence[str],
    alphabet: str,
) -> KnownLemmas:
    """Return the lemmas of sentences, and the scripts of their words that were met twice."""
    forms: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for sentence, own in zip(train, scripts, strict=True):
        rows = (sentence.words, parts_of_speech(sentence, tags), sentence.column(LEMMA), own)
        for form, upos, lemma, script in zip(*rows, strict=True):
            if script is None:
                continue
            key = f"{lowered(lemma, alphabet)}\t{upos}"
            one = form_hash(lowered(read_in(form, alphabet), alphabet))
            if forms.setdefault(key, one) != one:
                forms[key] = SEVERAL
            if script.literal is None:
                counts[str(script._replace(case="l"))] += 1
    found = (label for label, n in counts.items() if n > 1)
    common = sorted(found, key=lambda label: (-counts[label], label))
    return KnownLemmas(alphabet, common, dict(sorted(forms.items())))


def _check_lemmas(sentences: Sequence[Sentence]) -> None:
    """Raise ArgumentError for a lemma that is no label: scripts, which escape it, always are."""
    for lemma in sorted({lemma for sentence in sentences for lemma in sentence.column(LEMMA)}):
        try:
            check_label(lemma)
        except ArgumentError as error:
            raise ArgumentError(f"train: column {LEMMA}: {error}") from None


def _with_tags(taggers: Sequence[TaggerModel], dev: Sequence[Sentence]) -> list[Sentence]:
    """Return sentences with the tags that these predict."""
    found = list(dev)
    for tagger in taggers:
        labels = Labeler(tagger).label([sentence.words for sentence in dev])
        found = with_each(found, tagger.column, labels)
    return found


def _n_correct(model: TaggerModel, gold: Sequence[Sentence]) -> int:
    """Return how many words of sentences with their tags get the right lemma."""
    lemmas = Labeler(model).label([*gold])
    return sum(
        lemma == right
        for own, sentence in zip(lemmas, gold, strict=True)
        for lemma, right in zip(own, sentence.column(LEMMA), strict=True)
    )


def lemma_templates(columns: Sequence[str]) -> tuple[Template, ...]:
    """Return the templates of lemmas that look at no other columns than these."""
    return tuple(t for t in preset("lemmas") if {*t.columns} <= {*columns})


def parts_of_speech(sentence: Sentence, tags: Sequence[str]) -> Sequence[str]:
    """Return the parts of speech of a sentence; where nobody knows them, all are the same."""
    return sentence.column(UPOS) if UPOS in tags else ("_",) * len(sentence)


def _scripts(sentence: Sentence, alphabet: str) -> list[Script | None]:
    return [
        None if lemma == "_" != word else make_script(word, lemma, alphabet)
        for word, lemma in zip(sentence.words, sentence.column(LEMMA), strict=True)
    ]


def _unknown_short(train: Sequence[Sentence]) -> tuple[list[Sentence], list[list[Script | None]]]:
    """Return examples of abbreviations that nobody knows, which are their own lemmas.

    They are those of training that stand for their lemmas, their first letters backward: what
    *Aug.* is short for must not be learned of other words that end with *g.*
    """
    found: list[Sentence] = []
    for sentence in train:
        lemmas = sentence.column(LEMMA)
        for at, (word, lemma) in enumerate(zip(sentence.words, lemmas, strict=True)):
            turned = (word[-3::-1] + word[-2:]).lower()
            if word[-1] == "." and lemma[-1].isalpha() and turned != word.lower():
                form = turned.capitalize() if word[0].isupper() else turned
                columns = {name: (own[at],) for name, own in sentence.columns.items()}
                found.append(Sentence([form], {**columns, LEMMA: (form,)}))
    return found, [_scripts(one, "") for one in found]


def _with_known(sentence: Sentence, lemmas: KnownLemmas, tags: Sequence[str]) -> Sentence:
    """Return a sentence with its tags, its lemmas, and the scripts that lead to known ones."""
    columns = {name: sentence.column(name) for name in (*tags, LEMMA)}
    return lemmas.add([Sentence(sentence.words, columns)], Around(tags))[0]
