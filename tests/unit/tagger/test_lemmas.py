"""Lemmas of words that nobody writes: long ones cost no more time and memory than their length."""

from __future__ import annotations

import itertools
import time
import tracemalloc
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp.tagger.model.lemmas import KnownLemmas
from perceptron_nlp.text.script_making import make_script
from perceptron_nlp.text.scripts import Script, parse_script


def test_what_long_words_share_within_is_not_searched_for() -> None:
    form, lemma = "q" + "a" * 100, "a" * 100
    assert make_script(form[:50], lemma[:49]).drop_front == 1
    assert make_script(form, lemma).literal == lemma
    assert make_script(lemma + "s", lemma).drop_back == 1


def test_long_lemmas_take_no_memory_beyond_their_length() -> None:
    known = KnownLemmas("", ["l,0,,1,", "l,0,,0,"], {"a" * 5_000 + "\tX": 0, "word\tX": 0})
    tracemalloc.start()
    try:
        found = known.column(["words", "a" * 5_000 + "s"], ["X", "X"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == ("u0", "u0")
    assert peak < 1 << 20


def test_long_words_are_not_remembered(pipeline: pn.Tagger) -> None:
    pipeline.tag_sents([["Le", "chat"]], columns=pipeline.columns)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for i in range(40):
            pipeline.tag_sents([[str(i) + "a" * 100_000]], columns=pipeline.columns)
        held = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert held < 1 << 20


LETTERS = st.text("aeáxk", max_size=3)
SCRIPTS = st.builds(
    Script,
    st.just("l"),
    st.integers(0, 2),
    LETTERS,
    st.integers(0, 2),
    LETTERS,
    st.sampled_from([None, 0, 1, 2]),
    st.none(),
).filter(lambda one: one.acute is None or "á" not in one.front + one.back)
"""Accents that are set do not stand beside others: training makes no such script."""


@given(
    scripts=st.lists(SCRIPTS, max_size=12),
    lemmas=st.lists(st.text("aeáxk", min_size=1, max_size=6), max_size=12),
    word=st.text("aeáxk", min_size=1, max_size=6),
)
def test_the_scripts_that_lead_to_known_lemmas_are_those_that_make_one(
    scripts: list[Script], lemmas: list[str], word: str
) -> None:
    labels = list(dict.fromkeys(map(str, scripts)))
    made = [parse_script(label).apply(word) for label in labels]
    numbers = [f"u{n}" for n, lemma in enumerate(made) if lemma in lemmas]
    known = KnownLemmas("", labels, {f"{lemma}\tX": 0 for lemma in lemmas})
    assert known.column([word], ["X"]) == ("|".join(numbers[:8]) or "_",)


def codes(n: int, letters: str = "bcdfghjkmn") -> list[str]:
    return ["".join(own) for own in itertools.islice(itertools.product(letters, repeat=5), n)]


def test_scripts_times_lemmas_are_not_gone_over() -> None:
    own = codes(5_000)
    known = KnownLemmas("", [f"l,1,{code},0," for code in own], {f"{c}at\tX": 0 for c in own})
    begin = time.process_time()
    assert known.column(["sat"], ["X"]) == ("|".join(f"u{n}" for n in range(8)),)
    assert time.process_time() - begin < 2


def test_scripts_that_do_not_apply_are_tried_in_order_without_a_search_for_each(
    tmp_path: Path,
) -> None:
    path = tmp_path / "long.conllu"
    path.write_text(
        "".join(
            f"1\tqqqqqqqqqa\t{code}a\tX\t_\t_\t_\t_\t_\t_\n\n" for code in codes(2_500, "bcdfgh")
        ),
        "utf-8",
    )
    tagger = pn.train(path, column="all", preset="fast", epochs=1)
    text = "\n\n".join(codes(200, "xyzw"))
    tagger.tag_text("xx")
    begin = time.process_time()
    sentences = tagger.tag_text(text)
    assert time.process_time() - begin < 1
    assert sentences[0][0].lemma == "xxxxx"
