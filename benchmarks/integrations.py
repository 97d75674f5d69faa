"""How fast the tagger is inside other libraries. Prints Markdown.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/integrations.py [--rounds N] [--quick]

Trained on the UPOS column of EWT train with the default options; tags EWT test, four times over.
All contestants take turns in one process; figures are CPU seconds, the least of several rounds.
spaCy's own tagger is that of its default configuration (HashEmbedCNN of width 96 and depth 4),
initialised and not trained: its speed does not depend on what it learnt. It gets the same Docs.
Running text is speeches of presidents, a document of ten paragraphs each, cut and tagged by the
bundled model. --quick trains on a few hundred sentences and takes one round, to see that all works.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import spacy
from corpora import corpora, treebank
from cputime import seconds
from datatrove.utils.word_tokenizers import SpaCyTokenizer
from spacy.tokens import Doc
from spacy.training import Example

import perceptron_nlp as pn
from perceptron_nlp.compat.datatrove import PerceptronTokenizer
from perceptron_nlp.integrations.arrow import tag_arrow
from perceptron_nlp.integrations.spacy import SpacyTagger

COPIES = 4
PARAGRAPHS = 10
QUICK_SENTENCES = 300


def least_seconds(contestants: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The least CPU time of each, taking turns."""
    found: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            found[name].append(seconds(run))
    return {name: min(taken) for name, taken in found.items()}


def whole_file(tagger: pn.Tagger, text: bytes) -> None:
    """What `perceptron-nlp tag` does with a CoNLL-U file, without reading it and writing it."""
    corpus = pn.open_corpus(io.BytesIO(text), format="conllu")
    fill = tagger.labelers.filler(corpus)
    assert fill is not None
    while piece := corpus.take_blocks(1 << 20):
        assert fill(piece) is not None


def arrow_table(tagger: pn.Tagger, sentences: list[list[str]], text: bytes, rounds: int) -> None:
    """tag_arrow beside lists and whole files."""
    array = pa.array(sentences)
    large = array.cast(pa.large_list(pa.large_string()))
    views = array.cast(pa.list_(pa.string_view()))
    least = least_seconds(
        {
            "CoNLL-U text": lambda: whole_file(tagger, text),
            "`tag_sents`, lists of str": lambda: tagger.tag_sents(sentences),
            "`tag_arrow`, list of string": lambda: tag_arrow(tagger, array),
            "`tag_arrow`, large list of large string": lambda: tag_arrow(tagger, large),
            "`tag_arrow`, list of string view": lambda: tag_arrow(tagger, views),
        },
        rounds,
    )
    show(least, sum(map(len, sentences)), "CoNLL-U text")


def spacy_table(tagger: pn.Tagger, sentences: list[list[str]], rounds: int) -> None:
    """spaCy's pipe with our tagger and with its own."""
    nlp = spacy.blank("en")
    docs = [Doc(nlp.vocab, words=words) for words in sentences]
    ours = SpacyTagger(nlp)
    ours.from_bytes(tagger.to_bytes())
    theirs: Any = nlp.add_pipe("tagger")
    for label in tagger.labels:
        theirs.add_label(label)
    example = Example(docs[0].copy(), docs[0].copy())
    theirs.initialize(lambda: [example], nlp=nlp)
    least = least_seconds(
        {
            "spaCy's tagger": lambda: list(theirs.pipe(docs, batch_size=nlp.batch_size)),
            "`perceptron_tagger`": lambda: list(ours.pipe(docs, batch_size=nlp.batch_size)),
        },
        rounds,
    )
    show(least, sum(map(len, sentences)), "spaCy's tagger")


def text_table(texts: list[str], rounds: int) -> None:
    """Running text in datatrove's tokenizers and spaCy's pipelines."""
    blank = spacy.blank("en")
    blank.add_pipe("sentencizer")
    cutting = {"@tokenizers": "perceptron_tokenizer", "model": "en"}
    nlp = spacy.blank("en", config={"nlp": {"tokenizer": cutting}})
    nlp.add_pipe("perceptron_tagger", config={"model": "en"})
    tokenizers = SpaCyTokenizer("en"), PerceptronTokenizer("en")
    uses = {
        "spaCy, a blank pipeline with its sentencizer": blank,
        "spaCy, `perceptron_tokenizer` and `perceptron_tagger`: tags, features, lemmas": nlp,
    } | {
        f"datatrove, `{type(one).__name__}.{name}`": getattr(one, name)
        for name in ("word_tokenize", "sent_tokenize")
        for one in tokenizers
    }
    for use in uses.values():
        # Models are opened when they are first needed.
        use(texts[0])
    tokens = sum(len(tokenizers[1].word_tokenize(text)) for text in texts)
    least = least_seconds(
        {
            name: lambda use=use: [*getattr(use, "pipe", partial(map, use))(texts)]
            for name, use in uses.items()
        },
        rounds,
    )
    show(least, tokens, next(iter(uses)))


def show(least: Mapping[str, float], tokens: int, beside: str) -> None:
    """A table of speeds."""
    print(f"| | M tokens / CPU s | × {beside} |\n|---|---|---|")
    for name, spent in least.items():
        print(f"| {name} | {tokens / spent / 1e6:.3f} | {least[beside] / spent:.2f} |")
    print(flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    train = list(pn.read_conllu(treebank("EWT", "train")))
    test = Path(treebank("EWT", "test"))
    sentences = [list(sentence.words) for sentence in pn.read_conllu(test)]
    rounds = 1 if chosen.quick else chosen.rounds
    tagger = pn.train(
        train[:QUICK_SENTENCES] if chosen.quick else train, column="upos", seed=1, runs=1
    )
    print("## Arrow\n")
    arrow_table(tagger, sentences * COPIES, test.read_bytes() * COPIES, rounds)
    print("## spaCy\n")
    spacy_table(tagger, sentences, rounds)
    print("## Running text\n")
    speeches = (
        (corpora() / "corpora" / "presidents" / "state_union.txt").read_text("utf-8").split("\n\n")
    )
    pieces = range(0, len(speeches), PARAGRAPHS)
    texts = ["\n\n".join(speeches[at : at + PARAGRAPHS]) for at in pieces]
    text_table(texts[:2] if chosen.quick else texts, rounds)


if __name__ == "__main__":
    main()
