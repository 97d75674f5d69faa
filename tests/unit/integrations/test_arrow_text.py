"""Running text in Arrow and Parquet: a column of words with labels and places."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import perceptron_nlp as pn

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from perceptron_nlp.integrations.arrow import ArrowTagger, tag_arrow, tag_parquet  # noqa: E402

DATA = Path(__file__).parents[3] / "data"
TEXTS = ["Le chat va au bois. Il dort.", "", None, " Zoé\n\ndort du bois", "…", "é" * 40]


def expected(tagger: pn.Tagger, text: str | None) -> list[dict[str, object]] | None:
    """Return what tag_text says of a text."""
    if text is None:
        return None
    tokens = [
        (number, token)
        for number, sentence in enumerate(tagger.tag_text(text))
        for token in sentence.tokens
    ]
    return [
        {"form": word.form, **word.labels}
        | {"start": token.start, "end": token.end, "token": at, "sentence": number}
        for at, (number, token) in enumerate(tokens)
        for word in token.words
    ]


@pytest.fixture(scope="module")
def as_english() -> pn.Tagger:
    return pn.train([(["The", "dog", "sleeps"], ["D", "N", "V"])], epochs=1)


@pytest.mark.parametrize("dictionary", [True, False])
def test_each_text_gets_the_words_of_tag_text(
    pipeline: pn.Tagger, as_english: pn.Tagger, dictionary: bool
) -> None:
    for tagger in (pipeline, as_english):
        found = tag_arrow(tagger, pa.array(TEXTS), dictionary=dictionary)
        assert found.to_pylist() == [expected(tagger, text) for text in TEXTS]


def test_kinds_of_strings_chunks_and_slices_are_all_read(pipeline: pn.Tagger) -> None:
    own = [expected(pipeline, text) for text in TEXTS]
    for type in (pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())):
        array = pa.array(TEXTS).cast(type) if type != pa.string_view() else pa.array(TEXTS, type)
        assert tag_arrow(pipeline, array).to_pylist() == own
    chunks = pa.chunked_array([TEXTS[:2], TEXTS[2:]])
    assert tag_arrow(pipeline, chunks).to_pylist() == own
    assert tag_arrow(pipeline, pa.array(TEXTS)[1:4]).to_pylist() == own[1:4]


def test_many_texts_are_as_each_alone(pipeline: pn.Tagger) -> None:
    many = [f"{text} {number}" for number in range(900) for text in TEXTS if text] * 4
    found = pipeline.tag_arrays(many)
    places = [pipeline.tag_arrays([text]) for text in many[:12]]
    assert len(found.offsets) == len(many) + 1
    for number, alone in enumerate(places):
        own = slice(found.offsets[number], found.offsets[number + 1])
        assert found.starts[own].tolist() == alone.starts.tolist()
        assert found.sentences[own].tolist() == alone.sentences.tolist()


def test_a_text_may_have_more_lemmas_than_labels_have_numbers() -> None:
    gold = pn.Sentence(["to", "do"], {"upos": ["P", "V"], "lemma": ["to", "do"]})
    tagger = pn.train([gold], column="upos,lemma", preset="fast", epochs=1)
    text = " ".join(f"do{number}" for number in range(1 << 16 | 1))
    found = tagger.tag_arrays([text])
    assert found.lemmas is not None and found.lemmas[1].endswith(b"do65536")
    assert len(found.lemmas[0]) == (1 << 16) + 2 and list(found.labels) == ["upos"]


@pytest.mark.parametrize("texts", ["Il dort.", b"Il dort.", None, ["Il", None]])
def test_texts_are_a_list_of_str(pipeline: pn.Tagger, texts: Any) -> None:
    with pytest.raises(pn.ArgumentTypeError, match=r"^texts(\[1\])?: a "):
        pipeline.tag_arrays(texts)


def test_tables_keep_their_other_columns(pipeline: pn.Tagger) -> None:
    table = pa.table({"id": list(range(len(TEXTS))), "body": TEXTS})
    found = tag_arrow(pipeline, table, text_column="body")
    assert found.column_names == ["id", "body", "words"]
    assert found["words"].to_pylist() == [expected(pipeline, text) for text in TEXTS]
    reader = tag_arrow(pipeline, table.to_reader(max_chunksize=2), text_column="body")
    assert reader.read_all()["words"].to_pylist() == found["words"].to_pylist()


@pytest.mark.parametrize(
    ("column", "options"),
    [(["Le chat ."], {"text_column": "rows"}), ([["Le", "chat"]], {"tokens_column": "rows"})],
)
def test_columns_of_the_same_name_keep_their_own_values(
    pipeline: pn.Tagger, column: list[Any], options: dict[str, str]
) -> None:
    def table(name: str) -> Any:
        arrays = [pa.array(column), pa.array([1]), pa.array([2])]
        return pa.Table.from_arrays(arrays, names=["rows", name, name])

    found = tag_arrow(pipeline, table("id"), **options)
    assert [own.to_pylist() for own in found.columns[1:3]] == [[1], [2]]
    added = found.column_names[-1]
    with pytest.raises(pn.ArgumentError, match=f"several columns are called .{added}."):
        tag_arrow(pipeline, table(added), **options)


@pytest.mark.parametrize("names", [["xpos"], ["lemma"], ["upos", "xpos"]])
def test_columns_are_filled_as_if_there_were_no_others(names: list[str], tmp_path: Path) -> None:
    tagger = pn.load("en")
    # Some labels are others by themselves than where all columns agree.
    text = (DATA / "harbor.txt").read_text("utf-8")
    words = [sentence.forms for sentence in tagger.tag_text(text)]
    alone = tagger.tag_sents(words, columns=names)
    assert names != ["xpos"] or alone != {
        "xpos": tagger.tag_sents(words, columns=tagger.columns)["xpos"]
    }
    pq.write_table(pa.table({"body": [text]}), tmp_path / "t.parquet")
    columns = {name: name for name in names}
    data = b"".join(
        tag_parquet(tagger, tmp_path / "t.parquet", text_column="body", columns=columns)
    )
    found = pq.read_table(io.BytesIO(data))["words"].to_pylist()[0]
    for name in names:
        assert [word[name] for word in found] == [label for own in alone[name] for label in own]
    assert {*tagger.tag_arrays([text], columns=names).labels} == {*names} - {"lemma"}


def test_parquet_gets_the_column(pipeline: pn.Tagger, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"body": TEXTS, "n": [1] * len(TEXTS)}), path, row_group_size=2)
    data = b"".join(tag_parquet(pipeline, path, text_column="body", columns={"pos": "upos"}))
    found = pq.read_table(io.BytesIO(data))
    assert found.column_names == ["body", "n", "words"]
    assert found["words"][0].as_py()[0] == {
        "form": "Le",
        "pos": pipeline.tag_text("Le chat va au bois.")[0][0].label,
        "start": 0,
        "end": 2,
        "token": 0,
        "sentence": 0,
    }


def test_a_tagger_for_engines_adds_the_column(pipeline: pn.Tagger, tmp_path: Path) -> None:
    pipeline.save(tmp_path / "m.model")
    own = ArrowTagger(tmp_path / "m.model", text_column="body", keep=["id"])
    batch = pa.record_batch({"id": [7, 8], "body": TEXTS[:2]})
    (found,) = own.batches([batch])
    assert found.schema == own.schema(batch.schema) and found.schema.names == ["id", "words"]
    assert found["words"].to_pylist() == [expected(pipeline, text) for text in TEXTS[:2]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text_column": "none"}, "text_column: 'none': there is no such column"),
        ({"text_column": "id"}, "text_column: 'id' must be strings, not int64"),
        ({"text_column": "body", "tokens_column": "body"}, "data have words or texts"),
        ({"text_column": "body", "confidences": True}, "there are none of running text"),
    ],
)
def test_what_cannot_be_done_is_said(
    pipeline: pn.Tagger, options: dict[str, object], message: str
) -> None:
    table = pa.table({"id": [1], "body": ["a"]})
    with pytest.raises((pn.ArgumentError, pn.ArgumentTypeError), match=message.replace("'", ".")):
        tag_arrow(pipeline, table, **options)
    with pytest.raises(pn.ArgumentError, match="an array, which has no columns"):
        tag_arrow(pipeline, pa.array(["a"]), text_column="body")
