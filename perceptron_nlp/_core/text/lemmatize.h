/* Words and their tags labeled with edit scripts, and the lemmas that these make (lemmas.h). */
#pragma once

#include "tag/settle.h"
#include "text/writer.h"
#include "text/lemmas.h"

#define LEMMA_CHUNK 1024
#define KNOWN_COLUMN (-1)

/* A label as a value of a column. */
typedef struct {
    WordRef ref;
    const uint8_t *text;
} LabelRef;

/* What does not change while words are lemmatized. */
typedef struct {
    const Decoder *decoder;
    LemmaModel model;
    int n_tags; /* columns that lemmas depend on */
    const LabelRef *labels[MOST_TAGS];
    int upos;                   /* the number of that of parts of speech; -1: none */
    const int32_t *upos_of;     /* label -> its number in the known lemmas; -1: in none */
    int columns[MOST_TAGS + 2]; /* column of the decoder -> the tag; KNOWN_COLUMN */
    const Settled *settled;     /* NULL: all words are labeled */
} LemmaTagger;

typedef struct {
    Worker *worker;
    Letters letters;
    LemmaWord word;
    int32_t labels[LEMMA_CHUNK]; /* NOT_SETTLED where one is still to be given */
} Lemmatizing;

static inline void entry_tags(const LemmaTagger *m, const LemmaEntry *e, uint32_t tags[MOST_TAGS]) {
    for (int t = 0; t < m->n_tags; t++)
        tags[t] = (uint32_t)(e->tags >> (16 * (m->n_tags - 1 - t))) & 0xFFFF;
}

static inline int is_first_word(const LemmaTagger *m, const LemmaEntry *e) {
    return (int)(e->tags >> (16 * m->n_tags));
}

/* The label that an entry is settled by. */
static inline int32_t entry_settled(const LemmaTagger *m, Lemmatizing *x, const LemmaCache *c,
                                    const LemmaEntry *e) {
    uint8_t small[WORD_SMALL];
    uint32_t tags[MOST_TAGS] = {0};
    uint64_t before[MOST_BEFORE] = {0};
    int by_ending;
    if (!m->settled) return NOT_SETTLED;
    entry_tags(m, e, tags);
    for (int t = 0; t < m->n_tags; t++) before[t] = m->settled->hashes[t][tags[t]];
    return settled_label(m->settled, &x->worker->cache.words, word_bytes(&e->form, c->text, small),
                         e->form.length, is_first_word(m, e), before, &by_ending);
}

/* One word as the next token of the batch; `word` holds it. -1: no memory, or a page is missing. */
static inline int take_lemma_word(const LemmaTagger *m, Lemmatizing *x, const LemmaCache *c,
                                  const LemmaEntry *e) {
    const Decoder *d = m->decoder;
    Batch *b = &x->worker->batch;
    uint8_t small[WORD_SMALL], known[KNOWN_BYTES] = "_";
    const uint8_t *text = word_bytes(&e->form, c->text, small);
    uint32_t tags[MOST_TAGS] = {0};
    int n = 1;
    entry_tags(m, e, tags);
    if (lemma_word_read(&x->word, &x->letters, text, e->form.length) < 0) return -1;
    const int32_t upos = m->upos < 0 ? m->upos_of[0] : m->upos_of[tags[m->upos]];
    n = known_scripts(&m->model, &x->word, &x->letters, upos, known);
    if (n < 0 || batch_room(d, b, 1) < 0) return -1;
    if (batch_word(d, b, 0, word_ref(text, e->form.length, d->secrets), text) < 0) return -1;
    for (int32_t column = 1; column < d->layout.program->n_columns; column++) {
        const int tag = m->columns[column];
        const int status =
            tag == KNOWN_COLUMN
                ? batch_word(d, b, column, word_ref(known, (size_t)n, d->secrets), known)
                : batch_word(d, b, column, m->labels[tag][tags[tag]].ref,
                             m->labels[tag][tags[tag]].text);
        if (status < 0) return -1;
    }
    return 0;
}

/* The token before words that are not the first of their sentence. */
static inline int take_nobody(const LemmaTagger *m, Lemmatizing *x) {
    const Decoder *d = m->decoder;
    Batch *b = &x->worker->batch;
    const uint8_t *nothing = (const uint8_t *)"_";
    if (batch_room(d, b, 1) < 0) return -1;
    for (int32_t column = 0; column < d->layout.program->n_columns; column++) {
        const size_t n = column && m->columns[column] == KNOWN_COLUMN;
        if (batch_word(d, b, column, word_ref(nothing, n, d->secrets), nothing) < 0) return -1;
    }
    return 0;
}

static inline int run_lemma_batch(const LemmaTagger *m, Lemmatizing *x) {
    if (m->decoder->run(m->decoder, x->worker) == 0) return 0;
    cache_spoil(&x->worker->cache);
    return -1;
}

/* Ranks ascend: the highest score first, and of equal ones the lowest label. */
static int compare_ranks(const void *a, const void *b) {
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* The lemma by the best script that applies to a word, or the word itself; *n are its bytes. -1: no
 * memory, or a page is missing. */
static inline int best_applying(const LemmaTagger *m, Lemmatizing *x, const LemmaCache *c,
                                const LemmaEntry *e, const uint8_t **lemma, int64_t *n) {
    Worker *w = x->worker;
    const CacheLayout *l = &m->decoder->layout;
    const int32_t n_labels = (int32_t)m->model.n_scripts;
    batch_reset(&w->batch);
    if (!is_first_word(m, e) && take_nobody(m, x) < 0) return -1;
    if (take_lemma_word(m, x, c, e) < 0 || batch_end_sentence(&w->batch) < 0) return -1;
    w->keep_scores = 1;
    const int status = run_lemma_batch(m, x);
    w->keep_scores = 0;
    if (status < 0) return -1;
    const size_t at = (size_t)(w->n_tokens - 1) * (size_t)l->stride;
    const int16_t *narrow = (const int16_t *)(const void *)w->scores + (l->narrow ? at : 0);
    const int32_t *wide = (const int32_t *)(const void *)w->scores + (l->narrow ? 0 : at);
    uint64_t *ranks = (uint64_t *)malloc(((size_t)n_labels + 1) * sizeof *ranks);
    if (!ranks) return -1;
    for (int32_t k = 0; k < n_labels; k++) {
        const int64_t score = l->narrow ? narrow[k] : wide[k];
        ranks[k] = (uint64_t)(INT32_MAX - score) << 32 | (uint32_t)k;
    }
    qsort(ranks, (size_t)n_labels, sizeof *ranks, compare_ranks);
    *n = 0;
    for (int32_t k = 0; k < n_labels && !*n; k++)
        *n = script_lemma(&m->model.scripts[(uint32_t)ranks[k]], &x->word, &x->letters, lemma);
    free(ranks);
    if (*n < 0) return -1;
    if (!*n) {
        uint32_t bytes = 0;
        for (uint32_t k = 0; k < x->word.n; k++)
            bytes += utf8_put(x->word.bytes + bytes, x->word.form[k]);
        *lemma = x->word.bytes;
        *n = bytes;
    }
    return 0;
}

/* Have the lemmas of the entries that are new. -1: no memory, or a page of letters is missing; then
 * those that are done stay, and this may be called again. */
static inline int lemmatize_new(const LemmaTagger *m, Lemmatizing *x, LemmaCache *c) {
    Worker *w = x->worker;
    while (c->n_done < c->n) {
        const size_t begin = c->n_done;
        const size_t end = c->n - begin < LEMMA_CHUNK ? c->n : begin + LEMMA_CHUNK;
        int64_t at = 1;
        batch_reset(&w->batch);
        for (size_t k = begin; k < end; k++)
            x->labels[k - begin] = entry_settled(m, x, c, &c->entries[k]);
        if (take_nobody(m, x) < 0) return -1;
        for (int first = 0; first <= 1; first++) {
            for (size_t k = begin; k < end; k++) {
                if (x->labels[k - begin] >= 0 || is_first_word(m, &c->entries[k]) != first)
                    continue;
                if (take_lemma_word(m, x, c, &c->entries[k]) < 0) return -1;
                if (first && batch_end_sentence(&w->batch) < 0) return -1;
            }
            if (!first && batch_end_sentence(&w->batch) < 0) return -1;
        }
        if (run_lemma_batch(m, x) < 0) return -1;
        for (int first = 0; first <= 1; first++)
            for (size_t k = begin; k < end; k++)
                if (x->labels[k - begin] < 0 && is_first_word(m, &c->entries[k]) == first)
                    x->labels[k - begin] = w->labels[at++];
        for (size_t k = begin; k < end; k++) {
            const LemmaEntry *e = &c->entries[k];
            uint8_t small[WORD_SMALL];
            const uint8_t *lemma = NULL;
            if (lemma_word_read(&x->word, &x->letters, word_bytes(&e->form, c->text, small),
                                e->form.length) < 0)
                return -1;
            int64_t n = script_lemma(&m->model.scripts[x->labels[k - begin]], &x->word, &x->letters,
                                     &lemma);
            if (n < 0 || (n == 0 && best_applying(m, x, c, e, &lemma, &n) < 0)) return -1;
            if (lemma_set(c, lemma, (size_t)n) < 0) return -1;
        }
    }
    return 0;
}
