"""K5: a person's work is killed again and again, and nothing that was accepted is lost."""

from __future__ import annotations

import os
import random
import signal
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import perceptron_nlp as pn
from benchmarks.trust import samples
from benchmarks.trust.children import call
from benchmarks.trust.reached import Reached
from perceptron_nlp.formats import sentence_id

# Sentences of a treebank; then another one is begun.
SENTENCES = 40
_LONGEST_LIFE = 0.05


def _accept_all(pool: Sequence[pn.Sentence], out: str, said: int) -> None:
    """Annotate in a forked process; say the name of each sentence that was accepted."""
    with pn.annotation.Session([s.words for s in pool], out, background=True) as session:
        while (task := session.next()) is not None:
            session.accept(pool[int(task.name) - 1].column("upos"))
            os.write(said, f"{task.name}\n".encode())


def _accepted_until_killed(pool: Sequence[pn.Sentence], out: str, seconds: float) -> set[str]:
    """Start a process that accepts sentences, kill it, and return which it said it had accepted.

    It lives for so many seconds after the first one, or until nothing is left.
    """
    heard, said = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _accept_all(pool, out, said)
        finally:
            os._exit(0)
    os.close(said)
    text = os.read(heard, 1 << 16)
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    with os.fdopen(heard, "rb") as rest:
        text += rest.read()
    return set(text.decode().split())


def kill_person(folder: str, kills: int) -> dict[str, Any]:
    """Kill one who annotates, and count what was lost; runs in a child, since it forks."""
    chance = random.Random(1)
    short = [one for one in pn.read_conllu(samples.TRAIN) if len(one) <= 12]
    pool = short[:SENTENCES]
    # What is imported before a fork need not be after each.
    with pn.annotation.Session([s.words for s in pool]) as session:
        for _ in range(SENTENCES // 2):
            task = session.next()
            assert task is not None
            session.accept(pool[int(task.name) - 1].column("upos"))
    accepted: set[str] = set()
    totals = {"accepted": 0, "lost": 0, "wrong": 0, "broken": 0, "left": 0}
    number = 0
    for _ in range(kills):
        if len(accepted) > SENTENCES - 10:
            number, accepted = number + 1, set()
        out = Path(folder) / f"gold{number}.conllu"
        new = _accepted_until_killed(pool, str(out), chance.random() * _LONGEST_LIFE)
        totals["accepted"] += len(new)
        accepted |= new
        there = {}
        try:
            for sentence in pn.read_conllu(out):
                there[sentence_id(sentence) or "0"] = sentence
        except pn.PerceptronNLPError:
            totals["broken"] += 1
        totals["lost"] += len(accepted - there.keys())
        totals["wrong"] += sum(
            sentence.columns["upos"] != pool[int(name) - 1].columns["upos"]
            for name, sentence in there.items()
        )
        # The sentence that was being accepted may be there.
        totals["wrong"] += len(there.keys() - accepted) > 1
        accepted = set(there)
    totals["left"] = len(os.listdir(folder)) - 2 * (number + 1)
    return totals


def killed(full: bool) -> Reached:
    """K5: after each kill the file is whole and has all that was accepted."""
    kills = 500 if full else 10
    with tempfile.TemporaryDirectory() as folder:
        child = call("benchmarks.trust.annotating:kill_person", folder, kills, timeout=1700)
    if child.result is None:
        return Reached(child.fate, False)
    found = child.result
    return Reached(
        f"{kills} kills, {found['accepted']} sentences accepted, {found['lost']} lost,"
        f" {found['wrong']} wrong, {found['broken']} times a broken file",
        not (found["lost"] or found["wrong"] or found["broken"])
        and found["accepted"] >= kills
        and found["left"] <= 2,
    )
