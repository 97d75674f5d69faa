/* Lines of CoNLL-U as fields, found sixteen bytes at a time where the processor can. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "table/portable.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#define MARKED_AT_ONCE 16
#else
#define MARKED_AT_ONCE 1
#endif

#define CONLLU_COLUMNS 10

typedef struct {
    const uint8_t *text;
    size_t length;
} Field;

/* Ten fields of a line, none empty; *at moves behind its line feed. 1: none holds a space, a
 * control character or a no-break space; 2: some may; 0: unusual. */
static inline int split_line(const uint8_t **at, const uint8_t *end, Field *fields) {
    const uint8_t *p = *at, *begin = p;
    int n = 0, unsure = 0;
    while (p < end) {
        /* Bit k of `marks`: byte k is no more than a space. */
#if defined(__SSE2__)
        const __m128i space = _mm_set1_epi8(' '), c2 = _mm_set1_epi8((char)0xC2);
        uint8_t last[16];
        const uint8_t *from = p;
        if (end - p < 16) {
            memset(last, 'x', sizeof last);
            memcpy(last, p, (size_t)(end - p));
            from = last;
        }
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)from);
        unsigned marks =
            (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(bytes, space), bytes));
        unsure |= _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, c2));
#else
        unsigned marks = *p <= ' ';
        unsure |= *p == 0xC2;
#endif
        for (; marks; marks &= marks - 1) {
            const uint8_t *mark = p + lowest_bit(marks);
            if (*mark == '\t' || *mark == '\n') {
                if (mark == begin || n == CONLLU_COLUMNS) return 0;
                fields[n].text = begin;
                fields[n++].length = (size_t)(mark - begin);
                begin = mark + 1;
                if (*mark == '\t') continue;
                *at = begin;
                return n != CONLLU_COLUMNS ? 0 : unsure ? 2 : 1;
            }
            if (*mark == '\r' || *mark == 0) return 0;
            unsure = 1;
        }
        p += MARKED_AT_ONCE;
    }
    return 0;
}

/* Is there no whole line at `at`? */
static inline int no_line(const uint8_t *at, const uint8_t *end) {
    return at == end || !memchr(at, '\n', (size_t)(end - at));
}

/* The end of the line at `at`; NULL: it holds a carriage return or a NUL, or is not whole. */
static inline const uint8_t *line_end_of(const uint8_t *at, const uint8_t *end) {
#if defined(__SSE2__)
    const __m128i highest = _mm_set1_epi8('\r');
    for (; end - at >= 16; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        unsigned marks =
            (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(bytes, highest), bytes));
        for (; marks; marks &= marks - 1) {
            const uint8_t *mark = at + lowest_bit(marks);
            if (*mark == '\n') return mark;
            if (*mark == '\r' || *mark == 0) return NULL;
        }
    }
#endif
    for (; at < end; at++) {
        if (*at == '\n') return at;
        if (*at == '\r' || *at == 0) return NULL;
    }
    return NULL;
}

/* Move *at behind empty lines and comments; 0: unusual, or a line that is not whole. */
static inline int skip_comments(const uint8_t **at, const uint8_t *end) {
    while (*at < end && (**at == '\n' || **at == '#')) {
        const uint8_t *line_end = line_end_of(*at, end);
        if (!line_end) return 0;
        *at = line_end + 1;
    }
    return 1;
}

/* Strings that were judged to be in order: the same few hundred come again and again. */
#define JUDGED_BITS 9
#define JUDGED_LONGEST 95

typedef struct {
    struct {
        uint8_t length, text[JUDGED_LONGEST];
    } places[1 << JUDGED_BITS];
} Judged;

/* Of a string of at least eight bytes; looks at five places, since features of verbs differ in the
 * middle only. */
static inline unsigned judged_place(const Field *f) {
    static const uint64_t factors[5] = {3, 5, 7, 11, 1};
    uint64_t mix = f->length;
    for (size_t k = 0; k < 5; k++) {
        uint64_t eight;
        memcpy(&eight, f->text + (f->length - 8) * k / 4, 8);
        mix += eight * factors[k];
    }
    return (unsigned)(mix * 0x9E3779B97F4A7C15ULL >> (64 - JUDGED_BITS));
}

static inline int was_judged(const Judged *j, const Field *f) {
    if (f->length < 8 || f->length > JUDGED_LONGEST) return 0;
    unsigned at = judged_place(f);
    return j->places[at].length == f->length && memcmp(j->places[at].text, f->text, f->length) == 0;
}

static inline void keep_judged(Judged *j, const Field *f) {
    if (f->length < 8 || f->length > JUDGED_LONGEST) return;
    unsigned at = judged_place(f);
    j->places[at].length = (uint8_t)f->length;
    memcpy(j->places[at].text, f->text, f->length);
}

/* Sentences of CoNLL-U judged as bytes.
 *
 * This accepts a part of what the checked reader (formats/conllu.py) accepts, and never more: at
 * anything unusual it stops, and the caller gives the text to that reader, which finds either
 * nothing wrong or the right words for it. Unusual are carriage returns and spaces in columns other
 * than FORM, LEMMA and MISC, as well as all that is wrong. */

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
        case 0x7F: return 0;
        case 0xC2: return at[1] != 0x85 && at[1] != 0xA0;
        case 0xE1: return at[1] != 0x9A || at[2] != 0x80;
        case 0xE2:
            if (at[1] == 0x81) return at[2] != 0x9F;
            return at[1] != 0x80 ||
                   (at[2] > 0x8A && at[2] != 0xA8 && at[2] != 0xA9 && at[2] != 0xAF);
        case 0xE3: return at[1] != 0x80 || at[2] != 0x80;
        default: return *at > ' ';
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

/* The usual line of a word, judged with few branches: fields of any length make each branch on one
 * a coin toss. What this leaves alone is cut and judged by scan.h, which accepts more;
 * what this accepts, that accepts too, and with the same fields. */

#if defined(__SSE2__)

/* So many bytes from the start of a line on may be looked at, whatever is in them. */
#define USUAL_READS 384

/* Bit k: byte k of 64 is no more than `most`. */
static inline uint64_t bytes_up_to(const uint8_t *p, char most) {
    const __m128i limit = _mm_set1_epi8(most);
    uint64_t marks = 0;
    for (int k = 0; k < 4; k++) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * k));
        uint64_t some =
            (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(bytes, limit), bytes));
        marks |= some << 16 * k;
    }
    return marks;
}

/* Is a byte of these 64 the first of U+0080 to U+00BF, of which one is a no-break space? */
static inline int holds_c2(const uint8_t *p) {
    const __m128i c2 = _mm_set1_epi8((char)0xC2);
    __m128i found = _mm_setzero_si128();
    for (int k = 0; k < 4; k++)
        found = _mm_or_si128(
            found,
            _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + 16 * k)), c2));
    return _mm_movemask_epi8(found) != 0;
}

/* Cut five fields that begin at p, the last one at `mark`, the others at tabs; fewer than 64 bytes
 * at a time. What follows them; NULL: there are no such, or they are longer than two times that. */
static inline const uint8_t *cut_five(const uint8_t *p, uint8_t mark, Field *fields) {
    uint64_t marks = bytes_up_to(p, ' ');
    unsigned wrong = (unsigned)holds_c2(p), begin = 0;
    for (int k = 0, again = 0; k < 5; k++) {
        if (!marks) {
            if (again++) return NULL;
            p += begin;
            begin = 0;
            marks = bytes_up_to(p, ' ');
            wrong |= (unsigned)holds_c2(p);
            if (!marks) return NULL;
        }
        const unsigned at = (unsigned)lowest_bit(marks);
        marks &= marks - 1;
        fields[k].text = p + begin;
        fields[k].length = at - begin;
        wrong |= (p[at] ^ (unsigned)(k < 4 ? '\t' : mark)) | (unsigned)(at == begin);
        begin = at + 1;
    }
    return wrong ? NULL : p + begin;
}

/* The number that a field of up to four digits is, without leading zeros; else -1. The digits are
 * moved to the high end of a machine word, zeros before them, and added up in pairs. */
static inline int32_t short_number(const uint8_t *text, size_t length) {
    uint32_t digits;
    if (length - 1 > 3) return -1;
    memcpy(&digits, text, 4);
    if ((uint8_t)digits == '0' && length > 1) return -1;
    digits = (digits << (32 - 8 * length)) | (uint32_t)(0x30303030ULL >> 8 * length);
    if (((digits & 0xF0F0F0F0) | (((digits + 0x06060606) >> 4) & 0x0F0F0F0F)) != 0x33333333)
        return -1;
    digits = (digits & 0x0F0F0F0F) * ((10 << 8) | 1) >> 8;
    return (int32_t)((digits & 0x00FF00FF) * ((100 << 16) | 1) >> 16);
}

/* The head of a DEPS field of one plain relation of up to 16 bytes; -1: it is another one. */
static inline int32_t plain_dep_head(const Field *f) {
    if (f->length > 16) return -1;
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)f->text);
    const __m128i odd =
        _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('|')),
                     _mm_cmpeq_epi8(_mm_max_epu8(bytes, _mm_set1_epi8(0x7F)), bytes));
    const unsigned within = (1u << f->length) - 1;
    const unsigned colons =
        (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(':'))) & within;
    if (!colons || ((unsigned)_mm_movemask_epi8(odd) & within)) return -1;
    const unsigned colon = (unsigned)lowest_bit(colons);
    return colon + 1 < f->length ? short_number(f->text, colon) : -1;
}

/* was_judged, where more may be read. */
static inline int was_judged_inside(const Judged *j, const Field *f) {
    if (f->length - 8 > 64 - 8) return was_judged(j, f);
    const unsigned at = judged_place(f);
    const uint8_t *kept = j->places[at].text;
    uint64_t same = 0;
    for (int k = 0; k < 4; k++) {
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(f->text + 16 * k));
        __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(kept + 16 * k));
        same |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) << 16 * k;
    }
    return j->places[at].length == f->length && !(~same << (64 - f->length));
}

/* Take the line of a word at *at; 0: it is none that this knows, and nothing has changed. */
static inline int take_usual_word(ConlluSentence *s, const uint8_t **at, const uint8_t *end,
                                  Field *f) {
    if (end - *at < USUAL_READS) return 0;
    const uint8_t *behind = cut_five(*at, '\t', f);
    if (!behind || !(behind = cut_five(behind, '\n', f + C_FEATS))) return 0;
    const uint32_t number = s->n_words + 1;
    if (short_number(f[C_ID].text, f[C_ID].length) != (int32_t)number || number > MAX_PLACES)
        return 0;
    const int32_t head = short_number(f[C_HEAD].text, f[C_HEAD].length);
    int32_t dep_head = 0;
    if (head < 0 || head == (int32_t)number) return 0;
    if (!field_is_blank(&f[C_DEPS]) && (dep_head = plain_dep_head(&f[C_DEPS])) < 0) return 0;
    if (!field_is_blank(&f[C_FEATS]) && !was_judged_inside(&s->feats, &f[C_FEATS])) return 0;
    const uint32_t higher = (uint32_t)(head > dep_head ? head : dep_head);
    if (higher > s->highest_head) s->highest_head = higher;
    s->n_words = number;
    s->since_word = 0;
    *at = behind;
    return 1;
}

#else

static inline int take_usual_word(ConlluSentence *s, const uint8_t **at, const uint8_t *end,
                                  Field *f) {
    (void)s, (void)at, (void)end, (void)f;
    return 0;
}

#endif

/* The words of a sentence of CoNLL-U, one after the other. */

#define NOT_WHOLE (-2)

/* Read lines from *at on to the next word, whose fields are then known. 1: a word; 0: the sentence
 * ends at *at, and all of it is usual; -1: unusual; NOT_WHOLE: the text ends before it. */
static inline int next_word(ConlluSentence *s, const uint8_t **at, const uint8_t *end,
                            Field *fields) {
    while (*at < end && **at != '\n') {
        if (take_usual_word(s, at, end, fields)) {
            s->n_lines++;
            return 1;
        }
        int cut = **at == '#' ? 0 : split_line(at, end, fields);
        if (!cut) return no_line(*at, end) ? NOT_WHOLE : -1;
        int kind = scan_fields(fields, s, cut == 1);
        if (!kind) return -1;
        s->n_lines++;
        if (kind == 1) return 1;
    }
    if (*at == end) return NOT_WHOLE;
    if (s->range_last > s->n_words || s->highest_head > s->n_words) return -1;
    for (uint32_t k = 0; k < s->n_deps; k++)
        if (!is_plain_deps(&s->deps[k], s)) return -1;
    return 0;
}
