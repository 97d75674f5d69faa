"""What training decides by itself."""

import random

import numpy as np
import pytest

import perceptron_nlp as pn
from perceptron_nlp.tagger.train import auto as choices
from perceptron_nlp.tagger.train.auto import FOLDED_NGRAMS, NGRAMS

WORDS = ["red", "roses", "grow", "there", "slowly", "and", "sing"]
TAGS = ["A", "N", "V", "D", "D", "C", "V"]
PLAIN = [(WORDS[k % 3 :], TAGS[k % 3 :]) for k in range(30)]


def inflected():
    """Words whose middle alone tells their label, in no two sentences the same."""
    rows = []
    for k in range(200):
        words = [
            f"{chr(97 + (k * 7 + j) % 26)}{k % 10}{'qui' if (k + j) % 2 else 'zol'}"
            f"{(k * 3 + j) % 10}{chr(97 + (k * 5 + j * 3) % 26)}xyzyx"
            for j in range(4)
        ]
        rows.append((words, ["Q" if "qui" in word else "Z" for word in words]))
    return rows


def test_character_n_grams_are_taken_where_they_help_on_held_out_words():
    tagger = pn.train(inflected(), right_to_left=False)
    assert NGRAMS in tagger.model.templates
    assert "character n-grams" in tagger.model.record["choices"][0]


def folding(label):
    """Words whose vowels, but for their marks, tell their label."""
    pick, kinds = random.Random(1).choice, ("aeäáàâéèêëăą", "iuıüúùûíìîïū")
    rows = []
    for _ in range(150):
        which = [pick((0, 1)) for _ in range(4)]
        words = [
            "".join(
                [
                    *(pick("mnrs") for _ in range(3)),
                    pick(kinds[w]),
                    pick(kinds[1 - w]),
                    pick(kinds[w]),
                    *(pick("mnrs") for _ in range(5)),
                ]
            )
            for w in which
        ]
        rows.append((words, [label.format("AZ"[w]) for w in which]))
    return rows


def test_features_take_n_grams_of_folded_letters_where_they_are_better_on_held_out_words():
    tagger = pn.train(folding("Kind={}|Of=All"), right_to_left=False)
    assert FOLDED_NGRAMS in tagger.model.templates and NGRAMS not in tagger.model.templates
    assert "n-grams of folded letters" in " ".join(tagger.model.record["choices"])


def test_single_labels_take_no_n_grams_of_folded_letters():
    assert FOLDED_NGRAMS not in pn.train(folding("{}"), right_to_left=False).model.templates


def test_character_n_grams_are_left_where_they_do_not_help():
    assert not {NGRAMS, FOLDED_NGRAMS} & set(pn.train(PLAIN).model.templates)


def test_templates_that_are_given_are_kept():
    tagger = pn.train(inflected(), templates="fast")
    assert tagger.model.templates == pn.train(PLAIN, templates="fast").model.templates
    assert tagger.model.record["choices"] == []


@pytest.mark.parametrize(
    ("preset", "beam", "runs"), [("fast", 1, 1), ("default", 1, 1), ("accurate", 4, 4)]
)
def test_a_preset_sets_what_is_not_given(preset, beam, runs):
    options = pn.train(PLAIN, preset=preset, epochs=2).model.record["options"]
    assert (options["preset"], options["beam"], options["runs"]) == (preset, beam, runs)
    assert (options["update"], options["epochs"]) == ("adagrad", 2)


@pytest.fixture
def much_text(monkeypatch):
    """The few words of PLAIN count as enough for two runs."""
    monkeypatch.setattr(choices, "ENOUGH_FOR_TWO_RUNS", 50)


def runs_and_epochs(tagger):
    options = tagger.model.record["options"]
    return options["runs"], options["epochs"]


def test_two_shorter_runs_are_summed_where_there_is_much_text(much_text):
    tagger = pn.train(PLAIN)
    assert runs_and_epochs(tagger) == (2, 6)
    assert "two runs of 6 epochs are summed" in tagger.model.record["choices"]
    given = pn.train(PLAIN, runs=2, epochs=6).model.weights
    assert np.array_equal(tagger.model.weights.keys, given.keys)
    assert np.array_equal(tagger.model.weights.weights, given.weights)


def test_two_runs_have_all_their_epochs_where_labels_are_many(much_text, monkeypatch):
    monkeypatch.setattr(choices, "MANY_LABELS", 3)
    assert runs_and_epochs(pn.train(PLAIN)) == (2, 8)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"runs": 1}, (1, 8)),
        ({"epochs": 3}, (1, 3)),
        ({"beam": 4}, (1, 8)),
        ({"preset": "fast"}, (1, 8)),
        ({"preset": "accurate"}, (4, 8)),
        ({"update": "perceptron"}, (1, 10)),
        ({"runs": 3}, (3, 8)),
    ],
    ids=str,
)
def test_what_is_given_leaves_no_second_run_to_choose(much_text, given, expected):
    assert runs_and_epochs(pn.train(PLAIN, **given)) == expected


def test_little_text_is_learnt_in_one_run():
    assert runs_and_epochs(pn.train(PLAIN)) == (1, 8)


def test_tuning_compares_settings_by_one_run_each(much_text):
    found = pn.tune(PLAIN, folds=2, space={"margin": [2.0]})
    assert all(len(trial.curve) <= 8 for trial in found.trials) and found.options["epochs"] <= 8


def test_an_option_that_is_given_overrides_its_preset():
    tagger = pn.train(PLAIN, preset="accurate", runs=2, update="perceptron")
    options = tagger.model.record["options"]
    assert (options["beam"], options["runs"], options["update"]) == (4, 2, "perceptron")


def test_the_fast_preset_has_no_pairs_of_words():
    tagger = pn.train(PLAIN, preset="fast")
    assert all(
        len({a.offset for a in t.atoms if a.kind == "value"}) < 2 for t in tagger.model.templates
    )


def test_a_preset_that_does_not_exist_is_refused_with_the_did_you_mean():
    with pytest.raises(pn.ArgumentError, match="did you mean accurate"):
        pn.train(PLAIN, preset="acurate")


def test_the_choices_do_not_depend_on_anything_but_data_and_options():
    assert pn.train(PLAIN, seed=4).to_bytes() == pn.train(PLAIN, seed=4).to_bytes()


def test_a_single_sentence_is_enough_to_train_on():
    assert pn.train([(["a", "b"], ["X", "Y"])]).tag(["a", "b"]) == ["X", "Y"]
