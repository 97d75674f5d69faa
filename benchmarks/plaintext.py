"""From running text to sentences, words, tags and lemmas: F1 on the test parts of treebanks.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/plaintext.py [TREEBANK …] [--udpipe] [--speed]

For each treebank a model of all columns learns from train, with dev to choose epochs by; where
there is no train part, it learns from dev alone. The text of test is put together from its tokens,
spaces and paragraphs, and what is made of it is scored as in the CoNLL 2018 shared task. The line
*rules* cuts the text by the rules of ``pn.tokenize``. With ``--udpipe`` the tokenizer and tagger of
UDPipe 1 (ufal.udpipe) learn from the same parts with their own options, but for the epochs of the
tokenizer, of which they do 100 (``--udpipe-epochs``): an hour for a treebank.

With ``--speed`` a second table tells how many tokens a second of processor time are made of the
text of test, repeated to a million tokens, by a tagger that has seen nothing yet: *cut* into
sentences and tokens, with *one column*, and with *all* columns, both as CoNLL-U; last, how much
faster *two threads* write all columns, by the clock.
"""

from __future__ import annotations

import argparse
import io
import itertools
import time
from collections.abc import Mapping
from pathlib import Path

from corpora import DEV_ALONE, TREEBANKS, corpora

import perceptron_nlp as pn
from perceptron_nlp.formats import as_conllu, open_corpus
from perceptron_nlp.formats.conllu_layout import running_text

MANY, PIECE = 1_000_000, 1 << 18
SHOWN = ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "Lemmas")


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebanks", nargs="*", default=[*TREEBANKS, *DEV_ALONE])
    parser.add_argument("--udpipe", action="store_true")
    parser.add_argument("--udpipe-epochs", type=int, default=100)
    parser.add_argument("--speed", action="store_true")
    chosen = parser.parse_args()
    speeds = []
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
        if chosen.speed:
            speeds.append((name, *speed(tagger.to_bytes(), test)))
        if chosen.udpipe:
            show(name, "UDPipe", *udpipe(*parts, test, chosen.udpipe_epochs))
    if speeds:
        print("\nMillion tokens a second of processor time; two threads by the clock\n")
        print("| test | cut | one column | all | two threads |\n|---|--:|--:|--:|--:|")
    for name, *figures in speeds:
        print(f"| {name} | {' | '.join(f'{figure:.2f}' for figure in figures)} |")


def speed(model: bytes, test: str) -> tuple[float, float, float, float]:
    """Return million tokens a second: cut, with one column, with all; and what two threads gain."""
    text = running_text(pn.read_conllu(test))
    times = -(-MANY // len(text.tokens))
    data, n_tokens = "\n\n".join([text.text] * times).encode(), times * len(text.tokens)

    def spent(columns: list[str] | None, threads: int = 1) -> tuple[float, float]:
        fill = pn.Tagger.from_bytes(model).text_filler(columns)
        assert fill is not None
        named = itertools.count(1)
        with open_corpus(io.BytesIO(data), format="text") as corpus:
            begun = time.process_time(), time.perf_counter()
            for _ in fill.texts(corpus, lambda n: next(named), threads):
                pass
            return time.process_time() - begun[0], time.perf_counter() - begun[1]

    tagger = pn.Tagger.from_bytes(model)
    assert tagger.segmenter is not None
    cutter = tagger.segmenter.cutter
    begun = time.process_time()
    for at in range(0, len(data), PIECE):
        cutter.give_back(
            cutter.cut_text(data[at : at + PIECE].decode("utf-8", "ignore").encode(), True)
        )
    cut = time.process_time() - begun
    one, (everything, by_clock) = spent([tagger.columns[0]])[0], spent(None)
    gain = by_clock / spent(None, threads=2)[1]
    return n_tokens / cut / 1e6, n_tokens / one / 1e6, n_tokens / everything / 1e6, gain


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
    train: str, dev: str | None, test: str, epochs: int
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
        "morphodita_parsito",
        sentences(train),
        sentences(dev),
        f"epochs={epochs}",
        "",
        "none",
        error,
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
