"""What training on shards costs: a small model, checked against runs here, and what it foretells.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/engine_costs.py [--png FILE]

The model's numbers come of trainings in this process on parts of EWT and on 2 and 8 shards of it;
it is checked against 1 to 4 workers on Ray, whose processor time and bytes it has not seen. Preset
`fast`, UPOS. See docs/engines.md for what is assumed.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from dataclasses import dataclass

import numpy as np
from corpora import treebank
from engine_tagging import ray_on_two
from here import Here, LocalPool

import perceptron_nlp as pn
from perceptron_nlp.combine.mix import Added, Change, plus, weighted
from perceptron_nlp.integrations.shard_training import Round, ShardMixer
from perceptron_nlp.tagger.model.state import RunState

EPOCHS = 3
OPTIONS = {"templates": "fast", "epochs": EPOCHS}
# Assumed, not measured: 10 Gbit/s between machines.
NETWORK = 1.25e9
WORKERS = (1, 10, 100, 1000)
# What a fixed table of 2**22 rows, with two labels in a row, is as a state.
FIXED_STATE = 2**22 * (14 + 2 * 28)


@dataclass(frozen=True)
class Costs:
    """The numbers of the model.

    Attributes
    ----------
    per_word : processor seconds to learn from a word
    per_state_byte : to begin at a state and to find what was changed
    per_mixed_byte : to add two changes, a byte of the larger
    per_applied_byte : to make the next state of a mix
    spread : coefficient of variation of the seconds that equal shards take
    sent, state : (factor, exponent) of the bytes that a shard changes by its words, and of the
        bytes of a state by the words of the text
    """

    per_word: float
    per_state_byte: float
    per_mixed_byte: float
    per_applied_byte: float
    spread: float
    sent: tuple[float, float]
    state: tuple[float, float]

    def worker_seconds(self, words: float, state_bytes: float) -> float:
        """Processor time of one worker for a piece."""
        return self.per_word * words + self.per_state_byte * state_bytes

    def sent_bytes(self, words: float, state_bytes: float) -> float:
        """What a shard of so many words changes in an epoch, at most the state."""
        return min(power(self.sent, words), state_bytes)

    def epoch_seconds(self, words: float, workers: int, state_bytes: float) -> dict[str, float]:
        """Where the time of an epoch goes, by the clock, with one mix."""
        own = words / workers
        levels = math.ceil(math.log2(workers)) if workers > 1 else 0
        learning = self.per_word * own
        late = self.spread * math.sqrt(2 * math.log(workers)) if workers > 1 else 0.0
        mix = min(state_bytes, self.sent_bytes(words, state_bytes))
        return {
            "learning": learning,
            "stragglers": learning * late,
            "states": (self.per_state_byte + self.per_applied_byte) * state_bytes,
            "mixing": levels * (self.per_mixed_byte + 1 / NETWORK) * mix,
            "sending the mix": levels * mix / NETWORK,
        }


def power(law: tuple[float, float], x: float) -> float:
    """factor * x ** exponent."""
    return law[0] * x ** law[1]


def power_law(xs: list[float], ys: list[float]) -> tuple[float, float]:
    """The line through the logarithms."""
    exponent, logarithm = np.polyfit(np.log(xs), np.log(ys), 1)
    return float(np.exp(logarithm)), float(exponent)


class TimedPool(LocalPool):
    """A pool that knows how long mixing takes."""

    seconds = mixed_bytes = 0.0

    def mixed(self, shares: list[float], words: int, begun: int) -> Change:
        """See LocalPool."""
        terms = [
            weighted(changed, share, words, begun)
            for changed, share in zip(self._changed, shares, strict=True)
        ]
        at = time.process_time()
        whole = terms[0]
        for term in terms[1:]:
            whole = plus(whole, term)
            TimedPool.mixed_bytes += whole.nbytes
        TimedPool.seconds += time.process_time() - at
        return whole


def on_shards(workers: int, sentences: list[pn.Sentence]) -> list[Round]:
    """The rounds of a training in this process."""
    engine = Here(workers=workers)
    pn.train(sentences, engine=engine, **OPTIONS)
    return engine.rounds


def applied_cost(rows: int = 400_000) -> float:
    """Seconds a byte to make a state of a state and a mix of a third of it."""
    keys = np.arange(rows, dtype=np.uint64) << np.uint64(20)
    numbers = np.ones(rows)
    state = RunState(
        keys,
        np.zeros(rows, np.uint16),
        np.ones(rows, np.uint32),
        np.zeros(rows, np.uint32),
        np.zeros(rows, np.int64),
        numbers,
        numbers,
        numbers,
        1,
        1,
    )
    third = RunState(
        *(
            getattr(state, name)[::3]
            for name in (
                "keys",
                "groups",
                "counts",
                "last_update",
                "labels",
                "weight",
                "total",
                "squares",
            )
        ),
        2,
        1,
    )
    step = Added(weighted(third, 1.0, 1, 1), 1, 2)
    at = time.process_time()
    step.applied(state)
    return (time.process_time() - at) / sum(a.nbytes for a in state.arrays().values())


def measured(sentences: list[pn.Sentence]) -> Costs:
    """The model's numbers, out of trainings in this process."""
    rounds = {workers: on_shards(workers, sentences) for workers in (2, 8)}
    rows = [
        (count.examples, piece.bytes_state, count.seconds, count.bytes_sent, number)
        for found in rounds.values()
        for number, piece in enumerate(found)
        for count in piece.counts
        if number
    ]
    left = np.array([row[:2] for row in rows], float)
    per_word, per_byte = np.linalg.lstsq(left, np.array([row[2] for row in rows]), rcond=None)[0]
    speeds = [count.seconds / count.examples for piece in rounds[8][1:] for count in piece.counts]
    parts = [sentences[: len(sentences) * share // 8] for share in (1, 2, 4, 8)]
    states = [
        pn.train(part, resumable=True, templates="fast", epochs=1).model.state.runs[0]
        for part in parts
    ]
    pool = Here(workers=8)
    pool.mixer = lambda task: ShardMixer(pool.sharding, TimedPool, pool.rounds, task)
    pn.train(sentences, engine=pool, **OPTIONS)
    return Costs(
        float(per_word),
        float(per_byte),
        TimedPool.seconds / TimedPool.mixed_bytes,
        applied_cost(),
        statistics.stdev(speeds) / statistics.mean(speeds),
        power_law([row[0] for row in rows if row[4] == 1], [row[3] for row in rows if row[4] == 1]),
        power_law(
            [float(sum(map(len, part))) for part in parts],
            [float(sum(a.nbytes for a in state.arrays().values())) for state in states],
        ),
    )


def check(costs: Costs, sentences: list[pn.Sentence]) -> None:
    """The model beside 1 to 4 workers on Ray, second epoch."""
    from perceptron_nlp.integrations.ray import RayEngine

    ray_on_two()
    print(
        "workers | processor s a worker: model, measured | MB sent by one: model, measured |"
        " slowest/mean: model, measured"
    )
    for workers in (1, 2, 3, 4):
        engine = RayEngine(workers)
        pn.train(sentences, engine=engine, **OPTIONS)
        piece = engine.rounds[1]
        words = statistics.mean(count.examples for count in piece.counts)
        took = [count.seconds for count in piece.counts]
        late = costs.spread * math.sqrt(2 * math.log(workers)) if workers > 1 else 0
        print(
            f"{workers} | {costs.worker_seconds(words, piece.bytes_state):.2f},"
            f" {statistics.mean(took):.2f} |"
            f" {costs.sent_bytes(words, piece.bytes_state) / 1e6:.2f},"
            f" {statistics.mean(c.bytes_sent for c in piece.counts) / 1e6:.2f} |"
            f" {1 + late:.2f}, {max(took) / statistics.mean(took):.2f}",
            flush=True,
        )


def foretold(costs: Costs, words: float, state_bytes: float, name: str) -> None:
    """Print where an epoch's hours go, by the number of workers."""
    print(
        f"\n{words:.0e} words, {name}: a state of {state_bytes / 1e9:.2f} GB\n"
        "workers | hours an epoch | " + " | ".join(costs.epoch_seconds(1, 1, 1))
    )
    for workers in WORKERS:
        parts = costs.epoch_seconds(words, workers, state_bytes)
        print(
            f"{workers} | {sum(parts.values()) / 3600:,.2f} | "
            + " | ".join(f"{value / 3600:,.3f}" for value in parts.values())
        )


def draw(costs: Costs, path: str) -> None:
    """Hours an epoch by workers, for texts of several sizes, beside what would be ideal."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    workers = [round(2 ** (k / 2)) for k in range(0, 27)]
    for words, colour in ((1e6, "C3"), (1e8, "C2"), (1e10, "C1"), (1e12, "C0")):
        state = min(power(costs.state, words), FIXED_STATE)
        hours = [sum(costs.epoch_seconds(words, n, state).values()) / 3600 for n in workers]
        ideal = [costs.per_word * words / n / 3600 for n in workers]
        axes.loglog(workers, hours, colour, label=f"{words:.0e} words")
        axes.loglog(workers, ideal, colour, linestyle=":", linewidth=1)
    axes.set(
        xlabel="workers",
        ylabel="hours an epoch",
        title="One mix an epoch, a table of 2^22 rows; dotted: nothing but learning",
    )
    axes.legend()
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=110, metadata={"Software": None})


def main() -> None:
    """Everything, in the order of the page."""
    sentences = list(pn.read_conllu(treebank("EWT", "train")))
    costs = measured(sentences)
    print(costs)
    check(costs, sentences)
    foretold(costs, 1e9, power(costs.state, 1e9), "exact features")
    foretold(costs, 1e12, power(costs.state, 1e12), "exact features")
    foretold(costs, 1e12, FIXED_STATE, "a table of 2^22 rows")
    if "--png" in sys.argv:
        draw(costs, sys.argv[sys.argv.index("--png") + 1])


if __name__ == "__main__":
    main()
