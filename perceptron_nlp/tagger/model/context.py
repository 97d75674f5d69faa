"""Document context: columns derived from what other sentences of a text show of a name.

A name that says little where it stands may say more elsewhere in the text: *Recoba* alone may be
anything, but *Alvaro Recoba scored* three sentences on is a person (Chieu and Ng, 2002, "Named
entity recognition: a maximum entropy approach using global information"). So each capitalized
word gets, as values cut at their bars (the affix ``pieces``):

* ``near``: how often the word stands capitalized elsewhere nearby (0 to 3), whether also after
  the start of a sentence, whether also in lower case, and whether words beside it are capitalized;
* ``near-left``, ``near-right``: the words, in lower case, that stand beside it there;
* ``near-left-NAME``, ``near-right-NAME``: the values of feature column NAME there.

And each word gets ``near-case``: ``l``, not capitalized; ``C``, capitalized, and a word of the
training text in lower case; ``N``, capitalized only; and ``near-share``: how many words of its
sentence are capitalized, in fifths.

*Nearby* is so many sentences before and after, the window, but no further than the file and the
document go (``-DOCSTART-`` and ``# newdoc`` mark where one begins). So what is said of a sentence
depends on its window alone, not on how a long text is cut for tagging.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import perceptron_nlp.formats as formats
from perceptron_nlp.features.templates import CONTEXT_COLUMNS, CONTEXT_SIDES
from perceptron_nlp.tagger.model.derived import WIDEST_WINDOW, Around, Sentences
from perceptron_nlp.tagger.model.weights import Reader, Writer
from perceptron_nlp.text.sentence import Sentence

# On Spanish names 4, 8, 16 and 40 sentences were each better than the one before, 100 no better.
WINDOW = 40
# Other places of a word that are looked at, the nearest first.
PLACES = 8
_START, _END = "<s>", "</s>"
_NOTHING = "|"  # has no pieces, so it makes no features


def derived_names(feature_columns: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the columns that are made beside these feature columns."""
    return (*CONTEXT_COLUMNS, *(side + name for name in feature_columns for side in CONTEXT_SIDES))


def given_names(looked_at: Iterable[str]) -> tuple[str, ...]:
    """The columns of the input behind those that templates look at, in alphabetical order."""
    given = set()
    for name in looked_at:
        for side in CONTEXT_SIDES:
            name = name.removeprefix(side)
        given.add(name)
    return tuple(sorted(given - {*CONTEXT_COLUMNS}))


class DocumentContext(NamedTuple):
    """The columns of document context.

    window : sentences on either side in which other places of a word are looked for, 0 to
        WIDEST_WINDOW; of the sentences around, more than these make no difference
    """

    window: int

    @property
    def key(self) -> str:
        """See Derived."""
        return "window"

    @property
    def looks_around(self) -> bool:
        """See Derived."""
        return True

    def needs(self, columns: frozenset[str]) -> frozenset[str]:
        """See Derived."""
        return frozenset(given_names(columns))

    def add(self, sentences: Sentences, around: Around) -> list[Sentence]:
        """See Derived; the sentences follow each other in one text."""
        whole = (*around.before, *sentences, *around.after)
        text = [one if isinstance(one, Sentence) else Sentence(one) for one in whole]
        places = _Places(text, self.window, around.columns, around.knows)
        first = len(around.before)
        return [places.added_to(number) for number in range(first, first + len(sentences))]

    def write(self, writer: Writer) -> int:
        """See Derived."""
        return self.window

    @classmethod
    def read(cls, described: Any, reader: Reader) -> DocumentContext:
        """See Derived."""
        if type(described) is not int or not 0 <= described <= WIDEST_WINDOW:
            raise reader.bad("window", f"not a whole number from 0 to {WIDEST_WINDOW:,}")
        return cls(described)


def is_capitalised(word: str) -> bool:
    """Tell if a word begins with a capital letter."""
    return word[:1].isupper()


def starts_document(before: Sentence, sentence: Sentence) -> bool:
    """Tell if a document begins between two consecutive sentences.

    It does at a mark and where they come from different files. Sentences made in memory belong
    together.
    """
    if sentence.layout is None or before.layout is None:
        return False
    return sentence.path != before.path or formats.opens_document(sentence)


class _Places:
    """Places of the words of a text."""

    def __init__(
        self,
        text: list[Sentence],
        window: int,
        feature_columns: Sequence[str],
        knows: Callable[[str], bool],
    ) -> None:
        self._text = text
        self._feature_columns = [
            (name, [sentence.column(name) for sentence in text]) for name in feature_columns
        ]
        self._knows = knows
        self._known: dict[str, bool] = {}
        self._capitalised: dict[str, list[tuple[int, int]]] = {}
        self._small: dict[str, list[int]] = {}
        for number, sentence in enumerate(text):
            for i, word in enumerate(sentence.words):
                if is_capitalised(word):
                    self._capitalised.setdefault(word, []).append((number, i))
                else:
                    self._small.setdefault(word, []).append(number)
        starts = [0, *(k for k in range(1, len(text)) if starts_document(text[k - 1], text[k]))]
        ends = [*starts[1:], len(text)]
        self._windows = [
            (max(start, k - window), min(end, k + window + 1))
            for start, end in zip(starts, ends, strict=True)
            for k in range(start, end)
        ]

    def added_to(self, number: int) -> Sentence:
        """Sentence `number` with the columns."""
        sentence = self._text[number]
        words = sentence.words
        n_capitalised = sum(map(is_capitalised, words))
        share = str(5 * n_capitalised // len(words)) if words else ""
        columns = {
            name: [_NOTHING] * len(words)
            for name in derived_names(name for name, _ in self._feature_columns)
        }
        columns["near-case"] = [self._case(word) for word in words]
        columns["near-share"] = [share] * len(words)
        for i, word in enumerate(words):
            if is_capitalised(word):
                for name, pieces in self._seen(number, i, word).items():
                    columns[name][i] = "|".join(sorted(pieces)) or _NOTHING
        made = {name: tuple(values) for name, values in columns.items()}
        return Sentence.from_reader(
            words, {**sentence.columns, **made}, sentence.path, 0, sentence.layout
        )

    def _case(self, word: str) -> str:
        if not is_capitalised(word):
            return "l"
        if word not in self._known:
            self._known[word] = self._knows(word.lower())
        return "C" if self._known[word] else "N"

    def _seen(self, number: int, i: int, word: str) -> dict[str, set[str]]:
        """The pieces of each column for a capitalized word."""
        others = self._others(number, i, word)
        low, high = self._windows[number]
        small = self._small.get(word.lower(), ())
        is_small = bisect_left(small, high) > bisect_left(small, low)
        inside = any(at > 0 for _, at in others)
        count = f"n{min(len(others), 3)}"
        marks = f"{'i' if inside else '-'}{'s' if is_small else '-'}"
        seen = {
            "near": {count, marks, count + marks, ("^" if i == 0 else "") + marks},
            "near-left": set[str](),
            "near-right": set[str](),
        }
        for name, _ in self._feature_columns:
            seen[f"near-left-{name}"], seen[f"near-right-{name}"] = set(), set()
        for at, place in others[:PLACES]:
            words = self._text[at].words
            left, right = (_value(words, place + step).lower() for step in (-1, 1))
            seen["near-left"].add(left)
            seen["near-right"].add(right)
            beside = [is_capitalised(_value(words, place + step)) for step in (-1, 1)]
            seen["near"].add("beside" + "".join("X" if one else "x" for one in beside))
            for name, columns in self._feature_columns:
                seen[f"near-left-{name}"].add(_value(columns[at], place - 1))
                seen[f"near-right-{name}"].add(_value(columns[at], place + 1))
        return seen

    def _others(self, number: int, i: int, word: str) -> list[tuple[int, int]]:
        """Other places of a capitalized word in the window, the nearest first."""
        places = self._capitalised[word]
        low, high = self._windows[number]
        found = [
            place
            for place in places[bisect_left(places, (low, 0)) : bisect_left(places, (high, 0))]
            if place != (number, i)
        ]
        return sorted(found, key=lambda place: (abs(place[0] - number), abs(place[1] - i), place))


def _value(values: Sequence[str], at: int) -> str:
    if at < 0:
        return _START
    return values[at] if at < len(values) else _END
