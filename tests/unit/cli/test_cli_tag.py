"""``perceptron-nlp tag``: the same bytes but for one column, as soon as they are known."""

from __future__ import annotations

import gzip
import io
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.cli.main import main

RICH = """\
# newdoc id = d
# text = Don't sees them.
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tDo\tdo\tXX\t_\t_\t_\t_\t_\tNote=a b
2\tn't\tnot\t_\tRB\tPolarity=Neg\t_\t_\t_\t_
2.1\tghost\t_\tYY\t_\t_\t_\t_\t1:x\t_
3\tsees\tsee\tXX\t_\t_\t0\troot\t_\t_

# a comment at the end
"""


def upos(text: str) -> list[str]:
    return [
        line.split("\t")[3]
        for line in text.splitlines()
        if line[:1].isdigit() and line.partition("\t")[0].isdigit()
    ]


def without_upos(text: str) -> list[list[str]]:
    fields = [line.split("\t") for line in text.split("\n")]
    return [row[:3] + row[4:] if row[0].isdigit() else row for row in fields]


def test_only_the_tagged_column_of_conllu_changes(cli, model: Path) -> None:
    Path("rich.conllu").write_text(RICH, "utf-8")
    out = cli("tag", model, "rich.conllu").out.decode()
    assert without_upos(out) == without_upos(RICH)
    assert upos(out) == pn.load(model).tag(["Do", "n't", "sees"])


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.rstrip("\n"),
        lambda text: "\n\n" + text + "\n\n\n",
    ],
)
def test_line_breaks_marks_and_empty_lines_stay(
    cli, model: Path, change: Callable[[str], str]
) -> None:
    Path("rich.conllu").write_text(change(RICH), "utf-8", newline="")
    tagged = cli("tag", model, stdin=RICH.encode()).out.decode()
    assert cli("tag", model, "rich.conllu").out.decode() == change(tagged)


def test_standard_input_is_read_if_no_file_is_named(cli, model: Path) -> None:
    Path("rich.conllu").write_text(RICH, "utf-8")
    from_file = cli("tag", model, "rich.conllu")
    assert from_file.err == "rich.conllu: read as conllu\n"
    for arguments in ([], ["-"]):
        outcome = cli("tag", model, *arguments, stdin=RICH.encode())
        assert outcome.out == from_file.out
        assert outcome.err == "<stdin>: read as conllu\n"


def test_files_are_written_one_after_the_other(cli, model: Path) -> None:
    Path("a.conllu").write_text(RICH, "utf-8")
    Path("b.conllu").write_text(RICH.replace("# newdoc id = d\n", ""), "utf-8")
    both = cli("tag", model, "a.conllu", "b.conllu").out
    assert both == cli("tag", model, "a.conllu").out + b"\n" + cli("tag", model, "b.conllu").out


def test_a_file_without_a_last_line_break_stays_apart_from_the_next(cli, model: Path) -> None:
    Path("a.conllu").write_text("1\tdog\t_\tX\t_\t_\t_\t_\t_\t_", "utf-8")
    Path("b.txt").write_text("The dog", "utf-8")
    one = b"1\tdog\t_\tNOUN\t_\t_\t_\t_\t_\t_"
    assert cli("tag", model, "a.conllu", "a.conllu").out == one + b"\n\n" + one
    text = cli("tag", model, "b.txt", "b.txt", "--format", "lines").out
    assert text == b"The/DET dog/NOUN\nThe/DET dog/NOUN"


def test_compressed_files_are_unpacked(cli, model: Path) -> None:
    Path("rich.conllu.gz").write_bytes(gzip.compress(RICH.encode()))
    assert cli("tag", model, "rich.conllu.gz").out == cli("tag", model, stdin=RICH.encode()).out


def test_an_empty_input_gives_an_empty_output(cli, model: Path) -> None:
    outcome = cli("tag", model, "-o", "out.txt")
    assert (outcome.status, outcome.out) == (0, b"")
    assert Path("out.txt").read_bytes() == b""


def test_the_output_file_is_what_standard_output_would_be(cli, model: Path) -> None:
    Path("rich.conllu").write_text(RICH, "utf-8")
    outcome = cli("tag", model, "rich.conllu", "-o", "out.conllu")
    assert outcome.out == b""
    assert Path("out.conllu").read_bytes() == cli("tag", model, "rich.conllu").out
    assert cli("tag", model, "rich.conllu", "-o", "-").out == Path("out.conllu").read_bytes()


def test_a_file_can_be_tagged_in_its_place(cli, model: Path) -> None:
    Path("rich.conllu").write_text(RICH, "utf-8")
    tagged = cli("tag", model, "rich.conllu").out
    assert cli("tag", "-o", "rich.conllu", model, "rich.conllu").status == 0
    assert Path("rich.conllu").read_bytes() == tagged


def test_the_output_does_not_depend_on_threads_or_batches(
    cli, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = b"".join(b"The %d dogs sleep .\n" % number for number in range(3000))
    whole = cli("tag", model, "--quiet", stdin=text).out
    assert whole.count(b"/") == 15000
    assert cli("tag", model, "--quiet", "--threads", "4", stdin=text).out == whole
    monkeypatch.setattr("perceptron_nlp.cli.tag_sentences.BATCH_SENTENCES", 7)
    assert cli("tag", model, "--quiet", stdin=text).out == whole
    monkeypatch.setattr("perceptron_nlp.cli.tag_sentences.BATCH_WORDS", 1)
    assert cli("tag", model, "--quiet", stdin=text).out == whole


class TerminalInput(io.TextIOWrapper):
    """An input that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_as_input_gets_a_word(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(sys, "stdin", TerminalInput(io.BytesIO(b"The dog\n"), "utf-8"))
    assert main(["tag", str(model)]) == 0
    out, err = capsysbinary.readouterr()
    assert out == b"The/DET dog/NOUN\n"
    assert err.decode().splitlines() == [
        "reading from the terminal; end with Ctrl-D",
        "<stdin>: read as text",
        "<stdin>: cut into tokens as in English; train --column all learns others",
    ]


def test_a_sentence_is_answered_before_the_next_is_there(
    model: Path, started: Callable[..., subprocess.Popen[bytes]]
) -> None:
    with started("tag", model, "--format", "text") as running:
        assert running.stdin is not None and running.stdout is not None
        for _ in range(3):
            running.stdin.write(b"The dog barks .\n")
            running.stdin.flush()
            assert running.stdout.readline() == b"The/DET dog/NOUN barks/VERB ./PUNCT\n"
        running.stdin.close()
        assert running.wait(60) == 0


def test_a_block_of_conllu_is_answered_before_the_next_is_there(
    model: Path, started: Callable[..., subprocess.Popen[bytes]]
) -> None:
    block = RICH.partition("\n\n")[0] + "\n\n"
    with started("tag", model, "--format", "conllu") as running:
        assert running.stdin is not None and running.stdout is not None
        for _ in range(2):
            running.stdin.write(block.encode())
            running.stdin.flush()
            answer = b"".join(running.stdout.readline() for _ in range(block.count("\n")))
            assert without_upos(answer.decode()) == without_upos(block)
            block = block.replace("# newdoc id = d\n", "")
        running.stdin.close()
        assert running.wait(60) == 0


@pytest.fixture
def names() -> Path:
    """A model that looks at two sentences on either side."""
    rows = [
        ([title, name, "."], ["O", f"B-{kind}", "O"])
        for kind, name, known in (
            ("PER", "Ada", "Mr"),
            ("LOC", "Bo", "near"),
            ("PER", "Cy", "Mr"),
            ("LOC", "Dee", "near"),
        )
        for title in (known, "then", known, "then")
    ]
    pn.train(rows, window=2, epochs=3).save("names.model")
    return Path("names.model")


def test_batches_files_and_threads_change_nothing_for_a_model_that_looks_nearby(
    cli, names: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tagger = pn.load(names)
    texts = [
        [
            [title, name, "."]
            for name in (f"{at}{end}" for at in ("Xa", "Yo", "Xa", "Zu"))
            for title in ("then", "Mr" if end == "x" else "near", "then")
        ]
        for end in "xy"
    ]
    expected = b""
    for number, text in enumerate(texts):
        Path(f"{number}.txt").write_text("".join(" ".join(words) + "\n" for words in text))
        for words, labels in zip(text, tagger.tag_sents(text), strict=True):
            tagged = zip(words, labels, strict=True)
            expected += (" ".join("/".join(pair) for pair in tagged) + "\n").encode()
    for size, threads in ((1024, 1), (1, 1), (3, 2)):
        monkeypatch.setattr("perceptron_nlp.cli.tag_sentences.BATCH_SENTENCES", size)
        out = cli("tag", names, "0.txt", "1.txt", "--format", "lines", "--threads", threads).out
        assert out == expected


def test_a_sentence_in_a_pipe_is_answered_when_its_neighbours_are_there(
    names: Path, started: Callable[..., subprocess.Popen[bytes]]
) -> None:
    text = [["then", f"X{number}", "."] for number in range(4)]
    labels = pn.load(names).tag_sents(text)
    with started("tag", names, "--format", "lines") as running:
        assert running.stdin is not None and running.stdout is not None
        answers = []
        for words in text[:3]:
            running.stdin.write((" ".join(words) + "\n").encode())
            running.stdin.flush()
        answers.append(running.stdout.readline())
        running.stdin.write((" ".join(text[3]) + "\n").encode())
        running.stdin.close()
        answers += running.stdout.readlines()
        assert running.wait(60) == 0
    assert [
        [token.rsplit("/", 1)[1] for token in line.decode().split()] for line in answers
    ] == labels


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="signals of POSIX are needed")
def test_an_interruption_is_one_line_and_status_130(
    model: Path, started: Callable[..., subprocess.Popen[bytes]]
) -> None:
    with started("tag", model, "--format", "text") as running:
        assert running.stdin is not None and running.stdout is not None
        running.stdin.write(b"The dog\n")
        running.stdin.flush()
        assert running.stdout.readline() == b"The/DET dog/NOUN\n"
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
        assert running.stderr is not None
        assert running.stderr.read() == b"perceptron-nlp: interrupted\n"


def test_a_reader_that_leaves_ends_the_work_quietly(
    model: Path, started: Callable[..., subprocess.Popen[bytes]]
) -> None:
    Path("long.txt").write_bytes(b"The dog barks .\n" * 50_000)
    with started("tag", model, "long.txt", "--quiet") as running:
        assert running.stdout is not None and running.stderr is not None
        assert running.stdout.readline() == b"The/DET dog/NOUN barks/VERB ./PUNCT\n"
        running.stdout.close()
        assert running.wait(60) == 0
        assert running.stderr.read() == b""


@pytest.fixture
def several(cli) -> Path:
    """A model of UPOS and XPOS."""
    rows = "".join(
        f"{at}\t{word}\t_\t{tag}\t{tag.lower()}\t_\t_\t_\t_\t_\n" + ("\n" if word == "." else "")
        for _ in range(4)
        for at, (word, tag) in enumerate(
            [("The", "DET"), ("dog", "NOUN"), ("barks", "VERB"), (".", "PUNCT")], 1
        )
    )
    Path("two.conllu").write_text(rows, "utf-8")
    outcome = cli(
        "train", "two.conllu", "--column", "upos,5", "--epochs", "2", "--model", "two.model"
    )
    assert outcome.status == 0
    assert "upos, epoch 1/2" in outcome.err and "xpos, epoch 2/2" in outcome.err
    assert "xpos: 4 labels" in outcome.err and "two.model: 2 columns" in outcome.err
    return Path("two.model")


BLOCK = "1\tThe\t_\t_\t_\t_\t_\t_\t_\t_\n2\tdog\t_\tX\tkept\t_\t_\t_\t_\t_\n\n"
FILLED = "1\tThe\t_\tDET\tdet\t_\t_\t_\t_\t_\n2\tdog\t_\tNOUN\tnoun\t_\t_\t_\t_\t_\n\n"


@pytest.mark.parametrize("threads", ["1", "3"])
def test_a_model_of_several_columns_fills_them_all(cli, several: Path, threads: str) -> None:
    outcome = cli("tag", several, "--threads", threads, stdin=(BLOCK * 400).encode())
    assert outcome.out.decode() == FILLED * 400
    # Not sure of a sentence, the filler leaves it to the reader: the same columns are filled.
    odd = BLOCK.replace("dog\t_", "dog\td\u2003g")
    whole = cli("tag", several, stdin=(BLOCK + odd).encode()).out.decode()
    assert whole == FILLED + FILLED.replace("dog\t_", "dog\td\u2003g")


def test_some_of_several_columns_are_filled_on_request(cli, several: Path) -> None:
    one = FILLED.replace("DET", "_").replace("NOUN", "X")
    for name in ("xpos", "5"):
        assert cli("tag", several, "--column", name, stdin=BLOCK.encode()).out.decode() == one
    both = cli("tag", several, "--column", "xpos,upos", stdin=BLOCK.encode()).out.decode()
    assert both == FILLED
    text = cli("tag", several, "--column", "xpos", "--format", "lines", stdin=b"The dog .")
    assert text.out == b"The/det dog/noun ./punct"


def test_a_model_of_one_column_fills_another_on_request(cli, model: Path) -> None:
    for name in ("xpos", "5"):
        out = cli("tag", model, "--column", name, stdin=BLOCK.encode()).out.decode()
        assert out == FILLED.replace("DET\tdet", "_\tDET").replace("NOUN\tnoun", "X\tNOUN")


def test_labels_that_are_there_can_be_kept(cli, several: Path) -> None:
    out = cli("tag", several, "--keep", stdin=(BLOCK * 3).encode()).out.decode()
    assert out == FILLED.replace("NOUN\tnoun", "X\tkept") * 3
    tagged = cli(
        "tag", several, "--keep", "--column", "upos", "--format", "tagged", stdin=b"The/_ dog/Q ./_"
    )
    assert tagged.out == b"The/DET dog/Q ./PUNCT"
    columns = cli(f"tag {several} --keep --column upos --fields form,upos", stdin=b"The _\ndog Q\n")
    assert columns.out == b"The DET\ndog Q\n"


def test_a_number_one_beyond_the_last_column_is_a_new_one(cli, model: Path) -> None:
    for name, expected in (("3", b"The 1 DET\nold 2 ADJ\n"), ("2", b"The DET\nold ADJ\n")):
        outcome = cli(
            "tag", model, "--column", name, "--format", "columns", stdin=b"The 1\nold 2\n"
        )
        assert outcome.out == expected


def test_all_columns_are_evaluated_and_inspected(cli, several: Path) -> None:
    whole = json.loads(cli("evaluate", several, "two.conllu", "--to", "json").out)
    assert [one["column"] for one in whole["columns"]] == ["upos", "xpos"]
    alone = json.loads(
        cli("evaluate", several, "two.conllu", "--to", "json", "--column", "xpos").out
    )
    for told in (alone, whole["sections"][1]):
        assert told.pop("notes")[0].startswith("whose labels: ")
    assert alone == whole["sections"][1]
    text = cli("evaluate", several, "two.conllu").out.decode()
    assert "upos, xpos: all right in " in text and "\nxpos: " not in text
    found = json.loads(cli("inspect", several, "--to", "json").out)
    assert [one["column"] for one in found["sections"]] == ["upos", "xpos"]
    assert cli("inspect", several).out.decode().count("columns needed") == 2


def test_a_lexicon_is_of_the_column_that_is_filled(cli, refuses, several: Path) -> None:
    Path("upos.tsv").write_text("dog\tVERB\n", "utf-8")
    Path("xpos.tsv").write_text("dog\tverb\n", "utf-8")
    held = cli("tag", several, "--column", "xpos", "--lexicon", "xpos.tsv", stdin=BLOCK.encode())
    assert "dog\t_\tX\tverb" in held.out.decode()
    both = cli("tag", several, "--lexicon", "upos.tsv", stdin=BLOCK.encode()).out.decode()
    assert "dog\t_\tVERB\t" in both
    assert "no label 'VERB'" in refuses(
        "evaluate", several, "two.conllu", "--column", "xpos", "--lexicon", "upos.tsv", "--quiet"
    )


def test_a_file_whose_name_is_a_dash_does_not_hide_standard_input(
    cli, model: Path, train_file: Path
) -> None:
    Path("-").write_text("not this one", "utf-8")
    outcome = cli("evaluate", model, "-", stdin=train_file.read_bytes())
    assert outcome.status == 0 and outcome.out == cli("evaluate", model, train_file).out


@pytest.mark.parametrize("suffix", ["gz", "bz2", "XZ"])
def test_an_output_whose_name_says_that_it_is_packed_is(cli, model: Path, suffix: str) -> None:
    Path("in.conllu").write_text(BLOCK * 40)
    cli("tag", model, "in.conllu", "-o", "plain.conllu", "--quiet")
    assert cli("tag", model, "in.conllu", "-o", f"out.conllu.{suffix}", "--quiet").status == 0
    assert len(Path(f"out.conllu.{suffix}").read_bytes()) < len(Path("plain.conllu").read_bytes())
    cli("tag", model, f"out.conllu.{suffix}", "-o", "again.conllu", "--quiet")
    assert Path("again.conllu").read_bytes() == Path("plain.conllu").read_bytes()
