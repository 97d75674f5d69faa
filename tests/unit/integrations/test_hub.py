"""Folders in the form of model repositories: what is in them, and what is told of bad ones."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import perceptron_nlp as pn
from perceptron_nlp.integrations import hub
from perceptron_nlp.integrations.hub import load_from_folder, model_card, save_to_folder

CARD = "---\nlicense: mit\n---\nMy own words.\n"
WORDS = ["The", "old", "man"]


def described(tagger: pn.Tagger, **changed: Any) -> Any:
    """A card with a value that YAML must quote."""
    facts = {"name": "Small: English", "language": "en", "license": "cc-by-4.0"} | changed
    return model_card(
        tagger, dataset='the "small" text', description="Of a dozen sentences.", **facts
    )


@pytest.fixture(scope="module")
def judged(small: list[tuple[list[str], list[str]]]) -> pn.Tagger:
    """A tagger whose record has dev scores."""
    return pn.train(small, dev=small[:6], column="upos", epochs=2)


def test_a_folder_gives_its_tagger_back(tmp_path: Path, three: pn.Tagger) -> None:
    save_to_folder(three, tmp_path / "new", card=CARD)
    assert sorted(os.listdir(tmp_path)) == ["new"]
    assert sorted(os.listdir(tmp_path / "new")) == ["README.md", "config.json", "tagger.model"]
    assert load_from_folder(tmp_path / "new").to_bytes() == three.to_bytes()
    told = json.loads((tmp_path / "new" / "config.json").read_bytes())
    assert told["library_name"] == "perceptron-nlp"
    assert told["columns"] == ["upos", "xpos", "feats"]
    assert told["labels"]["upos"] == list(three.labels)


def test_the_card_is_one_that_the_hub_reads(tmp_path: Path, judged: pn.Tagger) -> None:
    hub_client = pytest.importorskip("huggingface_hub", reason="the extra hub is not installed")
    save_to_folder(judged, tmp_path / "new", card=described(judged))
    card = hub_client.ModelCard.load(tmp_path / "new" / "README.md")
    data = card.data.to_dict()
    assert (data["language"], data["license"]) == ("en", "cc-by-4.0")
    assert (data["library_name"], data["pipeline_tag"]) == (
        "perceptron-nlp",
        "token-classification",
    )
    record = judged.model.record
    best = record["epochs"][record["best_epoch"] - 1]["dev_accuracy"]
    assert [result.metric_value for result in card.data.eval_results] == [round(best, 4)]
    assert card.data.model_name == "Small: English"
    assert f"development accuracy {100 * best:.2f} %" in card.text
    assert "12 labels" in card.text and "Of a dozen sentences." in card.text


def test_the_code_of_a_card_runs_with_its_model(
    tmp_path: Path, tagger: pn.Tagger, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("huggingface_hub", reason="the extra hub is not installed")
    chunks = [pn.Sentence(["The", "dog"], {"xpos": ["DT", "NN"], "chunk": ["B-NP", "I-NP"]})]
    looking = pn.train(chunks, column="chunk", templates=["word[0]", "column:xpos[0]"], epochs=1)
    for number, one in enumerate((tagger, looking)):
        save_to_folder(one, tmp_path / str(number), card=described(one))
        monkeypatch.chdir(tmp_path / str(number))
        (code,) = re.findall(
            r"```python\n(.*?)```", Path("README.md").read_text("utf-8"), re.DOTALL
        )
        given: dict[str, Any] = {}
        exec(code.replace("tagger.tag(", "labels = tagger.tag("), given)
        assert len(given["labels"]) == 4


def test_scores_of_another_model_than_this_are_not_in_its_card(
    small: list[tuple[list[str], list[str]]], tagger: pn.Tagger
) -> None:
    pytest.importorskip("huggingface_hub", reason="the extra hub is not installed")
    runs = pn.train(small, dev=small[:6], column="upos", epochs=2, runs=2)
    for one in (tagger, runs):
        assert "model-index" not in described(one).content


def test_in_a_folder_that_is_there_other_files_stay(
    tmp_path: Path, tagger: pn.Tagger, judged: pn.Tagger
) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    save_to_folder(tagger, tmp_path, card=CARD)
    save_to_folder(judged, tmp_path, card=None)
    assert (tmp_path / "README.md").read_text().endswith("My own words.\n")
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert load_from_folder(tmp_path).to_bytes() == judged.to_bytes()


def test_what_fails_leaves_no_folder(
    tmp_path: Path, tagger: pn.Tagger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, data: bytes) -> None:
        if path.name == "README.md":
            raise pn.FileError(f"{path}: cannot be written: No space left on device")
        path.write_bytes(data)

    monkeypatch.setattr(pn, "replace_file", full)
    with pytest.raises(pn.FileError, match="No space left"):
        save_to_folder(tagger, tmp_path / "new", card=CARD)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        (
            "README.md",
            "has no model card, so nobody knows the model's license: README.md is missing;"
            " save_to_folder writes it, and perceptron_nlp.load opens tagger.model",
        ),
        ("config.json", "has no description of the model: config.json is missing"),
        ("tagger.model", "has no model: tagger.model is missing"),
    ],
)
def test_a_folder_where_a_file_is_missing_is_told_of(
    tmp_path: Path, tagger: pn.Tagger, missing: str, message: str
) -> None:
    save_to_folder(tagger, tmp_path / "new", card=CARD)
    (tmp_path / "new" / missing).unlink()
    with pytest.raises(pn.FileError, match=message):
        load_from_folder(tmp_path / "new")


def test_parts_of_two_models_are_not_taken_for_one(
    tmp_path: Path, tagger: pn.Tagger, judged: pn.Tagger
) -> None:
    save_to_folder(tagger, tmp_path / "new", card=CARD)
    judged.save(tmp_path / "new" / "tagger.model")
    with pytest.raises(pn.ModelError, match=r"is not the file that config\.json describes"):
        load_from_folder(tmp_path / "new")
    (tmp_path / "new" / "config.json").write_text("[" * 100_000)
    with pytest.raises(pn.ModelError, match=r"config\.json: is no description of a model"):
        load_from_folder(tmp_path / "new")


def test_what_cannot_be_saved_or_loaded_is_refused(tmp_path: Path, tagger: pn.Tagger) -> None:
    with pytest.raises(pn.ArgumentTypeError, match="tagger: a Tagger is needed, not str"):
        save_to_folder("tagger", tmp_path / "new", card=CARD)  # type: ignore[arg-type]
    with pytest.raises(pn.ArgumentTypeError, match="card: a model card, a str or None"):
        save_to_folder(tagger, tmp_path / "new", card=1)  # type: ignore[arg-type]
    with pytest.raises(pn.ArgumentError, match="card: character 2 is half of a surrogate pair"):
        save_to_folder(tagger, tmp_path / "new", card="# \ud800")
    with pytest.raises(pn.FileError, match="there is none to keep; give a card"):
        save_to_folder(tagger, tmp_path / "new", card=None)
    with pytest.raises(pn.FileError, match="cannot be written: No such file"):
        save_to_folder(tagger, tmp_path / "no" / "new", card=CARD)
    with pytest.raises(pn.FileError, match="there is no such folder"):
        load_from_folder(tmp_path / "new")
    with pytest.raises(pn.ArgumentError, match="license: must not be empty"):
        described(tagger, license=" ")
    with pytest.raises(pn.ArgumentTypeError, match="language: a str is needed, not NoneType"):
        described(tagger, language=None)


class Hub:
    """Where the network would begin: remembers what would be sent, or is not to be reached."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []
        self.files: dict[str, bytes] = {}
        self.down = False

    def create_repo(self, name: str, **options: Any) -> None:
        self.calls.append((name, options))

    def upload_folder(self, *, repo_id: str, folder_path: str, commit_message: str) -> None:
        if self.down:
            raise ConnectionError("no route to host")
        self.files = {path.name: path.read_bytes() for path in Path(folder_path).iterdir()}


def test_what_is_pushed_is_the_folder(
    tagger: pn.Tagger, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hub_client = pytest.importorskip("huggingface_hub", reason="the extra hub is not installed")
    there = Hub()
    monkeypatch.setattr(hub_client, "HfApi", lambda token: there)
    hub.push(tagger, "me/tagger", card=CARD, private=True)
    assert there.calls == [("me/tagger", {"private": True, "exist_ok": True})]
    save_to_folder(tagger, tmp_path / "new", card=CARD)
    assert there.files == {path.name: path.read_bytes() for path in (tmp_path / "new").iterdir()}
    there.down = True
    with pytest.raises(pn.FileError, match="me/tagger: could not be uploaded: no route"):
        hub.push(tagger, "me/tagger", card=CARD)


def test_what_is_downloaded_is_checked_like_any_folder(
    tagger: pn.Tagger, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hub_client = pytest.importorskip("huggingface_hub", reason="the extra hub is not installed")
    save_to_folder(tagger, tmp_path / "new", card=CARD)
    asked = SimpleNamespace(options={})

    def snapshot(name: str, **options: Any) -> str:
        asked.options = options
        if name != "me/tagger":
            raise OSError("401 Client Error")
        return str(tmp_path / "new")

    monkeypatch.setattr(hub_client, "snapshot_download", snapshot)
    assert hub.from_pretrained("me/tagger", revision="v1").tag(WORDS) == tagger.tag(WORDS)
    assert asked.options["revision"] == "v1"
    assert sorted(asked.options["allow_patterns"]) == ["README.md", "config.json", "tagger.model"]
    with pytest.raises(pn.FileError, match="me/other: could not be downloaded: 401"):
        hub.from_pretrained("me/other")
