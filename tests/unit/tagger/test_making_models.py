"""Models of all treebanks below a folder: what is made, left out and gone on with."""

from __future__ import annotations

import json
import lzma
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.cli.main import main

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "scripts" / "make_models.py"
pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="the script is not beside the tests")
OPEN = "Licensed under the Creative Commons License Attribution-ShareAlike 4.0 International.\n"


def run(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, *options], capture_output=True, text=True)


def treebank(folder: Path, name: str, license_text: str, train: str, test: str = "") -> None:
    folder.mkdir(parents=True)
    (folder / "LICENSE.txt").write_text(license_text, "utf-8")
    with lzma.open(folder / f"{name}-ud-train.conllu.xz", "wt", encoding="utf-8") as file:
        file.write(train)
    if test:
        (folder / f"{name}-ud-test.conllu").write_text(test, "utf-8")


def test_what_can_be_made_is_made_once_and_the_rest_is_named(tmp_path: Path) -> None:
    text = (ROOT / "data" / "english-dev.conllu").read_text("utf-8")
    blocks = text.split("\n\n")
    some, others = "\n\n".join(blocks[:40]) + "\n\n", "\n\n".join(blocks[40:50]) + "\n\n"
    folder, out = tmp_path / "all", tmp_path / "out"
    treebank(folder / "UD_Some-Good", "xx_good", OPEN, some, others)
    # A dev part without words is as good as none.
    (folder / "UD_Some-Good" / "xx_good-ud-dev.conllu").write_text("", "utf-8")
    treebank(folder / "UD_Some-Bad", "yy_bad", OPEN, "1\tbroken\n\n")
    treebank(folder / "UD_Some-Shut", "zz_shut", "Creative Commons BY-NC-SA 3.0\n", some)
    first = run(str(folder), "-o", str(out))
    assert first.returncode == 1
    assert "zz-shut: left out: not open (BY-NC)" in first.stdout
    assert "yy-bad: left out: " in first.stderr and "yy_bad-ud-train.conllu.xz:1" in first.stderr
    assert "Traceback" not in first.stderr
    card = json.loads((out / "xx-good.json").read_text("utf-8"))
    assert card["license"] == "CC BY-SA 4.0" and card["treebank"] == "Some-Good"
    assert card["learned train and dev"]["text"]["Words"] > 80
    # Without a dev part nothing is left out.
    assert card["small"] == card["learned train and dev"]
    assert card["bytes"] == card["full bytes"] == (out / "xx-good.model").stat().st_size
    assert {path.name for path in out.iterdir()} == {
        "xx-good.model",
        "xx-good.json",
        *(f"table.{end}" for end in ("md", "tsv", "json")),
    }
    assert "| xx-good | Some-Good | CC BY-SA 4.0 |" in (out / "table.md").read_text("utf-8")
    (sentence, *_) = pn.load(out / "xx-good.model").tag_text("The dog sleeps.")
    assert sentence.words[0].labels["upos"] == "DET"
    made = (out / "xx-good.model").stat().st_mtime_ns
    again = run(str(folder), "-o", str(out), "--only", "xx-good")
    assert again.returncode == 0 and "xx-good: is there" in again.stdout
    assert (out / "xx-good.model").stat().st_mtime_ns == made


def test_models_fit_their_size_and_licenses_are_found_under_other_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = runpy.run_path(str(SCRIPT))
    blocks = (ROOT / "data" / "english-dev.conllu").read_text("utf-8").strip().split("\n\n")
    parts = {}
    for part, own in (("train", blocks[:60]), ("dev", blocks[60:80]), ("test", blocks[80:])):
        parts[part] = tmp_path / f"xx_some-ud-{part}.conllu"
        parts[part].write_text("\n\n".join(own) + "\n\n", "utf-8")
    monkeypatch.setitem(module["made"].__globals__, "SIZE", 200_000)
    treebank = module["Treebank"]("xx-some", "Some", tmp_path, parts)
    module["made"](treebank, tmp_path, "CC0", {"seed": 1, "threads": 1})
    card = json.loads((tmp_path / "xx-some.json").read_text("utf-8"))
    assert card["bytes"] <= 200_000 < card["full bytes"]
    assert card["learned train"] != card["learned train and dev"] != card["small"]
    small = pn.load(tmp_path / "xx-some.model")
    assert small.model.record["compressed"]["columns"].keys() == {*small.columns, "text"}
    for name, text in (
        ("LICENCE", OPEN),
        ("license.md", OPEN),
        ("COPYING", "GNU GENERAL PUBLIC LICENSE\nVersion 3"),
        ("README.md", "# Summary\n\nLicense: CC BY-SA 4.0\nGenre: news\n"),
    ):
        folder = tmp_path / name.replace(".", "-")
        folder.mkdir()
        (folder / name).write_text(text, "utf-8")
        assert module["license_of"](folder)[1], name
    assert module["license_of"](ROOT / "tests") == ("no license", False)


def test_models_of_an_installed_package_have_names(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    folder, site = tmp_path / "all", tmp_path / "site"
    text = (ROOT / "data" / "english-dev.conllu").read_text("utf-8")
    for name, n in (("xx_small", 12), ("xx_large", 24), ("yy_other", 12)):
        own = "\n\n".join(text.split("\n\n")[:n]) + "\n\n"
        treebank(folder / f"UD_{name}", name, OPEN, own)
    packed = run(str(folder), "-o", str(site / "some_models"), "--package", "some-models")
    assert packed.returncode == 0, packed.stderr
    project = tomllib.loads((site / "some_models" / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["name"] == "some-models" and project["license"] == "CC-BY-SA-4.0"
    (points,) = project["entry-points"].items()
    info = site / "some_models-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-models\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        f"[{points[0]}]\n" + "".join(f"{key} = {value}\n" for key, value in points[1].items())
    )
    # Nothing of the package is run.
    (site / "some_models" / "__init__.py").write_text("raise SystemExit")
    monkeypatch.syspath_prepend(site)
    monkeypatch.chdir(tmp_path)
    assert pn.load("xx-small").columns == ("upos", "xpos", "feats", "lemma")
    with caplog.at_level("WARNING", "perceptron_nlp"):
        assert main(["tag", "xx", str(ROOT / "data" / "harbor.txt"), "--quiet"]) == 0
    assert caplog.messages == ["xx: took xx-large; there are xx-large, xx-small"]
    assert "# text = The ferry left the harbor" in capsys.readouterr().out
    assert main(["models", "--json"]) == 0
    listed = {one["name"]: one for one in json.loads(capsys.readouterr().out)["models"]}
    assert {*listed} >= {"en", "xx-large", "xx-small", "yy-other"}
    assert listed["yy-other"]["package"] == "some-models 1.0"
    assert listed["yy-other"]["license"] == "CC BY-SA 4.0"
    with pytest.raises(pn.FileError, match=r"yy-othr: .*did you mean yy-other\?"):
        pn.load("yy-othr")


def test_scores_of_a_column_that_a_test_part_lacks_are_not_shown(tmp_path: Path) -> None:
    module = runpy.run_path(str(SCRIPT))
    blocks = (ROOT / "data" / "english-dev.conllu").read_text("utf-8").strip().split("\n\n")
    tagger = pn.load("en")
    for n_filled, shown in ((2, ()), (10, ("gold",)), (20, ("gold", "text"))):
        own = [
            "\n".join(_without_xpos(line) for line in block.splitlines())
            if at >= n_filled
            else block
            for at, block in enumerate(blocks[:20])
        ]
        (tmp_path / "test.conllu").write_text("\n\n".join(own) + "\n\n", "utf-8")
        found = module["scores"](tagger, tmp_path / "test.conllu")
        assert ("xpos" in found["gold"], "XPOS" in found["text"]) == (
            "gold" in shown,
            "text" in shown,
        )
        assert "AllTags" in found["text"] or "text" not in shown


def _without_xpos(line: str) -> str:
    cells = line.split("\t")
    return "\t".join([*cells[:4], "_", *cells[5:]]) if len(cells) == 10 else line


def test_a_folder_without_treebanks_is_refused(tmp_path: Path) -> None:
    found = run(str(tmp_path))
    assert found.returncode == 1 and "no treebank with a train part" in found.stderr
