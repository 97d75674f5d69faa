"""Words out of spaCy's Docs and labels into them, many Docs at a time.

Each call for a token or a Doc of spaCy is slow. So words come as numbers, one array a Doc, and are
looked up in a cache; and labels go back as one array a Doc.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

import perceptron_nlp as pn
from perceptron_nlp._checks import encodable_text
from perceptron_nlp.errors import ArgumentError, missing_extra, quote

try:
    from spacy.attrs import IDX, IS_SPACE, LEMMA, LENGTH, ORTH, POS, SENT_START, TAG
    from spacy.parts_of_speech import IDS as POS_IDS
    from spacy.tokens import Doc, MorphAnalysis, Token
except ImportError:
    raise missing_extra("spaCy", "spacy") from None

# The attribute of a token for each column.
ATTRIBUTES = {"xpos": "tag", "tag": "tag", "upos": "pos", "feats": "morph", "lemma": "lemma"}
LEARNED = ("upos", "xpos", "feats")
SPACE_TAG, SPACE_POS = "_SP", "SPACE"
NO_FEATURES = "_"
# In treebanks an underscore stands for a missing tag.
UNTAGGED = "_"
# Words in the cache; some ten megabytes.
WORDS_LIMIT = 1 << 16


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
    tagger (French *du*) is these. A Doc without sentence boundaries is one sentence.
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
        begins = table[:, 2] == 1
        firsts = self._ends - np.array([len(doc) for doc in docs], np.int64)
        begins[firsts[firsts < len(table)]] = True
        self._counts = self.is_word.astype(np.int64)
        several = _multiword_tokens(docs, firsts.tolist(), tagger)
        if several:
            parts = [[word] for word in flat]
            place = np.cumsum(self.is_word) - 1
            for number, own in several.items():
                parts[place[number]] = list(own)
                self._counts[number] = len(own)
            flat = list(chain.from_iterable(parts))
        before = np.concatenate([[0], np.cumsum(self._counts)])
        starts = [*before[np.flatnonzero(begins)].tolist(), len(flat)]
        self.sentences = [flat[start:end] for start, end in pairwise(starts) if end > start]
        self._starts = before[:-1][self.is_word].tolist() if several else None

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

    def _parts(self, table: npt.NDArray[Any]) -> Iterator[tuple[Any, npt.NDArray[Any]]]:
        """Yield the Docs, each with its tokens' rows of a table."""
        bounds = pairwise([0, *self._ends.tolist()])
        return ((doc, table[a:b]) for doc, (a, b) in zip(self._docs, bounds, strict=True))

    def set_morphs(self, analyses: Iterable[Any]) -> None:
        """Set the morphology of all tokens."""
        for token, analysis in zip(chain.from_iterable(self._docs), analyses, strict=True):
            token.morph = analysis


def _multiword_tokens(
    docs: Sequence[Any], firsts: Sequence[int], tagger: pn.Tagger
) -> dict[int, tuple[str, ...]]:
    """Return the words of tokens that are several to the tagger, by the tokens' numbers."""
    segmenter = tagger.segmenter
    if segmenter is None or not segmenter.splits_tokens:
        return {}
    found: dict[int, tuple[str, ...]] = {}
    for doc, first in zip(docs, firsts, strict=True):
        words_at = {
            (start, end): words
            for sentence in segmenter.sentences_of(doc.text)
            for start, end, words in sentence
            if len(words) > 1
        }
        if words_at:
            places = doc.to_array([IDX, LENGTH]).tolist()
            for number, (start, length) in enumerate(places, first):
                if (start, start + length) in words_at:
                    found[number] = words_at[start, start + length]
    return found


class Writer:
    """Writes the labels of one tagger's columns into Docs, to whose vocabulary they are added.

    Raises ArgumentError if tokens have no attribute for one of the tagger's columns or labels.
    """

    def __init__(self, tagger: pn.Tagger, vocab: Any, confidences: bool = False) -> None:
        self._tagger = tagger
        self._confidences = confidences
        self._numbers: list[tuple[str, int, int, Mapping[str, int]]] = []
        self._morphs: list[tuple[str, Any, Mapping[str, Any]]] = []
        self._lemmas: list[str] = []
        self._strings = vocab.strings
        if tagger.feature_columns:
            raise ArgumentError(
                f"model: looks at the columns {', '.join(tagger.feature_columns)} in addition to"
                " the words, which Docs do not give it; use one that fills them, too"
            )
        for name, part in tagger.by_column.items():
            labels = part.model.written_labels
            attribute = attribute_of(name)
            if attribute == "morph":
                none = MorphAnalysis(vocab, "")
                analyses = {one: MorphAnalysis(vocab, one) for one in {*labels} - {NO_FEATURES}}
                self._morphs.append((name, none, {NO_FEATURES: none, **analyses}))
            elif attribute == "pos":
                numbers = {label: _pos_number(label) for label in labels}
                self._numbers.append((name, POS, POS_IDS[SPACE_POS], numbers))
            elif attribute == "lemma":
                self._lemmas.append(name)
            else:
                numbers = {label: _permanent_number(label, vocab) for label in labels}
                self._numbers.append((name, TAG, _permanent_number(SPACE_TAG, vocab), numbers))

    def write(self, batch: Batch, threads: int) -> None:
        """Label the words of all Docs of a batch."""
        columns = []
        how: dict[str, Any] = {"threads": threads, "confidences": self._confidences}
        labels: Any = self._tagger.tag_sents(batch.sentences, columns=self._tagger.columns, **how)
        if self._confidences:
            batch.set_confidences({name: own for name, (_, own) in labels.items()})
            labels = {name: own for name, (own, _) in labels.items()}
        for name, attribute, of_space, number_of in self._numbers:
            found = batch.of_tokens(labels[name])
            values = np.full(len(batch.is_word), of_space, np.uint64)
            values[batch.is_word] = np.fromiter(map(number_of.__getitem__, found), np.uint64)
            columns.append((attribute, values))
        for name in self._lemmas:
            # White space is its own lemma.
            values = batch.words.copy()
            found = batch.lemmas(labels[name])
            values[batch.is_word] = np.fromiter(map(self._strings.add, found), np.uint64)
            columns.append((LEMMA, values))
        if columns:
            batch.set_numbers(columns)
        for name, of_space, analysis_of in self._morphs:
            feats = iter(batch.of_tokens(labels[name]))
            batch.set_morphs(
                analysis_of[next(feats)] if is_word else of_space
                for is_word in batch.is_word.tolist()
            )


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


class SpacyTokenizer:
    """Makes Docs of texts, cut into tokens and sentences as a model has learned to.

    A multiword token is as many tokens as words if its letters are theirs (*do*, *n't*), and else
    one, which the tagger takes as its words (French *du*: *de le*). White space beyond a single
    space is a token of its own. If the model never learned to cut text, rules do.

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
        segmenter = self._tagger.segmenter
        if segmenter is None:
            found = [[(word.start, word.end) for word in one] for one in pn.tokenize(text)]
        else:
            found = [list(_places(text, one)) for one in segmenter.sentences_of(text)]
        spans = [
            (start, end, number == 0)
            for places in found
            for number, (start, end) in enumerate(places)
        ]
        return _doc(self.vocab, text, spans)

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


def _places(text: str, tokens: Iterable[Any]) -> Iterator[tuple[int, int]]:
    """Yield the places of tokens, or of their words if these stand in the text."""
    for start, end, words in tokens:
        if len(words) == 1 or "".join(words) != text[start:end]:
            yield start, end
            continue
        for word in words:
            yield start, start + len(word)
            start += len(word)


def _doc(vocab: Any, text: str, tokens: Iterable[tuple[int, int, bool]]) -> Any:
    """Return the Doc of a text, given the place of each token, and if a sentence begins there."""
    # Each row is a word, whether a space follows, and whether a sentence begins.
    rows: list[list[Any]] = []
    place = 0
    for start, end, begins in chain(tokens, [(len(text), len(text), False)]):
        if place < start and rows and text[place] == " ":
            rows[-1][1] = True
            place += 1
        if place < start:
            rows.append([text[place:start], False, not rows])
        if start < end:
            rows.append([text[start:end], False, not rows or (begins and place > 0)])
        place = end
    words, spaces, starts = zip(*rows, strict=True) if rows else ([], [], [])
    return Doc(vocab, words=words, spaces=spaces, sent_starts=starts)


def attribute_of(column: str, argument: str = "model") -> str:
    """Return the attribute of a token for a column: tag, pos, morph or lemma.

    Raises ArgumentError, which names the argument, if there is none.
    """
    if column not in ATTRIBUTES:
        raise ArgumentError(
            f"{argument}: spaCy's tokens have no place for column {quote(column)};"
            f" there is one for {', '.join(ATTRIBUTES)}"
        )
    return ATTRIBUTES[column]


def _permanent_number(label: str, vocab: Any) -> int:
    """The number of a label, known beyond the memory zone in which it is used first."""
    return int(vocab.strings.add(label, allow_transient=False))


def _pos_number(label: str) -> int:
    if label not in POS_IDS:
        raise ArgumentError(
            f"model: {quote(label)} is none of spaCy's parts of speech; learn these"
            " labels as column xpos, which is written to tag_"
        )
    return int(POS_IDS[label])


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
