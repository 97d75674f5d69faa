/* What the words of a dictionary say of the place behind an atom, as a column of the decoder of atoms:
 * how long the longest one is that goes on there, that begins, and that ends, as a letter if it is the
 * rest or the front of its run; how much of the run is before and behind, and the type of the atom. A
 * run is of characters of one type. Words are a trie of characters, in which what begins with an atom is
 * followed for at most LONGEST_MATCH of them, so that the time is proportional to the text. */
#pragma once

#include "text/atoms.h"

#define LONGEST_MATCH 12 /* atoms of a word */
#define MOST_SHOWN 5     /* of a length; a longer one is shown as that */
#define MOST_FROM_EDGE 6 /* of characters in a run, likewise */
#define MATCH_BYTES 6

/* Lengths of the longest words that begin and end with an atom, and that go on behind it; how many
 * atoms of its run stand before and behind it. */
typedef struct {
    uint8_t begins, ends, goes_on;
    uint32_t before, behind;
} Match;

/* Of a step of the trie: its node and character; its value is the node that it leads to, and below that
 * whether a word ends there. */
static inline uint64_t step_key(uint32_t node, uint32_t code) {
    return 1 + ((uint64_t)node << 21 | code);
}

static inline void add_entry(Places *words, const uint8_t *word, size_t n, uint32_t *n_nodes) {
    uint32_t node = 0, length;
    for (size_t k = 0; k < n; k += length) {
        const uint64_t key = step_key(node, code_at(word + k, &length));
        const uint32_t step = places_find(words, key);
        node = step ? step >> 1 : ++*n_nodes;
        places_add(words, key, node << 1 | (step & 1) | (k + length == n));
    }
}

/* The type of the run that a letter is in which is an atom of its own; 0 for other atoms. Capitals and
 * small letters are of one. */
static inline int run_of(const Atom *atom) {
    if (KIND_OF(atom->kind) != KIND_OTHER || !IS_LETTER(atom->type)) return 0;
    return atom->type == TYPE_CAPITAL ? TYPE_SMALL : atom->type;
}

static inline void find_matches(const Places *words, const uint8_t *text, const Atom *atoms,
                                size_t n, Match *found) {
    memset(found, 0, n * sizeof *found);
    for (size_t i = 0; i < n; i++) {
        const int goes_on = i && atoms[i - 1].gap == GAP_NOTHING && run_of(&atoms[i]) &&
                            run_of(&atoms[i]) == run_of(&atoms[i - 1]);
        found[i].before = goes_on ? found[i - 1].before + 1 : 0;
    }
    for (size_t i = n; i-- > 0;)
        if (i + 1 < n && found[i + 1].before) found[i].behind = found[i + 1].behind + 1;
    for (size_t i = 0; i < n; i++) {
        uint32_t node = 0, length;
        for (size_t j = i; j < n && j < i + LONGEST_MATCH; j++) {
            uint32_t step = 0;
            for (uint32_t k = atoms[j].begin; k < atoms[j].end; k += length) {
                step = places_find(words, step_key(node, code_at(text + k, &length)));
                node = step >> 1;
                if (!step) break;
            }
            if (!step) break;
            const uint8_t n_atoms = (uint8_t)(j + 1 - i);
            if (step & 1) found[i].begins = n_atoms;
            if (step & 1 && found[j].ends < n_atoms) found[j].ends = n_atoms;
            if (atoms[j].gap != GAP_NOTHING) break;
        }
        for (size_t k = i; k + 1 < i + found[i].begins; k++)
            if (found[k].goes_on < found[i].begins) found[k].goes_on = found[i].begins;
    }
}

static inline uint8_t shown_length(uint8_t length, int is_edge) {
    const int shown = length < MOST_SHOWN ? length : MOST_SHOWN;
    return (uint8_t)((length && is_edge ? 'a' : '0') + shown);
}

static inline uint8_t shown_distance(uint32_t n) {
    return (uint8_t)('0' + (n < MOST_FROM_EDGE ? n : MOST_FROM_EDGE));
}

/* What is seen of the place behind an atom. */
static inline void show_match(const Atom *atoms, size_t n, const Match *found, size_t i,
                              uint8_t shown[MATCH_BYTES]) {
    static const uint8_t types[] = "oAac9hkzc"; /* of other unspaced scripts as of caseless ones */
    const Match *own = &found[i], *next = own + 1;
    const int has_next = i + 1 < n && atoms[i].gap == GAP_NOTHING;
    shown[0] = shown_length(own->goes_on, 0);
    shown[1] = has_next ? shown_length(next->begins, next->begins == next->behind + 1) : '0';
    shown[2] = shown_length(own->ends, own->ends == own->before + 1);
    shown[3] = shown_distance(own->before);
    shown[4] = shown_distance(own->behind);
    shown[5] = types[atoms[i].type];
}
