/* What a tagger remembers of the strings it has met, laid out: see typecache.h.
 *
 *   slots    | head:u64 tail:u64 mark:u32 type+1:u32 |  a short string stands there whole, so
 *            that finding it costs one cache miss
 *   vectors  [type][vector slot][stride]   int16 or int32, in units of 1 / scale
 *   transitions    [type][tag[-1]]               the sum of what templates of (tag[-1], the word
 *            itself) say: a number of a vector in pool; 0, the zero vector, for nothing
 *
 * A slot with a condition is no vector of its own: "not first" is added to the vector of its
 * column and offset, and a correction vector turns it into "first" for the one word concerned.
 * With more than DENSE_LABELS labels the rows themselves are kept, as lists. */
#pragma once

#include "features/hashing.h"
#include "features/program.h"
#include "model/frozen.h"
#include "table/probe.h"

/* A string as two machine words: up to 16 bytes stand in them whole, so that most words are
 * copied, hashed and compared without touching a byte of text.
 *
 *   length    head                          tail
 *   0 .. 8    0                             all bytes, the first one lowest
 *   9 .. 16   all but the last 8 bytes      the last 8 bytes
 *   17 ..     a keyed hash of all bytes     the last 8 bytes
 *
 * Together with the length this is the string itself up to 16 bytes. */

#define WORD_SMALL 16

typedef struct {
    uint64_t head, tail;
    uint64_t length;
    uint64_t at; /* place of a long string in a text kept elsewhere */
} WordRef;

/* Numbers that nobody else knows: six for word_hash, two for long strings. */
#define N_SECRETS 8

/* Of a string that has at least 16 readable bytes before its end: two loads and two shifts, since
 * lengths are unpredictable and branches on them dear. */
static inline WordRef word_ref_inside(const uint8_t *text, size_t n, const uint64_t *secrets) {
    WordRef w = {0, 0, n, 0};
    w.tail = xxh_read64(text + n - 8);
    if (n > WORD_SMALL) {
        w.head = siphash13(secrets[6], secrets[7], text, n);
        return w;
    }
    unsigned low = n < 8 ? (unsigned)n : 8, high = (unsigned)n - low;
    w.head = xxh_read64(text + n - 16) >> ((64 - 8 * high) & 63) & (0 - (uint64_t)(high != 0));
    w.tail = w.tail >> ((64 - 8 * low) & 63) & (0 - (uint64_t)(low != 0));
    return w;
}

/* The same, wherever the string stands. */
static inline WordRef word_ref(const uint8_t *text, size_t n, const uint64_t *secrets) {
    uint8_t padded[2 * WORD_SMALL] = {0};
    if (n > WORD_SMALL) return word_ref_inside(text, n, secrets);
    if (n) memcpy(padded + WORD_SMALL, text, n);
    return word_ref_inside(padded + WORD_SMALL, n, secrets);
}

/* The same of a string in a text that begins at `start`: only the first ones have too few bytes
 * before their ends. */
static inline WordRef word_ref_within(const uint8_t *start, const uint8_t *text, size_t n,
                                      const uint64_t *secrets) {
    return (size_t)(text - start) + n < WORD_SMALL ? word_ref(text, n, secrets)
                                                   : word_ref_inside(text, n, secrets);
}

/* Eight bytes, the lowest first. */
static inline void write_bytes(uint8_t *out, uint64_t word) {
    word = LOWEST_FIRST_64(word);
    memcpy(out, &word, 8);
}

/* Its bytes: in `small` for a short string, at their place in `texts` for a long one. */
static inline const uint8_t *word_bytes(const WordRef *w, const uint8_t *texts,
                                        uint8_t small[WORD_SMALL]) {
    size_t n = (size_t)w->length, first = n > 8 ? n - 8 : 0;
    if (n > WORD_SMALL) return texts + w->at;
    write_bytes(small, w->head);
    write_bytes(small + first, w->tail);
    return small;
}

/* Length and column in 32 bits; equal marks of long strings prove nothing. */
static inline uint32_t word_mark(const WordRef *w, int32_t column) {
    return (uint32_t)(w->length << 6) | (uint32_t)column;
}

/* Strongly universal in its top 32 bits (the multilinear family of Lemire and Kaser, "Strongly
 * universal string hashing is fast", 2014, section 3): whoever does not know the secrets cannot
 * choose words that meet in one place of a table more often than by chance. */
static inline uint64_t word_hash(const WordRef *w, uint32_t mark, const uint64_t *secrets) {
    return secrets[0] + secrets[1] * (uint32_t)w->head + secrets[2] * (w->head >> 32) +
           secrets[3] * (uint32_t)w->tail + secrets[4] * (w->tail >> 32) + secrets[5] * mark;
}

#define DENSE_LABELS PACKED_LABELS
#define MOST_AT_ONCE 32768   /* types that there is room made for at once */
#define MOST_TYPES (1 << 30) /* of a cache, whatever it may take */
#define TRANSITION_UNKNOWN 0xFFFFFFFFu
#define FREE (-1)
/* Rows are summed when they are asked for again; a few stay as they are. */
enum { NOT_ASKED, ASKED_ONCE, FEW_ROWS, FIRST_SUM };
#define FRESH_TYPES 8 /* as many as the first-level cache holds the buckets and rows of */

typedef struct {
    int32_t column, offset, condition; /* condition: ALWAYS, or FIRST / LAST for a correction */
} VectorSlot;

typedef struct {
    WordRef word;   /* at: place of a long string in the cache's text */
    int32_t column; /* -1: a pad */
    int32_t forced; /* its one label; FREE; or FREE - 1 - k: only labels of mask k */
} TypeEntry;

typedef struct {
    uint64_t head, tail;
    uint32_t mark;  /* length and column */
    uint32_t type1; /* type + 1; 0 is an empty slot */
} TypeSlot;

/* How a key of a type is made. Most templates look at one value of a word, if anything after being
 * first or last: what hashing does before the value is done once, and what it does with the value
 * once for all of them. */
typedef struct {
    uint64_t start; /* the hash before the value */
    int32_t slot, template_id;
    int32_t value; /* -1: there is more to the template */
} KeyPlan;

/* The values of a column. */
typedef struct {
    ValueSpec spec;
    int32_t value, carried_at;
} ValuePlan;

/* Half of a key of two words, one value of each: of the first the hash so far, of the second its value
 * as xxh64_mixed leaves it. */
typedef struct {
    uint64_t start; /* the hash before the first */
    int32_t value, is_first;
} HalfPlan;

/* A type whose keys are known and whose rows are still to be read. */
typedef struct {
    uint32_t type;
    size_t keys_end; /* in fresh_keys */
} FreshType;

struct TypeCache;

/* What all caches of a tagger may take together, and what one word takes in all that there are. So
 * they hold as many words each; a cache that comes later leaves less to the others. */
typedef struct {
    size_t bytes, per_word;
} CacheShare;

static inline size_t shared_words(const CacheShare *s) {
    const size_t per_word = READ_SHARED(s->per_word);
    return per_word ? s->bytes / per_word : 0;
}

/* For one thread at a time. */
static inline void set_per_word(CacheShare *s, size_t per_word) {
    WRITE_SHARED(s->per_word, per_word);
}

/* What the cache needs to know of the model; shared by all workers, never written after set-up. */
typedef struct CacheLayout {
    const Program *program;
    const FrozenTable *table;
    /* Sum the rows of the first types that were begun into their vectors; NULL without vectors. */
    void (*sum_fresh)(const struct CacheLayout *, struct TypeCache *, int);
    void (*add_sum)(const int16_t *, int32_t, int32_t *); /* where it is not dense */
    int dense;
    int as_written; /* marks are no others (values.h) */
    int narrow;     /* there are vectors, and no sum of weights leaves 16 bits */
    int32_t stride; /* labels, or parts of these, rounded up to a whole number of vectors */
    int32_t n_vectors, n_always;
    VectorSlot *vectors;      /* those that always apply, then the corrections */
    int32_t *slot_vector;     /* program slot -> vector slot it is summed into */
    int32_t *slot_correction; /* program slot -> correction it is summed into too; or -1 */
    int *slot_sign;           /* sign with which it enters the correction */
    int32_t n_transitions;    /* history templates of (tag[-1], values of the word itself) */
    int32_t *transition_templates;
    uint64_t *transition_starts; /* [transition][label]: see neighbors.h */
    int32_t *transition_values;
    int transitions_planned; /* have all of them a plan? */
    KeyFilter transition_filter;
    Index dictionary; /* hash of a word -> its one label */
    uint16_t *dictionary_labels;
    Index lexicon;           /* hash of a form, as written or lower-cased -> what it may be */
    int32_t *lexicon_labels; /* as TypeEntry.forced; goes before the dictionary */
    uint8_t *masks;          /* [mask][label]: may the label be given? */
    int32_t n_labels;        /* whole ones */
    int forces;              /* is there anything in the dictionary or the lexicon? */
    KeyPlan *plan;           /* of column 0, then 1, …; in a column by slot */
    int32_t *plan_starts;    /* column -> its first; one more at the end */
    ValuePlan *value_plan;   /* of column 0, then 1, …; values of many hashes are left out */
    int32_t *value_starts;
    HalfPlan *halves; /* of column 0, for pairs (neighbors.h) */
    int32_t n_halves;
    const CacheShare *share;
    uint32_t most_types;
} CacheLayout;

typedef struct TypeCache {
    uint64_t secrets[N_SECRETS]; /* those of the decoder */
    TypeSlot *slots;
    int bits;
    uint32_t n_types, room;
    int spoiled; /* what is there may be half made */
    TypeEntry *entries;
    uint8_t *text;
    size_t text_used, text_room;
    char *vectors;
    uint64_t *carried;
    uint64_t *halves; /* [type][half] */
    uint32_t *transitions;
    char *pool;
    uint32_t pool_used, pool_room;
    uint64_t *values;      /* scratch of one type */
    uint64_t *mixed;       /* each value as xxh64_mixed leaves it */
    uint32_t *list_starts; /* without vectors: [type][program slot] -> rows; one more at the end */
    uint32_t *rows;
    size_t rows_used, rows_room;
    uint32_t *sums;  /* [type][program slot] -> its place in summed; or NOT_ASKED, … */
    int16_t *summed; /* [place][stride]: what rows come to */
    uint32_t summed_used, summed_room;
    int32_t *sum; /* [stride]: scratch (rows.h) */
    WordScratch words;
    KeyBuffer keys; /* scratch of one template */
    FreshType fresh[FRESH_TYPES];
    int n_fresh, n_guessed; /* types begun; those of them that have fresh_rows */
    uint64_t *fresh_keys;   /* as the table has them */
    uint32_t *fresh_rows;   /* of each key; 0: none */
    uint16_t *fresh_slots;  /* program slot of each key */
    size_t n_fresh_keys, fresh_room;
    int64_t misses, times_cleared;
} TypeCache;

static inline void cache_close(TypeCache *c) {
    free(c->slots);
    free(c->entries);
    free(c->text);
    free(c->vectors);
    free(c->carried);
    free(c->halves);
    free(c->transitions);
    free(c->pool);
    free(c->values);
    free(c->mixed);
    free(c->fresh_keys);
    free(c->fresh_rows);
    free(c->fresh_slots);
    free(c->list_starts);
    free(c->rows);
    free(c->sums);
    free(c->summed);
    free(c->sum);
    word_scratch_close(&c->words);
    key_buffer_close(&c->keys);
    memset(c, 0, sizeof *c);
}

static inline size_t score_bytes(const CacheLayout *l) {
    return l->narrow ? 2 : 4;
}
static inline size_t vector_words(const CacheLayout *l) {
    return l->dense ? (size_t)l->n_vectors * (size_t)l->stride : 0;
}
static inline size_t vector_bytes(const CacheLayout *l) {
    return vector_words(l) * score_bytes(l);
}
static inline size_t transition_words(const CacheLayout *l) {
    return l->n_transitions ? (size_t)l->table->n_labels + 1 : 0;
}
