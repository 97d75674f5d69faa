"""``perceptron-nlp tag`` on Parquet files, which pyarrow reads and writes."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

import perceptron_nlp as pn
from perceptron_nlp.cli.inputs import STDIN, check_apart
from perceptron_nlp.cli.parsing import UsageError, VerbParser
from perceptron_nlp.cli.style import say

FORMAT = "parquet"


def add_parquet_option(verb: VerbParser) -> None:
    """``--tokens-column``."""
    verb.add_argument(
        "--tokens-column",
        metavar="NAME",
        help="the column of a Parquet file that holds the words, as lists of strings"
        " (default: the only such column, or the one called tokens)",
    )


def are_parquet(chosen: argparse.Namespace, files: Sequence[str]) -> bool:
    """Are the files Parquet, by the format that is named or else by the end of their names?

    Raises UsageError where options do not go with that.
    """
    named = [path for path in files if path.lower().endswith(f".{FORMAT}")]
    if chosen.format != FORMAT and (chosen.format != "auto" or not named):
        if chosen.tokens_column is not None:
            raise UsageError(
                "--tokens-column: is for Parquet files; --format parquet says that one is"
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
        ("--confidence", chosen.confidence),
        ("--mark-unknown", chosen.mark_unknown),
    ):
        if given:
            raise UsageError(f"{option}: does not go with Parquet files")
    return True


def write_parquet(chosen: argparse.Namespace, tagger: pn.Tagger, path: str) -> None:
    """Tag a file as the command line says."""
    # Here, since it brings pyarrow in.
    parquet = importlib.import_module("perceptron_nlp.integrations.parquet")
    if not chosen.quiet and chosen.format == "auto":
        say(f"{path}: read as parquet")
    pieces = parquet.tag_parquet(
        taggers_of(tagger, chosen.column),
        path,
        tokens_column=chosen.tokens_column,
        threads=chosen.threads,
    )
    if chosen.output not in (None, STDIN):
        check_apart(chosen.output, [chosen.model], "the model")
        check_apart(chosen.output, filter(None, [chosen.lexicon]), "the lexicon")
        pn.replace_file(chosen.output, pieces)
        return
    if sys.stdout is None or sys.stdout.isatty():
        raise pn.FileError("<stdout>: Parquet is not for reading; name a file with -o")
    for piece in pieces:
        sys.stdout.buffer.write(piece)


def taggers_of(tagger: pn.Tagger, column: str | None) -> dict[str, pn.Tagger]:
    """For each column to fill the tagger that does."""
    taggers = tagger.by_column
    if column is None:
        return taggers
    names = [name.strip() for name in column.split(",")]
    if len(taggers) == 1:
        if len(names) > 1 or not names[0]:
            raise pn.ArgumentError(f"column: this model fills one only, not {len(names)}; name one")
        return {names[0]: tagger}
    for name in names:
        if name not in taggers:
            raise pn.ArgumentError(
                f"column: the model does not fill {name}; it fills {', '.join(taggers)}"
            )
    return {name: taggers[name] for name in taggers if name in names}
