"""Learning where the tokens and sentences of a text end, and which words a token has.

Both are learned from a treebank. The recipe was chosen on the dev parts of four: templates of two
atoms on either side with the gaps between them, read from left to right, with the labels of four
atoms before.
"""

from __future__ import annotations

import itertools
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from perceptron_nlp._display import counted
from perceptron_nlp.errors import FormatError
from perceptron_nlp.features.templatefile import preset
from perceptron_nlp.formats.conllu import Surface
from perceptron_nlp.tagger.model.model import Segmentation, TaggerModel
from perceptron_nlp.tagger.tag.label import Labeler
from perceptron_nlp.tagger.train.labeled_atoms import (
    OFTEN,
    LabeledAtoms,
    abbreviations_at,
    abbreviations_in,
    certain_places,
    certain_words,
    in_paragraphs,
    paragraphs_of,
    small_words,
)
from perceptron_nlp.tagger.train.otherwise import atoms_in_other_hands
from perceptron_nlp.tagger.train.sidebyside import side_by_side
from perceptron_nlp.tagger.train.stacking import Fit
from perceptron_nlp.text.atoms import character_type
from perceptron_nlp.text.script_making import make_split, stems_of, with_known_stems
from perceptron_nlp.text.scripts import LONGEST_PIECE, MOST_WORDS, STEMS, WHOLE, stem_cuts
from perceptron_nlp.text.sentence import Sentence, with_columns
from perceptron_nlp.text.tagset import CASED, CASELESS, MATCHES, PARAGRAPH, SENTENCE, SMALL, SPACE

logger = logging.getLogger("perceptron_nlp")

# How often training has capitalized words in small letters is looked at if that gains so much F1 of
# sentences in folds of the first sentences; a treebank with few of them does without.
_LEAST_GAIN, _FOLDS, _QUICKLY = 0.005, 5, {"epochs": 6, "runs": None, "selection": None}
_LEAST_JUDGED, _MOST_JUDGED = 500, 4_000
# Of all tokens, if more end within runs of letters, each of these letters is an atom; if more end
# between letters, words are looked for.
_CUT_WITHIN, _CUT_BETWEEN = 0.005, 0.05
# Of so many pieces of paragraphs, each of so many atoms, one is learned a second time, as other
# hands write it.
_OTHERWISE_EVERY, _PIECE = 10, 100


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
    return met >= OFTEN


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
    examples = paragraphs_of(text, small)
    examples += atoms_in_other_hands(paragraphs_of(text, small, _PIECE)[::_OTHERWISE_EVERY], small)
    return fit(
        examples,
        dev=None if dev is None else paragraphs_of(dev, small),
        column="cut",
        fields=("form", "gap", *columns, "cut"),
        templates=preset("segmentation", columns),
        right_to_left=False,
        **options,
    )


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
            examples = paragraphs_of(held_out, known)
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


def _warn_of_spaces(atoms: LabeledAtoms, n_sentences: int) -> None:
    """Warn if a treebank with punctuation does not say where there are no spaces."""
    has_spaces = not any(atoms.text[end : end + 1].strip() for _, end in atoms.tokens)
    if has_spaces and len(atoms.tokens) > n_sentences:
        logger.warning(
            "train: no token has SpaceAfter=No in MISC, so that a space stands between all tokens"
            " of the text that segmentation is learned from"
        )
