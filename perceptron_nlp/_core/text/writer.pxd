"""Columns of words filled in, as text or as CoNLL-U (writer.h)."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from perceptron_nlp._core.model.frozenmodel cimport CacheUse, Decoder
from perceptron_nlp._core.tag.decode cimport (
    Agreement, ColumnsDecoder, PyThread_type_lock, Worker, WorkerBox)
from perceptron_nlp._core.text.cutter cimport CutText
from perceptron_nlp._core.text.lemmatizer cimport LemmaCache, LemmaDecoder, Lemmatizer

cdef extern from "text/writer.h" nogil:
    const int CONLLU_FIELDS
    cdef enum:
        MOST_FILLED
    ctypedef struct LabelText:
        const uint8_t *text
        uint32_t length
    ctypedef struct FillModel:
        const Decoder **decoders
        const LabelText **labels
        int n_columns
        int *column_of
        int has_lemmas
        int *tags
        int n_tags
        const Agreement *agreement
        int *agreeing
        int *order
    ctypedef struct Fill:
        Worker **workers
        LemmaCache lemmas
        const uint32_t *lemma_of
        const uint8_t *out
        size_t used


cdef class TextFiller:
    cdef FillModel model
    cdef list decoders
    cdef list labels
    cdef list given  # the labels as they are
    cdef list idle
    cdef LemmaDecoder lemmas
    cdef ColumnsDecoder agreement
    cdef Filling taken(self)


cdef class Filling(WorkerBox):
    cdef const FillModel *model
    cdef Fill fill
    cdef list boxes
    cdef Lemmatizer lemmatizer
    cdef CacheUse lemma_use
    cdef list strings  # lemmas as objects, …
    cdef uint64_t strings_of  # … and how often the cache had been emptied when they were made
    cdef object ends
    cdef uint32_t put_lemma(self, size_t k) except? 0
    cdef bytes written(self)
    cdef write(self, TextFiller filler, CutText found, uint64_t number, bint tagged)
    cdef labeled(self, TextFiller filler, CutText found)
