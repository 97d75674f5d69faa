"""The main road: running text through whole commands, cold, to sentences, words, tags and lemmas.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/road.py [--rounds N] [--models FOLDER]

What is measured are processes, in turns: ``perceptron-nlp tag`` of Brown and of MASC by the bundled
model of English; of text that models of French, Greek and Turkish (``--column all``, learned here,
or kept in the folder of ``--models``) have for a test, forty times, and of other treebanks' raw
text, which they have never seen; text that is only cut; the same words as CoNLL-U whose columns are
filled in, and as lists; objects made by ``tag_text``; starting and loading. Peers that are
installed do their part of the same text: sentencex cuts sentences, a blank pipeline of spaCy with
its sentencizer tokens and sentences, simplemma looks up the lemma of each word; how right they are
on the test part of EWT stands below, and how right ``en`` is. Figures are millions of words a CPU
second, by the least CPU seconds of the rounds, without those of the same command on one line.
Prints Markdown.
"""

from __future__ import annotations

import argparse
import importlib.util
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from corpora import corpora, treebank
from natural import TEXTS, sentences_of

import perceptron_nlp as pn
from perceptron_nlp.formats.conllu import running_text
from perceptron_nlp.tagger.text_scores import text_scores

TREEBANKS = ("French-Sequoia", "Greek-GDT", "Turkish-IMST")
# Text of the same language from another treebank.
OTHERS = {"Greek-GDT": "UD_Greek-GUD", "Turkish-IMST": "UD_Turkish-BOUN"}
COPIES = 40
TAG = ("-m", "perceptron_nlp", "tag", "--quiet", "--threads", "1")
OBJECTS = """
import sys, time, perceptron_nlp as pn
model, path, how = sys.argv[1:]
tagger = pn.load(model)
text = open(path, encoding="utf-8").read()
tagger.tag_text("One line.")
lists = [list(one.words) for one in pn.read_conllu(path)] if how == "lists" else []
start = time.process_time()
if how == "lists":
    tagger.tag_sents(lists, columns=tagger.columns)
else:
    for one in text.split("\\n\\n") if how == "short" else [text]:
        tagger.tag_text(one)
print(time.process_time() - start)
"""
LOAD = (
    "import sys, time, perceptron_nlp as pn\n"
    "def timed():\n"
    "    start = time.process_time(); pn.load(sys.argv[1]); return time.process_time() - start\n"
    "print(min(timed() for _ in range(5)))"
)


def by_sentencex(texts: Iterable[str]) -> list[list[str]]:
    """The sentences of texts, as what stands between white space."""
    import sentencex

    return [one.split() for text in texts for one in sentencex.segment("en", text) if one.split()]


def by_spacy(texts: Iterable[str]) -> list[list[str]]:
    """The sentences of texts, as tokens."""
    import spacy

    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    pipeline.max_length = 1 << 30
    found = [
        [token.text for token in sentence if not token.is_space]
        for document in pipeline.pipe(texts)
        for sentence in document.sents
    ]
    return [words for words in found if words]


def by_simplemma(texts: Iterable[str]) -> list[list[str]]:
    """The lemmas of words between white space."""
    from simplemma import lemmatize

    return [[lemmatize(word, "en") for word in text.split()] for text in texts]


# The module and the job of each.
PEERS = {
    "sentencex": ("sentencex", by_sentencex),
    "spacy.blank": ("spacy", by_spacy),
    "simplemma": ("simplemma", by_simplemma),
}


def installed_peers() -> list[str]:
    """The peers that can run here."""
    return [name for name, (module, _) in PEERS.items() if importlib.util.find_spec(module)]


def peer_seconds(name: str, path: Path) -> float:
    """The CPU seconds of a peer for a text, a paragraph at a time, after a first one."""
    paragraphs = path.read_text("utf-8").split("\n\n")
    job = PEERS[name][1]
    job(paragraphs[:10])
    start = time.process_time()
    job(paragraphs)
    return time.process_time() - start


def peer_accuracy(name: str) -> str:
    """How right a peer is on the test part of EWT, as a text or as gold words."""
    gold = list(pn.read_conllu(treebank("EWT", "test")))
    if name == "simplemma":
        found = by_simplemma(" ".join(sentence.words) for sentence in gold)
        right = total = 0
        for sentence, lemmas in zip(gold, found, strict=True):
            if len(lemmas) == len(sentence):
                right += sum(map(str.__eq__, lemmas, sentence.column("lemma")))
                total += len(lemmas)
        return f"lemmas of gold words {100 * right / total:.2f} %"
    system = [pn.Sentence(words) for words in PEERS[name][1]([running_text(gold)[0]])]
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "system.conllu"
        pn.write_conllu(system, written)
        scores = text_scores(gold, str(written))
    names = ["Sentences"] if name == "sentencex" else ["Tokens", "Sentences"]
    return ", ".join(f"{one} {100 * scores[one].f1:.2f}" for one in names)


def told_accuracy() -> str:
    """How right `en` is on the same."""
    scores = pn.load("en").evaluate_text(treebank("EWT", "test"))
    return ", ".join(f"{name} {100 * one.f1:.2f}" for name, one in scores.items())


class Job(NamedTuple):
    """A command on a text; `tells` if it prints its CPU seconds itself."""

    name: str
    arguments: tuple[str, ...]
    text: Path
    tells: bool = False


def cpu_seconds(arguments: tuple[str, ...], text: Path, *, tells: bool = False) -> float:
    """The CPU seconds of a process that reads a text, or those that it prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with text.open("rb") as file:
        done = subprocess.run(
            [sys.executable, *arguments],
            stdin=file,
            stdout=subprocess.PIPE if tells else subprocess.DEVNULL,
            check=True,
        )
    if tells:
        return float(done.stdout)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def n_words(model: str, text: Path) -> int:
    """How many words a model finds in a text."""
    with text.open("rb") as file:
        command = [sys.executable, *TAG, model]
        found = subprocess.run(command, stdin=file, stdout=subprocess.PIPE, check=True).stdout
    return sum(line[:1].isdigit() and line.split(b"\t")[0].isdigit() for line in found.split(b"\n"))


def jobs(folder: Path, models: Path, only: str) -> list[tuple[Job, str]]:
    """What is measured, and the model that counts the words of its text; `only` in their names."""
    made: list[tuple[Job, str]] = []
    for name in TEXTS:
        sentences = sentences_of(name, None)
        text = folder / f"{name}.txt"
        text.write_text("\n\n".join(" ".join(words) for words in sentences) + "\n", "utf-8")
        made.append((Job(f"`en`, all columns, {name}", (*TAG, "en"), text), "en"))
        # Words of a corpus with spaces between them would be taken for lines of words.
        upos = (*TAG, "en", "--format", "text", "--column", "upos")
        made.append((Job(f"`en`, UPOS, {name}", upos, text), "en"))
        made.append((Job(f"`en`, cut, {name}", (*TAG, "en", "--column", "text"), text), "en"))
        cut = folder / f"{name}.conllu"
        to_conllu = (*TAG, "en", "--column", "text", "--format", "text", "--to", "conllu")
        with text.open("rb") as file:
            command = [sys.executable, *to_conllu, "-o", str(cut)]
            subprocess.run(command, stdin=file, check=True)
        made.append((Job(f"`en`, all columns of CoNLL-U, {name}", (*TAG, "en"), cut), "en"))
        for title, how, source in (
            ("`tag_sents`, all columns", "lists", cut),
            ("`tag_text`, long", "long", text),
            ("`tag_text`, short", "short", text),
        ):
            arguments = ("-c", OBJECTS, "en", str(source), how)
            made.append((Job(f"{title}, {name}", arguments, source, True), "en"))
        for peer in installed_peers():
            arguments = (__file__, "--peer", peer, str(text))
            made.append((Job(f"{peer}, {name}", arguments, text, True), "en"))
    for name in (name for name in TREEBANKS if only in name):
        model = models / f"{name}.model"
        if not model.exists():
            print(f"learning {name}", file=sys.stderr)
            train, dev = treebank(name, "train"), treebank(name, "dev")
            pn.train(train, dev=dev, column="all", seed=1).save(model)
        own = running_text(pn.read_conllu(treebank(name, "test")))[0]
        text = folder / f"{name}.txt"
        text.write_text("\n\n".join([own] * COPIES), "utf-8")
        made.append((Job(f"{name}, test × {COPIES}", (*TAG, str(model)), text), str(model)))
        if name in OTHERS:
            where = corpora() / "languages" / OTHERS[name]
            (other,) = where.glob("*-train.conllu*")
            unseen = folder / f"{name}-unseen.txt"
            unseen.write_text(running_text(pn.read_conllu(other))[0], "utf-8")
            made.append((Job(f"{name}, unseen", (*TAG, str(model)), unseen), str(model)))
    return [one for one in made if only in one[0].name]


def main() -> None:
    """Measure in turns; print a table."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--models", type=Path, help="where models of treebanks are kept")
    parser.add_argument("--only", metavar="TEXT", default="", help="rows with this in the name")
    parser.add_argument("--peer", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.peer is not None:
        print(peer_seconds(chosen.peer[0], Path(chosen.peer[1])))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        models = chosen.models or folder
        models.mkdir(parents=True, exist_ok=True)
        line = folder / "line.txt"
        line.write_text("One line.\n", "utf-8")
        for peer in sorted({*PEERS} - {*installed_peers()}):
            print(f"{peer} is not installed", file=sys.stderr)
        wanted = jobs(folder, models, chosen.only)
        words = {text: n_words(model, text) for text, model in {(j.text, m) for j, m in wanted}}
        least: dict[str, list[float]] = {}
        for _ in range(chosen.rounds):
            for job, _model in wanted:
                start = 0.0 if job.tells else cpu_seconds(job.arguments, line)
                whole = cpu_seconds(job.arguments, job.text, tells=job.tells)
                known = least.setdefault(job.name, [start, whole])
                least[job.name] = [min(known[0], start), min(known[1], whole)]
        print("| | words | CPU s | of it start | M words / CPU s |\n|---|--:|--:|--:|--:|")
        for job, _model in wanted:
            start, whole = least[job.name]
            n = words[job.text]
            speed = n / (whole - start) / 1e6
            print(f"| {job.name} | {n:,} | {whole:.2f} | {start:.2f} | {speed:.2f} |")
        by_clock = []
        for _ in range(5 * chosen.rounds):
            begun = time.perf_counter()
            cpu_seconds((*TAG, "en"), line)
            by_clock.append(time.perf_counter() - begun)
        load = cpu_seconds(("-c", LOAD, "en"), line, tells=True)
        print(f'\n`pn.load("en")`: {1000 * load:.0f} ms of CPU; `tag en` of one line: ', end="")
        print(f"{1000 * min(by_clock):.0f} ms by the clock.")
    print(f"\nOn the test part of EWT: `en` from text: {told_accuracy()}", end="")
    for peer in installed_peers():
        print(f"; {peer}: {peer_accuracy(peer)}", end="")
    print(".")


if __name__ == "__main__":
    main()
