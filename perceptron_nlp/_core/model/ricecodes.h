/* Numbers out of a Rice code: formats/tensorarrays.py has the layout. */
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

/* The same bits in the other order. */
static inline uint64_t rice_turned(uint64_t x) {
    x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
    x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
    x = (x >> 8 & 0x00ff00ff00ff00ff) | (x & 0x00ff00ff00ff00ff) << 8;
    x = (x >> 16 & 0x0000ffff0000ffff) | (x & 0x0000ffff0000ffff) << 16;
    return x >> 32 | x << 32;
}

/* A code being read, a block of numbers at a time: the low bits and the unary parts, which stand
 * one after the other, are followed side by side. */
typedef struct {
    const uint8_t *data, *unary, *end;
    int64_t missing; /* numbers still to be read */
    int64_t bit;     /* of the low bits, the next */
    int64_t size;
    uint64_t ones; /* of the unary bits at hand, the next of them lowest, those not used yet */
    int64_t last;  /* the place among them of the last that was used; negative: zeros before them */
    int held;      /* how many are at hand */
    int low_bits;
} RiceReader;

/* low_bits is 0 to 63, and there are bytes enough for the low bits of all `length` numbers. */
static inline RiceReader rice_open(const uint8_t *data, int64_t size, int64_t length,
                                   int low_bits) {
    RiceReader r = {
        data, data + (length * low_bits + 7) / 8, data + size, length, 0, size, 0, -1, 0, low_bits};
    return r;
}

/* The unary parts of the next `count` numbers. */
static inline int rice_unary(RiceReader *r, int64_t count, uint64_t *out) {
    uint64_t ones = r->ones;
    int64_t last = r->last;
    for (int64_t n = 0; n < count;) {
        if (!ones) {
            last -= r->held;
            if (r->end - r->unary >= 8) {
                ones = rice_turned(rice_word(r->unary));
                r->unary += 8;
                r->held = 64;
            } else if (r->unary < r->end) {
                ones = rice_turned((uint64_t)*r->unary++ << 56);
                r->held = 8;
            } else {
                return RICE_SHORT;
            }
        }
        for (; ones && n < count; ones &= ones - 1) {
            int64_t place = lowest_bit(ones);
            out[n++] = (uint64_t)(place - last - 1);
            last = place;
        }
    }
    r->ones = ones, r->last = last;
    return RICE_GOOD;
}

/* The low bits of the numbers whose unary parts are in `out`, put after these. */
static inline void rice_low(RiceReader *r, int64_t count, uint64_t *out) {
    const int low_bits = r->low_bits, at_once = 57 / low_bits;
    int64_t n = 0, bit = r->bit;
    /* A word that begins in the middle of a byte has 57 bits at least. */
    for (; n + at_once <= count && at_once && bit / 8 + 8 <= r->size; bit += at_once * low_bits) {
        uint64_t word = rice_word(r->data + bit / 8) << (bit & 7);
        for (int64_t to = n + at_once; n < to; n++, word <<= low_bits)
            out[n] = out[n] << low_bits | word >> (64 - low_bits);
    }
    for (; n < count; n++) {
        uint64_t value = out[n];
        for (int taken = 0; taken < low_bits; taken++, bit++)
            value = value << 1 | (r->data[bit / 8] >> (7 - (bit & 7)) & 1);
        out[n] = value;
    }
    r->bit = bit;
}

/* The next `count` numbers, as many as are missing at most. */
static inline int rice_read(RiceReader *r, int64_t count, uint64_t *out) {
    uint64_t some = 0;
    int status = rice_unary(r, count, out);
    if (status != RICE_GOOD) return status;
    r->missing -= count;
    if (!r->low_bits) return RICE_GOOD;
    for (int64_t n = 0; n < count; n++) some |= out[n];
    if (some >> (64 - r->low_bits)) return RICE_WIDE;
    rice_low(r, count, out);
    return RICE_GOOD;
}

/* Is there nothing after the last number but what fills its byte? */
static inline int rice_close(const RiceReader *r) {
    if (r->ones || r->held - r->last > 8 || r->unary < r->end) return RICE_LONG;
    if (r->bit & 7 && r->data[r->bit / 8] & (0xff >> (r->bit & 7))) return RICE_FILLED;
    return RICE_GOOD;
}

/* What the codes of packed arrays stand for: formats/tensorarrays.py has the kinds. */
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
    /* All bits together are no less than the largest; looking for that is needed near the limit. */
    for (int64_t n = 0; n < count; n++) most |= codes[n];
    if (most >= m->limit) {
        most = 0;
        for (int64_t n = 0; n < count; n++) most = codes[n] > most ? codes[n] : most;
    }
    if (kind == RICE_POSITIVE)
        for (int64_t n = 0; n < count; n++) codes[n]++;
    if (kind == RICE_SIGNED)
        for (int64_t n = 0; n < count; n++) {
            uint64_t minus = 0 - (codes[n] & 1);
            codes[n] = (((codes[n] >> 1) + 1) ^ minus) - minus;
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
