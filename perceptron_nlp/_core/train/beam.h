/* Beam search for a sequence of labels, whatever gives the scores.
 *
 * A state stands for the best way found so far to give the labels up to here; what it must
 * remember is only the last `depth` labels, since no template looks back farther. So of two
 * candidates that agree in these, the worse one can never win and is dropped (states are
 * merged), and a narrow beam loses little: with one state for each combination of the last
 * `depth` labels this is exact Viterbi search.
 *
 *   local    [state][label]   what each label scores after each state; the caller fills it
 *   labels   [step][rank]     the label that made the state
 *   parents  [step][rank]     and the state of the step before that it extends
 *
 * Of equal scores the lowest label goes first, then the best parent: results are the same on
 * every machine. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "features/program.h"

#define MAX_BEAM 64

typedef struct {
    double score;
    int32_t parent, label;
    int32_t past[MAX_HISTORY]; /* labels given, the last first; n_labels for none */
} State;

typedef struct {
    int32_t width, n_labels;
    int32_t depth;          /* labels that a state remembers */
    const uint8_t *allowed; /* [before][label], n_labels for start and end; NULL: all may follow */
    const uint8_t *within;  /* [label] may be given in the step at hand; NULL: all */
    int32_t n_states;
    State states[MAX_BEAM], next[MAX_BEAM];
    int32_t next_alike[MAX_BEAM]; /* the next state that it merges with; -1: none */
    int alike_before[MAX_BEAM];   /* is there such a state of better rank? */
    double *local;
    int32_t *labels, *parents;
    int64_t room; /* steps */
} Beam;

static inline void beam_close(Beam *b) {
    free(b->local);
    free(b->labels);
    free(b->parents);
    memset(b, 0, sizeof *b);
}

/* Start a sequence of n steps; -1: no memory. width, n_labels, depth, allowed are set before. */
static inline int beam_begin(Beam *b, int64_t n) {
    if (!b->local) {
        b->local = (double *)malloc((size_t)b->width * (size_t)b->n_labels * sizeof(double));
        if (!b->local) return -1;
    }
    if (n > b->room) {
        size_t cells = (size_t)(n + n / 2) * (size_t)b->width;
        if (grow_array(&b->labels, cells, sizeof *b->labels) < 0) return -1;
        if (grow_array(&b->parents, cells, sizeof *b->parents) < 0) return -1;
        b->room = n + n / 2;
    }
    b->n_states = 1;
    b->states[0].score = 0;
    b->states[0].parent = -1;
    for (int k = 0; k < MAX_HISTORY; k++) b->states[0].past[k] = b->n_labels;
    return 0;
}

static inline double *beam_local(const Beam *b, int32_t state) {
    return b->local + (size_t)state * (size_t)b->n_labels;
}

/* Chain the states whose extensions by one label remember the same. */
static inline void beam_find_alike(Beam *b) {
    for (int32_t s = 0; s < b->n_states; s++) {
        b->next_alike[s] = -1;
        b->alike_before[s] = 0;
        for (int32_t r = s - 1; r >= 0 && !b->alike_before[s]; r--) {
            int32_t k = 0;
            while (k + 1 < b->depth && b->states[r].past[k] == b->states[s].past[k]) k++;
            if (k + 1 < b->depth) continue;
            b->next_alike[r] = s;
            b->alike_before[s] = 1;
        }
    }
}

static inline int beam_may_follow(const Beam *b, int32_t state, int32_t label, int last) {
    if (!b->allowed) return 1;
    size_t side = (size_t)b->n_labels + 1;
    return b->allowed[(size_t)b->states[state].past[0] * side + (size_t)label] &&
           (!last || b->allowed[(size_t)label * side + (size_t)b->n_labels]);
}

/* Take a candidate into the sorted list of the best; equal ones stay behind those before. */
static inline int32_t beam_offer(Beam *b, int32_t n, double score, int32_t parent, int32_t label) {
    if (n == b->width) {
        if (score <= b->next[n - 1].score) return n;
        n--;
    }
    int32_t at = n;
    for (; at > 0 && b->next[at - 1].score < score; at--) b->next[at] = b->next[at - 1];
    b->next[at].score = score;
    b->next[at].parent = parent;
    b->next[at].label = label;
    return n + 1;
}

static inline int32_t beam_candidates(Beam *b, const int32_t *among, int32_t n_among, int last,
                                      int free_choice) {
    int32_t n = 0;
    for (int32_t at = 0; at < n_among; at++) {
        int32_t label = among ? among[at] : at;
        if (b->within && !b->within[label]) continue;
        for (int32_t first = 0; first < b->n_states; first++) {
            if (b->alike_before[first]) continue;
            int32_t best = -1;
            double high = 0;
            for (int32_t s = first; s >= 0; s = b->next_alike[s]) {
                if (!free_choice && !beam_may_follow(b, s, label, last)) continue;
                double score = b->states[s].score + beam_local(b, s)[label];
                if (best < 0 || score > high) {
                    best = s;
                    high = score;
                }
            }
            if (best >= 0) n = beam_offer(b, n, high, best, label);
        }
    }
    return n;
}

/* Extend all states by one of `n_among` labels (NULL: by any), and keep the best. Where nothing
 * may follow, whatever scores best does. */
static inline void beam_step_among(Beam *b, int64_t step, const int32_t *among, int32_t n_among,
                                   int last) {
    beam_find_alike(b);
    int32_t n = beam_candidates(b, among, n_among, last, 0);
    if (n == 0) n = beam_candidates(b, among, n_among, last, 1);
    for (int32_t r = 0; r < n; r++) {
        State *state = &b->next[r];
        const State *parent = &b->states[state->parent];
        for (int k = MAX_HISTORY - 1; k > 0; k--) state->past[k] = parent->past[k - 1];
        state->past[0] = state->label;
        b->labels[step * b->width + r] = state->label;
        b->parents[step * b->width + r] = state->parent;
    }
    memcpy(b->states, b->next, (size_t)n * sizeof *b->states);
    b->n_states = n;
}

/* Extend all states by a label of any kind, or by `only` that one (>= 0). */
static inline void beam_step(Beam *b, int64_t step, int32_t only, int last) {
    beam_step_among(b, step, only < 0 ? NULL : &only, only < 0 ? b->n_labels : 1, last);
}

/* Extend all states by "none", which scores nothing. */
static inline void beam_step_none(Beam *b, int64_t step) {
    for (int32_t r = 0; r < b->n_states; r++) {
        State *state = &b->states[r];
        for (int k = MAX_HISTORY - 1; k > 0; k--) state->past[k] = state->past[k - 1];
        state->past[0] = b->n_labels;
        b->labels[step * b->width + r] = b->n_labels;
        b->parents[step * b->width + r] = r;
    }
}

/* The labels of the first `steps` steps on the way to the state that was best after them. */
static inline void beam_trace(const Beam *b, int64_t steps, int32_t *labels) {
    int32_t rank = 0;
    for (int64_t step = steps - 1; step >= 0; step--) {
        labels[step] = b->labels[step * b->width + rank];
        rank = b->parents[step * b->width + rank];
    }
}
