/* Is a text UTF-8? */
#ifndef PERCEPTRON_NLP_UTF8_H
#define PERCEPTRON_NLP_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Is all of it UTF-8 as The Unicode Standard, table 3-7, has it? */
static inline int is_utf8(const uint8_t *p, size_t n) {
    const uint8_t *end = p + n;
    while (p < end) {
        uint64_t eight, some[8];
        while (end - p >= 64) {
            memcpy(some, p, 64);
            if ((some[0] | some[1] | some[2] | some[3] | some[4] | some[5] | some[6] | some[7]) &
                0x8080808080808080ULL)
                break;
            p += 64;
        }
        if (p == end) break;
        if (end - p >= 8 && (memcpy(&eight, p, 8), !(eight & 0x8080808080808080ULL))) {
            p += 8;
            continue;
        }
        uint8_t c = *p++;
        if (c < 0x80) continue;
        int more = c >= 0xC2 && c <= 0xDF   ? 1
                   : (c & 0xF0) == 0xE0     ? 2
                   : c >= 0xF0 && c <= 0xF4 ? 3
                                            : 0;
        if (!more || end - p < more) return 0;
        uint8_t low = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
        uint8_t high = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
        if (*p < low || *p > high) return 0;
        for (p++; --more; p++)
            if ((*p & 0xC0) != 0x80) return 0;
    }
    return 1;
}

#endif
