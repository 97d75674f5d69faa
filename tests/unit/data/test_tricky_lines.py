"""The lines of addresses and numbers are well formed, and cut as a treebank would."""

from __future__ import annotations

import pytest

from benchmarks.lines import CUT, lines_of, score, segmenters_of, tokens_of

COUNTS = {"en": 230, "fr": 80, "de": 80, "el": 80, "tr": 80}


@pytest.mark.parametrize("language", COUNTS)
def test_lines_are_as_many_as_the_page_says_and_none_comes_twice(language: str) -> None:
    lines = lines_of(language)
    texts = [tokens_of(line)[0] for line in lines]
    assert len({*texts}) == len(texts) == COUNTS[language]
    assert not any(CUT in text or text != " ".join(text.split()) for text in texts)


def test_a_token_ends_at_a_space_and_at_a_broken_bar() -> None:
    text, places = tokens_of(["(¦a.org¦)", "x¦."])
    assert text == "(a.org) x."
    assert {text[a:b] for a, b in places} == {"(", "a.org", ")", "x", "."}


def test_the_bundled_model_cuts_nearly_all_english_lines_right() -> None:
    before, after = (score(one, "en") for one in segmenters_of("en"))
    assert before[0] < 195
    assert after[0] >= 220 and after[1] == 230
