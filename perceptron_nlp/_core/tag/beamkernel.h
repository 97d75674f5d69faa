/* Beam search over scores of 16 bits, several sentences side by side. Included by kernel.h once for
 * each form that has such scores; finds what train/beam.h finds.
 *
 * A candidate is one number of 32 bits: BEAM_UNIT times what it scores less than the best state so
 * far; below that 63 less its label, and 7 less the place of the state that it extends. So of any
 * candidates the one to be taken first is the largest. States that remember the same label stand
 * together, in the order of the best of each such group; so the largest is that of train/beam.h
 * among equal scores, too.
 *
 * No state is 2^17 or more behind the best: in two steps the best one has extensions by every two
 * labels, each of which loses less than 2^16 at each step, and a state remembers no more than two.
 *
 *   EIGHT_TYPE, EIGHT(name)   eight candidates, and what is done with them (packed.h) */

/* The best candidates of all states for the token at hand, the first `width` of each of eight
 * lanes, sorted. -1: no memory. */
KERNEL_TARGET static ALWAYS_INLINE int KERNEL(score_states)(const Decoder *d, Worker *w,
                                                            BeamLane *b, const EIGHT_TYPE *rank,
                                                            EIGHT_TYPE *top, int parts,
                                                            int mask_words, int width) {
    static const SCORE NOTHING[MAX_PARTS * LANES] = {0};
    const CacheLayout *l = &d->layout;
    const size_t bytes = (size_t)parts * sizeof(PART), n = (size_t)l->table->n_labels + 1;
    const PART *fixed = (const PART *)(const void *)(w->scores + (size_t)b->lane.token * bytes);
    const PART *tags[NARROW_BEAM], *memo[NARROW_BEAM];
    const EIGHT_TYPE lowest = EIGHT(spread)(INT32_MIN);
    uint32_t *memos = l->n_memos ? w->cache.memos + (size_t)*b->lane.type * n : NULL;
    for (int s = 0; s < width && memos; s++) {
        uint32_t *own = memos + b->past[0][s];
        b->lane.past[0] = b->past[0][s];
        if (*own == MEMO_UNKNOWN && KERNEL(learn_memo)(d, w, &b->lane, own, parts, mask_words) < 0)
            return -1;
    }
    for (int s = 0; s < width; s++) {
        const char *of_tags = (const char *)NOTHING, *of_word = (const char *)NOTHING;
        const size_t at = (size_t)b->past[0][s] * n + (size_t)b->past[1][s];
        if (d->tag_table) of_tags = (const char *)d->tag_table + at * bytes;
        if (memos) of_word = w->cache.pool + (size_t)memos[b->past[0][s]] * bytes;
        tags[s] = (const PART *)(const void *)of_tags;
        memo[s] = (const PART *)(const void *)of_word;
    }
    for (int s = 0; s < width; s++) top[s] = lowest;
    for (int p = 0; p < parts; p++) {
        EIGHT_TYPE one[NARROW_BEAM];
        for (int s = 0; s < width; s++) {
            PART sum = fixed[p];
            PART_ADD(sum, tags[s][p]);
            PART_ADD(sum, memo[s][p]);
            one[s] = EIGHT(add)(EIGHT(widen)(&sum, BEAM_UNIT),
                                EIGHT(add)(rank[p], EIGHT(spread)(b->behind[s])));
        }
        for (int s = width - 2; s >= 0; s--) {
            const EIGHT_TYPE alike = EIGHT(spread)(b->alike[s]);
            one[s] = EIGHT(max)(one[s], EIGHT(pick)(alike, one[s + 1], lowest));
            one[s + 1] = EIGHT(pick)(alike, lowest, one[s + 1]);
        }
        for (int s = 0; s < width; s++) {
            const int last = p ? width - 1 : s;
            for (int r = 0; r <= last; r++) {
                const EIGHT_TYPE less = EIGHT(min)(top[r], one[s]);
                top[r] = EIGHT(max)(top[r], one[s]);
                one[s] = less;
            }
        }
    }
    return 0;
}

/* Extend all states of a sentence by the token at hand and keep the best. -1: no memory. */
KERNEL_TARGET static ALWAYS_INLINE int KERNEL(beam_token)(const Decoder *d, Worker *w, BeamLane *b,
                                                          const EIGHT_TYPE *rank, int parts,
                                                          int mask_words, int width) {
    EIGHT_TYPE top[NARROW_BEAM];
    int32_t chosen[NARROW_BEAM], labels[NARROW_BEAM], first[NARROW_BEAM], older[NARROW_BEAM];
    if (KERNEL(score_states)(d, w, b, rank, top, parts, mask_words, width) < 0) return -1;
    int n = 0;
    for (; n < width; n++) {
        const EIGHT_TYPE best = EIGHT(largest)(top[0]), taken = EIGHT(equal)(top[0], best);
        for (int r = 0; r + n + 1 < width; r++) top[r] = EIGHT(pick)(taken, top[r + 1], top[r]);
        chosen[n] = EIGHT(first)(best);
        if (chosen[n] < BEAM_LEAST) break;
    }
    for (; n < width; n++) chosen[n] = chosen[0] + ABSENT_STATE;
    for (int r = 0; r < width; r++)
        labels[r] = BEAM_LABELS - 1 - (int32_t)((uint32_t)chosen[r] / NARROW_BEAM % BEAM_LABELS);
    for (int r = 0; r < width; r++) {
        first[r] = r;
        for (int q = r - 1; q >= 0; q--) first[r] = labels[q] == labels[r] ? q : first[r];
        first[r] = first[r] * NARROW_BEAM + r;
    }
    memcpy(older, b->past[0], sizeof older);
    uint16_t *back = w->back + (size_t)b->lane.token * (size_t)width;
    for (int r = 0; r < width; r++) {
        const int32_t parent = NARROW_BEAM - 1 - (chosen[r] & (NARROW_BEAM - 1));
        int at = 0;
        for (int q = 0; q < width; q++) at += first[q] < first[r];
        b->past[0][at] = labels[r];
        b->past[1][at] = older[parent];
        b->behind[at] =
            (chosen[r] | (BEAM_UNIT - 1)) - (chosen[0] | (BEAM_UNIT - 1)) + NARROW_BEAM - 1 - at;
        back[at] = (uint16_t)(labels[r] * NARROW_BEAM + parent);
    }
    for (int s = 0; s + 1 < width; s++)
        b->alike[s] =
            -(int32_t)((d->layout.program->depth < 2) | (b->past[0][s] == b->past[0][s + 1]));
    return 0;
}

/* Fetch what the states say to the next token of their sentence. */
KERNEL_TARGET static ALWAYS_INLINE void
KERNEL(fetch_states)(const Decoder *d, const Worker *w, const BeamLane *b, int parts, int width) {
    const CacheLayout *l = &d->layout;
    const TypeCache *c = &w->cache;
    const size_t n = (size_t)l->table->n_labels + 1;
    uint32_t *memos = c->memos + (size_t)*b->lane.type * n;
    for (int s = 0; s < width; s++) {
        uint32_t *own = memos + b->past[0][s];
        if (*own == MEMO_UNKNOWN && memo_is_nothing(l, c, *b->lane.type, b->past[0][s])) *own = 0;
        if (*own != MEMO_UNKNOWN)
            PREFETCH(c->pool + (size_t)*own * (size_t)parts * sizeof(PART));
        else
            memo_fetch(l, c, 0, *b->lane.type, b->past[0][s]);
    }
    if (b->lane.left > 2) {
        const uint32_t *soon = c->memos + n * (size_t)b->lane.type[d->right_to_left ? -2 : 2];
        PREFETCH(soon);
        PREFETCH(soon + n - 1);
    }
}

/* The labels on the way to the state that was best at the end of a sentence. */
KERNEL_TARGET static ALWAYS_INLINE void KERNEL(trace_labels)(const Decoder *d, Worker *w,
                                                             const BeamLane *b, int width) {
    const int64_t step = d->right_to_left ? 1 : -1;
    int64_t token = d->right_to_left ? b->lane.first : b->lane.last;
    int32_t state = 0;
    for (int64_t left = b->lane.last - b->lane.first + 1; left; left--, token += step) {
        const int32_t back = w->back[(size_t)token * (size_t)width + (size_t)state];
        w->labels[token] = (uint16_t)(back / NARROW_BEAM);
        state = back % NARROW_BEAM;
    }
}

KERNEL_TARGET static ALWAYS_INLINE int KERNEL(search_beams)(const Decoder *d, Worker *w, int parts,
                                                            int mask_words, int width) {
    BeamLane lanes[BEAMS_SIDE_BY_SIDE];
    int32_t ranks[MAX_PARTS * LANES];
    EIGHT_TYPE rank[MAX_PARTS];
    int64_t next = 0;
    int n_lanes = 0;
    for (int k = 0; k < parts * LANES; k++)
        ranks[k] =
            k < d->layout.table->n_labels ? (BEAM_LABELS - 1 - k) * NARROW_BEAM : ABSENT_STATE;
    memcpy(rank, ranks, (size_t)parts * sizeof *rank);
    while (n_lanes < BEAMS_SIDE_BY_SIDE && beam_start(d, w, &lanes[n_lanes], &next)) n_lanes++;
    while (n_lanes) {
        for (int k = 0; k < n_lanes; k++) {
            BeamLane *b = &lanes[k];
            if (KERNEL(beam_token)(d, w, b, rank, parts, mask_words, width) < 0) return -1;
            if (beam_next(d, b)) {
                if (d->layout.n_memos) KERNEL(fetch_states)(d, w, b, parts, width);
                continue;
            }
            KERNEL(trace_labels)(d, w, b, width);
            if (!beam_start(d, w, b, &next)) *b = lanes[--n_lanes];
        }
    }
    return 0;
}
