"""Several opinions about labels in one: a log-linear pool, its weights fitted to gold labels.

The pool of Hinton (2002, "Training products of experts by minimizing contrastive divergence",
section 2) with a weight for each expert: the probability of a label is proportional to the
exponential of a weighted sum of what the experts give it. With scores that were made without the
word at hand, the weights of greatest likelihood say how far to trust each expert, and give scores
without a unit the meaning of log-probabilities.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# Ten times as much and a tenth of it were no better on French and Greek with planted errors.
DOUBT = 0.01
_STEPS = 50
_HALVINGS = 30
# Weights are rounded to this: below it, machines differ in how they round.
_UNIT = 1024
# Keeps weights finite where every gold label is the likeliest one.
_RIDGE = 1e-3


def log_softmax(scores: Floats) -> Floats:
    """Logarithms of probabilities along the last axis."""
    shifted = scores - scores.max(-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(-1, keepdims=True)))


def fit_pool(opinions: Floats, gold: npt.NDArray[np.int64]) -> Floats:
    """The weights of experts under which gold labels are likeliest, none of them below 0.

    Parameters
    ----------
    opinions : float64[n_words, n_candidates, n_experts]
    gold : int64[n_words]: the place of the gold label among the candidates

    Returns
    -------
    float64[n_experts], in steps of 1 / 1024
    """
    heard = np.arange(opinions.shape[2])
    while True:
        weights = _fitted(opinions[..., heard], gold)
        if len(heard) == 1 or weights.min() >= 0:
            break
        # An expert who is believed the less the surer it is says nothing that others do not.
        heard = np.delete(heard, int(weights.argmin()))
    whole = np.zeros(opinions.shape[2])
    whole[heard] = np.maximum(weights, 0)
    return np.asarray(np.rint(whole * _UNIT) / _UNIT)


def hedged(opinions: Floats, scales: Floats) -> Floats:
    """Opinions as log-probabilities, no label's below a share of DOUBT.

    So no expert outvotes the others by being sure alone: most suspect is what they agree on.

    Parameters
    ----------
    opinions : float64[n_words, n_candidates, n_experts]
    scales : float64[n_experts]: the weight that each has alone (fit_pool)
    """
    alone = np.stack(
        [
            log_softmax(scale * opinions[..., expert])
            for expert, scale in enumerate(scales.tolist())
        ],
        axis=-1,
    )
    return np.asarray(np.log((1 - DOUBT) * np.exp(alone) + DOUBT / opinions.shape[1]))


def _fitted(opinions: Floats, gold: npt.NDArray[np.int64]) -> Floats:
    """The weights of greatest likelihood, by Newton's method."""
    n_words, _, n_experts = opinions.shape
    weights = np.zeros(n_experts)
    chosen = opinions[np.arange(n_words), gold]

    def value(at: Floats) -> float:
        logs = pooled(opinions, at)
        return float(logs[np.arange(n_words), gold].sum()) - _RIDGE * float(at @ at) / 2

    best = value(weights)
    for _ in range(_STEPS):
        shares = np.exp(pooled(opinions, weights))
        mean = np.einsum("wc,wce->we", shares, opinions)
        slope = (chosen - mean).sum(0) - _RIDGE * weights
        curve = (
            np.einsum("wc,wce,wcf->ef", shares, opinions, opinions)
            - np.einsum("we,wf->ef", mean, mean)
            + _RIDGE * np.eye(n_experts)
        )
        step = np.linalg.solve(curve, slope)
        # A whole step may lead too far where scores are large; the sum is concave, so that some
        # part of it leads upwards until the top is reached.
        for halving in range(_HALVINGS):
            tried = weights + step / 2**halving
            found = value(tried)
            if found > best:
                break
        else:
            break
        moved = float(np.abs(tried - weights).max())
        weights, best = tried, found
        if moved < 1 / (8 * _UNIT):
            break
    return weights


def pooled(opinions: Floats, weights: Floats) -> Floats:
    """float64[n_words, n_candidates]: logarithms of the pool's probabilities."""
    summed = np.zeros(opinions.shape[:-1])
    for expert, weight in enumerate(weights.tolist()):
        summed += weight * opinions[..., expert]
    return log_softmax(summed)
