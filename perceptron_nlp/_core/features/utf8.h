/* Is a text UTF-8? */
#pragma once

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

/* Code points to UTF-8 and back. */

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

/* How a character is seen: typographic apostrophes and hyphens as those of ASCII; NOT_SEEN: soft hyphens
 * and what has no width and joins nothing (text/tagset.py). */
#define NOT_SEEN 0xFFFFFFFFu
static inline uint32_t seen_point(uint32_t c) {
    if (c < 0x2000) return c == 0xAD || c == 0x61C ? NOT_SEEN : c;
    if (c > 0x206F) return c == 0xFEFF ? NOT_SEEN : c;
    if (c == 0x2010 || c == 0x2011) return '-';
    if (c == 0x2019) return '\'';
    const int is_hidden = c == 0x200B || c == 0x200E || c == 0x200F || c == 0x2060 ||
                          (c >= 0x202A && c <= 0x202E) || c >= 0x2066;
    return is_hidden ? NOT_SEEN : c;
}

/* Leave out what is not seen, unless that is all; how many are left. */
static inline uint32_t visible_points(uint32_t *points, uint32_t n) {
    uint32_t left = 0, first = 0;
    while (first < n && seen_point(points[first]) == NOT_SEEN) first++;
    for (uint32_t i = first; i < n; i++)
        if (seen_point(points[i]) != NOT_SEEN) points[left++] = points[i];
    return first < n ? left : n;
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
