/* Labels made of parts, such as Case=Gen|Number=Plur: what is learnt are weights of parts, and a
 * label scores the sum of its parts. So labels share what they have in common, and one that was
 * never seen in training scores as its parts say.
 *
 * The parts of all labels stand in a tree: a label is the path from a root to its leaf, parts
 * ascending. One addition a node gives the scores of all labels.
 *
 *   labels  A|X  A|X|Y  B      leaf     1 2 3
 *   nodes   0:A  1:X  2:Y  3:B  parent  -1 0 1 -1 */
#ifndef PERCEPTRON_NLP_PARTS_H
#define PERCEPTRON_NLP_PARTS_H

#include <stdint.h>

typedef struct {
    int32_t n_labels, n_parts, n_nodes; /* n_nodes: 0 where labels have no parts */
    const int32_t *parent;              /* node -> the node before it, a lower number; -1: none */
    const int32_t *part;                /* node -> its part */
    const int32_t *leaf;                /* label -> its last node */
} Parts;

/* scores[label] out of part_scores; nodes is scratch for n_nodes. */
static inline void label_scores(const Parts *x, const double *part_scores, double *nodes,
                                double *scores) {
    for (int32_t i = 0; i < x->n_nodes; i++)
        nodes[i] = part_scores[x->part[i]] + (x->parent[i] < 0 ? 0 : nodes[x->parent[i]]);
    for (int32_t k = 0; k < x->n_labels; k++) scores[k] = nodes[x->leaf[k]];
}

/* The same in whole numbers. */
static inline void whole_label_scores(const Parts *x, const int32_t *part_scores, int32_t *nodes,
                                      int32_t *scores) {
    for (int32_t i = 0; i < x->n_nodes; i++)
        nodes[i] = part_scores[x->part[i]] + (x->parent[i] < 0 ? 0 : nodes[x->parent[i]]);
    for (int32_t k = 0; k < x->n_labels; k++) scores[k] = nodes[x->leaf[k]];
}

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
    for (;;) {
        int32_t one = walk->at[0], two = walk->at[1];
        if (one < 0 && two < 0) return 0;
        int32_t first = one < 0 ? -1 : x->part[one], second = two < 0 ? -1 : x->part[two];
        if (first >= second) walk->at[0] = x->parent[one];
        if (second >= first) walk->at[1] = x->parent[two];
        if (first == second) continue;
        *side = first < second;
        *part = first < second ? second : first;
        return 1;
    }
}

#endif
