/* A model ready to tag, and the batch of sentences that one thread is tagging with it. */
#ifndef PERCEPTRON_NLP_BATCH_H
#define PERCEPTRON_NLP_BATCH_H

#include "beam.h"
#include "lanes.h"
#include "paircache.h"
#include "parts.h"

struct Worker;

typedef struct Decoder {
    CacheLayout layout;
    PairLayout pairs;
    const uint64_t *label_hashes;
    int right_to_left;
    int32_t beam;           /* states kept; 1: greedy */
    const uint8_t *allowed; /* see Beam; only with a beam */
    const Parts *parts;     /* NULL where labels are whole */
    void *start;     /* [stride]: the scores of a word of which nothing is known */
    void *tag_table; /* [tag[-1]][tag[-2]][stride]; n_labels stands for "none" */
    int32_t n_static, *static_templates; /* templates over several words that are no pairs */
    int32_t n_open, *open_templates;     /* history templates that are looked up each time */
    int (*tag_words)(const struct Decoder *, struct Worker *);
} Decoder;

/* Labels that tokens have already: of each token the number of a set of labels, one of which it
 * gets; or KEPT_FREE; or KEPT_UNKNOWN for a label that the model does not have, which counts as
 * "none" for those after it. `of` is NULL where no token of the batch has one. */
enum { KEPT_FREE = -1, KEPT_UNKNOWN = -2 };
typedef struct {
    const int32_t *of;
    const int64_t *starts; /* set -> first of its labels; one more at the end */
    const int32_t *labels; /* ascending within a set */
} KeptLabels;

typedef struct Worker {
    TypeCache cache;
    PairCache pairs;
    WordRef *words; /* [token * n_columns + column] */
    int64_t words_room;
    uint8_t *text; /* long strings */
    size_t text_used, text_room;
    int64_t n_tokens;
    int64_t *starts; /* sentence -> its first token; one more at the end */
    int64_t n_sentences, sentences_room;
    int32_t *types[MAX_COLUMNS]; /* padded */
    int64_t padded_room;
    int keep_scores; /* scores of every token are wanted afterwards */
    char *scores; /* [token][stride]; only one token at a time without keep_scores or dense */
    size_t scores_room;
    uint16_t *labels; /* what came out; the number of labels where an unknown one was kept */
    KeptLabels kept;
    int64_t labels_room;
    Beam search;
    int32_t *path; /* labels of one sentence as it is read */
    int64_t path_room;
} Worker;

static inline void worker_close(Worker *w) {
    cache_close(&w->cache);
    pair_cache_close(&w->pairs);
    free(w->words);
    free(w->text);
    free(w->starts);
    for (int c = 0; c < MAX_COLUMNS; c++) free(w->types[c]);
    free(w->scores);
    free(w->labels);
    free(w->path);
    beam_close(&w->search);
    memset(w, 0, sizeof *w);
}

static inline void worker_reset(Worker *w) {
    w->text_used = 0;
    w->n_tokens = 0;
    w->n_sentences = 0;
}

static inline int32_t kept_set(const Worker *w, int64_t token) {
    return w->kept.of ? w->kept.of[token] : KEPT_FREE;
}

/* ---- filling a batch ---- */

/* Room for the columns of one more token. */
static inline int worker_token_room(const Decoder *d, Worker *w) {
    int64_t columns = d->layout.program->n_columns;
    if ((w->n_tokens + 1) * columns <= w->words_room) return 0;
    int64_t room = 2 * w->words_room + 1024 * columns;
    if (grow_array((void **)&w->words, (size_t)room, sizeof(WordRef)) < 0) return -1;
    w->words_room = room;
    return 0;
}

/* Room for n bytes of text, or NULL. */
static inline uint8_t *worker_text(Worker *w, size_t n) {
    if (!w->text || w->text_used + n > w->text_room) {
        size_t room = 2 * w->text_room + n + 4096;
        if (grow_array((void **)&w->text, room, 1) < 0) return NULL;
        w->text_room = room;
    }
    return w->text + w->text_used;
}

/* The next string (columns of a token in order); its bytes need not outlive the call. There is
 * room for the token already. */
static inline int worker_string(const Decoder *d, Worker *w, int32_t column, const uint8_t *text,
                                size_t n) {
    int64_t columns = d->layout.program->n_columns;
    WordRef *word = &w->words[w->n_tokens * columns + column];
    *word = word_ref(text, n, w->cache.secrets);
    if (n > WORD_SMALL) {
        uint8_t *own = worker_text(w, n);
        if (!own) return -1;
        if (own != text) memcpy(own, text, n);
        word->at = w->text_used;
        w->text_used += n;
    }
    if (column == columns - 1) w->n_tokens++;
    return 0;
}

static inline int worker_end_sentence(Worker *w) {
    if (w->n_sentences == w->sentences_room) {
        int64_t room = 2 * w->sentences_room + 256;
        if (grow_array((void **)&w->starts, (size_t)room + 1, 8) < 0) return -1;
        w->sentences_room = room;
    }
    if (w->n_sentences == 0) w->starts[0] = 0;
    w->starts[++w->n_sentences] = w->n_tokens;
    return 0;
}

/* ---- strings to types ---- */

static inline int64_t padded_place(const Decoder *d, int64_t sentence, int64_t token) {
    return token + (2 * sentence + 1) * d->layout.program->reach;
}

static inline int find_types(const Decoder *d, Worker *w) {
    const Program *p = d->layout.program;
    TypeCache *cache = &w->cache;
    int64_t padded = w->n_tokens + 2 * p->reach * w->n_sentences;
    if (padded > w->padded_room || !w->types[0]) {
        for (int32_t c = 0; c < p->n_columns; c++)
            if (grow_array((void **)&w->types[c], (size_t)padded, sizeof(int32_t)) < 0) return -1;
        w->padded_room = padded;
    }
    if (!cache->slots || cache->n_types + (uint64_t)(w->n_tokens * p->n_columns) > cache->limit ||
        cache->text_used + w->text_used > (size_t)cache->limit * TEXT_PER_TYPE) {
        if (cache_clear(cache, &d->layout) < 0) return -1;
        pair_cache_clear(&w->pairs);
    }
    for (int32_t c = 0; c < p->n_columns; c++) {
        const WordRef *word = w->words + c;
        int32_t *type = w->types[c];
        for (int64_t s = 0; s < w->n_sentences; s++) {
            for (int32_t k = p->reach; k > 0; k--) *type++ = pad_type(p, c, -k);
            for (int64_t i = w->starts[s]; i < w->starts[s + 1]; i++, word += p->n_columns) {
                int32_t found = type_find(cache, &d->layout, c, word, w->text);
                if (found < 0) return -1;
                *type++ = found;
            }
            for (int32_t k = 1; k <= p->reach; k++) *type++ = pad_type(p, c, k);
        }
    }
    return 0;
}

static inline TokenView token_view(const Decoder *d, Worker *w, int64_t place, int first, int last,
                                   const uint64_t *past, const int32_t **types) {
    for (int32_t c = 0; c < d->layout.program->n_columns; c++) types[c] = w->types[c] + place;
    TokenView view = {types, w->cache.carried, past, first, last};
    return view;
}

#endif
