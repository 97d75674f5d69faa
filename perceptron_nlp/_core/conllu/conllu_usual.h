/* The usual line of a word, judged with few branches: fields of any length make each branch on one
 * a coin toss. What this leaves alone is cut and judged by conllu_sentence.h, which accepts more;
 * what this accepts, that accepts too, and with the same fields. */
#ifndef PERCEPTRON_NLP_CONLLU_USUAL_H
#define PERCEPTRON_NLP_CONLLU_USUAL_H

#include "conllu/conllu_sentence.h"

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
        const unsigned at = (unsigned)__builtin_ctzll(marks);
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
    const unsigned colon = (unsigned)__builtin_ctz(colons);
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

#endif
