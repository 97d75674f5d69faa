/* Words of the tokens of a text: each token itself, white space in it as one space, or what a split
 * script (text/scripts.py) makes of it. */
#pragma once

#include "tag/search.h"
#include "text/cut.h"

#define MADE 0x80000000u /* stands in what was made, not in the text */
#define WORDS_BATCH 2048

typedef struct {
    uint32_t at, length;
} TextWord;

typedef struct {
    uint32_t n_words;    /* 1: the token itself; 0: no script, which cannot be */
    uint32_t dropped;    /* characters at the end */
    uint32_t pieces[17]; /* where the words behind the first begin in `text`, and the end */
    const uint8_t *text; /* what is added to the first, then the other words */
    uint32_t added;      /* bytes of what is added */
    const uint32_t
        *lengths; /* not NULL: of the words of a token in pieces, in characters; 0: the stem */
} SplitScript;

/* Stems of tokens by their hashes, the hash of the only token of each or 1, and the cuts that leave
 * stems: so many characters before and behind them. */
#define MOST_STEM_CUTS 26
typedef struct {
    Places known;
    uint32_t cuts[MOST_STEM_CUTS][2];
    uint32_t n_cuts;
} Stems;

typedef struct {
    TextWord *words;
    size_t n_words, words_room;
    uint32_t *first; /* of each token; one more at the end */
    size_t first_room;
    uint8_t *made; /* WORD_SMALL bytes that say nothing before the first */
    size_t made_used, made_room;
    TextWord *read; /* the words as they are read where some are read otherwise (reading.h) */
    size_t read_room;
    int is_read;
} TextWords;

static inline void text_words_close(TextWords *x) {
    free(x->words);
    free(x->first);
    free(x->made);
    free(x->read);
    memset(x, 0, sizeof *x);
}

static inline const uint8_t *text_word_bytes(const TextWords *x, const uint8_t *text,
                                             TextWord word) {
    return word.at & MADE ? x->made + (word.at & ~MADE) : text + word.at;
}

static inline TextWord word_as_read(const TextWords *x, size_t k) {
    return x->is_read ? x->read[k] : x->words[k];
}

static inline WordRef text_word_ref(const TextWords *x, const uint8_t *text, TextWord word,
                                    const uint64_t *secrets) {
    if (word.at & MADE)
        return word_ref_inside(text_word_bytes(x, text, word), word.length, secrets);
    return word_ref_within(text, text + word.at, word.length, secrets);
}

/* Room for n bytes that are to be made, or NULL. */
static inline uint8_t *made_room(TextWords *x, size_t n) {
    const size_t used = x->made_used + n + 1;
    if (used >= MADE || array_room(&x->made, &x->made_room, used, 1) < 0) return NULL;
    return x->made + x->made_used;
}

static inline int push_word(TextWords *x, TextWord word) {
    if (array_room(&x->words, &x->words_room, x->n_words + 1, sizeof *x->words) < 0) return -1;
    x->words[x->n_words++] = word;
    return 0;
}

/* What was written last, of so many bytes, is a word. */
static inline int push_made(TextWords *x, size_t n) {
    const TextWord word = {MADE | (uint32_t)x->made_used, (uint32_t)n};
    x->made_used += n;
    return push_word(x, word);
}

/* The token itself as a word; -1: no memory. */
static inline int push_token(TextWords *x, const Cut *cut, const uint8_t *text,
                             const CutToken *token) {
    int has_space = 0;
    for (uint32_t i = token->first; i < token->last; i++)
        has_space |= cut->list.atoms[i].gap != GAP_NOTHING;
    if (!has_space) return push_word(x, (TextWord){token->begin, token->end - token->begin});
    uint8_t *to = made_room(x, token->end - token->begin);
    if (!to) return -1;
    size_t n = 0;
    for (uint32_t i = token->first; i <= token->last; i++) {
        const Atom *atom = &cut->list.atoms[i];
        memcpy(to + n, text + atom->begin, atom->end - atom->begin);
        n += atom->end - atom->begin;
        if (i < token->last && atom->gap) to[n++] = ' ';
    }
    return push_made(x, n);
}

/* Each token as a word; -1: no memory. */
static inline int words_of_tokens(TextWords *x, const Cut *cut, const uint8_t *text) {
    x->n_words = 0;
    x->is_read = 0;
    x->made_used = WORD_SMALL;
    if (!made_room(x, 0)) return -1;
    memset(x->made, 0, WORD_SMALL);
    if (array_room(&x->first, &x->first_room, cut->n_tokens + 1, sizeof *x->first) < 0) return -1;
    for (size_t k = 0; k <= cut->n_tokens; k++) x->first[k] = (uint32_t)k;
    for (size_t k = 0; k < cut->n_tokens; k++)
        if (push_token(x, cut, text, &cut->tokens[k]) < 0) return -1;
    return 0;
}

/* Bytes of the entity that ends before a place behind a semicolon; or 1. */
static inline size_t entity_before(const uint8_t *text, size_t at) {
    size_t k = at - 1;
    uint32_t length = 0;
    while (k && at - k < LONGEST_ENTITY && is_of_entity(text[k - 1])) k--;
    const int is_entity =
        k && text[k - 1] == '&' && entity_point(text + k - 1, at - k + 1, &length);
    return is_entity ? length : 1;
}

/* Bytes of the last n characters of a word; more than it has: -1. */
static inline int64_t bytes_behind(const uint8_t *text, size_t length, uint32_t n) {
    size_t at = length;
    for (; n && at; n--) {
        at -= at > 1 && text[at - 1] == ';' ? entity_before(text, at) : 1;
        while (at && (text[at] & 0xC0) == 0x80) at--;
    }
    return n ? -1 : (int64_t)(length - at);
}

/* The byte behind n more characters of a word. */
static inline size_t byte_after(const uint8_t *text, size_t length, size_t at, uint32_t n) {
    for (uint32_t bytes = 1; n; n--, bytes = 1) {
        if (text[at] == '&') (void)entity_point(text + at, length - at, &bytes);
        at += bytes;
        while (at < length && (text[at] & 0xC0) == 0x80) at++;
    }
    return at;
}

/* The column `stems` of a token (text/scripts.py); how many bytes. */
static inline size_t known_stems(const Stems *m, const uint8_t *own, size_t length, uint8_t *to) {
    const uint32_t hash = (uint32_t)(xxh64(own, length, 0) >> 32);
    size_t n = 0;
    for (uint32_t k = 0; k < m->n_cuts; k++) {
        const uint32_t front = m->cuts[k][0], back = m->cuts[k][1];
        const int64_t around = bytes_behind(own, length, front + back);
        if (around < 0 || (size_t)around == length) continue;
        const size_t begin = byte_after(own, length, 0, front);
        const size_t stem = length - begin - (size_t)bytes_behind(own, length, back);
        const uint32_t only = places_find(&m->known, word_key(xxh64(own + begin, stem, 0), 0));
        if (!only || only == (hash < 2 ? 2 : hash)) continue;
        if (n) to[n++] = '|';
        to[n++] = (uint8_t)('a' + k);
    }
    if (!n) to[n++] = '_';
    return n;
}

/* Take the words of a sentence into the batch of a decoder of words, and of their stems if it has that
 * column. */
static inline int take_words_of(const Decoder *d, Batch *b, const TextWords *x, const uint8_t *text,
                                const Stems *stems, size_t begin, size_t end) {
    const int has_stems = d->layout.program->n_columns > 1;
    uint8_t value[2 * MOST_STEM_CUTS];
    if (batch_room(d, b, (int64_t)(end - begin)) < 0) return -1;
    for (size_t k = begin; k < end; k++) {
        const TextWord read = word_as_read(x, k);
        const WordRef word = text_word_ref(x, text, read, d->secrets);
        const uint8_t *own = text_word_bytes(x, text, read);
        if (batch_word(d, b, 0, word, own) < 0) return -1;
        if (!has_stems) continue;
        const size_t n = known_stems(stems, own, read.length, value);
        if (batch_word(d, b, 1, word_ref(value, n, d->secrets), value) < 0) return -1;
    }
    return batch_end_sentence(b);
}

/* Put the pieces of a word behind all words; how many, 1 where a space would be at an end of one. */
static inline int cut_word(TextWords *x, const uint8_t *text, TextWord word,
                           const SplitScript *script, uint32_t chars) {
    const size_t n_words = x->n_words;
    const uint8_t *own = text_word_bytes(x, text, word);
    uint32_t at = 0, end = word.length;
    for (uint32_t k = 0; k < script->n_words; k++, at = end) {
        chars -= script->lengths[k];
        end = script->lengths[k] ? (uint32_t)byte_after(own, word.length, at, script->lengths[k])
                                 : word.length - (uint32_t)bytes_behind(own, word.length, chars);
        if (push_word(x, (TextWord){word.at + at, end - at}) < 0) return -1;
        if (at && (own[at - 1] == ' ' || own[at] == ' ')) {
            x->n_words = n_words;
            return push_word(x, word) < 0 ? -1 : 1;
        }
    }
    return (int)script->n_words;
}

/* Put what a script makes of word k behind all words; how many, 1 where it does not apply; -1: no
 * memory. */
static inline int split_word(TextWords *x, const uint8_t *text, TextWord word,
                             const SplitScript *script) {
    uint32_t chars = script->dropped;
    const uint8_t *own = text_word_bytes(x, text, word);
    for (uint32_t k = 0; script->lengths && k < script->n_words; k++) chars += script->lengths[k];
    const int64_t behind = bytes_behind(own, word.length, chars);
    const size_t kept = word.length - (size_t)behind;
    if (behind < 0 || script->n_words < 2 || kept + script->added == 0 ||
        (!script->lengths && !script->added && own[kept - 1] == ' '))
        return push_word(x, word) < 0 ? -1 : 1;
    if (script->lengths) return cut_word(x, text, word, script, chars);
    uint8_t *to = made_room(x, kept + script->added);
    if (!to) return -1;
    memcpy(to, text_word_bytes(x, text, word), kept);
    memcpy(to + kept, script->text, script->added);
    if (push_made(x, kept + script->added) < 0) return -1;
    for (uint32_t k = 0; k + 1 < script->n_words; k++) {
        const size_t n = script->pieces[k + 1] - script->pieces[k];
        if (!(to = made_room(x, n))) return -1;
        memcpy(to, script->text + script->pieces[k], n);
        if (push_made(x, n) < 0) return -1;
    }
    return (int)script->n_words;
}

/* Split tokens as a decoder of tokens says. Their words are behind the tokens themselves, which are
 * the first cut->n_tokens of all words; -1: no memory, or a signal. */
static inline int split_words(TextWords *x, Cut *cut, const uint8_t *text, const Decoder *d,
                              Worker *w, const SplitScript *scripts, const Stems *stems) {
    const size_t n = cut->n_tokens;
    for (size_t s = 0; s < cut->n_sentences;) {
        const size_t begin = cut->sentences[s];
        batch_reset(&w->batch);
        for (; s < cut->n_sentences && w->batch.n_tokens < WORDS_BATCH; s++)
            if (take_words_of(d, &w->batch, x, text, stems, cut->sentences[s],
                              cut->sentences[s + 1]) < 0)
                return -1;
        if (cut_poll(cut, (size_t)w->batch.n_tokens) < 0) return -1;
        if (d->run(d, w) < 0) {
            cache_spoil(&w->cache);
            return -1;
        }
        for (size_t k = begin; k < cut->sentences[s]; k++) {
            const SplitScript *script = &scripts[w->batch.labels[k - begin]];
            x->first[k] = (uint32_t)(x->n_words - n);
            if ((script->n_words == 1 ? push_word(x, x->words[k])
                                      : split_word(x, text, x->words[k], script)) < 0)
                return -1;
        }
    }
    x->first[n] = (uint32_t)(x->n_words - n);
    /* The words, without the tokens. */
    x->n_words -= n;
    if (n) memmove(x->words, x->words + n, x->n_words * sizeof *x->words);
    return 0;
}
