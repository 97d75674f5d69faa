"""Lemmas that a model knows: which edit scripts lead from a word to one of them.

A column of the words' own, ``known``, names the scripts that turn a word into a lemma that training
met with the same part of speech, of *another* form: ``u3|u17``. Leaving the form itself out, in
training and afterwards, is what makes it work, since training would else see the answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from perceptron_nlp.errors import FormatError
from perceptron_nlp.tagger.model.weights import numbers_named
from perceptron_nlp.tagger.model.word_tables import ABSENT, strings_as_arrays, strings_from_arrays
from perceptron_nlp.text.scripts import (
    Script,
    acute_places,
    lowered,
    parse_script,
    with_acute,
    without_acute,
)
from perceptron_nlp.text.tagset import word_hash

if TYPE_CHECKING:
    import numpy.typing as npt

    from perceptron_nlp.formats.tensorfile import Tensor

KNOWN = "known"
"""The column's name."""
SCRIPTS = "scripts"
"""The scheme of models whose labels are edit scripts."""
_MOST = 8
Ends = tuple[str, str, "int | None"]
"""What a script puts before and behind a stem, and where it sets an accent, if it does."""
_SEVERAL = 0
_CACHED = 1 << 16
LONGEST_CACHED = 64
"""Characters of a word that is remembered, so that memory does not follow what words are long."""


class KnownLemmas:
    """Lemmas and the scripts that may lead to them; any number of threads may use it at once.

    turkic : lower-case I to ı and İ to i
    scripts : labels of scripts without literals, the most frequent first; their case counts not
    lemmas : by ``lemma<tab>part of speech``, in lower case, 32 bits of the hash of the only form
        that it was met with, or 0 for several
    """

    def __init__(self, turkic: bool, scripts: Sequence[str], lemmas: Mapping[str, int]) -> None:
        self.turkic = turkic
        self.scripts = tuple(scripts)
        self.lemmas = lemmas
        self._cache: dict[tuple[str, str], str] = {}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KnownLemmas):
            return NotImplemented
        own, others = ((one.turkic, one.scripts, one.lemmas) for one in (self, other))
        return own == others

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def of(cls, words: Iterable[tuple[str, str, str, Script]], *, turkic: bool) -> KnownLemmas:
        """Return the lemmas of (form, part of speech, lemma, script) of each word of a text."""
        forms: dict[str, int] = {}
        counts: Counter[str] = Counter()
        for form, upos, lemma, script in words:
            key = f"{lowered(lemma, turkic=turkic)}\t{upos}"
            own = _form_hash(lowered(form, turkic=turkic))
            if forms.setdefault(key, own) != own:
                forms[key] = _SEVERAL
            if script.literal is None:
                counts[str(script._replace(case="l"))] += 1
        common = sorted(
            (label for label, n in counts.items() if n > 1),
            key=lambda label: (-counts[label], label),
        )
        return cls(turkic, common, dict(sorted(forms.items())))

    def with_lexicon(self, entries: Iterable[tuple[str, str]]) -> KnownLemmas:
        """Return these lemmas and those of a lexicon: (lemma, part of speech) pairs."""
        more = {
            f"{lowered(lemma, turkic=self.turkic)}\t{upos}": _SEVERAL for lemma, upos in entries
        }
        return KnownLemmas(self.turkic, self.scripts, dict(sorted({**self.lemmas, **more}.items())))

    @property
    def parts_of_speech(self) -> list[str]:
        """Parts of speech that the lemmas have, in code point order."""
        return sorted({key.rpartition("\t")[2] for key in self.lemmas})

    def plain_scripts(self) -> list[tuple[int, Script]]:
        """Return the number and the script of all that may lead to a known lemma."""
        found = []
        for drops, scripts in self._by_drops.items():
            for (front, back, acute), number in scripts.items():
                # Accents that are set do not stand beside others.
                if acute is None or without_acute(front + back) == front + back:
                    found.append((number, Script("l", drops[0], front, drops[1], back, acute)))
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

    def _value(self, word: str, upos: str) -> str:
        low = lowered(word, turkic=self.turkic)
        if not any(letter.isalpha() for letter in low):
            return ABSENT
        own, found = _form_hash(low), []
        plain, accented = self._inner
        for (front, back), scripts in self._by_drops.items():
            if front + back >= len(low):
                continue
            stem = low[front : len(low) - back]
            bare = without_acute(stem) if accented else stem
            for ends in (*plain.get(stem, ()), *accented.get(bare, ())):
                number = scripts.get(ends)
                if number is None:
                    continue
                before, behind, acute = ends
                lemma = before + stem + behind
                if acute is not None:
                    lemma = with_acute(before + bare + behind, acute)
                only = self.lemmas.get(f"{lemma}\t{upos}")
                if only is not None and only != own:
                    found.append(number)
        return "|".join(f"u{number}" for number in sorted(found)[:_MOST]) or ABSENT

    @cached_property
    def _by_drops(self) -> dict[tuple[int, int], dict[Ends, int]]:
        """The number of each script by what it drops, and then by what it puts there."""
        grouped: dict[tuple[int, int], dict[Ends, int]] = {}
        for number, label in enumerate(self.scripts):
            script = parse_script(label)
            ends = (script.front, script.back, script.acute)
            grouped.setdefault((script.drop_front, script.drop_back), {}).setdefault(ends, number)
        return grouped

    @cached_property
    def _inner(self) -> tuple[dict[str, list[Ends]], dict[str, list[Ends]]]:
        """By the stems of lemmas, what some script may put about each: without and with accents."""
        plain: dict[str, list[Ends]] = {}
        accented: dict[str, list[Ends]] = {}
        by_front: dict[tuple[str, bool], set[str]] = {}
        for scripts in self._by_drops.values():
            for front, back, acute in scripts:
                by_front.setdefault((front, acute is not None), set()).add(back)
        longest = max((len(back) for backs in by_front.values() for back in backs), default=0)
        acutes = {acute for scripts in self._by_drops.values() for _, _, acute in scripts}
        places = sorted(place for place in acutes if place is not None)
        for lemma in {key.partition("\t")[0] for key in self.lemmas}:
            bare = without_acute(lemma)
            accents = acute_places(lemma, places) if places else []
            for (front, has_accent), backs in by_front.items():
                text, found = (bare, accented) if has_accent else (lemma, plain)
                if not text.startswith(front):
                    continue
                for length in range(min(longest, len(text) - len(front) - 1) + 1):
                    back = text[len(text) - length :]
                    if back in backs:
                        found.setdefault(text[len(front) : len(text) - length], []).extend(
                            (front, back, place) for place in (accents if has_accent else [None])
                        )
        return plain, accented


def _form_hash(form: str) -> int:
    return word_hash(form) >> 32 or 1


def lemmas_as_arrays(
    lemmas: KnownLemmas, number: int
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Return the description and the arrays of known lemmas, as part `number` of a model file."""
    # Here, since tagging does without NumPy.
    import numpy as np

    arrays = strings_as_arrays(list(lemmas.lemmas), f"{number}.lemmas.")
    arrays[f"{number}.lemmas.only"] = np.array(list(lemmas.lemmas.values()), np.uint32)
    return {"turkic": lemmas.turkic, "scripts": list(lemmas.scripts)}, arrays


def lemmas_from_arrays(
    described: Any, tensors: Mapping[str, Tensor], number: int, bad: Callable[[str, str], Exception]
) -> KnownLemmas:
    """Return the known lemmas of a model file, every part of them checked."""
    if not isinstance(described, dict) or not isinstance(described.get("turkic"), bool):
        raise bad("lemmas", "not a description of known lemmas")
    scripts = described.get("scripts")
    if not isinstance(scripts, list) or not all(isinstance(label, str) for label in scripts):
        raise bad("lemmas", "scripts that are no strings")
    try:
        literals = [label for label in scripts if parse_script(label).literal is not None]
    except FormatError as error:
        raise bad("lemmas", str(error)) from None
    keys = strings_from_arrays(tensors, f"{number}.lemmas.", lambda what: bad("lemmas", what))
    only = numbers_named(tensors, f"{number}.lemmas.only", ("U32",), bad)
    if literals or len(only) != len(keys):
        raise bad("lemmas", "literal scripts, or other forms than lemmas")
    return KnownLemmas(described["turkic"], scripts, dict(zip(keys, only, strict=True)))
