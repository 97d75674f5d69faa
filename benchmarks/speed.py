"""How fast taggers learn and tag: this library and its peers in one run. Prints Markdown.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/speed.py [--png FILE] [--rounds N] [--quick]

All learn from EWT train and tag EWT test, each in a process of its own, in turns; figures are CPU
seconds, the least of several runs. Peers that are not installed are named. --png draws the first
table; --quick uses a few hundred sentences, to see that all works: its figures mean nothing.
"""

from __future__ import annotations

import argparse
import platform

import commands
import manylabels
from corpora import treebank
from turns import FILE, FLOOR, NEW, SEEN, Contestant, contest

import perceptron_nlp as pn

QUICK_SENTENCES = 400
OURS_COLOUR, PEERS_COLOUR = "#0072B2", "#E69F00"


def table(shown: list[Contestant], tokens: int) -> str:
    """The taggers, ours first, with what they do beside the best peer."""
    peers = [each for each in shown if not each.ours]
    quickest = min((each.seconds[SEEN] for each in peers), default=float("nan"))
    # Those that learnt from a part of the text are not compared.
    whole = [each.train for each in peers if "sentences" not in each.setting]
    cheapest = min(whole, default=float("nan"))
    lines = [
        "| tagger | right % | learning, CPU s | fastest peer ÷ it | peak MB | model MB |"
        " lists, M tokens / CPU s | × the fastest peer | CoNLL-U text, M tokens / CPU s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for each in sorted(shown, key=lambda each: (not each.ours, each.seconds[SEEN])):
        speed, file = tokens / each.seconds[SEEN], each.seconds.get(FILE)
        name = f"**{each.name}**" if each.ours else f"{each.name} ({each.setting})"
        lines.append(
            f"| {name} | {100 * each.accuracy:.2f} | {each.train:.2f} | {cheapest / each.train:.2f}"
            f" | {each.megabytes:.0f} | {each.size / 1e6:.2f} | {speed / 1e6:.3f} |"
            f" {quickest / each.seconds[SEEN]:.2f} |"
            f" {f'{tokens / file / 1e6:.3f}' if file else '–'} |"
        )
    return "\n".join(lines)


def lists_table(shown: list[Contestant], tokens: int) -> str:
    """Ours through lists: seen, new, and what the lists alone cost."""
    peers = {each.name: each.seconds[SEEN] for each in shown if not each.ours}
    fastest = min(peers.values(), default=float("nan"))
    nltk = peers.get("NLTK PerceptronTagger", float("nan"))
    lines = ["| | M tokens / CPU s | × the fastest peer | × NLTK |", "|---|---|---|---|"]
    ours = [each for each in shown if each.ours]
    rows = [(f"{each.name}, {job}", each.seconds[job]) for each in ours for job in (SEEN, NEW)]
    rows.append(
        ("floor: look at every word, build the lists", min(each.seconds[FLOOR] for each in ours))
    )
    lines += [
        f"| {name} | {tokens / seconds / 1e6:.2f} | {fastest / seconds:.1f} |"
        f" {nltk / seconds:.0f} |"
        for name, seconds in rows
    ]
    return "\n".join(lines)


def draw(shown: list[Contestant], tokens: int, path: str) -> None:
    """Bars on logarithmic scales: speed of tagging, cost of learning."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.patches import Patch

    order = sorted(shown, key=lambda each: -each.seconds[SEEN])
    names = [each.name if each.ours else f"{each.name}\n({each.setting})" for each in order]
    colours = [OURS_COLOUR if each.ours else PEERS_COLOUR for each in order]
    panels = (
        (
            "Tagging EWT test, lists in and out:\nmillion tokens per CPU second (more is better)",
            [tokens / each.seconds[SEEN] / 1e6 for each in order],
            "{:.3g}",
        ),
        ("Learning EWT:\nCPU seconds (less is better)", [each.train for each in order], "{:.3g}"),
    )
    figure, axes = pyplot.subplots(
        1, 2, figsize=(12, 0.5 * len(order) + 1.8), sharey=True, layout="constrained"
    )
    for axis, (title, values, shape) in zip(axes, panels, strict=True):
        bars = axis.barh(range(len(order)), values, color=colours)
        axis.bar_label(bars, [shape.format(value) for value in values], padding=3)
        axis.set_xscale("log")
        axis.set_title(title, fontsize=11)
        axis.margins(x=0.2)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_yticks(range(len(order)), names)
    figure.legend(
        handles=[
            Patch(color=OURS_COLOUR, label="perceptron_nlp"),
            Patch(color=PEERS_COLOUR, label="others"),
        ],
        loc="outside lower center",
        ncols=2,
        frameon=False,
    )
    figure.savefig(path, dpi=120)


def main() -> None:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--png", help="where to draw the first table")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="little text; only to see it work")
    chosen = parser.parse_args()
    rounds = 1 if chosen.quick else chosen.rounds
    tokens = sum(len(sentence.words) for sentence in pn.read_conllu(treebank("EWT", "test")))
    print(
        f"# Speed ({tokens:,} tokens of EWT test, one core, Python {platform.python_version()},"
        f" {platform.machine()})\n",
        flush=True,
    )
    shown, missing = contest(rounds, QUICK_SENTENCES if chosen.quick else None)
    print(table(shown, tokens))
    print("\nNot measured: " + ("; ".join(missing) or "none") + ".")
    print("\n## Lists in, lists out\n\n" + lists_table(shown, tokens), flush=True)
    if chosen.png:
        draw(shown, tokens, chosen.png)
    files = [tokens / each.seconds[FILE] for each in shown if not each.ours]
    commands.report(rounds, chosen.quick, max(files, default=float("nan")))
    manylabels.report(chosen.quick)


if __name__ == "__main__":
    main()
