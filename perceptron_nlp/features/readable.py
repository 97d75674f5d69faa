"""What a feature saw, as text for people: ``lower[0]=dog``, ``tag[-1]=DET``.

A value's text is what stands behind its hash (words.h); where it is no text, a word for it:

* ``<s>`` and ``</s>`` beyond the sentence's ends, ``<s2>`` for the second place beyond, and so on;
* ``<none>`` for a label before any was given;
* ``^`` and ``$`` for the edges of a word in its n-grams;
* the names of the marks of the view ``flags``, joined by ``+``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from perceptron_nlp._core.explain import views_of
from perceptron_nlp.features.atoms import MANY, VIEWS, Atom, Value
from perceptron_nlp.features.templates import Template

NO_LABEL = "<none>"
# Bits of the view `flags`, the lowest first.
_FLAGS = ("capital", "all-caps", "inner-capital", "digit", "all-digits", "hyphen", "no-letter",
          "other")
_EDGES = str.maketrans("\x02\x03", "^$")
# n-grams of a longer word are those of its first and last halves of this many (words.h).
_NGRAM_WORD_LIMIT = 48


def value_texts(word: str, value: Value) -> list[str]:
    """The texts whose hashes a value has for a word, in the order of the hashes.

    One, or as many as there are n-grams or pieces; the edges of a word in n-grams are the
    characters U+0002 and U+0003.
    """
    data = views_of(word.encode("utf-8", "surrogatepass"))[VIEWS.index(value.view)]
    text = data.decode("utf-8", "surrogatepass")
    if value.affix == "prefix":
        return [text[:value.low]]
    if value.affix == "suffix":
        return [text[-value.low:]]
    if value.affix == "pieces":
        return [piece for piece in text.split("|") if piece]
    return _ngrams(text, value.low, value.high) if value.affix == "ngrams" else [text]


def _ngrams(text: str, low: int, high: int) -> list[str]:
    half = _NGRAM_WORD_LIMIT // 2
    whole = f"\x02{text}\x03"
    spans = [whole] if len(text) <= _NGRAM_WORD_LIMIT else [whole[:half + 1], whole[-half - 1:]]
    return [span[at:at + k] for span in spans for k in range(low, high + 1)
            for at in range(len(span) - k + 1)]


class Readings:
    """The features of one sentence in readable form.

    Parameters
    ----------
    columns : the columns that templates look at, by name; ``"form"`` are the words
    labels : the labels of all words as they are learnt; None where a word has none that counts
    right_to_left : whether labels were given from the end
    """

    def __init__(self, columns: Mapping[str, Sequence[str]], labels: Sequence[str | None],
                 right_to_left: bool) -> None:
        self._columns = columns
        self._labels = labels
        self._step = 1 if right_to_left else -1
        self._texts: dict[tuple[Value, int], list[str]] = {}

    def feature(self, template: Template, i: int, gram: int) -> str:
        """The feature of a template at word i; `gram` says which, of a template of many."""
        return " ".join(f"{atom}={self.atom(atom, i, gram)}" for atom in template.atoms)

    def atom(self, atom: Atom, i: int, gram: int) -> str:
        """What one atom saw at word i."""
        n = len(self._labels)
        if atom.kind == "value" and atom.value is not None:
            return self._value(atom.value, i + atom.offset, gram)
        if atom.kind == "tag":
            at = i - self._step * atom.offset
            return (self._labels[at] if 0 <= at < n else None) or NO_LABEL
        if atom.kind == "bias":
            return "1"
        return "yes" if i == (0 if atom.kind == "first" else n - 1) else "no"

    def _value(self, value: Value, at: int, gram: int) -> str:
        n = len(self._labels)
        if not 0 <= at < n:
            distance = -at if at < 0 else at - n + 1
            return f"<{'s' if at < 0 else '/s'}{distance if distance > 1 else ''}>"
        texts = self._texts.get((value, at))
        if texts is None:
            found = value_texts(self._columns[value.column][at], value)
            texts = self._texts[value, at] = [_shown(text, value) for text in found]
        return texts[gram if value.affix in MANY else 0]


def _shown(text: str, value: Value) -> str:
    if value.view == "flags" and value.affix == "none":
        marks = ord(text)
        return "+".join(name for bit, name in enumerate(_FLAGS) if marks >> bit & 1) or "none"
    return text.translate(_EDGES) if value.affix == "ngrams" else text
