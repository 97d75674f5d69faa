"""R: malformed text is refused by its line, odd but valid text is read."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator

import perceptron_nlp as pn
from benchmarks.trust import samples
from benchmarks.trust.reached import Reached, count_of

# Broken(text) gives the new lines and the number, from 1, of the line that is wrong; or None
# where this text offers no place for it.
Broken = Callable[[list[bytes], random.Random], tuple[list[bytes], int] | None]
SECONDS_TO_READ = 20


def _rows(lines: list[bytes]) -> list[int]:
    """Lines with words; not those of CoNLL-U's ranges and empty nodes, some of which may go."""
    return [
        i
        for i, line in enumerate(lines)
        if line.strip()
        and not line.startswith(b"#")
        and (b"\t" not in line or line.split(b"\t")[0].isdigit())
    ]


def _change(lines: list[bytes], at: int, line: bytes) -> tuple[list[bytes], int]:
    return [*lines[:at], line, *lines[at + 1 :]], at + 1


def _field(column: int, value: Callable[[bytes], bytes]) -> Broken:
    """A CoNLL-U row with one field made wrong."""

    def broken(lines: list[bytes], chance: random.Random) -> tuple[list[bytes], int] | None:
        at = chance.choice(_rows(lines))
        fields = lines[at].split(b"\t")
        fields[column] = value(fields[column])
        return _change(lines, at, b"\t".join(fields))

    return broken


def _line(change: Callable[[bytes], bytes]) -> Broken:
    """Any row with its whole line made wrong."""

    def broken(lines: list[bytes], chance: random.Random) -> tuple[list[bytes], int] | None:
        at = chance.choice(_rows(lines))
        return _change(lines, at, change(lines[at]))

    return broken


def _inserted(make: Callable[[bytes], bytes], wrong: int) -> Broken:
    """A line put in after a row that is not its sentence's last; `wrong` counts from there."""

    def broken(lines: list[bytes], chance: random.Random) -> tuple[list[bytes], int] | None:
        rows = [i for i in _rows(lines) if i + 1 < len(lines) and lines[i + 1].strip()]
        at = chance.choice(rows)
        return [*lines[: at + 1], make(lines[at]), *lines[at + 1 :]], at + 2 + wrong

    return broken


def _dropped(lines: list[bytes], chance: random.Random) -> tuple[list[bytes], int] | None:
    """A row left out: the one after it has the wrong ID."""
    rows = [i for i in _rows(lines) if i + 1 < len(lines) and lines[i + 1].strip()]
    at = chance.choice(rows)
    return [*lines[:at], *lines[at + 1 :]], at + 1


def _bad_byte(line: bytes) -> bytes:
    return line[:2] + b"\xff" + line[2:]


CONLLU: dict[str, Broken] = {
    "a field too few": _line(lambda line: line.rpartition(b"\t")[0]),
    "a field too many": _line(lambda line: line + b"\t_"),
    "spaces for tabs": _line(lambda line: line.replace(b"\t", b"    ")),
    "an empty form": _field(1, lambda _: b""),
    "an empty field": _field(9, lambda _: b""),
    "a word for an ID": _field(0, lambda _: b"x"),
    "an ID too high": _field(0, lambda value: b"%d" % (int(value) + 1)),
    "an ID with a zero before it": _field(0, lambda value: b"0" + value),
    "a HEAD that is no number": _field(6, lambda _: b"he"),
    "a HEAD beyond the sentence": _field(6, lambda _: b"999"),
    "a HEAD of endless digits": _field(6, lambda _: b"9" * 5000),
    "a space in UPOS": _field(3, lambda _: b"NO UN"),
    "FEATS without a value": _field(5, lambda _: b"Case"),
    "a feature twice": _field(5, lambda _: b"A=1|A=2"),
    "DEPS without a relation": _field(8, lambda _: b"1"),
    "a byte that is not UTF-8": _line(_bad_byte),
    "a row twice": _inserted(lambda line: line, 0),
    "a range turned round": _inserted(lambda _: b"9-2\ta" + b"\t_" * 8, 0),
    "an empty node out of order": _inserted(lambda _: b"99.1\ta" + b"\t_" * 8, 0),
    "a comment in a sentence": _inserted(lambda _: b"# text = no", 0),
    "a line of spaces": _inserted(lambda _: b"   ", 0),
    "a row left out": _dropped,
}
COLUMNS: dict[str, Broken] = {
    "a field too few": _line(lambda line: line.rpartition(b" ")[0]),
    "a field too many": _line(lambda line: line + b" X"),
    "a byte that is not UTF-8": _line(_bad_byte),
    "half a line": _line(lambda line: line.split(b" ")[0]),
}
TAGGED: dict[str, Broken] = {
    "a token without a tag": _line(lambda line: line + b" word"),
    "an empty tag": _line(lambda line: line + b" word/"),
    "an empty word": _line(lambda line: b"/NN " + line),
    "a byte that is not UTF-8": _line(_bad_byte),
}


def _texts() -> Iterator[tuple[str, list[bytes], dict[str, Broken]]]:
    yield "conllu", samples.DEV.read_bytes().split(b"\n")[:400], CONLLU
    chunks = (samples.DATA / "english-chunks.columns").read_bytes().split(b"\n")[:400]
    yield "columns", chunks, COLUMNS
    tagged = [" ".join(f"{word}/X" for word in words).encode() for words in samples.words_of()[:40]]
    yield "tagged", tagged, TAGGED


def wrong_lines(full: bool) -> Reached:
    """R1: text that is made invalid is refused, and the message names the very line."""
    each = 400 if full else 8
    tried = named = 0
    wrong: list[str] = []
    for format, lines, ways in _texts():
        for name, broken in ways.items():
            for seed in range(each):
                made = broken(lines, random.Random(f"{format} {name} {seed}"))
                if made is None:
                    continue
                tried += 1
                said = _read(b"\n".join(made[0]), format)
                if said == f"line {made[1]}":
                    named += 1
                elif not said.startswith("line"):
                    wrong.append(f"{format}, {name}: {said}")
                else:
                    wrong.append(f"{format}, {name}: {said} for line {made[1]}")
    bad = [what for what in wrong if "for line" not in what]
    share = named / tried
    worst = f"; first: {(bad or wrong)[0]}" if wrong else ""
    return Reached(
        f"{named:,} of {tried:,} name the very line ({100 * share:.2f} %), {len(bad)}"
        f" neither read nor refused well{worst}",
        share >= 0.99 and not bad,
    )


def _read(text: bytes, format: str) -> str:
    """What reading a text came to: ``line N``, or what else happened."""
    begin = time.monotonic()
    try:
        sum(1 for _ in samples.opened(text, format))
        said = "was read"
    except pn.FormatError as error:
        said = f"line {error.line}"
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
    if time.monotonic() - begin > SECONDS_TO_READ:
        said = "took too long"
    return said


# ---- R2 ----

_ROW = "{}\t{}\t_\tX\t_\t_\t_\t_\t_\t_\n"


def _odd() -> Iterator[tuple[str, str, bytes, list[list[str]]]]:
    """Name, format, text, and the words of its sentences."""
    two = _ROW.format(1, "a") + _ROW.format(2, "b") + "\n"
    yield "a byte order mark", "conllu", b"\xef\xbb\xbf" + two.encode(), [["a", "b"]]
    yield "CRLF", "conllu", two.replace("\n", "\r\n").encode(), [["a", "b"]]
    yield "a lone CR in a comment", "conllu", ("# a\rb\n" + two).encode(), [["a", "b"]]
    yield "no final newline", "conllu", two.rstrip("\n").encode(), [["a", "b"]]
    yield "a lone CR in a form", "conllu", two.replace("a", "a\rc").encode(), [["a\rc", "b"]]
    yield "spaces in a form", "conllu", two.replace("a", "a b").encode(), [["a b", "b"]]
    yield "a no-break space", "conllu", two.replace("a", "a\u00a0b").encode(), [["a\u00a0b", "b"]]
    yield (
        "line separators",
        "conllu",
        two.replace("a", "a\u2028\u0085").encode(),
        [["a\u2028\u0085", "b"]],
    )
    yield (
        "ranges, empty nodes, comments",
        "conllu",
        (
            "# newdoc\n# sent_id = 1\n1-2\tab"
            + "\t_" * 8
            + "\n"
            + _ROW.format(1, "a")
            + "1.1\te"
            + "\t_" * 8
            + "\n"
            + _ROW.format(2, "b")
            + "\n"
        ).encode(),
        [["a", "b"]],
    )
    yield "nothing", "conllu", b"", []
    yield "nothing but lines", "conllu", b"\n\n\n", []
    yield "a NUL in a form", "conllu", two.replace("a", "a\0").encode(), [["a\0", "b"]]
    long = "x" * 10_000_000
    yield "a word of 10 MB", "conllu", two.replace("a", long).encode(), [[long, "b"]]
    yield "a comment of 10 MB", "conllu", ("# " + long + "\n" + two).encode(), [["a", "b"]]
    many = [f"w{i}" for i in range(100_000)]
    yield (
        "100,000 words",
        "conllu",
        "".join(_ROW.format(i, word) for i, word in enumerate(many, 1)).encode() + b"\n",
        [many],
    )
    yield "tabs in columns", "columns", b"a b\tX\nc\tY\n", [["a b", "c"]]
    yield "document marks", "columns", b"-DOCSTART- -X-\n\na X\n", [["a"]]
    yield "a slash in a word", "tagged", b"1/2/NUM ///P\n", [["1/2", "//"]]
    yield "CRLF in plain text", "text", b"a b\r\nc\r\n", [["a", "b"], ["c"]]
    yield "100,000 words a line", "tagged", " ".join(f"{w}/X" for w in many).encode(), [many]


def odd_texts(full: bool) -> Reached:
    """R2: odd but valid text is read, tagged, and written back as it came."""
    del full
    wrong: list[str] = []
    tagger = pn.Tagger.from_bytes(samples.small_model())
    tried = 0
    for name, format, text, words in _odd():
        tried += 1
        begin = time.monotonic()
        try:
            corpus = samples.opened(text, format)
            sentences = list(corpus)
            back = "".join(corpus.rewrite(s, {}) for s in sentences) + corpus.tail
            found = [list(s.words) for s in sentences]
            labels = tagger.tag_sents(found)
        except Exception as error:
            wrong.append(f"{name}: {type(error).__name__}: {str(error)[:200]}")
            continue
        if found != words:
            wrong.append(f"{name}: other words")
        # Plain text becomes word/TAG; the others come back as they are.
        if format != "text" and back.encode() != text:
            wrong.append(f"{name}: written back otherwise")
        if list(map(len, labels)) != list(map(len, words)):
            wrong.append(f"{name}: labels do not fit")
        if time.monotonic() - begin > SECONDS_TO_READ:
            wrong.append(f"{name}: took too long")
    wrong += _invalid_bytes()
    return count_of(wrong, tried + 2, "odd texts read, tagged and written back")


def _invalid_bytes() -> list[str]:
    text = b"a b\nc \xff d\ne\n"
    wrong = []
    try:
        list(samples.opened(text, "text"))
        wrong.append("invalid UTF-8 was read")
    except pn.FormatError as error:
        if error.line != 2:
            wrong.append(f"invalid UTF-8: line {error.line}")
    replaced = samples.opened(text, "text", errors="replace")
    if [word for sentence in replaced for word in sentence] != ["a", "b", "c", "\ufffd", "d", "e"]:
        wrong.append("invalid UTF-8 was not replaced")
    return wrong
