"""Columns filled in from bytes to bytes, without a Python object for each token.

CoNLL-U stays as it is but for the columns; running text becomes CoNLL-U, ``word/TAG`` or arrays.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain, starmap
from typing import TYPE_CHECKING, TypeVar

from perceptron_nlp._checks import check_text
from perceptron_nlp._core.text.cutter import CutText
from perceptron_nlp._core.text.sentences import WordMaker
from perceptron_nlp._core.text.writer import TextFiller, is_text, may_have_gap
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.formats import CONLLU_COLUMNS, wrong_conllu_value
from perceptron_nlp.formats.lines import TEXT_END
from perceptron_nlp.formats.opening import BOM
from perceptron_nlp.tagger.tag.label import Labeler
from perceptron_nlp.tagger.tag.segment import Rest, Segmenter, is_worth_cutting
from perceptron_nlp.text.atoms import LONG_GAP, LineCount, with_gaps_shortened
from perceptron_nlp.text.layout import wrong_tag
from perceptron_nlp.text.scripts import parse_script

if TYPE_CHECKING:
    from perceptron_nlp.formats import Corpus
    from perceptron_nlp.tagger.tag.text import LabeledText

PIECE = 1 << 18
"""Bytes that are read at a time."""
_PARAGRAPH_ENDS = (b"\n\n", b"\n\r\n", TEXT_END)
# Bytes of text without an empty line that are cut before one comes, if nothing is waited for.
_LONG_PARAGRAPH = 1 << 19
T = TypeVar("T")


class TextFill:
    """Writes running text as CoNLL-U, or as ``word/TAG``; several threads may use it.

    segmenter : what cuts it
    filler : what labels and writes what was cut: the `words_filler` of `labelers`
    labelers : by column, what labels it; CoNLL-U can hold their labels (conllu_holds)
    written : the columns that are asked for

    Attributes
    ----------
    labels : the columns but that of lemmas, in their order, and what each writes for its labels
    can_tag : whether ``word/TAG`` can hold what it gives: one column, no label of which is empty or
        holds a space or a slash
    """

    def __init__(
        self,
        segmenter: Segmenter,
        filler: TextFiller,
        labelers: Mapping[str, Labeler],
        written: Sequence[str],
    ) -> None:
        self._cutter, self._cut_pieces = segmenter.cutter, segmenter.cut_pieces
        self._filler = filler
        self._maker = WordMaker(tuple(written))
        self.labels = {
            name: labeler.written_labels
            for name, labeler in labelers.items()
            if not labeler.gives_lemmas
        }
        self.can_tag = len(self.labels) == len(labelers) == 1 and not any(
            wrong_tag(label) for own in self.labels.values() for label in own
        )

    def pieces(self, text: str, *, whole: bool = False, threads: int = 1) -> Iterator[LabeledText]:
        """Yield a text, which may be any str, with labels: some paragraphs at a time, or all.

        They do not depend on how many threads there are, to which a text of one piece gives nothing
        to do.
        """
        cut = self._cut_pieces(text, len(text) if whole else PIECE)
        if whole or threads == 1 or len(text) <= PIECE:
            yield from starmap(self._labeled, cut)
            return
        # Here, since it brings logging in, and one thread does without.
        from concurrent.futures import Future, ThreadPoolExecutor

        with ThreadPoolExecutor(threads) as pool:
            labeled: deque[Future[LabeledText]] = deque()
            for begin, found in cut:
                labeled.append(pool.submit(self._labeled, begin, found))
                if len(labeled) > threads:
                    yield labeled.popleft().result()
            while labeled:
                yield labeled.popleft().result()

    def streamed(self, pieces: Iterable[str]) -> Iterator[tuple[str, LabeledText]]:
        """Yield the sentences of a text in pieces as soon as each is certain.

        Returns
        -------
        what is held of the text, from where the sentences are counted, and these
        """
        rest: Rest = (b"", 0)
        text, begin, seen = "", 0, 0
        for piece in chain(pieces, [None]):
            if piece is not None:
                check_text(piece)
                text += piece
                if not is_worth_cutting(len(text), seen):
                    continue
            encoded = text.encode("utf-8", "surrogatepass")
            found = self._cutter.cut_text(encoded, piece is None, *rest)
            taken, rest = found.taken[1], found.rest
            if found.n_sentences:
                yield text, self._labeled(begin, found)
            else:
                self._cutter.give_back(found)
            text, begin = text[taken:], begin + taken
            seen = len(text)

    def _labeled(self, begin: int, cut: CutText) -> LabeledText:
        # Here, since what is written as bytes does without.
        from perceptron_nlp.tagger.tag.text import LabeledText

        sentences, places, first, ends, forms, labels, lemmas = self._filler.labeled(cut)
        self._cutter.give_back(cut)
        numbered = dict(
            zip(self.labels, zip(labels, self.labels.values(), strict=True), strict=True)
        )
        return LabeledText(
            self._maker, begin, sentences, places, first, ends, forms, numbered, lemmas, {}
        )

    def texts(
        self, source: Corpus, numbers: Callable[[int], int], threads: int = 1
    ) -> Iterator[bytes]:
        """Yield a text as CoNLL-U, piece by piece; what is no UTF-8 stays in the source.

        The bytes do not depend on how many threads there are.

        numbers : from how many sentences follow to the number of the first of them
        """

        def write(found: CutText) -> Callable[[], bytes]:
            return partial(self._filler.conllu, found, numbers(found.n_sentences))

        return self._written(source, write, threads)

    def tagged(self, source: Corpus, threads: int = 1) -> Iterator[bytes]:
        """Yield a text as ``word/TAG``, a sentence a line, otherwise like `texts`.

        Spaces within words become no-break spaces; without columns, lines are words alone. Raises
        ArgumentError unless there are none, or `can_tag`.
        """
        if self.labels and not self.can_tag:
            raise ArgumentError("columns: word/TAG cannot hold these columns; write CoNLL-U")
        return self._written(source, lambda found: partial(self._filler.tagged, found), threads)

    def _written(
        self, source: Corpus, write: Callable[[CutText], Callable[[], bytes]], threads: int
    ) -> Iterator[bytes]:
        """Yield what is written of each part of a text, in order.

        write : from a part to what writes it; asked in the order of the text
        """

        def done(found: CutText, write_it: Callable[[], bytes]) -> bytes:
            text = write_it()
            self._cutter.give_back(found)
            return text

        if threads == 1:
            for found in self._cut(source, self._cutter.cut_text, lambda found: found):
                if found is not None:
                    yield done(found, write(found))
            return
        from concurrent.futures import Future, ThreadPoolExecutor

        def kept(found: CutText) -> Future[CutText]:
            future: Future[CutText] = Future()
            future.set_result(found)
            return future

        with ThreadPoolExecutor(threads) as pool:
            cut: deque[Future[CutText]] = deque()
            written: deque[Future[bytes]] = deque()

            def write_first() -> None:
                found = cut.popleft().result()
                written.append(pool.submit(done, found, write(found)))

            for future in self._cut(
                source, lambda *text: pool.submit(self._cutter.cut_text, *text), kept
            ):
                if future is not None:
                    cut.append(future)
                while cut and (cut[0].done() or len(cut) > threads or future is None):
                    write_first()
                while written and (written[0].done() or len(written) > threads or future is None):
                    yield written.popleft().result()
            while cut:
                write_first()
            while written:
                yield written.popleft().result()

    def _cut(
        self, source: Corpus, cut: Callable[..., T], done: Callable[[CutText], T]
    ) -> Iterator[T | None]:
        """Yield what `cut` makes of runs of paragraphs, or `done` of what had to be cut here.

        None stands where more has to be waited for.
        """
        known: Rest = (b"", 0)
        rest = b""
        at_start = True
        while True:
            if source.is_waiting():
                yield None
            piece = source.take_text(PIECE)
            if not piece:
                break
            if not is_text(piece):
                source.put_back(rest + piece)
                return
            if at_start:
                piece = piece.removeprefix(BOM.encode())
                at_start = False
            text = rest + _without_long_gaps(piece)
            end = max(map(text.rfind, _PARAGRAPH_ENDS))
            if end > 0:
                rest = text[end:]
                yield cut(text[:end], True, *known)
                known = b"", 0
            else:
                rest = text
            if len(rest) > _LONG_PARAGRAPH or (rest and source.is_waiting()):
                found = self._cutter.cut_text(rest, False, *known)
                rest, known = rest[found.taken[0] :], found.rest
                yield done(found)
        yield cut(rest, True, *known)


def conllu_holds(labelers: Mapping[str, Labeler]) -> bool:
    """Return True if CoNLL-U has the columns, and no label or lemma is one that it cannot hold."""
    return all(
        name in CONLLU_COLUMNS[2:] and _are_held(name, one.written_labels, one.gives_lemmas)
        for name, one in labelers.items()
    )


# A model is asked for again with each file.
@lru_cache(maxsize=64)
def _are_held(name: str, labels: tuple[str, ...], are_scripts: bool) -> bool:
    """Return True if CoNLL-U can hold labels, or the lemmas that edit scripts make."""
    made: Iterable[str] = labels
    if are_scripts:
        scripts = map(parse_script, labels)
        made = (one.literal or f"_{one.front}{one.back}" for one in scripts)
    return not any(wrong_conllu_value(name, one) for one in made)


def _without_long_gaps(piece: bytes) -> bytes:
    """Return text in which no stretch of white space is very long."""
    if not may_have_gap(piece, LONG_GAP):
        return piece
    return with_gaps_shortened("", piece.decode(), LineCount()).encode()


def has_all_columns(corpus: Corpus) -> bool:
    """Return True for CoNLL-U of ten columns, which ColumnLabelers.filler can do."""
    return corpus.format == "conllu" and ("id", "form", *corpus.column_names) == CONLLU_COLUMNS
