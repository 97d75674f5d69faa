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

static inline SCORE NAMED(highest_of)(const SCORE *scores, int32_t n) {
    SCORE high = LOWEST;
    for (int32_t k = 0; k < n; k++) high = scores[k] > high ? scores[k] : high;
    return high;
}

/* The label whose whole scores best, and that score. */
static inline int32_t NAMED(best_whole)(const Parts *x, const SCORE *part_scores, SCORE *highest) {
    const SCORE *wholes = part_scores + x->n_pieces;
    int32_t at = 0;
    *highest = LOWEST;
    for (int32_t from = 0; from < x->n_labels; from += WHOLES_BLOCK) {
        const int32_t left = x->n_labels - from, n = left < WHOLES_BLOCK ? left : WHOLES_BLOCK;
        const SCORE high = NAMED(highest_of)(wholes + from, n);
        at = high > *highest ? from : at;
        *highest = high > *highest ? high : *highest;
    }
    while (wholes[at] < *highest) at++;
    return at;
}

/* Is a family below the highest score? `bound` is of its slots, `whole` of all wholes. */
static inline int NAMED(is_below)(const Parts *x, int32_t family, SCORE bound, SCORE whole,
                                  const SCORE *part_scores, SCORE highest) {
    SCORE own = LOWEST;
    if (x->n_pieces == x->n_parts) return bound < highest;
    if (bound + whole < highest) return 1;
    for (int32_t i = x->family_labels[family]; i < x->family_labels[family + 1]; i++) {
        const SCORE one = part_scores[x->n_pieces + x->members[i]];
        own = one > own ? one : own;
    }
    return bound + own < highest;
}

/* The label with the highest score of all but one (-1: of all); ties go to the lowest label.
 * -1 where there is none. scratch holds parts_scratch(x) scores; after the search scratch[leaf]
 * is the score of the label returned, and of the one left out. */
static inline int32_t NAMED(best_but)(const Parts *x, const SCORE *part_scores, int32_t but,
                                      SCORE *scratch) {
    SCORE *sums = scratch, *slots = scratch + x->parts.n, *bounds = slots + 2 * x->n_slots + 1;
    SCORE highest = LOWEST, whole = 0;
    int32_t best = -1, first = 0;
    if (x->n_families > 1) {
        for (int32_t r = 0; r < x->n_runs; r++) {
            SCORE high = LOWEST;
            for (int32_t p = x->run_start[r]; p < x->run_start[r + 1]; p++)
                high = part_scores[p] > high ? part_scores[p] : high;
            slots[x->run_slot[r]] = high;
        }
        for (int32_t s = 0; s < x->n_optional; s++)
            slots[x->n_slots + s] = slots[s] > 0 ? slots[s] : 0;
        bounds[-1] = 0;
        NAMED(tree_sums)(&x->slots, 0, x->slots.n, slots, bounds);
        if (x->n_pieces < x->n_parts) /* The best label is mostly of its family. */
            first = x->family[NAMED(best_whole)(x, part_scores, &whole)];
        for (int32_t f = 1; x->n_pieces == x->n_parts && f < x->n_families; f++)
            if (bounds[x->family_leaf[f]] > bounds[x->family_leaf[first]]) first = f;
        if (but >= 0) first = x->family[but];
    }
    NAMED(search_family)(x, first, part_scores, but, sums, &best, &highest);
    for (int32_t f = 0; f < x->n_families; f++)
        if (f != first &&
            !NAMED(is_below)(x, f, bounds[x->family_leaf[f]], whole, part_scores, highest))
            NAMED(search_family)(x, f, part_scores, but, sums, &best, &highest);
    return best;
}
