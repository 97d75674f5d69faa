/* 64-bit keys of strings and tuples: XXH64 (Yann Collet, "xxHash fast digest algorithm",
 * specification version 0.2.0), in portable C. The values stand in saved models, so this
 * function is fixed for ever; the tests hold it against the reference library. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "table/portable.h"

#define XXH_P1 0x9E3779B185EBCA87ULL
#define XXH_P2 0xC2B2AE3D27D4EB4FULL
#define XXH_P3 0x165667B19E3779F9ULL
#define XXH_P4 0x85EBCA77C2B2AE63ULL
#define XXH_P5 0x27D4EB2F165667C5ULL

static inline uint64_t xxh_rotl(uint64_t x, int r) {
    return (x << r) | (x >> (64 - r));
}

static inline uint64_t xxh_read64(const uint8_t *p) {
    uint64_t x;
    memcpy(&x, p, 8);
    return LOWEST_FIRST_64(x);
}

static inline uint32_t xxh_read32(const uint8_t *p) {
    uint32_t x;
    memcpy(&x, p, 4);
    return LOWEST_FIRST_32(x);
}

static inline uint64_t xxh_round(uint64_t acc, uint64_t input) {
    return xxh_rotl(acc + input * XXH_P2, 31) * XXH_P1;
}

static inline uint64_t xxh_merge(uint64_t h, uint64_t acc) {
    return (h ^ xxh_round(0, acc)) * XXH_P1 + XXH_P4;
}

static inline uint64_t xxh_lane(uint64_t h, uint64_t lane) {
    return xxh_rotl(h ^ xxh_round(0, lane), 27) * XXH_P1 + XXH_P4;
}

static inline uint64_t xxh_avalanche(uint64_t h) {
    h ^= h >> 33;
    h *= XXH_P2;
    h ^= h >> 29;
    h *= XXH_P3;
    return h ^ (h >> 32);
}

static inline uint64_t xxh64(const uint8_t *p, size_t n, uint64_t seed) {
    const uint8_t *end = p + n;
    uint64_t h;
    if (n >= 32) {
        uint64_t a = seed + XXH_P1 + XXH_P2, b = seed + XXH_P2, c = seed, d = seed - XXH_P1;
        for (; end - p >= 32; p += 32) {
            a = xxh_round(a, xxh_read64(p));
            b = xxh_round(b, xxh_read64(p + 8));
            c = xxh_round(c, xxh_read64(p + 16));
            d = xxh_round(d, xxh_read64(p + 24));
        }
        h = xxh_rotl(a, 1) + xxh_rotl(b, 7) + xxh_rotl(c, 12) + xxh_rotl(d, 18);
        h = xxh_merge(h, a);
        h = xxh_merge(h, b);
        h = xxh_merge(h, c);
        h = xxh_merge(h, d);
    } else {
        h = seed + XXH_P5;
    }
    h += (uint64_t)n;
    for (; end - p >= 8; p += 8) h = xxh_lane(h, xxh_read64(p));
    if (end - p >= 4) {
        h = xxh_rotl(h ^ ((uint64_t)xxh_read32(p) * XXH_P1), 23) * XXH_P2 + XXH_P3;
        p += 4;
    }
    for (; p < end; p++) h = xxh_rotl(h ^ (*p * XXH_P5), 11) * XXH_P1;
    return xxh_avalanche(h);
}

/* xxh64 without a seed of up to eight bytes, which stand in a word, the first one lowest; the other
 * bits of the word are not looked at. */
static inline uint64_t xxh64_short(uint64_t word, size_t n) {
    uint64_t h = XXH_P5 + (uint64_t)n;
    if (n == 8) return xxh_avalanche(xxh_lane(h, word));
    if (n >= 4) {
        h = xxh_rotl(h ^ ((word & 0xFFFFFFFFu) * XXH_P1), 23) * XXH_P2 + XXH_P3;
        word >>= 32;
    }
    if (n & 2) {
        h = xxh_rotl(h ^ ((word & 0xFF) * XXH_P5), 11) * XXH_P1;
        h = xxh_rotl(h ^ ((word >> 8 & 0xFF) * XXH_P5), 11) * XXH_P1;
        word >>= 16;
    }
    if (n & 1) h = xxh_rotl(h ^ ((word & 0xFF) * XXH_P5), 11) * XXH_P1;
    return xxh_avalanche(h);
}

/* What xxh64_words has after the first words, four and four. */
static inline uint64_t xxh64_fours(const uint64_t *words, int n, uint64_t seed) {
    uint64_t a = seed + XXH_P1 + XXH_P2, b = seed + XXH_P2, c = seed, d = seed - XXH_P1;
    for (int i = 0; n - i >= 4; i += 4) {
        a = xxh_round(a, words[i]);
        b = xxh_round(b, words[i + 1]);
        c = xxh_round(c, words[i + 2]);
        d = xxh_round(d, words[i + 3]);
    }
    uint64_t h = xxh_rotl(a, 1) + xxh_rotl(b, 7) + xxh_rotl(c, 12) + xxh_rotl(d, 18);
    h = xxh_merge(h, a);
    h = xxh_merge(h, b);
    h = xxh_merge(h, c);
    return xxh_merge(h, d);
}

/* A tuple of hashes as a key of its own: XXH64 of its words, each as 8 little-endian bytes. */
static ALWAYS_INLINE uint64_t xxh64_words(const uint64_t *words, int n, uint64_t seed) {
    uint64_t h = n < 4 ? seed + XXH_P5 : xxh64_fours(words, n, seed);
    h += 8 * (uint64_t)n;
    for (int i = n / 4 * 4; i < n; i++) h = xxh_lane(h, words[i]);
    return xxh_avalanche(h);
}

/* xxh64_words of up to three words in three steps: the first of the seed and all words but the
 * last, the second of the last. */
static inline uint64_t xxh64_word_start(const uint64_t *words, int n, uint64_t seed) {
    uint64_t h = seed + XXH_P5 + 8 * (uint64_t)n;
    for (int i = 0; i < n - 1; i++) h = xxh_lane(h, words[i]);
    return h;
}
static inline uint64_t xxh64_mixed(uint64_t word) {
    return xxh_round(0, word);
}
static inline uint64_t xxh64_mixed_word(uint64_t start, uint64_t mixed) {
    return xxh_avalanche(xxh_rotl(start ^ mixed, 27) * XXH_P1 + XXH_P4);
}

/* SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012): a hash under a
 * secret key, for tables whose keys strangers choose. XXH64 is no such hash: words of 16 bytes
 * that all have the same value can be written down for any known seed. */

typedef struct {
    uint64_t v0, v1, v2, v3;
} SipState;

static inline void sip_round(SipState *s) {
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = xxh_rotl(s->v1, 13) ^ s->v0;
    s->v3 = xxh_rotl(s->v3, 16) ^ s->v2;
    s->v0 = xxh_rotl(s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = xxh_rotl(s->v1, 17) ^ s->v2;
    s->v3 = xxh_rotl(s->v3, 21) ^ s->v0;
    s->v2 = xxh_rotl(s->v2, 32);
}

static inline uint64_t siphash13(uint64_t k0, uint64_t k1, const uint8_t *p, size_t n) {
    SipState s = {k0 ^ 0x736f6d6570736575ULL, k1 ^ 0x646f72616e646f6dULL,
                  k0 ^ 0x6c7967656e657261ULL, k1 ^ 0x7465646279746573ULL};
    uint64_t last = (uint64_t)n << 56;
    size_t rest = n & 7;
    const uint8_t *end = p + (n - rest);
    for (; p < end; p += 8) {
        uint64_t word = xxh_read64(p);
        s.v3 ^= word;
        sip_round(&s);
        s.v0 ^= word;
    }
    for (size_t i = 0; i < rest; i++) last |= (uint64_t)p[i] << (8 * i);
    s.v3 ^= last;
    sip_round(&s);
    s.v0 ^= last;
    s.v2 ^= 0xff;
    for (int i = 0; i < 3; i++) sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
