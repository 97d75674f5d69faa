"""Greedy training in plain Python: weights in a dictionary, all of them summed each time.

Features come in the order in which the core adds them up (slots, then templates over several
words, then those with past labels), so that even rounding is the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from oracles.feature_keys import template_keys
from oracles.naive_weights import NaiveWeights
from perceptron_nlp.features.templates import Template, compile_templates

Columns = Mapping[str, Sequence[str]]
ALWAYS, NOT_FIRST, FIRST, NOT_LAST, LAST = range(5)
# Longer than any template reaches.
LONG = 9


@dataclass
class SlowTrainer:
    """Learns from `sentences` (columns by name) with `gold` label numbers, None: no label.

    Sentences from `n_open` on have no other features than the first ones and what was learned of
    them: those of each single word that the first ones hold, wherever it may stand, and those of
    several words and of labels that came up there.
    """

    templates: Sequence[Template]
    labels: Sequence[str]
    sentences: Sequence[Columns]
    gold: Sequence[Sequence[int | None]]
    rule: str = "perceptron"
    rate: float = 1
    margin: float = 0
    table_bits: int | None = None
    right_to_left: bool = False
    dictionary: Mapping[str, int] = field(default_factory=dict)
    min_count: int = 1
    n_open: int | None = None

    def __post_init__(self) -> None:
        self.weights = NaiveWeights(self.table_bits)
        self.counts = [0, 0, 0]
        self._compiled = compile_templates(self.templates)
        self._frequent = Counter(
            key >> self.weights.shift
            for columns in self.sentences
            for i in range(len(columns["form"]))
            for key in self._word_keys(columns, i)
        )
        self._n_open = len(self.sentences) if self.n_open is None else self.n_open
        self._known = set(self._keys_of_open())

    def learn(
        self, order: Sequence[int], scales: Sequence[float] | None = None
    ) -> tuple[int, int, int]:
        """One epoch; (labeled words seen, wrongly labeled, learned from)."""
        self.counts = [0, 0, 0]
        for place, number in enumerate(order):
            self._scale = 1 if scales is None else scales[place]
            self._is_open = number < self._n_open
            self._learn_sentence(self.sentences[number], self.gold[number])
        return self.counts[0], self.counts[1], self.counts[2]

    def _learn_sentence(self, columns: Columns, gold: Sequence[int | None]) -> None:
        n = len(gold)
        past: list[str] = []
        for i in reversed(range(n)) if self.right_to_left else range(n):
            label = self.dictionary.get(columns["form"][i])
            if label is None:
                label = self._learn_word(columns, i, past, gold[i])
            past.insert(0, self.labels[label])

    def _learn_word(self, columns: Columns, i: int, past: Sequence[str], gold: int | None) -> int:
        keys = [*self._kept(self._word_keys(columns, i)), *self._past_keys(columns, i, past)]
        if not self._is_open and self.table_bits is None:
            keys = [key for key in keys if key in self._known]
        scores = self.weights.scores(keys, len(self.labels))
        guess = scores.index(max(scores))
        if gold is None:
            return guess
        self.counts[0] += 1
        self.counts[1] += guess != gold
        others = [k for k in range(len(self.labels)) if k != gold]
        rival = guess
        if guess == gold and others:
            rival = max(others, key=lambda k: (scores[k], -k))
        if rival != gold and self._must_learn(guess == gold, scores[gold] - scores[rival]):
            self.counts[2] += 1
            self._known.update(keys)
            self._update(keys, gold, rival, scores[gold] - scores[rival])
        self.weights.advance()
        return guess

    def _must_learn(self, right: bool, lead: float) -> bool:
        if self.rule == "perceptron":
            return not right
        if self.rule == "margin":
            return lead <= self.margin
        return lead < self.margin or (self.rule == "adagrad" and not right)

    def _update(self, keys: Sequence[int], gold: int, rival: int, lead: float) -> None:
        for label, sign in ((gold, 1), (rival, -1)):
            if self.rule == "adagrad":
                self.weights.add_adagrad(keys, label, sign * self._scale, self.rate)
                continue
            step = self.rate * self._scale
            if self.rule == "passive-aggressive":
                # Crammer et al. (2006), PA-I: hinge loss over squared length, bounded.
                step = min(
                    (self.margin - lead) / (2 * len(keys)) if keys else 0.0, self.rate * self._scale
                )
            self.weights.add(keys, label, sign * step)

    def _kept(self, keys: Iterator[int]) -> list[int]:
        return [key for key in keys if self._frequent[key >> self.weights.shift] >= self.min_count]

    def _keys_of_open(self) -> Iterator[int]:
        for columns in self.sentences[: self._n_open]:
            for i in range(len(columns["form"])):
                yield from self._word_keys(columns, i)
                for n in (1, LONG):
                    alone = {name: [values[i]] * n for name, values in columns.items()}
                    for place in range(n):
                        yield from self._slot_keys(alone, place)

    def _word_keys(self, columns: Columns, i: int) -> Iterator[int]:
        yield from self._slot_keys(columns, i)
        for number in self._compiled.static:
            yield from template_keys(self.templates[number], columns, i, ())

    def _slot_keys(self, columns: Columns, i: int) -> Iterator[int]:
        first, last = i == 0, i == len(columns["form"]) - 1
        holds = {ALWAYS: True, NOT_FIRST: not first, FIRST: first, NOT_LAST: not last, LAST: last}
        c = self._compiled
        for slot, (_, _, condition) in enumerate(c.slots):
            if holds[condition]:
                for number in c.slot_templates[c.slot_starts[slot] : c.slot_starts[slot + 1]]:
                    yield from template_keys(self.templates[number], columns, i, ())

    def _past_keys(self, columns: Columns, i: int, past: Sequence[str]) -> Iterator[int]:
        for number in self._compiled.history:
            yield from template_keys(self.templates[number], columns, i, past)
