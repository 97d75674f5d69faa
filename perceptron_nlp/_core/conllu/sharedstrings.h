/* Python strings of UTF-8, equal ones one object as far as a table of fixed size goes. */
#ifndef PERCEPTRON_NLP_SHAREDSTRINGS_H
#define PERCEPTRON_NLP_SHAREDSTRINGS_H

#include "features/words.h"

#define SHARED_BITS 16
#define SHARED_TRIES 4

typedef struct {
    uint64_t hashes[1 << SHARED_BITS];
    PyObject *strings[1 << SHARED_BITS]; /* NULL: a free place */
} SharedStrings;

static inline int is_string_of(PyObject *s, const uint8_t *text, size_t n) {
    if (PyUnicode_IS_COMPACT_ASCII(s))
        return (size_t)PyUnicode_GET_LENGTH(s) == n && !memcmp(PyUnicode_1BYTE_DATA(s), text, n);
    const uint8_t *end = text + n;
    Py_ssize_t length = PyUnicode_GET_LENGTH(s);
    for (Py_ssize_t i = 0; i < length; i++) {
        uint8_t put[4];
        size_t used = utf8_put(put, PyUnicode_READ_CHAR(s, i));
        if ((size_t)(end - text) < used || memcmp(text, put, used)) return 0;
        text += used;
    }
    return text == end;
}

/* A new reference to the string; NULL: an exception is set. When all its places are taken by
 * others, one of them is no longer shared. */
static inline PyObject *shared_string(SharedStrings *x, const uint8_t *text, size_t n) {
    uint64_t hash = xxh64(text, n, 0);
    size_t first = (size_t)(hash >> (64 - SHARED_BITS)), at = first;
    for (int tries = 0; tries < SHARED_TRIES; tries++) {
        size_t place = (first + (size_t)tries) & (((size_t)1 << SHARED_BITS) - 1);
        if (!x->strings[place]) {
            at = place;
            break;
        }
        if (x->hashes[place] == hash && is_string_of(x->strings[place], text, n)) {
            Py_INCREF(x->strings[place]);
            return x->strings[place];
        }
    }
    PyObject *s = PyUnicode_DecodeUTF8((const char *)text, (Py_ssize_t)n, NULL);
    if (!s) return NULL;
    Py_INCREF(s);
    Py_XSETREF(x->strings[at], s);
    x->hashes[at] = hash;
    return s;
}

static inline void shared_strings_clear(SharedStrings *x) {
    for (size_t i = 0; i < (size_t)1 << SHARED_BITS; i++) Py_CLEAR(x->strings[i]);
}

#endif
