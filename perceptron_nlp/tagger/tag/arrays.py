"""Labels of many texts, or of words in buffers, as arrays; no Python object is made of a word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.text.writer import TextFiller
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError
from perceptron_nlp.tagger.tag.text import LabeledText, numbered
from perceptron_nlp.tagger.tag.threads import chunks_of, in_threads
from perceptron_nlp.text.scripts import LEMMA

# Characters of texts that are labeled at a time, with a paragraph's end between them.
_TOGETHER = 1 << 18
_BETWEEN = "\n\n"
Strings = tuple[npt.NDArray[np.int64], bytes]
"""Where each string begins, and the last one ends, in UTF-8."""
Numbered = tuple[npt.NDArray[np.unsignedinteger[Any]], tuple[str, ...]]
"""The number of each word's label, and the labels, each once."""
Known = Mapping[str, Sequence[str]]
"""By column the labels that a model has, which come first, whatever the words are."""


class LabelArrays(NamedTuple):
    """The words of texts, one after the other, with their labels.

    Attributes
    ----------
    offsets : int64[n_texts + 1], the first word of each text, and the number of all words; of words
        in buffers, each sentence is a text
    forms : the words: int64[n_words + 1], where each begins and the last one ends, and their UTF-8
    starts, ends : int32[n_words], the place of each word's token in its text, in characters; words
        of a multiword token share it. Empty for words in buffers, which are of no text
    sentences : int32[n_words], the number of each word's sentence in its text, from 0 on
    labels : by column the number of each word's label, uint8[n_words] up to 256 labels and
        uint16[n_words] above, and the labels by number, each once: all that the model has in code
        point order, then others that were kept
    lemmas : None, or the lemmas like the forms
    confidences : by column float64[n_words], from 0 to 1, if they were asked for
    """

    offsets: npt.NDArray[np.int64]
    forms: Strings
    starts: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]
    sentences: npt.NDArray[np.int32]
    labels: dict[str, Numbered]
    lemmas: Strings | None
    confidences: dict[str, npt.NDArray[np.float64]]


class WordBuffers(NamedTuple):
    """Sentences of words in buffers whose offsets were checked.

    data : uint8[n_bytes]
    tokens : int64, where each word begins in the data, and where the last one ends
    sentences : int64, the first word of each sentence, and the end of the last one
    """

    data: npt.NDArray[np.uint8]
    tokens: npt.NDArray[np.int64]
    sentences: npt.NDArray[np.int64]

    @property
    def n_tokens(self) -> int:
        """Number of tokens in the sentences."""
        return int(self.sentences[-1] - self.sentences[0])

    def lists(self) -> list[Sequence[str]]:
        """Return the sentences as lists of words; ArgumentError for a word that is not UTF-8."""
        data, ends = self.data.tobytes(), self.tokens.tolist()
        begin, end = int(self.sentences[0]), int(self.sentences[-1])
        words = []
        for number in range(begin, end):
            first, last = ends[number : number + 2]
            try:
                words.append(data[first:last].decode())
            except UnicodeDecodeError:
                raise ArgumentError(
                    f"data: token {number} (bytes {first} to {last}) is not UTF-8"
                ) from None
        bounds = (self.sentences - begin).tolist()
        return [words[a:b] for a, b in pairwise(bounds)]

    def with_labels(
        self,
        known: Known,
        labels: Mapping[str, tuple[Any, tuple[str, ...]]],
        lemmas: Strings | None,
        others: Mapping[str, tuple[list[list[str]], list[list[float]] | None]],
    ) -> LabelArrays:
        """Return the words with labels that have numbers, and with others, which are lists."""
        begin, end = int(self.sentences[0]), int(self.sentences[-1])
        starts, none = self.tokens[begin : end + 1], np.zeros(0, np.int32)
        flat = {name: chain.from_iterable(own) for name, (own, _) in others.items()}
        numbers = {name: numbered(own) for name, own in flat.items() if name != LEMMA}
        return LabelArrays(
            self.sentences - begin,
            (starts - starts[0], self.data[starts[0] : starts[-1]].tobytes()),
            none,
            none,
            np.zeros(end - begin, np.int32),
            {name: _each_once([own], known[name]) for name, own in {**labels, **numbers}.items()},
            _strings(flat[LEMMA]) if LEMMA in flat else lemmas,
            {
                name: np.array([*chain.from_iterable(sure)], np.float64)
                for name, (_, sure) in others.items()
                if sure is not None
            },
        )


def words_of(data: object, token_offsets: object, sentence_offsets: object) -> WordBuffers:
    """The checked form of buffers that a caller gives; see Tagger.tag_arrays."""
    text = _bytes(data)
    tokens = _offsets("token_offsets", token_offsets, len(text), "bytes of data")
    sentences = _offsets("sentence_offsets", sentence_offsets, len(tokens) - 1, "tokens")
    return WordBuffers(text, tokens, sentences)


def _bytes(data: object) -> npt.NDArray[np.uint8]:
    try:
        view = memoryview(data)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentTypeError(
            f"data: bytes or a buffer of bytes is needed, not {type(data).__name__}"
        ) from None
    if view.itemsize != 1 or not view.c_contiguous:
        raise ArgumentTypeError(
            "data: a contiguous buffer of single bytes is needed, not one of"
            f" {view.itemsize}-byte items" + ("" if view.c_contiguous else " with gaps")
        )
    return np.asarray(view.cast("B"))


def _offsets(name: str, given: object, highest: int, unit: str) -> npt.NDArray[np.int64]:
    """Return a copy, which nobody else can change while it is in use."""
    try:
        raw = np.asarray(given)
    except ValueError:
        raise ArgumentTypeError(f"{name}: a flat array of whole numbers is needed") from None
    if raw.ndim != 1 or (raw.dtype.kind not in "iu" and raw.size):
        raise ArgumentTypeError(
            f"{name}: a flat array of whole numbers is needed, not {raw.ndim} dimensions of"
            f" {raw.dtype}"
        )
    if not raw.size:
        raise ArgumentError(
            f"{name}: is empty; it has one offset more than there are items, so [0] stands for none"
        )
    offsets = np.array(raw, np.int64)
    falls = np.flatnonzero(offsets[1:] < offsets[:-1])
    if len(falls):
        at = int(falls[0])
        raise ArgumentError(
            f"{name}[{at + 1}]: {offsets[at + 1]} is below {offsets[at]}, which"
            " comes before it; offsets must not fall"
        )
    if offsets[0] < 0 or offsets[-1] > highest:
        at = 0 if offsets[0] < 0 else len(offsets) - 1
        raise ArgumentError(
            f"{name}[{at}]: {offsets[at]} is not between 0 and {highest}, the number of {unit}"
        )
    return offsets


def label_buffers(
    filler: TextFiller, words: WordBuffers, n_columns: int, threads: int
) -> tuple[list[npt.NDArray[np.uint16]], Strings | None]:
    """Return the numbers of the tokens' labels, column by column, and lemmas, if there are any."""
    numbers = [np.empty(words.n_tokens, np.uint16) for _ in range(n_columns)]

    def run(chunk: range) -> tuple[bytes, bytes] | None:
        return filler.tag_buffers(
            words.data, words.tokens, words.sentences, numbers, chunk.start, chunk.stop
        )

    # One without words tells, too, if it gives lemmas.
    chunks = chunks_of(len(words.sentences) - 1) or [range(0)]
    found = in_threads(run, chunks, threads)
    lemmas = [(_starts(one[0]), one[1]) for one in found if one is not None]
    return numbers, _joined_strings(lemmas) if lemmas else None


def text_arrays(
    texts: object, known: Known, label: Callable[..., Iterator[LabeledText]], *, together: bool
) -> LabelArrays:
    """Return texts, cut and labeled.

    Parameters
    ----------
    known : of the columns to give; what is labeled for others to look at is left out
    label : cuts and labels a text; see TextFill.pieces
    together : label many short texts as the paragraphs of one
    """
    pieces = [
        _arrays(own, known, next(label(_BETWEEN.join(own), whole=True)))
        for own in _in_groups(texts, _TOGETHER if together else 0)
    ]
    return _joined(pieces or [_arrays([], known, next(label("", whole=True)))])


def _in_groups(texts: object, most: int) -> Iterator[list[str]]:
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise ArgumentTypeError(f"texts: a list of str is needed, not {type(texts).__name__}")
    own: list[str] = []
    length = 0
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise ArgumentTypeError(f"texts[{number}]: a str is needed, not {type(text).__name__}")
        if own and length + len(text) > most:
            yield own
            own, length = [], 0
        own.append(text)
        length += len(text)
    if own:
        yield own


def _arrays(texts: list[str], known: Known, found: LabeledText) -> LabelArrays:
    """Return texts that were labeled as one."""
    begins = np.fromiter(
        accumulate((len(text) + len(_BETWEEN) for text in texts), initial=0), np.int64
    )
    places = found.begin + _numbers(found.places).reshape(-1, 2)
    first, sentences = _numbers(found.first), _numbers(found.sentences)
    token_of = np.repeat(np.arange(len(places)), np.diff(first))
    text_of = np.searchsorted(begins, places[:, 0], side="right") - 1
    first_token = np.searchsorted(places[:, 0], begins)
    sentence_of = np.searchsorted(sentences, np.arange(len(places)), side="right") - 1
    # The number of the first sentence of each text; a text without any has no token to ask.
    first_sentence = np.append(sentence_of, len(sentences) - 1)[first_token]
    moved = places - begins[text_of, None]
    return LabelArrays(
        first[first_token],
        (_starts(found.form_ends), found.forms),
        moved[token_of, 0].astype(np.int32),
        moved[token_of, 1].astype(np.int32),
        (sentence_of - first_sentence[text_of])[token_of].astype(np.int32),
        {
            name: _each_once([(np.frombuffer(numbers, np.uint16), own)], known[name])
            for name, (numbers, own) in found.labels.items()
            if name in known
        },
        None if found.lemmas is None else (_starts(found.lemmas[0]), found.lemmas[1]),
        {name: np.array(own, np.float64) for name, own in found.confidences.items()},
    )


def _numbers(packed: bytes) -> npt.NDArray[np.int64]:
    return np.frombuffer(packed, np.uint32).astype(np.int64)


def _starts(ends: bytes) -> npt.NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), _numbers(ends)])


def _strings(texts: Iterable[str]) -> Strings:
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    return np.cumsum([0, *map(len, encoded)], dtype=np.int64), b"".join(encoded)


def _joined(pieces: Sequence[LabelArrays]) -> LabelArrays:
    if len(pieces) == 1:
        return pieces[0]
    lemmas = [piece.lemmas for piece in pieces if piece.lemmas is not None]
    whole: Any = np.concatenate
    return LabelArrays(
        _one_after_the_other([piece.offsets for piece in pieces]),
        _joined_strings([piece.forms for piece in pieces]),
        whole([piece.starts for piece in pieces]),
        whole([piece.ends for piece in pieces]),
        whole([piece.sentences for piece in pieces]),
        {
            name: _each_once([one.labels[name] for one in pieces], labels)
            for name, (_, labels) in pieces[0].labels.items()
        },
        _joined_strings(lemmas) if lemmas else None,
        {name: whole([one.confidences[name] for one in pieces]) for name in pieces[0].confidences},
    )


def _each_once(pieces: Iterable[tuple[Any, Sequence[str]]], known: Sequence[str]) -> Numbered:
    """Return numbered labels, one piece after the other, in one order: some are written alike."""
    number_of = {label: number for number, label in enumerate(known)}
    own = []
    for numbers, labels in pieces:
        new = [number_of.setdefault(label, len(number_of)) for label in labels]
        given = np.array(numbers, np.uint16)
        own.append(given if new == [*range(len(new))] else np.array(new, np.uint16)[given])
    width = np.uint8 if len(number_of) <= 256 else np.uint16
    return np.concatenate(own).astype(width, copy=False), tuple(number_of)


def _one_after_the_other(offsets: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    begins = accumulate((int(own[-1]) for own in offsets), initial=0)
    moved = [own[1:] + begin for own, begin in zip(offsets, begins, strict=False)]
    return np.concatenate([np.zeros(1, np.int64), *moved])


def _joined_strings(strings: Sequence[Strings]) -> Strings:
    return (
        _one_after_the_other([own for own, _ in strings]),
        b"".join(text for _, text in strings),
    )
