/* Eight scores side by side, as plain C, as compiler vectors, and the place of the largest of a
 * few such groups. Whole numbers modulo 2^16 (or 2^32), so all forms give the same results. */
#ifndef PERCEPTRON_NLP_LANES_H
#define PERCEPTRON_NLP_LANES_H

#include <stdint.h>
#include <string.h>

#include "table/portable.h"

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

#define LARGEST_BLOCK 64

/* The first of the largest of the scores. Compilers make vectors of looking for the largest, but
 * not of looking for its place: that is done in one block alone. */
static inline int32_t first_largest(const int32_t *scores, int32_t n) {
    int32_t high = scores[0], at = 0;
    for (int32_t from = 0; from < n; from += LARGEST_BLOCK) {
        int32_t to = n - from < LARGEST_BLOCK ? n : from + LARGEST_BLOCK, here = scores[from];
        for (int32_t k = from; k < to; k++) here = scores[k] > here ? scores[k] : here;
        if (here <= high) continue;
        high = here;
        at = from;
    }
    while (scores[at] != high) at++;
    return at;
}

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
typedef uint16_t Shorts __attribute__((vector_size(16), aligned(2), may_alias));
#define VECTOR_ADD(a, b) ((a) += (b))
#define VECTOR_TAKE(a, b) ((a) -= (b))

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
    return __builtin_ctzll(mask);
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
    return __builtin_ctzll(mask);
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
        if (mask) return p * LANES + __builtin_ctzll(mask) / 8;
    }
    return 0;
}
#endif
#endif

#ifndef HAS_SHORT_LANES
#define HAS_SHORT_LANES 0
#endif

#endif
