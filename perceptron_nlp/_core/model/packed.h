/* A row of weights of up to 64 labels: which labels it has, then their weights.
 *
 *   key >> 32 : u32 | one or two words of a bit for each label | weights : i16, lowest label first
 *
 * Vector instructions put eight weights at their labels' places at once, so that adding a row
 * takes the same few steps whatever it holds, and no branch that could be foreseen wrong. What is
 * read beyond the last weight (up to PACKED_SLACK words) is thrown away. */
#ifndef PERCEPTRON_NLP_PACKED_H
#define PERCEPTRON_NLP_PACKED_H

#include "table/lanes.h"

#define PACKED_LABELS 64
#define PACKED_SLACK 4

/* Words of the mask; 0: so many labels are not packed. */
static inline int packed_mask_words(int32_t n_labels) {
    return n_labels > PACKED_LABELS ? 0 : n_labels > 32 ? 2 : 1;
}

static inline uint64_t packed_mask(const uint32_t *record, int mask_words) {
    return mask_words == 2 ? record[1] | (uint64_t)record[2] << 32 : record[1];
}

static inline const int16_t *packed_weights(const uint32_t *record, int mask_words) {
    return (const int16_t *)(const void *)(record + 1 + mask_words);
}

/* The weights of n cells by ascending labels, those of one label added; how many labels. */
static inline int64_t packed_sort(int16_t *out, const uint16_t *labels, const int16_t *weights,
                                  int64_t n) {
    int16_t by_label[PACKED_LABELS] = {0};
    uint64_t left = 0;
    int64_t count = 0;
    for (int64_t k = 0; k < n; k++) {
        int32_t label = labels[k] % PACKED_LABELS;
        by_label[label] = (int16_t)(by_label[label] + weights[k]);
        left |= (uint64_t)1 << label;
    }
    for (; left; left &= left - 1) out[count++] = by_label[lowest_bit(left)];
    return count;
}

/* Write the mask and the weights of n cells; how many words the whole record takes. */
static inline uint32_t packed_write(uint32_t *record, int mask_words, const uint16_t *labels,
                                    const int16_t *weights, int64_t n) {
    int16_t *out = (int16_t *)(void *)(record + 1 + mask_words);
    uint64_t mask = 0;
    int sorted = 1;
    for (int64_t k = 0; k < n; k++) {
        uint64_t bit = (uint64_t)1 << labels[k] % PACKED_LABELS;
        sorted &= bit > mask;
        mask |= bit;
        out[k] = weights[k];
    }
    if (!sorted) n = packed_sort(out, labels, weights, n);
    if (n & 1) out[n] = 0;
    record[1] = (uint32_t)mask;
    if (mask_words == 2) record[2] = (uint32_t)(mask >> 32);
    return 1 + (uint32_t)mask_words + (uint32_t)(n + 1) / 2;
}

#define PACKED_FEW 4

/* The same of up to PACKED_FEW cells, without branches on n: three rows in four have few, and
 * nobody can foresee how many. As many as PACKED_FEW can be read. */
static inline uint32_t packed_write_few(uint32_t *record, int mask_words, const uint16_t *labels,
                                        const int16_t *weights, int64_t n) {
    uint64_t mask = 0, bit;
    int sorted = 1;
    for (int k = 0; k < PACKED_FEW; k++) {
        bit = (uint64_t)(k < n) << labels[k] % PACKED_LABELS;
        sorted &= (k >= n) | (bit > mask);
        mask |= bit;
    }
    if (!sorted) return packed_write(record, mask_words, labels, weights, n);
    int16_t *out = (int16_t *)(void *)(record + 1 + mask_words);
    memcpy(out, weights, PACKED_FEW * sizeof *out);
    out[n] = 0;
    record[1] = (uint32_t)mask;
    if (mask_words == 2) record[2] = (uint32_t)(mask >> 32);
    return 1 + (uint32_t)mask_words + (uint32_t)(n + 1) / 2;
}

#define ADD_PACKED_ONE_BY_ONE(sum, type, record, mask_words)                  \
    do {                                                                      \
        const int16_t *weight_ = packed_weights(record, mask_words);          \
        for (uint64_t m_ = packed_mask(record, mask_words); m_; m_ &= m_ - 1) \
            ((type *)(void *)(sum))[lowest_bit(m_)] += (type) * weight_++;    \
    } while (0)

static ALWAYS_INLINE void add_packed_ints(PlainInts *sum, int parts, const uint32_t *record,
                                          int mask_words) {
    (void)parts;
    ADD_PACKED_ONE_BY_ONE(sum, uint32_t, record, mask_words);
}

static ALWAYS_INLINE void add_packed_plain(PlainShorts *sum, int parts, const uint32_t *record,
                                           int mask_words) {
    (void)parts;
    ADD_PACKED_ONE_BY_ONE(sum, uint16_t, record, mask_words);
}

#if HAS_SHORT_LANES
static ALWAYS_INLINE void add_packed_shorts(Shorts *sum, int parts, const uint32_t *record,
                                            int mask_words) {
    uint16_t sums[MAX_PARTS * LANES];
    memcpy(sums, sum, (size_t)parts * sizeof *sum);
    ADD_PACKED_ONE_BY_ONE(sums, uint16_t, record, mask_words);
    memcpy(sum, sums, (size_t)parts * sizeof *sum);
}
#endif

#if HAS_SHORT_LANES && AVX2_AT_RUN_TIME
/* For each choice of eight labels, where the bytes of their weights go; 0x80 makes a zero. */
#define SPREAD_BIT(m, k)                                                          \
    (uint8_t)((m) >> (k) & 1 ? 2 * SPREAD_BEFORE((m) & ((1 << (k)) - 1)) : 0x80), \
        (uint8_t)((m) >> (k) & 1 ? 2 * SPREAD_BEFORE((m) & ((1 << (k)) - 1)) + 1 : 0x80)
#define SPREAD_BEFORE(m)                                                             \
    (((m) & 1) + ((m) >> 1 & 1) + ((m) >> 2 & 1) + ((m) >> 3 & 1) + ((m) >> 4 & 1) + \
     ((m) >> 5 & 1) + ((m) >> 6 & 1))
#define SPREAD_1(m)                                                          \
    {SPREAD_BIT(m, 0), SPREAD_BIT(m, 1), SPREAD_BIT(m, 2), SPREAD_BIT(m, 3), \
     SPREAD_BIT(m, 4), SPREAD_BIT(m, 5), SPREAD_BIT(m, 6), SPREAD_BIT(m, 7)}
#define SPREAD_4(m) SPREAD_1(m), SPREAD_1((m) + 1), SPREAD_1((m) + 2), SPREAD_1((m) + 3)
#define SPREAD_16(m) SPREAD_4(m), SPREAD_4((m) + 4), SPREAD_4((m) + 8), SPREAD_4((m) + 12)
#define SPREAD_64(m) SPREAD_16(m), SPREAD_16((m) + 16), SPREAD_16((m) + 32), SPREAD_16((m) + 48)
static const uint8_t SPREAD[256][16]
    __attribute__((aligned(64))) = {SPREAD_64(0), SPREAD_64(64), SPREAD_64(128), SPREAD_64(192)};

TARGET_AVX2 static ALWAYS_INLINE void add_packed_avx2(Shorts *sum, int parts,
                                                      const uint32_t *record, int mask_words) {
    uint64_t mask = packed_mask(record, mask_words);
    const int16_t *weight = packed_weights(record, mask_words);
    for (int p = 0; p < parts; p++) {
        const uint8_t few = (uint8_t)(mask >> 8 * p);
        __m128i packed = _mm_loadu_si128((const __m128i *)(const void *)weight);
        __m128i place = _mm_load_si128((const __m128i *)(const void *)SPREAD[few]);
        sum[p] += (Shorts)_mm_shuffle_epi8(packed, place);
        weight += __builtin_popcount(few);
    }
}
#endif

#endif
