"""Make the models of all treebanks below a folder, with a card of each and a table of all.

    python scripts/make_models.py FOLDER [-o OUT] [--jobs N] [--any-license] [--only NAME …]
        [--package NAME]

A treebank is a folder with ``*-ud-train.conllu`` (``.gz``, ``.bz2`` or ``.xz`` at will), as a rule
with dev and test parts beside it, and a license that lets models of it be shared. Its model has
sentences, words, lemmas and whatever tags it fills. All that is chosen is chosen by the dev part,
with a model of the train part alone; then both parts together are learned from. The test part says
how good each of the two is, on gold tokens and from text. Running text is also cut with the
abbreviations that data/abbreviations lists for the language, since no treebank has them all.

OUT/NAME.model and its card, OUT/NAME.json, are written as soon as there are scores; a run that was
interrupted goes on with the treebanks that have no card of the same files and options. A treebank
that cannot be used is named and left out. At the end OUT has the table: table.md, .tsv and .json.
With a name of a package, OUT also has what makes a distribution of the models, which pip installs:
``perceptron-nlp models`` lists them then, and they have names. The same files and version of the
library make the same bytes, but for the seconds in the cards.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import multiprocessing
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import perceptron_nlp as pn

PART = re.compile(r"(?P<name>\w+)-ud-(?P<part>train|dev|test)\.conllu(\.(gz|bz2|xz))?")
# Names of files with a license; where there is none, the line of the notes of a treebank.
LICENSE = re.compile(r"licen[sc]e|copying", re.IGNORECASE)
NOTED = re.compile(r"^license:.+$", re.IGNORECASE | re.MULTILINE)
# What a license says of itself, the more special first; a model of what is not for commerce, or not
# to be changed, cannot be shared by everybody.
CLOSED = re.compile(r"non-?commercial|\bBY-NC\b|no-?derivat|\bBY(-NC)?-ND\b", re.IGNORECASE)
OPEN = (
    ("CC BY-SA", re.compile(r"\bBY-SA\b|share-?alike", re.IGNORECASE)),
    ("CC BY", re.compile(r"\bCC[ -]BY\b|creative commons attribution|licenses/by/", re.IGNORECASE)),
    ("CC0", re.compile(r"\bCC0\b|public domain", re.IGNORECASE)),
    ("LGPL", re.compile(r"\bLGPL|lesser general public", re.IGNORECASE)),
    ("GPL", re.compile(r"\bGPL|general public license", re.IGNORECASE)),
    ("Apache", re.compile(r"apache license", re.IGNORECASE)),
    ("MIT", re.compile(r"\bMIT license|permission is hereby granted, free", re.IGNORECASE)),
)
VERSION = re.compile(
    r"(?:-SA|alike|attribution|licenses/by(?:-sa)?|license|version)[ /-]*(\d\.\d)", re.IGNORECASE
)
ABBREVIATIONS = Path(__file__).parents[1] / "data" / "abbreviations"
# What the table has of the scores, gold tokens first.
GOLD = ("upos", "xpos", "feats", "lemma")
TEXT = ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "Lemmas")


# Bytes that a model may have, and if its train part has more words than so many.
SIZE, SIZE_OF_MANY, MANY = 1_000_000, 1_500_000, 100_000
# A model gets this much more, once and again, as long as one of these columns loses more of the dev
# set than so much: many labels or an alphabet of thousands need more than others.
MORE, MOST_LOST = 1.5, {"upos": 0.02, "xpos": 0.04, "feats": 0.02, "lemma": 0.02}
# A test part says how good a column of tags is from text only if so many of its words have one, and
# on gold tokens if so many do: the rest are words for which there is nothing to be right about,
# unless the model has learned that they have none.
FILLED_TEXT, FILLED_GOLD = 0.99, 0.3


class Treebank(NamedTuple):
    """A treebank.

    name : as a model is called: the language's code and the treebank, such as ``pt-bosque``
    title : the name of its folder without what stands before the language
    parts : the paths of its parts, by their names
    """

    name: str
    title: str
    folder: Path
    parts: dict[str, Path]


def treebanks(folder: Path) -> Iterator[Treebank]:
    """The treebanks below a folder that have a train part, by their names."""
    found: dict[tuple[Path, str], dict[str, Path]] = {}
    for path in sorted(folder.rglob("*-ud-*.conllu*")):
        match = PART.fullmatch(path.name)
        if match:
            found.setdefault((path.parent, match["name"]), {})[match["part"]] = path
    for (where, name), parts in sorted(found.items(), key=lambda item: item[0][1]):
        if "train" in parts:
            yield Treebank(name.replace("_", "-"), where.name.removeprefix("UD_"), where, parts)


def license_of(folder: Path) -> tuple[str, bool]:
    """What a treebank's license is called, and whether it lets models be shared."""
    paths = [path for path in sorted(folder.iterdir()) if LICENSE.match(path.name)]
    text = "\n".join(path.read_text("utf-8", "replace") for path in paths)
    if not text.strip():
        notes = [
            path for path in sorted(folder.iterdir()) if path.name.upper().startswith("README")
        ]
        lines = (NOTED.search(path.read_text("utf-8", "replace")) for path in notes)
        text = "\n".join(line[0] for line in lines if line)
    # The text of a license speaks of other licenses further on.
    head = text[:3000]
    if not head.strip():
        return "no license", False
    closed = CLOSED.search(head)
    if closed:
        return f"not open ({closed[0]})", False
    name = next((name for name, looks in OPEN if looks.search(head)), None)
    if name is None:
        return "unknown license", False
    version = VERSION.search(head) if name.startswith("CC BY") else None
    return f"{name} {version[1]}" if version else name, True


def listed_for(language: str) -> dict[str, Any]:
    """The option that has the abbreviations of a language, if there is a list of them."""
    path = ABBREVIATIONS / f"{language}.txt"
    return {"abbreviations": path.read_text("utf-8").split()} if path.exists() else {}


def made_of(treebank: Treebank, options: dict[str, Any]) -> str:
    """What a model hangs on: a hash of the parts, the options and the version."""
    told = hashlib.sha256(json.dumps([options, pn.__version__], sort_keys=True).encode())
    for part, path in sorted(treebank.parts.items()):
        told.update(part.encode() + hashlib.sha256(path.read_bytes()).digest())
    return told.hexdigest()


def scores(tagger: pn.Tagger, test: Path) -> dict[str, dict[str, float]]:
    """How much of a test part is right, in percent: of gold tokens, and F1 from text."""
    found = in_percent(tagger.evaluate_columns(test), tagger.evaluate_text(test))
    filled = shares_filled(test)
    for name, names in (("upos", ("UPOS",)), ("xpos", ("XPOS", "AllTags"))):
        if name in tagger.by_column and "_" in tagger.by_column[name].labels:
            continue
        if filled[name] < FILLED_GOLD:
            found["gold"].pop(name, None)
        if filled[name] < FILLED_TEXT:
            for one in names:
                found["text"].pop(one, None)
    return found


def in_percent(gold: Any, text: Any) -> dict[str, dict[str, float]]:
    """What was evaluated of gold tokens and from text, as it is in a card."""
    return {
        "gold": {name: round(100 * one.accuracy, 2) for name, one in gold.items()},
        "text": {name: round(100 * one.f1, 2) for name, one in text.items()},
    }


def shares_filled(test: Path) -> dict[str, float]:
    """How many of the words of a text have UPOS, XPOS: "_" for FEATS says that there are none."""
    sentences = list(pn.read_conllu(test))
    n_words = max(1, sum(map(len, sentences)))
    return {
        name: sum(label != "_" for one in sentences for label in one.column(name)) / n_words
        for name in ("upos", "xpos")
    }


def made(treebank: Treebank, out: Path, license_name: str, options: dict[str, Any]) -> str:
    """Make the model and the card of a treebank; return what to say of it."""
    train = treebank.parts["train"]
    dev, test = (part_with_words(treebank, name) for name in ("dev", "test"))
    begun = time.process_time()
    words = sum(len(sentence) for sentence in pn.read_conllu(train))
    first, full, small = learned(train, dev, SIZE_OF_MANY if words > MANY else SIZE, options)
    path = out / f"{treebank.name}.model"
    small.save(path)
    card = {
        **about(treebank.name, treebank.folder, path, small),
        "words": words,
        "full bytes": len(full.to_bytes()),
        "license": license_name,
        "options": options,
        "command": f"python scripts/make_models.py FOLDER --only {treebank.name}",
        "learned train": None if test is None else scores(first, test),
        "learned train and dev": None if test is None else scores(full, test),
        "small": None if test is None else scores(small, test),
        "cpu_seconds": round(time.process_time() - begun, 1),
        "made_of": made_of(treebank, options),
    }
    write_card(path, card)
    return f"{treebank.name}: {card['bytes']:,} bytes, {card['cpu_seconds']} CPU s"


def part_with_words(treebank: Treebank, name: str) -> Path | None:
    """The path of a part of a treebank; None if it has none, or one without words."""
    path = treebank.parts.get(name)
    return None if path is None or not any(map(len, pn.read_conllu(path))) else path


def about(name: str, folder: Path, path: Path, tagger: pn.Tagger) -> dict[str, Any]:
    """What a card says of a model that was saved, and of the treebank that it learned from."""
    source = folder / "SOURCE"
    commit = re.search(r"\b[0-9a-f]{40}\b", source.read_text("utf-8")) if source.exists() else None
    return {
        "name": name,
        "language": name.partition("-")[0],
        "treebank": folder.name.removeprefix("UD_"),
        "commit": commit[0] if commit else None,
        "license": license_of(folder)[0],
        "columns": list(tagger.columns),
        "bytes": path.stat().st_size,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "version": pn.__version__,
    }


def write_card(path: Path, card: dict[str, Any]) -> None:
    """Write the card of a model beside it."""
    written(path.with_suffix(".json"), json.dumps(card, indent=1, ensure_ascii=False) + "\n")


def learned(
    train: Path, dev: Path | None, size: int, options: dict[str, Any]
) -> tuple[pn.Tagger, pn.Tagger, pn.Tagger]:
    """What has learned train alone, what has learned dev, too, and that in a size.

    Without a dev part nothing is measured, so nothing is left out. Else it is the least size, of
    this one and larger ones, that is worth having.
    """
    options = {"column": "all", "learn_dev": True, **options}
    held: list[pn.Tagger] = []
    if dev is None:
        full = pn.train(train, before_dev=held.append, **options)
        return held[0], full, full
    whole: list[pn.Tagger] = []
    while True:
        small = pn.train(
            train, dev=dev, size=size, before_dev=held.append, before_size=whole.append, **options
        )
        if not whole:
            return held[0], small, small
        before, after = (one.evaluate_columns(dev) for one in (held[0], held[-1]))
        if all(before[one].accuracy - after[one].accuracy <= MOST_LOST[one] for one in before):
            return held[0], whole[0], small
        size = int(size * MORE)


def hush() -> None:
    """Let a process say nothing of what is odd in a treebank."""
    logging.getLogger("perceptron_nlp").setLevel(logging.ERROR)


def written(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    new = path.with_name(path.name + ".new")
    new.write_text(text, "utf-8")
    new.replace(path)


def rows(cards: Sequence[dict[str, Any]]) -> list[list[Any]]:
    """The table: a row each, and the mean of what has scores; heads first."""
    heads = ["model", "treebank", "license", "words", "kB"]
    heads += [*(f"gold {name}" for name in GOLD), *TEXT]
    table: list[list[Any]] = [heads]
    for card in cards:
        found = card["small"] or {"gold": {}, "text": {}}
        row = [card["name"], card["treebank"], card["license"], card["words"]]
        row.append(round(card["bytes"] / 1000))
        row += [found["gold"].get(name) for name in GOLD]
        table.append([*row, *(found["text"].get(name) for name in TEXT)])
    means: list[Any] = ["mean", "", "", None, None]
    for column in list(zip(*table[1:], strict=True))[len(means) :]:
        there = [value for value in column if value is not None]
        means.append(round(sum(there) / len(there), 2) if there else None)
    return [*table, means]


def tell(out: Path) -> None:
    """Write the table of all cards in a folder, in three forms."""
    cards = model_cards(out)
    if not cards:
        return
    table = rows(cards)
    written(out / "table.md", markdown(table) + "\n")
    written(out / "table.tsv", "".join("\t".join(map(shown, row)) + "\n" for row in table))
    written(out / "table.json", json.dumps(cards, indent=1, ensure_ascii=False) + "\n")


def shown(value: Any) -> str:
    """A cell of the table as text."""
    return "–" if value is None else str(value)


def markdown(table: list[list[Any]]) -> str:
    """A table as Markdown; names stand left, figures right."""
    lines = [f"| {' | '.join(map(shown, row))} |" for row in table]
    lines.insert(1, "|---|---|---|" + "--:|" * (len(table[0]) - 3))
    return "\n".join(lines)


PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "{version}"
description = "Models of {languages} languages for perceptron-nlp"
readme = "README.md"
license = "{license}"
requires-python = ">=3.11"
dependencies = ["perceptron-nlp"]

[project.entry-points."perceptron_nlp.models"]
all = "{module}"

[tool.setuptools]
packages = ["{module}"]
package-dir = {{"{module}" = "."}}
package-data = {{"{module}" = ["*.model", "*.json"]}}
"""
ABOUT = """\
# {name}

Models of {languages} languages for perceptron_nlp: from running text to sentences, words, lemmas
and tags. Nothing in this package is run; each model has a card of its own beside it.

    perceptron-nlp tag {example} < text.txt
    perceptron-nlp models

Each model learned from the treebank of Universal Dependencies that its row names, and is under the
license of that treebank. Scores are F1 in percent, from text, on the test part.

{table}
"""


def pack(out: Path, name: str) -> None:
    """Write what makes a distribution of the models in a folder; each has a license of its own."""
    cards = model_cards(out)
    licenses = sorted({spdx(card["license"]) for card in cards})
    project = PROJECT.format(
        name=name,
        module=re.sub(r"\W", "_", name),
        version=pn.__version__,
        languages=len({card["language"] for card in cards}),
        license=" AND ".join(licenses),
    )
    written(out / "pyproject.toml", project)
    about = ABOUT.format(
        name=name,
        languages=len({card["language"] for card in cards}),
        example=cards[0]["name"],
        table=markdown(rows(cards)),
    )
    written(out / "README.md", about)
    written(out / "__init__.py", '"""Models for perceptron_nlp: see the card of each."""\n')


def spdx(name: str) -> str:
    """The license as the Software Package Data Exchange spells it."""
    kind, _, version = name.rpartition(" ")
    if kind.startswith("CC"):
        return f"{kind.replace(' ', '-')}-{version}"
    return {"GPL": "GPL-3.0-or-later", "CC0": "CC0-1.0", "Apache": "Apache-2.0"}.get(
        name, "LicenseRef-" + re.sub(r"\W+", "-", name).strip("-")
    )


def model_cards(out: Path) -> list[dict[str, Any]]:
    """The cards of the models in a folder, by their names."""
    paths = (path for path in sorted(out.glob("*.json")) if path.with_suffix(".model").exists())
    return [json.loads(path.read_text("utf-8")) for path in paths]


def main() -> int:
    """Make what is not there yet, two at a time as a rule; return 1 if a treebank was left out."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    parser.add_argument("-o", "--output", metavar="OUT", type=Path, default=Path("out/models"))
    parser.add_argument("--jobs", metavar="N", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--any-license", action="store_true")
    parser.add_argument("--only", metavar="NAME", nargs="+", help="models with these names")
    parser.add_argument("--package", metavar="NAME", help="of the distribution, as pip calls it")
    parser.add_argument("--seed", metavar="N", type=int, default=1)
    chosen = parser.parse_args()
    options = {"seed": chosen.seed, "threads": 1}
    found = list(treebanks(chosen.folder))
    if chosen.only:
        found = [one for one in found if one.name in chosen.only]
    if not found:
        sys.exit(f"{chosen.folder}: there is no treebank with a train part below it")
    chosen.output.mkdir(parents=True, exist_ok=True)
    left_out = []
    jobs: dict[Future[str], Treebank] = {}
    # The longest first, so that no core is idle at the end.
    found.sort(key=lambda one: -one.parts["train"].stat().st_size)
    with ProcessPoolExecutor(
        chosen.jobs, multiprocessing.get_context("spawn"), initializer=hush
    ) as pool:
        for one in found:
            name, is_open = license_of(one.folder)
            if not (is_open or chosen.any_license):
                left_out.append(f"{one.name}: left out: {name}; --any-license takes it")
                continue
            own = options | listed_for(one.name.partition("-")[0])
            card = chosen.output / f"{one.name}.json"
            model = card.with_suffix(".model")
            if card.exists() and model.exists():
                told = json.loads(card.read_text("utf-8"))
                if told["made_of"] == made_of(one, own):
                    print(f"{one.name}: is there", flush=True)
                    continue
            jobs[pool.submit(made, one, chosen.output, name, own)] = one
        for job in as_completed(jobs):
            try:
                print(job.result(), flush=True)
            except Exception as error:
                left_out.append(f"{jobs[job].name}: left out: {error}")
                print(left_out[-1], file=sys.stderr, flush=True)
    tell(chosen.output)
    if chosen.package is not None and model_cards(chosen.output):
        pack(chosen.output, chosen.package)
    for line in left_out:
        print(line)
    print(f"{chosen.output}: the table is in table.md, table.tsv and table.json")
    return 1 if left_out else 0


if __name__ == "__main__":
    sys.exit(main())
