"""A perceptron classifier for people's own vectors and feature dictionaries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perceptron_nlp.errors import not_fitted
from perceptron_nlp.perceptrons.epochs import Training
from perceptron_nlp.perceptrons.estimator import Options, Parameters, classifier_tags
from perceptron_nlp.perceptrons.inputs import Samples
from perceptron_nlp.perceptrons.labels import (
    class_ids,
    class_rates,
    known_classes,
    labels_of,
    sample_weights,
)
from perceptron_nlp.probability import fit_temperature, log_losses, softmax

Floats = NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class PerceptronClassifier(Parameters):
    """Perceptrons for two classes or more: last, averaged or voted, in every order.

    Two classes have one weight vector w: a score w·x + b of 0 or less is the lower class, and
    training adds the example where y (w·x + b) <= margin. More classes have one vector each: the
    highest score wins, the lowest class among equals, and a mistake adds the example to its class
    and takes it from the class it was mistaken for.

    Samples are rows of a dense array or of a sparse matrix, or dictionaries: a string value makes
    the feature "name=value" with the value 1, a number (True is 1, False 0) is the value of the
    feature "name"; or lists of strings, each a feature of value 1. Features that training has not
    seen are left out in prediction.

    Parameters
    ----------
    average : give the mean of the weights after each example, not the last weights
    voted : predict by the votes of the weights after each example; `coef_` is as without
    margin : update also where the right score leads by no more than this; >= 0
    strict : with three classes or more, a tie for the highest score is a mistake, and the
        best wrong class is the one corrected (two classes are always so, and any margin)
    order : "sequential" (shuffled once), "stochastic" (shuffled every epoch),
        "replacement" (drawn one by one), "batch" (all at once), "minibatch-random"
        (batches drawn) or "minibatch" (the shuffled data cut into batches)
    shuffle : False keeps the data's own order where the order would shuffle
    batch_size : samples in a mini-batch
    eta0 : the rate of the named schedules; >= 0
    schedule : "constant", "inverse" (eta0 / i), another name of `learning.schedule`, or a
        function of the iteration i = 1, 2, … that gives the rate itself. An iteration is
        an example, or a batch
    init : the start: a number for every weight, "random" (small), a pair (low, high) for
        random numbers between, or an array of the shape of `coef_`, a last column for the
        intercepts if wanted
    tol : in the orders "replacement" and "minibatch…", stop when an epoch moved the
        weights by less than this (Euclidean norm); 0 never stops. None: no order halts before
        `max_iter`, as in scikit-learn
    max_iter : epochs at most
    class_weight : "balanced", or class -> factor of the rate for its examples
    warm_start : `fit` goes on from where the last one ended, as if it had not
    fit_intercept : learn intercepts, as weights of a feature that is always 1
    random_state : a seed; None for another one each time
    memory_limit : bytes that the updates of `voted` may come to take

    Attributes
    ----------
    classes_ : the labels in order
    coef_ : float64[1, n_features] for two classes, else float64[n_classes, n_features]
    intercept_ : float64[1] or float64[n_classes]
    n_features_in_ : features of X; of dictionaries: the distinct ones seen
    feature_names_in_ : the column names, where X was a data frame with such
    n_iter_ : epochs begun by the last fit
    n_updates_ : steps of the last fit, those by vectors of zeros among them
    mistakes_ : int64[n_iter_], examples of each epoch that were mistaken
    halted_by_ : what ended the last fit: a `learning.textbook.Halt`, which is a string
    t_ : examples seen since training began
    temperature_ : of `predict_proba`; there after `calibrate`

    Examples
    --------
    >>> samples = [{"word": "the", "len": 3}, {"word": "run", "len": 3}, ["word=the"]]
    >>> PerceptronClassifier().fit(samples, ["DET", "VERB", "DET"]).predict([{"word": "the"}])
    array(['DET'], dtype='<U4')

    Notes
    -----
    Two classes: R. Johansson, "The averaged perceptron" (2015). More: M. Kuhlmann, "The
    perceptron learning algorithm"; `strict`, `margin`, orders, rates and starts: B. K.
    Jenkins, "Machine learning I: supervised methods", perceptron lecture. Votes: Freund
    and Schapire (1999).
    """

    average: bool = True
    voted: bool = False
    margin: float = 0.0
    strict: bool = False
    order: str = "stochastic"
    shuffle: bool = True
    batch_size: int = 32
    eta0: float = 1.0
    schedule: str | Callable[[int], float] = "constant"
    init: float | str | tuple[float, float] | ArrayLike = 0.0
    tol: float | None = 1e-3
    max_iter: int = 20
    class_weight: str | dict[Any, float] | None = None
    warm_start: bool = False
    fit_intercept: bool = True
    random_state: int | np.random.RandomState | np.random.Generator | None = 0
    memory_limit: int = 1 << 30

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train on X and y until a condition of the order halts it, `max_iter` epochs at most.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            naming the argument or parameter that cannot be used
        MemoryLimitError
            when `voted` could need more than `memory_limit`, before training starts
        """
        return self._fit(X, y, None, go_on=self.warm_start)

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Train one epoch on X and y, going on from what there is.

        Parameters
        ----------
        classes : every label there will be; needed in the first call, optional after it

        Raises
        ------
        ArgumentError, ArgumentTypeError, MemoryLimitError
            as `fit`; and when `classes` is not given first, or is another later
        """
        return self._fit(X, y, classes, go_on=True, one_epoch=True)

    def decision_function(self, X: Any) -> Floats:
        """The scores of X: [n] for two classes (above 0: the higher one), else [n, n_classes].

        With `voted`: the share of the votes, for two classes that of the higher less that
        of the lower. For each sample the highest number decides, the first among equals.

        Raises NotFittedError before `fit`; ArgumentError, ArgumentTypeError if X cannot be used.
        """
        training = self._trained()
        rows = training.samples.rows(X)
        if self.voted:
            if training.votes is None:
                raise not_fitted(
                    "voted was set to True after fit, which kept no updates; fit again"
                )
            shares = training.votes.tally(rows) / training.votes.seen
            return shares[:, 1] - shares[:, 0] if len(self.classes_) == 2 else shares
        scores = rows.scores(np.asarray(self.coef_, np.float64).T, self.intercept_)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def calibrate(self, X: Any, y: ArrayLike) -> Self:
        """Fit the temperature of `predict_proba` on samples that were not trained on.

        Scores are divided by it before a softmax; it is the one with the least log loss (Guo and
        others, 2017). Another fit forgets it.

        Raises
        ------
        NotFittedError : before `fit`
        ArgumentError, ArgumentTypeError : X and y do not go together, or there is a class in y that
            training has not seen
        """
        scores = self._class_scores(X)
        labels = labels_of(y, len(scores), type(self).__name__)
        self.temperature_ = least_loss_temperature(scores, class_ids(labels, self.classes_))
        return self

    @property
    def predict_proba(self) -> Callable[[Any], Floats]:
        """A function from X to the probability of each class: float64[n, n_classes].

        Raises NotFittedError, which is an AttributeError, before `calibrate`.
        """
        if not hasattr(self, "temperature_"):
            raise not_fitted(
                "the scores of this PerceptronClassifier are no probabilities yet; call calibrate"
                " with samples that it was not trained on"
            )
        return lambda X: softmax(self._class_scores(X), self.temperature_)

    def _class_scores(self, X: Any) -> Floats:
        """The scores of X as [n, n_classes], with two classes, too."""
        scores = self.decision_function(X)
        return scores if scores.ndim == 2 else np.stack([-scores / 2, scores / 2], axis=1)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each sample, [n]; errors are those of `decision_function`."""
        scores = self.decision_function(X)
        ids = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[ids])

    def score(self, X: Any, y: ArrayLike, sample_weight: Any = None) -> float:
        """The share of samples that `predict` gets right, weighted if wanted: a fraction of 1.

        Errors are those of `predict`, and ArgumentError, ArgumentTypeError if y does not fit X, or
        the weights are not one number of 0 or more a sample, one of them above 0.
        """
        predicted = self.predict(X)
        right = predicted == labels_of(y, len(predicted), type(self).__name__)
        return float(np.average(right, weights=sample_weights(sample_weight, len(right))))

    def __sklearn_tags__(self) -> Any:
        return classifier_tags()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_training")

    def _fit(self, X: Any, y: Any, classes: Any, *, go_on: bool, one_epoch: bool = False) -> Self:
        """Train and, once all has gone well, take over the result."""
        options, owner = Options.checked(self.get_params()), type(self).__name__
        before: Training | None = getattr(self, "_training", None) if go_on else None
        samples = Samples.of(X, owner) if before is None else before.samples
        rows = samples.rows(X, grow=True)
        labels = labels_of(y, rows.count, owner)
        begun = None if before is None else before.classes
        known = known_classes(begun, labels, classes, one_epoch)
        ids = class_ids(labels, known)
        rates = class_rates(self.class_weight, known, ids, whole=not one_epoch)
        options.step(rows.count)
        if before is None:
            training = Training.begin(samples, known, rows.width, self.init, options)
        else:
            training = before.resumed(rows.width, self.init, options)
        training.run(rows, ids, rates, options, 1 if one_epoch else options.max_iter)
        self._training = training
        self.classes_ = training.classes
        self.coef_, self.intercept_ = training.result()
        self.n_features_in_ = training.samples.width
        self.n_iter_ = len(training.mistakes)
        self.n_updates_ = training.updates
        self.mistakes_ = np.array(training.mistakes, dtype=np.int64)
        self.halted_by_ = training.halted_by
        self.t_ = training.seen
        self.__dict__.pop("temperature_", None)
        if training.samples.names is not None:
            self.feature_names_in_ = training.samples.names
        else:
            self.__dict__.pop("feature_names_in_", None)
        return self

    def _trained(self) -> Training:
        if not hasattr(self, "_training"):
            raise not_fitted(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self._training


def least_loss_temperature(scores: Floats, ids: NDArray[np.int32]) -> float:
    """Return the temperature at which a softmax of scores has the least log loss."""
    ordered = np.sort(scores, axis=1)
    leads = ordered[:, -1] - ordered[:, -2] if scores.shape[1] > 1 else np.zeros(0)
    rows = np.arange(len(ids))

    def loss(temperature: float) -> float:
        shares = softmax(scores, temperature)[rows, ids]
        return float(log_losses(shares, np.ones(len(ids), np.bool_)).sum())

    return fit_temperature(leads, loss)
