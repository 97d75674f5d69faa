/* What can be seen of one word: its views (as written, lower-cased, shape, …), their prefixes,
 * suffixes and n-grams, each as a 64-bit hash of its UTF-8 bytes; and what marks are seen as. */
#pragma once

#include "features/hashing.h"
#include "features/views.h"

enum { AFFIX_NONE, AFFIX_PREFIX, AFFIX_SUFFIX, AFFIX_NGRAMS, AFFIX_PIECES };

/* n-grams of a longer word are those of its first and last halves of this many code points, so
 * that a word of a megabyte is not a million features. */
#define NGRAM_WORD_LIMIT 48

typedef struct {
    int32_t view, affix, low, high;
} ValueSpec;

/* The hash of one value of the word whose views were made last. A word shorter than an affix
 * gives itself whole. */
static inline uint64_t word_value(const WordScratch *s, const ValueSpec *spec) {
    const View *v = &s->views[spec->view];
    uint32_t from = 0, to = v->n, k = (uint32_t)spec->low;
    if (spec->affix == AFFIX_PREFIX && k < to) to = k;
    if (spec->affix == AFFIX_SUFFIX && k < to) from = to - k;
    const uint32_t begin = view_at(s, v, from), n = view_at(s, v, to) - begin;
    /* A view has room for eight bytes more. */
    return n <= 8 ? xxh64_short(xxh_read64(v->text + begin), n) : xxh64(v->text + begin, n, 0);
}

static inline int grams_push(WordScratch *s, uint64_t gram) {
    if (array_room(&s->grams, &s->grams_room, s->n_grams + 1u, sizeof *s->grams) < 0) return -1;
    s->grams[s->n_grams++] = gram;
    return 0;
}

/* Hashes of all n-grams of spec->low to spec->high code points into s->grams; the edges of the
 * word count as one character each. -1: no memory. */
static inline int word_ngrams(WordScratch *s, const ValueSpec *spec) {
    const View *v = &s->views[spec->view];
    uint32_t half = NGRAM_WORD_LIMIT / 2;
    uint32_t pieces = v->n > NGRAM_WORD_LIMIT ? 2 : 1;
    s->n_grams = 0;
    for (uint32_t piece = 0; piece < pieces; piece++) {
        uint32_t from = piece ? v->n - half : 0, to = pieces == 2 && !piece ? half : v->n;
        uint8_t text[4 * NGRAM_WORD_LIMIT + 2];
        uint32_t at[NGRAM_WORD_LIMIT + 3], n = 0, length = 0;
        at[n++] = 0;
        if (from == 0) {
            text[length++] = 2;
            at[n++] = length;
        }
        for (uint32_t i = from; i < to; i++) {
            uint32_t begin = view_at(s, v, i), bytes = view_at(s, v, i + 1) - begin;
            memcpy(text + length, v->text + begin, bytes);
            length += bytes;
            at[n++] = length;
        }
        if (to == v->n) {
            text[length++] = 3;
            at[n++] = length;
        }
        n -= 1;
        for (uint32_t k = (uint32_t)spec->low; k <= (uint32_t)spec->high && k <= n; k++)
            for (uint32_t i = 0; i + k <= n; i++)
                if (grams_push(s, xxh64(text + at[i], at[i + k] - at[i], 0)) < 0) return -1;
    }
    return 0;
}

/* Hashes of what stands between the bars of a value into s->grams. -1: no memory. */
static inline int word_pieces(WordScratch *s, const ValueSpec *spec) {
    const View *v = &s->views[spec->view];
    const uint8_t *text = v->text;
    uint32_t bytes = view_at(s, v, v->n), from = 0;
    s->n_grams = 0;
    for (uint32_t to = 0; to <= bytes; to++) {
        if (to < bytes && text[to] != '|') continue;
        if (to > from && grams_push(s, xxh64(text + from, to - from, 0)) < 0) return -1;
        from = to + 1;
    }
    return 0;
}

/* Has the value any number of hashes rather than one? */
static inline int is_many(const ValueSpec *spec) {
    return spec->affix >= AFFIX_NGRAMS;
}

/* How many it has at most, its edges being characters; 0: any number. */
static inline int32_t most_values(const ValueSpec *spec) {
    const int32_t length = NGRAM_WORD_LIMIT + 2;
    int32_t most = 0;
    if (spec->affix == AFFIX_PIECES) return 0;
    for (int32_t k = spec->low; k <= spec->high && k <= length; k++) most += length - k + 1;
    return most;
}

/* All hashes of such a value into s->grams; -1: no memory. */
static inline int word_many(WordScratch *s, const ValueSpec *spec) {
    return spec->affix == AFFIX_PIECES ? word_pieces(s, spec) : word_ngrams(s, spec);
}

/* ---- marks ---- */

/* Marks that stand for each other. A treebank has the quotes and dashes of one hand; those that a model
 * has never seen are seen as a like one that it has: what else is known of them, their shape, is that
 * of anything. Whatever is known stays as it is. */
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
