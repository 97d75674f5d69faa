"""``perceptron-nlp annotate``."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import perceptron_nlp as pn


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("".join(f"the old boat {n} sees a tree .\n" for n in range(400)), "utf-8")
    return path


def posted(url: str, path: str, body: Any) -> dict[str, Any]:
    place, _, key = url.partition("#")
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    question = urllib.request.Request(place + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(question, timeout=60) as reply:
        found: dict[str, Any] = json.load(reply)
    return found


def accepted(state: dict[str, Any]) -> dict[str, Any]:
    labels = {"upos": ["NOUN"] * len(state["task"]["words"])}
    return {"turn": state["turn"], "action": "accept", "values": {"labels": labels, "note": ""}}


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_a_page_is_served_until_it_is_interrupted_and_the_file_stays(
    started: Any, text: Path, tmp_path: Path
) -> None:
    out = tmp_path / "gold.conllu"
    with started("annotate", text, "--out", out, "--port", "0", "--sentences", "9") as process:
        url = process.stdout.readline().decode().strip()
        with urllib.request.urlopen(url, timeout=30) as reply:
            assert b"Annotate" in reply.read()
        state = posted(url, "act", accepted(posted(url, "look", {})))
        assert state["progress"]["sentences"] == 1
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert err.decode().splitlines() == [
        "open this page in a browser; Ctrl-C ends it",
        "the first 9 sentences are what is asked for; the text has more (--sentences N)",
    ]
    (sentence,) = pn.read_conllu(out)
    assert set(sentence.column("upos")) == {"NOUN"}


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_a_draft_is_the_text_and_at_the_end_it_is_said_how_good_it_was(
    started: Any, tmp_path: Path
) -> None:
    draft = tmp_path / "draft.conllu"
    rows = [(["the", "boat", str(n), "left"], ["DET", "NOUN", "NUM", "VERB"]) for n in range(9)]
    pn.write_conllu([pn.Sentence(words, {"upos": tags}) for words, tags in rows], draft)
    out = tmp_path / "gold.conllu"
    with started("annotate", "--draft", draft, "--out", out, "--port", "0") as process:
        url = process.stdout.readline().decode().strip()
        state = posted(url, "look", {})
        assert state["task"]["labels"]["upos"] == ["DET", "NOUN", "NUM", "VERB"]
        state = posted(url, "act", accepted(state))
        assert state["progress"]["draft"]["upos"]["share"] == 0.25
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert err.decode().splitlines()[1:] == [
        f"{draft}: 25.00 % of upos were right (0.00 % to 100.00 %)"
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_a_kill_at_any_moment_loses_nothing_that_was_accepted(
    started: Any, text: Path, tmp_path: Path
) -> None:
    out = tmp_path / "gold.conllu"
    chance = random.Random(1)
    done = 0
    for _ in range(20):
        with started("annotate", text, "--out", out, "--port", "0") as process:
            url = process.stdout.readline().decode().strip()
            state = posted(url, "look", {})
            assert state["progress"]["sentences"] in (done, done + 1)
            done = state["progress"]["sentences"]
            end = time.monotonic() + chance.random() * 0.3
            while time.monotonic() < end:
                state = posted(url, "act", accepted(state))
                done += 1
                assert state["progress"]["sentences"] == done
            if chance.random() < 0.5:
                # In the middle of an answer.
                child = os.fork()
                if not child:
                    try:
                        posted(url, "act", accepted(state))
                    finally:
                        os._exit(0)
                time.sleep(chance.random() * 0.03)
                process.kill()
                os.waitpid(child, 0)
            process.kill()
            process.wait()
        n_kept = len(list(pn.read_conllu(out))) if out.exists() else 0
        assert n_kept in (done, done + 1)
        done = n_kept
    assert done > 20


def test_bad_input_is_one_line(refuses: Callable[..., str], text: Path, tmp_path: Path) -> None:
    out = tmp_path / "gold.conllu"
    assert "there is no such file" in refuses("annotate", tmp_path / "no.txt", "--out", out)
    assert "is the text" in refuses("annotate", text, "--out", text)
    assert "--out" in refuses("annotate", text)
    assert "--column" in refuses("annotate", text, "--out", out, "--column", "head")
    assert "--tags" in refuses("annotate", text, "--out", out, "--tags", os.devnull)
    for option in ("--tags", "--guideline"):
        said = refuses("annotate", text, "--out", out, option, "no.txt")
        assert said == "no.txt: there is no such file"
    (tmp_path / "tags").write_bytes(b"\xff\n")
    assert "tags: this is not UTF-8" in refuses(
        "annotate", text, "--out", out, "--tags", tmp_path / "tags"
    )
    pn.write_conllu([pn.Sentence(["x", "y"], {"upos": ["X", "X"]})], out)
    assert "gold.conllu is of another text" in refuses("annotate", text, "--out", out)
    out.write_text("1\tx\n\n")
    assert "gold.conllu:1" in refuses("annotate", text, "--out", out)


def test_a_model_that_saving_would_replace_stops_it_at_the_start(
    refuses: Callable[..., str], text: Path, tmp_path: Path
) -> None:
    model = tmp_path / "en.model"
    pn.train([pn.Sentence(["a"], {"upos": ["X"]})], epochs=1).save(model)
    before = model.read_bytes()
    out = tmp_path / "en.conllu"
    said = refuses("annotate", text, "--out", out, "--model", model)
    assert "en.model" in said and "was not saved by annotation of it" in said
    assert model.read_bytes() == before and not out.exists()


def test_the_first_of_a_million_sentences_is_shown_soon(started: Any, tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    path.write_text("The old boat sees a tree. " * 1_000_000, "utf-8")
    begun = time.monotonic()
    with started("annotate", path, "--out", tmp_path / "gold.conllu", "--port", "0") as process:
        url = process.stdout.readline().decode().strip()
        assert posted(url, "look", {})["task"]["words"][:3] == ["The", "old", "boat"]
        seconds = time.monotonic() - begun
        process.kill()
        process.wait()
    # 2 s on a machine that does nothing else.
    assert seconds < 30
