"""One model of several columns: each is as if it had been learned alone, and they agree."""

from __future__ import annotations

import copy
import io
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.tensors import read_tensors

import perceptron_nlp as pn
from perceptron_nlp.formats import write_tensors

COLUMNS = ("upos", "xpos", "feats")
NOUNS = {"lupo": "Nom", "lupu": "Gen", "kato": "Nom", "katu": "Gen"}


def rows() -> list[pn.Sentence]:
    made = []
    for number in range(24):
        noun = list(NOUNS)[number % 4]
        case = f"Case={NOUNS[noun]}|Number=Sing"
        words = ["la", "bel", noun, "."][number % 3 != 0 :]
        made.append(
            pn.Sentence(
                words,
                {
                    "upos": ["DET", "ADJ", "NOUN", "PUNCT"][-len(words) :],
                    "xpos": ["D", "J" if number % 2 else "JJ", "N", "."][-len(words) :],
                    "feats": ["_", case, case, "_"][-len(words) :],
                },
            )
        )
    return made


ROWS = rows()
SEVERAL = pn.train(ROWS, column=COLUMNS, epochs=3)
ALONE = {name: pn.train(ROWS, column=name, epochs=3) for name in COLUMNS}


def test_each_column_has_the_weights_that_it_has_alone() -> None:
    assert SEVERAL.columns == COLUMNS and SEVERAL.column == "upos"
    for name, part in SEVERAL.by_column.items():
        assert part.columns == (name,) and part.to_bytes() == ALONE[name].to_bytes()
    joined = pn.Tagger.joined(ALONE.values())
    assert read_tensors(joined.to_bytes(), "a")[0].keys() | {"agreement.rows"} == {
        *read_tensors(SEVERAL.to_bytes(), "b")[0]
    }


@given(st.lists(st.sampled_from(["la", "bel", "lupo", "katu", ".", "new"]), max_size=6))
def test_each_column_by_itself_is_tagged_as_alone(words: list[str]) -> None:
    alone = {name: tagger.tag(words) for name, tagger in ALONE.items()}
    assert {name: part.tag(words) for name, part in SEVERAL.by_column.items()} == alone
    assert pn.Tagger.joined(ALONE.values()).tag(words, columns=COLUMNS) == alone
    assert SEVERAL.tag(words) == alone["upos"]
    assert list(SEVERAL.tag(words, columns=SEVERAL.columns)) == list(COLUMNS)
    for name in COLUMNS:
        assert SEVERAL.tag_sents([words], columns=[name]) == {name: [alone[name]]}


@pytest.mark.parametrize("column", ["upos,xpos,feats", "upos, xpos, feats", list(COLUMNS)])
def test_names_may_be_parted_by_commas(column: Any) -> None:
    assert pn.train(ROWS, column=column, epochs=3).to_bytes() == SEVERAL.to_bytes()


def test_a_tagger_of_several_columns_survives_files_copies_and_pickles(tmp_path: Path) -> None:
    SEVERAL.save(tmp_path / "m.model")
    for again in (
        pn.load(tmp_path / "m.model"),
        pickle.loads(pickle.dumps(SEVERAL)),
        copy.deepcopy(SEVERAL),
    ):
        assert again.to_bytes() == SEVERAL.to_bytes()
        assert again.tag(["la", "lupo"], columns=again.columns) == SEVERAL.tag(
            ["la", "lupo"], columns=SEVERAL.columns
        )
    assert "upos, xpos, feats" in repr(SEVERAL)


def test_a_model_of_one_column_is_written_as_ever() -> None:
    assert "more" not in read_tensors(ALONE["upos"].to_bytes(), "model")[1]
    assert ALONE["upos"].tag(["la"], columns=ALONE["upos"].columns) == {"upos": ["DET"]}
    assert pn.train(ROWS, column=["upos"], epochs=3).to_bytes() == ALONE["upos"].to_bytes()


def test_every_column_is_evaluated_as_the_columns_are_tagged_together() -> None:
    found = SEVERAL.evaluate_columns(ROWS)
    given = SEVERAL.tag_sents(ROWS, columns=SEVERAL.columns)
    for name, result in found.items():
        pairs = [
            (own, right)
            for labels, row in zip(given[name], ROWS, strict=True)
            for own, right in zip(labels, row.column(name), strict=True)
        ]
        assert result.correct == sum(own == right for own, right in pairs)
        alone = ALONE[name].evaluate(ROWS).to_dict()
        by_name = SEVERAL.evaluate(ROWS, column=name).to_dict()
        assert by_name.pop("notes") == [
            f"whose labels: column {name} by itself, as tag --column {name} writes it"
        ]
        assert by_name == alone


CONLLU = "".join(
    "".join(
        f"{i}\t{word}\t_\t{row.column('upos')[i - 1]}\t{row.column('xpos')[i - 1]}"
        f"\t{row.column('feats')[i - 1]}\t_\t_\t_\t_\n"
        for i, word in enumerate(row.words, 1)
    )
    + "\n"
    for row in ROWS
)


def test_a_stream_is_read_once_for_all_columns() -> None:
    corpus = pn.open_corpus(io.BytesIO(CONLLU.encode()), format="conllu")
    assert pn.train(corpus, column="4,5,feats", epochs=3).to_bytes() == SEVERAL.to_bytes()


def test_whole_sentences_are_filled_as_bytes_in_every_column() -> None:
    empty = "\n".join(
        "\t".join(line.split("\t")[:3] + ["_"] * 7) if line else "" for line in CONLLU.split("\n")
    )
    corpus = pn.open_corpus(io.BytesIO(empty.encode()), format="conllu")
    fill = SEVERAL.labelers.filler(corpus)
    assert fill is not None
    done = fill(corpus.take_blocks(1 << 20))
    sentences = pn.open_corpus(io.BytesIO(empty.encode()), format="conllu")
    assert done is not None and done.decode() == "".join(
        sentences.rewrite(s, SEVERAL.tag(list(s.words), columns=SEVERAL.columns)) for s in sentences
    )


def test_a_column_that_is_learnt_is_no_evidence_for_another(tmp_path: Path) -> None:
    path = tmp_path / "a.columns"
    path.write_text("Dogs x NNS B-NP\nbark y VBP B-VP\n\n", "utf-8")
    tagger = pn.train(
        path, fields=["form", "given", "xpos", "chunk"], column="xpos,chunk", epochs=1
    )
    assert [part.model.feature_columns for part in tagger.by_column.values()] == [("given",)] * 2


@pytest.mark.parametrize(
    ("column", "error", "message"),
    [
        ("upos,upos", pn.ArgumentError, "column: 'upos' is named twice"),
        ("upos,", pn.ArgumentError, "column: it is empty"),
        ("", pn.ArgumentError, "column: it is empty"),
        ([], pn.ArgumentError, "column: it is empty"),
        (["upos", 5], pn.ArgumentTypeError, "column: a name is a str, not int"),
        (b"upos", pn.ArgumentTypeError, "column: a str is needed, or a list of them, not bytes"),
        ("upos,form", pn.ArgumentError, "column: form is given, not learned"),
        ("upos,nothing", pn.FormatError, "no column 'nothing'; there are: form, upos, xpos, feats"),
    ],
)
def test_columns_that_cannot_be_learnt_are_named(
    column: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        pn.train(ROWS, column=column, epochs=1)
    assert message in str(caught.value)


def test_a_checkpoint_of_each_column_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "state"

    def stop(report: pn.EpochReport) -> None:
        if (report.column, report.epoch) == ("xpos", 2):
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        pn.train(ROWS, column=COLUMNS, epochs=3, checkpoint=path, callback=stop)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["state", "state.2"]
    seen: list[tuple[str, int]] = []
    again = pn.train(
        ROWS,
        column=COLUMNS,
        epochs=3,
        checkpoint=path,
        resume=True,
        callback=lambda report: seen.append((report.column, report.epoch)),
    )
    assert again.to_bytes() == SEVERAL.to_bytes()
    assert seen == [("xpos", 3), *[("feats", n) for n in (1, 2, 3)]]


def changed(more: Any) -> bytes:
    tensors, metadata = read_tensors(SEVERAL.to_bytes(), "model")
    return write_tensors(tensors, {**metadata, "more": json.dumps(more)})


MORE = json.loads(read_tensors(SEVERAL.to_bytes(), "model")[1]["more"])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (3, "more is not a JSON list"),
        ([3], "more is not a JSON object"),
        ([{}], "'model'"),
        ([{"model": [], "record": {}}], "model is not a JSON object"),
        ([{**MORE[0], "record": None}], "record is not a JSON object"),
        ([*MORE, MORE[0]], "6.labels: missing"),
        ([MORE[1], MORE[0]], "do not divide the rows"),
        ([{**MORE[0], "model": {**MORE[0]["model"], "column": "upos"}}], "'upos' is named twice"),
        ([{**MORE[0], "model": {**MORE[0]["model"], "scale": 0}}], "scale: not a positive number"),
    ],
)
def test_a_damaged_description_of_a_further_column_is_refused(more: Any, message: str) -> None:
    with pytest.raises(pn.ModelError) as caught:
        pn.Tagger.from_bytes(changed(more))
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_arrays_of_a_further_column_are_checked_like_those_of_the_first() -> None:
    tensors, metadata = read_tensors(SEVERAL.to_bytes(), "model")
    weights = tensors["2.weights"].copy()
    weights[0] = 0
    with pytest.raises(pn.ModelError, match=r"2\.weights: some are 0"):
        pn.Tagger.from_bytes(write_tensors({**tensors, "2.weights": weights}, metadata))


def test_a_column_of_several_is_compared_as_alone() -> None:
    worse = pn.train(ROWS[:3], column="feats", epochs=1)
    found = pn.compare(SEVERAL, worse, ROWS, column="feats")
    told = found.to_dict()
    assert told.pop("notes") == ["A: column feats by itself, as tag --column feats writes it"]
    assert told == pn.compare(ALONE["feats"], worse, ROWS).to_dict()


def test_taggers_of_one_column_join_into_one_that_labels_as_each_does(
    small: list[tuple[list[str], list[str]]],
) -> None:
    parts = [pn.train(small, column=name, epochs=1, seed=seed) for seed, name in enumerate("ab")]
    whole = pn.Tagger.joined(parts)
    assert whole.columns == ("a", "b")
    for words, _ in small:
        assert whole.tag(words, columns=whole.columns) == {
            part.column: part.tag(words) for part in parts
        }
    assert pn.Tagger.from_bytes(whole.to_bytes()).columns == ("a", "b")
    with pytest.raises(pn.ArgumentError, match="column: 'a' is named twice"):
        pn.Tagger.joined([whole, parts[0]])
    with pytest.raises(pn.ArgumentError, match="taggers: there is none"):
        pn.Tagger.joined([])
    for wrong in (None, "a", [parts[0], 3]):
        with pytest.raises(pn.ArgumentTypeError, match="taggers: a list of taggers is needed, not"):
            pn.Tagger.joined(wrong)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("upos", "columns: a list of names is needed, not str"),
        (3, "columns: a list of names is needed, not int"),
        ([], "columns: none is named; there are upos, xpos"),
        (["pos"], "columns: 'pos' is not one of upos, xpos"),
    ],
)
def test_columns_that_are_none_of_the_tagger_are_refused(columns: Any, message: str) -> None:
    sentence = pn.Sentence(["a", "b"], {"upos": ["X", "Y"], "xpos": ["A", "B"]})
    tagger = pn.train([sentence], column=("upos", "xpos"), epochs=1)
    for call in (
        lambda: tagger.tag_sents([["a"]], columns=columns),
        lambda: tagger.tag_arrays(b"a", [0, 1], [0, 1], columns=columns).labels,
        lambda: tagger.tag_arrays(["a"], columns=columns),
        lambda: tagger.tag_text("a", columns=columns),
    ):
        with pytest.raises((pn.ArgumentError, pn.ArgumentTypeError), match=message):
            call()
