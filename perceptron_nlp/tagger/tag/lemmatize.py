"""Lemmas of words: what the edit script that scores best makes of each, if it applies to it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from perceptron_nlp.tagger.model.lemmas import KNOWN, KnownLemmas
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.model.word_tables import with_columns
from perceptron_nlp.tagger.tag.constraints import Keep, with_kept
from perceptron_nlp.tagger.tag.label import TemplateLabeller
from perceptron_nlp.text.scripts import Script, parse_script
from perceptron_nlp.text.sentence import Sentence

UPOS = "upos"
_CACHED = 1 << 17
Item = tuple[str, bool, tuple[str, ...]]
"""A word, whether it is the first of its sentence, and its tags: all that a lemma depends on."""


class LemmaLabeller(TemplateLabeller):
    """A model of edit scripts, ready to lemmatize; several threads may use it at once.

    A lemma depends on the word, its tags and its being the first of its sentence, so that each such
    item is labeled once and remembered.
    """

    def __init__(
        self, model: TaggerModel, lemmas: KnownLemmas, cache_limit: int | None = None
    ) -> None:
        super().__init__(model, cache_limit)
        self._lemmas = lemmas
        self._tags = model.evidence
        self._cache: dict[Item, str] = {}

    def label(
        self, sentences: list[Sequence[str]], keep: Sequence[Keep] | None = None, threads: int = 1
    ) -> list[list[str]]:
        """Return the lemmas of prepared sentences; `keep` has those that they have already."""
        items = [self._items(sentence, number) for number, sentence in enumerate(sentences)]
        cache = self._cache
        new = sorted({item for own in items for item in own if item not in cache})
        if len(cache) + len(new) > _CACHED:
            cache = self._cache = {}
            new = sorted({item for own in items for item in own})
        cache.update(zip(new, self._lemmas_of(new), strict=True))
        lemmas = [[cache[item] for item in own] for own in items]
        if keep is None:
            return lemmas
        return [with_kept(found, kept) for found, kept in zip(lemmas, keep, strict=True)]

    def lemma(self, word: str, label: str) -> str | None:
        """Return what the script of a label makes of a word; None if it does not apply to it."""
        return self._scripts[label].apply(word, turkic=self._lemmas.turkic)

    @cached_property
    def _scripts(self) -> dict[str, Script]:
        return {label: parse_script(label) for label in self._model.tags}

    def _items(self, sentence: Sequence[str], number: int) -> list[Item]:
        words = sentence
        tags: Any = [()] * len(sentence)
        if self._tags:
            checked = self._check_columns(sentence, number)
            words = checked.words
            tags = zip(*(checked.column(name) for name in self._tags), strict=True)
        return [
            (word, at == 0, own) for at, (word, own) in enumerate(zip(words, tags, strict=True))
        ]

    def _lemmas_of(self, items: list[Item]) -> list[str]:
        """Return the lemmas of items, in ascending order: those that are not first come before."""
        later = [item for item in items if not item[1]]
        sentences = [self._sentence([("", False, ("",) * len(self._tags)), *later])]
        sentences += [self._sentence([item]) for item in items if item[1]]
        labels = self.learned_labels(sentences)
        found = dict(zip(later, labels[0][1:], strict=True))
        found.update(zip((i for i in items if i[1]), (own[0] for own in labels[1:]), strict=True))
        return [
            self.lemma(item[0], found[item]) or self._best_that_applies(item) for item in items
        ]

    def _best_that_applies(self, item: Item) -> str:
        """Return the lemma by the best script that applies to a word, or the word itself."""
        before = [] if item[1] else [("", False, ("",) * len(self._tags))]
        scores = self.scores(self._sentence([*before, item]))[-1]
        for number in (-scores).argsort(kind="stable").tolist():
            lemma = self.lemma(item[0], self._model.tags.label_of(number))
            if lemma:
                return lemma
        return item[0]

    def _sentence(self, items: Sequence[Item]) -> Sentence:
        columns = zip(*(tags for _, _, tags in items), strict=True)
        named = dict(zip(self._tags, columns, strict=True)) if self._tags else {}
        return Sentence.from_reader(tuple([word for word, _, _ in items]), named, "", 0, None)

    def _inputs(
        self,
        sentences: Sequence[Sequence[str]],
        keep: Sequence[Keep] | None = None,
        threads: int = 1,
    ) -> list[Any]:
        """Return sentences with the columns that the templates look at, scripts among them."""
        known = []
        for number, sentence in enumerate(sentences):
            words, upos = tuple(sentence), ("_",) * len(sentence)
            if UPOS in self._tags:
                upos = tuple(self._check_columns(sentence, number).column(UPOS))
            known.append(with_columns(sentence, {KNOWN: self._lemmas.column(words, upos)}))
        return super()._inputs(known, keep, threads)
