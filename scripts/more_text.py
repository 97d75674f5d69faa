"""Sentences for the segmentation of the bundled model, made of those of its treebank.

Text in a language that nobody trained for is cut as the bundled model has learned to. Where its
script has full stops of its own the rest of a sentence may be as foreign: what ends it has been
seen. Of every other sentence some words are left, in letters without case, which do not tell where
a sentence begins. In scripts that are written without spaces a word is two letters, and a word in
quotes tells that not every quote ends a sentence.

English text also has names with an apostrophe or a number that own something (*O'Hara's*), clitics
on such a word (*y'all're*), two on a word (*they'd've*), and words that begin with an apostrophe
(*'cause*). A treebank of a quarter of a million words has none.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import perceptron_nlp as pn
from perceptron_nlp.formats.conllu import surface
from perceptron_nlp.text.layout import Layout, TokenSpan

EVERY = 12
# Of those without spaces one in so many stands in quotes, and before a space.
QUOTED, SPACED = 3, 4
STOPS = {".": ".։।॥۔።។။።。｡．", "?": "؟？", "!": "！"}
UNSPACED = frozenset("。｡．？！")
QUOTES = (("「", "」"), ("『", "』"), ("“", "”"), ("（", "）"))
# One in so many of the words with a clitic changes. Owners become one of OWNERS.
CLITICS_EVERY = {"'s": 8, "'d": 2, "n't": 12, "'re": 4, "'ll": 4}
OWNERS = ("O'{}", "D'{}", "Mc{}", "{}2", "L'{}", "{}19")
# One in so many of these is clipped.
CLIPPED_EVERY = 6
CLIPPED = {"because": "'cause", "until": "'til", "about": "'bout", "them": "'em"}
# With the stop, in letters without case.
FEWEST_TOKENS, MOST_TOKENS = 2, 6
# The ideographs of Unicode, from the first, and how many; the consonants of Devanagari.
IDEOGRAPHS, CONSONANTS = (0x4E00, 20_000), (0x915, 37)


def with_other_stops(sentences: Sequence[pn.Sentence]) -> list[pn.Sentence]:
    """Return some of the sentences with another stop, in turns as they are and in other letters."""
    others = {stop: itertools.cycle(own) for stop, own in STOPS.items()}
    quotes = itertools.cycle(QUOTES)
    ended = [sentence for sentence in sentences if sentence.words[-1] in STOPS]
    found = []
    for number, sentence in enumerate(ended[::EVERY]):
        stop = next(others[sentence.words[-1]])
        if stop in UNSPACED:
            made = _unspaced(sentence.words, stop, next(quotes), number)
        else:
            made = _spaced(sentence, stop, number % 2 == 1)
        found.append(made)
    return found


def with_clitics(sentences: Sequence[pn.Sentence]) -> list[pn.Sentence]:
    """Return sentences with another word before a clitic, or a clitic behind one, or clipped."""
    found = []
    every = CLITICS_EVERY | dict.fromkeys(CLIPPED, CLIPPED_EVERY)
    turns = {kind: itertools.cycle(range(number)) for kind, number in every.items()}
    names = itertools.cycle(OWNERS)
    for sentence in sentences:
        text, tokens, is_glued = surface(sentence)
        for at, (start, end, words) in enumerate(tokens):
            word, clitic, last = words[0], words[-1], end
            is_other = len(words) != 2 - (clitic in CLIPPED)
            if is_other or next(turns.get(clitic, itertools.repeat(1))):
                continue
            new: tuple[str, ...] = ()
            if clitic in CLIPPED:
                new = (CLIPPED[clitic],)
            elif clitic == "'s" and at and word.istitle() and word.isalpha():
                new = next(names).format(word), clitic
            elif word.lower() in ("you", "they") and clitic in ("'re", "'ll"):
                new = "y'all", clitic
            elif clitic in ("'d", "n't"):
                new = *words, "'ve"
                # It stands for the word that follows, where that is *have*.
                last += len(" have") * text[end:].startswith(" have ")
            if not new:
                continue
            form = "".join(new)
            moved = start + len(form) - last
            rest = [(a + moved, b + moved, own) for a, b, own in tokens[at + 1 :] if a >= last]
            changed = [*tokens[:at], (start, start + len(form), new), *rest]
            found.append(_made(text[:start] + form + text[last:], changed, is_glued=is_glued))
    return found


def _spaced(sentence: pn.Sentence, stop: str, is_caseless: bool) -> pn.Sentence:
    text, tokens, _ = surface(sentence)
    if is_caseless:
        text = "".join(_letter(one, CONSONANTS) if one.isalpha() else one for one in text)
        tokens = [(start, end, (text[start:end],)) for start, end, _ in tokens]
        tokens = tokens[-FEWEST_TOKENS - len(text) % (MOST_TOKENS - FEWEST_TOKENS + 1) :]
    first, last = tokens[0][0], tokens[-1][0]
    tokens = [(start - first, end - first, words) for start, end, words in tokens[:-1]]
    text = text[first:last] + stop
    return _made(text, [*tokens, (len(text) - 1, len(text), (stop,))])


def _unspaced(words: Sequence[str], stop: str, quotes: tuple[str, str], number: int) -> pn.Sentence:
    """Return a sentence without spaces, and a word of it, perhaps also all of it, in quotes."""
    opening, closing = quotes
    forms = [
        "".join(_letter(one, IDEOGRAPHS) for one in word[:2]) if word.isalpha() else word
        for word in words[:-1]
    ]
    longest = max(range(len(forms)), key=lambda at: words[at].isalpha() * len(words[at]), default=0)
    forms[longest : longest + 1] = [opening, *forms[longest : longest + 1], closing]
    forms.append(stop)
    if number % QUOTED == 0:
        forms = [opening, *forms, closing]
    ends = [*itertools.accumulate(map(len, forms))]
    tokens = [(end - len(form), end, (form,)) for form, end in zip(forms, ends, strict=True)]
    return _made("".join(forms), tokens, is_glued=number % SPACED > 0)


def _letter(letter: str, among: tuple[int, int]) -> str:
    first, many = among
    return chr(first + ord(letter) * 401 % many)


def _made(text: str, tokens: Sequence[TokenSpan], *, is_glued: bool = False) -> pn.Sentence:
    layout = Layout("text", text, (0, len(text)), ("form",), tokens=tokens, is_glued=is_glued)
    words = tuple(word for *_, own in tokens for word in own)
    return pn.Sentence.from_reader(words, {}, "", 0, layout)
