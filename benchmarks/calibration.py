"""Whether confidences hold: the calibration error on the test parts of four treebanks.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/calibration.py [NAME …] [--png FILE]

Trains on each treebank with its dev part, which calibrates, and, where no treebank is named, on
CoNLL-2000 (its last tenth is dev) and CoNLL-2002 Spanish (testa is dev, testb test). Prints a
Markdown table: the share of test words labeled right, their mean confidence, the expected
calibration error in 15 bins, and how fast labels come with confidences, beside labels alone (CPU,
the least of seven).
"""

from __future__ import annotations

import argparse
from typing import Any

from corpora import TREEBANKS, corpora, treebank
from cputime import least_of

import perceptron_nlp as pn

# What is trained: a name, and options.
SETTINGS: dict[str, dict[str, Any]] = {
    "`default`, UPOS": {},
    "`fast`, UPOS": {"preset": "fast"},
    "`accurate`, UPOS": {"preset": "accurate"},
    "`default`, FEATS": {"column": "feats"},
}
# Spans are learnt with a beam; few epochs do for how sure a tagger is.
SPANS: dict[str, Any] = {"column": "span", "templates": "chunk", "epochs": 4}
FIELDS = ("form", "xpos", "span")
REPEATS = 7


def main() -> None:
    """Print the table, and draw the first settings."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        default=list(TREEBANKS),
        help=f"of {', '.join(TREEBANKS)}",
    )
    parser.add_argument("--png", metavar="FILE", help="draw the bins")
    chosen = parser.parse_args()
    print(
        "| model | treebank | right | confidence | error | labels/s | with confidences |"
        "\n|---|---|--:|--:|--:|--:|--:|"
    )
    drawn: dict[str, Any] = {}
    for setting, options in SETTINGS.items():
        for name in chosen.names:
            found = row(
                setting, name, *(treebank(name, part) for part in ("train", "dev", "test")), options
            )
            if not options:
                drawn[name] = found
    if chosen.names == list(TREEBANKS):
        spans()
    if chosen.png is not None:
        draw(drawn, chosen.png)


def spans() -> None:
    """The lines of chunks and of names."""

    def read(path: str) -> list[pn.Sentence]:
        return list(pn.read_columns(corpora() / "corpora" / path, fields=FIELDS))

    chunks = read("conll2000/train.txt")
    n_train = len(chunks) * 9 // 10
    row(
        "4 epochs, beam, chunks",
        "CoNLL-2000",
        chunks[:n_train],
        chunks[n_train:],
        read("conll2000/test.txt"),
        SPANS,
    )
    row(
        "4 epochs, beam, names",
        "CoNLL-2002 Spanish",
        *(read(f"conll2002/esp.{part}") for part in ("train", "testa", "testb")),
        SPANS,
    )


def row(setting: str, name: str, train: Any, dev: Any, test: Any, options: dict[str, Any]) -> Any:
    """A line of the table; the reliability of the confidences."""
    tagger = pn.train(train, dev=dev, runs=1, **options)
    if isinstance(test, str):
        test = list(pn.read_conllu(test))
    result = tagger.evaluate(test, column=tagger.column, calibration=True)
    found, inputs = result.calibration, tagger.model.inputs(test)
    n_words = sum(map(len, inputs))
    mean = sum(part.count * (part.confidence or 0) for part in found.bins) / n_words
    alone = n_words / least_of(REPEATS, lambda: tagger.tag_sents(inputs))
    sure = n_words / least_of(REPEATS, lambda: tagger.tag_sents(inputs, confidences=True))
    print(
        f"| {setting} | {name} | {100 * result.accuracy:.2f} | {100 * mean:.2f} |"
        f" {found.ece:.4f} | {alone:,.0f} | {sure:,.0f} |",
        flush=True,
    )
    return found


def draw(drawn: dict[str, Any], path: str) -> None:
    """A reliability diagram for each treebank: a bar for each bin that has words."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, places = pyplot.subplots(
        1,
        len(drawn),
        figsize=(3.1 * len(drawn), 3.9),
        dpi=120,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for axes, (name, found) in zip(places[0], drawn.items(), strict=True):
        for part in found.bins:
            if part.count:
                axes.bar(
                    part.low,
                    part.accuracy,
                    part.high - part.low,
                    align="edge",
                    color="#4477aa",
                    edgecolor="white",
                    linewidth=0.8,
                )
        axes.plot(
            [part.confidence for part in found.bins if part.count],
            [part.confidence for part in found.bins if part.count],
            "D",
            color="#ee6677",
            markersize=4,
            label="mean confidence",
        )
        axes.plot([0, 1], [0, 1], color="#555555", linewidth=0.8, linestyle="--")
        axes.set(
            xlim=(0, 1), ylim=(0, 1), xlabel="confidence", title=f"{name}\nerror {found.ece:.4f}"
        )
        axes.set_aspect("equal")
        axes.spines[["top", "right"]].set_visible(False)
    places[0][0].set_ylabel("share of words right")
    places[0][0].legend(loc="upper left", frameon=False, fontsize=8)
    figure.savefig(path, bbox_inches="tight")


if __name__ == "__main__":
    main()
