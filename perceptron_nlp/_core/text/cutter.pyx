# cython: language_level=3, freethreading_compatible=True
"""Running text cut into sentences, tokens and words, in UTF-8 (cut.h)."""

from array import array

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from perceptron_nlp.errors import ArgumentError, MemoryLimitError

# A page that is not known yet.
cdef bytes UNKNOWN = bytes([5]) * 256
MOST_BYTES = (1 << 31) - 1
MOST_MATCHED = LONGEST_MATCH
# No label leads by more.
cdef int32_t MOST_LEAD = (1 << 31) - 1


cdef int _answer_signals() except -1 with gil:
    PyErr_CheckSignals()
    return 0


cdef class CharacterPages:
    """What characters are, 256 at a time, as they are met in texts.

    page_of : from a number to what 256 characters are, as bytes: see atoms.class_page
    """

    def __cinit__(self, page_of):
        cdef int k
        cdef const char *unknown = PyBytes_AS_STRING(UNKNOWN)
        self.pages, self.page_of = [], page_of
        self.known = <Characters *>malloc(sizeof(Characters))
        if self.known == NULL:
            raise MemoryLimitError("no memory to cut this text")
        for k in range(CHARACTER_PAGES):
            self.known.pages[k] = <const uint8_t *>unknown
        self.learn(0)

    def __dealloc__(self):
        free(self.known)

    cdef int learn(self, int page) except -1:
        cdef bytes classes = self.page_of(page)
        self.pages.append(classes)
        self.known.pages[page] = <const uint8_t *>PyBytes_AS_STRING(classes)
        return 0


cdef class TextAtoms:
    """The atoms of a text, and what is found in them without a model.

    Parameters
    ----------
    text, page_of : as for TextCutter

    Raises
    ------
    MemoryLimitError : no room for them, here and in all methods
    """

    cdef AtomList found
    cdef const uint8_t *at
    cdef bytes text

    def __cinit__(self, bytes text not None, page_of):
        cdef CharacterPages pages = CharacterPages(page_of)
        self.text, self.at = text, <const uint8_t *>PyBytes_AS_STRING(text)
        while list_atoms(&self.found, pages.known, self.at, PyBytes_GET_SIZE(text)) < 0:
            if self.found.missing < 0:
                raise MemoryLimitError("no memory for the atoms of this text")
            pages.learn(self.found.missing)

    def __dealloc__(self):
        free(self.found.atoms)

    def spans(self):
        """Return where the atoms begin and end, in characters, and the gap behind each: a number."""
        cdef size_t i, at = 0, n = 0, end
        cdef list edges = []
        for i in range(2 * self.found.n):
            end = self.found.atoms[i // 2].end if i % 2 else self.found.atoms[i // 2].begin
            while at < end:
                n += (self.at[at] & 0xC0) != 0x80
                at += 1
            edges.append(n)
        gaps = bytes([self.found.atoms[i].gap for i in range(self.found.n)])
        return list(zip(edges[::2], edges[1::2])), gaps[:-1] + bytes([GAP_PARAGRAPH])[:len(gaps)]

    def patterns(self):
        """Return the patterns, each the number of its kind and its atoms: (kind, begin, end)."""
        cdef Chunk chunk
        cdef size_t first = 0, i
        cdef int64_t begin, end
        cdef int kind
        cdef list patterns = []
        for i in range(self.found.n):
            if self.found.atoms[i].gap == GAP_NOTHING and i + 1 < self.found.n:
                continue
            chunk = Chunk(self.at, self.found.atoms + first, i + 1 - first, 0, 0)
            kind = next_pattern(&chunk, &begin, &end)
            while kind >= 0:
                patterns.append((kind, first + begin, first + end))
                kind = next_pattern(&chunk, &begin, &end)
            first = i + 1
        return patterns

    def marks(self):
        """Return what marks alone say: (kind, atom, ends_sentence), a kind after the other.

        Behind an atom that is given a sentence ends, or a token and no sentence.
        """
        cdef const Atom *atoms = self.found.atoms
        cdef list marks = []
        cdef size_t i
        cdef int kind
        for kind in range(PATTERN_ORDINAL, PATTERN_COUNT):
            if settle_kind(kind, self.at, self.found.atoms, self.found.n) < 0:
                raise MemoryLimitError("no memory to cut this text")
            for i in range(self.found.n):
                if atoms[i].label > 0 and atoms[i].gap != GAP_PARAGRAPH and i + 1 < self.found.n:
                    marks.append((kind, i, atoms[i].label > 1))
        return marks

    def matches(self, entries):
        """Return what the words of a dictionary say of the places behind the atoms (matches.h)."""
        cdef Places words
        cdef Match *found = NULL
        cdef uint8_t[16] shown
        cdef size_t i
        cdef list matches = []
        memset(&words, 0, sizeof(Places))
        try:
            found = <Match *>calloc(self.found.n + 1, sizeof(Match))
            if found == NULL:
                raise MemoryLimitError("no memory for the atoms of this text")
            _open_entries(&words, entries)
            find_matches(&words, self.at, self.found.atoms, self.found.n, found)
            for i in range(self.found.n):
                show_match(self.found.atoms, self.found.n, found, i, shown)
                matches.append((<char *>shown)[:MATCH_BYTES].decode("ascii"))
        finally:
            places_close(&words)
            free(found)
        return matches


cdef int _open_entries(Places *into, entries) except -1:
    """Make a trie of words."""
    cdef bytes word
    cdef uint32_t n_nodes = 0
    if places_open(into, sum(map(len, entries)), draw_secret()) < 0:
        raise MemoryLimitError("no memory for the segmentation")
    for word in entries:
        add_entry(into, <const uint8_t *>PyBytes_AS_STRING(word), PyBytes_GET_SIZE(word), &n_nodes)
    return 0


cdef class TextCutter:
    """What cuts texts, from any number of threads.

    Parameters
    ----------
    cut : decoder of atoms, of at most three labels among I, T and S, greedy and from left to right
    certain : labels of certain places, by the numbers of how the atoms about them look and the gap
        between: see atoms.place_numbers
    words : (look, hash, labels) of what words and endings know of the places beside them: see atoms.word_numbers
    small : (hash, class) of words by how often training has them in small letters
    page_of : from a number to what 256 characters are, as bytes: see atoms.class_page
    splits : None, or a decoder of tokens
    scripts : what each of its labels makes of a token: None for the token itself, (lengths of the
        words, 0 for the stem), or (characters dropped, what is added, further words)
    stems : (hash, the hash of the only token or 1) of each stem that the column of splits is made of
    cuts : of each letter of that column the characters before and behind a stem; at most 26
    window : characters of the atoms of a sentence, after which it is over
    held : kinds of patterns that go on within, a bit each, in the order of patterns.h
    entries : words of a dictionary, in UTF-8, of at most LONGEST_MATCH characters, if that
        is the third column; else None
    abbreviations : the hashes of abbreviations as they are written, without the last full stop
    lead : None, or by how much one label must lead in what the nearest atoms say for a place to be
        asked nothing else; in the units of the decoder's weights
    parted : full stops are cut off abbreviations
    uncapitalized : words that may begin sentences in text without capitals are seen as they are
    wrapped : line breaks are white space; else those end a sentence that leave room in their line
    reading : None, or how words are read (reading.h): (a letter, the same with an accent) in code
        points, below 0x400 and 0x2000, those of a letter together, the most frequent first; the
        upper halves of the hashes of words, ascending; the number of letters of which one would
        have an accent; and whether I is the capital of dotless i

    Raises
    ------
    ArgumentError : the decoders do not fit
    """

    def __cinit__(self, SentenceDecoder cut not None, certain, words, small, page_of,
                  SentenceDecoder splits, scripts, stems, cuts, uint32_t window,
                  uint64_t held, entries=None, abbreviations=(),
                  lead=None, bint parted=False, bint uncapitalized=False, bint wrapped=False,
                  reading=None):
        cdef size_t k = 0
        labels = cut.labels
        self.idle, self.free, self.kept_alive, self.page_of = [], [], [], page_of
        self.cut, self.splits = cut, splits
        if (not {*labels} <= {*"ITS"} or cut.program.program.n_columns > CUT_COLUMNS
                or cut.decoder.right_to_left or cut.decoder.beam != 1 or cut.decoder.layout.forces
                or cut.decoder.parts != NULL or not cut.decoder.layout.dense):
            raise ArgumentError("cut: a plain decoder of atoms and gaps is needed")
        if splits is not None and (splits.program.program.n_columns > 2
                                   or len(scripts) != len(splits.labels)):
            raise ArgumentError("splits: a decoder of tokens and stems is needed")
        cut.decoder.layout.most_types = CUT_MOST_TYPES
        numbers = [labels.index(label) if label in labels else len(labels) + number
                   for number, label in enumerate("ITS")]
        self.model.goes_on, self.model.token, self.model.sentence = numbers
        self.model.has_matches = entries is not None
        _open_entries(&self.model.entries, entries or ())
        if (cut_model_open(&self.model, &cut.decoder, cut.seen_as('"') == '"') < 0
                or places_open(&self.model.certain, len(certain), draw_secret()) < 0
                or places_open(&self.model.words, len(words), draw_secret()) < 0
                or places_open(&self.model.small, len(small), draw_secret()) < 0
                or places_open(&self.model.abbreviations, len(abbreviations), draw_secret()) < 0
                or places_open(&self.stems.known, len(stems), draw_secret()) < 0):
            raise MemoryLimitError("no memory for the segmentation")
        self.model.window_characters, self.model.held = window, held
        self.model.lead = MOST_LEAD if lead is None else min(lead, MOST_LEAD)
        for (last, gap, first), label in certain.items():
            places_add(&self.model.certain, place_key(last, gap, first),
                       <uint32_t>(1 + numbers["ITS".index(label)]))
        for look, hashed, known in words:
            places_add(&self.model.words, word_key(hashed, look), known)
        for hashed, count in small:
            places_add(&self.model.small, word_key(hashed, 0), count)
        for hashed in abbreviations:
            places_add(&self.model.abbreviations, word_key(hashed, 0), 1)
        self.model.is_parted, self.model.is_wrapped = parted, wrapped
        self.model.is_uncapitalized = uncapitalized
        self.model.has_abbreviations = len(abbreviations) > 0
        for hashed, only in stems:
            places_add(&self.stems.known, word_key(hashed, 0), only)
        self.stems.n_cuts = len(cuts)
        for k, (front, back) in enumerate(cuts):
            self.stems.cuts[k][0], self.stems.cuts[k][1] = front, back
        for k in range(3):
            self.model.word_labels[1 + k] = numbers[k]
        self.scripts = <SplitScript *>calloc(len(scripts) + 1, sizeof(SplitScript))
        if self.scripts == NULL:
            raise MemoryLimitError("no memory for the segmentation")
        for k, script in enumerate(scripts):
            self._script(&self.scripts[k], script)
        if reading is not None:
            accents, vocabulary, least, turkic = reading
            self._read_by(accents, vocabulary, least, turkic)

    cdef int _read_by(self, accents, const uint32_t[::1] vocabulary, uint32_t least,
                      bint turkic) except -1:
        cdef size_t k, n = len(accents), n_words = vocabulary.shape[0]
        if reading_open(&self.reading, n, n_words) < 0:
            raise MemoryLimitError("no memory for the segmentation")
        for k, (plain, accented) in enumerate(accents):
            if not 0 < plain < 0x400 or not 0 < accented < 0x2000:
                raise ArgumentError("reading: accents of letters that are none")
            self.reading.accents[k] = Accent(plain, accented)
        for k in range(n_words):
            self.reading.vocabulary[k] = vocabulary[k]
        reading_ready(&self.reading, n, n_words, least)
        self.reading.turkic = turkic
        return 0

    cdef int _script(self, SplitScript *own, script) except -1:
        cdef const uint32_t[::1] lengths
        cdef bytes text
        cdef uint32_t k
        own.n_words = 1
        if script is None:
            return 0
        if len(script) == 1:
            numbers = array("I", script[0])
            self.kept_alive.append(numbers)
            lengths = numbers
            own.lengths = &lengths[0]
            own.n_words = len(script[0])
            return 0
        dropped, added, words = script
        text = added + b"".join(words)
        self.kept_alive.append(text)
        own.text = <const uint8_t *>PyBytes_AS_STRING(text)
        own.dropped, own.added, own.n_words = dropped, len(added), 1 + len(words)
        own.pieces[0] = own.added
        for k in range(len(words)):
            own.pieces[k + 1] = own.pieces[k] + <uint32_t>len(words[k])
        return 0

    def __dealloc__(self):
        cut_model_close(&self.model)
        reading_close(&self.reading)
        places_close(&self.stems.known)
        free(self.scripts)

    def cut_text(self, bytes text not None, bint at_end, bytes labels=b"", size_t n_before=0,
                 bytes line=b""):
        """Cut a text, or the beginning of one, or one that goes on; see CutText.

        Parameters
        ----------
        text : UTF-8, in which lone surrogates may stand as three bytes, below 2^31 bytes
        at_end : nothing follows it
        labels, n_before, line : what CutText.rest said of the text whose rest it begins with

        Raises
        ------
        MemoryLimitError : no room for it
        """
        cdef CutText found
        cdef Cutting cutting
        try:
            found = self.idle.pop()
        except IndexError:
            found = CutText()
        try:
            cutting = self.free.pop()
        except IndexError:
            cutting = Cutting(self)
        # The object may have cut another text before.
        memset(&found.found.line, 0, sizeof(Line))
        if len(line) == sizeof(Line):
            memcpy(&found.found.line, PyBytes_AS_STRING(line), sizeof(Line))
        cutting.cut(found, text, at_end, labels, n_before)
        self.free.append(cutting)
        return found

    def as_read(self, words):
        """Return the words of a sentence as they are read."""
        cdef uint8_t[4 * LONGEST_READ] to
        cdef Hand seen
        cdef uint32_t n
        cdef int hand
        cdef bytes text
        if not self.reading.n_words:
            return words
        memset(&seen, 0, sizeof(Hand))
        texts = [word.encode("utf-8", "surrogatepass") for word in words]
        for text in texts:
            look_at(&self.reading, &seen, <const uint8_t *>PyBytes_AS_STRING(text), len(text))
        hand = hand_of(&self.reading, &seen)
        found = []
        for word, text in zip(words, texts):
            n = read_as(&self.reading, hand, <const uint8_t *>PyBytes_AS_STRING(text), len(text), to)
            found.append((<bytes>to[:n]).decode("utf-8", "surrogatepass") if n else word)
        return found

    def give_back(self, CutText found not None):
        """Let the memory of a text be used again; nothing may be asked of it any more."""
        self.idle.append(found)


cdef class Cutting:
    """What one thread at a time takes to cut texts; texts that wait to be written need no such memory."""

    def __cinit__(self, TextCutter cutter not None):
        self.cutter, self.pages = cutter, CharacterPages(cutter.page_of)
        self.cut_box = cutter.cut.take()
        self.use = cutter.cut.memory.enter(SUM_COST)
        if cutter.splits is not None:
            self.split_box = cutter.splits.take()

    def __dealloc__(self):
        sums_close(&self.sums)

    cdef int cut(self, CutText into, bytes text, bint at_end, bytes labels,
                 size_t n_before) except -1:
        """Cut a text; see TextCutter.cut_text."""
        cdef const uint8_t *at = <const uint8_t *>PyBytes_AS_STRING(text)
        cdef const uint8_t *given = <const uint8_t *>PyBytes_AS_STRING(labels)
        cdef size_t n = PyBytes_GET_SIZE(text)
        cdef int status = -1
        cdef Cut *found = &into.found
        cdef TextWords *words = &into.words
        cdef const Characters *known = self.pages.known
        cdef Worker *w = &self.cut_box.worker
        into.text = text
        found.n_before, found.n_labeled = n_before, PyBytes_GET_SIZE(labels)
        found.sums = &self.sums
        found.poll = _answer_signals
        if n > MOST_BYTES:
            raise ArgumentError(f"text: has {n:,} bytes; the limit is {MOST_BYTES:,}")
        while status < 0:
            with nogil:
                status = cut_text(&self.cutter.model, found, w, known, at, n, at_end,
                                  given)
            if status < 0 and found.list.missing < 0:
                raise MemoryLimitError("no memory to cut this text; give less at a time")
            if status < 0:
                self.pages.learn(found.list.missing)
                found.list.missing = -1
        with nogil:
            status = words_of_tokens(words, found, at)
        if status == 0 and self.split_box is not None:
            w = &self.split_box.worker
            with nogil:
                status = split_words(words, found, at, &self.cutter.splits.decoder, w,
                                     self.cutter.scripts, &self.cutter.stems)
        if status == 0:
            with nogil:
                status = read_words(&self.cutter.reading, words, found, at)
        found.sums = NULL
        if status < 0:
            raise MemoryLimitError("no memory to cut this text; give less at a time")
        return 0


cdef class CutText:
    """A text in sentences, tokens and words."""

    def __dealloc__(self):
        cut_close(&self.found)
        text_words_close(&self.words)

    @property
    def taken(self):
        """(bytes, characters) from the front that are done with; the rest begins a text to go on."""
        return self.found.taken, self.found.taken_chars

    @property
    def rest(self):
        """(labels of the first atoms of the rest, how many of these sentences have already, and
        what the lines before are like).
        """
        cdef size_t k, first = self.found.kept
        cdef const Atom *atoms = self.found.list.atoms
        labels = bytes([atoms[first + k].label for k in range(self.found.kept_labels)])
        line = PyBytes_FromStringAndSize(<const char *>&self.found.line, sizeof(Line))
        return labels, self.found.kept_before, line

    @property
    def n_sentences(self):
        """Number of sentences."""
        return self.found.n_sentences

    def spans(self):
        """Return where the sentences begin and end, in characters."""
        cdef size_t s
        return [(self.found.tokens[self.found.sentences[s]].char_begin,
                 self.found.tokens[self.found.sentences[s + 1] - 1].char_end)
                for s in range(self.found.n_sentences)]

    def sentences(self):
        """Return the sentences, each a list of tokens: (begin, end, words), in characters."""
        cdef size_t s, k
        cdef const CutToken *token
        cdef list all_sentences = [], sentence
        for s in range(self.found.n_sentences):
            sentence = []
            for k in range(self.found.sentences[s], self.found.sentences[s + 1]):
                token = &self.found.tokens[k]
                words = tuple(self._words_of(k, []))
                sentence.append((token.char_begin, token.char_end, words))
                # They are in no circle, and the collector would look at all of them.
                PyObject_GC_UnTrack(<PyObject *>words)
                PyObject_GC_UnTrack(<PyObject *>sentence[-1])
            all_sentences.append(sentence)
        return all_sentences

    def word_list(self):
        """Return the words in a row; a token that is not its words side by side is one."""
        cdef size_t n_sentences = self.found.n_sentences, k
        cdef list found = []
        for k in range(self.found.sentences[n_sentences] if n_sentences else 0):
            self._words_of(k, found)
            n = <Py_ssize_t>(self.words.first[k + 1] - self.words.first[k])
            if n > 1:
                whole = self.text[self.found.tokens[k].begin:self.found.tokens[k].end]
                whole = whole.decode("utf-8", "surrogatepass")
                if "".join(found[-n:]) != whole:
                    found[-n:] = [whole]
        return found

    cdef list _words_of(self, size_t token, list into):
        """The list with the words of a token behind it."""
        cdef const uint8_t *text = <const uint8_t *>PyBytes_AS_STRING(self.text)
        cdef TextWord word
        cdef size_t i
        for i in range(self.words.first[token], self.words.first[token + 1]):
            word = self.words.words[i]
            into.append(PyUnicode_DecodeUTF8(
                <const char *>text_word_bytes(&self.words, text, word), word.length,
                "surrogatepass"))
        return into
