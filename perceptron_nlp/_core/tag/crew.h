/* Threads that help the calling thread with one job: started for it, and ended with it. Python does
 * not know them, unless the job makes them known. Where the system gives fewer threads than are asked
 * for, fewer do the job. */
#ifndef PERCEPTRON_NLP_CREW_H
#define PERCEPTRON_NLP_CREW_H

#include <Python.h>
#include <pythread.h>

#include "tag/search.h"

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
    w->keep_scores = w->kept.of && d->beam == 1 && !d->parts;
    int status = run_batch(d, w);
    w->keep_scores = 0;
    /* What is cached may be half made; the next batch starts afresh. */
    if (status < 0) w->cache.n_types = w->cache.limit;
    return status;
}

#endif
