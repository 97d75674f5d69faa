/* Numbers out of a Rice code: formats/packing.py tells the layout. */
#ifndef PERCEPTRON_NLP_RICECODES_H
#define PERCEPTRON_NLP_RICECODES_H

#include <stdint.h>

enum { RICE_GOOD, RICE_SHORT, RICE_LONG, RICE_WIDE, RICE_FILLED };

/* 64 bits from a byte on, the first of them highest. */
static inline uint64_t rice_word(const uint8_t *at) {
    return (uint64_t)at[0] << 56 | (uint64_t)at[1] << 48 | (uint64_t)at[2] << 40 |
           (uint64_t)at[3] << 32 | (uint64_t)at[4] << 24 | (uint64_t)at[5] << 16 |
           (uint64_t)at[6] << 8 | (uint64_t)at[7];
}

/* How many zeros stand above the highest one of a word that is not 0. */
static inline int rice_zeros(uint64_t word) {
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_clzll(word);
#else
    int n = 0;
    while (!(word >> 63)) word <<= 1, n++;
    return n;
#endif
}

/* Write the `length` numbers of `size` bytes; low_bits is 0 to 63, and there are bytes enough for
 * the low bits of all. */
static inline int rice_numbers(const uint8_t *data, int64_t size, int64_t length, int low_bits,
                               uint64_t *out) {
    const int64_t low_size = (length * low_bits + 7) / 8;
    const uint8_t *unary = data + low_size, *end = data + size;
    int64_t n = 0;
    uint64_t zeros = 0;
    /* Eight bytes at a time, as long as they cannot hold more numbers than are missing. */
    for (; end - unary >= 8 && length - n > 64; unary += 8) {
        uint64_t word = rice_word(unary);
        int left = 64;
        while (word) {
            int more = rice_zeros(word);
            zeros += (uint64_t)more;
            /* zeros is below 2^35 in any file that can be read. */
            if (low_bits && zeros >> (64 - low_bits)) return RICE_WIDE;
            out[n++] = zeros << low_bits;
            zeros = 0;
            word = word << more << 1;
            left -= more + 1;
        }
        zeros += (uint64_t)left;
    }
    for (; unary < end; unary++) {
        if (n == length) return RICE_LONG;
        for (int bit = 7; bit >= 0; bit--) {
            if (!(*unary >> bit & 1)) {
                zeros++;
                continue;
            }
            if (n == length) return RICE_LONG;
            if (low_bits && zeros >> (64 - low_bits)) return RICE_WIDE;
            out[n++] = zeros << low_bits;
            zeros = 0;
        }
    }
    if (n != length) return RICE_SHORT;
    if (!low_bits) return RICE_GOOD;
    int64_t bit = 0;
    /* A word that begins in the middle of a byte has 57 bits at least. */
    for (n = 0; low_bits <= 57 && n < length && bit / 8 + 8 <= size; n++, bit += low_bits)
        out[n] |= rice_word(data + bit / 8) << (bit & 7) >> (64 - low_bits);
    for (; n < length; n++) {
        uint64_t value = 0;
        for (int taken = 0; taken < low_bits; taken++, bit++)
            value = value << 1 | (data[bit / 8] >> (7 - (bit & 7)) & 1);
        out[n] |= value;
    }
    if (bit & 7 && data[bit / 8] & (0xff >> (bit & 7))) return RICE_FILLED;
    return RICE_GOOD;
}

/* What the codes of packed arrays stand for (formats/packedtensors.py), in their place. Each tells
 * whether no number is above `limit`. */
static inline int rice_positive(uint64_t *codes, int64_t length, uint64_t limit) {
    uint64_t most = 0;
    for (int64_t n = 0; n < length; n++) {
        if (codes[n] > most) most = codes[n];
        codes[n]++;
    }
    return !length || most < limit;
}

/* Numbers below 0 as two's complements. */
static inline int rice_signed(uint64_t *codes, int64_t length, uint64_t limit) {
    uint64_t most = 0;
    for (int64_t n = 0; n < length; n++) {
        uint64_t code = codes[n];
        if (code > most) most = code;
        codes[n] = ((code >> 1) + 1) * (1 - 2 * (code & 1));
    }
    return !length || most / 2 < limit;
}

/* Rows begin at `starts`, n_rows + 1 of them, rising; none is empty. */
static inline int rice_ascending(uint64_t *codes, const int64_t *starts, int64_t n_rows,
                                 uint64_t limit) {
    for (int64_t row = 0; row < n_rows; row++) {
        uint64_t last = codes[starts[row]];
        if (last > limit) return 0;
        for (int64_t n = starts[row] + 1; n < starts[row + 1]; n++) {
            /* The next one is last + code + 1. */
            if (codes[n] >= limit - last) return 0;
            codes[n] = last += codes[n] + 1;
        }
    }
    return 1;
}

#endif
