/* The passes of tagging over one type of score. Included once for each form, with
 *
 *   KERNEL(name)     the form's own name for a function
 *   KERNEL_TARGET    attributes of its functions
 *   MOST_USED        0 for a form that machines have for want of a better one
 *   SCORE, LOWEST    int16_t or int32_t, and what no score is
 *   PART             eight scores (packed.h)
 *   PART_ADD(a, b), PART_TAKE(a, b)   a += b, a -= b
 *   PART_BEST(parts, n_parts, n_labels)   the first of the largest
 *   PART_DROP(parts, n_parts, label)      set the score of a label to LOWEST
 *   PART_ROW(sum, parts, record, mask_words)   sum += a packed row (packed.h)
 *
 * `parts` is the number of PARTs to a vector, a constant where the compiler should unroll. */

KERNEL_TARGET static ALWAYS_INLINE void KERNEL(add)(char *into, const char *from, int parts) {
    PART *a = (PART *)(void *)into;
    const PART *b = (const PART *)(const void *)from;
    for (int k = 0; k < parts; k++) PART_ADD(a[k], b[k]);
}

/* ---- types never met before ---- */

/* Sum the rows of a type, slot after slot, into its vectors. */
KERNEL_TARGET static ALWAYS_INLINE void KERNEL(sum_type)(const CacheLayout *l, TypeCache *c,
                                                         uint32_t type, size_t from, size_t to,
                                                         int parts, int mask_words) {
    const uint32_t *records = l->table->records, *rows = c->fresh_rows;
    const uint64_t *keys = c->fresh_keys;
    const uint16_t *slots = c->fresh_slots;
    PART *vectors = (PART *)(void *)(c->vectors + type * vector_bytes(l));
    memset(vectors, 0, vector_bytes(l));
    while (from < to) {
        const int32_t slot = slots[from];
        const int32_t vector = l->slot_vector[slot], correction = l->slot_correction[slot];
        PART sum[MAX_PARTS];
        memset(sum, 0, (size_t)parts * sizeof *sum);
        do {
            const uint32_t *record = records + rows[from];
            if ((record[0] != (uint32_t)(keys[from] >> 32)) & (rows[from] != 0))
                record = records + frozen_sure(l->table, keys[from], rows[from]);
            PART_ROW(sum, parts, record, mask_words);
        } while (++from < to && slots[from] == slot);
        if (vector >= 0) {
            PART *into = vectors + (size_t)vector * (size_t)parts;
            for (int k = 0; k < parts; k++) PART_ADD(into[k], sum[k]);
        }
        if (correction >= 0) {
            const int negative = l->slot_sign[slot] < 0;
            PART *into = vectors + (size_t)correction * (size_t)parts;
            for (int k = 0; k < parts && negative; k++) PART_TAKE(into[k], sum[k]);
            for (int k = 0; k < parts && !negative; k++) PART_ADD(into[k], sum[k]);
        }
    }
}

KERNEL_TARGET static void KERNEL(sum_fresh)(const CacheLayout *l, TypeCache *c, int n) {
    size_t from = 0;
    for (int k = 0; k < n; k++) {
        const uint32_t type = c->fresh[k].type;
        const size_t to = c->fresh[k].keys_end;
        if (l->stride == 3 * LANES)
            KERNEL(sum_type)(l, c, type, from, to, 3, 1);
        else
            KERNEL(sum_type)(l, c, type, from, to, l->stride / LANES, l->table->mask_words);
        from = to;
    }
}

/* ---- what words say ---- */

/* What each word of a sentence and its neighbors say one by one. */
KERNEL_TARGET static ALWAYS_INLINE void KERNEL(sum_types)(const Decoder *d, Worker *w,
                                                          int64_t sentence, int parts) {
    const CacheLayout *l = &d->layout;
    const size_t bytes = (size_t)parts * sizeof(PART), record = vector_bytes(l);
    const int64_t begin = w->starts[sentence], end = w->starts[sentence + 1];
    const int64_t place = padded_place(d, sentence, begin);
    const PART *start = (const PART *)d->start;
    const char *vectors = w->cache.vectors;
    const int32_t n_always = l->n_always;
    const int32_t n_held = n_always < HELD_SOURCES ? n_always : HELD_SOURCES;
    /* From the vectors that always apply, of a type of column 0 ahead; there may be none there. */
    const size_t fetched = (size_t)n_always * bytes;
    const int32_t *types = w->types[0];
    const int64_t n_places = w->n_tokens + 2 * l->program->reach * w->n_sentences;
    const int32_t *held[HELD_SOURCES]; /* the types that the first vectors are of */
    char *scores = w->scores + (size_t)begin * bytes;
    for (int32_t v = 0; v < n_held; v++)
        held[v] = w->types[l->vectors[v].column] + place + l->vectors[v].offset;
    for (int64_t i = 0; i < end - begin; i++) {
        const int64_t ahead = place + i + TYPES_AHEAD;
        if (ahead < n_places) {
            const char *soon = vectors + (size_t)types[ahead] * record;
            for (size_t at = 0; at < fetched; at += CACHE_LINE) PREFETCH(soon + at);
            PREFETCH(soon + fetched - 1);
        }
        if (!is_open_token(w, begin + i)) continue;
        PART sum[MAX_PARTS];
        PART *out = (PART *)(void *)(scores + (size_t)i * bytes);
        const char *from = vectors;
        for (int k = 0; k < parts; k++) sum[k] = start[k];
        for (int32_t v = 0; v < n_held; v++, from += bytes) {
            const PART *said = (const PART *)(const void *)(from + (size_t)held[v][i] * record);
            for (int k = 0; k < parts; k++) PART_ADD(sum[k], said[k]);
        }
        for (int32_t v = n_held; v < n_always; v++, from += bytes) {
            int32_t type = w->types[l->vectors[v].column][place + i + l->vectors[v].offset];
            const PART *said = (const PART *)(const void *)(from + (size_t)type * record);
            for (int k = 0; k < parts; k++) PART_ADD(sum[k], said[k]);
        }
        for (int k = 0; k < parts; k++) out[k] = sum[k];
    }
    for (int32_t v = l->n_always; v < l->n_vectors && end > begin; v++) {
        int64_t i = l->vectors[v].condition == FIRST ? 0 : end - begin - 1;
        int32_t type = w->types[l->vectors[v].column][place + i + l->vectors[v].offset];
        KERNEL(add)
        (scores + (size_t)i * bytes, vectors + (size_t)type * record + (size_t)v * bytes, parts);
    }
}

/* Templates over pairs of neighbors: three blocks are on their way, so that none waits for the memory
 * of another. */
KERNEL_TARGET static ALWAYS_INLINE void KERNEL(sum_pairs)(const Decoder *d, Worker *w, int parts,
                                                          int mask_words) {
    const PairLayout *p = &d->pairs;
    const FrozenTable *t = d->layout.table;
    PairBlock *blocks = w->pairs.blocks, *now = blocks, *next = blocks + 1, *last = blocks + 2;
    int64_t sentence = 0, taken = 0;
    for (int k = 0; k < PAIR_BLOCKS; k++) blocks[k].count = blocks[k].n = 0;
    do {
        PairBlock *oldest = last;
        last = now;
        now = next;
        next = oldest;
        filter_pair_keys(last, p, t);
        for (int32_t i = 0; i < oldest->n; i++) {
            const uint32_t row = frozen_sure(t, oldest->keys[i], oldest->rows[i]);
            const size_t token = (size_t)oldest->targets[i].token;
            PART *scores = (PART *)(void *)(w->scores + token * (size_t)parts * sizeof(PART));
            PART_ROW(scores, parts, t->records + row, mask_words);
        }
        now->n = 0;
        now->count = take_pairs(d, w, &sentence, &taken, now->places);
        fetch_halves(now, &d->layout, &w->cache);
        guess_pair_rows(last, t);
        make_pair_keys(now, p, &d->layout, &w->cache);
    } while (now->count + last->count);
}

/* All other templates over several words, for a block of tokens. */
KERNEL_TARGET static inline void KERNEL(sum_others)(const Decoder *d, Worker *w, int64_t sentence,
                                                    int parts) {
    const CacheLayout *l = &d->layout;
    const int64_t begin = w->starts[sentence], end = w->starts[sentence + 1];
    const int32_t *types[MAX_COLUMNS];
    uint64_t keys[TOKEN_BLOCK];
    int64_t rows[TOKEN_BLOCK];
    for (int64_t from = begin; from < end; from += TOKEN_BLOCK) {
        int64_t n = from + TOKEN_BLOCK < end ? TOKEN_BLOCK : end - from;
        for (int32_t k = 0; k < d->n_static; k++) {
            for (int64_t i = 0; i < n; i++) {
                TokenView view = token_view(d, w, padded_place(d, sentence, from + i),
                                            from + i == begin, from + i == end - 1, NULL, types);
                keys[i] = token_key(l->program, d->static_templates[k], &view);
                frozen_prefetch(l->table, keys[i]);
            }
            for (int64_t i = 0; i < n; i++) {
                rows[i] = frozen_find(l->table, keys[i]);
                if (rows[i] >= 0) frozen_prefetch_row(l->table, rows[i]);
            }
            for (int64_t i = 0; i < n; i++)
                if (rows[i] >= 0)
                    add_row(l, rows[i],
                            w->scores + (size_t)(from + i) * (size_t)parts * sizeof(PART));
        }
    }
}

KERNEL_TARGET static ALWAYS_INLINE void KERNEL(sum_static)(const Decoder *d, Worker *w, int parts,
                                                           int mask_words) {
    for (int64_t s = 0; s < w->n_sentences; s++) KERNEL(sum_types)(d, w, s, parts);
    if (d->pairs.n_groups) KERNEL(sum_pairs)(d, w, parts, mask_words);
    for (int64_t s = 0; s < w->n_sentences && d->n_static; s++) KERNEL(sum_others)(d, w, s, parts);
}

/* The best of the labels that a lexicon leaves. */
KERNEL_TARGET static int32_t KERNEL(best_within)(const PART *sum, int32_t n, const uint8_t *mask) {
    SCORE scores[MAX_PARTS * LANES];
    int32_t wide[MAX_PARTS * LANES];
    memcpy(scores, sum, (size_t)n * sizeof *scores);
    for (int32_t k = 0; k < n; k++) wide[k] = scores[k];
    return first_largest_within(wide, n, mask);
}

/* Sum up what a word and the label before it say together; -1: no memory. Whether they say anything
 * cannot be foreseen, so nothing branches on it. */
KERNEL_TARGET static ALWAYS_INLINE int KERNEL(learn_transition)(const Decoder *d, Worker *w,
                                                                const Stream *stream,
                                                                uint32_t *transition, int parts,
                                                                int mask_words) {
    const CacheLayout *l = &d->layout;
    const FrozenTable *t = l->table;
    TypeCache *c = &w->cache;
    if (!l->transitions_planned) return stream_transition(d, w, stream, transition);
    if (transition_reserve(l, c) < 0) return -1;
    PART sum[MAX_PARTS];
    uint32_t known = 0;
    memset(sum, 0, (size_t)parts * sizeof *sum);
    for (int32_t m = 0; m < l->n_transitions; m++) {
        const int asked = m ? ASKED_NOTHING : (int)stream->asked;
        const uint64_t own =
            asked ? stream->key
                  : frozen_key(t, transition_key(l, c, m, *stream->type, stream->past[0]));
        const uint32_t guess = asked == ASKED_ROW ? stream->row : frozen_guess(t, own);
        const uint32_t row = frozen_sure(t, own, guess);
        PART_ROW(sum, parts, t->records + row, mask_words);
        known |= row;
    }
    memcpy(transition_vector(l, c, c->pool_used), sum, (size_t)parts * sizeof *sum);
    *transition = known ? c->pool_used : 0;
    c->pool_used += known != 0;
    return 0;
}

/* The scores of a token, once the labels before it are known; -1: no memory. */
KERNEL_TARGET static ALWAYS_INLINE int KERNEL(sum_history)(const Decoder *d, Worker *w,
                                                           const Stream *stream, PART *sum,
                                                           int parts, int mask_words) {
    const CacheLayout *l = &d->layout;
    const size_t bytes = (size_t)parts * sizeof(PART);
    const size_t n = (size_t)l->table->n_labels + 1;
    const PART *scores = (const PART *)(void *)(w->scores + (size_t)stream->token * bytes);
    for (int k = 0; k < parts; k++) sum[k] = scores[k];
    if (d->tag_table) {
        const PART *said =
            (const PART *)(const void *)((const char *)d->tag_table +
                                         ((size_t)stream->past[0] * n + (size_t)stream->past[1]) *
                                             bytes);
        for (int k = 0; k < parts; k++) PART_ADD(sum[k], said[k]);
    }
    if (l->n_transitions) {
        uint32_t *transition =
            w->cache.transitions + (size_t)*stream->type * n + (size_t)stream->past[0];
        if (*transition == TRANSITION_UNKNOWN &&
            KERNEL(learn_transition)(d, w, stream, transition, parts, mask_words) < 0)
            return -1;
        const PART *said =
            (const PART *)(const void *)(w->cache.pool + (size_t)*transition * bytes);
        for (int k = 0; k < parts; k++) PART_ADD(sum[k], said[k]);
    }
    if (d->n_open) {
        PART open[MAX_PARTS];
        for (int k = 0; k < parts; k++) open[k] = sum[k];
        stream_open(d, w, stream, (char *)open);
        for (int k = 0; k < parts; k++) sum[k] = open[k];
    }
    return 0;
}

/* The best label of a token, once the labels before it are known, of those that `forced` leaves;
 * -1: no memory. */
KERNEL_TARGET static ALWAYS_INLINE int32_t KERNEL(tag_token)(const Decoder *d, Worker *w,
                                                             const Stream *stream, int32_t forced,
                                                             int parts, int mask_words) {
    const CacheLayout *l = &d->layout;
    PART sum[MAX_PARTS];
    if (KERNEL(sum_history)(d, w, stream, sum, parts, mask_words) < 0) return -1;
    if (w->keep_scores) {
        PART *scores = (PART *)(void *)w->scores + (size_t)stream->token * (size_t)parts;
        for (int k = 0; k < parts; k++) scores[k] = sum[k];
    }
    if (forced != FREE) return KERNEL(best_within)(sum, l->table->n_labels, mask_of(l, forced));
    return PART_BEST(sum, parts, l->table->n_labels);
}

/* Fetch what the next token needs of the label just given, and what the one after it
 * needs of its type. Does what the first needs still have to be learned? */
KERNEL_TARGET static ALWAYS_INLINE int
KERNEL(fetch_transition)(const Decoder *d, const Worker *w, Stream *stream, size_t n, int parts) {
    const CacheLayout *l = &d->layout;
    const TypeCache *c = &w->cache;
    const uint32_t *transitions = c->transitions;
    uint32_t *own = c->transitions + (size_t)*stream->type * n + (size_t)stream->past[0];
    if (*own == TRANSITION_UNKNOWN && transition_is_nothing(l, c, *stream->type, stream->past[0]))
        *own = 0;
    const uint32_t transition = *own;
    const int unknown = transition == TRANSITION_UNKNOWN && l->transitions_planned;
    if (transition != TRANSITION_UNKNOWN)
        PREFETCH(c->pool + (size_t)transition * (size_t)parts * sizeof(PART));
    if (unknown) {
        stream->key = fresh_key(l->table, transition_key(l, c, 0, *stream->type, stream->past[0]));
        stream->asked = ASKED_KEY;
        transition_fetch(l, c, 1, *stream->type, stream->past[0]);
    }
    if (stream->left > 2) {
        const size_t soon = (size_t)stream->type[d->right_to_left ? -2 : 2];
        transitions += soon * n;
        PREFETCH(transitions);
        PREFETCH(transitions + n - 1);
        PREFETCH(c->carried + soon * (size_t)l->program->n_carried);
    }
    return unknown;
}

/* Find and fetch the row for which fetch_transition was some streams ago. */
KERNEL_TARGET static ALWAYS_INLINE void KERNEL(fetch_transition_row)(const Decoder *d,
                                                                     Stream *stream) {
    if (stream->asked != ASKED_KEY) return;
    stream->row = frozen_guess(d->layout.table, stream->key);
    stream->asked = ASKED_ROW;
    frozen_prefetch_row(d->layout.table, stream->row);
}

/* Each token waits for the label before, so several sentences go side by side. */
KERNEL_TARGET static ALWAYS_INLINE int KERNEL(give_labels)(const Decoder *d, Worker *w, int parts,
                                                           int mask_words) {
    const size_t n = transition_words(&d->layout);
    Stream streams[SIDE_BY_SIDE];
    int64_t next = 0;
    int n_streams = 0;
    uint32_t waiting = 0; /* a bit for each stream whose next vector is to be learned */
    while (n_streams < SIDE_BY_SIDE && stream_start(d, w, &streams[n_streams], &next)) n_streams++;
    while (n_streams) {
        for (int k = 0; k < n_streams; k++) {
            Stream *stream = &streams[k];
            int32_t label = forced_label(d, w, stream);
            if (label < 0) label = KERNEL(tag_token)(d, w, stream, label, parts, mask_words);
            if (label < 0) return -1;
            w->labels[stream->token] = (uint16_t)label;
            if (!stream_step(d, stream, label) && !stream_start(d, w, stream, &next)) {
                *stream = streams[--n_streams];
                continue;
            }
            if (n) waiting |= (uint32_t)KERNEL(fetch_transition)(d, w, stream, n, parts) << k;
            if (waiting) { /* the rows of a stream for which that was done half a turn ago */
                const int other = k + n_streams / 2,
                          at = other < n_streams ? other : other - n_streams;
                KERNEL(fetch_transition_row)(d, &streams[at]);
                waiting &= ~((uint32_t)1 << at);
            }
        }
    }
    return 0;
}

/* ---- beams ---- */

/* Take from the sums of a state what the token and the labels before it forbid. */
KERNEL_TARGET static inline void KERNEL(hold_state)(const Decoder *d, const BeamStream *b, int s,
                                                    int32_t forced, int is_free, SCORE *sums) {
    const int32_t n = d->layout.table->n_labels, step = n + 1;
    const uint8_t *within = forced < FREE ? mask_of(&d->layout, forced) : NULL;
    const uint8_t *after = is_free ? NULL : d->allowed;
    const int is_last = b->stream.left == 1;
    if (forced >= 0) sums[forced] = 0;
    for (int32_t k = 0; k < n; k++)
        if ((forced >= 0 && k != forced) || (within && !within[k]) ||
            (after &&
             (!after[(int32_t)(b->past[s] & 255) * step + k] || (is_last && !after[k * step + n]))))
            sums[k] = LOWEST;
}

/* The best extension of a state by a label of its sums. */
KERNEL_TARGET static ALWAYS_INLINE int64_t KERNEL(best_of_state)(const Decoder *d, int64_t rank,
                                                                 const PART *sums, int parts) {
    const int32_t label = PART_BEST(sums, parts, d->layout.table->n_labels);
    const SCORE own = ((const SCORE *)(const void *)sums)[label];
    return own == LOWEST ? INT64_MIN
                         : rank + (int64_t)own * BEAM_UNIT + (BEAM_LABELS - 1 - label) * BEAM_RANKS;
}

/* The best extensions of all states by the token at hand, those that train/beam.h finds, too. How
 * many; -1: no memory. */
KERNEL_TARGET static ALWAYS_INLINE int KERNEL(extend_states)(const Decoder *d, Worker *w,
                                                             BeamStream *b, int64_t *chosen,
                                                             int is_free, int parts,
                                                             int mask_words) {
    const int32_t forced = forced_label(d, w, &b->stream);
    PART sums[FAST_BEAM][MAX_PARTS];
    int64_t best[FAST_BEAM];
    for (int s = 0; s < b->n; s++) {
        stream_remember(d, &b->stream, b->past[s]);
        if (forced >= 0)
            memcpy(sums[s], d->start, (size_t)parts * sizeof(PART));
        else if (KERNEL(sum_history)(d, w, &b->stream, sums[s], parts, mask_words) < 0)
            return -1;
        if (forced != FREE || d->allowed)
            KERNEL(hold_state)(d, b, s, forced, is_free, (SCORE *)(void *)sums[s]);
        best[s] = KERNEL(best_of_state)(d, b->ranks[s], sums[s], parts);
    }
    for (int n = 0; n < d->beam; n++) {
        int at = 0; /* the highest: vectors of numbers that were just stored would be waited for */
        for (int s = 1; s < b->n; s++) at = best[s] > best[at] ? s : at;
        if (best[at] == INT64_MIN) return n;
        const int group = beam_group(chosen[n] = best[at]);
        for (int s = 0; s < b->n; s++) {
            if (beam_group(b->ranks[s]) != group) continue;
            PART_DROP(sums[s], parts, beam_label(chosen[n]));
            best[s] = KERNEL(best_of_state)(d, b->ranks[s], sums[s], parts);
        }
    }
    return d->beam;
}

/* Extend all states of a sentence by the token at hand, and keep the best. -1: no memory. */
KERNEL_TARGET static ALWAYS_INLINE int
KERNEL(beam_token)(const Decoder *d, Worker *w, BeamStream *b, int parts, int mask_words) {
    int64_t chosen[FAST_BEAM];
    int n = KERNEL(extend_states)(d, w, b, chosen, 0, parts, mask_words);
    /* Where nothing may follow, whatever scores best does. */
    if (!n) n = KERNEL(extend_states)(d, w, b, chosen, 1, parts, mask_words);
    if (n < 0) return -1;
    beam_take(d, b, chosen, n, w->back + (size_t)b->stream.token * (size_t)d->beam);
    return 0;
}

/* The labels on the way to the state that was best at the end of a sentence, and with keep_scores
 * what its words scored after them. -1: no memory. */
KERNEL_TARGET static inline int KERNEL(trace_labels)(const Decoder *d, Worker *w, Stream *stream,
                                                     int parts, int mask_words) {
    const int64_t back = d->right_to_left ? 1 : -1, n = stream->last - stream->first + 1;
    int64_t token = d->right_to_left ? stream->first : stream->last;
    int32_t state = 0;
    for (int64_t left = n; left; left--, token += back) {
        const int32_t found = w->back[token * d->beam + state];
        w->labels[token] = (uint16_t)(found / FAST_BEAM);
        state = found % FAST_BEAM;
    }
    if (!w->keep_scores) return 0;
    stream_again(d, stream, n);
    do {
        if (forced_label(d, w, stream) < 0 &&
            KERNEL(tag_token)(d, w, stream, FREE, parts, mask_words) < 0)
            return -1;
    } while (stream_step(d, stream, w->labels[stream->token]));
    return 0;
}

/* Fetch what the states say to the next token of their sentence. */
KERNEL_TARGET static ALWAYS_INLINE void KERNEL(fetch_states)(const Decoder *d, const Worker *w,
                                                             BeamStream *b, size_t n, int parts) {
    for (int s = 0; s < b->n; s++) {
        b->stream.past[0] = (int32_t)(b->past[s] & 255);
        if (KERNEL(fetch_transition)(d, w, &b->stream, n, parts)) b->stream.asked = ASKED_NOTHING;
    }
}

KERNEL_TARGET static ALWAYS_INLINE int KERNEL(search_beams)(const Decoder *d, Worker *w, int parts,
                                                            int mask_words) {
    const size_t n = transition_words(&d->layout);
    BeamStream streams[BEAMS_SIDE_BY_SIDE];
    int64_t next = 0;
    int n_streams = 0;
    while (n_streams < BEAMS_SIDE_BY_SIDE && beam_start(d, w, &streams[n_streams], &next))
        n_streams++;
    while (n_streams) {
        for (int k = 0; k < n_streams; k++) {
            BeamStream *b = &streams[k];
            if (KERNEL(beam_token)(d, w, b, parts, mask_words) < 0) return -1;
            if (stream_step(d, &b->stream, -1)) {
                if (n) KERNEL(fetch_states)(d, w, b, n, parts);
                continue;
            }
            if (KERNEL(trace_labels)(d, w, &b->stream, parts, mask_words) < 0) return -1;
            if (!beam_start(d, w, b, &next)) *b = streams[--n_streams];
        }
    }
    return 0;
}

KERNEL_TARGET static inline int KERNEL(tag_words)(const Decoder *d, struct Worker *w) {
    const int parts = d->layout.stride / LANES, mask_words = d->layout.table->mask_words;
    /* Three parts (17 labels, the universal tag set) are worth code of their own. */
    if (MOST_USED && parts == 3) {
        KERNEL(sum_static)(d, w, 3, 1);
        return d->beam > 1 ? KERNEL(search_beams)(d, w, 3, 1) : KERNEL(give_labels)(d, w, 3, 1);
    }
    KERNEL(sum_static)(d, w, parts, mask_words);
    return d->beam > 1 ? KERNEL(search_beams)(d, w, parts, mask_words)
                       : KERNEL(give_labels)(d, w, parts, mask_words);
}

/* The first half of it, for search.h. */
KERNEL_TARGET static void KERNEL(sum_words)(const Decoder *d, Worker *w) {
    KERNEL(sum_static)(d, w, d->layout.stride / LANES, d->layout.table->mask_words);
}

#undef MOST_USED
#undef KERNEL
#undef KERNEL_TARGET
#undef SCORE
#undef LOWEST
#undef PART
#undef PART_ADD
#undef PART_TAKE
#undef PART_DROP
#undef PART_ROW
#undef PART_BEST
