"""Validation of CoNLL-U by the rules of Universal Dependencies up to level 2 (ud_rules.py).

HEAD and DEPREL that are ``_`` in a whole sentence are no finding, since a treebank may have tags
alone; DEPS that are ``_`` in a whole sentence are none either.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from unicodedata import is_normalized

from perceptron_nlp._checks import check_choice
from perceptron_nlp.errors import FormatError, quote
from perceptron_nlp.formats.conllu import columns_named_in, plain_ids
from perceptron_nlp.formats.conllu_rules import (
    Place,
    check_deps,
    check_ranges_and_empties,
    heads_of,
    refuse_grid,
    word_rows,
)
from perceptron_nlp.formats.lines import LONGEST, LineSource, too_long
from perceptron_nlp.formats.opening import BOM, Readable
from perceptron_nlp.formats.ud_rules import LEVELS, RULES, SPACE, VALUE_RULES, Finding
from perceptron_nlp.text.layout import CONLLU_COLUMNS, split_grid


def validate(path: Readable, *, level: int = 2) -> Iterator[Finding]:
    """Yield what breaks the rules of CoNLL-U and Universal Dependencies, from the first line on.

    What is in memory is one sentence, and a number for each sent_id.

    Parameters
    ----------
    path : a path (packed files are unpacked), ``-`` for standard input, or a binary stream
    level : 1 for the file format alone, 2 for values, text and tree, too; see `RULES`

    Raises
    ------
    ArgumentError : there is no such level
    FileError : the file cannot be read
    FormatError : it is no text, damaged as a packed file, or has a sentence beyond all limits
    """
    return Validator(path, level).findings()


_MOST_GOOD = 1 << 16
_CHUNK = 1 << 18
_COMMENTS = re.compile(r"(?:#[^\n]*\n)*")
_SENT_ID = re.compile(r"#\s*sent_id\s*=\s*(\S+)\s*")
_NAMES_SENT_ID = re.compile(r"#\s*sent_id\b")
_TEXT = re.compile(r"#\s*text\s*=\s*(.+)")


class Validator:
    """The validation of one file; `sentences` and `lines` are counted on the way."""

    def __init__(self, path: Readable, level: int) -> None:
        check_choice("level", str(level), [str(known) for known in LEVELS])
        self._path = path
        self._level = level
        self._tests = {
            column: [
                (rule, test)
                for rule, columns, test in VALUE_RULES
                if column in columns and RULES[rule].level <= level
            ]
            for column in CONLLU_COLUMNS
        }
        self._good: dict[str, set[str]] = {column: {"_"} for column in CONLLU_COLUMNS}
        self._ids: set[int] = set()
        self._columns: tuple[str, ...] = CONLLU_COLUMNS
        self._found: list[Finding] = []
        self._name = ""
        self.sentences = 0
        self.lines = 0

    def findings(self) -> Iterator[Finding]:
        """Yield the findings; see `validate`."""
        with LineSource(self._path, errors="replace") as source:
            self._name = source.name
            rest, returns = b"", False
            while piece := source.take_text(_CHUNK):
                rest += piece
                if b"\r\n" in rest:
                    if not returns:
                        before = rest[: rest.index(b"\r\n")].count(b"\n")
                        self._find("carriage-return", 1 + self.lines + before)
                    returns = True
                    rest = rest.replace(b"\r\n", b"\n")
                *blocks, rest = rest.split(b"\n\n")
                for block in blocks:
                    self._block(block)
                    self.lines += 2
                    if self._found:
                        yield from self._taken()
                if len(rest) > LONGEST:
                    raise too_long("sentence", self._name, self.lines + 1)
            if rest:
                self._block(rest.removesuffix(b"\n"))
                self.lines += 1
                if rest != b"\n":
                    ends = rest.endswith(b"\n")
                    what = (
                        ""
                        if ends
                        else "the last line has no line feed behind it, nor an empty line"
                    )
                    self._find("missing-empty-line", self.lines, what)
            yield from self._taken()

    def _taken(self) -> list[Finding]:
        found, self._found = self._found, []
        found.sort(key=lambda finding: finding.line)
        return found

    def _find(self, rule: str, line: int, what: str = "", cure: str = "") -> None:
        level, usual, remedy = RULES[rule]
        if level <= self._level:
            remedy = remedy.format(cure=cure) if cure else remedy
            self._found.append(Finding(self._name, line, level, rule, what or usual, remedy))

    def _block(self, block: bytes) -> None:
        """Judge the lines between two empty lines, and count all but the last line break."""
        first = self.lines + 1
        self.lines += block.count(b"\n")
        try:
            body = block.decode("utf-8")
        except UnicodeDecodeError:
            for line, piece in enumerate(block.split(b"\n"), first):
                if not _is_utf8(piece):
                    self._find("invalid-utf8", line, "the line is not UTF-8")
            body = block.decode("utf-8", "replace")
        if first == 1:
            if body.startswith(BOM):
                self._find("byte-order-mark", 1)
                body = body[1:]
            try:
                self._columns = columns_named_in(body, self._name)
            except FormatError as error:
                self._find("fields", 1, error.message)
        if not body or body[0] == "\n":
            self._find("extra-empty-line", first)
            stripped = body.lstrip("\n")
            first += len(body) - len(stripped)
            body = stripped
        if body:
            self._sentence(body + "\n", first)

    def _sentence(self, body: str, first: int) -> None:
        end = _COMMENTS.match(body).end()  # type: ignore[union-attr]
        comments, body = body[:end].split("\n")[:-1], body[end:]
        if not body:
            if not comments[0].startswith("# global.columns"):
                self._find("empty-sentence", first)
            return
        self.sentences += 1
        text = self._metadata(comments, first)
        first += len(comments)
        place = Place(self._name, first, self._columns)
        cells = split_grid(body, "\t", len(self._columns))
        if cells is None:
            for row, line in enumerate(body[:-1].split("\n")):
                if line.count("\t") != len(self._columns) - 1 or "" in line.split("\t"):
                    self._caught(
                        "fields", refuse_grid, [line], place._replace(first_line=first + row)
                    )
            return
        stride = len(self._columns) + 1
        columns = {name: cells[at::stride] for at, name in enumerate(self._columns)}
        ids = columns["id"]
        rows: Sequence[int] = range(len(ids))
        if ids != plain_ids(len(ids)):
            try:
                rows = word_rows(ids, place)
            except FormatError as error:
                self._find("ids", error.line or first, error.message)
                rows = ()
        for name, values in columns.items():
            if name in self._good and not self._good[name].issuperset(values):
                self._values(name, values, place)
        if len(rows) < len(ids):
            self._other_nodes(columns, rows, place)
        if rows and self._level > 1:
            self._words(columns, rows, place)
            if text is not None:
                self._text(text, columns, first, plain=len(rows) == len(ids))

    def _caught(self, rule: str, check: Callable[..., object], *given: object) -> None:
        """Make a finding of the error that a check of the reader raises."""
        try:
            check(*given)
        except FormatError as error:
            self._find(rule, error.line or 1, error.message)

    def _values(self, name: str, values: Sequence[str], place: Place) -> None:
        good = self._good[name]
        if len(good) > _MOST_GOOD:
            good.clear()
            good.add("_")
        for row, value in enumerate(values):
            if value in good:
                continue
            for rule, test in self._tests[name]:
                broken = test(value)
                if broken:
                    said = broken if isinstance(broken, str) else ""
                    own = said if rule == "invalid-deps" else RULES[rule].what
                    what = f"{name.upper()} {quote(value)} {own}"
                    self._find(rule, place.first_line + row, what, said)
                    break
            else:
                good.add(value)

    def _metadata(self, comments: Sequence[str], first: int) -> str | None:
        """Judge the comments of a sentence; return its text."""
        text = None
        names = 0
        for line, comment in enumerate(comments, first):
            if not comment.isascii() and not is_normalized("NFC", comment):
                self._find(
                    "unicode-normalization",
                    line,
                    f"the comment {RULES['unicode-normalization'].what}",
                )
            if match := _TEXT.fullmatch(comment):
                if text is not None:
                    self._find("multiple-text", line)
                text = match[1]
                if text[-1].isspace():
                    self._find("text-trailing-whitespace", line)
            elif _NAMES_SENT_ID.match(comment):
                names += 1
                self._sent_id(_SENT_ID.fullmatch(comment), comment, line, names)
        if not names:
            self._find("missing-sent-id", first)
        if text is None:
            self._find("missing-text", first)
        return text

    def _sent_id(self, match: re.Match[str] | None, comment: str, line: int, names: int) -> None:
        if match is None:
            what = f"{quote(comment)} {RULES['invalid-sent-id'].what}"
            self._find("invalid-sent-id", line, what)
            return
        if names > 1:
            self._find("multiple-sent-id", line)
        number = hash(match[1])
        for rule, is_broken in (
            ("slash-in-sent-id", "/" in match[1]),
            ("non-unique-sent-id", number in self._ids),
        ):
            if is_broken:
                self._find(rule, line, f"sent_id {quote(match[1])} {RULES[rule].what}")
        self._ids.add(number)

    def _other_nodes(
        self, columns: Mapping[str, Sequence[str]], rows: Sequence[int], place: Place
    ) -> None:
        """Judge ranges and empty nodes, and the words in ranges."""
        words = set(rows)
        misc = columns.get("misc", ())
        last = 0
        for row, name in enumerate(columns["id"]):
            line = place.first_line + row
            if "-" in name and rows:
                last = int(name.partition("-")[2])
                if SPACE.search(columns["form"][row]):
                    what = f"FORM {quote(columns['form'][row])} "
                    rule = "invalid-whitespace-mwt"
                    self._find(rule, line, what + RULES[rule].what)
            elif misc and "SpaceAfter=No" in misc[row].split("|"):
                if "." in name:
                    self._find("spaceafter-empty-node", line)
                elif row in words and int(name) <= last:
                    self._find("spaceafter-mwt-node", line)
        if rows:
            self._caught("nonempty-field", check_ranges_and_empties, columns, rows, place)

    def _words(
        self, columns: Mapping[str, Sequence[str]], rows: Sequence[int], place: Place
    ) -> None:
        """Judge what a value shows only beside those of other columns and words."""
        first = place.first_line
        picked = {
            name: values if len(rows) == len(values) else [values[row] for row in rows]
            for name, values in columns.items()
        }
        for row, upos in zip(rows, picked.get("upos", ()), strict=False):
            if upos == "_":
                self._find("missing-upos", first + row)
        if "head" in picked and "deprel" in picked:
            self._tree(picked["head"], picked["deprel"], [first + row for row in rows])
        if "deps" in columns and set(columns["deps"]) != {"_"}:
            self._graph(columns, rows, place)

    def _tree(self, heads: Sequence[str], deprels: Sequence[str], lines: Sequence[int]) -> None:
        if set(heads) == set(deprels) == {"_"}:
            return
        if "_" in heads:
            for line, head in zip(lines, heads, strict=True):
                if head == "_":
                    self._find("missing-head", line)
            return
        known = {"0", *plain_ids(len(heads))}
        if not known.issuperset(heads):
            for line, head in zip(lines, heads, strict=True):
                if head not in known:
                    what = f"HEAD {quote(head)} {RULES['invalid-head'].what}"
                    self._find("invalid-head", line, what)
            return
        numbers = list(map(int, heads))
        is_root = [relation == "root" or relation.startswith("root:") for relation in deprels]
        for line, number, root, relation in zip(lines, numbers, is_root, deprels, strict=True):
            if (number == 0) != root:
                self._find("0-is-root" if root else "0-is-not-root", line)
            if relation == "_":
                self._find("invalid-deprel", line, "a word with HEAD and without DEPREL")
        roots = numbers.count(0)
        if roots > 1:
            second = numbers.index(0, numbers.index(0) + 1)
            self._find("multiple-roots", lines[second])
        elif not roots:
            self._find("missing-root", lines[0])
        self._cycles(numbers, lines)

    def _cycles(self, heads: Sequence[int], lines: Sequence[int]) -> None:
        seen = [0] * (len(heads) + 1)
        seen[0] = -1
        for start in range(1, len(heads) + 1):
            at = start
            while not seen[at]:
                seen[at] = start
                at = heads[at - 1]
            if at and seen[at] == start:
                rule = "head-self-loop" if heads[at - 1] == at else "non-tree"
                self._find(rule, lines[at - 1], "HEAD is the word itself" * (rule[0] == "h"))

    def _graph(
        self, columns: Mapping[str, Sequence[str]], rows: Sequence[int], place: Place
    ) -> None:
        ids, deps = columns["id"], columns["deps"]
        self._caught("invalid-deps", check_deps, deps, {"0", *ids}, place)
        for row, (name, value) in enumerate(zip(ids, deps, strict=True)):
            if value != "_" and name in heads_of(value):
                self._find("deps-self-loop", place.first_line + row)
        for row in rows:
            if deps[row] == "_":
                self._find("edeps-only-sometimes", place.first_line + row)

    def _text(
        self, text: str, columns: Mapping[str, Sequence[str]], first: int, *, plain: bool
    ) -> None:
        """Compare the text with what the tokens make."""
        forms = columns["form"]
        misc = columns.get("misc") or ["_"] * len(forms)
        if plain:
            made = "".join(
                form if "SpaceAfter=No" in more else form + " "
                for form, more in zip(forms, misc, strict=True)
            )
            if made in (text, text + " "):
                return
        covered = at = 0
        for row, (name, form, more) in enumerate(
            zip(columns["id"], columns["form"], misc, strict=True)
        ):
            if "-" in name:
                covered = int(name.partition("-")[2])
            elif "." in name or (covered and int(name) <= covered):
                continue
            if not text.startswith(form, at):
                there = quote(text[at : at + len(form)]) if at < len(text) else "its end"
                what = f"FORM {quote(form)} where # text has {there}"
                self._find("text-form-mismatch", first + row, what)
                return
            at += len(form)
            if "SpaceAfter=No" in more and "SpaceAfter=No" in more.split("|"):
                continue
            if text[at : at + 1] == " " and text[at + 1 : at + 2] != " ":
                at += 1
                continue
            if at < len(text) and not text[at].isspace():
                what = f"no space in # text behind FORM {quote(form)}"
                self._find("missing-spaceafter", first + row, what)
            while text[at : at + 1].isspace():
                at += 1
        if at < len(text):
            what = f"# text goes on with {quote(text[at:])} behind the last token"
            self._find("text-extra-chars", first + len(columns["id"]) - 1, what)


def _is_utf8(piece: bytes) -> bool:
    try:
        piece.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
