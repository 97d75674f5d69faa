"""Sources of labeled sentences, to train or evaluate with.

Accepted everywhere: a path (or ``-``), several paths, a Corpus, Sentence objects, pairs
``(words, labels)``, and lists of ``(word, label)`` pairs; a label that is None says that the word
has none.
"""

from __future__ import annotations

import copy
import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, TypeAlias

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, FormatError, quote
from perceptron_nlp.formats import (
    CONLLU_COLUMNS,
    Corpus,
    check_format,
    named_stream,
    names_in,
    open_corpus,
    read_conllu,
)
from perceptron_nlp.text.sentence import NO_LABEL, Sentence
from perceptron_nlp.text.tagset import UNLABELED, known_labels

if TYPE_CHECKING:
    from perceptron_nlp.tagger.model.feature_function import FeatureFunction
    from perceptron_nlp.tagger.model.model import TaggerModel

logger = logging.getLogger("perceptron_nlp")

Labeled: TypeAlias = (
    "str | os.PathLike[str] | Corpus | Sequence[str | os.PathLike[str]] | Iterable[Any]"
)
LabelLists: TypeAlias = "Iterable[Iterable[str | None]]"

_ACCEPTED = (
    "; accepted are paths, a Corpus, Sentence objects, (words, labels) pairs, lists of (word,"
    " label), and lists of words with lists of labels as the next argument"
)

MEMORY_COLUMN = "tag"
# The name that stands for all columns that a treebank fills, and segmentation.
ALL = "all"


class Source:
    """Labeled sentences from wherever they come.

    data : see the module's docstring
    name : the argument's name, for messages
    format, fields : see formats.open_corpus
    usual_fields : names for the columns of column files that have as many and were given none
    function : None, or what adds a column of features to each sentence

    default_column : the column to learn if nobody names one
    column_names : columns besides the words; empty for sentences from memory
    formats : (path, format) of each file
    warnings : those of its corpora, which are logged
    """

    def __init__(
        self,
        data: Labeled,
        name: str,
        *,
        format: str = "auto",
        fields: Sequence[str] | None = None,
        usual_fields: Sequence[str] = (),
        function: FeatureFunction | None = None,
    ) -> None:
        check_format(format)
        names_in(fields)
        self.name = name
        self.corpora: list[Corpus] = []
        self._items: Iterable[Any] = ()
        self._held: list[Sentence] | None = None
        self._texts: list[tuple[str, bytearray]] | None = None
        self._is_kept = False
        self._function = function
        if isinstance(data, str | os.PathLike):
            self.corpora = [open_corpus(data, format=format, fields=fields)]
        elif isinstance(data, Corpus):
            self.corpora = [data]
        elif hasattr(data, "read"):
            raise ArgumentTypeError(f"{name}: is a stream; give perceptron_nlp.open_corpus of it")
        else:
            items = _items_of(data, name, "a path or sentences are needed", _ACCEPTED)
            if items and all(isinstance(item, str | os.PathLike) for item in items):
                self.corpora = [open_corpus(p, format=format, fields=fields) for p in items]
            elif items and all(isinstance(item, Corpus) for item in items):
                self.corpora = items
            else:
                self._items = items
        self.warnings = [warning for corpus in self.corpora for warning in corpus.warnings]
        for warning in self.warnings:
            logger.warning("%s", warning)
        for corpus in self.corpora:
            corpus.take_fields(usual_fields)
        self.formats = [(corpus.path, corpus.format) for corpus in self.corpora]
        self.default_column = (
            self.corpora[0].default_column if self.corpora else self._memory_column()
        )
        self.column_names = self.corpora[0].column_names if self.corpora else ()

    def _memory_column(self) -> str:
        for item in self._items:
            if isinstance(item, Sentence) and item.columns:
                return "upos" if "upos" in item.columns else next(iter(item.columns))
            break
        return MEMORY_COLUMN

    def __iter__(self) -> Iterator[Sentence]:
        """The sentences that have words."""
        if self._is_kept and self._held is None:
            self._held = list(self._read())
        return self._read() if self._held is None else iter(self._held)

    @property
    def fields(self) -> tuple[str, ...] | None:
        """The names that the columns of its column files were given, if any were."""
        return next(filter(None, (corpus.fields for corpus in self.corpora)), None)

    def hold(self) -> None:
        """Keep what is read, so that it can be gone over again, a stream too."""
        self._is_kept = True

    def followed_by(self, other: Source) -> Source:
        """Return a source of these sentences and then of another's; both can be gone over again."""
        both, texts, more = copy.copy(self), self.texts(), other.texts()
        both.corpora = [*self.corpora, *other.corpora]
        both.warnings = [*self.warnings, *other.warnings]
        if texts is not None and more is not None:
            both.take([*texts, *more])
        else:
            both._held = [*self, *other]
        return both

    def parted(self, numbers: Iterable[int]) -> tuple[Source, Source]:
        """Return a source of all sentences but some, given by their numbers, and one of these."""
        rest, part, chosen, sentences = copy.copy(self), copy.copy(self), {*numbers}, list(self)
        rest._texts = part._texts = None
        rest._held = [one for number, one in enumerate(sentences) if number not in chosen]
        part._held = [one for number, one in enumerate(sentences) if number in chosen]
        part.warnings = []
        return rest, part

    def texts(self) -> list[tuple[str, bytearray]] | None:
        """The name and the bytes of each file, if all are CoNLL-U of ten columns; else None.

        Nothing is used up: the files can still be read sentence by sentence.
        """
        if self._texts is not None:
            return self._texts
        if (
            self._held is not None
            or self._function is not None
            or not self.corpora
            or not all(map(has_ten_columns, self.corpora))
        ):
            return None
        found: list[tuple[str, bytearray]] = []
        for corpus in self.corpora:
            text = corpus.peek_text()
            if text is None:
                return None
            found.append((corpus.path, text))
        return found

    def take(self, texts: list[tuple[str, bytearray]]) -> None:
        """Go on with what `texts` gave, which is known to be right, in place of the files."""
        self._texts = texts
        for corpus in self.corpora:
            corpus.close()

    def _read(self) -> Iterator[Sentence]:
        if self._function is None:
            return self._as_given()
        return map(self._function.added_to, self._as_given())

    def _as_given(self) -> Iterator[Sentence]:
        if self._texts is not None:
            yield from read_texts(self._texts)
            return
        for corpus in self.corpora:
            yield from (sentence for sentence in corpus if sentence.words)
        for number, item in enumerate(self._items):
            sentence = _from_memory(item, f"{self.name}[{number}]")
            if sentence.words:
                yield sentence

    def column_named(self, column: str) -> str:
        """The name of a column that is given by its number; a name as it is."""
        if not isinstance(column, str):
            raise ArgumentTypeError(
                f"column: the name of one column is needed, as a str, not {type(column).__name__}"
            )
        return self.corpora[0].column_named(column) if self.corpora else column

    @property
    def place(self) -> str:
        """Its name in messages about the whole: its files, or the argument's name."""
        return ", ".join(corpus.path for corpus in self.corpora) or self.name


def has_ten_columns(corpus: Corpus) -> bool:
    """Return True for CoNLL-U, and False for CoNLL-U Plus and all else."""
    return corpus.format == "conllu" and corpus.column_names == CONLLU_COLUMNS[2:]


def read_texts(texts: Iterable[tuple[str, bytearray]]) -> Iterator[Sentence]:
    """The sentences of CoNLL-U texts that are known to be right, by name and bytes."""
    for name, text in texts:
        yield from read_conllu(named_stream(text, name))


def with_labels(data: Any, labels: LabelLists | None, name: str) -> Labeled:
    """Return lists of words, each with its list of labels; the data if there are no labels.

    Raises ArgumentTypeError for anything but lists of words and lists of labels; ArgumentError if
    their numbers differ; the message names the first that do.
    """
    if labels is None:
        return data  # type: ignore[no-any-return]
    if isinstance(data, str | os.PathLike | Corpus):
        raise ArgumentTypeError(
            f"labels: are for lists of words; {name} is a {type(data).__name__}, which has its own"
        )
    wanted = "a list of words for each sentence is needed"
    sentences = [
        _items_of(item, f"{name}[{k}]", "a list of words, without labels, is needed")
        for k, item in enumerate(_items_of(data, name, wanted))
    ]
    wanted = "a list of labels for each sentence is needed"
    columns = [
        _items_of(item, f"labels[{k}]", "a list of labels is needed")
        for k, item in enumerate(_items_of(labels, "labels", wanted))
    ]
    for k, (words, own) in enumerate(zip(sentences, columns, strict=False)):
        if len(words) != len(own):
            raise ArgumentError(f"labels[{k}]: {len(own)} labels for {len(words)} words")
    if len(sentences) != len(columns):
        raise ArgumentError(
            f"labels: {len(columns)} lists of labels for {len(sentences)} sentences"
        )
    return list(zip(sentences, columns, strict=True))


def _items_of(data: Any, name: str, wanted: str, accepted: str = "") -> list[Any]:
    """Return the items of something to go over in order."""
    is_table = isinstance(data, Mapping) or (
        hasattr(data, "columns") and not isinstance(data, Sequence)
    )
    wrong = is_table or isinstance(data, str | bytes | Set | Sentence)
    if wrong or not isinstance(data, Iterable):
        kind = type(data)
        package = kind.__module__.partition(".")[0]
        called = kind.__name__ if package == "builtins" else f"{package}'s {kind.__name__}"
        hint = (
            '; name its columns, as in (table["words"], table["labels"])' if is_table else accepted
        )
        raise ArgumentTypeError(f"{name}: {wanted}, not {called}{hint}")
    return list(data)


def _from_memory(item: Any, name: str) -> Sentence:
    if isinstance(item, Sentence):
        return item
    if isinstance(item, tuple) and len(item) == 2 and not isinstance(item[0], str):
        words, labels = item
    else:
        try:
            pairs = (
                None
                if isinstance(item, str | bytes | Mapping)
                else [() if isinstance(pair, str) else tuple(pair) for pair in item]
            )
        except TypeError:
            pairs = None
        if pairs is None or any(len(pair) != 2 for pair in pairs):
            raise ArgumentTypeError(
                f"{name}: a Sentence, (words, labels) or a list of (word, label) is needed,"
                f" not {quote(item)}"
            )
        words, labels = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    try:
        if isinstance(labels, Iterable) and not isinstance(labels, str | bytes):
            labels = [NO_LABEL if label is None else label for label in labels]
        return Sentence(words, {MEMORY_COLUMN: labels}, path=name)
    except (ArgumentError, ArgumentTypeError) as error:
        raise type(error)(f"{name}: {error}") from None


def gold_labels(sentence: Sentence, column: str) -> Sequence[str | None]:
    """The labels of a column, None where a word has none."""
    if column not in sentence.columns and set(sentence.columns) == {MEMORY_COLUMN}:
        column = MEMORY_COLUMN
    labels = sentence.column(column)
    if column == MEMORY_COLUMN and any(label is NO_LABEL for label in labels):
        return [None if label is NO_LABEL else label for label in labels]
    return known_labels(column, labels)


def gold_for(
    model: TaggerModel, sentences: Sequence[Sentence], column: str
) -> list[Sequence[str | None]]:
    """The labels of a column that a model fills, None where a word has none.

    If ``_`` is a label of the model, it is one here, too, unless there is nothing else.
    """
    gold = [gold_labels(sentence, column) for sentence in sentences]
    is_label = UNLABELED in model.tags and model.lemmas is None
    if not is_label or all(label is None for labels in gold for label in labels):
        return gold
    return [
        sentence.columns.get(column, labels)
        for sentence, labels in zip(sentences, gold, strict=True)
    ]


def check_labeled(count: int, source: Source, column: str) -> None:
    """Raise FormatError where no word has a label."""
    if count == 0:
        raise FormatError(
            f"no word has a label in column {quote(column)}: every one is {UNLABELED},"
            " or there are no words",
            source.place,
        )


def named_columns(column: object) -> tuple[str, ...]:
    """Return the names in an argument `column`: one, several with commas, a list, or none.

    Raises ArgumentTypeError, ArgumentError if it is no name and no list of names, or one is empty.
    """
    if column is None:
        return ()
    if isinstance(column, str):
        names: Sequence[object] = [name.strip() for name in column.split(",")]
    elif isinstance(column, Sequence) and not isinstance(column, bytes):
        names = column
    else:
        raise ArgumentTypeError(
            f"column: a str is needed, or a list of them, not {type(column).__name__}"
        )
    found = []
    for name in names:
        if not isinstance(name, str):
            raise ArgumentTypeError(f"column: a name is a str, not {type(name).__name__}")
        found.append(name)
    if not found or not all(found):
        raise ArgumentError("column: it is empty; give a column's name, or leave it out")
    return tuple(found)


def learned_columns(names: Sequence[str], source: Source) -> tuple[str, ...]:
    """Return the columns to learn from a text: those named, or the default one of its format.

    Raises FormatError if none is named, and the text has none; ArgumentError if a column is named
    twice, or is one of those that are given.
    """
    wanted = tuple(map(source.column_named, names))
    if not wanted:
        if source.default_column is None:
            raise FormatError(
                "read as plain text, which has no labels to learn from; if it is labeled, say its"
                " format",
                source.corpora[0].path if source.corpora else source.place,
            )
        wanted = (source.default_column,)
    for name in wanted:
        if name in ("id", "form"):
            raise ArgumentError(
                f"column: {name} is given, not learned; name the column of the labels"
            )
        if wanted.count(name) > 1:
            raise ArgumentError(f"column: {quote(name)} is named twice")
    return wanted
