/* Code points to UTF-8 and back. */
#ifndef PERCEPTRON_NLP_CODEPOINTS_H
#define PERCEPTRON_NLP_CODEPOINTS_H

#include <stddef.h>
#include <stdint.h>

/* UTF-8 to code points. The bytes come from str objects, where a lone surrogate is written as
 * its three bytes, so every sequence is complete. */
static inline uint32_t utf8_decode(const uint8_t *p, size_t n, uint32_t *points) {
    const uint8_t *end = p + n;
    uint32_t count = 0;
    while (p < end) {
        uint32_t c = *p;
        if (c < 0x80) {
            p += 1;
        } else if (c < 0xE0) {
            c = (c & 0x1F) << 6 | (p[1] & 0x3F);
            p += 2;
        } else if (c < 0xF0) {
            c = (c & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
            p += 3;
        } else {
            c = (c & 0x07) << 18 | (uint32_t)(p[1] & 0x3F) << 12 | (uint32_t)(p[2] & 0x3F) << 6 |
                (p[3] & 0x3F);
            p += 4;
        }
        points[count++] = c;
    }
    return count;
}

/* One code point as UTF-8, a lone surrogate as its three bytes like any other; how many bytes. */
static inline uint32_t utf8_put(uint8_t *p, uint32_t c) {
    if (c < 0x80) {
        p[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        p[0] = (uint8_t)(0xC0 | c >> 6);
        p[1] = (uint8_t)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        p[0] = (uint8_t)(0xE0 | c >> 12);
        p[1] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
        p[2] = (uint8_t)(0x80 | (c & 0x3F));
        return 3;
    }
    p[0] = (uint8_t)(0xF0 | c >> 18);
    p[1] = (uint8_t)(0x80 | (c >> 12 & 0x3F));
    p[2] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
    p[3] = (uint8_t)(0x80 | (c & 0x3F));
    return 4;
}

#endif
