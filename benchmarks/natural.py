"""Text as it comes: how fast taggers label a long text once, just loaded, and a second time.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/natural.py [--texts Brown] [--rounds N]

Models of the presets learn from the train and dev parts of EWT and tag Brown (1.2 million tokens
of edited American English) and MASC (0.6 million, written and spoken, of our time): as lists, as
buffers and as CoNLL-U, each by a tagger that was just loaded; lists once more by the same tagger.
Plain text (the tokens with spaces between them, a paragraph a sentence) becomes word/TAG, as by
``perceptron-nlp tag``, by a tagger that has learned to cut text (``--column text,upos``), and
objects (``tag_text``): of the whole text, and, loaded already, of each sentence as a text by
itself. Peers that are installed learn as benchmarks/peers.py says and tag the first 4,000 sentences
as lists and CoNLL-U in the same run: with all of them a round would take minutes, and their speed
hangs on no memory of theirs. All are processes of their own that take turns; figures are millions
of tokens a CPU second, by the least of the rounds. Loading, starting and learning are not in them.
Prints Markdown.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import multiprocessing
import sys
import tempfile
from collections.abc import Callable
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
from corpora import corpora, treebank
from cputime import seconds
from peers import PEERS, Sentences
from turns import fill_file, is_installed, labeled

import perceptron_nlp as pn

PRESETS = ("fast", "default", "accurate")
# Each with what stands between a word and its tag.
TEXTS = {"Brown": ("brown", "/"), "MASC": ("masc", "_")}
WAYS = (
    "lists",
    "lists, again",
    "buffers",
    "CoNLL-U",
    "plain text",
    "objects",
    "objects, a short text a call",
)
PEER_WAYS = ("lists", "CoNLL-U")
PEER_SENTENCES = 4000
QUICK_SENTENCES = 300
Job = Callable[[], object]
# Of the columns that it is named after, and of these and text.
Models = tuple[bytes, bytes]


def sentences_of(text: str, count: int | None) -> Sentences:
    """The words of a text's first sentences, every word an object of its own, as programs read."""
    name, bar = TEXTS[text]
    lines = (corpora() / "corpora" / name / f"{name}.tagged.txt").read_text("utf-8").split("\n")
    words = ([word.rpartition(bar)[0] for word in line.split()] for line in lines)
    # MASC has tags without a word, at which some peers stop.
    found = ([word for word in own if word] for own in words)
    return list(islice(filter(None, found), count))


def as_conllu(sentences: Sentences) -> str:
    """The sentences as CoNLL-U without any annotation."""
    return "".join(
        "".join(f"{k}\t{word}" + "\t_" * 8 + "\n" for k, word in enumerate(words, 1)) + "\n"
        for words in sentences
    )


def our_ways(models: Models, sentences: Sentences, folder: Path) -> dict[str, Callable[[], Job]]:
    """For each way what makes a job of it, with a tagger that was just loaded where it is new."""
    model, cutting = models
    words = [word.encode() for one in sentences for word in one]
    plain = b"".join(words), np.cumsum([0, *map(len, words)]), np.cumsum([0, *map(len, sentences)])
    path = folder / "text.conllu"
    path.write_text(as_conllu(sentences), encoding="utf-8")
    whole, text = path.read_bytes(), "\n\n".join(" ".join(one) for one in sentences)
    latest: list[pn.Tagger] = []

    def fresh() -> pn.Tagger:
        latest[:] = [pn.Tagger.from_bytes(model)]
        return latest[0]

    def conllu() -> Job:
        fill = fresh().labelers.filler(pn.open_corpus(str(path)))
        assert fill is not None
        return lambda: fill(whole)

    def lists(tagger: pn.Tagger) -> Job:
        return lambda: tagger.tag_sents(sentences)

    def buffers(tagger: pn.Tagger) -> Job:
        return lambda: tagger.tag_arrays(*plain).labels[tagger.column]

    def learned() -> Job:
        fill = pn.Tagger.from_bytes(cutting).labelers.text_filler(["upos"])
        corpus = pn.open_corpus(io.BytesIO(text.encode()), format="text")
        assert fill is not None
        return lambda: sum(map(len, fill.tagged(corpus)))

    def objects() -> Job:
        latest[:] = [pn.Tagger.from_bytes(cutting)]
        return lambda: latest[0].tag_text(text)

    def short() -> Job:
        texts = text.split("\n\n")
        return lambda: latest[0].tag_text(texts)

    return {
        "lists": lambda: lists(fresh()),
        "lists, again": lambda: lists(latest[0]),
        "buffers": lambda: buffers(fresh()),
        "CoNLL-U": conllu,
        "plain text": learned,
        "objects": objects,
        "objects, a short text a call": short,
    }


def peer_ways(name: str, sentences: Sentences, folder: Path, quick: bool) -> dict[str, Job]:
    """The same of a peer, which is trained here."""
    peer = next(peer for peer in PEERS if peer.name == name)
    counts = [n for n in (peer.sentences, QUICK_SENTENCES if quick else None) if n is not None]
    tag, _ = peer.train(labeled("train", min(counts, default=None)), folder)
    path = folder / "text.conllu"
    path.write_text(as_conllu(sentences), encoding="utf-8")
    return {
        "lists": lambda: tag(sentences),
        "CoNLL-U": lambda: fill_file(tag, str(path), folder / "out.conllu"),
    }


def work(name: str, text: str, models: Models | None, quick: bool, pipe: Connection) -> None:
    """The process of one tagger: sends how many tokens there are, then a way's seconds if asked."""
    count = None if models else PEER_SENTENCES
    sentences = sentences_of(text, QUICK_SENTENCES if quick else count)
    pipe.send(sum(map(len, sentences)))
    with tempfile.TemporaryDirectory() as folder:
        ours = our_ways(models, sentences, Path(folder)) if models else {}
        peers = {} if models else peer_ways(name, sentences, Path(folder), quick)
        gc.collect()
        gc.freeze()
        while way := pipe.recv():
            pipe.send(seconds(ours[way]() if models else peers[way]))


def measure(
    names: dict[str, Models | None], text: str, rounds: int, quick: bool
) -> dict[str, dict[str, float]]:
    """Millions of tokens a CPU second by tagger and way."""
    spawn = multiprocessing.get_context("spawn")
    pipes: dict[str, Connection] = {}
    for name, models in names.items():
        pipes[name], there = spawn.Pipe()
        spawn.Process(target=work, args=(name, text, models, quick, there), daemon=True).start()
        there.close()
    tokens = {name: pipe.recv() for name, pipe in pipes.items()}
    best = {name: dict.fromkeys(WAYS if names[name] else PEER_WAYS, float("inf")) for name in names}
    for _ in range(rounds):
        for name, pipe in pipes.items():
            for way in best[name]:
                try:
                    pipe.send(way)
                    best[name][way] = min(best[name][way], pipe.recv())
                except (EOFError, BrokenPipeError):
                    best[name][way] = float("nan")
    for pipe in pipes.values():
        with contextlib.suppress(BrokenPipeError):
            pipe.send("")
    return {
        name: {way: tokens[name] / least / 1e6 for way, least in ways.items()}
        for name, ways in best.items()
    }


def table(found: dict[str, dict[str, float]]) -> str:
    """Taggers and ways; beside lists, how many times the fastest peer."""
    peers = [
        ways["lists"] for name, ways in found.items() if name not in PRESETS and ways["lists"] > 0
    ]
    fastest = max(peers, default=float("nan"))
    lines = [
        "| | " + " | ".join(WAYS) + " | lists: × the fastest peer |",
        "|---|" + "--:|" * (len(WAYS) + 1),
    ]
    for name, ways in sorted(found.items(), key=lambda item: -item[1]["lists"]):
        shown = [f"{ways[way]:.2f}" if way in ways else "–" for way in WAYS]
        title = f"**{name}**" if name in PRESETS else name
        lines.append(f"| {title} | {' | '.join(shown)} | {ways['lists'] / fastest:.1f} |")
    return "\n".join(lines)


def report(texts: list[str], rounds: int, quick: bool) -> None:
    """Print a table of each text."""
    path, dev = treebank("EWT", "train"), treebank("EWT", "dev")
    train = list(islice(pn.read_conllu(path), QUICK_SENTENCES)) if quick else path
    names: dict[str, Models | None] = {}
    for preset in PRESETS:
        alone, cutting = (
            pn.train(train, preset=preset, dev=None if quick else dev, column=column).to_bytes()
            for column in ("upos", "text,upos")
        )
        names[preset] = alone, cutting
    names |= {peer.name: None for peer in PEERS if is_installed(peer)}
    for text in texts:
        found = measure(names, text, rounds, quick)
        tokens = sum(map(len, sentences_of(text, QUICK_SENTENCES if quick else None)))
        print(f"### {text}, {tokens:,} tokens, M tokens / CPU s\n\n{table(found)}\n", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--texts", nargs="+", choices=TEXTS, default=list(TEXTS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="little text; only to see it work")
    chosen = parser.parse_args()
    print(f"## Text as it comes, each once (Python {sys.version.split()[0]})\n")
    report(chosen.texts, 1 if chosen.quick else chosen.rounds, chosen.quick)


if __name__ == "__main__":
    main()
