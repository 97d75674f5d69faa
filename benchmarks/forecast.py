"""How far forecasts of learning curves are off: on nine treebanks, at the next doubling.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/forecast.py

Of each treebank (those without a train part learn from dev), accuracy on test is measured with 1 %,
2 %, 5 %, … 50 % of the sentences, the accuracy with all of them forecast from these, and measured.
Prints a Markdown table and the mean absolute error, in points.
"""

from __future__ import annotations

from corpora import corpora

import perceptron_nlp as pn

COLUMN = "upos"


def main() -> None:
    """Print the table."""
    print("| treebank | tokens | at half | forecast | measured | off |\n|---|--:|--:|--:|--:|--:|")
    off = []
    for folder in sorted((corpora() / "treebanks").glob("UD_*")):
        parts = {path.stem.rpartition("-")[2]: path for path in folder.glob("*.conllu")}
        curve = pn.learning_curve(
            parts.get("train", parts["dev"]), test=parts["test"], column=COLUMN
        )
        last, half = curve.past_forecasts[-1], curve.points[-2]
        difference = 100 * (last.accuracy - (last.measured or 0.0))
        off.append(abs(difference))
        shares = (half.accuracy, last.accuracy, last.measured or 0.0)
        cells = " | ".join(f"{100 * share:.2f}" for share in shares)
        name = folder.name.removeprefix("UD_")
        print(f"| {name} | {last.tokens:,.0f} | {cells} | {difference:+.2f} |", flush=True)
    print(f"\nmean absolute error: {sum(off) / len(off):.2f} points")


if __name__ == "__main__":
    main()
