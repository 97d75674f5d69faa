"""Patterns of text by regular expressions upon a sketch of its atoms: the core must find the same.

Of each atom the sketch has one character: ``a`` for letters, ``0`` for digits, ``c`` for a single
letter of a script without capitals, else the mark itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import perceptron_nlp
from oracles.atoms import Atoms, atoms_of
from perceptron_nlp.text.tagset import COMPOSING, NOTHING, seen

_SOURCE = (Path(perceptron_nlp.__file__).parent / "_core/text/patterns.h").read_text("utf-8")


def _ends(name: str) -> set[str]:
    """Return the words of a list in the core."""
    listed = re.search(rf"{name} =\s*((?:\"[^\"]*\"\s*)+);", _SOURCE)
    assert listed is not None
    return set(listed.group(1).replace('"', " ").split())


HOST_ENDS, BEFORE_ENDS, FILE_ENDS, STAGES = map(
    _ends, ("HOST_ENDS", "BEFORE_ENDS", "FILE_ENDS", "STAGES")
)
IN_ADDRESS = r"[a0!#$%&()*+,\-./:;=?@_~]"
LONGEST_MARKUP = 40
PICTURE = "[\U0001f000-\U0001faff\u2300-\u27bf\u2190-\u21ff\u2b00-\u2bff]"
FLAG = "[\U0001f1e6-\U0001f1ff]"
ADDED = "[\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
EMOTICON = re.compile(
    r"(?:([\^-])[_.]+\1|<0|[:;=]['^-]?(?:[)(\]\[|\\/*$@][)(]*|[a0]))(?=\Z|[.,!?\"])"
)


GROUP = "[0-9A-Fa-f]{1,4}"
GROUPS = re.compile(rf"(?:{GROUP}|(?=::))(?:::?{GROUP})*+(?:::)?")


class _Chunk:
    def __init__(self, text: str, spans: list[tuple[int, int]]) -> None:
        self.words = [text[start:end] for start, end in spans]
        self.sketch = sketch(self.words)
        self.run = 0

    def match(self, pattern: str, at: int) -> int:
        """Return where a match at a place ends, or 0."""
        found = re.compile(pattern).match(self.sketch, at)
        return found.end() if found else 0

    def strip(self, begin: int, end: int, marks: str) -> int:
        return begin + len(self.sketch[begin:end].rstrip(marks))

    def listed(self, begin: int, end: int, words: set[str]) -> bool:
        own = "".join(self.words[begin:end])
        return own.isascii() and own.lower() in words

    def is_part(self, at: int) -> bool:
        return re.fullmatch("[a-zA-Z]{2,}", self.words[at]) is not None

    def address_end(self, begin: int) -> int:
        end = self.match(f"{IN_ADDRESS}*", begin)
        while end > begin and self.sketch[end - 1] in ".,;:!?*()":
            own = self.sketch[begin:end]
            if own[-1] == ")" and own.count(")") <= own.count("("):
                break
            end -= 1
        return end


def sketch(words: Sequence[str]) -> str:
    """Return a character for each atom."""
    return "".join(map(_look, words))


def _look(word: str) -> str:
    first = seen(word)[0]
    if first.isdigit():
        return "0"
    if not first.isalpha():
        return first
    return "a" if _is_cased(word) or (len(word) > 1 and word[0] != "&") else "c"


def _is_cased(word: str) -> bool:
    first = seen(word)[0]
    return first.isupper() or first.istitle() or _is_small(first)


def _is_small(letter: str) -> bool:
    return letter.islower() and letter.title() != letter


def patterns(text: str, atoms: Atoms | None = None) -> list[tuple[str, int, int]]:
    """Return what segment.patterns_of gives for a text, or some of its atoms alone."""
    spans, gaps = atoms_of(text) if atoms is None else atoms
    found, first = [], 0
    for at, gap in enumerate(gaps):
        if gap != NOTHING or at + 1 == len(gaps):
            chunk = _Chunk(text, spans[first : at + 1])
            found += [(kind, first + a, first + b) for kind, a, b in _in_chunk(chunk)]
            first = at + 1
    return found


def _in_chunk(chunk: _Chunk) -> Iterator[tuple[str, int, int]]:
    at = 0
    while at + 1 < len(chunk.sketch):
        kind, end = "", 0
        if chunk.sketch[at] in "a0":
            if at >= chunk.run:
                chunk.run = chunk.match(r"[a0._+%-]+", at)
                kind, end = _name(chunk, at)
            if not kind:
                kind, end = (_number if chunk.sketch[at] == "0" else _letters)(chunk, at)
            if not kind and (after := _code_end(chunk, at)):
                kind, end = "code", after
        else:
            kind, end = _mark(chunk, at)
        end = max(end, at + 1)
        if kind and end > at + 1:
            yield kind, at, end
        at = end


def _name(chunk: _Chunk, at: int) -> tuple[str, int]:
    if begin := chunk.match(r"a://(?:\[[a0:.%]*\]|(?=[a0]))", at):
        return "url", chunk.address_end(begin)
    if len(chunk.words[at]) == 1 and (begin := chunk.match(r"a:\\[a0]", at)):
        return "file", chunk.strip(at, chunk.match(r"[a0\\._-]*", begin), "\\._-")
    if chunk.match(r"a\.[a0]", at) and chunk.words[at].lower() == "www":
        return "url", chunk.address_end(at)
    if begin := chunk.match("@a", chunk.run):
        end = chunk.strip(at, chunk.match("[a0.-]*", begin), ".-")
        path = chunk.match(":[a0][a0._/~-]*", end)
        path = path and chunk.strip(at, path, "._/~-")
        return ("url", path) if "/" in chunk.sketch[end:path] else ("email", end)
    if end := _groups(chunk, at):
        return "host", end
    host = chunk.strip(at, chunk.match("[a0.-]*", at), ".-")
    if re.search(r"[a0]\.[a0]\Z", chunk.sketch[at:host]):
        last = chunk.words[host - 1]
        has_path = chunk.match("/(?=~?[a0])", host)
        may_end = chunk.sketch[host - 1] == "a" and 1 < len(last) < 4
        before = len(last) == 2 and chunk.listed(host - 3, host - 2, BEFORE_ENDS)
        is_short = len(last) < 3 or _is_small(seen(chunk.words[host - 3])[0])
        may_follow = last[0].isupper() and last[-1].islower() and is_short
        is_known = chunk.listed(host - 1, host, HOST_ENDS) and not may_follow
        if is_known or (may_end and (has_path or before)):
            host = chunk.match(":0", host) or host
            has_path = chunk.match("/(?=~?[a0])", host)
            return "host", chunk.address_end(host) if has_path else host
    if at and chunk.sketch[at - 1] == "/":
        return "", 0
    file = chunk.strip(at, chunk.match("[a0._/-]*", at), "._-/")
    for dot in range(file - 1, max(at, file - 4), -1):
        is_end = chunk.sketch[dot] == "." and chunk.sketch[dot - 1] in "a0"
        if is_end and chunk.listed(dot + 1, file, FILE_ENDS):
            return "file", file
    end = at + 1
    while chunk.match(r"\.a", end) and chunk.is_part(end + 1):
        end += 2
    is_name = end > at + 4 and chunk.is_part(at) and chunk.words[at][0].islower()
    if is_name and not chunk.match("[a0]", end):
        return "host", end
    end = chunk.strip(at, chunk.match("[a0_]*", at), "_")
    is_inner = at and chunk.sketch[at - 1] == "_"
    return ("", 0) if is_inner or "_" not in chunk.sketch[at:end] else ("file", end)


def _groups(chunk: _Chunk, at: int) -> int:
    """Return where an address of groups of numbers ends, or 0."""
    found = GROUPS.match("".join(chunk.words[at:]))
    if not found or (at and chunk.sketch[at - 1] in "a0:"):
        return 0
    ends = {len("".join(chunk.words[at:end])): end for end in range(at, len(chunk.words) + 1)}
    own = found.group()
    end, groups, gaps = ends.get(len(own), 0), re.findall(GROUP, own), own.count("::")
    if not end or chunk.match(":?[a0]" if not own.endswith("::") else "[:a0]", end):
        return 0
    if len(groups) == 6 and not gaps and all(len(group) == 2 for group in groups):
        return end
    is_short = gaps == 1 and len(groups) < 8
    if len(groups) == 1 and not own.startswith(":"):
        is_short = is_short and chunk.match("/0", end) > 0
    if not groups or not re.search("[0-9]", own) or not (is_short or len(groups) == 8 > 8 * gaps):
        return 0
    end = chunk.match(r"(?:\.0)+", end) or end
    end = chunk.match("%[a0]+", end) or end
    return chunk.match("/0", end) or end


def _number(chunk: _Chunk, at: int) -> tuple[str, int]:
    end = max(chunk.match(f"0(?:{by}0)+", at) for by in ("[.,]", ":", "/", "-"))
    if not end:
        return "", 0
    marks, sizes = chunk.sketch[at + 1 : end : 2], [*map(len, chunk.words[at:end:2])]
    parts = ".".join(map(str, sizes)) if marks in ("..", "//", "--") else ""
    if re.fullmatch(r"[12]\.[12]\.[24]|4\.[12]\.[12]", parts):
        time = chunk.match(r"a0(?:[:.]0)*", end)
        if time and chunk.words[end] == "T":
            return "time", time + (chunk.words[time : time + 1] == ["Z"])
        return "date", end
    if marks[0] == ":":
        return "time", chunk.match("[.,]0", end) or end
    if marks[0] in "/-":
        return ("fraction" if marks == "/" else ""), end
    is_grouped = all(size == 3 for size in sizes[1:])
    if set(marks) != {"."} or len(marks) < 2 or is_grouped:
        return "number", end
    return "version", _version_end(chunk, end)


def _version_end(chunk: _Chunk, end: int) -> int:
    stage = chunk.match("-a", end)
    if not stage or not chunk.listed(stage - 1, stage, STAGES):
        return end
    return chunk.match("0|(?:[.-]0)+", stage) or stage


def _letters(chunk: _Chunk, at: int) -> tuple[str, int]:
    first, *more = chunk.words[at : at + 3]
    capitals = "".join(
        "A" if len(word) == 1 and _is_cased(word) else look
        for word, look in zip(chunk.words[at:], chunk.sketch[at:], strict=True)
    )
    if found := re.match(r"(?:A\.){2,}(?:A(?![aA0]))?", capitals):
        return "acronym", at + found.end()
    if (end := chunk.match("a&a", at)) and all(
        len(word) < 4 and _is_capital(word[0]) and _is_capital(word.rstrip(COMPOSING)[-1])
        for word in (first, more[1])
    ):
        if "&" in chunk.sketch[max(0, at - 1) : at] + chunk.sketch[end : end + 1]:
            return "", end
        return ("name" if len(first + more[1]) > 2 else "initials"), end
    for marks, words in ((r"a\+\+(?![a0])", {"c"}), ("a#(?![a0])", {"c", "f"})):
        if first.lower() in words and (end := chunk.match(marks, at)):
            return "name", end
    if first.lower() == "v" and (end := chunk.match(r"a0(?:\.0)+", at)):
        return "version", _version_end(chunk, end)
    return "", 0


def _is_capital(letter: str) -> bool:
    return letter.isupper() or letter.istitle()


def _is_ascii_name(word: str) -> bool:
    return word.isascii() and len(word) > 1 and "&" not in word


def _code_end(chunk: _Chunk, at: int) -> int:
    looks = [
        look if look == "0" or (look == "a" and word.isascii() and "&" not in word) else " "
        for look, word in zip(chunk.sketch[at:], chunk.words[at:], strict=True)
    ]
    length = min(40, "".join([*looks, " "]).index(" "))
    beside = chunk.sketch[max(0, at - 1) : at] + chunk.sketch[at + length : at + length + 1]
    is_size = length == 3 and chunk.words[at + 1] in ("x", "X")
    if length < (4 if looks[0] == "0" and not is_size else 2) or {*beside} & {*"a0"}:
        return 0
    return at + length


def _mark(chunk: _Chunk, at: int) -> tuple[str, int]:
    if end := chunk.match("&#[a0]{1,38};", at):
        return "entity", end
    if (end := chunk.match("&a[a0]{0,38};", at)) and _is_ascii_name(chunk.words[at + 1]):
        return "entity", end
    if (end := chunk.match("\u00b0a", at)) and chunk.words[at + 1] in ("C", "F"):
        return "name", end
    if chunk.match(FLAG, at):
        return "emoji", chunk.match(FLAG * 2, at)
    if end := chunk.match(PICTURE, at):
        while chunk.match(ADDED, end) or (
            seen(chunk.words[end - 1])[-1] == "\u200d" and chunk.match(PICTURE, end)
        ):
            end += 1
        return "emoji", end
    if end := chunk.match(r"-{3,}>|={3,}>|([.=~+_*#^<>-])\1{2,}", at):
        return "dots", end
    before = chunk.sketch[:at][-1:]
    if before not in [*"/&@#a0"] and (begin := chunk.match("[@#]_?a", at)):
        if chunk.sketch[at] == "@":
            end = chunk.strip(at, chunk.match("[a0_.@-]*", begin), ".@-")
            if chunk.match(":[a0]", end):
                host = chunk.strip(end + 1, chunk.match("[a0.-]*", end + 1), ".-")
                is_known = host > end + 3 and chunk.listed(host - 1, host, HOST_ENDS)
                end = host if is_known and chunk.sketch[host - 2] == "." else end
            return "handle", end
        return "tag", chunk.strip(at, chunk.match("[a0_-]*", begin), ".@-")
    if before in ["", *"([\"'<{"] and (end := chunk.match("[/~.][a0/~._+-]*", at)):
        end = chunk.strip(at, end, "._-+")
        slashes = len(re.findall(r"/\.?(?=[a0])", chunk.sketch[at:end]))
        if slashes > (chunk.sketch[at] == "/"):
            return "file", end
    if chunk.match("::", at) and (end := _groups(chunk, at)):
        return "host", end
    if end := chunk.match("</?a0?/?>", at):
        name = chunk.words[at + 1 + (chunk.sketch[at + 1] == "/")]
        if name.isascii() and "&" not in name and len(name) <= LONGEST_MARKUP:
            return "markup", end
    if before in ["", *'.,!?"'] and (face := EMOTICON.match(chunk.sketch, at)):
        last = chunk.words[face.end() - 1]
        eyes = chunk.sketch[at]
        if chunk.sketch[face.end() - 1] not in "a0" or last in ("3" if eyes == "<" else "DPpOoSs3"):
            return "emoticon", face.end()
    return "", 0
