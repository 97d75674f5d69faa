"""What training decides by itself."""

import random
from typing import NamedTuple

import numpy as np
import pytest

import perceptron_nlp as pn
from perceptron_nlp.tagger.train import auto as choices
from perceptron_nlp.tagger.train.auto import (
    ENDINGS,
    FOLDED_NGRAMS,
    NGRAMS,
    PARTS_MARGIN,
    SHORT_NGRAMS,
)

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


def templates_of(*arguments, **options):
    return {*pn.train(*arguments, **options).model.templates}


@pytest.mark.parametrize("preset", ["fast", "default", "accurate"])
def test_little_text_of_whole_labels_has_n_grams_and_endings_of_neighbors_unmeasured(preset):
    tagger = pn.train(PLAIN, preset=preset, epochs=1)
    assert {SHORT_NGRAMS, *ENDINGS} <= {*tagger.model.templates}
    assert "held-out" not in " ".join(tagger.model.record["choices"])


def test_much_text_takes_n_grams_where_they_help_on_held_out_words(much_text):
    assert NGRAMS in templates_of(inflected(), right_to_left=False)
    assert not {NGRAMS, FOLDED_NGRAMS, SHORT_NGRAMS, *ENDINGS} & templates_of(PLAIN)


def has_pairs(templates):
    return any(len({a.offset for a in t.atoms if a.kind == "value"}) > 1 for t in templates)


def test_pairs_of_words_are_for_much_text_alone(monkeypatch):
    assert not has_pairs(templates_of(PLAIN))
    monkeypatch.setattr(choices, "MUCH_TEXT", 50)
    assert has_pairs(templates_of(PLAIN)) and not has_pairs(templates_of(PLAIN, preset="fast"))


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


def test_single_labels_take_no_n_grams_of_folded_letters(much_text):
    assert FOLDED_NGRAMS not in templates_of(folding("{}"), right_to_left=False)


class Probed(NamedTuple):
    """What a probe was trained with."""

    held_out: int
    margin: float
    right_to_left: bool
    parts: str | None
    labels: frozenset


def probes_of(data, monkeypatch, **options):
    """Return what each probe of a training was trained with."""
    found = []
    trainer = choices.Trainer

    def probing(task, **how):
        labels, chosen = task.examples.tags.labels, task.options
        n_held_out = len(data) - len(task.examples.sentences)
        found.append(
            Probed(
                n_held_out,
                chosen.least_lead,
                chosen.is_right_to_left,
                task.examples.parts,
                frozenset(labels),
            )
        )
        return trainer(task, **how)

    with monkeypatch.context() as patch:
        patch.setattr(choices, "Trainer", probing)
        return found, pn.train(data, **options).model


def many_new(n_sentences):
    """Sentences whose features are often put together in ways not seen before."""
    pick = random.Random(1).choice
    rows = []
    for _ in range(n_sentences):
        labels = [f"Case={pick('ABCDEFG')}|Number={pick('PQRST')}" for _ in range(4)]
        rows.append(([f"w{label[5]}{label[-1]}{pick('xyz')}" for label in labels], labels))
    return rows


@pytest.mark.parametrize("right_to_left", [False, True])
def test_probes_train_under_the_margin_labels_and_direction_of_the_training(
    right_to_left, monkeypatch
):
    probes, model = probes_of(many_new(20), monkeypatch, right_to_left=right_to_left)
    assert {p.margin for p in probes} == {PARTS_MARGIN}
    assert {p.right_to_left for p in probes} == {right_to_left}
    own = [p for p in probes if p.parts == model.parts]
    assert own and {p.labels for p in own} == {frozenset(model.tags.labels)}
    assert model.record["options"]["margin"] == PARTS_MARGIN


def test_probes_cross_validate_until_enough_is_held_out(monkeypatch):
    data = many_new(20)
    probes, _ = probes_of(data, monkeypatch)
    assert {p.held_out for p in probes} == {4} and len(probes) % 5 == 0
    assert sum(p.held_out for p in probes) == len(data) * len(probes) // 5
    monkeypatch.setattr(choices, "HELD_OUT_TOKENS", 20)
    fewer, _ = probes_of(data, monkeypatch)
    assert len(fewer) == len(probes) * 2 // 5


def test_a_gain_that_is_clear_ends_the_cross_validation(monkeypatch):
    monkeypatch.setattr(choices, "CLEAR_TOKENS", 1)
    clear, _ = probes_of(folding("Kind={}|Of=All")[:50], monkeypatch)
    monkeypatch.setattr(choices, "CLEAR_GAIN", 2)
    full, _ = probes_of(folding("Kind={}|Of=All")[:50], monkeypatch)
    assert len(clear) < len(full)


def test_whole_labels_are_no_parts_where_pieces_put_together_do_better(monkeypatch):
    data = many_new(20)
    probes, model = probes_of(data, monkeypatch)
    assert {p.parts for p in probes} == {"pieces", "pieces+whole"}
    assert model.parts == "pieces"
    assert "put together from pieces" in " ".join(model.record["choices"])


def test_templates_that_are_given_are_kept():
    tagger = pn.train(inflected(), templates="fast")
    assert tagger.model.templates == pn.train(PLAIN, templates="fast").model.templates
    assert tagger.model.record["choices"] == ["4 runs of 6 epochs are summed"]


@pytest.mark.parametrize(
    ("preset", "beam", "runs"), [("fast", 1, 1), ("default", 1, 1), ("accurate", 4, 4)]
)
def test_a_preset_sets_what_is_not_given(preset, beam, runs):
    options = pn.train(PLAIN, preset=preset, epochs=2).model.record["options"]
    assert (options["preset"], options["beam"], options["runs"]) == (preset, beam, runs)
    assert (options["update"], options["epochs"]) == ("adagrad", 2)


@pytest.fixture
def much_text(monkeypatch):
    """The few words of PLAIN count as much text."""
    monkeypatch.setattr(choices, "MUCH_TEXT", 50)


def runs_and_epochs(tagger):
    options = tagger.model.record["options"]
    return options["runs"], options["epochs"]


def test_four_shorter_runs_are_summed_where_there_is_little_text():
    tagger = pn.train(PLAIN)
    assert runs_and_epochs(tagger) == (4, 6)
    assert "4 runs of 6 epochs are summed" in tagger.model.record["choices"]
    given = pn.train(PLAIN, runs=4, epochs=6).model.weights
    assert np.array_equal(tagger.model.weights.keys, given.keys)
    assert np.array_equal(tagger.model.weights.weights, given.weights)


def test_two_shorter_runs_are_summed_where_there_is_much_text(much_text):
    assert runs_and_epochs(pn.train(PLAIN)) == (2, 6)


def test_runs_have_all_their_epochs_where_labels_are_many(monkeypatch):
    monkeypatch.setattr(choices, "MANY_LABELS", 3)
    assert runs_and_epochs(pn.train(PLAIN)) == (4, 8)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"runs": 1}, (1, 8)),
        ({"epochs": 3}, (1, 3)),
        ({"beam": 4}, (1, 8)),
        ({"preset": "fast"}, (1, 8)),
        ({"preset": "accurate"}, (6, 6)),
        ({"preset": "accurate", "runs": 4}, (4, 6)),
        ({"preset": "accurate", "epochs": 3}, (4, 3)),
        ({"update": "perceptron"}, (1, 10)),
        ({"runs": 3}, (3, 8)),
    ],
    ids=str,
)
def test_what_is_given_leaves_no_runs_to_choose(given, expected):
    assert runs_and_epochs(pn.train(PLAIN, **given)) == expected


def test_features_of_little_text_are_learned_in_four_runs():
    assert runs_and_epochs(pn.train(many_new(20))) == (4, 6)


def test_features_of_much_text_are_learned_in_one_run(much_text):
    assert runs_and_epochs(pn.train(many_new(20))) == (1, 8)


def test_an_option_that_is_given_overrides_its_preset():
    tagger = pn.train(PLAIN, preset="accurate", runs=2, update="perceptron")
    options = tagger.model.record["options"]
    assert (options["beam"], options["runs"], options["update"]) == (4, 2, "perceptron")


def test_the_fast_preset_has_no_pairs_of_words():
    assert not has_pairs(templates_of(PLAIN, preset="fast"))


def test_a_preset_that_does_not_exist_is_refused_with_the_did_you_mean():
    with pytest.raises(pn.ArgumentError, match="did you mean accurate"):
        pn.train(PLAIN, preset="acurate")


def test_the_choices_do_not_depend_on_anything_but_data_and_options():
    assert pn.train(PLAIN, seed=4).to_bytes() == pn.train(PLAIN, seed=4).to_bytes()


def test_a_single_sentence_is_enough_to_train_on():
    assert pn.train([(["a", "b"], ["X", "Y"])]).tag(["a", "b"]) == ["X", "Y"]
