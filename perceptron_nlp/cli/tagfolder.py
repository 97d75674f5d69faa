"""``perceptron-nlp tag --engine``: every file of a folder, by the workers of an engine."""

from __future__ import annotations

import argparse
import importlib
import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import perceptron_nlp as pn
from perceptron_nlp.cli.filling import Filling
from perceptron_nlp.cli.parquet import taggers_of
from perceptron_nlp.cli.parsing import UsageError, VerbParser
from perceptron_nlp.cli.style import say
from perceptron_nlp.cli.texttagging import Tagging

ENGINES = ("ray",)


def add_engine_option(verb: VerbParser) -> None:
    """``--engine``."""
    verb.add_argument(
        "--engine",
        choices=ENGINES,
        metavar="NAME",
        help="ray: the files are a folder of Parquet or CoNLL-U files and one for the"
        " outputs, and workers tag them; begun again, the work goes on with what"
        " is not done",
    )


class FolderJob(NamedTuple):
    """Tags one file, in whatever process it comes to.

    Attributes
    ----------
    model, digest : the model file and its SHA-256
    version : of this library, where the work was begun
    column, format, fields, keep, tokens_column : as on the command line
    """

    model: str
    digest: str
    version: str
    column: str | None
    format: str
    fields: list[str] | None
    keep: bool
    tokens_column: str | None

    def __call__(self, pair: tuple[str, str]) -> tuple[str, pn.PerceptronNLPError | None]:
        """Tag the first file of a pair into the second; its name, and what was wrong with it."""
        read, written = pair
        try:
            batches = importlib.import_module("perceptron_nlp.integrations.batches")
            batches.check_version(self.version)
            tagger = batches.tagger_at(self.model, self.digest)
            pn.replace_file(written, _while_unchanged(read, self._pieces(tagger, read)))
        except pn.PerceptronNLPError as error:
            if isinstance(error, pn.ArgumentError | pn.ArgumentTypeError):
                # What option does not fit is told, and here in which file.
                return read, type(error)(f"{read}: {error}")
            return read, error
        return read, None

    def _pieces(self, tagger: pn.Tagger, read: str) -> Any:
        if read.endswith(".parquet"):
            parquet = importlib.import_module("perceptron_nlp.integrations.parquet")
            return parquet.tag_parquet(
                taggers_of(tagger, self.column), read, tokens_column=self.tokens_column
            )
        filling = Filling(tagger, self.column, keep=self.keep)
        return Tagging(
            tagger, filling, format=self.format, fields=self.fields, threads=1, quiet=True
        ).texts([read], "")


def _while_unchanged(path: str, pieces: Iterable[Any]) -> Iterator[Any]:
    """The pieces that are made of a file; FileError in place of the end if it was changed."""
    before = _state(path)
    yield from pieces
    if _state(path) != before:
        raise pn.FileError(
            f"{path}: was changed while it was tagged; begin again when nobody writes it"
        )


def _state(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        # Whoever reads it tells what is wrong.
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def tag_folder(chosen: argparse.Namespace) -> None:
    """Tag a folder as the command line says."""
    _check(chosen)
    engine = importlib.import_module(f"perceptron_nlp.integrations.{chosen.engine}")
    batches = importlib.import_module("perceptron_nlp.integrations.batches")
    folders = importlib.import_module("perceptron_nlp.integrations.folders")
    source, target = chosen.files
    model = batches.ArrowTagger(chosen.model).model
    digest = batches.digest_of(model)
    told = {
        "column": chosen.column,
        "format": chosen.format,
        "fields": chosen.fields,
        "keep": chosen.keep,
        "tokens_column": chosen.tokens_column,
    }
    plan = folders.FolderPlan(source, target, {"model": digest, "version": pn.__version__, **told})
    job = FolderJob(model, digest, pn.__version__, **told)
    failed = []
    for read, error in engine.run_all(job, plan.todo) if plan.todo else ():
        if error is not None:
            failed.append((read, error))
    failed.sort(key=lambda pair: pair[0])
    if not chosen.quiet:
        # The first is raised, and so said last.
        for _, error in failed[1:]:
            say(str(error))
        say(
            f"{target}: files tagged: {len(plan.todo) - len(failed)}, done before:"
            f" {plan.n_done}, not tagged: {len(failed)}"
        )
    if failed:
        raise failed[0][1]


def _check(chosen: argparse.Namespace) -> None:
    if len(chosen.files) != 2:
        raise UsageError(
            "--engine: needs a folder of files to tag and one for the outputs:"
            " perceptron-nlp tag --engine ray MODEL IN_DIR OUT_DIR"
        )
    for option, given in (("--output", chosen.output), ("--lexicon", chosen.lexicon)):
        if given is not None:
            raise UsageError(f"{option}: does not go with --engine")
    if chosen.threads != 1:
        raise UsageError("--threads: does not go with --engine, whose workers have one each")
    if chosen.format not in ("auto", "conllu"):
        raise UsageError(
            "--format: with --engine files are CoNLL-U or Parquet, by the ends of their names"
        )
