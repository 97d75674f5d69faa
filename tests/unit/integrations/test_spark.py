"""A real Spark on this machine."""

from __future__ import annotations

import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import perceptron_nlp as pn

pyspark = pytest.importorskip("pyspark.sql", reason="the extra spark is not installed")
pytest.importorskip("pyarrow", reason="the extra arrow is not installed")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java, which is not installed", allow_module_level=True)

from perceptron_nlp.integrations.arrow import ArrowTagger, tag_dataframe  # noqa: E402

# Spark's own: sockets that it leaves to the system, and what it still takes from older pandas.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.xdist_group("spark"),
]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two threads, and all files in a folder of the tests."""
    place = tmp_path_factory.mktemp("spark")
    patch = pytest.MonkeyPatch()
    # Spark sets its own, for good.
    at_ctrl_c = signal.getsignal(signal.SIGINT)
    patch.setenv("PYSPARK_PYTHON", sys.executable)
    patch.setenv("PYSPARK_DRIVER_PYTHON", sys.executable)
    found = (
        pyspark.SparkSession.builder.master("local[2]")
        .appName("perceptron_nlp tests")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "512m")
        .config("spark.local.dir", str(place))
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.warehouse.dir", str(place / "tables"))
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    found.sparkContext.setLogLevel("ERROR")
    yield found
    found.stop()
    signal.signal(signal.SIGINT, at_ctrl_c)
    patch.undo()


@pytest.fixture(scope="module")
def frame(session: Any, small: list[tuple[list[str], list[str]]]) -> Any:
    """The small sentences in three partitions."""
    rows = [(number, list(words)) for number, (words, _) in enumerate(small)]
    return session.createDataFrame(rows, "number int, tokens array<string>").repartition(3)


def test_a_data_frame_gets_labels(
    frame: Any, model: Path, tagger: pn.Tagger, small: list[tuple[list[str], list[str]]]
) -> None:
    tagged = tag_dataframe(frame, model)
    assert [field.name for field in tagged.schema.fields] == ["number", "tokens", "tag"]
    found = {row.number: list(row.tag) for row in tagged.collect()}
    assert [found[n] for n in range(len(small))] == tagger.tag_sents([w for w, _ in small])


def test_only_what_is_kept_comes_back_beside_the_labels(
    frame: Any, model: Path, tagger: pn.Tagger, small: list[tuple[list[str], list[str]]]
) -> None:
    tagged = tag_dataframe(frame, ArrowTagger(model, keep=["number"]))
    found = {row.number: list(row.tag) for row in tagged.collect()}
    assert tagged.columns == ["number", "tag"]
    assert [found[n] for n in range(len(small))] == tagger.tag_sents([w for w, _ in small])


def test_what_cannot_be_tagged_is_said_before_a_worker_is_asked(
    session: Any, frame: Any, model: Path
) -> None:
    with pytest.raises(pn.ArgumentError, match="no such column; there are number, tokens"):
        tag_dataframe(frame, ArrowTagger(model, tokens_column="words"))
    with pytest.raises(pn.ArgumentError, match="no column is a list of strings"):
        tag_dataframe(frame.select("number"), ArrowTagger(model))
    with pytest.raises(pn.ArgumentError, match="keep: 'no': there is no such column"):
        tag_dataframe(frame, ArrowTagger(model, keep=["no"]))
    with pytest.raises(pn.ArgumentTypeError, match="model: the path of a model file is needed"):
        tag_dataframe(frame, 7)
    with pytest.raises(pn.ArgumentTypeError, match="a Spark data frame is needed"):
        tag_dataframe([], ArrowTagger(model))
