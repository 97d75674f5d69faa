/* The learning formulas, each in one place, on single weights.
 *
 * A weight w carries `owed`: the sum of its steps, each times the number of examples that were
 * finished before it. An update made after `done` examples enters the mean over N of them with
 * weight (N - done) / N, so the mean is (N * w - owed) / N: the work of averaging falls only on
 * the weights that a mistake touches, and is one product and one sum for each. */
#ifndef PERCEPTRON_NLP_KERNELS_H
#define PERCEPTRON_NLP_KERNELS_H

#include <math.h>
#include <stdint.h>

/* A build without averages, against which benchmarks/averaging.py measures what they cost. */
#ifdef PERCEPTRON_NLP_VANILLA
#define AVERAGED 0
#else
#define AVERAGED 1
#endif

/* w += delta after `done` examples, its mean kept right. */
static inline void step_weight(double *w, double *owed, double delta, double done) {
    *w += delta;
    if (AVERAGED) *owed += done * delta;
}

/* The mean of the weight after each of `done` examples (done >= 1). */
static inline double mean_weight(double w, double owed, double done) {
    return (w * done - owed) / done;
}

/* AdaGrad (Duchi, Hazan and Singer, 2011, diagonal): the step of one weight after `g` has
 * gathered the square of this gradient too; none where the square is too small to be seen. */
static inline double adagrad_step(double gradient, double rate, double *g) {
    *g += gradient * gradient;
    return *g > 0 ? rate * gradient / sqrt(*g) : 0;
}

/* Passive-aggressive, PA-I (Crammer et al., 2006): the step that mends a hinge loss, no longer
 * than `aggressiveness`, where the update vector has squared length `norm`. */
static inline double passive_aggressive_step(double loss, double norm, double aggressiveness) {
    double tau = norm > 0 ? loss / norm : 0;
    return tau < aggressiveness ? tau : aggressiveness;
}

/* The highest score; ties go to the lowest label. */
static inline int32_t best_label(const double *scores, int32_t n) {
    int32_t best = 0;
    for (int32_t k = 1; k < n; k++)
        if (scores[k] > scores[best]) best = k;
    return best;
}

/* The highest score of any label but one; -1 where there is no other. */
static inline int32_t best_other(const double *scores, int32_t n, int32_t but) {
    int32_t best = -1;
    for (int32_t k = 0; k < n; k++)
        if (k != but && (best < 0 || scores[k] > scores[best])) best = k;
    return best;
}

#endif
