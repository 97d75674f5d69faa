/* Threads that take turns at Python's objects.
 *
 * Between its turns a thread labels and needs no interpreter. Who has the turn acquires the
 * interpreter lock, builds the lists of what it labelled last and reads the strings of what it will
 * label next. So words and labels stay in the cache of one processor, and threads of one job never
 * wait for each other in the interpreter, where to be woken takes longer than a turn. */
#ifndef PERCEPTRON_NLP_TURNS_H
#define PERCEPTRON_NLP_TURNS_H

#include "tag/crew.h"

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

#endif
