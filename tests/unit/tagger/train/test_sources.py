"""What can be trained on and evaluated with, and what is said of what cannot."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import perceptron_nlp as pn

Labeled = list[tuple[list[str], list[str]]]


def conllu(small: Labeled) -> str:
    blocks = [
        "".join(
            f"{i}\t{w}\t_\t{t}\t{t.lower()}x\t_\t_\t_\t_\t_\n"
            for i, (w, t) in enumerate(zip(words, tags, strict=True), 1)
        )
        for words, tags in small
    ]
    return "\n".join(blocks) + "\n"


def tagged(small: Labeled) -> str:
    return "".join(
        " ".join(f"{w}/{t}" for w, t in zip(words, tags, strict=True)) + "\n"
        for words, tags in small
    )


def columns(small: Labeled) -> str:
    return (
        "\n".join(
            "".join(f"{w} {w[:1]} {t}\n" for w, t in zip(words, tags, strict=True))
            for words, tags in small
        )
        + "\n"
    )


def weights_of(tagger: pn.Tagger) -> bytes:
    return tagger.model.weights.weights.tobytes() + tagger.model.weights.keys.tobytes()


@pytest.fixture
def expected(small: Labeled) -> bytes:
    return weights_of(pn.train(small, epochs=2))


@pytest.mark.parametrize(
    "give",
    [
        lambda small, folder: [list(zip(words, tags, strict=True)) for words, tags in small],
        lambda small, folder: iter([(tuple(words), tuple(tags)) for words, tags in small]),
        lambda small, folder: [pn.Sentence(words, {"tag": tags}) for words, tags in small],
        lambda small, folder: [pn.Sentence(words, {"upos": tags}) for words, tags in small],
        lambda small, folder: [*small, ([], [])],
        lambda small, folder: str(folder / "a.conllu"),
        lambda small, folder: folder / "a.tagged",
        lambda small, folder: [folder / "a.conllu"],
        lambda small, folder: pn.open_corpus(folder / "a.tagged"),
        lambda small, folder: pn.read_conllu(folder / "a.conllu"),
    ],
    ids=[
        "pairs",
        "tuples",
        "sentences",
        "upos",
        "empty",
        "path",
        "Path",
        "paths",
        "corpus",
        "read",
    ],
)
def test_the_same_sentences_from_anywhere_give_the_same_weights(
    give: Callable[..., Any], small: Labeled, expected: bytes, tmp_path: Path
) -> None:
    (tmp_path / "a.conllu").write_text(conllu(small), "utf-8")
    (tmp_path / "a.tagged").write_text(tagged(small), "utf-8")
    assert weights_of(pn.train(give(small, tmp_path), epochs=2)) == expected


def test_several_files_are_one_after_the_other(
    small: Labeled, expected: bytes, tmp_path: Path
) -> None:
    (tmp_path / "a.conllu").write_text(conllu(small[:5]), "utf-8")
    (tmp_path / "b.conllu").write_text(conllu(small[5:]), "utf-8")
    assert (
        weights_of(pn.train([tmp_path / "a.conllu", tmp_path / "b.conllu"], epochs=2)) == expected
    )


def test_another_column_is_learnt_on_request(small: Labeled, tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(conllu(small), "utf-8")
    tagger = pn.train(tmp_path / "a.conllu", column="xpos", epochs=2)
    assert tagger.column == "xpos" and all(label.endswith("x") for label in tagger.labels)


def test_named_columns_besides_words_and_labels_are_evidence(
    small: Labeled, tmp_path: Path
) -> None:
    path = tmp_path / "a.columns"
    path.write_text(columns(small), "utf-8")
    tagger = pn.train(path, fields=["form", "initial", "pos"], column="pos", epochs=2)
    assert tagger.model.feature_columns == ("initial",)
    words = ["The", "old", "man"]
    sentence = pn.Sentence(words, {"initial": ["T", "o", "m"]})
    assert len(tagger.tag(sentence)) == 3
    with pytest.raises(
        pn.ArgumentError,
        match=r"sentences\[0\]: this model looks at the columns"
        r" initial in addition to the words",
    ):
        tagger.tag(words)
    result = tagger.evaluate(path, fields=["form", "initial", "pos"])
    assert result.tokens == sum(len(words) for words, _ in small)
    own = pn.train(
        path,
        fields=["form", "initial", "pos"],
        column="pos",
        epochs=2,
        templates=["column:initial[0]", "word[0]"],
    )
    assert own.model.feature_columns == ("initial",)
    without = pn.train(
        path, fields=["form", "initial", "pos"], column="pos", epochs=2, templates=["word[0]"]
    )
    assert without.model.feature_columns == () and without.tag(words)


def test_words_without_a_label_are_not_learnt_from_but_counted(small: Labeled) -> None:
    some = [
        pn.Sentence(words, {"upos": [t if i % 3 else "_" for i, t in enumerate(tags)]})
        for words, tags in small
    ]
    seen: list[pn.EpochReport] = []
    tagger = pn.train(some, epochs=1, callback=seen.append)
    labeled = sum(t != "_" for s in some for t in s.columns["upos"])
    assert "_" not in tagger.labels
    assert seen[0].examples == labeled
    assert tagger.model.record["train"]["labeled"] == labeled
    assert tagger.model.record["train"]["tokens"] == sum(map(len, some))
    result = tagger.evaluate(some)
    assert (result.tokens, result.unlabeled) == (labeled, sum(map(len, some)) - labeled)


def test_an_underscore_is_a_label_where_it_is_a_value(small: Labeled) -> None:
    feats = [pn.Sentence(words, {"feats": ["_"] * len(words)}) for words, _ in small]
    assert pn.train(feats, column="feats", epochs=1).labels == ("_",)
    assert pn.train([(["a", "b"], ["_", "X"])], epochs=1).labels == ("X", "_")


def test_one_label_is_enough(small: Labeled) -> None:
    tagger = pn.train([(words, ["X"] * len(words)) for words, _ in small], epochs=2)
    assert tagger.tag(["a", "b"]) == ["X", "X"]
    assert tagger.model.weights.n_cells == 0
    assert pn.Tagger.from_bytes(tagger.to_bytes()).tag(["a"]) == ["X"]


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (3, pn.ArgumentTypeError, "train: a path or sentences are needed, not int"),
        (b"path", pn.ArgumentTypeError, "sentences are needed, not bytes; accepted are paths"),
        (None, pn.ArgumentTypeError, "train: a path or sentences are needed, not NoneType"),
        (io.BytesIO(), pn.ArgumentTypeError, "train: is a stream; give perceptron_nlp.open_corpus"),
        ([3], pn.ArgumentTypeError, "train[0]: a Sentence, (words, labels) or a list of"),
        (
            [(["a"], ["X"]), ["a", "b"]],
            pn.ArgumentTypeError,
            "train[1]: a Sentence, (words, labels)",
        ),
        ([(["a", "b"], ["X"])], pn.ArgumentError, "train[0]: columns['tag']: 1 values for 2 words"),
        ([(["a", 2], ["X", "Y"])], pn.ArgumentTypeError, "train[0]: words[1]: a str is needed"),
        ([(["a"], [None])], pn.FormatError, "train: no word has a label in column 'tag'"),
        ([(["a"], [2])], pn.ArgumentTypeError, "a str is needed, not int"),
        ([(["a"], 2)], pn.ArgumentTypeError, "a list of str is needed, not int"),
        ([[10**5000]], pn.ArgumentTypeError, "a list of (word, label) is needed, not 'list'"),
        ([(["\ud800"], ["X"])], pn.ArgumentError, "holds a lone surrogate"),
        ([(["a"], ["X\tY"])], pn.ArgumentError, "train: column tag: labels: 'X\\tY' holds a tab"),
        ([(["a"], [""])], pn.ArgumentError, "train: column tag: labels: a label is empty"),
        ([], pn.FormatError, "train: no word has a label in column 'tag'"),
        ([([], [])], pn.FormatError, "train: no word has a label in column 'tag'"),
        ([pn.Sentence(["a"], {"upos": ["_"]})], pn.FormatError, "train: no word has a label in"),
        (
            [pn.Sentence(["a"], {"x": ["y"]}), pn.Sentence(["a"], {"z": ["y"]})],
            pn.FormatError,
            "no column 'x'; there are: form, z",
        ),
        ("no/such/file.conllu", pn.FileError, "no/such/file.conllu"),
        (
            {"words": [["a"]], "tags": [["X"]]},
            pn.ArgumentTypeError,
            "train: a path or sentences are needed, not dict; name its columns",
        ),
        ({"a.conllu", "b.conllu"}, pn.ArgumentTypeError, "train: a path or sentences are needed"),
        ([{"ab": 1, "cd": 2}], pn.ArgumentTypeError, "train[0]: a Sentence, (words, labels) or"),
        ([["He", "is"]], pn.ArgumentTypeError, "train[0]: a Sentence, (words, labels) or a list"),
    ],
)
def test_data_that_cannot_be_used_is_named(data: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        pn.train(data, epochs=1)
    assert message in str(caught.value)
    assert isinstance(caught.value, pn.PerceptronNLPError)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"epochs": 0}, pn.ArgumentError, "epochs: 0 is not between 1 and 10,000"),
        ({"epochs": 1.5}, pn.ArgumentTypeError, "epochs: an int is needed, not float"),
        ({"epochs": True}, pn.ArgumentTypeError, "epochs: an int is needed, not bool"),
        ({"seed": -1}, pn.ArgumentError, "seed: -1 is not between 0 and"),
        ({"seed": 2**64}, pn.ArgumentError, "seed: 18446744073709551616 is not between 0 and"),
        (
            {"update": "percepton"},
            pn.ArgumentError,
            "update: 'percepton' is not one of perceptron,",
        ),
        ({"update": "percepton"}, pn.ArgumentError, "did you mean perceptron?"),
        ({"update": 1}, pn.ArgumentTypeError, "update: a str is needed, not int"),
        ({"table_bits": 31}, pn.ArgumentError, "table_bits: 31 is not between 1 and 30"),
        ({"min_count": 0}, pn.ArgumentError, "min_count: 0 is not between 1 and"),
        ({"patience": 0}, pn.ArgumentError, "patience: 0 is not between 1 and"),
        ({"right_to_left": 1}, pn.ArgumentTypeError, "right_to_left: a bool is needed, not int"),
        ({"dictionary": 20}, pn.ArgumentTypeError, "dictionary: a pair (count, share) is needed"),
        ({"dictionary": (0, 0.9)}, pn.ArgumentError, "dictionary's count: 0 is not between"),
        ({"dictionary": (5, 0.5)}, pn.ArgumentError, "dictionary's share: 0.5 is not above 0.5"),
        ({"dictionary": (5, "x")}, pn.ArgumentError, "dictionary's share: 'x' is not above 0.5"),
        (
            {"epoch": 3},
            pn.ArgumentTypeError,
            "epoch: there is no such option; did you mean epochs?",
        ),
        ({"verbosity": 3}, pn.ArgumentTypeError, "verbosity: there is no such option; there are"),
        ({"resume": True}, pn.ArgumentError, "resume: there is no checkpoint; name its file"),
        (
            {"templates": "lower[0]"},
            pn.TemplateError,
            "'lower[0]'; templates of your own are given as a",
        ),
        ({"templates": "defalt"}, pn.TemplateError, "no template list is called 'defalt'"),
        ({"templates": ["wrod"]}, pn.TemplateError, "'wrod': no view is called 'wrod'"),
        ({"templates": []}, pn.TemplateError, "templates: 1 to 1000 templates are needed, not 0"),
        ({"templates": ["column:tag[0]"]}, pn.ArgumentError, "templates: they look at column tag"),
        ({"templates": ["column:zz[0]"]}, pn.FormatError, "no column 'zz'; there are: form, tag"),
        ({"column": "xpos", "dev": "none"}, pn.FileError, "none"),
    ],
)
def test_an_option_that_cannot_be_used_is_named(
    options: dict[str, Any], error: type[Exception], message: str, small: Labeled
) -> None:
    with pytest.raises(error) as caught:
        pn.train(small, **options)
    assert message in str(caught.value)
    assert isinstance(caught.value, pn.PerceptronNLPError)


def test_a_column_file_names_its_bad_line(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text("1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n2\tb\t_\tX\n\n", "utf-8")
    with pytest.raises(pn.FormatError) as caught:
        pn.train(path)
    assert str(caught.value).startswith(f"{path}:2: ")


@pytest.mark.parametrize(
    ("tokens", "error", "message"),
    [
        ("The man", pn.ArgumentTypeError, "tokens: a list of words is needed, not str"),
        (b"The", pn.ArgumentTypeError, "tokens: a list of words is needed, not bytes"),
        (None, pn.ArgumentTypeError, "tokens: a list of words is needed, not NoneType"),
        (["a", None], pn.ArgumentTypeError, "sentences[0][1]: a str is needed, not NoneType"),
        (["a", b"b"], pn.ArgumentTypeError, "sentences[0][1]: a str is needed, not bytes"),
    ],
)
def test_what_cannot_be_tagged_is_named(
    tokens: Any, error: type[Exception], message: str, tagger: pn.Tagger
) -> None:
    for act in (tagger.tag, tagger.scores):
        with pytest.raises(error) as caught:
            act(tokens)
        assert message in str(caught.value)


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ("text", "sentences: a list of sentences is needed, not str"),
        (3, "sentences: a list of sentences is needed, not int"),
        (
            [["a"], "b c"],
            "sentences[1]: a list of words is needed, not one str; split the text first",
        ),
        ([["a"], 3], "sentences[1]: a list of words is needed, not int"),
        ([["a"], ["b", 3]], "sentences[1][1]: a str is needed, not int"),
    ],
)
def test_what_cannot_be_tagged_among_many_is_numbered(
    sentences: Any, message: str, tagger: pn.Tagger
) -> None:
    with pytest.raises(pn.ArgumentTypeError) as caught:
        tagger.tag_sents(sentences)
    assert message in str(caught.value)


@pytest.mark.parametrize("threads", [0, -1, 1025, 1.0, True])
def test_the_number_of_threads_is_checked(threads: Any, tagger: pn.Tagger) -> None:
    with pytest.raises((pn.ArgumentError, pn.ArgumentTypeError), match="threads: "):
        tagger.tag_sents([["a"]], threads=threads)


def test_lone_surrogates_and_odd_strings_are_tagged_like_any_word(tagger: pn.Tagger) -> None:
    words = ["\ud800", "", "\x00", "a" * 100_000, "\u200b", "🏴\U000e0067"]
    assert len(tagger.tag(words)) == len(words)
    assert tagger.tag([]) == [] and tagger.tag_sents([]) == [] and tagger.tag_sents([[]]) == [[]]


@pytest.mark.parametrize(
    "convert",
    [
        list,
        tuple,
        iter,
        lambda lists: [tuple(items) for items in lists],
        lambda lists: [np.array(items) for items in lists],
        lambda lists: np.array([np.array(items, object) for items in lists], object),
        lambda lists: pytest.importorskip("pandas").Series(lists),
        lambda lists: pytest.importorskip("polars").Series(lists),
    ],
    ids=["lists", "tuple", "iterator", "tuples", "arrays", "array", "pandas", "polars"],
)
def test_lists_of_words_and_lists_of_labels_are_trained_on_and_evaluated(
    convert: Callable[[list[list[str]]], Any], small: Labeled, expected: bytes
) -> None:
    words, labels = [words for words, _ in small], [labels for _, labels in small]
    tagger = pn.train(convert(words), convert(labels), epochs=2)
    assert weights_of(tagger) == expected
    assert weights_of(pn.train(words, labels=labels, epochs=2)) == expected
    assert tagger.evaluate(convert(words), convert(labels)) == tagger.evaluate(small)


@pytest.mark.parametrize(
    ("words", "labels", "error", "message"),
    [
        ([["a"], ["b", "c"]], [["X"], ["Y"]], pn.ArgumentError, "labels[1]: 1 labels for 2 words"),
        ([["a"]], [["X"], ["Y"]], pn.ArgumentError, "labels: 2 lists of labels for 1 sentences"),
        (["a b"], [["X"]], pn.ArgumentTypeError, "[0]: a list of words, without labels, is needed"),
        ([pn.Sentence(["a"])], ["X"], pn.ArgumentTypeError, "not perceptron_nlp's Sentence"),
        ([["a"]], ["X"], pn.ArgumentTypeError, "labels[0]: a list of labels is needed, not str"),
        ([["a"]], 3, pn.ArgumentTypeError, "labels: a list of labels for each sentence is needed"),
        ([["a"]], {"y": 1}, pn.ArgumentTypeError, "is needed, not dict; name its columns"),
        ("a.conllu", [["X"]], pn.ArgumentTypeError, "labels: are for lists of words;"),
        ([["a"]], [[2]], pn.ArgumentTypeError, "a str is needed, not int"),
    ],
)
def test_lists_that_do_not_fit_together_are_named(
    words: Any, labels: Any, error: type[Exception], message: str, tagger: pn.Tagger
) -> None:
    for call in (lambda: pn.train(words, labels), lambda: tagger.evaluate(words, labels)):
        with pytest.raises(error) as caught:
            call()
        assert message in str(caught.value)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_table_is_no_list_of_paths(library: str, small: Labeled, tagger: pn.Tagger) -> None:
    frame = pytest.importorskip(library).DataFrame(
        {"words": [words for words, _ in small], "tags": [labels for _, labels in small]}
    )
    for call in (pn.train, tagger.evaluate, tagger.calibrate):
        with pytest.raises(pn.ArgumentTypeError, match=f"not {library}'s DataFrame; name its col"):
            call(frame)
    assert pn.train(frame["words"], frame["tags"], epochs=1).columns == ("tag",)
