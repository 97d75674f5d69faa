"""The search for options that suit a person's data, on a dev set or by cross-validation.

The first trial has the options as they are, then each value is tried by itself, and then Optuna's
sampler combines them (the tree-structured Parzen estimator of J. Bergstra et al., "Algorithms for
hyper-parameter optimization", NIPS 2011). The best number of epochs costs nothing: each is scored
on the held-out sentences. In the end the cheapest of the trials that lie within one standard error
of the best one is chosen (the one-standard-error rule of L. Breiman et al., "Classification and
regression trees", 1984, section 3.4.3), the error being that of the paired difference.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from perceptron_nlp import EpochReport
from perceptron_nlp._checks import check_callback
from perceptron_nlp._version import __version__
from perceptron_nlp.analysis.folds import make_folds
from perceptron_nlp.analysis.significance import Counts, interval, resampled
from perceptron_nlp.analysis.tune.bench import Bench, Measured, Part, Storage, optuna, silenced
from perceptron_nlp.analysis.tune.trials import (
    SearchOptions,
    Trial,
    TuningReport,
    TuningResult,
    checked_space,
    columns_of,
    instead,
    matters,
    plain,
    take_search_options,
)
from perceptron_nlp.crossfit import crossfit
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.tagger.train.columns import feature_columns, holds_features
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.options import make_options
from perceptron_nlp.tagger.train.pipeline import ALL, TEXT
from perceptron_nlp.tagger.train.sources import Labelled, Source, learned_columns
from perceptron_nlp.text.scripts import LEMMA

# Seeds of Optuna are of 32 bits.
_SEEDS = 2**32
TuningCallback = Callable[[TuningReport], object]


@dataclass(eq=False)
class Search:
    """The search itself.

    ``given`` are columns that named lists of templates look at; for ``remarks`` see
    TuningResult.
    """

    bench: Bench
    space: Mapping[str, Sequence[Any]]
    options: SearchOptions
    given: Sequence[str]
    callback: TuningCallback | None
    seed: int
    remarks: tuple[str, ...]

    def __post_init__(self) -> None:
        self._trials: list[Trial] = []
        self._used: list[dict[str, Any]] = []
        minutes = self.options.minutes
        self._end = None if minutes is None else time.monotonic() + 60 * minutes

    def run(self) -> TuningResult:
        """Search, choose, and measure what was chosen."""
        stopped = self._search()
        trials = _with_noise(self._trials)
        best = trials[self._best]
        chosen = min(
            (trial for trial in trials if trial.within_noise),
            key=lambda trial: (trial.work, -trial.score, trial.number),
        )
        options = {**self.bench.fixed, **chosen.settings}
        counts = [chosen.counts]
        if not self.bench.has_dev:
            # A training on the whole text might choose another number of runs, or stop elsewhere.
            final = {"runs": self._used[chosen.number - 1]["runs"]}
            counts = self._measure({**chosen.settings, **final}, 0, chosen.epochs)[1]
            options |= {**final, "epochs": chosen.epochs}
        whole = _joined(counts)
        return TuningResult(
            column=self.bench.column,
            measure="f1" if self.bench.spans else "accuracy",
            folds=None if self.bench.has_dev else len(counts),
            trials=trials,
            best=best,
            chosen=chosen,
            options=options,
            expected=whole.score,
            interval=interval(resampled([whole])[0]),
            by_fold=tuple(part.score for part in counts),
            stopped=stopped,
            remarks=self.remarks,
        )

    @property
    def _best(self) -> int:
        """The place of the trial with the highest score, the first of them."""
        return max(range(len(self._trials)), key=lambda i: (self._trials[i].score, -i))

    def _search(self) -> str | None:
        """Try until there is nothing more to try; else return the limit that was reached."""
        self._try({})
        base = self._used[0]
        # The first value of each option is the one that is used if nothing is said.
        choices = {
            name: [None, *others]
            for name, values in self.space.items()
            if (others := self._others(name, values))
        }
        library = optuna()
        distributions = {
            name: library.distributions.CategoricalDistribution(list(range(len(values))))
            for name, values in choices.items()
        }
        study = library.create_study(direction="maximize")
        zeros = dict.fromkeys(choices, 0)
        study.add_trial(self._finished(zeros, distributions))
        # Each value by itself, then what the sampler proposes, and else whatever is left.
        alone = [
            {**zeros, name: place}
            for name, values in choices.items()
            for place in range(1, len(values))
        ]
        tried = {_key({}), _key(base)}

        def new(places: Mapping[str, int]) -> dict[str, Any] | None:
            return self._new({n: choices[n][k] for n, k in places.items() if k}, base, tried)

        while True:
            places: Mapping[str, int] | None = None
            if alone:
                places = alone.pop(0)
            elif choices:
                seed = (self.seed + len(self._trials)) % _SEEDS
                study.sampler = library.samplers.TPESampler(seed=seed, n_startup_trials=0)
                asked = study.ask(distributions)
                study.tell(asked, state=library.trial.TrialState.FAIL)
                places = asked.params
                if new(places) is None:
                    places = next(filter(new, _combinations(choices)), None)
            if places is None:
                return None
            settings = new(places)
            if settings is None:
                continue
            if len(self._trials) == self.options.trials:
                return "trials"
            if self._end is not None and time.monotonic() >= self._end:
                return "minutes"
            self._try(settings)
            tried |= {_key(plain(settings)), self._would_use(settings, base), _key(self._used[-1])}
            study.add_trial(self._finished(places, distributions))

    def _others(self, name: str, values: Sequence[Any]) -> list[Any]:
        """The values of an option that are not used anyway."""
        used = self._used[0]
        return [value for value in values if instead(used, name, value, self.given) != used]

    def _finished(self, places: Mapping[str, int], distributions: Mapping[str, Any]) -> Any:
        return optuna().create_trial(
            params=dict(places), distributions=dict(distributions), value=self._trials[-1].score
        )

    def _would_use(self, settings: Mapping[str, Any], base: Mapping[str, Any]) -> str:
        """The options of a training with these settings, if no other one depends on them."""
        used = dict(base)
        for name, value in settings.items():
            used = instead(used, name, value, self.given)
        return _key(used)

    def _new(
        self, settings: Mapping[str, Any], base: Mapping[str, Any], tried: set[str]
    ) -> dict[str, Any] | None:
        """The settings that change something, if they can be tried and have not been."""
        used = dict(base)
        for name, value in settings.items():
            used = instead(used, name, value, self.given)
        kept = {name: value for name, value in settings.items() if matters(name, used)}
        if not kept or {_key(plain(kept)), self._would_use(kept, base)} & tried:
            return None
        try:
            make_options({**self.bench.fixed, **kept})
        except ArgumentError:
            return None
        return kept

    def _try(self, settings: Mapping[str, Any]) -> None:
        number = len(self._trials) + 1
        found, counts = self._measure(settings, number, None)
        curves = [curve for one in found for curve in one.curve]
        shortest = min(map(len, curves))
        curve = tuple(float(x) for x in np.mean([c[:shortest] for c in curves], 0))
        epochs = found[0].best_epoch if self.bench.has_dev else int(np.argmax(curve)) + 1
        whole = _joined(counts)
        self._trials.append(
            Trial(
                number=number,
                settings=settings,
                epochs=epochs,
                score=whole.score,
                curve=curve,
                work=found[0].work,
                counts=whole,
            )
        )
        self._used.append(found[0].used)
        self._tell(settings, number, len(counts), None, self._trials[-1])

    def _measure(
        self, settings: Mapping[str, Any], number: int, epochs: int | None
    ) -> tuple[list[Measured], list[Counts]]:
        """On every part."""
        both = []
        for part in range(len(self.bench.parts)):

            def heard(report: EpochReport, fold: int = part + 1) -> None:
                self._tell(settings, number, fold, report, None)

            both.append(self.bench.measure(settings, part, epochs, heard))
        return [found for found, _ in both], [counts for _, counts in both]

    def _tell(
        self,
        settings: Mapping[str, Any],
        number: int,
        fold: int,
        epoch: EpochReport | None,
        done: Trial | None,
    ) -> None:
        if self.callback is not None:
            self.callback(
                TuningReport(
                    trial=number,
                    trials=self.options.trials,
                    settings=settings,
                    fold=fold,
                    folds=len(self.bench.parts),
                    epoch=epoch,
                    done=done,
                    best=self._trials[self._best] if self._trials else None,
                )
            )


def _joined(counts: Sequence[Counts]) -> Counts:
    return Counts(
        *(
            np.concatenate([getattr(part, name) for part in counts])
            for name in ("gold", "given", "right")
        )
    )


def _combinations(choices: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, int]]:
    """All places in the lists of values, those that change the fewest options first."""
    for n in range(1, len(choices) + 1):
        for names in itertools.combinations(choices, n):
            for places in itertools.product(*(range(1, len(choices[name])) for name in names)):
                yield dict.fromkeys(choices, 0) | dict(zip(names, places, strict=True))


def _key(used: Mapping[str, Any]) -> str:
    return json.dumps(used, sort_keys=True)


def _with_noise(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """The trials with how far they are behind the best, and the standard error of that."""
    best = max(range(len(trials)), key=lambda i: (trials[i].score, -i))
    scores = resampled([trial.counts for trial in trials])
    return tuple(
        replace(
            trial, behind=trials[best].score - trial.score, error=float(np.std(scores[best] - row))
        )
        for trial, row in zip(trials, scores, strict=True)
    )


def tune(
    train: Labelled,
    *,
    dev: Labelled | None = None,
    folds: int | None = None,
    column: str | None = None,
    format: str = "auto",
    fields: Sequence[str] | None = None,
    callback: TuningCallback | None = None,
    **options: Any,
) -> TuningResult:
    """Search for the options that suit the data.

    Parameters
    ----------
    train : a path, several paths, or labeled sentences (see ``perceptron_nlp.train``)
    dev : the like, to score by
    folds : 2 to 1,000; without `dev`, into how many parts `train` is cut, each of which is held
        out in turn; None for 5, or fewer in a small text. Documents (``# newdoc``,
        ``-DOCSTART-``) stay whole where there are enough of them for parts of about one size
    column, format, fields : as for ``perceptron_nlp.train``
    callback : called with a TuningReport after each epoch and each trial
    **options : fields of ``perceptron_nlp.TrainingOptions`` that are fixed, `epochs` being the
        most that are tried; and these: ``space``, a mapping from names of options to the values
        to try, in place of the usual ones; ``trials``, how many choices are tried at most (20);
        ``minutes``, after which no trial begins; ``state``, a file that keeps what was measured:
        the same call goes on from it, and comes to the same result as without a stop

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
    optuna()
    fixed = dict(options)
    search = take_search_options(fixed)
    make_options(fixed)
    space = checked_space(search.space, fixed)
    check_callback(callback)
    if dev is not None and folds is not None:
        raise ArgumentError("folds: there is a dev set to score by, too; leave one of them out")
    source = Source(train, "train", format=format, fields=fields)
    learned = _searched_column(source, column)
    given = feature_columns(make_options(fixed), fields, (learned,))
    looked_at = tuple(sorted({*given, *columns_of(space.get("templates", ()))}))
    if learned in looked_at:
        raise ArgumentError(f"space: templates look at column {learned}, which is to be learned")
    examples = Examples.read(source, learned, looked_at)
    held_out = None
    if dev is not None:
        dev_source = Source(dev, "dev", format=format, fields=fields)
        held_out = Examples.read(dev_source, learned, looked_at)
    if search.space is None and holds_features(examples):
        # A beam has no parts of labels to sum up, and takes minutes with a thousand whole ones.
        space.pop("beam", None)
    seed = make_options(fixed).seed
    remarks: tuple[str, ...] = ()
    if held_out is None:
        parts, remarks = _fold_parts(examples, folds, seed, source.place)
    else:
        parts = [Part(examples.sentences, held_out.sentences, held_out.gold)]
    identity = {
        "version": __version__,
        "train": examples.record(),
        "dev": None if held_out is None else held_out.record(),
        "column": learned,
        "fields": None if fields is None else list(fields),
        "folds": len(parts),
        "options": plain(fixed),
    }
    with silenced():
        storage = Storage(search.state, identity)
        bench = Bench(parts, learned, fields, fixed, storage, held_out is not None)
        try:
            return Search(bench, space, search, given, callback, seed, remarks).run()
        except KeyboardInterrupt as error:
            if storage.path is None:
                raise
            raise type(error)(
                f"what was measured is kept in {storage.path}; the same command goes on"
            ) from None


def _fold_parts(
    examples: Examples, n_folds: int | None, seed: int, place: str
) -> tuple[list[Part], tuple[str, ...]]:
    sizes = [sum(label is not None for label in row) for row in examples.gold]
    folds, remarks = make_folds(examples.sentences, sizes, n_folds, seed, place=place)

    halves = crossfit(folds, examples.part, lambda rest, own: (rest, examples.part(own)))
    parts = [Part(rest.sentences, out.sentences, out.gold) for rest, out in halves]
    return parts, tuple(remarks)


def _searched_column(source: Source, column: str | None) -> str:
    (learned,) = learned_columns([] if column is None else [column], source)
    if learned in (ALL, TEXT, LEMMA):
        raise ArgumentError(
            f"column: {learned} has stages with options of their own, which are not searched; tune"
            " one column of tags, such as upos"
        )
    return learned
