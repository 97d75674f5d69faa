"""Tokens and corrections saved by asking for the right sentences, with gold labels as the person.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/annotation.py [TREEBANK...] [--tokens 2000]
        [--seeds 1] [--randoms 2] [--check 10] [--save FILE] [--figure FILE]
    PERCEPTRON_NLP_CORPORA=folder python benchmarks/annotation.py --estimate [TREEBANK...]
        [--tokens 2000] [--seeds 10]

A person annotates the training part of a treebank (of EWT every fourth sentence, of treebanks that
lack one the dev part) in random order, and in the order that `perceptron_nlp.annotation` asks for;
labels are the gold ones. At steps of 8 % a tagger of what is annotated, trained as the one that
proposes, is scored on the test part. From 2,000 tokens on proposals are up to 200 tokens old in
both orders, in place of 50, which saves three quarters of the time.

``tokens`` and ``corrections`` are shares: what active order needs to reach the accuracy that random
order has at N tokens, divided by what random order needed. One random order is up to two points
better than another, which is worth 10 % of the tokens, so all random orders of a treebank are
averaged, and curves are smoothed (a line through the logarithms of errors and tokens, weighted by
nearness). Active orders differ from seed to seed in ties and in the sentences drawn at random,
one in ``--check``, which the tagger that proposes does not learn from.

``--estimate`` compares the accuracy that the page shows, and its interval, with the truth: the
accuracy of the tagger that proposes on all that is not annotated yet. *Redrawn* takes other
sentences of the rest as held out, as many, REDRAWN times at each point.

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
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt
from corpora import corpora

import perceptron_nlp as pn
from perceptron_nlp.annotation.calibration import Estimate, Judged, estimate
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
    "Portuguese-Bosque": ("pt_bosque-ud", 1),
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
REDRAWN = 200
Point = dict[str, float]
Run = dict[str, Any]
Floats = npt.NDArray[np.float64]


def parts(name: str) -> tuple[list[pn.Sentence], list[pn.Sentence]]:
    """The sentences to annotate, and the test part."""
    stem, every = TREEBANKS[name]
    found = {
        part: place
        for part in ("train", "dev", "test")
        for place in sorted(corpora().glob(f"*/UD_{name}/{stem}-{part}.conllu*"), reverse=True)
    }
    pool, test = found.get("train", found.get("dev")), found["test"]
    assert pool is not None
    return list(pn.read_conllu(pool))[::every], list(pn.read_conllu(test))


def annotated(name: str, order: str, seed: int, n_tokens: int, check: int) -> list[Point]:
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
                check=check,
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
                        following = math.ceil(max(following, count["tokens"]) * STEP)
    return points


def scores(session: pn.annotation.Session, raw: pn.RawText, test: Sequence[pn.Sentence]) -> Point:
    """The accuracy of a tagger of what is annotated."""
    tagger = pn.train(session.annotated, column="upos", runs=RUNS, raw=raw)
    return {"accuracy": tagger.evaluate(test, column="upos").accuracy}


def estimates(name: str, seed: int, n_tokens: int) -> Iterator[Run]:
    """Yield at doublings of 250 tokens the accuracy that the page shows, and the truth."""
    pool, _ = parts(name)
    random.Random(seed).shuffle(pool)
    chance = random.Random(seed)
    waiting = dict(enumerate(pool, 1))
    count, following = 0, FROM
    with pn.annotation.Session([sentence.words for sentence in pool], seed=seed) as session:
        while following <= n_tokens and (task := session.next()) is not None:
            gold = waiting.pop(int(task.name)).column("upos")
            session.accept(gold)
            count += len(gold)
            if count < following:
                continue
            learned, tagger, now = session._learned(), session.tagger, session.progress()
            if tagger is None or learned.confidence is None or now.estimate is None:
                continue
            temperature = learned.calibration.temperature
            rest = [Judged.of(tagger, s, "upos", temperature) for s in waiting.values()]
            truth = tagger.evaluate(list(waiting.values()), column="upos").accuracy
            n_held_out = (now.sentences + 5) // 10
            redrawn = [
                estimate(learned.confidence, chance.sample(rest, n_held_out))
                for _ in range(REDRAWN)
            ]
            yield {
                "mark": following,
                "held out": n_held_out,
                "truth": truth,
                "shown": now.estimate,
                "redrawn": sum(one is not None and held(one, truth) for one in redrawn) / REDRAWN,
            }
            following *= 2


def held(one: Estimate, truth: float) -> bool:
    """Tell if an interval holds the truth."""
    return one.low <= truth <= one.high


def report_estimates(names: Sequence[str], seeds: int, n_tokens: int) -> None:
    """Print how often intervals hold the truth, and how wide they are."""
    found: list[Run] = []
    print("| treebank | tokens | sessions | held out | interval ± | off by | holds % | redrawn % |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for name in names:
        own = [run for seed in range(1, seeds + 1) for run in estimates(name, seed, n_tokens)]
        for mark in sorted({run["mark"] for run in own}):
            print(estimates_row(name, mark, [r for r in own if r["mark"] == mark]), flush=True)
        found += own
    for mark in sorted({run["mark"] for run in found}):
        print(estimates_row("all", mark, [r for r in found if r["mark"] == mark]))
    print(estimates_row("all", "all", found))


def estimates_row(name: str, mark: int | str, runs: Sequence[Run]) -> str:
    """A row of the table of estimates: means of sessions."""
    off = 100 * np.mean([abs(run["shown"].share - run["truth"]) for run in runs])
    half = 50 * np.mean([run["shown"].high - run["shown"].low for run in runs])
    holds = 100 * np.mean([held(run["shown"], run["truth"]) for run in runs])
    return (
        f"| {name} | {mark} | {len(runs)} | {np.mean([r['held out'] for r in runs]):.0f} |"
        f" {half:.1f} | {off:.1f} | {holds:.0f} |"
        f" {100 * np.mean([run['redrawn'] for run in runs]):.1f} |"
    )


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


def row(name: str, mark: int, values: Sequence[float]) -> str:
    """A row of the table of shares."""
    random_share, own, tokens, corrections = values
    return (
        f"| {name} | {mark:,} | {100 * random_share:.1f} | {100 * own:.1f} | {tokens:.2f} |"
        f" {corrections:.2f} |"
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
    parser.add_argument("--check", type=int, default=10)
    parser.add_argument("--estimate", action="store_true")
    parser.add_argument("--wait", action="store_true")
    chosen = parser.parse_args()
    # Taggers of little text warn of that.
    logging.disable()
    if chosen.wait:
        wait(5000, 10_000, pause=2.0)
        return
    if chosen.estimate:
        report_estimates(chosen.treebanks, chosen.seeds, chosen.tokens)
        return
    kept = None if chosen.save is None else Path(chosen.save)
    runs: list[Run] = json.loads(kept.read_text()) if kept is not None and kept.exists() else []
    done = {(run["treebank"], run["order"], run["seed"]) for run in runs}
    wanted = itertools.product(range(1, max(chosen.seeds, chosen.randoms) + 1), chosen.treebanks)
    for seed, name in wanted:
        for order, most in (("random", chosen.randoms), ("active", chosen.seeds)):
            if seed <= most and (name, order, seed) not in done:
                # A little more, since what is smoothed has two sides.
                points = annotated(name, order, seed, round(1.1 * chosen.tokens), chosen.check)
                runs.append({"treebank": name, "order": order, "seed": seed, "points": points})
                if kept is not None:
                    kept.write_text(json.dumps(runs))
    report(runs)
    if chosen.figure:
        draw(runs, chosen.figure)


if __name__ == "__main__":
    main()
