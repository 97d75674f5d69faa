"""The search for options that suit a person's data, on a dev set or by cross-validation.

One option after the other is tried in all its values beside the best of the others, until none
of them is better (coordinate search). How many epochs are best comes for nothing: each is scored
on the held-out sentences. In the end the cheapest of the trials that lie within one standard
error of the best one is chosen (the one-standard-error rule of L. Breiman et al.,
"Classification and regression trees", 1984, section 3.4.3), the error being that of the paired
difference.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from perceptron_nlp._version import __version__
from perceptron_nlp.analysis.compare.significance import Counts, interval, resampled
from perceptron_nlp.analysis.tune.bench import Bench, Part
from perceptron_nlp.analysis.tune.folds import make_folds
from perceptron_nlp.analysis.tune.searchspace import (
    SearchOptions,
    checked_space,
    columns_of,
    instead,
    matters,
    take_search_options,
)
from perceptron_nlp.analysis.tune.state import Measured, TuningState
from perceptron_nlp.analysis.tune.trials import Trial, TuningReport, TuningResult, plain
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, FormatError
from perceptron_nlp.tagger.train.columns import feature_columns, holds_features
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.loop import EpochReport
from perceptron_nlp.tagger.train.options import make_options
from perceptron_nlp.tagger.train.sources import Labelled, Source

FOLDS = 5
TuningCallback = Callable[[TuningReport], object]


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
    train : a path, several paths, or labelled sentences (see ``perceptron_nlp.train``)
    dev : the like, to score by
    folds : 2 to 1,000; without `dev`, into how many parts `train` is cut, each of which is held
        out in turn; None for 5. Documents stay whole where the text marks two or more of them
        (``# newdoc``, ``-DOCSTART-``)
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
        documents or sentences than folds, or the state is of other data or options
    ModelError : the file of the state holds none
    """
    fixed = dict(options)
    search = take_search_options(fixed)
    make_options(fixed)
    space = checked_space(search.space, fixed)
    if callback is not None and not callable(callback):
        raise ArgumentTypeError(f"callback: a function is needed, not {type(callback).__name__}")
    if dev is not None and folds is not None:
        raise ArgumentError("folds: there is a dev set to score by, too; leave one of them out")
    source = Source(train, "train", format=format, fields=fields)
    learnt = source.column_named((source.default_column or "") if column is None else column)
    if not learnt:
        raise FormatError(
            "read as plain text, which has no labels to learn from; if it is"
            " labelled, say its format",
            source.place,
        )
    if learnt in ("id", "form"):
        raise ArgumentError(f"column: {learnt} is given, not learnt; name the column of the labels")
    evidence = feature_columns(make_options(fixed), None, fields, (learnt,))
    looked_at = tuple(sorted({*evidence, *columns_of(space.get("templates", ()))}))
    if learnt in looked_at:
        raise ArgumentError(f"space: templates look at column {learnt}, which is to be learnt")
    examples = Examples.read(source, learnt, looked_at)
    held_out = (
        None
        if dev is None
        else Examples.read(Source(dev, "dev", format=format, fields=fields), learnt, looked_at)
    )
    if search.space is None and holds_features(examples):
        # A beam has no parts of labels to sum up, and takes minutes with a thousand whole ones.
        space.pop("beam", None)
    if held_out is None:
        parts = _fold_parts(examples, FOLDS if folds is None else folds, make_options(fixed).seed)
    else:
        parts = [Part(examples.sentences, held_out.sentences, held_out.gold)]
    state = TuningState(
        search.state,
        {
            "version": __version__,
            "train": examples.record(),
            "dev": None if held_out is None else held_out.record(),
            "column": learnt,
            "fields": None if fields is None else list(fields),
            "folds": len(parts),
            "options": plain(fixed),
        },
    )
    bench = Bench(parts, learnt, fields, fixed, state, held_out is not None)
    try:
        return Search(bench, space, search, evidence, callback).run()
    except KeyboardInterrupt:
        if state.path is None:
            raise
        raise KeyboardInterrupt(
            f"what was measured is kept in {state.path}; the same command goes on"
        ) from None


def _fold_parts(examples: Examples, n_folds: int, seed: int) -> list[Part]:
    parts = []
    for held in make_folds(examples, n_folds, seed):
        rest = examples.part(sorted(set(range(len(examples.sentences))) - set(held)))
        if not rest.n_labelled:
            raise ArgumentError("folds: all labelled words are in one part; have other folds")
        out = examples.part(held)
        parts.append(Part(rest.sentences, out.sentences, out.gold))
    return parts


class Search:
    """The search itself.

    Parameters
    ----------
    bench : what measures
    space : the values to try, by the names of options
    options : how long to search
    evidence : columns that named lists of templates look at
    callback : see tune
    """

    def __init__(
        self,
        bench: Bench,
        space: Mapping[str, Sequence[Any]],
        options: SearchOptions,
        evidence: Sequence[str],
        callback: TuningCallback | None,
    ) -> None:
        self._bench = bench
        self._space = space
        self._options = options
        self._evidence = evidence
        self._callback = callback
        self._trials: list[Trial] = []
        self._used: list[dict[str, Any]] = []
        self._end = None if options.minutes is None else time.monotonic() + 60 * options.minutes

    def run(self) -> TuningResult:
        """Search, choose, and measure what was chosen."""
        stopped = self._search()
        trials = _with_noise(self._trials)
        best = trials[self._best]
        chosen = min(
            (trial for trial in trials if trial.within_noise),
            key=lambda trial: (trial.work, -trial.score, trial.number),
        )
        options = {**self._bench.fixed, **chosen.settings}
        if make_options(options).n_runs == 1 or not self._bench.has_dev:
            options["epochs"] = chosen.epochs
        counts = [chosen.counts]
        if not self._bench.has_dev:
            counts = self._measure(chosen.settings, 0, chosen.epochs)[1]
        whole = _joined(counts)
        return TuningResult(
            column=self._bench.column,
            measure="f1" if self._bench.spans else "accuracy",
            folds=None if self._bench.has_dev else len(counts),
            trials=trials,
            best=best,
            chosen=chosen,
            options=options,
            expected=whole.score,
            interval=interval(resampled([whole])[0]),
            by_fold=tuple(part.score for part in counts),
            stopped=stopped,
        )

    @property
    def _best(self) -> int:
        """The place of the trial with the highest score, the first of them."""
        return max(range(len(self._trials)), key=lambda i: (self._trials[i].score, -i))

    def _search(self) -> str | None:
        """Try until nothing is better; else the limit that was reached."""
        self._try({})
        # By what would be learnt with, and by the settings as they stand.
        tried = {_key({}), _key(self._used[0])}
        while True:
            before = self._best
            for name, values in self._space.items():
                start = self._best
                settings, used = self._trials[start].settings, self._used[start]
                for value in values:
                    wanted = {
                        _key(instead(used, name, value, self._evidence)),
                        _key(plain({**settings, name: value})),
                    }
                    if wanted & tried or not self._can_try(settings, used, name, value):
                        continue
                    if len(self._trials) == self._options.trials:
                        return "trials"
                    if self._end is not None and time.monotonic() >= self._end:
                        return "minutes"
                    self._try({**settings, name: value})
                    tried |= {*wanted, _key(self._used[-1])}
            if self._best == before:
                return None

    def _can_try(
        self, settings: Mapping[str, Any], used: Mapping[str, Any], name: str, value: Any
    ) -> bool:
        try:
            make_options({**self._bench.fixed, **settings, name: value})
        except ArgumentError:
            return False
        return matters(name, used)

    def _try(self, settings: Mapping[str, Any]) -> None:
        number = len(self._trials) + 1
        found, counts = self._measure(settings, number, None)
        curves = [curve for one in found for curve in one.curve]
        shortest = min(map(len, curves))
        curve = tuple(float(x) for x in np.mean([c[:shortest] for c in curves], 0))
        epochs = found[0].best_epoch if self._bench.has_dev else int(np.argmax(curve)) + 1
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
        for part in range(len(self._bench.parts)):

            def heard(report: EpochReport, fold: int = part + 1) -> None:
                self._tell(settings, number, fold, report, None)

            both.append(self._bench.measure(settings, part, epochs, heard))
        return [found for found, _ in both], [counts for _, counts in both]

    def _tell(
        self,
        settings: Mapping[str, Any],
        number: int,
        fold: int,
        epoch: EpochReport | None,
        done: Trial | None,
    ) -> None:
        if self._callback is not None:
            self._callback(
                TuningReport(
                    trial=number,
                    trials=self._options.trials,
                    settings=settings,
                    fold=fold,
                    folds=len(self._bench.parts),
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
