/* Lemmas by edit scripts (text/scripts.py), and the scripts that lead to known ones
 * (tagger/model/lemmas.py): the same in numbers.
 *
 * Whether a script leads to a known lemma is seen from the hash of what it makes, which follows from
 * those of the beginnings of the word; only what is found is put together and compared. Hashes are
 * sums of letters times powers of a number that is drawn anew by each process, since files choose the
 * lemmas: words that collide whatever it is have some hundred letters. */
#pragma once

#include "features/utf8.h"
#include "tag/typelayout.h"

#define LETTER_PAGES 0x1100
#define LETTER_PAGE 256
#define MOST_KNOWN 8      /* scripts that are named of a word */
#define KNOWN_BYTES 128   /* "u4294967295|" eight times */
#define SCRIPT_LETTERS 64 /* that a script puts at either end */
enum { LETTER_ALPHA = 1, LETTER_UPPER = 2, LETTER_OTHER_CASE = 4 };

/* What becomes of one letter. */
typedef struct {
    uint32_t read, low, high, bare;
    uint32_t accented; /* 0: it bears no acute */
    uint32_t flags;
} Letter;

typedef struct {
    const Letter *pages[LETTER_PAGES]; /* NULL: not known yet */
    int32_t missing;                   /* the page that was needed, or -1 */
} Letters;

typedef struct {
    char kind; /* l, k, t or u; '=' for a literal */
    int32_t drop_front, drop_back;
    int32_t acute; /* -1: accents stay */
    uint32_t n_front, n_back;
    const uint32_t *front, *back;
    const uint8_t *literal;
    uint32_t literal_bytes;
} LemmaScript;

/* A script that may lead to a known lemma. Those that leave one stem stand beside each other. */
typedef struct {
    const LemmaScript *script;
    uint32_t number;
    uint32_t group_end; /* behind the last one of its stem */
    uint32_t end_mark;  /* below 64 */
    uint64_t ends;      /* a bit for the end mark of each script from it to the last of its stem */
    uint64_t front_hash, back_hash;
} KnownScript;

typedef struct {
    uint32_t at, n; /* in the lemmas' letters */
    int32_t upos;
    uint32_t only; /* hash of its only form, or 0 */
} KnownLemma;

typedef struct {
    const LemmaScript *scripts; /* the labels */
    uint32_t n_scripts;
    const KnownScript *known;
    uint32_t n_known;
    const KnownLemma *lemmas;
    const uint32_t *letters;
    uint64_t base;   /* odd; of all hashes of letters */
    uint64_t *slots; /* upper half of a hash << 32 | lemma + 1; 0: empty */
    int bits;
    uint64_t *stems; /* by what precedes the ends of lemmas, a bit for each end */
    int stem_bits;
} LemmaModel;

/* A word and what is needed of it; grows with the longest. */
typedef struct {
    uint32_t *form, *low, *bare, *made;
    uint64_t *hashes, *bare_hashes, *powers; /* of the first n letters */
    uint32_t *bearers;                       /* places of letters that bear an acute, in bare */
    uint8_t *bytes;                          /* the lemma that was made last */
    uint64_t base;                           /* that of the model */
    uint32_t n, n_bearers, room;
    int is_bare; /* is low the same as bare? */
} LemmaWord;

static inline void lemma_word_close(LemmaWord *w) {
    free(w->form);
    free(w->low);
    free(w->bare);
    free(w->made);
    free(w->hashes);
    free(w->bare_hashes);
    free(w->powers);
    free(w->bearers);
    free(w->bytes);
    memset(w, 0, sizeof *w);
}

static inline int lemma_word_room(LemmaWord *w, size_t n) {
    if (n < w->room) return 0;
    const size_t room = n + n / 2 + 64, more = room + 2 * SCRIPT_LETTERS + 1;
    if (grow_array(&w->form, room, 4) < 0 || grow_array(&w->low, room, 4) < 0 ||
        grow_array(&w->bare, room, 4) < 0 || grow_array(&w->made, more, 4) < 0 ||
        grow_array(&w->hashes, room + 1, 8) < 0 || grow_array(&w->bare_hashes, room + 1, 8) < 0 ||
        grow_array(&w->powers, more, 8) < 0 || grow_array(&w->bearers, room, 4) < 0 ||
        grow_array(&w->bytes, 4 * more, 1) < 0)
        return -1;
    w->powers[0] = 1;
    for (size_t k = 1; k < more; k++) w->powers[k] = w->powers[k - 1] * w->base;
    w->room = (uint32_t)room;
    return 0;
}

static inline const Letter *letter_of(Letters *known, uint32_t code) {
    const Letter *page = known->pages[code / LETTER_PAGE];
    if (page) return page + code % LETTER_PAGE;
    known->missing = (int32_t)(code / LETTER_PAGE);
    return NULL;
}

static inline uint64_t letters_hash(const uint32_t *letters, size_t n, uint64_t base) {
    uint64_t hash = 0;
    for (size_t k = 0; k < n; k++) hash = hash * base + letters[k] + 1;
    return hash;
}

/* Read a word, of n > 0 bytes; -1: no memory, or a page is missing. */
static inline int lemma_word_read(LemmaWord *w, Letters *known, const uint8_t *text, size_t n) {
    if (n >= UINT32_MAX / 8 || lemma_word_room(w, n) < 0) return -1;
    w->n = visible_points(text, n, w->form);
    w->n_bearers = 0;
    w->is_bare = 1;
    w->hashes[0] = w->bare_hashes[0] = 0;
    for (uint32_t k = 0; k < w->n; k++) {
        const Letter *letter = letter_of(known, w->form[k]);
        if (letter && letter->read != w->form[k])
            letter = letter_of(known, w->form[k] = letter->read);
        const Letter *low = letter ? letter_of(known, letter->low) : NULL;
        const Letter *bare = low ? letter_of(known, low->bare) : NULL;
        const Letter *accented = bare ? letter_of(known, bare->accented) : NULL;
        if (!accented) return -1;
        w->low[k] = letter->low;
        w->bare[k] = low->bare;
        w->is_bare &= low->bare == letter->low;
        if (bare->accented) w->bearers[w->n_bearers++] = k;
        w->hashes[k + 1] = w->hashes[k] * w->base + letter->low + 1;
        w->bare_hashes[k + 1] = w->bare_hashes[k] * w->base + low->bare + 1;
    }
    return 0;
}

/* ---- what a script makes ---- */

/* Set one acute on letters that have none; -1: a page is missing. */
static inline int set_acute(Letters *known, uint32_t *letters, uint32_t n, int32_t place) {
    while (n-- && place) {
        const Letter *letter = letter_of(known, letters[n]);
        if (!letter) return -1;
        if (letter->accented && !--place) letters[n] = letter->accented;
    }
    return 0;
}

/* The letters that a script makes of the word in lower case, before its case is restored, into made;
 * how many. -1: a page is missing; 0: it does not apply. */
static inline int64_t script_letters(const LemmaScript *s, LemmaWord *w, Letters *known) {
    if ((int64_t)s->drop_front + s->drop_back >= (int64_t)w->n) return 0;
    const uint32_t length = w->n - (uint32_t)s->drop_front - (uint32_t)s->drop_back;
    const uint32_t *stem = (s->acute < 0 ? w->low : w->bare) + s->drop_front;
    if ((!s->n_front && stem[0] == ' ') || (!s->n_back && stem[length - 1] == ' ')) return 0;
    uint32_t *to = w->made;
    if (s->n_front) memcpy(to, s->front, s->n_front * sizeof *to);
    memcpy(to + s->n_front, stem, length * sizeof *to);
    if (s->n_back) memcpy(to + s->n_front + length, s->back, s->n_back * sizeof *to);
    const uint32_t n = s->n_front + length + s->n_back;
    if (s->acute < 0) return n;
    for (uint32_t k = 0; k < n; k++) {
        const Letter *letter = letter_of(known, to[k]);
        if (!letter) return -1;
        to[k] = letter->bare;
    }
    if (set_acute(known, to, n, s->acute) < 0) return -1;
    return n;
}

static inline int raise_letters(Letters *known, uint32_t *letters, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        const Letter *letter = letter_of(known, letters[k]);
        if (!letter) return -1;
        letters[k] = letter->high;
    }
    return 0;
}

/* Is the word in capitals, as str.isupper says? -1: a page is missing. */
static inline int word_is_upper(const LemmaWord *w, Letters *known) {
    int some = 0;
    for (uint32_t k = 0; k < w->n; k++) {
        const Letter *letter = letter_of(known, w->form[k]);
        if (!letter) return -1;
        if (letter->flags & LETTER_OTHER_CASE) return 0;
        some |= letter->flags & LETTER_UPPER;
    }
    return some != 0;
}

/* Restore the case; -1: a page is missing. */
static inline int restore_case(const LemmaScript *s, LemmaWord *w, Letters *known, uint32_t n) {
    if (s->kind == 'u') return raise_letters(known, w->made, n);
    if (s->kind == 't') return raise_letters(known, w->made, 1);
    if (s->kind != 'k') return 0;
    const int all = w->n > 1 ? word_is_upper(w, known) : 0;
    if (all) return all < 0 ? -1 : raise_letters(known, w->made, n);
    const uint32_t length = n - s->n_front - s->n_back;
    for (uint32_t k = 0; k < length; k++)
        if (w->form[(uint32_t)s->drop_front + k] != w->low[(uint32_t)s->drop_front + k] &&
            raise_letters(known, w->made + s->n_front + k, 1) < 0)
            return -1;
    return 0;
}

/* The lemma that a script makes of a word: its bytes, where *text points. 0: it does not apply; -1: a
 * page is missing. */
static inline int64_t script_lemma(const LemmaScript *s, LemmaWord *w, Letters *known,
                                   const uint8_t **text) {
    if (s->kind == '=') {
        *text = s->literal;
        return s->literal_bytes;
    }
    const int64_t n = script_letters(s, w, known);
    if (n <= 0) return n;
    if (restore_case(s, w, known, (uint32_t)n) < 0) return -1;
    uint32_t bytes = 0;
    for (int64_t k = 0; k < n; k++) bytes += utf8_put(w->bytes + bytes, w->made[k]);
    *text = w->bytes;
    return bytes;
}

/* ---- known lemmas ---- */

static inline uint64_t lemma_key(uint64_t hash, int32_t upos) {
    hash = (hash ^ hash >> 29) * XXH_P1 + (uint64_t)(uint32_t)upos * XXH_P2;
    return (hash ^ hash >> 32) * XXH_P3;
}

static inline int known_lemmas_open(LemmaModel *m, uint32_t n) {
    m->bits = 4;
    while ((uint64_t)1 << m->bits < 4 * (uint64_t)n) m->bits++;
    m->slots = (uint64_t *)calloc((size_t)1 << m->bits, sizeof *m->slots);
    if (!m->slots) return -1;
    const size_t mask = ((size_t)1 << m->bits) - 1;
    for (uint32_t k = 0; k < n; k++) {
        const KnownLemma *lemma = &m->lemmas[k];
        const uint64_t hash = letters_hash(m->letters + lemma->at, lemma->n, m->base);
        const uint64_t key = lemma_key(hash, lemma->upos);
        size_t at = (size_t)(key >> (64 - m->bits));
        while (m->slots[at]) at = (at + 1) & mask;
        m->slots[at] = key << 32 | (k + 1);
    }
    return 0;
}

/* Do two scripts leave the same stem with the same front? */
static inline int are_alike(const KnownScript *a, const KnownScript *b) {
    const LemmaScript *s = a->script, *t = b->script;
    return s->acute < 0 && t->acute < 0 && s->drop_front == t->drop_front &&
           s->drop_back == t->drop_back && a->front_hash == b->front_hash &&
           s->n_front == t->n_front;
}

/* An end of a lemma, by how many letters it has and the first of them: below 64. */
static inline uint32_t end_mark(uint32_t n, const uint32_t *letters) {
    return (29 * n + (n ? *letters : 0)) & 63;
}

/* Tell groups of scripts, and note what precedes the ends of lemmas that scripts may put there. -1: no
 * memory. */
static inline int known_scripts_open(LemmaModel *m, KnownScript *known, uint32_t n,
                                     uint32_t n_lemmas) {
    uint8_t lengths[SCRIPT_LETTERS + 1] = {0};
    m->known = known;
    m->n_known = n;
    for (uint32_t k = n; k-- > 0;) {
        const int is_last = k + 1 == n || !are_alike(&known[k], &known[k + 1]);
        known[k].group_end = is_last ? k + 1 : known[k + 1].group_end;
        known[k].end_mark = end_mark(known[k].script->n_back, known[k].script->back);
        known[k].ends = (is_last ? 0 : known[k + 1].ends) | (uint64_t)1 << known[k].end_mark;
        lengths[known[k].script->n_back] = 1;
    }
    m->stem_bits = 4;
    while ((uint64_t)1 << m->stem_bits < n_lemmas) m->stem_bits++;
    m->stems = (uint64_t *)calloc((size_t)1 << m->stem_bits, sizeof *m->stems);
    if (!m->stems) return -1;
    for (uint32_t k = 0; k < n_lemmas; k++) {
        const KnownLemma *lemma = &m->lemmas[k];
        uint64_t hash = 0;
        for (uint32_t i = 0; i < lemma->n; i++) {
            const uint32_t left = lemma->n - i - 1;
            hash = hash * m->base + m->letters[lemma->at + i] + 1;
            if (left > SCRIPT_LETTERS || !lengths[left]) continue;
            const uint64_t key = lemma_key(hash, lemma->upos);
            const uint32_t end = end_mark(left, m->letters + lemma->at + i + 1);
            m->stems[key >> (64 - m->stem_bits)] |= (uint64_t)1 << ((key + end) & 63);
        }
    }
    return 0;
}

/* The hash of what a script makes of a word to which it applies, but for what it puts at the end. */
static inline uint64_t stem_hash(const KnownScript *k, const LemmaWord *w) {
    const LemmaScript *s = k->script;
    const uint32_t begin = (uint32_t)s->drop_front, end = w->n - (uint32_t)s->drop_back;
    const uint64_t *hashes = s->acute < 0 ? w->hashes : w->bare_hashes;
    if (!begin && !s->n_front) return hashes[end];
    return (k->front_hash - hashes[begin]) * w->powers[end - begin] + hashes[end];
}

/* Does a script leave anything of a word? */
static inline int leaves_stem(const KnownScript *k, const LemmaWord *w) {
    return (int64_t)k->script->drop_front + k->script->drop_back < (int64_t)w->n;
}

/* The key of what a script makes of a word to which it applies, where that sets no accent. */
static inline uint64_t made_key(const KnownScript *k, const LemmaWord *w, int32_t upos) {
    return lemma_key(stem_hash(k, w) * w->powers[k->script->n_back] + k->back_hash, upos);
}

/* The known lemma that a script leads to; NULL: none. *status < 0: a page is missing. */
static inline const KnownLemma *lemma_made(const LemmaModel *m, const KnownScript *k, LemmaWord *w,
                                           Letters *known, int32_t upos, int *status) {
    const LemmaScript *s = k->script;
    const size_t mask = ((size_t)1 << m->bits) - 1;
    int64_t n = 0;
    uint64_t key;
    if (s->acute > 0) { /* the accent changes the hash */
        n = script_letters(s, w, known);
        if (n < 0) *status = -1;
        if (n <= 0) return NULL;
        key = lemma_key(letters_hash(w->made, (size_t)n, m->base), upos);
    } else {
        key = made_key(k, w, upos);
    }
    for (size_t at = (size_t)(key >> (64 - m->bits)); m->slots[at]; at = (at + 1) & mask) {
        if (m->slots[at] >> 32 != (key & 0xFFFFFFFFu)) continue;
        const KnownLemma *lemma = &m->lemmas[(uint32_t)m->slots[at] - 1];
        if (!n) n = script_letters(s, w, known);
        if (n < 0) *status = -1;
        if (n <= 0) return NULL;
        if (lemma->upos == upos && lemma->n == n &&
            !memcmp(m->letters + lemma->at, w->made, (size_t)n * sizeof *w->made))
            return lemma;
    }
    return NULL;
}

#define STEMS_ASKED 32

/* Stems that scripts leave of a word, and of the ends that they put behind each, a bit for each mark that
 * a known lemma may have there. */
typedef struct {
    int n;
    uint32_t next; /* the script behind those of the stems */
    uint32_t first[STEMS_ASKED];
    uint64_t keys[STEMS_ASKED], noted[STEMS_ASKED];
} KnownStems;

/* Look up the next stems. What this and lemma_made read is anywhere in memory, so all of it is fetched
 * before any is read. */
static inline void ask_stems(const LemmaModel *m, KnownStems *x, const LemmaWord *w, int32_t upos) {
    x->n = 0;
    for (uint32_t k = x->next; k < m->n_known && x->n < STEMS_ASKED; k = m->known[k].group_end) {
        const KnownScript *own = &m->known[k];
        x->next = own->group_end;
        if (!leaves_stem(own, w)) continue;
        x->first[x->n] = k;
        x->noted[x->n] = own->ends;
        if (own->script->acute < 0) {
            x->keys[x->n] = lemma_key(stem_hash(own, w), upos);
            PREFETCH(m->stems + (x->keys[x->n] >> (64 - m->stem_bits)));
        }
        x->n++;
    }
    for (int i = 0; i < x->n; i++) {
        const KnownScript *own = &m->known[x->first[i]];
        if (own->script->acute < 0) {
            const uint64_t key = x->keys[i], noted = m->stems[key >> (64 - m->stem_bits)];
            x->noted[i] &= noted >> (key & 63) | noted << (-key & 63);
        }
        for (const KnownScript *k = own; x->noted[i] && k < m->known + own->group_end; k++)
            if (x->noted[i] >> k->end_mark & 1 && k->script->acute <= 0)
                PREFETCH(m->slots + (made_key(k, w, upos) >> (64 - m->bits)));
    }
}

static inline uint32_t put_decimal(uint8_t *to, uint32_t number) {
    uint8_t digits[10];
    uint32_t n = 0;
    do digits[n++] = (uint8_t)('0' + number % 10);
    while (number /= 10);
    for (uint32_t k = 0; k < n; k++) to[k] = digits[n - 1 - k];
    return n;
}

/* Note a number among the lowest, which ascend. */
static inline void note_script(uint32_t numbers[MOST_KNOWN], uint32_t *n, uint32_t number) {
    uint32_t at = *n;
    if (at == MOST_KNOWN && numbers[--at] < number) return;
    if (*n < MOST_KNOWN) ++*n;
    for (; at && numbers[at - 1] > number; at--) numbers[at] = numbers[at - 1];
    numbers[at] = number;
}

/* The scripts that lead from a word to a known lemma of another form, as the column `known` writes
 * them; how many bytes. -1: no memory, or a page is missing. */
static inline int known_scripts(const LemmaModel *m, LemmaWord *w, Letters *known, int32_t upos,
                                uint8_t to[KNOWN_BYTES]) {
    uint32_t numbers[MOST_KNOWN], n = 0, found = 0;
    int alpha = 0, status = 0;
    for (uint32_t k = 0; k < w->n && !alpha; k++) {
        const Letter *letter = letter_of(known, w->low[k]);
        if (!letter) return -1;
        alpha = letter->flags & LETTER_ALPHA;
    }
    if (alpha && upos >= 0) {
        uint32_t bytes = 0;
        for (uint32_t k = 0; k < w->n; k++) bytes += utf8_put(w->bytes + bytes, w->low[k]);
        uint32_t own = (uint32_t)(xxh64(w->bytes, bytes, 0) >> 32);
        if (!own) own = 1;
        KnownStems x = {0};
        while (x.next < m->n_known) {
            ask_stems(m, &x, w, upos);
            for (int i = 0; i < x.n; i++) {
                const uint32_t end = m->known[x.first[i]].group_end;
                for (uint32_t k = x.first[i]; x.noted[i] && k < end; k++) {
                    if (!(x.noted[i] >> m->known[k].end_mark & 1)) continue;
                    const KnownLemma *lemma = lemma_made(m, &m->known[k], w, known, upos, &status);
                    if (status < 0) return -1;
                    if (lemma && lemma->only != own)
                        note_script(numbers, &found, m->known[k].number);
                }
            }
        }
        for (uint32_t k = 0; k < found; k++) {
            if (k) to[n++] = '|';
            to[n++] = 'u';
            n += put_decimal(to + n, numbers[k]);
        }
    }
    if (!found) to[n++] = '_';
    return (int)n;
}
