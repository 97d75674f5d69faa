"""Whatever is wrong with the input: one line, its place, status 2, and nothing is lost."""

from __future__ import annotations

import gzip
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

import perceptron_nlp as pn

Refuses = Callable[..., str]

GOOD = "1\tdogs\t_\tNOUN\t_\t_\t_\t_\t_\t_\n2\tbark\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n"
READ = ("train", "evaluate", "tag")


@pytest.fixture(params=READ)
def reading(request: pytest.FixtureRequest, refuses: Refuses, model: Path) -> Refuses:
    """Each verb that reads a text, run on a file of which nothing is said but its name."""

    def run(path: object, *more: object) -> str:
        if request.param == "train":
            Path("old.model").write_bytes(b"an old model")
            return refuses("train", path, "--model", "old.model", "--quiet", *more)
        output = ["-o", "old.model"] if request.param == "tag" else []
        if output:
            Path("old.model").write_bytes(b"an old output")
        return refuses(request.param, model, path, *output, "--quiet", *more)

    return run


def test_a_missing_file_is_named(reading: Refuses) -> None:
    assert reading("nowhere.conllu") == "nowhere.conllu: there is no such file"


@pytest.mark.parametrize("verb", ["tag", "explain"])
def test_text_in_the_place_of_a_file_is_told_where_it_goes(
    refuses: Refuses, model: Path, verb: str
) -> None:
    message = refuses(verb, model, "The old man")
    assert message.startswith(
        "The old man: there is no such file; text that is in no file is piped"
    )


def test_an_empty_name_is_shown_as_one(reading: Refuses) -> None:
    assert reading("") == "'': there is no such file"


def test_a_folder_is_refused(reading: Refuses) -> None:
    Path("folder").mkdir()
    assert reading("folder") == "folder: is a folder; name the files in it"


def test_a_binary_file_is_refused_by_its_line(reading: Refuses) -> None:
    Path("noise.conllu").write_bytes(bytes(range(32)) * 20)
    assert reading("noise.conllu") == "noise.conllu:1: this is a binary file, not text"


def test_a_wrong_number_of_fields_is_refused_by_its_line(reading: Refuses) -> None:
    Path("bad.conllu").write_text(GOOD + "1\tdogs\t_\tNOUN\t_\t_\t_\t_\t_\n\n")
    message = reading("bad.conllu")
    assert message.startswith("bad.conllu:4: 9 fields")


def test_a_bad_id_is_refused_by_its_line(reading: Refuses) -> None:
    Path("bad.conllu").write_text(GOOD.replace("2\tbark", "3\tbark"))
    message = reading("bad.conllu")
    assert message.startswith("bad.conllu:2: ")
    assert "'3'" in message


def test_invalid_utf8_is_refused_by_its_line(reading: Refuses) -> None:
    Path("bad.conllu").write_bytes(GOOD.encode().replace(b"bark", b"b\xe4rk"))
    assert reading("bad.conllu").startswith("bad.conllu:2: byte 0xe4 is not valid UTF-8")


def test_a_tab_in_a_label_is_a_field_too_many(reading: Refuses) -> None:
    Path("bad.txt").write_text("dogs\tNOUN\nbark\tVERB\n\nbark\tVE\tRB\n\n")
    message = reading("bad.txt", "--format", "columns")
    assert message.startswith("bad.txt:4: 3 fields where the first line has 2")


@pytest.mark.parametrize("begin", ["", "# text = dogs bark\n"])
def test_lines_that_end_in_carriage_returns_alone_are_refused(reading: Refuses, begin: str) -> None:
    Path("bad.conllu").write_bytes((begin + GOOD).replace("\n", "\r").encode())
    said = reading("bad.conllu")
    assert said.startswith("bad.conllu:1: its lines end in carriage returns alone; convert them")


def test_a_sentence_without_end_is_refused_by_its_line(reading: Refuses) -> None:
    with gzip.open("bad.conllu.gz", "wb") as packed:
        packed.write(GOOD.encode() + b"# a\n" * (5 << 20))
    said = reading("bad.conllu.gz")
    assert said.startswith("bad.conllu.gz:4: a sentence of more than 16 MiB or 524,288 words, ")


def test_a_token_without_label_is_refused_by_its_line(reading: Refuses) -> None:
    Path("bad.txt").write_text("dogs/NOUN bark/VERB\ndogs bark/VERB\n")
    message = reading("bad.txt", "--format", "tagged")
    assert message == "bad.txt:2: token 'dogs' has no '/' between word and tag"


def test_a_cut_compressed_file_is_refused(reading: Refuses) -> None:
    Path("cut.conllu.gz").write_bytes(gzip.compress(GOOD.encode() * 50)[:-9])
    assert reading("cut.conllu.gz") == "cut.conllu.gz: the compressed data is cut short"


def test_a_file_that_is_not_compressed_as_it_says_is_refused(reading: Refuses) -> None:
    Path("plain.conllu.gz").write_text(GOOD)
    assert reading("plain.conllu.gz").startswith("plain.conllu.gz: holds no gzip data")


def test_an_unknown_format_gets_the_did_you_mean(reading: Refuses) -> None:
    Path("good.conllu").write_text(GOOD)
    message = reading("good.conllu", "--format", "conlu")
    assert message.startswith("--format: 'conlu' is not one of")
    assert message.endswith("did you mean conllu?")


def test_more_fields_than_columns_are_refused(reading: Refuses) -> None:
    Path("two.txt").write_text("dogs NOUN\nbark VERB\n\n")
    assert reading("two.txt", "--fields", "form,xpos,chunk") == (
        "--fields: 3 names (form, xpos, chunk) for the 2 columns of two.txt; _ leaves one out"
    )


def test_fields_without_the_words_are_refused(reading: Refuses) -> None:
    Path("two.txt").write_text("dogs NOUN\nbark VERB\n\n")
    assert reading("two.txt", "--fields", "word,xpos").startswith("--fields: none of")


@pytest.fixture(params=["train", "evaluate"])
def learning(request: pytest.FixtureRequest, refuses: Refuses, model: Path) -> Refuses:
    """Each verb that needs labels."""

    def run(path: object, *more: object, stdin: bytes = b"") -> str:
        if request.param == "train":
            return refuses("train", path, "--model", "new.model", "--quiet", *more, stdin=stdin)
        return refuses("evaluate", model, path, "--quiet", *more, stdin=stdin)

    return run


def test_an_empty_file_is_refused(learning: Refuses) -> None:
    Path("empty.conllu").touch()
    assert learning("empty.conllu") == "empty.conllu: the file is empty"


def test_a_column_file_without_names_is_told_how_to_name_them(learning: Refuses) -> None:
    Path("chunks.txt").write_text("dogs NNS B-NP\nbark VBP B-VP\n\n")
    assert learning("chunks.txt", "--column", "chunk") == (
        "chunks.txt: no column 'chunk'; there are: form, 2, 3; "
        "fields names them, such as form,xpos,chunk"
    )


def test_an_empty_stream_is_refused(learning: Refuses) -> None:
    assert learning("-").startswith("<stdin>: ")


def test_a_missing_column_is_told_from_those_there_are(learning: Refuses) -> None:
    Path("good.conllu").write_text(GOOD)
    message = learning("good.conllu", "--column", "uops")
    assert message.startswith("good.conllu: no column 'uops'; there are: form, lemma, upos")


def test_a_column_that_is_empty_everywhere_is_refused(learning: Refuses) -> None:
    Path("good.conllu").write_text(GOOD)
    message = learning("good.conllu", "--column", "xpos")
    assert message.startswith("good.conllu: no word has a label in column 'xpos'")


def test_standard_input_cannot_be_read_twice(learning: Refuses) -> None:
    message = learning("-", "-", stdin=GOOD.encode())
    assert message == "<stdin>: named twice, but can be read only once"


def test_a_bad_dev_file_is_found_before_training(refuses: Refuses, train_file: Path) -> None:
    Path("dev.conllu").write_text(GOOD + "x\n\n")
    message = refuses("train", train_file, "--dev", "dev.conllu", "--model", "m", "--quiet")
    assert message.startswith("dev.conllu:4: ")


def test_a_bad_second_file_is_found_before_training(refuses: Refuses, train_file: Path) -> None:
    Path("more.conllu").write_text(GOOD + "x\n\n")
    message = refuses("train", train_file, "more.conllu", "--model", "m", "--quiet")
    assert message.startswith("more.conllu:4: ")


def test_plain_text_teaches_nothing(refuses: Refuses) -> None:
    Path("plain.txt").write_text("Dogs bark at night .\nCats do not .\n")
    Path("good.conllu").write_text(GOOD)
    message = refuses("train", "plain.txt", "good.conllu", "--model", "m", "--quiet")
    assert message.startswith("plain.txt: read as plain text, which has no labels")


@pytest.fixture(params=["tag", "evaluate", "inspect"])
def loading(request: pytest.FixtureRequest, refuses: Refuses, train_file: Path) -> Refuses:
    """Each verb that loads a model."""

    def run(model: object) -> str:
        texts = [] if request.param == "inspect" else [train_file]
        return refuses(request.param, model, *texts)

    return run


def test_a_missing_model_is_named(loading: Refuses) -> None:
    assert loading("no.model") == "no.model: there is no such file"


def test_a_folder_is_no_model(loading: Refuses) -> None:
    Path("folder").mkdir()
    assert loading("folder") == "folder: is a folder; name the model file in it"


def test_a_model_of_another_program_is_refused(loading: Refuses) -> None:
    Path("other.model").write_bytes(save({"x": np.zeros(3)}, {"format": "pt"}))
    assert loading("other.model").startswith("other.model: ")


def test_a_text_is_no_model(loading: Refuses) -> None:
    Path("readme.md").write_text("# A heading\n\nand words.\n" * 20)
    assert loading("readme.md").startswith("readme.md: ")


def test_an_empty_file_is_no_model(loading: Refuses) -> None:
    Path("empty.model").touch()
    assert loading("empty.model").startswith("empty.model: ")


@pytest.mark.parametrize("kept", [5, 100, -1])
def test_a_cut_model_is_refused(loading: Refuses, model_bytes: bytes, kept: int) -> None:
    Path("cut.model").write_bytes(model_bytes[:kept])
    assert loading("cut.model").startswith("cut.model: ")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_changed_model_is_refused(loading: Refuses, model_bytes: bytes, share: float) -> None:
    at = int(len(model_bytes) * share)
    changed = model_bytes[:at] + bytes([model_bytes[at] ^ 1]) + model_bytes[at + 1 :]
    Path("changed.model").write_bytes(changed)
    assert loading("changed.model").startswith("changed.model: ")


@pytest.mark.parametrize(
    ("place", "what"),
    [
        ("nowhere/new.model", "nowhere/new.model: "),
        ("train.conllu/new.model", "train.conllu/new.model: "),
        ("folder", "folder: is a folder"),
        ("", "'': cannot be the name of a file"),
        ("train.conllu", "train.conllu: is one of the training files"),
        ("-", "--model: a model is not written to standard output"),
    ],
)
def test_a_place_that_cannot_be_written_is_told_before_any_reading(
    refuses: Refuses, train_file: Path, place: str, what: str
) -> None:
    Path("folder").mkdir()
    Path("bad.conllu").write_text("x\n")
    assert refuses("train", train_file, "bad.conllu", "--model", place).startswith(what)


@pytest.mark.parametrize(
    ("place", "what"),
    [
        ("nowhere/out", "nowhere/out: "),
        ("train.conllu/out", "train.conllu/out: "),
        ("folder", "folder: is a folder"),
        ("", "'': cannot be the name of a file"),
        ("en.model", "en.model: is the model"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused(
    refuses: Refuses, train_file: Path, model: Path, place: str, what: str
) -> None:
    Path("folder").mkdir()
    assert refuses("tag", model, train_file, "-o", place, "--quiet").startswith(what)


def test_a_folder_in_the_place_of_a_checkpoint_is_not_called_one(
    refuses: Refuses, train_file: Path
) -> None:
    Path("folder").mkdir()
    message = refuses("train", train_file, "--model", "m", "--checkpoint", "folder")
    assert message == "folder: is a folder; name a file"


def test_an_unknown_template_list_gets_the_did_you_mean(refuses: Refuses, train_file: Path) -> None:
    message = refuses("train", train_file, "--model", "m", "--templates", "defalt")
    assert message == "no template list is called 'defalt'; did you mean default?"


def test_an_unknown_template_is_refused_by_its_line(refuses: Refuses, train_file: Path) -> None:
    Path("mine.txt").write_text("# mine\nlower[0]\nlowr[1]\n")
    message = refuses("train", train_file, "--model", "m", "--templates", "mine.txt")
    assert message.startswith("mine.txt:3: ")
    assert "lowr" in message


def test_a_missing_template_file_is_named(refuses: Refuses, train_file: Path) -> None:
    message = refuses("train", train_file, "--model", "m", "--templates", "my/list")
    assert message == "my/list: there is no such file"


def test_a_template_file_that_is_not_text_is_refused(refuses: Refuses, train_file: Path) -> None:
    Path("mine.txt").write_bytes(b"lower[0]\nlower[\xff]\n")
    message = refuses("train", train_file, "--model", "m", "--templates", "mine.txt")
    assert message.startswith("mine.txt:2: byte 0xff is not valid UTF-8")


@pytest.mark.parametrize(
    ("option", "value", "what"),
    [
        ("--epochs", "0", "--epochs: 0 is not between 1 and 10,000"),
        ("--epochs", "many", "argument --epochs: 'many' is not a whole number"),
        ("--epochs", "9" * 5000, f"argument --epochs: '{'9' * 58}… is not a whole number"),
        ("--dev=--", "--quiet", "argument --dev: -- is no value"),
        ("--seed", "-1", "--seed: -1 is not between 0 and"),
        ("--table-bits", "99", "--table-bits: 99 is not between 1 and"),
        ("--min-count", "0", "--min-count: 0 is not between"),
        ("--patience", "0", "--patience: 0 is not between"),
        ("--dictionary", "20", "argument --dictionary: '20' is not COUNT:SHARE"),
        ("--dictionary", "20:0.1", "--dictionary's share: 0.1 is not above 0.5"),
        ("--update", "perceptrn", "--update: 'perceptrn' is not one of perceptron"),
    ],
)
def test_a_value_out_of_range_is_told_by_its_option(
    refuses: Refuses, train_file: Path, option: str, value: str, what: str
) -> None:
    assert refuses("train", train_file, "--model", "m", option, value).startswith(what)


def test_threads_out_of_range_are_told_by_their_option(
    refuses: Refuses, train_file: Path, model: Path
) -> None:
    assert refuses("tag", model, train_file, "--quiet", "--threads", "0").startswith("--threads: 0")


def test_a_label_that_the_format_cannot_hold_is_refused_by_its_line(refuses: Refuses) -> None:
    Path("columns.txt").write_text("dogs\tN A\nbark\tN A\n\n")
    Path("words.txt").write_text("\ndogs X\nbark X\n\n")
    pn.train("columns.txt", epochs=1).save("space.model")
    message = refuses("tag", "space.model", "words.txt", "--quiet", "--format", "columns")
    assert message.startswith("words.txt:2: columns['2']: 'N A' is empty, or holds what separates")


def test_columns_that_the_model_needs_are_asked_for(refuses: Refuses) -> None:
    Path("three.txt").write_text("dogs NNS B-NP\nbark VBP B-VP\n\n")
    pn.train("three.txt", fields=["form", "xpos", "chunk"], epochs=1).save("chunk.model")
    Path("one.txt").write_text("dogs\nbark\n\ndogs\n")
    message = refuses("tag", "chunk.model", "one.txt", "--quiet")
    assert message.startswith("one.txt: no column 'xpos'")


def test_a_full_disk_keeps_the_old_model(
    process: Callable[..., subprocess.CompletedProcess[bytes]], train_file: Path
) -> None:
    Path("old.model").write_bytes(b"an old model")
    before = sorted(Path().iterdir())
    # A file may grow to one block of 512 or 1024 bytes.
    limited = ("sh", "-c", 'ulimit -f 1; exec "$@"', "sh")
    done = process("train", train_file, "--model", "old.model", "--quiet", before=limited)
    assert done.returncode == 2
    assert done.stderr.startswith(b"perceptron-nlp: old.model: cannot be written: ")
    assert done.stderr.count(b"\n") == 1
    assert Path("old.model").read_bytes() == b"an old model"
    assert sorted(Path().iterdir()) == before
