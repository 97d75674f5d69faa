/* The scores of labels made of parts, and the best of them, in numbers of type SCORE, the lowest
 * of which is LOWEST; parts.h takes this in once for each type. */

/* sums[node] for the nodes from one to another: its own number's score and its ancestors'. */
static inline void NAMED(tree_sums)(const Tree *t, int32_t from, int32_t to, const SCORE *scores,
                                    SCORE *sums) {
    for (int32_t i = from; i < to; i++)
        sums[i] = scores[t->number[i]] + (t->parent[i] < 0 ? 0 : sums[t->parent[i]]);
}

/* The score of a label out of part_scores. */
static inline SCORE NAMED(label_score)(const Parts *x, const SCORE *part_scores, int32_t label) {
    SCORE sum = 0;
    for (int32_t node = x->leaf[label]; node >= 0; node = x->parts.parent[node])
        sum += part_scores[x->parts.number[node]];
    return sum;
}

/* scores[label] out of part_scores; sums is scratch for one score a node. */
static inline void NAMED(label_scores)(const Parts *x, const SCORE *part_scores, SCORE *sums,
                                       SCORE *scores) {
    NAMED(tree_sums)(&x->parts, 0, x->parts.n, part_scores, sums);
    for (int32_t k = 0; k < x->n_labels; k++) scores[k] = sums[x->leaf[k]];
}

/* Score the labels of a family; *best becomes the one with the highest score, the first of
 * several, if it beats what it was (-1: nothing yet). */
static inline void NAMED(search_family)(const Parts *x, int32_t family, const SCORE *part_scores,
                                        int32_t but, SCORE *sums, int32_t *best, SCORE *highest) {
    NAMED(tree_sums)
    (&x->parts, x->family_nodes[family], x->family_nodes[family + 1], part_scores, sums);
    for (int32_t i = x->family_labels[family]; i < x->family_labels[family + 1]; i++) {
        int32_t label = x->members[i];
        SCORE score = sums[x->leaf[label]];
        if (score < *highest || label == but) continue;
        if (*best >= 0 && score == *highest && label > *best) continue;
        *best = label;
        *highest = score;
    }
}

/* The label with the highest score of all but one (-1: of all); ties go to the lowest label.
 * -1 where there is none. scratch holds parts_scratch(x) scores; after the search scratch[leaf]
 * is the score of the label returned, and of the one left out. */
static inline int32_t NAMED(best_but)(const Parts *x, const SCORE *part_scores, int32_t but,
                                      SCORE *scratch) {
    SCORE *sums = scratch, *slots = scratch + x->parts.n, *bounds = slots + 2 * x->n_slots;
    SCORE highest = LOWEST;
    int32_t best = -1, first = 0;
    if (x->n_families > 1) {
        for (int32_t s = 0; s < x->n_slots; s++) slots[s] = LOWEST;
        for (int32_t r = 0; r < x->n_runs; r++) {
            SCORE high = slots[x->run_slot[r]];
            for (int32_t p = x->run_start[r]; p < x->run_start[r + 1]; p++)
                high = part_scores[p] > high ? part_scores[p] : high;
            slots[x->run_slot[r]] = high;
        }
        for (int32_t s = 0; s < x->n_optional; s++)
            slots[x->n_slots + s] = slots[s] > 0 ? slots[s] : 0;
        NAMED(tree_sums)(&x->slots, 0, x->slots.n, slots, bounds);
        for (int32_t f = 1; but < 0 && f < x->n_families; f++)
            if (bounds[x->family_leaf[f]] > bounds[x->family_leaf[first]]) first = f;
        if (but >= 0) first = x->family[but];
    }
    NAMED(search_family)(x, first, part_scores, but, sums, &best, &highest);
    for (int32_t f = 0; f < x->n_families; f++)
        if (f != first && !(bounds[x->family_leaf[f]] < highest))
            NAMED(search_family)(x, f, part_scores, but, sums, &best, &highest);
    return best;
}
