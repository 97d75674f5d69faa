"""``perceptron-nlp inspect``: what is in a model file."""

from __future__ import annotations

import argparse
import os
from typing import Any

import numpy as np

import perceptron_nlp as pn
from perceptron_nlp.cli.parsing import VerbParser
from perceptron_nlp.cli.printing import print_json
from perceptron_nlp.cli.style import BOLD, one_line, output, shortened

EXAMPLES = """\
  perceptron-nlp inspect en.model
  perceptron-nlp inspect en.model --json | jq .record.epochs"""
_LABELS_SHOWN = 60


def parser() -> VerbParser:
    """The arguments of the verb."""
    verb = VerbParser("inspect", "Show what is in a model: labels, templates, sizes, and how it"
                      " was trained.", EXAMPLES)
    verb.add_argument("model", metavar="MODEL", help="a model file")
    verb.add_argument("--json", action="store_true", help="one JSON object")
    return verb


def run(chosen: argparse.Namespace) -> None:
    """Read the model and print."""
    model = pn.read_model(chosen.model)
    size = os.path.getsize(chosen.model)
    found = [description(part, size) for part in model.parts_by_column]
    if chosen.json:
        print_json(found[0] if len(found) == 1 else {"columns": found})
        return
    terminal = output()
    pages = ("\n".join(shortened(line, terminal.width) if not bold else
                       terminal.paint(shortened(line, terminal.width), BOLD)
                       for bold, line in report(part, chosen.model)) for part in found)
    print("\n\n".join(pages))


def description(model: pn.TaggerModel, size: int) -> dict[str, Any]:
    """All that the model holds but its weights, as JSON can say it.

    Parameters
    ----------
    size : of the file, in bytes
    """
    weights = model.weights
    names = [str(template) for template in model.templates] or [f"function {model.extractor}"]
    rows = np.diff(weights.group_starts)
    cells = np.diff(weights.starts[weights.group_starts])
    return {
        "format_version": pn.MODEL_FORMAT_VERSION,
        "bytes": size,
        "column": model.column,
        "labels": list(model.tags.labels),
        "extractor": model.extractor,
        "templates": [
            {"template": name, "rows": int(n_rows), "weights": int(n_cells)}
            for name, n_rows, n_cells in zip(names, rows, cells, strict=True)],
        "evidence": list(model.evidence),
        "rows": weights.n_rows,
        "weights": weights.n_cells,
        "table": "exact" if weights.table_bits is None else "fixed",
        "table_bits": weights.table_bits,
        "collision_rate": _collision_rate(weights.n_rows, weights.table_bits),
        "scale": weights.scale,
        "right_to_left": model.right_to_left,
        "beam": model.beam,
        "vocabulary": len(model.vocabulary),
        "dictionary": dict(model.dictionary),
        "record": dict(model.record),
    }


def _collision_rate(rows: int, table_bits: int | None) -> float:
    """How often a feature meets the weights of another: the share of a fixed table in use."""
    return 0.0 if table_bits is None else rows / (1 << table_bits)


def report(found: dict[str, Any], path: str) -> list[tuple[bool, str]]:
    """The description as lines for a person, each with whether it is a heading."""
    table = "exact keys, no collisions"
    if found["table_bits"] is not None:
        table = (f"fixed, 2^{found['table_bits']} rows; a feature collides with another in"
                 f" {100 * found['collision_rate']:.2f} % of cases")
    order = "right to left" if found["right_to_left"] else "left to right"
    facts = [
        ("column", found["column"]),
        ("labels", _listed(found["labels"])),
        ("features", f"{found['rows']:,} with {found['weights']:,} weights"),
        ("table", table),
        ("reading", order),
        ("search", "greedy" if found["beam"] == 1 else f"beam of {found['beam']}"),
        ("columns needed", ", ".join(["form", *found["evidence"]])),
        ("known words", f"{found['vocabulary']:,}"),
        ("dictionary", f"{len(found['dictionary']):,} words with one label each"),
        ("file", f"{found['bytes']:,} bytes, format {found['format_version']}"),
    ]
    lines = [(True, one_line(path))]
    lines += [(False, f"{name:<16}{one_line(value)}") for name, value in facts]
    lines += [(False, ""), (True, f"{'features':>10}  {'weights':>10}  template")]
    lines += [(False, f"{item['rows']:10,}  {item['weights']:10,}  {one_line(item['template'])}")
              for item in found["templates"]]
    try:
        return lines + _training(found["record"])
    except (AttributeError, KeyError, TypeError, ValueError):
        # The record is for people; nothing that tags depends on it, so nothing has checked it.
        return [*lines, (False, ""), (False, "the training record is not of this version's form")]


def _listed(labels: list[str]) -> str:
    shown = " ".join(labels[:_LABELS_SHOWN])
    return f"{len(labels):,}: {shown}" + (" …" if len(labels) > _LABELS_SHOWN else "")


def _training(record: dict[str, Any]) -> list[tuple[bool, str]]:
    if not record:
        return []
    if "merged" in record:
        return _merging(record["merged"])
    lines = [(False, ""), (True, f"trained by version {one_line(str(record.get('version')))}")]
    for name in ("train", "dev"):
        counts = record.get(name)
        if counts:
            lines.append((False, f"{name:<16}{counts['sentences']:,} sentences,"
                                 f" {counts['labelled']:,} labelled words,"
                                 f" SHA-256 {counts['sha256'][:16]}…"))
    for name, value in record.get("options", {}).items():
        if value is not None:
            lines.append((False, f"{name:<16}{value}"))
    lines += [(False, ""), (True, "epoch  mistakes  dev accuracy")]
    for epoch in record.get("epochs", []):
        score = epoch["dev_accuracy"]
        figure = "–" if score is None else f"{100 * score:.2f} %"
        best = "  kept" if epoch["epoch"] == record.get("best_epoch") else ""
        lines.append((False, f"{epoch['epoch']:5}  {epoch['mistakes']:8,}  {figure:>12}{best}"))
    return lines


def _merging(members: list[dict[str, Any]]) -> list[tuple[bool, str]]:
    lines = [(False, ""), (True, f"merged of {len(members)} models")]
    for member in members:
        counts = member["record"].get("train")
        text = f", {counts['labelled']:,} labelled words" if counts else ""
        lines.append((False, f"weight {member['weight']:g}{text},"
                             f" SHA-256 {member['sha256'][:16]}…"))
    return lines
