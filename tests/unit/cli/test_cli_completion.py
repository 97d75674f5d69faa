"""Scripts for shells: they name every verb and option, and the shells read them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from perceptron_nlp.cli.main import VERBS, parser_of

SHELLS = ("bash", "zsh", "fish")


def _in_shell(shell: str, *arguments: str) -> str:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def _completed(script: str, *words: str) -> list[str]:
    """What bash offers for the last of the words."""
    line = " ".join(f"'{word}'" for word in words)
    return _in_shell(
        "bash",
        "-c",
        f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1};"
        " _shtab_perceptron_nlp; printf '%s\\n' \"${COMPREPLY[@]}\"",
    ).split()


@pytest.mark.parametrize("shell", SHELLS)
def test_every_verb_and_option_is_in_the_script(cli, shell: str) -> None:
    outcome = cli("completion", shell)
    assert (outcome.status, outcome.err) == (0, "")
    script = outcome.out.decode()
    for verb in VERBS:
        assert verb in script
        for action in parser_of(verb).actions():
            for option in action.option_strings:
                written = option
                if shell == "fish":
                    written = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
                assert written in script


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_reads_its_script(cli, shell: str, tmp_path) -> None:
    path = tmp_path / "script"
    path.write_bytes(cli("completion", shell).out)
    assert _in_shell(shell, "-n", str(path)) == ""


def test_bash_completes_verbs_options_and_names_of_files(cli) -> None:
    script = cli("completion", "bash").out.decode()
    Path("my.model").touch()
    assert _completed(script, "perceptron-nlp", "tr") == ["train"]
    assert _completed(script, "perceptron-nlp", "train", "--pat") == ["--patience"]
    assert _completed(script, "perceptron-nlp", "tag", "--thr") == ["--threads"]
    assert _completed(script, "perceptron-nlp", "tag", "my") == ["my.model"]


def test_another_shell_is_an_error_that_names_those_known(cli) -> None:
    message = cli("completion", "zhs").message
    assert message.startswith("perceptron-nlp: SHELL: there are scripts for bash, zsh, ")
    assert message.endswith(", not for 'zhs'; did you mean zsh?")


def test_without_the_library_the_extra_is_named(cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert 'pip install "perceptron-nlp[completion]"' in cli("completion", "bash").message
