"""Sums of training runs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp.tagger.model.cells import sum_of

SENTENCES = [
    (["time", "flies"], ["N", "V"]),
    (["fruit", "flies"], ["A", "N"]),
    (["fruit", "flies", "like", "time"], ["A", "N", "V", "N"]),
    (["time", "flies", "like", "fruit"], ["N", "V", "P", "N"]),
]

UPDATES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(-2, 2)), max_size=30)


def table_of(updates, **options):
    table = WeightTable(4, **options)
    for key, label, step in updates:
        table.update(np.array([key << 60], np.uint64), label, float(step), group=key)
        table.advance()
    return table


@given(runs=st.lists(UPDATES, min_size=1, max_size=4), bits=st.sampled_from([None, 3]))
def test_the_score_of_a_sum_is_the_sum_of_the_scores(runs, bits):
    weights = [table_of(updates, table_bits=bits).last() for updates in runs]
    whole = sum_of(weights)
    assert not (whole.weights == 0).any()
    for key in range(10):
        keys = np.array([key << 60], np.uint64)
        assert whole.score(keys).tolist() == sum(w.score(keys) for w in weights).tolist()


def test_one_run_is_the_run_itself():
    alone = pn.train(SENTENCES, epochs=8, seed=5)
    assert pn.train(SENTENCES, runs=1, seed=5).to_bytes() == alone.to_bytes()


def test_a_sum_of_runs_scores_what_its_runs_score_together():
    runs = [pn.train(SENTENCES, seed=seed, epochs=3) for seed in (7, 8, 9)]
    whole = pn.train(SENTENCES, seed=7, runs=3, epochs=3)
    words = ["fruit"]
    assert whole.scores(words) == pytest.approx(sum(run.scores(words) for run in runs), abs=0.1)


def test_every_epoch_of_every_run_is_reported():
    reports = []
    pn.train(SENTENCES, runs=2, epochs=3, callback=reports.append)
    assert [(r.run, r.runs, r.epoch) for r in reports] == [
        (run, 2, epoch) for run in (1, 2) for epoch in (1, 2, 3)
    ]


@pytest.mark.parametrize("runs", [0, 1001])
def test_a_number_of_runs_out_of_range_is_refused(runs):
    with pytest.raises(pn.ArgumentError, match="runs"):
        pn.train(SENTENCES, runs=runs)


def test_runs_over_other_labels_do_not_add_up():
    with pytest.raises(pn.ArgumentError, match="other labels"):
        sum_of([WeightTable(2).last(), WeightTable(3).last()])
