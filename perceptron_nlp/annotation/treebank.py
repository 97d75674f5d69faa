"""What is annotated and what is waiting, in step with the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import perceptron_nlp as pn
from perceptron_nlp._checks import check_int, check_tokens
from perceptron_nlp._display import counted
from perceptron_nlp.annotation.goldfile import GoldFile, Record
from perceptron_nlp.annotation.pool import Item, Pool, Span, moved
from perceptron_nlp.errors import ArgumentError, quote
from perceptron_nlp.formats import surface, wrong_conllu_value

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
        number = self._cuttable(item, token)
        start, end, words = item.tokens[number]
        self._refuse_multiword(words)
        if len(words[0]) == 1:
            raise ArgumentError("token: a word of one character cannot be cut")
        check_int("at", at, 1, len(words[0]) - 1)
        middle = start + at
        pieces = [item.text[start:middle].rstrip(), item.text[middle:end].lstrip()]
        cut = [
            (start, start + len(pieces[0]), (pieces[0],)),
            (end - len(pieces[1]), end, (pieces[1],)),
        ]
        return [item], [item.cut_into([*item.tokens[:number], *cut, *item.tokens[number + 1 :]])]

    def tokens_joined(self, item: Item, token: int) -> Cut:
        """Join a word of a sentence with the next one; white space between becomes one space."""
        number = self._cuttable(item, token)
        if number + 1 == len(item.tokens):
            raise ArgumentError("token: the last one has no next one")
        (start, _, first), (_, end, second) = item.tokens[number : number + 2]
        self._refuse_multiword(first)
        self._refuse_multiword(second)
        joined = (start, end, (" ".join(item.text[start:end].split()),))
        return [item], [item.cut_into([*item.tokens[:number], joined, *item.tokens[number + 2 :]])]

    def token_words(self, item: Item, token: int, words: Sequence[str]) -> Cut:
        """Let the token of a word consist of these words; of one alone it is no multiword token."""
        number = self._cuttable(item, token)
        check_tokens(words)
        start, end, _ = item.tokens[number]
        for word in words:
            wrong = wrong_conllu_value("form", word)
            if wrong is not None or word.split() != [word]:
                raise ArgumentError(f"words: {quote(word)} {wrong or 'holds white space'}")
        form = " ".join(item.text[start:end].split())
        if not words or (len(words) > 1 and " " in form):
            raise ArgumentError(f"words: {quote(form)} is one word at least, without space")
        own = (start, end, tuple(words) if len(words) > 1 else (form,))
        return [item], [item.cut_into([*item.tokens[:number], own, *item.tokens[number + 1 :]])]

    def sentence_split(self, item: Item, token: int) -> Cut:
        """Let another sentence begin at a word."""
        number = self._cuttable(item, token)
        if not number:
            raise ArgumentError("token: a sentence begins with the first one already")
        before, behind = item.tokens[:number], item.tokens[number:]
        middle = item.start + len("".join(item.text[: before[-1][1]].split()))
        first = self._pool.piece(item.start, middle).cut_into(before)
        return [item], [first, self._pool.piece(middle, item.end).cut_into(moved(behind))]

    def sentence_joined(self, item: Item) -> Cut:
        """Join a sentence with the next one of the text."""
        self._cuttable(item, 0)
        following = [one for one in self.waiting.values() if one.start == item.end]
        if not following or not following[0].tokens:
            raise ArgumentError("sentence: the next one of the text is annotated, or there is none")
        joined = self._pool.piece(item.start, following[0].end)
        behind = moved(following[0].tokens, len(joined.text) - len(following[0].text))
        return [item, following[0]], [joined.cut_into([*item.tokens, *behind])]

    def known_words(self) -> dict[str, tuple[str, ...]]:
        """Return of tokens, in small letters, the words that most of them are annotated as."""
        found: dict[str, Counter[tuple[str, ...]]] = {}
        for record in self.records.values():
            text, tokens, _ = surface(record.sentence)
            for start, end, words in tokens:
                of_form = found.setdefault(text[start:end].lower(), Counter())
                of_form[words if len(words) > 1 else ()] += 1
        likeliest = {form: words.most_common(1)[0][0] for form, words in found.items()}
        return {form: words for form, words in likeliest.items() if words}

    def with_known_words(self, item: Item) -> Item:
        """Return a sentence in which tokens consist of words as where they were annotated before.

        Only one of raw text that is as it was read; it waits in place of that one.
        """
        if not item.tokens or self._pool.items[item.number] is not item:
            return item
        known = self.known_words()
        tokens = []
        for start, end, words in item.tokens:
            form = item.text[start:end]
            found = known.get(form.lower())
            if found and words != found:
                first = found[0][:1].upper() if form[:1].isupper() else found[0][:1].lower()
                words = (first + found[0][1:], *found[1:])
            tokens.append((start, end, words))
        if tokens == list(item.tokens):
            return item
        cut = item.cut_into(tokens)
        self.cut([item], [cut])
        return cut

    def _cuttable(self, item: Item, token: int) -> int:
        """Return the number of the token that a word of a sentence is of, if it can be cut."""
        check_int("token", token, 0, len(item.words) - 1)
        if not item.tokens or item.name not in self.waiting:
            raise ArgumentError(
                "token: only sentences of raw text that are not annotated can be cut otherwise"
            )
        return item.token_of(token)

    @staticmethod
    def _refuse_multiword(words: Sequence[str]) -> None:
        if len(words) > 1:
            raise ArgumentError(
                f"token: consists of {' '.join(words)}; make one word of it first (=)"
            )

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
