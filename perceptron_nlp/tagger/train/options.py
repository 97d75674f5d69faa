"""What can be chosen about a training run: the one place that knows defaults and ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perceptron_nlp._checks import check_choice, check_int
from perceptron_nlp._core.model.frozenmodel import WIDEST_BEAM
from perceptron_nlp._core.table.weights import MAX_TABLE_BITS
from perceptron_nlp._core.train.train import RULES
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError
from perceptron_nlp.features.templates import Template
from perceptron_nlp.tagger.tag.context import WIDEST_WINDOW

PRESETS: Mapping[str, Mapping[str, Any]] = {
    # One word at a time, without pairs of words: the fastest to tag with.
    "fast": {},
    # One word at a time, with pairs where there is text enough to learn them from.
    "default": {},
    # Four runs summed, and a beam over whole sentences where labels are learnt whole: some ten
    # times the training.
    "accurate": {"runs": 4},
}


AUTO = "auto"
# The step of each rule, and the lead that the gold label must have. AdaGrad's pair is the one of
# the literature on greedy taggers; a perceptron's scores have no unit, so its step is 1.
RATES = {"perceptron": 1.0, "margin": 1.0, "passive-aggressive": 1.0, "adagrad": 0.1}
# Passes after which dev sets gain no more: a rule that learns from narrow successes needs fewer.
EPOCHS = {"perceptron": 10, "margin": 10, "passive-aggressive": 10, "adagrad": 8}
MARGINS = {"perceptron": 0.0, "margin": 1.0, "passive-aggressive": 1.0, "adagrad": 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingOptions:
    """How to train. Every field has a default that suits most treebanks.

    Attributes
    ----------
    preset : ``"fast"``, ``"default"`` or ``"accurate"``; what options that are not given are
        (presets.py); make_options puts it to work
    epochs : 1 to 10,000; passes over the training sentences; None for what suits the rule and
        the number of runs
    seed : 0 to 2**64 - 1; decides the order of the sentences in each epoch
    update : ``"perceptron"`` learns from mistakes alone; ``"margin"``, ``"passive-aggressive"``
        (PA-I) and ``"adagrad"`` also from narrow successes
    templates : the name of a list that comes with the library, templates, or "auto": what suits
        the column and the training text (auto.py)
    table_bits : None for exact features, or k from 1 to 30 for a fixed table of 2**k rows
    min_count : features of words seen less often than this are left out
    dictionary : None, or (count, share): words seen at least `count` times with one label in at
        least `share` of them always get that label
    patience : None, or how many epochs without a better dev score end the training
    right_to_left : read sentences from their end; None for what suits the column
    beam : 1 to 64; states kept in the search for the best sequence of labels, in training and in
        tagging. 1 labels greedily, one word after the other; None for 1, or 4 in a column of
        spans, which a beam keeps legal
    margin : None, or 0 to 1,000,000: the lead over other labels below which "margin",
        "passive-aggressive" and "adagrad" learn greedily; None for what suits the column, mostly 1.
        Mistakes are learnt from with any; "passive-aggressive" needs more than 0
    rate : None, or 0.000001 to 1,000: the step of the learning rule; of "passive-aggressive" the
        longest one; None for 0.1 with "adagrad" and 1 with the others. It changes nothing that
        "perceptron" learns
    cost : None, or 0 to 1,000,000: with a beam, what each wrong label gets on top of its score in
        training; None for 0 with "perceptron" and 1 with "margin" and "adagrad"
    two_passes : features are learnt twice, the second time with the labels of the first in view
        (stacking.py); None for yes with the preset "accurate"
    window : None, or 0 to 1,000: in how many sentences on either side a name's other places are
        looked for, where templates look at those (context.py); None for 40
    runs : None, or 1 to 1,000; so many runs, with the seeds seed, seed + 1, …, are summed into one
        model, whose score of a label is the sum of their scores; None for what suits the column
        and the training text, mostly 1

    Raises
    ------
    ArgumentError, ArgumentTypeError : a value out of its range; the message names the field
    """

    preset: str = "default"
    epochs: int | None = None
    seed: int = 1
    update: str = "adagrad"
    templates: str | Sequence[Template | str] = AUTO
    table_bits: int | None = None
    min_count: int = 1
    dictionary: tuple[int, float] | None = None
    patience: int | None = 5
    right_to_left: bool | None = None
    beam: int | None = None
    margin: float | None = None
    rate: float | None = None
    cost: float | None = None
    two_passes: bool | None = None
    window: int | None = None
    runs: int | None = None

    def __post_init__(self) -> None:
        check_choice("preset", self.preset, PRESETS)
        if self.epochs is not None:
            check_int("epochs", self.epochs, 1, 10_000)
        check_int("seed", self.seed, 0, 2**64 - 1)
        if self.runs is not None:
            check_int("runs", self.runs, 1, 1000)
        check_choice("update", self.update, RULES)
        if self.window is not None:
            check_int("window", self.window, 0, WIDEST_WINDOW)
        if self.table_bits is not None:
            check_int("table_bits", self.table_bits, 1, MAX_TABLE_BITS)
        check_int("min_count", self.min_count, 1, 2**31)
        if self.patience is not None:
            check_int("patience", self.patience, 1, 10_000)
        if not isinstance(self.right_to_left, bool | None):
            raise ArgumentTypeError(
                f"right_to_left: a bool is needed, not {type(self.right_to_left).__name__}"
            )
        self._check_dictionary()
        self._check_search()

    def _check_dictionary(self) -> None:
        if self.dictionary is None:
            return
        if not isinstance(self.dictionary, tuple) or len(self.dictionary) != 2:
            raise ArgumentTypeError(
                "dictionary: a pair (count, share) is needed, such as (20, 0.97)"
            )
        count, share = self.dictionary
        check_int("dictionary's count", count, 1, 2**31)
        if not isinstance(share, int | float) or not 0.5 < share <= 1:
            raise ArgumentError(f"dictionary's share: {share!r} is not above 0.5 and at most 1")

    def _check_search(self) -> None:
        if self.beam is not None:
            check_int("beam", self.beam, 1, WIDEST_BEAM)
        if self.width > 1 and self.update == "passive-aggressive":
            raise ArgumentError(
                "update: passive-aggressive learns from single labels; use beam=1, or adagrad"
            )
        if self.update == "passive-aggressive" and self.margin == 0:
            raise ArgumentError(
                "margin: with 0, passive-aggressive would never learn: where all scores are equal,"
                " as in the beginning, it has no loss; use more than 0, or perceptron"
            )
        if not isinstance(self.two_passes, bool | None):
            raise ArgumentTypeError(
                f"two_passes: a bool is needed, not {type(self.two_passes).__name__}"
            )
        _check_amount("margin", self.margin)
        _check_amount("rate", self.rate, 1e-6, 1000)
        _check_amount("cost", self.cost)

    @property
    def passes(self) -> int:
        """Passes over the training sentences, at most."""
        return self.epochs or EPOCHS[self.update]

    @property
    def n_runs(self) -> int:
        """Runs that are summed; 1 where nothing is said."""
        return self.runs or 1

    @property
    def width(self) -> int:
        """States kept in the search; 1 where nothing is said."""
        return self.beam or 1

    @property
    def backwards(self) -> bool:
        """Are sentences read from their end? No where nothing is said."""
        return bool(self.right_to_left)

    @property
    def step(self) -> float:
        """The step of the learning rule."""
        return RATES[self.update] if self.rate is None else float(self.rate)

    @property
    def least_lead(self) -> float:
        """The lead below which the rule learns."""
        return MARGINS[self.update] if self.margin is None else float(self.margin)

    @property
    def wrong_label_cost(self) -> float:
        """What a wrong label gets on top of its score while training with a beam."""
        return MARGINS[self.update] if self.cost is None else float(self.cost)

    def record(self) -> dict[str, Any]:
        """The options as they go into the model's training record."""
        return {
            "preset": self.preset,
            "epochs": self.passes,
            "seed": self.seed,
            "update": self.update,
            "table_bits": self.table_bits,
            "min_count": self.min_count,
            "dictionary": None if self.dictionary is None else list(self.dictionary),
            "patience": self.patience,
            "right_to_left": self.right_to_left,
            "beam": self.beam,
            "margin": self.margin,
            "rate": self.rate,
            "cost": self.cost,
            "runs": self.n_runs,
            "two_passes": self.two_passes,
            "window": self.window,
        }


def _check_amount(name: str, value: object, low: float = 0, high: float = 1e6) -> None:
    if value is None:
        return
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ArgumentTypeError(f"{name}: a number is needed, not {type(value).__name__}")
    if not low <= value <= high:
        raise ArgumentError(f"{name}: {value} is not between {low:,} and {high:,.0f}")


def make_options(given: Mapping[str, Any]) -> TrainingOptions:
    """TrainingOptions out of keyword arguments, on top of those of their preset.

    Raises
    ------
    ArgumentTypeError : there is no such option; the message names it
    ArgumentError, ArgumentTypeError : a value out of its range
    """
    fields = TrainingOptions.__dataclass_fields__
    unknown = given.keys() - fields.keys()
    if unknown:
        raise ArgumentTypeError(
            f"{min(unknown)}: there is no such option; there are {', '.join(fields)}"
        )
    name = given.get("preset", "default")
    check_choice("preset", name, PRESETS)
    return TrainingOptions(**{**PRESETS[name], **given})
