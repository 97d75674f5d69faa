"""Compressed models keep to their size, tag like what they were made from, and load like it."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.tensors import read_tensors

import perceptron_nlp as pn
from benchmarks.trust import samples
from perceptron_nlp._checks import parse_size
from perceptron_nlp.features.templatefile import preset
from perceptron_nlp.formats import write_tensors
from perceptron_nlp.tagger.model.file import model_to_bytes
from perceptron_nlp.tagger.model.model import TaggerModel, joined
from perceptron_nlp.tagger.sources import Source
from perceptron_nlp.tagger.train import compress
from perceptron_nlp.tagger.train.compress import LEAST_BYTES, STEPS, in_bytes
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.learners import TemplateLearner
from perceptron_nlp.tagger.train.levels import features_in
from perceptron_nlp.tagger.train.options import LearningOptions
from perceptron_nlp.tagger.train.packing import reduced

Labeled = list[tuple[list[str], list[str]]]
WORDS = ["the", "old", "man", "boats", "Zoë", "run", "runs", "."]


def trained(sentences: Labeled, **options: Any) -> pn.Tagger:
    return pn.train(sentences, **{"epochs": 3, **options})


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from(WORDS), st.sampled_from("ABCD")), min_size=1, max_size=6
        ),
        min_size=2,
        max_size=8,
    ),
    st.floats(0, 1),
    st.sampled_from([None, 10]),
)
def test_a_compressed_model_is_within_its_size_and_comes_back_the_same(
    sentences: list[list[tuple[str, str]]], part: float, table_bits: int | None
) -> None:
    tagger = trained(sentences, table_bits=table_bits)
    whole = len(tagger.to_bytes())
    size = int(whole * part) + 1
    try:
        smaller = tagger.compress(size, force=True)
    except pn.ArgumentError as error:
        assert "the least that it can do with is " in str(error)
        return
    data = smaller.to_bytes()
    assert len(data) <= size
    again = pn.Tagger.from_bytes(data)
    assert again.to_bytes() == data
    texts = [[word for word, _ in sentence] for sentence in sentences]
    assert again.tag_sents(texts) == smaller.tag_sents(texts)
    assert np.array_equal(again.scores(texts[0]), smaller.scores(texts[0]))


@pytest.mark.parametrize("part", [0.5, 0.7, 0.9])
def test_few_models_are_written_to_find_as_many_rows_as_fit(
    monkeypatch: pytest.MonkeyPatch, part: float
) -> None:
    model = pn.train(samples.DEV, epochs=1).model
    sizes: list[int] = []

    def written(one: TaggerModel) -> bytes:
        data = model_to_bytes(one)
        sizes.append(len(data))
        return data

    monkeypatch.setattr(compress, "model_to_bytes", written)
    size = int(len(model_to_bytes(compress.in_bytes(model))) * part)
    found = compress.compress_model(model, size)
    # Two models as they are, and those of all and of the fewest rows. Halving the shares would take
    # as many more as these have bits.
    assert len(sizes) - 4 < compress.FINEST_SHARE.bit_length() - 1
    share = found.weights.n_rows / model.weights.n_rows
    forms = compress._Forms(model, size, sizes[0], None, False)
    assert forms.bytes_of(share, 127) <= size < forms.bytes_of(1.01 * share, 127)


def test_columns_of_which_one_is_compressed_load_together(
    tagger: pn.Tagger, small: Labeled
) -> None:
    other = pn.train([pn.Sentence(w, {"xpos": t}) for w, t in small], column="xpos", epochs=3)
    both = pn.Tagger(
        joined([tagger.compress(len(tagger.to_bytes()) // 2, force=True).model, other.model])
    )
    again = pn.Tagger.from_bytes(both.to_bytes())
    assert again.to_bytes() == both.to_bytes()
    texts = [words for words, _ in small]
    assert again.by_column["xpos"].tag_sents(texts) == other.tag_sents(texts)


def test_a_size_that_the_model_has_already_changes_nothing(tagger: pn.Tagger) -> None:
    whole = len(tagger.to_bytes())
    assert tagger.compress(whole, force=True) is tagger
    assert tagger.compress("1GB", dev=[(["a"], [tagger.labels[0]])]) is tagger


@pytest.mark.parametrize("with_dev", [False, True])
def test_the_least_size_that_a_message_names_is_possible(tagger: pn.Tagger, with_dev: bool) -> None:
    dev = [(["a"], [tagger.labels[0]])] if with_dev else None
    with pytest.raises(pn.ArgumentError) as caught:
        tagger.compress(100, dev=dev, force=True)
    least = int(str(caught.value).rpartition(" ")[2].replace(",", ""))
    assert len(tagger.compress(least, dev=dev, force=True).to_bytes()) <= least
    with pytest.raises(pn.ArgumentError, match="too few for this model"):
        tagger.compress(least - 1, dev=dev, force=True)


@pytest.fixture(scope="module")
def english() -> pn.Tagger:
    """The tagger of parts of speech of the bundled model."""
    return pn.load("en").by_column["upos"]


def _least(message: str) -> int:
    return int(message.partition("; ")[2].partition(" are the least")[0].replace(",", ""))


def test_without_dev_a_size_that_costs_too_much_is_refused_with_the_least_that_holds(
    english: pn.Tagger,
) -> None:
    whole = len(english.to_bytes())
    with pytest.raises(
        pn.ArgumentError, match=r"cost [0-9.]+ points of upos; .* force it"
    ) as raised:
        english.compress(whole // 3)
    least = _least(str(raised.value))
    assert whole // 3 < least < whole
    held = english.compress(least)
    before, after = held.model.record["compressed"]["scores"]
    assert len(held.to_bytes()) <= least and before == 1.0 and after >= 0.98
    forced = english.compress(whole // 3, force=True)
    assert forced.model.record["compressed"]["scores"] == [None, None]


def test_without_dev_labels_are_compared_on_raw_text(tagger: pn.Tagger, small: Labeled) -> None:
    raw = [words for words, _ in small]
    with pytest.raises(pn.ArgumentError, match="points of ") as raised:
        tagger.compress(3_500, raw=raw)
    held = tagger.compress(_least(str(raised.value)), raw=raw)
    same = [
        a == b for words in raw for a, b in zip(held.tag(words), tagger.tag(words), strict=True)
    ]
    assert sum(same) >= 0.98 * len(same)


def test_bundled_sentences_serve_models_of_their_language_alone(tagger: pn.Tagger) -> None:
    with pytest.raises(pn.ArgumentError, match=r"of whose words the model knows "):
        tagger.compress(len(tagger.to_bytes()) // 2)
    looks = pn.train([(["a", "b"], ["X", "Y"])], templates=["word[0]"], epochs=1)
    with pytest.raises(pn.FormatError, match="no sentence in the raw text"):
        looks.compress(1, raw=[])
    for how in ({"dev": [(["a"], ["X"])]}, {"force": True}):
        with pytest.raises(pn.ArgumentError, match="raw: is for a comparison without dev"):
            looks.compress(1, raw=[["a"]], **how)  # type: ignore[arg-type]


def test_a_format_that_is_none_is_refused_without_a_dev_set_too(tagger: pn.Tagger) -> None:
    with pytest.raises(pn.ArgumentError, match="format: 'conlu' is not one of"):
        tagger.compress("1GB", format="conlu", force=True)


def test_packing_alone_keeps_every_label(small: Labeled) -> None:
    tagger = trained(small)
    dev = [(words, tagger.tag(words)) for words, _ in small]
    smaller = tagger.compress(len(tagger.to_bytes()) - 1, dev=dev)
    assert smaller.model.record["compressed"]["scores"] == [1.0, 1.0]
    assert smaller.model.packed and not tagger.model.packed
    assert [smaller.tag(words) for words, _ in small] == [labels for _, labels in dev]


@pytest.mark.parametrize("more", [(), ("lower[-2] shape4[-3]",)])
def test_a_packed_model_is_tagged_with_by_the_same_fast_ways(
    small: Labeled, more: tuple[str, ...]
) -> None:
    templates = [*map(str, preset("default")), *more]
    whole = pn.train(small, templates=templates, update="perceptron", epochs=2)
    packed = whole.compress(len(whole.to_bytes()) // 2, force=True)
    for own in (whole, packed):
        decoder = own._labeler.decoder
        assert (decoder.narrow, decoder.has_filters, decoder.has_halves) == (True, True, True)
    words = [words for words, _ in small]
    assert packed.tag_sents(words) == pn.Tagger.from_bytes(packed.to_bytes()).tag_sents(words)


def test_the_bundled_model_is_tagged_with_by_all_fast_ways() -> None:
    for name, own in pn.load("en").by_column.items():
        decoder = own._labeler.decoder
        assert name == "lemma" or decoder.has_halves
        assert decoder.narrow == (name in ("upos", "xpos"))
    assert pn.load("en").by_column["upos"]._labeler.decoder.has_filters


def test_weights_of_components_keep_as_many_steps_as_those_of_labels() -> None:
    """However many of them a score sums: it has 32 bits."""
    values = ["|".join(f"{k}={k.lower()}{i % 7}" for k in ascii_uppercase) for i in range(140)]
    rows = [([f"w{i}x{i % 7}", f"y{i % 5}z{i}"], [values[i], values[-i]]) for i in range(140)]
    model = trained(rows, templates="default").model
    assert model.parts is not None
    assert np.abs(in_bytes(model).weights.weights).max() > STEPS[0] // 2


def test_training_with_a_size_compresses_and_tells_what_it_cost(small: Labeled) -> None:
    whole = len(trained(small, dev=small).to_bytes())
    tagger = trained(small, dev=iter(small), size=whole // 2)
    assert len(tagger.to_bytes()) <= whole // 2
    found = tagger.model.record["compressed"]
    assert found["size"] == whole // 2 and found["bytes_before"] == whole
    assert found["rows_before"] >= tagger.model.weights.n_rows
    assert found["scores"][1] == pytest.approx(tagger.evaluate(small).accuracy, abs=1e-6)


def test_equal_models_compress_to_equal_bytes(small: Labeled) -> None:
    one, two = (trained(small).compress(9_000, force=True).to_bytes() for _ in range(2))
    assert one == two


def test_a_compressed_model_can_be_compressed_again(small: Labeled) -> None:
    tagger = trained(small)
    half = tagger.compress(len(tagger.to_bytes()) // 2, force=True)
    third = half.compress(len(half.to_bytes()) * 3 // 4, force=True)
    assert len(third.to_bytes()) < len(half.to_bytes())
    assert third.tag(["The", "man"]) == pickle.loads(pickle.dumps(third)).tag(["The", "man"])


def columns() -> list[pn.Sentence]:
    return [
        pn.Sentence(
            ["the", "man", "ran"],
            {
                "upos": ["DET", "NOUN", "VERB"],
                "feats": ["_", "Number=Sing", "Tense=Past"],
                "chunk": ["B-NP", "I-NP", "B-VP"],
            },
        ),
        pn.Sentence(
            ["men", "run"],
            {"upos": ["NOUN", "VERB"], "feats": ["Number=Plur", "_"], "chunk": ["B-NP", "B-VP"]},
        ),
    ]


@pytest.mark.parametrize(
    "options",
    [
        {"column": "upos,feats,chunk"},
        {"column": "feats", "two_passes": True},
        {"column": "chunk", "beam": 4},
        {"column": "upos", "table_bits": 12},
        {"column": "upos", "lexicon": {"man": ["NOUN", "VERB"]}},
    ],
)
def test_every_kind_of_model_can_be_compressed(options: dict[str, Any]) -> None:
    tagger = pn.train(columns() * 4, epochs=3, **options)
    dev = columns()
    smaller = tagger.compress(len(tagger.to_bytes()) - 1, dev=dev)
    assert smaller.model.packed
    again = pn.Tagger.from_bytes(smaller.to_bytes())
    assert again.columns == tagger.columns
    for name in again.columns:
        assert again.evaluate(dev, column=name).accuracy >= 0.5
        assert again.by_column[name].tag(dev[0]) == smaller.by_column[name].tag(dev[0])


def shape(tokens: Any, i: int) -> list[str]:
    return [f"w={tokens[i]}", f"p={tokens[i - 1] if i else ''}"]


def test_a_model_of_a_feature_function_can_be_compressed(small: Labeled) -> None:
    tagger = trained(small, features=shape)
    dev = [(words, tagger.tag(words)) for words, _ in small]
    smaller = tagger.compress(len(tagger.to_bytes()) - 1, dev=dev)
    assert smaller.evaluate(dev).accuracy == 1


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [
        ("400kB", 400_000),
        ("1.1MB", 1_100_000),
        (" 2 MiB", 2 << 20),
        ("7", 7),
        (12, 12),
        ("1.5 gb", 1_500_000_000),
        ("16KIB", 16 << 10),
    ],
)
def test_sizes_are_read_as_people_write_them(text: str | int, n_bytes: int) -> None:
    assert parse_size(text) == n_bytes


@pytest.mark.parametrize("size", ["", "kB", "4 furlongs", "-3kB", "0", 0, -1, "1e6", "nan", "0.1B"])
def test_what_is_no_size_is_refused(size: str | int, tagger: pn.Tagger) -> None:
    with pytest.raises(pn.ArgumentError, match=r"^size: "):
        tagger.compress(size, force=True)


@pytest.mark.parametrize("size", [True, 4.5, None, b"4kB"])
def test_a_size_of_another_type_is_refused(size: Any, tagger: pn.Tagger) -> None:
    with pytest.raises(pn.ArgumentTypeError, match=r"^size: an int or a str is needed"):
        tagger.compress(size, force=True)


@pytest.mark.parametrize("size", ["wide", 1, "0.9kB"])
def test_a_wrong_size_is_known_before_training(size: str | int) -> None:
    with pytest.raises(pn.ArgumentError, match=r"^size: "):
        pn.train(iter(()), size=size)


def test_training_into_a_size_needs_a_dev_set_to_see_what_it_costs() -> None:
    with pytest.raises(pn.ArgumentError, match=r"^size: what it costs is measured on dev"):
        pn.train(iter(()), size="400kB")


def test_no_model_is_smaller_than_the_least_size_of_all() -> None:
    tiny = pn.train([(["a", "b"], ["X", "Y"])], templates=["bias"], epochs=1)
    with pytest.raises(pn.ArgumentError, match="too few for this model"):
        tiny.compress(LEAST_BYTES, force=True)


@pytest.fixture(scope="module")
def several() -> tuple[pn.Tagger, list[pn.Sentence]]:
    """A tagger of two columns, one of which is easy, and a dev set."""
    text = [
        pn.Sentence(one.words, {"upos": one.column("upos"), "easy": [w[-1] for w in one.words]})
        for one in pn.read_conllu(samples.DEV)
    ]
    train, dev = text[: len(text) * 2 // 3], text[len(text) * 2 // 3 :]
    return pn.train(train, dev=dev, column="upos,easy", epochs=2, threads=1), dev


@pytest.mark.parametrize("part", [0.1, 0.3, 0.6])
def test_of_several_columns_each_keeps_what_is_worth_its_bytes(
    several: tuple[pn.Tagger, list[pn.Sentence]], part: float
) -> None:
    tagger, dev = several
    size = int(len(tagger.to_bytes()) * part)
    smaller = tagger.compress(size, dev=dev)
    data = smaller.to_bytes()
    assert len(data) <= size and pn.Tagger.from_bytes(data).to_bytes() == data
    record = smaller.model.record["compressed"]
    levels = record["columns"]
    assert {*levels} == {"upos", "easy"} and record["scores"][1] <= record["scores"][0] + 0.01
    for part_model in smaller.model.parts_by_column:
        share, _ = levels[part_model.column]
        whole = tagger.by_column[part_model.column].model.weights.n_rows
        assert part_model.weights.n_rows <= share * whole + 1
    # The same of each column is no better.
    even = compress.compress_model(tagger.model, size)
    held = pn.Tagger(even).evaluate_columns(dev)
    found = smaller.evaluate_columns(dev)
    assert (
        sum(one.accuracy for one in found.values())
        >= sum(one.accuracy for one in held.values()) - 0.01
    )


def test_a_tagger_is_compressed_like_another(several: tuple[pn.Tagger, list[pn.Sentence]]) -> None:
    tagger, dev = several
    size = len(tagger.to_bytes()) // 4
    small = tagger.compress(size, dev=dev)
    like = tagger.compress(size, like=small)
    assert len(like.to_bytes()) <= size
    own, others = (one.model.record["compressed"]["columns"] for one in (like, small))
    assert [steps for _, steps in own.values()] == [steps for _, steps in others.values()]
    for one, other in zip(like.model.parts_by_column, small.model.parts_by_column, strict=True):
        assert one.calibration == other.calibration


def test_compressing_by_what_was_learned_warns_once(
    several: tuple[pn.Tagger, list[pn.Sentence]], caplog: pytest.LogCaptureFixture
) -> None:
    _, dev = several
    tagger = pn.train(dev, column="upos,easy", epochs=2, threads=1)
    caplog.clear()
    tagger.compress(len(tagger.to_bytes()) // 4, dev=dev)
    assert len(caplog.messages) == 1 and "in the training text" in caplog.text


def test_what_has_not_learned_the_dev_set_is_given_out(
    several: tuple[pn.Tagger, list[pn.Sentence]],
) -> None:
    _, dev = several
    train, dev = dev[::2], dev[1::2]
    options: dict[str, Any] = {"column": "upos,easy", "epochs": 2, "threads": 1}
    first: list[pn.Tagger] = []
    both = pn.train(train, dev=dev, learn_dev=True, before_dev=first.append, **options)
    assert first[0].to_bytes() == pn.train(train, dev=dev, **options).to_bytes()
    assert both.to_bytes() == pn.train(train, dev=dev, learn_dev=True, **options).to_bytes()


def test_a_model_of_a_size_is_learned_again_with_the_features_that_fit(
    several: tuple[pn.Tagger, list[pn.Sentence]],
) -> None:
    _, dev = several
    train, dev = dev[::2], dev[1::2]
    options: dict[str, Any] = {"column": "upos,easy", "epochs": 4, "threads": 1, "dev": dev}
    whole = pn.train(train, **options)
    size = len(whole.to_bytes()) // 6
    seen: list[pn.Tagger] = []
    again = pn.train(iter(train), size=size, before_size=seen.append, **options)
    assert [one.to_bytes() for one in seen] == [whole.to_bytes()]
    assert again.to_bytes() == pn.train(train, size=size, **options).to_bytes()
    pruned = whole.compress(size, dev=dev)
    assert len(again.to_bytes()) <= size
    assert again.to_bytes() != pruned.to_bytes()
    notes = [note for part in again.model.parts_by_column for note in part.record["choices"]]
    assert [note for note in notes if note.startswith("features: learned again with the ")]
    before, after = (one.model.record["compressed"]["scores"][1] for one in (pruned, again))
    assert after > before


@pytest.mark.parametrize("column", ["upos,easy", "upos"])
def test_a_model_of_a_size_that_learns_dev_gives_out_what_has_not(
    several: tuple[pn.Tagger, list[pn.Sentence]], column: str, caplog: pytest.LogCaptureFixture
) -> None:
    _, dev = several
    train, dev = dev[::2], dev[1::2]
    options: dict[str, Any] = {"column": column, "epochs": 2, "threads": 1, "dev": dev}
    size = len(pn.train(train, **options).to_bytes()) // 3
    held: list[pn.Tagger] = []
    whole: list[pn.Tagger] = []
    caplog.clear()
    small = pn.train(
        train,
        learn_dev=True,
        size=size,
        before_dev=held.append,
        before_size=whole.append,
        **options,
    )
    # Nothing is measured on a dev set that has been learned, and no warning comes twice.
    assert not [said for said in caplog.messages if "in the training text" in said]
    assert len({*caplog.messages}) == len(caplog.messages)
    assert held[0].to_bytes() == pn.train(train, **options).to_bytes()
    assert whole[0].to_bytes() == pn.train(train, learn_dev=True, **options).to_bytes()
    assert len(held) == 2 and len(held[1].to_bytes()) <= size
    assert len(small.to_bytes()) <= size
    for one, like in zip(small.model.parts_by_column, held[1].model.parts_by_column, strict=True):
        assert one.calibration == like.calibration


def test_a_model_that_fits_its_size_is_the_one_of_no_size(
    several: tuple[pn.Tagger, list[pn.Sentence]],
) -> None:
    _, dev = several
    options: dict[str, Any] = {"column": "upos,easy", "epochs": 2, "threads": 1, "dev": dev[1::2]}
    seen: list[pn.Tagger] = []
    fits = pn.train(dev[::2], size="10MB", before_size=seen.append, **options)
    assert fits.to_bytes() == pn.train(dev[::2], **options).to_bytes() and not seen


def test_learning_with_kept_features_finds_no_others(small: Labeled) -> None:
    whole = trained(small).model
    text = Examples.read(Source(small, "train"), "upos", ())
    keys, groups = features_in(whole.weights, reduced(whole.weights, 0.3, 31))
    options = LearningOptions(epochs=3)
    learner = TemplateLearner(text, whole.templates, options, {}, None, (keys, groups))
    learner.table.clear()
    learner.learn(np.arange(len(small)))
    found = learner.average()
    assert len(found.keys) > 0 and {*found.keys.tolist()} <= {*keys.tolist()}


@pytest.fixture
def packed(small: Labeled) -> bytes:
    tagger = trained(small)
    return tagger.compress(len(tagger.to_bytes()) // 2, force=True).to_bytes()


def test_every_truncation_and_every_changed_byte_of_a_packed_file_is_a_model_error(
    packed: bytes,
) -> None:
    places = range(0, len(packed), 37)
    for place in places:
        changed = bytearray(packed)
        changed[place] ^= 1 << place % 8
        for data in (packed[:place], bytes(changed)):
            with pytest.raises(pn.ModelError):
                pn.Tagger.from_bytes(data)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_packed_file_with_a_right_checksum_and_changed_bits_loads_or_is_a_model_error(
    data: st.DataObject,
) -> None:
    tensors, metadata = read_tensors(SIGNED, "a.model")
    name = data.draw(st.sampled_from(sorted(tensors)))
    array = tensors[name].copy()
    place = data.draw(st.integers(0, array.nbytes - 1))
    array.view(np.uint8)[place] ^= np.uint8(1 << data.draw(st.integers(0, 7)))
    try:
        tagger = pn.Tagger.from_bytes(write_tensors({**tensors, name: array}, metadata))
    except pn.ModelError:
        return
    assert len(tagger.tag(["the", "man"])) == 2


def packed_small() -> bytes:
    tagger = trained([(["the", "man"], ["D", "N"]), (["men", "run"], ["N", "V"])])
    return tagger.compress(len(tagger.to_bytes()) - 1, force=True).to_bytes()


SIGNED = packed_small()


@pytest.mark.parametrize("packed_how", ["[]", "not JSON", None, '{"0.keys": 3}', '{"no": {}}'])
def test_a_lie_about_what_is_packed_is_a_model_error(packed_how: str | None) -> None:
    tensors, metadata = read_tensors(SIGNED, "a.model")
    del metadata["packed"]
    if packed_how is not None:
        metadata["packed"] = packed_how
    with pytest.raises(pn.ModelError):
        pn.Tagger.from_bytes(write_tensors(tensors, metadata))


def test_what_plain_models_are_written_as_has_not_changed(tagger: pn.Tagger) -> None:
    _, metadata = read_tensors(tagger.to_bytes(), "a.model")
    assert metadata["format_version"] == "1" and "packed" not in metadata
    _, metadata = read_tensors(SIGNED, "a.model")
    assert metadata["format_version"] == "2"
    assert json.loads(metadata["packed"])["0.keys"]["numbers"] == "ascending"


@pytest.mark.parametrize("data", [SIGNED, None])
def test_a_mapped_model_tags_as_one_that_was_read(
    data: bytes | None, tagger: pn.Tagger, tmp_path: Path
) -> None:
    path = tmp_path / "a.model"
    path.write_bytes(data or tagger.to_bytes())
    read, mapped = pn.load(path), pn.load(path, mmap=True)
    assert mapped.to_bytes() == read.to_bytes() == path.read_bytes()
    assert mapped.tag(["The", "man", "ran"]) == read.tag(["The", "man", "ran"])
    # Replacing the file, as save does, leaves what is mapped alone.
    read.save(path)
    assert mapped.tag(["The"]) == read.tag(["The"])


def test_a_damaged_file_is_refused_when_mapped_too(tagger: pn.Tagger, tmp_path: Path) -> None:
    path = tmp_path / "a.model"
    data = bytearray(tagger.to_bytes())
    data[-1] ^= 1
    for content in (bytes(data), tagger.to_bytes()[:-1], b""):
        path.write_bytes(content)
        with pytest.raises(pn.ModelError, match=r"a\.model"):
            pn.load(path, mmap=True)
    with pytest.raises(pn.FileError, match="there is no such file"):
        pn.load(tmp_path / "none.model", mmap=True)
    with pytest.raises(pn.ArgumentTypeError, match="mmap: a bool is needed"):
        pn.load(path, mmap="yes")  # type: ignore[arg-type]


def test_a_compressed_pipeline_loads_and_cuts_text_as_before(pipeline: pn.Tagger) -> None:
    size = len(pipeline.to_bytes()) * 4 // 5
    smaller = pn.Tagger.from_bytes(pipeline.compress(size, force=True).to_bytes())
    text = "Elle voit le bois du chat. Zoé dort, dit-il."
    assert len(smaller.to_bytes()) <= size
    assert [s.forms for s in smaller.tag_text(text)] == [s.forms for s in pipeline.tag_text(text)]
