"""CoNLL-U scanned as bytes gives what the reader that goes line by line gives, errors included."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from perceptron_nlp.errors import FormatError
from perceptron_nlp.formats import read_conllu
from perceptron_nlp.formats.conllu import ConlluReader, rewrite_conllu
from perceptron_nlp.formats.lines import LineSource

VALUES = st.sampled_from(
    [
        "_",
        "a",
        "A=b",
        "A=b|C=d",
        "A=b|A=c",
        "é",
        "Ä=ß|x=\u3042",
        "0",
        "1",
        "2",
        "7",
        "1-2",
        "2-2",
        "1.1",
        "0:root",
        "1:obl:\u043d\u0430",
        "1:\u2003",
        "1:\u2028x",
        "1:\u0085",
        "2:a|1.1:b",
        "a b",
        "a\u00a0b",
        "",
        "\x7f",
        "\x1f",
        "#",
        "\U00010400",
        "Typo=Yes",
        "x" * 100,
        "a\rb",
        "\0",
    ]
)
LINES = st.lists(
    st.tuples(
        st.sampled_from(["next"] * 12 + ["1", "2", "1-2", "2-2", "1.1", "0.1"]),
        st.dictionaries(st.integers(1, 9), VALUES, max_size=2),
    ),
    max_size=4,
)
BEFORE = st.sampled_from(
    [""] * 6
    + [
        "# c\n",
        "#\n# é\n",
        "\n",
        "# c\n\n",
        "# a\rb\n",
        "\ufeff",
        "# global.columns = ID FORM UPOS\n",
    ]
)
BREAK = st.sampled_from(["\n"] * 12 + ["\r\n"])
FILES = st.tuples(
    st.lists(st.tuples(BEFORE, LINES, BREAK), min_size=1, max_size=4),
    st.sampled_from(["", "\n", "# end\n", "# end", "\n\n\n", b"\xff"]),
)


def written(file: Any) -> bytes:
    sentences, tail = file
    out = ""
    for before, lines, line_break in sentences:
        out += before
        number = 0
        for name, values in lines:
            number += name == "next"
            fields = [str(number) if name == "next" else name, *"_" * 9]
            for column, value in values.items():
                fields[column] = value
            out += "\t".join(fields) + line_break
        out += line_break
    return out.encode() + (tail if isinstance(tail, bytes) else tail.encode())


class Dribble(io.RawIOBase):
    """Gives a few bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        self._data = io.BytesIO(data)
        self._size = size

    def read(self, size: int = -1) -> bytes:
        return self._data.read(self._size)


def outcome(data: bytes, size: int, *, scanned: bool, errors: str) -> Any:
    """Everything of every sentence, and the tail or the error."""
    read: list[Any] = []
    try:
        reader = ConlluReader(LineSource(Dribble(data, size), errors=errors), scanned=scanned)
        for one in reader:
            columns = {name: one.columns[name] for name in one.columns}
            places = [one.line_of(index) for index in range(len(one))]
            changed = rewrite_conllu(one, {"misc": ["x"] * len(one)}) if "misc" in columns else ""
            read.append((one.words, columns, places, one.path, rewrite_conllu(one, {}), changed))
    except FormatError as error:
        return read, str(error)
    return read, reader.tail


@given(FILES.map(written), st.sampled_from([1, 7, 1 << 20]), st.sampled_from(["strict", "replace"]))
@example(b"1\ta" + b"\t_" * 8 + b"\n\n", 1, "strict")
@example(b"1\ta\t_\t_\t_\t_\t2\t_\t_\t_\n\n2\tb" + b"\t_" * 8 + b"\n\n", 1 << 20, "strict")
def test_scanned_or_line_by_line_every_sentence_line_and_error_is_the_same(
    data: bytes, size: int, errors: str
) -> None:
    quick = outcome(data, size, scanned=True, errors=errors)
    assert quick == outcome(data, size, scanned=False, errors=errors)


def test_a_sentence_is_given_before_more_is_waited_for() -> None:
    sentence = b"1\ta" + b"\t_" * 8 + b"\n\n"
    for text in (sentence, sentence.replace(b"\n", b"\r\n")):
        pieces = [text[:9], text[9:-1], text[-1:]]

        class Pipe(io.RawIOBase):
            def read(self, size: int = -1, pieces: list[bytes] = pieces) -> bytes:
                return pieces.pop(0)

        reader = read_conllu(Pipe())
        assert next(reader).words == ("a",)
        with pytest.raises(IndexError):
            next(reader)


def test_equal_words_and_tags_are_one_object() -> None:
    text = ("1\tHund\t_\tNOUN" + "\t_" * 6 + "\n2\tfährt\t_\tVERB" + "\t_" * 6 + "\n\n").encode()
    first, second = read_conllu(io.BytesIO(text * 2))
    for column in ("form", "upos"):
        pairs = zip(first.column(column), second.column(column), strict=True)
        assert all(one is other for one, other in pairs)
