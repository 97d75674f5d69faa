"""The page to try a tagger: what it answers, and to whom it does not."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPMessage
from pathlib import Path
from typing import Any

import pytest

import perceptron_nlp as pn
from perceptron_nlp.analysis import serve
from perceptron_nlp.analysis.serve import (
    EXAMPLES,
    TOP,
    answer,
    example,
    make_server,
    trial_application,
)
from perceptron_nlp.pages import serving
from perceptron_nlp.pages.serving import PageServer
from tests.oracles.pages import Page

DATA = Path(__file__).parents[3] / "data"

JSON = {"Content-Type": "application/json"}
HOSTILE = [
    "<script>document.title='bad'</script>",
    "<img src=x onerror=\"document.title='bad'\">",
    "\u202egnol",
    "\x00\x07",
    "שלום",
    "'\"`",
    "😀",
    "]]>",
    "&lt;b&gt;",
    "\u2028",
]


@pytest.fixture
def running(tagger: pn.Tagger) -> Iterator[PageServer]:
    """A server of the small tagger, in a thread."""
    with make_server(tagger, port=0, spaces=True) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def asked(
    running: PageServer,
    method: str = "POST",
    path: str = "/tag",
    body: Any = None,
    headers: dict[str, str] | None = None,
) -> tuple[int, HTTPMessage, bytes]:
    """Status, headers and body of an answer."""
    connection = HTTPConnection("127.0.0.1", running.server_port, timeout=20)
    content = json.dumps(body).encode() if body is not None else None
    sent = {"Authorization": f"Bearer {running.key}", **(JSON if headers is None else headers)}
    connection.request(method, path, content, sent)
    reply = connection.getresponse()
    found = reply.status, reply.headers, reply.read()
    connection.close()
    return found


def raw(running: PageServer, request: bytes) -> bytes:
    """What comes back for bytes, until the server closes."""
    with socket.create_connection(("127.0.0.1", running.server_port), timeout=20) as line:
        line.sendall(request)
        pieces = []
        while piece := line.recv(65536):
            pieces.append(piece)
    return b"".join(pieces)


def test_an_answer_has_what_the_tagger_says(running: PageServer, tagger: pn.Tagger) -> None:
    status, headers, content = asked(running, body={"text": "The old man !\n\nStop Zork"})
    assert (status, headers["Content-Type"]) == (200, "application/json")
    found = json.loads(content)
    assert found["columns"] == ["tag"]
    sentences = [["The", "old", "man", "!"], ["Stop", "Zork"]]
    for words, told in zip(sentences, found["sentences"], strict=True):
        why = tagger.explain(words)
        assert [one["word"] for one in told] == words
        assert [one["labels"]["tag"]["label"] for one in told] == tagger.tag(words)
        for one, reason in zip(told, why, strict=True):
            label = one["labels"]["tag"]
            assert one["known"] == reason.known
            assert (label["margin"], label["runner_up"]) == (reason.margin, reason.runner_up)
            assert label["confidence"] is None
            assert sum(feature["margin"] for feature in label["features"]) == pytest.approx(
                reason.margin
            )
            assert len(label["features"]) <= TOP + 1


def test_confidences_are_told_where_there_are_any() -> None:
    labeled = [
        ([f"w{(7 * i + j) % 60}" for j in range(8)], ["AB"[(i * j) % 2] for j in range(8)])
        for i in range(60)
    ]
    tagger = pn.train(labeled[:10], epochs=2).calibrate(labeled)
    (words,) = answer(tagger, "w1 w2", spaces=True)["sentences"]
    assert [one["labels"]["tag"]["confidence"] for one in words] == tagger.confidences(["w1", "w2"])


def test_running_text_is_cut_as_in_english(tagger: pn.Tagger) -> None:
    found = answer(tagger, "Don't stop! Who?", spaces=False)["sentences"]
    assert [[one["word"] for one in words] for words in found] == [
        ["Do", "n't", "stop", "!"],
        ["Who", "?"],
    ]
    assert answer(tagger, " \n ", spaces=False)["sentences"] == []


def test_the_page_is_whole_and_loads_its_own_files_alone(running: PageServer) -> None:
    status, headers, content = asked(running, "GET", "/?q=<script>alert(1)</script>")
    page = Page(content.decode())
    assert status == 200 and headers["Content-Type"] == "text/html; charset=utf-8"
    links = {
        attributes.get("src") or attributes.get("href")
        for name, attributes in page.elements
        if name in ("script", "link")
    }
    styles = {f"/{name}.css" for name in ("tokens", "style", "words", "serve")}
    icons = {link for link in links if link.startswith("data:image/svg+xml,")}
    assert len(icons) == 1 and links - icons == {"/serve.js", *styles}
    assert all(not text.strip() for _, text in page.scripts)
    for path, kind in (("/serve.js", "text/javascript"), ("/style.css", "text/css")):
        status, headers, _ = asked(running, "GET", path)
        assert (status, headers["Content-Type"]) == (200, f"{kind}; charset=utf-8")


def test_every_answer_forbids_foreign_scripts_frames_and_readers(running: PageServer) -> None:
    for status, headers, _ in (
        asked(running, "GET", "/"),
        asked(running, "GET", "/no"),
        asked(running, body={"text": "a"}),
        asked(running, "PUT", "/"),
    ):
        assert status in (200, 404, 405)
        rules = headers["Content-Security-Policy"]
        assert "default-src 'none'" in rules and "frame-ancestors 'none'" in rules
        assert "unsafe" not in rules
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert not [name for name in headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize(
    "path",
    [
        "/../server.py",
        "/page.html",
        "/%2e%2e/serve.js",
        "/serve.js/",
        "/etc/passwd",
        "/..\\server.py",
    ],
)
def test_there_are_no_other_addresses(running: PageServer, path: str) -> None:
    assert asked(running, "GET", path)[0] == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1:1"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_names_and_other_pages_get_nothing(
    running: PageServer, headers: dict[str, str]
) -> None:
    assert asked(running, body={"text": "a"}, headers={**JSON, **headers})[0] == 403
    assert asked(running, "GET", "/", headers=headers)[0] == 403


@pytest.mark.parametrize("given", ["", "Bearer ", "Bearer x", "Basic eDp5", "Bearer \xe9"])
def test_questions_without_the_key_of_the_address_get_nothing(
    running: PageServer, given: str
) -> None:
    status, _, content = asked(
        running, body={"text": "a"}, headers={**JSON, "Authorization": given}
    )
    assert status == 401 and "open the whole address" in json.loads(content)["error"]


def test_each_server_draws_a_key_of_its_own_that_no_request_shows(tagger: pn.Tagger) -> None:
    with make_server(tagger, port=0) as one, make_server(tagger, port=0) as other:
        assert one.key != other.key and len(one.key) >= 20
        assert one.url == f"http://127.0.0.1:{one.server_port}/#{one.key}"


def test_its_own_page_under_each_name_is_answered(running: PageServer) -> None:
    for name in ("127.0.0.1", "localhost", "[::1]"):
        host = f"{name}:{running.server_port}"
        headers = {
            **JSON,
            "Host": host,
            "Origin": f"http://{host}",
            "Sec-Fetch-Site": "same-origin",
        }
        assert asked(running, body={"text": "a"}, headers=headers)[0] == 200


def test_requests_without_or_with_two_hosts_are_refused(running: PageServer) -> None:
    host = f"127.0.0.1:{running.server_port}".encode()
    for lines in (b"", b"Host: " + host + b"\r\nHost: evil.example\r\n"):
        assert raw(running, b"GET / HTTP/1.1\r\n" + lines + b"\r\n").startswith(b"HTTP/1.1 400 ")
    assert raw(running, b"GET / HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 403 ")


@pytest.mark.parametrize(
    "body, status, said",
    [
        ({"text": 3}, 400, "text: a str is needed"),
        ({}, 400, "an object with a"),
        ([], 400, "an object with a"),
        ({"text": "a", "more": 1}, 400, "an object with a"),
        ({"text": "x" * 10_001}, 400, "10,001 characters"),
        ({"text": "\ud800"}, 400, "surrogate"),
    ],
)
def test_bad_questions_are_told_what_is_wrong(
    running: PageServer, body: object, status: int, said: str
) -> None:
    found, _, content = asked(running, body=body)
    assert found == status and said in json.loads(content)["error"]


@pytest.mark.parametrize(
    "lines, body, status",
    [
        (b"Content-Type: text/plain\r\nContent-Length: 2\r\n", b"{}", 415),
        (b"Content-Length: 2\r\n", b"{}", 415),
        (b"Content-Type: application/json\r\n", b"", 411),
        (b"Content-Type: application/json\r\nContent-Length: -1\r\n", b"", 400),
        (b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n", 411),
        (b"Content-Type: application/json\r\nContent-Length: 99999999999999\r\n", b"", 413),
        (b"Content-Type: application/json\r\nContent-Length: 200000\r\n", b"", 413),
        (b"Content-Type: application/json\r\nContent-Length: 3\r\n", b"\xff{}", 400),
        (b"Content-Type: application/json\r\nContent-Length: 9\r\n", b"{        ", 400),
        (b"Content-Type: application/json\r\nContent-Length: 90000\r\n", b"[" * 90000, 400),
    ],
)
def test_bodies_that_are_no_question_are_refused(
    running: PageServer, lines: bytes, body: bytes, status: int
) -> None:
    host = (
        f"Host: 127.0.0.1:{running.server_port}\r\nAuthorization: Bearer {running.key}\r\n".encode()
    )
    reply = raw(running, b"POST /tag HTTP/1.1\r\n" + host + lines + b"\r\n" + body)
    assert reply.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"connection: close" in reply.lower()


def test_a_malformed_request_does_no_harm(running: PageServer) -> None:
    raw(running, b"\x16\x03\x01\x00\xff nonsense\r\n\r\n")
    with socket.create_connection(("127.0.0.1", running.server_port), timeout=20) as line:
        line.sendall(b"GET")
    assert asked(running, body={"text": "still there"})[0] == 200


def test_what_goes_wrong_is_told_and_the_server_goes_on(
    running: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*arguments: object, **options: object) -> None:
        raise MemoryError("no room")

    with monkeypatch.context() as patched:
        patched.setattr(serve, "answer", fails)
        status, _, content = asked(running, body={"text": "a"})
    assert status == 500 and "no room" in json.loads(content)["error"]
    assert asked(running, body={"text": "a"})[0] == 200


def test_the_other_loopback_address_can_be_served(tagger: pn.Tagger) -> None:
    try:
        made = make_server(tagger, host="::1", port=0)
    except pn.ArgumentError as error:
        pytest.skip(f"no IPv6 here: {error}")
    with made:
        assert made.url == f"http://[::1]:{made.server_port}/#{made.key}"
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        connection = HTTPConnection("::1", made.server_port, timeout=20)
        connection.request("GET", "/")
        assert connection.getresponse().status == 200
        connection.close()
        made.shutdown()
        thread.join()


def test_the_page_begins_with_a_sentence_in_the_language_of_the_model(tagger: pn.Tagger) -> None:
    german, japanese = (
        pn.train([(text.split(), ["X"] * len(text.split()))] * 2, epochs=1)
        for text in (EXAMPLES[1], EXAMPLES[28])
    )
    assert example(tagger, spaces=False) == "The old man the boats."
    assert example(german, spaces=True) == EXAMPLES[1] and EXAMPLES[1].startswith("Die Kinder")
    assert example(japanese, spaces=False) == EXAMPLES[28]
    assert example(pn.train([(["qz"], ["X"])], epochs=1), spaces=False) == ""


def test_words_of_one_token_and_lemmas_are_told(french: str, tmp_path: Path) -> None:
    (tmp_path / "fr.conllu").write_text(french, "utf-8")
    tagger = pn.train(tmp_path / "fr.conllu", column="all", epochs=5)
    (words,) = answer(tagger, "Le chat va au bois.", spaces=False)["sentences"]
    assert [one["word"] for one in words] == ["Le", "chat", "va", "à", "le", "bois", "."]
    assert [one["token"] for one in words[2:5]] == [None, "au", "au"]
    assert [one["continues"] for one in words[2:6]] == [False, False, True, False]
    assert words[2]["labels"]["lemma"]["label"] == "aller"


def test_labels_are_those_on_which_columns_agreed_against_what_each_says_by_itself() -> None:
    tagger, changed = pn.load("en"), 0
    for sentence in pn.read_conllu(DATA / "english-dev.conllu"):
        agreed = tagger.tag(sentence.words, columns=tagger.columns)
        (words,) = answer(tagger, " ".join(sentence.words), spaces=True)["sentences"]
        for column in ("upos", "xpos", "feats"):
            told = [one["labels"][column] for one in words]
            assert [one["label"] for one in told] == agreed[column]
            by_itself = tagger.by_column[column].tag(sentence.words)
            others = [(one, k) for one, k in zip(told, by_itself, strict=True) if one["label"] != k]
            assert all(one["runner_up"] == label for one, label in others)
            assert all(one["margin"] == one["score"] - one["runner_up_score"] for one in told)
            changed += len(others)
    assert changed


def test_slow_clients_do_not_keep_others_out(running: PageServer) -> None:
    host = f"Host: 127.0.0.1:{running.server_port}\r\n".encode()
    beginnings = [
        b"",
        b"GET / HTTP/1.1\r\n" + host,
        b"POST /tag HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 99\r\n"
        + host
        + f"Authorization: Bearer {running.key}\r\n".encode()
        + b"\r\n{",
    ]
    slow = [socket.create_connection(("127.0.0.1", running.server_port)) for _ in range(3 * 64)]
    try:
        for number, line in enumerate(slow[-64:]):
            line.sendall(beginnings[number % 3])
        assert asked(running, body={"text": "still there"})[0] == 200
        slow[0].settimeout(20)
        assert slow[0].recv(1) == b"", "the oldest has made room"
    finally:
        for line in slow:
            line.close()


def test_requests_that_do_not_arrive_in_time_are_ended(tagger: pn.Tagger) -> None:
    made = PageServer(trial_application(tagger, True), "127.0.0.1", 0, seconds=0.3)
    with made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        with socket.create_connection(("127.0.0.1", made.server_port), timeout=20) as line:
            for piece in b"GET / HTTP/1.1":
                with contextlib.suppress(OSError):
                    line.send(bytes([piece]))
                time.sleep(0.05)
            with contextlib.suppress(ConnectionError):
                assert line.recv(1) == b""
        made.shutdown()
        thread.join()


def test_an_answer_may_take_longer_than_a_request(
    tagger: pn.Tagger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(*arguments: object, **options: object) -> dict[str, int]:
        time.sleep(1)
        return {"slow": 1}

    monkeypatch.setattr(serve, "answer", slow)
    made = PageServer(trial_application(tagger, True), "127.0.0.1", 0, seconds=0.2)
    with made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        status, _, content = asked(made, body={"text": "a"})
        made.shutdown()
        thread.join()
    assert (status, json.loads(content)) == (200, {"slow": 1})


def test_a_missing_library_names_the_extra(
    tagger: pn.Tagger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(pn.MissingExtraError, match=r'pip install "perceptron-nlp\[web\]"'):
        make_server(tagger, port=0)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "example.org", "192.168.0.1", ""])
def test_only_this_machine_can_be_served(tagger: pn.Tagger, host: str) -> None:
    with pytest.raises(pn.ArgumentError, match="host"):
        make_server(tagger, host=host, port=0)


def test_a_port_in_use_is_named_with_what_to_do(tagger: pn.Tagger, running: PageServer) -> None:
    port = running.server_port
    with pytest.raises(pn.ArgumentError, match=rf"port: {port} is in use; choose another one"):
        make_server(tagger, port=port)


@pytest.mark.parametrize("port", [-1, 65_536])
def test_a_port_out_of_range_is_refused(tagger: pn.Tagger, port: int) -> None:
    with pytest.raises(pn.ArgumentError, match="port"):
        make_server(tagger, port=port)


def test_a_tagger_that_needs_more_than_words_is_refused(tmp_path: Path) -> None:
    (tmp_path / "chunks").write_text("a X B-A\nb Y I-A\n\n" * 3)
    tagger = pn.train(tmp_path / "chunks", fields=["form", "xpos", "chunk"], epochs=2)
    with pytest.raises(pn.ArgumentError, match="xpos"):
        make_server(tagger, port=0)


def test_nothing_is_asked_of_the_network(
    tagger: pn.Tagger, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[object] = []
    monkeypatch.setattr(serving.socket, "getfqdn", looked_up.append)
    make_server(tagger, port=0).server_close()
    assert not looked_up


def test_in_a_browser_typed_text_is_labeled_and_never_run(
    running: PageServer, tagger: pn.Tagger, browser: Any
) -> None:
    with browser.new_page(viewport={"width": 390, "height": 800}) as page:
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.goto(running.url.replace("#", "?text=<script>document.title='bad'</script>#"))
        page.fill("#text", "The old man")
        page.wait_for_selector("text=3 words in 1 sentence")
        words = page.locator(".word")
        assert words.locator("> bdi").all_inner_texts() == ["The", "old", "man"]
        assert words.locator("> b").all_inner_texts() == tagger.tag(["The", "old", "man"])
        words.nth(1).click()
        assert page.locator(".panel h2").inner_text() == "Why old?"
        assert page.locator(".panel tbody tr").count() > 0
        for hostile in HOSTILE:
            page.fill("#text", f"before {hostile} after")
            page.wait_for_selector(".word:has-text('after')")
            assert page.locator("main script, main img").count() == 0
            page.fill("#text", "")
            page.wait_for_selector("#status:has-text('Type')")
        assert page.title() == "Try a tagger"
        width = page.evaluate("document.documentElement.scrollWidth")
    assert (said, width) == ([], 390)
