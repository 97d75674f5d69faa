/* Between lists of Python strings and a batch: reads the strings' own buffers, and builds lists
 * out of label objects that exist already. All of it needs the interpreter lock. */
#ifndef PERCEPTRON_NLP_PYSTRINGS_H
#define PERCEPTRON_NLP_PYSTRINGS_H

#include <Python.h>

#include "batch.h"

#define NO_MEMORY (-1)
#define NOT_A_STRING (-2)

static inline int take_wide_string(const Decoder *d, Worker *w, int32_t column, PyObject *s) {
#if PY_VERSION_HEX < 0x030C0000
    if (PyUnicode_READY(s) < 0) {
        PyErr_Clear();
        return NO_MEMORY;
    }
#endif
    Py_ssize_t n = PyUnicode_GET_LENGTH(s);
    int kind = (int)PyUnicode_KIND(s);
    const void *data = PyUnicode_DATA(s);
    uint8_t small[256];
    uint8_t *text = n <= 64 ? small : worker_text(w, 4 * (size_t)n), *end = text;
    if (!text) return NO_MEMORY;
    for (Py_ssize_t i = 0; i < n; i++) end += utf8_put(end, PyUnicode_READ(kind, data, i));
    return worker_string(d, w, column, text, (size_t)(end - text));
}

/* One string into a batch that has room for its token. */
static inline int take_string(const Decoder *d, Worker *w, int32_t column, PyObject *s) {
    if (!PyUnicode_Check(s)) return NOT_A_STRING;
    if (PyUnicode_IS_COMPACT_ASCII(s))
        return worker_string(d, w, column, PyUnicode_1BYTE_DATA(s),
                             (size_t)PyUnicode_GET_LENGTH(s));
    return take_wide_string(d, w, column, s);
}

/* All words of a list, which no other code can change meanwhile; where it fails, *at tells. */
static inline int take_words(const Decoder *d, Worker *w, PyObject *list, Py_ssize_t *at) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        int status = worker_token_room(d, w);
        if (status == 0) status = take_string(d, w, 0, PyList_GET_ITEM(list, i));
        if (status < 0) {
            *at = i;
            return status;
        }
    }
    return 0;
}

/* Lists of labels for all sentences of the batch into out[at ...]; -1 with an exception set.
 *
 * Before Python 3.12 the cyclic collector runs inside PyList_New and goes over all young lists
 * again and again; as in later versions, it waits here until the call is over. */
static inline int give_lists(const Worker *w, PyObject *labels, PyObject *out, Py_ssize_t at) {
    int status = 0;
#if PY_VERSION_HEX < 0x030C0000
    int collecting = PyGC_Disable();
#endif
    for (int64_t s = 0; s < w->n_sentences && status == 0; s++) {
        int64_t begin = w->starts[s], n = w->starts[s + 1] - begin;
        PyObject *list = PyList_New((Py_ssize_t)n);
        if (!list) {
            status = -1;
            break;
        }
        for (int64_t i = 0; i < n; i++) {
            PyObject *label = PyTuple_GET_ITEM(labels, w->labels[begin + i]);
            Py_INCREF(label);
            PyList_SET_ITEM(list, i, label);
        }
        PyList_SET_ITEM(out, at + s, list);
    }
#if PY_VERSION_HEX < 0x030C0000
    if (collecting) PyGC_Enable();
#endif
    return status;
}

#endif
