/* Numbers out of a Rice code: formats/packing.py tells the layout. */
#ifndef PERCEPTRON_NLP_RICECODES_H
#define PERCEPTRON_NLP_RICECODES_H

#include <stdint.h>

enum { RICE_GOOD, RICE_SHORT, RICE_LONG, RICE_WIDE, RICE_FILLED };

/* Write the `length` numbers of `size` bytes; low_bits is 0 to 63, and there are bytes enough for
 * the low bits of all. */
static inline int rice_numbers(const uint8_t *data, int64_t size, int64_t length, int low_bits,
                               uint64_t *out) {
    const uint8_t *unary = data + (length * low_bits + 7) / 8, *end = data + size;
    int64_t n = 0;
    uint64_t zeros = 0;
    unsigned held = 0;
    for (; unary < end; unary++) {
        unsigned byte = *unary;
        int bit = 7;
        if (n == length) return RICE_LONG;
        for (; bit >= 0; bit--) {
            if (!(byte >> bit & 1)) {
                zeros++;
                continue;
            }
            if (n == length) return RICE_LONG;
            /* zeros is below 2^35 in any file that can be read. */
            if (low_bits && zeros >> (64 - low_bits)) return RICE_WIDE;
            out[n++] = zeros << low_bits;
            zeros = 0;
        }
    }
    if (n != length) return RICE_SHORT;
    int left = 0;
    const uint8_t *low = data;
    for (n = 0; n < length; n++) {
        uint64_t value = 0;
        int wanted = low_bits;
        while (wanted) {
            if (!left) {
                held = *low++;
                left = 8;
            }
            int taken = wanted < left ? wanted : left;
            value = value << taken | (held >> (left - taken) & ((1u << taken) - 1));
            left -= taken;
            wanted -= taken;
        }
        out[n] |= value;
    }
    return left && (held & ((1u << left) - 1)) ? RICE_FILLED : RICE_GOOD;
}

#endif
