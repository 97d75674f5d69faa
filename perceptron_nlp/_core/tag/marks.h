/* Marks that stand for each other. A treebank has the quotes and dashes of one hand; those that a model
 * has never seen are seen as a like one that it has: what else is known of them, their shape, is that
 * of anything. Whatever is known stays as it is. */
#pragma once

#include "features/values.h"

#define MOST_TRIED 8

/* Characters that are alike, and which of them are tried, the first known one standing for all;
 * `repeated`: so do several of one in a row, which of brackets are faces. */
static const struct {
    int repeated;
    const char *members, *tried[MOST_TRIED];
} MARKS[] = {
    {1, "“„‟«‹「『《〝‘‚‛`", {"„", "“", "``", "«", "\"", "‘", "(", ","}},
    {1, "”»›」』》〞\"", {"”", "''", "»", "“", "\"", "'", ")", ","}},
    {1, "'’´", {"'", "’", "”", "\"", ")", ","}},
    {1, "-–—―‒−⸺～〜", {"–", "—", "-", "--", ","}},
    {1, ".…", {"…", "...", "."}},
    {1, "*•·●▪◦■○‣►▶・", {"•", "·", "-", "–", "*"}},
    {0, "([{⟨〈（［【〔", {"(", "[", "“", "«", "\"", ","}},
    {0, ")]}⟩〉）］】〕", {")", "]", "”", "»", "\"", ","}},
    {1, "!！", {"!", "?", "."}},
    {1, "?؟？", {"?", "؟", "!", "."}},
    {1, "¡¿", {"¿", "¡", "“", "„", "«", "\"", "(", ","}},
    {1, ",،，、", {",", "،", "，", "、"}},
    {0, ":：", {":", ";", ","}},
    {1, ";；؛", {";", "؛", ":", ","}},
    {1, "。．｡۔", {".", "。"}},
    {0, "$€£¥₹₽₺₩₴¢", {"$", "€", "£"}},
    {1, "", {":)", ":-)", ":(", "=", "+", "%"}}, /* pictures, and what joins or varies them */
};
#define N_MARKS ((int)(sizeof MARKS / sizeof *MARKS))

/* May a text that begins with this byte begin with a mark? Digits and letters of ASCII do not, nor do
 * Latin, Greek, Cyrillic, Armenian and Hebrew ones: most words need not be looked at. */
static inline int may_begin_mark(uint8_t first) {
    const uint8_t low = first | 0x20;
    if (first < 0x80) return !(low >= 'a' && low <= 'z') && !(first >= '0' && first <= '9');
    return first < 0xC3 || first >= 0xD8;
}

/* The class of the character that a text begins with, or -1; *length is its bytes. */
static inline int mark_class(const uint8_t *text, size_t n, size_t *length) {
    char one[5] = {0};
    *length = text[0] < 0x80 ? 1 : text[0] < 0xE0 ? 2 : text[0] < 0xF0 ? 3 : 4;
    if (!text[0] || *length > n) return -1;
    memcpy(one, text, *length);
    for (int k = 0; k < N_MARKS - 1; k++)
        if (strstr(MARKS[k].members, one)) return k;
    uint32_t code;
    utf8_decode(text, *length, &code);
    return is_picture(code) || code == 0xFE0F || code == 0x200D ? N_MARKS - 1 : -1;
}

/* The class of all characters of a token; -1: there is none, or they are of several, as in `:-)`. */
static inline int marks_class(const uint8_t *text, size_t n) {
    size_t length = 0;
    const int first = n && may_begin_mark(text[0]) ? mark_class(text, n, &length) : -1;
    for (size_t at = length; first >= 0 && at < n; at += length)
        if (!MARKS[first].repeated || mark_class(text + at, n - at, &length) != first) return -1;
    return first;
}
