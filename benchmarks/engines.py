"""Training and tagging on engines: accuracy of shards, killed workers, memory, speed.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/engines.py accuracy|kills|memory|tagging

accuracy   UPOS accuracy on EWT's dev and test part, of the ordinary trainer and of shards after as
           many epochs: by how often and by what they are mixed on dev, with the defaults on test
kills      a worker of three is killed at a random moment, 20 times; how many models are the same
memory     the most memory that each of four workers has had, epoch by epoch
tagging    tokens a second of Parquet files of 20 million tokens in all, by two threads of this
           library, by Ray and by Spark, each with two processors, once they run: after a first go,
           and without what as many tiny files take

Needs Ray, PySpark with Java, and pyarrow. What it costs to train is in engine_costs.py.
"""

from __future__ import annotations

import os
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from corpora import treebank

import perceptron_nlp as pn
from perceptron_nlp.integrations.shardtraining import LocalCrew, Round, ShardedTrainer, Sharding

TOKENS = 20_000_000
FILES = 8
TURNS = 3
KILLS = 20


class Here:
    """Shards in this process, one after the other: the same bytes as on an engine."""

    def __init__(self, **sharding: Any) -> None:
        self.sharding = Sharding(**sharding)
        self.rounds: list[Round] = []

    def trainer(self, *what: Any, **how: Any) -> ShardedTrainer:
        """See tagging.trainer.Engine."""
        return ShardedTrainer(self.sharding, LocalCrew, self.rounds, *what, **how)


def ray_on_two() -> Any:
    """Ray with two processors on this machine."""
    import ray

    ray.init(address="local", num_cpus=2, object_store_memory=500 << 20, include_dashboard=False,
             log_to_driver=False, logging_level="ERROR", configure_logging=False)
    return ray


def accuracy() -> None:
    """The table of accuracies."""
    train = treebank("EWT", "train")

    def row(name: str, part: str, **options: Any) -> None:
        tagger = pn.train(train, **options)
        print(f"{name:44s} {part}: {100 * tagger.evaluate(treebank('EWT', part)).accuracy:.2f} %",
              flush=True)

    row("ordinary, default", "test")
    for workers in (4, 2, 8):
        row(f"{workers} shards, default", "test", engine=Here(workers=workers))
    row("ordinary, fast", "dev", preset="fast")
    for sharding in ({"mix_by": "errors"}, {"mix_by": "examples"}, {"mix_by": "errors", "mixes": 2},
                     {"mix_by": "errors", "mixes": 4}):
        row(f"4 shards, fast, {sharding}", "dev", preset="fast", engine=Here(workers=4, **sharding))


def kills() -> None:
    """Kill workers of trainings, and compare models."""
    from perceptron_nlp.integrations.ray import RayEngine

    ray_on_two()
    options = {"templates": "fast", "epochs": 3}
    data = treebank("French-Sequoia", "dev")

    def trained(moment: float | None, shard: int) -> tuple[bytes, float, bool]:
        engine, over, hit = RayEngine(3), threading.Event(), threading.Event()

        def kill() -> None:
            while not engine.processes and not over.is_set():
                time.sleep(0.001)
            if not over.wait(moment):
                os.kill(engine.processes[shard][1], signal.SIGKILL)
                hit.set()

        if moment is not None:
            threading.Thread(target=kill, daemon=True).start()
        begun = time.monotonic()
        model = bytes(pn.train(data, engine=engine, **options).to_bytes())
        over.set()
        return model, time.monotonic() - begun, hit.is_set()

    whole, seconds, _ = trained(None, 0)
    chance = random.Random(1)
    same = done = 0
    while done < KILLS:
        moment = chance.uniform(0, seconds * 0.6)
        model, took, hit = trained(moment, chance.randrange(3))
        if hit:
            done += 1
            same += model == whole
            print(f"killed after {moment:5.2f} s: {'the same' if model == whole else 'OTHER'}"
                  f" bytes, {took:.1f} s instead of {seconds:.1f} s", flush=True)
    print(f"{same} of {done} models are the same, byte for byte")


def memory() -> None:
    """Peaks of workers."""
    from perceptron_nlp.integrations.ray import RayEngine

    ray_on_two()
    engine = RayEngine(4)
    pn.train(treebank("EWT", "train"), engine=engine, epochs=8)
    for number, piece in enumerate(engine.rounds, 1):
        peaks = ", ".join(f"{count.peak_memory / 1e6:.0f}" for count in piece.counts)
        print(f"epoch {number}: {peaks} MB; state {piece.bytes_state / 1e6:.1f} MB, sent"
              f" {sum(c.bytes_sent for c in piece.counts) / 4e6:.1f} MB by each, mix"
              f" {piece.bytes_mixed / 1e6:.1f} MB")


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
        pq.write_table(pa.table({"tokens": column}), folder / f"{number}.parquet",
                       row_group_size=len(words))
    return folder


def tagging() -> None:
    """The table of speeds; the ways take turns, so that what else runs slows all of them."""
    import pyarrow.parquet as pq

    from perceptron_nlp.cli.tagfolder import FolderJob
    from perceptron_nlp.integrations.arrow import tag_arrow
    from perceptron_nlp.integrations.batches import ArrowTagger, digest_of
    from perceptron_nlp.integrations.parquet import tag_parquet
    from perceptron_nlp.integrations.ray import run_all, tag_dataset
    from perceptron_nlp.integrations.spark import tag_dataframe

    with tempfile.TemporaryDirectory() as place:
        model, out = Path(place) / "en.model", Path(place) / "out"
        out.mkdir()
        big, tiny = write_files(Path(place) / "big", TOKENS), write_files(Path(place) / "tiny", 0)
        tagger = pn.train(treebank("EWT", "train"), epochs=2)
        tagger.save(model)
        function, ray, spark = ArrowTagger(model), ray_on_two(), spark_on_two(place)
        ray.data.DataContext.get_current().enable_progress_bars = False
        job = FolderJob(str(model), digest_of(str(model)), pn.__version__, None, "auto", None,
                        False, None)

        def by_threads(files: Path) -> None:
            for path in sorted(files.iterdir()):
                tag_arrow(tagger, pq.read_table(path), threads=2, dictionary=False)

        def by_ray_data(files: Path) -> None:
            data = tag_dataset(ray.data.read_parquet(str(files)), function, batch_size=None)
            for _ in data.select_columns(["upos"]).iter_internal_ref_bundles():
                pass

        def by_spark(files: Path) -> None:
            frame = tag_dataframe(spark.read.parquet(str(files)), function)
            frame.write.format("noop").mode("overwrite").save()

        def files_by_threads(files: Path) -> None:
            for path in sorted(files.iterdir()):
                pn.replace_file(out / path.name, tag_parquet(tagger.by_column, path, threads=2))

        def files_by_ray(files: Path) -> None:
            pairs = [(str(path), str(out / path.name)) for path in sorted(files.iterdir())]
            for _, error in run_all(job, pairs):
                if error is not None:
                    raise error

        print("files to files:")
        compared({"two threads": files_by_threads, "Ray": files_by_ray}, big, tiny)
        print("labels alone:")
        compared({"two threads": by_threads, "Ray Data": by_ray_data, "Spark": by_spark}, big, tiny)


def compared(ways: dict[str, Callable[[Path], None]], big: Path, tiny: Path) -> None:
    """Print tokens a second of each way once it runs: what tiny files take is taken off."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(TURNS + 1):
        for name, run in ways.items():
            taken = []
            for files in (tiny, big):
                begun = time.monotonic()
                run(files)
                taken.append(time.monotonic() - begun)
            if turn:
                seconds[name].append(taken[1] - taken[0])
    first = next(iter(seconds.values()))
    for name, lasted in seconds.items():
        ratio = statistics.median(a / b for a, b in zip(first, lasted, strict=True))
        speed = TOKENS / statistics.median(lasted) / 1e6
        print(f"  {name:12s} {speed:.2f} million tokens a second, {ratio:.2f} times two threads",
              flush=True)


def spark_on_two(place: str) -> Any:
    """Spark with two threads on this machine."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
               .config("spark.driver.memory", "1g").config("spark.local.dir", place)
               .config("spark.driver.host", "127.0.0.1").config("spark.log.level", "ERROR")
               .config("spark.sql.warehouse.dir", str(Path(place) / "tables")).getOrCreate())
    session.sparkContext.setLogLevel("ERROR")
    return session


WAYS = {"accuracy": accuracy, "kills": kills, "memory": memory, "tagging": tagging}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in WAYS:
        sys.exit(__doc__)
    WAYS[sys.argv[1]]()
