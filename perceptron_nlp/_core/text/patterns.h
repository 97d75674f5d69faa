/* Patterns that are one token in most languages: addresses, numbers, pictures. Each is made of atoms
 * with nothing between them. The time is proportional to the atoms: what does not match is found out
 * within a few of them, or once for a run of characters of names. */
#pragma once

#include "text/atoms.h"

/* In the order of text/tagset.py. */
enum {
    PATTERN_URL,
    PATTERN_EMAIL,
    PATTERN_HOST,
    PATTERN_FILE,
    PATTERN_HANDLE,
    PATTERN_TAG,
    PATTERN_VERSION,
    PATTERN_DATE,
    PATTERN_TIME,
    PATTERN_NUMBER,
    PATTERN_FRACTION,
    PATTERN_NAME,
    PATTERN_INITIALS,
    PATTERN_EMOJI,
    PATTERN_EMOTICON,
    PATTERN_ENTITY,
    PATTERN_CODE,
    PATTERN_ACRONYM,
    PATTERN_DOTS,
    PATTERN_MARKUP,
    /* Marks that are tokens, see is_ordinal, enclosing_kind, is_note and hold_commas, and what ends sentences
     * or does not, see final_kind and opens_item. */
    PATTERN_ORDINAL,
    PATTERN_BRACKET,
    PATTERN_QUOTE,
    PATTERN_EMPHASIS,
    PATTERN_NOTE,
    PATTERN_COMMA,
    PATTERN_STOP,
    PATTERN_EXCLAMATION,
    PATTERN_QUESTION,
    PATTERN_ELLIPSIS,
    PATTERN_CLOSED,
    PATTERN_BRACKETED,
    PATTERN_DASH,
    PATTERN_UNSPACED,
    PATTERN_YEAR,
    PATTERN_TRAILING,
    PATTERN_SHORT,
    PATTERN_COLON,
    PATTERN_SYMBOL,
    PATTERN_OPERATOR,
    PATTERN_ITEM,
    PATTERN_HYPHEN, /* see sides_of */
    PATTERN_COUNT,
};
/* A full stop or bracket behind it is no part of its token; behind numbers it may be. */
#define IS_CLOSED(kind) ((kind) <= PATTERN_TAG || (kind) == PATTERN_TIME || (kind) >= PATTERN_NAME)
/* Words beside it are other tokens. */
#define IS_APART(kind) ((kind) == PATTERN_ENTITY || (kind) == PATTERN_MARKUP)

/* Looks of letters: capital, small, other; and of digits. */
enum { LOOK_CAPITAL = LOOK_CLASSES + 1, LOOK_SMALL, LOOK_CASELESS, LOOK_DIGIT };
#define JOINER 0x200Du

/* Ends of host names that no language has as words, or few; what stands before other ones of two
 * letters; ends of file names. */
static const char *const HOST_ENDS =
    " com org net edu gov mil info uk de fr gr jp cn ru br ch nl fi dk cz hu pt kr ie nz mx eu "
    "ua tv io ro bg rs sk cl za tw hk sg vn ";
static const char *const BEFORE_ENDS = " co com org net gov edu ac ";
static const char *const FILE_ENDS =
    " doc docx pdf txt csv tsv xls xlsx ppt pptx odt rtf tex html htm xhtml xml json yaml yml css "
    "js py rb php java cpp hpp exe dll zip gz tar bz2 rar 7z jpg jpeg png gif bmp svg tif tiff "
    "mp3 mp4 avi mkv wav flac ogg iso log md sql db cfg ini conf dat tmp apk deb rpm conllu ipynb ";
/* What a version has behind its numbers. */
static const char *const STAGES = " alpha beta rc pre dev post ";
#define LONGEST_END 6
#define MOST_ITEM_DIGITS 3
#define MOST_ORDINAL_DIGITS 2
#define LONGEST_CODE 40 /* atoms, or characters of a name in markup */
#define MOST_OF_OPERATOR 4
#define SHORTEST_NOTED 4 /* letters: m² is a unit */
#define LEADS ">/#%;"    /* of quoted lines, comments and headings */

typedef struct {
    const uint8_t *text;
    const Atom *atoms;
    int64_t n;   /* nothing stands between these, */
    int64_t at;  /* of which those before have been looked at, */
    int64_t end; /* and those before, characters of names, for what all of a run tells */
} Chunk;

static inline uint32_t mark_at(const Chunk *c, int64_t k) {
    return k >= 0 && k < c->n && c->atoms[k].first < LOOK_CLASSES ? c->atoms[k].first : 0;
}

static inline int64_t n_chars(const Chunk *c, int64_t k) {
    return c->atoms[k].char_end - c->atoms[k].char_begin;
}

static inline int is_digits(const Chunk *c, int64_t k) {
    return k >= 0 && k < c->n && c->atoms[k].first == LOOK_DIGIT;
}

/* Letters of ASCII, of which codes are made. */
static inline int is_of_code(const Chunk *c, int64_t k) {
    if (k < 0 || k >= c->n || c->atoms[k].first > LOOK_SMALL) return 0;
    const uint8_t *own = c->text + c->atoms[k].begin;
    const size_t n = c->atoms[k].end - c->atoms[k].begin;
    return c->atoms[k].first >= LOOK_CAPITAL && *own < 0x80 && n == (size_t)n_chars(c, k) &&
           !memchr(own, '&', n);
}

/* Of os.path.join, which has three parts or more. */
static inline int is_part_of_name(const Chunk *c, int64_t k) {
    return is_of_code(c, k) && n_chars(c, k) > 1;
}

/* A run of letters; single ones without case may be of a script without spaces. */
static inline int is_letters(const Chunk *c, int64_t k) {
    if (k < 0 || k >= c->n) return 0;
    const uint32_t look = c->atoms[k].first;
    return look == LOOK_CAPITAL || look == LOOK_SMALL ||
           (look == LOOK_CASELESS && n_chars(c, k) > 1 && c->text[c->atoms[k].begin] != '&');
}

static inline int is_name(const Chunk *c, int64_t k) {
    return is_letters(c, k) || is_digits(c, k);
}

static inline int is_one_of(uint32_t mark, const char *marks) {
    return mark && mark < 0x80 && strchr(marks, (int)mark) != NULL;
}

/* The end of the names and marks from k on. */
static inline int64_t run_end(const Chunk *c, int64_t k, const char *marks) {
    while (is_name(c, k) || is_one_of(mark_at(c, k), marks)) k++;
    return k;
}

static inline int64_t strip_marks(const Chunk *c, int64_t begin, int64_t end, const char *marks) {
    while (end > begin && is_one_of(mark_at(c, end - 1), marks)) end--;
    return end;
}

/* Is the text of atoms begin .. end, in lower case, one of words between spaces? */
static inline int is_listed(const Chunk *c, int64_t begin, int64_t end, const char *words) {
    const size_t n = c->atoms[end - 1].end - c->atoms[begin].begin;
    const uint8_t *at = c->text + c->atoms[begin].begin;
    char own[LONGEST_END + 3] = " ";
    if (n > LONGEST_END) return 0;
    for (size_t k = 0; k < n; k++) {
        if (at[k] <= ' ' || at[k] >= 0x80) return 0;
        own[k + 1] = (char)(at[k] >= 'A' && at[k] <= 'Z' ? at[k] | 0x20 : at[k]);
    }
    own[n + 1] = ' ';
    own[n + 2] = 0;
    return strstr(words, own) != NULL;
}

/* Room for atoms that others were made to. */
typedef struct {
    Atom *atoms;
    size_t room;
} Runs;

/* Are atom k and the next of one run of letters, of which each may be an atom? */
static inline int goes_on_in(const Chunk *c, int64_t k) {
    if (k < 0 || k + 1 >= c->n || n_chars(c, k) == LONGEST_ATOM) return 0;
    const uint8_t own = c->atoms[k].type, next = c->atoms[k + 1].type;
    return IS_LETTER(own) && IS_LETTER(next) && !IS_UNSPACED(own) && !IS_UNSPACED(next);
}

/* A chunk as patterns have it, in runs of letters: itself, where no letters are apart. */
static inline Chunk in_runs(const Chunk *c, Runs *x) {
    int64_t n = 0, k = 0;
    while (k < c->n && !goes_on_in(c, k)) k++;
    if (k == c->n || array_room(&x->atoms, &x->room, (size_t)c->n, sizeof *x->atoms) < 0) return *c;
    for (k = 0; k < c->n; k++) {
        if (!goes_on_in(c, k - 1)) x->atoms[n++] = c->atoms[k];
        x->atoms[n - 1].end = c->atoms[k].end;
        x->atoms[n - 1].char_end = c->atoms[k].char_end;
        x->atoms[n - 1].last = c->atoms[k].last;
    }
    return (Chunk){c->text, x->atoms, n, 0, 0};
}

/* The atom from k on with which an atom of its runs begins, or the end. */
static inline int64_t place_of(const Chunk *c, const Chunk *runs, int64_t run, int64_t k) {
    if (run == runs->n) return c->n;
    while (c->atoms[k].begin < runs->atoms[run].begin) k++;
    return k;
}

/* May the end of a host be a word behind the end of a sentence? League.De, year.Net */
static inline int may_follow(const Chunk *c, int64_t k) {
    const Atom *own = &c->atoms[k];
    return own->first == LOOK_CAPITAL && own->last == LOOK_SMALL &&
           (n_chars(c, k) < 3 || c->atoms[k - 2].first == LOOK_SMALL);
}

/* The end of what may stand in an address, without marks and brackets that close it. */
static inline int64_t address_end(const Chunk *c, int64_t begin) {
    int64_t end = begin, open = 0;
    for (; is_name(c, end) || is_one_of(mark_at(c, end), "!#$%&()*+,-./:;=?@_~"); end++)
        open += (mark_at(c, end) == '(') - (mark_at(c, end) == ')');
    for (; end > begin; end--) {
        const uint32_t mark = mark_at(c, end - 1);
        if (mark == ')' && open < 0)
            open++;
        else if (!is_one_of(mark, ".,;:!?*("))
            break;
        else
            open -= mark == '(';
    }
    return end;
}

/* Is atom k this capital letter alone? */
static inline int is_capital(const Chunk *c, int64_t k, uint8_t letter) {
    return k < c->n && c->atoms[k].first == LOOK_CAPITAL && n_chars(c, k) == 1 &&
           c->text[c->atoms[k].begin] == letter;
}

static inline int begins_path(const Chunk *c, int64_t k) {
    return mark_at(c, k) == '/' && is_name(c, k + 1 + (mark_at(c, k + 1) == '~'));
}

/* The end of a group of an address of numbers, at most four hexadecimal digits; else its begin. */
static inline int64_t group_end(const Chunk *c, int64_t begin, int64_t *chars, int *has_digit) {
    int64_t k = begin;
    for (*chars = 0; is_digits(c, k) || is_of_code(c, k); k++) {
        for (uint32_t i = c->atoms[k].begin; i < c->atoms[k].end; i++)
            if (++*chars > 4 || !is_one_of(c->text[i], "0123456789ABCDEFabcdef")) return begin;
        *has_digit |= is_digits(c, k);
    }
    return is_name(c, k) ? begin : k;
}

/* 2001:db8::8a2e:370:7334, ::1, fe80::1%eth0, 2001:db8::/32 (eight groups, or fewer and a gap);
 * 00:1a:2b:3c:4d:5e (six of two digits): is this such an address? Then *address_end is its end. */
static inline int is_in_groups(const Chunk *c, int64_t *address_end) {
    int has_digit = 0;
    int64_t chars, gaps = 0;
    const int64_t p = c->at;
    if (is_name(c, p - 1) || mark_at(c, p - 1) == ':') return 0;
    int64_t end = group_end(c, p, &chars, &has_digit), groups = end > p, are_pairs = chars == 2;
    while (mark_at(c, end) == ':') {
        const int64_t is_gap = mark_at(c, end + 1) == ':', begin = end + 1 + is_gap;
        const int64_t next = group_end(c, begin, &chars, &has_digit);
        gaps += is_gap;
        if (next == begin) {
            if (is_name(c, begin) || mark_at(c, begin) == ':') return 0;
            end += 2 * is_gap;
            break;
        }
        groups++, are_pairs &= chars == 2;
        end = next;
    }
    const int is_device = gaps == 0 && groups == 6 && are_pairs;
    const int has_length = mark_at(c, end) == '/' && is_digits(c, end + 1);
    const int is_short = gaps == 1 && groups < 8 && (groups > 1 || has_length || !is_name(c, p));
    const int is_whole = gaps == 0 && groups == 8;
    if (!is_device && (!has_digit || groups == 0 || !(is_short || is_whole))) return 0;
    *address_end = end;
    if (is_device) return 1;
    while (mark_at(c, end) == '.' && is_digits(c, end + 1)) end += 2;
    if (mark_at(c, end) == '%' && is_name(c, end + 1)) end = run_end(c, end + 1, "");
    *address_end = mark_at(c, end) == '/' && is_digits(c, end + 1) ? end + 2 : end;
    return 1;
}

/* What begins with a run of characters of names: kind, or -1; *end is where it ends. */
static inline int name_pattern(const Chunk *c, int64_t *end) {
    const int64_t p = c->at, run = c->end;
    const uint32_t next = mark_at(c, p + 1);
    if (next == ':' && is_letters(c, p)) {
        const int64_t brackets = mark_at(c, p + 4) == '[' ? run_end(c, p + 5, ":.%") - p - 3 : 0;
        const int is_host = brackets ? mark_at(c, p + 3 + brackets) == ']' : is_name(c, p + 4);
        if (mark_at(c, p + 2) == '/' && mark_at(c, p + 3) == '/' && is_host) {
            *end = address_end(c, p + 4 + brackets);
            return PATTERN_URL;
        }
        if (mark_at(c, p + 2) == '\\' && is_name(c, p + 3) && n_chars(c, p) == 1) {
            *end = strip_marks(c, p, run_end(c, p + 3, "\\._-"), "\\._-");
            return PATTERN_FILE;
        }
    }
    if (next == '.' && is_name(c, p + 2) && is_listed(c, p, p + 1, " www ")) {
        *end = address_end(c, p);
        return PATTERN_URL;
    }
    if (mark_at(c, run) == '@' && is_letters(c, run + 1)) {
        *end = strip_marks(c, p, run_end(c, run + 1, ".-"), ".-");
        if (mark_at(c, *end) != ':' || !is_name(c, *end + 1)) return PATTERN_EMAIL;
        const int64_t slash = run_end(c, *end + 1, "._-~");
        const int64_t path = strip_marks(c, p, run_end(c, slash, "._-/~"), "._-/~");
        if (path <= slash) return PATTERN_EMAIL;
        *end = path;
        return PATTERN_URL;
    }
    if (mark_at(c, run) == ':' && is_in_groups(c, end)) return PATTERN_HOST;
    if (run < p + 2 && mark_at(c, run) != '/') return -1;
    int64_t host = strip_marks(c, p, run_end(c, p, ".-"), ".-");
    if (host > p + 2 && mark_at(c, host - 2) == '.' && is_name(c, host - 3)) {
        const int has_path = begins_path(c, host);
        const int64_t chars = n_chars(c, host - 1);
        const int may_end = is_letters(c, host - 1) && chars > 1 && chars < 4;
        const int is_second = chars == 2 && is_listed(c, host - 3, host - 2, BEFORE_ENDS);
        const int is_known = is_listed(c, host - 1, host, HOST_ENDS) && !may_follow(c, host - 1);
        if (is_known || (may_end && (has_path || is_second))) {
            if (mark_at(c, host) == ':' && is_digits(c, host + 1)) host += 2;
            *end = begins_path(c, host) ? address_end(c, host) : host;
            return PATTERN_HOST;
        }
    }
    if (mark_at(c, p - 1) == '/') return -1;
    const int64_t file = strip_marks(c, p, run_end(c, p, "._-/"), "._-/");
    for (int64_t dot = file - 1; dot > p && dot > file - 4; dot--)
        if (mark_at(c, dot) == '.' && is_name(c, dot - 1) &&
            is_listed(c, dot + 1, file, FILE_ENDS)) {
            *end = file;
            return PATTERN_FILE;
        }
    for (*end = p + 1; mark_at(c, *end) == '.' && is_part_of_name(c, *end + 1);) *end += 2;
    const int is_small = c->atoms[p].first == LOOK_SMALL && is_part_of_name(c, p);
    if (is_small && *end > p + 4 && !is_name(c, *end)) return PATTERN_HOST;
    if (mark_at(c, p - 1) == '_') return -1;
    const int64_t last = strip_marks(c, p, run_end(c, p, "_"), "_");
    for (int64_t k = p + 1; k < last; k++)
        if (mark_at(c, k) == '_') return *end = last, PATTERN_FILE;
    return -1;
}

/* The end of a version whose numbers end at k: 1.2.0-rc.1, 2.0.0-beta2, 3.1.4-dev. */
static inline int64_t version_end(const Chunk *c, int64_t k) {
    if (mark_at(c, k) != '-' || !is_letters(c, k + 1) || !is_listed(c, k + 1, k + 2, STAGES))
        return k;
    k += 2;
    if (is_digits(c, k)) return k + 1;
    while (is_one_of(mark_at(c, k), ".-") && is_digits(c, k + 1)) k += 2;
    return k;
}

/* 01-Feb-02, 3/March/2026. */
static inline int is_named_date(const Chunk *c, int64_t p) {
    const uint32_t mark = mark_at(c, p + 1);
    if ((mark != '-' && mark != '/') || mark_at(c, p + 3) != mark) return 0;
    if (!is_letters(c, p + 2) || !is_digits(c, p + 4) || n_chars(c, p) > 2) return 0;
    const int64_t letters = n_chars(c, p + 2), last = n_chars(c, p + 4);
    const int starts_capital = c->atoms[p + 2].first == LOOK_CAPITAL;
    return (last == 2 || last == 4) && letters > 2 && letters < (starts_capital ? 10 : 4);
}

/* What begins with a digit: kind, or -1 where it is skipped up to *end. */
static inline int number_pattern(const Chunk *c, int64_t *end) {
    const int64_t p = c->at;
    const uint32_t mark = mark_at(c, p + 1);
    int64_t k = p + 1, parts = 1, same = 1, grouped = 1;
    *end = p + 1;
    if (!is_one_of(mark, ".,:/-")) return -1;
    if (is_named_date(c, p)) return *end = p + 5, PATTERN_DATE;
    if (!is_digits(c, p + 2)) return -1;
    for (; is_digits(c, k + 1); k += 2, parts++) {
        const uint32_t own = mark_at(c, k);
        if (own != mark && !(is_one_of(mark, ".,") && is_one_of(own, ".,"))) break;
        same &= own == mark;
        grouped &= n_chars(c, k + 1) == 3;
    }
    *end = k;
    const int64_t first = n_chars(c, p), middle = n_chars(c, p + 2);
    const int64_t last = n_chars(c, k - 1);
    const int is_date = parts == 3 && same && middle < 3 && mark != ':' && mark != ',' &&
                        ((first < 3 && (last == 2 || last == 4)) || (first == 4 && last < 3));
    if (is_date) {
        if (is_capital(c, k, 'T') && is_digits(c, k + 1)) {
            for (k += 2; is_one_of(mark_at(c, k), ":.") && is_digits(c, k + 1);) k += 2;
            *end = k + is_capital(c, k, 'Z');
            return PATTERN_TIME;
        }
        return PATTERN_DATE;
    }
    if (mark == ':') {
        if (is_one_of(mark_at(c, k), ".,") && is_digits(c, k + 1)) *end = k + 2;
        return PATTERN_TIME;
    }
    if (mark == '/') return parts == 2 ? PATTERN_FRACTION : -1;
    if (mark == '-') return -1;
    if (mark != '.' || parts < 3 || !same || grouped) return PATTERN_NUMBER;
    *end = version_end(c, k);
    return PATTERN_VERSION;
}

static inline int is_one_letter(const Chunk *c, int64_t k) {
    const uint32_t look = k < c->n ? c->atoms[k].first : 0;
    return (look == LOOK_CAPITAL || look == LOOK_SMALL) && n_chars(c, k) == 1;
}

/* The end of U.S.A., e.g. or U.S.A, two full stops at least; 0 where there is none. */
static inline int64_t acronym_end(const Chunk *c) {
    int64_t k = c->at;
    while (is_one_letter(c, k) && mark_at(c, k + 1) == '.') k += 2;
    if (k < c->at + 4) return 0;
    return k + (is_one_letter(c, k) && !is_name(c, k + 1));
}

/* AT&T, A&B, C++, C#, v1.2, U.S.: kind, or -1; *end is where it ends. */
static inline int letter_pattern(const Chunk *c, int64_t *end) {
    const int64_t p = c->at;
    const uint32_t next = mark_at(c, p + 1);
    const int64_t acronym = next == '.' ? acronym_end(c) : 0;
    if (acronym) return *end = acronym, PATTERN_ACRONYM;
    if (c->atoms[p].first == LOOK_CAPITAL && next == '&' && p + 2 < c->n &&
        c->atoms[p + 2].first == LOOK_CAPITAL && c->atoms[p].last == LOOK_CAPITAL &&
        c->atoms[p + 2].last == LOOK_CAPITAL && n_chars(c, p) < 4 && n_chars(c, p + 2) < 4) {
        *end = p + 3;
        if (mark_at(c, p + 3) == '&' || mark_at(c, p - 1) == '&') return -1;
        return n_chars(c, p) + n_chars(c, p + 2) > 2 ? PATTERN_NAME : PATTERN_INITIALS;
    }
    if ((next == '+' || next == '#') && is_listed(c, p, p + 1, next == '+' ? " c " : " c f ")) {
        *end = p + 2 + (next == '+');
        if ((next == '#' || mark_at(c, p + 2) == '+') && !is_name(c, *end)) return PATTERN_NAME;
    }
    if (n_chars(c, p) == 1 && is_listed(c, p, p + 1, " v ") && mark_at(c, p + 2) == '.' &&
        is_digits(c, p + 1) && is_digits(c, p + 3)) {
        for (*end = p + 4; mark_at(c, *end) == '.' && is_digits(c, *end + 1);) *end += 2;
        *end = version_end(c, *end);
        return PATTERN_VERSION;
    }
    *end = p + 1;
    return -1;
}

/* B12, H2O, 3f2a9c, 4x4: the end of a run of letters and digits in turns, of which a number with a
 * unit (5kg) is none; else its begin. */
static inline int64_t code_end(const Chunk *c) {
    const int64_t p = c->at;
    int64_t k = p;
    while ((is_digits(c, k) || is_of_code(c, k)) && k - p < LONGEST_CODE) k++;
    if (k < p + 2 || is_name(c, k) || is_name(c, p - 1)) return p;
    const int is_size = k == p + 3 && is_listed(c, p + 1, p + 2, " x ");
    return is_digits(c, p) && k < p + 4 && !is_size ? p : k;
}

/* &amp; &#39; &#x2019; the end of such a reference; else its begin. */
static inline int64_t entity_end(const Chunk *c) {
    int64_t k = c->at + 1;
    if (mark_at(c, k) == '#') {
        for (k++; is_name(c, k) && k - c->at < LONGEST_CODE;) k++;
        return k > c->at + 2 && mark_at(c, k) == ';' ? k + 1 : c->at;
    }
    if (!is_of_code(c, k) || n_chars(c, k) < 2) return c->at;
    while (is_name(c, k) && k - c->at < LONGEST_CODE) k++;
    return mark_at(c, k) == ';' ? k + 1 : c->at;
}

static inline int is_flag_letter(uint32_t mark) {
    return mark >= 0x1F1E6 && mark <= 0x1F1FF;
}

/* A picture with its skin tone, tags and what is joined to it; or the two letters of a flag. */
static inline int64_t picture_end(const Chunk *c) {
    int64_t k = c->at + 1;
    if (is_flag_letter(mark_at(c, c->at))) return k + is_flag_letter(mark_at(c, k));
    for (;; k++) {
        const uint32_t mark = mark_at(c, k);
        const int is_tone = mark >= 0x1F3FB && mark <= 0x1F3FF;
        const int is_tag = mark >= 0xE0020 && mark <= 0xE007F;
        const int is_joined = c->atoms[k - 1].last == JOINER && is_picture(mark);
        if (!is_tone && !is_tag && !is_joined) return k;
    }
}

/* :-) ;) =( :P <3 ^_^, with nothing but punctuation beside it; where there is none, its begin. */
static inline int64_t emoticon_end(const Chunk *c) {
    const int64_t p = c->at;
    const uint32_t eyes = mark_at(c, p);
    int64_t k = p + 1;
    if (p > 0 && !is_one_of(mark_at(c, p - 1), ".,!?\"")) return p;
    if (eyes == '^' || eyes == '-') {
        while (is_one_of(mark_at(c, k), "_.")) k++;
        if (k == p + 1 || mark_at(c, k++) != eyes) return p;
    } else if (eyes == '<') {
        if (!is_digits(c, k) || n_chars(c, k) > 1 || c->text[c->atoms[k++].begin] != '3') return p;
    } else {
        if (is_one_of(mark_at(c, k), "-'^")) k++;
        const int64_t mouth = k;
        while (is_one_of(mark_at(c, k), mouth == k ? ")(][|\\/*$@" : ")(")) k++;
        if (k == mouth && k < c->n && c->atoms[k].end - c->atoms[k].begin == 1 &&
            is_one_of(c->text[c->atoms[k].begin], "DPpOoSs3"))
            k++;
        if (k == mouth) return p;
    }
    return k == c->n || is_one_of(mark_at(c, k), ".,!?\"") ? k : p;
}

/* Where <b>, </h1> or <br/> ends; where it begins, if it is none. */
static inline int64_t markup_end(const Chunk *c) {
    int64_t k = c->at + 1 + (mark_at(c, c->at + 1) == '/');
    if (!is_of_code(c, k) || n_chars(c, k) > LONGEST_CODE) return c->at;
    k += 1 + is_digits(c, k + 1);
    k += mark_at(c, k) == '/';
    return mark_at(c, k) == '>' ? k + 1 : c->at;
}

#define DEGREE 0xB0u

/* What begins with a mark: kind, or -1; *end is where it ends. */
static inline int mark_pattern(const Chunk *c, int64_t *end) {
    const int64_t p = c->at;
    const uint32_t mark = mark_at(c, p);
    *end = p + 1;
    if (mark == DEGREE && (is_capital(c, p + 1, 'C') || is_capital(c, p + 1, 'F'))) {
        *end = p + 2;
        return PATTERN_NAME;
    }
    if (mark >= 0x80) {
        if (is_picture(mark)) *end = picture_end(c);
        return *end > p + 1 ? PATTERN_EMOJI : -1;
    }
    if (mark == '&') {
        const int64_t k = entity_end(c);
        if (k > p) *end = k;
        return k > p ? PATTERN_ENTITY : -1;
    }
    const int is_begin = !is_name(c, p - 1) && !is_one_of(mark_at(c, p - 1), "/&@#");
    const int has_name = is_letters(c, p + 1 + (mark_at(c, p + 1) == '_'));
    if ((mark == '@' || mark == '#') && is_begin && has_name) {
        *end = strip_marks(c, p, run_end(c, p + 1, mark == '@' ? "_.@-" : "_-"), ".@-");
        const int64_t name = *end + 1; /* @jane:example.org */
        if (mark == '@' && mark_at(c, *end) == ':' && is_name(c, name)) {
            const int64_t host = strip_marks(c, name, run_end(c, name, ".-"), ".-");
            if (host > name + 2 && mark_at(c, host - 2) == '.' &&
                is_listed(c, host - 1, host, HOST_ENDS))
                *end = host;
        }
        return mark == '@' ? PATTERN_HANDLE : PATTERN_TAG;
    }
    if (is_one_of(mark, ".-=~+_*#^<>") && mark_at(c, p + 1) == mark && mark_at(c, p + 2) == mark) {
        while (mark_at(c, *end) == mark) ++*end;
        *end += is_one_of(mark, "-=") && mark_at(c, *end) == '>';
        return PATTERN_DOTS;
    }
    if (is_one_of(mark, "/~.") && (p == 0 || is_one_of(mark_at(c, p - 1), "([\"'<{"))) {
        const int64_t run = run_end(c, p, "/~._-+"), k = strip_marks(c, p, run, "._-+");
        int64_t slashes = 0;
        for (int64_t i = p; i + 1 < k; i++)
            slashes += mark_at(c, i) == '/' && is_name(c, i + 1 + (mark_at(c, i + 1) == '.'));
        *end = k;
        if (slashes > (mark == '/')) return PATTERN_FILE;
        *end = p + 1;
    }
    if (mark == ':' && mark_at(c, p + 1) == ':' && is_in_groups(c, end)) return PATTERN_HOST;
    if (mark == '<') {
        const int64_t k = markup_end(c);
        if (k > p) {
            *end = k;
            return PATTERN_MARKUP;
        }
    }
    if (is_one_of(mark, ":;=<^-")) {
        const int64_t k = emoticon_end(c);
        if (k > p + 1) {
            *end = k;
            return PATTERN_EMOTICON;
        }
    }
    return -1;
}

/* Is atom k, right beside a pattern, a mark or picture that is no part of its token? Behind an
 * apostrophe may be an ending. */
static inline int opens_pattern(const Chunk *c, int64_t k) {
    const uint32_t mark = mark_at(c, k);
    return is_one_of(mark, "([{<\"'") || mark == 0xAB || mark == 0x201C || mark == 0x201E;
}

static inline int closes_pattern(const Chunk *c, int64_t k) {
    const uint32_t mark = mark_at(c, k);
    if (mark == '\'') return !is_name(c, k + 1);
    if (mark == 0xBB || mark == 0x201D || mark == 0x2026 || is_picture(mark)) return 1;
    return is_one_of(mark, ".,;:!?)]}>\"");
}

/* The next pattern of a chunk, atoms *begin .. *end, several: its kind; -1: no more. */
static inline int next_pattern(Chunk *c, int64_t *begin, int64_t *end) {
    while (c->at + 1 < c->n) {
        const int64_t p = c->at;
        int kind = -1;
        *end = p + 1;
        if (is_name(c, p)) {
            if (p >= c->end) {
                c->end = run_end(c, p, "._-+%");
                kind = name_pattern(c, end);
            }
            if (kind < 0) kind = is_digits(c, p) ? number_pattern(c, end) : letter_pattern(c, end);
            if (kind < 0 && code_end(c) > p) {
                *end = code_end(c);
                kind = PATTERN_CODE;
            }
        } else {
            kind = mark_pattern(c, end);
        }
        c->at = *end;
        if (kind < 0 || *end < p + 2) continue;
        *begin = p;
        return kind;
    }
    return -1;
}

static inline int is_roman(const uint8_t *text, const Atom *k) {
    for (uint32_t i = k->begin; i < k->end; i++)
        if (!is_one_of(text[i], "IVXLC")) return 0;
    return 1;
}

/* 3. března, XIX. století: is the atom behind k a full stop behind a number in digits or Roman ones, with
 * a small letter behind the space? Atom k + 2 need not be whole. */
static inline int is_ordinal(const uint8_t *text, const Atom *k) {
    if (k[1].first != '.' || k->gap != GAP_NOTHING || k[1].gap != GAP_SPACE) return 0;
    if (k[2].first != LOOK_SMALL) return 0;
    return k->first == LOOK_DIGIT || is_roman(text, k);
}

/* Is atom k a small raised number? */
static inline int is_note(const Chunk *c, int64_t k) {
    uint32_t length;
    if (k < 0 || k >= c->n || c->atoms[k].first != LOOK_DIGIT) return 0;
    const uint8_t *at = c->text + c->atoms[k].begin;
    const uint32_t code = *at == '&'
                              ? entity_point(at, c->atoms[k].end - c->atoms[k].begin, &length)
                              : code_at(at, &length);
    return code == 0xB9 || code == 0xB2 || code == 0xB3 || code == 0x2070 ||
           (code >= 0x2074 && code <= 0x2079);
}

/* The kind of a mark that encloses what stands behind it, or before it; -1: it is none. Quotes open in
 * one language what they close in another. */
static inline int enclosing_kind(uint32_t mark, int opens) {
    if (is_one_of(mark, opens ? "([{" : ")]}")) return PATTERN_BRACKET;
    if (is_one_of(mark, "*_`")) return PATTERN_EMPHASIS;
    const int is_quote = mark == '"' || mark == 0xAB || mark == 0xBB || mark == 0x2039 ||
                         mark == 0x203A || (mark >= 0x201C && mark <= 0x201E) ||
                         (opens && (mark == 0x2018 || mark == 0x201A));
    return is_quote ? PATTERN_QUOTE : -1;
}

static inline int closing_kind(const Chunk *c, int64_t k) {
    return is_note(c, k) ? PATTERN_NOTE : enclosing_kind(mark_at(c, k), 0);
}

/* [12], [a] behind a word: so many atoms of a note end with atom k, which may be one raised number; or 0. */
static inline int64_t note_atoms(const Chunk *c, int64_t k) {
    if (mark_at(c, k) != ']' || mark_at(c, k - 2) != '[') return is_note(c, k);
    return is_digits(c, k - 1) || (is_letters(c, k - 1) && n_chars(c, k - 1) == 1) ? 3 : 0;
}

/* How many of one begin with atom k. */
static inline int64_t note_from(const Chunk *c, int64_t k) {
    return note_atoms(c, k + 2) > 1 ? 3 : is_note(c, k);
}

/* Those of scripts without spaces. */
static ALWAYS_INLINE int is_wide_final(uint32_t mark) {
    return mark == 0x3002 || mark == 0xFF01 || mark == 0xFF1F;
}

/* Does it end sentences in all scripts that have it? Full stops do so behind some words. */
static inline int is_final_mark(uint32_t mark) {
    return is_one_of(mark, ".!?") || mark == 0x2026 || mark == 0x61F || mark == 0x589 ||
           mark == 0x964 || mark == 0x6D4 || is_wide_final(mark);
}

static inline int is_dash(uint32_t mark) {
    return mark == '-' || mark == 0x2013 || mark == 0x2014;
}

/* Is a mark before the first word of a line none of its text: that of a quoted message, of a comment? */
static inline int leads_line(const Atom *atom) {
    return is_one_of(atom->first, LEADS) &&
           (is_one_of(atom->first, ">/") || atom->gap == GAP_SPACE);
}

/* How what stands behind a space begins, of `behind` atoms, but for opening marks; NULL: not known. */
static inline const Atom *first_behind(const Atom *next, size_t behind) {
    for (; behind; next++, behind--) {
        const int is_opening =
            enclosing_kind(next->first, 1) >= 0 || next->first == 0xA1 || next->first == 0xBF;
        const int is_apart = next->gap == GAP_SPACE && next->first == 0xAB;
        if (!is_opening || (next->gap != GAP_NOTHING && !is_apart)) return next;
    }
    return NULL;
}

/* Are atoms with nothing between an arrow, or a sign of formulas and menus: x > y, A -> B, a | b? */
static inline int is_operator(const Chunk *c) {
    int64_t n_signs = 0, n_angles = 0;
    for (int64_t k = 0; k < c->n; k++) {
        const uint32_t mark = mark_at(c, k);
        const int is_sign = is_one_of(mark, "<>=+|") || (mark >= 0x2190 && mark < 0x2300);
        if (k == MOST_OF_OPERATOR || (!is_sign && mark != '-')) return 0;
        n_signs += is_sign;
        n_angles += is_one_of(mark, "<>");
    }
    return n_signs && (n_angles < c->n || c->n == 1); /* << is a quote, <> a bracket */
}

/* Is a mark what a number counts: percent, degrees, money? */
static inline int is_unit(uint32_t mark) {
    return is_one_of(mark, "%$") || mark == 0xA3 || mark == DEGREE || mark == 0x20AC;
}

/* Does a sentence begin with that, behind the end of one? */
static inline int may_begin(const Atom *first) {
    return first && (first->first == LOOK_CAPITAL || first->first == LOOK_CASELESS);
}

/* The kind of what ends a sentence behind atoms with nothing between: a mark that is not a full stop, or
 * any with a quote, a bracket or notes behind it, one before a dash, one behind a year. Behind a space
 * follows what begins with a capital, or a caseless letter, a dash or an opening mark: of `behind` atoms.
 * Or of what ends none before a small letter that begins no address: from PATTERN_TRAILING on. -1: neither. */
static inline int final_kind(const Chunk *c, const Atom *next, size_t behind) {
    int64_t at = c->n - 1;
    int has_closed = 0, has_bracket = 0, is_led = 0;
    if (c->atoms[at].kind & ENDS_LINE)
        for (; behind && leads_line(next); next++, behind--) is_led = 1;
    while (at > 0) {
        int64_t n = is_picture(mark_at(c, at)) ? 1 : note_atoms(c, at);
        if (!n && (closing_kind(c, at) >= 0 || mark_at(c, at) == '\'')) {
            has_closed = n = 1;
            has_bracket |= closing_kind(c, at) == PATTERN_BRACKET;
        }
        if (!n) break;
        at -= n;
    }
    const uint32_t mark = mark_at(c, at);
    const int is_final = is_final_mark(mark);
    if (!mark) return -1;
    const int has_dash = is_final && behind > 0 && is_dash(next->first) && next->gap == GAP_SPACE;
    const Atom *first = first_behind(next + has_dash, behind - (size_t)has_dash);
    if (!first) return -1;
    const int trails = mark == 0x2026 || (mark == '.' && mark_at(c, at - 1) == '.');
    if (first->first == LOOK_SMALL) {
        const char *word = (const char *)c->text + first->begin; /* with a 0 behind the text */
        if (at < c->n - 1 || has_dash || !strncmp(word, "http", 4) || !strncmp(word, "www.", 4))
            return -1;
        if (trails) return PATTERN_TRAILING;
        if (mark == '.' && is_letters(c, at - 1) && n_chars(c, at - 1) < SHORTEST_NOTED &&
            !is_name(c, at - 2))
            return PATTERN_SHORT;
        if (is_final || is_one_of(mark, ",([{")) return -1;
        return is_one_of(mark, ":;") ? PATTERN_COLON : PATTERN_SYMBOL;
    }
    if (!is_final) return -1;
    const int is_note = at < c->n - 1 && !has_closed;
    if (first->first == LOOK_DIGIT) return is_note ? PATTERN_NOTE : -1;
    if (!may_begin(first)) return -1;
    if (is_note) return PATTERN_NOTE;
    if (has_closed && trails) return -1;
    if (has_closed) return has_bracket ? PATTERN_BRACKETED : PATTERN_CLOSED;
    if (mark == '!') return PATTERN_EXCLAMATION;
    if (mark == '?' || mark == 0x61F) return PATTERN_QUESTION;
    if (trails) return PATTERN_ELLIPSIS;
    if (has_dash) return PATTERN_DASH;
    if (is_digits(c, at - 1) && n_chars(c, at - 1) > MOST_ORDINAL_DIGITS && !is_name(c, at - 2))
        return PATTERN_YEAR;
    /* A full stop is that of the sentence behind words too long for abbreviations. */
    const int is_long = enclosing_kind(mark_at(c, at - 1), 0) >= 0 ||
                        (is_letters(c, at - 1) && n_chars(c, at - 1) >= SHORTEST_NOTED);
    if (is_long && is_led) return PATTERN_NOTE;
    return is_long && enclosing_kind(next->first, 1) == PATTERN_EMPHASIS ? PATTERN_EMPHASIS : -1;
}

/* Are atoms with nothing between addresses, #tags or pictures, as stand behind the end of a sentence? */
static inline int is_addition(Chunk c) {
    int64_t begin, end;
    while (c.at < c.n) {
        const int64_t p = c.at;
        if (is_picture(mark_at(&c, p))) {
            c.at = picture_end(&c);
            continue;
        }
        const int kind = next_pattern(&c, &begin, &end);
        const int is_one = kind == PATTERN_URL || kind == PATTERN_EMAIL || kind == PATTERN_HOST ||
                           kind == PATTERN_TAG || kind == PATTERN_EMOTICON;
        if (!is_one || begin > p) return 0;
    }
    return 1;
}

/* Are atoms with nothing between digits, more than an item begins with, and a full stop: 1848., (1844-1900).? */
static inline int is_year(const Chunk *c) {
    int64_t digits = 0;
    for (int64_t k = 0; k < c->n; k++) {
        if (c->atoms[k].first == LOOK_DIGIT)
            digits += n_chars(c, k);
        else if (c->atoms[k].first >= LOOK_CLASSES)
            return 0;
    }
    return digits > MOST_ITEM_DIGITS && c->atoms[c->n - 1].first == '.';
}

/* Are atoms with nothing between what a line may begin with, before its first word: a mark, or a number, a
 * letter or a Roman number with marks? 2: a mark alone, or several that lead lines. More of others are a
 * line of their own. */
static inline int opens_item(const Chunk *c) {
    int64_t letters = 0;
    int all_roman = 1, has_digits = 0, leads = 1;
    for (int64_t k = 0; k < c->n && letters < 5; k++) {
        leads &= is_one_of(c->atoms[k].first, LEADS);
        has_digits |= c->atoms[k].first == LOOK_DIGIT;
        if (c->atoms[k].first < LOOK_CLASSES || c->atoms[k].first == LOOK_DIGIT) continue;
        letters += n_chars(c, k);
        all_roman &= is_roman(c->text, &c->atoms[k]);
    }
    if (letters > 1 && (letters > 4 || !all_roman)) return 0;
    return letters || has_digits ? 1 : c->n == 1 || leads ? 2 : 0;
}

/* May atoms with nothing between hold a pattern? Of two mostly a mark stands beside a word. */
static ALWAYS_INLINE int may_have_pattern(const Atom *atoms, size_t n) {
    const uint32_t first = atoms[0].first, last = atoms[n - 1].first;
    if (n != 2) return n > 2;
    if (last == LOOK_DIGIT) return 1;
    if (last >= LOOK_CLASSES) return is_one_of(first, "@#<:;=") || first == DEGREE;
    return first < LOOK_CLASSES || last == '#';
}
