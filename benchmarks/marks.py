"""Marks about one word: what becomes of it, and of the rest of its sentence; marks within words.

    python benchmarks/marks.py MODEL=TEST.conllu[.xz] … [--words N] [--within]

Of each sentence of a test part one word of four letters or more between two others, drawn by a
seed, is written with marks about it. Prints a Markdown table of how often that word is still a
token, with its part of speech; how many of the other tokens keep their places and their own; and
how often the number of sentences stays: all against what the model makes of the sentence as it is.
With --within such as 12-15 is put there in its place, and the table has how often that is one
token, or each word and mark of it one, or some are and some are not, over all models.
"""

from __future__ import annotations

import argparse
import random
import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import perceptron_nlp as pn
from perceptron_nlp.formats.conllu import running_text

ABOUT = {
    "*word*": ("*", "*"),
    "**word**": ("**", "**"),
    "_word_": ("_", "_"),
    "`word`": ("`", "`"),
    "'word'": ("'", "'"),
    '"word"': ('"', '"'),
    "(word)": ("(", ")"),
    "``word''": ("``", "''"),
    "<b>word</b>": ("<b>", "</b>"),
    "word¹": ("", "¹"),
    "word[1]": ("", "[1]"),
    "word:": ("", ":"),
    "word;": ("", ";"),
    "word...": ("", "..."),
    "word –": ("", " –"),
    "word,so": ("", ",so"),
    "wörd, apart": ("", ""),
}
"""What stands before and behind the word, whose letters and their marks are apart in the last."""

WITHIN = (
    *("12-15", "15–20", "10:30:45", "1,000,000", "17/05/2024", "24/7", "COVID-19", "F-16"),
    *("e-mail", "km/h", "AC/DC", "x=5", "a+b", "4x4", "U.S.A.", "J.K.", "---", "~~~", "***"),
)
"""What people write in one, and treebanks as one token or in all its parts."""

Labels = dict[tuple[int, int], str]


class Kept(NamedTuple):
    """How many words, tokens beside them and sentences there were, and how many of each stayed."""

    words: int = 0
    cut: int = 0
    tagged: int = 0
    others: int = 0
    same: int = 0
    whole: int = 0


def labels(tagger: pn.Tagger, text: str) -> tuple[Labels, int]:
    """Return the parts of speech of tokens by their places, and the number of sentences."""
    sentences = tagger.tag_text(text)
    tokens = [token for sentence in sentences for token in sentence.tokens]
    return {(token.start, token.end): str(token.labels["upos"]) for token in tokens}, len(sentences)


def places(text: str, own: Labels) -> list[tuple[int, int]]:
    """Return the words that stand between two others, with spaces about them."""
    return [
        (start, end)
        for start, end in own
        if end - start > 3
        and text[start:end].isalpha()
        and text[max(0, start - 2) : start - 1].isalpha()
        and text[start - 1 : start] == text[end : end + 1] == " "
        and text[end + 1 : end + 2].isalpha()
    ]


def kept(tagger: pn.Tagger, texts: list[str], kind: str) -> Kept:
    """Return what stays of all texts."""
    chance, before, behind = random.Random(1), *ABOUT[kind]
    total = Kept()
    for text in texts:
        own, n_sentences = labels(tagger, text)
        found = places(text, own)
        if not found:
            continue
        start, end = chance.choice(found)
        word = text[start:end]
        if kind == "wörd, apart":
            word = unicodedata.normalize("NFD", word)
            if word == text[start:end]:
                continue
        now, n_now = labels(tagger, text[:start] + before + word + behind + text[end:])
        shift = len(before + word + behind) - (end - start)
        own_now = now.get((start + len(before), start + len(before) + len(word)))
        others = [
            now.get((a + shift, b + shift) if a > start else (a, b)) == label
            for (a, b), label in own.items()
            if a != start
        ]
        one = Kept(
            1,
            own_now is not None,
            own_now == own[start, end],
            len(others),
            sum(others),
            n_now == n_sentences,
        )
        total = Kept(*(a + b for a, b in zip(total, one, strict=True)))
    return total


def drawn(pair: str, n: int) -> tuple[pn.Tagger, list[str]]:
    """Return the model of MODEL=TEST, and n sentences of the test part."""
    model, _, test = pair.partition("=")
    texts = [running_text([one])[0] for one in pn.read_conllu(test)]
    random.Random(1).shuffle(texts)
    return pn.load(model), texts[:n]


def within(tagger: pn.Tagger, texts: list[str]) -> dict[str, Counter[str]]:
    """Return how often each of WITHIN was ``whole``, in ``parts``, or ``otherwise``."""
    chance, found = random.Random(1), {item: Counter[str]() for item in WITHIN}
    for text in texts:
        if not (own := places(text, labels(tagger, text)[0])):
            continue
        start, end = chance.choice(own)
        for item in WITHIN:
            now, _ = labels(tagger, text[:start] + item + text[end:])
            tokens = [text_of for text_of in now if start < text_of[1] <= start + len(item)]
            spans = [(a - start, b - start) for a, b in tokens]
            parts = [match.span() for match in re.finditer(r"[^\W\d_]+|\d+|[\W_]", item)]
            letters = [match.span() for match in re.finditer(r"\w\.|\w+|[\W_]", item)]
            way = "parts" if spans in (parts, letters) else "otherwise"
            found[item]["whole" if spans == [(0, len(item))] else way] += 1
    return found


def print_within(models: list[tuple[pn.Tagger, list[str]]]) -> None:
    """Print a Markdown table of what WITHIN becomes."""
    total = {item: Counter[str]() for item in WITHIN}
    for tagger, texts in models:
        for item, ways in within(tagger, texts).items():
            total[item] += ways
    print("| text | whole | in its parts | otherwise |")
    print("|---|" + "--:|" * 3)
    for item, ways in total.items():
        n = max(1, ways.total())
        shares = [100 * ways[way] / n for way in ("whole", "parts", "otherwise")]
        print(f"| `{item}` | " + " | ".join(f"{share:.1f}" for share in shares) + " |")


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("tests", nargs="+", metavar="MODEL=TEST")
    parser.add_argument("--words", type=int, default=400, metavar="N", help="of each test part")
    parser.add_argument("--within", action="store_true", help="marks within words, of all models")
    chosen = parser.parse_args()
    if chosen.within:
        print_within([drawn(pair, chosen.words) for pair in chosen.tests])
        return
    print("| test | text | a token | same UPOS | others the same | sentences the same |")
    print("|---|---|" + "--:|" * 4)
    for pair in chosen.tests:
        tagger, texts = drawn(pair, chosen.words)
        name = Path(pair.partition("=")[2]).name.partition("-")[0]
        for kind in ABOUT:
            found = kept(tagger, texts, kind)
            if not found.words:
                continue
            shares = (
                found.cut / found.words,
                found.tagged / found.words,
                found.same / found.others,
                found.whole / found.words,
            )
            cells = " | ".join(f"{100 * share:.1f}" for share in shares)
            print(f"| {name} | `{kind}` | {cells} |", flush=True)


if __name__ == "__main__":
    main()
