/* Words of a cut text labeled in several columns, and written as CoNLL-U or, of one column, as word/TAG,
 * without an object of any.
 *
 * A lemma depends on the word, its tags and its being the first of its sentence; what was found once
 * is remembered, within the share of this cache in what all may take. */
#pragma once

#include "tag/agreement.h"
#include "text/words.h"

#define CONLLU_FIELDS 10
#define MOST_FILLED 7 /* of the fields from LEMMA to DEPS */
#define MOST_TAGS 3   /* columns that a lemma depends on */
#define FILL_BATCH 2048

typedef struct {
    WordRef form; /* at: its place in the cache's text, where it is long */
    uint64_t tags;
    uint32_t lemma, length; /* in the cache's text; NOT_YET */
} LemmaEntry;

#define NOT_YET UINT32_MAX

typedef struct {
    LemmaEntry *entries;
    size_t n, room;
    size_t n_done; /* entries that have their lemma: those behind are new */
    uint64_t times_emptied;
    uint32_t *slots; /* entry + 1 */
    int bits;
    uint8_t *text;
    size_t text_used, text_room;
} LemmaCache;

static inline void lemma_cache_close(LemmaCache *c) {
    free(c->entries);
    free(c->slots);
    free(c->text);
    memset(c, 0, sizeof *c);
}

static inline uint64_t lemma_hash(const WordRef *form, uint64_t tags, const uint64_t *secrets) {
    return word_hash(form, (uint32_t)form->length, secrets) + secrets[6] * (uint32_t)tags +
           secrets[7] * (tags >> 32);
}

/* Lay 2^bits slots anew; -1: no memory. */
static inline int lemma_lay_slots(LemmaCache *c, int bits, const uint64_t *secrets) {
    uint32_t *slots = (uint32_t *)calloc((size_t)1 << bits, sizeof *slots);
    if (!slots) return -1;
    free(c->slots);
    c->slots = slots;
    c->bits = bits;
    const size_t mask = ((size_t)1 << bits) - 1;
    for (size_t k = 0; k < c->n; k++) {
        size_t at =
            (size_t)(lemma_hash(&c->entries[k].form, c->entries[k].tags, secrets) >> (64 - bits));
        while (slots[at]) at = (at + 1) & mask;
        slots[at] = (uint32_t)k + 1;
    }
    return 0;
}

/* Room for n bytes of text; NULL: no memory. */
static inline uint8_t *lemma_text(LemmaCache *c, size_t n) {
    const size_t used = c->text_used + n + 1;
    if (used >= NOT_YET || array_room(&c->text, &c->text_room, used, 1) < 0) return NULL;
    return c->text + c->text_used;
}

/* Entries for each word that is remembered: they take little, and their lemmas long to find again. */
#define LEMMAS_A_WORD 4

/* Bytes that they take for each word: of an entry, four slots and two strings. */
#define LEMMA_COST (LEMMAS_A_WORD * (sizeof(LemmaEntry) + 4 * sizeof(uint32_t) + 16))

/* Empty the cache where it is full; -1: no memory. */
static inline int lemma_cache_ready(LemmaCache *c, const uint64_t *secrets, size_t words) {
    const size_t most = LEMMAS_A_WORD * words;
    const int is_full = c->n >= most || c->text_used >= 16 * most;
    const uint64_t times = c->times_emptied + (uint64_t)is_full;
    if (is_full && c->room > 2 * most) lemma_cache_close(c);
    c->times_emptied = times;
    if (!c->slots) return lemma_lay_slots(c, 12, secrets);
    if (!is_full) return 0;
    /* Memory given back piece by piece, and taken again, comes to more and more. */
    memset(c->slots, 0, sizeof *c->slots << c->bits);
    c->n = c->n_done = c->text_used = 0;
    return 0;
}

/* The number of an entry, new at the end if it was not there; -1: no memory. */
static inline int64_t lemma_find(LemmaCache *c, WordRef form, const uint8_t *text, uint64_t tags,
                                 const uint64_t *secrets) {
    const size_t mask = ((size_t)1 << c->bits) - 1;
    size_t at = (size_t)(lemma_hash(&form, tags, secrets) >> (64 - c->bits));
    for (; c->slots[at]; at = (at + 1) & mask) {
        const LemmaEntry *e = &c->entries[c->slots[at] - 1];
        if (e->form.head != form.head || e->form.tail != form.tail || e->tags != tags ||
            e->form.length != form.length)
            continue;
        if (form.length > WORD_SMALL && memcmp(c->text + e->form.at, text, form.length) != 0)
            continue;
        return (int64_t)c->slots[at] - 1;
    }
    if (array_room(&c->entries, &c->room, c->n + 1, sizeof *c->entries) < 0) return -1;
    if (form.length > WORD_SMALL) {
        uint8_t *own = lemma_text(c, form.length);
        if (!own) return -1;
        memcpy(own, text, form.length);
        form.at = c->text_used;
        c->text_used += form.length;
    }
    c->entries[c->n] = (LemmaEntry){form, tags, NOT_YET, 0};
    c->slots[at] = (uint32_t)++c->n;
    if (2 * c->n > mask && lemma_lay_slots(c, c->bits + 1, secrets) < 0) return -1;
    return (int64_t)c->n - 1;
}

/* Set the lemma of the first entry that has none; -1: no memory. */
static inline int lemma_set(LemmaCache *c, const uint8_t *text, size_t n) {
    uint8_t *own = lemma_text(c, n);
    if (!own) return -1;
    memcpy(own, text, n);
    c->entries[c->n_done].lemma = (uint32_t)c->text_used;
    c->entries[c->n_done++].length = (uint32_t)n;
    c->text_used += n;
    return 0;
}

/* ---- columns ---- */

typedef struct {
    const uint8_t *text;
    uint32_t length;
} LabelText;

/* What does not change while texts are filled. */
typedef struct {
    const Decoder *decoders[MOST_FILLED];
    const LabelText *labels[MOST_FILLED];
    int n_columns;
    int column_of[CONLLU_FIELDS]; /* -1: stays empty; n_columns: the lemma */
    int has_lemmas;
    int tags[MOST_TAGS], n_tags; /* columns that lemmas depend on */
    const Agreement *agreement;  /* NULL: each column stands for itself */
    int agreeing[MAX_AGREEING];  /* the columns that it is of */
    int order[MOST_FILLED];      /* in which columns are labeled: first those that agree */
} FillModel;

typedef struct {
    Worker *workers[MOST_FILLED];
    LemmaCache lemmas;
    uint32_t *lemma_of; /* each word's entry */
    size_t lemma_room;
    uint8_t *out;
    size_t used, room;
} Fill;

static inline void fill_close(Fill *f) {
    lemma_cache_close(&f->lemmas);
    free(f->lemma_of);
    free(f->out);
}

/* Find the entry of each word of the batch; -1: no memory. */
static inline int fill_lemmas(const FillModel *m, Fill *f) {
    const uint64_t *secrets = m->decoders[m->order[0]]->secrets;
    const Batch *b = &f->workers[m->order[0]]->batch;
    if (lemma_cache_ready(&f->lemmas, secrets, shared_words(m->decoders[0]->layout.share)) < 0)
        return -1;
    if (array_room(&f->lemma_of, &f->lemma_room, (size_t)b->n_tokens, sizeof *f->lemma_of) < 0)
        return -1;
    for (int64_t s = 0; s < b->n_sentences; s++) {
        for (int64_t k = b->starts[s]; k < b->starts[s + 1]; k++) {
            const WordRef form = b->words[k];
            uint64_t tags = k == b->starts[s];
            for (int t = 0; t < m->n_tags; t++)
                tags = tags << 16 | f->workers[m->tags[t]]->labels[k];
            const uint8_t *text = form.length > WORD_SMALL ? b->text + form.at : NULL;
            const int64_t at = lemma_find(&f->lemmas, form, text, tags, secrets);
            if (at < 0) return -1;
            f->lemma_of[k] = (uint32_t)at;
        }
    }
    return 0;
}

/* Label the batch of the column that is the first to be labeled, which all read. -1: no memory. */
static inline int fill_columns(const FillModel *m, Fill *f) {
    const int n_agreeing = m->agreement ? m->agreement->n_columns : 0;
    Worker *first = f->workers[m->order[0]];
    int status = 0;
    for (int k = 1; k < n_agreeing; k++) first->agreeing[k - 1] = f->workers[m->agreeing[k]];
    if (m->agreement) status = run_columns(m->agreement, first);
    for (int k = n_agreeing; k < m->n_columns && status == 0; k++) {
        Worker *w = f->workers[m->order[k]];
        if (k) batch_borrow(&w->batch, &first->batch);
        status = m->decoders[m->order[k]]->run(m->decoders[m->order[k]], w);
        if (status < 0) cache_spoil(&w->cache);
        if (k) batch_return(&w->batch);
    }
    return status == 0 && m->has_lemmas ? fill_lemmas(m, f) : status;
}

/* Label the words of sentences from `begin` on; the end of those that were, which is that of all
 * where there are no columns. -1: no memory. */
static inline int64_t fill_batch(const FillModel *m, Fill *f, const Cut *cut,
                                 const TextWords *words, const uint8_t *text, size_t begin) {
    if (!m->n_columns) return (int64_t)cut->n_sentences;
    Batch *b = &f->workers[m->order[0]]->batch;
    size_t end = begin;
    batch_reset(b);
    for (; end < cut->n_sentences && b->n_tokens < FILL_BATCH; end++)
        if (take_words_of(m->decoders[m->order[0]], b, words, text, NULL,
                          words->first[cut->sentences[end]],
                          words->first[cut->sentences[end + 1]]) < 0)
            return -1;
    return fill_columns(m, f) < 0 ? -1 : (int64_t)end;
}

/* ---- CoNLL-U ---- */

#define PUT_SLACK 64

/* Room for n bytes and a few more; -1: no memory. */
static ALWAYS_INLINE int fill_room(Fill *f, size_t n) {
    return array_room(&f->out, &f->room, f->used + n + PUT_SLACK, 1);
}

/* Bytes as they are; -1: no memory. */
static inline int put_bytes(Fill *f, const uint8_t *text, size_t n) {
    if (fill_room(f, n) < 0) return -1;
    if (n) memcpy(f->out + f->used, text, n);
    f->used += n;
    return 0;
}

static ALWAYS_INLINE uint8_t *put_number(uint8_t *to, uint64_t number) {
    uint8_t digits[20];
    int n = 0;
    do digits[n++] = (uint8_t)('0' + number % 10);
    while (number /= 10);
    while (n) *to++ = digits[--n];
    return to;
}

#define PUT(to, literal) (memcpy(to, literal, sizeof literal - 1), (to) + sizeof literal - 1)

/* The text of atoms, white space as one space. */
static inline uint8_t *put_atoms(uint8_t *to, const Cut *cut, const uint8_t *text, size_t first,
                                 size_t last) {
    const Atom *atom = &cut->list.atoms[first];
    uint32_t begin = atom->begin;
    for (; first < last; first++, atom++) {
        const uint32_t next = atom[1].begin;
        if (next == atom->end || (next == atom->end + 1 && text[atom->end] == ' ')) continue;
        memcpy(to, text + begin, atom->end - begin);
        to += atom->end - begin;
        *to++ = ' ';
        begin = next;
    }
    memcpy(to, text + begin, atom->end - begin);
    return to + (atom->end - begin);
}

static inline uint8_t *put_misc(uint8_t *to, int is_glued) {
    return is_glued ? PUT(to, "\tSpaceAfter=No\n") : PUT(to, "\t_\n");
}

/* Word k of a batch whose first word is `first`; -1: no memory. */
static inline int put_word(const FillModel *m, Fill *f, const TextWords *words, const uint8_t *text,
                           size_t first, size_t k, size_t number, int is_glued) {
    const TextWord word = words->words[k];
    const LemmaEntry *lemma = m->has_lemmas ? &f->lemmas.entries[f->lemma_of[k - first]] : NULL;
    size_t bytes = word.length + (lemma ? lemma->length : 0);
    for (int c = 0; c < m->n_columns; c++)
        bytes += m->labels[c][f->workers[c]->labels[k - first]].length;
    if (fill_room(f, bytes + PUT_SLACK) < 0) return -1;
    uint8_t *to = put_number(f->out + f->used, number);
    *to++ = '\t';
    memcpy(to, text_word_bytes(words, text, word), word.length);
    to += word.length;
    for (int field = 2; field < CONLLU_FIELDS - 1; field++) {
        const int c = m->column_of[field];
        *to++ = '\t';
        if (c < 0) {
            *to++ = '_';
        } else if (c == m->n_columns) {
            memcpy(to, f->lemmas.text + lemma->lemma, lemma->length);
            to += lemma->length;
        } else {
            const LabelText *label = &m->labels[c][f->workers[c]->labels[k - first]];
            memcpy(to, label->text, label->length);
            to += label->length;
        }
    }
    f->used = (size_t)(put_misc(to, is_glued) - f->out);
    return 0;
}

/* Write sentences begin .. end, which were labeled last; `number` is that of the first. -1: no
 * memory. */
static inline int put_batch(const FillModel *m, Fill *f, const Cut *cut, const TextWords *words,
                            const uint8_t *text, size_t begin, size_t end, uint64_t number) {
    const size_t first = words->first[cut->sentences[begin]];
    for (size_t s = begin; s < end; s++) {
        const CutToken *token = &cut->tokens[cut->sentences[s]];
        const CutToken *last = &cut->tokens[cut->sentences[s + 1] - 1];
        size_t word = 0, k = words->first[cut->sentences[s]];
        if (fill_room(f, last->end - token->begin + PUT_SLACK) < 0) return -1;
        uint8_t *to = PUT(f->out + f->used, "# sent_id = ");
        to = put_number(to, number++);
        to = PUT(to, "\n# text = ");
        to = put_atoms(to, cut, text, token->first, last->last);
        *to++ = '\n';
        f->used = (size_t)(to - f->out);
        for (; token <= last; token++) {
            const size_t at = (size_t)(token - cut->tokens);
            const size_t n_words = words->first[at + 1] - words->first[at];
            const int is_glued = cut->list.atoms[token->last].gap == GAP_NOTHING;
            if (n_words > 1) {
                if (fill_room(f, token->end - token->begin + PUT_SLACK) < 0) return -1;
                to = put_number(f->out + f->used, word + 1);
                *to++ = '-';
                to = put_number(to, word + n_words);
                *to++ = '\t';
                to = put_atoms(to, cut, text, token->first, token->last);
                to = PUT(to, "\t_\t_\t_\t_\t_\t_\t_");
                f->used = (size_t)(put_misc(to, is_glued) - f->out);
            }
            for (size_t i = 0; i < n_words; i++, k++)
                if (put_word(m, f, words, text, first, k, ++word, is_glued && n_words == 1) < 0)
                    return -1;
        }
        if (fill_room(f, 1) < 0) return -1;
        f->out[f->used++] = '\n';
    }
    return 0;
}

/* ---- word/TAG ---- */

/* A word in which spaces do not break, since others separate words. */
static inline uint8_t *put_unbroken(uint8_t *to, const uint8_t *word, size_t n) {
    if (!memchr(word, ' ', n)) {
        memcpy(to, word, n);
        return to + n;
    }
    for (size_t k = 0; k < n; k++) {
        if (word[k] == ' ')
            to = PUT(to, "\xC2\xA0");
        else
            *to++ = word[k];
    }
    return to;
}

/* Write sentences begin .. end, which were labeled last, with the labels of the only column, if
 * there is one, a line each. -1: no memory. */
static inline int put_tagged(const FillModel *m, Fill *f, const Cut *cut, const TextWords *words,
                             const uint8_t *text, size_t begin, size_t end) {
    const size_t first = words->first[cut->sentences[begin]];
    for (size_t s = begin; s < end; s++) {
        const size_t stop = words->first[cut->sentences[s + 1]];
        for (size_t k = words->first[cut->sentences[s]]; k < stop; k++) {
            const TextWord word = words->words[k];
            const LabelText *label =
                m->n_columns ? &m->labels[0][f->workers[0]->labels[k - first]] : NULL;
            if (fill_room(f, 2 * (size_t)word.length + (label ? label->length : 0)) < 0) return -1;
            uint8_t *to = f->out + f->used;
            to = put_unbroken(to, text_word_bytes(words, text, word), word.length);
            if (label) {
                *to++ = '/';
                memcpy(to, label->text, label->length);
                to += label->length;
            }
            *to++ = k + 1 < stop ? ' ' : '\n';
            f->used = (size_t)(to - f->out);
        }
    }
    return 0;
}
