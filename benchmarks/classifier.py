"""The classifier beside scikit-learn, averaging beside none, and the polarity experiment.

Prints Markdown. Set PERCEPTRON_NLP_CORPORA to a folder that holds
corpora/sentence_polarity and corpora/movie_reviews; without it the parts on text are
left out. Needs scikit-learn, as the thing compared with.

Times are processor seconds of this process, the least of several runs; what is compared
is run in rounds of random order, so that a slow minute of the machine falls on all of it.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import SGDClassifier

from perceptron_nlp.perceptrons.classifier import PerceptronClassifier

SEED = 0
EPOCHS = 10
SHUFFLES = 5
Data = tuple[Any, np.ndarray]


def seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def least(runs: Sequence[Callable[[], object]], times: int) -> list[float]:
    """The least time of each, run in rounds of random order.

    In a fixed order one run always meets the memory that another has just given back.
    """
    rng = np.random.default_rng(SEED)
    taken: list[list[float]] = [[] for _ in runs]
    for _ in range(times):
        for i in rng.permutation(len(runs)).tolist():
            taken[i].append(seconds(runs[i]))
    return [min(column) for column in taken]


def ours(seed: int = SEED, **options: Any) -> PerceptronClassifier:
    return PerceptronClassifier(max_iter=EPOCHS, random_state=seed, **options)


def theirs(seed: int = SEED) -> SGDClassifier:
    return SGDClassifier(
        loss="perceptron",
        average=True,
        penalty=None,
        learning_rate="constant",
        eta0=1.0,
        max_iter=EPOCHS,
        tol=None,
        random_state=seed,
    )


def read(name: str) -> tuple[list[str], np.ndarray] | None:
    folder = os.environ.get("PERCEPTRON_NLP_CORPORA")
    if not folder:
        return None
    rows = (Path(folder) / "corpora" / name).read_text(encoding="utf-8").splitlines()
    cells = [row.split("\t") for row in rows]
    return [cell[-1] for cell in cells], np.array([cell[0] for cell in cells])


def bags(texts: Sequence[str]) -> csr_matrix:
    """Which words a text has, each with the value 1."""
    counter = CountVectorizer(token_pattern=r"\S+", binary=True, dtype=np.float64)
    return counter.fit_transform(texts).tocsr()


def corpora() -> Iterator[tuple[str, Data]]:
    for name, file in (
        ("sentence_polarity", "sentence_polarity/sentences.tsv"),
        ("movie_reviews", "movie_reviews/reviews.tsv"),
    ):
        found = read(file)
        if found is not None:
            yield name, (bags(found[0]), found[1])


def dense_data(n: int, d: int, classes: int) -> Data:
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(n, d))
    noise = rng.normal(size=(n, classes)) * 0.3 * d**0.5
    return X, (X @ rng.normal(size=(d, classes)) + noise).argmax(axis=1)


def sparse_data(n: int, d: int, per_row: int) -> Data:
    """Bags of at most `per_row` words out of d, as unlike in frequency as words are."""
    rng = np.random.default_rng(SEED)
    columns = (d * rng.random((n, per_row)) ** 4).astype(np.int32)
    starts = np.arange(0, n * per_row + 1, per_row)
    X = csr_matrix((np.ones(n * per_row), columns.ravel(), starts), (n, d))
    X.sum_duplicates()
    X.data[:] = 1
    return X, X @ rng.normal(size=d) + 3 * rng.normal(size=n) > 0


def folds(y: np.ndarray, k: int = 10) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Train and test rows, each class dealt out evenly in a seeded order."""
    fold = np.empty(len(y), dtype=int)
    rng = np.random.default_rng(SEED)
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        fold[members] = np.arange(len(members)) % k
    for i in range(k):
        yield np.flatnonzero(fold != i), np.flatnonzero(fold == i)


def held_out(make: Callable[[int], Any], data: Data) -> float:
    """Accuracy over ten folds, each with several orders of its examples."""
    X, y = data
    right = [
        (make(seed).fit(X[train], y[train]).predict(X[test]) == y[test]).mean()
        for seed in range(SHUFFLES)
        for train, test in folds(y)
    ]
    return float(np.mean(right))


def shape_of(data: Data) -> str:
    X = data[0]
    stored = X.nnz if hasattr(X, "nnz") else X.size
    return f"{X.shape[0]:,} × {X.shape[1]:,} | {stored:,}"


def beside_sklearn(times: int) -> None:
    print(f"\n## Training, averaged, {EPOCHS} epochs, beside SGDClassifier\n")
    print(
        "| data | size | numbers | SGDClassifier s | ours s | times as fast | "
        "accuracy theirs | ours |"
    )
    print("|---|---|---|---|---|---|---|---|")
    sets = [
        (f"dense, {classes} classes", dense_data(n, d, classes))
        for n, d, classes in ((20_000, 20, 2), (10_000, 300, 2), (10_000, 50, 10))
    ]
    for name, data in [*sets, *corpora()]:
        a, b = least([lambda d=data: theirs().fit(*d), lambda d=data: ours().fit(*d)], times)
        print(
            f"| {name} | {shape_of(data)} | {a:.4f} | {b:.4f} | {a / b:.2f} "
            f"| {held_out(theirs, data):.4f} | {held_out(ours, data):.4f} |"
        )


def cost_of_averaging(times: int) -> None:
    epochs = PerceptronClassifier().max_iter
    print(f"\n## What averaging costs, {epochs} epochs, the default\n")
    print("| data | size | numbers | last s | averaged s | more |")
    print("|---|---|---|---|---|---|")
    sets = [
        (f"sparse, d = {d:,}", lambda d=d: sparse_data(100_000, d, 100))
        for d in (10_000, 10_000_000)
    ]
    sets += [("dense, d = 300", lambda: dense_data(10_000, 300, 2))]
    for name, make in sets:
        data = make()
        runs = [
            lambda a=average, d=data: PerceptronClassifier(average=a).fit(*d)
            for average in (False, True)
        ]
        a, b = least(runs, times)
        print(f"| {name} | {shape_of(data)} | {a:.3f} | {b:.3f} | {b / a - 1:+.1%} |")


def polarity() -> None:
    print(f"\n## Polarity of sentences and reviews, ten folds, {EPOCHS} epochs\n")
    print("| set | learner | training s | prediction s | accuracy |")
    print("|---|---|---|---|---|")
    kinds: dict[str, dict[str, Any]] = {
        "standard": {"average": False},
        "voted": {"average": False, "voted": True},
        "averaged": {"average": True},
    }
    for name, (X, y) in corpora():
        for kind, options in kinds.items():
            train_s, predict_s, right = 0.0, 0.0, []
            for train, test in folds(y):
                X_train, X_test, model = X[train], X[test], ours(**options)
                train_s += least([lambda: model.fit(X_train, y[train])], 3)[0]  # noqa: B023
                predict_s += least([lambda: model.predict(X_test)], 3)[0]  # noqa: B023
                right.append((model.predict(X_test) == y[test]).mean())
            print(f"| {name} | {kind} | {train_s:.3f} | {predict_s:.3f} | {np.mean(right):.4f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=7, help="runs of which the best counts")
    times = parser.parse_args().times
    print("# The classifier\n")
    print(
        f"{date.today()}, {platform.machine()}, {platform.system()}, "
        f"Python {platform.python_version()}, NumPy {np.__version__}, "
        f"scikit-learn {sklearn.__version__}; seed {SEED}, best of {times}."
    )
    beside_sklearn(times)
    cost_of_averaging(times)
    polarity()


if __name__ == "__main__":
    main()
