"""What the study found, in words and tables, a section for each picture."""

from __future__ import annotations

from perceptron_nlp.perceptrons.study.costs import KEEPERS, VARIABLES, Curve, Keeper
from perceptron_nlp.perceptrons.study.experiments import Study
from perceptron_nlp.perceptrons.study.page import heading, paragraph, picture, table

Pictures = dict[str, bytes]


def percent(share: float) -> str:
    """A share in percent with two decimals."""
    return f"{100 * share:.2f} %"


def about(study: Study) -> list[str]:
    """What was studied."""
    corpus = study.corpus
    sizes = [
        [name, f"{part.sentences:,}", f"{len(part):,}", f"{len(set(part.y.tolist())):,}"]
        for name, part in (("train", corpus.train), ("dev", corpus.dev))
    ]
    notes = "; ".join(corpus.notes)
    return [
        heading("The perceptron family on " + corpus.name, 1),
        paragraph(
            f"Learnt is the column {corpus.column}, each word by itself, from "
            f"{corpus.train.X.shape[1]:,} features: the word, its neighbours, their last "
            "letters, its first letter and its shape. No feature is a tag, so these are "
            "accuracies of bare classifiers, below those of a tagger."
        ),
        table(["part", "sentences", "words", "labels"], sizes),
        paragraph(f"How the parts were made: {notes}.", soft=True),
    ]


def curves(study: Study, pictures: Pictures) -> list[str]:
    """Last, voted and averaged weights."""
    found = study.curves
    last, voted, averaged = (found.dev[name][-1] for name in ("last", "voted", "averaged"))
    rows = [
        [name, *(percent(outputs[output]) for output in ("last", "voted", "averaged"))]
        for name, outputs in study.learners.items()
    ]
    return [
        heading("Last, voted and averaged weights"),
        paragraph(
            f"One training of {found.epochs} epochs (L2, order O2), three ways to use it. On dev "
            f"the last weights end at {percent(last)}, the vote of all vectors at "
            f"{percent(voted)}, their average at {percent(averaged)}."
        ),
        picture(
            pictures["learning-curves"],
            "Accuracy on dev over the epochs for last, voted and averaged weights, and mistakes "
            "in training over the epochs",
        ),
        paragraph("All learners after 5 epochs; L4 wants a margin of 2:"),
        table(["learner", "last", "voted", "averaged"], rows),
    ]


def comparison(study: Study) -> list[str]:
    """Standard against averaged."""
    found = study.comparison
    rows = [
        [name, f"{1000 * each.seconds:.1f} ms", percent(each.accuracy)]
        for name, each in (("standard", found.standard), ("averaged", found.averaged))
    ]
    return [
        heading("Standard against averaged"),
        paragraph(
            f"Training for {found.epochs} epochs, the fastest of {found.repeats} in turn, in "
            f"processor time: the average takes {100 * found.more_time:+.1f} % time and changes "
            f"accuracy by {100 * (found.averaged.accuracy - found.standard.accuracy):+.2f} "
            "points. In Johansson's lecture it was 3.4 s to 3.6 s (+6 %), .809 to .829."
        ),
        table(["weights", "time", "right on dev"], rows),
        paragraph(
            "On a small corpus most of what the average adds is its one pass over all weights at "
            "the end, which is the same after any number of epochs.",
            soft=True,
        ),
    ]


def orders(study: Study, pictures: Pictures) -> list[str]:
    """Spread over random orders."""
    found = study.orders
    rows = [
        [output, percent(found.mean(output)), f"{100 * found.deviation(output):.2f}",
         percent(min(right)), percent(max(right))]
        for output, right in found.dev.items()
    ]  # fmt: skip
    return [
        heading("The order of the examples"),
        paragraph(
            f"{found.orders} trainings that differ in nothing but the order. The last weights "
            "depend on which examples happened to come last: their accuracy deviates by "
            f"{100 * found.deviation('last'):.2f} points, that of the average by "
            f"{100 * found.deviation('averaged'):.2f}."
        ),
        picture(
            pictures["order-spread"],
            "Accuracy on dev of each order, a point each, for last, voted and averaged weights",
        ),
        table(["weights", "mean", "standard deviation, points", "lowest", "highest"], rows),
    ]


def margins(study: Study, pictures: Pictures) -> list[str]:
    """Margins."""
    found = study.margins
    rows = [
        [f"{b:g}", *(percent(found.dev[output][place]) for output in ("last", "averaged"))]
        for place, b in enumerate(found.wanted)
    ]
    return [
        heading("Margins"),
        paragraph(
            "Left: by how much the right label leads on each word of dev (below 0 it is wrong), "
            "in units of the weights' length. Right: training that corrects narrow answers too, "
            f"{found.epochs} epochs each."
        ),
        picture(
            pictures["margins"],
            "Distribution of the lead of the right label on dev; accuracy on dev over the margin "
            "wanted in training",
        ),
        table(["margin b", "last", "averaged"], rows),
    ]


def agreement(study: Study) -> list[str]:
    """The fast classifier beside the textbook."""
    found = study.agreements
    rows = [
        [f"{each.learner}, {each.order}", f"{each.last:.1g}", f"{each.averaged:.1g}",
         f"{each.voted} of {each.words}"]
        for each in found
    ]  # fmt: skip
    return [
        heading("Fast and textbook"),
        paragraph(
            f"The figures above are of the fast classifier. On the first {found[0].words} words "
            "it was set beside the textbook's learners. Weights of these data are whole "
            "numbers, so the last ones should be equal without any difference, averages equal "
            "to rounding, and votes in every prediction. Found: last weights differ by at most "
            f"{max(each.last for each in found):.1g}, averages by at most "
            f"{max(each.averaged for each in found):.1g}, and "
            f"{sum(each.voted for each in found)} votes."
        ),
        table(
            ["learner, order", "last: greatest difference", "averaged: the same",
             "votes that differ"],
            rows,
        ),
    ]  # fmt: skip


def growth(study: Study, pictures: Pictures) -> list[str]:
    """Growing costs."""
    return [
        heading("What it costs to keep weights"),
        paragraph(
            "Huang's table, measured. Each row runs on streams of updates in which d features, "
            "D examples (here T·D, over all epochs) or U updates double three times. Numbers "
            "are fitted powers, the stated ones in brackets. Scoring is left out: it is the same "
            "for all rows. Where the table has d or U in a formula, the power is that of what d "
            "or U adds, beyond the cost of the smallest stream."
        ),
        picture(
            pictures["cost-growth"],
            "Array elements worked on and bytes kept over d, D and U for each row of the table",
        ),
        *(
            part
            for quantity, title in (
                ("elements", "Time, in array elements worked on"),
                ("seconds", "Time, in processor seconds"),
                ("bytes", "Space, in bytes at the peak"),
            )
            for part in (heading(title, 3), power_table(study.growth, quantity))
        ),
    ]


def power_table(curves: list[Curve], quantity: str) -> str:
    """Fitted powers beside the stated ones."""
    return table(["row", "stated", *VARIABLES], power_rows(curves, quantity))


def power_rows(curves: list[Curve], quantity: str) -> list[list[str]]:
    """For each way to keep weights: name, stated formula, and `fitted (stated)` in d, D, U."""
    rows = []
    for keeper in KEEPERS:
        own = [c for c in curves if c.keeper is keeper and c.quantity == quantity]
        if own:
            rows.append([f"{keeper.ids} {keeper.name}", _formula(keeper, quantity), *_powers(own)])
    return rows


def _formula(keeper: Keeper, quantity: str) -> str:
    growth = keeper.space if quantity == "bytes" else keeper.time
    return f"O({growth.formula})"


def _powers(own: list[Curve]) -> list[str]:
    # A power of -0.00 would read as a finding.
    return [f"{round(c.power, 2) + 0.0:.2f} ({c.stated})" for c in own]


def plane(study: Study, pictures: Pictures) -> list[str]:
    """Points in the plane."""
    separable, inseparable = study.clouds
    rows = [
        [name, f"{len(cloud.mistakes)}", f"{sum(cloud.mistakes):,}",
         "–" if cloud.bound is None else f"{cloud.bound:.0f}", cloud.halted_by,
         percent(cloud.accuracy(cloud.last)), percent(cloud.accuracy(cloud.average))]
        for name, cloud in (("separable", separable), ("inseparable", inseparable))
    ]  # fmt: skip
    return [
        heading("Seven steps in the plane"),
        paragraph(
            "Jenkins' example, as the textbook's L1 walks it: mistakes at the 2nd, 4th and 7th "
            "example, then five examples without one."
        ),
        picture(
            pictures["seven-steps"],
            "Four panels, one for each weight vector, with the five points, the line of the "
            "vector and the point that it gets wrong",
        ),
        heading("Separable and inseparable"),
        paragraph(
            "Points that a line separates, and the same points with every tenth label turned. "
            "On the first, mistakes are at most (R/γ)² and training halts by itself; on the "
            "second it goes round until the limit."
        ),
        picture(
            pictures["separable"],
            "Separable and inseparable points with the lines of the last and the average "
            "weights, and the mistakes in each epoch",
        ),
        table(
            ["points", "epochs", "mistakes", "(R/γ)²", "halted by", "last right",
             "average right"],
            rows,
        ),
    ]  # fmt: skip
