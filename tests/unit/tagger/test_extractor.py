"""A person's own feature function makes a column, and everything goes on as with templates."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import perceptron_nlp as pn

Labeled = list[tuple[list[str], list[str]]]
PIECES = "column:features.word.pieces"


def word_and_next(tokens: pn.Sentence, i: int) -> list[str]:
    """What the templates of the same name below look at, but for the labels before."""
    after = tokens[i + 1] if i + 1 < len(tokens) else "end"
    return [f"w {tokens[i]}", f"s {tokens[i].lower()[-2:]}", f"n {after}", "bias"]


WORD_AND_NEXT = ["word[0]", "lower.suffix2[0]", "word[1]", "bias", "tag[-1]", "tag[-1] tag[-2]"]


def mapped(tokens: pn.Sentence, i: int) -> dict[str, str | bool]:
    return {"word": tokens[i], "first": i == 0, "title": tokens[i].istitle()}


def with_columns(tokens: pn.Sentence, i: int) -> Iterable[str]:
    return (f"{name} {values[i]}" for name, values in tokens.columns.items() if name != "tag")


class Caller:
    """A function may be any callable."""

    def __call__(self, tokens: pn.Sentence, i: int) -> list[str]:
        return [tokens[i]]


@pytest.mark.parametrize("right_to_left", [False, True])
@pytest.mark.parametrize("update", ["perceptron", "margin", "passive-aggressive", "adagrad"])
def test_a_function_with_the_features_of_templates_learns_and_tags_the_same(
    small: Labeled, update: str, right_to_left: bool
) -> None:
    if right_to_left:
        templates = [t.replace("word[1]", "word[-1]") for t in WORD_AND_NEXT]

        def function(tokens: pn.Sentence, i: int) -> list[str]:
            return [*word_and_next(tokens, i)[:2], f"n {tokens[i - 1] if i else 'end'}", "bias"]
    else:
        templates, function = WORD_AND_NEXT, word_and_next
    options = {"epochs": 4, "seed": 2, "update": update, "right_to_left": right_to_left}
    by_function = pn.train(small, features=function, **options)
    by_templates = pn.train(small, templates=templates, **options)
    counts = [
        [epoch["mistakes"] for epoch in tagger.model.record["epochs"]]
        for tagger in (by_function, by_templates)
    ]
    assert counts[0] == counts[1] and counts[0][0] > counts[0][-1]
    sentences = [words for words, _ in small] + [["The", "young", "stop", "."], [], ["x"]]
    # Templates see a mark that has no weights as one that has.
    seen_as = by_templates._labeler.decoder.seen_as
    sentences = [words for words in sentences if [*map(seen_as, words)] == words]
    assert len(sentences) > len(small) - 3
    assert by_function.tag_sents(sentences) == by_templates.tag_sents(sentences)
    for words in sentences:
        found, expected = by_function.scores(words), by_templates.scores(words)
        assert found == pytest.approx(expected, abs=1e-2)


def test_min_count_and_the_dictionary_serve_functions_too(small: Labeled) -> None:
    plain = pn.train(small, features=word_and_next, epochs=3)
    fewer = pn.train(small, features=word_and_next, epochs=3, min_count=2, dictionary=(4, 0.95))
    assert fewer.model.weights.n_rows < plain.model.weights.n_rows
    assert fewer.model.dictionary["."] == "PUNCT"
    assert fewer.tag([".", "."]) == ["PUNCT", "PUNCT"]


def test_a_tagger_with_a_function_is_saved_and_loaded_by_passing_it_again(
    small: Labeled, tmp_path: Path
) -> None:
    tagger = pn.train(small, features=word_and_next, epochs=3)
    path = tmp_path / "model"
    tagger.save(path)
    loaded = pn.load(path, features=word_and_next)
    assert loaded.to_bytes() == tagger.to_bytes()
    assert loaded.model.function.name == f"{__name__}.word_and_next"
    for words, _ in small:
        assert loaded.tag(words) == tagger.tag(words)
    assert pickle.loads(pickle.dumps(loaded)).tag(["The"]) == tagger.tag(["The"])


def test_loading_without_the_function_names_it(small: Labeled, tmp_path: Path) -> None:
    path = tmp_path / "model"
    pn.train(small, features=word_and_next, epochs=1).save(path)
    with pytest.raises(pn.ModelError) as caught:
        pn.load(path)
    assert str(caught.value) == (
        f"{path}: this model was trained with the feature function {__name__}.word_and_next;"
        " give it to load: pn.load(path, features=your_function)"
    )


def test_a_model_with_templates_takes_no_function(tagger: pn.Tagger, tmp_path: Path) -> None:
    tagger.save(tmp_path / "model")
    with pytest.raises(pn.ArgumentError, match="features: this model was trained with templates"):
        pn.load(tmp_path / "model", features=word_and_next)


def test_a_mapping_gives_strings_as_key_and_value_and_bools_by_their_key(small: Labeled) -> None:
    def as_list(tokens: pn.Sentence, i: int) -> list[str]:
        marks = ["first"] * (i == 0) + ["title"] * tokens[i].istitle()
        return [f"word={tokens[i]}", *marks]

    one, other = (pn.train(small, features=f, epochs=3) for f in (mapped, as_list))
    assert one.model.weights.weights.tobytes() == other.model.weights.weights.tobytes()
    assert one.model.weights.keys.tobytes() == other.model.weights.keys.tobytes()


@pytest.mark.parametrize(
    ("features", "same"),
    [
        (["a|b"], ["a", "b"]),
        (["a|b"], ["a\\pb"]),
        (["a\\", "b"], ["a|b"]),
        ([""], []),
        ([""], ["\\e"]),
        (["|"], ["", ""]),
    ],
)
def test_features_with_bars_and_without_letters_stay_distinct(
    features: list[str], same: list[str]
) -> None:
    """They tell two labels apart."""
    sentences = [(["x"], ["X"]), (["y"], ["Y"])] * 10
    tagger = pn.train(
        sentences,
        features=lambda tokens, i: features if tokens[i] == "y" else same,
        epochs=5,
        templates=[PIECES],
    )
    assert tagger.tag_sents([["x"], ["y"]]) == [["X"], ["Y"]]


def test_a_function_searches_with_a_beam_and_resumes_and_has_confidences(
    small: Labeled, tmp_path: Path
) -> None:
    tagger = pn.train(
        small, dev=small * 4, features=word_and_next, beam=4, epochs=3, resumable=True, runs=1
    )
    assert tagger.model.beam == 4
    words = small[0][0]
    assert all(0 < sure <= 1 for sure in tagger.confidences(words))
    assert pn.k_best(tagger, words, 3)[0][0] == tagger.tag(words)
    explained = tagger.explain(words)
    assert explained.labels == tagger.tag(words)
    assert any("w " in feature.text for feature in explained[0].features)
    more = tagger.resume(small, epochs=2)
    assert more.tag(words) == small[0][1]
    more.save(tmp_path / "model")
    again = pn.load(tmp_path / "model", features=word_and_next)
    assert again.tag(words) == more.tag(words)


def test_templates_may_stand_beside_the_function_and_must_look_at_it(small: Labeled) -> None:
    tagger = pn.train(small, features=mapped, templates=["lower[0]", PIECES], epochs=2)
    assert [str(template) for template in tagger.model.templates] == [
        "lower[0]",
        "column:features.word.pieces[0]",
    ]
    preset = pn.train(small, features=mapped, templates="fast", epochs=2)
    assert "column:features.word.pieces[0]" in map(str, preset.model.templates)
    with pytest.raises(pn.ArgumentError, match=r"add column:features.word.pieces\[0\], or leave"):
        pn.train(small, features=mapped, templates=["lower[0]"])


def test_running_text_and_several_columns_are_tagged_with_a_function(small: Labeled) -> None:
    text = [pn.Sentence(words, {"upos": tags, "xpos": tags}) for words, tags in small]
    tagger = pn.train(text, column="upos,xpos", features=word_and_next, epochs=3)
    (sentence,) = tagger.by_column["upos"].tag_text("The old man boards the ferry.")
    words = [word.form for word in sentence.words]
    assert [word.label for word in sentence.words] == tagger.tag(words)
    assert tagger.tag(words, columns=["upos"])["upos"] == tagger.tag(words)


def test_text_on_disk_gives_the_same_model(small: Labeled) -> None:
    with_limit = pn.train(small, features=word_and_next, epochs=2, max_memory="16GB")
    without = pn.train(small, features=word_and_next, epochs=2)
    assert with_limit.model.weights.weights.tobytes() == without.model.weights.weights.tobytes()


def test_a_function_sees_the_columns_of_a_sentence() -> None:
    sentences = [pn.Sentence(["w"] * 3, {"hint": list("abc"), "tag": ["A", "B", "C"]})] * 5
    tagger = pn.train(sentences, column="tag", features=with_columns, templates=[PIECES], epochs=5)
    assert tagger.tag(pn.Sentence(["x"] * 3, {"hint": list("cab")})) == ["C", "A", "B"]


def test_any_callable_will_do_and_one_without_features_too(small: Labeled) -> None:
    tagger = pn.train(small, features=Caller(), epochs=1)
    assert tagger.model.function.name == f"{__name__}.Caller"
    nothing = pn.train(small, features=lambda tokens, i: [], templates=[PIECES], epochs=1)
    assert nothing.tag(["a", "b"]) == [nothing.labels[0]] * 2


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda t, i: "word", pn.ArgumentTypeError, "returned str; strings, or a mapping"),
        (lambda t, i: None, pn.ArgumentTypeError, "returned NoneType; strings, or a mapping"),
        (lambda t, i: [1], pn.ArgumentTypeError, "returned a feature of type int; a str is needed"),
        (
            lambda t, i: {"a": 1.0},
            pn.ArgumentTypeError,
            "returned 'a' with a value of type float; a str or a bool is needed: put numbers into",
        ),
        (lambda t, i: {"a": None}, pn.ArgumentTypeError, "a value of type NoneType; a str or a"),
        (lambda t, i: ["\ud800"], pn.ArgumentError, "holds a lone surrogate, which is not text"),
        (lambda t, i, history: [], pn.ArgumentTypeError, "must take two arguments, (tokens, i)"),
        (lambda t: [], pn.ArgumentTypeError, "labels given before are templates, tag[-1] and"),
    ],
)
def test_a_function_that_returns_something_else_is_told(
    small: Labeled, function: Callable[..., Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match="features") as caught:
        pn.train(small, features=function, epochs=2)
    assert message in str(caught.value)


def test_a_set_of_features_is_learned_in_their_order_not_in_that_of_its_hashes(
    small: Labeled,
) -> None:
    def as_set(tokens: pn.Sentence, i: int) -> Iterable[str]:
        return {*word_and_next(tokens, i), *tokens[i], f"{i}", "always"}

    def in_order(tokens: pn.Sentence, i: int) -> Iterable[str]:
        return sorted(as_set(tokens, i))

    one, other = (
        pn.train(small, features=function, epochs=3, update="perceptron", rate=0.37)
        for function in (as_set, in_order)
    )
    assert one.model.weights.weights.tobytes() == other.model.weights.weights.tobytes()


def test_what_is_no_function_is_refused(small: Labeled) -> None:
    with pytest.raises(pn.ArgumentTypeError, match="features: a function is needed, not str"):
        pn.train(small, features="word")  # type: ignore[arg-type]


def test_an_error_inside_the_function_comes_out_as_it_is(small: Labeled) -> None:
    def broken(tokens: pn.Sentence, i: int) -> list[str]:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        pn.train(small, features=broken)
