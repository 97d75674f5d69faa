"""Sentence ends behind abbreviations and initials, in text that `en` did not learn to cut from.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/abbreviations.py

The text of the Brown corpus and of MASC is put together from their tokens, 200 sentences at a time.
Behind each token of letters that has a full stop of its own, sentence ends that a segmentation
finds are compared with theirs: those of `en` with its list of abbreviations and initials, with
initials alone, and with neither.
"""

from __future__ import annotations

import re
from itertools import islice

from natural import TEXTS, sentences_of

import perceptron_nlp as pn

AT_ONCE = 200
CLOSING = {*".,;:?!)]}%", "''", "...", "'", "n't", *("'s", "'re", "'ve", "'ll", "'d", "'m")}
OPENING = {"``", *"([{$#"}


def text_of(words: list[list[str]]) -> tuple[str, set[int], list[int]]:
    """The text of some sentences, where these end, and where words with a full stop do."""
    text, glued = "", True
    ends, stopped = set(), []
    for sentence in words:
        for word in sentence:
            text += "" if glued or word in CLOSING else " "
            text += '"' if word in ("``", "''") else word
            glued = word in OPENING
            if re.fullmatch(r".*[^\W\d_].*\.", word):
                stopped.append(len(text))
        ends.add(len(text))
        glued = False
    return text, ends, stopped


def main() -> None:
    english = pn.load("en")
    cut = english.model.segmentation
    assert cut is not None
    initials = [word for word in cut.abbreviations if len(word) == 1]
    ways = {
        name: pn.Tagger(english.model.replace(segmentation=cut._replace(abbreviations=listed)))
        for name, listed in (
            ("without initials and list", ()),
            ("with initials", initials),
            ("with both", cut.abbreviations),
        )
    }
    wrong = {name: [0, 0] for name in ways}
    n_stopped = 0
    for name in TEXTS:
        corpus = iter(sentences_of(name, None))
        while some := list(islice(corpus, AT_ONCE)):
            text, ends, stopped = text_of(some)
            n_stopped += len(stopped)
            for way, tagger in ways.items():
                found = {sentence.tokens[-1].end for sentence in pn.tokenize(text, tagger)}
                wrong[way][0] += sum(at in found - ends for at in stopped)
                wrong[way][1] += sum(at in ends - found for at in stopped)
    print("| segmentation of `en` | sentence ends too many | missing |\n|---|--:|--:|")
    for name, (more, less) in wrong.items():
        print(f"| {name} | {more} | {less} |")
    print(f"\nof {n_stopped:,} words with a full stop")


if __name__ == "__main__":
    main()
