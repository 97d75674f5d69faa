"""Raw English text for the benchmarks: one tokenised sentence a line, its words as in EWT.

Brown (its tags dropped), the film reviews and the review sentences under PERCEPTRON_NLP_CORPORA
are cut into words by other rules than the English Web Treebank; here they are cut as it does:
clitics ('s, n't, 're …) apart, one kind of quotation mark, hyphenated words in three unless EWT's
training text has them whole, dots in a row joined, reviews cut into sentences. Run as a program,
it writes the text to a file, or with ``--free`` that of the American National Corpus (MASC), which
is free for any use::

    python benchmarks/rawtext.py [--free] raw.txt
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from corpora import corpora, treebank

import perceptron_nlp as pn

QUOTES = {"``": '"', "''": '"'}
SENTENCE_ENDS = {".", "!", "?", "..."}
CLITIC = re.compile(r"(.+)(n't|'(?:s|re|ve|ll|d|m)|(?<=s)')", re.IGNORECASE)
HYPHEN = re.compile(r"(-)")


def whole_words() -> set[str]:
    """Words with hyphens that EWT's training text has, in lower case."""
    return {
        word.lower()
        for sentence in pn.open_corpus(treebank("EWT", "train"))
        for word in sentence.words
        if "-" in word
    }


def free_sentences() -> Iterator[list[str]]:
    """The sentences of MASC, in EWT's words."""
    whole = whole_words()
    for line in _lines(corpora() / "corpora/masc/masc.tagged.txt"):
        words = [token.rpartition("_")[0] for token in line.split()]
        if sentence := list(retokenised(filter(None, words), whole)):
            yield sentence


def raw_sentences() -> Iterator[list[str]]:
    """The sentences of all three corpora, in EWT's words."""
    whole = whole_words()
    folder = corpora() / "corpora"
    for line in _lines(folder / "brown/brown.tagged.txt"):
        words = [token.rpartition("/")[0] for token in line.split()]
        yield list(retokenised(words, whole))
    for line in _lines(folder / "movie_reviews/reviews.tsv"):
        yield from sentences_of(retokenised(line.split("\t")[2].split(), whole))
    for line in _lines(folder / "sentence_polarity/sentences.tsv"):
        yield list(retokenised(line.split("\t")[1].split(), whole))


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8") as file:
        yield from (line for line in file if line.strip())


def retokenised(words: Iterable[str], whole: set[str]) -> Iterator[str]:
    """Words as EWT has them; hyphenated words that are in `whole` (lower case) stay whole."""
    dots = 0
    for word in words:
        if word == ".":
            dots += 1
            continue
        yield from _dots(dots)
        dots = 0
        yield from _pieces(QUOTES.get(word, word), whole)
    yield from _dots(dots)


def _dots(count: int) -> list[str]:
    return ["."] * count if count < 2 else ["..."]


def _pieces(word: str, whole: set[str]) -> Iterator[str]:
    clitic = CLITIC.fullmatch(word)
    if clitic:
        yield from _pieces(clitic[1], whole)
        yield clitic[2]
    elif word.lower() == "cannot":
        yield from (word[:3], word[3:])
    elif re.fullmatch(r"\w.*-.*\w", word) and word.lower() not in whole:
        yield from filter(None, HYPHEN.split(word))
    else:
        yield word


def sentences_of(words: Iterable[str]) -> Iterator[list[str]]:
    """A review cut after each full stop, exclamation mark, question mark and ellipsis."""
    sentence: list[str] = []
    for word in words:
        sentence.append(word)
        if word in SENTENCE_ENDS:
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def main() -> None:
    """Write the text to a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", default="raw.txt", type=Path)
    parser.add_argument("--free", action="store_true", help="MASC alone")
    chosen = parser.parse_args()
    sentences = free_sentences() if chosen.free else raw_sentences()
    with chosen.file.open("w", encoding="utf-8") as file:
        file.writelines(" ".join(sentence) + "\n" for sentence in sentences)


if __name__ == "__main__":
    main()
