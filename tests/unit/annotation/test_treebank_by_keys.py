"""A person who makes Universal Dependencies of Portuguese text, by the keys of the page alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import perceptron_nlp as pn
from perceptron_nlp.annotation import Session
from perceptron_nlp.annotation.labels import UD_TAGS
from perceptron_nlp.annotation.server import tag_keys
from perceptron_nlp.formats import surface
from tests.unit.annotation.browsing import go_to, opened, press_and_wait, serving, tags, words

TOKENS = 1_000
BOSQUE = "languages/UD_Portuguese-Bosque/pt_bosque-ud-dev.conllu.xz"
KEYS = {one["tag"]: one["key"] for one in tag_keys(UD_TAGS)}


class Gold(NamedTuple):
    """A sentence as it should be: tokens with their words, and the columns."""

    tokens: list[tuple[str, tuple[str, ...]]]
    columns: dict[str, tuple[str, ...]]

    @property
    def characters(self) -> str:
        return "".join("".join(form for form, _ in self.tokens).split())


def sentences(path: Path) -> Iterator[tuple[str, Gold]]:
    count = 0
    for sentence in pn.read_conllu(path):
        text, tokens, _ = surface(sentence)
        columns = {name: sentence.column(name) for name in ("upos", "feats", "lemma")}
        yield text, Gold([(text[a:b], own) for a, b, own in tokens], columns)
        count += len(sentence)
        if count >= TOKENS:
            return


def changed(page: Any, *keys: str, typed: str = "") -> None:
    """Press keys that cut the sentence otherwise, and wait for it."""
    before = page.evaluate("state.turn")
    for key in keys[:1]:
        page.keyboard.press(key)
    if typed:
        page.keyboard.press("Control+A")
        page.keyboard.type(typed)
    for key in keys[1:]:
        page.keyboard.press(key)
    page.wait_for_function("before => state.turn !== before && !busy", arg=before)


def page_tokens(page: Any) -> list[tuple[str, tuple[str, ...]]]:
    own = iter(words(page))
    return [
        (form, tuple(next(own) for _ in range(count)))
        for form, count in page.evaluate("task.tokens")
    ]


def cut_as(page: Any, gold: Gold) -> None:
    """Begin and end the sentence, and cut its tokens, as they should be."""
    wanted = gold.characters
    while len(shown := "".join("".join(f for f, _ in page_tokens(page)).split())) < len(wanted):
        assert wanted.startswith(shown)
        changed(page, "]")
    if len(shown) > len(wanted):
        ends = list(accumulate(len("".join(form.split())) for form, _ in page_tokens(page)))
        number = ends.index(len(wanted)) + 1
        go_to(page, sum(len(own) for _, own in page_tokens(page)[:number]))
        changed(page, "[")
    for number, (form, own) in enumerate(gold.tokens):
        first = sum(len(own) for _, own in page_tokens(page)[:number])
        while (now := page_tokens(page)[number])[0] != form:
            go_to(page, first)
            if len(now[1]) > 1:
                changed(page, "=", "Enter", typed=now[0])
            elif len(now[0]) > len(form):
                changed(page, "+", *["ArrowRight"] * (len(form) - 1), "Enter")
            else:
                changed(page, "-")
        if now[1] != own:
            go_to(page, first)
            changed(page, "=", "Enter", typed=" ".join(own))


def label_as(page: Any, gold: Gold) -> None:
    """Give each word its tag, features and lemma."""
    for number, right in enumerate(gold.columns["upos"]):
        if tags(page)[number] != right:
            go_to(page, number)
            page.keyboard.press(KEYS[right])
    for number, right in enumerate(gold.columns["feats"]):
        now = page.evaluate(f"labels.feats[{number}]") or "_"
        old, new = set(now.split("|")) - {"_"}, set(right.split("|")) - {"_"}
        replaced = {part.partition("=")[0] for part in new}
        gone = {part for part in old - new if part.partition("=")[0] not in replaced}
        if old != new:
            go_to(page, number)
            page.keyboard.press("F")
            for part in sorted((new - old) | gone):
                page.keyboard.insert_text(part)
                page.keyboard.press("Enter")
            page.keyboard.press("Escape")
    for number, right in enumerate(gold.columns["lemma"]):
        if page.evaluate(f"labels.lemma[{number}]") != right:
            go_to(page, number)
            page.keyboard.press("L")
            page.keyboard.press("Control+A")
            page.keyboard.insert_text(right)
            page.keyboard.press("Enter")


def test_portuguese_text_becomes_a_treebank_that_is_valid_and_trains(
    browser: Any, corpora: Path, tmp_path: Path, out: Path
) -> None:
    if not (corpora / BOSQUE).exists():
        pytest.skip(f"there is no {BOSQUE}")
    found = list(sentences(corpora / BOSQUE))
    raw = tmp_path / "text.txt"
    raw.write_text("\n\n".join(text for text, _ in found) + "\n", "utf-8")
    columns = "upos,feats,lemma"
    session = Session(raw, out, column=columns, order="document", check=0, background=True)
    with serving(session) as server, opened(browser, server) as page:
        for _, gold in found:
            cut_as(page, gold)
            label_as(page, gold)
            press_and_wait(page, "Enter")
    assert list(pn.validate(out)) == []
    made = list(pn.read_conllu(out))
    assert sum(map(len, made)) >= TOKENS and len(made) == len(found)
    for sentence, (text, gold) in zip(made, found, strict=True):
        own, tokens, _ = surface(sentence)
        assert own.split() == text.split()
        assert [(own[a:b], of) for a, b, of in tokens] == gold.tokens
        assert {name: sentence.column(name) for name in gold.columns} == gold.columns
    tagger = pn.train(out, column=columns)
    assert len(tagger.tag(["A", "casa", "."])) == 3
