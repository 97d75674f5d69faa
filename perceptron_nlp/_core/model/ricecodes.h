/* Numbers out of a Rice code: formats/tensorarrays.py has the layout. */
#pragma once

#include <stdint.h>

#include "table/portable.h"

enum { RICE_GOOD, RICE_SHORT, RICE_LONG, RICE_WIDE, RICE_FILLED, RICE_BEYOND };

/* What the codes of packed arrays stand for: formats/tensorarrays.py has the kinds. */
enum { RICE_AS_IT_IS, RICE_POSITIVE, RICE_SIGNED, RICE_ASCENDING };

/* low_bits is 0 to 63, and there are bytes enough for a bit and the low bits of each number. */
typedef struct {
    const uint8_t *data;
    int64_t size, length;
    int low_bits;
    int kind, item;        /* what is made of each number, and in how many bytes: 1, 2, 4 or 8 */
    const int64_t *starts; /* where the rows of RICE_ASCENDING begin, rising, and where all ends */
    uint64_t limit;        /* the largest number that is made */
} RiceCode;

/* Bytes of the low bits of all numbers. */
static inline int64_t rice_low_size(const RiceCode *c) {
    return (c->length * c->low_bits + 7) / 8;
}

static inline int rice_bit(const RiceCode *c, int64_t place) {
    return c->data[place / 8] >> (7 - place % 8) & 1;
}

/* Store the lowest bytes of a number as the n-th. */
static inline void rice_put(const RiceCode *c, uint8_t *out, int64_t n, uint64_t number) {
    switch (c->item) {
        case 1: out[n] = (uint8_t)number; break;
        case 2: ((uint16_t *)(void *)out)[n] = (uint16_t)number; break;
        case 4: ((uint32_t *)(void *)out)[n] = (uint32_t)number; break;
        default: ((uint64_t *)(void *)out)[n] = number;
    }
}

/* All numbers, bit by bit: for codes that rice_by_bytes cannot read, which tells what is wrong. */
static inline int rice_by_bits(const RiceCode *c, uint8_t *out) {
    const int64_t end = 8 * c->size;
    int64_t unary = 8 * rice_low_size(c), bit = 0, row = 0;
    uint64_t last = 0;
    for (int64_t n = 0; n < c->length; n++) {
        uint64_t value = 0;
        for (;; value++) {
            if (unary == end) return RICE_SHORT;
            if (rice_bit(c, unary++)) break;
        }
        if (c->low_bits && value >> (64 - c->low_bits)) return RICE_WIDE;
        for (int k = 0; k < c->low_bits; k++) value = value << 1 | (uint64_t)rice_bit(c, bit++);
        if (c->kind == RICE_ASCENDING) {
            const int first = n == c->starts[row];
            row += first;
            if (first ? value > c->limit : value >= c->limit - last) return RICE_BEYOND;
            value = last = first ? value : last + value + 1;
        } else if (c->kind != RICE_AS_IT_IS) {
            const uint64_t minus = c->kind == RICE_SIGNED ? 0 - (value & 1) : 0;
            if (c->kind == RICE_SIGNED) value >>= 1;
            if (value >= c->limit) return RICE_BEYOND;
            value = ((value + 1) ^ minus) - minus;
        }
        rice_put(c, out, n, value);
    }
    for (; unary % 8; unary++)
        if (rice_bit(c, unary)) return RICE_LONG;
    if (unary < end) return RICE_LONG;
    for (; bit % 8; bit++)
        if (rice_bit(c, bit)) return RICE_FILLED;
    return RICE_GOOD;
}

/* What a byte of unary parts says. */
typedef struct {
    uint64_t zeros; /* a byte for each one of it, the lowest first: the zeros right before it */
    uint8_t ones;
    uint8_t after; /* zeros at its end */
} RiceByte;

static RiceByte rice_bytes[256];

/* To be called before all else. */
static inline void rice_prepare(void) {
    for (unsigned byte = 0; byte < 256; byte++) {
        RiceByte found = {0, 0, 0};
        for (int bit = 7; bit >= 0; bit--) {
            if (byte >> bit & 1) {
                found.zeros |= (uint64_t)found.after << 8 * found.ones++;
                found.after = 0;
            } else {
                found.after++;
            }
        }
        rice_bytes[byte] = found;
    }
}

#define RICE_BLOCK 512
#define RICE_MOST_ZEROS 247   /* before a byte, so that those in it, too, are told by a byte */
#define RICE_MOST_LOW_BITS 24 /* with a byte of unary part a number has 32 bits */

/* A number with more zeros than a byte tells. */
typedef struct {
    int64_t number;
    uint64_t zeros;
} RiceLongPart;

/* The unary parts of all numbers, into room for eight more. 0: there are more or fewer. */
static inline int rice_unary(const RiceCode *c, uint8_t *parts, RiceLongPart *longs) {
    const uint8_t *at = c->data + rice_low_size(c), *const end = c->data + c->size;
    uint8_t *out = parts, *const stop = parts + c->length;
    uint64_t before = 0;
    for (; at < end; at++) {
        const RiceByte *byte = &rice_bytes[*at];
        if (out >= stop) return 0;
        if (before > RICE_MOST_ZEROS) {
            *longs++ = (RiceLongPart){out - parts, before};
            before = 0;
        }
        const uint64_t zeros = LOWEST_FIRST_64(byte->zeros + before);
        memcpy(out, &zeros, sizeof zeros);
        out += byte->ones;
        before = byte->after + (before & (0 - (uint64_t)!byte->ones));
    }
    longs->number = c->length;
    return out == stop;
}

/* 64 bits from a byte on, the first of them highest. */
static inline uint64_t rice_word(const uint8_t *at) {
    return (uint64_t)at[0] << 56 | (uint64_t)at[1] << 48 | (uint64_t)at[2] << 40 |
           (uint64_t)at[3] << 32 | (uint64_t)at[4] << 24 | (uint64_t)at[5] << 16 |
           (uint64_t)at[6] << 8 | (uint64_t)at[7];
}

/* Put the low bits of the numbers of a block behind their unary parts; the first one's number is a
 * multiple of eight, and its low bits begin a byte. */
static inline void rice_low(const RiceCode *c, int64_t first, int64_t count, uint32_t *codes) {
    const int bits = c->low_bits, several = bits <= 14 ? 4 : 1;
    const uint8_t *data = c->data + first / 8 * bits;
    int64_t n = 0;
    if (!bits) return;
    /* What is read stays within the data. */
    const int64_t whole = 8 * (c->data + c->size - data - 8);
    for (; n + several <= count && n * bits <= whole; n += several) {
        uint64_t word = rice_word(data + n * bits / 8) << n * bits % 8;
        for (int k = 0; k < several; k++, word <<= bits)
            codes[n + k] = codes[n + k] << bits | (uint32_t)(word >> (64 - bits));
    }
    for (; n < count; n++)
        for (int64_t bit = (first + n) * bits; bit < (first + n + 1) * bits; bit++)
            codes[n] = codes[n] << 1 | (uint32_t)rice_bit(c, bit);
}

#define RICE_FEW_BITS 7 /* with a byte of unary part a number has 15 bits */

/* The whole codes of a block whose low bits are few, by eights: the bits are spread over the bytes
 * of a word, half by half. 0: their number is no multiple of eight, or they end the data. */
static inline int rice_few(const RiceCode *c, int64_t first, int64_t count, const uint8_t *parts,
                           uint16_t *codes) {
    const int bits = c->low_bits;
    const uint64_t four = ((uint64_t)1 << 4 * bits) - 1,
                   two = (((uint64_t)1 << 2 * bits) - 1) * 0x0000000100000001u,
                   one = (((uint64_t)1 << bits) - 1) * 0x0001000100010001u;
    const uint8_t *data = c->data + first / 8 * bits;
    uint8_t low[RICE_BLOCK];
    if (count % 8 || c->data + c->size - data < count / 8 * bits + 8) return 0;
    for (int64_t n = 0; n < count; n += 8, data += bits) {
        uint64_t word = rice_word(data) >> 1 >> (63 - 8 * bits);
        word = (word & four) | (word & four << 4 * bits) << (32 - 4 * bits);
        word = (word & two) | (word & two << 2 * bits) << (16 - 2 * bits);
        word = (word & one) | (word & one << bits) << (8 - bits);
        for (int k = 0; k < 8; k++) low[n + k] = (uint8_t)(word >> (56 - 8 * k));
    }
    for (int64_t n = 0; n < count; n++) codes[n] = (uint16_t)(parts[n] << bits | low[n]);
    return 1;
}

/* Make the numbers of a block of codes; those of RICE_ASCENDING go on from `next`, what follows the
 * last one, where `same` has ones, and from 0 where it has zeros. 0: one may be beyond the limit,
 * all of whose bits are ones. */
#define RICE_MADE(name, code, type)                                                         \
    static inline int name(const RiceCode *c, uint64_t *next, const int32_t *same,          \
                           const code *codes, int64_t count, type *restrict out) {          \
        const int kind = c->kind;                                                           \
        uint64_t after = *next, all = 0;                                                    \
        code high = 0;                                                                      \
        if (kind == RICE_ASCENDING) {                                                       \
            /* Rows are short, and of lengths that no branch can foresee. */                \
            for (int64_t n = 0; n < count; n++) {                                           \
                after = (after & (uint64_t)(int64_t)same[n]) + ((uint64_t)codes[n] + 1);    \
                all |= after - 1;                                                           \
                out[n] = (type)(after - 1);                                                 \
            }                                                                               \
            *next = after;                                                                  \
            return all <= c->limit;                                                         \
        }                                                                                   \
        for (int64_t n = 0; n < count; n++) high = codes[n] > high ? codes[n] : high;       \
        if (kind == RICE_AS_IT_IS)                                                          \
            for (int64_t n = 0; n < count; n++) out[n] = (type)codes[n];                    \
        else if (kind == RICE_POSITIVE)                                                     \
            for (int64_t n = 0; n < count; n++) out[n] = (type)(codes[n] + 1);              \
        else                                                                                \
            for (int64_t n = 0; n < count; n++) {                                           \
                const type minus = (type)(0 - (type)(codes[n] & 1));                        \
                out[n] = (type)((((codes[n] >> 1) + 1) ^ minus) - minus);                   \
            }                                                                               \
        const uint32_t most = high;                                                         \
        return (kind == RICE_SIGNED ? most / 2 : most) < c->limit && most < UINT32_MAX / 2; \
    }
RICE_MADE(rice_made_1, uint32_t, uint8_t)
RICE_MADE(rice_made_2, uint32_t, uint16_t)
RICE_MADE(rice_made_4, uint32_t, uint32_t)
RICE_MADE(rice_made_8, uint32_t, uint64_t)
RICE_MADE(rice_made_few_1, uint16_t, uint8_t)
RICE_MADE(rice_made_few_2, uint16_t, uint16_t)

/* All numbers, by tables and in blocks. 0: this cannot read them, or something is wrong. */
static inline int rice_by_bytes(const RiceCode *c, uint8_t *parts, RiceLongPart *longs,
                                uint8_t *out) {
    uint32_t codes[RICE_BLOCK];
    uint16_t few[RICE_BLOCK];
    int32_t same[RICE_BLOCK];
    uint64_t next = 0;
    int64_t row = 0;
    if (!rice_unary(c, parts, longs)) return 0;
    for (int64_t bit = c->length * c->low_bits; bit % 8; bit++)
        if (rice_bit(c, bit)) return 0;
    for (int64_t first = 0; first < c->length; first += RICE_BLOCK) {
        const int64_t left = c->length - first, count = left < RICE_BLOCK ? left : RICE_BLOCK;
        int good;
        if (c->kind == RICE_ASCENDING) {
            memset(same, -1, sizeof same);
            for (; c->starts[row] < first + count; row++) same[c->starts[row] - first] = 0;
        }
        if (c->item <= 2 && c->low_bits <= RICE_FEW_BITS && longs->number >= first + count &&
            rice_few(c, first, count, parts + first, few)) {
            good = c->item == 1 ? rice_made_few_1(c, &next, same, few, count, out + first)
                                : rice_made_few_2(c, &next, same, few, count,
                                                  (uint16_t *)(void *)out + first);
            if (!good) return 0;
            continue;
        }
        for (int64_t n = 0; n < count; n++) codes[n] = parts[first + n];
        for (; longs->number < first + count; longs++) {
            const uint64_t zeros = codes[longs->number - first] + longs->zeros;
            if (zeros >> (32 - c->low_bits)) return 0;
            codes[longs->number - first] = (uint32_t)zeros;
        }
        rice_low(c, first, count, codes);
        if (c->item == 1)
            good = rice_made_1(c, &next, same, codes, count, out + first);
        else if (c->item == 2)
            good = rice_made_2(c, &next, same, codes, count, (uint16_t *)(void *)out + first);
        else if (c->item == 4)
            good = rice_made_4(c, &next, same, codes, count, (uint32_t *)(void *)out + first);
        else
            good = rice_made_8(c, &next, same, codes, count, (uint64_t *)(void *)out + first);
        if (!good) return 0;
    }
    return 1;
}

/* All numbers of a code, of c->item bytes each, negative ones as two's complements. */
static inline int rice_numbers(const RiceCode *c, uint8_t *out) {
    if (c->low_bits > RICE_MOST_LOW_BITS || c->length > INT32_MAX) return rice_by_bits(c, out);
    const size_t n_longs = (size_t)(c->size - rice_low_size(c)) / (RICE_MOST_ZEROS / 8) + 1;
    uint8_t *parts = (uint8_t *)malloc((size_t)c->length + 8);
    RiceLongPart *longs = (RiceLongPart *)malloc(n_longs * sizeof *longs);
    const int good = parts && longs && rice_by_bytes(c, parts, longs, out);
    free(parts);
    free(longs);
    return good ? RICE_GOOD : rice_by_bits(c, out);
}
