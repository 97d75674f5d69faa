/* Sentences out of a buffer of UTF-8 and the offsets of its words. */
#ifndef PERCEPTRON_NLP_BUFFERS_H
#define PERCEPTRON_NLP_BUFFERS_H

#include "batch.h"
#include "utf8.h"

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
        WordRef word = tokens[i + 1] >= WORD_SMALL ? word_ref_inside(text, n, d->secrets)
                                                   : word_ref(text, n, d->secrets);
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

#endif
