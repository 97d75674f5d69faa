/* A string as two machine words: up to 16 bytes stand in them whole, so that most words are
 * copied, hashed and compared without touching a byte of text.
 *
 *   length    head                          tail
 *   0         0                             0
 *   1 .. 3    bytes 0, n / 2, n - 1         0
 *   4 .. 7    bytes 0..3, n-4..n-1          0
 *   8 .. 16   bytes 0..7                    bytes n-8..n-1
 *   17 ..     a keyed hash of all bytes     bytes n-8..n-1
 *
 * Together with the length this is the string itself up to 16 bytes. */
#ifndef PERCEPTRON_NLP_WORDREF_H
#define PERCEPTRON_NLP_WORDREF_H

#include "siphash.h"

#define WORD_SMALL 16

typedef struct {
    uint64_t head, tail;
    uint64_t length;
    uint64_t at; /* place of a long string in a text kept elsewhere */
} WordRef;

/* Numbers that nobody else knows: six for word_hash, two for long strings. */
#define N_SECRETS 8

static inline WordRef word_ref(const uint8_t *text, size_t n, const uint64_t *secrets) {
    WordRef w = {0, 0, n, 0};
    if (n > WORD_SMALL) {
        w.head = siphash13(secrets[6], secrets[7], text, n);
        memcpy(&w.tail, text + n - 8, 8);
    } else if (n >= 8) {
        memcpy(&w.head, text, 8);
        memcpy(&w.tail, text + n - 8, 8);
    } else if (n >= 4) {
        uint32_t low, high;
        memcpy(&low, text, 4);
        memcpy(&high, text + n - 4, 4);
        w.head = low | (uint64_t)high << 32;
    } else if (n) {
        w.head = text[0] | (uint64_t)text[n / 2] << 8 | (uint64_t)text[n - 1] << 16;
    }
    return w;
}

/* Its bytes: in `small` for a short string, at their place in `texts` for a long one. */
static inline const uint8_t *word_bytes(const WordRef *w, const uint8_t *texts,
                                        uint8_t small[WORD_SMALL]) {
    size_t n = (size_t)w->length;
    if (n > WORD_SMALL) return texts + w->at;
    if (n >= 8) {
        memcpy(small, &w->head, 8);
        memcpy(small + n - 8, &w->tail, 8);
    } else if (n >= 4) {
        uint32_t low = (uint32_t)w->head, high = (uint32_t)(w->head >> 32);
        memcpy(small, &low, 4);
        memcpy(small + n - 4, &high, 4);
    } else if (n) {
        small[0] = (uint8_t)w->head;
        small[n / 2] = (uint8_t)(w->head >> 8);
        small[n - 1] = (uint8_t)(w->head >> 16);
    }
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
