/* Threads that help the calling thread with one job: started for it, and ended with it. Python does
 * not know them, unless the job makes them known. Where the system gives fewer threads than are asked
 * for, fewer do the job. */
#ifndef PERCEPTRON_NLP_CREW_H
#define PERCEPTRON_NLP_CREW_H

#include <Python.h>
#include <pythread.h>

#include "features/utf8.h"
#include "tag/agree.h"

struct Crew;

typedef struct {
    struct Crew *of;
    Worker *worker; /* nobody else's meanwhile */
} Helper;

typedef struct Crew {
    PyThread_type_lock guard; /* of what follows, and of what the job shares */
    PyThread_type_lock left;  /* held; released to wake the caller */
    int caller_waits;
    int n, running;
    int over; /* nothing more is to be begun */
    Helper *helpers;
    void (*help)(void *job, Worker *worker); /* what helpers do */
    void *job;
} Crew;

static inline void crew_lock(Crew *c) {
    PyThread_acquire_lock(c->guard, WAIT_LOCK);
}
static inline void crew_unlock(Crew *c) {
    PyThread_release_lock(c->guard);
}

static inline void crew_close(Crew *c) {
    if (c->guard) PyThread_free_lock(c->guard);
    if (c->left) PyThread_free_lock(c->left);
    free(c->helpers);
    memset(c, 0, sizeof *c);
}

/* For n helpers. -1: no memory; crew_close is needed all the same. */
static inline int crew_open(Crew *c, int n) {
    memset(c, 0, sizeof *c);
    c->n = n;
    c->helpers = (Helper *)calloc((size_t)n + 1, sizeof *c->helpers);
    c->guard = PyThread_allocate_lock();
    c->left = PyThread_allocate_lock();
    if (!c->helpers || !c->guard || !c->left) return -1;
    return PyThread_acquire_lock(c->left, NOWAIT_LOCK) ? 0 : -1;
}

/* A helper is gone: it looks at nothing of the crew after this. */
static inline void crew_leave(Crew *c) {
    crew_lock(c);
    if (--c->running == 0 && c->caller_waits) PyThread_release_lock(c->left);
    crew_unlock(c);
}

static inline void helper_run(void *helper) {
    Crew *c = ((Helper *)helper)->of;
    c->help(c->job, ((Helper *)helper)->worker);
    crew_leave(c);
}

/* Start helper number k, with the interpreter lock held; 0: the system gives no thread. */
static inline int crew_start(Crew *c, int k, Worker *worker) {
    c->helpers[k] = (Helper){c, worker};
    crew_lock(c);
    c->running++;
    crew_unlock(c);
    if (PyThread_start_new_thread(helper_run, &c->helpers[k]) != PYTHREAD_INVALID_THREAD_ID)
        return 1;
    crew_leave(c);
    return 0;
}

/* Nothing is begun from now on; back when every helper has ended. */
static inline void crew_end(Crew *c) {
    crew_lock(c);
    c->over = 1;
    c->caller_waits = c->running > 0;
    int wait = c->caller_waits;
    crew_unlock(c);
    if (!wait) return;
    PyThread_acquire_lock(c->left, WAIT_LOCK);
    /* Whoever was the last has let go of the guard, too, when this is back. */
    crew_lock(c);
    c->caller_waits = 0;
    crew_unlock(c);
}

/* Label the worker's batch. -1: no memory. */
static inline int crew_label(const Decoder *d, Worker *w) {
    int status = run_worker(d, w);
    if (status < 0) cache_spoil(&w->cache);
    return status;
}

/* Threads that take turns at Python's objects.
 *
 * Between its turns a thread labels and needs no interpreter. Who has the turn acquires the
 * interpreter lock, builds the lists of what it labelled last and reads the strings of what it will
 * label next. So words and labels stay in the cache of one processor, and threads of one job never
 * wait for each other in the interpreter, where to be woken takes longer than a turn. */

#define SPINS 1000 /* some 20 to 50 microseconds: a turn of a batch takes 30 */

static inline void turn_take(PyThread_type_lock turn) {
    for (int k = 0; k < SPINS; k++) {
        if (PyThread_acquire_lock(turn, NOWAIT_LOCK)) return;
        SPIN_PAUSE;
    }
    PyThread_acquire_lock(turn, WAIT_LOCK);
}

/* Let the next one have the turn, label, and wait for the turn. -1: no memory. */
static inline int turn_label(PyThread_type_lock turn, const Decoder *d, Worker *w) {
    PyThread_release_lock(turn);
    int status = crew_label(d, w);
    turn_take(turn);
    return status;
}

/* Sentences out of a buffer of UTF-8 and the offsets of its words, their label numbers into another.
 *
 * No object is touched, so each thread takes sentences, labels them and writes their labels by
 * itself; all that threads share is which sentences are next. */

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
    uint16_t *out[MAX_AGREEING];     /* of each column, for each word from sentences[0] on */
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
    const int32_t n_columns = w->agreement ? w->agreement->n_columns : 1;
    for (int32_t c = 0; c < n_columns && w->n_tokens; c++)
        memcpy(x->out[c] + (x->sentences[begin] - x->sentences[0]), agreeing_worker(w, c)->labels,
               (size_t)w->n_tokens * sizeof **x->out);
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
