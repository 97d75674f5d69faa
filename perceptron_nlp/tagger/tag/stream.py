"""Running text that comes in pieces: its sentences, cut and labeled, each as soon as it is over."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from perceptron_nlp._checks import check_text
from perceptron_nlp._core.text.sentences import TextWord
from perceptron_nlp.tagger.tag.label import Labeled
from perceptron_nlp.tagger.tag.segment import Segmenter, TokenSpan
from perceptron_nlp.tagger.tag.text import LabeledText, TextSentence, labeled_batches

_LETTER = re.compile(r"\S")


def stream_sentences(
    pieces: Iterable[str],
    segmenter: Segmenter,
    label: Callable[..., Mapping[str, Labeled]],
    window: int,
) -> Iterator[TextSentence]:
    """Yield the sentences of all pieces in one, and ask for a piece when they take it.

    segmenter : what cuts the text
    label, window : see labeled_batches
    """
    source = _Pieces(pieces)
    texts: deque[str] = deque()

    def cut() -> Iterator[list[TokenSpan]]:
        for _, text, tokens, _ in segmenter.sentences_in(source.taken()):
            own, spans = source.placed(text, tokens)
            texts.append(own)
            yield spans

    for found in labeled_batches(cut(), label, window, 1):
        yield from found.maker.sentences(
            lambda _, words: TextSentence(texts.popleft(), words), "", found
        )


def filled_sentences(parts: Iterable[tuple[str, LabeledText]]) -> Iterator[TextSentence]:
    """Yield sentences that TextFill.streamed cut and labeled."""
    for text, found in parts:
        begin = found.begin

        def make(
            _: str, words: Sequence[TextWord], text: str = text, begin: int = begin
        ) -> TextSentence:
            return TextSentence(text[words[0].start - begin : words[-1].end - begin], words)

        yield from found.maker.sentences(make, "", found)


class _Pieces:
    """A text in pieces, of which so much is held as may still be asked for."""

    def __init__(self, pieces: Iterable[str]) -> None:
        self._pieces = pieces
        self._text = ""
        # Characters before the text that is held, and those of it that sentences have taken.
        self._before = self._done = 0

    def taken(self) -> Iterator[str]:
        """Yield the pieces; ArgumentTypeError for what is no str."""
        for piece in self._pieces:
            check_text(piece)
            found = _LETTER.search(self._text, self._done)
            gone = len(self._text) if found is None else found.start()
            self._text, self._before = self._text[gone:] + piece, self._before + gone
            self._done = 0
            yield piece

    def placed(
        self, text: str, tokens: Sequence[TokenSpan]
    ) -> tuple[str, list[tuple[int, int, tuple[str, ...]]]]:
        """Return the next sentence as it stands, and its tokens with their places in the whole.

        text, tokens : the same where a long stretch of white space may be shorter
        """
        found = _LETTER.search(self._text, self._done)
        begin = 0 if found is None else found.start()
        places: Sequence[int] = range(begin, begin + len(text))
        if not self._text.startswith(text, begin):
            letters = _LETTER.finditer(self._text, begin)
            places = [begin if letter.isspace() else next(letters).start() for letter in text]
        self._done = places[-1] + 1
        spans = [
            (self._before + places[start], self._before + places[end - 1] + 1, words)
            for start, end, words in tokens
        ]
        return self._text[begin : self._done], spans
