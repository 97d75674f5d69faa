# cython: language_level=3, freethreading_compatible=True
"""Words of running text as objects.

A word costs one small object, of which the cyclic collector knows nothing, and its form; words of the
same labels share one mapping of them.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.list cimport PyList_GET_ITEM, PyList_GET_SIZE
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_GET_SIZE, PyTuple_New, PyTuple_SET_ITEM
from cpython.unicode cimport PyUnicode_DecodeUTF8, PyUnicode_Substring
from libc.stdint cimport uint16_t, uint32_t
from libc.string cimport memcpy

from types import MappingProxyType

from perceptron_nlp._core.text.cutter cimport PyObject_GC_UnTrack

# Mappings that are held for the words to come: some 500 bytes each.
cdef Py_ssize_t MOST_KNOWN = 1 << 14


# Strings, numbers and a mapping from strings to strings lead back to no word.
@cython.no_gc
@cython.final
cdef class TextWord:
    """A word of running text; it does not change.

    Attributes
    ----------
    form : the word: its token as it stands in the text, white space in it as one space; that of a
        multiword token need not stand in the text
    label : its label in the tagger's first column; None if there are no labels
    start, end : the place of its token, in characters from the beginning of the text; words of one
        multiword token share it
    labels : its label in each column of the tagger, by name; it cannot be changed

    Raises
    ------
    TypeError : a form, a label or the name of a column that is no str
    """

    cdef readonly str form, label
    cdef readonly Py_ssize_t start, end
    cdef readonly object labels

    def __init__(self, str form not None, str label, Py_ssize_t start, Py_ssize_t end, labels):
        if self.form is not None:
            raise TypeError("TextWord: a word does not change")
        own = dict(labels)
        if {*map(type, own), *map(type, own.values())} - {str}:
            raise TypeError("labels: a mapping from str to str is needed")
        self.form, self.label, self.start, self.end = form, label, start, end
        self.labels = MappingProxyType(own)

    @property
    def lemma(self):
        """Its lemma, if the tagger gives lemmas."""
        return self.labels.get("lemma")

    def __eq__(self, other):
        if not isinstance(other, TextWord):
            return NotImplemented
        cdef TextWord word = other
        return (self.start == word.start and self.end == word.end and self.form == word.form
                and self.label == word.label
                and (self.labels is word.labels or self.labels == word.labels))

    def __hash__(self):
        return hash((self.form, self.label, self.start, self.end))

    def __repr__(self):
        return f"<{shown(self)} {self.start}:{self.end}>"

    # Labels that cannot be changed do not pickle.
    def __reduce__(self):
        return TextWord, (self.form, self.label, self.start, self.end, dict(self.labels))


def shown(TextWord word not None):
    """Return a word and its label as ``word/TAG``; the word alone if it has none."""
    return word.form if word.label is None else f"{word.form}/{word.label}"


cdef class WordMaker:
    """Makes the words of sentences that were labeled; any number of threads may use it.

    Parameters
    ----------
    columns : the names of columns; a word's `label` is that of the first of them
    """

    cdef tuple columns
    # By the numbers of a word's labels, and its lemma: its label, and the mapping of all.
    cdef dict known

    def __cinit__(self, tuple columns not None):
        self.columns, self.known = columns, {}

    def sentences(self, make, str text not None, found):
        """Return the list of what `make` makes of each sentence as it stands and the tuple of its words.

        Parameters
        ----------
        text : all of it
        found : LabeledText of a part; in every call the same numbers must be the same labels

        Raises
        ------
        ValueError : buffers that do not fit each other
        """
        cdef bytes sentences = found.sentences, places = found.places, first = found.first
        cdef bytes form_ends = found.form_ends, forms = found.forms
        cdef const uint32_t *token_of = _numbers(sentences)
        cdef const uint32_t *place = _numbers(places)
        cdef const uint32_t *word_of = _numbers(first)
        cdef const uint32_t *end_of = _numbers(form_ends)
        cdef Py_ssize_t n_sentences = PyBytes_GET_SIZE(sentences) // 4 - 1
        cdef Py_ssize_t n_tokens = PyBytes_GET_SIZE(places) // 8
        cdef Py_ssize_t n_words = PyBytes_GET_SIZE(form_ends) // 4
        cdef Py_ssize_t begin = found.begin, s, t, k = 0, first_word, form_at = 0
        cdef tuple words, known
        cdef list made = []
        cdef TextWord word
        cdef _Labels labels = _Labels(self.columns, found, n_words)
        if (n_sentences < 0 or token_of[n_sentences] != n_tokens
                or PyBytes_GET_SIZE(first) != 4 * (n_tokens + 1) or word_of[n_tokens] != n_words
                or n_words and end_of[n_words - 1] != PyBytes_GET_SIZE(forms)):
            raise ValueError("sentences: buffers that do not fit each other")
        if len(self.known) > MOST_KNOWN:
            self.known.clear()
        for s in range(n_sentences):
            first_word = k
            words = PyTuple_New(word_of[token_of[s + 1]] - first_word)
            for t in range(token_of[s], token_of[s + 1]):
                while k < word_of[t + 1]:
                    word = TextWord.__new__(TextWord)
                    word.form = PyUnicode_DecodeUTF8(PyBytes_AS_STRING(forms) + form_at,
                                                     end_of[k] - form_at, "surrogatepass")
                    word.start, word.end = begin + place[2 * t], begin + place[2 * t + 1]
                    known = labels.of(self.known, k)
                    word.label, word.labels = known
                    Py_INCREF(word)
                    PyTuple_SET_ITEM(words, k - first_word, word)
                    form_at = end_of[k]
                    k += 1
            # The collector would look at all its words, to find that none of them leads anywhere.
            PyObject_GC_UnTrack(<PyObject *>words)
            made.append(make(PyUnicode_Substring(text, begin + place[2 * token_of[s]],
                                                 begin + place[2 * token_of[s + 1] - 1]), words))
        return made


@cython.final
cdef class _Labels:
    """The labels of the words of a text."""

    cdef tuple columns
    cdef list names, numbers, texts
    cdef bytes lemma_ends, lemmas

    def __cinit__(self, tuple columns not None, found, Py_ssize_t n_words):
        self.columns, self.names = columns, [name for name in columns if name in found.labels]
        self.numbers = [found.labels[name][0] for name in self.names]
        self.texts = [found.labels[name][1] for name in self.names]
        self.lemma_ends, self.lemmas = found.lemmas or (b"", b"")
        if ({*map(len, self.numbers)} - {2 * n_words}
                or len(self.names) < len(columns) and len(self.lemma_ends) != 4 * n_words):
            raise ValueError("labels: buffers that do not fit each other")

    cdef tuple of(self, dict known, Py_ssize_t k):
        """The label of word k, and the mapping of all its labels."""
        cdef Py_ssize_t n = PyList_GET_SIZE(self.numbers), size = 0, at = 0, c
        if n < PyTuple_GET_SIZE(self.columns):
            at = _numbers(self.lemma_ends)[k - 1] if k else 0
            size = _numbers(self.lemma_ends)[k] - at
        cdef bytes key = PyBytes_FromStringAndSize(NULL, 2 * n + size)
        cdef uint16_t *to = <uint16_t *>PyBytes_AS_STRING(key)
        for c in range(n):
            to[c] = (<const uint16_t *>PyBytes_AS_STRING(
                <bytes>PyList_GET_ITEM(self.numbers, c)))[k]
        memcpy(to + n, PyBytes_AS_STRING(self.lemmas) + at, size)
        found = known.get(key)
        if found is None:
            own = dict.fromkeys(self.columns, key[2 * n:].decode("utf-8", "surrogatepass"))
            for c in range(n):
                own[self.names[c]] = self.texts[c][to[c]]
            first = own[self.columns[0]] if own else None
            found = known[key] = first, MappingProxyType(own)
        return <tuple>found


cdef inline const uint32_t *_numbers(bytes numbers):
    return <const uint32_t *>PyBytes_AS_STRING(numbers)
