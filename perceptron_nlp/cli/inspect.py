"""``perceptron-nlp inspect``: show what is in a model."""

from __future__ import annotations

import argparse
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp._display import percent
from perceptron_nlp.cli.inputs import open_inputs
from perceptron_nlp.cli.parsing import QUIET, THREADS, Verb, format_options, picked
from perceptron_nlp.cli.terminal import BOLD, output, print_json
from perceptron_nlp.tagger.explain.render import direction
from perceptron_nlp.text.scripts import parse_script

_LABELS_SHOWN = 60
_TOP = 20


INSPECT = Verb(
    """\
Show what is in a model: labels, templates, sizes, its file, and how it was trained; with text, what
each template is worth and which features weigh most.""",
    f"""\
MODEL  a model file
--dev DEV  a labeled file: measure the accuracy lost on it without each template (nothing is trained
    again)
--label LABEL  show the features with most weight for or against this label among those that --text
    or --dev has: a model holds only hashes of features
--text FILE  a file to find features in, labeled or not (default: the file of --dev)
--top N={_TOP}  with --label, show N features
--json  one JSON object
{format_options("auto|conllu|columns|tagged|text")}
{THREADS}
{QUIET}
""",
    """\
  perceptron-nlp inspect en.model
  perceptron-nlp inspect en.model --dev dev.conllu
  perceptron-nlp inspect en.model --label NOUN --text some.txt --top 50
  perceptron-nlp inspect en.model --json | jq .record.epochs""",
)


def run_inspect(chosen: argparse.Namespace) -> None:
    """Read the model and print."""
    texts = [path for path in (chosen.dev, chosen.text) if path is not None]
    corpora = open_inputs(chosen, texts)
    found = pn.inspect(
        chosen.model,
        dev=None if chosen.dev is None else corpora[0],
        text=None if chosen.text is None else corpora[-1],
        **picked(chosen, "label", "top", "fields", "threads"),
    ).to_dict()
    if chosen.json:
        print_json(found)
        return
    terminal = output()
    pages = [report(column, chosen.model, found) for column in found.get("columns", [found])]
    if "segmentation" in found:
        pages.insert(0, segmentation(found["segmentation"]))
    pages.append(layout(found))
    print(
        "\n\n".join(
            "\n".join(terminal.line(line, BOLD if bold else "") for bold, line in page)
            for page in pages
        )
    )


def report(found: dict[str, Any], path: str, file: dict[str, Any]) -> list[tuple[bool, str]]:
    """Return the contents of a column as lines, each with True if it is a heading."""
    table = "exact keys, no collisions"
    if found["table_bits"] is not None:
        table = (
            f"fixed, 2^{found['table_bits']} rows; a feature collides with another in"
            f" {percent(found['collision_rate'])} of cases"
        )
    order = direction(found["right_to_left"]).removeprefix("read ")
    facts = [
        ("column", found["column"]),
        *_labels(found),
        ("features", f"{found['rows']:,} with {found['weights']:,} weights"),
        *_last_updates(found["last_updates"]),
        ("table", table),
        *_coverage(found["coverage"]),
        ("direction", order),
        ("search", "greedy" if found["beam"] == 1 else f"beam of {found['beam']}"),
        ("columns needed", ", ".join(["form", *found["feature_columns"]])),
        ("vocabulary", f"{found['vocabulary']:,}"),
        ("dictionary", f"{len(found['dictionary']):,} tokens with one label each"),
        ("file", f"{file['bytes']:,} bytes, format {file['format_version']}"),
    ]
    if found["dev_accuracy"] is not None:
        facts.append(("dev accuracy", percent(found["dev_accuracy"])))
    lines = [(True, path)]
    lines += [(False, f"{name:<16}{value}") for name, value in facts]
    lines += _templates(found["templates"], "template")
    if found["first_templates"]:
        lines += _templates(found["first_templates"], "template of the first level")
    lines += _heaviest(found)
    try:
        return lines + _training(found["record"])
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        # The record is for people; nothing that tags depends on it, so nothing has checked it.
        return [*lines, (False, ""), (False, "the training record is not of this version's form")]


def segmentation(found: dict[str, Any]) -> list[tuple[bool, str]]:
    """Return what a model has learned of cutting text, as lines."""
    facts = [
        ("features", f"{found['features']:,} of places between atoms of text"),
        ("certain places", f"{found['certain_places']:,} kinds that training saw one way only"),
        (
            "certain words",
            f"{found['certain_words']:,} words and endings that settle what is beside",
        ),
        ("splits", f"{found['splits']:,} ways to make several words of a token"),
    ]
    lines = [(True, "segmentation of running text")]
    return lines + [(False, f"{name:<16}{value}") for name, value in facts]


def _labels(found: dict[str, Any]) -> list[tuple[str, str]]:
    if found["known_lemmas"] is None:
        return [("labels", _listed(found["labels"]))]
    scripts = [parse_script(label).brief() for label in found["labels"]]
    return [
        ("edit scripts", _listed([f"({script})" for script in scripts])),
        ("known lemmas", f"{found['known_lemmas']:,} with their parts of speech"),
    ]


def _last_updates(counts: list[int] | None) -> list[tuple[str, str]]:
    """Return when features were updated last; nothing for a model that does not know."""
    if not counts or not sum(counts):
        return []
    shares = [percent(count / sum(counts)) for count in counts]
    return [("last update", "by epoch, of features: " + ", ".join(shares))]


def _coverage(found: dict[str, int] | None) -> list[tuple[str, str]]:
    if found is None:
        return []
    return [
        (
            "on the text",
            f"{found['features']:,} features, {found['with_weights']:,} in the"
            f" table, {found['sharing']:,} sharing rows",
        )
    ]


def _templates(templates: list[dict[str, Any]], title: str) -> list[tuple[bool, str]]:
    """Return a line for each template, without figures that are not known."""
    columns = []
    for name, head, show in (
        ("rows", "features", "{:,}"),
        ("weights", "weights", "{:,}"),
        ("bytes", "bytes", "{:,}"),
        ("weight_sum", "sum |w|", "{:,.0f}"),
        ("accuracy_lost", "lost on dev", "{:+.2f} %"),
    ):
        if templates and templates[0][name] is not None:
            scale = 100 if name == "accuracy_lost" else 1
            cells = [head, *(show.format(scale * item[name]) for item in templates)]
            width = max(map(len, cells))
            columns.append([f"{cell:>{width}}" for cell in cells])
    texts = [title, *(item["template"] for item in templates)]
    rows = ["  ".join(cells) for cells in zip(*columns, texts, strict=True)]
    lines = [(False, ""), (True, rows[0]), *((False, row) for row in rows[1:])]
    if templates and templates[0]["rows"] is None:
        lines.append((False, "(rows of a fixed table belong to all templates)"))
    return lines


def _heaviest(found: dict[str, Any]) -> list[tuple[bool, str]]:
    if found["label"] is None:
        return []
    lines = [
        (False, ""),
        (
            True,
            f"    weight   times  speaks for (+) or against (-) {found['label']}: first location",
        ),
    ]
    for one in found["heaviest"]:
        place = " ".join([*one["before"], f"[{one['word']}]", *one["after"]])
        lines.append((False, f"{one['weight']:+10.3f}  {one['count']:6,}  {one['text']}: {place}"))
    return lines


def layout(file: dict[str, Any]) -> list[tuple[bool, str]]:
    """Return the layout of the file as lines."""
    lines = [(True, f"{'begins at':>12}  {'bytes':>12}  part of the file")]
    for part in file["layout"]:
        items = "" if part["type"] is None else f", {part['length']:,} of {part['type']}"
        lines.append((False, f"{part['begin']:12,}  {part['bytes']:12,}  {part['name']}{items}"))
    return lines


def _listed(labels: list[str]) -> str:
    shown = " ".join(labels[:_LABELS_SHOWN])
    return f"{len(labels):,}: {shown}" + (" …" if len(labels) > _LABELS_SHOWN else "")


def _training(record: dict[str, Any]) -> list[tuple[bool, str]]:
    if not record:
        return []
    if "merged" in record:
        return _merging(record["merged"])
    lines = [(False, ""), (True, f"trained by version {record.get('version')}")]
    for name in ("train", "dev"):
        counts = record.get(name)
        if counts:
            lines.append(
                (
                    False,
                    f"{name:<16}{counts['sentences']:,} sentences,"
                    f" {counts['labelled']:,} labeled tokens,"
                    f" SHA-256 {counts['sha256'][:16]}…",
                )
            )
    for name, value in record.get("options", {}).items():
        if value is not None:
            lines.append((False, f"{name:<16}{value}"))
    lines += [(False, ""), (True, "epoch  mistakes  dev accuracy")]
    for epoch in record.get("epochs", []):
        score = epoch["dev_accuracy"]
        figure = percent(score)
        best = "  kept" if epoch["epoch"] == record.get("best_epoch") else ""
        lines.append((False, f"{epoch['epoch']:5}  {epoch['mistakes']:8,}  {figure:>12}{best}"))
    return lines


def _merging(members: list[dict[str, Any]]) -> list[tuple[bool, str]]:
    lines = [(False, ""), (True, f"merged of {len(members)} models")]
    for member in members:
        counts = member["record"].get("train")
        text = f", {counts['labelled']:,} labeled tokens" if counts else ""
        lines.append(
            (False, f"weight {member['weight']:g}{text}, SHA-256 {member['sha256'][:16]}…")
        )
    return lines
