"""Text as other hands write it: what is lost of tokens, sentences, tags and lemmas.

    python benchmarks/noise.py MODEL=TEST.conllu[.xz] … [--kinds KIND …]

Makes copies of treebanks in which all text is changed in one way, whose tokens, tags and lemmas
stay what they were, and prints F1 from running text for each, as a Markdown table. Changes that hit
some words only are drawn by a seed:

- caps, lower: ALL CAPITALS, no capitals
- drawn: a letter of one word in ten is drawn out (sooooo)
- straight, curly: quotes, apostrophes, dashes and dots in ASCII; as typesetters write them
- ends: ! ? or … in place of the full stop that a sentence ends with
- commas: no space behind a comma, unless a digit follows; unspaced: none behind the full stop that
  a sentence ends with, before a capital or caseless letter
- soft, zero: a soft hyphen within one word in ten; a zero-width space, joiner or mark in one in ten
- wrapped: lines of at most 60 characters; items: each sentence on a line of its own
- entities: & < > and quotes as HTML entities, which are one token where the mark was
- joined: a space between paragraphs; quoted: wrapped, with "> " before each line, as in a mail
- notes: [1] behind a word of every sentence, and behind the end of every other one
- stars: **two stars** on both sides of one word in ten
- added: a picture, a #tag or an address behind the ends of sentences
- alike: Arabic yeh and kaf in Persian, cedillas in Romanian; plain: Latin and Greek letters without
  their accents

Of what is put between, nothing is counted but what it does to the tokens of the treebank.
"""

from __future__ import annotations

import argparse
import itertools
import lzma
import random
import re
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import perceptron_nlp as pn
from perceptron_nlp.formats.conllu import running_text, with_misc
from perceptron_nlp.tagger.sources import Source
from perceptron_nlp.tagger.text_scores import scores_from_text

SHOWN = ("Tokens", "Sentences", "UPOS", "Lemmas")
STRAIGHT = {
    **dict.fromkeys("\u2018\u2019\u201a\u2039\u203a", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013", "-"),
    "\u2014": "--",
    "\u2026": "...",
}
CURLY = {"'": "\u2019", "`": "\u2018", '"': "\u201d", "``": "\u201c", "''": "\u201d"}
CURLY |= {"-": "\u2013", "--": "\u2014", "...": "\u2026"}
ENTITIES = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
    "\u2019": "&rsquo;",
}
ENTITIES |= {"\u00ab": "&laquo;", "\u00bb": "&raquo;", "\u2026": "&hellip;", "\u2013": "&ndash;"}
ALIKE = {"\u06cc": "\u064a", "\u06a9": "\u0643"} | dict(zip("șțȘȚ", "şţŞŢ", strict=True))
STROKES = str.maketrans("łŁđĐðÐøØı", "lLdDdDoOi")
ADDED = (" \U0001f600", " #abc", " https://a.org/b", " \u2764\ufe0f #abc")
INVISIBLE = "\u200b\u200e\u2060\ufeff"
WIDTH = 60
TURKIC = {"caps": {"i": "İ"}, "lower": {"I": "ı", "İ": "i"}}
LETTERS = re.compile(r"[^\W\d_]{3,}")

Change = Callable[[str, random.Random], str]


def drawn(form: str, chance: random.Random) -> str:
    """Draw a letter of a word out, the last one mostly."""
    if not LETTERS.fullmatch(form) or chance.random() > 0.1:
        return form
    at = chance.choice((len(form) - 1, len(form) - 1, chance.randrange(1, len(form))))
    return form[:at] + form[at] * chance.randrange(3, 7) + form[at + 1 :]


def curly(form: str, _: random.Random) -> str:
    """Write a mark, or the apostrophe in a word, as typesetters do."""
    return CURLY.get(form) or form.replace("'", "\u2019")


def soft(form: str, chance: random.Random) -> str:
    """Put a soft hyphen within a word."""
    if not LETTERS.fullmatch(form) or len(form) < 5 or chance.random() > 0.1:
        return form
    at = chance.randrange(2, len(form) - 2)
    return f"{form[:at]}\u00ad{form[at:]}"


def zero(form: str, chance: random.Random) -> str:
    """Put a character without width behind, before or within a word."""
    if not LETTERS.fullmatch(form) or chance.random() > 0.1:
        return form
    at = chance.choice((0, len(form), len(form), len(form) // 2))
    return form[:at] + chance.choice(INVISIBLE) + form[at:]


def plain(form: str, _: object) -> str:
    """Take the accents of Latin and Greek letters away."""
    parts = unicodedata.normalize("NFD", form.translate(STROKES))
    bare = re.sub("(?<=[A-Za-z\u0391-\u03c9])[\u0300-\u036f]+", "", parts)
    return unicodedata.normalize("NFC", bare)


def written(table: dict[str, str]) -> Change:
    """Return what writes characters otherwise."""
    codes = str.maketrans(table)
    return lambda form, _: form.translate(codes)


CHANGES: dict[str, Change] = {
    "clean": lambda form, _: form,
    "caps": lambda form, _: form.upper(),
    "lower": lambda form, _: form.lower(),
    "drawn": drawn,
    "straight": written(STRAIGHT),
    "curly": curly,
    "ends": lambda form, _: form,
    "commas": lambda form, _: form,
    "unspaced": lambda form, _: form,
    "soft": soft,
    "zero": zero,
    "entities": written(ENTITIES),
    "alike": written(ALIKE),
    "plain": plain,
}
BY_TEXT = ("wrapped", "items", "joined", "quoted", "notes", "stars", "added")
WRITTEN = ("straight", "curly")
"""Changes that the lemmas of marks have, too, …"""
EVERY_WORD = ("caps", "lower", "entities", "alike", "plain", *WRITTEN)
"""… and those that words of multiword tokens have."""


def changed(lines: Iterator[str], kind: str) -> Iterator[str]:
    """Yield the lines of a CoNLL-U file with its text changed."""
    chance, change, within = random.Random(1), CHANGES[kind], 0
    rows = [line.rstrip("\n").split("\t") for line in lines if not line.startswith("# text =")]
    tokens = [row for row in rows if len(row) == 10 and "." not in row[0]]
    is_turkic = any("ı" in row[1] for row in tokens)
    cased = str.maketrans(TURKIC.get(kind, {}) if is_turkic else {})
    final = {id(row) for row, after in itertools.pairwise(rows) if after == [""]}
    following = dict(zip(map(id, tokens), tokens[1:], strict=False))
    for row in rows:
        if len(row) == 10 and "." not in row[0]:
            first, hyphen, last = row[0].partition("-")
            is_inside = int(first) <= within and not hyphen
            within = int(last) if hyphen else 0 if int(first) > within else within
            form = row[1]
            if not is_inside or kind in EVERY_WORD:
                row[1] = change(form.translate(cased), chance)
            if kind == "ends" and form == "." and id(row) in final:
                row[1] = row[2] = chance.choice(("!", "?", "…"))
            if kind in WRITTEN and row[2] == form and not any(map(str.isalnum, form)):
                row[2] = row[1]
            is_glued = kind == "commas" and form == ","
            behind = following.get(id(row), row)[1][:1]
            is_begun = behind.isalpha() and not behind.islower()
            is_glued &= not behind.isdigit()
            is_glued |= kind == "unspaced" and id(row) in final and form in ".!?" and is_begun
            if is_glued:
                row[9] = with_misc(row[9], "SpaceAfter", "No")
        yield "\t".join(row) + "\n"


def in_lines(text: str, breaks: Iterable[int]) -> str:
    """Put line breaks in place of spaces."""
    letters = [*text]
    for place in breaks:
        letters[place] = "\n"
    return "".join(letters)


def wrapped(text: str) -> str:
    """Break a text into lines of at most WIDTH characters."""
    begin, breaks = 0, []
    for word in re.finditer(r"\S+", text):
        if "\n" in text[max(0, word.start() - 2) : word.start()]:
            begin = word.start()
        elif word.end() - begin > WIDTH and text[word.start() - 1] == " ":
            begin = word.start()
            breaks.append(begin - 1)
    return in_lines(text, breaks)


def put_between(
    text: str, tokens: Sequence[tuple[int, int]], ends: Sequence[bool], kind: str
) -> Iterator[tuple[int, str]]:
    """Yield what a kind puts into a text, with its place."""
    chance, last, number = random.Random(1), 0, 0
    if kind == "quoted":
        yield from ((found.end(), "> ") for found in re.finditer(r"\A|\n", text))
    for at, (begin, end) in enumerate(tokens):
        is_word = LETTERS.fullmatch(text[begin:end]) is not None
        if kind == "stars" and is_word and chance.random() < 0.1:
            yield from ((begin, "**"), (end, "**"))
        if not ends[at]:
            continue
        number += 1
        if kind == "notes":
            words = [
                place
                for first, place in tokens[last:at]
                if LETTERS.fullmatch(text[first:place]) and text[place] == " " and place - first > 3
            ]
            if words:
                yield chance.choice(words), f"[{number % 40 + 1}]"
            if number % 2:
                yield end, f"[{number % 40 + 1}]"
        elif kind == "added":
            yield end, ADDED[number % len(ADDED)]
        last = at + 1


class Token(NamedTuple):
    """A token of running text; see perceptron_nlp.TextToken."""

    form: str
    words: tuple[Any, ...]


class Cut(NamedTuple):
    """A sentence as its tokens."""

    tokens: list[Token]


def restored(sentences: Iterable[Any], text: str, own: Sequence[int]) -> Iterator[Any]:
    """Yield sentences without what was put between.

    own : for each place of the text with that how many characters of it stand before
    """
    for sentence in sentences:
        tokens = [
            Token(text[own[token.start] : own[token.end]], token.words)
            for token in sentence.tokens
            if own[token.start] < own[token.end]
        ]
        if tokens:
            yield Cut(tokens)


def by_text(tagger: pn.Tagger, test: str, kind: str) -> dict[str, pn.F1]:
    """Return F1 where the text is broken into lines, or something is put between its tokens."""
    text, tokens, ends = running_text(pn.read_conllu(test))
    if kind == "items":
        breaks = [end for (_, end), is_end in zip(tokens, ends, strict=True) if is_end]
        text = in_lines(text, (place for place in breaks if text[place : place + 1] == " "))
    elif kind in ("wrapped", "quoted"):
        text = wrapped(text)
    elif kind == "joined":
        text = text.replace("\n\n", "  ")
    letters, own, last = [], [0], 0
    for place, inserted in [*sorted(put_between(text, tokens, ends, kind)), (len(text), "")]:
        letters += [text[last:place], inserted]
        own += [*range(last + 1, place + 1), *[place] * len(inserted)]
        last = place
    found = "".join(letters)
    source = Source(test, "test")
    return scores_from_text(
        source, tagger.model, lambda _: restored(tagger.iter_text(found), text, own)
    )


def scores(tagger: pn.Tagger, test: str, kind: str) -> list[float]:
    """Return F1 of what is shown, on a copy of a treebank."""
    if kind in BY_TEXT:
        found = by_text(tagger, test, kind)
        return [100 * found[name].f1 for name in SHOWN if name in found]
    with (
        (lzma.open if test.endswith(".xz") else open)(test, "rt", encoding="utf-8") as lines,
        tempfile.NamedTemporaryFile("w", suffix=".conllu", encoding="utf-8") as copy,
    ):
        copy.writelines(changed(iter(lines), kind))
        copy.flush()
        found = tagger.evaluate_text(copy.name)
    return [100 * found[name].f1 for name in SHOWN if name in found]


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("tests", nargs="+", metavar="MODEL=TEST")
    kinds = [*CHANGES, *BY_TEXT]
    parser.add_argument("--kinds", nargs="+", default=kinds, choices=kinds)
    chosen = parser.parse_args()
    print("| test | text | tokens | sentences | UPOS | lemmas |\n|---|---|" + "--:|" * 4)
    for pair in chosen.tests:
        model, _, test = pair.partition("=")
        tagger, name = pn.load(model), Path(test).name.partition("-")[0]
        for kind in chosen.kinds:
            cells = " | ".join(f"{score:.2f}" for score in scores(tagger, test, kind))
            print(f"| {name} | {kind} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
