"""What is annotated and what is waiting, in step with the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from perceptron_nlp.annotation.goldfile import GoldFile, Record
from perceptron_nlp.annotation.pool import Item, Pool
from perceptron_nlp.errors import ArgumentError


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
        if file is not None and self.strangers and not self.records:
            raise ArgumentError(
                f"out: {file.path} is of another text: none of its sentences is in this one; name"
                " another file"
            )

    @property
    def in_text_order(self) -> list[Record]:
        """All records in the order of the text; those of another text last."""
        return [*sorted(self.records.values(), key=_place), *self.strangers]

    @property
    def in_work_order(self) -> list[Record]:
        """All records as they were annotated; those without an order first."""
        return sorted(self.in_text_order, key=lambda record: record.order)

    def item(self, name: str) -> Item | None:
        """Return a sentence, annotated or not."""
        record = self.records.get(name)
        return self.waiting.get(name) if record is None else record.item

    def merge(self) -> str | None:
        """Read the file again if somebody else changed it; return what changed.

        Raises FileError, FormatError.
        """
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
            f"{self._file.path} was changed by another program and read again: {changed} sentences"
            f" changed, {new} new, {gone} gone"
        )

    def put(self, item: Item, record: Record | None) -> None:
        """Set or remove what is annotated of a sentence; the file is written first.

        Raises FileError; then nothing has changed.
        """
        before = self.records
        self.records = {**before}
        if record is None:
            del self.records[item.name]
        else:
            self.records[item.name] = record
        if self._file is not None:
            try:
                self._file.write(self.in_text_order)
            except BaseException:
                self.records = before
                raise
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

    def _take(self, records: Sequence[Record]) -> None:
        """Find the places of the records in the text."""
        self.records, self.strangers = {}, []
        missing: list[Record] = []
        taken: set[int] = set()
        for record in records:
            place = self._pool.place_of(record.sentence)
            if place is None or place[0] in taken:
                missing.append(record)
                continue
            taken.add(place[0])
            self._add(record, place)
        by_words = self._pool.places_by_words() if missing else {}
        for record in missing:
            same = by_words.get(record.sentence.words, [])
            while same and same[-1].start in taken:
                same.pop()
            if same:
                place = same[-1].start, same[-1].end
                taken.add(place[0])
                self._add(record, place)
            else:
                self.strangers.append(record)
        covered = [(r.item.start, r.item.end) for r in self.records.values() if r.item]
        self.waiting = {item.name: item for item in self._pool.uncovered(covered)}

    def _add(self, record: Record, place: tuple[int, int]) -> None:
        item = self._pool.piece(*place, record.sentence.words)
        self.records[item.name] = replace(record, item=item)


def _place(record: Record) -> int:
    return -1 if record.item is None else record.item.start
