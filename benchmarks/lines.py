"""Lines of addresses, numbers and the like: how many does a model cut as a treebank would?

    python benchmarks/lines.py en=MODEL [fr=MODEL …] [--wrong]

The lines are data/lines/LANGUAGE.txt: a token ends at a space and at a broken bar (¦), which is no
part of the text. A line is right if all of its tokens are; where sentences end is not asked. Prints
Markdown, with the F1 of tokens; --wrong prints the lines that are cut otherwise, too. A model is a
path or the name of a bundled one, or a treebank folder, whose train part (or else dev part) teaches
a segmentation for the figures.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import perceptron_nlp as pn
from perceptron_nlp.tagger.tag.segment import Segmenter
from perceptron_nlp.tagger.train.learning import learn_sentences
from perceptron_nlp.tagger.train.segmenting import learn_segmentation
from perceptron_nlp.text.tagset import PATTERN_KINDS

LINES = Path(__file__).resolve().parent.parent / "data" / "lines"
CUT = "¦"


def lines_of(language: str) -> list[list[str]]:
    """Return the lines of a language as their parts between spaces, cut at broken bars."""
    text = (LINES / f"{language}.txt").read_text("utf-8")
    return [line.split() for line in text.splitlines()]


def tokens_of(line: list[str]) -> tuple[str, set[tuple[int, int]]]:
    """Return the text of a line and the places of its tokens."""
    places, text = set(), ""
    for part in line:
        text += " " * bool(text)
        for token in filter(None, part.split(CUT)):
            places.add((len(text), len(text) + len(token)))
            text += token
    return text, places


def score(segmenter: Segmenter, language: str, *, wrong: bool = False) -> tuple[int, int, float]:
    """Return how many lines are right, how many there are, and the F1 of tokens in percent."""
    right = same = found = gold = 0
    lines = lines_of(language)
    for line in lines:
        text, places = tokens_of(line)
        own = {(begin, end) for sent in segmenter.sentences_of(text) for begin, end, _ in sent}
        right += own == places
        same, found, gold = same + len(own & places), found + len(own), gold + len(places)
        if wrong and own != places:
            print("   ", " ".join(text[begin:end] for begin, end in sorted(own)))
    return right, len(lines), 200 * same / (found + gold)


def segmenters_of(model: str) -> tuple[Segmenter, Segmenter]:
    """Return what cuts as a model does without patterns, and with them."""
    segmentation = None
    if Path(model).is_dir():
        parts = {path.stem.rsplit("-", 1)[1]: path for path in Path(model).glob("*.conllu")}
        train = pn.read_conllu(parts.get("train", parts["dev"]))
        dev = pn.read_conllu(parts["dev"]) if "train" in parts else None
        segmentation = learn_segmentation(train, dev, learn_sentences, seed=1)
    else:
        segmentation = pn.load(model).model.segmentation
    if segmentation is None:
        raise SystemExit(f"{model}: has not learned to cut text")
    none_hold = dict.fromkeys(PATTERN_KINDS, (100, 100))
    return Segmenter(segmentation._replace(patterns=none_hold)), Segmenter(segmentation)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("models", nargs="+", metavar="LANGUAGE=MODEL")
    parser.add_argument("--wrong", action="store_true")
    chosen = parser.parse_args()
    print("| lines | without patterns: right | tokens | with them: right | tokens |")
    print("|---|--:|--:|--:|--:|")
    for pair in chosen.models:
        language, _, model = pair.partition("=")
        cells = []
        for number, segmenter in enumerate(segmenters_of(model)):
            right, lines, f1 = score(segmenter, language, wrong=chosen.wrong and number == 1)
            cells += [f"{right} of {lines}", f"{f1:.2f}"]
        print(f"| {language} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
