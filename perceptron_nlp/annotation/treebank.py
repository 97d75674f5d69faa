"""What is annotated and what is waiting, in step with the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import perceptron_nlp as pn
from perceptron_nlp._checks import check_int
from perceptron_nlp._display import counted
from perceptron_nlp.annotation.goldfile import GoldFile, Record
from perceptron_nlp.annotation.pool import Item, Pool, Span
from perceptron_nlp.errors import ArgumentError

Cut = tuple[list[Item], list[Item]]
"""Sentences that are waiting, and those that should be in their place."""


class Treebank:
    """The annotated sentences of a text, and the others.

    Parameters
    ----------
    pool : the text
    file : where annotated sentences are kept, or None

    Attributes
    ----------
    records : annotated sentences of the text, by name
    strangers : sentences of the file that are not in the text; they stay there
    waiting : sentences that are not annotated, by name, in the order of the text
    warnings : what a person should know of the file

    Raises
    ------
    FileError, FormatError : the file cannot be read
    ArgumentError : it is of another text
    """

    def __init__(self, pool: Pool, file: GoldFile | None) -> None:
        self._pool = pool
        self._file = file
        self.records: dict[str, Record] = {}
        self.strangers: list[Record] = []
        self.waiting: dict[str, Item] = {}
        self._take(file.read() if file else [])
        self.warnings: list[str] = []
        if file is not None and self.strangers:
            if not self.records:
                raise ArgumentError(
                    f"out: {file.path} is of another text: none of its sentences is in this one;"
                    " name another file"
                )
            self.warnings.append(
                f"{file.path}: {counted(len(self.strangers), 'sentence')} not of the text, kept at"
                " the end of the file and learned from"
            )

    @property
    def in_text_order(self) -> list[Record]:
        """All records in the order of the text; those of another text last."""
        return self._in_text_order(self.records)

    @property
    def in_work_order(self) -> list[Record]:
        """All records as they were annotated; those without an order first."""
        return sorted(self.in_text_order, key=lambda record: record.order)

    def item(self, name: str) -> Item | None:
        """Return a sentence, annotated or not."""
        record = self.records.get(name)
        return self.waiting.get(name) if record is None else record.item

    def alone(self) -> AbstractContextManager[None]:
        """Let no other session come between a merge and what is put then."""
        return nullcontext() if self._file is None else self._file.alone()

    def merge(self) -> str | None:
        """Read the file again if somebody else changed it; return what changed."""
        if self._file is None or not self._file.was_changed():
            return None
        before = self.records
        self._take(self._file.read())
        new = len(self.records.keys() - before.keys())
        gone = len(before.keys() - self.records.keys())
        changed = sum(
            one.text != self.records[name].text
            for name, one in before.items()
            if name in self.records
        )
        if not new + gone + changed:
            return None
        return (
            f"{self._file.path} was changed by another program and read again:"
            f" {counted(changed, 'sentence')} changed, {new} new, {gone} gone"
        )

    def put(self, item: Item, record: Record | None) -> None:
        """Set or remove what is annotated of a sentence; the file is written first."""
        records = {**self.records}
        if record is None:
            del records[item.name]
        else:
            records[item.name] = record
        if self._file is not None:
            self._file.write(self._in_text_order(records))
        self.records = records
        if record is not None:
            self.waiting.pop(item.name, None)
        elif item.name not in self.waiting:
            self.cut((), (item,))

    def cut(self, old: Sequence[Item], new: Sequence[Item]) -> None:
        """Replace sentences that are waiting by others, which cover the same characters."""
        names = {item.name for item in old}
        left = [item for item in self.waiting.values() if item.name not in names]
        self.waiting = {
            item.name: item for item in sorted([*left, *new], key=lambda item: item.start)
        }

    def token_split(self, item: Item, token: int, at: int) -> Cut:
        """Cut a word of a sentence after `at` characters."""
        words = self._cuttable(item, token)
        if len(words[token]) == 1:
            raise ArgumentError("token: a word of one character cannot be cut")
        check_int("at", at, 1, len(words[token]) - 1)
        cut = [words[token][:at], words[token][at:]]
        return self._recut(item, [*words[:token], *cut, *words[token + 1 :]])

    def tokens_joined(self, item: Item, token: int) -> Cut:
        """Join a word of a sentence with the next one."""
        words = self._cuttable(item, token)
        if token + 1 == len(words):
            raise ArgumentError("token: the last one has no next one")
        joined = words[token] + words[token + 1]
        return self._recut(item, [*words[:token], joined, *words[token + 2 :]])

    def sentence_split(self, item: Item, token: int) -> Cut:
        """Let another sentence begin at a word."""
        words = self._cuttable(item, token)
        if not token:
            raise ArgumentError("token: a sentence begins with the first one already")
        middle = item.start + sum(map(len, words[:token]))
        first = self._pool.piece(item.start, middle, words[:token])
        return [item], [first, self._pool.piece(middle, item.end, words[token:])]

    def sentence_joined(self, item: Item) -> Cut:
        """Join a sentence with the next one of the text."""
        words = self._cuttable(item, 0)
        following = [one for one in self.waiting.values() if one.start == item.end]
        if not following or not following[0].spans:
            raise ArgumentError("sentence: the next one of the text is annotated, or there is none")
        joined = self._pool.piece(item.start, following[0].end, [*words, *following[0].words])
        return [item, following[0]], [joined]

    def _cuttable(self, item: Item, token: int) -> list[str]:
        """Return the words of a sentence, if it can be cut otherwise."""
        check_int("token", token, 0, len(item.words) - 1)
        if not item.spans or item.name not in self.waiting:
            raise ArgumentError(
                "token: only sentences of raw text that are not annotated, and that have no"
                " multiword tokens, can be cut otherwise"
            )
        return list(item.words)

    def _recut(self, item: Item, words: Sequence[str]) -> Cut:
        cut = self._pool.piece(item.start, item.end, words)
        if not cut.spans:
            raise ArgumentError("token: there is white space within")
        return [item], [cut]

    def _in_text_order(self, records: Mapping[str, Record]) -> list[Record]:
        return [*sorted(records.values(), key=_place), *self.strangers]

    def _take(self, records: Sequence[Record]) -> None:
        """Find the places of the records in the text."""
        self.records, self.strangers = {}, list(records)
        taken: set[int] = set()
        by_words = self._pool.places_by_words() if records else {}

        def of_same_rest(sentence: pn.Sentence) -> Span | None:
            # Names may be missing, or be given twice, as sentences may.
            same = [one for one in by_words.get(sentence.words, []) if one.start not in taken]
            for one in reversed(same if len(same) > 1 else []):
                if one.source is not None and self._rest(one.source) == self._rest(sentence):
                    return one.start, one.end
            return None

        self._find(of_same_rest, taken)
        self._find(self._pool.place_of, taken)
        if self.strangers:

            def of_same_words(sentence: pn.Sentence) -> Span | None:
                same = by_words.get(sentence.words, [])
                while same and same[-1].start in taken:
                    same.pop()
                return (same[-1].start, same[-1].end) if same else None

            self._find(of_same_words, taken)
            self._find(self._pool.place_alike, taken)
        covered = [(r.item.start, r.item.end) for r in self.records.values() if r.item]
        # What was cut otherwise, and is not annotated yet, stays so.
        cut = [
            item
            for item in self.waiting.values()
            if self._pool.items[item.number] is not item
            and not any(low < item.end and item.start < high for low, high in covered)
        ]
        rest = self._pool.uncovered([*covered, *((item.start, item.end) for item in cut)])
        self.waiting = {}
        self.cut((), [*rest, *cut])

    def _rest(self, sentence: pn.Sentence) -> object:
        return None if self._file is None else self._file.rest(sentence)

    def _find(self, find: Callable[[pn.Sentence], Span | None], taken: set[int]) -> None:
        """Take the strangers for which a place is found that is not taken."""
        left = []
        for record in self.strangers:
            place = find(record.sentence)
            if place is None or place[0] in taken:
                left.append(record)
            else:
                taken.add(place[0])
                self._add(record, place)
        self.strangers = left

    def _add(self, record: Record, place: tuple[int, int]) -> None:
        item = self._pool.piece(*place, record.sentence.words)
        self.records[item.name] = replace(record, item=item)


def _place(record: Record) -> int:
    return -1 if record.item is None else record.item.start
