"""All that judges a model of several columns judges the labels of the files that ``tag`` writes."""

from __future__ import annotations

from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.cli.main import main

DATA = Path(__file__).parents[3] / "data"
GOLD = DATA / "english-test.conllu"


def written(folder: Path, model: Path, column: str | None) -> dict[str, float]:
    """The accuracy by column of the file that ``tag`` writes."""
    out = folder / "tagged.conllu"
    how = [] if column is None else ["--column", column]
    assert main(["tag", str(model), str(GOLD), "-o", str(out), "--quiet", *how]) == 0
    pairs = list(zip(pn.read_conllu(out), pn.read_conllu(GOLD), strict=True))
    n_tokens = sum(len(gold) for _, gold in pairs)
    return {
        name: sum(
            a == b
            for tagged, gold in pairs
            for a, b in zip(tagged.column(name), gold.column(name), strict=True)
        )
        / n_tokens
        for name in (("upos", "xpos", "feats") if column is None else (column,))
    }


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose columns disagree by themselves."""
    path = tmp_path_factory.mktemp("models") / "several.model"
    train = DATA / "english-train.conllu"
    pn.train(train, column=("upos", "xpos", "feats"), epochs=2, preset="fast").save(path)
    return path


@pytest.mark.parametrize("column", [None, "upos", "xpos", "feats"])
def test_every_door_gives_the_accuracy_of_the_files_that_tag_writes(
    model: Path, tmp_path: Path, column: str | None
) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    tagger = pn.load(model)
    found = written(tmp_path, model, column)
    doors: dict[str, dict[str, float]] = {}
    if column is None:
        doors["evaluate"] = {n: one.accuracy for n, one in tagger.evaluate_columns(GOLD).items()}
    else:
        doors["evaluate"] = {column: tagger.evaluate(GOLD, column=column).accuracy}
    report = pn.report(tagger, GOLD, tmp_path / "report", column=column)
    doors["report"] = {name: one.accuracy for name, one in report.evaluations.items()}
    for name, accuracies in doors.items():
        assert accuracies == pytest.approx(found), name
    compared = pn.compare(model, tmp_path / "tagged.conllu", GOLD, column=column)
    assert compared.accuracy.a == pytest.approx(found[compared.column])
    assert compared.changes == ()


def test_columns_that_agree_are_others_than_those_by_themselves(
    model: Path, tmp_path: Path
) -> None:
    together = written(tmp_path, model, None)
    alone = {name: written(tmp_path, model, name)[name] for name in together}
    assert together != alone
