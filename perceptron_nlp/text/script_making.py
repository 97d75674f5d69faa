"""Making edit scripts (scripts.py) of forms and their lemmas, and of tokens and their words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from perceptron_nlp.text.scripts import (
    CASES,
    LONGEST_LITERAL,
    LONGEST_PIECE,
    MOST_DROPPED,
    MOST_WORDS,
    SEVERAL,
    STEM_LETTERS,
    TURKIC,
    WHOLE,
    Script,
    accented_letter,
    bare_letter,
    escape,
    is_word,
    is_writable,
    letters_of,
    lowered,
    read_in,
    stem_cut,
    token_hash,
    without_acute,
)
from perceptron_nlp.text.tagset import ALIKE

# A search takes time that grows as the square of this.
_LONGEST_SEARCHED = 64


def make_script(form: str, lemma: str, alphabet: str = "") -> Script | None:
    """Return the script that turns a form into its lemma; applied to the form, it gives the lemma.

    The form is as the alphabet reads it. None if the lemma is longer than LONGEST_LITERAL, or holds
    what no line can.
    """
    return _made(read_in(form, alphabet), lemma, alphabet)


@lru_cache(maxsize=1 << 16)
def _made(form: str, lemma: str, alphabet: str) -> Script | None:
    if len(lemma) > LONGEST_LITERAL or not is_writable(lemma):
        return None
    low_form, low_lemma = lowered(form, alphabet), lowered(lemma, alphabet)
    for start, target, length, acute in _stems(low_form, low_lemma):
        front, back = target[0], target[1]
        drop_back = len(form) - start - length
        if not length or max(start, drop_back) > MOST_DROPPED:
            continue
        if max(len(front), len(back)) > LONGEST_PIECE:
            continue
        for case in CASES:
            script = Script(case, start, front, drop_back, back, acute)
            if script.apply(form, alphabet) == lemma:
                return script
    return Script(literal=lemma)


def _stems(form: str, lemma: str) -> list[tuple[int, tuple[str, str], int, int | None]]:
    """Return stems to try, best first: begin in the form, what stands about it, length, acute."""
    start, at, length = _stem(form, lemma)
    found: list[tuple[int, tuple[str, str], int, int | None]]
    found = [(start, (lemma[:at], lemma[at + length :]), length, None)]
    bare_form, bare_lemma = without_acute(form), without_acute(lemma)
    changed = bare_form != form or bare_lemma != lemma
    if changed and max(_n_acutes(form), _n_acutes(lemma)) <= 1:
        start, at, longer = _stem(bare_form, bare_lemma)
        moved = (bare_lemma[:at], bare_lemma[at + longer :])
        same = longer == length and form[start : start + longer] != lemma[at : at + longer]
        if longer >= length + 2 or same:
            found.insert(0, (start, moved, longer, acute_place(lemma)))
    return found


def _stem(form: str, lemma: str) -> tuple[int, int, int]:
    """Return the begin in the form, that in the lemma, and the length of what both share.

    It is the longest common beginning, if that is at least half as long as the longest common
    substring, or if a word is too long to look for one; else the leftmost such substring.
    """
    shorter, same = min(len(form), len(lemma)), 0
    while same < shorter and form[same] == lemma[same]:
        same += 1
    if (2 * same >= shorter and same) or max(len(form), len(lemma)) > _LONGEST_SEARCHED:
        return 0, 0, same
    best = (0, 0, 0)
    above = [0] * (len(lemma) + 1)
    for i, letter in enumerate(form):
        row = [0] * (len(lemma) + 1)
        for j, other in enumerate(lemma):
            if letter == other:
                row[j + 1] = run = above[j] + 1
                if run > best[2]:
                    best = (i + 1 - run, j + 1 - run, run)
        above = row
    return (0, 0, same) if 2 * same >= best[2] else best


def alphabet_of(pairs: Iterable[tuple[str, str]]) -> str:
    """Return the letters of ALPHABET that (form, lemma) pairs treat so.

    I and İ, if more agree with ı and i than with i; of letters that look alike those that are
    written less often.
    """
    turkic, met = 0, Counter[str]()
    letters, others = "".join(ALIKE), "".join(reversed(ALIKE))
    for form, lemma in pairs:
        if "I" in form or "İ" in form:
            for letter, low in zip(form, lemma, strict=False):
                turkic += (TURKIC.get(letter) == low) - (letter == "I" and low == "i")
        if not form.isascii():
            met.update(letter for letter in (form + lemma).lower() if letter in letters)
    pairs_alike = zip(letters, others, strict=True)
    rarer = (own for own, other in pairs_alike if met[own.lower()] < met[other.lower()])
    return "Iİ" * (turkic > 0) + "".join(rarer)


def _n_acutes(text: str) -> int:
    return 0 if text.isascii() else sum(bare_letter(letter) != letter for letter in text)


def acute_place(text: str) -> int:
    """Return where the acute stands, counted from the end in letters that can bear one; 0: none."""
    place = 0
    for letter in reversed(text):
        bare = bare_letter(letter)
        place += accented_letter(bare) is not None
        if bare != letter:
            return place
    return 0


def make_split(token: str, words: Sequence[str], *, longest: bool = False) -> str:
    """Return the script that makes these words of a token, the stem being the longest or the first.

    It is WHOLE for a token that is to stay as it is: one of one word, even if that is written
    otherwise, or one of more than MOST_WORDS words, or of pieces longer than LONGEST_PIECE, or that
    hold what no line can.
    """
    if not 1 < len(words) <= MOST_WORDS or max(map(len, (token, *words))) > LONGEST_PIECE:
        return WHOLE
    if not all(map(is_word, words)):
        return WHOLE
    if "".join(words) == token:
        lengths = [str(len(word)) for word in words]
        stem = words.index(max(words, key=len)) if longest else 0
        return "c" + ",".join([*lengths[:stem], *(["*"] if stem else []), *lengths[stem + 1 :]])
    first, same = words[0], 0
    while same < min(len(token), len(first)) and token[same] == first[same]:
        same += 1
    pieces = [f"r{len(token) - same}", _escaped(first[same:]), *map(_escaped, words[1:])]
    return "|".join(pieces)


def stems_of(tokens: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Return the stems that split scripts leave of tokens, ascending.

    tokens : each with its script

    Returns
    -------
    of each stem 32 bits of the hash of the only token that it was met in, or 1
    """
    found: dict[str, int] = {}
    for token, label in tokens:
        cut = stem_cut(label)
        if cut is not None and any(map(str.isalpha, token)):
            own = token_hash(token)
            if found.setdefault(token[cut[0] : len(token) - cut[1]], own) != own:
                found[token[cut[0] : len(token) - cut[1]]] = SEVERAL
    return dict(sorted(found.items()))


def _escaped(text: str) -> str:
    return escape(text).replace("|", "%7c;")


def with_known_stems(
    tokens: Iterable[str], stems: Mapping[str, int], cuts: Sequence[tuple[int, int]]
) -> tuple[str, ...]:
    """Return the values of the column STEMS.

    A token's own stem does not count, in training and afterwards: training would see the answer.
    """
    values = []
    for token in tokens:
        own, value, letters = token_hash(token), "", letters_of(token)
        for letter, (front, back) in zip(STEM_LETTERS, cuts, strict=False):
            stem = "".join(letters[front : len(letters) - back])
            if front + back < len(letters) and stems.get(stem, own) != own:
                value += f"|{letter}"
        values.append(value[1:] or WHOLE)
    return tuple(values)
