"""Rules with many cases: each line of a table in tests/cases is an input, and what comes of it.

A table has sections, ``== name``, of which each is a function below. A line is ``input => result``,
both literals of Python, several inputs separated by commas; ``!! Error: text`` in place of a result
is the error, whose one line holds the text. Lines that begin with ``#`` are comments.
"""

from __future__ import annotations

import ast
import io
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import perceptron_nlp as pn
from perceptron_nlp import errors
from perceptron_nlp.features.templatefile import parse_templates, preset
from perceptron_nlp.features.templates import Template, check_templates
from perceptron_nlp.formats import columns, open_corpus, tagged
from perceptron_nlp.formats.conllu import rewrite_conllu, with_misc, without_misc
from perceptron_nlp.formats.detection import detect
from perceptron_nlp.formats.lines import LineSource
from perceptron_nlp.text import spans
from perceptron_nlp.text.tagset import TagSet, is_span_column

TESTS = Path(__file__).parents[1]
CORPORA = TESTS / "corpora"
READERS = {".tagged": pn.read_tagged, ".text": pn.read_text, ".columns": pn.read_columns}


def reader(name: str) -> Callable[..., Any]:
    return READERS.get(name[name.rfind(".") :], pn.read_conllu)


def bytes_of(text: str | bytes) -> io.BytesIO:
    return io.BytesIO(text if isinstance(text, bytes) else text.encode())


def described(sentences: Any) -> list[tuple[list[int], tuple[str, ...], dict[str, str]]]:
    """Of each sentence the lines of its words, these, and its columns with spaces between."""
    return [
        (
            [one.line_of(i) for i in range(len(one))],
            one.words,
            {name: " ".join(values) for name, values in one.columns.items()},
        )
        for one in sentences
    ]


def rewritten(format: str, text: str | bytes, column: str, label: str) -> str:
    """The text again, each word with the label and its number within the sentence."""
    corpus = open_corpus(bytes_of(text), format=format)
    return (
        "".join(
            corpus.rewrite(one, {column: [f"{label}{i}" for i in range(len(one))]})
            for one in corpus
        )
        + corpus.tail
    )


def written_back(name: str, format: str, column: str) -> bool:
    """A file is itself again, once its column is replaced by itself."""
    corpus = open_corpus(CORPORA / name, format=format)
    texts = [corpus.rewrite(one, {column: one.column(column)}) for one in corpus]
    return ("".join(texts) + corpus.tail).encode() == (CORPORA / name).read_bytes()


def known_before(name: str) -> tuple[str, str | None, str]:
    with open_corpus(CORPORA / name) as corpus:
        return corpus.format, corpus.default_column, " ".join(corpus.column_names)


def warns_of_commas(name: str, text: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_text(text)
        with open_corpus(path, format="text") as corpus:
            assert corpus.warnings == ()
        with open_corpus(path) as corpus:
            return any("comma-separated values" in warning for warning in corpus.warnings)


def spans_both_ways(scheme: str, found: Sequence[tuple[str, int, int]], length: int) -> str:
    labels = spans.labels_of(found, length, scheme=scheme)
    assert spans.spans_of(labels) == found
    assert spans.broken_positions(labels, scheme=scheme) == []
    return " ".join(labels)


OPERATIONS: dict[str, Callable[..., object]] = {
    # Running text.
    "words": lambda text: " ".join(word.form for one in pn.tokenize(text) for word in one),
    "sentences": lambda text: [one.text for one in pn.tokenize(text)],
    "words of sentences": lambda text: [" ".join(one.forms) for one in pn.tokenize(text)],
    # Labels and sentences.
    "spans": lambda labels: spans.spans_of(labels.split()),
    "labels of spans": spans_both_ways,
    "other scheme": lambda labels, scheme: " ".join(spans.written(labels.split(), scheme)),
    "broken": lambda scheme, labels: spans.broken_positions(labels.split(), scheme=scheme),
    "scheme": lambda sentences: spans.scheme_of([labels.split() for labels in sentences]),
    "is span column": lambda labels: is_span_column(labels.split()),
    "tag set": lambda labels: TagSet(labels).labels,
    "label of number": lambda labels, number: TagSet(labels).label_of(number),
    "sentence": lambda words, columns: pn.Sentence(words, columns).words,
    # Formats.
    "format": lambda text: detect(text),
    "format by name": lambda name: detect("whatever it holds", name=name),
    "warns of commas": warns_of_commas,
    "known before": known_before,
    "open": lambda name, options: open_corpus(CORPORA / name, **options).format,
    "read file": lambda name, *fields: described(reader(name)(CORPORA / name, *fields)),
    "read": lambda kind, text, options: described(reader(kind)(bytes_of(text), **options)),
    "column of file": lambda name, column: " ".join(
        next(iter(open_corpus(CORPORA / name))).column(column)
    ),
    "rewritten": rewritten,
    "written back": written_back,
    "tail": lambda format, text: _tail(format, text),
    "conllu": lambda words, columns: rewrite_conllu(pn.Sentence(words), columns),
    "columns": lambda text, columns_: columns.rewrite(
        next(pn.read_columns(bytes_of(text))), columns_
    ),
    "tagged": lambda words, columns: tagged.rewrite(pn.Sentence(words), columns),
    "words in lines": lambda text, columns: tagged.rewrite_words(
        next(pn.read_text(bytes_of(text))), columns
    ),
    "words as a line": lambda words: tagged.rewrite_words(pn.Sentence(words), {}),
    "with misc": with_misc,
    "without misc": without_misc,
    "lines": lambda text: list(LineSource(bytes_of(text)).lines()),
    "blocks": lambda text: list(LineSource(bytes_of(text)).blocks()),
    # Templates.
    "template": lambda text: str(Template.parse(text)),
    "template list": lambda text: [str(one) for one in parse_templates(text, "my.txt")],
    "templates": lambda items: [str(one) for one in check_templates(items)],
    "preset": lambda name: len(preset(name)),
}


def _tail(format: str, text: str) -> str:
    corpus = open_corpus(bytes_of(text), format=format)
    assert list(corpus) == []
    return corpus.tail


def cases() -> list[Any]:
    found = []
    for path in sorted((TESTS / "cases").glob("*.txt")):
        section = ""
        for number, line in enumerate(path.read_text("utf-8").split("\n"), 1):
            if line.startswith("== "):
                section = line[3:]
            elif line and not line.startswith("#"):
                case = section, *line.split("  =>  ")
                found.append(pytest.param(*case, id=f"{path.stem}:{number}"))
    return found


@pytest.mark.parametrize(("operation", "given", "expected"), cases())
def test_what_comes_of_an_input_is_as_the_table_says(
    operation: str, given: str, expected: str
) -> None:
    run, arguments = OPERATIONS[operation], ast.literal_eval(f"({given},)")
    kind, _, message = expected.removeprefix("!! ").partition(": ")
    if not expected.startswith("!! "):
        # Columns have an order, too, which dicts that are equal may differ in.
        assert repr(run(*arguments)) == repr(ast.literal_eval(expected))
        return
    with pytest.raises(getattr(errors, kind)) as caught:
        run(*arguments)
    found = str(caught.value).replace(f"{CORPORA}/", "")
    assert ast.literal_eval(f'"""{message}"""') in found and "\n" not in found


def test_every_file_of_the_corpora_is_in_a_table() -> None:
    tables = "".join(path.read_text("utf-8") for path in (TESTS / "cases").glob("*.txt"))
    missing = [path.name for path in CORPORA.iterdir() if repr(path.name) not in tables]
    assert missing == []
