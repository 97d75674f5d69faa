"""Tagging on engines: tokens a second of Ray and of Spark, beside two threads of this library.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/engines.py tagging

Parquet files of 20 million tokens in all, each way with two processors, once they run: after a
first go, and without what as many tiny files take. The ways take turns, so that what else runs
slows all of them. Inputs and outputs are the same: the files, and columns of labels that nobody
keeps; or files. Beside an engine is what it takes by itself, when it reads the same rows, moves
them to a function that gives them back, and moves as much out.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from corpora import treebank

import perceptron_nlp as pn

TOKENS = 20_000_000
FILES = 8
TURNS = 3
# So many pieces of work for two processors: with fewer, one of them waits for the other.
BLOCKS = 16


def ray_on_two() -> Any:
    """Ray with two processors on this machine."""
    import ray

    ray.init(
        address="local",
        num_cpus=2,
        object_store_memory=500 << 20,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
        configure_logging=False,
    )
    return ray


def write_files(folder: Path, tokens: int) -> Path:
    """Parquet files of lists of words, about so many in all, and once the text in each at least."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    words = [list(s.words) for s in pn.read_conllu(treebank("EWT", "train"))]
    once = pa.array(words, pa.list_(pa.string()))
    times = round(tokens / FILES / sum(map(len, words)))
    column = pa.chunked_array([once] * times if times else [once.slice(0, 10)])
    for number in range(FILES):
        pq.write_table(
            pa.table({"tokens": column}), folder / f"{number}.parquet", row_group_size=len(words)
        )
    return folder


def tagging() -> None:
    """The table of speeds."""
    import pyarrow.parquet as pq

    from perceptron_nlp.cli.tag_folder import tag_file
    from perceptron_nlp.integrations.arrow import (
        ArrowTagger,
        tag_arrow,
        tag_dataframe,
        tag_dataset,
        tag_parquet,
    )
    from perceptron_nlp.integrations.engines import RayWorkers

    with tempfile.TemporaryDirectory() as place:
        model, out = Path(place) / "en.model", Path(place) / "out"
        out.mkdir()
        big, tiny = write_files(Path(place) / "big", TOKENS), write_files(Path(place) / "tiny", 0)
        tagger = pn.train(treebank("EWT", "train"), epochs=2)
        tagger.save(model)
        function = ArrowTagger(model, keep=[])
        ray, spark = ray_on_two(), spark_on_two(place)
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        # The newer reader makes one piece of work of 128 MB of files, which all of these are.
        context.use_datasource_v2 = False
        whole = ArrowTagger(model)
        options = {"column": None, "tokens_column": None, "text_column": None}

        def by_threads(files: Path) -> None:
            for path in sorted(files.iterdir()):
                tag_arrow(tagger, pq.read_table(path), threads=2, dictionary=False)

        def ray_alone(files: Path) -> None:
            read = ray.data.read_parquet(str(files), override_num_blocks=BLOCKS)
            drained(
                read.map_batches(
                    lambda table: table,
                    batch_format="pyarrow",
                    batch_size=None,
                    zero_copy_batch=True,
                )
            )

        def by_ray_data(files: Path) -> None:
            read = ray.data.read_parquet(str(files), override_num_blocks=BLOCKS)
            drained(tag_dataset(read, function, batch_size=None))

        def spark_alone(files: Path) -> None:
            frame = spark.read.parquet(str(files))
            written(frame.mapInArrow(lambda batches: batches, frame.schema))

        def by_spark(files: Path) -> None:
            written(tag_dataframe(spark.read.parquet(str(files)), function))

        def files_by_threads(files: Path) -> None:
            for path in sorted(files.iterdir()):
                pn.replace_file(out / path.name, tag_parquet(tagger, path, threads=2))

        def files_by_ray(files: Path) -> None:
            pairs = [(str(path), str(out / path.name)) for path in sorted(files.iterdir())]
            jobs = ((whole, options, *pair) for pair in pairs)
            for _, error in RayWorkers().call(tag_file, jobs):
                if error is not None:
                    raise error

        print("files to files:")
        compared({"two threads": files_by_threads, "Ray": files_by_ray}, big, tiny)
        print("labels alone:")
        compared(
            {
                "two threads": by_threads,
                "Ray Data": by_ray_data,
                "Ray Data, nothing tagged": ray_alone,
                "Spark": by_spark,
                "Spark, nothing tagged": spark_alone,
            },
            big,
            tiny,
        )


def drained(dataset: Any) -> None:
    """All blocks of a Ray data set, each dropped as it comes."""
    for _ in dataset.iter_internal_ref_bundles():
        pass


def written(frame: Any) -> None:
    """All rows of a Spark data frame, to nowhere."""
    frame.write.format("noop").mode("overwrite").save()


def compared(ways: dict[str, Callable[[Path], None]], big: Path, tiny: Path) -> None:
    """Print tokens a second of each way once it runs, and processor seconds of all processes.

    What tiny files take is taken off.
    """
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    worked: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(TURNS + 1):
        for name, run in ways.items():
            taken, work = [], []
            for files in (tiny, big):
                begun, before = time.monotonic(), processor_seconds()
                run(files)
                taken.append(time.monotonic() - begun)
                work.append(processor_seconds() - before)
            if turn:
                seconds[name].append(taken[1] - taken[0])
                worked[name].append(work[1] - work[0])
    first = next(iter(seconds.values()))
    for name, lasted in seconds.items():
        ratio = statistics.median(a / b for a, b in zip(first, lasted, strict=True))
        speed = TOKENS / statistics.median(lasted) / 1e6
        print(
            f"  {name:24s} {speed:.2f} million tokens a second, {ratio:.2f} times two threads,"
            f" {statistics.median(worked[name]):.1f} processor seconds",
            flush=True,
        )


def processor_seconds() -> float:
    """Of this process and of all that it and they have begun."""
    children: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        process = int(place.parent.name)
        children.setdefault(int(fields[1]), []).append(process)
        # Its own, and what those had that it has waited for.
        ticks[process] = sum(map(int, fields[11:15]))
    total, todo = 0, [os.getpid()]
    while todo:
        process = todo.pop()
        total += ticks.get(process, 0)
        todo += children.get(process, [])
    return total / os.sysconf("SC_CLK_TCK")


def spark_on_two(place: str) -> Any:
    """Spark with two threads on this machine."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.local.dir", place)
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.warehouse.dir", str(Path(place) / "tables"))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    return session
