/* A row of weights of up to 64 labels: which labels it has, then their weights.
 *
 *   key >> 32 : u32 | one or two words of a bit for each label | weights : i16, lowest label first
 *
 * Vector instructions put eight weights at their labels' places at once, so that adding a row
 * takes the same few steps whatever it holds, and no branch that could be foreseen wrong. What is
 * read beyond the last weight (up to PACKED_SLACK words) is thrown away. */
#pragma once

#include <stdint.h>
#include <string.h>

#include "table/portable.h"

/* Eight scores side by side, as plain C, as compiler vectors, and the place of the largest of a
 * few such groups. Whole numbers modulo 2^16 (or 2^32), so all forms give the same results. */

#define LANES 8
#define MAX_PARTS 8 /* groups of eight labels: up to 64 labels */

typedef struct {
    uint16_t x[LANES];
} PlainShorts;
typedef struct {
    uint32_t x[LANES];
} PlainInts;

#define PLAIN_ADD(a, b)                                            \
    do {                                                           \
        for (int k_ = 0; k_ < LANES; k_++) (a).x[k_] += (b).x[k_]; \
    } while (0)

#define PLAIN_TAKE(a, b)                                           \
    do {                                                           \
        for (int k_ = 0; k_ < LANES; k_++) (a).x[k_] -= (b).x[k_]; \
    } while (0)

/* A function for the first of the largest of n scores. Compilers make vectors of looking for the
 * largest, but not of looking for its place: that is done in one block alone. */
#define FIRST_LARGEST(target, name, score_type, block)                                      \
    target static inline int32_t name(const score_type *scores, int32_t n) {                \
        score_type high = scores[0];                                                        \
        int32_t at = 0;                                                                     \
        for (int32_t from = 0; from < n; from += block) {                                   \
            const int32_t to = n - from < block ? n : from + block;                         \
            score_type here = scores[from];                                                 \
            for (int32_t k = from; k < to; k++) here = scores[k] > here ? scores[k] : here; \
            if (here <= high) continue;                                                     \
            high = here;                                                                    \
            at = from;                                                                      \
        }                                                                                   \
        while (scores[at] != high) at++;                                                    \
        return at;                                                                          \
    }

FIRST_LARGEST(, first_largest, int32_t, 64)

static inline int32_t best_plain_shorts(const PlainShorts *parts, int n_parts, int32_t n) {
    int32_t at = 0, high = INT16_MIN;
    (void)n;
    for (int32_t k = 0; k < n_parts * LANES; k++) {
        int32_t score = (int16_t)parts[k / LANES].x[k % LANES];
        if (score > high) {
            high = score;
            at = k;
        }
    }
    return at;
}

static inline int32_t best_plain_ints(const PlainInts *parts, int n_parts, int32_t n) {
    (void)n_parts;
    return first_largest((const int32_t *)(const void *)parts, n);
}

#if VECTOR_EXTENSIONS
typedef uint16_t Shorts VECTOR_OF(16, 2);
#define VECTOR_ADD(a, b) ((a) += (b))
#define VECTOR_TAKE(a, b) ((a) -= (b))

/* Set a score to the lowest; not in memory, where reading it with its neighbors would wait. */
#define DROP_SHORT(parts, n_parts, label)                                         \
    do {                                                                          \
        const Shorts at_ = {0, 1, 2, 3, 4, 5, 6, 7};                              \
        for (int p_ = 0; p_ < (n_parts); p_++) {                                  \
            const Shorts is_ = (Shorts)(at_ == (uint16_t)((label) - LANES * p_)); \
            (parts)[p_] = ((parts)[p_] & ~is_) | (is_ & 0x8000);                  \
        }                                                                         \
    } while (0)

#if defined(__SSE2__)
#include <immintrin.h>
#define HAS_SHORT_LANES 1

/* Bit k is set where score k equals the largest; pads hold the lowest number there is. */
#define EQUAL_MASK(parts, n_parts, high, mask)                                                  \
    do {                                                                                        \
        for (int p_ = 0; p_ < (n_parts); p_ += 2) {                                             \
            __m128i one_ = _mm_cmpeq_epi16((__m128i)(parts)[p_], (high));                       \
            __m128i two_ = p_ + 1 < (n_parts) ? _mm_cmpeq_epi16((__m128i)(parts)[p_ + 1], high) \
                                              : _mm_setzero_si128();                            \
            (mask) |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_packs_epi16(one_, two_))        \
                      << (LANES * p_);                                                          \
        }                                                                                       \
    } while (0)

static ALWAYS_INLINE int32_t best_shorts(const Shorts *parts, int n_parts, int32_t n) {
    __m128i high = (__m128i)parts[0];
    uint64_t mask = 0;
    (void)n;
    for (int p = 1; p < n_parts; p++) high = _mm_max_epi16(high, (__m128i)parts[p]);
    high = _mm_max_epi16(high, _mm_shuffle_epi32(high, 0x4E));
    high = _mm_max_epi16(high, _mm_shuffle_epi32(high, 0xB1));
    high = _mm_max_epi16(high, _mm_shufflehi_epi16(_mm_shufflelo_epi16(high, 0xB1), 0xB1));
    EQUAL_MASK(parts, n_parts, high, mask);
    return lowest_bit(mask);
}

#if AVX2_AT_RUN_TIME
/* The smallest unsigned number of a group is one instruction; complementing turns the largest
 * signed number into it. */
TARGET_AVX2 static ALWAYS_INLINE int32_t best_shorts_avx2(const Shorts *parts, int n_parts,
                                                          int32_t n) {
    const __m128i flip = _mm_set1_epi16(0x7FFF);
    __m128i high = (__m128i)parts[0];
    uint64_t mask = 0;
    (void)n;
    for (int p = 1; p < n_parts; p++) high = _mm_max_epi16(high, (__m128i)parts[p]);
    high = _mm_broadcastw_epi16(_mm_minpos_epu16(_mm_xor_si128(high, flip)));
    high = _mm_xor_si128(high, flip);
    EQUAL_MASK(parts, n_parts, high, mask);
    return lowest_bit(mask);
}
#endif

#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#define HAS_SHORT_LANES 1

static ALWAYS_INLINE int32_t best_shorts(const Shorts *parts, int n_parts, int32_t n) {
    int16x8_t high = (int16x8_t)parts[0];
    (void)n;
    for (int p = 1; p < n_parts; p++) high = vmaxq_s16(high, (int16x8_t)parts[p]);
    high = vdupq_n_s16(vmaxvq_s16(high));
    for (int p = 0; p < n_parts; p++) {
        uint8x8_t equal = vmovn_u16(vceqq_s16((int16x8_t)parts[p], high));
        uint64_t mask = vget_lane_u64(vreinterpret_u64_u8(equal), 0);
        if (mask) return p * LANES + lowest_bit(mask) / 8;
    }
    return 0;
}
#endif
#endif

#ifndef HAS_SHORT_LANES
#define HAS_SHORT_LANES 0
#endif

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
static _Alignas(64) const uint8_t SPREAD[256][16] = {SPREAD_64(0), SPREAD_64(64), SPREAD_64(128),
                                                     SPREAD_64(192)};

TARGET_AVX2 static ALWAYS_INLINE void add_packed_avx2(Shorts *sum, int parts,
                                                      const uint32_t *record, int mask_words) {
    uint64_t mask = packed_mask(record, mask_words);
    const int16_t *weight = packed_weights(record, mask_words);
    for (int p = 0; p < parts; p++) {
        const uint8_t few = (uint8_t)(mask >> 8 * p);
        __m128i packed = _mm_loadu_si128((const __m128i *)(const void *)weight);
        __m128i place = _mm_load_si128((const __m128i *)(const void *)SPREAD[few]);
        sum[p] += (Shorts)_mm_shuffle_epi8(packed, place);
        weight += bits_set(few);
    }
}
#endif
