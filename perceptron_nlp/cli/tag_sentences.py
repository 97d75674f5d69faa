"""Sentences tagged in batches, or as bytes of CoNLL-U, and marks that are added to MISC.

Running text without marks is tagged by the core alone, and does without this.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import perceptron_nlp as pn
from perceptron_nlp import formats
from perceptron_nlp._checks import check_number
from perceptron_nlp.text.tagset import UNLABELED

if TYPE_CHECKING:
    from concurrent.futures import Future

    from perceptron_nlp._core.conllu.splice import ConlluFiller

# What is held at a time: enough sentences to keep the core busy, few enough to stay small.
BATCH_SENTENCES = 1024
BATCH_WORDS = 1 << 15
BATCH_CHARACTERS = 1 << 22
PIECE_BYTES = 1 << 18
CONFIDENCE, UNKNOWN, MISC = "Conf", "Unknown", "misc"
# Entries of the cache of known words.
_REMEMBERED = 1 << 16
# Sentences of a file that are searched for labels.
_LOOKED_AT = 1000
Columns = list[dict[str, list[str]]]
"""Of each sentence its columns that are filled in."""


class Marks:
    """Attributes of MISC that tagging adds, and labels that it leaves open.

    Attributes of the same name are replaced.

    confidence : whether ``Conf=0.9731`` is added to each token that is labeled; if several columns
        are filled, ``Conf[upos]=0.9731`` for each of them. A token whose label is kept stays as it
        is
    unknown : whether ``Unknown=Yes`` is added to tokens that were not in the training text, and
        taken from all others
    least : labels whose confidence is below are left open, as an underscore; None: none are

    Attributes
    ----------
    in_misc : whether anything is added to MISC
    reads_confidences : whether confidences are needed
    """

    def __init__(self, *, confidence: bool, unknown: bool, least: float | None) -> None:
        if least is not None:
            check_number("min_confidence", least, 0, 1)
        self._confidence = confidence
        self._unknown = unknown
        self._least = least
        self.in_misc = confidence or unknown
        self.reads_confidences = confidence or least is not None

    def check(self, corpus: pn.Corpus, chosen: Mapping[str, pn.Tagger], written: str) -> None:
        """Raise if the marks cannot be written into a text of this format, or not be known."""
        if not chosen:
            raise pn.ArgumentError("confidence: text alone is cut, and no token gets a label")
        # Raises ModelError unless they are calibrated.
        for tagger in chosen.values() if self.reads_confidences else ():
            tagger.tag_sents([], confidences=True)
        if not self.in_misc:
            return
        option = "confidence" if self._confidence else "mark_unknown"
        if written == "jsonl" and not self._unknown and self._least is None:
            return
        if written != "conllu":
            how = "is" if written == corpus.format else "is written as"
            raise pn.ArgumentError(
                f"{option}: {corpus.path} {how} {written}, which has no place for it; it goes into"
                " MISC, which CoNLL-U has"
            )
        if corpus.format == "conllu" and MISC not in corpus.column_names:
            raise pn.ArgumentError(f"{option}: {corpus.path} has no column MISC to write it into")
        if MISC in chosen:
            raise pn.ArgumentError(f"{option}: it goes into MISC, which is filled with labels")

    def add(
        self,
        batch: Sequence[pn.Sentence],
        columns: Columns,
        chosen: Mapping[str, pn.Tagger],
        confidences: Mapping[str, Sequence[Sequence[float]]],
        kept: Mapping[str, Sequence[Sequence[str | None]]],
    ) -> None:
        """Write the marks into the columns of sentences, and leave labels open."""
        for name, rows in confidences.items() if self._least is not None else ():
            for filled, row in zip(columns, rows, strict=True):
                filled[name] = [
                    label if confidence >= (self._least or 0) else UNLABELED
                    for label, confidence in zip(filled[name], row, strict=True)
                ]
        for name, rows in confidences.items() if self._confidence else ():
            key = CONFIDENCE if len(chosen) == 1 else f"{CONFIDENCE}[{name}]"
            for number, (sentence, filled, own) in enumerate(
                zip(batch, columns, rows, strict=True)
            ):
                misc = _misc_of(sentence, filled)
                for at, confidence in enumerate(own):
                    if name not in kept or kept[name][number][at] is None:
                        misc[at] = formats.with_misc(misc[at], key, f"{confidence:.4f}")
        if not self._unknown:
            return
        knows = lru_cache(_REMEMBERED)(next(iter(chosen.values())).model.knows)
        for sentence, filled in zip(batch, columns, strict=True):
            misc = _misc_of(sentence, filled)
            for at, word in enumerate(sentence.words):
                misc[at] = (
                    formats.without_misc(misc[at], UNKNOWN)
                    if knows(word)
                    else formats.with_misc(misc[at], UNKNOWN, "Yes")
                )


def _misc_of(sentence: pn.Sentence, filled: dict[str, list[str]]) -> list[str]:
    """Return the values of MISC that the sentence is filled with; at first its own."""
    if MISC not in filled:
        layout = sentence.layout
        if layout is not None and layout.format == "text":
            filled[MISC] = formats.space_after(sentence)
        else:
            filled[MISC] = list(sentence.column(MISC)) if sentence.words else []
    return filled[MISC]


def has_labels(corpus: pn.Corpus, columns: Iterable[str]) -> bool:
    """Return True if some of the columns have labels at the beginning of a file."""
    return any(
        label != UNLABELED
        for sentence in islice(corpus, _LOOKED_AT)
        for name in map(corpus.column_named, columns)
        if name in sentence.columns
        for label in sentence.columns[name]
    )


def filled(corpus: pn.Corpus, fill: ConlluFiller, threads: int) -> Iterator[bytes | memoryview]:
    """Yield what the core can tag as bytes; the rest of the text stays in the corpus."""
    if threads == 1:
        yield from _filled_in_turn(corpus, fill)
        return
    # Here, since it brings logging in, and one thread does without.
    from concurrent.futures import ThreadPoolExecutor

    waiting: deque[tuple[bytes, Future[bytes | None]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        while True:
            piece = corpus.take_blocks(PIECE_BYTES)
            if piece:
                waiting.append((piece, pool.submit(fill, piece)))
            is_behind = not piece or corpus.is_waiting()
            while waiting and (is_behind or len(waiting) > 2 * threads):
                text = waiting[0][1].result()
                if text is None:
                    corpus.put_back(b"".join(unread for unread, _ in waiting))
                    return
                waiting.popleft()
                yield text
            if not piece:
                return


def _filled_in_turn(corpus: pn.Corpus, fill: ConlluFiller) -> Iterator[bytes | memoryview]:
    memory, filled = bytearray(PIECE_BYTES), bytearray()
    while length := corpus.take_blocks_into(memory):
        with memoryview(memory)[:length] as piece:
            done = fill.into(piece, filled)
            if done is None:
                corpus.put_back(piece)
                return
        with memoryview(filled)[:done] as text:
            yield text


class Batches:
    """Sentences of one text, tagged many at a time; those around are context.

    tagger, corpus : the tagger, and the text, which is opened
    chosen : the tagger of each column to fill
    written : the format that is written
    number : takes up so many sentences and returns the number of the first, of all that are written
    keep : labels that are there stay
    marks : what is made of confidences, and written into MISC
    """

    def __init__(
        self,
        tagger: pn.Tagger,
        corpus: pn.Corpus,
        chosen: Mapping[str, pn.Tagger],
        written: str,
        number: Callable[[int], int],
        *,
        keep: bool,
        marks: Marks | None,
        threads: int,
    ) -> None:
        self._tagger = tagger
        self._corpus = corpus
        self._chosen = chosen
        self._written = written
        self._number = number
        self._keep = keep
        self._marks = marks
        self._threads = threads
        # The number of sentences on either side that are context, at most.
        self._window = max((own.window for own in chosen.values()), default=0)
        self._pending: list[pn.Sentence] = []
        self._pending_words = self._pending_characters = 0
        self._before: list[pn.Sentence] = []

    def add(self, sentence: pn.Sentence) -> bool:
        """Take a sentence up; return True if there are enough to be tagged."""
        self._pending.append(sentence)
        self._pending_words += len(sentence)
        self._pending_characters += _length(sentence)
        return len(self._pending) >= BATCH_SENTENCES * self._threads + self._window or (
            (
                self._pending_words >= BATCH_WORDS * self._threads
                or self._pending_characters >= BATCH_CHARACTERS
            )
            and len(self._pending) > 2 * self._window
        )

    def finished(self, at_end: bool) -> list[str]:
        """Return the texts of the sentences taken up since the last call, tagged.

        Sentences whose context is not read yet wait for it, unless the file is at its end.
        """
        window = self._window
        n_ready = max(0, len(self._pending) - (0 if at_end else window))
        batch, after = self._pending[:n_ready], self._pending[n_ready:]
        if not batch:
            return []
        columns = self._labeled(batch, after)
        seen = [] if at_end else [*self._before, *batch]
        self._before = seen[max(0, len(seen) - window) :]
        self._pending, self._pending_words = after, sum(map(len, after))
        self._pending_characters = sum(map(_length, after))
        return [self._rewritten(*each) for each in zip(batch, columns, strict=True)]

    def _labeled(self, batch: Sequence[pn.Sentence], after: Sequence[pn.Sentence]) -> Columns:
        """Return the columns of sentences that are filled in; see Tagger.tag_sents."""
        kept: dict[str, list[list[str | None]]] = {}
        if self._keep:
            kept = {
                name: [
                    [None if label == UNLABELED else label for label in sentence.column(name)]
                    for sentence in batch
                ]
                for name in self._chosen
            }
        # The only column of a tagger may be written under another name.
        names = {name: tagger.column for name, tagger in self._chosen.items()}
        how: dict[str, Any] = {
            "threads": self._threads,
            "before": self._before,
            "after": after,
            "keep": {names[name]: own for name, own in kept.items()} or None,
            "columns": list(names.values()),
        }
        found: Mapping[str, Sequence[list[str]]] = {}
        confidences: dict[str, Sequence[Sequence[float]]] = {}
        if self._marks is not None and self._marks.reads_confidences:
            both = self._tagger.tag_sents(batch, confidences=True, **how)
            found = {column: labels for column, (labels, _) in both.items()}
            confidences = {name: both[column][1] for name, column in names.items()}
        elif names:
            found = self._tagger.tag_sents(batch, **how)
        columns: Columns = [
            {name: found[column][at] for name, column in names.items()} for at in range(len(batch))
        ]
        if self._marks is not None:
            self._marks.add(batch, columns, self._chosen, confidences, kept)
        return columns

    def _rewritten(self, sentence: pn.Sentence, columns: dict[str, list[str]]) -> str:
        """Return the text of a sentence with its columns."""
        if not sentence.words:
            return self._corpus.rewrite(sentence, {})
        try:
            if self._written != "conllu" or self._corpus.format == "conllu":
                return self._corpus.rewrite(sentence, columns)
            # Several texts make one file, in which each sentence has a name of its own.
            return formats.as_conllu(sentence, columns, self._number(1))
        except pn.ArgumentError as error:
            message = str(error).removeprefix("columns: ")
            raise pn.FormatError(message, sentence.path, sentence.line_of(0)) from error


def _length(sentence: pn.Sentence) -> int:
    """Return the number of characters of a sentence in its file."""
    return 0 if sentence.layout is None else len(sentence.layout.text)


class Records:
    """JSON lines, whose texts are tagged many at a time, in the place of `Batches`.

    tagger : the tagger
    path, field : what messages call the file; where the texts are, None for the usual field
    chosen : the tagger of each column to fill
    confidences : are written, too
    """

    def __init__(
        self,
        tagger: pn.Tagger,
        path: str,
        field: str | None,
        chosen: Mapping[str, pn.Tagger],
        *,
        confidences: bool,
        threads: int,
    ) -> None:
        self._tagger = tagger
        self._path = path
        self._field = formats.FIELD if field is None else field
        if self._field == formats.SENTENCES:
            raise pn.ArgumentError(f"field: {self._field} is what tagging adds; rename the text's")
        self._columns = {name: own.column for name, own in chosen.items()}
        self._confidences = confidences
        self._threads = threads
        self._pending: list[formats.Record] = []
        self._pending_characters = 0

    def add(self, line: tuple[int, str]) -> bool:
        """Take a line up; return True if there are enough to be tagged."""
        number, text = line
        self._pending.append(formats.record_of(text, self._field, self._path, number))
        self._pending_characters += len(text)
        return self._pending_characters >= PIECE_BYTES * self._threads

    def finished(self, at_end: bool) -> list[str]:
        """Return the lines taken up since the last call, with what tagging gives."""
        lines, self._pending, self._pending_characters = self._pending, [], 0
        if self._threads == 1 or len(lines) < self._threads:
            return self._written(lines)
        # Here, since it brings logging in, and one thread does without.
        from concurrent.futures import ThreadPoolExecutor

        size = -(-len(lines) // self._threads)
        parts = [lines[at : at + size] for at in range(0, len(lines), size)]
        with ThreadPoolExecutor(self._threads) as pool:
            return [*chain.from_iterable(pool.map(self._written, parts))]

    def _written(self, lines: Sequence[formats.Record]) -> list[str]:
        texts = [line.text for line in lines if line.text is not None]
        columns = tuple(self._columns.values())
        found = self._tagger.tag_arrays(texts, columns=columns, confidences=self._confidences)
        made = formats.sentences_json(found, self._columns, confidences=self._confidences)
        return [line.written("null" if line.text is None else next(made)) for line in lines]
