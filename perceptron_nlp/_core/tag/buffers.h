/* Sentences out of a buffer of UTF-8 and the offsets of its words, their label numbers into another.
 *
 * No object is touched, so each thread takes sentences, labels them and writes their labels by
 * itself; all that threads share is which sentences are next. */
#ifndef PERCEPTRON_NLP_BUFFERS_H
#define PERCEPTRON_NLP_BUFFERS_H

#include "tag/crew.h"
#include "features/utf8.h"

#define BAD_TEXT (-3)

/* Words begin .. end as one sentence of the batch. -1: no memory; BAD_TEXT: word number *bad is
 * not UTF-8. Offsets are in bounds and do not fall. What is checked is the batch's own copy, since
 * another thread may write to the buffer meanwhile. */
static inline int take_sentence(const Decoder *d, Batch *b, const uint8_t *data,
                                const int64_t *tokens, int64_t begin, int64_t end, int64_t *bad) {
    if (batch_room(d, b, end - begin) < 0) return -1;
    for (int64_t i = begin; i < end; i++) {
        const uint8_t *text = data + tokens[i];
        size_t n = (size_t)(tokens[i + 1] - tokens[i]);
        WordRef word = word_ref_within(data, text, n, d->secrets);
        if (batch_word(d, b, 0, word, text) < 0) return -1;
        if (n <= WORD_SMALL && !((word.head | word.tail) & 0x8080808080808080ULL)) continue;
        uint8_t small[WORD_SMALL];
        if (!is_utf8(word_bytes(&b->words[b->n_tokens - 1], b->text, small), n)) {
            *bad = i;
            return BAD_TEXT;
        }
    }
    return batch_end_sentence(b);
}

typedef struct {
    Crew *crew;
    const Decoder *decoder;
    const uint8_t *data;
    const int64_t *tokens, *sentences; /* sentences[0 .. n_sentences] */
    int64_t n_sentences;
    int64_t most_tokens, most_bytes; /* of a batch, but for its last sentence */
    uint16_t *out;                   /* for each word from sentences[0] on */
    int64_t next;                    /* the first sentence that nobody has taken */
    int64_t bad;                     /* the first word that is not UTF-8, or -1 */
    int no_memory;
} BufferJob;

/* The sentence after those that make up a batch from number `at` on. */
static inline int64_t buffers_batch_end(const BufferJob *x, int64_t at) {
    const int64_t first = x->sentences[at++];
    const int64_t most = first + x->most_tokens, bytes = x->tokens[first] + x->most_bytes;
    while (at < x->n_sentences && x->sentences[at] < most && x->tokens[x->sentences[at]] < bytes)
        at++;
    return at;
}

static inline int buffers_label(const BufferJob *x, Worker *w, int64_t begin, int64_t end,
                                int64_t *bad) {
    batch_reset(&w->batch);
    for (int64_t s = begin; s < end; s++) {
        int status = take_sentence(x->decoder, &w->batch, x->data, x->tokens, x->sentences[s],
                                   x->sentences[s + 1], bad);
        if (status < 0) return status;
    }
    if (crew_label(x->decoder, w) < 0) return -1;
    if (w->n_tokens)
        memcpy(x->out + (x->sentences[begin] - x->sentences[0]), w->labels,
               (size_t)w->n_tokens * sizeof *x->out);
    return 0;
}

/* Label the next batch; 0: there is none. Batches are taken in order and whoever takes one reads it
 * to its first bad word, so the first one of the whole text is found whatever the threads do. */
static inline int buffers_label_next(BufferJob *x, Worker *w) {
    crew_lock(x->crew);
    const int64_t begin = x->next;
    const int more = begin < x->n_sentences && !x->crew->over;
    const int64_t end = more ? buffers_batch_end(x, begin) : begin;
    x->next = end;
    crew_unlock(x->crew);
    if (!more) return 0;
    int64_t bad = -1;
    const int status = buffers_label(x, w, begin, end, &bad);
    if (status == 0) return 1;
    crew_lock(x->crew);
    x->crew->over = 1;
    if (status != BAD_TEXT)
        x->no_memory = 1;
    else if (x->bad < 0 || bad < x->bad)
        x->bad = bad;
    crew_unlock(x->crew);
    return 0;
}

static inline void buffers_help(void *job, Worker *w) {
    while (buffers_label_next((BufferJob *)job, w)) continue;
}

#endif
