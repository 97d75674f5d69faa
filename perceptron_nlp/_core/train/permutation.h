/* The seeded permutation of the numbers 0 .. n-1: SplitMix64 keys, sorted, as the sampling module
 * defines it, in linear time. An epoch over short sparse rows takes no longer than sorting n keys
 * by comparison, so the shuffle has to be cheap. */
#ifndef PERCEPTRON_NLP_PERMUTATION_H
#define PERCEPTRON_NLP_PERMUTATION_H

#include <stdint.h>

#define ORDER_GAMMA 0x9E3779B97F4A7C15ULL
#define ORDER_PERMUTATION 1

static inline uint64_t order_mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

typedef struct {
    uint64_t key;
    int64_t number;
} keyed_t;

/* `buckets` holds 2^bits + 1 counters, all zero; about one key falls into each bucket, where an
 * insertion sort ends the work. The sort is stable: buckets are filled in the order of numbers. */
static void permute(int64_t n, uint64_t seed, uint64_t epoch, int bits, int64_t *buckets,
                    keyed_t *sorted, int64_t *order) {
    uint64_t state = order_mix(seed + ORDER_GAMMA);
    state = order_mix(state + (ORDER_PERMUTATION + 1) * ORDER_GAMMA);
    state = order_mix(state + (epoch + 1) * ORDER_GAMMA);
    const int shift = 64 - bits;
    uint64_t counter = state;
    for (int64_t i = 0; i < n; i++) buckets[(order_mix(counter += ORDER_GAMMA) >> shift) + 1]++;
    for (int64_t b = 0; b < (int64_t)1 << bits; b++) buckets[b + 1] += buckets[b];
    counter = state;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t key = order_mix(counter += ORDER_GAMMA);
        const keyed_t item = {key, i};
        sorted[buckets[key >> shift]++] = item;
    }
    for (int64_t i = 1; i < n; i++) {
        const keyed_t item = sorted[i];
        int64_t at = i;
        for (; at > 0 && sorted[at - 1].key > item.key; at--) sorted[at] = sorted[at - 1];
        sorted[at] = item;
    }
    for (int64_t i = 0; i < n; i++) order[i] = sorted[i].number;
}

#endif
