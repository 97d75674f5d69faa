"""A sentence: its words, its other columns, and where each word stands in its file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, FormatError, encodable, quote

if TYPE_CHECKING:
    from perceptron_nlp.text.layout import Layout

IN_MEMORY = "<memory>"
_NO_COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType({})


class _NoLabel(str):
    """The value in a column of memory where somebody gave None for a label.

    Told from other labels by its identity, since any str may be a label.
    """


NO_LABEL = _NoLabel("_")


class Token(NamedTuple):
    """One word of a sentence with its place (from 0) and its values by column."""

    index: int  # type: ignore[assignment]
    word: str
    columns: dict[str, str]


class Sentence(Sequence[str]):
    """An immutable sentence; as a sequence it is its words.

    Parameters
    ----------
    words : the words (the FORM column), at least none
    columns : every other column by name, one value for each word
    path : the file it came from, for messages

    Attributes
    ----------
    words : tuple of str
    columns : mapping of column name to a tuple of str as long as ``words``
    path : str
    layout : what the format that read it keeps for writing it back, or None

    Two sentences are equal if their words and columns are, wherever they came from.

    Raises
    ------
    ArgumentTypeError : a word or value that is not a str, or a str in place of a list
    ArgumentError : a column not as long as ``words``, a bad column name, or text that UTF-8 cannot
        encode (a lone surrogate)

    >>> Sentence(["The", "dog"], {"upos": ["DET", "NOUN"]}).column("upos")
    ('DET', 'NOUN')
    """

    __slots__ = ("_lines", "columns", "layout", "path", "words")

    words: tuple[str, ...]
    columns: Mapping[str, tuple[str, ...]]
    path: str
    layout: Layout | None
    _lines: Sequence[int] | int

    def __init__(
        self,
        words: Sequence[str],
        columns: Mapping[str, Sequence[str]] | None = None,
        *,
        path: str = IN_MEMORY,
    ) -> None:
        checked = _strings("words", words)
        _fill(self, checked, _checked_columns(columns, len(checked)), path, 0, None)

    @classmethod
    def from_reader(
        cls,
        words: tuple[str, ...],
        columns: Mapping[str, tuple[str, ...]],
        path: str,
        lines: Sequence[int] | int,
        layout: Layout | None,
    ) -> Sentence:
        """Return a sentence of parts already checked by the reader of a format.

        ``lines`` is the 1-based line of each word, or one number if all words stand on the same
        line.
        """
        sentence = cls.__new__(cls)
        _fill(sentence, words, columns, path, lines, layout)
        return sentence

    def line_of(self, index: int) -> int:
        """Return the line, from 1, of word ``index``, from 0; 0 if it is from no file."""
        if isinstance(self._lines, int):
            self.words[index]
            return self._lines
        return self._lines[index]

    def column(self, name: str) -> tuple[str, ...]:
        """Return the values of a column, one for each word.

        ``form`` is the words themselves. What else counts as a name is up to the format: CoNLL-U
        takes its column names in any case and 1-based numbers, column files their names and
        numbers, ``word/TAG`` text takes any name for its only column of tags.

        Raises FormatError, naming the file, the column and those there are.
        """
        if name in self.columns:
            return self.columns[name]
        actual = None if self.layout is None else self.layout.alias(name)
        if name == "form" or actual == "form":
            return self.words
        if actual is not None:
            return self.columns[actual]
        if not self.columns:
            message = f"no column {quote(name)}; there are words without labels"
        else:
            there = ", ".join(["form", *self.columns])
            message = f"no column {quote(name)}; there are: {there}"
            if "2" in self.columns:
                message += "; fields names them, such as form,xpos,chunk"
        raise FormatError(message, self.path)

    def token(self, index: int) -> Token:
        """Return word ``index`` with its values in every column."""
        values = {name: column[index] for name, column in self.columns.items()}
        return Token(index, self.words[index], values)

    def tokens(self) -> Iterator[Token]:
        """Return every word with its values in every column."""
        return (self.token(index) for index in range(len(self.words)))

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __getitem__(self, index: Any) -> Any:
        return self.words[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sentence):
            return NotImplemented
        return self.words == other.words and self.columns == other.columns

    def __hash__(self) -> int:
        return hash(self.words)

    def __repr__(self) -> str:
        names = f", columns: {', '.join(self.columns)}" if self.columns else ""
        shown = " ".join(self.words[:8]) + (" …" if len(self.words) > 8 else "")
        return f"<Sentence of {len(self.words)} words: {quote(shown)}{names}>"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Sentence does not change; cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Sentence does not change; cannot delete {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        # A mapping proxy does not pickle.
        proxy = isinstance(self.columns, MappingProxyType)
        columns = dict(self.columns) if proxy else self.columns
        parts = (self.words, columns, self.path, self._lines, self.layout)
        return Sentence.from_reader, parts


def words_of(sentence: Sequence[str]) -> Sequence[str]:
    """Return the words of a sentence, which may be a Sentence or words alone."""
    return sentence.words if isinstance(sentence, Sentence) else list(sentence)


def with_columns(words: Sequence[str], columns: Mapping[str, tuple[str, ...]]) -> Sentence:
    """Return a sentence with further columns, checked already."""
    if isinstance(words, Sentence):
        return Sentence.from_reader(
            words.words, {**words.columns, **columns}, words.path, 0, words.layout
        )
    return Sentence.from_reader(tuple(words), columns, "", 0, None)


def _fill(
    sentence: Sentence,
    words: tuple[str, ...],
    columns: Mapping[str, tuple[str, ...]],
    path: str,
    lines: Sequence[int] | int,
    layout: Layout | None,
) -> None:
    put = object.__setattr__
    put(sentence, "words", words)
    put(sentence, "columns", columns)
    put(sentence, "path", path)
    put(sentence, "_lines", lines)
    put(sentence, "layout", layout)


def _strings(name: str, values: Sequence[str]) -> tuple[str, ...]:
    if isinstance(values, (str, bytes)):
        raise ArgumentTypeError(f"{name}: a list of words is needed, not one {_kind(values)}")
    try:
        checked = tuple(values)
    except TypeError as error:
        raise ArgumentTypeError(f"{name}: a list of str is needed, not {_kind(values)}") from error
    for index, value in enumerate(checked):
        if not isinstance(value, str):
            raise ArgumentTypeError(f"{name}[{index}]: a str is needed, not {_kind(value)}")
    if not {*map(type, checked)} <= {str}:
        # Of NumPy, or members of an Enum, which are formatted otherwise.
        checked = tuple(v if v is NO_LABEL else str.__str__(v) for v in checked)
    try:
        "".join(checked).encode("utf-8")
    except UnicodeEncodeError as error:
        bad = next(i for i, value in enumerate(checked) if not encodable(value))
        raise ArgumentError(
            f"{name}[{bad}]: {quote(checked[bad])} holds a lone surrogate, which is not text"
        ) from error
    return checked


def _checked_columns(
    columns: Mapping[str, Sequence[str]] | None, length: int
) -> Mapping[str, tuple[str, ...]]:
    if columns is None:
        return _NO_COLUMNS
    if not isinstance(columns, Mapping):
        raise ArgumentTypeError(
            f"columns: a mapping of name to values is needed, not {_kind(columns)}"
        )
    checked = {}
    for name, values in columns.items():
        if not isinstance(name, str):
            raise ArgumentTypeError(f"columns: a name must be a str, not {_kind(name)}")
        if not name or name == "form":
            raise ArgumentError(f"columns: {quote(name)} cannot name a column but the words")
        checked[name] = _strings(f"columns[{quote(name)}]", values)
        if len(checked[name]) != length:
            raise ArgumentError(
                f"columns[{quote(name)}]: {len(checked[name])} values for {length} words"
            )
    return MappingProxyType(checked)


def _kind(value: object) -> str:
    return type(value).__name__
