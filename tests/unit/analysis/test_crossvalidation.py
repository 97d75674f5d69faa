"""Cross-validation: laws of the parts, and what is refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import perceptron_nlp as pn

DATA = Path(__file__).parents[3] / "data"
WORDS = {"the": "DET", "a": "DET", "dog": "NOUN", "cat": "NOUN", "sees": "VERB", "sleeps": "VERB"}


def sentences(n: int) -> list[pn.Sentence]:
    """Sentences of four words, of which the last one says which it is."""
    words = list(WORDS)
    return [
        pn.Sentence(
            [words[i % 2], words[2 + i % 2], words[4 + i // 2 % 2], f"x{i}"],
            {"upos": ["DET", "NOUN", "VERB", "NOUN" if i % 3 else "ADV"]},
        )
        for i in range(n)
    ]


def test_each_sentence_is_tested_once_by_a_tagger_of_the_others() -> None:
    text = sentences(30)
    found = pn.cross_validate(text, folds=6, epochs=2)
    assert sum(fold.sentences for fold in found.folds) == 30
    assert found.pooled.sentences == 30 and found.pooled.tokens == 120
    # The last word of a sentence is in no other.
    assert found.pooled.tokens - found.pooled.known_tokens == 30


def test_the_pooled_counts_are_the_sums_of_the_folds() -> None:
    found = pn.cross_validate(DATA / "english-dev.conllu", folds=4, preset="fast", epochs=3)
    confusion: Counter[tuple[str, str]] = Counter()
    for fold in found.folds:
        confusion.update(fold.confusion)
    assert found.pooled.confusion == confusion
    for name in ("tokens", "correct", "known_tokens", "known_correct", "correct_sentences"):
        assert getattr(found.pooled, name) == sum(getattr(one, name) for one in found.folds)
    assert found.pooled.accuracy == sum(
        count for (gold, own), count in confusion.items() if gold == own
    ) / sum(confusion.values())
    assert found.mean == pytest.approx(sum(found.scores) / 4)
    spread = sum((score - found.mean) ** 2 for score in found.scores) / 3
    assert found.spread == pytest.approx(spread**0.5)


def test_the_result_does_not_depend_on_threads() -> None:
    one, three = (
        pn.cross_validate(sentences(24), folds=5, threads=threads, epochs=2) for threads in (1, 3)
    )
    assert one == three
    assert one != pn.cross_validate(sentences(24), folds=5, threads=3, epochs=2, seed=2)


def test_a_fold_is_what_a_training_on_the_others_gives() -> None:
    text = sentences(12)
    found = pn.cross_validate(text, folds=12, epochs=2)
    singles = [
        pn.train([one for one in text if one is not held], epochs=2).evaluate([held])
        for held in text
    ]
    assert Counter(map(str, singles)) == Counter(map(str, found.folds))
    assert found.pooled == pn.Evaluation.pooled(list(found.folds))


def test_several_columns_are_tested_in_the_same_folds() -> None:
    data = DATA / "english-dev.conllu"
    both = pn.cross_validate(data, folds=3, column="upos,xpos", preset="fast", epochs=2)
    alone = pn.cross_validate(data, folds=3, column="upos", preset="fast", epochs=2)
    assert list(both.by_column) == ["upos", "xpos"]
    # Together they agree, so that some labels are others than by themselves.
    assert [(one.sentences, one.tokens) for one in both.folds] == [
        (one.sentences, one.tokens) for one in alone.folds
    ]
    assert both.by_column["upos"].folds == both.folds
    found = both.to_dict()
    assert [one["column"] for one in found["columns"]] == ["upos", "xpos"]
    columns = [one.pooled for one in both.by_column.values()]
    assert found["sections"][0]["all_tags"] <= min(column.accuracy for column in columns)


def test_spans_are_scored_by_f1() -> None:
    text = [(["Ann", "sees", "Bob"], ["B-PER", "O", "B-PER"])] * 4
    found = pn.cross_validate(text, folds=2, epochs=2)
    assert found.measure == "f1" and found.mean == 1.0
    assert found.pooled.spans is not None and found.pooled.spans.gold == {"PER": 8}


def test_sentences_that_are_copies_of_others_are_remarked_on() -> None:
    text = [([f"w{k}-{i}" for i in range(6)], ["X"] * 5 + ["Y"]) for k in range(9)] * 3
    assert "copies" in pn.cross_validate(text, folds=3, epochs=1).remarks[-1]


TAGS, CUTS = ["upos", "xpos", "feats", "lemma"], ["Tokens", "Sentences", "Words"]
FROM_TEXT = [*CUTS, "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas"]


def test_all_columns_are_tested_on_gold_tokens_and_from_text() -> None:
    data = DATA / "english-dev.conllu"
    found = pn.cross_validate(data, folds=2, column="all", preset="fast", epochs=1)
    assert list(found.by_column) == [*TAGS, *FROM_TEXT]
    assert found.column == "upos" and found.measure == "accuracy"
    text = found.by_column["Words"]
    assert text.measure == "f1" and text.pooled.gold == found.pooled.tokens == 1130
    assert text.pooled == pn.F1.pooled(list(text.folds))
    # A word that is not found has no tag.
    assert found.by_column["UPOS"].pooled.correct <= text.pooled.correct
    for form in ("text", "tsv", "markdown", "latex", "json"):
        assert "Sentences" in found.to(form) or form == "tsv"


def test_segmentation_is_tested_on_whole_stretches_of_running_text() -> None:
    data = DATA / "english-dev.conllu"
    found = pn.cross_validate(data, folds=3, column="text", preset="fast", epochs=1)
    assert list(found.by_column) == CUTS and found.column == "Words"
    assert sum(one.gold for one in found.by_column["Sentences"].folds) == 84
    assert found.rows()[0].keys() >= {"column", "mean", "spread"}


def test_each_seed_is_a_cross_validation_of_its_own() -> None:
    text = sentences(20)
    both = pn.cross_validate(text, folds=4, seeds=2, seed=5, epochs=2)
    own = [pn.cross_validate(text, folds=4, seed=seed, epochs=2) for seed in (5, 6)]
    assert both.seeds == (5, 6) and both.folds == own[0].folds + own[1].folds
    assert both.of_seeds == tuple(one.mean for one in own)
    row = both.to_dict()["columns"][0]
    assert row["seed_spread"] == pytest.approx(abs(own[0].mean - own[1].mean) / 2**0.5)
    assert "with 2 seeds" in str(both)


def test_a_callback_hears_of_each_fold() -> None:
    heard: list[tuple[int, int]] = []
    pn.cross_validate(sentences(8), folds=4, callback=lambda *x: heard.append(x), epochs=1)
    assert heard == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"folds": 1}, pn.ArgumentError, "folds: 1 is not between 2 and 1,000"),
        ({"folds": 7}, pn.ArgumentError, "folds: 7 is more than the 6 sentences there are"),
        ({"seeds": 0}, pn.ArgumentError, "seeds: 0 is not between 1 and 1,000"),
        ({"threads": 0}, pn.ArgumentError, "threads: 0"),
        ({"callback": 3}, pn.ArgumentTypeError, "callback: a function is needed"),
        ({"column": "text,upos"}, pn.ArgumentError, "segmentation is learned from"),
        ({"column": "xpos"}, pn.FormatError, "no column 'xpos'"),
        ({"checkpoint": "x"}, pn.ArgumentError, "checkpoint: is for a model that is kept"),
        ({"epoch": 3}, pn.ArgumentTypeError, "epoch: there is no such option"),
        ({"epochs": 0}, pn.ArgumentError, "epochs: 0"),
    ],
)
def test_what_cannot_be_done_is_refused(
    options: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        pn.cross_validate(sentences(6), **options)


def test_one_sentence_or_no_labels_cannot_be_cut() -> None:
    with pytest.raises(pn.FormatError, match="fewer than two sentences have labels"):
        pn.cross_validate(sentences(1))
    blank = [pn.Sentence(["a"], {"upos": ["_"]})] * 3
    with pytest.raises(pn.FormatError, match="data: no word has a label in column 'upos'"):
        pn.cross_validate(blank)
