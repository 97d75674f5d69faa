"""Running text with labels: sentences and words that know where they stand in it."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, groupby, islice
from operator import attrgetter
from typing import NamedTuple, overload

from perceptron_nlp._core.text.sentences import TextWord, WordMaker, shown
from perceptron_nlp.tagger.tag.label import Labeled
from perceptron_nlp.tagger.tag.segment import TokenSpan
from perceptron_nlp.text.scripts import LEMMA

BATCH = 1024
"""Sentences that are labeled at a time: enough to keep the core busy, few enough to stay small."""


class TextToken(NamedTuple):
    """A token of running text: a word, or a multiword token such as French *du*, which is *de le*.

    Attributes
    ----------
    form : the token as it stands in the text: ``text[start:end]``
    words : its words; one, but for multiword tokens
    """

    form: str
    words: tuple[TextWord, ...]

    @property
    def start(self) -> int:
        """Its begin, in characters from the beginning of the text."""
        return self.words[0].start

    @property
    def end(self) -> int:
        """Its end, in characters from the beginning of the text."""
        return self.words[0].end

    @property
    def label(self) -> str | tuple[str | None, ...] | None:
        """Its label in the tagger's first column; of several words, the tuple of their labels."""
        return self._of_words([word.label for word in self.words])

    @property
    def lemma(self) -> str | tuple[str | None, ...] | None:
        """Its lemma, if the tagger gives lemmas; of several words, the tuple of their lemmas."""
        return self._of_words([word.lemma for word in self.words])

    @property
    def labels(self) -> Mapping[str, str | tuple[str, ...]]:
        """Its label in each column, by name; of several words, the tuple of their labels."""
        if len(self.words) == 1:
            return self.words[0].labels
        names = self.words[0].labels
        return {name: tuple(word.labels[name] for word in self.words) for name in names}

    def _of_words(self, values: list[str | None]) -> str | tuple[str | None, ...] | None:
        return values[0] if len(values) == 1 else tuple(values)

    def __repr__(self) -> str:
        words = "".join(f" {shown(word)}" for word in self.words)
        whole = words[1:] if len(self.words) == 1 else self.form + words
        return f"<{whole} {self.start}:{self.end}>"


class TextSentence(Sequence[TextWord]):
    """A sentence of running text; as a sequence it is its words. It does not change.

    Attributes
    ----------
    text : the sentence as it stands, from its first token to its last
    start, end : where it stands, in characters from the beginning of the whole text
    words : tuple of TextWord
    tokens : tuple of TextToken; other than words where there are multiword tokens
    forms, labels : the forms and the (first) labels of its words
    """

    __slots__ = ("_text", "_words")

    def __init__(self, text: str, words: Sequence[TextWord]) -> None:
        self._text = text
        self._words = tuple(words)

    @property
    def text(self) -> str:
        """The sentence as it stands."""
        return self._text

    @property
    def words(self) -> tuple[TextWord, ...]:
        """Its words, one at least; those of multiword tokens in place of these."""
        return self._words

    @property
    def tokens(self) -> tuple[TextToken, ...]:
        """Its tokens, one at least."""
        begin = self.start
        return tuple(
            TextToken(self._text[start - begin : end - begin], tuple(words))
            for (start, end), words in groupby(self._words, attrgetter("start", "end"))
        )

    @property
    def start(self) -> int:
        """Begin of its first token, in characters of the text."""
        return self._words[0].start

    @property
    def end(self) -> int:
        """End of its last token, in characters of the text."""
        return self._words[-1].end

    @property
    def forms(self) -> list[str]:
        """The form of each word."""
        return [word.form for word in self._words]

    @property
    def labels(self) -> list[str | None]:
        """The label of each word, in the first column."""
        return [word.label for word in self._words]

    def __len__(self) -> int:
        return len(self._words)

    def __iter__(self) -> Iterator[TextWord]:
        return iter(self._words)

    @overload
    def __getitem__(self, index: int) -> TextWord: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[TextWord, ...]: ...

    def __getitem__(self, index: int | slice) -> TextWord | tuple[TextWord, ...]:
        return self._words[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TextSentence):
            return NotImplemented
        return self._text == other._text and self._words == other._words

    def __hash__(self) -> int:
        return hash((self._text, self.start, self.end))

    def __repr__(self) -> str:
        return f"<TextSentence {self.start}:{self.end}, {len(self)} words: " + (
            " ".join(map(shown, self._words[:8])) + (" …>" if len(self) > 8 else ">")
        )


class LabeledText(NamedTuple):
    """Consecutive sentences of a text, cut and labeled: what objects and arrays are made from.

    Numbers are bytes of the machine's own: of labels 16 bits each, all others 32.

    Attributes
    ----------
    maker : what makes the words
    begin : characters of the text before those that places are counted from
    sentences : of each sentence its first token, and the number of all
    places : of each token where it begins and where it ends, in characters
    first : of each token its first word, and the number of all
    form_ends, forms : where each word ends in `forms`, which is UTF-8
    labels : by column the number of each word's label, and the labels
    lemmas : None, or where each word's lemma ends in the lemmas, which are UTF-8
    confidences : by column of each word, where they are asked for
    """

    maker: WordMaker
    begin: int
    sentences: bytes
    places: bytes
    first: bytes
    form_ends: bytes
    forms: bytes
    labels: Mapping[str, tuple[bytes, tuple[str, ...]]]
    lemmas: tuple[bytes, bytes] | None
    confidences: Mapping[str, Sequence[float]]


def labeled_batches(
    cut: Iterator[list[TokenSpan]],
    label: Callable[..., Mapping[str, Labeled]],
    window: int,
    size: int | None = BATCH,
) -> Iterator[LabeledText]:
    """Yield sentences with labels, some at a time, if only none, or all at once.

    label : gives sentences, between those before and those after, their labels, and confidences or
        None, in every column
    window : sentences on either side that it is to look at
    size : sentences that are labeled at a time; None for all
    """
    before: list[list[str]] = []
    coming = list(islice(cut, size))
    while True:
        # Sentences that nobody looks at are not waited for.
        ready, coming = coming, list(islice(cut, size and max(size, window))) if window else []
        words, after = _words(ready), _words(coming[:window])
        yield _labeled(ready, label(words, before, after))
        coming = coming or list(islice(cut, size))
        if not coming:
            return
        before = [*before, *words][-window:] if window else []


def text_sentences(text: str, pieces: Iterable[LabeledText]) -> Iterator[TextSentence]:
    """Return the sentences of a text as objects."""
    return chain.from_iterable(found.maker.sentences(TextSentence, text, found) for found in pieces)


def _words(sentences: Sequence[Sequence[TokenSpan]]) -> list[list[str]]:
    return [[word for *_, own in tokens for word in own] for tokens in sentences]


def _labeled(cut: Sequence[Sequence[TokenSpan]], found: Mapping[str, Labeled]) -> LabeledText:
    """Return sentences of a whole text with the labels, and confidences, of their words."""
    tokens = list(chain.from_iterable(cut))
    flat = {name: list(chain.from_iterable(labels)) for name, (labels, _) in found.items()}
    lemmas = flat.pop(LEMMA, None)
    begin = tokens[0][0] if tokens else 0
    return LabeledText(
        WordMaker(tuple(found)),
        begin,
        _packed(accumulate(map(len, cut), initial=0)),
        _packed(place - begin for token in tokens for place in token[:2]),
        _packed(accumulate((len(words) for *_, words in tokens), initial=0)),
        *_encoded(word for *_, words in tokens for word in words),
        {name: _numbered(labels) for name, labels in flat.items()},
        None if lemmas is None else _encoded(lemmas),
        {
            name: list(chain.from_iterable(sure))
            for name, (_, sure) in found.items()
            if sure is not None
        },
    )


def numbered(labels: Iterable[str]) -> tuple[list[int], tuple[str, ...]]:
    """Return the number of each label, and the labels, each once, in the order of their numbers."""
    number_of: dict[str, int] = {}
    numbers = [number_of.setdefault(label, len(number_of)) for label in labels]
    return numbers, tuple(number_of)


def _numbered(labels: Iterable[str]) -> tuple[bytes, tuple[str, ...]]:
    numbers, own = numbered(labels)
    return _packed(numbers, "H"), own


def _packed(numbers: Iterable[int], width: str = "I") -> bytes:
    return array(width, numbers).tobytes()


def _encoded(texts: Iterable[str]) -> tuple[bytes, bytes]:
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    return _packed(accumulate(map(len, encoded))), b"".join(encoded)
