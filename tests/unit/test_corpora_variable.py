"""The variable that names the real corpora: one place reads it, and empty is as good as not set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
VARIABLE = "PERCEPTRON_NLP_CORPORA"


@pytest.mark.parametrize("value", ["", None])
def test_tests_of_real_corpora_are_skipped_if_the_variable_is_empty_or_not_set(value):
    environment = {name: text for name, text in os.environ.items() if name != VARIABLE}
    if value is not None:
        environment[VARIABLE] = value
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "real"),
            *("tests/unit/formats/test_corpus.py", "tests/unit/formats/test_conllu.py"),
        ],
        cwd=TESTS.parent,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout
    assert "7 skipped" in run.stdout


def test_one_fixture_alone_reads_the_variable():
    readers = [
        path.relative_to(TESTS).as_posix()
        for path in sorted(TESTS.rglob("*.py"))
        if "environ" in (text := path.read_text(encoding="utf-8")) and VARIABLE in text
    ]
    assert readers == ["conftest.py", "unit/test_corpora_variable.py"]
