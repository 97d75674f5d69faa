"""All treebanks below a folder, trained and scored, as Markdown.

    python benchmarks/languages.py FOLDER RESULTS [--preset NAME] [--limit N] [--seeds N...]
        [--only TREEBANK...] [--udpipe EPOCHS]

A treebank is a folder with ``*-train.conllu*`` and ``*-test.conllu*``; ``--column all`` is learned
from the first N sentences (all, if not given) and scored on test: F1 from running text, in percent,
the mean of the seeds. RESULTS is a JSON file to which each training adds its figures, so that one
that was interrupted goes on where it was. With ``--udpipe`` UDPipe 1 (ufal.udpipe) learns from the
same parts in place of this library: its tokenizer for so many epochs, its tagger by its defaults.
"""

from __future__ import annotations

import argparse
import itertools
import json
import lzma
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from plaintext import udpipe, udpipe_model

import perceptron_nlp as pn

SCORES = ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "Lemmas")


def measured(folder: Path, preset: str, seed: int, limit: int | None) -> dict[str, float]:
    """Train on a treebank, and return its figures and the CPU seconds of the training."""
    (train,), (test,) = (sorted(folder.glob(f"*-{part}.conllu*")) for part in ("train", "test"))
    dev = sorted(folder.glob("*-dev.conllu*"))
    begin = time.process_time()
    tagger = pn.train(
        itertools.islice(pn.read_conllu(train), limit),
        dev=dev or None,
        column="all",
        preset=preset,
        seed=seed,
    )
    seconds = time.process_time() - begin
    scores = tagger.evaluate_text(test)
    found = {name: 100 * scores[name].f1 for name in SCORES if name in scores}
    return {**found, "seconds": seconds}


def measured_udpipe(folder: Path, epochs: int) -> dict[str, float]:
    """Train UDPipe 1 on a treebank, and return its figures and the CPU seconds of the training."""
    with tempfile.TemporaryDirectory() as place:
        parts: dict[str, str] = {}
        for part in ("train", "dev", "test"):
            for path in sorted(folder.glob(f"*-{part}.conllu*")):
                packed = path.read_bytes()
                text = lzma.decompress(packed) if path.suffix == ".xz" else packed
                parts[part] = f"{place}/{part}.conllu"
                Path(parts[part]).write_bytes(text)
        begin = time.process_time()
        model = udpipe_model(parts["train"], parts.get("dev"), epochs)
        seconds = time.process_time() - begin
        scores, *_ = udpipe(model, parts["test"])
    found = {name: 100 * scores[name].f1 for name in SCORES if name in scores}
    return {**found, "seconds": seconds}


def main(chosen: argparse.Namespace) -> None:
    """Measure what is missing, and print a table of all."""
    results: dict[str, dict[str, float]] = {}
    if chosen.results.exists():
        results = json.loads(chosen.results.read_text())
    folders = sorted({path.parent for path in chosen.folder.rglob("*-train.conllu*")})
    if chosen.only:
        folders = [folder for folder in folders if folder.name in chosen.only]
    rows: list[list[Any]] = []
    for folder in folders:
        figures = []
        if chosen.udpipe:
            key = f"{folder.name} UDPipe {chosen.udpipe}"
            if key not in results:
                results[key] = measured_udpipe(folder, chosen.udpipe)
                chosen.results.write_text(json.dumps(results, indent=1, sort_keys=True))
            figures.append(results[key])
        for seed in () if chosen.udpipe else chosen.seeds:
            key = f"{folder.name} {chosen.preset} {chosen.limit} {seed}"
            if key not in results:
                results[key] = measured(folder, chosen.preset, seed, chosen.limit)
                chosen.results.write_text(json.dumps(results, indent=1, sort_keys=True))
            figures.append(results[key])
        names = (*SCORES, "seconds")
        means = [
            statistics.mean(one[name] for one in figures) if name in figures[0] else None
            for name in names
        ]
        rows.append([folder.name, *means])
    print(f"| | {' | '.join((*SCORES, 'CPU s'))} |\n|---|" + "--:|" * (len(SCORES) + 1))
    for name, *means in [*rows, ["mean", *map(_mean, list(zip(*rows, strict=True))[1:])]]:
        cells = ["–" if one is None else f"{one:.2f}" for one in means]
        print(f"| {name} | {' | '.join(cells)} |")


def _mean(column: tuple[float | None, ...]) -> float | None:
    there = [one for one in column if one is not None]
    return statistics.mean(there) if there else None


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--preset", default="default")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", metavar="TREEBANK", nargs="+")
    parser.add_argument("--udpipe", metavar="EPOCHS", type=int)
    main(parser.parse_args())
