"""Many labels: made-up words of many classes, trained, saved, loaded and tagged."""

from __future__ import annotations

import random
import time

from cputime import least_seconds
from turns import peak_megabytes

import perceptron_nlp as pn

WORDS_OF_LABEL = 3
LENGTH = 20


def made_up(labels: int, tokens: int, seed: int) -> list[pn.Sentence]:
    """Sentences in which a word's end tells its label, and which have each label, if they can."""
    draw = random.Random(seed)
    order = list(range(labels)) * (tokens // labels + 1)
    draw.shuffle(order)
    return [
        pn.Sentence(
            [f"w{draw.randrange(WORDS_OF_LABEL)}x{label:x}" for label in part],
            {"tag": [f"L{label}" for label in part]},
        )
        for part in (order[start : start + LENGTH] for start in range(0, tokens, LENGTH))
    ]


def row(labels: int, tokens: int, epochs: int) -> str:
    """A table row: what so many labels cost."""
    train, test = made_up(labels, tokens, 1), made_up(labels, 20_000, 2)
    start = time.process_time()
    tagger = pn.train(
        train,
        column="tag",
        templates="fast",
        update="perceptron",
        epochs=epochs,
        beam=1,
        right_to_left=False,
    )
    training = time.process_time() - start
    data = tagger.to_bytes()
    load = least_seconds(lambda: pn.Tagger.from_bytes(data))
    text = [list(sentence.words) for sentence in test]
    speed = sum(map(len, text)) / least_seconds(lambda: tagger.tag_sents(text))
    accuracy = tagger.evaluate(test).accuracy
    return (
        f"| {labels:,} | {tokens:,} | {training:.1f} | {peak_megabytes():.0f} |"
        f" {len(data) / 1e6:.1f} | {1000 * load:.0f} | {speed / 1e6:.2f} |"
        f" {100 * accuracy:.1f} |"
    )


def report(quick: bool) -> None:
    """The table of many labels."""
    print("\n## Many labels (made-up text, `fast` templates, plain updates)\n")
    print(
        "| labels | training tokens | train, CPU s | peak MB so far | model MB | load ms |"
        " M tokens / CPU s | right % |\n|---|---|---|---|---|---|---|---|"
    )
    for labels, tokens, epochs in (
        (1_000, 20_000 if quick else 100_000, 3),
        (65_536, 65_536 if quick else 131_072, 1),
    ):
        print(row(labels, tokens, epochs), flush=True)
