/* Sentences in other hands, whose words are read as words that training has.
 *
 * In a sentence without an accent, accents are put on one letter of a word that training does not
 * have, on two, up to four, until it is one that training has. In a sentence of small letters, a
 * word is read with a capital if training has it so alone, and in one of capitals in small letters.
 * Of a letter that is drawn out (soooo), two are left, or one. How a word was written stays what it
 * is. */
#pragma once

#include "features/views.h"
#include "text/words.h"

#define LONGEST_READ 40    /* bytes of a word */
#define MOST_PUT 4         /* accents on a word */
#define MOST_READINGS 4000 /* words that one might be */
#define LEAST_CASED 10     /* letters of a sentence that is of one case */
#define PLAIN_LETTERS 0x400
#define ACCENTED_LETTERS 0x2000
#define VOCABULARY_BITS 12
#define FIRST_MARK 0x300
#define LAST_MARK 0x36F
#define SIGMA 0x3C3
#define FINAL_SIGMA 0x3C2
#define DOTLESS 0x131
#define DOTTED 0x130

typedef struct {
    uint32_t plain, accented;
} Accent;

typedef struct {
    Accent *accents; /* those of a letter stand together, the most frequent first; 0 at the end */
    uint16_t first[PLAIN_LETTERS]; /* of a letter: 1 + its first accent, or 0 */
    uint64_t is_accented[ACCENTED_LETTERS / 64];
    uint32_t *vocabulary; /* upper halves of the hashes of words, ascending */
    size_t n_words;
    uint32_t starts[(1 << VOCABULARY_BITS) + 1]; /* by their upper bits */
    uint32_t least; /* letters of a sentence, of which one would have an accent; 0: no accents */
    int turkic;     /* I is the capital of dotless i */
} TextReading;

static inline void reading_close(TextReading *r) {
    free(r->accents);
    free(r->vocabulary);
}

/* Have room for accents and words, which reading_ready takes once they are there. -1: no memory. */
static inline int reading_open(TextReading *r, size_t n_accents, size_t n_words) {
    r->accents = (Accent *)calloc(n_accents + 1, sizeof *r->accents);
    r->vocabulary = (uint32_t *)calloc(n_words + 1, sizeof *r->vocabulary);
    return r->accents && r->vocabulary ? 0 : -1;
}

static inline void reading_ready(TextReading *r, size_t n_accents, size_t n_words, uint32_t least) {
    for (size_t k = n_accents; k-- > 0;) {
        const Accent *own = &r->accents[k];
        r->first[own->plain] = (uint16_t)(k + 1);
        r->is_accented[own->accented / 64] |= 1ULL << own->accented % 64;
    }
    for (size_t k = 0; k < n_words; k++)
        r->starts[(r->vocabulary[k] >> (32 - VOCABULARY_BITS)) + 1]++;
    for (size_t k = 0; k < 1 << VOCABULARY_BITS; k++) r->starts[k + 1] += r->starts[k];
    /* Letters and accents by themselves are as good as accented letters. */
    for (uint32_t c = FIRST_MARK; c <= LAST_MARK; c++) r->is_accented[c / 64] |= 1ULL << c % 64;
    r->n_words = n_words;
    r->least = n_accents ? least : 0;
}

/* ---- sentences ---- */

enum { IS_PLAIN = 1, IS_SMALL = 2, IS_CAPITAL = 4 };

/* What was seen of the words of a sentence. */
typedef struct {
    int64_t n_letters, n_small, n_capital;
    int has_accent;
} Hand;

static inline void look_at(const TextReading *r, Hand *h, const uint8_t *text, uint32_t n) {
    for (uint32_t at = 0; at < n;) {
        uint32_t point = text[at], size = 1;
        if (point < 0x80) {
            h->n_small += (uint8_t)(point - 'a') < 26;
            h->n_capital += (uint8_t)(point - 'A') < 26;
            h->n_letters += (uint8_t)((point | 0x20) - 'a') < 26;
            at++;
            continue;
        }
        while (size < 4 && at + size < n && (text[at + size] & 0xC0) == 0x80) size++;
        (void)utf8_decode(text + at, size, &point);
        if (point < ACCENTED_LETTERS)
            h->has_accent |= (int)(r->is_accented[point / 64] >> point % 64 & 1);
        h->n_small += Py_UNICODE_ISLOWER(point) != 0;
        h->n_capital += Py_UNICODE_ISUPPER(point) != 0;
        h->n_letters++;
        at += size;
    }
}

/* Can nothing more be said of a sentence than that it is as others are? */
static inline int is_usual(const TextReading *r, const Hand *h) {
    return h->n_small && h->n_capital && (h->has_accent || !r->least);
}

static inline int hand_of(const TextReading *r, const Hand *h) {
    int hand = r->least && !h->has_accent && h->n_letters >= r->least ? IS_PLAIN : 0;
    if (h->n_small >= LEAST_CASED && !h->n_capital) hand |= IS_SMALL;
    if (h->n_capital >= LEAST_CASED && !h->n_small) hand |= IS_CAPITAL;
    return hand;
}

/* ---- words ---- */

/* A word, which may be read otherwise: its letters, and as small ones. */
typedef struct {
    uint32_t letters[LONGEST_READ], small[LONGEST_READ];
    uint32_t n, spots[LONGEST_READ], n_spots, n_tried;
    int has_capital;
} OpenWord;

static inline uint32_t small_letter(const TextReading *r, uint32_t c) {
    if (c < 0x80) return c == 'I' && r->turkic ? DOTLESS : ascii_lower((uint8_t)c);
    return c == DOTTED ? 'i' : Py_UNICODE_TOLOWER(c);
}

static inline uint32_t capital_letter(const TextReading *r, uint32_t c) {
    return c == 'i' && r->turkic ? DOTTED : Py_UNICODE_TOUPPER(c);
}

static inline void open_word(const TextReading *r, OpenWord *w) {
    w->n_spots = w->n_tried = 0;
    w->has_capital = 0;
    for (uint32_t k = 0; k < w->n; k++) {
        const uint32_t c = w->letters[k];
        w->small[k] = small_letter(r, c);
        if (k && k + 1 == w->n && w->small[k] == SIGMA && c != SIGMA) w->small[k] = FINAL_SIGMA;
        w->has_capital |= w->small[k] != c;
        if (c < PLAIN_LETTERS && r->first[c]) w->spots[w->n_spots++] = k;
    }
}

static inline int has_word(const TextReading *r, const uint32_t *letters, uint32_t n) {
    uint8_t bytes[4 * LONGEST_READ];
    uint32_t used = 0;
    for (uint32_t k = 0; k < n; k++) used += utf8_put(bytes + used, letters[k]);
    const uint32_t half = (uint32_t)(xxh64(bytes, used, 0) >> 32);
    const uint32_t bucket = half >> (32 - VOCABULARY_BITS);
    for (uint32_t k = r->starts[bucket]; k < r->starts[bucket + 1]; k++)
        if (r->vocabulary[k] == half) return 1;
    return 0;
}

enum { UNREAD, AS_WRITTEN, AS_SMALL, AS_TITLE };

/* In which form training has a word, for a sentence of this hand. */
static inline int known_form(const TextReading *r, OpenWord *w, int hand) {
    if (has_word(r, w->letters, w->n)) return AS_WRITTEN;
    if (w->has_capital && !(hand & IS_SMALL) && has_word(r, w->small, w->n))
        return hand & IS_CAPITAL ? AS_SMALL : AS_WRITTEN;
    if (!(hand & (IS_SMALL | IS_CAPITAL)) || !w->n) return UNREAD;
    const uint32_t first = w->small[0];
    w->small[0] = capital_letter(r, first);
    const int form = w->small[0] != first && has_word(r, w->small, w->n) ? AS_TITLE : UNREAD;
    w->small[0] = first;
    return form;
}

/* Put so many accents on letters from a spot on, until training has the word; in which form. */
static inline int put_accents(const TextReading *r, OpenWord *w, int hand, uint32_t from,
                              uint32_t n) {
    for (uint32_t k = from; k + n <= w->n_spots && w->n_tried < MOST_READINGS; k++) {
        const uint32_t at = w->spots[k], letter = w->letters[at], small = w->small[at];
        for (const Accent *own = &r->accents[r->first[letter] - 1]; own->plain == letter; own++) {
            w->letters[at] = own->accented;
            w->small[at] = small_letter(r, own->accented);
            const int form = n > 1 ? put_accents(r, w, hand, k + 1, n - 1) : known_form(r, w, hand);
            if (form) return form;
            w->n_tried++;
        }
        w->letters[at] = letter;
        w->small[at] = small;
    }
    return UNREAD;
}

/* Leave so many of letters that stand three times or more; whether there are any. */
static inline int undraw(const TextReading *r, const OpenWord *from, OpenWord *to, uint32_t most) {
    int is_drawn = 0;
    to->n = 0;
    for (uint32_t k = 0, end; k < from->n; k = end) {
        const uint32_t c = from->letters[k];
        end = k + 1;
        while (end < from->n && from->letters[end] == c) end++;
        const int is_run = end - k > 2 && Py_UNICODE_ISALPHA(c);
        is_drawn |= is_run;
        for (uint32_t i = 0; i < (is_run ? most : end - k); i++) to->letters[to->n++] = c;
    }
    open_word(r, to);
    return is_drawn;
}

/* How a word of a sentence is read, if otherwise than it is written, into `to`: how many bytes; else
 * 0. */
static inline uint32_t read_as(const TextReading *r, int hand, const uint8_t *text, uint32_t n,
                               uint8_t *to) {
    OpenWord w, other;
    int form, is_written = 1;
    uint32_t used = 0;
    if (n > LONGEST_READ) return 0;
    w.n = utf8_decode(text, n, w.letters);
    open_word(r, &w);
    form = known_form(r, &w, hand);
    for (uint32_t most = 2; most && !form && undraw(r, &w, &other, most); most--)
        if ((form = known_form(r, &other, hand))) {
            w = other;
            is_written = 0;
        }
    for (uint32_t put = 1; put <= MOST_PUT && !form && hand & IS_PLAIN; put++)
        if ((form = put_accents(r, &w, hand, 0, put))) is_written = 0;
    if (form == UNREAD || (form == AS_WRITTEN && is_written)) return 0;
    if (form != AS_WRITTEN) memcpy(w.letters, w.small, w.n * sizeof *w.letters);
    if (form == AS_TITLE) w.letters[0] = capital_letter(r, w.small[0]);
    for (uint32_t k = 0; k < w.n; k++) used += utf8_put(to + used, w.letters[k]);
    return used;
}

/* Does a letter stand three times in a row? Bytes that look so are enough. */
static inline int may_be_drawn(const uint8_t *text, uint32_t n) {
    for (uint32_t k = 2; k < n; k++)
        if (text[k] == text[k - 1] && text[k] == text[k - 2]) return 1;
    for (uint32_t k = 5; k < n; k++)
        if (text[k - 1] >= 0x80 && !memcmp(text + k - 5, text + k - 3, 4)) return 1;
    return 0;
}

/* Read the words of all sentences as training has them; -1: no memory. */
static inline int read_words(const TextReading *r, TextWords *x, const Cut *cut,
                             const uint8_t *text) {
    for (size_t s = 0; r->n_words && s < cut->n_sentences; s++) {
        const size_t begin = x->first[cut->sentences[s]], end = x->first[cut->sentences[s + 1]];
        Hand seen = {0, 0, 0, 0};
        for (size_t k = begin; k < end && !is_usual(r, &seen); k++)
            look_at(r, &seen, text_word_bytes(x, text, x->words[k]), x->words[k].length);
        const int hand = hand_of(r, &seen);
        for (size_t k = begin; k < end; k++) {
            uint8_t own[4 * LONGEST_READ], *to;
            const TextWord word = x->words[k];
            const uint8_t *written = text_word_bytes(x, text, word);
            if (!hand && !may_be_drawn(written, word.length)) continue;
            const uint32_t n = read_as(r, hand, written, word.length, own);
            if (!n) continue;
            if (!x->is_read) {
                if (array_room(&x->read, &x->read_room, x->n_words, sizeof *x->read) < 0) return -1;
                memcpy(x->read, x->words, x->n_words * sizeof *x->words);
                x->is_read = 1;
            }
            if (!(to = made_room(x, n))) return -1;
            memcpy(to, own, n);
            x->read[k] = (TextWord){MADE | (uint32_t)x->made_used, n};
            x->made_used += n;
        }
    }
    return 0;
}
