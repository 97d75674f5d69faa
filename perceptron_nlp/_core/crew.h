/* Several threads that label batches while one thread, which holds the interpreter lock, fills
 * and empties them.
 *
 *   pieces   a ring: emptied <= claimed <= filled <= emptied + n_pieces, counted from the start
 *
 * Who fills publishes pieces in order and empties them in order. Helpers claim the next one that
 * is filled, with workers (and caches) of their own; they never need the interpreter. Who fills
 * labels too, when the ring is full. All counters and states are guarded by one lock. */
#ifndef PERCEPTRON_NLP_CREW_H
#define PERCEPTRON_NLP_CREW_H

#include <Python.h>
#include <pythread.h>

#include "search.h"

typedef struct {
    Batch batch;
    int done, status;
} Piece;

typedef struct {
    PyThread_type_lock lock; /* held by its sleeper; released to wake it */
    int asleep;
} Sleeper;

typedef struct {
    const Decoder *decoder;
    Piece *pieces;
    /* Memory of emptied batches, which who fills takes back, the last first: it is still near. */
    Batch *spare;
    int64_t n_spare;
    int64_t n_pieces, filled, claimed, emptied;
    int stopped;
    PyThread_type_lock guard;
    Sleeper first;    /* who fills, waiting for the oldest piece */
    Sleeper *helpers;
    int n_helpers, started;
} Crew;

static inline void sleeper_close(Sleeper *s) {
    if (s->lock) PyThread_free_lock(s->lock);
}

static inline int sleeper_open(Sleeper *s) {
    s->lock = PyThread_allocate_lock();
    return s->lock && PyThread_acquire_lock(s->lock, NOWAIT_LOCK) ? 0 : -1;
}

static inline void sleeper_wake(Sleeper *s) {
    if (!s->asleep) return;
    s->asleep = 0;
    PyThread_release_lock(s->lock);
}

static inline void crew_close(Crew *c) {
    for (int64_t k = 0; c->pieces && k < c->n_pieces; k++) batch_close(&c->pieces[k].batch);
    for (int64_t k = 0; k < c->n_spare; k++) batch_close(&c->spare[k]);
    for (int k = 0; c->helpers && k < c->n_helpers; k++) sleeper_close(&c->helpers[k]);
    sleeper_close(&c->first);
    if (c->guard) PyThread_free_lock(c->guard);
    free(c->pieces);
    free(c->spare);
    free(c->helpers);
    memset(c, 0, sizeof *c);
}

/* -1: no memory; crew_close is needed all the same. */
static inline int crew_open(Crew *c, const Decoder *d, int n_helpers) {
    memset(c, 0, sizeof *c);
    c->decoder = d;
    c->n_helpers = n_helpers;
    /* Room to go on for a while where the system lets a helper wait with the oldest piece. */
    c->n_pieces = 4 * (int64_t)n_helpers + 20;
    c->pieces = (Piece *)calloc((size_t)c->n_pieces, sizeof *c->pieces);
    c->spare = (Batch *)calloc((size_t)c->n_pieces, sizeof *c->spare);
    c->helpers = (Sleeper *)calloc((size_t)n_helpers + 1, sizeof *c->helpers);
    c->guard = PyThread_allocate_lock();
    if (!c->pieces || !c->spare || !c->helpers || !c->guard || sleeper_open(&c->first) < 0) return -1;
    for (int k = 0; k < n_helpers; k++)
        if (sleeper_open(&c->helpers[k]) < 0) return -1;
    return 0;
}

static inline void crew_lock(Crew *c) { PyThread_acquire_lock(c->guard, WAIT_LOCK); }
static inline void crew_unlock(Crew *c) { PyThread_release_lock(c->guard); }

static inline void exchange_batches(Batch *a, Batch *b) {
    Batch kept = *a;
    *a = *b;
    *b = kept;
}

/* Label the next filled piece; the guard is held before and after, not meanwhile. */
static inline void crew_label_next(Crew *c, Worker *w) {
    const Decoder *d = c->decoder;
    int64_t number = c->claimed++;
    Piece *piece = &c->pieces[number % c->n_pieces];
    crew_unlock(c);
    exchange_batches(&w->batch, &piece->batch);
    w->keep_scores = w->kept.of && d->beam == 1 && !d->parts;
    piece->status = run_batch(d, w);
    w->keep_scores = 0;
    exchange_batches(&w->batch, &piece->batch);
    /* What is cached may be half made; the next batch starts afresh. */
    if (piece->status < 0) w->cache.n_types = w->cache.limit;
    crew_lock(c);
    piece->done = 1;
    if (number == c->emptied) sleeper_wake(&c->first);
}

/* What a helper does until the crew is stopped. */
static inline void crew_help(Crew *c, Worker *w) {
    crew_lock(c);
    Sleeper *self = c->started < c->n_helpers ? &c->helpers[c->started++] : NULL;
    while (self && !c->stopped) {
        if (c->claimed < c->filled) {
            crew_label_next(c, w);
            continue;
        }
        self->asleep = 1;
        crew_unlock(c);
        PyThread_acquire_lock(self->lock, WAIT_LOCK);
        crew_lock(c);
    }
    crew_unlock(c);
}

static inline int crew_is_full(const Crew *c) { return c->filled - c->emptied == c->n_pieces; }

/* The next piece to fill; the ring is not full. */
static inline Piece *crew_free_piece(Crew *c) {
    Piece *piece = &c->pieces[c->filled % c->n_pieces];
    if (!piece->batch.words && c->n_spare) exchange_batches(&piece->batch, &c->spare[--c->n_spare]);
    return piece;
}

static inline void crew_publish(Crew *c) {
    crew_lock(c);
    c->pieces[c->filled % c->n_pieces].done = 0;
    c->filled++;
    for (int k = 0; k < c->n_helpers; k++)
        if (c->helpers[k].asleep) {
            sleeper_wake(&c->helpers[k]);
            break;
        }
    crew_unlock(c);
}

/* Does it pay to fill another piece before anything else? While who fills labels a piece itself, the
 * helpers must not run out of them: to wake one that sleeps takes longer than to label a piece. */
static inline int crew_is_hungry(Crew *c) {
    crew_lock(c);
    int hungry = c->filled - c->claimed <= 2 * (int64_t)c->n_helpers + 1 && !crew_is_full(c);
    crew_unlock(c);
    return hungry;
}

/* The oldest piece, if it is labelled and not yet emptied. */
static inline Piece *crew_oldest_done(Crew *c) {
    crew_lock(c);
    Piece *piece = &c->pieces[c->emptied % c->n_pieces];
    int done = c->emptied < c->filled && piece->done;
    crew_unlock(c);
    return done ? piece : NULL;
}

static inline void crew_emptied(Crew *c) {
    exchange_batches(&c->pieces[c->emptied % c->n_pieces].batch, &c->spare[c->n_spare++]);
    crew_lock(c);
    c->emptied++;
    crew_unlock(c);
}

/* Label a piece that nobody has claimed, or wait for the oldest one. */
static inline void crew_work_or_wait(Crew *c, Worker *w) {
    crew_lock(c);
    if (c->claimed < c->filled) {
        crew_label_next(c, w);
    } else if (c->emptied < c->filled && !c->pieces[c->emptied % c->n_pieces].done) {
        c->first.asleep = 1;
        crew_unlock(c);
        PyThread_acquire_lock(c->first.lock, WAIT_LOCK);
        return;
    }
    crew_unlock(c);
}

/* No piece is claimed from now on, and helpers end. */
static inline void crew_stop(Crew *c) {
    crew_lock(c);
    c->stopped = 1;
    c->claimed = c->filled;
    for (int k = 0; k < c->n_helpers; k++) sleeper_wake(&c->helpers[k]);
    crew_unlock(c);
}

#endif
