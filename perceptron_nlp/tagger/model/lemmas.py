"""Lemmas that a model knows: which edit scripts lead from a word to one of them.

A column of the words' own, ``known``, names the scripts that turn a word into a lemma that training
met with the same part of speech, of *another* form: ``u3|u17``. Leaving the form itself out, in
training and afterwards, is what makes it work, since training would else see the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from perceptron_nlp.errors import FormatError
from perceptron_nlp.tagger.model.derived import ABSENT, Around, Sentences
from perceptron_nlp.tagger.model.label_components import UPOS
from perceptron_nlp.tagger.model.weights import Reader, Writer, are_strings
from perceptron_nlp.text.scripts import (
    ALPHABET,
    Script,
    lowered,
    parse_script,
    read_in,
    with_acute,
    without_acute,
)
from perceptron_nlp.text.sentence import Sentence, with_columns
from perceptron_nlp.text.tagset import Strings, word_hash

KNOWN = "known"
"""The column's name."""
_MOST = 8
# What a script drops in front and behind, what it puts in front, and whether it sets an accent.
_Stem = tuple[int, int, str, bool]
_NOTHING: frozenset[str] = frozenset()
SEVERAL = 0
_CACHED = 1 << 14
LONGEST_CACHED = 64
"""Characters of a word that is remembered, so that memory does not follow what words are long."""


class StoredLemmas(Mapping[str, int]):
    """Known lemmas of a file, decoded when one is asked for: the core takes them as they are.

    strings : ``lemma<tab>part of speech``, ascending
    only : uint32, of each the hash of its only form or 0; see KnownLemmas
    """

    def __init__(self, strings: Strings, only: memoryview) -> None:
        self.strings = strings
        self.only = only

    @classmethod
    def of(cls, lemmas: Mapping[str, int]) -> StoredLemmas:
        """Return lemmas in this form."""
        if isinstance(lemmas, StoredLemmas):
            return lemmas
        # Here, since tagging has what a file has.
        from array import array

        return cls(Strings.of(lemmas), memoryview(array("I", lemmas.values())))

    @cached_property
    def _decoded(self) -> dict[str, int]:
        return dict(zip(self.strings.decoded(), self.only, strict=True))

    def __getitem__(self, key: str) -> int:
        return self._decoded[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._decoded)

    def __len__(self) -> int:
        return len(self.only)


class KnownLemmas:
    """Lemmas and the scripts that may lead to them; any number of threads may use it at once.

    alphabet : the letters that they are written with
    scripts : labels of scripts without literals, the most frequent first; their case counts not
    lemmas : by ``lemma<tab>part of speech``, in lower case, 32 bits of the hash of the only form
        that it was met with, or 0 for several
    """

    def __init__(self, alphabet: str, scripts: Sequence[str], lemmas: Mapping[str, int]) -> None:
        self.alphabet = alphabet
        self.scripts = tuple(scripts)
        self.lemmas = lemmas
        self._cache: dict[tuple[str, str], str] = {}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KnownLemmas):
            return NotImplemented
        own, others = ((one.alphabet, one.scripts, one.lemmas) for one in (self, other))
        return own == others

    __hash__ = None  # type: ignore[assignment]

    def with_lexicon(self, entries: Iterable[tuple[str, str]]) -> KnownLemmas:
        """Return these lemmas and those of a lexicon: (lemma, part of speech) pairs."""
        more = {f"{lowered(lemma, self.alphabet)}\t{upos}": SEVERAL for lemma, upos in entries}
        lemmas = dict(sorted({**self.lemmas, **more}.items()))
        return KnownLemmas(self.alphabet, self.scripts, lemmas)

    @property
    def parts_of_speech(self) -> list[str]:
        """Parts of speech that the lemmas have, in code point order."""
        return sorted({key.rpartition("\t")[2] for key in self.lemmas})

    def plain_scripts(self) -> list[tuple[int, Script]]:
        """Return the number and the script of all that may lead to a known lemma."""
        found = []
        for (drop_front, drop_back, front, _), scripts in self._by_stem.items():
            for back, own in scripts.items():
                for acute, number in own:
                    # Accents that are set do not stand beside others.
                    if acute is None or without_acute(front + back) == front + back:
                        script = Script("l", drop_front, front, drop_back, back, acute)
                        found.append((number, script))
        return sorted(found)

    def column(self, words: Sequence[str], upos: Sequence[str]) -> tuple[str, ...]:
        """Return the values of the column for the words of a sentence."""
        cache = self._cache
        if len(cache) > _CACHED:
            cache.clear()
        values = []
        for item in zip(words, upos, strict=True):
            value = cache.get(item)
            if value is None:
                value = self._value(*item)
                if len(item[0]) <= LONGEST_CACHED:
                    cache[item] = value
            values.append(value)
        return tuple(values)

    @property
    def key(self) -> str:
        """See Derived."""
        return "lemmas"

    @property
    def looks_around(self) -> bool:
        """See Derived."""
        return False

    def needs(self, columns: frozenset[str]) -> frozenset[str]:
        """See Derived; parts of speech are looked at where there are any."""
        return columns - {KNOWN}

    def add(self, sentences: Sentences, around: Around) -> list[Sentence]:
        """See Derived."""
        return [self._added_to(sentence, UPOS in around.columns) for sentence in sentences]

    def _added_to(self, sentence: Sequence[str], has_upos: bool) -> Sentence:
        upos: Sequence[str] | None = None
        if has_upos and isinstance(sentence, Sentence):
            upos = sentence.columns.get(UPOS)
        upos = ("_",) * len(sentence) if upos is None else upos
        return with_columns(sentence, {KNOWN: self.column(tuple(sentence), upos)})

    def write(self, writer: Writer) -> dict[str, Any]:
        """See Derived."""
        # Here, since tagging does without NumPy.
        import numpy as np

        lemmas, stored = writer.under("lemmas"), StoredLemmas.of(self.lemmas)
        lemmas.put_strings(stored.strings)
        lemmas.put("only", np.array(stored.only, np.uint32))
        return {"alphabet": self.alphabet, "scripts": list(self.scripts)}

    @classmethod
    def read(cls, described: Any, reader: Reader) -> KnownLemmas:
        """See Derived."""
        bad, lemmas = reader.bad, reader.under("lemmas")
        alphabet = described.get("alphabet") if isinstance(described, dict) else None
        if not isinstance(alphabet, str) or not {*alphabet} <= ALPHABET:
            raise bad("lemmas", "not a description of known lemmas")
        scripts = described.get("scripts")
        if not isinstance(scripts, list) or not are_strings(scripts):
            raise bad("lemmas", "scripts that are no strings")
        try:
            literals = [label for label in scripts if parse_script(label).literal is not None]
        except FormatError as error:
            raise bad("lemmas", str(error)) from None
        stored = StoredLemmas(lemmas.strings(), lemmas.numbers("only", "U32"))
        if literals or len(stored) != len(stored.strings.starts) - 1:
            raise bad("lemmas", "literal scripts, or other forms than lemmas")
        return cls(alphabet, scripts, stored)

    def _value(self, word: str, upos: str) -> str:
        low = lowered(read_in(word, self.alphabet), self.alphabet)
        if not any(letter.isalpha() for letter in low):
            return ABSENT
        own, bare, found = form_hash(low), without_acute(low), []
        plain, accented = self._beginnings
        for (front, back, before, has_accent), scripts in self._by_stem.items():
            if front + back >= len(low):
                continue
            begin = before + (bare if has_accent else low)[front : len(low) - back]
            for behind in (accented if has_accent else plain).get(begin, _NOTHING) & scripts.keys():
                for acute, number in scripts[behind]:
                    lemma = begin + behind if acute is None else with_acute(begin + behind, acute)
                    only = self.lemmas.get(f"{lemma}\t{upos}")
                    if only is not None and only != own:
                        found.append(number)
        return "|".join(f"u{number}" for number in sorted(found)[:_MOST]) or ABSENT

    @cached_property
    def _by_stem(self) -> dict[_Stem, dict[str, list[tuple[int | None, int]]]]:
        """The accent and the number of each script by the stem left, then by what is behind."""
        grouped: dict[_Stem, dict[str, list[tuple[int | None, int]]]] = {}
        numbers: dict[Script, int] = {}
        for number, label in enumerate(self.scripts):
            script = parse_script(label)
            if numbers.setdefault(script._replace(case="l"), number) == number:
                stem = script.drop_front, script.drop_back, script.front, script.acute is not None
                own = grouped.setdefault(stem, {}).setdefault(script.back, [])
                own.append((script.acute, number))
        return grouped

    @cached_property
    def _beginnings(self) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
        """By beginnings of lemmas what scripts may put behind: as they are; without accents."""
        plain: dict[str, set[str]] = {}
        accented: dict[str, set[str]] = {}
        for found, has_accent in ((plain, False), (accented, True)):
            own = [scripts for stem, scripts in self._by_stem.items() if stem[3] == has_accent]
            backs = {back for scripts in own for back in scripts}
            lengths = sorted(set(map(len, backs)))
            for lemma in {key.partition("\t")[0] for key in self.lemmas if backs}:
                text = without_acute(lemma) if has_accent else lemma
                for length in lengths:
                    back = text[len(text) - length :]
                    if length < len(text) and back in backs:
                        found.setdefault(text[: len(text) - length], set()).add(back)
        return plain, accented


def form_hash(form: str) -> int:
    return word_hash(form) >> 32 or 1
