/* Numbers out of a Rice code: formats/packing.py tells the layout. */
#ifndef PERCEPTRON_NLP_RICECODES_H
#define PERCEPTRON_NLP_RICECODES_H

#include <stdint.h>

#include "table/portable.h"

enum { RICE_GOOD, RICE_SHORT, RICE_LONG, RICE_WIDE, RICE_FILLED, RICE_BEYOND };

/* 64 bits from a byte on, the first of them highest. */
static inline uint64_t rice_word(const uint8_t *at) {
    return (uint64_t)at[0] << 56 | (uint64_t)at[1] << 48 | (uint64_t)at[2] << 40 |
           (uint64_t)at[3] << 32 | (uint64_t)at[4] << 24 | (uint64_t)at[5] << 16 |
           (uint64_t)at[6] << 8 | (uint64_t)at[7];
}

/* A code being read, a block of numbers at a time: the low bits and the unary parts, which stand
 * one after the other, are followed side by side. */
typedef struct {
    const uint8_t *data, *unary, *end;
    int64_t missing; /* numbers still to be read */
    int64_t bit;     /* of the low bits, the next */
    int64_t size;
    uint64_t word; /* unary bits read but not used, from the highest */
    uint64_t zeros;
    int held; /* how many these are */
    int low_bits;
} RiceReader;

/* low_bits is 0 to 63, and there are bytes enough for the low bits of all `length` numbers. */
static inline RiceReader rice_open(const uint8_t *data, int64_t size, int64_t length,
                                   int low_bits) {
    RiceReader r = {
        data, data + (length * low_bits + 7) / 8, data + size, length, 0, size, 0, 0, 0, low_bits};
    return r;
}

/* The next `count` numbers, as many as are missing at most. */
static inline int rice_read(RiceReader *r, int64_t count, uint64_t *out) {
    const int low_bits = r->low_bits;
    uint64_t word = r->word, zeros = r->zeros;
    int held = r->held;
    for (int64_t n = 0; n < count;) {
        if (!word) {
            zeros += (uint64_t)held;
            if (r->end - r->unary >= 8) {
                word = rice_word(r->unary);
                r->unary += 8;
                held = 64;
            } else if (r->unary < r->end) {
                word = (uint64_t)*r->unary++ << 56;
                held = 8;
            } else {
                return RICE_SHORT;
            }
            continue;
        }
        int more = zeros_above(word);
        zeros += (uint64_t)more;
        /* zeros is below 2^35 in any file that can be read. */
        if (low_bits && zeros >> (64 - low_bits)) return RICE_WIDE;
        out[n++] = zeros << low_bits;
        zeros = 0;
        word = word << more << 1;
        held -= more + 1;
    }
    r->word = word, r->zeros = zeros, r->held = held;
    r->missing -= count;
    if (!low_bits) return RICE_GOOD;
    int64_t n = 0, bit = r->bit;
    /* A word that begins in the middle of a byte has 57 bits at least. */
    for (; low_bits <= 57 && n < count && bit / 8 + 8 <= r->size; n++, bit += low_bits)
        out[n] |= rice_word(r->data + bit / 8) << (bit & 7) >> (64 - low_bits);
    for (; n < count; n++) {
        uint64_t value = 0;
        for (int taken = 0; taken < low_bits; taken++, bit++)
            value = value << 1 | (r->data[bit / 8] >> (7 - (bit & 7)) & 1);
        out[n] |= value;
    }
    r->bit = bit;
    return RICE_GOOD;
}

/* Is there nothing after the last number but what fills its byte? */
static inline int rice_close(const RiceReader *r) {
    if (r->word || r->held >= 8 || r->unary < r->end) return RICE_LONG;
    if (r->bit & 7 && r->data[r->bit / 8] & (0xff >> (r->bit & 7))) return RICE_FILLED;
    return RICE_GOOD;
}

/* What the codes of packed arrays stand for: formats/packing.py tells the kinds. */
enum { RICE_AS_IT_IS, RICE_POSITIVE, RICE_SIGNED, RICE_ASCENDING };
#define RICE_BLOCK 512

/* Numbers that are made of codes, block by block; rows are those of RICE_ASCENDING. */
typedef struct {
    const int64_t *starts; /* where rows begin, n_rows + 1 of them, rising */
    int64_t row, place;
    uint64_t last, limit;
} RiceMaker;

/* Make the numbers of a block in place of its codes, negative ones as two's complements; tells
 * whether all are within the limit. */
static inline int rice_make(RiceMaker *m, int kind, int64_t count, uint64_t *codes) {
    uint64_t most = 0;
    if (kind == RICE_ASCENDING) {
        int64_t place = m->place, row_end = m->starts[m->row];
        uint64_t last = m->last;
        for (int64_t n = 0; n < count; n++, place++) {
            if (place == row_end) {
                row_end = m->starts[++m->row];
                last = codes[n];
                if (last > m->limit) return 0;
                continue;
            }
            /* The next one is last + code + 1. */
            if (codes[n] >= m->limit - last) return 0;
            codes[n] = last += codes[n] + 1;
        }
        m->place = place, m->last = last;
        return 1;
    }
    for (int64_t n = 0; n < count; n++) {
        uint64_t code = codes[n];
        if (code > most) most = code;
        if (kind == RICE_POSITIVE) codes[n] = code + 1;
        if (kind == RICE_SIGNED) codes[n] = ((code >> 1) + 1) * (1 - 2 * (code & 1));
    }
    return kind == RICE_AS_IT_IS || (kind == RICE_SIGNED ? most / 2 : most) < m->limit;
}

/* Store the lowest `item` bytes of each number: 1, 2, 4 or 8. */
static inline void rice_store(const uint64_t *numbers, int64_t count, int item, uint8_t *out) {
    int64_t n;
    switch (item) {
        case 1:
            for (n = 0; n < count; n++) out[n] = (uint8_t)numbers[n];
            break;
        case 2:
            for (n = 0; n < count; n++) ((uint16_t *)out)[n] = (uint16_t)numbers[n];
            break;
        case 4:
            for (n = 0; n < count; n++) ((uint32_t *)out)[n] = (uint32_t)numbers[n];
            break;
        default:
            for (n = 0; n < count; n++) ((uint64_t *)out)[n] = numbers[n];
    }
}

/* All numbers of a code, of `item` bytes each, to `out`. */
static inline int rice_numbers(RiceReader *r, RiceMaker *m, int kind, int item, uint8_t *out) {
    uint64_t block[RICE_BLOCK];
    while (r->missing) {
        int64_t count = r->missing < RICE_BLOCK ? r->missing : RICE_BLOCK;
        int status = rice_read(r, count, block);
        if (status != RICE_GOOD) return status;
        if (!rice_make(m, kind, count, block)) return RICE_BEYOND;
        rice_store(block, count, item, out);
        out += count * item;
    }
    return rice_close(r);
}

#endif
