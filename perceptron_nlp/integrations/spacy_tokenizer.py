"""A tokenizer for spaCy that cuts text and sentences as a model has learned to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Self

import numpy as np

import perceptron_nlp as pn
from perceptron_nlp._checks import encodable_text
from perceptron_nlp.errors import missing_extra

try:
    from spacy.attrs import SENT_START
    from spacy.tokens import Doc
except ImportError:
    raise missing_extra("spaCy", "spacy") from None


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
        if segmenter is not None:
            return _doc(self.vocab, text, segmenter.sentences_of(text))
        found = ([(word.start, word.end, ("",)) for word in one] for one in pn.tokenize(text))
        return _doc(self.vocab, text, found)

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
