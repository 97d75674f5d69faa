"""Lemmas of words: what the edit script that scores best makes of each, if it applies to it."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, partial
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from perceptron_nlp.tagger.model.label_components import UPOS
from perceptron_nlp.tagger.model.lemmas import KNOWN, LONGEST_CACHED, KnownLemmas, StoredLemmas
from perceptron_nlp.text.scripts import (
    Script,
    accented_letter,
    lowered,
    parse_script,
    raised,
    read_in,
    without_acute,
)
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.tagset import TagSet, word_bytes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from perceptron_nlp._core.model.frozenmodel import CacheMemory, CacheUse
    from perceptron_nlp._core.tag.decode import SentenceDecoder
    from perceptron_nlp.tagger.model.settled import Settled

# Bytes of a lemma that is remembered with the item that it is of.
_COST = 400
# What the core can do: columns of tags, and the number of the column of known lemmas there.
_MOST_TAGS, KNOWN_COLUMN = 3, -1
Item = tuple[str, bool, tuple[str, ...]]
"""A word, whether it is the first of its sentence, and its tags: all that a lemma depends on."""


class ScriptLabels:
    """The labels of a model as the edit scripts that they are.

    tags : the labels
    alphabet : the letters that they are written with
    """

    def __init__(self, tags: TagSet, alphabet: str) -> None:
        self.scripts = [parse_script(label) for label in tags]
        self._alphabet = alphabet

    def lemma(self, word: str, number: int) -> str | None:
        """Return the lemma that a label makes of a word; None if it does not apply to it."""
        return self.scripts[number].apply(word, self._alphabet) or None

    def best(self, word: str, scores: npt.NDArray[np.float64]) -> int:
        """Return the number of the best label that applies to a word; of the best if none does."""
        order: list[int] = (-scores).argsort(kind="stable").tolist()
        return next((number for number in order if self.lemma(word, number)), order[0])

    def runner_up(self, word: str, lemma: str, scores: npt.NDArray[np.float64]) -> int:
        """Return the number of the best label that makes another lemma; -1 if none does."""
        order = (-scores).argsort(kind="stable").tolist()
        return next((n for n in order if self.lemma(word, n) not in (None, lemma)), -1)

    def brief(self, number: int) -> str:
        """Return a label for people to read, see Script.brief."""
        return self.scripts[number].brief()


class Lemmatizer:
    """Turns words into lemmas by the scripts that a labeler gives; for several threads at once.

    A lemma depends on the word, its tags and its being the first of its sentence, so that each such
    item is labeled once and remembered.

    tags : columns that the model looks at
    scripts : its labels
    lemmas : the lemmas that it knows
    memory : what its cache may take together with others
    settled : what settles labels by words and tags, or None
    """

    def __init__(
        self,
        tags: Sequence[str],
        scripts: TagSet,
        lemmas: KnownLemmas,
        memory: CacheMemory,
        settled: Settled | None = None,
    ) -> None:
        self._tags = tags
        self.settled = settled
        self._labels = scripts
        self._lemmas = lemmas
        self._memory = memory
        self._cache: dict[Item, str] = {}
        self._use: CacheUse | None = None

    def lemmas(
        self,
        sentences: Sequence[Sequence[str]],
        label: Callable[[list[Sequence[str]]], list[list[str]]],
        scores: Callable[[Sequence[str]], npt.NDArray[np.float64]],
    ) -> list[list[str]]:
        """Return the lemmas of sentences that have the columns of tags."""
        # Texts whose lemmas the core finds do without.
        self._use = self._use or self._memory.enter(_COST)
        found: list[list[Any]] = []
        late: list[tuple[list[Any], list[Item]]] = []
        for sentence in sentences:
            items = self._items(sentence)
            found.append(list(map(self._cache.get, items)))
            if None in found[-1]:
                late.append((found[-1], items))
        new = {item for own, items in late for item, one in zip(items, own, strict=True) if not one}
        if new:
            made = dict(zip(sorted(new), self.lemmas_of(sorted(new), label, scores), strict=True))
            for own, items in late:
                own[:] = [one or made[item] for item, one in zip(items, own, strict=True)]
            short = {item: lemma for item, lemma in made.items() if len(item[0]) <= LONGEST_CACHED}
            if len(self._cache) + len(short) > self._memory.n_words:
                self._cache = {}
            self._cache.update(short)
        return found

    @cached_property
    def _scripts(self) -> ScriptLabels:
        return ScriptLabels(self._labels, self._lemmas.alphabet)

    def core_form(
        self, decoder: SentenceDecoder, looked_at: Sequence[str], written: Sequence[Sequence[str]]
    ) -> tuple[Any, ...] | None:
        """Return what the core's LemmaDecoder is made of; None if the core cannot do it."""
        if len(written) > _MOST_TAGS or decoder.looks_around:
            return None
        lemmas = StoredLemmas.of(self._lemmas.lemmas)
        upos = self._tags.index(UPOS) if UPOS in self._tags else -1
        labels = written[upos] if upos >= 0 else ["_"]
        return (
            decoder,
            [*map(_in_numbers, self._scripts.scripts)],
            [(number, _in_numbers(script)) for number, script in self._lemmas.plain_scripts()],
            (*lemmas.strings, lemmas.only),
            [[word_bytes(label) for label in own] for own in written],
            upos,
            [word_bytes(label) for label in labels],
            [KNOWN_COLUMN if name == KNOWN else self._tags.index(name) for name in looked_at],
            partial(letter_page, alphabet=self._lemmas.alphabet),
            None if self.settled is None else self.settled.table(written),
        )

    def _items(self, sentence: Sequence[str]) -> list[Item]:
        words: Iterable[str] = sentence
        tags: Iterable[Any] = repeat(())
        if isinstance(sentence, Sentence):
            words = sentence.words
            if self._tags:
                tags = zip(*(sentence.column(name) for name in self._tags), strict=True)
        return list(zip(words, chain([True], repeat(False)), tags, strict=False))

    def lemmas_of(
        self,
        items: list[Item],
        label: Callable[[list[Sequence[str]]], list[list[str]]],
        scores: Callable[[Sequence[str]], npt.NDArray[np.float64]],
    ) -> list[str]:
        """Return the lemma of each item; `label` and `scores` are as for `lemmas`."""
        found = self._settled_labels(items)
        first = [item for item in items if item[1] and item not in found]
        later = [item for item in items if not item[1] and item not in found]
        nobody: Item = ("", False, ("",) * len(self._tags))
        sentences = [self._sentence([nobody, *later]), *(self._sentence([one]) for one in first)]
        labels = label([*sentences])
        found.update(zip(later, labels[0][1:], strict=True))
        found.update(zip(first, (own[0] for own in labels[1:]), strict=True))
        lemmas = []
        for item in items:
            word, is_first, _ = item
            lemma = self._scripts.lemma(word, self._labels.id_of(found[item]))
            if not lemma:
                own = scores(self._sentence([item] if is_first else [nobody, item]))
                lemma = self._scripts.lemma(word, self._scripts.best(word, own[-1]))
            lemmas.append(lemma or word)
        return lemmas

    def settled_lemmas(self, sentence: Sequence[str]) -> Iterator[tuple[int, str, float]]:
        """Yield the place of each word whose lemma is settled, the lemma, and its rate."""
        settled = self.settled
        for place, item in enumerate(self._items(sentence) if settled else ()):
            found = settled and settled.find(*item)
            lemma = found and self._scripts.lemma(item[0], found[0])
            if settled and found and lemma:
                yield place, lemma, settled.rates[found[1]]

    def _settled_labels(self, items: Iterable[Item]) -> dict[Item, str]:
        """Return the labels of those items that are settled."""
        if self.settled is None:
            return {}
        found = ((item, self.settled.find(*item)) for item in items)
        return {item: self._labels.label_of(one[0]) for item, one in found if one is not None}

    def _sentence(self, items: Sequence[Item]) -> Sentence:
        columns = zip(*(tags for _, _, tags in items), strict=True)
        named = dict(zip(self._tags, columns, strict=True)) if self._tags else {}
        return Sentence.from_reader(tuple([word for word, _, _ in items]), named, "", 0, None)


def _in_numbers(script: Script) -> tuple[Any, ...]:
    """Return an edit script as the core takes it."""
    if script.literal is not None:
        return "=", script.literal
    return (*script[:5], -1 if script.acute is None else script.acute)


# Characters that the core asks for at a time.
PAGE = 256


@lru_cache(maxsize=256)
def letter_page(number: int, alphabet: str) -> bytes:
    """Return what becomes of PAGE characters from number x PAGE on, as the core sees it.

    Of each six numbers of 32 bits: as it is read, in lower case, in capitals, without its acute,
    with one (0 if it bears none), and flags: 1 for a letter, 2 for a capital, 4 for another case.
    """
    numbers = array("I")
    for letter in map(chr, range(number * PAGE, (number + 1) * PAGE)):
        upper = letter.isupper()
        other = letter.islower() or (letter.istitle() and not upper)
        accented = accented_letter(letter)
        numbers.extend(
            (
                ord(read_in(letter, alphabet) if letter in alphabet else letter),
                ord(lowered(letter, alphabet)),
                ord(raised(letter, alphabet)),
                ord(without_acute(letter)),
                0 if accented is None else ord(accented),
                letter.isalpha() | upper << 1 | other << 2,
            )
        )
    return numbers.tobytes()
