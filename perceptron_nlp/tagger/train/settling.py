"""What settles labels, counted in the training text, by rules that a dev set chooses.

A rule says how often a word, with its labels in the columns before, or else an ending of rare
words must have been met, and which share of one label is enough. Of those that cost no accuracy on
the dev set that one is taken which settles the most; without a dev set, one that is safe.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, product
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.model.frozenmodel import CacheMemory
from perceptron_nlp.probability import Floats
from perceptron_nlp.tagger.confidence import Numbers, margins_of
from perceptron_nlp.tagger.labelers import ColumnLabelers
from perceptron_nlp.tagger.model.label_components import JOINT, UPOS, joint
from perceptron_nlp.tagger.model.model import TaggerModel, can_lead
from perceptron_nlp.tagger.model.settled import MOST_BEFORE, Rule, Settled
from perceptron_nlp.tagger.sources import gold_for
from perceptron_nlp.tagger.tag.label import Labeler, make_labeler
from perceptron_nlp.tagger.tag.lemmatize import ScriptLabels
from perceptron_nlp.tagger.train.settled_counts import OPEN, Before, Counted, Item, Truths
from perceptron_nlp.text.script_making import make_script
from perceptron_nlp.text.sentence import Sentence

_WORDS = tuple(product((1, 2, 3, 5, 10, 20), (1.0, 0.998, 0.99)))
_ENDINGS = tuple(product((20, 40, 100), (1.0, 0.998, 0.995, 0.99)))
_SAFE = Rule(10, 1.0, 100, 1.0)
# Of so many tokens one may become wrong, which is less than chance does to a dev set; one that is
# smaller than _LEAST_DEV settles no tags.
_PER_MISTAKE, _LEAST_DEV = 4_000, 5_000
# Of so many tokens one may become wrong by what is settled alone.
_TRIED = (10_000, 20_000)
# The shares of tokens that are left open since what comes before is not sure enough.
_OPENED = (0.0, 0.05, 0.1, 0.2, 0.3)
Labels: TypeAlias = Mapping[str, Sequence[Sequence[str]]]
"""By column the labels of sentences."""


class Chosen(NamedTuple):
    """A rule, with the rates and the lead of Settled."""

    rule: Rule
    rates: tuple[float, float] = (1.0, 1.0)
    lead: float = 0.0


@dataclass(frozen=True, slots=True)
class Column:
    """A column that may be settled.

    part : its model
    before : the columns whose labels it is given
    """

    part: TaggerModel
    before: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.part.column

    def items(self, sentences: Sequence[Sentence], before: Labels) -> Iterator[list[Item]]:
        """Yield of each sentence what its labels hang on."""
        for number, sentence in enumerate(sentences):
            labels = [before[name][number] for name in self.before]
            rows = zip(*labels, strict=True) if labels else [()] * len(sentence)
            yield [
                (word, at == 0, row)
                for at, (word, row) in enumerate(zip(sentence.words, rows, strict=True))
            ]

    def counted(self, sentences: Sequence[Sentence]) -> Counted:
        """Return what sentences show."""
        counts: Counter[tuple[str, bool, Before, int]] = Counter()
        number_of = cache(self.part.tags.id_of)
        own = self.items(sentences, gold_of(sentences, self.before))
        gold = gold_for(self.part, sentences, self.name)
        for sentence, items, labels in zip(sentences, own, gold, strict=True):
            for item, label in zip(items, self._learned(sentence, labels), strict=True):
                number = -1 if label is None else number_of(label)
                if number >= 0:
                    counts[(*item, number)] += 1
        return Counted(self.part.lemmas is not None, counts)

    def _learned(self, sentence: Sentence, labels: Sequence[str | None]) -> Sequence[str | None]:
        """Return the labels of a sentence as they are learned."""
        if self.part.lemmas is not None:
            alphabet = self.part.lemmas.alphabet
            return [
                None if label is None else _script(word, label, alphabet)
                for word, label in zip(sentence.words, labels, strict=True)
            ]
        if self.part.scheme == JOINT:
            upos = sentence.column(UPOS)
            return [
                None if label is None else joint(tag, label)
                for tag, label in zip(upos, labels, strict=True)
            ]
        return labels

    @property
    def writer(self) -> Callable[[str, int], str]:
        """Return what writes the label of a word."""
        if self.part.lemmas is not None:
            scripts = ScriptLabels(self.part.tags, self.part.lemmas.alphabet)
            return lambda word, number: scripts.lemma(word, number) or word
        written = Labeler(self.part).written_labels
        return lambda word, number: written[number]


@lru_cache(maxsize=1 << 16)
def _script(word: str, lemma: str, alphabet: str) -> str:
    return str(make_script(word, lemma, alphabet))


def gold_of(sentences: Sequence[Sentence], names: Sequence[str]) -> dict[str, list[Sequence[str]]]:
    """Return the columns of sentences."""
    return {name: [sentence.column(name) for sentence in sentences] for name in names}


def columns_of(model: TaggerModel) -> list[Column]:
    """Return the columns that may be settled, in the model's order."""
    agreeing = () if model.agreement is None else model.agreement.columns
    found = []
    for part in model.parts_by_column:
        before = tuple(agreeing[: agreeing.index(part.column)]) if part.column in agreeing else ()
        if part.lemmas is not None:
            before = part.feature_columns
        able = part.lemmas is not None or (before and can_lead(model))
        if (
            able
            and len(before) <= MOST_BEFORE
            and not part.dictionary
            and len(part.tags) < (1 << 16) - 1
        ):
            found.append(Column(part, before))
    return found


def with_settled(
    model: TaggerModel,
    train: Sequence[Sentence],
    dev: Sequence[Sentence] | None,
    like: TaggerModel | None = None,
) -> TaggerModel:
    """Return a model of all columns with what settles the labels of those that come after others.

    Parameters
    ----------
    train : what it has learned from
    dev : what chooses the rules
    like : a model whose rules and rates are taken; then `dev` is not looked at
    """
    plain = _without(model)
    columns = columns_of(plain)
    counted = {column.name: column.counted(train) for column in columns}
    rules = {c.name: Chosen(_SAFE) for c in columns if c.part.lemmas is not None}
    if like is not None:
        own = {part.column: part.settled for part in like.parts_by_column}
        rules = {k: Chosen(one.rule, one.rates, one.lead) for k, one in own.items() if one}
    elif dev and columns:
        rules = _chosen(plain, columns, counted, dev)
    return with_tables(plain, columns, counted, rules)


def _without(model: TaggerModel) -> TaggerModel:
    return model.replace(
        settled=None, more=tuple(part.replace(settled=None) for part in model.more)
    )


def with_tables(
    model: TaggerModel,
    columns: Sequence[Column],
    counted: Mapping[str, Counted],
    rules: Mapping[str, Chosen],
) -> TaggerModel:
    """Return the model with tables by these rules."""
    tables: dict[str, Settled] = {}
    for column in columns:
        rule, rates, lead = rules.get(column.name, Chosen(Rule()))
        keys, labels = counted[column.name].table(rule)
        if len(keys):
            first = column.part.lemmas is not None
            tables[column.name] = Settled(column.before, rule, rates, keys, labels, first, lead)
    own, *more = (part.replace(settled=tables.get(part.column)) for part in model.parts_by_column)
    return model.replace(settled=own.settled, more=tuple(more))


def _chosen(
    model: TaggerModel,
    columns: Sequence[Column],
    counted: Mapping[str, Counted],
    dev: Sequence[Sentence],
) -> dict[str, Chosen]:
    """Return rules by which a dev set keeps its accuracy, and how right what they settle is."""
    found = _labels(model, dev)
    before: dict[str, Sequence[Sequence[str]]] = {**gold_of(dev, _given(columns, model)), **found}
    # Labels hang together: what is settled may change those of neighbors and of other columns.
    gold = gold_of(dev, [*found])
    least = {name: _n_right(own, gold[name]) for name, own in found.items()}
    n_tokens = sum(map(len, dev))
    judges = [Judged(column, counted[column.name], dev, before) for column in columns]

    def keeps(rules: Mapping[str, Chosen]) -> bool:
        labels = _labels(with_tables(model, columns, counted, rules), dev)
        lost = (n - _n_right(labels[name], gold[name]) for name, n in least.items())
        return max(lost) <= n_tokens // _PER_MISTAKE

    lemmas: dict[str, Chosen] = {}
    for own in judges:
        if own.column.part.lemmas is not None:
            rule = own.best_rule(_TRIED[0])
            ways = ({own.column.name: own.chosen(r, 0.0)} for r in (rule, rule._replace(endings=0)))
            lemmas = next(filter(keeps, ways), {})
    tags = [own for own in judges if own.column.part.lemmas is None]
    if n_tokens < _LEAST_DEV or not tags:
        # Too small a set to see what tags lose if they are not weighed together.
        return lemmas
    tried = [(0, lemmas)]
    for lead, sure in _leads(model, dev):
        for own in tags:
            own.among(sure)
        for per_mistake in (*_TRIED, None):
            rules = {own.column.name: own.best_rule(per_mistake) for own in tags}
            n = sum(own.n_settled(rules[own.column.name]) for own in tags)
            chosen = {own.column.name: own.chosen(rules[own.column.name], lead) for own in tags}
            tried.append((n, lemmas | chosen))
    tried.sort(key=lambda one: -one[0])
    return next(rules for n, rules in tried if not n or keeps(rules))


def _leads(model: TaggerModel, dev: Sequence[Sentence]) -> Iterator[tuple[float, Truths]]:
    """Yield leads of labels in the first column, and which tokens of a text have them."""
    labeler = make_labeler(model.parts_by_column[0])

    def use(_: range, numbers: Numbers, scores: Floats) -> Floats:
        return margins_of(scores, np.arange(scores.shape[1]) == numbers[:, None])

    leads = np.concatenate(labeler.scored(labeler.model.inputs(dev), use))
    for share in _OPENED:
        lead = max(0.0, float(np.quantile(leads, share)))
        yield lead, leads >= lead


def _given(columns: Sequence[Column], model: TaggerModel) -> list[str]:
    """Return the columns that a text must have, since the model does not fill them."""
    return sorted({name for one in columns for name in one.before if name not in model.columns})


def _n_right(labels: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]) -> int:
    return sum(
        a == b
        for own, right in zip(labels, gold, strict=True)
        for a, b in zip(own, right, strict=True)
    )


def _labels(model: TaggerModel, sentences: Sequence[Sentence]) -> dict[str, list[list[str]]]:
    """Return the labels of sentences in all columns."""
    memory = CacheMemory()
    labelers: dict[str, Labeler] = {}
    for part in model.parts_by_column:
        earlier = {name: one for name, one in labelers.items() if name in part.feature_columns}
        labelers[part.column] = make_labeler(part, memory, earlier=earlier)
    found = ColumnLabelers(model, labelers, memory).label(sentences)
    return {name: labels for name, (labels, _) in found.items()}


class Judged:
    """A column of a dev set: what words and endings would settle, and whether that is right.

    Tokens of the same word and labels before are one item.
    """

    def __init__(
        self, column: Column, counted: Counted, dev: Sequence[Sentence], labels: Labels
    ) -> None:
        numbers: dict[Item, int] = {}
        items = chain.from_iterable(column.items(dev, labels))
        self._item = np.array([numbers.setdefault(item, len(numbers)) for item in items], np.int64)
        own = chain(*labels[column.name])
        gold = [*chain(*gold_for(column.part, dev, column.name))]
        self._is_right = np.array([a == b for a, b in zip(own, gold, strict=True)], bool)
        self.column, self._counted, self._found = column, counted, counted.found(numbers)
        write, texts = column.writer, dict[str, int]()
        met = np.concatenate(
            (
                counted.words.label[self._found.words][:, None],
                counted.endings.label[self._found.endings],
            ),
            axis=1,
        )
        # What would be written by the word, and by each of its endings.
        written = np.array(
            [
                [
                    -1 if one == OPEN else texts.setdefault(write(form, one), len(texts))
                    for one in row
                ]
                for (form, _, _), row in zip(numbers, met.tolist(), strict=True)
            ],
            np.int64,
        ).reshape(met.shape)
        wanted = np.array([texts.get(one or "", -2) for one in gold], np.int64)
        self._is_labeled = np.array([one is not None for one in gold], bool)
        self._would_be_right = written[self._item] == wanted[:, None]
        self.among(np.ones(len(gold), bool))

    def among(self, sure: Truths) -> None:
        """Judge by the tokens alone that are sure."""
        n_items = len(self._found.words)

        def n_of(those: Truths) -> npt.NDArray[np.int64]:
            return np.bincount(self._item[those & sure & self._is_labeled], minlength=n_items)

        self._n = n_of(sure)
        self._n_right = n_of(self._is_right)
        self._n_would_be = np.stack([n_of(own) for own in self._would_be_right.T])

    def _outcomes(self, rule: Rule) -> npt.NDArray[np.int64]:
        """Return by item the tokens settled, those right, and right without."""
        labels, ending = self._counted.settled(rule, self._found)
        n_right = np.take_along_axis(self._n_would_be, ending[None] + 1, axis=0)[0]
        outcomes: npt.NDArray[np.int64] = np.stack((self._n, n_right, self._n_right))
        return np.where(labels != OPEN, outcomes, 0)

    def best_rule(self, per_mistake: int | None) -> Rule:
        """Return the rule that settles the most if of so many tokens one may become wrong.

        None: the strictest, of words alone, if it costs none.
        """
        if per_mistake is None:
            return self._most_of([Rule(_WORDS[-1][0])], Rule(), 0)
        least = -(len(self._item) // per_mistake)
        rule = self._most_of([Rule(*words) for words in _WORDS], Rule(), least)
        more = [rule._replace(endings=n, endings_share=share) for n, share in _ENDINGS]
        return self._most_of(more, rule, least)

    def _most_of(self, rules: Sequence[Rule], otherwise: Rule, least: int) -> Rule:
        best, most = otherwise, 0
        for rule in rules:
            n_settled, right, without = self._outcomes(rule).sum(axis=1).tolist()
            if right - without >= least and n_settled > most:
                best, most = rule, n_settled
        return best

    def n_settled(self, rule: Rule) -> int:
        """Return how many tokens a rule settles."""
        return int(self._outcomes(rule)[0].sum())

    def chosen(self, rule: Rule, lead: float) -> Chosen:
        """Return the rule and the accuracy of what it settles, as if one more were half right."""
        outcomes = self._outcomes(rule)
        # A word of which its ending says the same is settled by that.
        _, in_table = self._counted.in_table(rule)
        by_word = in_table[self._found.words]
        ways = (outcomes[:, own].sum(axis=1).tolist() for own in (by_word, ~by_word))
        words, endings = (round((own[1] + 0.5) / (own[0] + 1), 6) for own in ways)
        return Chosen(rule, (words, endings), lead)
