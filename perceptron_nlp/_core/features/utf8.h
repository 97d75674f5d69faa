/* Is a text UTF-8? */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Is all of it UTF-8 as The Unicode Standard, table 3-7, has it? */
static inline int is_utf8(const uint8_t *p, size_t n) {
    const uint8_t *end = p + n;
    while (p < end) {
        uint64_t eight, some[8];
        while (end - p >= 64) {
            memcpy(some, p, 64);
            if ((some[0] | some[1] | some[2] | some[3] | some[4] | some[5] | some[6] | some[7]) &
                0x8080808080808080ULL)
                break;
            p += 64;
        }
        if (p == end) break;
        if (end - p >= 8 && (memcpy(&eight, p, 8), !(eight & 0x8080808080808080ULL))) {
            p += 8;
            continue;
        }
        uint8_t c = *p++;
        if (c < 0x80) continue;
        int more = c >= 0xC2 && c <= 0xDF   ? 1
                   : (c & 0xF0) == 0xE0     ? 2
                   : c >= 0xF0 && c <= 0xF4 ? 3
                                            : 0;
        if (!more || end - p < more) return 0;
        uint8_t low = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
        uint8_t high = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
        if (*p < low || *p > high) return 0;
        for (p++; --more; p++)
            if ((*p & 0xC0) != 0x80) return 0;
    }
    return 1;
}

/* Code points to UTF-8 and back. */

/* UTF-8 to code points. The bytes come from str objects, where a lone surrogate is written as
 * its three bytes, so every sequence is complete. */
static inline uint32_t utf8_decode(const uint8_t *p, size_t n, uint32_t *points) {
    const uint8_t *end = p + n;
    uint32_t count = 0;
    while (p < end) {
        uint32_t c = *p;
        if (c < 0x80) {
            p += 1;
        } else if (c < 0xE0) {
            c = (c & 0x1F) << 6 | (p[1] & 0x3F);
            p += 2;
        } else if (c < 0xF0) {
            c = (c & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
            p += 3;
        } else {
            c = (c & 0x07) << 18 | (uint32_t)(p[1] & 0x3F) << 12 | (uint32_t)(p[2] & 0x3F) << 6 |
                (p[3] & 0x3F);
            p += 4;
        }
        points[count++] = c;
    }
    return count;
}

/* Vowels over and under letters, which Hebrew and Arabic text mostly leaves out. */
static inline int is_vowel_point(uint32_t c) {
    return (c >= 0x591 && c < 0x5C8 && c != 0x5BE && c != 0x5C0 && c != 0x5C3 && c != 0x5C6) ||
           (c >= 0x64B && c < 0x653) || c == 0x670;
}

/* How a character is seen: typographic apostrophes and hyphens as those of ASCII, letters that are written
 * for others as these; NOT_SEEN: soft hyphens, vowels, and what has no width and joins nothing
 * (text/tagset.py). */
#define NOT_SEEN 0xFFFFFFFFu
static inline uint32_t seen_point(uint32_t c) {
    if (c < 0xA0) return c;
    if (c == 0x2BC) return '\'';
    if (c >= 0x218 && c < 0x21C) return c - (c < 0x21A ? 0xBA : 0xB8);
    if (c == 0x643 || c == 0x64A) return c == 0x643 ? 0x6A9 : 0x6CC;
    const int is_left_out = c == 0xAD || c == 0x61C || c == 0x640 || is_vowel_point(c);
    if (c < 0x2000) return is_left_out ? NOT_SEEN : c;
    if (c > 0x206F) return c == 0xFEFF ? NOT_SEEN : c;
    if (c == 0x2010 || c == 0x2011) return '-';
    if (c == 0x2019) return '\'';
    const int is_hidden = c == 0x200B || c == 0x200E || c == 0x200F || c == 0x2060 ||
                          (c >= 0x202A && c <= 0x202E) || c >= 0x2066;
    return is_hidden ? NOT_SEEN : c;
}

/* Arrows, dingbats, emoji, skin tones and letters of flags. */
static inline int is_picture(uint32_t mark) {
    return (mark >= 0x1F000 && mark < 0x1FB00) || (mark >= 0x2300 && mark < 0x27C0) ||
           (mark >= 0x2190 && mark < 0x2200) || (mark >= 0x2B00 && mark < 0x2C00);
}

/* Letters, and what they are with a mark over or under them, by the mark (Unicode's normal form C). */
static const struct {
    uint32_t mark;
    const char *pairs;
} COMPOSED[] = {
    {0x300, "AÀEÈIÌOÒUÙaàeèiìoòuùÜǛüǜNǸnǹЕЀИЍеѐиѝĒḔēḕŌṐōṑWẀwẁÂẦâầĂẰăằÊỀêềÔỒôồƠỜơờƯỪưừYỲyỳἀἂ"
            "ἁἃἈἊἉἋἐἒἑἓἘἚἙἛἠἢἡἣἨἪἩἫἰἲἱἳἸἺἹἻὀὂὁὃὈὊὉὋὐὒὑὓὙὛὠὢὡὣὨὪὩὫαὰεὲηὴιὶοὸυὺωὼΑᾺΕῈΗῊϊῒΙῚϋῢ"
            "ΥῪΟῸΩῺ"},
    {0x301, "AÁEÉIÍOÓUÚYÝaáeéiíoóuúyýCĆcćLĹlĺNŃnńRŔrŕSŚsśZŹzźÜǗüǘGǴgǵÅǺåǻÆǼæǽØǾøǿΑΆΕΈΗΉΙΊΟΌ"
            "ΥΎΩΏϊΐαάεέηήιίϋΰοόυύωώϒϓГЃКЌгѓкќÇḈçḉĒḖēḗÏḮïḯKḰkḱMḾmḿÕṌõṍŌṒōṓPṔpṕŨṸũṹWẂwẃÂẤâấĂẮ"
            "ăắÊẾêếÔỐôốƠỚơớƯỨưứἀἄἁἅἈἌἉἍἐἔἑἕἘἜἙἝἠἤἡἥἨἬἩἭἰἴἱἵἸἼἹἽὀὄὁὅὈὌὉὍὐὔὑὕὙὝὠὤὡὥὨὬὩὭ"},
    {0x302, "AÂEÊIÎOÔUÛaâeêiîoôuûCĈcĉGĜgĝHĤhĥJĴjĵSŜsŝWŴwŵYŶyŷZẐzẑẠẬạậẸỆẹệỌỘọộ"},
    {0x303, "AÃNÑOÕaãnñoõIĨiĩUŨuũVṼvṽÂẪâẫĂẴăẵEẼeẽÊỄêễÔỖôỗƠỠơỡƯỮưữYỸyỹ"},
    {0x304, "AĀaāEĒeēIĪiīOŌoōUŪuūÜǕüǖÄǞäǟȦǠȧǡÆǢæǣǪǬǫǭÖȪöȫÕȬõȭȮȰȯȱYȲyȳИӢиӣУӮуӯGḠgḡḶḸḷḹṚṜṛṝαᾱ"
            "ΑᾹιῑΙῙυῡΥῩ"},
    {0x306, "AĂaăEĔeĕGĞgğIĬiĭOŎoŏUŬuŭУЎИЙийуўЖӁжӂАӐаӑЕӖеӗȨḜȩḝẠẶạặαᾰΑᾸιῐΙῘυῠΥῨ"},
    {0x307, "CĊcċEĖeėGĠgġIİZŻzżAȦaȧOȮoȯBḂbḃDḊdḋFḞfḟHḢhḣMṀmṁNṄnṅPṖpṗRṘrṙSṠsṡŚṤśṥŠṦšṧṢṨṣṩTṪtṫ"
            "WẆwẇXẊxẋYẎyẏſẛ"},
    {0x308, "AÄEËIÏOÖUÜaäeëiïoöuüyÿYŸΙΪΥΫιϊυϋϒϔЕЁІЇеёіїАӒаӓӘӚәӛЖӜжӝЗӞзӟИӤиӥОӦоӧӨӪөӫЭӬэӭУӰуӱ"
            "ЧӴчӵЫӸыӹHḦhḧÕṎõṏŪṺūṻWẄwẅXẌxẍtẗ"},
    {0x309, "AẢaảÂẨâẩĂẲăẳEẺeẻÊỂêểIỈiỉOỎoỏÔỔôổƠỞơởUỦuủƯỬưửYỶyỷ"},
    {0x30A, "AÅaåUŮuůwẘyẙ"},
    {0x30B, "OŐoőUŰuűУӲуӳ"},
    {0x30C, "CČcčDĎdďEĚeěLĽlľNŇnňRŘrřSŠsšTŤtťZŽzžAǍaǎIǏiǐOǑoǒUǓuǔÜǙüǚGǦgǧKǨkǩƷǮʒǯjǰHȞhȟ"},
    {0x30F, "AȀaȁEȄeȅIȈiȉOȌoȍRȐrȑUȔuȕѴѶѵѷ"},
    {0x311, "AȂaȃEȆeȇIȊiȋOȎoȏRȒrȓUȖuȗ"},
    {0x313, "αἀΑἈεἐΕἘηἠΗἨιἰΙἸοὀΟὈυὐωὠΩὨρῤ"},
    {0x314, "αἁΑἉεἑΕἙηἡΗἩιἱΙἹοὁΟὉυὑΥὙωὡΩὩρῥΡῬ"},
    {0x31B, "OƠoơUƯuư"},
    {0x323, "BḄbḅDḌdḍHḤhḥKḲkḳLḶlḷMṂmṃNṆnṇRṚrṛSṢsṣTṬtṭVṾvṿWẈwẉZẒzẓAẠaạEẸeẹIỊiịOỌoọƠỢơợUỤuụƯỰ"
            "ưựYỴyỵ"},
    {0x324, "UṲuṳ"},
    {0x325, "AḀaḁ"},
    {0x326, "SȘsșTȚtț"},
    {0x327, "CÇcçGĢgģKĶkķLĻlļNŅnņRŖrŗSŞsşTŢtţEȨeȩDḐdḑHḨhḩ"},
    {0x328, "AĄaąEĘeęIĮiįUŲuųOǪoǫ"},
    {0x32D, "DḒdḓEḘeḙLḼlḽNṊnṋTṰtṱUṶuṷ"},
    {0x32E, "HḪhḫ"},
    {0x330, "EḚeḛIḬiḭUṴuṵ"},
    {0x331, "BḆbḇDḎdḏKḴkḵLḺlḻNṈnṉRṞrṟTṮtṯZẔzẕhẖ"},
    {0x342, "ἀἆἁἇἈἎἉἏἠἦἡἧἨἮἩἯἰἶἱἷἸἾἹἿὐὖὑὗὙὟὠὦὡὧὨὮὩὯαᾶηῆιῖϊῗυῦϋῧωῶ"},
    {0x345, "ἀᾀἁᾁἂᾂἃᾃἄᾄἅᾅἆᾆἇᾇἈᾈἉᾉἊᾊἋᾋἌᾌἍᾍἎᾎἏᾏἠᾐἡᾑἢᾒἣᾓἤᾔἥᾕἦᾖἧᾗἨᾘἩᾙἪᾚἫᾛἬᾜἭᾝἮᾞἯᾟὠᾠὡᾡὢᾢὣᾣὤᾤὥᾥὦᾦ"
            "ὧᾧὨᾨὩᾩὪᾪὫᾫὬᾬὭᾭὮᾮὯᾯὰᾲαᾳάᾴᾶᾷΑᾼὴῂηῃήῄῆῇΗῌὼῲωῳώῴῶῷΩῼ"},
    {0x653, "اآ"},
    {0x654, "اأوؤيئەۀہۂےۓ"},
    {0x655, "اإ"},
    {0x3099, "かがきぎくぐけげこごさざしじすずせぜそぞただちぢつづてでとどはばひびふぶへべほぼうゔ"
             "ゝゞカガキギクグケゲコゴサザシジスズセゼソゾタダチヂツヅテデトドハバヒビ"
             "フブヘベホボウヴワヷヰヸヱヹヲヺヽヾ"},
    {0x309A, "はぱひぴふぷへぺほぽハパヒピフプヘペホポ"},
};

/* Marks that letters are composed with; and the later letters of a Hangul syllable. */
static inline int is_composing(uint32_t c) {
    return (c >= 0x300 && c < 0x370) || (c >= 0x653 && c < 0x656) || c == 0x3099 || c == 0x309A;
}

/* The places of marks in normal form: those below a letter stand before those above it. */
static inline int mark_rank(uint32_t mark) {
    if (mark == 0x345) return 4;
    if (mark == 0x327 || mark == 0x328) return 0;
    return mark == 0x31B ? 1 : mark >= 0x323 && mark <= 0x331 ? 2 : 3;
}

/* The row of COMPOSED that has a letter before its mark, where *other is what they make; or, if `mark` is 0,
 * that has it as what they make, where *other is the letter without. -1: there is none. */
static inline int composed_row(uint32_t letter, uint32_t mark, uint32_t *other) {
    for (size_t i = 0; i < sizeof COMPOSED / sizeof *COMPOSED; i++) {
        if (mark && COMPOSED[i].mark != mark) continue;
        uint32_t pair[2];
        size_t n;
        for (const char *p = COMPOSED[i].pairs; *p; p += n) {
            for (n = 1; ((uint8_t)p[n] & 0xC0) == 0x80;) n++;
            for (n++; ((uint8_t)p[n] & 0xC0) == 0x80;) n++;
            utf8_decode((const uint8_t *)p, n, pair);
            *other = pair[mark != 0];
            if (pair[!mark] == letter) return (int)i;
        }
    }
    return -1;
}

/* The one character that a letter and what follows it make; 0: they stay two. */
static inline uint32_t composed_point(uint32_t letter, uint32_t next) {
    uint32_t one, base;
    if (next >= 0x1161 && next <= 0x1175 && letter >= 0x1100 && letter <= 0x1112)
        return 0xAC00 + ((letter - 0x1100) * 21 + next - 0x1161) * 28;
    if (next >= 0x11A8 && next <= 0x11C2 && letter >= 0xAC00 && letter <= 0xD7A3)
        return (letter - 0xAC00) % 28 ? 0 : letter + next - 0x11A7;
    if (!is_composing(next)) return 0;
    if (composed_row(letter, next, &one) >= 0) return one;
    const int row = composed_row(letter, 0, &base);
    if (row < 0 || mark_rank(next) >= mark_rank(COMPOSED[row].mark)) return 0;
    one = composed_point(base, next);
    return one ? composed_point(one, COMPOSED[row].mark) : 0;
}

/* Names of HTML entities, without those of spaces, behind the code point of the first of a run. */
#define LONGEST_ENTITY 10 /* bytes, with & and ; */
static const char ENTITIES[] =
    "34 quot 38 amp apos 60 lt 62 gt 161 iexcl cent pound curren yen brvbar sect uml copy ordf "
    "laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo "
    "frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave "
    "Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times "
    "Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring "
    "aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute "
    "ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml 338 OElig oelig "
    "352 Scaron scaron 376 Yuml 402 fnof 710 circ 732 tilde 913 Alpha Beta Gamma Delta Epsilon "
    "Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho 931 Sigma Tau Upsilon Phi Chi Psi "
    "Omega 945 alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron "
    "pi rho sigmaf sigma tau upsilon phi chi psi omega 977 thetasym upsih 982 piv 8204 zwnj zwj "
    "lrm rlm 8211 ndash mdash 8216 lsquo rsquo sbquo 8220 ldquo rdquo bdquo 8224 dagger Dagger "
    "bull 8230 hellip 8240 permil 8242 prime Prime 8249 lsaquo rsaquo 8254 oline 8260 frasl 8364 "
    "euro 8465 image 8472 weierp 8476 real 8482 trade 8501 alefsym 8592 larr uarr rarr darr harr "
    "8629 crarr 8656 lArr uArr rArr dArr hArr 8704 forall 8706 part exist 8709 empty 8711 nabla "
    "isin notin 8715 ni 8719 prod 8721 sum minus 8727 lowast 8730 radic 8733 prop infin 8736 ang "
    "8743 and or cap cup int 8756 there4 8764 sim 8773 cong 8776 asymp 8800 ne equiv 8804 le ge "
    "8834 sub sup nsub 8838 sube supe 8853 oplus 8855 otimes 8869 perp 8901 sdot 8968 lceil "
    "rceil lfloor rfloor 9001 lang rang 9674 loz 9824 spades 9827 clubs 9829 hearts diams ";
/* What browsers take &#128; to &#159; for: Windows-1252. */
static const uint16_t OLD_MARKS[32] = {
    0x20AC, 0,      0x201A, 0x192,  0x201E, 0x2026, 0x2020, 0x2021, 0x2C6,  0x2030, 0x160,
    0x2039, 0x152,  0,      0x17D,  0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x2DC,  0x2122, 0x161,  0x203A, 0x153,  0,      0x17E,  0x178};

static inline uint32_t named_point(const char *name, size_t n) {
    uint32_t point = 0;
    for (const char *at = ENTITIES, *end; *at; at = end + 1) {
        end = strchr(at, ' ');
        if (*at <= '9')
            for (point = 0; at < end; at++) point = 10 * point + (uint32_t)(*at - '0');
        else if ((size_t)(end - at) == n && !memcmp(at, name, n))
            return point;
        else
            point++;
    }
    return 0;
}

/* Of 39 or x27; 0: it is no number, or that of a space, a control or no character. */
static inline uint32_t numbered_point(const char *name, size_t n) {
    const uint32_t is_hex = n && (*name | 0x20) == 'x';
    uint32_t point = 0;
    for (size_t k = is_hex; k < n; k++) {
        const char low = name[k] | 0x20;
        if (name[k] >= '0' && name[k] <= '9')
            point = point * (is_hex ? 16 : 10) + (uint32_t)(name[k] - '0');
        else if (is_hex && low >= 'a' && low <= 'f')
            point = point * 16 + (uint32_t)(low - 'a') + 10;
        else
            return 0;
    }
    if (point >= 128 && point < 160) return OLD_MARKS[point - 128];
    const int is_space = point <= ' ' || point == 0x7F || point == 0xA0 || point == 0x1680 ||
                         (point >= 0x2000 && point <= 0x200A) || point == 0x2028 ||
                         point == 0x2029 || point == 0x202F || point == 0x205F || point == 0x3000;
    return is_space || (point >= 0xD800 && point < 0xE000) || point > 0x10FFFF ? 0 : point;
}

static inline int is_of_entity(uint8_t c) {
    return c == '#' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* &quot; &#39; &#x2019; what the HTML entity stands for that begins here, and its bytes; 0: there is
 * none, or it stands for a space. */
static inline uint32_t entity_point(const uint8_t *p, size_t n, uint32_t *length) {
    const char *name = (const char *)p + 1;
    size_t k = 1;
    while (k < n && k < LONGEST_ENTITY && is_of_entity(p[k])) k++;
    if (k >= n || k >= LONGEST_ENTITY || p[k] != ';' || k == 1) return 0;
    const uint32_t point =
        *name == '#' ? numbered_point(name + 1, k - 2) : named_point(name, k - 1);
    if (point) *length = (uint32_t)k + 1;
    return point;
}

static inline int has_entity(const uint8_t *p, size_t n) {
    uint32_t length;
    const uint8_t *end = p + n;
    while ((p = (const uint8_t *)memchr(p, '&', (size_t)(end - p)))) {
        if (entity_point(p, (size_t)(end - p), &length)) return 1;
        p++;
    }
    return 0;
}

/* The characters of a word, entities as what they stand for, letters and their marks as one, without what
 * is not seen unless that is all; how many. */
static inline uint32_t visible_points(const uint8_t *text, size_t n, uint32_t *points) {
    uint32_t all = 0, left = 0, first = 0, length = 0;
    const uint8_t *end = text + n, *stop;
    while (text < end) {
        const uint32_t point = *text == '&' ? entity_point(text, (size_t)(end - text), &length) : 0;
        if (point) {
            points[all++] = point;
            text += length;
            continue;
        }
        stop = (const uint8_t *)memchr(text + 1, '&', (size_t)(end - text) - 1);
        if (!stop) stop = end;
        all += utf8_decode(text, (size_t)(stop - text), points + all);
        text = stop;
    }
    while (first < all && seen_point(points[first]) == NOT_SEEN) first++;
    for (uint32_t i = first; i < all; i++) {
        if (seen_point(points[i]) == NOT_SEEN) continue;
        const uint32_t one = left ? composed_point(points[left - 1], points[i]) : 0;
        points[one ? left - 1 : left] = one ? one : points[i];
        left += !one;
    }
    return first < all ? left : all;
}

/* One code point as UTF-8, a lone surrogate as its three bytes like any other; how many bytes. */
static inline uint32_t utf8_put(uint8_t *p, uint32_t c) {
    if (c < 0x80) {
        p[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        p[0] = (uint8_t)(0xC0 | c >> 6);
        p[1] = (uint8_t)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        p[0] = (uint8_t)(0xE0 | c >> 12);
        p[1] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
        p[2] = (uint8_t)(0x80 | (c & 0x3F));
        return 3;
    }
    p[0] = (uint8_t)(0xF0 | c >> 18);
    p[1] = (uint8_t)(0x80 | (c >> 12 & 0x3F));
    p[2] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
    p[3] = (uint8_t)(0x80 | (c & 0x3F));
    return 4;
}
