"""``perceptron-nlp tag``: fill in columns of files; Parquet files by way of pyarrow."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp.cli.filling import Filling, Marks, taggers_of
from perceptron_nlp.cli.inputs import (
    STDIN,
    ReadProgress,
    WatchedInput,
    check_apart,
    check_stdin,
    check_there,
    load_tagger,
)
from perceptron_nlp.cli.parsing import (
    FORMATS,
    LEXICON,
    QUIET,
    THREADS,
    UsageError,
    Verb,
    format_options,
)
from perceptron_nlp.cli.tag_files import Piece, Tagging
from perceptron_nlp.cli.terminal import output, say
from perceptron_nlp.formats.opening import packed

FORMAT = "parquet"


def are_parquet(chosen: argparse.Namespace, files: Sequence[str]) -> bool:
    """Return True for Parquet files, by the format that is named or else by their suffix.

    Raises UsageError if options do not go with that.
    """
    named = [path for path in files if path.lower().endswith(f".{FORMAT}")]
    if chosen.format != FORMAT and (chosen.format != "auto" or not named):
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
        ("--mark-unknown", chosen.mark_unknown),
        ("--min-confidence", chosen.min_confidence is not None),
    ):
        if given:
            raise UsageError(f"{option}: does not go with Parquet files")
    return True


def write_parquet(chosen: argparse.Namespace, tagger: pn.Tagger, path: str) -> None:
    """Tag a Parquet file as the command line says."""
    # Here, since it brings pyarrow in.
    arrow = importlib.import_module("perceptron_nlp.integrations.arrow")
    if not chosen.quiet and chosen.format == "auto":
        say(f"{path}: read as parquet")
    taggers = taggers_of(tagger, chosen.column)
    pieces = arrow.tag_parquet(
        tagger,
        path,
        columns={name: own.column for name, own in taggers.items()},
        tokens_column=chosen.tokens_column,
        text_column=chosen.text_column,
        threads=chosen.threads,
        confidences=chosen.confidence,
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


TAG = Verb(
    """\
Write text back with the columns of the model filled in. All else in CoNLL-U and column files
stays as it is, byte for byte; a column file without the column gets it at the end of its lines.
Running text (text) is split into sentences and tokens first. It becomes CoNLL-U if several
columns are filled, if the model learned to split text and no --column is named, or with
--confidence or --mark-unknown; else word/TAG, a sentence a line. Text that is split already, a
sentence a line, its tokens separated by spaces (lines), becomes word/TAG and keeps its tokens and
lines; if it only looks so, and word/TAG cannot hold the columns of a model that splits text, it is
text.
Parquet files (.parquet, a row a sentence, or with --text-column a text) get columns of lists.""",
    f"""\
MODEL  a model file, or en: the bundled English model
[FILES...]  files to tag (default: standard input, which - stands for)
-o, --output OUT  the file to write, whole or not at all, compressed if its name ends in .gz, .bz2
    or .xz (default: standard output)
--column NAME  the column to fill, by name or number (default: the one that was learned); of a
    model of several columns, which of them are filled, separated by commas (default: all)
--keep  keep the labels that the column has already (all but _); they are context for the others
--confidence  write into MISC the probability that each label is right: Conf=0.9731, or
    Conf[upos]=0.9731 if several columns are filled (CoNLL-U only, which running text then becomes;
    the model must be calibrated); of Parquet files into columns such as upos_confidence
--min-confidence X  write _ in place of labels whose confidence is below X, 0 to 1 (the model must
    be calibrated)
--mark-unknown  write Unknown=Yes into MISC of tokens that were not in the training text (CoNLL-U
    only, which running text then becomes)
{LEXICON}
{format_options(FORMATS + "|lines|text|parquet")}
--tokens-column NAME  the column of a Parquet file that holds the tokens, as lists of strings
    (default: the only such column, or the one called tokens)
--text-column NAME  the column of a Parquet file that holds running texts, which get a column of
    words with labels, lemmas and places
--to conllu|tagged  what running text becomes: conllu, with # text and SpaceAfter=No, or tagged
    (word/TAG)
{THREADS}
--engine NAME  ray: the files are a folder of Parquet or CoNLL-U files and one for the outputs, and
    workers tag them; started again, the work goes on with what is not done
--mmap  map the model into memory: processes that tag with it share what stays of the file, which
    nobody may write into meanwhile
{QUIET}
""",
    """\
  perceptron-nlp tag en < letter.txt
  perceptron-nlp tag en letter.txt --column upos
  perceptron-nlp tag en.model new.conllu -o tagged.conllu
  zcat big.conllu.gz | perceptron-nlp tag en.model | gzip > tagged.conllu.gz
  perceptron-nlp tag en.model half-tagged.conllu --keep
  perceptron-nlp tag en.model new.conllu --confidence --mark-unknown
  perceptron-nlp tag brown.model new.conllu --column xpos
  perceptron-nlp tag en.model new.conllu --lexicon names.tsv
  perceptron-nlp tag chunk.model words.txt --fields form,xpos
  perceptron-nlp tag en.model words.parquet -o tagged.parquet --tokens-column words
  perceptron-nlp tag en.model letters.parquet -o tagged.parquet --text-column body
  perceptron-nlp tag --engine ray en.model texts/ tagged/""",
)


def run_tag(chosen: argparse.Namespace) -> None:
    """Tag the files one after the other, or a folder of them by the workers of an engine."""
    if chosen.engine is not None:
        # Here, since tagging on this machine does without.
        from perceptron_nlp.cli.tag_folder import tag_folder

        tag_folder(chosen)
        return
    files = chosen.files or [STDIN]
    check_there(files)
    check_stdin([*files, *filter(None, [chosen.lexicon])], quiet=True)
    tagger = load_tagger(chosen.model, chosen.lexicon, column=chosen.column, mmap=chosen.mmap)
    if are_parquet(chosen, files):
        write_parquet(chosen, tagger, files[0])
        return
    marks = Marks(confidence=chosen.confidence, unknown=chosen.mark_unknown)
    wanted = marks if chosen.confidence or chosen.mark_unknown else None
    filling = Filling(
        tagger,
        chosen.column,
        keep=chosen.keep,
        marks=wanted,
        to=chosen.to,
        min_confidence=chosen.min_confidence,
    )
    to_stdout = chosen.output in (None, STDIN)
    # A line that is drawn over does not go with text on the same screen.
    is_shown = not chosen.quiet and not (to_stdout and output().bounded)
    with ReadProgress(files, quiet=not is_shown) as progress:
        tagging = Tagging(
            tagger,
            filling,
            format=chosen.format,
            fields=chosen.fields,
            threads=chosen.threads,
            quiet=chosen.quiet,
            opened=progress.opened,
        )
        (_to_stdout if to_stdout else _to_file)(chosen, files, filling, tagging)


def _to_stdout(
    chosen: argparse.Namespace, files: list[str], filling: Filling, tagging: Tagging
) -> None:
    if sys.stdout is None:
        raise pn.FileError("<stdout>: is closed; name a file with -o")
    check_stdin(files, quiet=chosen.quiet)
    stdin: Any = STDIN
    if STDIN in files:
        stdin = WatchedInput(lambda: _write(tagging.finished()))
    for text in tagging.texts(files, stdin):
        _write(text)


def _to_file(
    chosen: argparse.Namespace, files: list[str], filling: Filling, tagging: Tagging
) -> None:
    check_apart(chosen.output, [chosen.model], "the model")
    check_apart(chosen.output, filter(None, [chosen.lexicon]), "the lexicon")
    check_stdin(files, quiet=chosen.quiet)
    lost = [] if chosen.quiet else list(_with_labels_lost(chosen, files, filling))
    pn.replace_file(chosen.output, packed(chosen.output, tagging.texts(files, STDIN)))
    for path in lost:
        say(
            f"warning: {path}: its own labels are replaced by those of the model;"
            " --keep keeps them, another name after -o keeps the file"
        )


def _with_labels_lost(
    chosen: argparse.Namespace, files: list[str], filling: Filling
) -> Iterator[str]:
    """Yield the files that the output replaces and whose labels are lost."""
    for path in files:
        if path == STDIN or not (os.path.isfile(path) and os.path.exists(chosen.output)):
            continue
        if os.path.samefile(path, chosen.output):
            with pn.open_corpus(path, format=chosen.format, fields=chosen.fields) as corpus:
                if filling.replaces_labels(corpus):
                    yield path


def _write(text: Piece) -> None:
    if text:
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()
