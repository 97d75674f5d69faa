"""``perceptron-nlp tag`` of Parquet files, of many files, and of folders by an engine's workers."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp._checks import check_choice, check_threads
from perceptron_nlp.cli.inputs import STDIN, check_apart, taggers_of
from perceptron_nlp.cli.parsing import UsageError, picked
from perceptron_nlp.cli.tag_files import Tagging
from perceptron_nlp.cli.terminal import say
from perceptron_nlp.errors import quote
from perceptron_nlp.formats import read_file_bytes
from perceptron_nlp.formats.opening import packed

PARQUET = "parquet"
ENGINES = ("ray",)
_PACKED = ("", ".gz", ".bz2", ".xz")
_KINDS = (".conllu", ".jsonl")
ENDINGS = (f".{PARQUET}", *(kind + packed for kind in _KINDS for packed in _PACKED))
RECORD = ".perceptron-nlp.json"
FORMAT = "perceptron_nlp folder"


def are_parquet(chosen: argparse.Namespace, files: Sequence[str]) -> bool:
    """Return True for Parquet files, by the format that is named or else by their suffix.

    Raises UsageError if options do not go with that.
    """
    named = [path for path in files if path.lower().endswith(f".{PARQUET}")]
    if chosen.format != PARQUET and (chosen.format != "auto" or not named):
        for option in ("tokens_column", "text_column"):
            if getattr(chosen, option) is not None:
                raise UsageError(
                    f"--{option.replace('_', '-')}: is for Parquet files; --format parquet says"
                    " that one is"
                )
        return False
    if len(files) > 1:
        raise UsageError(
            f"{named[0] if named else files[0]}: Parquet files are tagged one at a"
            " time, since each has columns of its own"
        )
    if files[0] == STDIN:
        raise UsageError("--format: Parquet cannot be read from standard input; name a file")
    for option, given in (
        ("--keep", chosen.keep),
        ("--fields", chosen.fields),
        ("--lines", chosen.lines),
        ("--field", chosen.field),
        ("--to", chosen.to),
        ("--mark-unknown", chosen.mark_unknown),
        ("--min-confidence", chosen.min_confidence is not None),
    ):
        if given:
            raise UsageError(f"{option}: does not go with Parquet files")
    return True


def write_parquet(chosen: argparse.Namespace, tagger: pn.Tagger, path: str) -> None:
    """Tag a Parquet file as the command line says."""
    if not chosen.quiet and chosen.format == "auto":
        say(f"{path}: read as parquet")
    how = {"threads": chosen.threads, "confidences": chosen.confidence}
    columns = picked(chosen, "column", "tokens_column", "text_column")
    pieces = _parquet_pieces(tagger, path, columns, **how)
    if chosen.output not in (None, STDIN):
        check_apart(chosen.output, [chosen.model], "the model")
        check_apart(chosen.output, filter(None, [chosen.lexicon]), "the lexicon")
        pn.replace_file(chosen.output, pieces)
        return
    if sys.stdout is None or sys.stdout.isatty():
        raise pn.FileError("<stdout>: Parquet is not for reading; name a file with -o")
    for piece in pieces:
        sys.stdout.buffer.write(piece)


def _parquet_pieces(
    tagger: pn.Tagger, path: str, options: Mapping[str, Any], **how: Any
) -> Iterator[bytes]:
    arrow = importlib.import_module("perceptron_nlp.integrations.arrow")
    taggers = taggers_of(tagger, options["column"])
    if not taggers:
        raise pn.ArgumentError(f"column: {path} gets columns of labels; text is for running text")
    found: Iterator[bytes] = arrow.tag_parquet(
        tagger,
        path,
        columns={name: own.column for name, own in taggers.items()},
        **{name: options[name] for name in ("tokens_column", "text_column")},
        **how,
    )
    return found


def tag_each(
    chosen: argparse.Namespace, tagger: pn.Tagger, files: Sequence[str], **how: Any
) -> None:
    """Tag each file into one of its own, as many side by side as there are threads.

    A file that cannot be tagged does not keep the others from it; its error is raised at the end.
    `how` are the arguments of Tagging.
    """
    from concurrent.futures import ThreadPoolExecutor

    if STDIN in files:
        raise UsageError("--output: a folder is for files with names; name some")
    if chosen.outfile is not None and chosen.output is not None:
        raise UsageError("--outfile: goes without --output; {} stands for the name of an input")
    if chosen.outfile is not None and "{}" not in chosen.outfile:
        raise UsageError(f"--outfile: {quote(chosen.outfile)} has no {{}} for the name of an input")
    check_threads(chosen.threads)
    n_inner = max(1, chosen.threads // len(files))
    # Side by side they would mix what they say.
    taggings = [Tagging(tagger, threads=n_inner, **how) for _ in files]
    template = chosen.outfile or os.path.join(chosen.output, "")
    further = filter(None, [chosen.lexicon, chosen.abbreviations])
    inputs = [*files, chosen.model, *further]
    errors: list[pn.PerceptronNLPError] = []
    jobs: dict[str, tuple[str, Tagging]] = {}
    for path, tagging in zip(files, taggings, strict=True):
        try:
            written = _own_name(path, template, *tagging.formats_of(path))
        except (pn.FileError, pn.FormatError) as error:
            errors.append(error)
            continue
        if written in jobs:
            raise UsageError(f"{path}: would become {written}, and so would {jobs[written][0]}")
        check_apart(written, inputs, "an input")
        jobs[written] = path, tagging
    for folder in {Path(written).parent for written in jobs}:
        _make_folder(folder)

    def run(written: str) -> pn.PerceptronNLPError | None:
        path, tagging = jobs[written]
        try:
            pn.replace_file(written, packed(written, tagging.texts([path])))
        except pn.PerceptronNLPError as error:
            return error
        return None

    with ThreadPoolExecutor(chosen.threads) as pool:
        errors += filter(None, pool.map(run, jobs))
    for other in errors[1:]:
        say(str(other))
    if not chosen.quiet:
        say(f"{template}: files tagged: {len(files) - len(errors)}, not tagged: {len(errors)}")
    if errors:
        raise errors[0]


def _own_name(path: str, template: str, read: str, written: str) -> str:
    name = os.path.basename(path)
    if "{}" not in template:
        if read == written:
            return template + name
        template += "{}." + ("txt" if written == "lines" else written)
    stem, ending = os.path.splitext(name)
    if ending in _PACKED:
        stem = os.path.splitext(stem)[0]
    return template.replace("{}", stem)


def tag_file(
    own: Any, options: Mapping[str, Any], read: str, written: str
) -> tuple[str, pn.PerceptronNLPError | None]:
    """Tag one file into another, on a worker; return its name and the error, if any.

    own : an ArrowTagger, which opens the same model everywhere
    options : column, format, fields, field, keep, tokens_column and text_column of the command line
    """
    try:
        pieces = _pieces(own.tagger, options, read)
        pn.replace_file(written, _while_unchanged(read, pieces))
    except pn.PerceptronNLPError as error:
        if isinstance(error, pn.ArgumentError | pn.ArgumentTypeError):
            # The message names the option; the file is added here.
            return read, type(error)(f"{read}: {error}")
        return read, error
    return read, None


def _pieces(tagger: pn.Tagger, options: Mapping[str, Any], read: str) -> Iterator[Any]:
    if read.endswith(".parquet"):
        yield from _parquet_pieces(tagger, read, options)
        return
    how = {name: options[name] for name in ("format", "fields", "field", "keep")}
    yield from Tagging(tagger, options["column"], **how).texts([read])


def _while_unchanged(path: str, pieces: Iterable[Any]) -> Iterator[Any]:
    """Yield the pieces made of a file; raise FileError at the end if it was changed."""

    def state() -> tuple[int, int, int] | None:
        # The reader reports what is wrong.
        with contextlib.suppress(OSError):
            found = os.stat(path)
            return found.st_ino, found.st_size, found.st_mtime_ns
        return None

    before = state()
    yield from pieces
    if state() != before:
        raise pn.FileError(
            f"{path}: was changed while it was tagged; start again when nobody writes it"
        )


def tag_folder(chosen: argparse.Namespace) -> None:
    """Tag a folder as the command line says."""
    _check(chosen)
    engines = importlib.import_module("perceptron_nlp.integrations.engines")
    arrow = importlib.import_module("perceptron_nlp.integrations.arrow")
    source, target = chosen.files
    own = arrow.ArrowTagger(chosen.model)
    own_options = ("column", "format", "fields", "field", "keep", "tokens_column", "text_column")
    options = picked(chosen, *own_options)
    plan = FolderPlan(source, target, {"model": own.digest, "version": pn.__version__, **options})
    failed = []
    if plan.todo:
        jobs = ((own, options, *pair) for pair in plan.todo)
        found = engines.RayWorkers().call(tag_file, jobs)
        failed = sorted((one for one in found if one[1] is not None), key=lambda one: one[0])
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


# Options of tagging on this machine.
_HERE_ALONE = {
    **dict.fromkeys(("output", "outfile", "lexicon", "abbreviations", "to")),
    **dict.fromkeys(("min_confidence", "cache_size")),
    **dict.fromkeys(("lines", "wrapped", "confidence", "mark_unknown"), False),
    "threads": 1,
}


def _check(chosen: argparse.Namespace) -> None:
    check_choice("engine", chosen.engine, ENGINES)
    if len(chosen.files) != 2:
        raise UsageError(
            "--engine: needs a folder of files to tag and one for the outputs:"
            " perceptron-nlp tag --engine ray MODEL IN_DIR OUT_DIR"
        )
    for name, usual in _HERE_ALONE.items():
        if getattr(chosen, name) != usual:
            raise UsageError(f"--{name.replace('_', '-')}: does not go with --engine")
    if chosen.format not in ("auto", "conllu"):
        raise UsageError(
            "--format: with --engine files are CoNLL-U or Parquet, by the ends of their names"
        )


class FolderPlan:
    """The files of a folder and of those inside it, each with its output in another folder.

    An output is there whole or not at all: started again, the work continues with those that are
    missing. A record in the folder of outputs holds what they were made with (`made_with`).

    todo : pairs of input and output, in the order of their names
    n_done : the number of outputs that were done before

    Raises FileError if there is no such folder, no input in it, or the folder of outputs has files
    of another origin, or is inside the other; or one inside it cannot be read; ArgumentError if two
    inputs have the same output, or outputs were made with something else.
    """

    def __init__(self, source: str, target: str, made_with: Mapping[str, object]) -> None:
        self._source, self._target = Path(source), Path(target)
        if not self._source.is_dir():
            raise pn.FileError(
                f"{source}: there is no such folder; name one of Parquet or CoNLL-U files"
            )
        if Path(os.path.realpath(target)).is_relative_to(os.path.realpath(source)):
            raise pn.FileError(
                f"{target}: is the folder of inputs, or inside of it, so its files would be tagged"
                " in their turn; name another folder"
            )
        pairs = self._pairs()
        self._take_over(json.loads(json.dumps({"record": FORMAT, **made_with})))
        self.todo = [(read, written) for read, written in pairs if not _is_done(read, written)]
        self.n_done = len(pairs) - len(self.todo)
        for _, written in self.todo:
            _make_folder(Path(written).parent)

    def _pairs(self) -> list[tuple[str, str]]:
        found: dict[str, str] = {}
        for path in sorted(_files(self._source)):
            ending = next((e for e in reversed(ENDINGS) if path.name.endswith(e)), None)
            if ending is None or path.name.startswith("."):
                continue
            name = str(path.relative_to(self._source))
            name = name.removesuffix(ending) + f".{ending.split('.')[1]}"
            written = str(self._target / name)
            if written in found:
                raise pn.ArgumentError(
                    f"{path}: would become {written}, and so would"
                    f" {found[written]}; rename one of them"
                )
            found[written] = str(path)
        if not found:
            raise pn.FileError(f"{self._source}: has no file that ends in {', '.join(ENDINGS)}")
        return [(read, written) for written, read in found.items()]

    def _take_over(self, made_with: dict[str, object]) -> None:
        """Make the folder, or check that its files were made with the same."""
        if not os.path.lexists(self._target):
            _make_folder(self._target)
        elif not self._target.is_dir():
            raise pn.FileError(f"{self._target}: is a file; name a folder for the outputs")
        record = self._target / RECORD
        if record.is_file():
            _compare(record, made_with)
            return
        if any(self._target.iterdir()):
            raise pn.FileError(
                f"{self._target}: is a folder that has other files already; name a new"
                " one, or an empty one"
            )
        pn.replace_file(record, (json.dumps(made_with, indent=2, sort_keys=True) + "\n").encode())


def _files(folder: Path) -> Iterator[Path]:
    """Yield all files in a folder and its subfolders, and broken links, which are errors."""

    def refuse(error: OSError) -> None:
        raise pn.FileError(f"{error.filename}: cannot be read: {error.strerror}") from error

    for place, _, names in os.walk(folder, onerror=refuse):
        for path in (Path(place, name) for name in names):
            if os.path.isfile(path) or not os.path.exists(path):
                yield path


def _compare(record: Path, made_with: dict[str, object]) -> None:
    try:
        before = json.loads(bytes(read_file_bytes(record)))
    except (ValueError, RecursionError):
        before = None
    if not isinstance(before, dict) or before.get("record") != FORMAT:
        raise pn.FileError(f"{record}: is not the record of tagged files; name a new folder")
    for name in {**made_with, **before}:
        if before.get(name) != made_with.get(name):
            raise pn.ArgumentError(
                f"{name}: the files in {record.parent} were made with"
                f" {quote(before.get(name))}, not {quote(made_with.get(name))}; name a new folder"
            )


def _is_done(read: str, written: str) -> bool:
    """Return True if the output is there, and not older than the input."""
    try:
        return os.path.isfile(written) and os.stat(written).st_mtime_ns >= os.stat(read).st_mtime_ns
    except OSError:
        # A missing input is reported by the worker that tags it.
        return False


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise pn.FileError(f"{folder}: cannot be made: {error.strerror}") from error
