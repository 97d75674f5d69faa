"""Running text with labels: sentences and tokens that know where they stand in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, pairwise, repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, overload

from perceptron_nlp.errors import ArgumentTypeError
from perceptron_nlp.tagger.tag.segment import SegmentedToken, Segmenter
from perceptron_nlp.text.scripts import LEMMA
from perceptron_nlp.text.splitter import sentences_of

if TYPE_CHECKING:
    from perceptron_nlp.tagger.tag.running import LabeledText, TextFill

# What is labeled at a time: enough to keep the core busy, few enough to stay small.
BATCH = 1024
# Characters that are cut at a time, and distinct rows of labels that are held.
_PIECE = 1 << 18
_MOST_KNOWN = 1 << 16


class TextWord(NamedTuple):
    """A word of a token of running text.

    form : the word; of a multiword token it need not stand in the text
    label : its label in the tagger's first column; None if there are no labels
    labels : its label in each column of the tagger, by name; it cannot be changed
    """

    form: str
    label: str | None
    labels: Mapping[str, str]

    @property
    def lemma(self) -> str | None:
        """Its lemma, if the tagger gives lemmas."""
        return self.labels.get("lemma")

    # Labels that cannot be changed do not pickle.
    def __reduce__(self) -> tuple[Any, ...]:
        return _word, (*self[:2], dict(self.labels))


class TextToken(NamedTuple):
    """A token of running text: a word, or a multiword token such as French *du*, which is *de le*.

    Attributes
    ----------
    form : the token as it stands in the text: ``text[start:end]``
    label : its label in the tagger's first column; None if there are no labels, and of multiword
        tokens, whose words have labels
    start, end : its place, in characters from the beginning of the text
    labels : its label in each column of the tagger, by name; it cannot be changed
    parts : the words of a multiword token; empty for other tokens
    """

    form: str
    label: str | None
    start: int
    end: int
    labels: Mapping[str, str]
    parts: tuple[TextWord, ...] = ()

    @property
    def words(self) -> tuple[TextWord, ...]:
        """Its words: one, but of multiword tokens; white space in a token is one space there."""
        return self.parts or (TextWord(" ".join(self.form.split()), self.label, self.labels),)

    @property
    def lemma(self) -> str | None:
        """Its lemma, if the tagger gives lemmas and this is no multiword token."""
        return self.labels.get("lemma")

    def __repr__(self) -> str:
        label = "" if self.label is None else f"/{self.label}"
        words = "".join(f" {word.form}/{word.label}" for word in self.parts)
        return f"<{self.form}{label}{words} {self.start}:{self.end}>"

    # Labels that cannot be changed do not pickle.
    def __reduce__(self) -> tuple[Any, ...]:
        return _token, (*self[:4], dict(self.labels), self.parts)


def _word(form: str, label: str | None, labels: dict[str, str]) -> TextWord:
    return TextWord(form, label, MappingProxyType(labels))


def _token(
    form: str,
    label: str | None,
    start: int,
    end: int,
    labels: dict[str, str],
    parts: tuple[TextWord, ...],
) -> TextToken:
    return TextToken(form, label, start, end, MappingProxyType(labels), parts)


class TextSentence(Sequence[TextToken]):
    """A sentence of running text; as a sequence it is its tokens. It does not change.

    Attributes
    ----------
    text : the sentence as it stands, from its first token to its last
    start, end : where it stands, in characters from the beginning of the whole text
    tokens : tuple of TextToken
    words, labels : the forms and the (first) labels of its words
    """

    __slots__ = ("_text", "_tokens")

    def __init__(self, text: str, tokens: Sequence[TextToken]) -> None:
        self._text = text
        self._tokens = tuple(tokens)

    @property
    def text(self) -> str:
        """The sentence as it stands."""
        return self._text

    @property
    def tokens(self) -> tuple[TextToken, ...]:
        """Its tokens, one at least."""
        return self._tokens

    @property
    def start(self) -> int:
        """Begin of its first token, in characters of the text."""
        return self._tokens[0].start

    @property
    def end(self) -> int:
        """End of its last token, in characters of the text."""
        return self._tokens[-1].end

    @property
    def words(self) -> list[str]:
        """The forms of its words; those of multiword tokens in place of these."""
        return [word.form for token in self._tokens for word in token.words]

    @property
    def labels(self) -> list[str | None]:
        """The label of each word, in the first column."""
        return [word.label for token in self._tokens for word in token.words]

    def __len__(self) -> int:
        return len(self._tokens)

    def __iter__(self) -> Iterator[TextToken]:
        return iter(self._tokens)

    @overload
    def __getitem__(self, index: int) -> TextToken: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[TextToken, ...]: ...

    def __getitem__(self, index: int | slice) -> TextToken | tuple[TextToken, ...]:
        return self._tokens[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TextSentence):
            return NotImplemented
        return self._text == other._text and self._tokens == other._tokens

    def __hash__(self) -> int:
        return hash((self._text, self.start, self.end))

    def __repr__(self) -> str:
        words = " ".join(
            token.form if token.label is None else f"{token.form}/{token.label}"
            for token in self._tokens[:8]
        )
        return f"<TextSentence {self.start}:{self.end}, {len(self)} tokens: {words}" + (
            " …>" if len(self) > 8 else ">"
        )


_NO_LABELS: Mapping[str, str] = MappingProxyType({})


def tokenize(text: str) -> list[TextSentence]:
    """The sentences and tokens of running text, found by rules; docs/plaintext.md tells them.

    Parameters
    ----------
    text : any str

    Returns
    -------
    its sentences, whose tokens have no labels. All characters but white space are in exactly one
    token each, and ``text[token.start:token.end] == token.form``

    Raises
    ------
    ArgumentTypeError : something other than a str

    Examples
    --------
    ``[s.words for s in tokenize("Don't! I'm here.")]`` is
    ``[["Do", "n't", "!"], ["I", "'m", "here", "."]]``.
    """
    _check(text)
    return [
        TextSentence(
            text[spans[0][0] : spans[-1][1]],
            [TextToken(text[start:end], None, start, end, _NO_LABELS) for start, end in spans],
        )
        for spans in sentences_of(text)
    ]


class LabelSentences(Protocol):
    """Gives sentences their labels in every column, as Tagger.tag_sents_columns does."""

    def __call__(
        self,
        sentences: list[list[str]],
        *,
        before: Sequence[Sequence[str]],
        after: Sequence[Sequence[str]],
    ) -> dict[str, list[list[str]]]: ...


def tagged_sentences(
    text: str, segmenter: Segmenter | None, label: LabelSentences, window: int
) -> Iterator[TextSentence]:
    """Yield the sentences of running text with labels, a batch at a time; see Tagger.tag_text.

    Without a segmenter it is cut by rules; ``window`` sentences on either side are looked at.
    """
    _check(text)
    known: _Mappings | None = None
    cut = _cut_by_rules(text) if segmenter is None else segmenter.sentences_of(text)
    before: list[list[str]] = []
    ready = list(islice(cut, BATCH))
    while ready:
        coming = list(islice(cut, max(BATCH, window)))
        words, after = _words(ready), _words(coming[:window])
        by_column = label(words, before=before, after=after)
        known = _Mappings(tuple(by_column)) if known is None else known
        for number, tokens in enumerate(ready):
            rows = zip(*(labels[number] for labels in by_column.values()), strict=True)
            yield _sentence(text, tokens, known.of(rows), known.columns[0])
        before = [*before, *words][-window:] if window else []
        ready = coming


def labeled_sentences(text: str, fill: TextFill, columns: Sequence[str]) -> Iterator[TextSentence]:
    """Yield the sentences of running text as a filler of columns gives them."""
    _check(text)
    place, length = 0, _PIECE
    known = _Mappings(columns)
    while place < len(text):
        piece = text[place : place + length]
        found = fill.labeled(
            piece.encode("utf-8", "surrogatepass"), at_end=place + length >= len(text)
        )
        tokens = _tokens_of(piece, place, found, _labels_of(found, fill, known), columns[0])
        for begin, end in pairwise(found.sentences.tolist()):
            own = tokens[begin:end]
            yield TextSentence(text[own[0].start : own[-1].end], own)
        place += found.taken[1]
        length = _PIECE if found.taken[1] else 2 * length


def _labels_of(found: LabeledText, fill: TextFill, known: _Mappings) -> list[Mapping[str, str]]:
    """Return the labels of all words of a piece of text."""
    by_column: dict[str, Iterable[str]] = {
        name: map(labels.__getitem__, numbers)
        for (name, labels), numbers in zip(fill.labels.items(), found.labels, strict=True)
    }
    if found.lemmas is not None:
        by_column[LEMMA] = _strings(*found.lemmas)
    return known.of(zip(*(by_column[name] for name in known.columns), strict=True))


def _tokens_of(
    piece: str, place: int, found: LabeledText, labels: Sequence[Mapping[str, str]], column: str
) -> list[TextToken]:
    """Return the tokens of a piece beginning at `place`, given the labels of its words."""
    places, first = found.places.tolist(), found.first.tolist()
    starts, ends = places[::2], places[1::2]
    forms = map(piece.__getitem__, map(slice, starts, ends))
    if place:
        starts, ends = ([place + at for at in side] for side in (starts, ends))
    has_multiword = len(labels) > len(starts)
    own = [labels[n] for n in first[:-1]] if has_multiword else labels
    # A token is made a thousand times as often as anything else: without its constructor.
    rows = zip(forms, [one[column] for one in own], starts, ends, own, repeat(()), strict=False)
    tokens: list[TextToken] = list(map(partial(tuple.__new__, TextToken), rows))
    for n, (begin, end) in enumerate(pairwise(first) if has_multiword else ()):
        if end - begin > 1:
            words = _strings(found.form_ends, found.forms, begin, end)
            parts = _parts(words, labels[begin:end], column)
            tokens[n] = tokens[n]._replace(label=None, labels=_NO_LABELS, parts=parts)
    return tokens


def _parts(
    words: Iterable[str], labels: Iterable[Mapping[str, str]], column: str
) -> tuple[TextWord, ...]:
    """Return the words of a multiword token."""
    rows = zip(words, labels, strict=True)
    return tuple([TextWord(word, own[column], own) for word, own in rows])


class _Mappings(dict[tuple[str, ...], Mapping[str, str]]):
    """By the labels of a word, one a column, the mapping that its tokens share: it costs little."""

    def __init__(self, columns: Sequence[str]) -> None:
        super().__init__()
        self.columns = columns

    def __missing__(self, row: tuple[str, ...]) -> Mapping[str, str]:
        found = self[row] = MappingProxyType(dict(zip(self.columns, row, strict=True)))
        return found

    def of(self, rows: Iterable[tuple[str, ...]]) -> list[Mapping[str, str]]:
        """Return the mappings of words."""
        if len(self) > _MOST_KNOWN:
            self.clear()
        return list(map(self.__getitem__, rows))


def _strings(
    ends: memoryview, text: bytes | bytearray, first: int = 0, last: int | None = None
) -> Iterator[str]:
    """Yield the strings that end where they are said to, or some of them."""
    begin = ends[first - 1] if first else 0
    for end in ends[first:last]:
        yield text[begin:end].decode("utf-8", "surrogatepass")
        begin = end


def _cut_by_rules(text: str) -> Iterator[list[SegmentedToken]]:
    for spans in sentences_of(text):
        yield [SegmentedToken(start, end, (text[start:end],)) for start, end in spans]


def _words(sentences: Sequence[Sequence[SegmentedToken]]) -> list[list[str]]:
    return [[word for token in tokens for word in token.words] for tokens in sentences]


def _sentence(
    text: str, tokens: Sequence[SegmentedToken], labels: Sequence[Mapping[str, str]], first: str
) -> TextSentence:
    found, at = [], 0
    for start, end, words in tokens:
        if len(words) == 1:
            own = labels[at]
            found.append(TextToken(text[start:end], own[first], start, end, own))
        else:
            parts = _parts(words, labels[at : at + len(words)], first)
            found.append(TextToken(text[start:end], None, start, end, _NO_LABELS, parts))
        at += len(words)
    return TextSentence(text[tokens[0].start : tokens[-1].end], found)


def _check(text: object) -> None:
    if not isinstance(text, str):
        hint = "; decode it first" if isinstance(text, bytes | bytearray) else ""
        raise ArgumentTypeError(f"text: a str is needed, not {type(text).__name__}{hint}")
