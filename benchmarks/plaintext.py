"""From running text to sentences, words, tags and lemmas: F1 on the test parts of treebanks.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/plaintext.py [TREEBANK …] [--udpipe]

For each treebank a model of all columns learns from train, with dev to choose epochs by; where
there is no train part, it learns from dev alone. The text of test is put together from its tokens,
spaces and paragraphs, and what is made of it is scored as in the CoNLL 2018 shared task. The line
*rules* cuts the text by the rules of ``pn.tokenize``. With ``--udpipe`` the tokenizer and tagger of
UDPipe 1 (ufal.udpipe) learn from the same parts with their own options, which takes many minutes.
"""

from __future__ import annotations

import argparse
import io
import time
from collections.abc import Mapping
from pathlib import Path

from corpora import DEV_ALONE, TREEBANKS, corpora

import perceptron_nlp as pn
from perceptron_nlp.formats import as_conllu, open_corpus
from perceptron_nlp.formats.conllu_layout import running_text

SHOWN = ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "Lemmas")


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebanks", nargs="*", default=[*TREEBANKS, *DEV_ALONE])
    parser.add_argument("--udpipe", action="store_true")
    chosen = parser.parse_args()
    heads = "tokens | sentences | words | UPOS | XPOS | FEATS | lemmas | lemmas, gold tokens"
    print(f"| test | | {heads} | CPU s | MB |")
    print("|---|---|" + "--:|" * 10)
    for name in chosen.treebanks:
        stem = corpora() / "treebanks" / {**TREEBANKS, **DEV_ALONE}[name]
        train, dev, test = (f"{stem}-{part}.conllu" for part in ("train", "dev", "test"))
        parts = (train, dev) if Path(train).exists() else (dev, None)
        begun = time.process_time()
        tagger = pn.train(parts[0], dev=parts[1], column="all", seed=1)
        spent, size = time.process_time() - begun, len(tagger.to_bytes()) / 1e6
        lemmas = tagger.evaluate(test, column="lemma").accuracy if has_lemmas(tagger) else None
        show(name, "ours", tagger.evaluate_text(test), lemmas, f"{spent:.0f}", f"{size:.2f}")
        show(name, "rules", rules(test), None, "", "")
        if chosen.udpipe:
            show(name, "UDPipe", *udpipe(*parts, test))


def has_lemmas(tagger: pn.Tagger) -> bool:
    """Return True if the tagger gives lemmas."""
    return "lemma" in tagger.columns


def show(
    name: str, who: str, scores: Mapping[str, pn.F1], lemmas: float | None, spent: str, size: str
) -> None:
    """Print a line of the table."""
    cells = [f"{100 * scores[key].f1:.2f}" if key in scores else "–" for key in SHOWN]
    cells.append("–" if lemmas is None else f"{100 * lemmas:.2f}")
    print(f"| {name} | {who} | {' | '.join(cells)} | {spent} | {size} |", flush=True)


def rules(test: str) -> dict[str, pn.F1]:
    """Score the tokens and sentences of the rules."""
    text = running_text(pn.read_conllu(test)).text
    corpus = open_corpus(io.BytesIO(text.encode()), format="text")
    written = "".join(as_conllu(sentence, {}) for sentence in corpus)
    found = pn.text_scores(test, list(pn.read_conllu(io.BytesIO(written.encode()))))
    return {name: found[name] for name in ("Tokens", "Sentences", "Words")}


def udpipe(
    train: str, dev: str | None, test: str
) -> tuple[dict[str, pn.F1], float | None, str, str]:
    """Train UDPipe 1 and score it: from text, its lemmas on gold tokens, CPU seconds, megabytes."""
    import ufal.udpipe as theirs

    error = theirs.ProcessingError()

    def sentences(path: str | None) -> object:
        found, sentence = theirs.Sentences(), theirs.Sentence()
        reader = theirs.InputFormat.newConlluInputFormat()
        reader.setText("" if path is None else Path(path).read_text("utf-8"))
        while reader.nextSentence(sentence, error):
            found.append(sentence)
            sentence = theirs.Sentence()
        return found

    begun = time.process_time()
    model = theirs.Trainer.train(
        "morphodita_parsito", sentences(train), sentences(dev), "", "", "none", error
    )
    spent = time.process_time() - begun
    if error.occurred():
        raise SystemExit(f"UDPipe: {error.message}")
    place = Path("udpipe.model")
    place.write_bytes(model)
    loaded = theirs.Model.load(str(place))
    place.unlink()

    def output(given: str, text: str) -> list[pn.Sentence]:
        pipeline = theirs.Pipeline(loaded, given, theirs.Pipeline.DEFAULT, "none", "conllu")
        return list(pn.read_conllu(io.BytesIO(pipeline.process(text, error).encode())))

    scores = pn.text_scores(test, output("tokenize", running_text(pn.read_conllu(test)).text))
    gold = pn.text_scores(test, output("conllu", Path(test).read_text("utf-8")))["Lemmas"].f1
    return scores, gold, f"{spent:.0f}", f"{len(model) / 1e6:.2f}"


if __name__ == "__main__":
    main()
