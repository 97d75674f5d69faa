/* SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012): a hash under a
 * secret key, for tables whose keys strangers choose. XXH64 is no such hash: words of 16 bytes
 * that all have the same value can be written down for any known seed. */
#ifndef PERCEPTRON_NLP_SIPHASH_H
#define PERCEPTRON_NLP_SIPHASH_H

#include "features/hashing.h"

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

#endif
