"""``perceptron-nlp explain``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.pages import environment

TEXT = b"The old dog sleeps .\nShe runs !\n"


def test_text_from_standard_input_is_explained_word_by_word(cli: Callable, model: Path) -> None:
    done = cli("explain", model, "--format", "text", "--top", 2, stdin=TEXT)
    assert done.status == 0 and done.err == ""
    tagger = pn.load(model)
    words = [word for line in TEXT.decode().splitlines() for word in tagger.explain(line.split())]
    head, *paragraphs = done.out.decode().rstrip("\n").split("\n\n")
    assert head == "read right to left; [-1] is the word before, [+1] the word after"
    assert len(paragraphs) == len(words) == 8
    for paragraph, word in zip(paragraphs, words, strict=True):
        lines = paragraph.splitlines()
        assert lines[0].startswith(f"{word.word}  {word.label} ") and len(lines) == 5
        assert lines[2].endswith(word.features[0].text) and lines[4].endswith(" more")


def test_json_holds_all_features_and_sums(cli: Callable, model: Path, train_file: Path) -> None:
    done = cli("explain", model, train_file, "--to", "json")
    assert done.err == "train.conllu: read as conllu\n"
    found = json.loads(done.out)["sentences"]
    assert len(found) == 5
    for sentence in found:
        for word in sentence["words"]:
            assert sum(feature["margin"] for feature in word["features"]) == word["margin"]
            assert word["rest"] is None


def test_a_page_is_printed(cli: Callable, model: Path, train_file: Path) -> None:
    done = cli("explain", model, train_file, "--to", "html", "--quiet")
    text = done.out.decode()
    assert (done.status, done.err) == (0, "")
    assert text.count("<section") == 5 and "<bdi>They</bdi>" in text


def test_words_are_a_table_of_other_forms(cli: Callable, model: Path, train_file: Path) -> None:
    done = cli("explain", model, train_file, "--to", "tsv", "--quiet")
    rows = [line.split("\t") for line in done.out.decode().splitlines()]
    assert rows[0][:4] == ["sentence", "word", "label", "score"]
    assert {row[0] for row in rows[1:]} == {"1", "2", "3", "4", "5"}
    assert cli("explain", model, train_file, "--to", "latex").out.count(b"tabular") == 2


def test_without_jinja_a_page_is_refused_with_the_extra(
    refuses: Callable[..., str], model: Path, train_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    environment.cache_clear()
    message = refuses("explain", model, train_file, "--to", "html", "--quiet")
    assert message == 'Jinja2 is not installed: pip install "perceptron-nlp[report]"'


def test_colour_and_width_follow_the_terminal(
    cli: Callable, model: Path, monkeypatch: pytest.MonkeyPatch, on_terminal: Callable[[int], None]
) -> None:
    on_terminal(30)
    plain = cli("explain", model, "--format", "text", stdin=TEXT).out.decode()
    assert "\x1b" not in plain and max(map(len, plain.splitlines())) == 30
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1m" in cli("explain", model, "--format", "text", stdin=TEXT).out.decode()


def test_a_long_text_in_pieces_is_explained_as_in_one(cli: Callable, model: Path) -> None:
    many = b"The old dog sleeps .\n" * 150
    done = cli("explain", model, "--format", "text", "--to", "json", "--top", 1, stdin=many)
    found = json.loads(done.out)["sentences"]
    assert len(found) == 150 and all(sentence == found[0] for sentence in found)
