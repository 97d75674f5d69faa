"""Ray: training on shards of the text by workers anywhere, and tagging of data sets.

A worker that dies is started again from the last mix. What it learns is a function of the state
there and of its shard, so the model is the same, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from perceptron_nlp._checks import check_choice
from perceptron_nlp.errors import ArgumentTypeError, EngineError, missing_extra
from perceptron_nlp.integrations.filedealing import READ_BY, reader_of
from perceptron_nlp.integrations.raycrew import RESTARTS, RayCrew, connect, processors, typed
from perceptron_nlp.integrations.shardtraining import Round, Sharding, ShardMixer
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.loop import Task
from perceptron_nlp.tagger.train.sources import Source

try:
    import ray
    from ray import exceptions
except ImportError:
    raise missing_extra("Ray", "ray") from None

Given = TypeVar("Given")
Done = TypeVar("Done")


class RayEngine:
    """Trains on Ray: ``perceptron_nlp.train(..., engine=RayEngine(workers=4))``.

    The cluster is the one that the program is connected to, or else the one that ``ray.init()``
    finds (RAY_ADDRESS), or else a new one on this machine, which stays until the program ends.
    A worker holds its shard, the weights and the state that it began at. Where there are fewer
    processors than workers, these share them.

    Parameters
    ----------
    workers : 1 to 10,000; None for as many as the cluster has processors. The model depends on it:
        with one worker it is what training without an engine gives, byte for byte
    mix_by : what a shard's share in a mix is in proportion to: ``"errors"``, the words that it
        labelled wrong, or ``"examples"``, its words
    mixes : 1 to 1,000; mixes in an epoch. More of them cost time, not accuracy
    read_by : ``"program"``: it reads the text, holds it and deals it out; or ``"workers"``: each
        reads its part of CoNLL-U files, which every machine has under the same names, and the
        program holds distinct words, labels and counts. The model is the same

    Attributes
    ----------
    rounds : what each piece between two mixes took, in the last training
    processes : host and process number of each worker, in the last training

    Raises
    ------
    ArgumentError, ArgumentTypeError : one of these is out of its range
    EngineError : no cluster could be reached or started
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        mix_by: str = "errors",
        mixes: int = 1,
        read_by: str = "program",
    ) -> None:
        check_choice("read_by", read_by, READ_BY)
        Sharding(workers=1 if workers is None else workers, mix_by=mix_by, mixes=mixes)
        connect()
        self.sharding = Sharding(
            workers=processors() if workers is None else workers, mix_by=mix_by, mixes=mixes
        )
        self.rounds: list[Round] = []
        self.processes: list[tuple[str, int]] = []
        self._read = reader_of(read_by)

    def read(self, source: Source, column: str, evidence: Sequence[str]) -> Examples:
        """The training sentences of a source; see tagging.examples.Examples.read."""
        return self._read(source, column, evidence)

    def mixer(self, task: Task) -> ShardMixer:
        """Return the mixer of a training on this engine; see loop.Engine."""
        self.rounds.clear()
        return ShardMixer(self.sharding, partial(RayCrew, self.processes), self.rounds, task)


def run_all(job: Callable[[Given], Done], given: Iterable[Given]) -> Iterator[Done]:
    """What a job makes of each, on the processors of the cluster, as they come.

    Few more than there are processors are under way at a time. A job that its process dies of is
    done again, up to three times.

    Parameters
    ----------
    job : a function or object that can be pickled; what it raises ends everything
    given : what it is called with

    Raises
    ------
    EngineError : a job's process died again and again
    PerceptronNLPError : what the job raised
    """
    connect()
    remote = ray.remote(num_cpus=1, max_retries=RESTARTS)(_called)
    waiting: list[Any] = []
    most = 2 * processors()
    with typed():
        shared = ray.put(job)
        try:
            for item in given:
                waiting.append(remote.remote(shared, item))
                while len(waiting) >= most:
                    ready, waiting = ray.wait(waiting)
                    yield from ray.get(ready)
            while waiting:
                ready, waiting = ray.wait(waiting)
                yield from ray.get(ready)
        except (exceptions.WorkerCrashedError, exceptions.OutOfMemoryError) as error:
            raise EngineError(
                f"engine: a worker died {RESTARTS + 1} times over one job; it may"
                " need more memory than there is where it runs"
            ) from error
        finally:
            for ref in waiting:
                ray.cancel(ref)


def _called(job: Callable[[Given], Done], item: Given) -> Done:
    return job(item)


def tag_dataset(dataset: Any, tagger: Any, **options: Any) -> Any:
    """A Ray data set with columns of labels added.

    Parameters
    ----------
    dataset : a ray.data.Dataset with a column of lists of words, a row a sentence
    tagger : an ArrowTagger (integrations.batches)
    **options : those of ``Dataset.map_batches``, such as ``batch_size`` and ``concurrency``

    Raises
    ------
    ArgumentTypeError : no ArrowTagger
    """
    if not callable(tagger):
        raise ArgumentTypeError(f"tagger: an ArrowTagger is needed, not {type(tagger).__name__}")
    return dataset.map_batches(tagger, batch_format="pyarrow", zero_copy_batch=True, **options)
