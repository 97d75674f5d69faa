"""Distillation: a greedy student of gold sentences and of raw text that teachers label."""

from __future__ import annotations

import gzip
import logging
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp.combine.distill import MixedSchedule, greedy_options
from perceptron_nlp.combine.votes import Hand, majority, pseudo_label
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagger.sources import Source
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.loop import Task
from perceptron_nlp.text.tagset import TagSet

GOLD = [
    (["The", "dog", "barks", "."], ["DET", "NOUN", "VERB", "PUNCT"]),
    (["A", "small", "cat", "sleeps", "."], ["DET", "ADJ", "NOUN", "VERB", "PUNCT"]),
    (["She", "sees", "the", "old", "house"], ["PRON", "VERB", "DET", "ADJ", "NOUN"]),
    (["They", "run", "!"], ["PRON", "VERB", "PUNCT"]),
    (["Old", "dogs", "sleep"], ["ADJ", "NOUN", "VERB"]),
]
RAW = [
    ["The", "small", "wug", "sleeps", "."],
    ["She", "sees", "a", "wug", "!"],
    ["Wugs", "run"],
    ["The", "old", "wug", "barks"],
]


@pytest.fixture(scope="module")
def teachers() -> list[pn.Tagger]:
    return [pn.train(GOLD, seed=seed, beam=4, epochs=3, templates="default") for seed in (1, 2)]


def student(teachers: object = (), **options: object) -> pn.Tagger:
    return pn.distill(
        **{  # type: ignore[arg-type]
            "teachers": teachers,
            "raw": RAW,
            "train": GOLD,
            "epochs": 3,
            "templates": "default",
            "raw_share": 1.0,
            **options,
        }
    )


def test_the_same_seed_gives_the_same_bytes_whatever_the_threads(teachers: list[pn.Tagger]) -> None:
    many = RAW * 400
    first = student(teachers, raw=many, threads=1, raw_share=0.5).to_bytes()
    assert student(teachers, raw=many, threads=3, raw_share=0.5).to_bytes() == first
    assert student(teachers, raw=many, raw_share=0.5, seed=2).to_bytes() != first


def test_teachers_and_raw_text_come_from_files_as_well(
    teachers: list[pn.Tagger], tmp_path: Path
) -> None:
    paths = []
    for number, teacher in enumerate(teachers):
        paths.append(tmp_path / f"{number}.model")
        teacher.save(paths[-1])
    lines = "".join(" ".join(words) + "\n" for words in RAW)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(lines[:60].encode()))
    (tmp_path / "b.txt").write_text(lines, "utf-8")
    (tmp_path / "all.txt").write_text(lines + lines, "utf-8")
    both = student(paths, raw=tmp_path / "all.txt")
    assert both.to_bytes() == student(teachers, raw=RAW + RAW).to_bytes()
    assert (
        student(teachers, raw=[tmp_path / "b.txt", tmp_path / "b.txt"]).to_bytes()
        == both.to_bytes()
    )
    assert student(teachers, raw=tmp_path / "a.txt.gz").model.record["raw"]["sentences"] == 4


def test_a_student_is_greedy_and_has_the_features_of_gold_sentences_alone(
    teachers: list[pn.Tagger],
) -> None:
    words = ["lower[0]", "lower[0] lower[1]", "shape[0] lower.suffix2[-1]", "tag[-1] lower[0]"]
    tagger = student(teachers, templates=words)
    # With such a margin every feature of the gold sentences gets a weight.
    all_of_gold = features_by_template(
        pn.train(GOLD, epochs=1, templates=words, update="margin", margin=1e6)
    )
    kept = features_by_template(tagger)
    assert tagger.model.beam == 1
    for template in range(3):
        assert kept[template]
        assert kept[template] <= all_of_gold[template]
    assert not tagger.model.knows("wug")


def features_by_template(tagger: pn.Tagger) -> dict[int, set[int]]:
    weights = tagger.model.weights
    starts = weights.group_starts.tolist()
    return {
        group: set(weights.keys[begin:end].tolist())
        for group, (begin, end) in enumerate(pairwise(starts))
    }


def test_raw_text_teaches_what_gold_sentences_do_not() -> None:
    gold = [(["the", "x"], ["D", "N"]), (["x", "the"], ["V", "D"])] * 3
    words = ["lower[0]", "lower[-1]"]
    teacher = pn.train([*gold, *[(["a", "x"], ["D", "N"])] * 5], templates=[*words, "lower[1]"])
    raw = [["the", "x", "x"]] * 20
    wanted = teacher.tag(raw[0])
    tagger = pn.distill(
        teacher, raw=raw, train=gold, templates=words, raw_share=1.0, raw_weight=1.0
    )
    assert tagger.tag(raw[0]) == wanted


def test_an_epoch_takes_all_gold_sentences_and_a_share_of_the_others() -> None:
    examples = Examples.read(Source(GOLD, "train"), "tag", ())
    n_raw = 20
    options = greedy_options({"templates": "fast", "seed": 5})
    schedule = MixedSchedule(
        Task(examples=examples, column="tag", options=options), n_raw, share=0.3
    )
    orders = [schedule.order(1, epoch).tolist() for epoch in (1, 2)]
    for order in orders:
        assert len(order) == len(set(order)) == len(GOLD) + 6
        assert set(order) >= set(range(len(GOLD)))
        assert max(order) < len(GOLD) + n_raw
    assert orders[0] != orders[1]
    assert schedule.order(1, 1).tolist() == orders[0]
    assert sorted(orders[0]) != orders[0] != permutation(len(orders[0]), 5, 1).tolist()


@given(
    st.integers(1, 5).flatmap(
        lambda n: st.lists(
            st.lists(st.integers(0, 3), min_size=n, max_size=n), min_size=1, max_size=6
        )
    )
)
def test_more_than_half_of_the_votes_win(words: list[list[int]]) -> None:
    for votes, winner in zip(words, majority(np.array(words, np.int32).T), strict=True):
        label, count = Counter(votes).most_common(1)[0]
        assert winner == (label if 2 * count > len(votes) else -1)


def test_pseudo_labeled_are_the_votes_of_the_teachers(teachers: list[pn.Tagger]) -> None:
    nouns = [
        (
            words,
            [
                "NOUN" if word == "sleeps" else label
                for word, label in zip(words, labels, strict=True)
            ],
        )
        for words, labels in GOLD
    ]
    teachers = [teachers[0], pn.train(nouns, templates=["lower[0]"], epochs=5)]
    pseudo_labeled = pseudo_label(teachers, RAW, teachers[0].model.tags)
    labels = teachers[0].labels
    given = [[teacher.tag(words) for words in RAW] for teacher in teachers]
    first = [label for sentence in given[0] for label in sentence]
    other = [label for sentence in given[1] for label in sentence]
    assert [labels[number] if number >= 0 else None for number in pseudo_labeled.labels] == [
        a if a == b else None for a, b in zip(first, other, strict=True)
    ]
    assert {a == b for a, b in zip(first, other, strict=True)} == {True, False}
    assert [pseudo_labeled.words[number] for number in pseudo_labeled.tokens] == [
        w for s in RAW for w in s
    ]
    assert pseudo_labeled.agreed == pytest.approx(
        np.mean([a == b for a, b in zip(first, other, strict=True)])
    )
    assert pseudo_labeled.unknown == pytest.approx(5 / 16)


VOTES = st.lists(
    st.tuples(
        st.integers(1, 4), st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 4)), min_size=3)
    ),
    min_size=1,
    max_size=5,
)


@given(VOTES)
def test_votes_count_by_weight_and_confidence(
    voters: list[tuple[int, list[tuple[int, int]]]],
) -> None:
    rows = [row[:3] for _, row in voters]
    votes = np.array([[label for label, _ in row] for row in rows], np.int32)
    sure = np.array([[quarters / 4 for _, quarters in row] for row in rows])
    found = majority(votes, np.array([float(weight) for weight, _ in voters]), sure)
    for at, winner in enumerate(found):
        support, total = Counter[int](), 0
        for (weight, _), row in zip(voters, rows, strict=True):
            label, quarters = row[at]
            total += 4 * weight * (label >= 0)
            support[label] += weight * quarters
        best = [label for label, by in support.items() if label >= 0 and 2 * by > total]
        assert winner == (best[0] if best else -1)


def written(tagger: pn.Tagger, path: Path, text: list[list[str]], **how: object) -> Path:
    """Write what a tagger makes of a text as CoNLL-U, as another program would."""
    rows = [
        pn.Sentence(words, {"upos": labels, **how})  # type: ignore[dict-item]
        for words, labels in zip(text, tagger.tag_sents(text), strict=True)
    ]
    pn.write_conllu(rows, path)
    return path


def heard(path: Path, weight: float = 1.0) -> Hand:
    return Hand.read(Source(path, "labeled"), "upos", weight)


def test_files_vote_as_the_taggers_that_wrote_them(
    teachers: list[pn.Tagger], tmp_path: Path
) -> None:
    text = [*RAW, *RAW[:2]]
    tags = teachers[0].model.tags
    files = [written(one, tmp_path / f"{k}.conllu", text) for k, one in enumerate(teachers)]
    hands = [heard(path) for path in files]
    by_taggers = pseudo_label(teachers, text, tags)
    for found in (
        pseudo_label([], text, tags, hands=hands),
        pseudo_label(teachers[:1], text, tags, hands=hands[1:]),
        pseudo_label(teachers[:1], None, tags, hands=hands[1:]),
    ):
        rest = {tuple(found.words): found.labels.tolist()}
        if found.lengths.tolist() == by_taggers.lengths.tolist():
            assert rest == {tuple(by_taggers.words): by_taggers.labels.tolist()}
        assert sorted(found.labels) == sorted(by_taggers.labels)
        assert found.agreed == by_taggers.agreed and set(found.weights) == {1.0}
    # What only one of them has is learned from it, with the weight that it has.
    short = written(teachers[1], tmp_path / "short.conllu", RAW[:1])
    found = pseudo_label([], None, tags, hands=[heard(files[0], 0.5), heard(short, 2.0)])
    assert found.lengths.tolist() == [5, 5, 5, 5, 2, 4]
    assert sorted(found.weights) == [0.25] * 5 + [1.0]


def test_what_a_file_is_not_sure_of_is_not_learned(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    rows = ["1\tA\t_\tDET\t_\t_\t_\t_\t_\tConf=0.9|SpaceAfter=No"]
    rows += ["2\tdog\t_\tNOUN\t_\t_\t_\t_\t_\tConf[xpos]=0.1|Conf[upos]=0.4", ""]
    path.write_text("\n".join([*rows, ""]), "utf-8")
    tags = TagSet(["DET", "NOUN"])
    assert pseudo_label([], None, tags, hands=[heard(path)]).labels.tolist() == [0, -1]
    both = pseudo_label([], None, tags, hands=[heard(path), heard(path, 3.0)])
    assert both.labels.tolist() == [0, -1]
    path.write_text(path.read_text("utf-8").replace("0.4", "high"), "utf-8")
    with pytest.raises(pn.FormatError, match=r"a\.conllu:2: MISC: Conf='high' is no number from 0"):
        heard(path)


def test_a_tagger_is_distilled_from_files_alone(teachers: list[pn.Tagger], tmp_path: Path) -> None:
    text = [*RAW, *([word.lower() for word in words] for words in RAW)]
    paths = [written(one, tmp_path / f"{k}.conllu", text) for k, one in enumerate(teachers)]
    how = {"teachers": (), "raw": None, "labeled": paths, "column": "upos"}
    tagger = student(**how, weights=[1, 0.5])
    assert tagger.tag(RAW[0]) == teachers[0].tag(RAW[0])
    assert [one["weight"] for one in tagger.model.record["labeled"]] == [1, 0.5]
    assert any(
        "32 raw tokens, labeled by 2 files, who agree" in c for c in tagger.model.record["choices"]
    )
    again = student(**how, weights=[2, 1])
    assert np.array_equal(again.model.weights.weights, tagger.model.weights.weights)
    assert student(**{**how, "labeled": paths[0]}).labels == tagger.labels
    with pytest.raises(pn.ArgumentError, match="weights: there are 1 for 2 labeled files"):
        student(**how, weights=[1])
    with pytest.raises(pn.FormatError, match="no word has a label in column 'xpos'"):
        student(**{**how, "column": "xpos"})
    with pytest.raises(pn.ArgumentError, match="raw: there is none"):
        student(teachers, raw=None)


def test_the_best_epoch_on_dev_is_kept(teachers: list[pn.Tagger]) -> None:
    reports: list[pn.EpochReport] = []
    tagger = student(teachers, dev=GOLD, epochs=6, patience=2, callback=reports.append)
    scores = [report.dev_accuracy for report in reports]
    assert tagger.model.record["best_epoch"] == scores.index(max(scores)) + 1
    assert tagger.evaluate(GOLD).accuracy == max(scores)
    assert reports[0].examples == sum(len(words) for words, _ in GOLD) + sum(map(len, RAW))


@pytest.mark.parametrize("at", [(1, 2), (1, 3), (2, 1)])
@pytest.mark.parametrize("update", ["adagrad", "perceptron"])
def test_a_distillation_goes_on_from_its_checkpoint(
    teachers: list[pn.Tagger], tmp_path: Path, at: tuple[int, int], update: str
) -> None:
    class Enough(Exception):
        pass

    def stop(report: pn.EpochReport) -> None:
        if (report.run, report.epoch) == at:
            raise Enough

    kept, how = tmp_path / "state", {"runs": 2, "update": update}
    with pytest.raises(Enough):
        student(teachers, checkpoint=kept, callback=stop, **how)
    with pytest.raises(pn.PerceptronNLPError, match="raw"):
        student(teachers, checkpoint=kept, resume=True, raw=RAW[:2], **how)
    resumed = student(teachers, checkpoint=kept, resume=True, **how)
    assert resumed.to_bytes() == student(teachers, **how).to_bytes()


@pytest.mark.parametrize("update", ["adagrad", "perceptron"])
def test_runs_are_independent(teachers: list[pn.Tagger], update: str) -> None:
    def learned(**how: object) -> list[tuple[int, int]]:
        reports: list[pn.EpochReport] = []
        student(teachers, callback=reports.append, update=update, epochs=4, **how)
        return [(report.mistakes, report.updates) for report in reports]

    for seed in range(5):
        both = learned(runs=2, seed=seed)
        assert both == learned(runs=1, seed=seed) + learned(runs=1, seed=seed + 1)


def test_the_record_tells_of_the_raw_text(teachers: list[pn.Tagger]) -> None:
    tagger = pn.Tagger.from_bytes(student(teachers, raw_weight=0.5).to_bytes())
    raw = tagger.model.record["raw"]
    assert (raw["sentences"], raw["tokens"]) == (4, 16)
    assert (raw["share"], raw["weight"]) == (1.0, 0.5)
    assert any("16 raw tokens" in choice for choice in tagger.model.record["choices"])


def test_labels_on_one_side_alone_are_told(
    teachers: list[pn.Tagger], caplog: pytest.LogCaptureFixture
) -> None:
    gold = [
        (words, ["X" if label == "PRON" else label for label in labels]) for words, labels in GOLD
    ]
    with caplog.at_level(logging.WARNING, "perceptron_nlp"):
        tagger = student(teachers, train=gold)
    assert "1 labels of the teachers are not in the gold sentences" in caplog.text
    assert "1 labels of the gold sentences are unknown to the teachers" in caplog.text
    assert {"X", "PRON"} <= set(tagger.labels)


def test_raw_text_in_another_script_is_warned_of(
    teachers: list[pn.Tagger], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "perceptron_nlp"):
        tagger = student(teachers, raw=[["Η", "γάτα", "κοιμάται", "."]])
    assert "most raw tokens are new to the teachers" in caplog.text
    assert any("another language" in choice for choice in tagger.model.record["choices"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"teachers": []}, "teachers: there are none; name at least one"),
        ({"teachers": 7}, "teachers: taggers or paths are needed, not int"),
        ({"teachers": [7]}, r"teachers\[0\]: a tagger or a path is needed, not int"),
        ({"raw": []}, "raw: there is no sentence in the raw text"),
        ({"raw": [[], []]}, "raw: there is no sentence in the raw text"),
        ({"raw": 7}, "raw: a path or lists of words are needed, not int"),
        ({"raw": [["a"], 7]}, r"raw\[1\]: a list of words is needed, not int"),
        ({"raw": [["a", 7]]}, r"raw\[0\]: a word is a str, not int"),
        ({"raw_share": 0}, "raw_share: 0 is not above 0 and at most 1"),
        ({"raw_share": 1.5}, "raw_share: 1.5 is not above 0 and at most 1"),
        ({"raw_weight": -1}, "raw_weight: -1 is not above 0"),
        ({"raw_weight": float("nan")}, "raw_weight: nan is not above 0"),
        ({"raw_weight": "much"}, "raw_weight: a number is needed, not str"),
        ({"threads": 0}, "threads: 0 is not between 1 and 1,024"),
        ({"preset": "accurate"}, "preset: accurate searches with a beam"),
        ({"beam": 4}, "beam: 4 asks for a search"),
        ({"two_passes": True}, "two_passes: distill trains a tagger of one pass"),
        ({"column": ["tag", "x"]}, "column: a str is needed, not list; one column is distilled"),
        ({"column": ""}, "column: it is empty; give a column's name"),
        ({"epoch": 3}, "epoch: there is no such option"),
        ({"templates": ["column:x[0]"]}, "templates: they look at column x, which raw text lacks"),
        ({"train": None}, "train: a path or sentences are needed, not NoneType"),
        ({"train": [(["a"], ["Q"])]}, "teachers: their labels .* have nothing in common"),
    ],
)
def test_what_cannot_be_distilled_is_refused(
    teachers: list[pn.Tagger], options: dict[str, object], message: str
) -> None:
    with pytest.raises(pn.PerceptronNLPError, match=f"^{message}"):
        student(**{"teachers": teachers, **options})  # type: ignore[arg-type]


def test_teachers_of_other_columns_labels_or_inputs_are_refused(
    teachers: list[pn.Tagger], tmp_path: Path
) -> None:
    rows = "".join(
        f"{w}\tx\t{t}\n" for words, tags in GOLD for w, t in zip(words, tags, strict=True)
    )
    (tmp_path / "a.columns").write_text(rows, "utf-8")
    columns = pn.train(tmp_path / "a.columns", fields=["form", "shape", "tag"], epochs=1)
    with pytest.raises(pn.ArgumentError, match=r"teachers\[1\]: looks at the columns shape"):
        student([teachers[0], columns])
    fewer = pn.train(GOLD[3:], epochs=1)
    with pytest.raises(pn.ArgumentError, match=r"teachers\[1\]: has other labels .*'DET'"):
        student([teachers[0], fewer])
    other = pn.train(tmp_path / "a.columns", fields=["form", "_", "pos"], epochs=1)
    with pytest.raises(pn.ArgumentError, match=r"teachers\[1\]: labels column pos"):
        student([teachers[0], other])


def test_a_teacher_with_its_own_function_needs_it_to_be_loaded(tmp_path: Path) -> None:
    def features(tokens: object, i: int) -> list[str]:
        return [tokens[i].lower()]  # type: ignore[index]

    teacher = pn.train(GOLD, features=features, epochs=2)
    teacher.save(tmp_path / "f.model")
    with pytest.raises(pn.ModelError, match="give it to load"):
        student(tmp_path / "f.model")
    assert student(teacher).labels == teacher.labels


def test_sets_of_features_are_refused(tmp_path: Path) -> None:
    rows = "\n\n".join(
        "\n".join(f"{w}\tNumber=Sing|Person={len(w) % 3}" for w in words) for words, _ in GOLD
    )
    (tmp_path / "a.columns").write_text(rows + "\n", "utf-8")
    named = {"fields": ["form", "feats"]}
    teacher = pn.train(tmp_path / "a.columns", epochs=1, **named)
    with pytest.raises(pn.ArgumentError, match="column: feats holds sets of features"):
        student(teacher, train=tmp_path / "a.columns", **named)


def test_the_column_of_a_teacher_of_several_is_the_one_that_is_named(tmp_path: Path) -> None:
    gold = [
        pn.Sentence(words, {"upos": tags, "xpos": [tag.lower() for tag in tags]})
        for words, tags in GOLD
    ]
    both = pn.train(gold, column=("upos", "xpos"), epochs=3)
    named = student(both, train=gold, column="xpos")
    assert named.column == "xpos" and named.labels == both.by_column["xpos"].labels
    assert named.to_bytes() == student(both.by_column["xpos"], train=gold).to_bytes()
    assert student([both.by_column["xpos"], both], train=gold).column == "xpos"
    assert student(both, train=gold).labels == both.labels


def test_a_column_of_the_gold_text_is_not_taught_by_another(tmp_path: Path) -> None:
    place = tmp_path / "x.conllu"
    place.write_text("1\tdog\t_\tSYM\tSYM\t_\t_\t_\t_\t_\n\n" * 3)
    teacher = pn.train(place, epochs=1)
    with pytest.raises(pn.ArgumentError, match="column: the teachers are of 'upos', which cannot"):
        student(teacher, train=place, column="xpos")


def test_a_teacher_of_spans_has_the_labels_that_it_writes() -> None:
    gold = [
        (["Ann", "Lee", "met", "Bo"], ["B-P", "I-P", "O", "B-P"]),
        (["Bo", "met", "Al", "Roe"], ["B-P", "O", "B-P", "I-P"]),
    ] * 4
    teacher = pn.train(gold, epochs=2, templates="default")
    assert set(student(teacher, train=gold).labels) == {"B-P", "I-P", "O"}


def test_a_teacher_that_learnt_features_with_parts_of_speech_is_refused_as_such() -> None:
    gold = [
        pn.Sentence(
            words,
            {
                "upos": tags,
                "feats": [f"A={len(w) % 3}|B={t}" for w, t in zip(words, tags, strict=True)],
            },
        )
        for words, tags in GOLD * 4
    ]
    teacher = pn.train(gold, column="feats", epochs=1)
    assert "NOUN|A=0|B=NOUN" in teacher.labels
    with pytest.raises(pn.ArgumentError, match=r"teachers\[0\]: labels feats with sets of featur"):
        student(teacher, train=gold)
