# cython: language_level=3, freethreading_compatible=True
"""Decoders of several columns whose labels agree (agree.h)."""

from array import array

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
    combinations : of label numbers, as tagger.model.agreement.Combinations has them; at least one

    Attributes
    ----------
    decoders : the decoders
    labels : what is given in each column, by label number

    Raises
    ------
    ArgumentError : they do not fit together
    """

    def __cinit__(self, decoders, labels, scales, combinations):
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
        prefixes, met_bits, staying = combinations
        self._lay(prefixes, met_bits, staying)

    cdef int _lay(self, prefixes, met_bits, staying) except -1:
        """Have the combinations in the core's form."""
        cdef int32_t n_last = len(self.labels[-1]), p, k
        cdef Py_ssize_t at, size = 1, width = n_last // 8 + 1
        for own in self.labels[:-1]:
            size *= len(own)
        cdef int32_t[::1] prefix_of = memoryview(bytearray(b"\xff" * (4 * size))).cast("i")
        cdef uint16_t[::1] prefix_label = _shorts([k for prefix in prefixes for k in prefix])
        cdef int64_t[::1] starts = memoryview(bytearray(8 * (len(prefixes) + 1))).cast("q")
        cdef const uint8_t[::1] met = b"".join(staying) or bytes(width)
        cdef const uint8_t[::1] own_bits
        cdef bytearray is_able = bytearray(n_last)
        listed = array("H")
        for p, (prefix, bits) in enumerate(zip(prefixes, met_bits, strict=True)):
            if (len(prefix) != len(self.labels) - 1 or len(bits) != width
                    or len(staying[p]) != width
                    or not all([0 <= k < len(own) for k, own in zip(prefix, self.labels)])):
                raise ArgumentError(f"combinations: {prefix} is none of labels of the decoders")
            at = 0
            for k, own in zip(prefix, self.labels):
                at = at * len(own) + k
            prefix_of[at] = p
            own_bits = bits
            for k in range(n_last):
                if own_bits[k // 8] >> k % 8 & 1:
                    listed.append(k)
                    is_able[k] = 1
            starts[p + 1] = len(listed)
        able_labels = [k for k in range(n_last) if is_able[k]]
        listed.append(0)
        cdef uint16_t[::1] last = listed
        cdef uint16_t[::1] able = _shorts(able_labels)
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
    """Numbers, and one more, so that there is a first."""
    return array("H", [*numbers, 0])
