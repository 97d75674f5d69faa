"""Columns of words filled in, as text or as CoNLL-U (writer.h)."""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from perceptron_nlp._core.model.frozenmodel cimport CacheUse, Decoder
from perceptron_nlp._core.tag.decode cimport Agreement, ColumnsDecoder, Worker
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
    cdef list idle
    cdef LemmaDecoder lemmas
    cdef ColumnsDecoder agreement
    cdef Filling taken(self)


cdef class Filling:
    cdef Fill fill
    cdef list boxes
    cdef Lemmatizer lemmatizer
    cdef CacheUse use
    cdef int label(self, TextFiller filler) except -1
    cdef write(self, TextFiller filler, CutText found, uint64_t number, bint tagged)
    cdef labeled(self, TextFiller filler, CutText found)
