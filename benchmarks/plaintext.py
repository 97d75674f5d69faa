"""How well running text is cut into words and sentences: F1 on the raw text of a treebank.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/plaintext.py [PART …]

The text of EWT's parts (default: dev test) is put together from its tokens, with one space where
there is no ``SpaceAfter=No`` and an empty line where a paragraph or document begins. As in the
evaluation of the CoNLL 2018 shared task, a token, word or sentence is right if its first and last
character, white space left out, are those of a gold one. *Tokens* are surface tokens: words that
were written as one and that the rules cut (``do`` and ``n't``) are put together again.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from corpora import treebank

import perceptron_nlp as pn
from perceptron_nlp.text.tokenizer import CONTRACTIONS

Span = tuple[int, int]
CLITIC = re.compile(r"n['’`´]t|['’`´](?:s|re|ve|ll|d|m)", re.IGNORECASE)


def main() -> None:
    """Print a Markdown table."""
    print("| part | what | precision | recall | F1 |\n|---|---|--:|--:|--:|")
    for part in sys.argv[1:] or ["dev", "test"]:
        text, gold = raw_text(Path(treebank("EWT", part)).read_text("utf-8"))
        sentences = pn.tokenize(text)
        words = [[(token.start, token.end) for token in sentence] for sentence in sentences]
        found = {
            "tokens": {span for spans in words for span in surface(text, spans)},
            "words": {span for spans in words for span in spans},
            "sentences": {(sentence.start, sentence.end) for sentence in sentences},
        }
        for what, spans in found.items():
            right = len(spans & gold[what])
            precision, recall = right / len(spans), right / len(gold[what])
            print(
                f"| {part} | {what} | {100 * precision:.2f} | {100 * recall:.2f} |"
                f" {200 * right / (len(spans) + len(gold[what])):.2f} |"
            )


def raw_text(conllu: str) -> tuple[str, dict[str, set[Span]]]:
    """The text of a CoNLL-U file, and where its tokens, words and sentences stand."""
    pieces: list[str] = []
    gold: dict[str, set[Span]] = {"tokens": set(), "words": set(), "sentences": set()}
    at = 0
    for block in conllu.strip().split("\n\n"):
        lines = block.split("\n")
        if pieces and any(line.startswith(("# newpar", "# newdoc")) for line in lines):
            pieces.append("\n\n")
            at += 2
        start = end = at
        rows = [line.split("\t") for line in lines if not line.startswith("#")]
        forms = {row[0]: row[1] for row in rows}
        inside = 0
        for row in rows:
            if "." in row[0] or (row[0].isdecimal() and int(row[0]) <= inside):
                continue
            first, _, last = row[0].partition("-")
            inside = int(last or first)
            numbers = range(int(first), inside + 1)
            gold["tokens"].add((at, at + len(row[1])))
            gold["words"] |= word_spans(at, row[1], [forms[str(number)] for number in numbers])
            end = at + len(row[1])
            pieces.append(row[1])
            at = end
            if "SpaceAfter=No" not in row[9].split("|"):
                pieces.append(" ")
                at += 1
        gold["sentences"].add((start, end))
    return "".join(pieces), gold


def word_spans(start: int, token: str, words: list[str]) -> set[Span]:
    """Where the words of a token stand; all in its place, if they are not what it is made of."""
    if "".join(words) != token:
        return {(start, start + len(token))}
    spans = set()
    for word in words:
        spans.add((start, start + len(word)))
        start += len(word)
    return spans


def surface(text: str, spans: list[Span]) -> list[Span]:
    """Words put together again that were written as one."""
    tokens: list[Span] = []
    for start, end in spans:
        before = tokens[-1] if tokens else (0, 0)
        if before[1] == start and (
            (CLITIC.fullmatch(text, start, end) and text[start - 1].isalnum())
            or text[before[0] : end].lower() in CONTRACTIONS
        ):
            tokens[-1] = (before[0], end)
        else:
            tokens.append((start, end))
    return tokens


if __name__ == "__main__":
    main()
