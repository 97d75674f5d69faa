/* Sentences that were written without accents, read with those of words that training has.
 *
 * Of a word that training does not have, accents are put on one letter, on two, up to four, until it
 * is one that training has; how it was written stays what it is. A sentence with an accent in it is
 * taken at its word. */
#pragma once

#include "text/words.h"

#define LONGEST_ACCENTED 40 /* letters of a word */
#define MOST_PUT 4          /* accents on a word */
#define MOST_READINGS 4000  /* words that one might be */
#define PLAIN_LETTERS 0x400
#define ACCENTED_LETTERS 0x2000
#define VOCABULARY_BITS 12
#define FIRST_MARK 0x300
#define LAST_MARK 0x36F

typedef struct {
    uint32_t plain, accented, small; /* the last is the accented letter as a small one */
} Accent;

typedef struct {
    Accent *accents; /* those of a letter stand together, the most frequent first; 0 at the end */
    uint16_t first[PLAIN_LETTERS]; /* of a letter: 1 + its first accent, or 0 */
    uint64_t is_accented[ACCENTED_LETTERS / 64];
    uint32_t *vocabulary; /* upper halves of the hashes of words, ascending */
    uint32_t starts[(1 << VOCABULARY_BITS) + 1]; /* by their upper bits */
    uint32_t least; /* letters of a sentence, of which one would have an accent; 0: no accents */
} Accents;

static inline void accents_close(Accents *a) {
    free(a->accents);
    free(a->vocabulary);
}

/* Have room for accents and words, which accents_ready takes once they are there. -1: no memory. */
static inline int accents_open(Accents *a, size_t n_accents, size_t n_words) {
    a->accents = (Accent *)calloc(n_accents + 1, sizeof *a->accents);
    a->vocabulary = (uint32_t *)calloc(n_words + 1, sizeof *a->vocabulary);
    return a->accents && a->vocabulary ? 0 : -1;
}

static inline void accents_ready(Accents *a, size_t n_accents, size_t n_words, uint32_t least) {
    for (size_t k = n_accents; k-- > 0;) {
        const Accent *own = &a->accents[k];
        a->first[own->plain] = (uint16_t)(k + 1);
        a->is_accented[own->accented / 64] |= 1ULL << own->accented % 64;
    }
    for (size_t k = 0; k < n_words; k++)
        a->starts[(a->vocabulary[k] >> (32 - VOCABULARY_BITS)) + 1]++;
    for (size_t k = 0; k < 1 << VOCABULARY_BITS; k++) a->starts[k + 1] += a->starts[k];
    /* Letters and accents by themselves are as good as accented letters. */
    for (uint32_t c = FIRST_MARK; c <= LAST_MARK; c++) a->is_accented[c / 64] |= 1ULL << c % 64;
    a->least = n_accents ? least : 0;
}

/* A word that may be another: its letters as they are, and as small ones. */
typedef struct {
    uint32_t letters[LONGEST_ACCENTED], small[LONGEST_ACCENTED];
    uint32_t n, spots[LONGEST_ACCENTED], n_spots, n_tried;
    int has_capital;
} PlainWord;

static inline int has_word(const Accents *a, const uint32_t *letters, uint32_t n) {
    uint8_t bytes[4 * LONGEST_ACCENTED];
    uint32_t used = 0;
    for (uint32_t k = 0; k < n; k++) used += utf8_put(bytes + used, letters[k]);
    const uint32_t half = (uint32_t)(xxh64(bytes, used, 0) >> 32);
    const uint32_t bucket = half >> (32 - VOCABULARY_BITS);
    for (uint32_t k = a->starts[bucket]; k < a->starts[bucket + 1]; k++)
        if (a->vocabulary[k] == half) return 1;
    return 0;
}

static inline int is_training_word(const Accents *a, const PlainWord *w) {
    return has_word(a, w->letters, w->n) || (w->has_capital && has_word(a, w->small, w->n));
}

/* The small letter of one without an accent. */
static inline uint32_t small_plain(uint32_t c) {
    return (c >= 'A' && c <= 'Z') || (c >= 0x391 && c <= 0x3A9) ? c + 0x20 : c;
}

/* Read a word; whether it has letters that may bear accents, and is none that training has. */
static inline int may_be_other(const Accents *a, PlainWord *w, const uint8_t *text, uint32_t n) {
    if (n > LONGEST_ACCENTED) return 0;
    w->n = utf8_decode(text, n, w->letters);
    w->n_spots = w->n_tried = 0;
    w->has_capital = 0;
    for (uint32_t k = 0; k < w->n; k++) {
        const uint32_t c = w->letters[k];
        w->small[k] = small_plain(c);
        w->has_capital |= w->small[k] != c;
        if (c < PLAIN_LETTERS && a->first[c]) w->spots[w->n_spots++] = k;
    }
    return w->n_spots && !is_training_word(a, w);
}

/* Put so many accents on letters from a spot on, until training has the word. */
static inline int put_accents(const Accents *a, PlainWord *w, uint32_t from, uint32_t n) {
    for (uint32_t k = from; k + n <= w->n_spots && w->n_tried < MOST_READINGS; k++) {
        const uint32_t at = w->spots[k], letter = w->letters[at], small = w->small[at];
        for (const Accent *own = &a->accents[a->first[letter] - 1]; own->plain == letter; own++) {
            w->letters[at] = own->accented;
            w->small[at] = own->small;
            if (n > 1 ? put_accents(a, w, k + 1, n - 1) : is_training_word(a, w)) return 1;
            w->n_tried++;
        }
        w->letters[at] = letter;
        w->small[at] = small;
    }
    return 0;
}

/* A word with accents into `to`, if it is another with them: how many bytes; else 0. */
static inline uint32_t with_accents(const Accents *a, const uint8_t *text, uint32_t n,
                                    uint8_t *to) {
    PlainWord w;
    uint32_t used = 0;
    int is_other = 0;
    if (!may_be_other(a, &w, text, n)) return 0;
    for (uint32_t put = 1; put <= MOST_PUT && !is_other; put++)
        is_other = put_accents(a, &w, 0, put);
    for (uint32_t k = 0; is_other && k < w.n; k++) used += utf8_put(to + used, w.letters[k]);
    return used;
}

/* How many letters a word has; -1 if it has an accent. */
static inline int64_t plain_letters(const Accents *a, const uint8_t *text, uint32_t n) {
    int64_t n_letters = 0;
    for (uint32_t at = 0; at < n;) {
        uint32_t point = text[at], size = 1;
        if (point < 0x80) {
            n_letters += (uint8_t)((point | 0x20) - 'a') < 26;
            at++;
            continue;
        }
        while (size < 4 && at + size < n && (text[at + size] & 0xC0) == 0x80) size++;
        (void)utf8_decode(text + at, size, &point);
        if (point < ACCENTED_LETTERS && a->is_accented[point / 64] >> point % 64 & 1) return -1;
        n_letters++;
        at += size;
    }
    return n_letters;
}

/* Are words without accents, of which they would have one? */
static inline int are_plain(const Accents *a, const TextWords *x, const uint8_t *text, size_t begin,
                            size_t end) {
    int64_t n_letters = 0;
    for (size_t k = begin; k < end; k++) {
        const TextWord word = x->words[k];
        const int64_t own = plain_letters(a, text_word_bytes(x, text, word), word.length);
        if (own < 0) return 0;
        n_letters += own;
    }
    return n_letters >= a->least;
}

/* Read sentences without accents with them; -1: no memory. */
static inline int read_plain(const Accents *a, TextWords *x, const Cut *cut, const uint8_t *text) {
    for (size_t s = 0; a->least && s < cut->n_sentences; s++) {
        const size_t begin = x->first[cut->sentences[s]], end = x->first[cut->sentences[s + 1]];
        if (!are_plain(a, x, text, begin, end)) continue;
        if (!x->is_read) {
            if (array_room(&x->read, &x->read_room, x->n_words, sizeof *x->read) < 0) return -1;
            memcpy(x->read, x->words, x->n_words * sizeof *x->words);
            x->is_read = 1;
        }
        for (size_t k = begin; k < end; k++) {
            uint8_t own[4 * LONGEST_ACCENTED], *to;
            const TextWord word = x->words[k];
            const uint32_t n = with_accents(a, text_word_bytes(x, text, word), word.length, own);
            if (!n) continue;
            if (!(to = made_room(x, n))) return -1;
            memcpy(to, own, n);
            x->read[k] = (TextWord){MADE | (uint32_t)x->made_used, n};
            x->made_used += n;
        }
    }
    return 0;
}
