/* The core's headers without Python: every processor and compiler must print these lines.
 *
 *   cc -std=c11 -O2 -ffp-contract=off -Iperceptron_nlp/_core -Itests/unit/core/selftest \
 *     tests/unit/core/selftest/selftest.c -o selftest && ./selftest
 *
 * Each line is a digest of what a part of the core makes of numbers drawn alike everywhere. Status 1
 * where it is another one than everywhere, where a form (plain C, vectors) differs from another,
 * or a known value from what it should be. */
#include <stdio.h>

#include "conllu/splice.h"
#include "conllu/numbering.h"
#include "model/ricecodes.h"
#include "table/probe.h"
#include "table/sums.h"
#include "tag/search.h"
#include "text/lemmatize.h"

static int failed = 0;

static void require(int true_, const char *what) {
    if (true_) return;
    printf("WRONG %s\n", what);
    failed = 1;
}

static uint64_t state;

/* A draw of 64 bits: splitmix64. */
static uint64_t draw(void) {
    uint64_t z = state += 0x9E3779B97F4A7C15ULL;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ z >> 27) * 0x94D049BB133111EBULL;
    return z ^ z >> 31;
}

static uint64_t digest;

static void begin(void) {
    state = 25;
    digest = 0;
}

static void add(uint64_t number) {
    digest = xxh64_words((uint64_t[]){digest, number}, 2, 0);
}

static void add_double(double number) {
    uint64_t bits;
    memcpy(&bits, &number, 8);
    add(bits);
}

/* The digest of a part, which is the same everywhere. */
static void end(const char *what, uint64_t wanted) {
    printf("%-12s %08lx%08lx\n", what, (unsigned long)(digest >> 32),
           (unsigned long)(digest & 0xFFFFFFFFu));
    require(digest == wanted, what);
}

/* Values of the specification's reference implementation. */
static void hashes(void) {
    uint8_t text[100];
    uint64_t words[9];
    begin();
    require(xxh64((const uint8_t *)"", 0, 0) == 0xEF46DB3751D8E999ULL, "XXH64 of nothing");
    require(xxh64((const uint8_t *)"abc", 3, 0) == 0x44BC2CF5AD770999ULL, "XXH64 of abc");
    for (size_t n = 0; n < sizeof text; n++) {
        for (size_t i = 0; i < n; i++) text[i] = (uint8_t)draw();
        add(xxh64(text, n, draw()));
        const uint64_t key = draw();
        add(siphash13(key, ~key, text, n));
        if (n <= 8) {
            uint8_t padded[8] = {0};
            memcpy(padded, text, n);
            require(xxh64_short(xxh_read64(padded), n) == xxh64(text, n, 0), "short hashes");
        }
    }
    for (int n = 0; n < 9; n++) {
        uint8_t bytes[72];
        for (int i = 0; i < n; i++) write_bytes(bytes + 8 * i, words[i] = draw());
        require(xxh64_words(words, n, 7) == xxh64(bytes, 8 * (size_t)n, 7), "hashes of words");
    }
    end("hashes", 0xB5778E896E6EE5F3ULL);
}

static void words(void) {
    static const char *const some[] = {"a",
                                       "Word",
                                       "1984",
                                       "e-mail",
                                       "IBM",
                                       "x1",
                                       "2/3",
                                       "-",
                                       "McX",
                                       "Donaudampfschifffahrt",
                                       "\xC3\x89\x63ole",
                                       "na\xC3\xAFve",
                                       "\xF0\x9F\x98\x80"};
    WordScratch scratch;
    memset(&scratch, 0, sizeof scratch);
    begin();
    for (size_t w = 0; w < sizeof some / sizeof *some; w++) {
        require(
            !word_views(&scratch, (const uint8_t *)some[w], strlen(some[w]), (1u << N_VIEWS) - 1),
            "memory");
        for (int32_t view = 0; view < N_VIEWS; view++) {
            for (int32_t k = 1; k <= 5; k++) {
                add(word_value(&scratch, &(ValueSpec){view, AFFIX_PREFIX, k, k}));
                add(word_value(&scratch, &(ValueSpec){view, AFFIX_SUFFIX, k, k}));
            }
            require(!word_many(&scratch, &(ValueSpec){view, AFFIX_NGRAMS, 2, 4}), "memory");
            for (uint32_t i = 0; i < scratch.n_grams; i++) add(scratch.grams[i]);
        }
    }
    word_scratch_close(&scratch);
    end("words", 0x56B47586698383B0ULL);
}

static void index_of_keys(void) {
    Index x;
    begin();
    require(!index_open(&x, 0x9E3779B97F4A7C15ULL, 0), "memory");
    for (int i = 0; i < 3000; i++) add((uint64_t)index_insert(&x, draw() % 2000 * 0x100000001ULL));
    for (uint64_t key = 0; key < 2500; key++) add((uint64_t)index_find(&x, key * 0x100000001ULL));
    index_close(&x);
    end("index", 0xFBACF5035D7D8CF2ULL);
}

/* The bit pattern as a signed number of 16 bits. */
static int16_t signed_16(uint64_t bits) {
    return (int16_t)((int32_t)(bits & 0xFFFF) - 0x8000);
}

#if HAS_SHORT_LANES && AVX2_AT_RUN_TIME
/* Add a row with AVX2; the label of the largest sum. */
TARGET_AVX2 static int32_t add_and_choose(Shorts *sum, int parts, const uint32_t *record,
                                          int mask_words, int32_t n_labels) {
    add_packed_avx2(sum, parts, record, mask_words);
    return best_shorts_avx2(sum, parts, n_labels);
}
#endif

#define ROWS 200

/* Rows of up to 64 labels, added up in every form; the label of the largest sum. */
static void packed_rows(int32_t n_labels) {
    static uint32_t records[ROWS * (3 + PACKED_LABELS / 2) + 16];
    const int mask_words = packed_mask_words(n_labels), parts = (n_labels + LANES - 1) / LANES;
    PlainShorts plain[MAX_PARTS];
    PlainInts wide[MAX_PARTS];
    uint32_t *at = records;
    for (int p = 0; p < MAX_PARTS; p++)
        for (int k = 0; k < LANES; k++) {
            plain[p].x[k] = p * LANES + k < n_labels ? 0 : (uint16_t)INT16_MIN;
            wide[p].x[k] = p * LANES + k < n_labels ? 0 : (uint32_t)INT32_MIN;
        }
#if HAS_SHORT_LANES
    Shorts vectors[MAX_PARTS];
    memcpy(vectors, plain, sizeof plain);
#if AVX2_AT_RUN_TIME
    Shorts avx2[MAX_PARTS];
    memcpy(avx2, plain, sizeof plain);
#endif
#endif
    for (int row = 0; row < ROWS; row++) {
        uint16_t labels[PACKED_LABELS];
        int16_t weights[PACKED_LABELS + PACKED_FEW];
        int64_t n = 0;
        for (int32_t label = 0; label < n_labels; label++)
            if (draw() % (row % 2 ? 3 : 20) == 0) {
                labels[n] = (uint16_t)label;
                weights[n++] = (int16_t)(signed_16(draw()) / 256);
            }
        at[0] = 0;
        uint32_t used = packed_write(at, mask_words, labels, weights, n);
        add_packed_plain(plain, parts, at, mask_words);
        add_packed_ints(wide, parts, at, mask_words);
#if HAS_SHORT_LANES
        add_packed_shorts(vectors, parts, at, mask_words);
        require(!memcmp(vectors, plain, sizeof plain), "sums of short vectors");
        require(best_shorts(vectors, parts, n_labels) == best_plain_shorts(plain, parts, n_labels),
                "the best label by short vectors");
#if AVX2_AT_RUN_TIME
        if (cpu_has_avx2()) {
            int32_t best = add_and_choose(avx2, parts, at, mask_words, n_labels);
            require(best == best_plain_shorts(plain, parts, n_labels), "the best label by AVX2");
            require(!memcmp(avx2, plain, (size_t)parts * sizeof *plain), "sums by AVX2");
        }
#endif
#endif
        add((uint64_t)best_plain_shorts(plain, parts, n_labels));
        add((uint64_t)best_plain_ints(wide, parts, n_labels));
        at += used;
    }
    for (int32_t k = 0; k < n_labels; k++) add(plain[k / LANES].x[k % LANES]);
}

/* Rows found again in a frozen table, few and many labels, exact and fixed. Keys that `meet` would all
 * begin in one bucket: the inverse of the multiplier is in them. */
static void frozen_rows(int32_t n_labels, int fixed_bits, int meet) {
    enum { KEYS = 500, CELLS = 3 };
    FrozenTable table;
    uint64_t keys[KEYS];
    int64_t starts[KEYS + 1];
    uint16_t labels[KEYS * CELLS];
    int16_t weights[KEYS * CELLS];
    int32_t *scores = (int32_t *)calloc((size_t)n_labels, sizeof *scores);
    for (int64_t k = 0; k < KEYS; k++) {
        keys[k] = meet ? (uint64_t)k * 0xF1DE83E19937733DULL : fixed_bits ? (uint64_t)k : draw();
        starts[k] = k * CELLS;
        for (int64_t c = 0; c < CELLS; c++) {
            labels[k * CELLS + c] = (uint16_t)(draw() % ((uint64_t)n_labels / CELLS) +
                                               (uint64_t)c * ((uint64_t)n_labels / CELLS));
            weights[k * CELLS + c] = (int16_t)(signed_16(draw()) / 512);
        }
    }
    starts[KEYS] = KEYS * CELLS;
    require(scores && !frozen_open(&table, n_labels, fixed_bits, KEYS, KEYS * CELLS), "memory");
    const uint64_t usual = table.multiplier, secret = 0xD6E8FEB86659FD93ULL;
    require(frozen_fill(&table, secret, keys, starts, labels, weights, KEYS) == -1,
            "a table is filled");
    require(table.multiplier == (meet ? secret : usual), "keys that were made to meet part");
    for (int64_t k = 0; k < KEYS; k++) {
        uint64_t key = fixed_bits ? (uint64_t)k << (64 - fixed_bits) : keys[k];
        frozen_add(&table, frozen_find(&table, key), scores);
        add((uint64_t)first_largest(scores, n_labels));
    }
    for (int32_t k = 0; k < n_labels; k++) add((uint64_t)(int64_t)scores[k]);
    frozen_close(&table);
    free(scores);
}

/* Sums of doubles, in every form the same to the last bit. */
static void sums(void) {
    enum { PLACES = 60 };
    static double weights[PLACES * MOST_ROW_LABELS];
    uint32_t place[PLACES];
    int32_t rows[40];
    begin();
    for (size_t i = 0; i < PLACES * MOST_ROW_LABELS; i++)
        weights[i] = (double)signed_16(draw()) / (double)(1 + i % 1000);
    for (uint32_t i = 0; i < PLACES; i++) place[i] = i;
    for (size_t stride = GROUP; stride <= MOST_ROW_LABELS; stride += GROUP) {
        double plain[MOST_ROW_LABELS], other[MOST_ROW_LABELS];
        for (size_t i = 0; i < 40; i++) rows[i] = (int32_t)(draw() % PLACES);
        sum_rows(1)(weights, stride, place, rows, 40, plain);
        sum_rows(0)(weights, stride, place, rows, 40, other);
        require(!memcmp(plain, other, stride * sizeof *plain), "sums by vectors");
#if VECTOR_EXTENSIONS
        sum_pairs(weights, stride, place, rows, 40, other);
        require(!memcmp(plain, other, stride * sizeof *plain), "sums by pairs");
#endif
        for (size_t k = 0; k < stride; k++) add_double(plain[k]);
    }
    /* A product whose sum a fused multiply-add would round once, not twice. */
    double product = 0;
    for (size_t n = 0; n < 100; n++) add_double(product += weights[n] * weights[n + 100]);
    end("sums", 0x4C80D0C164B67B2CULL);
}

/* Codes of all kinds, whole and damaged. */
static void rice_codes(void) {
    uint8_t code[200];
    begin();
    rice_prepare();
    for (int round = 0; round < 4000; round++) {
        uint64_t numbers[64] = {0}, slowly[64] = {0};
        const int low_bits = (int)(draw() % 12), kind = round % 4, item = 1 << draw() % 4;
        const int64_t n = (int64_t)(draw() % 64), starts[] = {0, n / 2, n};
        const int64_t size = (n * low_bits + 7) / 8 + (int64_t)(draw() % 40);
        const uint64_t limit = UINT64_MAX >> (64 - 8 * item + (kind == RICE_SIGNED));
        const uint64_t few = round % 3 ? 0 : draw();
        for (size_t i = 0; i < sizeof code; i++) code[i] = (uint8_t)(draw() | draw() | few);
        RiceCode rice = {code, size, n, low_bits, kind, item, starts, limit};
        if (n < 2) rice.starts = (const int64_t[]){0, n};
        int status = rice_numbers(&rice, (uint8_t *)numbers);
        require(status == rice_by_bits(&rice, (uint8_t *)slowly), "what is wrong with a code");
        add((uint64_t)status);
        if (status != RICE_GOOD) continue;
        require(!memcmp(numbers, slowly, (size_t)(n * item)), "numbers by tables");
        for (int64_t i = 0; i < n; i++) add(numbers[i]);
    }
    end("rice codes", 0x1DBD85D44556F3CAULL);
}

/* Sentences of which one byte in most rounds is another; all that is read until one is unusual. */
static void lines(void) {
    enum { TIMES = 8 };
    static const char sentence[] =
        "1\tThe\tthe\tDET\tDT\tDefinite=Def|PronType=Art\t2\tdet\t2:det\t_\n"
        "2\tcaf\xC3\xA9\tcaf\xC3\xA9\tNOUN\tNN\tNumber=Sing\t0\troot\t0:root\tSpaceAfter=No\n"
        "3-4\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "3\tdo\tdo\tAUX\tVBP\t_\t2\tdep\t_\t_\n"
        "4\tn't\tnot\tPART\tRB\tPolarity=Neg\t3\tadvmod\t_\t_\n\n";
    enum { LENGTH = sizeof sentence - 1 };
    static uint8_t text[TIMES * LENGTH];
    static ConlluSentence judged;
    Field fields[CONLLU_COLUMNS];
    begin();
    for (int round = 0; round < 2000; round++) {
        const uint8_t *at = text, *stop = text + sizeof text;
        int kind = 1;
        for (size_t k = 0; k < TIMES; k++) memcpy(text + k * LENGTH, sentence, LENGTH);
        const uint64_t place = draw();
        if (round) text[place % sizeof text] = (uint8_t)(draw() % (round % 2 ? 128 : 256));
        add((uint64_t)is_utf8(text, sizeof text));
        sentence_open(&judged);
        for (; at < stop && kind == 1; at += kind == 1) {
            sentence_begin(&judged);
            while ((kind = next_word(&judged, &at, stop, fields)) == 1)
                for (int c = 0; c < CONLLU_COLUMNS; c++)
                    add(xxh64(fields[c].text, fields[c].length, 0));
            add((uint64_t)(int64_t)kind);
            kind = kind == 0;
        }
    }
    end("lines", 0x25D6FA1205B42D86ULL);
}

/* The words of a text without tokens, the first of its cutter: no memory has been taken yet. */
static void no_tokens(void) {
    static Decoder decoder;
    static Worker worker;
    Cut cut;
    TextWords found;
    memset(&cut, 0, sizeof cut);
    memset(&found, 0, sizeof found);
    require(words_of_tokens(&found, &cut, NULL) == 0, "words of no tokens");
    require(split_words(&found, &cut, NULL, &decoder, &worker, NULL, NULL) == 0, "no tokens split");
    require(found.n_words == 0 && found.first[0] == 0, "no words");
    text_words_close(&found);
}

int main(void) {
    hashes();
    words();
    index_of_keys();
    begin();
    for (int32_t n_labels = 2; n_labels <= PACKED_LABELS; n_labels += n_labels < 20 ? 1 : 11)
        packed_rows(n_labels);
    end("packed rows", 0xA1AE90FCDEA17FD8ULL);
    begin();
    frozen_rows(17, 0, 0);
    frozen_rows(60, 0, 0);
    frozen_rows(900, 0, 0);
    frozen_rows(17, 12, 0);
    frozen_rows(17, 0, 1);
    end("frozen rows", 0xF57A19CF22681178ULL);
    sums();
    rice_codes();
    lines();
    no_tokens();
    return failed;
}
