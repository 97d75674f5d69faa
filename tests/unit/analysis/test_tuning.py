"""Tuning: what it measures is what training gives, and a search that was stopped goes on."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import optuna
import pytest

import perceptron_nlp as pn
from perceptron_nlp.analysis.folds import make_folds
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.sources import Source

Small = list[tuple[list[str], list[str]]]
QUICK: dict[str, Any] = {"epochs": 3, "space": {"templates": ["fast", "classic"], "rate": [0.3]}}


class Stop(Exception):
    pass


def told(result: pn.TuningResult) -> str:
    return json.dumps(result.to_dict(), sort_keys=True)


def test_the_chosen_options_give_the_expected_score(small: Small) -> None:
    result = pn.tune(small[:8], dev=small[8:], **QUICK)
    tagger = pn.train(small[:8], dev=small[8:], **result.options)
    assert tagger.evaluate(small[8:]).accuracy == result.expected == result.chosen.score
    assert result.options == {"epochs": 3, **result.chosen.settings}
    assert result.folds is None and result.by_fold == (result.expected,)


def test_every_trial_is_a_training_scored_on_the_dev_set(small: Small) -> None:
    result = pn.tune(small[:8], dev=small[8:], **QUICK)
    assert result.trials[0].settings == {}
    assert len(result.trials) == len({json.dumps(t.to_dict()["settings"]) for t in result.trials})
    for trial in result.trials:
        tagger = pn.train(small[:8], dev=small[8:], **{**trial.settings, "epochs": 3})
        assert trial.score == tagger.evaluate(small[8:]).accuracy == max(trial.curve)
        assert trial.epochs == tagger.model.record["best_epoch"]
        assert trial.work == len(tagger.model.templates) * tagger.model.beam


def test_folds_are_scored_by_trainings_that_see_nothing_of_them(small: Small) -> None:
    result = pn.tune(small, folds=3, epochs=2, space={"update": ["perceptron"]})
    assert (result.folds, len(result.by_fold), len(result.trials)) == (3, 3, 2)
    assert [len(trial.curve) for trial in result.trials] == [2, 2]
    tokens = sum(len(words) for words, _ in small)
    assert result.chosen.counts.gold.sum() == tokens
    assert min(result.by_fold) <= result.expected <= max(result.by_fold)
    assert 0 <= result.interval[0] <= result.expected <= result.interval[1] <= 1


def test_the_cheapest_trial_within_noise_is_chosen(small: Small) -> None:
    result = pn.tune(small[:8], dev=small[8:], epochs=4, space={"beam": [1, 4, 8]})
    near = [trial for trial in result.trials if trial.within_noise]
    assert result.best in near and result.best.behind == result.best.error == 0
    assert result.best.score == max(trial.score for trial in result.trials)
    assert result.chosen.work == min(trial.work for trial in near)


def test_one_seed_gives_one_result(small: Small) -> None:
    assert told(pn.tune(small, folds=2, **QUICK)) == told(pn.tune(small, folds=2, **QUICK))


@pytest.mark.parametrize("split", [{"folds": 2}, {"dev": True}], ids=["folds", "dev"])
@pytest.mark.parametrize("last", [1, 4, 9])
def test_a_search_that_was_stopped_comes_to_the_end_of_one_that_was_not(
    small: Small, tmp_path: Path, split: dict[str, Any], last: int
) -> None:
    where = {"dev": small[9:]} if "dev" in split else split
    train = small[:9] if "dev" in split else small
    state, heard = tmp_path / "state", []

    def stop(report: pn.TuningReport) -> None:
        heard.append(report)
        if len(heard) == last:
            raise Stop

    whole = pn.tune(train, **where, **QUICK)
    with pytest.raises(Stop):
        pn.tune(train, **where, **QUICK, state=state, callback=stop)
    assert told(pn.tune(train, **where, **QUICK, state=state)) == told(whole)
    again: list[pn.TuningReport] = []
    assert told(pn.tune(train, **where, **QUICK, state=state, callback=again.append)) == told(whole)
    assert all(report.epoch is None for report in again)


def test_a_search_that_was_killed_while_it_wrote_goes_on(small: Small, tmp_path: Path) -> None:
    state, data = tmp_path / "state", (small[:8], small[8:])
    whole = told(pn.tune(data[0], dev=data[1], **QUICK, state=state))
    content = state.read_bytes()
    ends = [at + 1 for at, byte in enumerate(content) if byte == ord("\n")]
    (tmp_path / "state.lock").symlink_to("nowhere")
    for cut in (0, ends[0], ends[0] + 1, ends[1] - 1, ends[1] + 40, ends[2] - 1, ends[-1] - 1):
        state.write_bytes(content[:cut])
        for _ in range(2):
            assert told(pn.tune(data[0], dev=data[1], **QUICK, state=state)) == whole


def test_fewer_trials_are_the_first_of_more(small: Small, tmp_path: Path) -> None:
    state = tmp_path / "state"
    few = pn.tune(small[:8], dev=small[8:], trials=2, state=state, **QUICK)
    more = pn.tune(small[:8], dev=small[8:], state=state, **QUICK)
    assert few.stopped == "trials" and len(few.trials) == 2 and more.stopped is None
    assert [t.settings for t in few.trials] == [t.settings for t in more.trials[:2]]


def test_what_is_fixed_is_not_tried(small: Small) -> None:
    result = pn.tune(small[:8], dev=small[8:], epochs=1, beam=2, templates="fast")
    assert not any({"beam", "templates"} & trial.settings.keys() for trial in result.trials)
    assert (result.options["beam"], result.options["templates"]) == (2, "fast")


def test_a_perceptron_is_not_tried_with_other_steps_or_margins(small: Small) -> None:
    result = pn.tune(
        small[:8],
        dev=small[8:],
        epochs=1,
        update="perceptron",
        space={"rate": [0.5, 2.0], "margin": [2.0], "cost": [3.0]},
    )
    assert len(result.trials) == 1


def test_spans_are_scored_by_f1() -> None:
    text = [
        (["in", "Old", "York", "now"], ["O", "B-L", "I-L", "O"]),
        (["to", "Rome", "and", "Oslo"], ["O", "B-L", "O", "B-L"]),
    ] * 3
    result = pn.tune(text, folds=2, epochs=2, space={"beam": [1]})
    assert result.measure == "f1"
    assert result.chosen.counts.gold.sum() == 9


def test_reports_tell_of_every_epoch_and_trial(small: Small) -> None:
    heard: list[pn.TuningReport] = []
    result = pn.tune(small, folds=2, callback=heard.append, **QUICK)
    done = [report.done for report in heard if report.done is not None]
    assert [trial.number for trial in done] == [trial.number for trial in result.trials]
    epochs = [report for report in heard if report.epoch is not None and report.trial]
    assert len(epochs) == 2 * 3 * len(result.trials)
    assert all(report.best is not None for report in heard if report.done is not None)


def test_a_state_of_other_data_or_options_is_refused(small: Small, tmp_path: Path) -> None:
    state = tmp_path / "state"
    pn.tune(small[:8], dev=small[8:], state=state, **QUICK)
    before = state.read_bytes()
    cases: list[tuple[Small, dict[str, Any], str]] = [
        (small[:7], {"dev": small[8:]}, "other data, not these"),
        (small[:8], {"dev": small[7:]}, "other data, not these"),
        (small[:8], {"folds": 2}, "other data, not these"),
        (small[:8], {"dev": small[8:], "seed": 9}, "options"),
        (small[:8], {"dev": small[8:], "column": "kind"}, "column"),
    ]
    for train, more, message in cases:
        with pytest.raises(pn.ArgumentError, match=f"state: .*{message}"):
            pn.tune(train, **QUICK, state=state, **more)
    assert state.read_bytes() == before


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"{}",
        lambda content: content[:9],
        lambda content: b"[1]",
        lambda content: b"\xff",
        lambda content: content[: content.index(b"\n")] + b"}\n",
        lambda content: content.replace(b'"best_epoch":', b'"best_epoch":-'),
        lambda content: content.replace(b'"given":[', b'"given":["",'),
        lambda content: content.replace(b'"right":[', b'"right":[7,'),
        lambda content: content.replace(b'"curve":[[', b'"curve":[[7,'),
        lambda content: content.replace(b'"work"', b'"wirk"'),
        lambda content: content[:-3] + b"x\n",
        lambda content: content.replace(b'"identity":{', b'"identity":3,"i":{'),
    ],
)
def test_a_damaged_state_is_refused(small: Small, tmp_path: Path, damage: Any) -> None:
    state = tmp_path / "state"
    pn.tune(small[:8], dev=small[8:], state=state, **QUICK)
    state.write_bytes(damage(state.read_bytes().replace(b": ", b":")))
    with pytest.raises((pn.ModelError, pn.ArgumentError), match="state"):
        pn.tune(small[:8], dev=small[8:], state=state, **QUICK)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"folds": 1}, "folds: 1"),
        ({"folds": 13}, "folds: 13 is more than the 12 sentences"),
        ({"trials": 0}, "trials: 0"),
        ({"minutes": 0}, "minutes: 0"),
        ({"space": {"epochs": [3]}}, "space: 'epochs'"),
        ({"space": {"beem": [3]}}, "space: 'beem'"),
        ({"space": {"beam": [100]}}, "beam: 100"),
        ({"space": {"beam": [2]}, "beam": 3}, "fixed, too"),
        ({"rate": 0}, "rate: 0"),
        ({"rate": float("nan")}, "rate: nan"),
        ({"rate": 1001}, "rate: 1001 is not between 1e-06 and 1,000"),
        ({"column": "form"}, "column: form is given, not learned"),
        ({"column": "all"}, "column: all has stages with options of their own"),
        ({"space": {"templates": [["column:tag[0]"]]}}, "templates look at column tag"),
    ],
)
def test_bad_arguments_are_named(small: Small, given: dict[str, Any], message: str) -> None:
    with pytest.raises(pn.ArgumentError, match=message):
        pn.tune(small, **given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"space": [1]}, "space: a mapping"),
        ({"space": {"beam": 3}}, "space: beam needs a list"),
        ({"space": {"beam": []}}, "space: beam needs a list"),
        ({"callback": 3}, "callback"),
        ({"rate": "fast"}, "rate: a number"),
        ({"beem": 3}, "beem: there is no such option"),
    ],
)
def test_arguments_of_bad_types_are_named(
    small: Small, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(pn.ArgumentTypeError, match=message):
        pn.tune(small, **given)


def test_the_summed_runs_that_were_measured_are_those_of_the_options() -> None:
    text = [([f"w{(7 * i + j) % 90}" for j in range(25)], ["AB"[(i * j) % 2] for j in range(25)])
            for i in range(640)]  # fmt: skip
    options: dict[str, Any] = {"templates": "fast", "epochs": 2, "space": {"min_count": [2]}}
    held_out = text[:80]
    found = pn.tune(text[80:], dev=held_out, templates="fast", space={"min_count": [2]})
    tagger = pn.train(text[80:], dev=held_out, **found.options)
    assert tagger.model.record["options"]["runs"] == 4
    assert tagger.evaluate(held_out).accuracy == found.expected
    folded = pn.tune(text, folds=2, **options)
    assert folded.options["runs"] == 1 and folded.options["epochs"] == folded.chosen.epochs
    examples = Examples.read(Source(text, "train"), "tag", ())
    parts = make_folds(examples.sentences, [25] * len(text), 2, 1)[0]
    for part, expected in zip(parts, folded.by_fold, strict=True):
        rest = [text[k] for k in range(len(text)) if k not in set(part)]
        tagger = pn.train(rest, **folded.options)
        assert tagger.evaluate([text[k] for k in part]).accuracy == expected


def test_optuna_is_silent_and_its_verbosity_comes_back(
    small: Small, capfd: pytest.CaptureFixture[str]
) -> None:
    optuna.logging.set_verbosity(optuna.logging.INFO)
    pn.tune(small[:8], dev=small[8:], **QUICK)
    assert capfd.readouterr().err == ""
    assert optuna.logging.get_verbosity() == optuna.logging.INFO


def test_missing_optuna_names_the_extra(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(pn.MissingExtraError, match=r'pip install "perceptron-nlp\[tune\]"'):
        pn.tune(small, **QUICK)


def test_a_dev_set_and_folds_exclude_each_other(small: Small) -> None:
    with pytest.raises(pn.ArgumentError, match="folds: there is a dev set"):
        pn.tune(small[:8], dev=small[8:], folds=3)


def test_the_rate_is_recorded_and_changes_what_adagrad_learns(small: Small) -> None:
    usual = pn.train(small, epochs=3)
    same, other = pn.train(small, epochs=3, rate=0.1), pn.train(small, epochs=3, rate=0.02)
    assert usual.model.record["options"]["rate"] is None
    assert other.model.record["options"]["rate"] == 0.02
    sentence = small[1][0]
    assert (same.scores(sentence) == usual.scores(sentence)).all()
    assert not (other.scores(sentence) == usual.scores(sentence)).all()
