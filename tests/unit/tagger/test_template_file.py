"""Template lists read from files, and models read without the means to tag."""

from __future__ import annotations

from pathlib import Path

import pytest

import perceptron_nlp as pn


def test_a_file_gives_the_templates_of_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes("\ufeff# mine\nlower[0]\r\n\n  tag[-1]   lower[0]\n".encode())
    assert pn.read_templates(path) == (
        pn.Template.parse("lower[0]"),
        pn.Template.parse("tag[-1] lower[0]"),
    )


@pytest.mark.parametrize(
    ("content", "error", "place"),
    [
        (b"", pn.TemplateError, "mine.txt: "),
        (b"# nothing\n", pn.TemplateError, "mine.txt: "),
        (b"lower[0]\nlowr[0]\n", pn.TemplateError, "mine.txt:2: "),
        (b"lower[0]\n\nlower[0]\n", pn.TemplateError, "mine.txt:3: "),
        (b"lower[0]\n\n\xff\n", pn.FormatError, "mine.txt:3: "),
    ],
)
def test_a_bad_list_is_refused_by_its_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
    error: type[pn.PerceptronNLPError],
    place: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.txt").write_bytes(content)
    with pytest.raises(error, match=f"^{place}"):
        pn.read_templates("mine.txt")


def test_a_folder_is_no_list(tmp_path: Path) -> None:
    with pytest.raises(pn.FileError, match="folder"):
        pn.read_templates(tmp_path)


def test_a_model_is_read_as_it_was_trained(tmp_path: Path) -> None:
    tagger = pn.train([(["a", "b"], ["A", "B"])], epochs=2)
    tagger.save(tmp_path / "m")
    model = pn.read_model(tmp_path / "m")
    assert pn.Tagger(model).to_bytes() == tagger.to_bytes()
