"""Tokens and corrections saved by asking for the right sentences, with gold labels as the person.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/annotation.py [TREEBANK...] [--tokens 2000]
        [--seeds 1] [--randoms 2] [--save FILE] [--figure FILE]

A person annotates the training part of a treebank (of EWT every fourth sentence, of treebanks that
lack one the dev part) in random order, and in the order that `perceptron_nlp.annotation` asks for;
labels are the gold ones. At steps of 8 % a tagger of what is annotated, trained as the one that
proposes, is scored on the test part. From 2,000 tokens on proposals are up to 200 tokens old in
both orders, in place of 50, which saves three quarters of the time.

``tokens`` and ``corrections`` are shares: what active order needs to reach the accuracy that random
order has at N tokens, divided by what random order needed. One random order is up to two points
better than another, which is worth 10 % of the tokens, so all random orders of a treebank are
averaged, and curves are smoothed (a line through the logarithms of errors and tokens, weighted by
nearness). Active orders differ from seed to seed in ties alone. ``shown`` is the accuracy that the
page shows, and ``rest`` the accuracy on what is not annotated yet.

``--save`` keeps each run when it is done, and goes on with those that are missing. ``--wait``
measures instead how long a person waits with 5,000 tokens annotated and 10,000 sentences waiting.
"""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import math
import operator
import random
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt
from corpora import corpora

import perceptron_nlp as pn
from perceptron_nlp.annotation.learning import Learned, Learner
from perceptron_nlp.annotation.server import Desk
from perceptron_nlp.formats.conllu import rewrite_conllu

TREEBANKS = {
    "English-EWT": ("en_ewt-ud", 4),
    "Turkish-IMST": ("tr_imst-ud", 1),
    "Greek-GDT": ("el_gdt-ud", 1),
    "French-Sequoia": ("fr_sequoia-ud", 1),
    "Chinese-GSDSimp": ("zh_gsdsimp-ud", 1),
    "Finnish-TDT": ("fi_tdt-ud", 1),
    "German-GSD": ("de_gsd-ud", 1),
    "Japanese-GSD": ("ja_gsd-ud", 1),
    "Russian-GSD": ("ru_gsd-ud", 1),
}
FIRST = tuple(TREEBANKS)[:4]
FROM = 250
STEP = 1.08
# Proposals are never older than so many tokens, from so many on.
AGES = {0: 50, 2000: 200}
# Of the smoothing, in the logarithm of tokens.
WIDTH = 0.12
# Of the tagger that proposes.
RUNS = 4
Point = dict[str, float]
Run = dict[str, Any]
Floats = npt.NDArray[np.float64]


def parts(name: str) -> tuple[list[pn.Sentence], list[pn.Sentence]]:
    """The sentences to annotate, and the test part."""
    stem, every = TREEBANKS[name]
    folder = corpora() / "treebanks" / f"UD_{name}"
    pool = folder / f"{stem}-train.conllu"
    if not pool.exists():
        pool = folder / f"{stem}-dev.conllu"
    return list(pn.read_conllu(pool))[::every], list(pn.read_conllu(folder / f"{stem}-test.conllu"))


def annotated(name: str, order: str, seed: int, n_tokens: int) -> list[Point]:
    """Let gold labels play the person; return the points of the learning curve."""
    pool, test = parts(name)
    # Ties, and which sentences a sample has, depend on the order of the text.
    random.Random(seed).shuffle(pool)
    raw = pn.RawText.read([sentence.words for sentence in pool])
    points: list[Point] = []
    count: Counter[str] = Counter()
    following = FROM
    with tempfile.TemporaryDirectory() as folder:
        for start, age in AGES.items():
            end = min([n_tokens, *(later for later in AGES if later > start)])
            with pn.annotation.Session(
                [sentence.words for sentence in pool],
                Path(folder) / "gold.conllu",
                order=order,
                every=age,
                seed=seed,
            ) as session:
                while count["tokens"] < end and (task := session.next()) is not None:
                    gold = pool[int(task.name) - 1].column("upos")
                    proposed = task.labels["upos"]
                    count["corrections"] += sum(map(operator.ne, gold, proposed))
                    count["tokens"] += len(gold)
                    session.accept(gold)
                    if count["tokens"] >= following:
                        points.append({**count, **scores(session, raw, test)})
                        if len(points) % 4 == 0:
                            points[-1] |= shown(session, pool)
                        following = math.ceil(max(following, count["tokens"]) * STEP)
    return points


def scores(session: pn.annotation.Session, raw: pn.RawText, test: Sequence[pn.Sentence]) -> Point:
    """The accuracy of a tagger of what is annotated."""
    tagger = pn.train(session.annotated, column="upos", runs=RUNS, raw=raw)
    return {"accuracy": tagger.evaluate(test, column="upos").accuracy}


def shown(session: pn.annotation.Session, pool: Sequence[pn.Sentence]) -> Point:
    """The accuracy that the page shows, with its interval, and that on what is not annotated."""
    done = {sentence.words for sentence in session.annotated}
    rest = [sentence for sentence in pool if sentence.words not in done]
    estimate = session.progress().estimate
    if estimate is None or session.tagger is None:
        return {}
    accuracy = session.tagger.evaluate(rest, column="upos").accuracy
    return {"shown": estimate.share, "low": estimate.low, "high": estimate.high, "rest": accuracy}


def smoothed(points: Sequence[Point], at: Floats) -> tuple[Floats, Floats]:
    """The logarithms of the error and of the corrections at logarithms of tokens."""
    tokens = np.log([point["tokens"] for point in points])
    errors = np.log([1 - point["accuracy"] for point in points])
    corrections = np.log([point["corrections"] for point in points])

    def line(values: Floats, here: float) -> float:
        weights = np.exp(-(((tokens - here) / WIDTH) ** 2) / 4)
        return float(np.polynomial.Polynomial.fit(tokens, values, 1, w=weights)(here))

    return (
        np.array([line(errors, here) for here in at]),
        np.array([line(corrections, here) for here in at]),
    )


def shares(actives: Sequence[Run], randoms: Sequence[Run], mark: int) -> list[tuple[float, ...]]:
    """By run in active order: random and own accuracy at a mark, tokens and corrections.

    The last two are shares of what random order needed; empty where one ends before the mark.
    """
    if min(run["points"][-1]["tokens"] for run in [*actives, *randoms]) < mark:
        return []
    here = np.array([math.log(mark)])
    base = np.array([smoothed(run["points"], here) for run in randoms])[:, :, 0].mean(0)
    found = []
    for run in actives:
        grid = np.linspace(math.log(run["points"][0]["tokens"]), here[0] + 0.1, 200)
        errors, corrections = smoothed(run["points"], grid)
        reached = errors <= base[0]
        at = int(reached.argmax()) if reached.any() else -1
        own = smoothed(run["points"], here)[0][0]
        found.append(
            (
                1 - math.exp(base[0]),
                1 - math.exp(own),
                math.exp(grid[at]) / mark,
                math.exp(corrections[at] - base[1]),
            )
        )
    return found


def report(runs: Sequence[Run]) -> None:
    """Print the tables."""
    print("\n| treebank | N | random % | active % | tokens | corrections |")
    print("|---|---|---|---|---|---|")
    names = list(dict.fromkeys(run["treebank"] for run in runs))
    means: dict[int, list[Floats]] = {}
    for name in names:
        own = [run for run in runs if run["treebank"] == name]
        for mark in (500, 1000, 2000, 5000, 10_000):
            reaching = [run for run in own if run["points"][-1]["tokens"] >= mark]
            active, base = (
                [run for run in reaching if run["order"] == order] for order in ("active", "random")
            )
            if active and base:
                mean = np.mean(shares(active, base, mark), 0)
                means.setdefault(mark, []).append(mean)
                print(row(f"{name} ({len(active)} and {len(base)} orders)", mark, mean))
    for mark, found in means.items():
        print(row(f"mean of {len(found)}", mark, np.mean(found, 0)))
    print("\nThe accuracy shown, from 1,000 tokens on: points from the accuracy on the rest")
    print("\n| treebank | times | mean | at most | within 1.5 % | within the interval % |")
    print("|---|---|---|---|---|---|")
    off: list[tuple[float, bool]] = []
    for name in names:
        mine = [
            (
                100 * abs(point["shown"] - point["rest"]),
                point["low"] <= point["rest"] <= point["high"],
            )
            for run in runs
            if (run["treebank"], run["order"]) == (name, "active")
            for point in run["points"]
            if "shown" in point and point["tokens"] >= 1000
        ]
        off += mine
        if mine:
            print(distances(name, mine))
    if off:
        print(distances("all", off))


def row(name: str, mark: int, values: Sequence[float]) -> str:
    """A row of the table of shares."""
    random_share, own, tokens, corrections = values
    return (
        f"| {name} | {mark:,} | {100 * random_share:.1f} | {100 * own:.1f} | {tokens:.2f} |"
        f" {corrections:.2f} |"
    )


def distances(name: str, off: Sequence[tuple[float, bool]]) -> str:
    """A row of the table of what is shown."""
    points = np.array([distance for distance, _ in off])
    inside = np.array([within for _, within in off])
    return (
        f"| {name} | {len(off)} | {points.mean():.2f} | {points.max():.2f} |"
        f" {100 * (points <= 1.5).mean():.0f} | {100 * inside.mean():.0f} |"
    )


def draw(runs: Sequence[dict[str, Any]], path: str) -> None:
    """Write the picture of the learning curves."""
    from perceptron_nlp.pages.drawing import BLUE, VERMILION, figure, percent_axis, png, styled

    names = list(dict.fromkeys(run["treebank"] for run in runs))[:4]
    most = 1 + max(run["points"][-1]["tokens"] for run in runs)
    with styled():
        drawn = figure(8, 6)
        axes = drawn.subplots(2, 2).flat
        for axis, name in zip(axes, names, strict=False):
            for order, color, style in (("active", BLUE, "o-"), ("random", VERMILION, "s--")):
                own = [r["points"] for r in runs if (r["treebank"], r["order"]) == (name, order)]
                for number, points in enumerate(own):
                    axis.plot(
                        [point["tokens"] for point in points],
                        [point["accuracy"] for point in points],
                        style,
                        color=color,
                        markersize=3,
                        label=order if not number else None,
                    )
            axis.set_title(name)
            axis.set_xscale("log")
            axis.set_xticks([], minor=True)
            marks = [mark for mark in (300, 1000, 3000, 10_000) if mark < most]
            axis.set_xticks(marks, [f"{mark:,}" for mark in marks])
            axis.set_xlabel("annotated tokens")
            percent_axis(axis.yaxis, 0)
            axis.set_ylabel("accuracy on the test part")
            axis.legend()
        Path(path).write_bytes(png(drawn))


def wait(annotated: int, waiting: int, pause: float) -> None:
    """Print how long a person waits, with so many tokens annotated and sentences waiting."""
    pool = list(
        pn.read_conllu(corpora() / "treebanks" / "UD_English-EWT" / "en_ewt-ud-train.conllu")
    )
    chance = random.Random(1)
    costs: list[float] = []
    learn = Learner.learn

    def timed(*given: Any) -> Learned:
        begun = time.thread_time()
        found = learn(*given)
        costs.append(time.thread_time() - begun)
        return found

    with tempfile.TemporaryDirectory() as folder, mock.patch.object(Learner, "learn", timed):
        out = Path(folder) / "gold.conllu"
        order, count = list(range(len(pool))), 0
        chance.shuffle(order)
        kept = []
        while count < annotated:
            number = order.pop()
            count += len(pool[number])
            rows = pn.Sentence(pool[number].words, {"upos": pool[number].column("upos")})
            kept.append(f"# sent_id = {number + 1}\n" + rewrite_conllu(rows, {}))
        out.write_text("".join(kept), "utf-8")
        texts = [sentence.words for sentence in pool[: waiting + len(kept)]]
        begun, cpu = time.perf_counter(), time.process_time()
        session = pn.annotation.Session(texts, out, sentences=len(texts), background=True)
        desk = Desk(session)
        state = desk.look({})
        seconds = time.perf_counter() - begun
        print(f"opened: {seconds:.1f} s, {time.process_time() - cpu:.1f} s of CPU")
        costs.clear()
        waits, own = [], []
        for _ in range(30):
            labels = {"upos": list(pool[int(state["task"]["name"]) - 1].column("upos"))}
            question = {"action": "accept", "values": {"labels": labels, "note": ""}}
            begun, cpu = time.perf_counter(), time.thread_time()
            state = desk.act(question | {"turn": state["turn"]})
            waits.append(1000 * (time.perf_counter() - begun))
            own.append(1000 * (time.thread_time() - cpu))
            time.sleep(pause)
        session.close()
    print(
        f"from Enter to the next sentence: median {np.median(waits):.0f} ms, at most"
        f" {max(waits):.0f} ms (CPU {np.median(own):.0f} and {max(own):.0f} ms)\n"
        f"training and ranking in the background, {len(costs)} times: median"
        f" {np.median(costs):.2f} s of CPU, at most {max(costs):.2f} s"
    )


def main() -> None:
    """Annotate, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("treebanks", nargs="*", default=FIRST, help=", ".join(TREEBANKS))
    parser.add_argument("--tokens", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--randoms", type=int, default=2)
    parser.add_argument("--figure")
    parser.add_argument("--save")
    parser.add_argument("--wait", action="store_true")
    chosen = parser.parse_args()
    # Taggers of little text warn of that.
    logging.disable()
    if chosen.wait:
        wait(5000, 10_000, pause=2.0)
        return
    kept = None if chosen.save is None else Path(chosen.save)
    runs: list[Run] = json.loads(kept.read_text()) if kept is not None and kept.exists() else []
    done = {(run["treebank"], run["order"], run["seed"]) for run in runs}
    wanted = itertools.product(range(1, max(chosen.seeds, chosen.randoms) + 1), chosen.treebanks)
    for seed, name in wanted:
        for order, most in (("random", chosen.randoms), ("active", chosen.seeds)):
            if seed <= most and (name, order, seed) not in done:
                # A little more, since what is smoothed has two sides.
                points = annotated(name, order, seed, round(1.1 * chosen.tokens))
                runs.append({"treebank": name, "order": order, "seed": seed, "points": points})
                if kept is not None:
                    kept.write_text(json.dumps(runs))
    report(runs)
    if chosen.figure:
        draw(runs, chosen.figure)


if __name__ == "__main__":
    main()
