# cython: language_level=3, freethreading_compatible=True
"""Rows of the templates that look at past labels, remembered while a table learns (history.pxd)."""

import numpy as np

from libc.stdint cimport int32_t, uint32_t
from libc.stdlib cimport calloc, free

from perceptron_nlp._core.features.extract cimport (
    ATOM_TAG, ATOM_VALUE, AtomSpec, FeatureProgram, Program,
)
from perceptron_nlp._core.table.weights cimport WeightTable
from perceptron_nlp.errors import MemoryLimitError

# Rows of one history template that are remembered: eight megabytes.
MOST_REMEMBERED = 1 << 21


cdef class HistoryRows:
    """What remembers rows, a cache for each history template.

    Parameters
    ----------
    program : FeatureProgram
    table : WeightTable; the rows are its
    n_labels : int; those that are given
    carried : uint64[n_types, n_carried]; values of each type (see TokenView)

    Raises
    ------
    MemoryLimitError : there is no room for it
    """

    def __cinit__(self, FeatureProgram program not None, WeightTable table not None,
                  uint32_t n_labels, carried):
        cdef int32_t h, n_history = program.program.n_history
        self.program = program
        self.table = table
        self.carried = carried
        self.numbers = []
        self.remembered = []
        self.caches = <HistoryCache *>calloc(n_history + 1, sizeof(HistoryCache))
        if self.caches == NULL:
            raise MemoryLimitError("no memory to train with")
        for h in range(n_history):
            self.caches[h].digits = n_labels + 1
            self._make_cache(h)
        self.rows_known = table.table.index.n

    def __dealloc__(self):
        free(self.caches)

    cdef void begin(self):
        """Forget which rows are not there, where others may have made them since the end."""
        if self.rows_known != self.table.table.index.n:
            for array in self.remembered:
                np.maximum(array, 0, out=array)

    cdef void end(self) noexcept:
        """All rows that were made since the beginning are known."""
        self.rows_known = self.table.table.index.n

    def _make_cache(self, int32_t h):
        """Remember rows of a template of past labels and at most one value, if they are few."""
        cdef const Program *p = &self.program.program
        cdef HistoryCache *cache = &self.caches[h]
        cdef int32_t a, template_id = p.history_templates[h]
        cdef const AtomSpec *atom
        cdef const int32_t[::1] numbers
        cdef int32_t[::1] view
        size = 1
        for a in range(p.atom_starts[template_id], p.atom_starts[template_id + 1]):
            atom = &p.atoms[a]
            if atom.kind == ATOM_TAG:
                cache.past[cache.n_past] = atom.value - 1
                cache.n_past += 1
                size *= cache.digits
            elif atom.kind == ATOM_VALUE and cache.values == NULL:
                distinct, number = np.unique(
                    self.carried[:, p.carried_at[atom.value]], return_inverse=True)
                size *= len(distinct)
                cache.column = p.value_column[atom.value]
                cache.offset = atom.offset
                numbers = np.append(number.astype(np.int32), np.int32(0))
                self.numbers.append(numbers)
                cache.values = &numbers[0]
            else:
                return
        if size <= MOST_REMEMBERED:
            cache.span = cache.digits ** cache.n_past
            rows = np.zeros(max(size, 1), np.int32)
            view = rows
            self.remembered.append(rows)
            cache.row1 = &view[0]
