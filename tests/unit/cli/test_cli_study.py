"""``perceptron-nlp study``."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

SENTENCES = [
    f"{subject}/NOUN {verb}/VERB {place}/ADV"
    for subject in ("dogs", "cats", "Birds")
    for verb in ("sleep", "run", "sing", "hide")
    for place in ("here", "often")
]


@pytest.fixture
def data() -> Path:
    path = Path("data.tagged")
    path.write_text("\n".join(SENTENCES) + "\n", encoding="utf-8")
    return path


def test_study_writes_a_page_and_pictures_and_says_where_it_is(cli, data: Path) -> None:
    outcome = cli("study", data, "--out", "new/study")
    assert outcome.status == 0, outcome.err
    assert outcome.out == b"new/study/study.html\n"
    names = sorted(path.name for path in Path("new/study").iterdir())
    assert names == [
        "learning-curves.png", "margins.png", "order-spread.png",
        "separable.png", "seven-steps.png", "study.html",
    ]  # fmt: skip
    assert "data.tagged" in Path("new/study/study.html").read_text(encoding="utf-8")
    lines = outcome.err.splitlines()
    assert lines[0] == "data.tagged: read as tagged"
    assert any("random orders" in line for line in lines)
    assert lines[-1].endswith("drawing")


def test_quiet_says_nothing(cli, data: Path) -> None:
    outcome = cli("study", data, "--dev", data, "--quiet")
    assert (outcome.status, outcome.err) == (0, "")
    assert Path("study/study.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("missing.conllu",), "missing.conllu"),
        (("data.tagged", "--tokens", "5"), "--tokens: 5 words are too few to study"),
        (("--dev", "data.tagged"), "--dev: name the file to train on too, as DATA"),
        (("data.tagged", "--out", "data.tagged"), "data.tagged: cannot be made a folder: File"),
    ],
)
def test_bad_input_is_named_in_a_line_and_nothing_is_written(
    cli, data: Path, arguments: tuple[str, ...], message: str
) -> None:
    outcome = cli("study", *arguments, "--quiet")
    assert outcome.status == 2
    assert message in outcome.message
    assert not Path("study").exists()


def test_without_matplotlib_nothing_is_read(
    cli, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    outcome = cli("study", "missing.conllu")
    assert outcome.status == 2
    assert 'pip install "perceptron-nlp[report]"' in outcome.message
