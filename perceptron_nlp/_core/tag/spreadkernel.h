/* The passes of spread.h over one type of score. Included once for each form, with
 *
 *   KERNEL(name)     the form's own name for a function
 *   KERNEL_TARGET    attributes of its functions
 *   SCORE, SUM       int16_t and uint16_t, or int32_t and uint32_t */

KERNEL_TARGET static ALWAYS_INLINE void KERNEL(add_units)(SUM *restrict into,
                                                          const SUM *restrict from, int32_t n) {
    for (int32_t k = 0; k < n; k++) into[k] = (SUM)(into[k] + from[k]);
}

/* Sum a row by place, or take it away: the units, then the masks. */
KERNEL_TARGET static ALWAYS_INLINE void KERNEL(add_cells)(const CacheLayout *l, uint32_t row,
                                                          SUM sign, SUM *places) {
    const FrozenRow *cells = frozen_row(l->table, row);
    const int32_t *place_of = l->spread.place_of;
    for (uint32_t i = 0; i < cells->n; i++) {
        SUM *own = &places[place_of[cells->cells[i].label]];
        *own = (SUM)(*own + (SUM)(sign * (SUM)cells->cells[i].weight));
    }
}

KERNEL_TARGET static ALWAYS_INLINE void
KERNEL(add_mask)(SUM *restrict into, const uint16_t *restrict mask, SUM weight, int32_t n) {
    for (int32_t k = 0; k < n; k++) into[k] = (SUM)(into[k] + ((SUM)(int16_t)mask[k] & weight));
}

/* Add a weight to the units of a mask. */
KERNEL_TARGET static ALWAYS_INLINE void KERNEL(add_masked)(const Spread *s, int32_t m, SUM weight,
                                                           SUM *units) {
    const MaskRange range = s->ranges[m];
    const uint16_t *mask = s->masks + (size_t)m * (size_t)s->width;
    KERNEL(add_mask)(units + range.begin, mask + range.begin, weight, range.end - range.begin);
}

/* Add what the masks got to their units. */
KERNEL_TARGET static ALWAYS_INLINE void KERNEL(spread_masks)(const Spread *s, SUM *places) {
    const SUM *weights = places + s->width;
    for (int32_t m = 0; m < s->n_masks; m++)
        if (weights[m]) KERNEL(add_masked)(s, m, weights[m], places);
}

/* Set the highest of each block of a vector. */
KERNEL_TARGET static ALWAYS_INLINE void KERNEL(bound_blocks)(const Spread *s, SUM *vector) {
    for (int32_t b = 0; b < s->n_blocks; b++) {
        const SCORE *own = (const SCORE *)vector + b * BLOCK_UNITS;
        SCORE high = own[0];
        for (int32_t k = 1; k < BLOCK_UNITS; k++) high = own[k] > high ? own[k] : high;
        vector[s->width + b] = (SUM)high;
    }
}

#define MOST_PLACES (MOST_UNITS + MOST_SPREAD_PARTS)

/* Sum by place what the rows of a type say in a vector; how many these are. */
KERNEL_TARGET static inline uint32_t KERNEL(add_listed)(const CacheLayout *l, const TypeCache *c,
                                                        int32_t type, int32_t v, SUM *places) {
    uint32_t n, found = 0;
    for (int32_t s = 0; s < l->program->n_slots; s++) {
        const int is_own = l->slot_vector[s] == v;
        if (!is_own && l->slot_correction[s] != v) continue;
        const uint32_t *rows = slot_rows(l, c, type, s, &n);
        const SUM sign = is_own ? 1 : (SUM)l->slot_sign[s];
        for (uint32_t i = 0; i < n; i++) KERNEL(add_cells)(l, rows[i], sign, places);
        found += n;
    }
    return found;
}

/* Make a vector of a type, where there is memory for it. */
KERNEL_TARGET static void KERNEL(make_vector)(const CacheLayout *l, TypeCache *c, int32_t type,
                                              int32_t v) {
    const Spread *s = &l->spread;
    const int32_t width = s->width;
    SUM places[MOST_PLACES];
    memset(places, 0, (size_t)(width + s->n_masks) * sizeof *places);
    if (!KERNEL(add_listed)(l, c, type, v, places)) {
        *spread_number(l, c, type, v) = 0;
        return;
    }
    KERNEL(spread_masks)(s, places);
    if (transition_reserve(l, c) < 0) return;
    SUM *vector = (SUM *)(void *)transition_vector(l, c, c->pool_used);
    memcpy(vector, places, (size_t)width * sizeof *vector);
    memset(vector + width, 0, (size_t)(l->stride - width) * sizeof *vector);
    KERNEL(bound_blocks)(s, vector);
    *spread_number(l, c, type, v) = c->pool_used++;
}

/* The vectors that a token's scores are the sum of. */
typedef struct {
    const SUM *vectors[MOST_SAID];
    int n;
    int n_spilt; /* rows that are summed in `spilt`, since others of the token have their places */
    SUM spilt[MOST_PLACES];
} KERNEL(Said);

/* Where that is summed for which there is no other place. */
KERNEL_TARGET static SUM *KERNEL(spilt)(KERNEL(Said) * x) {
    if (!x->n_spilt++) memset(x->spilt, 0, sizeof x->spilt);
    return x->spilt;
}

/* Set a vector to what a row says. */
KERNEL_TARGET static void KERNEL(spread_row)(const CacheLayout *l, uint32_t row, SUM *vector) {
    const Spread *s = &l->spread;
    const FrozenRow *cells = frozen_row(l->table, row);
    memset(vector, 0, (size_t)l->stride * sizeof *vector);
    for (uint32_t i = 0; i < cells->n; i++) {
        const int32_t place = s->place_of[cells->cells[i].label], mask = place - s->width;
        const SUM weight = (SUM)cells->cells[i].weight;
        if (mask < 0)
            vector[place] = (SUM)(vector[place] + weight);
        else
            KERNEL(add_masked)(s, mask, weight, vector);
    }
    KERNEL(bound_blocks)(s, vector);
}

/* Add the vector of a row, which may be remembered; but not in the place of one that was added. */
KERNEL_TARGET static inline void KERNEL(say_row)(const CacheLayout *l, SpreadRows *r, uint32_t row,
                                                 KERNEL(Said) * x) {
    const size_t at = spread_place(r, row);
    SUM *vector = (SUM *)(void *)(r->vectors + at * (size_t)l->stride * sizeof(SUM));
    if (r->rows[at] != row) {
        for (int k = 0; k < x->n; k++)
            if (x->vectors[k] == vector) {
                KERNEL(add_cells)(l, row, 1, KERNEL(spilt)(x));
                return;
            }
        KERNEL(spread_row)(l, row, vector);
        r->rows[at] = row;
    }
    x->vectors[x->n++] = vector;
}

/* Are the rows of a neighbor in a vector so few that they are added one by one? Then they are: many
 * neighbors share them. */
KERNEL_TARGET static inline int KERNEL(say_few)(const CacheLayout *l, const TypeCache *c,
                                                SpreadRows *r, int32_t type, int32_t v,
                                                KERNEL(Said) * x) {
    uint32_t found[FEW_ROWS], n_found = 0, n;
    if (v >= l->n_always || !(l->vectors[v].offset | l->vectors[v].column)) return 0;
    for (int32_t s = 0; s < l->program->n_slots; s++) {
        if (l->slot_vector[s] != v) continue;
        const uint32_t *rows = slot_rows(l, c, type, s, &n);
        if (n_found + n > FEW_ROWS) return 0;
        for (uint32_t i = 0; i < n; i++) found[n_found++] = rows[i];
    }
    if (!n_found) *spread_number(l, c, type, v) = 0;
    for (uint32_t i = 0; i < n_found; i++) KERNEL(say_row)(l, r, found[i], x);
    return 1;
}

/* All that is said of a token, whose history was asked for. */
KERNEL_TARGET static inline void KERNEL(say)(const Decoder *d, Worker *w, const SpreadStream *x,
                                             KERNEL(Said) * said) {
    const CacheLayout *l = &d->layout;
    const FrozenTable *t = l->table;
    const Stream *stream = &x->stream;
    TypeCache *c = &w->cache;
    const int32_t n_statics = spread_statics(d);
    const uint32_t *found = w->spread.found + stream->token * n_statics;
    uint32_t numbers[2 * MOST_SPREAD_SLOTS], n_numbers = 0;
    said->n_spilt = 0;
    said->n = 1;
    said->vectors[0] = (const SUM *)d->start;
    for (int32_t v = 0; v < l->n_vectors; v++) {
        const VectorSlot *slot = &l->vectors[v];
        if (v >= l->n_always &&
            stream->token != (slot->condition == FIRST ? stream->first : stream->last))
            continue;
        const int32_t type = w->types[slot->column][stream->place + slot->offset];
        const uint32_t *number = spread_number(l, c, type, v);
        if (*number == TRANSITION_UNKNOWN) {
            if (KERNEL(say_few)(l, c, &w->spread, type, v, said)) continue;
            KERNEL(make_vector)(l, c, type, v);
            if (*number == TRANSITION_UNKNOWN)
                KERNEL(add_listed)(l, c, type, v, KERNEL(spilt)(said));
        }
        if (*number && *number != TRANSITION_UNKNOWN) numbers[n_numbers++] = *number;
    }
    /* Now that the pool stays where it is. */
    for (uint32_t k = 0; k < n_numbers; k++)
        said->vectors[said->n++] = (const SUM *)(const void *)transition_vector(l, c, numbers[k]);
    for (int32_t k = 0; k < n_statics; k++)
        if (found[k]) KERNEL(say_row)(l, &w->spread, found[k], said);
    for (int32_t k = 0; k < d->n_open; k++) {
        if (x->none >> k & 1) continue;
        const uint32_t row = frozen_sure(t, x->keys[k], frozen_guess(t, x->keys[k]));
        if (row) KERNEL(say_row)(l, &w->spread, row, said);
    }
    if (!said->n_spilt) return;
    KERNEL(spread_masks)(&l->spread, said->spilt);
    KERNEL(bound_blocks)(&l->spread, said->spilt);
    said->vectors[said->n++] = said->spilt;
}

/* The scores of all units of a token. */
KERNEL_TARGET static void KERNEL(spread_sum)(const Decoder *d, Worker *w, const SpreadStream *x,
                                             void *to) {
    const int32_t width = d->layout.spread.width;
    SUM *sum = (SUM *)to;
    KERNEL(Said) said;
    KERNEL(say)(d, w, x, &said);
    memcpy(sum, said.vectors[0], (size_t)width * sizeof *sum);
    for (int k = 1; k < said.n; k++) KERNEL(add_units)(sum, said.vectors[k], width);
}

#if VECTOR_EXTENSIONS
typedef SUM KERNEL(Block) VECTOR_OF(BLOCK_UNITS * sizeof(SUM), sizeof(SUM));
#endif

/* The first of the highest labels of a block; *high is its score. */
KERNEL_TARGET static ALWAYS_INLINE int32_t KERNEL(best_of_block)(const KERNEL(Said) * said,
                                                                 int32_t block, SCORE *high) {
    SUM sum[BLOCK_UNITS] = {0};
#if VECTOR_EXTENSIONS
    KERNEL(Block) whole = {0};
    for (int i = 0; i < said->n; i++)
        whole += *(const KERNEL(Block) *)(const void *)(said->vectors[i] + block * BLOCK_UNITS);
    memcpy(sum, &whole, sizeof sum);
#else
    for (int i = 0; i < said->n; i++) {
        const SUM *own = said->vectors[i] + block * BLOCK_UNITS;
        for (int32_t k = 0; k < BLOCK_UNITS; k++) sum[k] = (SUM)(sum[k] + own[k]);
    }
#endif
    SCORE best = (SCORE)sum[0];
    for (int32_t k = 1; k < BLOCK_UNITS; k++) best = (SCORE)sum[k] > best ? (SCORE)sum[k] : best;
    int32_t at = 0;
    while ((SCORE)sum[at] != best) at++;
    *high = best;
    return block * BLOCK_UNITS + at;
}

#if VECTOR_EXTENSIONS
typedef SCORE KERNEL(Scores) VECTOR_OF(BOUNDS_AT_ONCE * sizeof(SCORE), sizeof(SCORE));
#endif

/* What no label of a block is above, into bounds[0 .. stride - width); the highest of these. */
KERNEL_TARGET static ALWAYS_INLINE int32_t KERNEL(sum_bounds)(const Spread *s,
                                                              const KERNEL(Said) * said,
                                                              int32_t *bounds) {
    int32_t high = INT32_MIN;
    for (int32_t from = 0; from < s->stride - s->width; from += BOUNDS_AT_ONCE) {
#if VECTOR_EXTENSIONS
        Bounds sum = {0};
        for (int i = 0; i < said->n; i++) {
            const SCORE *own = (const SCORE *)said->vectors[i] + s->width + from;
            sum += CONVERT_VECTOR(*(const KERNEL(Scores) *)(const void *)own, Bounds);
        }
#else
        int32_t sum[BOUNDS_AT_ONCE] = {0};
        for (int i = 0; i < said->n; i++) {
            const SCORE *own = (const SCORE *)said->vectors[i] + s->width + from;
            for (int32_t k = 0; k < BOUNDS_AT_ONCE; k++) sum[k] += own[k];
        }
#endif
        memcpy(bounds + from, &sum, sizeof sum);
    }
    /* Pads come to nothing. */
    for (int32_t b = s->n_blocks; b < s->stride - s->width; b++) bounds[b] = -(1 << 30);
    for (int32_t b = 0; b < s->n_blocks; b++) high = bounds[b] > high ? bounds[b] : high;
    return high;
}

/* The first of the highest labels. Blocks that cannot hold it are passed over: most often all but
 * the first that is looked at. */
KERNEL_TARGET static int32_t KERNEL(best_said)(const Decoder *d, Worker *w, const SpreadStream *x) {
    const Spread *s = &d->layout.spread;
    int32_t bounds[MOST_BLOCKS];
    int32_t first = 0, others = -1;
    SCORE high, own;
    KERNEL(Said) said;
    KERNEL(say)(d, w, x, &said);
    const int32_t bound = KERNEL(sum_bounds)(s, &said, bounds);
    while (bounds[first] != bound) first++;
    int32_t best = KERNEL(best_of_block)(&said, first, &high);
    for (int32_t b = 0; b < s->stride - s->width; b++) others += bounds[b] >= high;
    for (int32_t b = 0; others && b < s->n_blocks; b++) {
        if (bounds[b] < high || b == first) continue;
        const int32_t at = KERNEL(best_of_block)(&said, b, &own);
        if (own < high || (own == high && at > best)) continue;
        high = own;
        best = at;
    }
    return best;
}

/* Of units' scores; pads beyond n, up to the stride, are lower. */
FIRST_LARGEST(KERNEL_TARGET, KERNEL(best_unit), SCORE, 32)

/* The best of the labels that a mask, or a set, leaves, by the scores of units. */
KERNEL_TARGET static int32_t KERNEL(best_spread)(const Decoder *d, Worker *w, const SCORE *scores,
                                                 int32_t set, int32_t forced, int32_t *scratch) {
    const Parts *x = d->parts;
    const uint8_t *mask = forced < FREE ? mask_of(&d->layout, forced) : NULL;
    int32_t wide[MOST_UNITS];
    if (d->layout.spread.of_labels && set < 0 && !mask)
        return KERNEL(best_unit)(scores, x->n_labels);
    for (int32_t k = 0; k < d->layout.spread.n_units; k++) wide[k] = scores[k];
    if (d->layout.spread.of_labels) {
        if (set < 0) return first_largest_within(wide, x->n_labels, mask);
        int32_t best = w->constraints.labels[w->constraints.starts[set]];
        for (int64_t i = w->constraints.starts[set]; i < w->constraints.starts[set + 1]; i++)
            if (wide[w->constraints.labels[i]] > wide[best]) best = w->constraints.labels[i];
        return best;
    }
    if (set >= 0) return best_of_set(x, w, set, wide, scratch);
    return mask ? best_within(x, mask, wide, scratch) : whole_best_but(x, wide, -1, scratch);
}

KERNEL_TARGET static int KERNEL(tag_spread)(const Decoder *d, struct Worker *w) {
    const CacheLayout *l = &d->layout;
    SpreadStream streams[SIDE_BY_SIDE];
    SCORE own[MOST_UNITS];
    const int is_free = l->spread.of_labels && !w->keep_scores;
    int32_t *scratch = (int32_t *)malloc((size_t)parts_scratch(d->parts) * sizeof *scratch);
    int64_t next = 0;
    int n_streams = 0;
    if (!scratch || spread_ready(d, w) < 0) {
        free(scratch);
        return -1;
    }
    if (d->pairs.n_templates) find_pair_rows(d, w);
    if (d->n_static) find_other_rows(d, w);
    while (n_streams < SIDE_BY_SIDE && stream_start(d, w, &streams[n_streams].stream, &next))
        spread_ask(d, w, &streams[n_streams++]);
    while (n_streams) {
        for (int k = 0; k < n_streams; k++) {
            Stream *stream = &streams[k].stream;
            const int32_t set = constraint_of(w, stream->token);
            const int32_t forced = set < 0 ? forced_label(d, w, stream) : FREE;
            int32_t label = set == UNKNOWN_LABEL ? d->parts->n_labels : forced;
            if (label < 0) {
                SCORE *scores = own;
                if (w->keep_scores)
                    scores = (SCORE *)(void *)w->scores + (size_t)stream->token * (size_t)l->stride;
                if (is_free && set < 0 && forced == FREE) {
                    label = KERNEL(best_said)(d, w, &streams[k]);
                } else {
                    KERNEL(spread_sum)(d, w, &streams[k], scores);
                    label = KERNEL(best_spread)(d, w, scores, set, forced, scratch);
                }
            }
            w->labels[stream->token] = (uint16_t)label;
            if (!stream_step(d, stream, label) && !stream_start(d, w, stream, &next)) {
                streams[k] = streams[--n_streams];
                continue;
            }
            if (!is_open_token(w, stream->token)) continue;
            spread_fetch(d, w, stream);
            spread_ask(d, w, &streams[k]);
        }
    }
    free(scratch);
    return 0;
}

#undef MOST_PLACES
#undef KERNEL
#undef KERNEL_TARGET
#undef SCORE
#undef SUM
