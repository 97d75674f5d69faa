/* Words of the tokens of a text: each token itself, white space in it as one space, or what a split
 * script (text/scripts.py) makes of it. */
#ifndef PERCEPTRON_NLP_TEXT_WORDS_H
#define PERCEPTRON_NLP_TEXT_WORDS_H

#include "tag/search.h"
#include "text/cut.h"

#define MADE 0x80000000u /* stands in what was made, not in the text */
#define WORDS_BATCH 2048

typedef struct {
    uint32_t at, length;
} TextWord;

typedef struct {
    uint32_t n_words;          /* 1: the token itself; 0: no script, which cannot be */
    uint32_t dropped;          /* characters at the end */
    uint32_t pieces[17];       /* where the words behind the first begin in `text`, and the end */
    const uint8_t *text;       /* what is added to the first, then the other words */
    uint32_t added;            /* bytes of what is added */
    const uint32_t *cut_after; /* not NULL: lengths in characters of the words behind the first */
} SplitScript;

typedef struct {
    TextWord *words;
    size_t n_words, words_room;
    uint32_t *first; /* of each token; one more at the end */
    size_t first_room;
    uint8_t *made; /* WORD_SMALL bytes that say nothing before the first */
    size_t made_used, made_room;
} TextWords;

static inline void text_words_close(TextWords *x) {
    free(x->words);
    free(x->first);
    free(x->made);
    memset(x, 0, sizeof *x);
}

static inline const uint8_t *text_word_bytes(const TextWords *x, const uint8_t *text,
                                             TextWord word) {
    return word.at & MADE ? x->made + (word.at & ~MADE) : text + word.at;
}

static inline WordRef text_word_ref(const TextWords *x, const uint8_t *text, TextWord word,
                                    const uint64_t *secrets) {
    if (word.at & MADE)
        return word_ref_inside(text_word_bytes(x, text, word), word.length, secrets);
    return word_ref_within(text, text + word.at, word.length, secrets);
}

/* Room for n bytes that are to be made, or NULL. */
static inline uint8_t *made_room(TextWords *x, size_t n) {
    if (!x->made || x->made_used + n > x->made_room) {
        const size_t room = 2 * x->made_room + n + 1024;
        if (room >= MADE || grow_array(&x->made, room, 1) < 0) return NULL;
        x->made_room = room;
    }
    return x->made + x->made_used;
}

static inline int push_word(TextWords *x, TextWord word) {
    if (x->n_words == x->words_room) {
        const size_t room = 2 * x->words_room + 1024;
        if (grow_array(&x->words, room, sizeof *x->words) < 0) return -1;
        x->words_room = room;
    }
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
    x->made_used = WORD_SMALL;
    if (!made_room(x, 0)) return -1;
    memset(x->made, 0, WORD_SMALL);
    if (cut->n_tokens + 1 > x->first_room) {
        const size_t room = cut->n_tokens + cut->n_tokens / 4 + 1;
        if (grow_array(&x->first, room, sizeof *x->first) < 0) return -1;
        x->first_room = room;
    }
    for (size_t k = 0; k <= cut->n_tokens; k++) x->first[k] = (uint32_t)k;
    for (size_t k = 0; k < cut->n_tokens; k++)
        if (push_token(x, cut, text, &cut->tokens[k]) < 0) return -1;
    return 0;
}

/* Take the words of sentence s into the batch of a decoder of words alone. */
static inline int take_words_of(const Decoder *d, Batch *b, const TextWords *x, const uint8_t *text,
                                size_t begin, size_t end) {
    if (batch_room(d, b, (int64_t)(end - begin)) < 0) return -1;
    for (size_t k = begin; k < end; k++) {
        const WordRef word = text_word_ref(x, text, x->words[k], d->secrets);
        if (batch_word(d, b, 0, word, text_word_bytes(x, text, x->words[k])) < 0) return -1;
    }
    return batch_end_sentence(b);
}

/* Bytes of the last n characters of a word; more than it has: -1. */
static inline int64_t bytes_behind(const uint8_t *text, size_t length, uint32_t n) {
    size_t at = length;
    for (; n && at; n--) {
        at--;
        while (at && (text[at] & 0xC0) == 0x80) at--;
    }
    return n ? -1 : (int64_t)(length - at);
}

/* The byte behind n more characters of a word. */
static inline size_t byte_after(const uint8_t *text, size_t length, size_t at, uint32_t n) {
    for (; n; n--) do
            at++;
        while (at < length && (text[at] & 0xC0) == 0x80);
    return at;
}

/* Would a script leave a space at an end of a word? kept: bytes of the first word. */
static inline int leaves_space(const uint8_t *own, size_t kept, size_t length,
                               const SplitScript *script) {
    if (!script->cut_after) return !script->added && own[kept - 1] == ' ';
    for (uint32_t k = 0; k + 1 < script->n_words; k++) {
        if (own[kept - 1] == ' ' || own[kept] == ' ') return 1;
        kept = byte_after(own, length, kept, script->cut_after[k]);
    }
    return 0;
}

/* Put what a script makes of word k behind all words; how many, 1 where it does not apply; -1: no
 * memory. */
static inline int split_word(TextWords *x, const uint8_t *text, TextWord word,
                             const SplitScript *script) {
    uint32_t chars = script->dropped;
    const uint8_t *own = text_word_bytes(x, text, word);
    for (uint32_t k = 0; script->cut_after && k + 1 < script->n_words; k++)
        chars += script->cut_after[k];
    const int64_t behind = bytes_behind(own, word.length, chars);
    const size_t kept = word.length - (size_t)behind;
    if (behind < 0 || script->n_words < 2 || kept + script->added == 0 ||
        leaves_space(own, kept, word.length, script))
        return push_word(x, word) < 0 ? -1 : 1;
    if (script->cut_after) {
        uint32_t at = (uint32_t)kept;
        if (push_word(x, (TextWord){word.at, at}) < 0) return -1;
        for (uint32_t k = 0; k + 1 < script->n_words; k++) {
            own = text_word_bytes(x, text, word);
            const uint32_t end = (uint32_t)byte_after(own, word.length, at, script->cut_after[k]);
            if (push_word(x, (TextWord){word.at + at, end - at}) < 0) return -1;
            at = end;
        }
        return (int)script->n_words;
    }
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
                              Worker *w, const SplitScript *scripts) {
    const size_t n = cut->n_tokens;
    for (size_t s = 0; s < cut->n_sentences;) {
        const size_t begin = cut->sentences[s];
        batch_reset(&w->batch);
        for (; s < cut->n_sentences && w->batch.n_tokens < WORDS_BATCH; s++)
            if (take_words_of(d, &w->batch, x, text, cut->sentences[s], cut->sentences[s + 1]) < 0)
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

#endif
