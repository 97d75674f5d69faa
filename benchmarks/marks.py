"""Marks about one word: what becomes of it, and of the rest of its sentence.

    python benchmarks/marks.py MODEL=TEST.conllu[.xz] … [--words N]

Of each sentence of a test part one word of four letters or more between two others, drawn by a
seed, is written with marks about it. Prints a Markdown table of how often that word is still a
token, with its part of speech; how many of the other tokens keep their places and their own; and
how often the number of sentences stays: all against what the model makes of the sentence as it is.
"""

from __future__ import annotations

import argparse
import random
import unicodedata
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


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("tests", nargs="+", metavar="MODEL=TEST")
    parser.add_argument("--words", type=int, default=400, metavar="N", help="of each test part")
    chosen = parser.parse_args()
    print("| test | text | a token | same UPOS | others the same | sentences the same |")
    print("|---|---|" + "--:|" * 4)
    for pair in chosen.tests:
        model, _, test = pair.partition("=")
        tagger, name = pn.load(model), Path(test).name.partition("-")[0]
        texts = [running_text([one])[0] for one in pn.read_conllu(test)]
        random.Random(1).shuffle(texts)
        for kind in ABOUT:
            found = kept(tagger, texts[: chosen.words], kind)
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
