/* A model ready to tag, and the batch of sentences that one thread is tagging with it. */
#pragma once

#include "train/beam.h"
#include "model/packed.h"
#include "tag/neighbors.h"
#include "model/parts.h"

/* Columns whose labels agree. */
#define MAX_AGREEING 3

struct Worker;

typedef struct Decoder {
    CacheLayout layout;
    PairLayout pairs;
    const uint64_t *label_hashes;
    uint64_t secrets[N_SECRETS]; /* drawn anew by each decoder; its workers share them */
    int right_to_left;
    int32_t beam;           /* states held; 1: greedy */
    const uint8_t *allowed; /* see Beam; only with a beam */
    const Parts *parts;     /* NULL where labels are whole */
    void *start;            /* [stride]: the scores of a word of which nothing is known */
    void *tag_table;        /* [tag[-1]][tag[-2]][stride]; n_labels stands for "none" */
    int32_t n_static, *static_templates; /* templates over several words that are no pairs */
    int32_t n_open, *open_templates;     /* history templates that are looked up each time, … */
    KeyFilter open_filter;               /* … and a filter of their keys */
    /* Label a batch that is filled; -1: no memory. Called by way of the decoder, so that the kernels
     * are compiled in one module (choose_kernels). */
    int (*run)(const struct Decoder *, struct Worker *);
    int (*tag_words)(const struct Decoder *, struct Worker *);
    /* Set the scores of all tokens to what their words say; where there are vectors. */
    void (*sum_words)(const struct Decoder *, struct Worker *);
} Decoder;

/* Labels that tokens have already: of each token the number of a set of labels, one of which it
 * gets; or UNCONSTRAINED; or UNKNOWN_LABEL for a label that the model does not have, which counts as
 * "none" for those after it. `of` is NULL where no token of the batch has one. */
enum { UNCONSTRAINED = -1, UNKNOWN_LABEL = -2 };
typedef struct {
    const int32_t *of;
    const int64_t *starts; /* set -> first of its labels; one more at the end */
    const int32_t *labels; /* ascending within a set */
} Constraints;

/* Sentences to be labeled together, and their labels. */
#define BATCH_FIELDS                                                                              \
    WordRef *words; /* [token * n_columns + column] */                                            \
    size_t words_room;                                                                            \
    uint8_t *text; /* long strings */                                                             \
    size_t text_used, text_room;                                                                  \
    int64_t n_tokens;                                                                             \
    int64_t *starts; /* sentence -> its first token; one more at the end */                       \
    int64_t n_sentences;                                                                          \
    size_t sentences_room;                                                                        \
    uint16_t *labels; /* what came out; the number of labels where an unknown one is asked for */ \
    size_t labels_room;                                                                           \
    Constraints constraints;

typedef struct {
    BATCH_FIELDS
} Batch;

/* What settles the label of a column, or that nothing does, by its type and the labels before
 * (agreement.h). */
#define MEMO_BITS 15
typedef struct {
    uint64_t key; /* 0: an empty place */
    int32_t label;
} SettledMemo;

typedef struct Worker {
    TypeCache cache;
    PairBlocks pairs;
    uint32_t *found; /* without vectors: [token][template over several words] -> row; 0: none */
    size_t found_room;
    union {
        Batch batch;
        struct {
            BATCH_FIELDS
        };
    };
    int32_t *types[MAX_COLUMNS]; /* padded */
    int64_t padded_room;
    int keep_scores; /* scores of every token are wanted afterwards */
    char *scores;    /* [token][stride]; only one token at a time without keep_scores or dense */
    size_t scores_room;
    Beam search;
    int32_t *path; /* labels of one sentence as it is read */
    int64_t path_room;
    int32_t *settled; /* of each token the label that it has, or NOT_SETTLED; if `settles` */
    size_t settled_room;
    int settles;
    const Constraints *held; /* sets of labels, one of which a token gets that is HELD to it */
    uint16_t *back;          /* [token][state] of fast beams: its label and the state before it */
    size_t back_room;
    struct Worker *agreeing[MAX_AGREEING - 1]; /* of the columns after the first (agreement.h) */
    SettledMemo *memo;    /* [2^MEMO_BITS], each at the place that its key says; NULL: none yet */
    int64_t memo_cleared; /* the cache's times_cleared when it was emptied */
} Worker;

static inline void batch_close(Batch *b) {
    free(b->words);
    free(b->text);
    free(b->starts);
    free(b->labels);
    memset(b, 0, sizeof *b);
}

static inline void worker_close(Worker *w) {
    cache_close(&w->cache);
    pair_blocks_close(&w->pairs);
    free(w->found);
    batch_close(&w->batch);
    for (int c = 0; c < MAX_COLUMNS; c++) free(w->types[c]);
    free(w->scores);
    free(w->path);
    free(w->settled);
    free(w->memo);
    free(w->back);
    beam_close(&w->search);
    memset(w, 0, sizeof *w);
}

static inline void batch_reset(Batch *b) {
    b->text_used = 0;
    b->n_tokens = 0;
    b->n_sentences = 0;
}

/* Is the token's label to be found by score? Others need no scores. */
static ALWAYS_INLINE int is_open_token(const Worker *w, int64_t token) {
    return !w->settles || w->settled[token] < 0;
}

static inline int32_t constraint_of(const Worker *w, int64_t token) {
    return w->constraints.of ? w->constraints.of[token] : UNCONSTRAINED;
}

/* ---- filling a batch ---- */

/* Room for the columns of more tokens. */
static inline int batch_room(const Decoder *d, Batch *b, int64_t more) {
    const size_t needed = (size_t)((b->n_tokens + more) * d->layout.program->n_columns);
    return array_room(&b->words, &b->words_room, needed, sizeof *b->words);
}

/* Room for n bytes of text, or NULL. */
static inline uint8_t *batch_text(Batch *b, size_t n) {
    if (array_room(&b->text, &b->text_room, b->text_used + n + 1, 1) < 0) return NULL;
    return b->text + b->text_used;
}

/* The next string (columns of a token in order), given by `word` and, where it is long, by `text`,
 * whose bytes need not outlive the call. There is room for the token already. */
static inline int batch_word(const Decoder *d, Batch *b, int32_t column, WordRef word,
                             const uint8_t *text) {
    int64_t columns = d->layout.program->n_columns;
    if (word.length > WORD_SMALL) {
        uint8_t *own = batch_text(b, (size_t)word.length);
        if (!own) return -1;
        if (own != text) memcpy(own, text, (size_t)word.length);
        word.at = b->text_used;
        b->text_used += (size_t)word.length;
    }
    b->words[b->n_tokens * columns + column] = word;
    if (column == columns - 1) b->n_tokens++;
    return 0;
}

static inline int batch_end_sentence(Batch *b) {
    const size_t n = (size_t)b->n_sentences + 2;
    if (array_room(&b->starts, &b->sentences_room, n, sizeof *b->starts) < 0) return -1;
    if (b->n_sentences == 0) b->starts[0] = 0;
    b->starts[++b->n_sentences] = b->n_tokens;
    return 0;
}

/* ---- strings to types ---- */

static inline int64_t padded_place(const Decoder *d, int64_t sentence, int64_t token) {
    return token + (2 * sentence + 1) * d->layout.program->reach;
}

#define WORDS_AHEAD 16 /* words that were hashed before one is looked for */

/* Hash a word, and fetch the slot that this leads to. */
static ALWAYS_INLINE uint64_t hash_ahead(const TypeCache *c, int32_t column, const WordRef *word) {
    const uint64_t hash = cache_hash(c, word, column);
    PREFETCH(&c->slots[hash >> (64 - c->bits)]);
    return hash;
}

/* The types of the words of a column, sentence after sentence with pads on either side. -1: no
 * memory. */
static inline int find_column(const Decoder *d, Worker *w, int32_t c, int32_t *type) {
    const Program *p = d->layout.program;
    const int64_t n = w->n_tokens, step = p->n_columns;
    const WordRef *words = w->words + c;
    uint64_t hashes[WORDS_AHEAD];
    int64_t i = 0;
    for (int64_t k = 0; k < WORDS_AHEAD && k < n; k++)
        hashes[k] = hash_ahead(&w->cache, c, words + k * step);
    for (int64_t s = 0; s < w->n_sentences; s++) {
        const int64_t end = w->starts[s + 1];
        for (int32_t k = p->reach; k > 0; k--) *type++ = pad_type(p, c, -k);
        for (; i < end; i++) {
            const uint64_t hash = hashes[i % WORDS_AHEAD];
            if (i + WORDS_AHEAD < n)
                hashes[i % WORDS_AHEAD] =
                    hash_ahead(&w->cache, c, words + (i + WORDS_AHEAD) * step);
            const int32_t own =
                type_find(&w->cache, &d->layout, c, words + i * step, hash, w->text);
            if (own < 0) return -1;
            *type++ = own;
        }
        for (int32_t k = 1; k <= p->reach; k++) *type++ = pad_type(p, c, k);
    }
    return 0;
}

static inline int find_types(const Decoder *d, Worker *w) {
    const Program *p = d->layout.program;
    TypeCache *cache = &w->cache;
    int64_t padded = w->n_tokens + 2 * p->reach * w->n_sentences;
    if (padded > w->padded_room || !w->types[0]) {
        for (int32_t c = 0; c < p->n_columns; c++)
            if (grow_array(&w->types[c], (size_t)padded, sizeof(int32_t)) < 0) return -1;
        w->padded_room = padded;
    }
    const uint64_t types = (uint64_t)(w->n_tokens * p->n_columns);
    if (cache_make_room(cache, &d->layout, types, w->text_used) < 0) return -1;
    for (int32_t c = 0; c < p->n_columns; c++)
        if (find_column(d, w, c, w->types[c]) < 0) return -1;
    return finish_types(cache, &d->layout);
}

static inline TokenView token_view(const Decoder *d, Worker *w, int64_t place, int first, int last,
                                   const uint64_t *past, const int32_t **types) {
    for (int32_t c = 0; c < d->layout.program->n_columns; c++) types[c] = w->types[c] + place;
    TokenView view = {types, w->cache.carried, past, first, last};
    return view;
}
