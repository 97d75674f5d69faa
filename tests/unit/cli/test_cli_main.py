"""The program around the verbs: help, misspellings, exit statuses, tracebacks."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.cli.main import VERBS, main
from perceptron_nlp.cli.parsing import folded


def test_without_arguments_the_help_is_shown(cli) -> None:
    alone, asked = cli(), cli("--help")
    assert alone == asked
    assert alone.status == 0
    assert alone.err == ""
    assert all(f"\n  {verb} " in alone.out.decode() for verb in VERBS)


def test_the_version_is_shown(cli) -> None:
    outcome = cli("--version")
    assert (outcome.status, outcome.out) == (0, f"perceptron-nlp {pn.__version__}\n".encode())


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_examples(cli, verb: str) -> None:
    outcome = cli(verb, "--help")
    assert outcome.status == 0
    assert outcome.err == ""
    assert f"examples:\n  perceptron-nlp {verb}".encode() in outcome.out


def test_help_and_the_version_have_the_names_that_people_try(cli) -> None:
    assert cli("help") == cli("--help")
    assert cli("help", "tag") == cli("tag", "--help")
    assert cli("-V") == cli("--version")
    assert cli("help", "tga").message.endswith("unknown verb tga; did you mean tag?")


def test_names_and_options_may_stand_in_any_order(cli, train_file: Path) -> None:
    Path("more.conllu").write_bytes(train_file.read_bytes())
    before = cli("train", train_file, "more.conllu", "--model", "a.model", "--epochs", "2")
    mixed = cli("train", train_file, "--model", "b.model", "more.conllu", "--epochs=2")
    assert before.status == mixed.status == 0
    assert Path("a.model").read_bytes() == Path("b.model").read_bytes()


def test_a_message_stays_on_one_line_whatever_a_name_holds(refuses) -> None:
    assert refuses("inspect", "a\nb\x1b[31m") == r"a\nb\x1b[31m: there is no such file"


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Makes the verb ``train`` raise an exception."""

    def set_up(error: BaseException) -> None:
        def run(chosen: object) -> None:
            raise error

        monkeypatch.setattr("perceptron_nlp.cli.train.run_train", run)

    return set_up


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (KeyboardInterrupt(), 130, "perceptron-nlp: interrupted"),
        (MemoryError(), 2, "perceptron-nlp: there is not enough memory"),
        (
            ZeroDivisionError("by 0"),
            1,
            "perceptron-nlp: unexpected failure: ZeroDivisionError: by 0"
            " (set PERCEPTRON_NLP_TRACEBACK=1 to see where)",
        ),
        (
            RecursionError("deep"),
            1,
            "perceptron-nlp: unexpected failure: RecursionError: deep"
            " (set PERCEPTRON_NLP_TRACEBACK=1 to see where)",
        ),
        (PermissionError(13, "Permission denied", "x"), 2, "perceptron-nlp: x: Permission denied"),
        (
            pn.MemoryLimitError("table_bits: too much; lower table_bits"),
            2,
            "perceptron-nlp: --table-bits: too much; lower --table-bits",
        ),
        (
            pn.ArgumentError("column: not in the columns"),
            2,
            "perceptron-nlp: --column: not in the columns",
        ),
        (pn.ArgumentError("model: is odd"), 2, "perceptron-nlp: --model: is odd"),
        (pn.ArgumentError("elsewhere: is odd"), 2, "perceptron-nlp: elsewhere: is odd"),
        (pn.FileError("model: is odd"), 2, "perceptron-nlp: model: is odd"),
    ],
)
def test_every_failure_has_its_status_and_one_line(
    cli, failing, error: BaseException, status: int, message: str
) -> None:
    failing(error)
    outcome = cli("train", "a", "--model", "m")
    assert (outcome.status, outcome.message) == (status, message)


def test_a_reader_that_has_seen_enough_is_no_failure(cli, failing) -> None:
    failing(BrokenPipeError(32, "Broken pipe"))
    outcome = cli("train", "a", "--model", "m")
    assert (outcome.status, outcome.err) == (0, "")


def test_a_variable_shows_the_traceback(cli, failing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERCEPTRON_NLP_TRACEBACK", "1")
    failing(ZeroDivisionError("by 0"))
    outcome = cli("train", "a", "--model", "m")
    assert outcome.status == 1
    assert outcome.err.startswith("Traceback (most recent call last):\n")
    assert outcome.err.splitlines()[-1].startswith("perceptron-nlp: unexpected failure")


def test_the_package_runs_as_a_module(process) -> None:
    done = process("--version")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == f"perceptron-nlp {pn.__version__}\n".encode()


def test_the_program_starts_without_what_only_verbs_need() -> None:
    script = (
        "import sys, perceptron_nlp.cli.main; print(sorted(m for m in sys.modules"
        " if m.startswith('perceptron_nlp.cli.')))"
    )
    found = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        check=True,
        cwd=Path(pn.__file__).parents[1],
    )
    assert found.stdout.decode().split("'")[1::2] == [
        f"perceptron_nlp.cli.{name}" for name in ("main", "parsing", "terminal")
    ]


def test_a_full_disk_behind_stdout_is_told(train_file: Path, model: Path, process) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    full = ("sh", "-c", 'exec "$@" > /dev/full', "sh")
    for verb in (["tag", model, train_file], ["evaluate", model, train_file], ["inspect", model]):
        done = process(*verb, *(["--quiet"] if verb[0] != "inspect" else []), before=full)
        assert done.returncode == 2
        assert done.stderr == b"perceptron-nlp: <stdout>: No space left on device\n"


def test_a_closed_stdout_is_told(train_file: Path, model: Path, process) -> None:
    closed = ("sh", "-c", 'exec "$@" >&-', "sh")
    done = process("tag", model, train_file, "--quiet", before=closed)
    assert done.returncode == 2
    assert done.stderr == b"perceptron-nlp: <stdout>: is closed; name a file with -o\n"


def test_a_closed_stdin_is_told(model: Path, process) -> None:
    done = process("tag", model, before=("sh", "-c", 'exec "$@" <&-', "sh"))
    assert done.returncode == 2
    assert done.stderr == b"perceptron-nlp: <stdin>: is closed; name a file\n"


def test_a_closed_stdin_is_not_missed_where_files_are_named(
    train_file: Path, model: Path, process
) -> None:
    words = ("tag", model, train_file, "--quiet")
    done = process(*words, before=("sh", "-c", 'exec "$@" <&-', "sh"))
    assert done.returncode == 0 and done.stdout == process(*words).stdout != b""


def test_the_arguments_of_the_process_are_the_default(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["perceptron-nlp", "--version"])
    assert main() == 0
    assert capsys.readouterr().out.startswith("perceptron-nlp ")


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [("ascii", b"\\xc4\\u5b57"), ("latin-1", b"\xc4\\u5b57"), ("utf-8", "Ä字".encode())],
)
def test_what_standard_output_cannot_encode_is_escaped(
    process, encoding: str, shown: bytes
) -> None:
    text = Path("text.tagged")
    text.write_text("a/Ä字 b/B\n", "utf-8")
    pn.train(text, epochs=1, templates="classic").save("odd.model")
    for arguments in (
        ("inspect", "odd.model"),
        ("evaluate", "odd.model", text),
        ("explain", "odd.model", text),
    ):
        done = process(*arguments, before=("env", f"PYTHONIOENCODING={encoding}"))
        assert (done.returncode, shown in done.stdout) == (0, True), done


@pytest.mark.parametrize("arguments", [[], *([verb] for verb in VERBS)])
@pytest.mark.parametrize("width", [72, 80, 120])
def test_help_is_as_wide_as_columns_says(
    cli, arguments: list[str], width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = cli(*arguments, "--help").out.decode().splitlines()
    assert max(map(len, lines)) <= width
    for line, following in itertools.pairwise(lines):
        assert not line.endswith("\\") or following.startswith("      ")
    about = "\n".join(lines).split("\n\n")[1].split("\n")
    for line, following in itertools.pairwise(about):
        assert len(f"{line} {following.split()[0]}") > width - 2, "a line ends early"


def test_an_option_in_an_example_stays_beside_its_value() -> None:
    example = "  perceptron-nlp train a.conllu --dev b.conllu --quiet --model c.model"
    for width in range(40, len(example)):
        lines = [line.removesuffix(" \\") for line in folded(example, width).split("\n")]
        assert len(lines) > 1
        assert not any(line.endswith(("--dev", "--model")) for line in lines)
