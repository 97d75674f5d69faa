"""Words out of spaCy's Docs and labels into them, many Docs at a time.

What costs in spaCy is each call for a token or a Doc. So words come as numbers, one array a Doc,
and are looked up among words seen before; and labels go back as one array a Doc.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

import perceptron_nlp as pn
from perceptron_nlp.errors import ArgumentError, missing_extra, quote
from perceptron_nlp.tagger.train.sources import NO_LABEL

try:
    from spacy.attrs import IS_SPACE, ORTH, POS, SENT_START, TAG
    from spacy.parts_of_speech import IDS as POS_IDS
    from spacy.tokens import MorphAnalysis
except ImportError:
    raise missing_extra("spaCy", "spacy") from None

# The columns that Docs have a place for, and what this place is called.
ATTRIBUTES = {"xpos": "tag", "tag": "tag", "upos": "pos", "feats": "morph"}
SPACE_TAG, SPACE_POS = "_SP", "SPACE"
NO_FEATURES = "_"
# In treebanks an underscore stands for a tag that nobody has given.
UNTAGGED = ("", "_")
# Words that are remembered; some ten megabytes.
WORDS_LIMIT = 1 << 16


class Words(dict[int, str]):
    """Words by their numbers in a vocabulary; a bounded part of it.

    Parameters
    ----------
    strings : spaCy's StringStore
    """

    def __init__(self, strings: Any) -> None:
        super().__init__()
        self._strings = strings

    def __missing__(self, number: int) -> str:
        if len(self) >= WORDS_LIMIT:
            self.clear()
        word: str = self._strings[number]
        self[number] = word
        return word


class Batch:
    """Docs as sentences of words.

    Whitespace tokens are no words, and no context for others. A Doc without sentence boundaries is
    one sentence.

    Parameters
    ----------
    docs : the Docs
    words : of their vocabulary
    """

    def __init__(self, docs: Sequence[Any], words: Words) -> None:
        self._docs = docs
        table = np.concatenate(
            [np.zeros((0, 3), np.uint64)]
            + [doc.to_array([ORTH, IS_SPACE, SENT_START]) for doc in docs]
        )
        self._ends = np.cumsum([len(doc) for doc in docs], dtype=np.int64)
        self.is_word = table[:, 1] == 0
        flat = list(map(words.__getitem__, table[self.is_word, 0].tolist()))
        begins = table[:, 2] == 1
        firsts = self._ends - np.array([len(doc) for doc in docs], np.int64)
        begins[firsts[firsts < len(table)]] = True
        before = np.concatenate([[0], np.cumsum(self.is_word)])
        starts = [*before[np.flatnonzero(begins)].tolist(), len(flat)]
        self.sentences = [flat[start:end] for start, end in pairwise(starts) if end > start]

    def set_numbers(self, columns: Sequence[tuple[int, npt.NDArray[np.uint64]]]) -> None:
        """Set attributes (spaCy's numbers of them) of all tokens to numbers, uint64[n_tokens]."""
        names = [attribute for attribute, _ in columns]
        table = np.stack([numbers for _, numbers in columns], 1)
        start = 0
        for doc, end in zip(self._docs, self._ends.tolist(), strict=True):
            if end > start:
                doc.from_array(names, table[start:end])
            start = end

    def set_morphs(self, analyses: Iterable[Any]) -> None:
        """Set the morphology of all tokens."""
        for token, analysis in zip(chain.from_iterable(self._docs), analyses, strict=True):
            token.morph = analysis


class Writer:
    """Writes the labels of one tagger's columns into Docs.

    Parameters
    ----------
    tagger : the tagger
    vocab : the Docs' vocabulary, to which its labels are added

    Raises
    ------
    ArgumentError : Docs have no place for one of the tagger's columns or labels
    """

    def __init__(self, tagger: pn.Tagger, vocab: Any) -> None:
        self._numbers: list[tuple[pn.Tagger, int, int, Mapping[str, int]]] = []
        self._morphs: list[tuple[pn.Tagger, Any, Mapping[str, Any]]] = []
        for name, part in tagger.by_column.items():
            labels = part.model.written_labels
            place = place_of(name)
            if place == "morph":
                analyses = {
                    label: MorphAnalysis(vocab, "" if label == NO_FEATURES else label)
                    for label in labels
                }
                self._morphs.append((part, MorphAnalysis(vocab, ""), analyses))
            elif place == "pos":
                self._numbers.append(
                    (part, POS, POS_IDS[SPACE_POS], {label: _pos_number(label) for label in labels})
                )
            else:
                self._numbers.append(
                    (
                        part,
                        TAG,
                        _number_for_good(SPACE_TAG, vocab),
                        {label: _number_for_good(label, vocab) for label in labels},
                    )
                )

    def write(self, batch: Batch, threads: int) -> None:
        """Label the words of all Docs of a batch."""
        columns = []
        for tagger, attribute, of_space, number_of in self._numbers:
            found = chain.from_iterable(tagger.tag_sents(batch.sentences, threads=threads))
            values = np.full(len(batch.is_word), of_space, np.uint64)
            values[batch.is_word] = np.fromiter(map(number_of.__getitem__, found), np.uint64)
            columns.append((attribute, values))
        if columns:
            batch.set_numbers(columns)
        for tagger, of_space, analysis_of in self._morphs:
            labels = chain.from_iterable(tagger.tag_sents(batch.sentences, threads=threads))
            batch.set_morphs(
                analysis_of[next(labels)] if is_word else of_space
                for is_word in batch.is_word.tolist()
            )


def place_of(column: str) -> str:
    """What a column's place in a token is called: tag, pos or morph.

    Raises ArgumentError where there is none.
    """
    if column not in ATTRIBUTES:
        raise ArgumentError(
            f"model: spaCy's tokens have no place for column {quote(column)};"
            f" there is one for {', '.join(ATTRIBUTES)}"
        )
    return ATTRIBUTES[column]


def _number_for_good(label: str, vocab: Any) -> int:
    """The number of a label, which stays known where spaCy forgets the words of a memory zone."""
    return int(vocab.strings.add(label, allow_transient=False))


def _pos_number(label: str) -> int:
    if label not in POS_IDS:
        raise ArgumentError(
            f"model: {quote(label)} is none of spaCy's parts of speech; learn these"
            " labels as column xpos, which is written to tag_"
        )
    return int(POS_IDS[label])


def gold_sentences(doc: Any) -> list[pn.Sentence]:
    """The sentences of a Doc with its annotation as columns upos, xpos and feats.

    What a token has no annotation of is marked as not labelled.
    """
    sentences = []
    for span in doc.sents if doc.has_annotation("SENT_START") else [doc]:
        tokens = [token for token in span if not token.is_space]
        if tokens:
            sentences.append(
                pn.Sentence(
                    [token.text for token in tokens],
                    {
                        "upos": [token.pos_ or NO_LABEL for token in tokens],
                        "xpos": [
                            token.tag_ if token.tag_ not in UNTAGGED else NO_LABEL
                            for token in tokens
                        ],
                        "feats": [
                            str(token.morph) or NO_FEATURES if token.has_morph() else NO_LABEL
                            for token in tokens
                        ],
                    },
                )
            )
    return sentences
