"""tag_arrow: what comes out of it, for pyarrow and the libraries that speak its language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import perceptron_nlp as pn

pa = pytest.importorskip("pyarrow", reason="the extra arrow is not installed")
from perceptron_nlp.integrations.arrow import tag_arrow  # noqa: E402

ROWS = [["The", "old", "man"], None, [], ["Stop", "!"]]


def labels(tagger: pn.Tagger, rows: list[list[str] | None] = ROWS) -> list[list[str] | None]:
    return [None if row is None else tagger.tag(row) for row in rows]


def test_labels_are_lists_of_dictionary_encoded_strings(tagger: pn.Tagger) -> None:
    coded = pa.dictionary(pa.uint8(), pa.string())
    assert tag_arrow(tagger, pa.array(ROWS)).type == pa.list_(coded)
    large = pa.array(ROWS, pa.large_list(pa.large_string()))
    assert tag_arrow(tagger, large).type == pa.large_list(coded)
    found = tag_arrow(tagger, pa.array(ROWS), dictionary=False)
    assert found.type == pa.list_(pa.string()) and found.to_pylist() == labels(tagger)


def test_more_than_256_labels_take_two_bytes() -> None:
    words = [f"w{k}" for k in range(300)]
    tagger = pn.train([(words, [f"L{k:03}" for k in range(300)])], epochs=2, templates=["word[0]"])
    found = tag_arrow(tagger, pa.array([words]))
    assert found.type.value_type.index_type == pa.uint16()
    assert found.to_pylist() == [tagger.tag(words)]


def test_the_text_is_not_copied(tagger: pn.Tagger) -> None:
    before = pa.total_allocated_bytes()
    array = pa.array([["word" * 2000] * 10] * 10)
    text = pa.total_allocated_bytes() - before
    peak = pa.default_memory_pool()
    before = peak.bytes_allocated()
    found = tag_arrow(tagger, array.slice(1))
    assert text > 800_000 and peak.bytes_allocated() - before < 10_000
    assert found.to_pylist() == labels(tagger, array.slice(1).to_pylist())


def test_several_columns_are_structs_of_arrays_and_columns_of_batches(three: pn.Tagger) -> None:
    assert tag_arrow(three, pa.array(ROWS)).to_pylist() == [
        None if row is None else three.tag(row, columns=three.columns) for row in ROWS
    ]
    batch = pa.record_batch({"id": [1, 2, 3, 4], "tokens": ROWS, "upos": ["x"] * 4})
    found = tag_arrow(three, batch)
    assert isinstance(found, pa.RecordBatch)
    assert found.schema.names == ["id", "tokens", "upos", "xpos", "feats"]
    together = three.tag_sents([row for row in ROWS if row is not None], columns=three.columns)
    for name, own in together.items():
        given = iter(own)
        assert found.column(name).to_pylist() == [
            None if row is None else next(given) for row in ROWS
        ]
    assert found.column("id").equals(batch.column("id"))


def test_joint_labels_that_are_written_alike_are_one_in_the_dictionary(three: pn.Tagger) -> None:
    tagger = three.by_column["feats"]
    found = tag_arrow(tagger, pa.array([["The", "old", "ferries", "stop"]]))
    labels = found.values.dictionary.to_pylist()
    assert len(labels) == len(set(labels)) < len(tagger.labels)
    assert found.to_pylist() == [tagger.tag(["The", "old", "ferries", "stop"])]


def test_tables_and_readers_come_back_as_such(tagger: pn.Tagger) -> None:
    table = pa.table({"tokens": ROWS}).replace_schema_metadata({"by": "us"})
    found = tag_arrow(tagger, table)
    assert isinstance(found, pa.Table) and found.schema.metadata == {b"by": b"us"}
    reader = tag_arrow(tagger, table.to_reader())
    assert isinstance(reader, pa.RecordBatchReader) and reader.read_all().equals(found)
    empty = tag_arrow(tagger, table.slice(0, 0))
    assert empty.num_rows == 0 and empty.schema == found.schema


class Capsule:
    """Arrow data of a library that we know nothing of."""

    def __init__(self, data: Any, *, stream: bool) -> None:
        name = "__arrow_c_stream__" if stream else "__arrow_c_array__"
        setattr(type(self), name, lambda self, schema=None: getattr(data, name)(schema))


@pytest.mark.parametrize(
    ("make", "stream", "kind"),
    [
        (lambda: pa.array(ROWS), False, pa.Array),
        (lambda: pa.record_batch({"tokens": ROWS}), False, pa.RecordBatch),
        (lambda: pa.chunked_array([ROWS, ROWS]), True, pa.ChunkedArray),
        (lambda: pa.table({"tokens": ROWS}), True, pa.Table),
    ],
    ids=["array", "batch", "chunks", "table"],
)
def test_anything_that_gives_capsules_will_do(
    tagger: pn.Tagger, make: Callable[[], Any], stream: bool, kind: type
) -> None:
    class Own(Capsule):
        pass

    found = tag_arrow(tagger, Own(make(), stream=stream))
    assert isinstance(found, kind) and found.equals(tag_arrow(tagger, make()))


def test_rows_of_nothing_but_nulls_and_empty_sentences_are_labeled(tagger: pn.Tagger) -> None:
    assert tag_arrow(tagger, pa.nulls(2)).to_pylist() == [None, None]
    assert tag_arrow(tagger, pa.array([[], []])).to_pylist() == [[], []]
    assert tag_arrow(tagger, pa.array([], pa.list_(pa.string()))).to_pylist() == []
    found = tag_arrow(tagger, pa.table({"tokens": [[], None], "id": [1, 2]}))
    assert found["tag"].to_pylist() == [[], None]
    nothing = pa.chunked_array([], pa.large_list(pa.string()))
    assert tag_arrow(tagger, nothing).type == tag_arrow(tagger, pa.array(ROWS, nothing.type)).type


def test_models_that_look_beyond_words_take_lists(small: list[tuple[list[str], list[str]]]) -> None:
    spans = pn.train([(["Ada", "sleeps"], ["B-PER", "O"])] * 5, epochs=1)
    function = pn.train(small, epochs=1, features=lambda tokens, i: [tokens.words[i]])
    for tagger in (spans, function):
        assert tag_arrow(tagger, pa.array(ROWS)).to_pylist() == labels(tagger)


def test_further_columns_that_the_model_looks_at_are_taken_from_the_batch(
    annotated: list[pn.Sentence],
) -> None:
    tagger = pn.train(
        annotated, column="feats", epochs=2, templates=["word.suffix2[0]", "column:upos[0]"]
    )
    words = [list(sentence.words) for sentence in annotated]
    upos = [list(sentence.column("upos")) for sentence in annotated]
    table = pa.table({"tokens": words, "upos": upos})
    assert tag_arrow(tagger, table)["feats"].to_pylist() == tagger.tag_sents(annotated)
    with pytest.raises(pn.ArgumentError, match="data: the model looks at column upos in addition"):
        tag_arrow(tagger, table.drop_columns("upos"))
    with pytest.raises(pn.ArgumentError, match="looks at the columns upos in addition to"):
        tag_arrow(tagger, pa.array(words))
    short = pa.table({"tokens": words, "upos": [upos[0], upos[1][1:], *upos[2:]]})
    with pytest.raises(pn.ArgumentError, match=r"column upos\[1\]: has another number of values"):
        tag_arrow(tagger, short, tokens_column="tokens")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pa.array([[["The"]]]), "data: words must be strings, not list<.*; flatten it"),
        (pa.array([[b"The"]]), "data: words must be strings, not binary; cast it to string"),
        (pa.array([[1, 2]]), "data: words must be strings, not int64"),
        (pa.table({"tokens": [1]}), "column tokens: rows must be lists of words, not int64"),
        (pa.array([1]), "data: rows must be lists of words, not int64"),
        (
            [["The", "old"]],
            "data: Arrow data are needed .*, not list; lists of str are for tagger.tag",
        ),
        (None, "data: Arrow data are needed"),
    ],
)
def test_other_types_are_refused(tagger: pn.Tagger, data: Any, message: str) -> None:
    with pytest.raises(pn.ArgumentTypeError, match=message):
        tag_arrow(tagger, data)


@pytest.mark.parametrize(
    ("data", "arguments", "message"),
    [
        (
            pa.array([["a"], None, ["b", None]]),
            {},
            r"data\[2\]\[1\]: is null, where a word is needed",
        ),
        (pa.chunked_array([[["a"]], [["b"], [None]]]), {}, r"data\[2\]\[0\]: is null"),
        (pa.table({"x": [["a"], [None]]}), {}, r"column x\[1\]\[0\]: is null"),
        (pa.table({"x": [["a"]], "y": [["a"]]}), {}, "tokens_column: several columns .* of x, y"),
        (
            pa.table({"x": [1]}),
            {},
            r"tokens_column: no column is a list of strings; .* x \(int64\)",
        ),
        (pa.table({"x": [["a"]]}), {"tokens_column": "z"}, "tokens_column: 'z': there is no such"),
        (pa.table({"tag": [["a"]]}), {}, "tokens_column: 'tag' is the column to be filled, too"),
        (pa.array([["a"]]), {"tokens_column": "x"}, "tokens_column: the data are an array"),
        (pa.array([["a"]]), {"threads": 0}, "threads: 0 is not between"),
        (
            pa.ListArray.from_arrays(
                [0, 1],
                pa.StringArray.from_buffers(
                    1, pa.array([0, 1], pa.int32()).buffers()[1], pa.py_buffer(b"\xff")
                ),
            ),
            {},
            "is not UTF-8",
        ),
    ],
)
def test_data_that_cannot_be_labeled_are_refused_by_their_place(
    tagger: pn.Tagger, data: Any, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(pn.ArgumentError, match=message):
        tag_arrow(tagger, data, **arguments)


def test_errors_within_a_stream_come_out_of_it(tagger: pn.Tagger) -> None:
    table = pa.table({"x": pa.chunked_array([[["a"]], [["b", None]]])})
    stream = tag_arrow(tagger, table.to_reader())
    assert stream.read_next_batch().num_rows == 1
    with pytest.raises(pn.ArgumentError, match=r"column x\[1\]\[1\]: is null"):
        stream.read_next_batch()


def test_two_tokens_columns_are_told_apart_by_their_name(tagger: pn.Tagger) -> None:
    table = pa.table({"lemmas": [["x"]], "tokens": [["man"]]})
    assert tag_arrow(tagger, table)["tag"].to_pylist() == [tagger.tag(["man"])]
    named = tag_arrow(tagger, table, tokens_column="lemmas")
    assert named["tag"].to_pylist() == [tagger.tag(["x"])]


def test_confidences_are_columns_next_to_the_labels(sure: pn.Tagger, tagger: pn.Tagger) -> None:
    table = pa.table({"id": [1, 2, 3, 4], "tokens": ROWS})
    found = tag_arrow(sure, table, confidences=True)
    names = ["id", "tokens", "upos", "upos_confidence", "xpos", "xpos_confidence"]
    assert found.column_names == names
    assert found.schema.field("upos_confidence").type == pa.list_(pa.float32())
    plain = tag_arrow(sure, table)
    for name, part in sure.by_column.items():
        assert found[name].equals(plain[name])
        for row, own in zip(ROWS, found[f"{name}_confidence"].to_pylist(), strict=True):
            if row is None:
                assert own is None
            else:
                assert own == pytest.approx(part.confidences(row), abs=1e-6)
    with pytest.raises(pn.ModelError, match="not calibrated"):
        tag_arrow(tagger, table, confidences=True)
    with pytest.raises(pn.ArgumentError, match="confidences: they are columns next to"):
        tag_arrow(sure, table["tokens"], confidences=True)
