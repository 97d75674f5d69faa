"""datatrove's word tokenizer, answered by this library: ``language=PerceptronTokenizer("en")``.

datatrove's filters and statistics take a WordTokenizer where they take the name of a language. This
one cuts text as a model has learned to, without spaCy or NLTK.
"""

from __future__ import annotations

from typing import Any

import perceptron_nlp as pn
from perceptron_nlp.errors import missing_extra

try:
    from datatrove.utils.word_tokenizers import WordTokenizer
except ImportError:
    raise missing_extra("datatrove", "datatrove") from None


class PerceptronTokenizer(WordTokenizer):
    """Words and sentences of texts, cut by a model (`Tagger.segmenter`).

    model : what ``perceptron_nlp.load`` takes; opened by each worker when it is first needed

    The methods raise FileError or ModelError if the model cannot be opened.
    """

    def __init__(self, model: str = "en") -> None:
        super().__init__(model)
        self._opened: pn.Tagger | None = None

    def word_tokenize(self, text: str) -> list[str]:
        """Return the words of a text; a French *du*, which is two, is one as it stands there."""
        words: list[str] = self._segmenter.words_of(text)
        return words

    def sent_tokenize(self, text: str) -> list[str]:
        """Return the sentences of a text."""
        return [text[start:end] for start, end in self.span_tokenize(text)]

    def span_tokenize(self, text: str) -> list[tuple[int, int]]:
        """Return where the sentences of a text stand, as datatrove's other tokenizers do."""
        spans: list[tuple[int, int]] = self._segmenter.spans_of(text)
        return spans

    @property
    def _segmenter(self) -> Any:
        self._opened = self._opened or pn.load(self.language)
        return self._opened.segmenter

    def __getstate__(self) -> dict[str, Any]:
        # Workers open the model themselves.
        return {**self.__dict__, "_opened": None}
