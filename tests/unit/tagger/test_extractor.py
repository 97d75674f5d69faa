"""A person's own feature function is equal in rights to templates."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest

import perceptron_nlp as pn

Labelled = list[tuple[list[str], list[str]]]


def word_and_past(tokens: pn.Sentence, i: int, history: list[str]) -> list[str]:
    """What the templates of the same name below look at."""
    before = history[-1] if history else "none"
    two_before = history[-2] if len(history) > 1 else "none"
    after = tokens[i + 1] if i + 1 < len(tokens) else "end"
    return [
        f"w {tokens[i]}",
        f"s {tokens[i].lower()[-2:]}",
        f"t {before}",
        f"tt {before} {two_before}",
        f"tw {before} {tokens[i].lower()}",
        f"n {after}",
        "bias",
    ]


WORD_AND_PAST = [
    "word[0]",
    "lower.suffix2[0]",
    "tag[-1]",
    "tag[-1] tag[-2]",
    "tag[-1] lower[0]",
    "word[1]",
    "bias",
]


def weighted(tokens: pn.Sentence, i: int, history: list[str]) -> dict[str, float]:
    return {f"w {tokens[i]}": 2.0, "length": len(tokens[i]) / 8, "bias": 0.5}


def with_columns(tokens: pn.Sentence, i: int, history: list[str]) -> Iterable[str]:
    return (f"{name} {values[i]}" for name, values in tokens.columns.items() if name != "tag")


class Caller:
    """A function may be any callable."""

    def __call__(self, tokens: pn.Sentence, i: int, history: list[str]) -> list[str]:
        return [tokens[i]]


@pytest.mark.parametrize("right_to_left", [False, True])
@pytest.mark.parametrize("update", ["perceptron", "margin", "passive-aggressive", "adagrad"])
def test_a_function_with_the_features_of_templates_learns_and_tags_the_same(
    small: Labelled, update: str, right_to_left: bool
) -> None:
    if right_to_left:
        templates = [t.replace("word[1]", "word[-1]") for t in WORD_AND_PAST]

        def function(tokens: pn.Sentence, i: int, history: list[str]) -> list[str]:
            found = word_and_past(tokens, i, history)
            return [*found[:5], f"n {tokens[i - 1] if i else 'end'}", "bias"]
    else:
        templates, function = WORD_AND_PAST, word_and_past
    options = {"epochs": 4, "seed": 2, "update": update, "right_to_left": right_to_left}
    by_function = pn.train(small, features=function, **options)
    by_templates = pn.train(small, templates=templates, **options)
    counts = [
        [epoch["mistakes"] for epoch in tagger.model.record["epochs"]]
        for tagger in (by_function, by_templates)
    ]
    assert counts[0] == counts[1] and counts[0][0] > counts[0][-1]
    sentences = [words for words, _ in small] + [["The", "young", "stop", "."], [], ["x"]]
    assert by_function.tag_sents(sentences) == by_templates.tag_sents(sentences)
    for words in sentences:
        found, expected = by_function.scores(words), by_templates.scores(words)
        assert found == pytest.approx(expected, abs=1e-2)


def test_min_count_and_the_dictionary_serve_functions_too(small: Labelled) -> None:
    plain = pn.train(small, features=word_and_past, epochs=3)
    fewer = pn.train(small, features=word_and_past, epochs=3, min_count=2, dictionary=(4, 0.95))
    assert fewer.model.weights.n_rows < plain.model.weights.n_rows
    assert fewer.model.dictionary["."] == "PUNCT"
    assert fewer.tag([".", "."]) == ["PUNCT", "PUNCT"]
    assert not fewer.scores(["."]).any()


def test_a_tagger_with_a_function_is_saved_and_loaded_by_passing_it_again(
    small: Labelled, tmp_path: Path
) -> None:
    tagger = pn.train(small, features=word_and_past, epochs=3)
    path = tmp_path / "model"
    tagger.save(path)
    loaded = pn.load(path, features=word_and_past)
    assert loaded.to_bytes() == tagger.to_bytes()
    assert loaded.model.extractor == f"{__name__}.word_and_past"
    for words, _ in small:
        assert loaded.tag(words) == tagger.tag(words)
    assert pickle.loads(pickle.dumps(loaded)).tag(["The"]) == tagger.tag(["The"])


def test_loading_without_the_function_names_it(small: Labelled, tmp_path: Path) -> None:
    path = tmp_path / "model"
    pn.train(small, features=word_and_past, epochs=1).save(path)
    with pytest.raises(pn.ModelError) as caught:
        pn.load(path)
    assert str(caught.value) == (
        f"{path}: this model was trained with the feature function {__name__}.word_and_past;"
        " give it to load: pn.load(path, features=your_function)"
    )


def test_a_model_with_templates_takes_no_function(tagger: pn.Tagger, tmp_path: Path) -> None:
    tagger.save(tmp_path / "model")
    with pytest.raises(pn.ArgumentError, match="features: this model was trained with templates"):
        pn.load(tmp_path / "model", features=word_and_past)


def test_features_may_have_values(small: Labelled) -> None:
    tagger = pn.train(small, features=weighted, epochs=8)
    right = sum(
        a == b for words, tags in small for a, b in zip(tags, tagger.tag(words), strict=True)
    )
    assert right > 0.8 * sum(len(words) for words, _ in small)
    same = pn.train(
        small, features=lambda *a: {k: float(v) for k, v in weighted(*a).items()}, epochs=8
    )
    assert (same.model.weights.weights == tagger.model.weights.weights).all()
    ones = pn.train(small, features=lambda *a: dict.fromkeys(weighted(*a), 1), epochs=8)
    names = pn.train(small, features=lambda *a: list(weighted(*a)), epochs=8)
    assert (ones.model.weights.weights == names.model.weights.weights).all()


def test_a_function_sees_the_columns_of_a_sentence() -> None:
    sentences = [pn.Sentence(["w"] * 3, {"hint": list("abc"), "tag": ["A", "B", "C"]})] * 5
    tagger = pn.train(sentences, column="tag", features=with_columns, epochs=5)
    assert tagger.tag(pn.Sentence(["x"] * 3, {"hint": list("cab")})) == ["C", "A", "B"]


def test_any_callable_will_do_and_one_without_features_too(small: Labelled) -> None:
    assert pn.train(small, features=Caller(), epochs=1).model.extractor == f"{__name__}.Caller"
    nothing = pn.train(small, features=lambda tokens, i, history: [], epochs=1)
    assert nothing.tag(["a", "b"]) == [nothing.labels[0]] * 2


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda t, i, h: "word", pn.ArgumentTypeError, "returned str; strings, or a mapping"),
        (lambda t, i, h: None, pn.ArgumentTypeError, "returned NoneType; strings, or a mapping"),
        (
            lambda t, i, h: [1],
            pn.ArgumentTypeError,
            "returned a feature of type int; a str is needed",
        ),
        (lambda t, i, h: {"a": "b"}, pn.ArgumentTypeError, "returned a value that is no number"),
        (lambda t, i, h: {"a": 1.0, "b": float("nan")}, pn.ArgumentError, "the value of 'b' from"),
        (lambda t, i, h: {"a": float("inf")}, pn.ArgumentError, "the value of 'a' from"),
        (
            lambda t, i, h: {"a": 10**400},
            pn.ArgumentError,
            "a number that is too large for a float",
        ),
        (lambda t, i, h: {"a": 1e308}, pn.ArgumentError, "weights have grown past all bounds"),
    ],
)
def test_a_function_that_returns_something_else_is_told(
    small: Labelled,
    function: Callable[..., Mapping[str, float]],
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error, match=r"features|values") as caught:
        pn.train(small, features=function, epochs=10, update="perceptron")
    assert message in str(caught.value)


def test_sums_of_squares_that_overflow_are_refused_where_they_would_be_kept(
    small: Labelled,
) -> None:
    def far(tokens: pn.Sentence, i: int, history: list[str]) -> Mapping[str, float]:
        return {tokens[i]: 1e160}

    assert pn.train(small, features=far, epochs=1).tag(["The"])
    with pytest.raises(pn.ArgumentError, match="values: weights have grown past all bounds"):
        pn.train(small, features=far, epochs=1, resumable=True)


def test_a_set_of_features_is_learned_in_their_order_not_in_that_of_its_hashes(
    small: Labelled,
) -> None:
    def as_set(tokens: pn.Sentence, i: int, history: list[str]) -> Iterable[str]:
        return {*word_and_past(tokens, i, history), *tokens[i], f"{i}", "always"}

    def in_order(tokens: pn.Sentence, i: int, history: list[str]) -> Iterable[str]:
        return sorted(as_set(tokens, i, history))

    one, other = (
        pn.train(small, features=function, epochs=3, update="perceptron", rate=0.37)
        for function in (as_set, in_order)
    )
    assert one.model.weights.weights.tobytes() == other.model.weights.weights.tobytes()


def test_what_is_no_function_is_refused(small: Labelled) -> None:
    with pytest.raises(pn.ArgumentTypeError, match="features: a function is needed, not str"):
        pn.train(small, features="word")  # type: ignore[arg-type]


def test_an_error_inside_the_function_comes_out_as_it_is(small: Labelled) -> None:
    def broken(tokens: pn.Sentence, i: int, history: list[str]) -> list[str]:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        pn.train(small, features=broken)
