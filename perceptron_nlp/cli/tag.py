"""``perceptron-nlp tag``: fill in columns of files."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from typing import TextIO

import perceptron_nlp as pn
from perceptron_nlp.cli.inputs import (
    STDIN,
    ReadProgress,
    are_same,
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
    picked,
)
from perceptron_nlp.cli.tag_files import Piece, Tagging
from perceptron_nlp.cli.terminal import output, say
from perceptron_nlp.formats.opening import packed

TAG = Verb(
    """\
Write text back with the columns of the model filled in. All else in CoNLL-U and column files
stays as it is, byte for byte; a column file without the column gets it at the end of its lines.
Running text (text) is split into sentences and tokens first. It becomes CoNLL-U if several
columns are filled, if the model learned to split text and no --column is named, or with
--confidence or --mark-unknown; else word/TAG, a sentence a line. Text that is split already, a
sentence a line, its tokens separated by spaces (lines), becomes word/TAG and keeps its tokens and
lines; if it only looks so, and word/TAG cannot hold the columns of a model that splits text, it is
text. A column whose labels word/TAG cannot hold, as lemmas, becomes CoNLL-U. What comes out of a
pipe is read as what comes first looks; a sentence is written once it is over, and after half a
second of silence all lines that are there.
JSON lines (.jsonl, a record a line) come back as they are, each with a field of sentences: lists of
words, which are objects of form, columns, start and end.
Parquet files (.parquet, a row a sentence, or with --text-column a text) get columns of lists.""",
    f"""\
MODEL  a model file, or en: the bundled English model
[FILES...]  files to tag (default: standard input, which - stands for)
-o, --output OUT  the file to write, whole or not at all, compressed if its name ends in .gz, .bz2
    or .xz (default: standard output); a folder (OUT/) gets a file for each input
--outfile NAME  a file for each input, whose name without folder and ending stands for {{}} in NAME:
    {{}}.conllu
--column NAME  the column to fill, by name or number (default: the one that was learned); of a
    model of several columns, which of them are filled, separated by commas (default: all); text:
    none, running text is only cut into sentences and words
--keep  keep the labels that the column has already (all but _); they are context for the others
--confidence  write into MISC the probability that each label is right: Conf=0.9731, or
    Conf[upos]=0.9731 if several columns are filled (CoNLL-U only, which running text then becomes;
    the model must be calibrated); of Parquet files into columns such as upos_confidence
--min-confidence X  write _ in place of labels whose confidence is below X, 0 to 1 (the model must
    be calibrated)
--mark-unknown  write Unknown=Yes into MISC of tokens that were not in the training text (CoNLL-U
    only, which running text then becomes)
{LEXICON}
--abbreviations FILE  one on each line: in running text their full stop ends no sentence
--wrapped  line breaks in running text are white space; else those end a sentence that leave room
    in their line, as behind headings, items and messages
{format_options(FORMATS + "|lines|text|jsonl|parquet")}
--lines  each line of running text is a text of its own, such as a message, answered at once
--json-lines  each line is a JSON object, one field of which is a running text (--format jsonl)
--field NAME  that field (default: text)
--tokens-column NAME  the column of a Parquet file that holds the tokens, as lists of strings
    (default: the only such column, or the one called tokens)
--text-column NAME  the column of a Parquet file that holds running texts, which get a column of
    words with labels, lemmas and places
--to conllu|tagged|lines  what running text becomes: conllu, with # text and SpaceAfter=No, tagged
    (word/TAG), or, with --column text, lines of words separated by spaces
{THREADS}
--engine NAME  ray: the files are a folder of Parquet or CoNLL-U files and one for the outputs, and
    workers tag them; started again, the work goes on with what is not done
--mmap  map the model into memory: processes that tag with it share what stays of the file, which
    nobody may write into meanwhile
--cache-size SIZE  memory for what is remembered of words, in all columns and threads together; the
    result does not depend on it (default: 64MB)
{QUIET}
""",
    """\
  perceptron-nlp tag en < letter.txt
  perceptron-nlp tag en letter.txt --column upos
  perceptron-nlp tag en letter.txt --column text --to lines
  tail -f messages.log | perceptron-nlp tag en --lines
  perceptron-nlp tag en --json-lines --field body < posts.jsonl > tagged.jsonl
  perceptron-nlp tag en.model new.conllu -o tagged.conllu
  zcat big.conllu.gz | perceptron-nlp tag en.model | gzip > tagged.conllu.gz
  perceptron-nlp tag en letters/*.txt -o tagged/ --threads 8
  perceptron-nlp tag en.model half-tagged.conllu --keep
  perceptron-nlp tag en.model new.conllu --confidence --mark-unknown
  perceptron-nlp tag en.model new.conllu --lexicon names.tsv
  perceptron-nlp tag chunk.model words.txt --fields form,xpos
  perceptron-nlp tag en.model words.parquet -o tagged.parquet --tokens-column words
  perceptron-nlp tag en.model letters.parquet -o tagged.parquet --text-column body
  perceptron-nlp tag --engine ray en.model texts/ tagged/""",
)


def run_tag(chosen: argparse.Namespace) -> None:
    """Tag the files one after the other, or a folder of them by the workers of an engine."""
    files = chosen.files or [STDIN]
    if chosen.engine is not None:
        # Here and below, since tagging text on this machine does without.
        from perceptron_nlp.cli.tag_folder import tag_folder

        tag_folder(chosen)
        return
    if chosen.output is not None and chosen.output.isalpha() and not os.path.exists(chosen.output):
        from perceptron_nlp.compat import udpipe

        if chosen.output in udpipe.OUTPUTS:
            said = udpipe.answer("--output", chosen.output)
            raise UsageError(f"--output: {said}; ./{chosen.output} is a file")
    given = [*files, *filter(None, [chosen.lexicon, chosen.abbreviations])]
    check_there(given)
    check_stdin(given, quiet=True)
    if chosen.json_lines:
        if chosen.lines or chosen.format not in ("auto", "jsonl"):
            raise UsageError("--json-lines: goes neither with --lines nor with another --format")
        chosen.format = "jsonl"
    if chosen.lines and chosen.format not in ("auto", "text"):
        raise UsageError(f"--lines: is for running text (--format text), not {chosen.format}")
    tagger = load_tagger(
        chosen.model,
        chosen.lexicon,
        **picked(chosen, "column", "mmap", "cache_size", "abbreviations", "wrapped"),
    )
    if _may_be_parquet(chosen, files):
        from perceptron_nlp.cli.tag_folder import are_parquet, write_parquet

        if are_parquet(chosen, files):
            write_parquet(chosen, tagger, files[0])
            return
    marks = None
    if chosen.confidence or chosen.mark_unknown or chosen.min_confidence is not None:
        from perceptron_nlp.cli.tag_sentences import Marks

        marks = Marks(
            confidence=chosen.confidence, unknown=chosen.mark_unknown, least=chosen.min_confidence
        )
    how = picked(chosen, "column", "format", "fields", "field", "keep", "to")
    folder = chosen.output or ""
    if chosen.outfile is not None or folder.endswith(("/", os.sep)) or os.path.isdir(folder):
        from perceptron_nlp.cli.tag_folder import tag_each

        tag_each(chosen, tagger, files, marks=marks, by_line=chosen.lines, **how)
        return
    to_stdout = chosen.output in (None, STDIN)
    # A line that is drawn over does not go with text on the same screen.
    is_shown = not chosen.quiet and not (to_stdout and output().bounded)
    with ReadProgress(files, quiet=not is_shown) as progress:
        tagging = Tagging(
            tagger,
            marks=marks,
            by_line=chosen.lines,
            opened=progress.opened,
            **how,
            **picked(chosen, "threads", "quiet"),
        )
        if not to_stdout:
            _write_file(chosen, files, tagging)
            return
        if sys.stdout is None:
            raise pn.FileError("<stdout>: is closed; name a file with -o")
        check_stdin(files, quiet=chosen.quiet)
        # Nobody waits for what goes into a file.
        answer = None if _is_file(sys.stdout) else lambda: _write(tagging.finished())
        for text in tagging.texts(files, answer):
            _write(text)


def _may_be_parquet(chosen: argparse.Namespace, files: list[str]) -> bool:
    is_named = chosen.format == "parquet" or chosen.tokens_column is not None
    is_named = is_named or chosen.text_column is not None
    return is_named or any(path.lower().endswith(".parquet") for path in files)


def _write_file(chosen: argparse.Namespace, files: list[str], tagging: Tagging) -> None:
    check_apart(chosen.output, [chosen.model], "the model")
    check_apart(chosen.output, filter(None, [chosen.lexicon]), "the lexicon")
    check_apart(chosen.output, filter(None, [chosen.abbreviations]), "the abbreviations")
    check_stdin(files, quiet=chosen.quiet)
    replaced = [path for path in files if path != STDIN and are_same(path, chosen.output)]
    lost = [path for path in replaced if tagging.replaces_labels(path)]
    pn.replace_file(chosen.output, packed(chosen.output, tagging.texts(files)))
    for path in lost if not chosen.quiet else ():
        say(
            f"warning: {path}: its own labels are replaced by those of the model;"
            " --keep keeps them, another name after -o keeps the file"
        )


def _is_file(stream: TextIO) -> bool:
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except OSError:
        # No descriptor.
        return False


def _write(text: Piece) -> None:
    if text:
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()
