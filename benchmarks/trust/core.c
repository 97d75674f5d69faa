/* The weight tables of the core by themselves, for a compiler with sanitizers.
 *
 *   core averages N      N examples one by one, lazy against naive averages; prints the drift
 *   core allocations     every allocation fails in turn; prints how many did
 *   core exercise SEEDS  random updates, tables made and closed; prints how many updates
 */
#include <stdio.h>
#include <stdlib.h>

static long calls, fail_at;

static int fails(void) {
    return ++calls == fail_at;
}
static void *try_malloc(size_t n) {
    return fails() ? NULL : malloc(n);
}
static void *try_calloc(size_t n, size_t m) {
    return fails() ? NULL : calloc(n, m);
}
static void *try_realloc(void *p, size_t n) {
    return fails() ? NULL : realloc(p, n);
}
#define malloc try_malloc
#define calloc try_calloc
#define realloc try_realloc
#include "features/siphash.h"
#include "table/table.h"
#undef malloc
#undef calloc
#undef realloc

static uint64_t state;
static uint64_t next_random(void) {
    uint64_t z = state += 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}
static uint32_t below(uint32_t n) {
    return (uint32_t)((next_random() >> 32) * n >> 32);
}

/* ---- averages ---- */

#define LABELS 16

/* Neumaier's sum in long double: exact enough to measure a drift of doubles by. */
typedef struct {
    long double sum, rest;
} Exact;

static void exact_add(Exact *x, long double value) {
    long double sum = x->sum + value;
    if (fabsl(x->sum) >= fabsl(value))
        x->rest += (x->sum - sum) + value;
    else
        x->rest += (value - sum) + x->sum;
    x->sum = sum;
}

static int averages(long examples) {
    Table t;
    Exact weights[LABELS], sums[LABELS];
    double worst = 0;
    memset(weights, 0, sizeof weights);
    memset(sums, 0, sizeof sums);
    if (table_open(&t, LABELS, 0, 0, next_random(), 0) < 0) return 1;
    int64_t row = table_insert(&t, 7, 0);
    if (row < 0) return 1;
    for (long i = 0; i < examples; i++) {
        double step = (double)(int64_t)next_random() * 0x1p-63;
        uint32_t label = below(LABELS);
        step += 0.001;
        if (table_add(&t, row, (int32_t)label, step) < 0) return 1;
        exact_add(&weights[label], step);
        t.done++;
        for (int k = 0; k < LABELS; k++) exact_add(&sums[k], weights[k].sum + weights[k].rest);
    }
    for (int k = 0; k < LABELS; k++) {
        Cell cell = table_cell(&t, row, k);
        long double exact = (sums[k].sum + sums[k].rest) / (long double)examples;
        double lazy = mean_weight(*cell.w, *cell.owed, (double)t.done);
        double drift = (double)(fabsl((long double)lazy - exact) / fabsl(exact));
        if (drift > worst) worst = drift;
    }
    table_close(&t);
    printf("%.3e\n", worst);
    return 0;
}

/* ---- one scenario of updates, each whole or not at all ---- */

#define ROWS 24

static uint64_t digest(const Table *t) {
    uint64_t total = 0;
    int64_t n_rows = t->fixed_bits ? (int64_t)1 << t->fixed_bits : (int64_t)t->index.n;
    for (int64_t row = 0; row < n_rows; row++) {
        RowView v = table_row(t, row);
        for (uint32_t j = 0; j < v.span; j++) {
            int32_t label = row_label(t, &v, j);
            uint64_t words[3];
            if (label < 0) continue;
            double said = v.w[j] * 3 + mean_weight(v.w[j], v.owed[j], (double)t->done + 1);
            if (said == 0) continue;
            words[0] = t->fixed_bits ? (uint64_t)row : t->index.keys[row];
            words[1] = (uint64_t)label;
            memcpy(&words[2], &said, 8);
            total += xxh64_words(words, 3, 0);
        }
    }
    return total;
}

/* Updates as training makes them; every failed one must leave the table as it was, and is tried
 * again. Returns the number of failures, or -1 where one has changed something. */
static long scenario(uint64_t seed, int n_labels, int bits, int gradients, int updates,
                     uint64_t *result) {
    Table t;
    long failures = 0;
    state = seed;
    uint64_t multiplier = next_random();
    while (table_open(&t, n_labels, bits, gradients, multiplier, 0) < 0)
        if (++failures > 1) return -1;
    for (int u = 0; u < updates; u++) {
        uint64_t keys[ROWS];
        int64_t rows[ROWS];
        uint32_t n = 1 + below(ROWS);
        int32_t gold = (int32_t)below((uint32_t)n_labels),
                rival = (int32_t)below((uint32_t)n_labels);
        for (uint32_t i = 0; i < n; i++) {
            keys[i] = (uint64_t)below(4 + (uint32_t)updates) * 0xD1B54A32D192ED03ULL;
            rows[i] = table_find(&t, keys[i]);
        }
        for (;;) {
            int near =
                calls < fail_at && fail_at <= calls + 8; /* an update makes few allocations */
            uint64_t before = near ? digest(&t) : 0;
            if (table_reserve(&t, n, n) == 0) break;
            failures++;
            if (!near || digest(&t) != before) return -1;
        }
        for (uint32_t i = 0; i < n; i++) {
            rows[i] = table_insert(&t, keys[i], (uint16_t)i);
            if (rows[i] < 0) return -1;
        }
        for (uint32_t i = 0; i < n; i++)
            for (int side = 0; side < 2; side++) {
                double step = side ? -1.0 : 1.0;
                int32_t label = side ? rival : gold;
                int bad = gradients ? table_add_adagrad(&t, rows[i], label, step, 0.1)
                                    : table_add(&t, rows[i], label, step);
                if (bad < 0) return -1; /* room was made: this may not fail */
            }
        t.done++;
    }
    *result = digest(&t);
    table_close(&t);
    return failures;
}

static int allocations(void) {
    static const int sizes[] = {2, 40, 300};
    long failed = 0;
    for (int kind = 0; kind < 3; kind++)
        for (int bits = 0; bits <= 5; bits += 5) {
            uint64_t whole, tried;
            calls = 0;
            fail_at = 0;
            if (scenario(11, sizes[kind], bits, kind == 1, 400, &whole) != 0) return 1;
            long all = calls;
            for (long at = 1; at <= all; at++) {
                calls = 0;
                fail_at = at;
                long failures = scenario(11, sizes[kind], bits, kind == 1, 400, &tried);
                if (failures < 0 || tried != whole) {
                    fprintf(stderr, "allocation %ld of %ld: the table has changed\n", at, all);
                    return 1;
                }
                failed += failures;
            }
        }
    printf("%ld\n", failed);
    return 0;
}

static int exercise(long seeds) {
    long updates = 0;
    uint64_t result, text[8];
    fail_at = 0;
    for (long seed = 0; seed < seeds; seed++) {
        state = (uint64_t)seed;
        int n_labels = 1 + (int)below(200), bits = below(3) ? 0 : 1 + (int)below(8);
        int gradients = (int)below(2), n = 1 + (int)below(2000);
        if (scenario((uint64_t)seed, n_labels, bits, gradients, n, &result) != 0) return 1;
        for (int i = 0; i < 8; i++) text[i] = next_random();
        size_t length = below(65);
        if (siphash13(result, 1, (const uint8_t *)text, length) ==
            xxh64((const uint8_t *)text, length, result))
            return 1;
        updates += n;
    }
    printf("%ld\n", updates);
    return 0;
}

int main(int n, char **words) {
    if (n == 3 && strcmp(words[1], "averages") == 0) return averages(atol(words[2]));
    if (n == 2 && strcmp(words[1], "allocations") == 0) return allocations();
    if (n == 3 && strcmp(words[1], "exercise") == 0) return exercise(atol(words[2]));
    return 2;
}
