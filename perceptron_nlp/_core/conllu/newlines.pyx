# cython: language_level=3
# cython: freethreading_compatible=True
"""Lines of a text counted."""

from libc.stdint cimport uint8_t

cdef extern from *:
    """
    /* In pieces short enough for a byte to count, which compilers turn into vectors. */
    static size_t count_newlines_of(const uint8_t *p, size_t n) {
        size_t count = 0;
        while (n) {
            size_t piece = n < 4080 ? n : 4080;
            uint8_t some[16] = {0};
            size_t i = 0;
            for (; i + 16 <= piece; i += 16)
                for (int k = 0; k < 16; k++) some[k] = (uint8_t)(some[k] + (p[i + k] == 10));
            for (; i < piece; i++) count += p[i] == 10;
            for (int k = 0; k < 16; k++) count += some[k];
            p += piece;
            n -= piece;
        }
        return count;
    }
    """
    size_t count_newlines_of(const uint8_t *p, size_t n) nogil


def count_newlines(const uint8_t[::1] text not None):
    """How many line feeds are in some bytes."""
    return count_newlines_of(&text[0], text.shape[0]) if text.shape[0] else 0
