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
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from typing import Any

from perceptron_nlp._display import counted
from perceptron_nlp.errors import ArgumentError, FormatError
from perceptron_nlp.features.templatefile import preset
from perceptron_nlp.features.templates import Template
from perceptron_nlp.formats.conllu import running_text, surface
from perceptron_nlp.tagger.model.derived import Around, with_each
from perceptron_nlp.tagger.model.lemmas import KNOWN, KnownLemmas
from perceptron_nlp.tagger.model.model import Segmentation, TaggerModel
from perceptron_nlp.tagger.tag.label import Labeler
from perceptron_nlp.tagger.tag.segment import count_patterns
from perceptron_nlp.tagger.train.jackknife import Fit, with_predicted_tags
from perceptron_nlp.text.atoms import atom_labels, atoms_of, ending, place_keys
from perceptron_nlp.text.scripts import (
    LEMMA,
    LONGEST_PIECE,
    MOST_WORDS,
    WHOLE,
    Script,
    is_turkic,
    make_script,
    make_split,
)
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.tagset import (
    PARAGRAPH,
    SENTENCE,
    SIDES,
    WORD_PLACES,
    Patterns,
    Words,
    check_label,
)

logger = logging.getLogger("perceptron_nlp")

# Atoms after which a paragraph of training is cut, where the next sentence ends.
_LONG_PARAGRAPH = 1_000
# A place is certain if it was met so often, and nearly always with one label.
_MET, _SHARE = 50, 0.9995
# The share of other labels that is expected beside a certain word, at most.
_MOST_OTHERS = 1e-4


def learn_segmentation(
    train: Iterable[Sentence], dev: Iterable[Sentence] | None, fit: Fit, **options: Any
) -> Segmentation:
    """Return a segmentation of running text, learned from the spaces of a treebank."""
    sentences, held_out = list(train), None if dev is None else list(dev)
    if not sentences:
        raise FormatError("train: there are no sentences to learn segmentation from")
    text = LabeledAtoms(sentences)
    _warn_of_spaces(sentences)
    cut = fit(
        _paragraphs(text),
        dev=None if held_out is None else _paragraphs(LabeledAtoms(held_out)),
        column="cut",
        fields=("form", "gap", "cut"),
        templates=preset("segmentation"),
        right_to_left=False,
        **options,
    )
    certain = certain_places(text)
    splits = _learn_splits(sentences, held_out, fit, options)
    return Segmentation(cut, certain, certain_words(text, certain), splits, text.patterns)


def _learn_splits(
    train: Sequence[Sentence], dev: Sequence[Sentence] | None, fit: Fit, options: dict[str, Any]
) -> TaggerModel | None:
    """Return a tagger of tokens that makes words of them; None if all are words already."""
    examples = _with_splits(train)
    if all(label == WHOLE for sentence in examples for label in sentence.columns["split"]):
        return None
    held_out = None if dev is None else _with_splits(dev)
    return fit(examples, dev=held_out, column="split", preset="fast", **options)


def _with_splits(sentences: Iterable[Sentence]) -> list[Sentence]:
    examples, unsplit = [], []
    for sentence in sentences:
        text, tokens, _ = surface(sentence)
        forms = [text[start:end] for start, end, _ in tokens]
        words = [own for _, _, own in tokens]
        labels = list(map(make_split, forms, words))
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

    Attributes
    ----------
    words : the atoms themselves
    gaps, labels : what stands behind each, and its label (atoms.py)
    patterns : how the labels treat patterns (tagset.py)
    """

    def __init__(self, sentences: Iterable[Sentence]) -> None:
        self._text, tokens, ends = running_text(sentences)
        self._atoms = atoms_of(self._text)
        self.words = [self._text[start:end] for start, end in self._atoms.spans]
        self.gaps = self._atoms.gaps
        self.labels = atom_labels(self._atoms, tokens, ends)

    @cached_property
    def patterns(self) -> Patterns:
        return count_patterns(self._text, self.labels)

    @cached_property
    def places(self) -> list[tuple[int, str, str]]:
        """The number, the key and the label of each atom that no empty line follows."""
        keys = place_keys(self._text, self._atoms)
        return [
            (at, key, label)
            for at, (key, gap, label) in enumerate(zip(keys, self.gaps, self.labels, strict=True))
            if gap != PARAGRAPH
        ]


def _paragraphs(atoms: LabeledAtoms) -> list[Sentence]:
    """Return the atoms of a text with gaps and labels, a paragraph each, long ones in pieces."""
    examples, begin = [], 0
    for at, (gap, label) in enumerate(zip(atoms.gaps, atoms.labels, strict=True), 1):
        if gap == PARAGRAPH or (label == SENTENCE and at - begin > _LONG_PARAGRAPH):
            cut = [*atoms.labels[begin : at - 1], SENTENCE]
            columns = {"gap": atoms.gaps[begin:at], "cut": cut}
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


def _warn_of_spaces(sentences: Sequence[Sentence]) -> None:
    """Warn if a treebank with punctuation does not say where there are no spaces."""
    text, tokens, _ = running_text(sentences)
    has_spaces = not any(text[end : end + 1].strip() for _, end in tokens)
    if has_spaces and len(tokens) > len(sentences):
        logger.warning(
            "train: no token has SpaceAfter=No in MISC, so that a space stands between all tokens"
            " of the text that segmentation is learned from"
        )


UPOS, TAGS = "upos", ("upos", "xpos", "feats")
RUNS, EPOCHS, EPOCHS_OF_ONE = 4, 6, 8  # of lemmas; one run if predicted tags are learned, too
# If predicted tags cost more accuracy on dev than this, lemmas are learned from such tags, too.
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
    turkic = is_turkic(
        (word, lemma)
        for sentence in train
        for word, lemma in zip(sentence.words, sentence.column(LEMMA), strict=True)
        if lemma != "_"
    )
    lemmas = KnownLemmas.of(
        (
            (word, upos, lemma, script)
            for sentence in train
            for word, upos, lemma, script in zip(
                sentence.words,
                parts_of_speech(sentence, tags),
                sentence.column(LEMMA),
                _scripts(sentence, turkic),
                strict=True,
            )
            if script is not None
        ),
        turkic=turkic,
    ).with_lexicon(lexicon)
    columns = [*tags, KNOWN]
    examples = [_example(sentence, lemmas, tags) for sentence in train]
    held_out = None if dev is None else [_with_known(sentence, lemmas, tags) for sentence in dev]

    def learned(sentences: list[Sentence], runs: int, epochs: int) -> TaggerModel:
        return fit(
            sentences,
            dev=held_out,
            column=LEMMA,
            fields=("form", *columns, LEMMA),
            templates=lemma_templates(columns),
            right_to_left=False,
            lemmas=lemmas,
            **{"runs": runs, "epochs": epochs, **options},
        )

    if not (always_jackknife and taggers()):
        model = learned(examples, RUNS, EPOCHS)
        in_use = taggers()
        if not in_use or _lost_by_tags(model, in_use, dev or ()) <= MUCH_LOST:
            return model
    predicted = with_predicted_tags(train, taggers(), fit, options.get("seed", 1), threads)
    examples += [_example(sentence, lemmas, tags) for sentence in predicted]
    return learned(examples, 1, EPOCHS_OF_ONE)


def _check_lemmas(sentences: Sequence[Sentence]) -> None:
    """Raise ArgumentError for a lemma that is no label: scripts, which escape it, always are."""
    for lemma in sorted({lemma for sentence in sentences for lemma in sentence.column(LEMMA)}):
        try:
            check_label(lemma)
        except ArgumentError as error:
            raise ArgumentError(f"train: column {LEMMA}: {error}") from None


def _lost_by_tags(
    model: TaggerModel, taggers: Sequence[TaggerModel], dev: Sequence[Sentence]
) -> float:
    """Return how much accuracy lemmas lose, 0 to 1, if tags are predicted."""
    tokens = sum(map(len, dev))
    if not tokens:
        return 0.0
    labeler, found = Labeler(model), list(dev)
    correct = _n_correct(labeler.label([*dev]), dev)
    for tagger in taggers:
        labels = Labeler(tagger).label([sentence.words for sentence in dev])
        found = with_each(found, tagger.column, labels)
    return (correct - _n_correct(labeler.label([*found]), dev)) / tokens


def _n_correct(lemmas: Sequence[Sequence[str]], gold: Sequence[Sentence]) -> int:
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


def _scripts(sentence: Sentence, turkic: bool) -> list[Script | None]:
    return [
        None if lemma == "_" != word else make_script(word, lemma, turkic=turkic)
        for word, lemma in zip(sentence.words, sentence.column(LEMMA), strict=True)
    ]


def _with_known(sentence: Sentence, lemmas: KnownLemmas, tags: Sequence[str]) -> Sentence:
    """Return a sentence with its tags, its lemmas, and the scripts that lead to known ones."""
    columns = {name: sentence.column(name) for name in (*tags, LEMMA)}
    return lemmas.add([Sentence(sentence.words, columns)], Around(tags))[0]


def _example(sentence: Sentence, lemmas: KnownLemmas, tags: Sequence[str]) -> Sentence:
    """Return the same with scripts in place of the lemmas."""
    scripts = _scripts(sentence, lemmas.turkic)
    labels = tuple("_" if script is None else str(script) for script in scripts)
    example = _with_known(sentence, lemmas, tags)
    return Sentence(sentence.words, {**example.columns, LEMMA: labels})
