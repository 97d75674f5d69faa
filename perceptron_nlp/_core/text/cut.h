/* Running text cut into tokens and sentences by labels of atoms.
 *
 * Most places are certain, and a decoder that labels every atom would look up some forty features at
 * each of them. So only the others are scored, one after the other, and what the templates say is
 * remembered by all that they look at: of all atoms that a place looks at, and of the nearest. */
#pragma once

#include "tag/batch.h"
#include "text/matches.h"
#include "text/patterns.h"

#define CUT_LABELS 3
#define CUT_COLUMNS \
    3 /* atoms, gaps, and how often training has a capitalized atom in small letters */
#define CUT_HISTORY 4
#define CUT_MOST_TYPES (1 << 19) /* types that a decoder of atoms may remember: see context_of */
#define SUM_BITS 17              /* places of each cache of sums, at most, … */
#define FEW_SUM_BITS 15          /* … and of those in use where text does not repeat itself */
#define LEAST_SUM_BITS 8
#define PLACES_SAMPLED (1 << 16) /* after which that is asked */
#define MOST_TEMPLATES 64        /* of each kind */
#define SMALL_CLASSES 4          /* of words by how often training has them in small letters */
#define PLACE_BLOCK 16           /* atoms that are asked at once */
#define CUT_BATCH 2048           /* atoms that are labeled at a time, or a few more */

#define POLL_ATOMS (1 << 15) /* or tokens, after which a signal is answered */

/* A sentence has no more atoms, and few more characters than these; atoms with nothing between are
 * searched for patterns so many at a time. So no text makes cutting wait for long. */
#define LONGEST_SENTENCE 4000
#define WINDOW_CHARACTERS 40000
#define LONGEST_CHUNK 1000
#define CHUNK_CHARACTERS 10000
#define MOST_OF_ABBREVIATION 16 /* atoms before its last */
#define LONGEST_LINE 400        /* characters of a line that may be wrapped, … */
#define NARROWEST 25            /* … and of the longest line of wrapped ones, at least */

/* Templates by what they look at: an atom and the next, with none of the labels before, the last of
 * them, or more; an atom and both its neighbors; an atom and the next two; or farther. */
enum { LOOKS_RIGHT, LOOKS_LABEL, LOOKS_LABELS, LOOKS_ABOUT, LOOKS_AHEAD, LOOKS_FARTHER, LOOKS };

typedef struct {
    uint64_t context1; /* context + 1; 0: an empty place */
    int32_t sums[CUT_LABELS];
} ContextSums;

/* What is the same wherever all that is looked at is, but for labels: types, gaps and edges. */
#define WINDOW_REACH 3
typedef struct {
    uint64_t seen[3]; /* zeros: an empty place */
    int32_t sums[CUT_LABELS];
} WindowSums;

/* Where values of a type are, seen from the atom at hand. */
typedef struct {
    int32_t column, offset;
} CutSide;

/* A template as the places of the words that its key is of. */
typedef struct {
    int32_t n;
    uint8_t side[MAX_ATOMS], at[MAX_ATOMS];
    uint64_t seed;
} CutTemplate;

#define MOST_SIDES ((2 * MAX_REACH + 1) * CUT_COLUMNS)

/* What does not change while text is cut. */
typedef struct {
    const Decoder *decoder;
    Places certain; /* of what atoms look like: label + 1 */
    Places words;   /* of words and their endings: see settle_words */
    Places
        small; /* of words in small letters how often training has them: 1 .. SMALL_CLASSES - 1 */
    Places entries;       /* a trie of the words of a dictionary: see matches.h */
    Places abbreviations; /* as they are written, without the last full stop */
    int has_matches, has_abbreviations, is_parted; /* are full stops cut off abbreviations? */
    int is_uncapitalized;                          /* is text without capitals known? */
    int is_wrapped;                                /* are all line breaks white space? */
    int8_t word_labels[4];
    int8_t goes_on, token, sentence; /* labels; beyond those of the decoder what it does not have */
    CutTemplate *templates[LOOKS];
    int32_t n_templates[LOOKS];
    int farther_has_tags; /* do those that look farther look at labels, too? */
    CutSide *sides;       /* of atoms whose values are looked at: those of the same place once */
    int32_t n_sides;
    WordRef gaps[3], looks[2 + 2 * SMALL_CLASSES]; /* as their columns have them */
    WordRef quotes[3];     /* a straight quote as it is seen: it closes, opens, or may do either */
    uint64_t yes[2], bias; /* what marks are hashed as */
    uint32_t window_characters;
    uint64_t held; /* kinds of patterns, a bit each */
    int32_t lead;  /* with more than that, what a place is like from near decides: see sum_near */
} CutModel;

typedef struct {
    uint32_t begin, end, char_begin, char_end;
    uint32_t first, last; /* its atoms */
} CutToken;

typedef struct {
    size_t begin, end;  /* atoms that are looked at, */
    size_t first, last; /* and that are labeled, of a paragraph */
} CutPiece;

/* What templates said of contexts, by what they look at; of one thread. */
typedef struct {
    ContextSums *of[LOOKS_FARTHER];
    WindowSums *windows;
    int bits, most_bits; /* of the places that are in use; that there are */
    uint32_t asked, known;
    uint64_t *words; /* what is known of places beside a type; 0: not asked for yet */
    WordScratch scratch;
    Runs runs;
} CutSums;

/* Of the line of an atom, in characters, white space being one: what is before it, at most
 * LONGEST_LINE + 1, and the lines before, the nearest first, 0 for none; and how it begins. And whether a
 * word before it, of the same paragraph, has a capital; as long as none has, the mark that ended a
 * sentence last (0: a word or too many marks stand behind it), marks since, and is there white space?
 * And is the atom before it a letter alone, and did the line before end without a mark? */
typedef struct {
    uint32_t own, before[2], first, has_capital, end, between, is_apart, is_short, goes_on;
    uint32_t ended, level; /* see ended_step; > before the first word of the line */
} Line;

/* What came out of a text. */
typedef struct {
    CutSums *sums; /* while it is cut */
    AtomList list;
    Match *matches; /* of a piece */
    size_t matches_room;
    CutPiece *queue;
    size_t n_queue, queue_room, queued_atoms;
    CutToken *tokens;
    size_t n_tokens, tokens_room;
    uint32_t *sentences; /* their first tokens; one more at the end */
    size_t n_sentences, sentences_room;
    size_t n_before, n_labeled; /* atoms that were given: of sentences before, and with labels */
    size_t kept, kept_before; /* atoms that are needed to go on: the first, in sentences before, */
    size_t kept_labels;       /* and with labels */
    uint32_t taken, taken_chars; /* of the text: what is not */
    Line line;                   /* where the text begins, and then where its rest does */
    int (*poll)(void);           /* answers signals; below 0: stop */
    size_t unpolled;             /* atoms or tokens labeled since */
} Cut;

static inline void cut_model_close(CutModel *m) {
    places_close(&m->certain);
    places_close(&m->words);
    places_close(&m->small);
    places_close(&m->entries);
    places_close(&m->abbreviations);
    for (int k = 0; k < LOOKS; k++) free(m->templates[k]);
    free(m->sides);
}

static inline void sums_close(CutSums *sums) {
    for (int k = 0; k < LOOKS_FARTHER; k++) free(sums->of[k]);
    free(sums->windows);
    free(sums->words);
    word_scratch_close(&sums->scratch);
    free(sums->runs.atoms);
}

static inline void cut_close(Cut *x) {
    free(x->list.atoms);
    free(x->matches);
    free(x->queue);
    free(x->tokens);
    free(x->sentences);
    memset(x, 0, sizeof *x);
}

static inline int looks_of(const CutModel *m, int32_t template_id) {
    const Program *p = m->decoder->layout.program;
    int first = 0, last = 0, last_gap = 0, deepest = 0;
    for
        EACH_ATOM(p, template_id, atom) {
            if (atom->kind == ATOM_FIRST || atom->kind == ATOM_LAST) return LOOKS_FARTHER;
            if (atom->kind == ATOM_TAG && atom->value > deepest) deepest = atom->value;
            if (atom->kind != ATOM_VALUE) continue;
            if (atom->offset < first) first = atom->offset;
            if (m->has_matches && p->value_column[atom->value] > 1) return LOOKS_FARTHER;
            if (p->value_column[atom->value] == 1) {
                if (atom->offset > last_gap) last_gap = atom->offset;
            } else if (atom->offset > last) {
                last = atom->offset;
            }
        }
    if (!first && last <= 1 && !last_gap)
        return deepest > 1 ? LOOKS_LABELS : deepest ? LOOKS_LABEL : LOOKS_RIGHT;
    if (deepest) return LOOKS_FARTHER;
    if (first == -1 && last <= 1 && !last_gap) return LOOKS_ABOUT;
    return !first && last <= 2 && last_gap <= 1 ? LOOKS_AHEAD : LOOKS_FARTHER;
}

/* The number of a side, which is new at the end where it was not there; -1: no memory. */
static inline int32_t cut_side(CutModel *m, int32_t column, int32_t offset) {
    for (int32_t k = 0; k < m->n_sides; k++)
        if (m->sides[k].column == column && m->sides[k].offset == offset) return k;
    if (grow_array(&m->sides, (size_t)m->n_sides + 1, sizeof(CutSide)) < 0) return -1;
    m->sides[m->n_sides] = (CutSide){column, offset};
    return m->n_sides++;
}

/* Behind the sides stand what is the same of all atoms of a spot: labels before it, then marks. */
enum { MARK_FIRST = MAX_HISTORY, MARK_LAST, MARK_BIAS, SPOT_MARKS };
#define SPOT_SIDE MOST_SIDES

static inline int cut_add_template(CutModel *m, int32_t template_id) {
    const Program *p = m->decoder->layout.program;
    const int looks = looks_of(m, template_id);
    CutTemplate made = {0, {0}, {0}, p->seeds[template_id]};
    for
        EACH_ATOM(p, template_id, atom) {
            int32_t side = SPOT_SIDE, at = MARK_BIAS;
            if (atom->kind == ATOM_VALUE) {
                side = cut_side(m, p->value_column[atom->value], atom->offset);
                at = p->carried_at[atom->value];
                if (side < 0) return -1;
            } else if (atom->kind == ATOM_TAG) {
                at = atom->value - 1;
            } else if (atom->kind != ATOM_BIAS) {
                at = atom->kind == ATOM_FIRST ? MARK_FIRST : MARK_LAST;
            }
            made.side[made.n] = (uint8_t)side;
            made.at[made.n++] = (uint8_t)at;
        }
    for
        EACH_ATOM(p, template_id, atom)
    m->farther_has_tags |= looks == LOOKS_FARTHER && atom->kind == ATOM_TAG;
    if (m->n_templates[looks] == MOST_TEMPLATES) return -1;
    if (grow_array(&m->templates[looks], (size_t)m->n_templates[looks] + 1, sizeof made) < 0)
        return -1;
    m->templates[looks][m->n_templates[looks]++] = made;
    return 0;
}

/* List the templates that look at several atoms or at labels, but for those of the decoder's table
 * of labels; -1: no memory, or too many of them. */
static inline int cut_model_open(CutModel *m, const Decoder *d, int knows_straight) {
    const uint8_t marks[] = "01p", looks[] = "_9C0C1C2C3U0U1U2U3";
    m->decoder = d;
    m->window_characters = WINDOW_CHARACTERS;
    m->yes[0] = yes_hash(0);
    m->yes[1] = yes_hash(1);
    m->bias = bias_hash();
    for (int k = 0; k < 3; k++) {
        const char *quote = knows_straight ? "\"" : (const char *[]){"\"", "‟", "＂"}[k];
        m->quotes[k] = word_ref((const uint8_t *)quote, strlen(quote), d->secrets);
    }
    for (int k = 0; k < 3; k++) m->gaps[k] = word_ref(marks + k, 1, d->secrets);
    for (int k = 0; k < 2 + 2 * SMALL_CLASSES; k++)
        m->looks[k] = word_ref(looks + (k < 2 ? k : 2 * k - 2), k < 2 ? 1 : 2, d->secrets);
    for (int32_t k = 0; k < d->pairs.n_templates; k++)
        if (cut_add_template(m, d->pairs.templates[k]) < 0) return -1;
    for (int32_t k = 0; k < d->n_static; k++)
        if (cut_add_template(m, d->static_templates[k]) < 0) return -1;
    for (int32_t k = 0; k < d->layout.n_transitions; k++)
        if (cut_add_template(m, d->layout.transition_templates[k]) < 0) return -1;
    for (int32_t k = 0; k < d->n_open; k++)
        if (cut_add_template(m, d->open_templates[k]) < 0) return -1;
    return 0;
}

/* ---- scores of a place ---- */

typedef struct {
    const Atom *atoms; /* of the paragraph */
    int64_t n, i;
    int64_t place; /* of atom i among the types */
} Spot;

/* What is looked at from a spot: for each side where the carried values of its type are. */
typedef struct {
    const uint64_t *values[SPOT_SIDE + 1];
    uint64_t marks[SPOT_MARKS];
} SpotView;

static inline void look_from(const CutModel *m, const Worker *w, const Spot *spot, SpotView *view) {
    const Decoder *d = m->decoder;
    const size_t n_carried = (size_t)d->layout.program->n_carried;
    for (int32_t k = 0; k < m->n_sides; k++) {
        const int32_t type = w->types[m->sides[k].column][spot->place + m->sides[k].offset];
        view->values[k] = w->cache.carried + (size_t)type * n_carried;
    }
    view->marks[MARK_FIRST] = m->yes[spot->i == 0];
    view->marks[MARK_LAST] = m->yes[spot->i == spot->n - 1];
    view->marks[MARK_BIAS] = m->bias;
    view->values[SPOT_SIDE] = view->marks;
}

static ALWAYS_INLINE uint64_t key_of_words(const CutTemplate *t, const SpotView *view, int n) {
    uint64_t words[MAX_ATOMS];
    for (int k = 0; k < n; k++) words[k] = view->values[t->side[k]][t->at[k]];
    return xxh64_words(words, n, t->seed);
}

/* What token_key gives. */
static ALWAYS_INLINE uint64_t cut_key(const CutTemplate *t, const SpotView *view) {
    switch (t->n) {
        case 1: return key_of_words(t, view, 1);
        case 2: return key_of_words(t, view, 2);
        case 3: return key_of_words(t, view, 3);
        case 4: return key_of_words(t, view, 4);
        case 5: return key_of_words(t, view, 5);
        case 6: return key_of_words(t, view, 6);
        case 7: return key_of_words(t, view, 7);
        default: return key_of_words(t, view, 8);
    }
}

/* Add a row of at most three labels without a branch: nobody can foresee which it has. */
static ALWAYS_INLINE void add_few(const FrozenTable *t, uint32_t row, int32_t *sums) {
    const uint32_t *record = t->records + row;
    const int16_t *weights = packed_weights(record, 1);
    const int32_t mask = (int32_t)record[1], first = mask & 1, second = mask >> 1 & 1;
    sums[0] += weights[0] & -first;
    sums[1] += weights[first] & -second;
    sums[2] += weights[first + second] & -(mask >> 2 & 1);
}

/* Keys of a list of templates, as the table has them; their buckets are on the way. */
static ALWAYS_INLINE int32_t ask_keys(const CutModel *m, int looks, const SpotView *view,
                                      uint64_t *keys) {
    const FrozenTable t = *m->decoder->layout.table;
    const CutTemplate *list = m->templates[looks];
    const int32_t n = m->n_templates[looks];
    for (int32_t k = 0; k < n; k++) keys[k] = fresh_key(&t, cut_key(&list[k], view));
    return n;
}

static ALWAYS_INLINE void ask_rows(const CutModel *m, const uint64_t *keys, uint32_t *rows,
                                   int32_t n) {
    const FrozenTable t = *m->decoder->layout.table;
    for (int32_t k = 0; k < n; k++) {
        rows[k] = frozen_guess(&t, keys[k]);
        frozen_prefetch_row(&t, rows[k]);
    }
}

static ALWAYS_INLINE void add_rows(const CutModel *m, const uint64_t *keys, const uint32_t *rows,
                                   int32_t n, int32_t *sums) {
    const FrozenTable *t = m->decoder->layout.table;
    for (int32_t k = 0; k < n; k++) add_few(t, frozen_sure(t, keys[k], rows[k]), sums);
}

/* A place that is not certain, on the way to what all but labels say there. */
typedef struct {
    Spot spot;
    SpotView view;
    int has_view, is_known;       /* are its sums known from its window? */
    WindowSums *window;           /* of which `seen` is the window, … */
    uint64_t seen[3];             /* … or was another's */
    uint64_t right, about, ahead; /* contexts; that to the right without labels */
    ContextSums *right_sums, *about_sums, *ahead_sums;
    ContextSums *label_sums, *labels_sums; /* four for each */
    uint64_t keys[MOST_TEMPLATES];
    uint32_t rows[MOST_TEMPLATES];
    int32_t sums[CUT_LABELS];
} Asked;

static inline void look_once(const CutModel *m, const Worker *w, Asked *a) {
    if (!a->has_view) look_from(m, w, &a->spot, &a->view);
    a->has_view = 1;
}

/* The sums of a context, by way of its place in a cache. */
static inline void add_context(const CutModel *m, const Worker *w, ContextSums *c, int looks,
                               uint64_t context, Asked *a) {
    if (!m->n_templates[looks]) return;
    if (c->context1 != context + 1) {
        uint64_t keys[MOST_TEMPLATES];
        uint32_t rows[MOST_TEMPLATES];
        look_once(m, w, a);
        const int32_t n = ask_keys(m, looks, &a->view, keys);
        memset(c->sums, 0, sizeof c->sums);
        ask_rows(m, keys, rows, n);
        add_rows(m, keys, rows, n, c->sums);
        c->context1 = context + 1;
    }
    for (int k = 0; k < CUT_LABELS; k++) a->sums[k] += c->sums[k];
}

static ALWAYS_INLINE ContextSums *context_place(const Cut *x, int looks, uint64_t context) {
    ContextSums *c = &x->sums->of[looks][(context * XXH_P1) >> (64 - x->sums->bits)];
    PREFETCH(c);
    PREFETCH((const char *)(c + 1) - 1);
    return c;
}

/* The first of four places beside each other, one of which labels choose. */
static ALWAYS_INLINE ContextSums *context_set(const Cut *x, int looks, uint64_t context) {
    ContextSums *c = x->sums->of[looks] + ((context * XXH_P1) >> (66 - x->sums->bits)) * 4;
    PREFETCH(c);
    PREFETCH((const char *)(c + 3) - 1);
    PREFETCH((const char *)(c + 4) - 1);
    return c;
}

static inline int32_t score_at(const CacheLayout *l, const char *vector, int k) {
    return l->narrow ? ((const int16_t *)(const void *)vector)[k]
                     : ((const int32_t *)(const void *)vector)[k];
}

static inline void add_scores(const CacheLayout *l, const char *vector, int32_t *sums) {
    for (int k = 0; k < CUT_LABELS; k++) sums[k] += score_at(l, vector, k);
}

/* What atoms say one by one. */
static inline void add_single(const CutModel *m, const Worker *w, const Spot *spot, int32_t *sums) {
    const Decoder *d = m->decoder;
    const CacheLayout *l = &d->layout;
    const size_t bytes = (size_t)l->stride * score_bytes(l), record = vector_bytes(l);
    add_scores(l, (const char *)d->start, sums);
    for (int32_t v = 0; v < l->n_vectors; v++) {
        const VectorSlot *slot = &l->vectors[v];
        if (v >= l->n_always && (slot->condition == FIRST ? spot->i : spot->n - 1 - spot->i))
            continue;
        const int32_t type = w->types[slot->column][spot->place + slot->offset];
        add_scores(l, w->cache.vectors + (size_t)type * record + (size_t)v * bytes, sums);
    }
}

/* Find the window of a place, and where its sums would be. */
static inline void ask_window(const CutModel *m, const Cut *x, const Worker *w, Asked *a,
                              int32_t reach) {
    const Spot *spot = &a->spot;
    const int32_t *types = w->types[0] + spot->place;
    uint64_t gaps = 0;
    a->seen[0] = a->seen[1] = 0;
    for (int k = -reach; k <= reach; k++) {
        const int64_t at = spot->i + k;
        gaps = gaps << 2 | (at < 0 || at >= spot->n ? GAP_OUTSIDE : spot->atoms[at].gap);
    }
    for (int k = -reach; k < 0; k++) a->seen[0] = a->seen[0] << 20 | (uint64_t)types[k];
    for (int k = 0; k <= reach && k < WINDOW_REACH; k++)
        a->seen[1] = a->seen[1] << 20 | (uint64_t)types[k];
    const uint64_t last = reach == WINDOW_REACH ? (uint64_t)types[WINDOW_REACH] : 0;
    const uint64_t match = m->has_matches ? (uint64_t)w->types[2][spot->place] : 0;
    a->seen[2] = 1ull << 63 | (uint64_t)(spot->i == 0) << 62 |
                 (uint64_t)(spot->i == spot->n - 1) << 61 | match << 40 | last << 20 | gaps;
    const uint64_t hash = (a->seen[0] * XXH_P1 + a->seen[1] * XXH_P2) ^ a->seen[2] * XXH_P3;
    a->window = &x->sums->windows[((hash ^ hash >> 32) * XXH_P1) >> (64 - x->sums->bits)];
    PREFETCH(a->window);
    PREFETCH((const char *)(a->window + 1) - 1);
}

/* What no sum reaches: the score of a label that is sure. */
#define SURE (1 << 30)

/* The label of a place that is sure, whatever stands before or farther away; or -1. */
static inline int8_t sure_label(const Asked *a) {
    for (int8_t k = 0; k < CUT_LABELS; k++)
        if (a->sums[k] == SURE) return k;
    return -1;
}

static inline void ask_place(const Cut *x, const Worker *w, Asked *a, int32_t reach) {
    const Spot *spot = &a->spot;
    const int32_t *types = w->types[0] + spot->place;
    const uint64_t right = reach ? (uint64_t)types[1] : 0;
    a->right = (uint64_t)types[0] << 40 | right << 16 | spot->atoms[spot->i].gap;
    a->has_view = 0;
    a->is_known = reach <= WINDOW_REACH && !memcmp(a->seen, a->window->seen, sizeof a->seen);
    if (a->is_known)
        memcpy(a->sums, a->window->sums, sizeof a->sums);
    else
        a->right_sums = context_place(x, LOOKS_RIGHT, a->right);
}

/* What is said by the atoms about a place one by one, and by those on either side of it together. Where
 * one label leads far enough in that, nothing else is asked. */
static inline void sum_near(const CutModel *m, const Worker *w, Asked *a) {
    int best = 0;
    memset(a->sums, 0, sizeof a->sums);
    add_single(m, w, &a->spot, a->sums);
    add_context(m, w, a->right_sums, LOOKS_RIGHT, a->right, a);
    for (int k = 1; k < m->decoder->layout.table->n_labels; k++)
        if (a->sums[k] > a->sums[best]) best = k;
    for (int k = 0; k < m->decoder->layout.table->n_labels; k++)
        if (k != best && a->sums[best] - a->sums[k] <= m->lead) return;
    a->sums[best] = SURE;
}

/* Fetch what a place that is not sure is asked beyond that. */
static inline void ask_far(const CutModel *m, const Cut *x, const Worker *w, Asked *a,
                           int32_t reach) {
    const Spot *spot = &a->spot;
    const int32_t *types = w->types[0] + spot->place;
    const uint64_t before = spot->i ? spot->atoms[spot->i - 1].gap : GAP_OUTSIDE;
    const uint64_t behind = spot->atoms[spot->i].gap;
    const uint64_t next = spot->i + 1 < spot->n ? spot->atoms[spot->i + 1].gap : GAP_OUTSIDE;
    const uint64_t own = (uint64_t)types[0], left = reach ? (uint64_t)types[-1] : 0;
    const uint64_t right = reach ? (uint64_t)types[1] : 0;
    const uint64_t second = reach > 1 ? (uint64_t)types[2] : 0;
    a->label_sums = context_set(x, LOOKS_LABEL, a->right);
    a->labels_sums = context_set(x, LOOKS_LABELS, a->right);
    if (a->is_known) return;
    look_once(m, w, a);
    if (!m->farther_has_tags) ask_keys(m, LOOKS_FARTHER, &a->view, a->keys);
    a->about = left << 44 | own << 24 | right << 4 | before << 2 | behind;
    a->ahead = own << 44 | right << 24 | second << 4 | next << 2 | behind;
    a->about_sums = context_place(x, LOOKS_ABOUT, a->about);
    a->ahead_sums = context_place(x, LOOKS_AHEAD, a->ahead);
}

static inline void sum_far(const CutModel *m, const Worker *w, Asked *a) {
    add_context(m, w, a->about_sums, LOOKS_ABOUT, a->about, a);
    add_context(m, w, a->ahead_sums, LOOKS_AHEAD, a->ahead, a);
    if (!m->farther_has_tags) add_rows(m, a->keys, a->rows, m->n_templates[LOOKS_FARTHER], a->sums);
}

/* The best label once those before it are known; the first of equal ones. Templates that look at
 * labels and farther than the next atom are looked up now. */
static inline int8_t best_cut(const CutModel *m, const Worker *w, Asked *a, const uint8_t *past) {
    const Decoder *d = m->decoder;
    const CacheLayout *l = &d->layout;
    uint64_t labels = 0;
    int8_t best = 0;
    if (sure_label(a) >= 0) return sure_label(a);
    for (int k = 0; k < CUT_HISTORY; k++) {
        labels = labels << 2 | past[k];
        a->view.marks[k] = d->label_hashes[past[k]];
    }
    if (d->tag_table) {
        const size_t at = (size_t)past[0] * ((size_t)l->table->n_labels + 1) + (size_t)past[1];
        add_scores(l, (const char *)d->tag_table + at * (size_t)l->stride * score_bytes(l),
                   a->sums);
    }
    add_context(m, w, a->label_sums + past[0], LOOKS_LABEL, a->right | (uint64_t)past[0] << 2, a);
    add_context(m, w, a->labels_sums + (labels * XXH_P1 >> 62), LOOKS_LABELS,
                a->right | labels << 2, a);
    if (m->farther_has_tags) {
        look_once(m, w, a);
        const int32_t n = ask_keys(m, LOOKS_FARTHER, &a->view, a->keys);
        ask_rows(m, a->keys, a->rows, n);
        add_rows(m, a->keys, a->rows, n, a->sums);
    }
    for (int8_t k = 1; k < (int8_t)l->table->n_labels; k++)
        if (a->sums[k] > a->sums[best]) best = k;
    return best;
}

/* ---- paragraphs ---- */

/* What all but labels say at the places of a block, so many of which are asked: what they wait for in
 * memory is on its way at once. Windows that were not known are, from then on. */
static inline void sum_block(const CutModel *m, const Cut *x, const Worker *w, Asked *asked,
                             int count) {
    const int32_t reach = m->decoder->layout.program->reach;
    int far[PLACE_BLOCK], n_far = 0;
    for (int k = 0; k < count && reach <= WINDOW_REACH; k++) ask_window(m, x, w, &asked[k], reach);
    for (int k = 0; k < count; k++) ask_place(x, w, &asked[k], reach);
    for (int k = 0; k < count; k++) {
        if (!asked[k].is_known) sum_near(m, w, &asked[k]);
        if (sure_label(&asked[k]) >= 0) continue;
        ask_far(m, x, w, &asked[k], reach);
        if (!asked[k].is_known) far[n_far++] = k;
    }
    for (int k = 0; k < n_far && !m->farther_has_tags; k++)
        ask_rows(m, asked[far[k]].keys, asked[far[k]].rows, m->n_templates[LOOKS_FARTHER]);
    for (int k = 0; k < n_far; k++) sum_far(m, w, &asked[far[k]]);
    x->sums->asked += (uint32_t)count;
    for (int k = 0; k < count && reach <= WINDOW_REACH; k++) {
        x->sums->known += (uint32_t)asked[k].is_known;
        if (asked[k].is_known) continue;
        memcpy(asked[k].window->seen, asked[k].seen, sizeof asked[k].seen);
        memcpy(asked[k].window->sums, asked[k].sums, sizeof asked[k].sums);
    }
}

static inline int holds(const CutModel *m, int kind) {
    return kind >= 0 && m->held >> kind & 1;
}

/* Dashes, signs, quotes and dots beyond ASCII. */
static const uint32_t SIDED[] = {0x2013, 0x2014, 0xB7,   0xD7,   0x2212,
                                 0xAB,   0xBB,   0x201C, 0x201D, 0x2026};

/* May a token end on one side alone of atom i of n, a mark between two words or numbers, as in 12-15, km/h
 * or x=5? Nobody cuts so; but hyphens between letters may have words behind them (va-t-il), and full stops
 * words before them that they are part of: then one is no beginning of a token. */
enum { EITHER_SIDE, NOT_BEFORE, ON_BOTH };
static inline int sides_of(const CutModel *m, const Atom *atoms, size_t n, size_t i) {
    if (i == 0 || i + 1 >= n || atoms[i - 1].gap != GAP_NOTHING || atoms[i].gap != GAP_NOTHING)
        return EITHER_SIDE;
    const uint32_t mark = atoms[i].first, left = atoms[i - 1].first, right = atoms[i + 1].first;
    if (left < LOOK_CAPITAL || right < LOOK_CAPITAL) return EITHER_SIDE;
    const int n_digits = (left == LOOK_DIGIT) + (right == LOOK_DIGIT);
    if (is_hyphen(mark)) return n_digits || holds(m, PATTERN_HYPHEN) ? ON_BOTH : EITHER_SIDE;
    if (mark == '.' || mark == ';') return n_digits == 2 ? ON_BOTH : NOT_BEFORE;
    if (is_one_of(mark, ",:!?()[]\"/=+&~*_")) return ON_BOTH;
    for (size_t k = 0; k < sizeof SIDED / sizeof *SIDED; k++)
        if (mark == SIDED[k]) return ON_BOTH;
    return EITHER_SIDE;
}

/* How far the labels that end a token lead over the one that does not, if there is one. */
static inline int64_t lead_of_end(const CutModel *m, const Asked *a) {
    const int8_t sure = sure_label(a), n_labels = (int8_t)m->decoder->layout.table->n_labels;
    int32_t most = INT32_MIN;
    if (sure >= 0 || m->goes_on >= n_labels) return sure == m->goes_on ? -SURE : SURE;
    for (int8_t k = 0; k < n_labels; k++)
        if (k != m->goes_on && a->sums[k] > most) most = a->sums[k];
    return (int64_t)most - a->sums[m->goes_on];
}

/* Label both sides of a mark alike, as both lead together; or as the one that is settled. Leads are NULL
 * where a label is: where both are, they stay. */
static inline void even_out(const CutModel *m, Atom *mark, int sides, const int64_t *before,
                            const int64_t *own) {
    Atom *word = mark - 1;
    const int word_ends = word->label != m->goes_on, mark_ends = mark->label != m->goes_on;
    if (word_ends == mark_ends || (!before && !own) || (sides == NOT_BEFORE && mark_ends)) return;
    const int ends = before && own ? *before + *own > 0 : before ? mark_ends : word_ends;
    Atom *other = word_ends == ends ? mark : word;
    other->label = ends ? m->token : m->goes_on;
}

/* Label atoms first .. last of n; those before have labels. */
static inline void label_piece(const CutModel *m, const Cut *x, const Worker *w, int64_t sentence,
                               Atom *atoms, int64_t n, int64_t first, int64_t last) {
    const uint8_t none = (uint8_t)m->decoder->layout.table->n_labels;
    const int64_t place = padded_place(m->decoder, sentence, w->starts[sentence]);
    Asked asked[PLACE_BLOCK];
    uint8_t past[CUT_HISTORY];
    int64_t lead_before = 0;
    int was_asked = 0;
    for (int k = 0; k < CUT_HISTORY; k++) {
        const int8_t label = first > k ? atoms[first - 1 - k].label : (int8_t)none;
        past[k] = label < (int8_t)none ? (uint8_t)label : none;
    }
    for (int64_t from = first; from < last; from += PLACE_BLOCK) {
        const int64_t end = from + PLACE_BLOCK < last ? from + PLACE_BLOCK : last;
        int count = 0, next = 0;
        for (int64_t i = from; i < end; i++)
            if (atoms[i].label < 0) asked[count++].spot = (Spot){atoms, n, i, place + i};
        sum_block(m, x, w, asked, count);
        for (int64_t i = from; i < end; i++) {
            const int is_asked = atoms[i].label < 0;
            if (is_asked) atoms[i].label = best_cut(m, w, &asked[next++], past);
            const int sides = i > first ? sides_of(m, atoms, (size_t)n, (size_t)i) : EITHER_SIDE;
            if (sides || sides_of(m, atoms, (size_t)n, (size_t)i + 1)) {
                const int64_t lead = is_asked ? lead_of_end(m, &asked[next - 1]) : 0;
                if (sides) {
                    even_out(m, &atoms[i], sides, was_asked ? &lead_before : NULL,
                             is_asked ? &lead : NULL);
                    const int8_t label = atoms[i - 1].label;
                    past[0] = label < (int8_t)none ? (uint8_t)label : none;
                }
                lead_before = lead;
                was_asked = is_asked;
            }
            for (int k = CUT_HISTORY - 1; k > 0; k--) past[k] = past[k - 1];
            past[0] = atoms[i].label < (int8_t)none ? (uint8_t)atoms[i].label : none;
        }
    }
}

/* Bytes of one place of all caches. */
#define SUM_BYTES (LOOKS_FARTHER * sizeof(ContextSums) + sizeof(WindowSums))

/* Bytes that they take for each word: that of its number, and four places. */
#define SUM_COST (sizeof(uint64_t) + 4 * SUM_BYTES)

/* Bits of their number of places where so many words may be remembered. */
static inline int sum_bits(size_t words) {
    int bits = LEAST_SUM_BITS;
    while (bits < SUM_BITS && (size_t)1 << bits < 2 * words) bits++;
    return bits;
}

/* Make empty caches; memory that is not written to is not taken from the system. -1: no memory. */
static inline int clear_sums(CutSums *sums, size_t words) {
    sums->most_bits = sum_bits(words);
    for (int k = 0; k < LOOKS_FARTHER; k++) {
        free(sums->of[k]);
        sums->of[k] = (ContextSums *)calloc((size_t)1 << sums->most_bits, sizeof(ContextSums));
        if (!sums->of[k]) return -1;
    }
    free(sums->windows);
    sums->windows = (WindowSums *)calloc((size_t)1 << sums->most_bits, sizeof(WindowSums));
    free(sums->words);
    sums->words = (uint64_t *)calloc(CUT_MOST_TYPES, sizeof *sums->words);
    sums->bits = sums->most_bits;
    sums->asked = sums->known = 0;
    return sums->windows && sums->words ? 0 : -1;
}

/* Use all places if many windows come again: text that does not repeat itself fills more of them than
 * the processor holds near, and finds nothing there. */
static inline void size_sums(CutSums *sums) {
    if (sums->asked < PLACES_SAMPLED) return;
    const int few = sums->most_bits < FEW_SUM_BITS ? sums->most_bits : FEW_SUM_BITS;
    sums->bits = 4 * sums->known > sums->asked ? sums->most_bits : few;
    sums->asked = sums->known = 0;
}

/* The label behind an atom by how it and the next look, or -1. */
static ALWAYS_INLINE int8_t certain_label(const CutModel *m, const Atom *atom, uint32_t next) {
    return (int8_t)((int)places_find(&m->certain, place_key(atom->last, atom->gap, next)) - 1);
}

/* Are these atoms a listed abbreviation? Where it is listed in small letters it may begin with a
 * capital, but is no acronym (ED is not ed.). */
static inline int is_abbreviation(const CutModel *m, CutSums *sums, const Chunk *c, int64_t begin,
                                  int64_t last) {
    static const ValueSpec forms[2] = {{VIEW_WORD, AFFIX_NONE, 0, 0},
                                       {VIEW_LOWER, AFFIX_NONE, 0, 0}};
    const uint32_t views = 1u << VIEW_WORD | 1u << VIEW_LOWER, at = c->atoms[begin].begin;
    WordScratch *s = &sums->scratch;
    if (word_views(s, c->text + at, c->atoms[last].end - at, views) < 0) return 0;
    const int is_acronym = n_chars(c, last) > 1 && c->atoms[last].last == LOOK_CAPITAL;
    return places_find(&m->abbreviations, word_key(word_value(s, &forms[0]), 0)) ||
           (!is_acronym && places_find(&m->abbreviations, word_key(word_value(s, &forms[1]), 0)));
}

/* The first atom of the abbreviation that ends with atom k, of letters with a full stop behind it; or
 * -1. It may have full stops within; one letter is none at the end of a paragraph, nor where letters or
 * full stops follow. */
static inline int64_t abbreviation_begin(const CutModel *m, CutSums *sums, const Chunk *c,
                                         int64_t k) {
    int64_t begin = k;
    while (begin > k - MOST_OF_ABBREVIATION &&
           is_letters(c, begin - (mark_at(c, begin - 1) == '.' ? 2 : 1)))
        begin--;
    if (is_name(c, begin - 1)) return -1;
    if (begin == k && n_chars(c, k) == 1 &&
        (c->atoms[k + 1].gap == GAP_PARAGRAPH || is_letters(c, k + 2) || mark_at(c, k + 2) == '.'))
        return -1;
    return is_abbreviation(m, sums, c, begin, k) ? begin : -1;
}

/* etc., z. B., d. h. so: stands a comma behind the full stop of atom k? Or is that a small letter alone,
 * before small letters or one letter with a full stop? There `behind` atoms, of which the last may not be
 * whole. */
static inline int is_shortened(const Chunk *c, int64_t k, size_t behind) {
    const Atom *atom = &c->atoms[k], *next = atom + 2;
    if (mark_at(c, k + 2) == ',') return 1;
    if (behind < 3 || atom->first != LOOK_SMALL || n_chars(c, k) > 1) return 0;
    if (next[-1].gap != GAP_SPACE || (k > 0 && (!opens_pattern(c, k - 1) || is_name(c, k - 2))))
        return 0;
    const int is_letter = next->first == LOOK_CAPITAL && next->char_end - next->char_begin == 1;
    return next->first == LOOK_SMALL ||
           (is_letter && behind > 3 && next->gap == GAP_NOTHING && next[1].first == '.');
}

/* Find the abbreviations of n atoms with nothing between, but within patterns. What is within one goes
 * on, and a token ends behind its full stop, or before it, too; initials written together go on. */
static inline void hold_abbreviations(const CutModel *m, CutSums *sums, const uint8_t *text,
                                      Atom *atoms, size_t n, size_t first, size_t behind) {
    const Chunk chunk = {text, atoms, (int64_t)n, 0, 0};
    for (size_t k = 0; k + 1 < n; k++) {
        const int64_t at = (int64_t)k;
        if (atoms[k + 1].first != '.' || atoms[k + 1].label == m->goes_on) continue;
        if (!is_letters(&chunk, at)) continue;
        int64_t begin = abbreviation_begin(m, sums, &chunk, at);
        const int goes_on = begin < 0 && !m->is_parted && mark_at(&chunk, at + 3) == '.' &&
                            n_chars(&chunk, at) == 1 && n_chars(&chunk, at + 2) == 1 &&
                            is_letters(&chunk, at + 2) && !is_name(&chunk, at - 1) &&
                            is_abbreviation(m, sums, &chunk, at, at);
        if (goes_on || (begin < 0 && is_shortened(&chunk, at, n + behind - k))) begin = at;
        if (begin < 0) continue;
        for (size_t i = begin > (int64_t)first ? (size_t)begin : first; i <= k; i++)
            atoms[i].label = i == k && m->is_parted ? m->token : m->goes_on;
        if (k + 1 >= first && atoms[k + 1].gap != GAP_PARAGRAPH)
            atoms[k + 1].label = goes_on ? m->goes_on : m->token;
    }
}

/* Label what is within the patterns of n atoms with nothing between, and the places between them and
 * marks and brackets that are no part of them (of EY4096.1 the rest is); all from `first` on. */
static inline void hold_patterns(const CutModel *m, Runs *room, Chunk chunk, Atom *atoms,
                                 int64_t first) {
    Chunk runs = in_runs(&chunk, room);
    int64_t begin, end, at = 0;
    for (int kind; (kind = next_pattern(&runs, &begin, &end)) >= 0;) {
        begin = place_of(&chunk, &runs, begin, at);
        end = at = place_of(&chunk, &runs, end, begin);
        if (!holds(m, kind)) continue;
        for (int64_t k = begin < first ? first : begin; k + 1 < end; k++)
            atoms[k].label = m->goes_on;
        if (!IS_CLOSED(kind)) continue;
        const int is_between = kind == PATTERN_DOTS && mark_at(&chunk, begin) == '.' &&
                               is_name(&chunk, begin - 1) && is_name(&chunk, end);
        const int is_apart = IS_APART(kind) || is_between;
        if (is_apart && begin > first) atoms[begin - 1].label = m->token;
        if (is_apart && end > first && end < chunk.n) atoms[end - 1].label = m->token;
        if (begin > first && opens_pattern(&chunk, begin - 1)) atoms[begin - 1].label = m->token;
        const int is_part = kind == PATTERN_CODE && is_name(&chunk, end + 1);
        if (end > first && !is_part && closes_pattern(&chunk, end)) atoms[end - 1].label = m->token;
    }
}

/* Does a mark join names, as in os.path.Join or `os.Path`? */
static inline int is_joint(const Chunk *c, int64_t mark, int64_t name) {
    return is_one_of(mark_at(c, mark), "`(") ||
           (is_one_of(mark_at(c, mark), "./_@=") && is_name(c, name));
}

#define CASELESS_END 6 /* bytes: two syllables of Korean, three letters of Hebrew or Arabic */

/* What is seen of an atom: its characters, entities as one; whether it has capitals of ASCII within, 2:
 * behind a small letter. README, readFile */
typedef struct {
    int64_t n;
    int capitals;
} Seen;

static inline Seen seen_of(const uint8_t *text, const Atom *atom) {
    const uint8_t *own = text + atom->begin, *end = text + atom->end;
    uint32_t length, before = 0;
    Seen seen = {0, 0};
    for (; own < end; own += length) {
        uint32_t code = code_at(own, &length);
        if (code == '&' && !(code = entity_point(own, (size_t)(end - own), &length))) length = 1;
        if (before && code >= 'A' && code <= 'Z') seen.capitals |= before < 'a' ? 1 : 2;
        seen.n += seen_point(code) != NOT_SEEN;
        before = code;
    }
    return seen;
}

/* Does a sentence end with mark k, behind which a space is missing? came.She: words too long for
 * abbreviations, of which nothing is part of a longer name. */
static inline int is_unspaced_end(const Chunk *c, int64_t k) {
    const Atom *next = &c->atoms[k + 1];
    int64_t word = k - 1, end = k + 1, length = 0;
    if (next->first != LOOK_CAPITAL && next->first != LOOK_CASELESS) return 0;
    if (mark_at(c, k) == '.' && mark_at(c, k - 1) == '.') return 0;
    while (is_one_of(mark_at(c, word), ".!?")) word--;
    while (is_one_of(mark_at(c, word), ")]}\"'")) word--;
    if (word < 0) return 0;
    if (IS_EAST_ASIAN(c->atoms[word].type)) return IS_EAST_ASIAN(next->type);
    const Atom *last = &c->atoms[word];
    const int is_caseless = last->first == LOOK_CASELESS && last->end - last->begin >= CASELESS_END;
    const int is_number = last->first == LOOK_DIGIT;
    const Seen first = seen_of(c->text, next);
    int is_code = first.capitals; /* isFile.Path, DATA.XLS */
    for (; is_name(c, word) && is_digits(c, word) == is_number; word--) {
        const Seen own = seen_of(c->text, &c->atoms[word]);
        length += own.n;
        is_code |= own.capitals > 1;
    }
    while (is_letters(c, end)) end++;
    if (is_code || !length || is_name(c, word)) return 0; /* EY4108.E */
    const int is_small = c->atoms[word + 1].first == LOOK_SMALL;
    const int has_more = first.n > 1 || end > k + 2;
    const int is_word = has_more ? c->atoms[end - 1].last != LOOK_CAPITAL
                                 : !is_number && (end == c->n || mark_at(c, end) == '\'');
    const int may_begin =
        next->first == LOOK_CAPITAL ? is_word : is_letters(c, k + 1) && mark_at(c, end) != '.';
    return may_begin && (length >= SHORTEST_NOTED - is_small || is_caseless) &&
           !is_joint(c, word, word - 1) && !is_joint(c, end, end + 1);
}

/* Where spaces are missing between words: cats,dogs are tokens on both sides of a comma or semicolon,
 * and a sentence ends with a full stop or the like. */
static inline void hold_unspaced(const CutModel *m, const Chunk *c, Atom *atoms, int64_t first) {
    for (int64_t k = 1; k + 1 < c->n; k++) {
        const uint32_t mark = mark_at(c, k);
        int label = m->token;
        if (is_one_of(mark, ".!?")) {
            if (!holds(m, PATTERN_UNSPACED) || !is_unspaced_end(c, k)) continue;
            label = m->sentence;
        } else if (!is_one_of(mark, ",;") || !holds(m, PATTERN_COMMA) || !is_letters(c, k - 1) ||
                   !is_letters(c, k + 1))
            continue;
        if (k > first && !is_one_of(mark_at(c, k - 1), ".!?")) atoms[k - 1].label = m->token;
        if (k >= first) atoms[k].label = label;
    }
}

/* )))) smiles. */
static inline int is_repeated(const Chunk *c, int64_t k) {
    return mark_at(c, k) == mark_at(c, k - 1) || mark_at(c, k) == mark_at(c, k + 1);
}

/* The kind of a mark that opens or closes: of single quotes, too. */
static inline int edge_kind(int kind) {
    return kind < 0 ? PATTERN_QUOTE : kind;
}

/* Does a mark open what is behind it? An apostrophe and a low line where such a one closes it, too. */
static inline int opens_word(const Chunk *c, int64_t k) {
    const uint32_t mark = mark_at(c, k);
    if (mark != '\'' && mark != '_') return enclosing_kind(mark, 1) >= 0;
    if (!is_name(c, k + 1) || (n_chars(c, k + 1) == 1 && !is_name(c, k + 2))) return 0;
    for (int64_t i = c->n - 1; i > k && !is_name(c, i); i--)
        if (mark_at(c, i) == mark) return 1;
    return 0;
}

/* Does one close what is before it, `begin` marks having opened that? An apostrophe closes single quotes. */
static inline int closes_word(const Chunk *c, int64_t k, int64_t begin) {
    const uint32_t mark = mark_at(c, k);
    if (mark != '\'' && mark != '_') return closing_kind(c, k) >= 0;
    for (int64_t i = 0; i < begin; i++) {
        const uint32_t open = mark_at(c, i);
        if (open == mark || (mark == '\'' && (open == 0x2018 || open == 0x201A || open == '`')))
            return 1;
    }
    return 0;
}

/* Is a mark at the edge of a word, or a note behind it, none that stands for itself? )))) smiles, and s***
 * is one word, unless there is such a mark at the other edge, too. */
static inline int is_of_others(const Chunk *c, int64_t k, int64_t word, int kind, uint32_t other) {
    const uint32_t mark = mark_at(c, k);
    const int64_t step = word < k ? -1 : 1, beside = word - step;
    if (kind == PATTERN_NOTE && is_note(c, k - 1)) return 1;
    const int is_paired = mark == other || (mark == '`' && other == '\'');
    if ((kind == PATTERN_NOTE && is_name(c, word)) || (kind == PATTERN_EMPHASIS && !is_paired)) {
        int64_t letters = 0;
        for (int64_t i = word; is_letters(c, i) && letters < SHORTEST_NOTED; i += step)
            letters += n_chars(c, i);
        if (letters < SHORTEST_NOTED) return 1;
    }
    if (k == beside && (kind == PATTERN_EMPHASIS || mark == '\'')) return 0;
    return kind != PATTERN_NOTE && is_repeated(c, k);
}

/* Is an atom a mark, or perhaps a note? */
static inline int may_end(const Atom *atom) {
    return atom->first < LOOK_CLASSES || atom->first == LOOK_DIGIT;
}

/* End tokens behind the marks that open n atoms with nothing between, ("word, of which `begin` do; but no
 * sentence before them where a word begins small within, or is emphasized. `inside` tells whether atoms
 * stand before these, of the same paragraph; `closing` is the last mark that may close what they open. */
static inline void hold_opening(const CutModel *m, const Chunk *c, Atom *atoms, int64_t first,
                                int64_t begin, int inside, uint32_t closing) {
    for (int64_t k = first; k < begin && is_name(c, begin); k++) {
        const int kind = edge_kind(enclosing_kind(mark_at(c, k), 1));
        if (holds(m, kind) && !is_of_others(c, k, begin, kind, closing)) atoms[k].label = m->token;
    }
    if (!begin || !inside || atoms[-1].gap != GAP_SPACE) return;
    const int kind = edge_kind(enclosing_kind(mark_at(c, 0), 1));
    const uint32_t before = atoms[-1].first;
    const int is_within = before >= LOOK_CLASSES && before != LOOK_DIGIT;
    const int is_emphasis = kind == PATTERN_EMPHASIS && is_name(c, begin) && is_within;
    const int is_small =
        atoms[begin].first == LOOK_SMALL && (before == ',' || before >= LOOK_CLASSES);
    if (holds(m, kind) && (is_emphasis || is_small)) atoms[-1].label = m->token;
}

/* End tokens about the note that begins with atom k behind what ends with atom `last`: word[12]. */
static inline void hold_note(const CutModel *m, const Chunk *c, Atom *atoms, int64_t first,
                             int64_t k, int64_t last) {
    if (!holds(m, PATTERN_NOTE) || is_of_others(c, k, last, PATTERN_NOTE, 0)) return;
    if (k > first) atoms[k - 1].label = m->token;
    for (int64_t i = k > first ? k : first; i < k + 2; i++) atoms[i].label = m->token;
}

/* End tokens before the marks and notes that close n atoms with nothing between, word")[12], from `begin`
 * to `end`; but no sentence behind them before a small letter, nor behind an emphasized or noted word.
 * Of *word(s)* nothing is known. */
static inline void hold_closing(const CutModel *m, const Chunk *c, Atom *atoms, int64_t first,
                                int64_t begin, int64_t end, int is_small_next) {
    int64_t last = end;
    int is_within = 0;
    for (int64_t n = 1; last > begin && n; last -= n) {
        n = note_atoms(c, last);
        if (n > 1 && last - n < begin) n = 0;
        if (!n) n = closes_word(c, last, begin);
    }
    const uint32_t inner = mark_at(c, last), opening = mark_at(c, begin - 1);
    const int has_word = is_name(c, last);
    if (last == end || !(has_word || is_one_of(inner, ".!?") || inner == 0x2026)) return;
    if (inner == '.' && last > first && !is_small_next && is_letters(c, last - 1) &&
        n_chars(c, last - 1) > 1 && holds(m, PATTERN_NOTE) && note_from(c, last + 1))
        atoms[last - 1].label = m->token;
    for (int64_t k = begin; k < last; k++) is_within |= is_one_of(mark_at(c, k), "([{");
    for (int64_t k = last + 1; k <= end; k++) {
        const int is_listed = note_from(c, k) > 1;
        const int kind = is_listed ? PATTERN_NOTE : edge_kind(closing_kind(c, k));
        if (is_listed) {
            hold_note(m, c, atoms, first, k, last);
            k += 2;
        } else if ((kind == PATTERN_BRACKET && is_within) ||
                   is_of_others(c, k, last, kind, opening)) {
            if (kind != PATTERN_EMPHASIS || mark_at(c, k) != opening) continue; /* **word** */
        } else if (k > first) {
            const int is_stop = k == last + 1 && inner == '.' && kind == PATTERN_QUOTE;
            if (holds(m, is_stop ? PATTERN_STOP : kind)) atoms[k - 1].label = m->token;
        }
        const int is_paired = kind == PATTERN_EMPHASIS && mark_at(c, k) == opening;
        const int is_beside = has_word && (is_paired || kind == PATTERN_NOTE);
        if (k + 1 == c->n && k >= first && (is_small_next || is_beside) &&
            atoms[k].gap == GAP_SPACE && holds(m, kind))
            atoms[k].label = m->token;
    }
}

/* End tokens behind what opens atoms with nothing between, and before what closes them. */
static inline void hold_enclosed(const CutModel *m, const Chunk *c, Atom *atoms, int64_t first,
                                 int inside, int is_small_next) {
    int64_t begin = 0, end = c->n - 1;
    if (!may_end(atoms) && !may_end(atoms + end)) return;
    while (begin + 1 < c->n && opens_word(c, begin)) begin++;
    while (end > begin && (is_one_of(mark_at(c, end), ".,;:!?") || mark_at(c, end) == 0x2026))
        end--;
    hold_opening(m, c, atoms, first, begin, inside, mark_at(c, end));
    hold_closing(m, c, atoms, first, begin, end, is_small_next);
}

/* Is the next of `behind` atoms a picture with which a sentence may end? */
static inline int is_last_picture(const Atom *next, size_t behind) {
    if (!behind || !is_picture(next->first)) return 0;
    if (next->gap != GAP_SPACE || behind < 2) return next->gap == GAP_PARAGRAPH;
    return is_picture(next[1].first) || may_begin(first_behind(next + 1, behind - 1));
}

/* The quotes and brackets of scripts without spaces, and others that they have. */
static inline int is_wide_edge(uint32_t mark, int opens) {
    static const uint32_t edges[] = {0x3008, 0x300A, 0x300C, 0x300E, 0x3010, 0x2018, 0x201C};
    for (size_t k = 0; k < sizeof edges / sizeof *edges; k++)
        if (mark == edges[k] + !opens) return 1;
    return mark == (opens ? 0xFF08 : 0xFF09) || (mark && is_one_of(mark, opens ? "([" : ")]'"));
}

/* End sentences behind wide marks with quotes or brackets that close before such as open, or with notes
 * or pictures. */
static inline void hold_wide(const CutModel *m, const Chunk *c, Atom *atoms, int64_t first) {
    for (int64_t k = 0; k + 1 < c->n; k++) {
        int64_t end = k + 1;
        int has_closed = 0;
        if (!is_wide_final(mark_at(c, k))) continue;
        while (end < c->n) {
            const int closes = is_wide_edge(mark_at(c, end), 0);
            const int64_t n = closes || is_picture(mark_at(c, end)) ? 1 : note_from(c, end);
            if (!n) break;
            has_closed |= closes;
            end += n;
        }
        const int opens = end < c->n && is_wide_edge(mark_at(c, end), 1);
        if (end == k + 1 || end >= c->n || !(opens || (!has_closed && is_name(c, end)))) continue;
        if (!holds(m, has_closed ? PATTERN_CLOSED : PATTERN_NOTE)) continue;
        for (int64_t i = k > first ? k : first; i + 1 < end; i++)
            if (atoms[i].label != m->goes_on) atoms[i].label = m->token;
        if (end > first) atoms[end - 1].label = m->sentence;
        k = end - 1;
    }
}

/* Does no pattern hold an atom, nor look beyond it? */
static inline int is_barrier(const Atom *atom) {
    const uint32_t look = atom->first;
    if (look >= LOOK_CLASSES)
        return look == LOOK_CASELESS && atom->char_end - atom->char_begin == 1;
    return look >= 0x80 && look != 0x2019 && !is_picture(look) && look < 0x1F000;
}

/* The beginning of a run of atoms with nothing between, or of a part of one that is long: atom `at`
 * is the next one. *barrier is the last place from which on patterns do not depend on what is before. */
static inline int begins_chunk(const Atom *atoms, size_t at, size_t *barrier) {
    const Atom *atom = &atoms[at];
    const uint32_t chars = atom->char_begin - atoms[*barrier].char_begin;
    const int is_new = atoms[at - 1].gap != GAP_NOTHING || at - *barrier >= LONGEST_CHUNK ||
                       chars >= CHUNK_CHARACTERS;
    if (is_new || is_barrier(atom)) *barrier = at;
    return is_new;
}

/* ---- text without capitals ---- */

#define LONGEST_RAISED 64 /* bytes */
#define MOST_BETWEEN 3    /* marks between the end of a sentence and the next word */

static inline int has_own_capital(const Atom *atom) {
    return atom->first == LOOK_CAPITAL && !(atom->kind & IS_RAISED);
}

static inline int is_greek(uint32_t c) {
    return (c >= 0x370 && c < 0x400) || (c >= 0x1F00 && c < 0x2000);
}

/* Go on behind an atom, where there was no capital. A semicolon asks in Greek; a full stop behind a
 * single letter ends nothing. */
static inline void end_step(Line *line, const Atom *atom) {
    const int is_word = atom->first >= LOOK_CLASSES;
    if ((is_final_mark(atom->first) && (atom->first != '.' || !line->is_short)) ||
        atom->first == ';') {
        line->end = atom->first;
        line->between = line->is_apart = 0;
    } else if (is_word || is_one_of(atom->first, ",:.") || line->between++ == MOST_BETWEEN) {
        line->end = line->is_apart = 0;
    }
    line->is_short = is_word && atom->first != LOOK_DIGIT && atom->char_end - atom->char_begin == 1;
    line->is_apart |= line->end && atom->gap != GAP_NOTHING;
}

/* Does a line that ends with an atom mostly go on in the next, if there is no room in it? */
static inline int leaves_open(const Atom *atom) {
    return atom->first >= LOOK_CLASSES || atom->first == ',' || atom->first == ';';
}

/* What is known of the end of a sentence, with closing marks and pictures behind it: it stands here; or
 * before the atoms with nothing between at hand, of which one has been; which began as #tags do. */
enum { ENDED_HERE = 1, ENDED_BEFORE = 2, ENDED_WITHIN = 4, ENDED_TAGGED = 8 };

static inline uint32_t ended_step(uint32_t ended, const Atom *atom) {
    const uint32_t mark = atom->first;
    if (!(ended & ENDED_WITHIN) && (mark == '#' || is_picture(mark))) ended |= ENDED_TAGGED;
    ended |= ENDED_WITHIN;
    if (is_final_mark(mark))
        ended |= ENDED_HERE;
    else if (enclosing_kind(mark, 0) < 0 && mark != '\'' && !is_picture(mark))
        ended &= ~(uint32_t)ENDED_HERE;
    if (atom->gap == GAP_NOTHING) return ended;
    const int is_tagged = ended & ENDED_BEFORE && ended & ENDED_TAGGED;
    return ended & ENDED_HERE || is_tagged ? ENDED_BEFORE : 0;
}

static inline void line_step(Line *line, const Atom *atom) {
    line->has_capital |= has_own_capital(atom);
    if (!line->has_capital) end_step(line, atom);
    line->ended = ended_step(line->ended, atom);
    line->level += !line->first && atom->first == '>';
    if (!line->first && !leads_line(atom)) line->first = atom->first;
    line->own += atom->char_end - atom->char_begin + (atom->gap != GAP_NOTHING);
    if (line->own > LONGEST_LINE) line->own = LONGEST_LINE + 1;
    if (!(atom->kind & ENDS_LINE)) return;
    /* A line without text is as an empty one between paragraphs. */
    line->before[1] = line->first ? line->before[0] : 0;
    line->before[0] = line->first ? line->own : 0;
    line->own = line->first = line->level = 0;
    line->goes_on = leaves_open(atom);
}

/* Is an atom a short word in small letters that may begin a sentence behind this mark? */
static inline int may_raise(const uint8_t *text, const Atom *atom, uint32_t end) {
    uint32_t length;
    if (atom->first != LOOK_SMALL || atom->end - atom->begin > LONGEST_RAISED) return 0;
    const uint32_t code = code_at(text + atom->begin, &length);
    return (end != ';' || is_greek(code)) && Py_UNICODE_TOUPPER(code) != code;
}

/* Where a paragraph has had no capital, that a word has none says nothing: behind white space and the
 * end of a sentence it is seen with one, so that what stands before it decides. */
static inline void raise_words(const uint8_t *text, Atom *atoms, size_t begin, size_t end,
                               Line before) {
    for (size_t i = begin; i < end && !before.has_capital; i++) {
        if (before.is_apart && may_raise(text, &atoms[i], before.end)) {
            atoms[i].first = LOOK_CAPITAL;
            atoms[i].kind |= IS_RAISED;
        }
        line_step(&before, &atoms[i]);
    }
}

/* Put a word that is seen with a capital there; its length in bytes. */
static inline size_t put_raised(uint8_t *at, const uint8_t *text, size_t n) {
    uint32_t length;
    const uint32_t code = code_at(text, &length);
    const size_t own = utf8_put(at, Py_UNICODE_TOUPPER(code));
    memcpy(at + own, text + length, n - length);
    return own + n - length;
}

/* Settle what is certain of the atoms first .. end of a paragraph that begins at `begin`, or at a
 * place where patterns may be looked for anew; how many of all atoms are settled, or could be. What
 * follows the paragraph may change the last atom, if it is not whole, and its patterns. `before` is the line
 * of the first atom. Where there are no capitals, a small letter says nothing of what is before it. */
static inline size_t settle_places(const CutModel *m, CutSums *sums, const uint8_t *text,
                                   Atom *atoms, size_t begin, size_t first, size_t end,
                                   int is_whole, Line before) {
    size_t chunk = begin, barrier = begin;
    int before_item = !before.own, has_capital = (int)before.has_capital;
    int goes_on = (int)before.goes_on, is_wide = 0;
    uint32_t ended = before.ended;
    for (size_t i = begin; i < end; i++) {
        Atom *atom = &atoms[i];
        const int follows = ended & ENDED_BEFORE;
        ended = ended_step(ended, atom);
        is_wide |= is_wide_final(atom->first);
        if (i >= first && atom->gap == GAP_PARAGRAPH)
            atom->label = m->sentence;
        else if (i >= first)
            atom->label = i + 1 < end ? certain_label(m, atom, atoms[i + 1].first) : -1;
        if (i >= first && i > begin && i + 1 < end && holds(m, PATTERN_ORDINAL) &&
            is_ordinal(text, atom - 1))
            atom->label = m->token;
        has_capital |= has_own_capital(atom);
        size_t next = barrier;
        const int is_new = i + 1 < end && begins_chunk(atoms, i + 1, &next);
        if (i + 3 < end) barrier = next;
        if (!is_new && i + 1 < end) continue;
        const size_t n = i + 1 - chunk, from = first > chunk ? first - chunk : 0;
        const Chunk own = {text, atoms + chunk, (int64_t)n, 0, 0};
        int ends = 0;
        if (n > 2 && m->held) hold_unspaced(m, &own, atoms + chunk, (int64_t)from);
        if (n > 1 && sums && m->held && may_have_pattern(atoms + chunk, n))
            hold_patterns(m, &sums->runs, own, atoms + chunk, (int64_t)from);
        if (n > 1 && m->held)
            hold_enclosed(m, &own, atoms + chunk, (int64_t)from, chunk > begin && chunk > first,
                          i + 1 < end && atoms[i + 1].first == LOOK_SMALL);
        const size_t behind = end - i - 1 < 3 ? end - i - 1 : 3;
        if (n > 2 && is_wide && m->held) hold_wide(m, &own, atoms + chunk, (int64_t)from);
        is_wide = 0;
        if ((may_end(atom) || follows) && i + 1 < end && atom->gap == GAP_SPACE && m->held) {
            int kind = final_kind(&own, atom + 1, behind);
            if (kind < 0 && follows && is_addition(own) &&
                may_begin(first_behind(atom + 1, behind)))
                kind = PATTERN_NOTE;
            ends = kind < PATTERN_TRAILING && holds(m, kind);
            if (i >= first && (ends || (has_capital && holds(m, kind))))
                atom->label = ends ? m->sentence : m->token;
            if (i > first && ends && kind == PATTERN_YEAR) atoms[i - 1].label = m->token;
        }
        /* A picture belongs to the sentence before it. */
        if (i >= first && atom->gap == GAP_SPACE && ended & ENDED_BEFORE &&
            !(atom->kind & ENDS_LINE) && is_last_picture(atom + 1, behind) &&
            holds(m, PATTERN_EMOJI))
            atom->label = m->token;
        const int is_inner =
            i >= first && i + 1 < end && atom->gap == GAP_SPACE && !(atom->kind & ENDS_LINE);
        if (is_inner && holds(m, PATTERN_OPERATOR) &&
            (is_unit(atom->first) || (!follows && is_operator(&own))))
            for (size_t k = is_unit(atom->first) ? i : chunk + from; k <= i; k++)
                atoms[k].label = k < i ? m->goes_on : m->token;
        if (before_item) {
            const int opens = opens_item(&own);
            if (opens && is_inner && holds(m, PATTERN_ITEM) && !(goes_on && is_year(&own)) &&
                (atom->first != LOOK_DIGIT || atoms[i + 1].first != LOOK_DIGIT)) /* 1 000 */
                atom->label = m->token;
            before_item = opens > 1;
        }
        before_item |= atom->kind & ENDS_LINE;
        goes_on = atom->kind & ENDS_LINE ? leaves_open(atom) : goes_on && before_item;
        before_item |= ends && is_dash(atoms[i + 1].first);
        if (n > 1 && m->has_abbreviations)
            hold_abbreviations(m, sums, text, atoms + chunk, n, from, end - i - 1);
        chunk = i + 1;
    }
    return is_whole ? end : barrier;
}

/* Label n atoms as the marks of one kind alone say: -1, or 1 where a token ends, 2 a sentence. */
static inline int settle_kind(int kind, const uint8_t *text, Atom *atoms, size_t n) {
    CutModel alone = {.token = 1, .sentence = 2, .held = 1ull << kind};
    size_t begin = 0;
    if (places_open(&alone.certain, 1, 1) < 0) return -1;
    for (size_t i = 0; i < n; i++) {
        if (atoms[i].gap != GAP_PARAGRAPH && i + 1 < n) continue;
        settle_places(&alone, NULL, text, atoms, begin, begin, i + 1, 1, (Line){.has_capital = 1});
        begin = i + 1;
    }
    places_close(&alone.certain);
    return 0;
}

/* ---- lines ---- */

/* A line break ends a sentence where the first word of the next line would have had room in its own, as
 * that of a heading, an item, or a message: text that is wrapped to a width leaves no such room. How
 * wide the text is, two lines before and one behind tell. */

/* Characters of the word that begins with atom i (of the letter, in a script without spaces), at most so
 * many; 0: it may go on behind the last atom. */
static inline uint32_t first_word(const Atom *atoms, size_t i, size_t end, int is_whole) {
    uint32_t length = 0;
    for (; i < end && length <= LONGEST_LINE; i++) {
        length += atoms[i].char_end - atoms[i].char_begin;
        if (i + 1 == end && !is_whole) return 0;
        if (atoms[i].gap != GAP_NOTHING || IS_UNSPACED(atoms[i].type)) break;
    }
    return length;
}

/* The first atom of the line that begins with atom i that is of its text; the next line's, if none is. */
static inline size_t line_head(const Atom *atoms, size_t i, size_t end) {
    while (i + 1 < end && leads_line(&atoms[i])) {
        if (atoms[i++].kind & ENDS_LINE) break;
    }
    return i;
}

/* Does the line break behind atom i end a sentence? -1: what follows the last atom may tell. */
static inline int ends_line(const Atom *atoms, size_t i, size_t end, int is_whole, Line line) {
    Line next = {.has_capital = 1};
    size_t k = i + 1;
    for (; k < end && !next.before[0] && next.own <= LONGEST_LINE; k++) {
        if (k + 1 == end && !is_whole) return -1;
        line_step(&next, &atoms[k]);
    }
    const size_t head = line_head(atoms, i + 1, end), third_head = line_head(atoms, k, end);
    const int has_third = next.before[0] && next.before[0] <= LONGEST_LINE && k < end &&
                          (third_head == k || !(atoms[third_head - 1].kind & ENDS_LINE));
    const uint32_t word = first_word(atoms, head, end, is_whole);
    const uint32_t third = has_third ? first_word(atoms, third_head, end, is_whole) : 0;
    if (!word || (has_third && !third) || (k == end && !is_whole)) return -1;
    if (head > i + 1 && atoms[head - 1].kind & ENDS_LINE) return 1;
    /* What somebody quotes is no part of what they write. */
    const Atom *begins = &atoms[head];
    uint32_t level = 0;
    for (k = i + 1; k < head; k++) level += atoms[k].first == '>';
    if (level != line.level && may_begin(begins)) return 1;
    const uint32_t second = next.before[0] ? next.before[0] : next.own;
    const uint32_t before = line.before[0], earlier = line.before[1];
    const uint32_t first = line.first ? line.first : atoms[i].first;
    line_step(&line, &atoms[i]);
    const uint32_t own = line.before[0];
    uint32_t width = own > second ? own : second;
    if (before > width) width = before;
    if (earlier > width) width = earlier;
    const int small_first = first == LOOK_SMALL, is_small = begins->first == LOOK_SMALL;
    const int small_third = has_third && atoms[third_head].first == LOOK_SMALL;
    /* Letters of scripts without spaces are mostly as wide as two others. */
    const uint32_t narrowest = IS_UNSPACED(begins->type) ? NARROWEST / 2 : NARROWEST;
    int has_room = own + word < width || width < narrowest;
    /* Lines of a log begin with digits, items with the same mark. */
    if (first == begins->first && (first < LOOK_CLASSES || first == LOOK_DIGIT)) has_room = 1;
    /* A line that fills the width, between others that do not: in a list rather than in prose. */
    const int is_short = before && 4 * before < 3 * width;
    if (!has_room && !has_third && !is_small) has_room = is_short;
    if (!has_room && has_third && second + third < width && is_small == small_third)
        has_room = is_small ? small_first && is_short : !small_first || is_short || !before;
    const uint32_t last = atoms[i].first;
    const int goes_on = is_one_of(last, ",;-(&/") || last == 0x2013 || last == 0x2014 ||
                        last == 0x3001 || last == 0xFF0C || last == 0x60C;
    if (!has_room || goes_on) return 0;
    return !is_small || (small_first && (small_third || !has_third));
}

/* Label the line breaks of atoms first .. end of a paragraph that end a sentence; how many of all atoms
 * do not hang on what follows. */
static inline size_t settle_lines(const CutModel *m, Atom *atoms, size_t begin, size_t first,
                                  size_t end, int is_whole, Line line) {
    for (size_t i = begin; i < end; i++) {
        if (i >= first && atoms[i].kind & ENDS_LINE) {
            const int ends = ends_line(atoms, i, end, is_whole, line);
            if (ends < 0) return i;
            if (ends) atoms[i].label = m->sentence;
        }
        line_step(&line, &atoms[i]);
    }
    return end;
}

/* Words, too, make places certain: by how the atom on their other side looks, one of four classes,
 * and the gap, they know for either side of them which of three labels stands there, if any. What
 * they do not know, their last characters may, with how they begin. */
#define WORD_LOOKS 4
#define WORD_ENDING 3
#define SIDE_BITS 16
#define WORD_ASKED (1ull << 63)

/* What a word knows of the places beside it; -1: no memory. */
static inline int ask_word(const CutModel *m, CutSums *sums, const uint8_t *text, const Atom *atom,
                           uint64_t *known) {
    static const ValueSpec whole = {VIEW_WORD, AFFIX_NONE, 0, 0},
                           ending = {VIEW_WORD, AFFIX_SUFFIX, WORD_ENDING, 0};
    WordScratch *s = &sums->scratch;
    if (word_views(s, text + atom->begin, atom->end - atom->begin, 1u << VIEW_WORD) < 0) return -1;
    const uint64_t end = word_key(word_value(s, &ending), atom->first + 1);
    const uint64_t own = places_find(&m->words, word_key(word_value(s, &whole), 0));
    const uint64_t other = places_find(&m->words, end);
    const uint64_t has = (own | own >> 1) & 0x55555555u;
    *known = own | (other & ~(has | has << 1)) | WORD_ASKED;
    return 0;
}

/* The place of a gap and a look among what a word knows, in bits; -1: it knows nothing. */
static ALWAYS_INLINE int word_place(uint8_t gap, uint32_t look) {
    const uint32_t class = look - LOOK_CLASSES - 1;
    return gap > GAP_SPACE || class >= WORD_LOOKS ? -1 : 2 * (int)(WORD_LOOKS * gap + class);
}

/* Settle what words make certain of atoms first .. last of n; -1: no memory. */
static inline int settle_words(const CutModel *m, CutSums *sums, const uint8_t *text,
                               const int32_t *types, Atom *atoms, size_t n, size_t first,
                               size_t last) {
    for (size_t i = first; i < last && i + 1 < n; i++) {
        Atom *own = &atoms[i];
        if (own->label >= 0) continue;
        const int ahead = word_place(own->gap, own[1].first);
        const int behind = word_place(own->gap, own->last);
        uint64_t label = 0;
        for (int k = 0; k < 2; k++)
            if (!sums->words[types[i + (size_t)k]] &&
                ask_word(m, sums, text, &own[k], &sums->words[types[i + (size_t)k]]) < 0)
                return -1;
        if (ahead >= 0) label = sums->words[types[i]] >> ahead & 3;
        if (!label && behind >= 0) label = sums->words[types[i + 1]] >> (SIDE_BITS + behind) & 3;
        if (label) own->label = m->word_labels[label];
    }
    return 0;
}

/* How an atom of letters or digits looks in its column: of a capitalized one whether it ends with a
 * capital, too, and how often training has it in small letters; -1: no memory. */
static inline int look_of(const CutModel *m, CutSums *sums, const uint8_t *text, const Atom *atom) {
    static const ValueSpec lower = {VIEW_LOWER, AFFIX_NONE, 0, 0};
    WordScratch *s = &sums->scratch;
    if (atom->first != LOOK_CAPITAL) return atom->first == LOOK_DIGIT;
    if (word_views(s, text + atom->begin, atom->end - atom->begin, 1u << VIEW_LOWER) < 0) return -1;
    const int is_upper = atom->last == LOOK_CAPITAL && atom->char_end - atom->char_begin > 1;
    return 2 + is_upper * SMALL_CLASSES +
           (int)places_find(&m->small, word_key(word_value(s, &lower), 0));
}

/* Take an atom into the third column; -1: no memory. */
static inline int take_look(const CutModel *m, Cut *x, Batch *b, const uint8_t *text,
                            const Atom *atom) {
    const Decoder *d = m->decoder;
    const uint8_t *at = text + atom->begin;
    if (atom->first < LOOK_CLASSES)
        return batch_word(d, b, 2, word_ref_within(text, at, atom->end - atom->begin, d->secrets),
                          at);
    const int look = look_of(m, x->sums, text, atom);
    return look < 0 ? -1 : batch_word(d, b, 2, m->looks[look], text);
}

/* Take the atoms of a paragraph into the batch; -1: no memory. */
static inline int take_atoms(const CutModel *m, Cut *x, Batch *b, const uint8_t *text,
                             const Atom *atoms, size_t n) {
    const Decoder *d = m->decoder;
    const int32_t n_columns = d->layout.program->n_columns;
    if (batch_room(d, b, (int64_t)n) < 0) return -1;
    if (m->has_matches) {
        if (array_room(&x->matches, &x->matches_room, n, sizeof *x->matches) < 0) return -1;
        find_matches(&m->entries, text, atoms, n, x->matches);
    }
    for (size_t i = 0; i < n; i++) {
        const uint8_t *at = text + atoms[i].begin;
        const size_t length = atoms[i].end - atoms[i].begin;
        const int side = !i || atoms[i - 1].gap != GAP_NOTHING;
        WordRef word;
        uint8_t raised[LONGEST_RAISED + 4];
        if (atoms[i].kind & IS_RAISED) {
            word = word_ref(raised, put_raised(raised, at, length), d->secrets);
            at = raised;
        } else if (atoms[i].first == '"' && (length == 1 || seen_of(text, &atoms[i]).n == 1)) {
            word = m->quotes[side + (side && atoms[i].gap != GAP_NOTHING)];
        } else {
            word = word_ref_within(text, at, length, d->secrets);
        }
        if (batch_word(d, b, 0, word, at) < 0) return -1;
        if (n_columns > 1 && batch_word(d, b, 1, m->gaps[atoms[i].gap], text) < 0) return -1;
        if (m->has_matches) {
            uint8_t shown[MATCH_BYTES];
            show_match(atoms, n, x->matches, i, shown);
            if (batch_word(d, b, 2, word_ref(shown, MATCH_BYTES, d->secrets), text) < 0) return -1;
        } else if (n_columns > 2 && take_look(m, x, b, text, &atoms[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Answer signals now and then; -1: stop. */
static inline int cut_poll(Cut *x, size_t labeled) {
    x->unpolled += labeled;
    if (x->unpolled < POLL_ATOMS) return 0;
    x->unpolled = 0;
    return x->poll();
}

/* Label the atoms of the pieces in the queue, and empty it; -1: no memory, or a signal. */
static inline int label_queue(const CutModel *m, Cut *x, Worker *w, const uint8_t *text) {
    const Decoder *d = m->decoder;
    const int64_t cleared = w->cache.times_cleared;
    const size_t n_queue = x->n_queue;
    if (cut_poll(x, x->queued_atoms) < 0) return -1;
    x->n_queue = x->queued_atoms = 0;
    if (!n_queue) return 0;
    batch_reset(&w->batch);
    for (size_t q = 0; q < n_queue; q++) {
        const CutPiece *own = &x->queue[q];
        const Atom *atoms = x->list.atoms + own->begin;
        if (take_atoms(m, x, &w->batch, text, atoms, own->end - own->begin) < 0) return -1;
        if (batch_end_sentence(&w->batch) < 0) return -1;
    }
    if (find_types(d, w) < 0) {
        cache_spoil(&w->cache);
        return -1;
    }
    const int are_large = x->sums->most_bits > sum_bits(shared_words(d->layout.share));
    if ((are_large || w->cache.times_cleared != cleared) &&
        clear_sums(x->sums, shared_words(d->layout.share)) < 0) {
        cache_spoil(&w->cache);
        return -1;
    }
    size_sums(x->sums);
    for (size_t q = 0; q < n_queue; q++) {
        const CutPiece *own = &x->queue[q];
        const int32_t *types = w->types[0] + padded_place(d, (int64_t)q, w->starts[q]);
        const size_t n = own->end - own->begin, first = own->first - own->begin;
        Atom *atoms = x->list.atoms + own->begin;
        if (settle_words(m, x->sums, text, types, atoms, n, first, own->last - own->begin) < 0) {
            cache_spoil(&w->cache);
            return -1;
        }
        label_piece(m, x, w, (int64_t)q, atoms, (int64_t)n, (int64_t)first,
                    (int64_t)(own->last - own->begin));
    }
    return 0;
}

static inline int end_sentence(Cut *x) {
    const size_t n = x->n_sentences + 2;
    if (array_room(&x->sentences, &x->sentences_room, n, sizeof *x->sentences) < 0) return -1;
    if (!x->n_sentences) x->sentences[0] = 0;
    if (x->sentences[x->n_sentences] < x->n_tokens)
        x->sentences[++x->n_sentences] = (uint32_t)x->n_tokens;
    return 0;
}

static inline int end_token(Cut *x, size_t first, size_t last) {
    const size_t n = x->n_tokens + 1;
    if (array_room(&x->tokens, &x->tokens_room, n, sizeof *x->tokens) < 0) return -1;
    const Atom *from = &x->list.atoms[first], *to = &x->list.atoms[last];
    x->tokens[x->n_tokens++] = (CutToken){from->begin,  to->end,         from->char_begin,
                                          to->char_end, (uint32_t)first, (uint32_t)last};
    return 0;
}

/* The tokens and sentences of labeled atoms; what follows the last sentence is left. A sentence that
 * gets too long ends with its last token, or, if it has none, where it is. -1: no memory. */
static inline int put_together(const CutModel *m, Cut *x, size_t begin, size_t end) {
    const Atom *atoms = x->list.atoms;
    size_t first = begin, start = begin; /* of the token, of the sentence */
    uint64_t chars = 0;
    for (size_t i = begin; i < end; i++) {
        const int is_last = atoms[i].gap == GAP_PARAGRAPH;
        chars += atoms[i].char_end - atoms[i].char_begin;
        while (start <= i) {
            const int is_long = i + 1 - start >= LONGEST_SENTENCE || chars >= m->window_characters;
            if (atoms[i].label != m->goes_on || is_last || (is_long && first == start)) {
                if (first <= i && end_token(x, first, i) < 0) return -1;
                first = i + 1;
            }
            if (atoms[i].label != m->sentence && !is_last && !is_long) break;
            if (end_sentence(x) < 0) return -1;
            start = first;
            chars = 0;
            for (size_t k = first; k <= i; k++) chars += atoms[k].char_end - atoms[k].char_begin;
        }
    }
    x->n_tokens = x->sentences[x->n_sentences];
    return 0;
}

/* ---- texts ---- */

/* Label atoms first .. last of a paragraph that begins at `begin` and ends at `end`, or goes on there,
 * piece by piece, each with what is looked at about it. -1: no memory, or a signal. */
static inline int label_atoms(const CutModel *m, Cut *x, Worker *w, const uint8_t *text,
                              size_t begin, size_t end, size_t first, size_t last, size_t reach) {
    for (size_t next; first < last; first = next) {
        size_t asked = 0;
        next = last - first > CUT_BATCH ? first + CUT_BATCH : last;
        next -= next < last && sides_of(m, x->list.atoms, end, next);
        for (size_t i = first; i < next; i++) asked += x->list.atoms[i].label < 0;
        if (!asked) continue;
        if (array_room(&x->queue, &x->queue_room, x->n_queue + 1, sizeof *x->queue) < 0) return -1;
        CutPiece *own = &x->queue[x->n_queue++];
        own->begin = first - begin > reach ? first - reach : begin;
        own->end = end - next > reach ? next + reach : end;
        own->first = first;
        own->last = next;
        x->queued_atoms += own->end - own->begin;
        if (x->queued_atoms >= CUT_BATCH && label_queue(m, x, w, text) < 0) return -1;
    }
    return 0;
}

/* Say what is kept of a paragraph that goes on, `left` being the first atom of its open sentence: what
 * labels and patterns that follow look at. */
static inline void keep_open(Cut *x, Line *line, size_t begin, size_t left, size_t labeled,
                             size_t reach) {
    const Atom *atoms = x->list.atoms;
    const size_t first = left - begin > reach ? left - reach : begin;
    size_t barrier = begin, from = begin;
    for (size_t i = begin + 1; i <= first; i++) {
        begins_chunk(atoms, i, &barrier);
        from = barrier;
    }
    for (size_t i = begin; i < from; i++) line_step(line, &atoms[i]);
    x->kept = from;
    x->kept_before = left - from;
    x->kept_labels = labeled - from;
    x->taken = atoms[from].begin;
    x->taken_chars = atoms[from].char_begin;
}

/* Where the entity begins that may end in what follows a text; its length if there is none. */
static inline size_t open_entity(const uint8_t *text, size_t n) {
    size_t k = n;
    while (k && n - k < LONGEST_ENTITY && is_of_entity(text[k - 1])) k--;
    return k && n - k < LONGEST_ENTITY && text[k - 1] == '&' ? k - 1 : n;
}

/* Cut a text, which goes on where another was left if n_labeled of its atoms have labels, n_before of
 * them in sentences before. What may change with what follows is left, unless it is at its end. -1: no
 * memory, a signal, or a page is missing: then nothing of it is done. */
static inline int cut_text(const CutModel *m, Cut *x, Worker *w, const Characters *known,
                           const uint8_t *text, size_t n, int at_end, const uint8_t *labels) {
    const size_t own_reach = (size_t)m->decoder->layout.program->reach;
    const size_t farther = m->has_matches ? LONGEST_MATCH + 1 : 0;
    const size_t reach = (own_reach < CUT_HISTORY ? CUT_HISTORY : own_reach) + farther;
    const size_t ahead = (own_reach ? own_reach : 1) + farther;
    size_t begin = 0;
    x->n_tokens = x->n_sentences = x->n_queue = x->queued_atoms = 0;
    x->kept_before = x->kept_labels = 0;
    if (!at_end) n = open_entity(text, n);
    if (list_atoms(&x->list, known, text, n) < 0 || end_sentence(x) < 0) return -1;
    Atom *atoms = x->list.atoms;
    const size_t n_atoms = x->list.n;
    size_t first = x->n_labeled < n_atoms ? x->n_labeled : n_atoms;
    for (size_t i = 0; i < first; i++) atoms[i].label = (int8_t)labels[i];
    if (n_atoms && at_end) {
        atoms[n_atoms - 1].gap = GAP_PARAGRAPH;
        atoms[n_atoms - 1].kind = KIND_OF(atoms[n_atoms - 1].kind);
    }
    for (size_t i = 0; i < n_atoms; i++) {
        const int is_whole = atoms[i].gap == GAP_PARAGRAPH;
        size_t last = i + 1;
        if (!is_whole && last < n_atoms) continue;
        const Line line = begin ? (Line){0} : x->line;
        if (!m->is_uncapitalized) raise_words(text, atoms, begin, last, line);
        size_t settled = settle_places(m, x->sums, text, atoms, begin, first, last, is_whole, line);
        if (x->list.has_breaks && !m->is_wrapped) {
            const size_t told = settle_lines(m, atoms, begin, first, last, is_whole, line);
            if (told < settled) settled = told;
        }
        /* What looks farther ahead than to the last atom but one waits. */
        if (!is_whole) last = last > ahead + 1 ? last - ahead - 1 : 0;
        if (last > settled) last = settled;
        last -= last > first && sides_of(m, atoms, i + 1, last);
        if (last > first && label_atoms(m, x, w, text, begin, i + 1, first, last, reach) < 0)
            return -1;
        if (last > first) first = last;
        if (is_whole) begin = i + 1;
    }
    if (label_queue(m, x, w, text) < 0 || put_together(m, x, x->n_before, first) < 0) return -1;
    x->taken = (uint32_t)n;
    x->taken_chars = x->list.chars;
    if (begin) x->line = (Line){0};
    if (begin < n_atoms) {
        size_t left = x->n_tokens ? x->tokens[x->n_tokens - 1].last + 1u : x->n_before;
        keep_open(x, &x->line, begin, left < begin ? begin : left, first, reach);
    }
    return 0;
}
