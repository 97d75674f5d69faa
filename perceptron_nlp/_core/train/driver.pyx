# cython: language_level=3, freethreading_compatible=True
"""The pass over training sentences, whoever learns from them: greedy.pyx (one label at a time),
search.pyx (whole sentences) or factored.pyx (labels made of parts)."""

from _thread import get_ident

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset
from libc.time cimport CLOCKS_PER_SEC, clock, clock_t

from perceptron_nlp._core.train.trainingset cimport TrainingSet
from perceptron_nlp.errors import ArgumentError, MemoryLimitError

looks = {}
"""By thread, what is called between blocks of sentences; it may raise to end the learning."""
RULES = ("perceptron", "margin", "passive-aggressive", "adagrad")
# Sentences between two looks at the clock, and those at the keyboard in a second: other threads
# may hold the interpreter's lock then, for longer than a few sentences take.
cdef enum:
    BLOCK = 64
    LOOKS_A_SECOND = 10


cdef const int64_t[::1] checked_order(TrainingSet data, order):
    """The numbers of sentences to go over, and one more, so that there is always one."""
    sentences = np.append(np.ascontiguousarray(order, np.int64), np.int64(0))
    if len(sentences) > 1 and (np.min(order) < 0 or np.max(order) >= data.n_sentences):
        raise ArgumentError(f"order: sentence numbers run from 0 to {data.n_sentences - 1}")
    return sentences


cdef Rule checked_rule(TrainingSet data, rule, double rate, double margin) except *:
    """One of RULES, in the core's form, if the table can learn by it."""
    cdef Rule found
    found.kind = RULES.index(rule)
    found.rate = rate
    found.margin = margin
    found.scale = 1
    if rule == "adagrad" and not data.table.table.with_squares:
        raise ArgumentError("rule: adagrad needs a table made with gradients=True")
    return found


cdef tuple learn_in_order(const int64_t[::1] order, LearnSentence learn_one, void *learner):
    """Go once over sentences; how many examples, mistakes and updates there were.

    Ctrl-C is heard between blocks of them; what was learned before it stays, as where there is no
    memory for a new weight.
    """
    cdef int64_t n = order.shape[0] - 1, at = 0
    cdef const int64_t *numbers = &order[0]
    cdef int status = 0
    cdef Counts counts
    cdef clock_t begun
    memset(&counts, 0, sizeof(counts))
    while at < n:
        with nogil:
            begun = clock()
            while at < n and status >= 0:
                status = learn_one(learner, numbers, at, n, &counts)
                at += 1
                if at % BLOCK == 0 and clock() - begun >= CLOCKS_PER_SEC // LOOKS_A_SECOND:
                    break
        if status < 0:
            raise MemoryLimitError("no memory for a new weight; use table_bits or less data")
        PyErr_CheckSignals()
        look = looks.get(get_ident()) if looks else None
        if look is not None:
            look()
    return counts.examples, counts.mistakes, counts.updates


cdef class Scratch:
    """Memory that a pass needs, given back with this object."""

    def __dealloc__(self):
        cdef int i
        for i in range(self.n):
            free(self.taken[i])

    cdef void *of(self, size_t n_bytes) except NULL:
        """Some of it."""
        cdef void *room = malloc(n_bytes)
        if room == NULL or self.n == MOST_TAKEN:
            free(room)
            raise MemoryLimitError("no memory to train with")
        self.taken[self.n] = room
        self.n += 1
        return room
