"""The search for options that suit a person's data, on a dev set or by cross-validation.

The first trial has the options as they are, then each value is tried by itself, and then Optuna's
sampler combines them (the tree-structured Parzen estimator of J. Bergstra et al., "Algorithms for
hyper-parameter optimization", NIPS 2011). Of the trials within one standard error of the best, the
error being that of the differences part by part, the one that changes the fewest options is chosen
(L. Breiman et al., "Classification and regression trees", 1984, section 3.4.3).
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from perceptron_nlp import check_place, cross_validate
from perceptron_nlp import train as train_tagger
from perceptron_nlp._checks import check_callback, check_int
from perceptron_nlp._display import percent, points
from perceptron_nlp._version import __version__
from perceptron_nlp.analysis.crossvalidation import LEMMA, GoldText, deviation
from perceptron_nlp.crossfit import unheard
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, ModelError, missing_extra, quote
from perceptron_nlp.features.templates import check_templates
from perceptron_nlp.pages.renderers import Reported
from perceptron_nlp.pages.reports import Column, Figure, Report, Table
from perceptron_nlp.tagger.model.model import TEXT
from perceptron_nlp.tagger.sources import Labeled
from perceptron_nlp.tagger.train.options import LearningOptions, make_options

# In the order in which they matter on treebanks, without what is used if nothing is said.
SPACE: Mapping[str, tuple[Any, ...]] = MappingProxyType(
    {
        "templates": ("fast", "default"),
        "right_to_left": (True, False),
        "beam": (4,),
        "update": ("perceptron",),
        "margin": (0.5, 2.0, 4.0),
        "rate": (0.05, 0.2),
        "min_count": (2,),
    }
)
TRIALS = 20
# The dev set is cut into so many parts, whose scores tell how much of a difference is noise.
_DEV_PARTS = 10
_SEEDS = 2**32  # Those of Optuna.
_PROPOSALS = 5  # For each trial, at most.
Settings = Mapping[str, Any]
Values = Mapping[str, Sequence[Any]]
"""Values to try by names of options; a state has their places, 0 for an option that is not set."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A training with some options, scored on text that was held out.

    Attributes
    ----------
    number : from 1, in the order of the search
    settings : the options that it tries, by name; none for what they are if nothing is said
    score : accuracy, or F1 in a column of spans, on all held-out words; a fraction of 1
    scores : the like of each part of the held-out text
    """

    number: int
    settings: Settings
    score: float
    scores: tuple[float, ...]

    def error(self, other: Trial | None = None) -> float:
        """Return the standard error of the score, or of how much more another trial scores."""
        others = [0.0] * len(self.scores) if other is None else other.scores
        differences = [b - a for a, b in zip(self.scores, others, strict=True)]
        return float(deviation(differences) / len(differences) ** 0.5)


@dataclass(frozen=True, slots=True)
class TuningResult(Reported):
    """The result of ``perceptron_nlp.tune``.

    Attributes
    ----------
    column : the column that is learned
    measure : ``accuracy``, or ``f1`` in a column of spans
    trials : all trials, in the order of the search
    fixed : the options that all of them have
    """

    column: str
    measure: str
    trials: tuple[Trial, ...]
    fixed: Settings

    @property
    def best(self) -> Trial:
        """The trial with the highest score, the first of them."""
        return max(self.trials, key=lambda trial: (trial.score, -trial.number))

    @property
    def chosen(self) -> Trial:
        """Of those within noise of the best, the one with the fewest settings, then the best."""
        best = self.best
        near = [one for one in self.trials if best.score - one.score <= one.error(best)]
        return min(near, key=lambda one: (len(one.settings), -one.score, one.number))

    @property
    def options(self) -> dict[str, Any]:
        """What to give to ``perceptron_nlp.train``."""
        return {**self.fixed, **self.chosen.settings}

    def report(self) -> Report:
        """Return the trials, the best first, and the options that are chosen."""
        best, chosen = self.best, self.chosen
        what = "accuracy" if self.measure == "accuracy" else "F1"
        columns = [Column("chosen", label=""), Column("trial", "count")]
        columns += [Column("score", "percent", what), Column("behind", "percent")]
        columns += [Column("error", "percent", "±"), Column("settings")]
        error = 1.96 * chosen.error()
        rows = []
        for one in sorted(self.trials, key=lambda one: (-one.score, one.number)):
            behind = best.score - one.score, one.error(best)
            mark = "*" if one is chosen else ""
            rows.append((mark, one.number, one.score, *behind, settings_text(one.settings)))
        return Report(
            f"{self.column}: {percent(chosen.score)} {what} with {settings_text(chosen.settings)}",
            [
                Figure("expected", chosen.score, "percent", note=f"± {points(error)}"),
                Figure("measure", self.measure, "data"),
                Figure("options", _plain(self.options), "data"),
            ],
            [Table("trials", "", columns, rows)],
        )


def tune(
    train: Labeled,
    *,
    dev: Labeled | None = None,
    folds: int | None = None,
    column: str | None = None,
    format: str = "auto",
    fields: Sequence[str] | None = None,
    space: Mapping[str, Sequence[Any]] | None = None,
    trials: int = TRIALS,
    state: str | os.PathLike[str] | None = None,
    callback: Callable[[Trial, int], object] | None = None,
    **options: Any,
) -> TuningResult:
    """Search for the options that suit the data.

    Parameters
    ----------
    train : a path, several paths, or labeled sentences (see ``perceptron_nlp.train``)
    dev : the like, to score by
    folds : without `dev`, into how many parts `train` is cut; see ``perceptron_nlp.cross_validate``
    column : the name of the column to learn; None as for ``perceptron_nlp.train``
    format, fields : as for ``perceptron_nlp.train``
    space : values to try by names of options; None for the usual ones of options not given
    trials : 1 to 100,000; at most so many are made
    state : a file (SQLite, by Optuna) that keeps what was measured: the same call goes on from it,
        and comes to the same result as without a stop
    callback : called with each Trial when it is measured, and how many are made at most
    **options : options of ``perceptron_nlp.train`` that decide what is learned, which are fixed

    Returns
    -------
    TuningResult; ``perceptron_nlp.train(train, dev=dev, **result.options)`` trains the chosen

    Raises
    ------
    FormatError, FileError : as for ``perceptron_nlp.train``
    ArgumentError, ArgumentTypeError : an option cannot be used or tried, there are fewer
        sentences than folds, or the state is of other data or options
    ModelError : the file of the state holds none
    MissingExtraError : Optuna is not installed (extra ``tune``)
    """
    library = _optuna()
    seed = make_options(options).seed
    values = _checked_space(space, options)
    check_int("trials", trials, 1, 100_000)
    check_callback(callback)
    if not isinstance(column, str | None):
        raise ArgumentTypeError(f"column: one name is needed, a str, not {type(column).__name__}")
    if dev is not None and folds is not None:
        raise ArgumentError("folds: there is a dev set to score by, too; leave one of them out")
    text = GoldText.read(train, None, column, None, format, fields, options)
    (learned, *others) = (*text.columns, *([TEXT] if text.cuts else []))
    if others or learned in (LEMMA, TEXT):
        raise ArgumentError(
            f"column: {column} has stages with options of their own, which are not searched; tune"
            " one column of tags, such as upos"
        )
    held = None
    if dev is not None:
        held = GoldText.read(dev, None, learned, None, format, fields, options)
    how = {"column": learned, "fields": fields, **options}
    queue = [{}, *({name: k + 1} for name, own in values.items() for k in range(len(own)))]
    most = min(trials, math.prod(1 + len(own) for own in values.values()))
    kind = library.distributions.CategoricalDistribution
    new: dict[str, Any] = {"distributions": {k: kind(range(1 + len(v))) for k, v in values.items()}}
    path = None if state is None else os.fspath(state)
    with _study(path, _digest((how, folds, values), text, held)) as study:
        # Much of what the sampler proposes was tried already.
        for _ in range(len(queue) + _PROPOSALS * trials):
            done = study.get_trials(deepcopy=False)
            n_found = len(_trials(done, values, path))
            if n_found >= most:
                break
            if len(done) < len(queue):
                params = dict.fromkeys(values, 0) | queue[len(done)]
            else:
                sampler = library.samplers.TPESampler(seed=(seed + len(done)) % _SEEDS)
                scratch = library.create_study(direction="maximize", sampler=sampler)
                scratch.add_trials(done)
                params = scratch.ask(new["distributions"]).params
            settings, new["params"] = _settings(values, params), params
            same = next((one for one in done if one.params == params), None)
            if same is not None:
                study.add_trial(same)
            elif _is_valid({**options, **settings}):
                scores, measure = _measured(text, held, folds, {**how, **settings})
                attributes = {"scores": scores[1:], "measure": measure}
                study.add_trial(library.create_trial(**new, value=scores[0], user_attrs=attributes))
                if callback is not None:
                    callback(Trial(n_found + 1, settings, scores[0], tuple(scores[1:])), most)
            else:
                study.add_trial(library.create_trial(**new, state=library.trial.TrialState.PRUNED))
        done = study.get_trials(deepcopy=False)
        found = _trials(done, values, path)
    return TuningResult(learned, done[0].user_attrs["measure"], found[:trials], options)


def _measured(
    text: GoldText, held: GoldText | None, folds: int | None, how: Settings
) -> tuple[list[float], str]:
    """Return the score of a training on everything held out, then on its parts; and the measure."""
    if held is None:
        found = cross_validate(text.sentences, folds=folds, **how)
        parts, whole = list(found.folds), found.pooled
    else:
        labeled = [one for one, size in zip(held.sentences, held.sizes, strict=True) if size]
        n = min(_DEV_PARTS, len(labeled))
        cuts = [labeled[k * len(labeled) // n : (k + 1) * len(labeled) // n] for k in range(n)]
        with unheard():
            tagger = train_tagger(text.sentences, dev=held.sentences, **how)
            whole, *parts = [tagger.evaluate(some) for some in (held.sentences, *cuts)]
    if whole.spans is None:
        return [one.accuracy for one in (whole, *parts)], "accuracy"
    return [one.spans.f1 if one.spans else one.accuracy for one in (whole, *parts)], "f1"


def _trials(done: Sequence[Any], values: Values, path: str | None) -> tuple[Trial, ...]:
    """Return the different trials that were measured, in their order."""
    try:
        found: dict[str, Any] = {}
        for one in done:
            if one.value is not None:
                found.setdefault(str(one.params), one)
        return tuple(
            Trial(number, _settings(values, one.params), one.value, tuple(one.user_attrs["scores"]))
            for number, one in enumerate(found.values(), 1)
        )
    except (KeyError, TypeError) as error:
        raise ModelError(f"{path}: the state's content is not valid: {error}") from None


@contextmanager
def _study(path: str | None, identity: str) -> Iterator[Any]:
    """Give Optuna's study, of a file if there is one, which is closed at the end.

    Optuna says nothing meanwhile, and an interruption says how to go on.
    """
    library = _optuna()
    verbosity = library.logging.get_verbosity()
    library.logging.set_verbosity(library.logging.ERROR)
    with ExitStack() as files, ExitStack() as ending:
        files.callback(library.logging.set_verbosity, verbosity)
        if path is None:
            return (yield library.create_study(direction="maximize"))
        check_place(path)

        def connect() -> sqlite3.Connection:
            return files.enter_context(closing(sqlite3.connect(path, check_same_thread=False)))

        try:
            if os.path.exists(path) and os.path.getsize(path):
                # A database of another program gets no tables from this one.
                connect().execute("select 1 from studies")
            storage = library.storages.RDBStorage("sqlite://", engine_kwargs={"creator": connect})
            ending.callback(lambda: (storage.remove_session(), storage.engine.dispose()))
            study = library.create_study(
                study_name="tune", storage=storage, direction="maximize", load_if_exists=True
            )
            if not study.user_attrs:
                study.set_user_attr("identity", identity)
        except Exception as error:
            # Optuna and SQLAlchemy fail in many ways on a file that is no state.
            raise ModelError(
                f"{path}: not the state of a tuning that this version can go on from; name another"
                f" file ({str(error).partition(chr(10))[0]})"
            ) from None
        if study.user_attrs.get("identity") != identity:
            raise ArgumentError(
                f"state: {path} is of a search with other data or options; go on with what it was"
                " begun with, or name another file"
            )
        try:
            yield study
        except KeyboardInterrupt as error:
            kept = f"what was measured is kept in {path}; the same command goes on"
            raise type(error)(kept) from None


def _optuna() -> Any:
    try:
        import optuna as library
    except ImportError:
        raise missing_extra("Optuna", "tune") from None
    return library


def _settings(values: Values, params: Mapping[str, int]) -> dict[str, Any]:
    return {name: values[name][place - 1] for name, place in params.items() if place}


def _checked_space(space: Mapping[str, Sequence[Any]] | None, fixed: Settings) -> Values:
    if space is None:
        space = {name: values for name, values in SPACE.items() if name not in fixed}
    elif not isinstance(space, Mapping):
        raise ArgumentTypeError(f"space: a mapping is needed, not {type(space).__name__}")
    checked: dict[str, Sequence[Any]] = {}
    for name, values in space.items():
        if name not in LearningOptions.__dataclass_fields__ or name == "seed":
            raise ArgumentError(f"space: {quote(name)} is not an option that can be tried")
        if name in fixed:
            raise ArgumentError(f"space: {name} is fixed, too; leave it out of one of them")
        if isinstance(values, str) or not isinstance(values, Sequence) or not values:
            raise ArgumentTypeError(f"space: {name} needs a list of values to try")
        if name == "templates":
            values = [one if isinstance(one, str) else check_templates(one) for one in values]
        for value in values:
            make_options({name: value})
        checked[name] = values
    return checked


def _is_valid(options: Settings) -> bool:
    """Tell if options fit each other."""
    try:
        make_options(options)
    except ArgumentError:
        return False
    # Whatever its step, a perceptron makes the same mistakes.
    return options.get("update") != "perceptron" or not {"rate", "margin"} & options.keys()


def _plain(settings: Settings) -> dict[str, Any]:
    """Return settings as JSON can say them; templates are written out."""
    return {
        name: [*map(str, value)] if name == "templates" and not isinstance(value, str) else value
        for name, value in settings.items()
    }


def settings_text(settings: Settings) -> str:
    """Return settings as people read them: ``beam=4 templates=fast``."""
    texts = [
        f"{k}={v if isinstance(v, str) else json.dumps(v)}" for k, v in _plain(settings).items()
    ]
    return " ".join(texts) or "the usual options"


def _digest(given: object, text: GoldText, held: GoldText | None) -> str:
    content = hashlib.sha256(repr((__version__, given)).encode("utf-8", "replace"))
    for one in (text, held):
        for sentence in () if one is None else one.sentences:
            line = repr((sentence.words, sorted(sentence.columns.items())))
            content.update(line.encode("utf-8", "replace"))
        content.update(b"\n")
    return content.hexdigest()
