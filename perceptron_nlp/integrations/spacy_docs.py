"""Docs of texts, words out of spaCy's Docs and labels into them, many Docs at a time.

Each call for a token or a Doc of spaCy is slow. So words come as numbers, one array a Doc, and are
looked up in a cache; and labels go back as one array a Doc.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

import perceptron_nlp as pn
from perceptron_nlp._checks import encodable_text
from perceptron_nlp.errors import ArgumentError, missing_extra, quote

try:
    from spacy.attrs import IDX, IS_SPACE, LENGTH, ORTH, SENT_START
    from spacy.tokens import Doc, Token
except ImportError:
    raise missing_extra("spaCy", "spacy") from None

# The attribute of a token for each column; others are extensions of tokens.
ATTRIBUTES = {"xpos": "tag", "tag": "tag", "upos": "pos", "feats": "morph", "lemma": "lemma"}
LEARNED = ("upos", "xpos", "feats")
NO_FEATURES = "_"
# In treebanks an underscore stands for a missing tag.
UNTAGGED = "_"
# Words in the cache; some ten megabytes.
WORDS_LIMIT = 1 << 16


# The tokens of several words that a tokenizer has found in Docs.
_cut_by_tokenizer: WeakKeyDictionary[Any, list[Any]] = WeakKeyDictionary()


class Words(dict[int, str]):
    """Words by their numbers in spaCy's StringStore; a bounded part of it."""

    def __init__(self, strings: Any) -> None:
        super().__init__()
        self._strings = strings

    def __missing__(self, number: int) -> str:
        if len(self) >= WORDS_LIMIT:
            self.clear()
        # As the tagger's own segmentation has white space within a word.
        word: str = " ".join(self._strings[number].split())
        self[number] = word
        return word


class Batch:
    """Docs as sentences of words.

    Whitespace tokens are no words, and no context for others. A token that is several words to the
    tagger (French *du*) is these. A Doc without sentence boundaries is cut where the tagger's model
    has learned to, or else one sentence.
    """

    def __init__(self, docs: Sequence[Any], words: Words, tagger: pn.Tagger) -> None:
        self._docs = docs
        table = np.concatenate(
            [np.zeros((0, 3), np.uint64)]
            + [doc.to_array([ORTH, IS_SPACE, SENT_START]) for doc in docs]
        )
        self._ends = np.cumsum([len(doc) for doc in docs], dtype=np.int64)
        self.is_word = table[:, 1] == 0
        self.words = table[:, 0]
        flat = list(map(words.__getitem__, table[self.is_word, 0].tolist()))
        firsts = self._ends - np.array([len(doc) for doc in docs], np.int64)
        # For each token, whether a sentence begins there: 1 or -1, or 0 if that is not known.
        self.sent_starts = table[:, 2].astype(np.int64)
        several = self._cut(firsts.tolist(), tagger)
        begins = self.sent_starts == 1
        begins[firsts[firsts < len(table)]] = True
        self._counts = self.is_word.astype(np.int64)
        if several:
            parts = [[word] for word in flat]
            place = np.cumsum(self.is_word) - 1
            for number, own in several.items():
                parts[place[number]] = list(own)
                self._counts[number] = len(own)
            flat = list(chain.from_iterable(parts))
        before = np.concatenate([[0], np.cumsum(self._counts)])
        starts = [*before[np.flatnonzero(begins)].tolist(), len(flat)]
        self._bounds = [(start, end) for start, end in pairwise(starts) if end > start]
        self.sentences = [flat[start:end] for start, end in self._bounds]
        self._starts = before[:-1][self.is_word].tolist() if several else None

    def _cut(self, firsts: Sequence[int], tagger: pn.Tagger) -> dict[int, tuple[str, ...]]:
        """Return the words of tokens that are several to the tagger, by the tokens' numbers.

        Docs without sentence boundaries get those of its model; what a SpacyTokenizer cut, stands.
        """
        several: dict[int, tuple[str, ...]] = {}
        if tagger.model.segmentation is None:
            return several
        segmenter = tagger.segmenter
        for doc, first in zip(self._docs, firsts, strict=True):
            own = self.sent_starts[first : first + len(doc)]
            is_cut = bool(own[1:].any())
            if is_cut and not segmenter.splits_tokens:
                continue
            cut = _cut_by_tokenizer.get(doc) if is_cut else None
            cut = list(segmenter.sentences_of(doc.text)) if cut is None else cut
            places = doc.to_array([IDX, LENGTH]).astype(np.int64)
            if not is_cut:
                ends = places.sum(axis=1)
                begins = [sentence[0][0] for sentence in cut]
                own[:] = -1
                own[:1] = 1
                own[np.searchsorted(ends, begins, side="right")] = 1
            words_at = {
                (start, end): words
                for sentence in cut
                for start, end, words in sentence
                if len(words) > 1
            }
            if words_at:
                for number, (start, length) in enumerate(places.tolist(), first):
                    if (start, start + length) in words_at:
                        several[number] = words_at[start, start + length]
        return several

    def given(self, attribute: int) -> npt.NDArray[np.uint64]:
        """Return the numbers that all tokens have for an attribute; 0 for none."""
        own = [np.zeros(0, np.uint64)]
        return np.concatenate(own + [doc.to_array(attribute) for doc in self._docs])

    def of_words(self, values: Sequence[Any]) -> list[list[Any]]:
        """Return values of all tokens as those of the words of each sentence.

        Of several words, the first one gets the value of their token; the others get None.
        """
        flat: list[Any] = []
        for number in np.flatnonzero(self.is_word).tolist():
            flat += [values[number], *[None] * (int(self._counts[number]) - 1)]
        return [flat[start:end] for start, end in self._bounds]

    def of_tokens(self, sentences: Iterable[Iterable[Any]]) -> Iterable[Any]:
        """Return the values of words as those of tokens: of several words, the first one's."""
        values = chain.from_iterable(sentences)
        if self._starts is None:
            return values
        flat = list(values)
        return [flat[start] for start in self._starts]

    def lemmas(self, sentences: Iterable[Iterable[str]]) -> Iterable[str]:
        """Return the lemmas of tokens: of several words, those of all."""
        values = chain.from_iterable(sentences)
        if self._starts is None:
            return values
        flat = list(values)
        bounds = pairwise([*self._starts, len(flat)])
        return [" ".join(flat[start:end]) for start, end in bounds]

    def spans(self, sentences: Iterable[Sequence[str]]) -> Iterator[tuple[str, int, int]]:
        """Yield spans of words as those of tokens: type, first token, and the one behind the last.

        White space within a span is part of it; a token is in one span at most.
        """
        token_of = np.repeat(np.arange(len(self.is_word)), self._counts).tolist()
        done = 0
        for (first, _), labels in zip(self._bounds, sentences, strict=True):
            for kind, start, end in pn.spans_of(labels):
                begin, last = token_of[first + start], token_of[first + end - 1]
                if begin >= done:
                    done = last + 1
                    yield kind, begin, done

    def set_numbers(self, columns: Sequence[tuple[int, npt.NDArray[np.uint64]]]) -> None:
        """Set attributes (spaCy's numbers of them) of all tokens to numbers, uint64[n_tokens]."""
        names = [attribute for attribute, _ in columns]
        table = np.stack([numbers for _, numbers in columns], 1)
        for doc, own in self._parts(table):
            if len(own):
                doc.from_array(names, own)

    def set_confidences(self, by_column: Mapping[str, Iterable[Iterable[float]]]) -> None:
        """Set the confidences in the labels of each column, None for white space."""
        values = {
            name: iter(list(self.of_tokens(sentences))) for name, sentences in by_column.items()
        }
        for doc, is_word in self._parts(self.is_word):
            doc._.confidences = {
                name: [next(own) if word else None for word in is_word.tolist()]
                for name, own in values.items()
            }

    def extensions(self, name: str) -> list[str | None]:
        """Return the values that all tokens have for an extension."""
        return [token._.get(name) for doc in self._docs for token in doc]

    def set_extension(self, name: str, labels: Iterable[str], given: Sequence[str | None]) -> None:
        """Set an extension of all words that have none given, as spaCy keeps them in a Doc."""
        values, kept = iter(labels), iter(given)
        for doc, is_word in self._parts(self.is_word):
            places = doc.to_array(IDX).tolist()
            for place, word in zip(places, is_word.tolist(), strict=True):
                value, own = next(values) if word else None, next(kept, None)
                if word and own is None:
                    doc.user_data["._.", name, place, None] = value

    def _parts(self, table: npt.NDArray[Any]) -> Iterator[tuple[Any, npt.NDArray[Any]]]:
        """Yield the Docs, each with its tokens' rows of a table."""
        bounds = pairwise([0, *self._ends.tolist()])
        return ((doc, table[a:b]) for doc, (a, b) in zip(self._docs, bounds, strict=True))


def add_extensions() -> None:
    """Make ``doc._.confidences`` and ``token._.confidence`` known to spaCy."""
    if not Doc.has_extension("confidences"):
        Doc.set_extension("confidences", default=None)
    if not Token.has_extension("confidence"):
        Token.set_extension("confidence", getter=_confidence_of)


def _confidence_of(token: Any) -> float | None:
    by_column = token.doc._.confidences
    values = None if by_column is None else next(iter(by_column.values()))
    # Tokens may have been merged or split since.
    return None if values is None or len(values) != len(token.doc) else values[token.i]


def learned_column(column: str) -> str:
    """Return a column if it can be learned from Docs.

    Raises ArgumentError if it cannot.
    """
    if column == "lemma":
        raise ArgumentError(
            "columns: lemmas are not learned from Docs; train on CoNLL-U with"
            " perceptron_nlp.train, and name that model"
        )
    if column not in LEARNED:
        raise ArgumentError(
            f"columns: {quote(column)} is not learned from Docs; name some of {', '.join(LEARNED)}"
        )
    return column


def gold_sentences(doc: Any) -> list[pn.Sentence]:
    """Return the sentences of a Doc with their annotation as columns upos, xpos and feats.

    A missing part of speech or tag is an underscore. A sentence has the column feats if all its
    words have features, or none by their nature.
    """
    sentences = []
    for span in doc.sents if doc.has_annotation("SENT_START") else [doc]:
        tokens = [token for token in span if not token.is_space]
        if tokens:
            columns = {
                "upos": [token.pos_ or UNTAGGED for token in tokens],
                "xpos": [token.tag_ or UNTAGGED for token in tokens],
            }
            if all(token.has_morph() for token in tokens):
                columns["feats"] = [str(token.morph) or NO_FEATURES for token in tokens]
            sentences.append(pn.Sentence([token.text for token in tokens], columns))
    return sentences


def gold_labels(sentence: pn.Sentence, column: str) -> Sequence[str | None]:
    """Return the labels of a column, None for a word without."""
    if column not in sentence.columns:
        return [None] * len(sentence)
    missing = None if column == "feats" else UNTAGGED
    return [None if label == missing else label for label in sentence.column(column)]


class SpacyTokenizer:
    """Makes Docs of texts, cut into tokens and sentences as a model has learned to.

    A multiword token is as many tokens as words if its letters are theirs (*do*, *n't*), and else
    one, which the tagger takes as its words (French *du*: *de le*). White space beyond a single
    space is a token of its own. If the model never learned to cut text, the bundled one does.

    Parameters
    ----------
    vocab : the pipeline's vocabulary
    model : what ``perceptron_nlp.load`` takes; opened when it is first needed
    """

    def __init__(self, vocab: Any, model: str) -> None:
        self.vocab = vocab
        self._path = model
        self._opened: pn.Tagger | None = None

    def __call__(self, text: str) -> Any:
        """Return the Doc of a text, with sentence boundaries.

        Raises ArgumentTypeError unless it is a str; ArgumentError for half of a surrogate pair,
        which no Doc can hold.
        """
        encodable_text(text)
        cut = list(self._tagger.segmenter.sentences_of(text))
        doc = _doc(self.vocab, text, cut)
        _cut_by_tokenizer[doc] = [[own for one in cut for own in one if len(own[2]) > 1]]
        return doc

    def pipe(self, texts: Iterable[str], batch_size: int = 1000) -> Iterator[Any]:
        """Yield the Docs of texts."""
        return map(self, texts)

    def to_bytes(self, **kwargs: Any) -> bytes:
        """Return the content of the model file."""
        return self._tagger.to_bytes()

    def from_bytes(self, data: bytes, **kwargs: Any) -> Self:
        """Take over the model of to_bytes."""
        self._opened = pn.Tagger.from_bytes(data)
        return self

    def to_disk(self, path: Any, **kwargs: Any) -> None:
        """Write the model."""
        self._tagger.save(path)

    def from_disk(self, path: Any, **kwargs: Any) -> Self:
        """Take over the model of to_disk."""
        self._opened = pn.load(path)
        return self

    @property
    def _tagger(self) -> pn.Tagger:
        if self._opened is None:
            self._opened = pn.load(self._path)
        return self._opened


def _doc(
    vocab: Any, text: str, sentences: Iterable[Sequence[tuple[int, int, tuple[str, ...]]]]
) -> Any:
    """Return the Doc of a text, given the place of each token and its words."""
    words: list[str] = []
    spaces: list[bool] = []
    begins: list[int] = []
    place = 0
    nothing = [(len(text), len(text), ("",))]
    for sentence in chain(sentences, [nothing]):
        is_first = True
        for start, end, own in sentence:
            if place < start:
                if words and text[place] == " ":
                    spaces[-1] = True
                    place += 1
                if place < start:
                    words.append(text[place:start])
                    spaces.append(False)
            if is_first and place:
                begins.append(len(words))
            is_first = False
            place = end
            if len(own) > 1 and "".join(own) == text[start:end]:
                words += own
                spaces += [False] * len(own)
            elif start < end:
                words.append(text[start:end])
                spaces.append(False)
    doc = Doc(vocab, words=words, spaces=spaces)
    if words:
        starts = np.full((len(words), 1), -1)
        starts[[0, *begins[:-1]]] = 1
        # Faster than as an argument of Doc.
        doc.from_array([SENT_START], starts.astype(np.uint64))
    return doc
