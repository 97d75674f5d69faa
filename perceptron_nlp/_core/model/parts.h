/* Labels made of parts, such as Case=Gen|Number=Plur: what is learned are weights of parts, and a
 * label scores the sum of its parts. So labels share what they have in common, and one that was
 * never seen in training scores as its parts say.
 *
 * The parts of all labels stand in trees: a label is the path from a root to its leaf, parts
 * ascending. One addition a node gives the scores of all labels.
 *
 *   labels  A|X  A|X|Y  B      leaf     1 2 3
 *   nodes   0:A  1:X  2:Y  3:B  parent  -1 0 1 -1
 *
 * Where there are many labels, most need not be scored. Each part fills a slot (Case=Gen the slot
 * Case), but for the last, wholes of one label each; labels with something in common are a family.
 * Its bound, the sum of the best part for each slot that its labels fill, or of 0 where not all fill
 * it and that is more, and of its best whole, is no less than any of its labels' scores, roundings
 * included, because both are summed in the same order; so families whose bound is below the best label
 * so far are passed over, most of them with the best whole of all. */
#pragma once

#include <float.h>
#include <stdint.h>

/* Nodes in order, each after its parent; the path to a node is a list of numbers. */
typedef struct {
    int32_t n;
    const int32_t *parent; /* node -> the node before it, a lower number; -1: none */
    const int32_t *number; /* node -> the last number of its list */
} Tree;

typedef struct {
    int32_t n_labels, n_parts, n_pieces, n_slots, n_runs, n_families;
    int32_t n_optional;           /* the last slot that not all labels of some family fill, and 1 */
    Tree parts;                   /* of the labels; the nodes of a family stand together */
    const int32_t *leaf;          /* label -> its node */
    const int32_t *run_slot;      /* run of pieces, parts before wholes -> the slot they fill */
    const int32_t *run_start;     /* run -> its first part; one more at the end */
    Tree slots;                   /* of the families; slot + n_slots where not all fill it */
    const int32_t *family_leaf;   /* family -> its node; -1: it fills none */
    const int32_t *family;        /* label -> its family */
    const int32_t *family_nodes;  /* family -> the first of its nodes; one more at the end */
    const int32_t *family_labels; /* family -> the first of its labels in members; one more */
    const int32_t *members;       /* labels, family by family */
} Parts;

/* How many scores a search needs as scratch. */
static inline int32_t parts_scratch(const Parts *x) {
    return x->parts.n + 2 * x->n_slots + 1 + x->slots.n;
}

#define WHOLES_BLOCK 64

#define SCORE double
#define LOWEST (-DBL_MAX)
#define NAMED(name) name
#include "model/parts_search.h"
#undef SCORE
#undef LOWEST
#undef NAMED

#define SCORE int32_t
#define LOWEST INT32_MIN
#define NAMED(name) whole_##name
#include "model/parts_search.h"
#undef SCORE
#undef LOWEST
#undef NAMED

/* The parts that one of two labels has and the other has not, the highest first; a step sets
 * *part and *side (0: the first label has it), and returns 0 at the end. */
typedef struct {
    int32_t at[2];
} PartWalk;

static inline PartWalk parts_differing(const Parts *x, int32_t one, int32_t two) {
    PartWalk walk = {{x->leaf[one], x->leaf[two]}};
    return walk;
}

static inline int next_difference(const Parts *x, PartWalk *walk, int32_t *part, int *side) {
    const Tree *t = &x->parts;
    for (;;) {
        int32_t one = walk->at[0], two = walk->at[1];
        if (one < 0 && two < 0) return 0;
        int32_t first = one < 0 ? -1 : t->number[one], second = two < 0 ? -1 : t->number[two];
        if (first >= second) walk->at[0] = t->parent[one];
        if (second >= first) walk->at[1] = t->parent[two];
        if (first == second) continue;
        *side = first < second;
        *part = first < second ? second : first;
        return 1;
    }
}
