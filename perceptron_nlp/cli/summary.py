"""The summary after a training: what was chosen, and the figures of the model."""

from __future__ import annotations

import os

import perceptron_nlp as pn
from perceptron_nlp.cli.sizes import say_cost
from perceptron_nlp.cli.style import say


def summarise(tagger: pn.Tagger, path: str) -> None:
    """Print what was chosen, and the figures of the model."""
    size = os.path.getsize(path) if os.path.isfile(path) else len(tagger.to_bytes())
    parts = tagger.by_column.values()
    for part in parts:
        if len(parts) > 1:
            epoch = part.model.record["best_epoch"]
            say(f"{part.column}: {_figures(part)}, epoch {epoch}")
        _say_choices(part)
    say_calibration(tagger)
    say_cost(tagger)
    if len(parts) > 1:
        say(f"{path}: {len(parts)} columns, {size / 1e6:.2f} MB")
    else:
        say(
            f"{path}: {_figures(tagger)}, {size / 1e6:.2f} MB,"
            f" epoch {tagger.model.record['best_epoch']}"
        )


def say_calibration(tagger: pn.Tagger) -> None:
    """Say how each column was calibrated, or why not; nothing where it was not tried."""
    for column, part in tagger.by_column.items():
        found = part.model.record.get("calibration")
        if found is None:
            continue
        name = f"{column}: " if len(tagger.columns) > 1 else ""
        if found["method"] is None:
            say(f"{name}not calibrated: {found['why']}")
            continue
        say(
            f"{name}calibrated by a curve of margins on {found['words']:,} words; error of the"
            f" confidences {found['ece']:.4f}, cross-validated"
        )


def _figures(tagger: pn.Tagger) -> str:
    return f"{len(tagger.labels)} labels, {tagger.model.weights.n_rows:,} features"


def _say_choices(tagger: pn.Tagger) -> None:
    record = tagger.model.record
    for part in ("train", "dev"):
        counts = record[part]
        if counts is not None and counts["labelled"] < counts["tokens"]:
            say(
                f"{part}: {counts['tokens'] - counts['labelled']:,} of {counts['tokens']:,} tokens"
                f" have no {tagger.column} and were left out"
            )
    for choice in record.get("choices", []):
        say(f"chosen: {choice}")
    for warning in record.get("warnings", []):
        say(f"warning: {warning}")
