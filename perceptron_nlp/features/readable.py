"""Features as text for people: ``lower[0]=dog``, ``tag[-1]=DET``.

Offsets are in the order of the text, -1 the word before and +1 the word after, whatever direction
the labels were given in.

A value's text is what stands behind its hash (values.h); if it is no text, a word for it:

* ``<s>`` and ``</s>`` beyond the sentence's ends, ``<s2>`` for the second place beyond, and so on;
* ``<none>`` for a label before any was given;
* ``^`` and ``$`` for the edges of a word in its n-grams;
* the names of the marks of the view ``flags``, joined by ``+``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from perceptron_nlp._core.features.extract import views_of
from perceptron_nlp.features.templates import VIEWS, Atom, Template, Value

NO_LABEL = "<none>"
# Bits of the view `flags`, the lowest first.
_FLAGS = (
    "capital",
    "all-caps",
    "inner-capital",
    "digit",
    "all-digits",
    "hyphen",
    "no-letter",
    "other",
)
# n-grams of a longer word are those of its first and last halves of this many (values.h).
_NGRAM_WORD_LIMIT = 48
_REMEMBERED = 100_000


def value_texts(word: str, value: Value, edges: str = "\x02\x03") -> list[str]:
    """Return the texts whose hashes a value has for a word, in the order of the hashes.

    There is one, or as many as n-grams or pieces. ``edges`` are two characters for the edges of the
    word in its n-grams; as they are hashed, U+0002 and U+0003.
    """
    data = views_of(word.encode("utf-8", "surrogatepass"))[VIEWS.index(value.view)]
    text = data.decode("utf-8", "surrogatepass")
    if value.affix == "prefix":
        return [text[: value.low]]
    if value.affix == "suffix":
        return [text[-value.low :]]
    if value.affix == "pieces":
        return [piece for piece in text.split("|") if piece]
    return _ngrams(text, value, edges) if value.affix == "ngrams" else [text]


def _ngrams(text: str, value: Value, edges: str) -> list[str]:
    half = _NGRAM_WORD_LIMIT // 2
    whole = f"{edges[0]}{text}{edges[1]}"
    spans = [whole] if len(text) <= _NGRAM_WORD_LIMIT else [whole[: half + 1], whole[-half - 1 :]]
    return [
        span[at : at + k]
        for span in spans
        for k in range(value.low, value.high + 1)
        for at in range(len(span) - k + 1)
    ]


class ReadableTemplates:
    """Templates made ready for saying what they saw.

    ``names`` are the templates, their offsets in the order of the text; ``atoms`` for each its
    atoms, with the number that each is remembered by.
    """

    def __init__(self, templates: Sequence[Template], right_to_left: bool) -> None:
        self.right_to_left = right_to_left
        self.names = tuple(template.in_text_order(right_to_left) for template in templates)
        numbers: dict[Atom, int] = {}
        self.atoms = tuple(
            tuple((atom, numbers.setdefault(atom, len(numbers))) for atom in template.atoms)
            for template in templates
        )
        self.heads = [atom.in_text_order(right_to_left) for atom in numbers]
        self._texts: dict[tuple[int, str], list[str]] = {}

    def texts(self, atom: Atom, number: int, word: str) -> list[str]:
        """Return what an atom saw in a word, one text or many: ``["lower[0]=dog"]``."""
        found = self._texts.get((number, word))
        if found is None:
            found = [f"{self.heads[number]}={text}" for text in _shown(atom.value, word)]
            if len(self._texts) >= _REMEMBERED:
                self._texts.clear()
            self._texts[number, word] = found
        return found


@dataclass(eq=False)
class ReadableFeatures:
    """The features of one sentence, whose labels are as they are learned, in readable form."""

    templates: ReadableTemplates
    columns: Mapping[str, Sequence[str]]
    labels: Sequence[str]

    def __post_init__(self) -> None:
        self._step = 1 if self.templates.right_to_left else -1

    def name(self, template: int) -> str:
        """Return a template by its number, its offsets in the order of the text."""
        return self.templates.names[template]

    def feature(self, template: int, i: int, gram: int) -> str:
        """Return the feature of a template at word i; `gram` says which, of a template of many."""
        atoms = self.templates.atoms[template]
        if len(atoms) == 1:
            return self._told(*atoms[0], i, gram)
        return " ".join([self._told(atom, number, i, gram) for atom, number in atoms])

    def _told(self, atom: Atom, number: int, i: int, gram: int) -> str:
        value, at, n = atom.value, i + atom.offset, len(self.labels)
        head = self.templates.heads[number]
        if value is None:
            return f"{head}={self._mark(atom, i)}"
        if 0 <= at < n:
            texts = self.templates.texts(atom, number, self.columns[value.column][at])
            # Beside a value of many others of the word are one.
            return texts[gram if len(texts) > 1 else 0]
        distance = -at if at < 0 else at - n + 1
        return f"{head}=<{'s' if at < 0 else '/s'}{distance if distance > 1 else ''}>"

    def _mark(self, atom: Atom, i: int) -> str:
        n = len(self.labels)
        if atom.kind == "tag":
            at = i - self._step * atom.offset
            return self.labels[at] if 0 <= at < n else NO_LABEL
        if atom.kind == "bias":
            return "1"
        return "yes" if i == (0 if atom.kind == "first" else n - 1) else "no"


def _shown(value: Value | None, word: str) -> list[str]:
    if value is None:
        return []
    texts = value_texts(word, value, "^$")
    if value.view != "flags" or value.affix != "none":
        return texts
    marks = ord(texts[0])
    return ["+".join(name for bit, name in enumerate(_FLAGS) if marks >> bit & 1) or "none"]
