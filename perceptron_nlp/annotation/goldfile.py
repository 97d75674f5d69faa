"""The file of what was annotated: CoNLL-U in the order of the text, and the state of the work.

The file is all that is kept: comments say in which order sentences were annotated, and how many
proposals were wrong. It is replaced whole, and read again when somebody else changed it.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import perceptron_nlp as pn
from perceptron_nlp._checks import check_int, did_you_mean
from perceptron_nlp.annotation.labels import given_labels
from perceptron_nlp.annotation.pool import Item
from perceptron_nlp.errors import ArgumentError, FormatError, file_error, quote
from perceptron_nlp.formats import (
    BOM,
    CONLLU_COLUMNS,
    Layout,
    as_conllu,
    ordered_features,
    packed,
    rewrite_conllu,
    with_misc,
    without_misc,
    wrong_conllu_value,
    wrong_ud_value,
)

_STATE = re.compile(
    r"^# annotation = order=([0-9]{1,9})\|corrections=([0-9]{1,9})"
    r"(?:\|confidence=([0-9.]{1,9}))?(?:\|reviewed=([0-9,]{1,9999}))?(\|check)?[ \t]*$",
    re.MULTILINE,
)
_NOTE = re.compile(r"^# note = (.*)$", re.MULTILINE)
# The first line that is no comment.
_ROW = re.compile(r"^[^#\n]", re.MULTILINE)
# Of the model that is saved beside the file.
_MODEL = ".model"


class EmptyNode(NamedTuple):
    """A word that the text does not have: after how many words, its form and its tag."""

    after: int
    form: str
    upos: str = "_"


class Extras(NamedTuple):
    """What a sentence has in addition to the labels of its words.

    typos : correct forms of misspelled words, by their numbers from 0; MISC and FEATS say so
    empty : empty nodes, in their order
    """

    typos: Mapping[int, str] = {}
    empty: Sequence[EmptyNode] = ()

    @classmethod
    def read(cls, sentence: pn.Sentence) -> Extras:
        """Return those of a sentence; none of one that is not CoNLL-U."""
        layout = sentence.layout
        if layout is None or layout.format != "conllu":
            return cls()
        typos = {}
        for at, misc in enumerate(sentence.column("misc")):
            for pair in misc.split("|"):
                name, _, form = pair.partition("=")
                if name == "CorrectForm":
                    typos[at] = form
        rows = [row.split("\t") for row in layout.text[layout.start :].splitlines()]
        empty = [
            EmptyNode(int(row[0].partition(".")[0]), row[1], row[3])
            for row in rows
            if len(row) > 1 and "." in row[0]
        ]
        return cls(typos, empty)

    def checked(self, n_words: int) -> Extras:
        """Raise ArgumentError for a number, a form or a tag that cannot be."""
        for at in self.typos:
            check_int("typos", at, 0, n_words - 1)
        for after, _, upos in self.empty:
            check_int("empty", after, 0, n_words)
            if upos != "_" and wrong_ud_value("upos", upos):
                raise ArgumentError(f"empty: {quote(upos)} is not one of the 17 tags, nor _")
        for form in (*self.typos.values(), *(node.form for node in self.empty)):
            if wrong_ud_value("form", form) or wrong_conllu_value("form", form) or "|" in form:
                raise ArgumentError(f"extras: {quote(form)} cannot be a form here")
        return self

    def columns(
        self, sentence: pn.Sentence, labels: Mapping[str, Sequence[str]]
    ) -> dict[str, list[str]]:
        """Return MISC and FEATS with typos marked, as far as they are not as they were."""
        before = Extras.read(sentence).typos
        if before == self.typos and not before:
            return {}
        misc = list(sentence.column("misc"))
        feats = list(labels.get("feats", sentence.column("feats")))
        for at in {*before, *self.typos}:
            pairs = {pair for pair in feats[at].split("|") if pair not in ("_", "Typo=Yes")}
            if at in self.typos:
                misc[at] = with_misc(misc[at], "CorrectForm", self.typos[at])
                pairs.add("Typo=Yes")
            else:
                misc[at] = without_misc(misc[at], "CorrectForm")
            feats[at] = ordered_features("|".join(sorted(pairs))) or "_"
        return {"misc": misc, "feats": feats}

    def put_into(self, rows: str) -> str:
        """Return the lines of a sentence with these empty nodes and no others."""
        kept = [row for row in rows.split("\n") if "." not in row.partition("\t")[0]]
        count: Counter[int] = Counter()
        found: list[str] = []

        def add(after: int) -> None:
            for node in self.empty:
                if node.after == after:
                    count[after] += 1
                    number = f"{after}.{count[after]}"
                    found.append("\t".join((number, node.form, "_", node.upos, *"______")))

        add(0)
        for row in kept:
            found.append(row)
            name = row.partition("\t")[0]
            if name.isdecimal():
                add(int(name))
        return "\n".join(found)


@dataclass(frozen=True, slots=True)
class Record:
    """An annotated sentence as it stands in the file.

    Attributes
    ----------
    sentence : its words and labels
    item : what it covers of the text; None for a sentence of another text
    order : the how-manieth it was that was annotated, from 1; 0 if nobody said so
    corrections : tokens whose proposals were changed
    confidence : the mean on what was not annotated, before it was
    reviewed : numbers of words, from 0, that were doubted and looked at again
    is_check : whether it was drawn at random, and nothing is learned from it
    note : a person's remark
    """

    sentence: pn.Sentence
    item: Item | None = None
    order: int = 0
    corrections: int = 0
    confidence: float | None = None
    reviewed: Collection[int] = ()
    is_check: bool = False
    note: str = ""

    @property
    def text(self) -> str:
        """Its lines in the file, the empty one included."""
        layout = self.sentence.layout
        assert layout is not None
        return layout.text.removeprefix(BOM)

    @classmethod
    def of(cls, item: Item) -> Record:
        """Return a record of a sentence that is not annotated, with the note of the text."""
        if item.source is None:
            return cls(pn.Sentence(item.words), item)
        return cls(item.source, item, note=cls.read(item.source).note)

    @classmethod
    def read(cls, sentence: pn.Sentence) -> Record:
        """Return a record from a sentence of CoNLL-U and its comments."""
        layout = sentence.layout
        assert layout is not None
        head = layout.text[: layout.start].replace("\r\n", "\n")
        state, note = _STATE.search(head), _NOTE.search(head)
        found = cls(sentence, note=note[1].rstrip(" \t\r") if note else "")
        if state is None:
            return found
        order, corrections, confidence, reviewed, check = state.groups()
        return replace(
            found,
            order=int(order),
            corrections=int(corrections),
            confidence=float(confidence) / 100 if confidence else None,
            reviewed=[int(at) for at in (reviewed or "").split(",") if at],
            is_check=bool(check),
        )

    def written(self, columns: Mapping[str, Sequence[str]], extras: Extras | None = None) -> Record:
        """Return the record with labels and with comments that say what it says.

        Extras are those that it has already, unless others are given.
        """
        held = self.sentence
        if held.layout is None or held.layout.format != "conllu":
            assert self.item is not None
            held = _conllu(self.item, held.words)
        more = {} if extras is None else extras.columns(held, columns)
        text = (
            rewrite_conllu(held, {**columns, **more})
            .replace("\r\n", "\n")
            .removeprefix(BOM)
            .lstrip("\n")
        )
        row = _ROW.search(text)
        assert row is not None
        state = f"# annotation = order={self.order}|corrections={self.corrections}"
        if self.confidence is not None:
            state += f"|confidence={100 * self.confidence:.2f}"
        if self.reviewed:
            state += f"|reviewed={','.join(map(str, sorted(self.reviewed)))}"
        state += "|check\n" if self.is_check else "\n"
        note = f"# note = {' '.join(self.note.split())}\n" if self.note.strip() else ""
        head, rows = text[: row.start()], text[row.start() :]
        for ours, new in ((_STATE, state), (_NOTE, note)):
            old = ours.search(head)
            begin, end = (old.start(), old.end() + 1) if old else (len(head), len(head))
            head = head[:begin] + new + head[end:]
        rows = rows.rstrip("\n") if extras is None else extras.put_into(rows.rstrip("\n"))
        whole = head + rows + "\n\n"
        (sentence,) = pn.read_conllu(io.BytesIO(whole.encode()))
        return replace(Record.read(sentence), item=self.item)


class GoldFile:
    """The file: read, watched for what others write, replaced.

    Parameters
    ----------
    path : its name
    columns : those that are annotated; the first has `tags`
    tags : the labels that the first column may have; None for any

    Raises FileError if no such file can be written, ArgumentError for a name that cannot be.
    """

    def __init__(self, path: str, columns: Sequence[str], tags: Collection[str] | None) -> None:
        self.path = path
        self._columns = columns
        self._tags = tags
        self._stamp: tuple[int, ...] | None = None
        self._tail = ""
        pn.check_place(path)
        packed(path, ())
        if path == "-" or (os.path.exists(path) and not os.path.isfile(path)):
            raise ArgumentError(f"out: {path} cannot be read again; name a file")
        if os.path.splitext(path)[1].lower() == _MODEL:
            raise ArgumentError(f"out: {path} is a name of a model; name another: gold.conllu")

    def read(self) -> list[Record]:
        """Return what is in the file; nothing if there is none.

        Raises FileError, and FormatError for a line that breaks the format, other columns than the
        ten of CoNLL-U, a column without labels, or a tag that is not in the set.
        """
        stamp, tail = self._seen(), ""
        records = []
        if stamp is not None and stamp[1]:
            corpus = pn.open_corpus(self.path, format="conllu")
            for sentence in corpus:
                self.check(sentence)
                records.append(Record.read(sentence))
            tail = corpus.tail.removeprefix(BOM)
        for name in self._columns[:1] if records else []:
            if not any(any(given_labels(record.sentence, name)) for record in records):
                raise FormatError(
                    f"no word has a label of {name}; name other columns, or another file, with"
                    " this one as its text",
                    self.path,
                )
        self._stamp, self._tail = stamp, tail
        return records

    def rest(self, sentence: pn.Sentence) -> object:
        """Return all that annotation leaves as it is: comments, and the other columns."""
        layout = sentence.layout
        assert layout is not None
        head = layout.text[: layout.start].removeprefix(BOM).replace("\r\n", "\n").strip("\n")
        for ours in (_STATE, _NOTE):
            head = ours.sub("", head, count=1)
        others = [layout[name] for name in CONLLU_COLUMNS[2:] if name not in self._columns]
        return [line for line in head.split("\n") if line], others

    def check(self, sentence: pn.Sentence) -> None:
        """Raise FormatError for columns, or a tag, that a sentence of the file cannot have."""
        layout = sentence.layout
        if layout is not None and layout.names != CONLLU_COLUMNS:
            raise FormatError("annotation needs the ten columns of CoNLL-U", sentence.path, 1)
        if self._tags is None:
            return
        for number, tag in enumerate(sentence.column(self._columns[0])):
            if tag not in self._tags and tag != "_":
                hint = did_you_mean(tag, self._tags)
                raise FormatError(
                    f"{quote(tag)} is not in the tag set{hint}; correct it, or name another set",
                    sentence.path,
                    sentence.line_of(number),
                )

    def was_changed(self) -> bool:
        """Tell if somebody else wrote the file since it was last read or written."""
        return self._seen() != self._stamp

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other sessions on files of the folder waiting, where the system can."""
        with contextlib.ExitStack() as held:
            if sys.platform != "win32":
                import fcntl

                with contextlib.suppress(OSError):
                    folder = os.path.dirname(os.path.realpath(self.path))
                    descriptor = os.open(folder, os.O_RDONLY)
                    held.callback(os.close, descriptor)
                    # Of the folder, since the file is replaced; a killed program holds no lock.
                    fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield

    def write(self, records: Iterable[Record]) -> None:
        """Replace the file. Raises FileError; then it is as it was."""
        texts = []
        for record in records:
            text = record.text
            whole = text.endswith(("\n\n", "\n\r\n"))
            texts.append(text if whole else text.rstrip("\r\n") + "\n\n")
        data = "".join([*texts, self._tail]).encode()
        pn.replace_file(self.path, packed(self.path, [data]))
        self._stamp = self._seen()

    def _seen(self) -> tuple[int, ...] | None:
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise file_error(os.fspath(self.path), error, "read") from error
        return found.st_mtime_ns, found.st_size, found.st_ino


def model_place(path: str | None) -> str | None:
    """Return the path beside an annotated file at which its model is saved; None for none.

    Raises ArgumentError if something is there that was not saved as the model of such a file.
    """
    if path is None:
        return None
    place = os.path.splitext(path)[0] + _MODEL
    if os.path.lexists(place):
        try:
            was_saved = pn.load(place).model.record.get("annotation") == os.path.basename(path)
        except pn.PerceptronNLPError:
            was_saved = False
        if not was_saved:
            raise ArgumentError(
                f"out: {place}, where the model of {path} is saved, is there already and was not"
                " saved by annotation of it; move it, or name another --out"
            )
    return place


def _conllu(item: Item, words: Sequence[str]) -> pn.Sentence:
    """Return a sentence of raw text, or of lines, as CoNLL-U with its name and its text."""
    layout = None
    if item.tokens:
        span = 0, len(item.text)
        layout = Layout(
            "text", item.text, span, ("form",), tokens=item.tokens, is_glued=item.is_glued
        )
    sentence = pn.Sentence.from_reader(tuple(words), {}, "", 0, layout)
    (found,) = pn.read_conllu(io.BytesIO(as_conllu(sentence, {}, item.name).encode()))
    return found
