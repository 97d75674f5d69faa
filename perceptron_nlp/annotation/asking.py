"""The order in which sentences are asked for, and each with what is proposed and answered.

The strategy is that of benchmarks/annotation.py.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

import perceptron_nlp as pn
from perceptron_nlp._checks import check_tokens
from perceptron_nlp.annotation.goldfile import Extras, Record
from perceptron_nlp.annotation.labels import given_labels, label_names, wrong_value
from perceptron_nlp.annotation.pool import Item
from perceptron_nlp.annotation.review import Doubt
from perceptron_nlp.errors import ArgumentError, quote
from perceptron_nlp.formats import ordered_features
from perceptron_nlp.probability import softmax
from perceptron_nlp.sampling import permutation

ORDERS = ("active", "document", "random")
# Of a sentence's length, so that short ones are not all that is asked for.
_MORE = 3
# Of the sentences from which most is learned, so many are there when some are put off.
_FEWEST = 10
# Of a column of many labels, so many are proposed.
_MOST_ALTERNATIVES = 20

Labels = Mapping[str, Sequence[str]] | Sequence[str]
Alternatives = tuple[tuple[str, float], ...]
Worth = Mapping[str, float]
"""Of each word of a sentence what asking for it is worth."""


class Asking:
    """Choice of what is asked for next.

    Parameters
    ----------
    items : the sentences of the text
    order : one of ORDERS
    check : one in so many sentences is drawn at random; 0 for none
    seed : of random choices

    Attributes
    ----------
    skipped : names of sentences that were put off
    """

    def __init__(self, items: Sequence[Item], order: str, check: int, seed: int) -> None:
        self._order = order
        self._check = check
        shuffled = permutation(len(items), seed).tolist()
        self._rank = {number: at for at, number in enumerate(shuffled)}
        self.skipped: set[str] = set()

    def chosen(
        self, waiting: Mapping[str, Item], n_records: int, queue: Callable[[], Sequence[str]]
    ) -> tuple[Item | None, bool]:
        """Return the sentence to ask for next, None if nothing is left, and if it is held out.

        Parameters
        ----------
        waiting : sentences that are not annotated, by name, in the order of the text
        n_records : sentences that are
        queue : gives the names of those from which most is learned, the best first
        """
        free = [one for one in waiting.values() if one.name not in self.skipped]
        if not free and waiting:
            self.skipped.clear()
            free = list(waiting.values())
        if not free:
            return None, False
        # In the middle of so many, so that the first of them comes early.
        held_out = self._check > 0 and n_records % self._check == self._check // 2
        if self._order == "active" and not held_out:
            for name in queue():
                item = waiting.get(name)
                if item and name not in self.skipped:
                    return item, False
        if self._order == "random" or held_out:
            free.sort(key=lambda one: (self._rank[one.number], one.start))
        return free[0], held_out


def worth_of_new(
    items: Sequence[Item], seen: Collection[str], counts: Mapping[str, int]
) -> list[Worth]:
    """Return the worth of words that are not annotated yet: the more, the commoner they are."""
    return [
        {word: math.sqrt(counts[word]) for word in item.words if word not in seen} for item in items
    ]


def worth_of_doubtful(items: Sequence[Item], sure: Sequence[Sequence[float]]) -> list[Worth]:
    """Return the worth of words: doubt times the root of all doubt about the word.

    Parameters
    ----------
    items : sentences
    sure : confidences of their words
    """
    mass: defaultdict[str, float] = defaultdict(float)
    found: list[dict[str, float]] = []
    for item, confidences in zip(items, sure, strict=True):
        doubts: dict[str, float] = {}
        for word, confidence in zip(item.words, confidences, strict=True):
            # What the last bits of a softmax are depends on the machine.
            doubt = round(1 - confidence, 6)
            mass[word] += doubt
            doubts[word] = max(doubt, doubts.get(word, 0.0))
        found.append(doubts)
    return [
        {word: doubt * math.sqrt(mass[word]) for word, doubt in doubts.items()} for doubts in found
    ]


class Candidate(NamedTuple):
    """A sentence that may be asked for: its name, its length, and the worth of its words."""

    name: str
    n_words: int
    worth: Worth


def best_of(
    candidates: Sequence[Candidate], again: float, least: int, words: Iterable[str] = ()
) -> list[Candidate]:
    """Return the sentences that are worth most a token, the best first.

    Parameters
    ----------
    candidates : all that there are
    again : the share of its worth that a word keeps which one of the best has already
    least : how many tokens they have together at least; there are _FEWEST, too
    words : these count as if one of the best had them
    """
    had = set(words)

    def score(at: int) -> float:
        _, n_words, worth = candidates[at]
        total = sum(x * (again if word in had else 1) for word, x in worth.items())
        return round(total / (n_words + _MORE), 9)

    heap = [(-score(at), at) for at in range(len(candidates))]
    heapq.heapify(heap)
    chosen: list[Candidate] = []
    n_tokens = 0
    while heap and (n_tokens < least or len(chosen) < _FEWEST):
        at = heap[0][1]
        now = (-score(at), at)
        # Scores only fall, so one that is still the first is the best.
        if now > heap[0]:
            heapq.heapreplace(heap, now)
            continue
        heapq.heappop(heap)
        chosen.append(candidates[at])
        had |= candidates[at].worth.keys()
        n_tokens += candidates[at].n_words
    return chosen


@dataclass(frozen=True, slots=True)
class Task:
    """A sentence to annotate, with what is proposed.

    Attributes
    ----------
    name : its ``sent_id``
    words : its words
    labels : by column, for each word the label proposed, or None
    alternatives : for each word (label, confidence) of the first column, the best first; empty if
        nothing was learned yet
    known : for each word whether it was annotated before
    origin : ``"pool"``, ``"check"`` (drawn at random), ``"again"`` (it was annotated before),
        ``"review"``
    doubts : why words are to be looked at again, by their number, and what labels may be meant
    note : the person's remark
    spans : begin and end in the text of each word's token; empty where it cannot be cut otherwise
    glued : for each word whether the next one stands right behind it, or belongs to its token
    tokens : each token as it stands in the text, and of how many words it consists; empty if all
        words are tokens
    before, after : the sentences of the text before and after this one; empty at its ends
    extras : correct forms of misspelled words, and empty nodes
    """

    name: str
    words: tuple[str, ...]
    labels: dict[str, list[str | None]]
    alternatives: list[Alternatives]
    known: list[bool]
    origin: str = "pool"
    doubts: Mapping[int, Doubt] = field(default_factory=dict)
    note: str = ""
    spans: tuple[tuple[int, int], ...] = ()
    glued: Sequence[bool] = ()
    tokens: Sequence[tuple[str, int]] = ()
    before: str = ""
    after: str = ""
    extras: Extras = field(default_factory=Extras)

    @classmethod
    def of(
        cls, item: Item, record: Record | None, known: Collection[str], origin: str, **more: Any
    ) -> Task:
        """Return a sentence to annotate, with what its record has in addition to labels."""
        held = record or Record.of(item)
        before, after = more.pop("around")
        return cls(
            item.name,
            item.words,
            known=[word in known for word in item.words],
            origin=origin,
            note=held.note,
            spans=item.spans if origin != "review" else (),
            glued=item.glued,
            before=before,
            after=after,
            tokens=[
                (form, len(of)) for form, (*_, of) in zip(item.forms, item.tokens, strict=False)
            ],
            extras=Extras.read(held.sentence) if held.sentence.words == item.words else Extras(),
            **more,
        )


def checked_labels(
    labels: Labels | None, task: Task, columns: Sequence[str], tags: Collection[str] | None
) -> dict[str, list[str]]:
    """Return the labels that a person gives to a task, by column; None for those of the task.

    Raises ArgumentError, ArgumentTypeError for labels that cannot be.
    """
    given: Mapping[str, Sequence[str | None]]
    if labels is None:
        given = task.labels
    elif isinstance(labels, Mapping):
        given = {**task.labels, **labels}
        if unknown := labels.keys() - {*columns}:
            raise ArgumentError(
                f"labels: there is no column {quote(min(unknown))}; there are {', '.join(columns)}"
            )
    else:
        check_tokens(labels)
        given = {**task.labels, columns[0]: list(labels)}
    checked: dict[str, list[str]] = {}
    for name, values in given.items():
        if len(values) != len(task.words):
            raise ArgumentError(
                f"labels: {len(values)} labels of {name} for {len(task.words)} words"
            )
        allowed = tags if name == columns[0] else None
        for number, (word, value) in enumerate(zip(task.words, values, strict=True), 1):
            wrong = wrong_value(name, value, allowed)
            if wrong is not None:
                raise ArgumentError(f"labels: word {number}, {quote(word)}: {wrong}")
        strings = [str(value) for value in values]
        checked[name] = [*map(ordered_features, strings)] if name == "feats" else strings
    return checked


def proposals(
    tagger: pn.Tagger | None, temperature: float, words: Sequence[str], columns: Sequence[str]
) -> tuple[dict[str, list[str | None]], list[Alternatives]]:
    """Return labels by column, None where nothing is proposed, and alternatives in the first."""
    proposed: dict[str, list[str | None]] = {name: [None] * len(words) for name in columns}
    if tagger is None:
        return proposed, [()] * len(words)
    found = tagger.tag(words, columns=tagger.columns)
    proposed |= {name: list(found[name]) for name in columns if name in found}
    return proposed, ranked(tagger.by_column[columns[0]], words, temperature)


def initial_labels(
    record: Record | None, proposed: dict[str, list[str | None]], words: Sequence[str]
) -> dict[str, list[str | None]]:
    """Return by column the labels of a record of these words, else what is proposed."""
    if record is None or record.sentence.words != words:
        return proposed
    return {
        name: [own or new for own, new in zip(given, labels, strict=True)]
        for name, labels in proposed.items()
        if (given := given_labels(record.sentence, name))
    }


def ranked(part: pn.Tagger, words: Sequence[str], temperature: float) -> list[Alternatives]:
    """Return for each word its likeliest labels with their confidences, the best first."""
    names = label_names(part)
    found = []
    for row in softmax(part.scores(words), temperature):
        best: dict[str, float] = {}
        for at in np.argsort(-row, kind="stable")[:_MOST_ALTERNATIVES].tolist():
            best.setdefault(names[at], round(float(row[at]), 4))
        found.append(tuple(best.items()))
    return found
