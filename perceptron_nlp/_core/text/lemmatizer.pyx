# cython: language_level=3, freethreading_compatible=True
"""Lemmas by edit scripts, without an object of any word (lemmas.h, lemmatize.h)."""

from array import array

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from perceptron_nlp.errors import ArgumentError, MemoryLimitError


cdef class LemmaDecoder:
    """A decoder of edit scripts, and the lemmas that it knows; for any number of threads.

    Parameters
    ----------
    decoder : of words, and of the columns of tags and of known lemmas
    scripts : of each label what it does: (kind, drop_front, front, drop_back, back, acute), where
        acute is -1 if accents stay, or ("=", lemma)
    known : (number, script) of each script that may lead to a known lemma
    lemmas : the known lemmas, as StoredLemmas has them: the UTF-8 of all, int64[n + 1] where each
        begins and ends in it, uint32[n] hashes of their only forms or 0
    tags : the labels, in UTF-8, of each column that lemmas depend on; at most three
    upos : the number of that of parts of speech in `tags`, or -1
    upos_of : its labels as `lemmas` have them, in UTF-8; without such a column, what stands for all
    columns : for each column of the decoder but the words the number of its tags, or -1 for that
        of known lemmas
    letter_page : from a number to what 256 letters become; see lemmatize.letter_page
    settled : None, or the labels that words and tags settle

    Attributes
    ----------
    tags : the columns that lemmas depend on

    Raises
    ------
    ArgumentError : the decoder does not fit
    """

    def __cinit__(self, SentenceDecoder decoder not None, scripts, known, lemmas, tags, int upos,
                  upos_of, columns, letter_page, SettledTable settled=None):
        cdef Py_ssize_t k, t
        cdef bytes label
        cdef uint64_t base = draw_secret() | 1
        self.alive, self.decoder, self.letter_page = [], decoder, letter_page
        self.tags = tuple([tuple(own) for own in tags])
        if (len(scripts) != len(decoder.labels) or len(tags) > MOST_TAGS or decoder.parts is not None
                or decoder.program.program.n_columns != 1 + len(columns)
                or len(columns) > len(tags) + 1):
            raise ArgumentError("decoder: one of edit scripts, words and tags is needed")
        if settled is not None:
            if settled.n_labels != tuple(map(len, tags)):
                raise ArgumentError("settled: by other columns than lemmas depend on")
            self.alive.append(settled)
            self.tagger.settled = &settled.table
        self.tagger.decoder = &decoder.decoder
        self.tagger.n_tags = len(tags)
        self.tagger.upos = upos
        for k, column in enumerate(columns):
            self.tagger.columns[k + 1] = column
        self.scripts = <LemmaScript *>calloc(len(scripts) + len(known) + 1, sizeof(LemmaScript))
        self.known = <KnownScript *>calloc(len(known) + 1, sizeof(KnownScript))
        self.script_letters = <uint32_t *>malloc(sizeof(uint32_t) * (
            1 + _n_letters(scripts) + _n_letters([script for _, script in known])))
        cdef const uint8_t[::1] text = lemmas[0]
        cdef const int64_t[::1] starts = lemmas[1]
        cdef const uint32_t[::1] only = lemmas[2]
        cdef uint32_t n_lemmas = only.shape[0]
        self.lemmas = <KnownLemma *>calloc(n_lemmas + 1, sizeof(KnownLemma))
        self.letters = <uint32_t *>malloc((text.shape[0] + 1) * sizeof(uint32_t))
        if (self.scripts == NULL or self.known == NULL or self.lemmas == NULL
                or self.letters == NULL or self.script_letters == NULL):
            raise MemoryLimitError("no memory for the lemmas")
        for k, script in enumerate(scripts):
            self._script(&self.scripts[k], script)
        for k, (number, script) in enumerate(sorted(known, key=_stem)):
            own = len(scripts) + k
            self._script(&self.scripts[own], script)
            self.known[k].number = number
            self.known[k].script = &self.scripts[own]
            self.known[k].front_hash = letters_hash(self.scripts[own].front,
                                                    self.scripts[own].n_front, base)
            self.known[k].back_hash = letters_hash(self.scripts[own].back, self.scripts[own].n_back,
                                                   base)
        numbers = {}
        cdef uint32_t at = 0
        cdef int64_t tab
        cdef bytes own_upos
        for k in range(n_lemmas):
            tab = starts[k + 1] - 1
            while tab >= starts[k] and text[tab] != c"\t":
                tab -= 1
            own_upos = PyBytes_FromStringAndSize(<const char *>&text[0] + tab + 1,
                                                 starts[k + 1] - tab - 1)
            self.lemmas[k].upos = numbers.setdefault(own_upos, len(numbers))
            self.lemmas[k].only, self.lemmas[k].at = only[k], at
            if tab > starts[k]:
                self.lemmas[k].n = utf8_decode(&text[0] + starts[k], tab - starts[k],
                                               self.letters + at)
            at += self.lemmas[k].n
        self.tagger.model.letters = self.letters
        self.tagger.model.scripts, self.tagger.model.n_scripts = self.scripts, len(scripts)
        self.tagger.model.lemmas = self.lemmas
        self.tagger.model.base = base
        if (known_lemmas_open(&self.tagger.model, n_lemmas) < 0
                or known_scripts_open(&self.tagger.model, self.known, len(known), n_lemmas) < 0):
            raise MemoryLimitError("no memory for the lemmas")
        places = array("i", [numbers.get(label, -1) for label in upos_of])
        self.alive.append(places)
        cdef const int32_t[::1] upos_view = places
        self.tagger.upos_of = &upos_view[0]
        for t, own in enumerate(self.tags):
            self.refs[t] = <LabelRef *>calloc(len(own) + 1, sizeof(LabelRef))
            if self.refs[t] == NULL:
                raise MemoryLimitError("no memory for the lemmas")
            self.tagger.labels[t] = self.refs[t]
            for k, label in enumerate(own):
                self.refs[t][k].text = <const uint8_t *>PyBytes_AS_STRING(label)
                self.refs[t][k].ref = word_ref(self.refs[t][k].text, PyBytes_GET_SIZE(label),
                                               decoder.decoder.secrets)

    def __dealloc__(self):
        cdef int t
        for t in range(3):
            free(self.refs[t])
        free(self.scripts)
        free(self.known)
        free(self.lemmas)
        free(self.letters)
        free(self.script_letters)
        free(self.tagger.model.slots)
        free(self.tagger.model.stems)

    cdef int _script(self, LemmaScript *own, script) except -1:
        cdef bytes literal
        kind = script[0]
        own.kind = ord(kind)
        if kind == "=":
            literal = script[1].encode("utf-8", "surrogatepass")
            self.alive.append(literal)
            own.literal = <const uint8_t *>PyBytes_AS_STRING(literal)
            own.literal_bytes = PyBytes_GET_SIZE(literal)
            return 0
        _, own.drop_front, front, own.drop_back, back, own.acute = script
        own.n_front, own.n_back = len(front), len(back)
        own.front, own.back = self._letters(front), self._letters(back)
        return 0

    cdef const uint32_t *_letters(self, str text) noexcept:
        """The code points of a text, behind those that are there already."""
        cdef const uint32_t *begin = self.script_letters + self.n_letters
        cdef Py_UCS4 letter
        for letter in text:
            self.script_letters[self.n_letters] = letter
            self.n_letters += 1
        return begin


def _n_letters(scripts):
    """How many letters scripts put at either end."""
    return sum([len(script[2]) + len(script[4]) for script in scripts if script[0] != "="])


def _stem(entry):
    """The stem that the script of a known lemma leaves."""
    _, drop_front, front, drop_back, _, acute = entry[1]
    return drop_front, front, drop_back, acute


cdef class Lemmatizer:
    """What one thread at a time takes to find lemmas."""

    def __cinit__(self, LemmaDecoder decoder not None):
        self.decoder, self.pages = decoder, []
        self.box = decoder.decoder.take()
        memset(&self.state, 0, sizeof(Lemmatizing))
        self.state.letters.missing = -1
        self.state.worker = &self.box.worker
        self.state.word.base = decoder.tagger.model.base

    def __dealloc__(self):
        lemma_word_close(&self.state.word)

    cdef int fill(self, LemmaCache *cache) except -1:
        """Have the lemmas of the entries of a cache that are new."""
        cdef int status
        cdef bytes page
        while True:
            with nogil:
                status = lemmatize_new(&self.decoder.tagger, &self.state, cache)
            if status == 0:
                return 0
            if self.state.letters.missing < 0:
                raise MemoryLimitError("no memory to label this text; give less at a time")
            page = self.decoder.letter_page(self.state.letters.missing)
            self.pages.append(page)
            self.state.letters.pages[self.state.letters.missing] = \
                <const Letter *>PyBytes_AS_STRING(page)
            self.state.letters.missing = -1
