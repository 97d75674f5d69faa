"""Training and tagging on engines: accuracy of shards, time, speed.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/engines.py accuracy|time|tagging

accuracy   UPOS accuracy on EWT's test part, of ordinary training and of shards after as many epochs
time       seconds of training on EWT, ordinary and by one to four workers on Ray
tagging    see engine_tagging.py

Needs Ray, PySpark with Java, and pyarrow.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import here
from corpora import treebank
from engine_tagging import ray_on_two, tagging

import perceptron_nlp as pn


def accuracy() -> None:
    """The table of accuracies."""
    data, test = treebank("EWT", "train"), treebank("EWT", "test")
    for preset in ("default", "fast"):
        for workers in (1, 2, 4, 8):
            tagger = here.train(data, workers=workers, preset=preset)
            print(f"{preset}, {workers}: {100 * tagger.evaluate(test).accuracy:.2f} %", flush=True)


def seconds() -> None:
    """The table of times."""
    from perceptron_nlp.integrations import engines

    ray_on_two()
    data = treebank("EWT", "train")
    options: dict[str, Any] = {"preset": "fast"}
    for workers in (1, 2, 4):
        begun = time.monotonic()
        engines.train(data, workers=workers, **options)
        print(f"{workers} on Ray: {time.monotonic() - begun:.1f} s", flush=True)
    begun = time.monotonic()
    pn.train(data, **options)
    print(f"ordinary: {time.monotonic() - begun:.1f} s")


WAYS = {"accuracy": accuracy, "time": seconds, "tagging": tagging}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in WAYS:
        sys.exit(__doc__)
    WAYS[sys.argv[1]]()
