"""scikit-learn: the tagger as an estimator, for ``GridSearchCV``, ``clone`` and their like."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from inspect import Parameter, Signature
from typing import Any, Self

import numpy as np
import numpy.typing as npt

import perceptron_nlp as pn
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, missing_extra, not_fitted

try:
    from sklearn.base import BaseEstimator
except ImportError:
    raise missing_extra("scikit-learn", "sklearn") from None

# An estimator is calibrated by its method.
_DEFAULTS: dict[str, Any] = {"column": None} | {
    field.name: field.default for field in fields(pn.TrainingOptions) if field.name != "calibrate"
}


class PerceptronTagger(BaseEstimator):
    """The tagger as a scikit-learn estimator of sentences.

    It is no classifier to scikit-learn, whose classifiers give one label a sample: `score` is its
    own, and folds are not stratified.

    Parameters
    ----------
    column : the column of the labels, which decides how they are learned (``upos``, ``feats``, …);
        None for labels of any kind
    **options : the fields of ``perceptron_nlp.TrainingOptions``, each a parameter with its default;
        None for those that presets set (runs), which leaves them to the preset

    Attributes
    ----------
    tagger_ : the trained Tagger
    labels_ : its labels, in code point order

    Raises
    ------
    ArgumentTypeError : there is no such parameter. Values are checked by `fit`

    Examples
    --------
    ``GridSearchCV(PerceptronTagger(), {"update": ["perceptron", "adagrad"]}, cv=3).fit(X, y)``
    """

    def __init__(self, **options: Any) -> None:
        unknown = options.keys() - _DEFAULTS.keys()
        if unknown:
            raise ArgumentTypeError(
                f"{min(unknown)}: there is no such parameter; there are {', '.join(_DEFAULTS)}"
            )
        for name, default in _DEFAULTS.items():
            setattr(self, name, options.get(name, default))

    # scikit-learn takes the parameters from the signature.
    __init__.__dict__["__signature__"] = Signature(
        [
            Parameter("self", Parameter.POSITIONAL_OR_KEYWORD),
            *(
                Parameter(name, Parameter.KEYWORD_ONLY, default=default)
                for name, default in _DEFAULTS.items()
            ),
        ]
    )

    def fit(self, X: Iterable[Sequence[str]], y: Iterable[Sequence[str | None]]) -> Self:
        """Train on sentences and their labels.

        Parameters
        ----------
        X : sentences, each a list of words
        y : for each sentence its labels, as many as it has words; None for a word without

        Raises
        ------
        ArgumentError, ArgumentTypeError : X and y do not go together, or a parameter cannot be used
        """
        options = {name: getattr(self, name) for name in _DEFAULTS}
        # A search over ranges or distributions sets numbers of NumPy.
        for name, value in options.items():
            options[name] = value.item() if isinstance(value, np.generic) else value
        column = options.pop("column")
        self.tagger_ = pn.train(_pairs(X, y), column=column, **options)
        self.labels_ = self.tagger_.labels
        return self

    def predict(self, X: Iterable[Sequence[str]]) -> list[list[str]]:
        """Return the labels of sentences, one list each.

        Raises NotFittedError before `fit`, and what Tagger.tag_sents raises.
        """
        return self._fitted().tag_sents(X)

    def calibrate(self, X: Iterable[Sequence[str]], y: Iterable[Sequence[str | None]]) -> Self:
        """Calibrate probabilities on sentences that `fit` has not seen, of 300 words or more.

        Raises
        ------
        ArgumentError, ArgumentTypeError : X and y do not go together, they are too few, or hardly a
            label of theirs is predicted wrong
        NotFittedError : before `fit`
        """
        self.tagger_ = self._fitted().calibrate(_pairs(X, y))
        return self

    def predict_proba(self, X: Iterable[Sequence[str]]) -> list[npt.NDArray[np.float64]]:
        """Return the probability of each label at each word, given the labels around it.

        Returns
        -------
        list of float64[n_words, n_labels], one array a sentence; columns are those of `labels_`,
        and rows sum to one

        Raises
        ------
        NotFittedError : before `fit`
        ModelError : it is not calibrated; see calibrate
        ArgumentError, ArgumentTypeError : what Tagger.scores raises
        """
        tagger = self._fitted()
        return [tagger.scores(words, probabilities=True) for words in X]

    def score(self, X: Iterable[Sequence[str]], y: Iterable[Sequence[str | None]]) -> float:
        """Return the accuracy of `predict` on labeled tokens; errors are those of both."""
        tagger = self._fitted()
        return tagger.evaluate(_pairs(X, y)).accuracy

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.one_d_labels = False
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "tagger_")

    def _fitted(self) -> pn.Tagger:
        if not hasattr(self, "tagger_"):
            raise not_fitted("this PerceptronTagger is not fitted yet; call fit first")
        return self.tagger_


def _pairs(
    X: Iterable[Sequence[str]], y: Iterable[Sequence[str | None]]
) -> list[tuple[Sequence[str], Sequence[str | None]]]:
    """Sentences with their labels, which are counted when they are read."""
    for name, given in (("X", X), ("y", y)):
        if isinstance(given, str | bytes) or not isinstance(given, Iterable):
            message = f"{name}: a list of lists of str is needed, not {type(given).__name__}"
            raise ArgumentTypeError(message)
    sentences, labels = list(X), list(y)
    if len(sentences) != len(labels):
        raise ArgumentError(f"y: labels of {len(labels)} sentences for the {len(sentences)} of X")
    return list(zip(sentences, labels, strict=True))
