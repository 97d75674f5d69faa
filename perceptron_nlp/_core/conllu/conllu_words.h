/* The words of a sentence of CoNLL-U, one after the other. */
#ifndef PERCEPTRON_NLP_CONLLU_WORDS_H
#define PERCEPTRON_NLP_CONLLU_WORDS_H

#include "conllu/conllu_usual.h"

#define NOT_WHOLE (-2)

/* Read lines from *at on to the next word, whose fields are then known. 1: a word; 0: the sentence
 * ends at *at, and all of it is usual; -1: unusual; NOT_WHOLE: the text ends before it. */
static inline int next_word(ConlluSentence *s, const uint8_t **at, const uint8_t *end,
                            Field *fields) {
    while (*at < end && **at != '\n') {
        if (take_usual_word(s, at, end, fields)) {
            s->n_lines++;
            return 1;
        }
        int cut = **at == '#' ? 0 : split_line(at, end, fields);
        if (!cut) return no_line(*at, end) ? NOT_WHOLE : -1;
        int kind = scan_fields(fields, s, cut == 1);
        if (!kind) return -1;
        s->n_lines++;
        if (kind == 1) return 1;
    }
    if (*at == end) return NOT_WHOLE;
    if (s->range_last > s->n_words || s->highest_head > s->n_words) return -1;
    for (uint32_t k = 0; k < s->n_deps; k++)
        if (!is_plain_deps(&s->deps[k], s)) return -1;
    return 0;
}

#endif
