"""JSON lines: a record a line, one field of which is a running text; blank lines stay as they are.

A record comes back as it stood, byte for byte, with a field ``sentences`` behind the others: lists
of the words of each sentence. A word is an object of its
``form``, its labels by column, and ``start`` and ``end``, the place of its token in the text, in
characters; words of a multiword token share it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, pairwise
from json.encoder import encode_basestring as quoted
from operator import itemgetter
from typing import Any, NamedTuple, NoReturn

from perceptron_nlp.errors import FormatError, quote
from perceptron_nlp.formats.lines import LineSource
from perceptron_nlp.formats.opening import BOM
from perceptron_nlp.formats.reading import Format

SENTENCES = "sentences"
"""The field that is added."""
FIELD = "text"
"""The field of the text, if none is named."""


class Record(NamedTuple):
    """A line, and its text; None where the line is blank, or the text is ``null``."""

    line: str
    text: str | None = None

    def written(self, sentences: str) -> str:
        """Return the line with the field that is added."""
        body = self.line.rstrip()
        if not body:
            return self.line
        end = self.line[len(body) :]
        return f'{body[:-1].rstrip()},"{SENTENCES}":{sentences}}}{end}'


def record_of(line: str, field: str, path: str, number: int) -> Record:
    """Return a line as a record, without a field that tagging added before.

    Raises FormatError for what is no JSON object, or has no text, or null, in the field.
    """
    if number == 1:
        line = line.removeprefix(BOM)
    body = line.rstrip()
    if not body:
        return Record(line)
    what = None
    try:
        held = json.loads(body)
    except json.JSONDecodeError as error:
        what = f"this is no JSON ({error.msg}, column {error.colno}); a line is a record"
    except (ValueError, RecursionError):
        what = "this JSON is nested too deeply, or has a number too long"
    else:
        if not isinstance(held, dict):
            what = f"a JSON object is needed, not {quote(body)}"
        elif field not in held:
            there = ", ".join(held) or "none"
            what = f"the record has no field {quote(field)}; its fields are {quote(there)}"
        elif not isinstance(held[field], str | None):
            what = f"the field {quote(field)} must be a text, not {quote(json.dumps(held[field]))}"
    if what is not None:
        raise FormatError(what, path, number)
    text = held[field]
    if SENTENCES in held:
        line = _untagged(body, held) + line[len(body) :]
    return Record(line, text)


def _untagged(body: str, held: dict[str, object]) -> str:
    """Return a record without the field that is added; as it was, if it was added here."""
    before, _, value = body.rpartition(f',"{SENTENCES}":')
    old = held.pop(SENTENCES)
    try:
        if json.loads(value[:-1]) == old:
            return before + "}"
    except ValueError:
        pass
    return json.dumps(held, ensure_ascii=False)


def sentences_json(found: Any, columns: Mapping[str, str], *, confidences: bool) -> Iterator[str]:
    """Yield what each of some texts gets.

    found : the texts, cut and labeled (LabelArrays)
    columns : by the name that is written, a column
    confidences : write those, too, as ``upos_confidence``
    """
    forms = _strings(found.forms)
    values: dict[str, Iterable[Any]] = {"form": map(quoted, forms)}
    for name, column in columns.items():
        if column not in found.labels:
            values[name] = map(quoted, _strings(found.lemmas))
            continue
        numbers, labels = found.labels[column]
        values[name] = map([*map(quoted, labels)].__getitem__, numbers.tolist())
        if confidences:
            values[f"{name}_confidence"] = map("{:.4f}".format, found.confidences[column].tolist())
    values["start"], values["end"] = found.starts.tolist(), found.ends.tolist()
    shape = "{" + ",".join(f"{quoted(name).replace('%', '%%')}:%s" for name in values) + "}"
    words = [shape % row for row in zip(*values.values(), strict=True)]
    numbered = [*zip(found.sentences.tolist(), words, strict=True)]
    for begin, end in pairwise(found.offsets.tolist()):
        own = groupby(numbered[begin:end], itemgetter(0))
        lists = (",".join(map(itemgetter(1), sentence)) for _, sentence in own)
        yield "[" + ",".join(f"[{words}]" for words in lists) + "]"


def _strings(packed: tuple[Any, bytes]) -> list[str]:
    places, text = packed
    return [text[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(places.tolist())]


def _refuse(source: LineSource, *how: object) -> NoReturn:
    raise FormatError("these are records of running text, which only tag reads", source.name)


FORMATS = {"jsonl": Format(read=_refuse, rewrite=lambda sentence, columns: "")}
