"""Raw text: sentences without labels, in words, to learn from what words stand among."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, FormatError
from perceptron_nlp.formats import Corpus, open_corpus
from perceptron_nlp.tagger.tag.wordbytes import word_bytes

RawSource: TypeAlias = (
    "str | os.PathLike[str] | Corpus | Iterable[str | os.PathLike[str] | Corpus | Sequence[str]]"
)

# Where fewer of its words are in the training text, it is hardly the same language.
FEW_KNOWN = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class RawText:
    """Sentences of raw text.

    Attributes
    ----------
    sentences : the words of each, equal words being the same object
    n_tokens : how many words they have together
    digest : SHA-256 of the words, in hexadecimal
    """

    sentences: list[list[str]]
    n_tokens: int
    digest: str

    @classmethod
    def read(cls, source: RawSource) -> RawText:
        """Read everything.

        Parameters
        ----------
        source : a path or a Corpus, or several, or lists of words (a Sentence is one). A file has
            a sentence a line, its words parted by spaces; of a CoNLL-U file the words are taken

        Raises
        ------
        FileError : a file cannot be read
        FormatError : with file:line; also where there are no words
        ArgumentTypeError : something other than paths or lists of words
        """
        same: dict[str, str] = {}
        digest = hashlib.sha256()
        sentences, n_tokens = [], 0
        for words in raw_sentences(source):
            sentences.append([same.setdefault(word, word) for word in words])
            n_tokens += len(words)
            digest.update(word_bytes("\t".join(words) + "\n"))
        if not n_tokens:
            raise FormatError(
                "there are no words in the raw text; give text, a sentence a line, or leave it out",
                place_of(source),
            )
        return cls(sentences, n_tokens, digest.hexdigest())

    def known_share(self, words: Iterable[str]) -> float:
        """Share of its words that are among others, whatever their case."""
        known = {word.lower() for word in words}
        lowered: dict[str, bool] = {}
        found = 0
        for sentence in self.sentences:
            for word in sentence:
                if word not in lowered:
                    lowered[word] = word.lower() in known
                found += lowered[word]
        return found / self.n_tokens


def raw_sentences(source: Any) -> Iterator[Sequence[str]]:
    """The words of each sentence, as they are read; see RawText.read."""
    if isinstance(source, str | os.PathLike):
        yield from (sentence.words for sentence in _opened(source))
    elif isinstance(source, Corpus):
        yield from (sentence.words for sentence in source)
    elif isinstance(source, bytes) or not isinstance(source, Iterable):
        raise ArgumentTypeError(
            f"raw: a path or lists of words are needed, not {type(source).__name__}"
        )
    else:
        for number, item in enumerate(source):
            if isinstance(item, str | os.PathLike | Corpus):
                yield from raw_sentences(item)
            else:
                yield _words(item, number)


def _opened(path: str | os.PathLike[str]) -> Corpus:
    """CoNLL-U where it is that; else a sentence a line, even if there are slashes in its words."""
    corpus = open_corpus(path)
    if corpus.format == "text":
        corpus.read_as("lines")
    if corpus.format in ("conllu", "lines"):
        return corpus
    corpus.close()
    if os.fspath(path) == "-":
        raise ArgumentError(
            "raw: standard input must be text with a sentence a line; it was read"
            f" as {corpus.format}"
        )
    return open_corpus(path, format="lines")


def _words(item: Any, number: int) -> Sequence[str]:
    if isinstance(item, bytes) or not isinstance(item, Iterable):
        raise ArgumentTypeError(
            f"raw[{number}]: a list of words is needed, not {type(item).__name__}"
        )
    words = list(item)
    for word in words:
        if not isinstance(word, str):
            raise ArgumentTypeError(f"raw[{number}]: a word is a str, not {type(word).__name__}")
    return words


def place_of(source: Any) -> str:
    """What messages about all of the raw text call it: its files, or the argument's name."""
    items = [source] if isinstance(source, str | os.PathLike | Corpus) else source
    paths = [
        item.path if isinstance(item, Corpus) else os.fspath(item)
        for item in items
        if isinstance(item, str | os.PathLike | Corpus)
    ]
    return ", ".join(paths) or "raw"
