"""Running text with labels: sentences and tokens that know where they stand in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, overload

from perceptron_nlp.errors import ArgumentTypeError
from perceptron_nlp.text.splitter import sentences_of
from perceptron_nlp.text.tokenizer import Span

# What is labelled at a time: enough to keep the core busy, few enough to stay small.
BATCH = 1024


class TextToken(NamedTuple):
    """A word of running text.

    Attributes
    ----------
    form : the word as it stands in the text: ``text[start:end]``
    label : its label in the tagger's first column; None where there are no labels
    start, end : where it stands, in characters from the beginning of the text
    labels : its label in each column of the tagger, by name; it cannot be changed
    """

    form: str
    label: str | None
    start: int
    end: int
    labels: Mapping[str, str]

    def __repr__(self) -> str:
        label = "" if self.label is None else f"/{self.label}"
        return f"<{self.form}{label} {self.start}:{self.end}>"

    # Labels that cannot be changed do not pickle.
    def __reduce__(self) -> tuple[Any, ...]:
        return _token, (*self[:4], dict(self.labels))


def _token(form: str, label: str | None, start: int, end: int, labels: dict[str, str]) -> TextToken:
    return TextToken(form, label, start, end, MappingProxyType(labels))


class TextSentence(Sequence[TextToken]):
    """A sentence of running text; as a sequence it is its tokens. It does not change.

    Attributes
    ----------
    text : the sentence as it stands, from its first token to its last
    start, end : where it stands, in characters from the beginning of the whole text
    tokens : tuple of TextToken
    words, labels : the forms and the (first) labels of its tokens
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
        """Where its first token begins."""
        return self._tokens[0].start

    @property
    def end(self) -> int:
        """Where its last token ends."""
        return self._tokens[-1].end

    @property
    def words(self) -> list[str]:
        """The forms of its tokens."""
        return [token.form for token in self._tokens]

    @property
    def labels(self) -> list[str | None]:
        """The label of each token, in the first column."""
        return [token.label for token in self._tokens]

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
    return [_sentence(text, spans, [], ()) for spans in sentences_of(text)]


class TagSentences(Protocol):
    """Gives sentences their labels in one column, as Tagger.tag_sents does."""

    def __call__(
        self,
        sentences: list[list[str]],
        *,
        before: Sequence[Sequence[str]],
        after: Sequence[Sequence[str]],
    ) -> list[list[str]]: ...


def tagged_sentences(
    text: str, taggers: Mapping[str, TagSentences], window: int
) -> Iterator[TextSentence]:
    """The sentences of running text with labels, a batch at a time; see Tagger.tag_text.

    Parameters
    ----------
    text : any str
    taggers : by column, what labels sentences in it; at least one
    window : how many sentences on either side they look at, at most
    """
    _check(text)
    names = tuple(taggers)
    # Equal labels are one mapping, so that a token costs little.
    known: dict[tuple[str, ...], Mapping[str, str]] = {}
    spans = sentences_of(text)
    before: list[list[str]] = []
    ready: list[list[Span]] = list(islice(spans, BATCH))
    while ready:
        coming = list(islice(spans, max(BATCH, window)))
        words, after = _words(text, ready), _words(text, coming[:window])
        by_column = [tag(words, before=before, after=after) for tag in taggers.values()]
        for number, places in enumerate(ready):
            rows = zip(*(labels[number] for labels in by_column), strict=True)
            yield _sentence(
                text,
                places,
                [
                    known[row]
                    if row in known
                    else known.setdefault(row, MappingProxyType(dict(zip(names, row, strict=True))))
                    for row in rows
                ],
                names,
            )
        before = [*before, *words][-window:] if window else []
        ready = coming


def _words(text: str, sentences: Sequence[Sequence[Span]]) -> list[list[str]]:
    return [[text[start:end] for start, end in spans] for spans in sentences]


def _sentence(
    text: str, spans: Sequence[Span], labels: Sequence[Mapping[str, str]], names: Sequence[str]
) -> TextSentence:
    if labels:
        tokens = [
            TextToken(text[start:end], found[names[0]], start, end, found)
            for (start, end), found in zip(spans, labels, strict=True)
        ]
    else:
        tokens = [TextToken(text[start:end], None, start, end, _NO_LABELS) for start, end in spans]
    return TextSentence(text[spans[0][0] : spans[-1][1]], tokens)


def _check(text: object) -> None:
    if not isinstance(text, str):
        hint = "; decode it first" if isinstance(text, bytes | bytearray) else ""
        raise ArgumentTypeError(f"text: a str is needed, not {type(text).__name__}{hint}")
