"""A small language whose tags follow from its words, and the person who knows them."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

import perceptron_nlp as pn

WORDS = {
    "DET": ["the", "a", "this", "every"],
    "ADJ": ["old", "green", "quiet", "large", "cold", "early"],
    "NOUN": ["river", "stone", "garden", "letter", "window", "boat", "tree", "road"],
    "VERB": ["sees", "holds", "finds", "leaves", "follows", "carries"],
    "ADV": ["slowly", "often", "never"],
}
PATTERNS = ["DET NOUN VERB DET ADJ NOUN", "DET ADJ NOUN ADV VERB", "ADV DET NOUN VERB DET NOUN"]
TAGS = {word: tag for tag, words in WORDS.items() for word in words} | {".": "PUNCT"}


def made(n_sentences: int, seed: int = 1) -> list[list[str]]:
    """Sentences of the language."""
    chance = random.Random(seed)
    return [
        [*(chance.choice(WORDS[tag]) for tag in chance.choice(PATTERNS).split()), "."]
        for _ in range(n_sentences)
    ]


def gold(words: tuple[str, ...] | list[str]) -> list[str]:
    """What the person says."""
    return [TAGS.get(word, "X") for word in words]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """The file of what is annotated, which is not there yet."""
    return tmp_path / "gold.conllu"


@pytest.fixture
def raw_text(tmp_path: Path) -> Path:
    """A file of running text in which every sentence has a capital letter and a full stop."""
    path = tmp_path / "text.txt"
    lines = [" ".join(words[:-1]).capitalize() + "." for words in made(80)]
    path.write_text(" ".join(lines) + "\n", "utf-8")
    return path


def gold_any_case(words: tuple[str, ...]) -> list[str]:
    """What the person says of words of running text."""
    return [TAGS.get(word.lower(), "X") for word in words]


def work(
    session: pn.annotation.Session,
    n_sentences: int,
    person: Callable[[tuple[str, ...]], list[str]] = gold,
) -> None:
    """Annotate some sentences."""
    for _ in range(n_sentences):
        task = session.next()
        if task is None:
            return
        session.accept(person(task.words))
