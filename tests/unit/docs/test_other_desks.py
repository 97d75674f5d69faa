"""The servers of docs/howto/other-desks.md, started as they stand there and spoken to over HTTP."""

from __future__ import annotations

import itertools
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from oracles.codeblocks import code_blocks

import perceptron_nlp as pn

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs/howto/other-desks.md"
TRAIN = ROOT / "data/english-train.conllu"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not here")

Ask = Callable[..., tuple[int, Any]]
# An emoji is one character, and two units of UTF-16.
TEXT = "The dog 😀 can't sleep.\nIt barks."


def recipe(name: str) -> str:
    """Return the program that the page says to save under a name."""
    after = PAGE.read_text("utf-8").partition(f"*{name}*")[2]
    return code_blocks(after, ("python",))[0].code


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "en.model"
    pn.train(TRAIN, preset="fast", epochs=2).save(path)
    return path


def served(folder: Path, words: list[str], port: int, **environment: str) -> Iterator[Ask]:
    """Start a server, and yield what asks it."""
    server = subprocess.Popen(
        [sys.executable, *words], cwd=folder, env={**os.environ, **environment}
    )

    def ask(path: str, value: object = None) -> tuple[int, Any]:
        data = None if value is None else json.dumps(value).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}{path}", data, {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                status, body = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, body = error.code, error.read()
        return status, json.loads(body) if body else None

    try:
        for _ in range(300):
            assert server.poll() is None, "the server ended"
            try:
                ask("/health", {} if "inception.py" in words[0] else None)
                break
            except OSError:
                time.sleep(0.1)
        yield ask
    finally:
        server.terminate()
        server.wait(20)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def started(name: str, model: Path, folder: Path) -> Iterator[Ask]:
    (folder / name).write_text(recipe(name), "utf-8")
    port = free_port()
    yield from served(folder, [name, str(model), str(port)], port)


@pytest.fixture
def label_studio(model: Path, tmp_path: Path) -> Iterator[Ask]:
    yield from started("label_studio.py", model, tmp_path)


@pytest.fixture
def inception(model: Path, tmp_path: Path) -> Iterator[Ask]:
    yield from started("inception.py", model, tmp_path)


@pytest.fixture
def service(model: Path, tmp_path: Path) -> Iterator[Ask]:
    pytest.importorskip("fastapi", reason="this recipe needs FastAPI (extra test)")
    pytest.importorskip("uvicorn", reason="this recipe needs uvicorn (extra test)")
    (tmp_path / "service.py").write_text(recipe("service.py"), "utf-8")
    port = free_port()
    words = ["-m", "uvicorn", "service:app", "--port", str(port), "--log-level", "warning"]
    yield from served(tmp_path, words, port, MODEL=str(model))


def test_label_studio_gets_spans_of_characters_for_its_tasks(
    label_studio: Ask, model: Path
) -> None:
    assert label_studio("/health") == (200, {"status": "UP"})
    setup = {"project": "1.1", "schema": "<View/>", "hostname": "http://localhost:8080"}
    assert label_studio("/setup", setup)[1]["model_version"] == pn.__version__
    tasks = [{"id": k, "data": {"text": text}} for k, text in enumerate([TEXT, "No."])]
    status, answer = label_studio("/predict", {"tasks": tasks, "project": "1.1", "params": {}})
    assert status == 200 and len(answer["results"]) == 2
    found = answer["results"][0]["result"]
    tagger = pn.load(model)
    words = [word for sentence in tagger.tag_text(TEXT) for word in sentence]
    assert [one["value"]["labels"] for one in found] == [[word.label] for word in words]
    for one in found:
        value = one["value"]
        assert (one["from_name"], one["to_name"], one["type"]) == ("label", "text", "labels")
        assert TEXT[value["start"] : value["end"]] == value["text"] != ""


LAYER = "de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS"
SEGMENTS = "http:///de/tudarmstadt/ukp/dkpro/core/api/segmentation/type.ecore"


def document(words: list[list[str]]) -> tuple[str, list[tuple[int, int]]]:
    """Return a document as INCEpTION sends it, and the places of its tokens in UTF-16."""
    parts, text, numbers, places = [], "", [], []
    for sentence in words:
        first = len(text.encode("utf-16-le")) // 2
        for word in sentence:
            begin = len(text.encode("utf-16-le")) // 2
            text += word
            places.append((begin, len(text.encode("utf-16-le")) // 2))
            text += " "
            numbers.append(10 + len(numbers))
            parts.append(
                f'<type:Token xmi:id="{numbers[-1]}" sofa="1" begin="{begin}"'
                f' end="{places[-1][1]}"/>'
            )
        numbers.append(10 + len(numbers))
        end = len(text.encode("utf-16-le")) // 2 - 1
        parts.append(
            f'<type:Sentence xmi:id="{numbers[-1]}" sofa="1" begin="{first}" end="{end}"/>'
        )
    return (
        '<?xml version="1.0"?><xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmi:version="2.0"'
        f' xmlns:cas="http:///uima/cas.ecore" xmlns:type="{SEGMENTS}"><cas:NULL xmi:id="0"/>'
        f"{''.join(parts)}"
        f'<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text"'
        f' sofaString="{text}"/>'
        f'<cas:View sofa="1" members="{" ".join(map(str, numbers))}"/></xmi:XMI>'
    ), places


def test_inception_gets_its_document_back_with_predictions(inception: Ask, model: Path) -> None:
    words = [["The", "dog", "😀", "sleeps", "."], ["It", "barks", "."]]
    xmi, places = document(words)
    asked = {
        "metadata": {"layer": LAYER, "feature": "PosValue", "anchoringMode": "tokens"},
        "document": {"xmi": xmi, "documentId": 1, "userId": "ann"},
        "typeSystem": "",
    }
    status, answer = inception("/predict", asked)
    root = ET.fromstring(answer["document"])
    assert status == 200
    kind = "{http:///de/tudarmstadt/ukp/dkpro/core/api/lexmorph/type/pos.ecore}POS"
    found = root.findall(kind)
    tagger = pn.load(model)
    labels = [label for sentence in words for label in tagger.tag(sentence)]
    assert [one.get("PosValue") for one in found] == labels
    assert [(int(one.get("begin", "")), int(one.get("end", ""))) for one in found] == places
    assert {one.get("inception_internal_predicted") for one in found} == {"true"}
    numbers = [one.get("{http://www.omg.org/XMI}id") for one in root]
    given = [number for number in numbers if number is not None]
    assert len(given) == len({*given})
    view = next(one for one in root if one.tag.endswith("View"))
    members = (view.get("members") or "").split()
    assert {one.get("{http://www.omg.org/XMI}id") for one in found} < {*members}
    assert len(members) == len({*members}) == len(places) + 2 + len(found)
    assert inception("/train", {"metadata": asked["metadata"], "documents": []}) == (204, None)


def test_the_service_answers_many_users_and_says_what_is_wrong(service: Ask, model: Path) -> None:
    tagger = pn.load(model)
    assert service("/health") == (200, {"columns": ["upos"], "labels": len(tagger.labels)})
    texts = [[["The", "dog", str(k)], ["It"] * (1 + k % 7)] for k in range(40)]
    with ThreadPoolExecutor(8) as users:
        answers = [*users.map(lambda own: service("/tag", {"sentences": own}), texts)]
    assert answers == [(200, {"labels": tagger.tag_sents(own)}) for own in texts]
    status, found = service("/text", {"text": TEXT})
    assert status == 200 and len(found) == len(tagger.tag_text(TEXT))
    # The words of *can't* share its place.
    forms: dict[tuple[int, int], str] = {}
    for word in itertools.chain(*found):
        place = word["start"], word["end"]
        forms[place] = forms.get(place, "") + word["form"]
    assert all(TEXT[begin:end] == form for (begin, end), form in forms.items())
    assert service("/tag", {"sentences": [[""]]})[0] == 422
    assert service("/tag", {"sentences": "no"})[0] == 422


def test_each_recipe_is_short_and_imports_nothing_private() -> None:
    programs = [block.code for block in code_blocks(PAGE.read_text("utf-8"), ("python",))]
    assert len(programs) == 3
    for program in programs:
        assert program.count("\n") <= 75
        named = re.findall(r"^(?:from|import) (perceptron_nlp\S*)", program, re.M)
        assert named == ["perceptron_nlp"]
        assert all(hasattr(pn, name) for name in re.findall(r"\bpn\.(\w+)", program))
