/* A string as two machine words: up to 16 bytes stand in them whole, so that most words are
 * copied, hashed and compared without touching a byte of text.
 *
 *   length    head                          tail
 *   0 .. 8    0                             all bytes, the first one lowest
 *   9 .. 16   all but the last 8 bytes      the last 8 bytes
 *   17 ..     a keyed hash of all bytes     the last 8 bytes
 *
 * Together with the length this is the string itself up to 16 bytes. */
#ifndef PERCEPTRON_NLP_WORDREF_H
#define PERCEPTRON_NLP_WORDREF_H

#include "features/hashing.h"
#include "features/siphash.h"

#define WORD_SMALL 16

typedef struct {
    uint64_t head, tail;
    uint64_t length;
    uint64_t at; /* place of a long string in a text kept elsewhere */
} WordRef;

/* Numbers that nobody else knows: six for word_hash, two for long strings. */
#define N_SECRETS 8

/* Of a string that has at least 16 readable bytes before its end: two loads and two shifts, since
 * lengths are unpredictable and branches on them dear. */
static inline WordRef word_ref_inside(const uint8_t *text, size_t n, const uint64_t *secrets) {
    WordRef w = {0, 0, n, 0};
    w.tail = xxh_read64(text + n - 8);
    if (n > WORD_SMALL) {
        w.head = siphash13(secrets[6], secrets[7], text, n);
        return w;
    }
    unsigned low = n < 8 ? (unsigned)n : 8, high = (unsigned)n - low;
    w.head = xxh_read64(text + n - 16) >> ((64 - 8 * high) & 63) & (0 - (uint64_t)(high != 0));
    w.tail = w.tail >> ((64 - 8 * low) & 63) & (0 - (uint64_t)(low != 0));
    return w;
}

/* The same, wherever the string stands. */
static inline WordRef word_ref(const uint8_t *text, size_t n, const uint64_t *secrets) {
    uint8_t padded[2 * WORD_SMALL] = {0};
    if (n > WORD_SMALL) return word_ref_inside(text, n, secrets);
    if (n) memcpy(padded + WORD_SMALL, text, n);
    return word_ref_inside(padded + WORD_SMALL, n, secrets);
}

/* The same of a string in a text that begins at `start`: only the first ones have too few bytes
 * before their ends. */
static inline WordRef word_ref_within(const uint8_t *start, const uint8_t *text, size_t n,
                                      const uint64_t *secrets) {
    return (size_t)(text - start) + n < WORD_SMALL ? word_ref(text, n, secrets)
                                                   : word_ref_inside(text, n, secrets);
}

/* Eight bytes, the lowest first. */
static inline void write_bytes(uint8_t *out, uint64_t word) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    memcpy(out, &word, 8);
}

/* Its bytes: in `small` for a short string, at their place in `texts` for a long one. */
static inline const uint8_t *word_bytes(const WordRef *w, const uint8_t *texts,
                                        uint8_t small[WORD_SMALL]) {
    size_t n = (size_t)w->length, first = n > 8 ? n - 8 : 0;
    if (n > WORD_SMALL) return texts + w->at;
    write_bytes(small, w->head);
    write_bytes(small + first, w->tail);
    return small;
}

/* Length and column in 32 bits; equal marks of long strings prove nothing. */
static inline uint32_t word_mark(const WordRef *w, int32_t column) {
    return (uint32_t)(w->length << 6) | (uint32_t)column;
}

/* Strongly universal in its top 32 bits (the multilinear family of Lemire and Kaser, "Strongly
 * universal string hashing is fast", 2014, section 3): whoever does not know the secrets cannot
 * choose words that meet in one place of a table more often than by chance. */
static inline uint64_t word_hash(const WordRef *w, uint32_t mark, const uint64_t *secrets) {
    return secrets[0] + secrets[1] * (uint32_t)w->head + secrets[2] * (w->head >> 32) +
           secrets[3] * (uint32_t)w->tail + secrets[4] * (w->tail >> 32) + secrets[5] * mark;
}

#endif
