"""The sentences of CoNLL-U that nothing is unusual in, cut and checked many at a time.

The checks are those of :mod:`perceptron_nlp.formats.conllu_rules`, made on bytes; a sentence that
they cannot be sure of is left to :class:`perceptron_nlp.formats.conllu.ConlluReader`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from perceptron_nlp._core.conllu.conlluscan import ConlluScanner
from perceptron_nlp.formats.conllu_layout import ConlluLayout
from perceptron_nlp.formats.conllu_rules import COLUMNS, GLOBAL_COLUMNS
from perceptron_nlp.formats.lines import LineSource, Scanned
from perceptron_nlp.text.sentence import Sentence

if TYPE_CHECKING:
    from perceptron_nlp._core.conllu.conlluscan import ScannedSentence


_GLOBAL_COLUMNS = GLOBAL_COLUMNS.encode()


class ScannedSentences:
    """Iterating takes the sentences of a source up to the next unusual one; it can be repeated.

    The source has the ten columns of CoNLL-U, but where its first line may say otherwise.
    """

    def __init__(self, source: LineSource) -> None:
        self._source = source
        self._scanner = ConlluScanner()

    def __iter__(self) -> Iterator[Sentence]:
        name = self._source.name
        while taken := self._source.scan(self._take):
            for text, start, line, height, word_rows, words, upos, xpos in taken:
                rows: Sequence[int] = range(height)
                lines: Sequence[int] = range(line, line + height)
                if word_rows is not None:
                    rows = word_rows
                    lines = [line + row for row in word_rows]
                columns = {"upos": upos, "xpos": xpos}
                layout = ConlluLayout(text, (start, len(text) - 1), COLUMNS, rows, columns)
                yield Sentence.from_reader(words, layout, name, lines, layout)

    def _take(self, text: bytearray, line: int) -> Scanned[ScannedSentence]:
        if line == 1 and text.startswith(_GLOBAL_COLUMNS):
            return [], 0, 0, False
        return self._scanner.take(text, line)
