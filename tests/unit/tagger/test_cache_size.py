"""Caches of a tagger: bounded for all columns and threads together; no label depends on them."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

import perceptron_nlp as pn

WORDS = ["The", "old", "boats", "don't", "row", ",", "Dr.", "Who", "saw", "1/2", "of", "."]
TEXT = "\n\n".join(" ".join(random.Random(n).choices(WORDS, k=30)) for n in range(60))


@pytest.fixture(scope="module")
def labeled() -> list[pn.TextSentence]:
    return pn.load("en").tag_text(TEXT)


@pytest.mark.parametrize("size", [1, "10kB", "300 kB", "1GB"])
def test_labels_do_not_depend_on_the_size(size: int | str, labeled: list[pn.TextSentence]) -> None:
    tagger = pn.load("en", cache_size=size)
    assert tagger.tag_text(TEXT) == labeled
    assert tagger.tag_text(TEXT) == labeled
    with ThreadPoolExecutor(3) as pool:
        assert all(found == labeled for found in pool.map(tagger.tag_text, [TEXT] * 6))


def test_every_cache_of_a_tagger_takes_part() -> None:
    tagger = pn.load("en", cache_size="10MB")
    memory = tagger._memory
    assert memory.n_bytes == 10_000_000
    words = []
    for use in (lambda: tagger.tag(["a"]), lambda: tagger.tag_text("Boats row.")):
        use()
        words.append(memory.n_words)
    # Those that came later left less to each.
    assert 0 < words[1] < words[0]
    assert all(part._memory is memory for part in tagger.by_column.values())
    use()
    assert memory.n_words == words[1]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(tagger.tag_text, [TEXT] * 8))
    assert memory.n_words >= words[1] // 3


@pytest.mark.parametrize("size", [0, -1, "0", "many", "3 XB", ""])
def test_what_is_no_size_is_refused(size: int | str) -> None:
    with pytest.raises(pn.ArgumentError, match="cache_size"):
        pn.load("en", cache_size=size)
