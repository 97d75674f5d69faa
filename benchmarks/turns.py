"""Taggers in processes of their own, which take turns, so that a slow minute falls on all of them.

Each process reads the same files, trains one tagger, tells what that cost and how right it is, and
then times its jobs whenever it is asked to. Its memory is its own.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from corpora import treebank
from cputime import Job, least_seconds
from peers import PEERS, Example, Peer, Sentences, Tag

import perceptron_nlp as pn

PLAIN = {"update": "perceptron", "epochs": 10, "beam": 1, "right_to_left": False}
OURS: dict[str, dict[str, Any]] = {
    "fast": {"preset": "fast"},
    "default": {"preset": "default"},
    "fast, 10 plain epochs": {"templates": "fast", **PLAIN},
    "default, 10 plain epochs": {"templates": "default", **PLAIN},
}
SEEN, NEW, FILE, FLOOR = "lists, text seen before", "lists, new text", "CoNLL-U file", "floor"


@dataclass
class Contestant:
    """What one tagger cost, how right it is, and the least CPU seconds of each of its jobs."""

    name: str
    ours: bool
    setting: str
    train: float = 0.0
    megabytes: float = 0.0
    size: int = 0
    accuracy: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)


def peak_megabytes() -> float:
    """The most memory that this process has held; where Linux tells, without its parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1000
    unit = 1e6 if os.uname().sysname == "Darwin" else 1000
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


class Fresh:
    """Tags with a tagger that remembers nothing; making it is not counted."""

    def __init__(self, data: bytes, text: Sentences) -> None:
        self._data = data
        self._text = text

    def ready(self) -> None:
        """A new tagger."""
        self._tagger = pn.Tagger.from_bytes(self._data)

    def __call__(self) -> object:
        return self._tagger.tag_sents(self._text)


def fill_file(tag: Tag, path: str, out: Path) -> None:
    """The shortest program around a peer: CoNLL-U in, the fourth column filled, CoNLL-U out."""
    text = Path(path).read_text(encoding="utf-8")
    blocks = [
        [line.split("\t") for line in block.split("\n")]
        for block in text.rstrip("\n").split("\n\n")
    ]
    words = [[row for row in block if row[0].isdigit()] for block in blocks]
    for rows, labels in zip(words, tag([[row[1] for row in rows] for rows in words]), strict=True):
        for row, label in zip(rows, labels, strict=True):
            row[3] = label
    out.write_text(
        "\n\n".join("\n".join("\t".join(row) for row in block) for block in blocks) + "\n\n",
        encoding="utf-8",
    )


def labeled(part: str, count: int | None) -> list[Example]:
    sentences = islice(pn.read_conllu(treebank("EWT", part)), count)
    return [(list(sentence.words), list(sentence.column("upos"))) for sentence in sentences]


def _our_jobs(
    arguments: dict[str, Any], text: Sentences, folder: Path, shown: Contestant, count: int | None
) -> tuple[Tag, dict[str, Job]]:
    train: Any = treebank("EWT", "train")
    if count is not None:
        train = list(islice(pn.read_conllu(train), count))
    start = time.process_time()
    tagger = pn.train(train, **arguments)
    shown.train = time.process_time() - start
    shown.size = len(tagger.to_bytes())
    path = treebank("EWT", "test")
    fill, whole = tagger.labelers.filler(pn.open_corpus(path)), Path(path).read_bytes()
    jobs: dict[str, Job] = {
        SEEN: lambda: tagger.tag_sents(text),
        NEW: Fresh(tagger.to_bytes(), text),
    }
    if fill is not None:
        jobs[FILE] = lambda: fill(whole)
    return tagger.tag_sents, jobs


def _peer_jobs(
    peer: Peer, text: Sentences, folder: Path, shown: Contestant, count: int | None
) -> tuple[Tag, dict[str, Job]]:
    counts = [number for number in (count, peer.sentences) if number is not None]
    train = labeled("train", min(counts, default=None))
    start = time.process_time()
    tag, path = peer.train(train, folder)
    shown.train = time.process_time() - start
    shown.size = path.stat().st_size
    if peer.sentences is not None:
        shown.setting += f", {len(train):,} sentences"
    return tag, {
        SEEN: lambda: tag(text),
        FILE: lambda: fill_file(tag, treebank("EWT", "test"), folder / "out.conllu"),
    }


def _work(name: str, count: int | None, pipe: Connection) -> None:
    """The process of one tagger: sends what it costs, then a round of seconds for each message."""
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    try:
        with tempfile.TemporaryDirectory() as folder:
            test = labeled("test", None)
            text = [words for words, _ in test]
            peer = next((peer for peer in PEERS if peer.name == name), None)
            shown = Contestant(name, peer is None, peer.setting if peer else "")
            tag, jobs = (
                _peer_jobs(peer, text, Path(folder), shown, count)
                if peer
                else _our_jobs(OURS[name], text, Path(folder), shown, count)
            )
            shown.megabytes = peak_megabytes()
            pairs = [
                (guess, gold)
                for labels, (_, golds) in zip(tag(text), test, strict=True)
                for guess, gold in zip(labels, golds, strict=True)
            ]
            shown.accuracy = sum(guess == gold for guess, gold in pairs) / len(pairs)
            if peer is None:
                jobs[FLOOR] = lambda: [["NOUN" for _ in words] for words in text]
            pipe.send(shown)
            while pipe.recv():
                pipe.send(
                    {
                        name: least_seconds(job, getattr(job, "ready", None))
                        for name, job in jobs.items()
                    }
                )
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}")


def _module(package: str) -> str:
    return {"python-crfsuite": "pycrfsuite", "scikit-learn": "sklearn"}.get(
        package, package.replace("-", "_")
    )


def is_installed(peer: Peer) -> bool:
    try:
        return importlib.util.find_spec(_module(peer.package)) is not None
    except ModuleNotFoundError:
        return False


def contest(rounds: int, count: int | None) -> tuple[list[Contestant], list[str]]:
    """All taggers, trained on the first `count` sentences; then those that are missing, and why."""
    spawn = multiprocessing.get_context("spawn")
    shown: list[Contestant] = []
    missing, running = [], []
    for name in (*OURS, *(peer.name for peer in PEERS)):
        peer = next((peer for peer in PEERS if peer.name == name), None)
        if peer is not None and not is_installed(peer):
            missing.append(f"{name}: not installed (pip install {peer.package})")
            continue
        here, there = spawn.Pipe()
        process = spawn.Process(target=_work, args=(name, count, there), daemon=True)
        process.start()
        there.close()
        try:
            first = here.recv()
        except EOFError:
            first = "its process ended"
        if isinstance(first, str):
            missing.append(f"{name}: does not work here ({first.splitlines()[0]})")
            continue
        shown.append(first)
        running.append((here, process))
    for _ in range(rounds):
        for contestant, (pipe, _) in zip(shown, running, strict=True):
            pipe.send(True)
            answer = pipe.recv()
            if isinstance(answer, str):
                sys.exit(f"{contestant.name}: {answer}")
            for job, seconds in answer.items():
                contestant.seconds[job] = min(seconds, contestant.seconds.get(job, float("inf")))
    for pipe, process in running:
        pipe.send(False)
        process.join()
    return shown, missing
