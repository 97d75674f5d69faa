/* The passes of spread.h over one type of score. Included once for each form, with
 *
 *   KERNEL(name)     the form's own name for a function
 *   KERNEL_TARGET    attributes of its functions
 *   SCORE, SUM       int16_t and uint16_t, or int32_t and uint32_t */

KERNEL_TARGET static ALWAYS_INLINE void KERNEL(add_units)(SUM *restrict into,
                                                          const SUM *restrict from, int32_t n) {
    for (int32_t k = 0; k < n; k++) into[k] = (SUM)(into[k] + from[k]);
}

KERNEL_TARGET static ALWAYS_INLINE void
KERNEL(add_mask)(SUM *restrict into, const uint16_t *restrict mask, SUM weight, int32_t n) {
    for (int32_t k = 0; k < n; k++) into[k] = (SUM)(into[k] + ((SUM)(int16_t)mask[k] & weight));
}

/* Sum the rows of a type, slot after slot, into its vectors. */
KERNEL_TARGET static void KERNEL(spread_type)(const CacheLayout *l, TypeCache *c, uint32_t type,
                                              size_t from, size_t to) {
    const Spread *s = &l->spread;
    const int32_t stride = l->stride;
    SUM *vectors = (SUM *)(void *)(c->vectors + type * vector_bytes(l));
    SUM parts[MOST_SPREAD_PARTS], sum[MOST_UNITS];
    memset(vectors, 0, vector_bytes(l));
    c->entries[type].said = 0;
    while (from < to) {
        const int32_t slot = c->fresh_slots[from];
        const int32_t vector = l->slot_vector[slot], correction = l->slot_correction[slot];
        int n = 0;
        for (; from < to && c->fresh_slots[from] == slot; from++) {
            const uint32_t row = frozen_sure(l->table, c->fresh_keys[from], c->fresh_rows[from]);
            if (!row) continue;
            if (!n++) memset(parts, 0, (size_t)s->n_parts * sizeof *parts);
            const FrozenRow *cells = frozen_row(l->table, row);
            for (uint32_t i = 0; i < cells->n; i++)
                parts[cells->cells[i].label] =
                    (SUM)(parts[cells->cells[i].label] + (SUM)cells->cells[i].weight);
        }
        if (!n) continue;
        memset(sum, 0, (size_t)stride * sizeof *sum);
        for (int32_t k = 0; k < s->n_alone; k++)
            sum[s->alone_unit[k]] = (SUM)(sum[s->alone_unit[k]] + parts[s->alone[k]]);
        for (int32_t m = 0; m < s->n_masks; m++)
            if (parts[s->masked[m]]) KERNEL(add_mask)
        (sum, s->masks + (size_t)m * (size_t)stride, parts[s->masked[m]], stride);
        if (vector >= 0) {
            KERNEL(add_units)(vectors + (size_t)vector * (size_t)stride, sum, stride);
            c->entries[type].said |= 1u << (vector & 31);
        }
        if (correction < 0) continue;
        for (int32_t k = 0; k < stride && l->slot_sign[slot] < 0; k++) sum[k] = (SUM)(0 - sum[k]);
        KERNEL(add_units)(vectors + (size_t)correction * (size_t)stride, sum, stride);
    }
}

KERNEL_TARGET static void KERNEL(spread_fresh)(const CacheLayout *l, TypeCache *c, int n) {
    size_t from = 0;
    for (int k = 0; k < n; k++) {
        KERNEL(spread_type)(l, c, c->fresh[k].type, from, c->fresh[k].keys_end);
        from = c->fresh[k].keys_end;
    }
}

/* What a row says of the units. */
KERNEL_TARGET static inline const SUM *KERNEL(spread_row)(const CacheLayout *l, SpreadRows *r,
                                                          uint32_t row) {
    const Spread *s = &l->spread;
    const size_t at = (size_t)((row * 0x9E3779B1u) >> (32 - r->bits));
    SUM *vector = (SUM *)(void *)(r->vectors + at * (size_t)l->stride * sizeof(SUM));
    if (r->rows[at] == row) return vector;
    const FrozenRow *cells = frozen_row(l->table, row);
    memset(vector, 0, (size_t)l->stride * sizeof *vector);
    for (uint32_t i = 0; i < cells->n; i++) {
        const int32_t unit = s->unit_of[cells->cells[i].label];
        const SUM weight = (SUM)cells->cells[i].weight;
        if (unit >= 0)
            vector[unit] = (SUM)(vector[unit] + weight);
        else
            KERNEL(add_mask)
        (vector, s->masks + (size_t)(-1 - unit) * (size_t)l->stride, weight, l->stride);
    }
    r->rows[at] = row;
    return vector;
}

/* The scores of the units of a token, whose history was asked for. */
KERNEL_TARGET static void KERNEL(spread_sum)(const Decoder *d, Worker *w, const SpreadLane *x,
                                             void *to) {
    const CacheLayout *l = &d->layout;
    const FrozenTable *t = l->table;
    const Lane *lane = &x->lane;
    const int32_t stride = l->stride, n_statics = spread_statics(d);
    const size_t record = vector_bytes(l);
    const uint32_t *found = w->spread.found + lane->token * n_statics;
    SUM *sum = (SUM *)to;
    memcpy(sum, d->start, (size_t)stride * sizeof *sum);
    for (int32_t v = 0; v < l->n_vectors; v++) {
        const VectorSlot *slot = &l->vectors[v];
        if (v >= l->n_always &&
            lane->token != (slot->condition == FIRST ? lane->first : lane->last))
            continue;
        const int32_t type = w->types[slot->column][lane->place + slot->offset];
        if (v < l->n_always && !(w->cache.entries[type].said >> (v & 31) & 1)) continue;
        const SUM *said = (const SUM *)(const void *)(w->cache.vectors + (size_t)type * record);
        KERNEL(add_units)(sum, said + (size_t)v * (size_t)stride, stride);
    }
    for (int32_t k = 0; k < n_statics; k++)
        if (found[k]) KERNEL(add_units)(sum, KERNEL(spread_row)(l, &w->spread, found[k]), stride);
    for (int32_t k = 0; k < d->n_open; k++) {
        if (x->none >> k & 1) continue;
        const uint32_t row = frozen_sure(t, x->keys[k], frozen_guess(t, x->keys[k]));
        if (row) KERNEL(add_units)(sum, KERNEL(spread_row)(l, &w->spread, row), stride);
    }
}

#define UNIT_BLOCK 32

/* The first of the largest of the units' scores; pads beyond n, up to the stride, are lower. */
KERNEL_TARGET static int32_t KERNEL(best_unit)(const SCORE *scores, int32_t n) {
    SCORE high = scores[0];
    int32_t at = 0;
    for (int32_t from = 0; from < n; from += UNIT_BLOCK) {
        const int32_t to = n - from < UNIT_BLOCK ? n : from + UNIT_BLOCK;
        SCORE here = scores[from];
        for (int32_t k = from; k < to; k++) here = scores[k] > here ? scores[k] : here;
        if (here <= high) continue;
        high = here;
        at = from;
    }
    while (scores[at] != high) at++;
    return at;
}

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
        int32_t best = w->kept.labels[w->kept.starts[set]];
        for (int64_t i = w->kept.starts[set]; i < w->kept.starts[set + 1]; i++)
            if (wide[w->kept.labels[i]] > wide[best]) best = w->kept.labels[i];
        return best;
    }
    if (set >= 0) return best_of_set(x, w, set, wide, scratch);
    return mask ? best_within(x, mask, wide, scratch) : whole_best_but(x, wide, -1, scratch);
}

KERNEL_TARGET static int KERNEL(tag_spread)(const Decoder *d, struct Worker *w) {
    const CacheLayout *l = &d->layout;
    SpreadLane lanes[SIDE_BY_SIDE];
    SCORE own[MOST_UNITS];
    int32_t *scratch = (int32_t *)malloc((size_t)parts_scratch(d->parts) * sizeof *scratch);
    int64_t next = 0;
    int n_lanes = 0;
    if (!scratch || spread_ready(d, w) < 0) {
        free(scratch);
        return -1;
    }
    if (d->pairs.n_templates) find_pair_rows(d, w);
    if (d->n_static) find_other_rows(d, w);
    while (n_lanes < SIDE_BY_SIDE && lane_start(d, w, &lanes[n_lanes].lane, &next))
        spread_ask(d, w, &lanes[n_lanes++]);
    while (n_lanes) {
        for (int k = 0; k < n_lanes; k++) {
            Lane *lane = &lanes[k].lane;
            const int32_t set = kept_set(w, lane->token);
            const int32_t forced = set < 0 ? forced_label(d, w, lane) : FREE;
            int32_t label = set == KEPT_UNKNOWN ? d->parts->n_labels : forced;
            if (label < 0) {
                SCORE *scores = own;
                if (w->keep_scores)
                    scores = (SCORE *)(void *)w->scores + (size_t)lane->token * (size_t)l->stride;
                KERNEL(spread_sum)(d, w, &lanes[k], scores);
                label = KERNEL(best_spread)(d, w, scores, set, forced, scratch);
            }
            w->labels[lane->token] = (uint16_t)label;
            if (!lane_step(d, lane, label) && !lane_start(d, w, lane, &next)) {
                lanes[k] = lanes[--n_lanes];
                continue;
            }
            spread_fetch(d, w, lane);
            spread_ask(d, w, &lanes[k]);
        }
    }
    free(scratch);
    return 0;
}

#undef UNIT_BLOCK
#undef KERNEL
#undef KERNEL_TARGET
#undef SCORE
#undef SUM
