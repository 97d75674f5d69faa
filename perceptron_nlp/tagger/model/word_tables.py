"""Columns that are looked up: for each word what a table says of it, such as its cluster.

Templates see such a column as they see one of the input (``column:clusters100[0]``); the tables
are in the model file, so that the person hands over words alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, NoReturn

from perceptron_nlp.tagger.model.derived import ABSENT, Around, Sentences
from perceptron_nlp.tagger.model.weights import UNSIGNED, Reader, Writer, are_strings, smallest
from perceptron_nlp.text.sentence import Sentence, with_columns
from perceptron_nlp.text.tagset import Strings, word_bytes


class WordTables(NamedTuple):
    """Tables over words; they do not change.

    names : the names of their columns, at least one, each once
    rows : what they say of a form, in the order of the names; ABSENT where a table says nothing.
        A word that is not here as it is written has the row of its lower-cased form
    """

    names: tuple[str, ...]
    rows: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, tables: Mapping[str, Mapping[str, str]]) -> WordTables:
        """Tables by name, each from forms to values; each is asked for a word as it is written,
        then lower-cased."""
        forms = sorted(set().union(*tables.values()))
        return cls(
            tuple(tables),
            {
                form: tuple(
                    table.get(form) or table.get(form.lower(), ABSENT) for table in tables.values()
                )
                for form in forms
            },
        )

    def columns(self, words: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The columns of a sentence by their names."""
        get, absent = self.rows.get, (ABSENT,) * len(self.names)
        found = [get(word) or get(word.lower(), absent) for word in words]
        values = zip(*found, strict=True) if found else [()] * len(self.names)
        return dict(zip(self.names, values, strict=True))

    @property
    def key(self) -> str:
        """See Derived."""
        return "tables"

    @property
    def looks_around(self) -> bool:
        """See Derived."""
        return False

    def needs(self, columns: frozenset[str]) -> frozenset[str]:
        """See Derived."""
        return columns - {*self.names}

    def add(self, sentences: Sentences, around: Around) -> list[Sentence]:
        """See Derived."""
        return [with_columns(words, self.columns(words)) for words in sentences]

    def write(self, writer: Writer) -> dict[str, Any]:
        """See Derived."""
        import numpy as np

        tables = writer.under("tables")
        forms = sorted(self.rows)
        tables.put_strings(Strings.of(forms))
        all_values = []
        for number in range(len(self.names)):
            column = [self.rows[form][number] for form in forms]
            values = sorted({*column} - {ABSENT})
            places = {ABSENT: 0, **{value: place for place, value in enumerate(values, 1)}}
            tables.put(str(number), smallest(np.array([places[v] for v in column], np.int64)))
            all_values.append(values)
        return {"names": list(self.names), "values": all_values}

    @classmethod
    def read(cls, described: Any, reader: Reader) -> WordTables:
        """See Derived."""
        tables = reader.under("tables")

        def refuse(what: str) -> NoReturn:
            raise reader.bad("tables", what)

        if not isinstance(described, dict) or {*described} != {"names", "values"}:
            refuse("not a description of word tables")
        names, all_values = described["names"], described["values"]
        if (
            not are_strings(names)
            or not names
            or not isinstance(all_values, list)
            or len(all_values) != len(names)
            or len(set(names)) < len(names)
        ):
            refuse("not as many lists of values as names")
        forms = tables.strings().decoded()
        columns = []
        for number, values in enumerate(all_values):
            if not are_strings(values):
                refuse("values that are no strings")
            places = tables.numbers(str(number), *UNSIGNED)
            if len(places) != len(forms) or max(places, default=0) > len(values):
                refuse("values for other forms than there are")
            columns.append([[ABSENT, *values][place] for place in places])
        return cls(tuple(names), dict(zip(forms, zip(*columns, strict=True), strict=True)))

    def record(self) -> dict[str, object]:
        """Names and a digest of the content, as they go into the model's training record."""
        # Here, since tagging does without.
        import hashlib

        digest = hashlib.sha256()
        for form in sorted(self.rows):
            digest.update(word_bytes("\t".join((form, *self.rows[form])) + "\n"))
        return {"names": list(self.names), "forms": len(self.rows), "sha256": digest.hexdigest()}
