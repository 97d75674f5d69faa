"""Segmentation learned from a treebank: where tokens and sentences end, and words of tokens.

The recipe was chosen on the dev parts of four treebanks: templates of two atoms on either side with
the gaps between them, read from left to right, with the labels of four atoms before. Places where
training met one label alone are settled by a table.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from perceptron_nlp.errors import FormatError
from perceptron_nlp.features.templatefile import preset
from perceptron_nlp.formats.conllu_layout import RunningText, running_text, surface_tokens
from perceptron_nlp.tagger.model.model import Segmentation, TaggerModel
from perceptron_nlp.text.atoms import PARAGRAPH, SENTENCE, atom_labels, atoms_of, place_keys
from perceptron_nlp.text.scripts import WHOLE, make_split
from perceptron_nlp.text.sentence import Sentence

logger = logging.getLogger("perceptron_nlp")

Fit = Callable[..., TaggerModel]
"""Trains a model: (sentences, dev=…, column=…, **options)."""

# Atoms after which a paragraph of training is cut, where the next sentence ends.
_LONG_PARAGRAPH = 1_000
# A place is certain if it was met so often, and nearly always with one label.
_MET, _SHARE = 50, 0.9995


def learn_segmentation(
    train: Iterable[Sentence], dev: Iterable[Sentence] | None, fit: Fit, **options: Any
) -> Segmentation:
    """Return a segmentation of running text, learned from the spaces of a treebank."""
    sentences, held_out = list(train), None if dev is None else list(dev)
    if not sentences:
        raise FormatError("train: there are no sentences to learn segmentation from")
    text = running_text(sentences)
    _warn_of_spaces(sentences)
    cut = fit(
        _paragraphs(text),
        dev=None if held_out is None else _paragraphs(running_text(held_out)),
        column="cut",
        fields=("form", "gap", "cut"),
        templates=preset("segmentation"),
        right_to_left=False,
        **options,
    )
    return Segmentation(cut, certain_places(text), _learn_splits(sentences, held_out, fit, options))


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
    examples = []
    for sentence in sentences:
        tokens = surface_tokens(sentence)
        labels = [
            make_split(token.form, sentence.words[token.first : token.first + token.n_words])
            for token in tokens
        ]
        examples.append(Sentence([token.form for token in tokens], {"split": labels}))
    return examples


def _paragraphs(text: RunningText) -> list[Sentence]:
    """Return the atoms of a text with gaps and labels, a paragraph each, long ones in pieces."""
    atoms = atoms_of(text.text)
    labels = atom_labels(atoms, text.tokens, text.ends)
    examples, begin = [], 0
    for at, (gap, label) in enumerate(zip(atoms.gaps, labels, strict=True), 1):
        if gap == PARAGRAPH or (label == SENTENCE and at - begin > _LONG_PARAGRAPH):
            words = [text.text[start:end] for start, end in atoms.spans[begin:at]]
            columns = {"gap": atoms.gaps[begin:at], "cut": [*labels[begin : at - 1], SENTENCE]}
            examples.append(Sentence(words, columns))
            begin = at
    return examples


def certain_places(text: RunningText) -> dict[str, str]:
    """Return the places (atoms.place_keys) at which nearly all atoms of a text have one label."""
    atoms = atoms_of(text.text)
    labels = atom_labels(atoms, text.tokens, text.ends)
    met: dict[str, Counter[str]] = {}
    for key, gap, label in zip(place_keys(text.text, atoms), atoms.gaps, labels, strict=True):
        if gap != PARAGRAPH:
            met.setdefault(key, Counter())[label] += 1
    certain = {}
    for key, counts in sorted(met.items()):
        label, most = counts.most_common(1)[0]
        if counts.total() >= _MET and most >= _SHARE * counts.total():
            certain[key] = label
    return certain


def _warn_of_spaces(sentences: Sequence[Sentence]) -> None:
    """Warn if a treebank with punctuation does not say where there are no spaces."""
    tokens = [token for sentence in sentences for token in surface_tokens(sentence)]
    if all(token.space_after for token in tokens) and len(tokens) > len(sentences):
        logger.warning(
            "train: no token has SpaceAfter=No in MISC, so that a space stands between all tokens"
            " of the text that segmentation is learned from"
        )
