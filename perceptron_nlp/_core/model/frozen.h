/* Weights that no longer change, laid out for tagging.
 *
 *   buckets  | 8 tags : u32 | 8 rows : u32 |  one cache line, filled from the front; row 0 is an
 *            empty place. What finds its bucket full goes to the next one
 *   records  what each row says, one after the other: packed.h where labels are few, else
 *            | key >> 32 : u32 | number of cells : u32 | cells: label:u16 weight:i16 |, ascending
 *            labels
 *
 * A row is named by its place in records, so that a feature costs two cache misses: its bucket and
 * its record. Row 0 says nothing. The tag is the low half of the key and the record has the high
 * half. The key of a fixed table is the top bits of a feature's key, and the place's number where
 * most of the table is in use (`direct`).
 *
 * The first bucket is (key * multiplier) >> shift, by a multiplier that is drawn, as in probe.h, where
 * keys were made to meet under that of all tables. Weights are whole numbers of
 * 1 / scale, and sums of them are exact in 32 bits, so every order of adding them gives the same
 * tags. */
#pragma once

#include "model/packed.h"
#include "table/portable.h"

#define BUCKET 8
#define BUCKET_BITS 3
#define BUCKET_MEAN 5 /* rows to a bucket, at most */
#define BUCKET_MIN_BITS 3
/* The multiplier of tables whose keys were not made to meet. By the highest bits of keys alone, which
 * filters use as well, finding takes half as long again. */
#define SPREADING 0x9E3779B97F4A7C15u

typedef struct {
    uint32_t tags[BUCKET], rows[BUCKET];
} FrozenBucket;

typedef struct {
    uint16_t label;
    int16_t weight;
} FrozenCell;

/* A record where they list cells. */
typedef struct {
    uint32_t key_high;
    uint32_t n;
    FrozenCell cells[];
} FrozenRow;

typedef struct {
    int32_t n_labels;
    int mask_words;      /* of packed records; 0: they list cells */
    int fixed_bits;      /* 0: exact */
    int direct;          /* fixed, and places are found without a search */
    int bits;            /* log2 of the number of buckets */
    int drop;            /* bits of a feature's key that its own key is without */
    int shift;           /* of the own key times multiplier: what is left is a bucket's number */
    uint64_t multiplier; /* odd; 1 where direct, else SPREADING, or drawn by each process */
    void *block;         /* the buckets', before it is aligned */
    FrozenBucket *buckets;
    uint32_t *records;
    uint64_t used; /* words of records in use */
} FrozenTable;

#define FROZEN_MAX_WORDS 0xFFFFFFF0u
#define ROW_READ 8 /* words of a row of four weights that are read, with what is thrown away */

static inline void frozen_close(FrozenTable *t) {
    free(t->block);
    free(t->records);
    memset(t, 0, sizeof *t);
}

/* Where the record of the first row is. */
static inline uint64_t first_record(const FrozenTable *t) {
    return 1 + (uint64_t)(t->mask_words ? t->mask_words : 1);
}

/* Room for n_rows rows and n_cells cells; fixed_bits is 0 for exact keys. -1: no memory. */
static inline int frozen_open(FrozenTable *t, int32_t n_labels, int fixed_bits, uint64_t n_rows,
                              uint64_t n_cells) {
    memset(t, 0, sizeof *t);
    t->n_labels = n_labels;
    t->mask_words = packed_mask_words(n_labels);
    t->fixed_bits = fixed_bits;
    uint64_t words = t->mask_words ? (n_rows + 1) * (2 + (uint64_t)t->mask_words) + n_cells / 2
                                   : 2 * (n_rows + 1) + n_cells;
    words += PACKED_SLACK;
    /* A file of a few rows may claim a table of 2^30: memory follows the rows that are there. */
    t->direct = fixed_bits && (uint64_t)1 << fixed_bits <= 8 * n_rows + 4096;
    t->bits = BUCKET_MIN_BITS;
    uint64_t places =
        t->direct ? (uint64_t)1 << fixed_bits : n_rows / BUCKET_MEAN * BUCKET + BUCKET;
    while ((uint64_t)BUCKET << t->bits < places) t->bits++;
    t->drop = fixed_bits ? 64 - fixed_bits : 0;
    t->shift = t->direct ? BUCKET_BITS : 64 - t->bits;
    t->multiplier = t->direct ? 1 : SPREADING;
    if (words > FROZEN_MAX_WORDS) return -1;
    t->block = large_block((sizeof(FrozenBucket) << t->bits) + sizeof(FrozenBucket) - 1, 1);
    t->records = (uint32_t *)large_block((size_t)words * sizeof(uint32_t), 0);
    if (!t->block || !t->records) return -1;
    uintptr_t start = (uintptr_t)t->block + sizeof(FrozenBucket) - 1;
    t->buckets = (FrozenBucket *)(start - start % sizeof(FrozenBucket));
    t->used = first_record(t);
    memset(t->records, 0, (size_t)t->used * sizeof(uint32_t));
    return 0;
}

/* What a feature's key is in this table. */
static inline uint64_t frozen_key(const FrozenTable *t, uint64_t key) {
    return key >> t->drop;
}

static inline size_t frozen_start(const FrozenTable *t, uint64_t own) {
    return (size_t)((own * t->multiplier) >> t->shift);
}

static inline size_t frozen_next(const FrozenTable *t, size_t bucket) {
    return (bucket + 1) & (((size_t)1 << t->bits) - 1);
}

static ALWAYS_INLINE void frozen_prefetch(const FrozenTable *t, uint64_t key) {
    PREFETCH(&t->buckets[frozen_start(t, frozen_key(t, key))]);
}

/* What is read of most rows, which may be in two cache lines. */
static ALWAYS_INLINE void frozen_prefetch_row(const FrozenTable *t, int64_t row) {
    PREFETCH(t->records + row);
    PREFETCH(t->records + row + ROW_READ - 1);
}

/* A bit for each of the tags or rows of a bucket that is this number. */
static inline uint32_t equal_places(const uint32_t *eight, uint32_t number) {
#if HAS_SHORT_LANES && defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi32((int)number);
    const __m128i *halves = (const __m128i *)(const void *)eight;
    __m128i low = _mm_cmpeq_epi32(_mm_load_si128(halves), wanted);
    __m128i high = _mm_cmpeq_epi32(_mm_load_si128(halves + 1), wanted);
    __m128i both = _mm_packs_epi32(low, high);
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(both, _mm_setzero_si128()));
#else
    uint32_t match = 0;
    for (int k = 0; k < BUCKET; k++) match |= (uint32_t)(eight[k] == number) << k;
    return match;
#endif
}

/* A bit for each place of a bucket that has the tag; the first empty places may have it too. */
static inline uint32_t bucket_match(const FrozenBucket *b, uint32_t tag) {
    return equal_places(b->tags, tag);
}

/* The row of a key of the table's own, going by its tag alone; 0 if there is none. Its bucket was
 * fetched; the row need not be. */
static ALWAYS_INLINE uint32_t frozen_guess(const FrozenTable *t, uint64_t own) {
    size_t at = frozen_start(t, own);
    if (t->direct) return t->buckets[at].rows[own % BUCKET];
    for (;; at = frozen_next(t, at)) {
        const FrozenBucket *b = &t->buckets[at];
        const uint32_t match = bucket_match(b, (uint32_t)own), last = 1u << (BUCKET - 1);
        const uint32_t row = b->rows[lowest_bit(match | last)] & (0 - (uint32_t)(match != 0));
        /* Whether a feature is there cannot be foreseen; that a bucket is not full, can. */
        if (match | (uint32_t)!b->rows[BUCKET - 1]) return row;
    }
}

static inline int64_t frozen_find_own(const FrozenTable *t, uint64_t own) {
    size_t at = frozen_start(t, own);
    if (t->direct) {
        uint32_t row = t->buckets[at].rows[own % BUCKET];
        return row ? (int64_t)row : -1;
    }
    for (;; at = frozen_next(t, at)) {
        const FrozenBucket *b = &t->buckets[at];
        for (uint32_t match = bucket_match(b, (uint32_t)own); match; match &= match - 1) {
            uint32_t row = b->rows[lowest_bit(match)];
            if (!row) return -1;
            if (t->records[row] == (uint32_t)(own >> 32)) return (int64_t)row;
        }
        if (!b->rows[BUCKET - 1]) return -1;
    }
}

/* The row of a feature's key, or -1. */
static inline int64_t frozen_find(const FrozenTable *t, uint64_t key) {
    return frozen_find_own(t, frozen_key(t, key));
}

/* The row that frozen_guess gave if it is the key's, else the right one; 0 if there is none. */
static inline uint32_t frozen_sure(const FrozenTable *t, uint64_t own, uint32_t guess) {
    int wrong = (t->records[guess] != (uint32_t)(own >> 32)) & (guess != 0);
    if (!wrong) return guess;
    int64_t row = frozen_find_own(t, own);
    return row < 0 ? 0 : (uint32_t)row;
}

/* Buckets that a row may be from its first one under the multiplier of all tables. */
#define FROZEN_FARTHEST 16

/* The next record under a key of the table's own; NULL where the key is there already; that of row
 * 0 where it would be too far away. */
static inline uint32_t *frozen_enter(FrozenTable *t, uint64_t own) {
    const uint32_t high = (uint32_t)(own >> 32);
    FrozenBucket *b = &t->buckets[frozen_start(t, own)];
    size_t place = own % BUCKET;
    if (t->direct) {
        if (b->rows[place]) return NULL;
    } else {
        uint32_t empty;
        for (int far = 0;; far++, b = &t->buckets[frozen_next(t, (size_t)(b - t->buckets))]) {
            if (far > FROZEN_FARTHEST && t->multiplier == SPREADING) return t->records;
            empty = equal_places(b->rows, 0);
            for (uint32_t match = bucket_match(b, (uint32_t)own) & ~empty; match;
                 match &= match - 1)
                if (t->records[b->rows[lowest_bit(match)]] == high) return NULL;
            if (empty) break;
        }
        place = (size_t)lowest_bit(empty);
    }
    b->tags[place] = (uint32_t)own;
    b->rows[place] = (uint32_t)t->used;
    t->records[t->used] = high;
    return t->records + t->used;
}

/* The cells of a row, whose key is there already. -1: its labels do not ascend, or lead beyond the
 * labels that there are. */
static inline int frozen_list(FrozenRow *row, const uint16_t *labels, const int16_t *weights,
                              int64_t n, int32_t n_labels) {
    int32_t before = -1, falls = 0;
    for (int64_t k = 0; k < n; k++) {
        row->cells[k] = (FrozenCell){labels[k], weights[k]};
        falls |= labels[k] <= before;
        before = labels[k];
    }
    row->n = (uint32_t)n;
    return falls || before >= n_labels ? -1 : 0;
}

/* A row where they list cells. */
static inline const FrozenRow *frozen_row(const FrozenTable *t, int64_t row) {
    return (const FrozenRow *)(const void *)(t->records + row);
}

#define FROZEN_AHEAD 16

/* Enter all rows; starts are those of FrozenWeights. The first row whose key is there already, or
 * whose labels do not ascend; -1 when there is none. */
static inline int64_t frozen_fill(FrozenTable *t, uint64_t secret, const uint64_t *keys,
                                  const int64_t *starts, const uint16_t *labels,
                                  const int16_t *weights, int64_t n_rows) {
    const int64_t n_cells = starts[n_rows];
    for (int64_t row = 0; row < n_rows; row++) {
        if (row + FROZEN_AHEAD < n_rows)
            PREFETCH(&t->buckets[frozen_start(t, keys[row + FROZEN_AHEAD])]);
        int64_t start = starts[row], n = starts[row + 1] - start;
        uint32_t *record = frozen_enter(t, keys[row]);
        if (!record) return row;
        if (record == t->records) {
            memset(t->buckets, 0, sizeof(FrozenBucket) << t->bits);
            t->used = first_record(t);
            t->multiplier = secret | 1;
            row = -1;
            continue;
        }
        if (t->mask_words) {
            const int few = n <= PACKED_FEW && start + PACKED_FEW <= n_cells;
            t->used += (few ? packed_write_few : packed_write)(record, t->mask_words,
                                                               labels + start, weights + start, n);
            continue;
        }
        if (frozen_list((FrozenRow *)(void *)record, labels + start, weights + start, n,
                        t->n_labels) < 0)
            return row;
        t->used += 2 + (uint64_t)n;
    }
    return -1;
}

/* The weights of a row into cells, which have room for all labels; how many there are. */
static inline uint32_t frozen_cells(const FrozenTable *t, int64_t row, FrozenCell *cells) {
    const uint32_t *record = t->records + row;
    uint32_t n = 0;
    if (!t->mask_words) {
        const FrozenRow *own = frozen_row(t, row);
        memcpy(cells, own->cells, own->n * sizeof *cells);
        return own->n;
    }
    const int16_t *weight = packed_weights(record, t->mask_words);
    for (uint64_t left = packed_mask(record, t->mask_words); left; left &= left - 1, n++)
        cells[n] = (FrozenCell){(uint16_t)lowest_bit(left), weight[n]};
    return n;
}

/* Add a row of cells to scores. Rows may be as long as there are labels: four at a time. */
static inline void add_cells(const FrozenTable *t, int64_t row, int32_t *restrict scores) {
    const FrozenRow *own = frozen_row(t, row);
    const FrozenCell *cell = own->cells;
    uint32_t left = own->n;
    for (; left >= 4; left -= 4, cell += 4) {
        scores[cell[0].label] += cell[0].weight;
        scores[cell[1].label] += cell[1].weight;
        scores[cell[2].label] += cell[2].weight;
        scores[cell[3].label] += cell[3].weight;
    }
    for (; left; left--, cell++) scores[cell->label] += cell->weight;
}

/* Add sums of rows to scores, which the compiler makes vectors of. */
static ALWAYS_INLINE void add_sum_plain(const int16_t *restrict sum, int32_t n,
                                        int32_t *restrict scores) {
    for (int32_t k = 0; k < n; k++) scores[k] += sum[k];
}

#if AVX2_AT_RUN_TIME
TARGET_AVX2 static inline void add_sum_avx2(const int16_t *restrict sum, int32_t n,
                                            int32_t *restrict scores) {
    add_sum_plain(sum, n, scores);
}
#endif

static inline void frozen_add(const FrozenTable *t, int64_t row, int32_t *scores) {
    const uint32_t *record = t->records + row;
    if (t->mask_words) {
        ADD_PACKED_ONE_BY_ONE(scores, uint32_t, record, t->mask_words);
        return;
    }
    add_cells(t, row, scores);
}

/* Like frozen_add, modulo 2^16, of packed rows. */
static inline void frozen_add_narrow(const FrozenTable *t, int64_t row, int16_t *scores) {
    ADD_PACKED_ONE_BY_ONE(scores, uint16_t, t->records + row, t->mask_words);
}

/* Which of the keys that are asked for are surely not in a table: two bits of one machine word for
 * each that is. Of the others it says so of all but five in a hundred, and touches few bytes. */

#define FILTER_BITS 8 /* for each key, at least */

typedef struct {
    uint64_t *words; /* NULL: nothing is known of any key */
    int shift;
} KeyFilter;

static inline uint64_t filter_bits(uint64_t own) {
    return (uint64_t)1 << (own & 63) | (uint64_t)1 << (own >> 6 & 63);
}

static inline uint64_t *filter_word(const KeyFilter *f, uint64_t own) {
    return f->words + (own >> f->shift);
}

static inline int filter_passes(const KeyFilter *f, uint64_t own) {
    return !(filter_bits(own) & ~*filter_word(f, own));
}

/* Add a table's own keys to a filter, which is made for `all` of them. -1: no memory. */
static inline int filter_add(KeyFilter *f, const FrozenTable *t, uint64_t all, const uint64_t *keys,
                             int64_t n) {
    if (!f->words) {
        int bits = 3;
        while ((uint64_t)64 << bits < FILTER_BITS * all) bits++;
        f->shift = 64 - t->drop - bits;
        f->words = (uint64_t *)calloc((size_t)1 << bits, sizeof *f->words);
        if (!f->words) return -1;
    }
    for (int64_t k = 0; k < n; k++) *filter_word(f, keys[k]) |= filter_bits(keys[k]);
    return 0;
}
