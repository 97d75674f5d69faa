"""Columns that are looked up: for each word what a table says of it, such as its cluster.

Templates see such a column as they see one of the input (``column:clusters100[0]``); the tables
are in the model file, so that the person hands over words alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from perceptron_nlp.errors import ArgumentError, quote
from perceptron_nlp.records import record
from perceptron_nlp.tagger.tag.wordbytes import word_bytes
from perceptron_nlp.text.sentence import Sentence

if TYPE_CHECKING:
    from perceptron_nlp.tagger.train.data import Examples

ABSENT = "_"


@record(eq=False)
class WordTables:
    """Tables over words; they do not change.

    Attributes
    ----------
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

    def added_to(self, words: Sequence[str]) -> Sentence:
        """A sentence with the columns."""
        return with_columns(words, self.columns(words))

    def record(self) -> dict[str, object]:
        """Names and a digest of the content, as they go into the model's training record."""
        # Here, since tagging does without.
        import hashlib

        digest = hashlib.sha256()
        for form in sorted(self.rows):
            digest.update(word_bytes("\t".join((form, *self.rows[form])) + "\n"))
        return {"names": list(self.names), "forms": len(self.rows), "sha256": digest.hexdigest()}


def with_columns(words: Sequence[str], columns: Mapping[str, tuple[str, ...]]) -> Sentence:
    """A sentence with further columns, checked already."""
    if isinstance(words, Sentence):
        return Sentence.from_reader(
            words.words, {**words.columns, **columns}, words.path, 0, words.layout
        )
    return Sentence.from_reader(tuple(words), columns, "", 0, None)


def with_tables(
    examples: Examples,
    tables: WordTables,
    given: Mapping[str, Sequence[tuple[str, ...]]] | None = None,
) -> Examples:
    """The examples with the columns of the tables.

    Parameters
    ----------
    examples : training sentences
    tables : what their words are looked up in
    given : columns, sentence by sentence, that are not looked up; or None

    Raises
    ------
    ArgumentError : the sentences have a column of the same name already
    """
    taken = sorted({*tables.names} & {*examples.columns})
    if taken:
        raise ArgumentError(
            f"fields: {quote(taken[0])} is the name of a column that the tagger"
            " makes itself; give the column of the input another name"
        )
    sentences = []
    for number, sentence in enumerate(examples.sentences):
        columns = tables.columns(sentence.words)
        columns.update({name: values[number] for name, values in (given or {}).items()})
        sentences.append(with_columns(sentence, columns))
    # Here, since training alone needs it.
    from dataclasses import replace

    return replace(examples, sentences=sentences, columns=(*examples.columns, *tables.names))
