"""Several columns tagged together (agree.h)."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t

from perceptron_nlp._core.model.frozenmodel cimport Decoder
from perceptron_nlp._core.tag.decode cimport Batch, SentenceDecoder, Worker, WorkerBox

cdef extern from "tag/agree.h" nogil:
    const int MAX_AGREEING
    ctypedef struct Agreement:
        int32_t n_columns
        const Decoder **decoders
        double *scales
        int32_t *n_labels
        int32_t n_prefixes
        const int32_t *prefix_of
        const uint16_t *prefix_label
        const int64_t *starts
        const uint16_t *last
        int32_t n_able
        const uint16_t *able
        const uint8_t *met
    Worker *agreeing_worker(Worker *w, int32_t column) noexcept
    Batch agreeing_batch(Worker *w, int32_t column) noexcept
    int run_worker(const Decoder *d, Worker *w) noexcept


cdef class ColumnsDecoder:
    cdef Agreement agreement
    cdef readonly tuple decoders
    cdef readonly tuple labels
    cdef list idle
    cdef tuple arrays
    cdef SentenceDecoder first(self)
    cdef WorkerBox take(self)
    cdef int _lay(self, prefixes, met_bits, staying) except -1
