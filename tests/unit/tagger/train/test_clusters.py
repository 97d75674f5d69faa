"""Clusters of words: the sums behind them, and what they find."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_nlp.tagger.train import clusters
from perceptron_nlp.tagger.train.clusters import SparseRows, row_vectors, word_clusters

NOUNS, VERBS = ["dog", "cat", "cow", "hen"], ["barks", "sleeps", "eats", "runs"]


def text(seed=1, n=300):
    random = np.random.default_rng(seed)
    return [
        ["The" if k % 2 else "a", NOUNS[random.integers(4)], VERBS[random.integers(4)], "."]
        for k in range(n)
    ]


def sparse(dense):
    rows, columns = np.nonzero(dense)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(dense)))])
    return SparseRows(starts, columns, dense[rows, columns].astype(float), dense.shape[1])


def test_words_that_stand_in_like_places_come_together():
    of = word_clusters(text(), [3])[0]
    nouns, verbs = ({of[word] for word in words} for words in (NOUNS, VERBS))
    assert len(nouns) == 1 and not nouns & (verbs | {of["the"], of["a"]})


def test_words_are_lower_cased_and_rare_ones_left_out():
    sentences = [["Rare", "words"], ["WORDS", "words", "words", "all", "all", "ALL", "all"]]
    one, two = word_clusters(sentences, [1, 50])
    assert set(one) == set(two) == {"words", "all"}
    assert set(one.values()) == {"0"}


def test_no_text_gives_no_clusters():
    assert word_clusters([], [2, 3]) == [{}, {}]
    assert word_clusters([["one"], []], [2]) == [{}]


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    block=st.integers(1, 9),
    height=st.integers(1, 30),
    width=st.integers(1, 20),
)
def test_points_do_not_depend_on_how_sums_are_cut_up(seed, block, height, width):
    random = np.random.default_rng(seed)
    matrix = sparse(
        random.integers(0, 300, (height, width)) * (random.random((height, width)) < 0.5)
    )
    whole = row_vectors(matrix, 4, height)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clusters, "BLOCK", block)
        assert np.array_equal(row_vectors(matrix, 4, height), whole)
    assert np.isfinite(whole).all()


def test_points_are_what_a_singular_value_decomposition_gives():
    random = np.random.default_rng(3)
    left, right = random.integers(0, 12, (60, 3)), random.integers(0, 12, (3, 40))
    dense = left @ right
    points = row_vectors(sparse(dense), 3, 60)
    u, s, _ = np.linalg.svd(dense, full_matrices=False)
    expected = u[:, :3] * np.sqrt(s[:3])
    like = points @ points.T
    target = expected @ expected.T
    assert np.corrcoef(like.ravel(), target.ravel())[0, 1] > 0.999


PROGRAM = """
import hashlib, numpy as np
from perceptron_nlp.tagger.train.clusters import word_clusters
random = np.random.default_rng(5)
words = [f"w{k}" for k in range(600)]
text = [[words[int(k * k * 600)] for k in random.random(12)] for _ in range(1200)]
print(hashlib.sha256(repr([sorted(c.items()) for c in word_clusters(text, [10, 40])]).encode())
      .hexdigest())
"""


def test_clusters_do_not_depend_on_the_threads_of_the_matrix_library():
    found = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            check=True,
            capture_output=True,
            timeout=120,
            env={
                **os.environ,
                "OPENBLAS_NUM_THREADS": n,
                "OMP_NUM_THREADS": n,
                "PYTHONHASHSEED": n,
                "PYTHONPATH": os.pathsep.join(sys.path),
            },
        ).stdout
        for n in ("1", "2")
    }
    assert len(found) == 1
