"""Write what ``docs/languages.md`` says of the models that have names, from their cards.

    python scripts/languages_page.py data/models data/languages.tsv docs/languages.md [UDPIPE]

The second file has a line for each language, or model, with its code, its English name, and a
sentence, which is shown with the UPOS that the model gives to its words. UDPIPE is what
``benchmarks/languages.py --udpipe`` wrote: the figures of its treebanks stand beside ours. What
stands in the page between the lines of the two marks is replaced.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from make_models import model_cards

import perceptron_nlp as pn

BEGIN, END = "<!-- models: begin -->\n", "<!-- models: end -->\n"
SHOWN = ("Tokens", "Sentences", "Words", "UPOS", "UFeats", "Lemmas")


def known_languages(path: Path) -> dict[str, tuple[str, str]]:
    """The English name of a language and a sentence of it, by code or by the name of a model."""
    lines = path.read_text("utf-8").splitlines()
    return {code: (name, text) for code, name, text in (line.split("\t") for line in lines)}


def page_part(folder: Path, languages: Path, peer: Path | None) -> str:
    """The tables of models, their means beside those of full size, and a sentence of each."""
    cards, known = model_cards(folder), known_languages(languages)
    heads = ["model", "language", "treebank", "license", "words", "kB", *SHOWN]
    lines = [f"| {' | '.join(heads)} |", "|---|---|---|---|" + "--:|" * (2 + len(SHOWN))]
    for card in cards:
        language, _ = named(card, known)
        cells = [card["name"], language, card["treebank"], card["license"]]
        cells += [f"{card['words']:,}", f"{card['bytes'] / 1000:,.0f}"]
        cells += [score(card["small"]["text"].get(name)) for name in SHOWN]
        lines.append(f"| {' | '.join(cells)} |")
    for what, form in (("mean", "small"), ("mean of full size", "learned train and dev")):
        size = "bytes" if form == "small" else "full bytes"
        n_bytes = sum(card[size] for card in cards) / len(cards)
        cells = [what, "", "", "", "", f"{n_bytes / 1000:,.0f}"]
        cells += [score(mean(card[form]["text"].get(name) for card in cards)) for name in SHOWN]
        lines.append(f"| {' | '.join(cells)} |")
    if peer is not None:
        lines += ["", *beside(cards, json.loads(peer.read_text("utf-8")))]
    lines += ["", "A sentence of each, as its model sees it:", ""]
    for card in cards:
        _, text = named(card, known)
        tagger = pn.load(folder / f"{card['name']}.model")
        words = [
            f"{word.form} <small>{word.labels['upos']}</small>"
            for sentence in tagger.tag_text(text)
            for word in sentence.words
        ]
        lines += [f"`{card['name']}`", f": {' '.join(words)}", ""]
    return "\n".join(lines)


def beside(cards: list[dict[str, Any]], figures: dict[str, dict[str, float]]) -> list[str]:
    """A table of our models beside those of UDPipe, by ``UD_treebank UDPipe epochs``."""
    of_peer = {key.split(" ")[0].removeprefix("UD_"): own for key, own in figures.items()}
    ours = (("full size, train", "learned train"), ("these", "small"))
    found = {
        what: {card["treebank"]: card[form]["text"] for card in cards} for what, form in ours
    } | {"UDPipe": of_peer}
    treebanks = [card["treebank"] for card in cards if card["treebank"] in of_peer]
    lines = [
        "Beside UDPipe 1, which learned from the same train parts and chose by the same dev parts,",
        "its tokenizer for 10 epochs, its tagger by its defaults (`python benchmarks/languages.py",
        "FOLDER UDPIPE --udpipe 10`):",
        "",
        f"| treebank | model | {' | '.join(SHOWN)} |",
        "|---|---|" + "--:|" * len(SHOWN),
    ]
    for treebank in [*treebanks, None]:
        for what, by_treebank in found.items():
            own = [by_treebank[name] for name in treebanks if treebank in (name, None)]
            cells = [score(mean(one.get(name) for one in own)) for name in SHOWN]
            title = (treebank or f"mean of {len(treebanks)}") if what == ours[0][0] else ""
            lines.append(f"| {title} | {what} | {' | '.join(cells)} |")
    return lines


def named(card: dict[str, Any], known: dict[str, tuple[str, str]]) -> tuple[str, str]:
    """The name of a model's language, and its sentence."""
    return known[card["name"] if card["name"] in known else card["language"]]


def mean(values: Any) -> float | None:
    """The mean of the values that are there."""
    there = [value for value in values if value is not None]
    return sum(there) / len(there) if there else None


def score(value: float | None) -> str:
    """A score in percent, as a cell."""
    return "–" if value is None else f"{value:.2f}"


def main() -> None:
    """Replace the part of the page."""
    folder, languages, page, *peer = map(Path, sys.argv[1:])
    text = page.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        sys.exit(f"{page}: the marks are missing")
    page.write_text(
        before + BEGIN + page_part(folder, languages, *peer or [None]) + END + after, "utf-8"
    )


if __name__ == "__main__":
    main()
