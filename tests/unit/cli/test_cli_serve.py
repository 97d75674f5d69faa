"""``perceptron-nlp serve``."""

from __future__ import annotations

import json
import signal
import socket
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import perceptron_nlp as pn


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_a_served_page_answers_until_it_is_interrupted(started, model: Path) -> None:
    with started("serve", model, "--port", "0", "--spaces") as process:
        url = process.stdout.readline().decode().strip()
        assert url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(url, timeout=30) as reply:
            assert b"<title>Try " in reply.read()
        place, _, key = url.partition("#")
        question = urllib.request.Request(
            place + "tag",
            json.dumps({"text": "The dog"}).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {key}"},
        )
        with urllib.request.urlopen(question, timeout=30) as reply:
            (words,) = json.load(reply)["sentences"]
        assert [word["labels"]["upos"]["label"] for word in words] == pn.load(model).tag(
            ["The", "dog"]
        )
        address = urlsplit(url)
        with socket.create_connection((address.hostname, address.port)) as slow:
            slow.sendall(
                b"POST /tag HTTP/1.1\r\nHost: %b\r\nContent-Type: application/json\r\n"
                b"Authorization: Bearer %b\r\nContent-Length: 99\r\n\r\n{"
                % (address.netloc.encode(), key.encode())
            )
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, b"")
    assert err.decode().splitlines() == ["open this page in a browser; Ctrl-C ends it"]


def test_a_port_in_use_is_one_line_that_says_what_to_do(
    model: Path, refuses: Callable[..., str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert refuses("serve", model, "--port", port) == (
            f"--port: {port} is in use; choose another one, or 0 for any that is free"
        )


def test_a_model_that_looks_at_other_columns_is_refused_by_its_name(
    refuses: Callable[..., str],
) -> None:
    text = [pn.Sentence(["dogs", "bark"], {"xpos": ["NNS", "VBP"], "upos": ["NOUN", "VERB"]})]
    pn.train(text, column="upos", templates=["column:xpos[0]"], epochs=1).save("wide.model")
    assert refuses("serve", "wide.model").startswith("wide.model: looks at the columns xpos in")
