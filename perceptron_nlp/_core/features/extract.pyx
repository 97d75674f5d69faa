# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True
"""Feature programs: compiled templates in the form that the sentence loops run; hashes."""

import os
from array import array

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from perceptron_nlp.errors import ArgumentError, MemoryLimitError


cdef uint64_t draw_secret() except? 0:
    """A number that nobody else knows. Where in a table a key is looked for depends on such
    numbers, since strangers choose words and feature names; nothing saved may."""
    return int.from_bytes(os.urandom(8), "little")


def hash64(data not None, seed=0):
    """XXH64 of some bytes.

    Parameters
    ----------
    data : bytes, bytearray or memoryview
    seed : int, 0 <= seed < 2**64

    Returns
    -------
    int, 0 <= hash < 2**64
    """
    cdef const uint8_t[::1] view = data
    cdef uint64_t s = seed
    if view.shape[0] == 0:
        return xxh64(NULL, 0, s)
    return xxh64(&view[0], view.shape[0], s)


def hash64_each(strings not None):
    """XXH64 of each of some byte strings.

    Parameters
    ----------
    strings : sequence of bytes, n of them

    Returns
    -------
    uint64[n], as a memoryview
    """
    cdef Py_ssize_t i, n = len(strings)
    cdef bytes data
    cdef const unsigned char *text
    out = memoryview(bytearray(8 * n)).cast("Q")
    cdef uint64_t[::1] hashes = out
    for i in range(n):
        data = strings[i]
        text = data
        hashes[i] = xxh64(text, len(data), 0)
    return out


cdef void *_copied(str code, numbers) except NULL:
    """A C copy of numbers of an array's type; of none it is some bytes, so that NULL is no memory."""
    cdef bytes raw = array(code, numbers).tobytes()
    cdef void *memory = PyMem_Calloc(len(raw) + 1, 1)
    if memory == NULL:
        raise MemoryError
    memcpy(memory, <const char *>raw, len(raw))
    return memory


def views_of(text not None):
    """Return all views of one string, in the order of features.templates.VIEWS.

    Parameters
    ----------
    text : bytes (UTF-8; a lone surrogate is three bytes)

    Returns
    -------
    list of bytes: the texts whose hashes stand for the string in features
    """
    cdef WordScratch scratch
    cdef const unsigned char[::1] bytes_of = text + b"\0"
    cdef int32_t v
    memset(&scratch, 0, sizeof(scratch))
    try:
        if word_views(&scratch, &bytes_of[0], bytes_of.shape[0] - 1, (1 << N_VIEWS) - 1) < 0:
            raise MemoryLimitError("no memory for this word")
        return [scratch.views[v].text[:view_at(&scratch, &scratch.views[v], scratch.views[v].n)]
                for v in range(N_VIEWS)]
    finally:
        word_scratch_close(&scratch)


cdef class FeatureProgram:
    """Templates ready to run.

    Parameters
    ----------
    compiled : an object with the numbers of features.compile.CompiledTemplates

    The numbers are trusted to be consistent: only features.compile makes them.

    Raises
    ------
    ArgumentError : more than 64 columns are looked at
    """

    def __cinit__(self, compiled):
        memset(&self.program, 0, sizeof(Program))
        if len(compiled.columns) > MAX_COLUMNS:
            raise ArgumentError(f"templates: they look at more than {MAX_COLUMNS} columns")
        self.own(compiled)

    cdef int own(self, compiled) except -1:
        cdef Program *p = &self.program
        cdef int32_t i, a, v, kind, offset
        p.n_columns = len(compiled.columns)
        p.n_values = len(compiled.values)
        p.n_templates = len(compiled.seeds)
        p.n_slots = len(compiled.slots)
        p.n_static = len(compiled.static)
        p.n_history = len(compiled.history)
        p.values = <ValueSpec *>_copied("i", [n for row in compiled.values for n in row[1:]])
        p.value_column = <int32_t *>_copied("i", [row[0] for row in compiled.values])
        p.seeds = <uint64_t *>_copied("Q", compiled.seeds)
        p.atom_starts = <int32_t *>_copied("i", compiled.atom_starts)
        p.atoms = <AtomSpec *>_copied("i", [n for row in compiled.atoms for n in row])
        p.slot_templates = <int32_t *>_copied("i", compiled.slot_templates)
        p.static_templates = <int32_t *>_copied("i", compiled.static)
        p.history_templates = <int32_t *>_copied("i", compiled.history)
        p.slots = <SlotSpec *>PyMem_Calloc(p.n_slots + 1, sizeof(SlotSpec))
        p.wanted = <uint32_t *>PyMem_Calloc(p.n_columns + 1, sizeof(uint32_t))
        p.carried_at = <int32_t *>PyMem_Calloc(p.n_values + 1, sizeof(int32_t))
        if p.slots == NULL or p.wanted == NULL or p.carried_at == NULL:
            raise MemoryError
        for i in range(p.n_slots):
            p.slots[i].column = compiled.slots[i][0]
            p.slots[i].offset = compiled.slots[i][1]
            p.slots[i].condition = compiled.slots[i][2]
            p.slots[i].templates = p.slot_templates + <int32_t>compiled.slot_starts[i]
            p.slots[i].n_templates = compiled.slot_starts[i + 1] - compiled.slot_starts[i]
        for v in range(p.n_values):
            p.wanted[p.value_column[v]] |= <uint32_t>1 << p.values[v].view
            p.carried_at[v] = -1
        for a in range(p.atom_starts[p.n_templates]):
            kind = p.atoms[a].kind
            if kind == ATOM_VALUE:
                offset = p.atoms[a].offset
                p.reach = max(p.reach, offset if offset > 0 else -offset)
            elif kind == ATOM_TAG:
                p.depth = max(p.depth, p.atoms[a].value)
        for several in (compiled.static, compiled.history):
            for i in several:
                for a in range(p.atom_starts[i], p.atom_starts[i + 1]):
                    if p.atoms[a].kind == ATOM_VALUE and p.carried_at[p.atoms[a].value] < 0:
                        p.carried_at[p.atoms[a].value] = p.n_carried
                        p.n_carried += 1
        return 0

    @property
    def most_features(self):
        """Features that each template gives a word at most; 0 for any number."""
        return [most_features(&self.program, k) for k in range(self.program.n_templates)]

    def slot_features(self, int slot, text, int distance=0):
        """Return the features of one string by the templates of one slot.

        Parameters
        ----------
        slot : its number among CompiledTemplates.slots
        text : bytes (UTF-8; a lone surrogate is three bytes); None beyond the ends of a sentence
        distance : the place beyond the ends: -1 before the first word, 1 after the last

        Returns
        -------
        list of (template number, key)

        Raises
        ------
        ArgumentError : there is no such slot
        """
        cdef const Program *p = &self.program
        cdef WordScratch scratch
        cdef KeyBuffer keys
        cdef uint64_t[::1] values = memoryview(bytearray(8 * (p.n_values + 1))).cast("Q")
        cdef const unsigned char[::1] bytes_of = (text or b"") + b"\0"
        cdef int status = 0
        cdef size_t k
        if not 0 <= slot < p.n_slots:
            raise ArgumentError(f"slot: {slot} is none of {p.n_slots}")
        memset(&scratch, 0, sizeof(scratch))
        memset(&keys, 0, sizeof(keys))
        try:
            if text is None:
                pad_values(p, distance, &values[0])
            else:
                status = type_values(p, &scratch, p.slots[slot].column, &bytes_of[0],
                                     bytes_of.shape[0] - 1, &values[0])
            if status < 0 or type_slot_keys(p, &p.slots[slot], &values[0],
                                            NULL if text is None else &scratch, &keys) < 0:
                raise MemoryLimitError("no memory for the features of this word")
            return [(keys.groups[k], keys.keys[k]) for k in range(keys.n)]
        finally:
            word_scratch_close(&scratch)
            key_buffer_close(&keys)

    def __dealloc__(self):
        cdef Program *p = &self.program
        PyMem_Free(p.values)
        PyMem_Free(p.value_column)
        PyMem_Free(p.seeds)
        PyMem_Free(p.atom_starts)
        PyMem_Free(p.atoms)
        PyMem_Free(p.slot_templates)
        PyMem_Free(p.static_templates)
        PyMem_Free(p.history_templates)
        PyMem_Free(p.slots)
        PyMem_Free(p.wanted)
        PyMem_Free(p.carried_at)
