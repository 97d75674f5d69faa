"""A table of candidate errors that a person went through, applied to copies of the files."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from perceptron_nlp import Corpus, Sentence, open_corpus, replace_file
from perceptron_nlp.analysis.doctor.diagnosis import TABLE_COLUMNS
from perceptron_nlp.errors import ArgumentError, FileError, FormatError, file_error, quote
from perceptron_nlp.formats.opening import plain_name
from perceptron_nlp.pages.renderers import tsv_escaped, tsv_text

logger = logging.getLogger("perceptron_nlp")

_NEEDED = ("file", "line", "word", "form", "gold", "expected")
Place = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Correction:
    """A row of the table: its line there, and what it says of a word."""

    row: int
    form: str
    gold: str
    expected: str


def apply_corrections(
    gold: Sequence[str | os.PathLike[str]],
    table: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    column: str | None = None,
    format: str = "auto",
    fields: Sequence[str] | None = None,
) -> int:
    """Copies of files in which candidate errors have the labels that a table expects.

    Every row of the table is carried out: whoever goes through it deletes the rows that are wrong,
    and writes another label under ``expected`` where that one is not right. Nothing else in a file
    changes, byte for byte. A label that occurs nowhere in the column of the files is put in, too,
    and a warning is logged, since it may be mistyped.

    Parameters
    ----------
    gold : the files that were examined; they may stand in another folder than then
    table : the table (``Diagnosis.to_table``); columns are known by their headings
    folder : where the copies go, under the files' own names; made if it is not there. Packed files
        are unpacked, and their names lose ``.gz``, ``.bz2`` or ``.xz``
    column, format, fields : as for ``perceptron_nlp.doctor``

    Returns
    -------
    int : how many rows were carried out

    Raises
    ------
    FormatError : the table is malformed, or a row does not fit its file (table:line)
    FileError : a file cannot be read or written, or two of them have the same name
    """
    names = [plain_name(Path(path).name) for path in gold]
    for path, name in zip(gold, names, strict=True):
        if names.count(name) > 1:
            raise FileError(
                f"{os.fspath(path)}: another file is called {name}, too, and both"
                " cannot be written to one folder"
            )
        if (Path(folder) / name).exists() and (Path(folder) / name).samefile(path):
            raise FileError(f"{os.fspath(path)}: would be overwritten; name another folder")
    wanted = _at_home(read_corrections(table), [os.fspath(path) for path in gold], os.fspath(table))
    left = dict(wanted)
    texts = []
    labels: set[str] = set()
    for path in gold:
        corpus = open_corpus(path, format=format, fields=fields)
        texts.append(
            "".join(_corrected(corpus, column, left, os.fspath(table), labels)).encode("utf-8")
        )
    if left:
        (path, line, word), row = min(left.items(), key=lambda item: item[1].row)
        raise FormatError(
            f"there is no word {word} at {path}:{line} in the files given",
            os.fspath(table),
            row.row,
        )
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise file_error(os.fspath(folder), error, "made a folder") from None
    for name, text in zip(names, texts, strict=True):
        replace_file(Path(folder) / name, text)
    new = {row.expected: row.row for row in wanted.values() if row.expected not in labels}
    for label, row_number in new.items():
        logger.warning(
            "%s:%d: label %s occurs nowhere else in the files; is it mistyped?",
            os.fspath(table),
            row_number,
            quote(label),
        )
    return len(wanted)


def read_corrections(table: str | os.PathLike[str]) -> dict[Place, Correction]:
    """The rows of a table by file, line, and the word's number from 1."""
    name = os.fspath(table)
    try:
        lines = Path(table).read_bytes().decode("utf-8-sig").splitlines()
    except OSError as error:
        raise file_error(name, error, "opened") from None
    except UnicodeDecodeError:
        raise FormatError("it is not UTF-8", name) from None
    heads = lines[0].split("\t") if lines else []
    for head in _NEEDED:
        if head not in heads:
            raise FormatError(
                f"there is no column {head!r}; the first line names the columns,"
                f" separated by tabs: {', '.join(TABLE_COLUMNS)}",
                name,
                1,
            )
    found: dict[Place, Correction] = {}
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) != len(heads):
            raise FormatError(f"{len(cells)} cells under {len(heads)} headings", name, number)
        row = dict(zip(heads, map(tsv_text, cells), strict=True))
        if not all(row[head].isascii() and row[head].isdigit() for head in ("line", "word")):
            raise FormatError("line and word must be numbers", name, number)
        place = row["file"], int(row["line"]), int(row["word"])
        if place in found:
            raise FormatError(
                f"the same word stands in line {found[place].row} already", name, number
            )
        found[place] = Correction(number, row["form"], row["gold"], row["expected"])
    return found


def _at_home(
    wanted: dict[Place, Correction], gold: Sequence[str], table: str
) -> dict[Place, Correction]:
    """Return the rows with the paths of the files given: the same ones, or of the same name."""
    there = {path for path, _, _ in wanted}
    homes = {}
    for path in map(tsv_escaped, gold):
        named = sorted(one for one in there if _name(one) == _name(path))
        if path in there:
            homes[path] = path
        elif len(named) > 1:
            raise FormatError(
                f"{path} may be {' or '.join(named)}; write its path into the rows that are meant",
                table,
            )
        elif named:
            homes[named[0]] = path
    return {(homes.get(path, path), line, word): row for (path, line, word), row in wanted.items()}


def _name(path: str) -> str:
    return plain_name(Path(path).name)


def _corrected(
    corpus: Corpus, column: str | None, left: dict[Place, Correction], table: str, seen: set[str]
) -> Iterator[str]:
    """The text of a file; rows that are carried out are taken from `left`, its labels `seen`."""
    name = corpus.column_named(column or corpus.default_column or "")
    if not name:
        raise ArgumentError(f"column: name the column of {corpus.path} to correct")
    for sentence in corpus:
        labels = list(sentence.column(name))
        seen.update(map(tsv_escaped, labels))
        rows = _correct(sentence, labels, left, table)
        try:
            yield corpus.rewrite(sentence, {name: labels} if rows else {})
        except ArgumentError as error:
            wrong = [row for row in rows if quote(row.expected) in str(error)]
            raise FormatError(str(error), table, (wrong or rows)[0].row) from None
    yield corpus.tail


def _correct(
    sentence: Sentence, labels: list[str], left: dict[Place, Correction], table: str
) -> list[Correction]:
    """Set the labels of a sentence that rows change; return these rows."""
    changed = []
    for i, word in enumerate(sentence.words):
        row = left.pop((tsv_escaped(sentence.path), sentence.line_of(i), i + 1), None)
        if row is None:
            continue
        _check(row, {"form": word, "gold": labels[i]}, table)
        if row.expected != tsv_escaped(labels[i]):
            labels[i] = row.expected
            changed.append(row)
    return changed


def _check(row: Correction, there: Mapping[str, str], table: str) -> None:
    for head, value in there.items():
        said = getattr(row, head)
        if said != tsv_escaped(value):
            raise FormatError(
                f"{head} {quote(said)}, but in the file stands {quote(value)}", table, row.row
            )
    if not row.expected:
        raise FormatError("there is no label under expected", table, row.row)
