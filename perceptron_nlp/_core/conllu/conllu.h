/* The words of CoNLL-U text taken into a batch, and the field of each that is to be filled in. */
#ifndef PERCEPTRON_NLP_CONLLU_H
#define PERCEPTRON_NLP_CONLLU_H

#include "tag/batch.h"
#include "conllu/conllu_words.h"
#include "conllu/gaps.h"
#include "features/utf8.h"

/* Take the words of one sentence into the batch, and the gaps to be filled. `at` is where its
 * lines begin. Where it ends; NULL: unusual. *status is set to -1 where there is no memory. */
static inline const uint8_t *scan_sentence(const Decoder *d, Worker *w, ConlluSentence *s,
                                           const uint8_t *text, const uint8_t *at,
                                           const uint8_t *end, int column, Gap *gaps, int *status) {
    Field fields[CONLLU_COLUMNS];
    int more;
    sentence_begin(s);
    while ((more = next_word(s, &at, end, fields)) > 0) {
        const Field *field = &fields[column];
        Gap *gap = &gaps[w->n_tokens];
        gap->begin = (size_t)(field->text - text);
        gap->end = gap->begin + field->length;
        const uint8_t *form = fields[C_FORM].text;
        WordRef word = word_ref_within(text, form, fields[C_FORM].length, d->secrets);
        if (batch_room(d, &w->batch, 1) < 0 || batch_word(d, &w->batch, 0, word, form) < 0) {
            *status = -1;
            return NULL;
        }
    }
    return more < 0 ? NULL : at;
}

#endif
