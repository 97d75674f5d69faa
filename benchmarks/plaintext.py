"""From running text to sentences, words, tags and lemmas: F1 on the test parts of treebanks.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/plaintext.py [TREEBANK …] [--udpipe] [--speed]
        [--models FOLDER]
    PERCEPTRON_NLP_CORPORA=folder python benchmarks/plaintext.py --english
    PERCEPTRON_NLP_CORPORA=folder python benchmarks/plaintext.py --kinds

For each treebank a model of all columns learns from train, with dev to choose epochs by; where
there is no train part, it learns from dev alone. The text of test is put together from its tokens,
spaces and paragraphs, and what is made of it is scored as in the CoNLL 2018 shared task. The line
*as English* cuts the text as ``pn.tokenize`` does, with the segmentation of ``en``. With
``--udpipe`` the tokenizer and tagger of UDPipe 1 (ufal.udpipe) learn from the same parts with their
own options, but for the epochs of the tokenizer, of which they do 100 (``--udpipe-epochs``): an
hour for a treebank. Models that are in the folder of ``--models`` are taken from there, and others
are kept there.

With ``--speed`` a second table tells how many tokens a second of processor time are made of the
text of test, repeated to a million tokens, by a tagger that has seen nothing yet: *cut* into
sentences and tokens, with *one column* as ``word/TAG``, and with *all* columns as CoNLL-U; how much
faster *two threads* write all columns, by the clock; and, with ``--udpipe``, what UDPipe tags of
test, whose tokens are given.

With ``--english`` nothing is learned: the segmentation of ``en`` cuts the text of every test part
below the folder, whatever its language.

With ``--kinds`` the kinds of marks, numbers and ends of sentences that most languages treat alike
are counted in all train parts below the folder: how many there are, how many of them a treebank
treats otherwise, and in which treebanks a kind does not hold.
"""

from __future__ import annotations

import argparse
import io
import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from corpora import DEV_ALONE, TREEBANKS, corpora

import perceptron_nlp as pn
from perceptron_nlp.formats import open_corpus
from perceptron_nlp.formats.conllu import running_text, surfaces
from perceptron_nlp.tagger.train.labeled_atoms import LabeledAtoms
from perceptron_nlp.text.tagset import PATTERN_KINDS, holds

MANY, PIECE = 1_000_000, 1 << 18
SHOWN = ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "Lemmas")
SPEEDS = ("cut", "one column", "all", "two threads", "UDPipe")


def main() -> None:
    """Print a Markdown table, or two."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebanks", nargs="*", default=[*TREEBANKS, *DEV_ALONE])
    parser.add_argument("--udpipe", action="store_true")
    parser.add_argument("--udpipe-epochs", type=int, default=100)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--models", type=Path)
    parser.add_argument("--english", action="store_true")
    parser.add_argument("--kinds", action="store_true")
    chosen = parser.parse_args()
    if chosen.kinds:
        show_kinds()
        return
    english = pn.load("en")
    if chosen.english:
        show_english(english)
        return
    speeds = []
    heads = "tokens | sentences | words | UPOS | XPOS | FEATS | lemmas | lemmas, gold tokens"
    print(f"| test | | {heads} | CPU s | MB |")
    print("|---|---|" + "--:|" * 10)
    for name in chosen.treebanks:
        stem = corpora() / "treebanks" / {**TREEBANKS, **DEV_ALONE}[name]
        train, dev, test = (f"{stem}-{part}.conllu" for part in ("train", "dev", "test"))
        parts = (train, dev) if Path(train).exists() else (dev, None)
        model, spent = kept(chosen.models, f"{name}.model", lambda parts=parts: ours(*parts))
        tagger = pn.Tagger.from_bytes(model)
        lemmas = tagger.evaluate(test, column="lemma").accuracy if has_lemmas(tagger) else None
        show(name, "ours", tagger.evaluate_text(test), lemmas, spent, f"{len(model) / 1e6:.2f}")
        scores = english.evaluate_text(test)
        scores = {name: scores[name] for name in ("Tokens", "Sentences", "Words")}
        show(name, "as English", scores, None, "", "")
        figures = list(speed(model, test)) if chosen.speed else []
        if chosen.udpipe:
            theirs, spent = kept(
                chosen.models,
                f"{name}.udpipe",
                lambda parts=parts: udpipe_model(*parts, chosen.udpipe_epochs),
            )
            scores, lemmas, their_speed = udpipe(theirs, test)
            show(name, "UDPipe", scores, lemmas, spent, f"{len(theirs) / 1e6:.2f}")
            figures += [their_speed] * chosen.speed
        speeds.append((name, figures))
    if not chosen.speed:
        return
    heads = SPEEDS if chosen.udpipe else SPEEDS[:-1]
    print("\nMillion tokens a second of processor time; two threads by the clock\n")
    print(f"| test | {' | '.join(heads)} |\n|---|" + "--:|" * len(heads))
    for name, figures in speeds:
        print(f"| {name} | {' | '.join(f'{figure:.3g}' for figure in figures)} |")


def show_kinds() -> None:
    """Print how the train parts treat what most languages treat alike, as a Markdown table."""
    totals = {kind: [0, 0] for kind in PATTERN_KINDS}
    others: dict[str, list[str]] = {kind: [] for kind in PATTERN_KINDS}
    for path in sorted(corpora().rglob("*-ud-train.conllu*")):
        found = LabeledAtoms(surfaces(pn.read_conllu(path))).patterns
        for kind, own in found.items():
            totals[kind] = [a + b for a, b in zip(totals[kind], own, strict=True)]
            if not holds(kind, found):
                others[kind].append(path.name.partition("-")[0])
    print("| kind | places | otherwise | does not hold in |\n|---|--:|--:|---|")
    for kind, (met, cut) in totals.items():
        print(f"| `{kind}` | {met:,} | {cut:,} | {', '.join(others[kind])} |")


def kept(folder: Path | None, name: str, make: Callable[[], bytes]) -> tuple[bytes, str]:
    """Return a model of the folder, or one that is made, and the processor seconds of that."""
    if folder is not None and (folder / name).exists():
        return (folder / name).read_bytes(), ""
    begun = time.process_time()
    model = make()
    spent = f"{time.process_time() - begun:.0f}"
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(model)
    return model, spent


def ours(train: str, dev: str | None) -> bytes:
    """Train a tagger of all columns."""
    return pn.train(train, dev=dev, column="all", seed=1).to_bytes()


def speed(model: bytes, test: str) -> tuple[float, float, float, float]:
    """Return million tokens a second: cut, with one column, with all; and what two threads gain."""
    text, tokens, _ = running_text(pn.read_conllu(test))
    times = -(-MANY // len(tokens))
    data, n_tokens = "\n\n".join([text] * times).encode(), times * len(tokens)

    def spent(write: Callable[[pn.Tagger, pn.Corpus], Iterable[object]]) -> tuple[float, float]:
        """Processor seconds and seconds of a tagger that is loaded for this."""
        tagger = pn.Tagger.from_bytes(model)
        with open_corpus(io.BytesIO(data), format="text") as corpus:
            begun = time.process_time(), time.perf_counter()
            for _ in write(tagger, corpus):
                pass
            return time.process_time() - begun[0], time.perf_counter() - begun[1]

    def cut(tagger: pn.Tagger, corpus: pn.Corpus) -> Iterator[int]:
        cutter = tagger.segmenter.cutter
        rest, known = b"", (b"", 0)
        while piece := corpus.take_text(PIECE):
            found = cutter.cut_text(rest + piece, False, *known)
            rest, known = (rest + piece)[found.taken[0] :], found.rest
            yield found.n_sentences
            cutter.give_back(found)

    def one(tagger: pn.Tagger, corpus: pn.Corpus) -> Iterable[bytes]:
        fill = tagger.labelers.text_filler([tagger.columns[0]])
        assert fill is not None
        return fill.tagged(corpus)

    def everything(tagger: pn.Tagger, corpus: pn.Corpus, threads: int = 1) -> Iterable[bytes]:
        fill = tagger.labelers.text_filler()
        named = itertools.count(1)
        assert fill is not None
        return fill.texts(corpus, lambda n: next(named), threads)

    def by_two(tagger: pn.Tagger, corpus: pn.Corpus) -> Iterable[bytes]:
        return everything(tagger, corpus, threads=2)

    (in_turn, by_clock), by_both = spent(everything), spent(by_two)[1]
    each = spent(cut)[0], spent(one)[0], in_turn
    at_cut, at_one, at_all = (n_tokens / seconds / 1e6 for seconds in each)
    return at_cut, at_one, at_all, by_clock / by_both


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


def show_english(english: pn.Tagger) -> None:
    """Print what the segmentation of English makes of all test parts."""
    print("| test | tokens | sentences |\n|---|--:|--:|")
    rows = []
    for path in sorted(corpora().glob("*/UD_*/*-test.conllu*")):
        scores = english.evaluate_text(path)
        rows.append([100 * scores[name].f1 for name in ("Tokens", "Sentences")])
        print(f"| {path.parent.name[3:]} | " + " | ".join(f"{f1:.2f}" for f1 in rows[-1]) + " |")
    means = " | ".join(f"{fmean(column):.2f}" for column in zip(*rows, strict=True))
    print(f"| mean of {len(rows)} | {means} |")


def udpipe_model(train: str, dev: str | None, epochs: int) -> bytes:
    """Train UDPipe 1, whose tokenizer does so many epochs, without a parser."""
    import ufal.udpipe as theirs

    error = theirs.ProcessingError()

    def sentences(path: str | None) -> Any:
        found, sentence = theirs.Sentences(), theirs.Sentence()
        reader = theirs.InputFormat.newConlluInputFormat()
        reader.setText("" if path is None else Path(path).read_text("utf-8"))
        while reader.nextSentence(sentence, error):
            found.append(sentence)
            sentence = theirs.Sentence()
        return found

    model: bytes = theirs.Trainer.train(
        "morphodita_parsito",
        sentences(train),
        sentences(dev),
        f"epochs={epochs}",
        "",
        "none",
        error,
    )
    if error.occurred():
        raise SystemExit(f"UDPipe: {error.message}")
    return model


def udpipe(model: bytes, test: str) -> tuple[dict[str, pn.F1], float, float]:
    """Score UDPipe 1: from text, its lemmas on gold tokens; and million tokens it tags a second."""
    import ufal.udpipe as theirs

    place = Path("udpipe.model")
    place.write_bytes(model)
    loaded, error = theirs.Model.load(str(place)), theirs.ProcessingError()
    place.unlink()

    def output(given: str, text: str) -> tuple[list[pn.Sentence], float]:
        pipeline = theirs.Pipeline(loaded, given, theirs.Pipeline.DEFAULT, "none", "conllu")
        begun = time.process_time()
        written = pipeline.process(text, error)
        spent = time.process_time() - begun
        return list(pn.read_conllu(io.BytesIO(written.encode()))), spent

    text = running_text(pn.read_conllu(test))[0]
    scores = pn.text_scores(test, output("tokenize", text)[0])
    gold, spent = output("conllu", Path(test).read_text("utf-8"))
    return scores, pn.text_scores(test, gold)["Lemmas"].f1, sum(map(len, gold)) / spent / 1e6


if __name__ == "__main__":
    main()
