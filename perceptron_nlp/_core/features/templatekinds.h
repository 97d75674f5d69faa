/* How a template can be looked up, going by what it looks at. */
#ifndef PERCEPTRON_NLP_TEMPLATEKINDS_H
#define PERCEPTRON_NLP_TEMPLATEKINDS_H

#include "features/program.h"

#define EACH_ATOM(p, template_id, atom)                                 \
    (const AtomSpec *atom = (p)->atoms + (p)->atom_starts[template_id]; \
     atom < (p)->atoms + (p)->atom_starts[(template_id) + 1]; atom++)

/* Does it give a word any number of features? */
static inline int looks_at_many(const Program *p, int32_t template_id) {
    for
        EACH_ATOM(p, template_id, atom)
    if (atom->kind == ATOM_VALUE && is_many(&p->values[atom->value])) return 1;
    return 0;
}

/* Is it of two neighbouring words alone? *left is where the left one stands. */
static inline int is_pair(const Program *p, int32_t template_id, int32_t *left) {
    int32_t low = MAX_REACH, high = -MAX_REACH;
    for
        EACH_ATOM(p, template_id, atom) {
            if (atom->kind != ATOM_VALUE || p->value_column[atom->value]) return 0;
            if (atom->offset < low) low = atom->offset;
            if (atom->offset > high) high = atom->offset;
        }
    *left = low;
    return high == low + 1;
}

/* Is a pair of one value of the left word, then one of the right? Which carried ones. */
static inline int is_plain_pair(const Program *p, int32_t template_id, int32_t *left,
                                int32_t *right) {
    const AtomSpec *first = p->atoms + p->atom_starts[template_id], *second = first + 1;
    if (p->atom_starts[template_id + 1] - p->atom_starts[template_id] != 2) return 0;
    if (first->offset > second->offset) return 0;
    *left = p->carried_at[first->value];
    *right = p->carried_at[second->value];
    return 1;
}

/* Is it of the labels given before alone, and none that is farther back than `deepest`? */
static inline int is_of_tags(const Program *p, int32_t template_id, int32_t deepest) {
    for
        EACH_ATOM(p, template_id, atom)
    if (atom->kind != ATOM_TAG || atom->value > deepest) return 0;
    return 1;
}

/* Is it of the label before and of values of the word itself, and nothing else? */
static inline int is_of_word_and_tag(const Program *p, int32_t template_id) {
    for
        EACH_ATOM(p, template_id, atom) {
            if (atom->kind == ATOM_TAG && atom->value == 1) continue;
            if (atom->kind != ATOM_VALUE || atom->offset || p->value_column[atom->value]) return 0;
        }
    return 1;
}

#endif
