"""Tuning: what it measures is what training gives, and a search that was stopped goes on."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path
from typing import Any

import optuna
import pytest

import perceptron_nlp as pn

Small = list[tuple[list[str], list[str]]]
QUICK: dict[str, Any] = {"epochs": 3, "space": {"templates": ["fast", "classic"], "rate": [0.3]}}


class Stop(Exception):
    pass


def told(result: pn.TuningResult) -> str:
    return result.to("json")


def test_the_chosen_options_give_the_expected_score(small: Small) -> None:
    result = pn.tune(small[:8], dev=small[8:], **QUICK)
    tagger = pn.train(small[:8], dev=small[8:], **result.options)
    assert tagger.evaluate(small[8:]).accuracy == result.to_dict()["expected"]
    assert result.options == {"epochs": 3, **result.chosen.settings}


def test_every_trial_is_a_training_scored_on_the_dev_set(small: Small) -> None:
    result = pn.tune(small[:8], dev=small[8:], **QUICK)
    assert result.trials[0].settings == {}
    settings = [one.settings for one in result.trials]
    assert len(settings) == 6 == len({str(one) for one in settings})
    for trial in result.trials:
        tagger = pn.train(small[:8], dev=small[8:], **{**trial.settings, "epochs": 3})
        assert trial.score == tagger.evaluate(small[8:]).accuracy
        assert len(trial.scores) == 4


def test_sentences_of_the_dev_set_may_lack_labels(small: Small) -> None:
    dev = [small[8], (["no", "label"], [None, None]), *small[9:]]
    result = pn.tune(small[:8], dev=dev, epochs=1, space={"beam": [2]})  # type: ignore[arg-type]
    assert len(result.best.scores) == 4


def test_without_a_dev_set_trials_are_cross_validations(small: Small) -> None:
    result = pn.tune(small, folds=3, epochs=2, space={"update": ["perceptron"]})
    assert len(result.trials) == 2
    for trial in result.trials:
        found = pn.cross_validate(small, folds=3, epochs=2, **trial.settings)
        assert (trial.score, trial.scores) == (found.pooled.accuracy, found.scores)


def test_folds_are_measured_without_a_word_of_training(
    small: Small, caplog: pytest.LogCaptureFixture
) -> None:
    pn.tune(small * 9, folds=3, epochs=2, space={"rate": [0.3]})
    assert not caplog.records


def test_of_trials_within_noise_the_one_with_the_fewest_settings_is_chosen() -> None:
    trials = (
        pn.Trial(1, {}, 0.80, (0.7, 0.9, 0.8)),
        pn.Trial(2, {"beam": 4}, 0.82, (0.75, 0.85, 0.86)),
        pn.Trial(3, {"beam": 4, "rate": 0.2}, 0.83, (0.8, 0.8, 0.89)),
    )
    noisy = pn.TuningResult("upos", "accuracy", trials, {"seed": 2})
    assert noisy.best is trials[2] and noisy.chosen is trials[0]
    assert noisy.options == {"seed": 2}
    better = pn.Trial(4, {"beam": 8}, 0.9, (0.8, 1.0, 0.9))
    clear = pn.TuningResult("upos", "accuracy", (*trials, better), {})
    assert better.error(better) == 0 and clear.chosen is better


def test_one_seed_gives_one_result(small: Small) -> None:
    assert told(pn.tune(small, folds=2, **QUICK)) == told(pn.tune(small, folds=2, **QUICK))


@pytest.mark.parametrize("split", [{"folds": 2}, {"dev": True}], ids=["folds", "dev"])
@pytest.mark.parametrize("last", [1, 4, 5])
def test_a_search_that_was_stopped_comes_to_the_end_of_one_that_was_not(
    small: Small, tmp_path: Path, split: dict[str, Any], last: int
) -> None:
    where = {"dev": small[9:]} if "dev" in split else split
    train = small[:9] if "dev" in split else small
    state, heard = tmp_path / "odd %?#.state", []

    def hear(trial: pn.Trial, most: int) -> None:
        assert most == 6
        heard.append(trial)
        if len(heard) == last:
            raise Stop

    whole = pn.tune(train, **where, **QUICK)
    with pytest.raises(Stop):
        pn.tune(train, **where, **QUICK, state=state, callback=hear)
    result = pn.tune(train, **where, **QUICK, state=state, callback=hear)
    assert told(result) == told(whole)
    assert heard == [*whole.trials]
    assert told(pn.tune(train, **where, **QUICK, state=state)) == told(whole)


def test_fewer_trials_are_the_first_of_more(small: Small, tmp_path: Path) -> None:
    state = tmp_path / "state"
    few = pn.tune(small[:8], dev=small[8:], trials=2, state=state, **QUICK)
    more = pn.tune(small[:8], dev=small[8:], state=state, **QUICK)
    assert len(few.trials) == 2 and few.trials == more.trials[:2]


def test_what_is_fixed_is_not_tried(small: Small) -> None:
    result = pn.tune(small[:8], dev=small[8:], epochs=1, beam=2, templates="fast")
    assert not any({"beam", "templates"} & trial.settings.keys() for trial in result.trials)
    assert (result.options["beam"], result.options["templates"]) == (2, "fast")


def test_a_perceptron_is_not_tried_with_other_steps_or_margins(small: Small) -> None:
    space = {"rate": [0.5, 2.0], "margin": [2.0]}
    result = pn.tune(small[:8], dev=small[8:], epochs=1, update="perceptron", space=space)
    assert len(result.trials) == 1


def test_spans_are_scored_by_f1() -> None:
    text = [
        (["in", "Old", "York", "now"], ["O", "B-L", "I-L", "O"]),
        (["to", "Rome", "and", "Oslo"], ["O", "B-L", "O", "B-L"]),
    ] * 3
    result = pn.tune(text, folds=2, epochs=2, space={"beam": [1]})
    assert result.measure == "f1"
    assert result.best.score == pn.cross_validate(text, folds=2, epochs=2).pooled.spans.f1  # type: ignore[union-attr]


def test_a_state_of_other_data_or_options_is_refused(small: Small, tmp_path: Path) -> None:
    state = tmp_path / "state"
    pn.tune(small[:8], dev=small[8:], state=state, **QUICK)
    before = state.read_bytes()
    cases: list[tuple[Small, dict[str, Any]]] = [
        (small[:7], {"dev": small[8:]}),
        (small[:8], {"dev": small[7:]}),
        (small[:8], {"folds": 2}),
        (small[:8], {"dev": small[8:], "seed": 9}),
        (small[:8], {"dev": small[8:], "space": {"beam": [4]}}),
    ]
    for train, more in cases:
        with pytest.raises(pn.ArgumentError, match=r"state: .*other data or options"):
            pn.tune(train, **{**QUICK, **more}, state=state)
    assert state.read_bytes() == before


@pytest.mark.parametrize("content", [b"{}", b"[1]", b"\xff", b"SQLite format 3\0" + bytes(99)])
def test_a_file_that_is_no_state_is_refused_and_stays(
    small: Small, tmp_path: Path, content: bytes
) -> None:
    state = tmp_path / "state"
    state.write_bytes(content)
    with pytest.raises(pn.ModelError, match="state: not the state of a tuning"):
        pn.tune(small[:8], dev=small[8:], state=state, **QUICK)
    assert state.read_bytes() == content


def test_a_database_of_another_program_is_refused_and_stays(small: Small, tmp_path: Path) -> None:
    state = tmp_path / "state"
    with sqlite3.connect(state) as known:
        known.execute("create table addresses (name text)")
    known.close()
    before = state.read_bytes()
    with pytest.raises(pn.ModelError, match="state: not the state of a tuning"):
        pn.tune(small[:8], dev=small[8:], state=state, **QUICK)
    assert state.read_bytes() == before


def test_a_damaged_state_is_refused(small: Small, tmp_path: Path) -> None:
    state = tmp_path / "state"
    pn.tune(small[:8], dev=small[8:], state=state, **QUICK)
    with sqlite3.connect(state) as known:
        known.execute("update trial_user_attributes set key = 'scored' where key = 'scores'")
    known.close()
    with pytest.raises(pn.ModelError, match="state: the state's content is not valid"):
        pn.tune(small[:8], dev=small[8:], state=state, **QUICK)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"folds": 1}, "folds: 1"),
        ({"folds": 13}, "folds: 13 is more than the 12 sentences"),
        ({"trials": 0}, "trials: 0"),
        ({"space": {"seed": [3]}}, "space: 'seed'"),
        ({"space": {"beem": [3]}}, "space: 'beem'"),
        ({"space": {"beam": [100]}}, "beam: 100"),
        ({"space": {"beam": [2]}, "beam": 3}, "fixed, too"),
        ({"rate": 0}, "rate: 0"),
        ({"rate": float("nan")}, "rate: nan"),
        ({"rate": 1001}, "rate: 1001 is not between 1e-06 and 1,000"),
        ({"column": "form"}, "column: form is given, not learned"),
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
        ({"column": ["upos"]}, "column: one name is needed, a str, not list"),
        ({"beem": 3}, "beem: there is no such option"),
    ],
)
def test_arguments_of_bad_types_are_named(
    small: Small, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(pn.ArgumentTypeError, match=message):
        pn.tune(small, **given)


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
