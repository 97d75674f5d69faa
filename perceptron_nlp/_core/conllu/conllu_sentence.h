/* Sentences of CoNLL-U judged as bytes.
 *
 * This accepts a part of what the checked reader (formats/conllu.py) accepts, and never more: at
 * anything unusual it stops, and the caller gives the text to that reader, which finds either
 * nothing wrong or the right words for it. Unusual are carriage returns and spaces in columns other
 * than FORM, LEMMA and MISC, as well as all that is wrong. */
#ifndef PERCEPTRON_NLP_CONLLU_SENTENCE_H
#define PERCEPTRON_NLP_CONLLU_SENTENCE_H

#include <stddef.h>

#include "conllu/conllu_lines.h"

#define MAX_PLACES 4096 /* words of a sentence; empty nodes of a sentence */

enum { C_ID, C_FORM, C_LEMMA, C_UPOS, C_XPOS, C_FEATS, C_HEAD, C_DEPREL, C_DEPS, C_MISC };

typedef struct {
    uint32_t word, number;
} EmptyNode;

/* One sentence: what must be known of all of its lines before some can be judged. */
typedef struct {
    uint32_t n_words, n_empty, since_word;
    uint32_t range_first, range_last;
    uint32_t highest_head, n_lines;
    EmptyNode empty[MAX_PLACES];
    uint32_t n_deps; /* DEPS fields, judged once all nodes are known */
    Field deps[2 * MAX_PLACES];
    Judged feats; /* outlives the sentence */
} ConlluSentence;

static inline int field_is_blank(const Field *f) {
    return f->length == 1 && f->text[0] == '_';
}
static inline int field_is(const Field *f, const char *text) {
    return f->length == strlen(text) && memcmp(f->text, text, f->length) == 0;
}

/* A number without leading zeros and below 10^6; moves *p behind it. -1: there is none. */
static inline int64_t scan_number(const uint8_t **p, const uint8_t *end) {
    const uint8_t *at = *p;
    int64_t value = 0;
    while (at < end && (uint8_t)(*at - '0') < 10 && at - *p < 7) value = value * 10 + (*at++ - '0');
    if (at == *p || at - *p > 6 || (**p == '0' && at - *p > 1)) return -1;
    *p = at;
    return value;
}

static inline int is_plain_value(const Field *f) {
    for (size_t i = 0; i < f->length; i++)
        if (f->text[i] <= ' ' || f->text[i] == 0xC2) return 0; /* C2 A0 is the no-break space */
    return 1;
}

/* Does no white space of Unicode begin at this byte of a field? Behind a field is a byte below
 * 0x80, so that nothing behind that is read. */
static inline int is_visible(const uint8_t *at) {
    switch (*at) {
        case 0x7F:
            return 0;
        case 0xC2:
            return at[1] != 0x85 && at[1] != 0xA0;
        case 0xE1:
            return at[1] != 0x9A || at[2] != 0x80;
        case 0xE2:
            if (at[1] == 0x81) return at[2] != 0x9F;
            return at[1] != 0x80 ||
                   (at[2] > 0x8A && at[2] != 0xA8 && at[2] != 0xA9 && at[2] != 0xAF);
        case 0xE3:
            return at[1] != 0x80 || at[2] != 0x80;
        default:
            return *at > ' ';
    }
}

/* Name=Value|…, no name twice. */
static inline int is_plain_feats(const Field *f) {
    const uint8_t *end = f->text + f->length, *names[64];
    size_t lengths[64];
    int n = 0;
    if (field_is_blank(f)) return 1;
    for (const uint8_t *at = f->text;; at++) {
        const uint8_t *name = at;
        while (at < end && is_visible(at) && *at != '=' && *at != '|') at++;
        if (at == name || at == end || *at != '=' || n == 64) return 0;
        for (int k = 0; k < n; k++)
            if (lengths[k] == (size_t)(at - name) && !memcmp(names[k], name, lengths[k])) return 0;
        names[n] = name;
        lengths[n++] = (size_t)(at - name);
        const uint8_t *value = ++at;
        while (at < end && is_visible(at) && *at != '=' && *at != '|') at++;
        if (at == value) return 0;
        if (at == end) return 1;
        if (*at != '|') return 0;
    }
}

/* head:relation|…, every head in the sentence. */
static inline int is_plain_deps(const Field *f, const ConlluSentence *s) {
    const uint8_t *end = f->text + f->length;
    for (const uint8_t *at = f->text;; at++) {
        int64_t word = scan_number(&at, end), number = 0;
        if (word < 0 || word > s->n_words || at == end) return 0;
        if (*at == '.') {
            at++;
            number = scan_number(&at, end);
            uint32_t k = 0;
            while (k < s->n_empty &&
                   (s->empty[k].word != word || s->empty[k].number != (uint32_t)number))
                k++;
            if (number < 1 || k == s->n_empty || at == end) return 0;
        }
        if (*at++ != ':') return 0;
        const uint8_t *relation = at;
        while (at < end && is_visible(at) && *at != '|') at++;
        if (at == relation) return 0;
        if (at == end) return 1;
        if (*at != '|') return 0;
    }
}

/* The ID: 1 for a word, 2 for a range, 3 for an empty node, 0 for what is unusual. */
static inline int scan_id(const Field *f, ConlluSentence *s) {
    const uint8_t *at = f->text, *end = f->text + f->length;
    int64_t first = scan_number(&at, end);
    if (first < 0) return 0;
    if (at == end) {
        if (first != (int64_t)s->n_words + 1 || s->n_words == MAX_PLACES) return 0;
        s->n_words++;
        s->since_word = 0;
        return 1;
    }
    uint8_t mark = *at++;
    int64_t second = scan_number(&at, end);
    if (second < 1 || at != end) return 0;
    if (mark == '-') {
        if (first != (int64_t)s->n_words + 1 || first <= (int64_t)s->range_last || second < first)
            return 0;
        s->range_first = (uint32_t)first;
        s->range_last = (uint32_t)second;
        return 2;
    }
    if (mark != '.' || first != (int64_t)s->n_words || second != (int64_t)s->since_word + 1 ||
        s->range_first > s->n_words || s->n_empty == MAX_PLACES)
        return 0;
    s->since_word++;
    s->empty[s->n_empty].word = (uint32_t)first;
    s->empty[s->n_empty++].number = (uint32_t)second;
    return 3;
}

/* Judge a line's fields; what scan_id says of it. `sure` are those of which split_line has seen
 * that no column of values holds a space. */
static inline int scan_fields(const Field *f, ConlluSentence *s, int sure) {
    int kind = scan_id(&f[C_ID], s);
    if (!kind) return 0;
    if (!sure && (!is_plain_value(&f[C_UPOS]) || !is_plain_value(&f[C_XPOS]) ||
                  !is_plain_value(&f[C_DEPREL])))
        return 0;
    if (!field_is_blank(&f[C_FEATS]) && !was_judged(&s->feats, &f[C_FEATS])) {
        if (!is_plain_feats(&f[C_FEATS])) return 0;
        keep_judged(&s->feats, &f[C_FEATS]);
    }
    if (!field_is_blank(&f[C_DEPS])) {
        if (s->n_deps == 2 * MAX_PLACES) return 0;
        s->deps[s->n_deps++] = f[C_DEPS];
    }
    if (kind == 2) {
        for (int c = C_LEMMA; c <= C_DEPS; c++)
            if (!field_is_blank(&f[c]) && !(c == C_FEATS && field_is(&f[c], "Typo=Yes"))) return 0;
    } else if (kind == 3) {
        if (!field_is_blank(&f[C_HEAD]) || !field_is_blank(&f[C_DEPREL])) return 0;
    } else if (!field_is_blank(&f[C_HEAD])) {
        const uint8_t *at = f[C_HEAD].text, *end = at + f[C_HEAD].length;
        int64_t head = scan_number(&at, end);
        if (head < 0 || at != end || head == (int64_t)s->n_words) return 0;
        if (head > (int64_t)s->highest_head) s->highest_head = (uint32_t)head;
    }
    return kind;
}

/* Before the first of many sentences. */
static inline void sentence_open(ConlluSentence *s) {
    memset(&s->feats, 0, sizeof s->feats);
}

/* Before the first line of a sentence is looked at. */
static inline void sentence_begin(ConlluSentence *s) {
    memset(s, 0, offsetof(ConlluSentence, empty));
    s->n_deps = 0;
}

#endif
