"""A browser on the page of a session, and one who annotates with its keys."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from perceptron_nlp.annotation import Session
from perceptron_nlp.annotation.labels import UD_TAGS
from perceptron_nlp.annotation.server import Desk, make_server, tag_keys
from perceptron_nlp.pages.serving import PageServer


@contextlib.contextmanager
def serving(session: Session, **options: Any) -> Iterator[PageServer]:
    with session, make_server(Desk(session, **options), port=0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextlib.contextmanager
def opened(browser: Any, server: PageServer, **how: Any) -> Iterator[Any]:
    """A page without mistakes of its script or of its policy."""
    context = browser.new_context(**how)
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.goto(server.url)
    page.wait_for_selector(".token")
    yield page
    assert not [one for one in wrong if "status of 400" not in one]
    context.close()


def words(page: Any) -> list[str]:
    return list(page.locator("#sentence .form").all_inner_texts())


def tags(page: Any) -> list[str]:
    return [
        re.split(r"[\s✓\d]", text)[0] for text in page.locator("#sentence .tag").all_inner_texts()
    ]


def annotate_by_keys(page: Any, correct: Callable[[tuple[str, ...]], Sequence[str] | None]) -> None:
    """Correct what is wrong by letters, and accept; put off what has no answer."""
    keys = {one["tag"]: one["key"] for one in tag_keys(UD_TAGS)}
    gold = correct(tuple(words(page)))
    if gold is None:
        press_and_wait(page, "s")
        return
    for number, (proposed, right) in enumerate(zip(tags(page), gold, strict=True)):
        if proposed != right:
            go_to(page, number)
            page.keyboard.press(keys[right])
    assert tags(page) == list(gold)
    press_and_wait(page, "Enter")


def go_to(page: Any, number: int) -> None:
    """Go to a token by arrows, since the cursor may have gone on by itself."""
    here = page.evaluate(
        "[...document.querySelectorAll('.token')].findIndex((one) => one.ariaCurrent === 'true')"
    )
    for _ in range(abs(number - here)):
        page.keyboard.press("ArrowRight" if number > here else "ArrowLeft")


def press_and_wait(page: Any, key: str) -> None:
    """Press a key that leads to another sentence, and wait for it."""
    before = page.inner_text("#origin")
    page.keyboard.press(key)
    page.wait_for_function(
        "before => document.querySelector('#origin').innerText !== before", arg=before
    )


def press(page: Any, *keys: str) -> None:
    """Press keys, one after the other."""
    for key in keys:
        page.keyboard.press(key)


def wait_for(page: Any, condition: str) -> None:
    """Wait until something is true on the page."""
    page.wait_for_function(f"() => {condition}")


def wait_for_status(page: Any, text: str) -> None:
    """Wait until the page says something."""
    page.wait_for_function(
        "text => document.querySelector('#status').innerText.includes(text)", arg=text
    )


def wait_for_words(page: Any, found: Sequence[str]) -> None:
    """Wait until the sentence has these words."""
    page.wait_for_function(
        "found => [...document.querySelectorAll('#sentence .form')].map((one) => one.innerText)"
        ".join('|') === found",
        arg="|".join(found),
    )
