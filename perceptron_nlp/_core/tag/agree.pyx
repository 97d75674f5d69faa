# cython: language_level=3, freethreading_compatible=True
"""Decoders of several columns whose labels agree (agree.h)."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t
from libc.string cimport memset

from perceptron_nlp._core.model.frozenmodel cimport N_SECRETS
from perceptron_nlp._core.tag.decode cimport SentenceDecoder, WorkerBox
from perceptron_nlp.errors import ArgumentError


cdef class _ColumnsBox(WorkerBox):
    """A worker of the first column, with those of the others."""

    cdef list others


cdef class ColumnsDecoder:
    """Decoders of words alone, ready to label their columns together.

    Parameters
    ----------
    decoders : 2 or 3 SentenceDecoders
    labels : for each a str a label number: what is given
    scales : float, one a column; scores are divided by it before they are summed
    combinations : the label numbers, one a column, that were met together; ascending, at least one
    more : further combinations that stay where they are found, but are not looked for

    Attributes
    ----------
    decoders : the decoders
    labels : what is given in each column, by label number

    Raises
    ------
    ArgumentError : they do not fit together
    """

    def __cinit__(self, decoders, labels, scales, combinations, more=()):
        self.decoders = tuple(decoders)
        self.labels = tuple([tuple(own) for own in labels])
        self.idle = []
        cdef int32_t c, n = len(self.decoders)
        cdef SentenceDecoder decoder
        if not 2 <= n <= MAX_AGREEING:
            raise ArgumentError(f"decoders: {n} are not between 2 and {MAX_AGREEING}")
        if [len(own) for own in self.labels] != [len(one.labels) for one in self.decoders]:
            raise ArgumentError("labels: one is needed for each of the decoders' labels")
        memset(&self.agreement, 0, sizeof(self.agreement))
        self.agreement.n_columns = n
        for c in range(n):
            decoder = self.decoders[c]
            if decoder.program.program.n_columns != 1:
                raise ArgumentError(
                    "decoders: their templates look at other columns than the words")
            self.agreement.decoders[c] = &decoder.decoder
            self.agreement.scales[c] = scales[c]
            self.agreement.n_labels[c] = len(decoder.labels)
        for row in (*combinations, *more):
            if len(row) != n or any(not 0 <= k < len(own) for k, own in zip(row, self.labels)):
                raise ArgumentError(f"combinations: {row} is none of labels of the decoders")
        self._lay(combinations, more)

    cdef int _lay(self, combinations, more) except -1:
        """Have the combinations in the core's form."""
        cdef int32_t n_last = len(self.labels[-1])
        prefixes = sorted({tuple(row[:-1]) for row in (*combinations, *more)})
        number = {prefix: k for k, prefix in enumerate(prefixes)}
        size = 1
        for own in self.labels[:-1]:
            size *= len(own)
        cdef int32_t[::1] prefix_of = memoryview(bytearray(b"\xff" * (4 * size))).cast("i")
        cdef uint16_t[::1] prefix_label = _shorts([k for prefix in prefixes for k in prefix])
        cdef int64_t[::1] starts = memoryview(bytearray(8 * (len(prefixes) + 1))).cast("q")
        cdef uint16_t[::1] last = _shorts([row[-1] for row in combinations])
        able_labels = sorted({row[-1] for row in combinations})
        cdef uint16_t[::1] able = _shorts(able_labels)
        cdef int32_t width = n_last // 8 + 1, p, k
        cdef Py_ssize_t at
        cdef uint8_t[::1] met = bytearray(width * (len(prefixes) or 1))
        for prefix, p in number.items():
            at = 0
            for k, own in zip(prefix, self.labels):
                at = at * len(own) + k
            prefix_of[at] = p
        for row in combinations:
            starts[number[tuple(row[:-1])] + 1] += 1
        for p in range(len(prefixes)):
            starts[p + 1] += starts[p]
        for row in (*combinations, *more):
            k = row[-1]
            met[number[tuple(row[:-1])] * width + k // 8] |= 1 << k % 8
        self.arrays = (prefix_of, prefix_label, starts, last, able, met)
        self.agreement.n_prefixes = len(prefixes)
        self.agreement.prefix_of = &prefix_of[0]
        self.agreement.prefix_label = &prefix_label[0]
        self.agreement.starts = &starts[0]
        self.agreement.last = &last[0]
        self.agreement.n_able = len(able_labels)
        self.agreement.able = &able[0]
        self.agreement.met = &met[0]
        return 0

    cdef SentenceDecoder first(self):
        """The decoder that batches are filled for."""
        return self.decoders[0]

    cdef WorkerBox take(self):
        """A worker that no other thread has; give it back by appending it to `idle`."""
        cdef _ColumnsBox box
        cdef WorkerBox own
        cdef int32_t c
        cdef int k
        try:
            return self.idle.pop()
        except IndexError:
            box = _ColumnsBox()
            box.others = [WorkerBox() for _ in self.decoders[1:]]
            box.worker.agreement = &self.agreement
            for c in range(self.agreement.n_columns):
                own = box.others[c - 1] if c else box
                if c:
                    box.worker.agreeing[c - 1] = &own.worker
                own.worker.cache.limit = (<SentenceDecoder>self.decoders[c]).cache_limit
                # Those of the first, by which the words of a batch are hashed.
                for k in range(N_SECRETS):
                    own.worker.cache.secrets[k] = self.agreement.decoders[0].secrets[k]
            return box


cdef uint16_t[::1] _shorts(list numbers):
    cdef uint16_t[::1] view = memoryview(bytearray(2 * (len(numbers) + 1))).cast("H")
    cdef Py_ssize_t k
    for k in range(len(numbers)):
        view[k] = numbers[k]
    return view
