"""Columns tagged together give each token a combination of labels that training met."""

from __future__ import annotations

import io
import itertools
import random
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.agreement import agreed
from oracles.tensors import read_tensors

import perceptron_nlp as pn
from perceptron_nlp.formats import write_tensors
from perceptron_nlp.tagger.model import agreement
from perceptron_nlp.tagger.model.settled import Rule
from perceptron_nlp.tagger.tag.agreeing_columns import AgreeingColumns, Scored
from perceptron_nlp.tagger.train.learning import UPOS_WEIGHTS
from perceptron_nlp.tagger.train.settling import Chosen, columns_of, with_tables

COLUMNS = ("upos", "xpos", "feats")
UPOS, XPOS = ("A", "B", "C"), ("a", "b", "c", "d")
FEATS = ("_", "N=1", "N=2", "N=1|P=3", "N=2|P=3")
WORDS = [*"uvwxyz", "longer-than-eight", "Ünïcode", "été"]
Columns = Mapping[str, Sequence[Sequence[str]]]


def text(seed: int, n: int = 40, gaps: bool = False) -> list[pn.Sentence]:
    """Sentences in which words tell each column, but not all in the same way."""
    drawn = random.Random(seed)
    rows = []
    for _ in range(n):
        words = drawn.choices(WORDS, k=drawn.randint(1, 7))
        upos = [drawn.choice(UPOS) for _ in words]
        xpos = [drawn.choice(XPOS[UPOS.index(u) :][:2]) for u in upos]
        feats = [drawn.choice(FEATS[UPOS.index(u) :][:3]) for u in upos]
        if gaps:
            xpos = [drawn.choice([x, x, "_"]) for x in xpos]
        rows.append(pn.Sentence(words, {"upos": upos, "xpos": xpos, "feats": feats}))
    return rows


@cache
def tagger(seed: int, kind: str = "plain") -> pn.Tagger:
    options: dict[str, object] = {
        "plain": {"column": COLUMNS},
        "two": {"column": ["feats", "upos"]},
        "other order": {"column": ["xpos", "feats", "upos"]},
        "beam": {"column": COLUMNS, "beam": 3},
        "dictionary": {"column": COLUMNS, "dictionary": (2, 0.51)},
        "two passes": {"column": COLUMNS, "two_passes": True},
        "weighted": {"column": COLUMNS},
        "weighted, two passes": {"column": COLUMNS, "two_passes": True},
        "settled": {"column": COLUMNS},
        "settled, beam": {"column": COLUMNS, "beam": 3},
        "held": {"column": COLUMNS},
    }[kind]
    own = pn.train(text(seed), epochs=1, seed=seed, **options)  # type: ignore[arg-type]
    if kind.startswith("settled"):
        return settled(own, seed, Rule(1, 0.4, 1, 0.4), seed)
    if kind == "held":
        return settled(own, seed, Rule(1, 0.6), (seed + 1) / 8)
    return with_weight(own, 2.7) if kind.startswith("weighted") else own


def settled(own: pn.Tagger, seed: int, rule: Rule, lead: float) -> pn.Tagger:
    """The tagger with what settles labels if `upos` is sure; other features are held to that."""
    columns = columns_of(own.model)
    counted = {column.name: column.counted(text(seed)) for column in columns}
    rules = {column.name: Chosen(rule, (1.0, 1.0), lead) for column in columns}
    found = pn.Tagger(with_tables(own.model, columns, counted, rules))
    assert [part.settled is not None for part in found.model.parts_by_column] == [False, True, True]
    return found


def with_weight(own: pn.Tagger, weight: float) -> pn.Tagger:
    assert own.model.agreement is not None
    agreement = own.model.agreement._replace(upos_weight=weight)
    return pn.Tagger(own.model.replace(agreement=agreement))


PLAIN = ("plain", "two", "other order", "beam", "dictionary", "two passes")
KINDS = (*PLAIN, "weighted", "weighted, two passes")
SETTLED = ("settled", "settled, beam", "held")
sentences = st.lists(st.lists(st.sampled_from([*WORDS, "new", "neu"]), max_size=6), max_size=5)
taggers = st.builds(tagger, st.integers(0, 4), st.sampled_from(KINDS))
all_taggers = taggers | st.builds(tagger, st.integers(0, 4), st.sampled_from(SETTLED))


def combinations(found: Columns, names: Iterable[str]) -> set[tuple[str, ...]]:
    columns = [list(itertools.chain.from_iterable(found[name])) for name in names]
    return {*zip(*columns, strict=True)}


def met(seed_text: Sequence[pn.Sentence], names: Iterable[str]) -> set[tuple[str, ...]]:
    return combinations({n: [s.column(n) for s in seed_text] for n in names}, names)


@given(st.integers(0, 4), st.sampled_from(KINDS), sentences, st.data())
def test_every_pair_of_labels_was_met_in_training(
    seed: int, kind: str, words: list[list[str]], data: st.DataObject
) -> None:
    own = tagger(seed, kind)
    names = data.draw(st.lists(st.sampled_from(own.columns), min_size=1, unique=True))
    found = own.tag_sents(words, columns=names)
    assert list(found) == [name for name in own.columns if name in names]
    assert combinations(found, names) <= met(text(seed), names)


@given(st.integers(0, 4), st.sampled_from(KINDS), sentences)
def test_a_token_whose_labels_were_met_together_keeps_them(
    seed: int, kind: str, words: list[list[str]]
) -> None:
    own = tagger(seed, kind)
    alone = {name: part.tag_sents(words) for name, part in own.by_column.items()}
    found, known = own.tag_sents(words, columns=own.columns), met(text(seed), own.columns)
    # Features learned with another part of speech may be left for those of the same.
    upos = {
        name: [
            [label.partition("|")[0] for label in labels]
            for labels in own.by_column[name]._labeler.learned_labels(
                own.by_column[name]._labeler.prepared(words)
            )
        ]
        for name in ("feats",)
    }["feats"]
    for k, sentence in enumerate(words):
        for i in range(len(sentence)):
            one = tuple(alone[name][k][i] for name in own.columns)
            joint = own.by_column["feats"].model.scheme is not None
            if one in known and (not joint or upos[k][i] == alone["upos"][k][i]):
                assert one == tuple(found[name][k][i] for name in own.columns)


def conllu(words: Sequence[Sequence[str]]) -> bytes:
    lines = (
        "".join(f"{i}\t{word}" + "\t_" * 8 + "\n" for i, word in enumerate(row, 1)) + "\n"
        for row in words
        if row
    )
    return "".join(lines).encode()


@given(all_taggers, sentences, st.data())
def test_every_door_gives_the_same(
    own: pn.Tagger, words: list[list[str]], data: st.DataObject
) -> None:
    names = data.draw(st.lists(st.sampled_from(own.columns), min_size=1, unique=True))
    names = [name for name in own.columns if name in names]
    found = own.tag_sents(words, columns=names)
    assert pn.Tagger.from_bytes(own.to_bytes()).tag_sents(words, columns=names) == found
    keep = {names[0]: [[None] * len(one) for one in words]}
    assert own.tag_sents(words, columns=names, keep=keep) == found
    assert own.tag_sents([pn.Sentence(one) for one in words], columns=names) == found
    alone = [own.tag_sents([one], columns=names) for one in words]
    assert {name: [own[name][0] for own in alone] for name in names} == found
    corpus = pn.open_corpus(io.BytesIO(conllu(words)), format="conllu")
    fill = own.labelers.filler(corpus, columns=names)
    if fill is None:
        return
    filled = fill(conllu(words))
    assert filled is not None
    again = list(pn.open_corpus(io.BytesIO(filled), format="conllu")) if filled else []
    for name in names:
        assert [list(one.column(name)) for one in again] == [one for one in found[name] if one]
    data_, tokens = "".join(itertools.chain(*words)).encode(), [0]
    for word in itertools.chain(*words):
        tokens.append(tokens[-1] + len(word.encode()))
    starts = np.cumsum([0, *map(len, words)])
    buffers = own.tag_arrays(data_, tokens, starts, columns=names).labels
    for name, (numbers, labels) in buffers.items():
        assert [labels[k] for k in numbers.tolist()] == list(itertools.chain(*found[name]))


def test_threads_change_nothing() -> None:
    for kind in (*KINDS, *SETTLED):
        own, drawn = tagger(1, kind), random.Random(1)
        words = [drawn.choices(WORDS, k=drawn.randint(0, 9)) for _ in range(1500)]
        found = own.tag_sents(words, columns=own.columns)
        assert own.tag_sents(words, threads=3, columns=own.columns) == found
        keep = {own.column: [[None] * len(one) for one in words]}
        assert own.tag_sents(words, threads=3, keep=keep, columns=own.columns) == found


@given(all_taggers, sentences.filter(any), st.data())
def test_labels_that_are_kept_stay_and_the_others_go_with_them(
    own: pn.Tagger, words: list[list[str]], data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(own.columns))
    labels = [*{row[own.model.agreement.columns.index(name)] for row in own.model.agreement.rows}]  # type: ignore[union-attr]
    kept = [
        [data.draw(st.sampled_from([None, "never", *sorted(labels)])) for _ in one] for one in words
    ]
    found = own.tag_sents(words, keep={name: kept}, columns=own.columns)
    rows = own.model.agreement
    assert rows is not None
    others = [one for one in own.columns if one != name]
    free = rows.within(others)
    for k, own_kept in enumerate(kept):
        for i, label in enumerate(own_kept):
            assert label is None or found[name][k][i] == label
            given_ = tuple(found[one][k][i] for one in rows.columns)
            if label != "never":
                assert given_ in rows.rows
            elif free is not None:
                assert tuple(found[one][k][i] for one in free.columns) in free.rows


@given(all_taggers, sentences, st.data())
def test_a_lexicon_holds_before_agreement(
    own: pn.Tagger, words: list[list[str]], data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(own.columns))
    labels = sorted(own.by_column[name].model.written_labels)
    choice = st.lists(st.sampled_from(labels), min_size=1, max_size=2, unique=True)
    lexicon = data.draw(st.dictionaries(st.sampled_from(WORDS), choice, min_size=1))
    held = own.with_lexicon(lexicon, column=name)
    found = held.tag_sents(words, columns=held.columns)
    keep = {own.column: [[None] * len(one) for one in words]}
    assert held.tag_sents(words, keep=keep, columns=held.columns) == found
    for one, given_ in zip(words, found[name], strict=True):
        for word, label in zip(one, given_, strict=True):
            known = lexicon.get(word) or lexicon.get("".join(c.lower()[0] for c in word))
            assert known is None or label in known


@settings(max_examples=20)
@given(st.integers(0, 3), st.sampled_from(["plain", "settled"]), sentences)
def test_confidences_are_of_the_labels_that_are_given(
    seed: int, kind: str, words: list[list[str]]
) -> None:
    own = tagger(seed, kind).calibrate(text(seed + 10, 200))
    sure = own.tag_sents(words, columns=own.columns, confidences=True)
    assert {name: labels for name, (labels, _) in sure.items()} == own.tag_sents(
        words, columns=own.columns
    )
    for labels, confidences in sure.values():
        assert [*map(len, labels)] == [*map(len, confidences)]
        assert all(0 <= x <= 1 for one in confidences for x in one)


def test_the_best_combination_is_the_one_whose_scores_sum_to_the_most() -> None:
    for seed, weight in itertools.product(range(3), (1.0, 5.0)):
        own, drawn = with_weight(tagger(seed), weight), random.Random(seed)
        words = [drawn.choices(WORDS, k=6) for _ in range(40)]
        agreeing = own.labelers.agreeing(own.columns)
        assert isinstance(agreeing, AgreeingColumns)
        alone = {name: part.tag_sents(words) for name, part in own.by_column.items()}
        found, changed = own.tag_sents(words, columns=own.columns), 0
        for k, sentence in enumerate(words):
            scores = {
                name: part.scores(sentence) * (weight if name == "upos" else 1)
                for name, part in own.by_column.items()
            }
            for i in range(len(sentence)):
                if all(found[name][k][i] == alone[name][k][i] for name in COLUMNS):
                    continue
                changed += 1
                sums = {
                    row: sum(float(scores[n][i][c]) for n, c in zip(COLUMNS, row, strict=True))
                    for row in map(tuple, agreeing.rows.tolist())
                }
                best = max(sums, key=lambda row: (sums[row], [-n for n in row]))
                written = [
                    part._labeler.written_labels[n]
                    for part, n in zip(own.by_column.values(), best, strict=True)
                ]
                assert written == [found[name][k][i] for name in COLUMNS]
        assert changed


@given(taggers, sentences.filter(any), st.data())
def test_the_core_agrees_as_its_slow_twin_does(
    own: pn.Tagger, words: list[list[str]], data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(own.columns))
    labels = sorted(own.by_column[name].model.written_labels)
    if data.draw(st.booleans()):
        choice = st.lists(st.sampled_from(labels), min_size=1, max_size=2, unique=True)
        lexicon = data.draw(st.dictionaries(st.sampled_from(WORDS), choice, min_size=1))
        own = own.with_lexicon(lexicon, column=name)
    other = data.draw(st.sampled_from(own.columns))
    offered = [None, "never", *sorted(own.by_column[other].model.written_labels)]
    kept = [[data.draw(st.sampled_from(offered)) for _ in one] for one in words]
    agreeing, rows = own.labelers.agreeing(own.columns), own.model.agreement
    assert isinstance(agreeing, AgreeingColumns) and rows is not None
    weight = rows.upos_weight
    prepared = {column: part._labeler.prepared(words) for column, part in own.by_column.items()}
    table = agreeing._table
    staying = {
        (*prefix, label)
        for prefix, bits in zip(table.prefixes, table.staying, strict=True)
        for label in range(8 * len(bits))
        if bits[label // 8] >> label % 8 & 1
    }

    def use(batch: range, found: Sequence[Scored]) -> int:
        flat = [(word, label) for k in batch for word, label in zip(words[k], kept[k], strict=True)]
        for at, (word, label) in enumerate(flat):
            stay = [label if column == other else None for column in agreeing.columns]
            held = list(agreeing._held(at, word, found, stay))
            alone = [int(one.own[at]) for one in found]
            scores = [
                one.scores[at] * (weight if column == "upos" else 1)
                for column, one in zip(agreeing.columns, found, strict=True)
            ]
            best = agreed(alone, scores, held, agreeing.rows, staying)
            assert [int(one.numbers[at]) for one in found] == list(best)
        return len(flat)

    seen = agreeing.scored(prepared, use, {other: kept}, 1)
    assert sum(seen) == sum(map(len, words))


def test_a_large_weight_gives_parts_of_speech_their_own_labels() -> None:
    changed = 0
    for seed in range(5):
        own, drawn = tagger(seed), random.Random(seed)
        words = [drawn.choices(WORDS, k=6) for _ in range(40)]
        alone = own.by_column["upos"].tag_sents(words)
        heavy = with_weight(own, 1e9).tag_sents(words, columns=own.columns)["upos"]
        changed += own.tag_sents(words, columns=own.columns)["upos"] != heavy == alone
        assert heavy == alone
    assert changed


def test_what_parts_of_speech_count_is_kept() -> None:
    for preset in ("fast", "default", "accurate"):
        options = {"column": COLUMNS[:2], "preset": preset, "epochs": 1, "templates": "fast"}
        own = pn.train(text(1), resumable=True, **options)  # type: ignore[arg-type]
        weight = UPOS_WEIGHTS[preset]
        others = [
            pn.Tagger.from_bytes(own.to_bytes()),
            own.resume(text(2)),
            pn.merge([own, pn.train(text(2), **options)]),  # type: ignore[arg-type]
            own.compress(len(own.to_bytes()) - 100, force=True),
        ]
        for one in (own, *others):
            assert one.model.agreement is not None and one.model.agreement.upos_weight == weight


@pytest.mark.parametrize("weight", ["0.0", "-2.0", "nan", "inf", "many"])
def test_a_file_in_which_parts_of_speech_count_nonsense_is_refused(weight: str) -> None:
    arrays, metadata = read_tensors(tagger(0, "weighted").to_bytes(), "m")
    with pytest.raises(pn.ModelError, match=r"not a positive number|not valid"):
        pn.Tagger.from_bytes(write_tensors(arrays, {**metadata, "upos_weight": weight}))


# With it, what has no XPOS may be a word that nobody has annotated.
UNLABELED = pn.Sentence(["q"], {"upos": ["_"], "xpos": ["_"], "feats": ["_"]})


def test_words_without_a_label_show_no_combination() -> None:
    gaps = [*text(3, gaps=True), UNLABELED]
    own = pn.train(gaps, column=COLUMNS, epochs=1)
    complete = {row for row in met(gaps, COLUMNS) if row[1] != "_"}
    assert own.model.agreement is not None and {*own.model.agreement.rows} == complete


def test_where_all_words_have_upos_no_xpos_is_met_like_a_label() -> None:
    gaps = text(3, gaps=True)
    own = pn.train(gaps, column=COLUMNS, epochs=1)
    assert own.model.agreement is not None
    assert {*own.model.agreement.rows} == {*met(gaps, COLUMNS)}
    assert "_" in own.by_column["xpos"].labels


def test_a_label_that_is_never_met_with_one_of_another_column_goes_with_all_of_them() -> None:
    rows = [
        pn.Sentence(["u", "v", "w"], {"upos": [*"ABC"], "xpos": [*"_xy"], "feats": [*"___"]}),
        pn.Sentence(["v", "u"], {"upos": [*"BA"], "xpos": [*"x_"], "feats": [*"__"]}),
        UNLABELED,
    ]
    own = pn.train(rows, column=COLUMNS, epochs=3)
    assert own.model.agreement is not None
    assert {*own.model.agreement.rows} == {
        *[("A", "x", "_"), ("A", "y", "_"), ("B", "x", "_"), ("C", "y", "_")]
    }
    assert own.tag(["u", "v", "w"], columns=own.columns)["upos"] == ["A", "B", "C"]


def test_columns_do_not_agree_where_labels_that_are_left_out_could_be_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(agreement, "MOST_COMBINATIONS", 3)
    labels: dict[str, list[str | None]] = {
        "upos": ["A", "B", "C", "D"],
        "xpos": ["x", "y", None, None],
    }
    assert agreement.Agreement.of(labels) is None
    monkeypatch.setattr(agreement, "MOST_COMBINATIONS", 4)
    found = agreement.Agreement.of(labels)
    assert found is not None and len(found.rows) == 6


def test_merged_and_resumed_taggers_know_the_combinations_of_all_texts() -> None:
    names = COLUMNS[:2]
    both = met(text(1), names) | met(text(2), names)
    options = {
        "column": names,
        "epochs": 1,
        "templates": ["word[0]", "tag[-1] word[0]"],
        "right_to_left": False,
    }
    one, other = (pn.train(text(seed), **options) for seed in (1, 2))  # type: ignore[arg-type]
    merged = pn.merge([one, other])
    assert merged.model.agreement is not None and {*merged.model.agreement.rows} == both
    resumed = pn.train(text(1), resumable=True, **options).resume(text(2))  # type: ignore[arg-type]
    assert resumed.model.agreement is not None and {*resumed.model.agreement.rows} == both
    small = one.compress(len(one.to_bytes()) - 100, force=True)
    assert small.model.agreement == one.model.agreement


def test_dictionaries_that_contradict_each_other_give_way() -> None:
    rows = ["A b N=1", "A c N=2", "B b N=2", "A b N=1", "B c N=2"]
    own = pn.train(
        [
            pn.Sentence(["w"], {name: [x] for name, x in zip(COLUMNS, row.split(), strict=True)})
            for row in rows
        ],
        column=COLUMNS,
        epochs=1,
        dictionary=(2, 0.51),
    )
    forced = [dict(part.dictionary)["w"] for part in own.model.parts_by_column]
    assert forced == ["A", "b", "N=2"]
    in_the_core = own.tag_sents([["w"]], columns=own.columns)
    by_scores = own.tag_sents([["w"]], keep={"upos": [[None]]}, columns=own.columns)
    assert in_the_core == by_scores
    assert " ".join(own_labels[0][0] for own_labels in in_the_core.values()) in rows


def test_columns_do_not_agree_where_the_table_of_combinations_has_no_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, other = (pn.train(text(seed), column=COLUMNS, epochs=1) for seed in (1, 2))
    monkeypatch.setattr(agreement, "MOST_COMBINATIONS", 10)
    trained = pn.train(text(1), column=COLUMNS, epochs=1)
    for made in (trained, pn.merge([one, other])):
        assert made.model.agreement is None
        pn.Tagger.from_bytes(made.to_bytes())


@pytest.mark.parametrize("columns", [["upos"], ["upos", "chunk"]])
def test_a_model_with_nothing_to_agree_on_has_no_combinations(columns: list[str]) -> None:
    rows = [
        pn.Sentence(s.words, {"upos": s.column("upos"), "chunk": ["O"] * len(s.words)})
        for s in text(1)
    ]
    own = pn.train(rows, column=columns, epochs=1)
    assert own.model.agreement is None and b"agreement" not in own.to_bytes()
