"""The batch function: small to send, one model a process, and no other model than was meant."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import perceptron_nlp as pn

pa = pytest.importorskip("pyarrow", reason="the extra arrow is not installed")

from perceptron_nlp.integrations import arrow  # noqa: E402
from perceptron_nlp.integrations.arrow import ArrowTagger  # noqa: E402

IN_ANOTHER_PROCESS = """\
import pickle, sys
import pyarrow as pa
function = pickle.loads(sys.stdin.buffer.read())
from perceptron_nlp.integrations import arrow
for number in range(3):
    found = function(pa.table({"tokens": [["The", "old", "man"], [], ["Stop", "!"]]}))
print(found["tag"].to_pylist(), arrow.tagger_at.cache_info().misses)
"""


def words(small: list[tuple[list[str], list[str]]]) -> pa.Table:
    return pa.table({"tokens": pa.array([list(w) for w, _ in small], pa.list_(pa.string()))})


def test_another_process_loads_the_model_once_for_all_batches(
    model: Path, tagger: pn.Tagger
) -> None:
    sent = pickle.dumps(ArrowTagger(model))
    assert len(sent) < 1000
    done = subprocess.run(
        [sys.executable, "-c", IN_ANOTHER_PROCESS], input=sent, capture_output=True, check=True
    )
    labels = tagger.tag_sents([["The", "old", "man"], [], ["Stop", "!"]])
    assert done.stdout.decode() == f"{labels} 1\n"


def test_tables_batches_and_partitions_get_the_same_labels(
    model: Path, tagger: pn.Tagger, small: list[tuple[list[str], list[str]]]
) -> None:
    function, table = ArrowTagger(model), words(small)
    expected = tagger.tag_sents([w for w, _ in small])
    assert function(table)["tag"].to_pylist() == expected
    assert function(table.to_batches()[0]).column("tag").to_pylist() == expected
    parts = function.batches(table.to_batches(max_chunksize=5))
    assert [labels for part in parts for labels in part.column("tag").to_pylist()] == expected
    assert function(table.slice(0, 0)).schema == function.schema(table.schema)


def test_columns_are_chosen_by_name(
    three: pn.Tagger, tmp_path: Path, small: list[tuple[list[str], list[str]]]
) -> None:
    three.save(tmp_path / "three.model")
    function = ArrowTagger(tmp_path / "three.model", columns=["feats", "upos"])
    assert function(words(small)).column_names == ["tokens", "upos", "feats"]
    with pytest.raises(pn.ArgumentError, match="columns: 'lemma' is not one of upos, xpos"):
        ArrowTagger(tmp_path / "three.model", columns=["lemma"])


def test_only_what_is_kept_comes_back_beside_the_labels(
    model: Path, tagger: pn.Tagger, small: list[tuple[list[str], list[str]]]
) -> None:
    table = words(small).append_column("number", pa.array(range(len(small))))
    found = ArrowTagger(model, keep=["number"])(table)
    assert found.column_names == ["number", "tag"]
    assert found["tag"].to_pylist() == tagger.tag_sents([w for w, _ in small])
    alone = ArrowTagger(model, keep=[])
    assert (
        alone(table).schema
        == alone.schema(table.schema)
        == pa.schema([("tag", pa.list_(pa.string()))])
    )
    with pytest.raises(pn.ArgumentError, match="keep: 'no': there is no such column; there are t"):
        ArrowTagger(model, keep=["no"])(table)


def test_a_model_that_is_gone_or_another_one_is_refused_where_the_batches_are(
    tmp_path: Path, model: Path, three: pn.Tagger, small: list[tuple[list[str], list[str]]]
) -> None:
    path = tmp_path / "moved.model"
    path.write_bytes(model.read_bytes())
    function = ArrowTagger(path)
    arrow.tagger_at.cache_clear()
    three.save(path)
    with pytest.raises(pn.ModelError, match="is another model than where the job was begun"):
        function(words(small))
    path.unlink()
    with pytest.raises(pn.FileError, match=r"there is no such file \(on .*\); put the model where"):
        function(words(small))


def test_another_version_is_refused(
    model: Path, small: list[tuple[list[str], list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    function = ArrowTagger(model)
    monkeypatch.setattr("perceptron_nlp._checks.__version__", "99.0")
    with pytest.raises(pn.EngineError, match="install the same version everywhere"):
        function(words(small))


def test_arguments_of_other_types_are_refused(model: Path) -> None:
    with pytest.raises(pn.ArgumentError, match="columns: none is named; there are tag"):
        ArrowTagger(model, columns=[])
    with pytest.raises(pn.ArgumentError, match="text_column, tokens_column: data have words or"):
        ArrowTagger(model, text_column="a", tokens_column="b")
    with pytest.raises(pn.ArgumentTypeError, match="columns: a list of names is needed, not str"):
        ArrowTagger(model, columns="upos")
    with pytest.raises(pn.ArgumentTypeError, match="keep: a list of names is needed, not str"):
        ArrowTagger(model, keep="id")
    with pytest.raises(pn.ArgumentTypeError, match="model: the path of a model file is needed"):
        ArrowTagger(7)
    with pytest.raises(pn.ArgumentTypeError, match="data: a table or a record batch is needed"):
        ArrowTagger(model)([["The"]])


def test_what_duckdb_reads_is_tagged_and_written_batch_by_batch(
    tmp_path: Path, model: Path, tagger: pn.Tagger, small: list[tuple[list[str], list[str]]]
) -> None:
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    with duckdb.connect() as database:
        given = words(small)  # noqa: F841 - DuckDB looks for it by its name
        database.execute(f"copy (select * from given) to '{source}'")
        function = ArrowTagger(model)
        read = pa.RecordBatchReader.from_stream(database.sql(f"select * from '{source}'"))
        tagged = pa.RecordBatchReader.from_batches(
            function.schema(read.schema), function.batches(read)
        )
        with duckdb.connect() as other:
            other.execute(f"copy (select * from tagged) to '{target}'")
            found = other.execute(f"select tag from '{target}'").fetchall()
        del tagged
    assert [row[0] for row in found] == tagger.tag_sents([w for w, _ in small])


# Dask's own, with pandas of today.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_partitions_of_dask_are_tagged(
    tmp_path: Path, model: Path, tagger: pn.Tagger, small: list[tuple[list[str], list[str]]]
) -> None:
    dask = pytest.importorskip("dask.dataframe", reason="Dask is not installed")
    import pandas as pd
    import pyarrow.parquet as pq

    for number in range(3):
        pq.write_table(words(small[number::3]), tmp_path / f"{number}.parquet")
    frame, function = dask.read_parquet(tmp_path), ArrowTagger(model)

    def tag(part: pd.DataFrame) -> pd.DataFrame:
        return function(pa.Table.from_pandas(part)).to_pandas(types_mapper=pd.ArrowDtype)

    like = tag(frame.head(1))
    tagged = frame.map_partitions(tag, meta=like.iloc[:0]).compute(scheduler="threads")
    expected = tagger.tag_sents([w for number in range(3) for w, _ in small[number::3]])
    assert [list(labels) for labels in tagged["tag"]] == expected


def test_lemmas_are_plain_strings_beside_the_dictionaries_of_tags(pipeline: pn.Tagger) -> None:
    sentences = [["Les", "chats", "dorment"], None, [], ["Zoé", "va"]]
    table = pa.table({"words": pa.array(sentences, pa.list_(pa.string()))})
    found = arrow.tag_arrow(pipeline, table)
    assert found.schema.field("lemma").type == pa.list_(pa.string())
    assert pa.types.is_dictionary(found.schema.field("upos").type.value_type)
    given = [
        None if words is None else pipeline.tag(words, columns=pipeline.columns)["lemma"]
        for words in sentences
    ]
    assert found.column("lemma").to_pylist() == given
    assert given[0] == ["le", "chat", "dormir"]
