/* Marks that stand for each other. A treebank has the quotes and dashes of one hand; those that a model
 * has never seen are seen as a like one that it has: what else is known of them, their shape, is that
 * of anything. Whatever is known stays as it is. */
#ifndef PERCEPTRON_NLP_MARKS_H
#define PERCEPTRON_NLP_MARKS_H

#include "features/values.h"

#define MOST_TRIED 6

/* Characters that are alike, and which of them are tried, the first known one standing for all;
 * `repeated`: so do several of one in a row, which of brackets are faces. */
static const struct {
    int repeated;
    const char *members, *tried[MOST_TRIED];
} MARKS[] = {
    {1, "“„‟«‹「『《〝‘‚‛`", {"“", "``", "«", "„", "\"", "‘"}},
    {1, "”»›」』》〞\"", {"”", "''", "»", "“", "\"", "'"}},
    {1, "'’´", {"'", "’", "”", "\""}},
    {1, "-–—―‒−⸺～〜", {"–", "—", "-", "--"}},
    {1, ".…", {"…", "...", "."}},
    {1, "*•·●▪◦■○‣►▶・", {"•", "·", "-", "–", "*"}},
    {0, "([{⟨〈（［【〔", {"(", "["}},
    {0, ")]}⟩〉）］】〕", {")", "]"}},
    {1, "!¡！", {"!"}},
    {1, "?¿؟？", {"?"}},
    {1, ",،，、", {","}},
    {0, ":：", {":"}},
    {1, ";；؛", {";"}},
    {1, "。．｡۔", {".", "。"}},
    {0, "$€£¥₹₽₺₩₴¢", {"$", "€", "£"}},
};
#define N_MARKS ((int)(sizeof MARKS / sizeof *MARKS))

/* The class of the character that a text begins with, or -1; *length is its bytes. */
static inline int mark_class(const uint8_t *text, size_t n, size_t *length) {
    char one[5] = {0};
    *length = text[0] < 0x80 ? 1 : text[0] < 0xE0 ? 2 : text[0] < 0xF0 ? 3 : 4;
    if (!text[0] || *length > n) return -1;
    memcpy(one, text, *length);
    for (int k = 0; k < N_MARKS; k++)
        if (strstr(MARKS[k].members, one)) return k;
    return -1;
}

/* The class of all characters of a token; -1: there is none, or they are of several, as in `:-)`. */
static inline int marks_class(const uint8_t *text, size_t n) {
    size_t length = 0;
    const int first = n ? mark_class(text, n, &length) : -1;
    for (size_t at = length; first >= 0 && at < n; at += length)
        if (!MARKS[first].repeated || mark_class(text + at, n - at, &length) != first) return -1;
    return first;
}

#endif
