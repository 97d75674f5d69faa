"""What asking for the right sentences saves, with gold labels as the person, as Markdown.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/annotation.py [TREEBANK...] [--tokens 2000]
        [--seeds 1] [--every 50] [--figure FILE] [--save FILE] [--load FILE...]

A person annotates the training part of a treebank (of EWT every fourth sentence, of treebanks that
lack one the dev part) in random order, and in the order that `perceptron_nlp.annotation` asks for;
labels are the gold ones. At each point a tagger of what is annotated, trained as the one that
proposes, is scored on the test part.

``tokens`` and ``corrections`` are shares: what active order needs to reach the accuracy that random
order has at N tokens, divided by what random order needed. ``shown`` is the accuracy that the page
shows, and ``rest`` the accuracy on what is not annotated yet.

``--wait`` measures instead how long a person waits with 5,000 tokens annotated and 10,000 sentences
waiting.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from corpora import corpora

import perceptron_nlp as pn
from perceptron_nlp.annotation.learning import Learned, Learner
from perceptron_nlp.annotation.server import Desk
from perceptron_nlp.formats.conllu import rewrite

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
STEPS = 20
# Of the tagger that proposes.
RUNS = 4
Point = dict[str, float]


def parts(name: str) -> tuple[list[pn.Sentence], list[pn.Sentence]]:
    """The sentences to annotate, and the test part."""
    stem, every = TREEBANKS[name]
    folder = corpora() / "treebanks" / f"UD_{name}"
    pool = folder / f"{stem}-train.conllu"
    if not pool.exists():
        pool = folder / f"{stem}-dev.conllu"
    return list(pn.read_conllu(pool))[::every], list(pn.read_conllu(folder / f"{stem}-test.conllu"))


def annotated(name: str, order: str, seed: int, n_tokens: int, every: int) -> list[Point]:
    """Let gold labels play the person; return the points of the learning curve."""
    pool, test = parts(name)
    chance = random.Random(seed)
    # Ties, and which sentences a sample has, depend on the order of the text.
    chance.shuffle(pool)
    session = pn.annotation.Session(
        [sentence.words for sentence in pool], order=order, every=every, seed=seed
    )
    raw = pn.RawText.read([sentence.words for sentence in pool])
    points: list[Point] = []
    tokens = corrections = 0
    marks = [n_tokens * 2.0 ** (step / 4) for step in range(-STEPS, 1)]
    spent = 0.0
    task = session.next()
    while task is not None:
        gold = pool[int(task.name) - 1].column("upos")
        corrections += sum(a != b for a, b in zip(gold, task.labels["upos"], strict=True))
        tokens += len(gold)
        session.accept(gold)
        begun = time.process_time()
        task = session.next()
        spent += time.process_time() - begun
        if tokens < marks[0] or session.tagger is None:
            continue
        marks = [mark for mark in marks if mark > tokens]
        done = {sentence.words for sentence in session.annotated}
        rest = [sentence for sentence in pool if sentence.words not in done]
        estimate = session.progress().estimate
        tagger = pn.train(session.annotated, column="upos", runs=RUNS, raw=raw)
        points.append(
            {
                "tokens": tokens,
                "corrections": corrections,
                "accuracy": tagger.evaluate(test, column="upos").accuracy,
                "rest": session.tagger.evaluate(rest, column="upos").accuracy if rest else 1.0,
                "shown": float("nan") if estimate is None else estimate.share,
                "seconds": spent,
            }
        )
        if not marks:
            break
    return points


def needed(points: Sequence[Point], accuracy: float, what: str) -> float:
    """Tokens or corrections at which a curve reaches an accuracy; what was measured at most."""
    best = np.maximum.accumulate([point["accuracy"] for point in points])
    values = [point[what] for point in points]
    # What lies on the same level counts from its beginning.
    first = np.flatnonzero(np.diff(best, prepend=-1.0) > 0)
    return float(np.interp(accuracy, best[first], np.array(values)[first]))


def at(points: Sequence[Point], tokens: float, what: str) -> float:
    """A value of a curve, which only rises, at a number of tokens."""
    values = np.maximum.accumulate([point[what] for point in points])
    return float(np.interp(tokens, [point["tokens"] for point in points], values))


def report(runs: Sequence[dict[str, Any]]) -> None:
    """Print the tables."""
    marks = [500, 1000, 2000, 5000, 10_000]
    print(
        "\n| treebank | N | random % | active % | tokens | corrections |\n|---|---|---|---|---|---|"
    )
    shares: dict[int, list[tuple[float, float]]] = {}
    for name in dict.fromkeys(run["treebank"] for run in runs):
        pairs = [
            (own["random"], own["active"])
            for seed in sorted({run["seed"] for run in runs})
            if {"random", "active"}
            <= (
                own := {
                    r["order"]: r["points"]
                    for r in runs
                    if (r["treebank"], r["seed"]) == (name, seed)
                }
            ).keys()
        ]
        for mark in marks:
            rows = []
            for base, active in pairs:
                if base[-1]["tokens"] < mark:
                    continue
                accuracy = at(base, mark, "accuracy")
                rows.append(
                    (
                        accuracy,
                        at(active, mark, "accuracy"),
                        needed(active, accuracy, "tokens") / mark,
                        needed(active, accuracy, "corrections") / at(base, mark, "corrections"),
                    )
                )
            if rows:
                means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
                print(
                    f"| {name} | {mark:,} | {100 * means[0]:.1f} | {100 * means[1]:.1f} |"
                    f" {means[2]:.2f} | {means[3]:.2f} |"
                )
                shares.setdefault(mark, []).append((means[2], means[3]))
    for mark, found in shares.items():
        tokens, corrections = (sum(column) / len(found) for column in zip(*found, strict=True))
        print(f"| mean of {len(found)} | {mark:,} | | | {tokens:.2f} | {corrections:.2f} |")
    print("\n| treebank | order | tokens | shown % | rest % | corrections/100 | CPU s |")
    print("|---|---|---|---|---|---|---|")
    for run in runs:
        for point in run["points"][-8::4] + run["points"][-1:]:
            print(
                f"| {run['treebank']} | {run['order']} | {point['tokens']:,} |"
                f" {100 * point['shown']:.1f} | {100 * point['rest']:.1f} |"
                f" {100 * point['corrections'] / point['tokens']:.1f} | {point['seconds']:.0f} |"
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
            marks = [mark for mark in (100, 200, 500, 1000, 2000, 5000, 10_000) if mark < most]
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
            kept.append(f"# sent_id = {number + 1}\n" + rewrite(rows, {}))
        out.write_text("".join(kept), "utf-8")
        texts = [sentence.words for sentence in pool[: waiting + len(kept)]]
        for opened in ("opened the first time", "opened again"):
            begun, cpu = time.perf_counter(), time.process_time()
            session = pn.annotation.Session(texts, out, sentences=len(texts), background=True)
            desk = Desk(session)
            state = desk.look({})
            seconds = time.perf_counter() - begun
            print(f"{opened}: {seconds:.1f} s, {time.process_time() - cpu:.1f} s of CPU")
            session.close()
        session = pn.annotation.Session(texts, out, sentences=len(texts), background=True)
        desk = Desk(session)
        state = desk.look({})
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
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("--figure")
    parser.add_argument("--save")
    parser.add_argument("--load", nargs="*", default=[])
    parser.add_argument("--wait", action="store_true")
    chosen = parser.parse_args()
    # Taggers of little text warn of that.
    logging.disable()
    if chosen.wait:
        wait(5000, 10_000, pause=2.0)
        return
    runs = [run for path in chosen.load for run in json.loads(Path(path).read_text())]
    for name in () if chosen.load else chosen.treebanks:
        for seed in range(1, chosen.seeds + 1):
            for order in ("random", "active"):
                points = annotated(name, order, seed, chosen.tokens, chosen.every)
                runs.append({"treebank": name, "order": order, "seed": seed, "points": points})
                if chosen.save:
                    Path(chosen.save).write_text(json.dumps(runs))
    report(runs)
    if chosen.figure:
        draw(runs, chosen.figure)


if __name__ == "__main__":
    main()
