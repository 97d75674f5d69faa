/* Running text cut into tokens and sentences by labels of atoms.
 *
 * Most places are certain, and a decoder that labels every atom would look up some forty features at
 * each of them. So only the others are scored, one after the other, and what the templates say is
 * remembered by all that they look at: those of an atom and the next with the labels before, and
 * those of an atom and both its neighbours. What looks farther is looked up each time. */
#ifndef PERCEPTRON_NLP_CUT_H
#define PERCEPTRON_NLP_CUT_H

#include "tag/batch.h"
#include "text/atoms.h"

#define CUT_LABELS 3
#define CUT_HISTORY 4
#define CUT_MOST_TYPES (1 << 19) /* types that a decoder of atoms may remember: see context_of */
#define SUM_BITS 15              /* places of each cache of sums */
#define FOUND_BLOCK 32
#define CUT_BATCH 2048 /* atoms that are labelled at a time, or a few more */

/* A paragraph of more atoms, or characters, is cut in windows; of their labels the last may change
 * with what follows, and are not taken. */
#define WINDOW_ATOMS 4000
#define WINDOW_CHARACTERS 40000
#define WINDOW_MARGIN 200

/* Templates by what they look at. */
enum { LOOKS_RIGHT, LOOKS_ABOUT, LOOKS_FARTHER, LOOKS };

typedef struct {
    uint64_t context; /* all ones: an empty place */
    int32_t sums[CUT_LABELS];
} ContextSums;

/* What does not change while text is cut. */
typedef struct {
    const Decoder *decoder;
    Places certain;
    int8_t goes_on, token, sentence; /* labels; beyond those of the decoder what it does not have */
    int32_t *templates[LOOKS], n_templates[LOOKS];
    WordRef gaps[3];
    uint32_t window_characters;
} CutModel;

typedef struct {
    uint32_t begin, end, char_begin, char_end;
    uint32_t first, last; /* its atoms */
} CutToken;

typedef struct {
    size_t begin, end; /* atoms, of which these are labelled in the batch */
} CutParagraph;

/* What one thread cuts with, and what came out of a text. */
typedef struct {
    AtomList list;
    ContextSums *right, *about;
    int64_t cleared; /* of the cache of types, when the sums were */
    CutParagraph *queue;
    size_t n_queue, queue_room, queued_atoms;
    CutToken *tokens;
    size_t n_tokens, tokens_room;
    uint32_t *sentences; /* their first tokens; one more at the end */
    size_t n_sentences, sentences_room;
    uint32_t taken, taken_chars; /* of the text: what is done with */
} Cut;

static inline void cut_model_close(CutModel *m) {
    free(m->certain.keys);
    free(m->certain.labels);
    for (int k = 0; k < LOOKS; k++) free(m->templates[k]);
}

static inline void cut_close(Cut *x) {
    free(x->list.atoms);
    free(x->right);
    free(x->about);
    free(x->queue);
    free(x->tokens);
    free(x->sentences);
    memset(x, 0, sizeof *x);
}

static inline int looks_of(const Program *p, int32_t template_id) {
    int looks = LOOKS_RIGHT;
    for
        EACH_ATOM(p, template_id, atom) {
            if (atom->kind == ATOM_TAG) {
                if (looks == LOOKS_ABOUT) return LOOKS_FARTHER;
                continue;
            }
            if (atom->kind != ATOM_VALUE) {
                if (atom->kind != ATOM_BIAS) return LOOKS_FARTHER;
                continue;
            }
            const int32_t right = p->value_column[atom->value] ? 0 : 1;
            if (atom->offset > right || atom->offset < -1) return LOOKS_FARTHER;
            if (atom->offset < 0) looks = LOOKS_ABOUT;
        }
    for
        EACH_ATOM(p, template_id, atom)
    if (atom->kind == ATOM_TAG && looks == LOOKS_ABOUT) return LOOKS_FARTHER;
    return looks;
}

static inline int cut_add_template(CutModel *m, int32_t template_id) {
    const int looks = looks_of(m->decoder->layout.program, template_id);
    if (grow_array(&m->templates[looks], (size_t)m->n_templates[looks] + 1, sizeof(int32_t)) < 0)
        return -1;
    m->templates[looks][m->n_templates[looks]++] = template_id;
    return 0;
}

/* List the templates that look at several atoms or at labels, but for those of the decoder's table
 * of labels; -1: no memory. */
static inline int cut_model_open(CutModel *m, const Decoder *d) {
    const uint8_t marks[] = "01p";
    m->decoder = d;
    m->window_characters = WINDOW_CHARACTERS;
    for (int k = 0; k < 3; k++) m->gaps[k] = word_ref(marks + k, 1, d->secrets);
    for (int32_t k = 0; k < d->pairs.n_templates; k++)
        if (cut_add_template(m, d->pairs.templates[k]) < 0) return -1;
    for (int32_t k = 0; k < d->n_static; k++)
        if (cut_add_template(m, d->static_templates[k]) < 0) return -1;
    for (int32_t k = 0; k < d->layout.n_memos; k++)
        if (cut_add_template(m, d->layout.memo_templates[k]) < 0) return -1;
    for (int32_t k = 0; k < d->n_open; k++)
        if (cut_add_template(m, d->open_templates[k]) < 0) return -1;
    return 0;
}

/* ---- scores of a place ---- */

typedef struct {
    const Atom *atoms; /* of the paragraph */
    int64_t n, i;
    int64_t place; /* of atom i among the types */
    uint8_t past[CUT_HISTORY];
} Spot;

/* Add what templates of a list say; sums are as wide as the decoder's stride. */
static inline void add_looked_up(const CutModel *m, const Worker *w, int looks,
                                 const TokenView *view, int32_t *sums) {
    const FrozenTable *t = m->decoder->layout.table;
    const Program *p = m->decoder->layout.program;
    uint64_t keys[FOUND_BLOCK];
    int64_t rows[FOUND_BLOCK];
    (void)w;
    for (int32_t from = 0; from < m->n_templates[looks]; from += FOUND_BLOCK) {
        const int32_t *list = m->templates[looks] + from;
        const int32_t left = m->n_templates[looks] - from;
        const int32_t n = left < FOUND_BLOCK ? left : FOUND_BLOCK;
        for (int32_t k = 0; k < n; k++) {
            keys[k] = token_key(p, list[k], view);
            frozen_prefetch(t, keys[k]);
        }
        for (int32_t k = 0; k < n; k++) {
            rows[k] = frozen_find(t, keys[k]);
            if (rows[k] >= 0) frozen_prefetch_row(t, rows[k]);
        }
        for (int32_t k = 0; k < n; k++)
            if (rows[k] >= 0) frozen_add(t, rows[k], sums);
    }
}

/* Add the same by way of a cache. */
static inline void add_remembered(const CutModel *m, const Worker *w, ContextSums *cache, int looks,
                                  uint64_t context, const TokenView *view, int32_t *sums) {
    ContextSums *c = &cache[(context * XXH_P1) >> (64 - SUM_BITS)];
    if (c->context != context) {
        int32_t own[PACKED_LABELS + LANES] = {0};
        add_looked_up(m, w, looks, view, own);
        memcpy(c->sums, own, sizeof c->sums);
        c->context = context;
    }
    for (int k = 0; k < CUT_LABELS; k++) sums[k] += c->sums[k];
}

static inline int32_t score_at(const CacheLayout *l, const char *vector, int k) {
    return l->narrow ? ((const int16_t *)(const void *)vector)[k]
                     : ((const int32_t *)(const void *)vector)[k];
}

static inline void add_scores(const CacheLayout *l, const char *vector, int32_t *sums) {
    for (int k = 0; k < CUT_LABELS; k++) sums[k] += score_at(l, vector, k);
}

/* What atoms say one by one, and labels alone. */
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
    if (d->tag_table) {
        const size_t n = (size_t)l->table->n_labels + 1;
        const size_t at = (size_t)spot->past[0] * n + (size_t)spot->past[1];
        add_scores(l, (const char *)d->tag_table + at * bytes, sums);
    }
}

/* The best label at a place that is not certain; the first of equal ones. */
static inline int8_t best_cut(const CutModel *m, Cut *x, Worker *w, const Spot *spot) {
    const Decoder *d = m->decoder;
    const int32_t *types[MAX_COLUMNS];
    uint64_t past[CUT_HISTORY], labels = 0;
    int32_t sums[PACKED_LABELS + LANES] = {0};
    for (int k = 0; k < CUT_HISTORY; k++) {
        past[k] = d->label_hashes[spot->past[k]];
        labels = labels << 2 | spot->past[k];
    }
    TokenView view =
        token_view(d, w, spot->place, spot->i == 0, spot->i == spot->n - 1, past, types);
    const uint64_t before = spot->i ? spot->atoms[spot->i - 1].gap : GAP_OUTSIDE;
    const uint64_t behind = spot->atoms[spot->i].gap;
    const int has_sides = d->layout.program->reach > 0;
    const uint64_t own = (uint64_t)types[0][0], left = has_sides ? (uint64_t)types[0][-1] : 0,
                   right = has_sides ? (uint64_t)types[0][1] : 0;
    add_single(m, w, spot, sums);
    if (m->n_templates[LOOKS_RIGHT])
        add_remembered(m, w, x->right, LOOKS_RIGHT, own << 40 | right << 16 | labels << 2 | behind,
                       &view, sums);
    if (m->n_templates[LOOKS_ABOUT])
        add_remembered(m, w, x->about, LOOKS_ABOUT,
                       left << 44 | own << 24 | right << 4 | before << 2 | behind, &view, sums);
    add_looked_up(m, w, LOOKS_FARTHER, &view, sums);
    int8_t best = 0;
    for (int8_t k = 1; k < (int8_t)d->layout.table->n_labels; k++)
        if (sums[k] > sums[best]) best = k;
    return best;
}

/* ---- paragraphs ---- */

static inline void label_paragraph(const CutModel *m, Cut *x, Worker *w, int64_t sentence,
                                   Atom *atoms, int64_t n) {
    const uint8_t none = (uint8_t)m->decoder->layout.table->n_labels;
    Spot spot = {atoms, n, 0, padded_place(m->decoder, sentence, w->starts[sentence]), {0}};
    memset(spot.past, none, sizeof spot.past);
    for (; spot.i < n; spot.i++, spot.place++) {
        if (atoms[spot.i].label < 0) atoms[spot.i].label = best_cut(m, x, w, &spot);
        for (int k = CUT_HISTORY - 1; k > 0; k--) spot.past[k] = spot.past[k - 1];
        spot.past[0] = atoms[spot.i].label < (int8_t)none ? (uint8_t)atoms[spot.i].label : none;
    }
}

static inline void clear_sums(Cut *x) {
    memset(x->right, 0xFF, sizeof *x->right << SUM_BITS);
    memset(x->about, 0xFF, sizeof *x->about << SUM_BITS);
}

/* Settle what is certain; how many places are not. The last place of all is asked for what it is,
 * unless its paragraph ends there. */
static inline size_t settle_places(const CutModel *m, Atom *atoms, size_t n) {
    size_t asked = 0;
    for (size_t i = 0; i < n; i++) {
        Atom *atom = &atoms[i];
        if (atom->gap == GAP_PARAGRAPH)
            atom->label = m->sentence;
        else if (i + 1 < n)
            atom->label =
                places_find(&m->certain, place_key(atom->last, atom->gap, atoms[i + 1].first));
        else
            atom->label = -1;
        asked += atom->label < 0;
    }
    return asked;
}

static inline int take_atom(const CutModel *m, Batch *b, const uint8_t *text, const Atom *atom) {
    const Decoder *d = m->decoder;
    const size_t n = atom->end - atom->begin;
    const uint8_t *at = text + atom->begin;
    if (batch_word(d, b, 0, word_ref_within(text, at, n, d->secrets), at) < 0) return -1;
    if (d->layout.program->n_columns == 1) return 0;
    return batch_word(d, b, 1, m->gaps[atom->gap], text);
}

/* Label the atoms of the paragraphs in the queue; -1: no memory. */
static inline int label_queue(const CutModel *m, Cut *x, Worker *w, const uint8_t *text) {
    const Decoder *d = m->decoder;
    const int64_t cleared = w->cache.times_cleared;
    size_t asked = 0;
    batch_reset(&w->batch);
    for (size_t q = 0; q < x->n_queue; q++) {
        const CutParagraph *own = &x->queue[q];
        Atom *atoms = x->list.atoms + own->begin;
        const size_t n = own->end - own->begin;
        if (!settle_places(m, atoms, n)) continue;
        if (batch_room(d, &w->batch, (int64_t)n) < 0) return -1;
        for (size_t i = 0; i < n; i++)
            if (take_atom(m, &w->batch, text, &atoms[i]) < 0) return -1;
        if (batch_end_sentence(&w->batch) < 0) return -1;
        x->queue[asked++] = *own;
    }
    if (!asked) return 0;
    if (!x->right) {
        x->right = (ContextSums *)malloc(sizeof *x->right << SUM_BITS);
        x->about = (ContextSums *)malloc(sizeof *x->about << SUM_BITS);
        if (!x->right || !x->about) return -1;
        clear_sums(x);
    }
    if (find_types(d, w) < 0) {
        w->cache.n_types = w->cache.limit;
        return -1;
    }
    if (w->cache.times_cleared != cleared) clear_sums(x);
    for (size_t q = 0; q < asked; q++) {
        const CutParagraph *own = &x->queue[q];
        label_paragraph(m, x, w, (int64_t)q, x->list.atoms + own->begin,
                        (int64_t)(own->end - own->begin));
    }
    return 0;
}

static inline int end_sentence(Cut *x) {
    if (x->n_sentences + 2 > x->sentences_room) {
        const size_t room = 2 * x->sentences_room + 256;
        if (grow_array(&x->sentences, room, sizeof *x->sentences) < 0) return -1;
        x->sentences_room = room;
    }
    if (!x->n_sentences) x->sentences[0] = 0;
    if (x->sentences[x->n_sentences] < x->n_tokens)
        x->sentences[++x->n_sentences] = (uint32_t)x->n_tokens;
    return 0;
}

/* The tokens and sentences of labelled atoms; the last one ends a sentence. -1: no memory. */
static inline int put_together(const CutModel *m, Cut *x, size_t begin, size_t end) {
    size_t first = begin;
    for (size_t i = begin; i < end; i++) {
        const Atom *atom = &x->list.atoms[i];
        const int last = i + 1 == end || atom->gap == GAP_PARAGRAPH;
        if (atom->label == m->goes_on && !last) continue;
        if (x->n_tokens == x->tokens_room) {
            const size_t room = 2 * x->tokens_room + 1024;
            if (grow_array(&x->tokens, room, sizeof *x->tokens) < 0) return -1;
            x->tokens_room = room;
        }
        const Atom *from = &x->list.atoms[first];
        x->tokens[x->n_tokens++] = (CutToken){from->begin,    atom->end,       from->char_begin,
                                              atom->char_end, (uint32_t)first, (uint32_t)i};
        first = i + 1;
        if ((last || atom->label == m->sentence) && end_sentence(x) < 0) return -1;
    }
    return 0;
}

/* ---- texts ---- */

static inline int flush_queue(const CutModel *m, Cut *x, Worker *w, const uint8_t *text,
                              size_t *done, size_t end) {
    if (label_queue(m, x, w, text) < 0) return -1;
    x->n_queue = x->queued_atoms = 0;
    if (put_together(m, x, *done, end) < 0) return -1;
    *done = end;
    return 0;
}

static inline int queue_paragraph(Cut *x, size_t begin, size_t end) {
    if (x->n_queue == x->queue_room) {
        const size_t room = 2 * x->queue_room + 64;
        if (grow_array(&x->queue, room, sizeof *x->queue) < 0) return -1;
        x->queue_room = room;
    }
    x->queue[x->n_queue++] = (CutParagraph){begin, end};
    x->queued_atoms += end - begin;
    return 0;
}

/* How many of the atoms of a labelled window are taken: up to the last sentence that ends well before
 * its end, or token, or whatever comes there. */
static inline size_t window_taken(const CutModel *m, const Atom *atoms, size_t n) {
    const size_t most = n > WINDOW_MARGIN ? n - WINDOW_MARGIN : 1;
    for (size_t k = most; k > 0; k--)
        if (atoms[k - 1].label == m->sentence) return k;
    for (size_t k = most; k > 0; k--)
        if (atoms[k - 1].label == m->token) return k;
    return most;
}

/* Cut atoms begin .. end, a paragraph, in windows as long as it is too long for one; *begin is what is
 * left of it then. The queue is empty. -1: no memory. */
static inline int cut_windows(const CutModel *m, Cut *x, Worker *w, const uint8_t *text,
                              size_t *begin, size_t end, int is_whole) {
    const Atom *atoms = x->list.atoms;
    while (*begin < end) {
        const uint32_t edge = atoms[*begin].char_begin + m->window_characters;
        const int is_long = atoms[end - 1].char_end > edge;
        if (!is_long && (!is_whole || end - *begin <= WINDOW_ATOMS)) return 0;
        size_t n = 0;
        while (n <= WINDOW_ATOMS && *begin + n < end && atoms[*begin + n].char_begin < edge) n++;
        n = n > 1 ? n - 1 : 1; /* the last one may be longer than it looks */
        size_t done = *begin;
        if (queue_paragraph(x, *begin, *begin + n) < 0 || label_queue(m, x, w, text) < 0) return -1;
        x->n_queue = x->queued_atoms = 0;
        if (put_together(m, x, done, done + window_taken(m, atoms + done, n)) < 0) return -1;
        *begin = x->tokens[x->n_tokens - 1].last + 1u;
    }
    return 0;
}

/* Cut a text; what may go on is left, unless it is at its end. -1: no memory, or a page is missing:
 * then nothing of it is done. */
static inline int cut_text(const CutModel *m, Cut *x, Worker *w, const Characters *known,
                           const uint8_t *text, size_t n, int at_end) {
    size_t begin = 0, done = 0;
    x->n_tokens = x->n_sentences = x->n_queue = x->queued_atoms = 0;
    if (list_atoms(&x->list, known, text, n) < 0 || end_sentence(x) < 0) return -1;
    Atom *atoms = x->list.atoms;
    const size_t n_atoms = x->list.n;
    if (n_atoms && at_end) atoms[n_atoms - 1].gap = GAP_PARAGRAPH;
    for (size_t i = 0; i < n_atoms; i++) {
        const int is_whole = atoms[i].gap == GAP_PARAGRAPH;
        if (!is_whole && i + 1 < n_atoms) continue;
        const int is_long = atoms[i].char_end > atoms[begin].char_begin + m->window_characters ||
                            (is_whole && i + 1 - begin > WINDOW_ATOMS);
        if (is_long) {
            if (flush_queue(m, x, w, text, &done, begin) < 0 ||
                cut_windows(m, x, w, text, &begin, i + 1, is_whole) < 0)
                return -1;
            done = begin;
        }
        if (is_whole && begin <= i) {
            if (queue_paragraph(x, begin, i + 1) < 0) return -1;
            begin = i + 1;
        }
        if (x->queued_atoms >= CUT_BATCH && flush_queue(m, x, w, text, &done, begin) < 0) return -1;
    }
    if (flush_queue(m, x, w, text, &done, begin) < 0) return -1;
    x->taken = begin < n_atoms ? atoms[begin].begin : (uint32_t)n;
    x->taken_chars = begin < n_atoms ? atoms[begin].char_begin : x->list.chars;
    return 0;
}

#endif
