/* Strings in, labels out.
 *
 * Between lists of Python strings and a batch: reads the strings' own buffers, and builds lists
 * out of label objects that exist already. The calling thread holds the interpreter lock, or in
 * builds without one is attached to the interpreter. Between plain buffers and a batch no object is
 * touched. */
#pragma once

#include <Python.h>
#include <pythread.h>

#include "features/utf8.h"
#include "tag/agreement.h"

#define NO_MEMORY (-1)
#define NOT_A_STRING (-2)
#define STRINGS_AHEAD 8

static inline int take_wide_string(const Decoder *d, Batch *b, int32_t column, PyObject *s) {
#if PY_VERSION_HEX < 0x030C0000
    if (PyUnicode_READY(s) < 0) {
        PyErr_Clear();
        return NO_MEMORY;
    }
#endif
    Py_ssize_t n = PyUnicode_GET_LENGTH(s);
    int kind = (int)PyUnicode_KIND(s);
    const void *data = PyUnicode_DATA(s);
    uint8_t small[WORD_SMALL + 256] = {0};
    uint8_t *text = n <= 64 ? small + WORD_SMALL : batch_text(b, 4 * (size_t)n), *end = text;
    if (!text) return NO_MEMORY;
    for (Py_ssize_t i = 0; i < n; i++) end += utf8_put(end, PyUnicode_READ(kind, data, i));
    return batch_word(d, b, column, word_ref_inside(text, (size_t)(end - text), d->secrets), text);
}

/* One string into a batch that has room for its token. The object's header stands before its
 * text, so there is always something to read before a short string. */
static inline int take_string(const Decoder *d, Batch *b, int32_t column, PyObject *s) {
    if (!PyUnicode_Check(s)) return NOT_A_STRING;
    if (!PyUnicode_IS_COMPACT_ASCII(s)) return take_wide_string(d, b, column, s);
    const uint8_t *text = PyUnicode_1BYTE_DATA(s);
    WordRef word = word_ref_inside(text, (size_t)PyUnicode_GET_LENGTH(s), d->secrets);
    return batch_word(d, b, column, word, text);
}

/* Without an interpreter lock, it takes the list's own to keep its words alive and in place. */
#ifdef Py_GIL_DISABLED
#define HOLD_LIST(list) Py_BEGIN_CRITICAL_SECTION(list)
#define RELEASE_LIST Py_END_CRITICAL_SECTION()
#else
#define HOLD_LIST(list) {
#define RELEASE_LIST }
#endif

static inline int take_held_words(const Decoder *d, Batch *b, PyObject *list, Py_ssize_t *at) {
    Py_ssize_t n = PyList_GET_SIZE(list);
    if (batch_room(d, b, n) < 0) return NO_MEMORY;
    for (Py_ssize_t i = 0; i < n; i++) {
        Py_ssize_t next = i + STRINGS_AHEAD < n ? i + STRINGS_AHEAD : n - 1;
        const char *ahead = (const char *)PyList_GET_ITEM(list, next);
        PREFETCH(ahead);
        PREFETCH(ahead + sizeof(PyASCIIObject));
        int status = take_string(d, b, 0, PyList_GET_ITEM(list, i));
        if (status < 0) {
            *at = i;
            return status;
        }
    }
    return 0;
}

/* All words of a list, which no other code can change meanwhile; where it fails, *at says where. */
static inline int take_words(const Decoder *d, Batch *b, PyObject *list, Py_ssize_t *at) {
    int status;
    HOLD_LIST(list);
    status = take_held_words(d, b, list, at);
    RELEASE_LIST;
    return status;
}

/* ---- labels ---- */

#define BULK_LABELS 256

/* Every label object gets as many references as the batch has of it; times is 1 or -1. One at a
 * time, the next one would wait for the one before wherever labels repeat. */
static inline void add_references(PyObject *labels, const uint16_t *given, int64_t n, int times) {
#ifndef Py_GIL_DISABLED
    if (PyTuple_GET_SIZE(labels) <= BULK_LABELS) {
        uint32_t counts[4][BULK_LABELS];
        Py_ssize_t n_labels = PyTuple_GET_SIZE(labels);
        int64_t i = 0;
        for (int k = 0; k < 4; k++) memset(counts[k], 0, (size_t)n_labels * sizeof **counts);
        for (; i + 4 <= n; i += 4)
            for (int k = 0; k < 4; k++) counts[k][given[i + k]]++;
        for (; i < n; i++) counts[0][given[i]]++;
        for (Py_ssize_t k = 0; k < n_labels; k++) {
            PyObject *label = PyTuple_GET_ITEM(labels, k);
            uint32_t sum = counts[0][k] + counts[1][k] + counts[2][k] + counts[3][k];
            if (sum) Py_SET_REFCNT(label, Py_REFCNT(label) + times * (Py_ssize_t)sum);
        }
        return;
    }
#endif
    for (int64_t i = 0; i < n; i++) {
        PyObject *label = PyTuple_GET_ITEM(labels, given[i]);
        if (times > 0)
            Py_INCREF(label);
        else
            Py_DECREF(label);
    }
}

/* Lists of labels for all sentences of the batch into out[at ...]; -1 with an exception set.
 *
 * Before Python 3.12 the cyclic collector runs inside PyList_New and goes over all young lists
 * again and again; as in later versions, it waits here until the batch is done. */
static inline int give_lists(const Batch *b, PyObject *labels, PyObject *out, Py_ssize_t at) {
    int status = 0;
    int64_t s = 0;
#if PY_VERSION_HEX < 0x030C0000
    int collecting = PyGC_Disable();
#endif
    add_references(labels, b->labels, b->n_tokens, 1);
    for (; s < b->n_sentences && status == 0; s++) {
        int64_t begin = b->starts[s], n = b->starts[s + 1] - begin;
        PyObject *list = PyList_New((Py_ssize_t)n);
        if (!list) {
            add_references(labels, b->labels + begin, b->n_tokens - begin, -1);
            status = -1;
            break;
        }
        for (int64_t i = 0; i < n; i++)
            PyList_SET_ITEM(list, i, PyTuple_GET_ITEM(labels, b->labels[begin + i]));
        status = PyList_SetItem(out, at + s, list);
        if (status < 0) add_references(labels, b->labels + begin + n, b->n_tokens - begin - n, -1);
    }
#if PY_VERSION_HEX < 0x030C0000
    if (collecting) PyGC_Enable();
#endif
    return status;
}

/* ---- turns at Python's objects ----
 *
 * Threads that label lists side by side need the interpreter lock to read strings and to build
 * lists. They wait for each other at a lock of their own before they ask for it: to be woken in the
 * interpreter takes longer than a turn. */

#define SPINS 1000 /* some 20 to 50 microseconds: a turn of a batch takes 30 */

/* Wait for the turn, without the interpreter lock. */
static inline void turn_take(PyThread_type_lock turn) {
    for (int k = 0; k < SPINS; k++) {
        if (PyThread_acquire_lock(turn, NOWAIT_LOCK)) return;
        SPIN_PAUSE;
    }
    PyThread_acquire_lock(turn, WAIT_LOCK);
}

/* ---- sentences out of a buffer of UTF-8 and the offsets of its words ---- */

#define BAD_TEXT (-3)

/* Words begin .. end as one sentence of the batch. -1: no memory; BAD_TEXT: word number *bad is
 * not UTF-8. Offsets are in bounds and do not fall. What is checked is the batch's own copy, since
 * another thread may write to the buffer meanwhile. */
static inline int take_sentence(const Decoder *d, Batch *b, const uint8_t *data,
                                const int64_t *tokens, int64_t begin, int64_t end, int64_t *bad) {
    if (batch_room(d, b, end - begin) < 0) return -1;
    for (int64_t i = begin; i < end; i++) {
        const uint8_t *text = data + tokens[i];
        size_t n = (size_t)(tokens[i + 1] - tokens[i]);
        WordRef word = word_ref_within(data, text, n, d->secrets);
        if (batch_word(d, b, 0, word, text) < 0) return -1;
        if (n <= WORD_SMALL && !((word.head | word.tail) & 0x8080808080808080ULL)) continue;
        uint8_t small[WORD_SMALL];
        if (!is_utf8(word_bytes(&b->words[b->n_tokens - 1], b->text, small), n)) {
            *bad = i;
            return BAD_TEXT;
        }
    }
    return batch_end_sentence(b);
}

typedef struct {
    const uint8_t *data;
    const int64_t *tokens, *sentences;
    int64_t most_tokens;
    size_t most_bytes; /* of a batch, but for its last sentence */
} WordBuffers;

/* Fill the batch with sentences from *begin on; it moves behind them. -1: no memory; BAD_TEXT: word
 * number *bad is not UTF-8. */
static inline int take_buffers(const Decoder *d, Batch *b, const WordBuffers *x, int64_t *begin,
                               int64_t end, int64_t *bad) {
    batch_reset(b);
    while (*begin < end && b->n_tokens < x->most_tokens && b->text_used < x->most_bytes) {
        const int64_t *sentence = &x->sentences[(*begin)++];
        const int status = take_sentence(d, b, x->data, x->tokens, sentence[0], sentence[1], bad);
        if (status < 0) return status;
    }
    return 0;
}
