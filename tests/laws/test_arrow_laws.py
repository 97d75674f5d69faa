"""Rows in any of Arrow's layouts get the labels that the same sentences get as lists."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perceptron_nlp as pn

pa = pytest.importorskip("pyarrow", reason="the extra arrow is not installed")
from perceptron_nlp.integrations.arrow import tag_arrow  # noqa: E402

Row = list[str] | None
WORD = st.sampled_from(["the", "old", "man", "Zoë", "1984", "", "a" * 13, "é" * 9]) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=6
)
ROWS = st.lists(st.none() | st.lists(WORD, max_size=5), max_size=8)
INNER = st.sampled_from(
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.uint16(), pa.large_string()),
    ]
)
OUTER = st.sampled_from([pa.list_, pa.large_list, pa.list_view, pa.large_list_view])
LISTS = {pa.list_: pa.ListArray, pa.large_list: pa.LargeListArray}
VIEWS = {pa.list_view: pa.ListViewArray, pa.large_list_view: pa.LargeListViewArray}
OTHER: list[Row] = [["other", "words"], None, ["here"]]


@st.composite
def laid_out(draw: st.DrawFn, rows: list[Row]) -> Any:
    """An array of the rows, in a layout of any kind."""
    inner, outer = draw(INNER), draw(OUTER)
    form = draw(st.sampled_from(["plain", "sliced", "hidden", "scattered", "encoded", "fixed"]))
    if form == "fixed":
        lengths = {len(row) for row in rows if row is not None}
        if len(lengths) == 1:
            return pa.array(rows, pa.list_(inner, lengths.pop()))
    if form == "hidden":
        return hidden(rows, inner, outer)
    if form == "scattered" and outer in VIEWS:
        return scattered(rows, inner, VIEWS[outer], draw(st.randoms(use_true_random=False)))
    if form == "encoded" and outer not in VIEWS:
        places = draw(st.permutations(range(len(rows))))
        return pa.DictionaryArray.from_arrays(
            pa.array([places.index(at) for at in range(len(rows))], pa.int32()),
            pa.array([rows[place] for place in places], outer(inner)),
        )
    if form == "sliced":
        return pa.array([*OTHER, *rows, *OTHER], outer(inner)).slice(len(OTHER), len(rows))
    return pa.array(rows, outer(inner))


def hidden(rows: list[Row], inner: Any, outer: Any) -> Any:
    """Null rows that have words all the same, even null ones."""
    shown = [["secret", None] if row is None else row for row in rows]
    words = pa.array([word for row in shown for word in row], inner)
    starts = [sum(map(len, shown[:at])) for at in range(len(shown) + 1)]
    mask = pa.array([row is None for row in rows], pa.bool_())
    if outer in LISTS:
        offsets = pa.array(starts, pa.int64() if outer is pa.large_list else pa.int32())
        return LISTS[outer].from_arrays(offsets, words, mask=mask)
    width = pa.int64() if outer is pa.large_list_view else pa.int32()
    return VIEWS[outer].from_arrays(
        pa.array(starts[:-1], width), pa.array(list(map(len, shown)), width), words, mask=mask
    )


def scattered(rows: list[Row], inner: Any, array_class: Any, rng: random.Random) -> Any:
    """Views whose words stand in another order, with gaps."""
    width = pa.int64() if array_class is pa.LargeListViewArray else pa.int32()
    order = list(range(len(rows)))
    rng.shuffle(order)
    words: list[str] = []
    offsets = [0] * len(rows)
    for at in order:
        words.append("gap")
        offsets[at] = len(words)
        words += rows[at] or []
    return array_class.from_arrays(
        pa.array(offsets, width),
        pa.array([len(row or []) for row in rows], width),
        pa.array(words, inner),
        mask=pa.array([row is None for row in rows], pa.bool_()),
    )


def expected(tagger: pn.Tagger, rows: list[Row]) -> list[list[str] | None]:
    labels = iter(tagger.tag_sents([row for row in rows if row is not None]))
    return [None if row is None else next(labels) for row in rows]


@pytest.mark.parametrize("inner", [pa.string(), pa.large_string(), pa.string_view()])
@pytest.mark.parametrize("outer", [pa.list_, pa.large_list])
def test_rows_of_a_dictionary_get_the_labels_of_lists(
    tagger: pn.Tagger, outer: Any, inner: Any
) -> None:
    rows = [["the", "old", "man"], [], ["the"], ["the", "old", "man"]]
    array = pa.DictionaryArray.from_arrays(
        pa.array([0, 2, 1, 0], pa.int32()),
        pa.array([["the", "old", "man"], ["the"], []], outer(inner)),
    )
    assert tag_arrow(tagger, array, dictionary=False).to_pylist() == expected(tagger, rows)


def test_rows_of_a_dictionary_of_list_views_are_refused(tagger: pn.Tagger) -> None:
    views = pa.array([["the"], []], pa.list_view(pa.string()))
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int32()), views)
    with pytest.raises(pn.ArgumentTypeError, match="data: rows are a dictionary of list views"):
        tag_arrow(tagger, array)


def test_rows_of_a_dictionary_of_fixed_width_get_the_labels_of_lists(tagger: pn.Tagger) -> None:
    rows = [["the", "man"], ["old", "men"], ["the", "man"]]
    array = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 0], pa.int32()), pa.array(rows[:2], pa.list_(pa.string_view(), 2))
    )
    assert tag_arrow(tagger, array, dictionary=False).to_pylist() == expected(tagger, rows)


@settings(max_examples=100)
@given(rows=ROWS, data=st.data())
def test_rows_get_the_labels_of_lists_whatever_the_layout(
    tagger: pn.Tagger, rows: list[Row], data: st.DataObject
) -> None:
    array = data.draw(laid_out(rows))
    found = tag_arrow(tagger, array, dictionary=data.draw(st.booleans()))
    found.validate(full=True)
    assert found.to_pylist() == expected(tagger, rows)


@settings(max_examples=30)
@given(rows=ROWS, data=st.data())
def test_chunks_and_streams_get_the_labels_of_the_whole(
    tagger: pn.Tagger, rows: list[Row], data: st.DataObject
) -> None:
    array = pa.array(rows, pa.list_(pa.string()))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=3)))
    chunks = [array[start:end] for start, end in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    found = tag_arrow(tagger, pa.chunked_array(chunks, array.type))
    assert found.to_pylist() == expected(tagger, rows)
    assert [len(chunk) for chunk in found.chunks] == list(map(len, chunks))
    table = pa.table({"words": pa.chunked_array(chunks, array.type)})
    assert tag_arrow(tagger, table)[tagger.column].to_pylist() == expected(tagger, rows)
    stream = tag_arrow(tagger, table.to_reader())
    assert stream.read_all()[tagger.column].to_pylist() == expected(tagger, rows)


def names(count: int, seed: int) -> list[tuple[list[str], list[str]]]:
    """Pairs of sentences: only the first says what kind of name the second has."""
    rng, text = random.Random(seed), []
    for number in range(count):
        kind, title = rng.choice([("PER", "Mr"), ("LOC", "near")])
        name = f"N{seed}x{number}"
        text += [
            ([title, name, "."], ["O", f"B-{kind}", "O"]),
            (["then", name, "!"], ["O", f"B-{kind}", "O"]),
        ]
    return text


@pytest.fixture(scope="module")
def nearby() -> pn.Tagger:
    """A tagger of spans that looks at two sentences on either side."""
    return pn.train(names(40, 1), epochs=3, window=2)


@settings(max_examples=25)
@given(data=st.data())
def test_a_model_that_looks_at_neighbours_sees_them_across_chunks_and_batches(
    nearby: pn.Tagger, data: st.DataObject
) -> None:
    rows: list[Row] = [words for words, _ in names(6, 2)]
    for at in data.draw(st.lists(st.integers(0, 12), max_size=3)):
        rows.insert(at, None)
    array = pa.array(rows)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=6)))
    chunks = [array[start:end] for start, end in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    whole = pa.chunked_array(chunks, array.type)
    assert nearby.window == 2
    assert tag_arrow(nearby, whole).to_pylist() == expected(nearby, rows)
    stream = tag_arrow(nearby, pa.table({"words": whole}).to_reader())
    assert stream.read_all()[nearby.column].to_pylist() == expected(nearby, rows)
