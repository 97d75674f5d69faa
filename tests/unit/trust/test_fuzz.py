"""What fuzzing has found stays mended, and fuzzing finds what is broken."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.trust import fuzz

CASES = sorted(fuzz.CASES.iterdir())


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_a_case_that_was_found_does_no_harm_any_more(case: Path) -> None:
    assert fuzz.handle(case.name.partition("-")[0], case.read_bytes()) == ""


@pytest.mark.parametrize("name", fuzz.TARGETS)
def test_a_few_changed_inputs_of_each_target_do_no_harm(name: str) -> None:
    assert fuzz.batch(name, seed=7, first=0, count=40) == []


@pytest.mark.parametrize("name", fuzz.TARGETS)
def test_the_seeds_of_each_target_are_taken(name: str) -> None:
    for seed in fuzz.TARGETS[name][1]():
        assert fuzz.handle(name, seed) == ""


def test_what_is_no_error_of_the_library_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(fuzz.TARGETS, "broken", (lambda data: [][1], lambda: [b"a"], fuzz.mix))
    assert [said for _, said in fuzz.batch("broken", 1, 0, 2)] == [
        "IndexError: list index out of range"
    ] * 2


def test_inputs_hang_on_nothing_but_seed_and_number() -> None:
    seeds = [b"1\ta\n", b"b/X c/Y"]
    first = fuzz.TARGETS["conllu"][2](seeds[0], random.Random("5"))
    assert fuzz.TARGETS["conllu"][2](seeds[0], random.Random("5")) == first
