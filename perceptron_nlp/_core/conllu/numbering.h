/* CoNLL-U scanned into numbers: the distinct strings of some columns, and each word's string.
 *
 * Lines are judged as scan.h judges them; what it is not sure of ends the scan. */
#pragma once

#include "conllu/scan.h"
#include "features/utf8.h"
#include "tag/typelayout.h"

/* Distinct strings in order of appearance. They point into the texts, which outlive this. Their
 * numbers do not depend on the secrets, which only say where in `slots` a string is looked for. */
typedef struct {
    uint64_t secrets[N_SECRETS];
    uint64_t *hashes; /* under the secrets */
    Field *strings;
    uint32_t *slots; /* number + 1; 0 is empty */
    int bits;
    uint32_t n, capacity;
    int32_t *tokens; /* the string of each word */
} Numbering;

static inline void numbering_close(Numbering *x) {
    free(x->hashes);
    free(x->strings);
    free(x->slots);
    memset(x, 0, sizeof *x);
}

static inline void numbering_put(uint32_t *slots, int bits, uint64_t hash, uint32_t number1) {
    size_t mask = ((size_t)1 << bits) - 1, at = (size_t)(hash >> (64 - bits));
    while (slots[at]) at = (at + 1) & mask;
    slots[at] = number1;
}

static inline int numbering_grow(Numbering *x) {
    uint32_t capacity = x->capacity ? 2 * x->capacity : 512;
    int bits = x->bits ? x->bits + 1 : 10; /* at most half full */
    if (capacity > (uint32_t)1 << 30) return -1;
    uint32_t *slots = (uint32_t *)calloc((size_t)1 << bits, sizeof *slots);
    if (!slots || grow_array(&x->hashes, capacity, sizeof *x->hashes) < 0 ||
        grow_array(&x->strings, capacity, sizeof *x->strings) < 0) {
        free(slots);
        return -1;
    }
    for (uint32_t i = 0; i < x->n; i++) numbering_put(slots, bits, x->hashes[i], i + 1);
    free(x->slots);
    x->slots = slots;
    x->bits = bits;
    x->capacity = capacity;
    return 0;
}

/* The number of a string, a new one if it is new; -1: no memory. */
static inline int32_t numbering_of(Numbering *x, const Field *f) {
    if (x->n == x->capacity && numbering_grow(x) < 0) return -1;
    const WordRef word = word_ref(f->text, f->length, x->secrets);
    uint64_t hash = word_hash(&word, word_mark(&word, 0), x->secrets);
    size_t mask = ((size_t)1 << x->bits) - 1, at = (size_t)(hash >> (64 - x->bits));
    for (; x->slots[at]; at = (at + 1) & mask) {
        uint32_t number = x->slots[at] - 1;
        const Field *known = &x->strings[number];
        if (x->hashes[number] == hash && known->length == f->length &&
            !memcmp(known->text, f->text, f->length))
            return (int32_t)number;
    }
    x->hashes[x->n] = hash;
    x->strings[x->n] = *f;
    x->slots[at] = ++x->n;
    return (int32_t)x->n - 1;
}

/* All that is gathered from texts. */
typedef struct {
    int32_t n_columns, columns[CONLLU_COLUMNS]; /* which of the ten */
    Numbering numberings[CONLLU_COLUMNS];
    ConlluSentence sentence;
    int64_t n_tokens;
} Gathering;

/* Number the words of the sentence whose lines begin at `at`. Where it ends; NULL: unusual, or
 * *status is -1: no memory. */
static inline const uint8_t *number_sentence(Gathering *g, const uint8_t *at, const uint8_t *end,
                                             int *status) {
    Field fields[CONLLU_COLUMNS];
    int more;
    sentence_begin(&g->sentence);
    while ((more = next_word(&g->sentence, &at, end, fields)) > 0) {
        for (int32_t c = 0; c < g->n_columns; c++) {
            int32_t number = numbering_of(&g->numberings[c], &fields[g->columns[c]]);
            if (number < 0) {
                *status = -1;
                return NULL;
            }
            g->numberings[c].tokens[g->n_tokens] = number;
        }
        g->n_tokens++;
    }
    return more < 0 ? NULL : at;
}

/* The strings of some words, tabs between them. Where the text ends; `to` has room for it. */
static inline uint8_t *write_joined(const Numbering *x, int64_t first, int64_t last, int32_t none,
                                    uint8_t *to) {
    for (int64_t i = first; i < last; i++) {
        if (i > first) *to++ = '\t';
        if (x->tokens[i] == none) {
            *to++ = '\n';
            continue;
        }
        const Field *f = &x->strings[x->tokens[i]];
        memcpy(to, f->text, f->length);
        to += f->length;
    }
    return to;
}
