"""What training decides by itself."""

import random

import pytest

import perceptron_nlp as pn
from perceptron_nlp.tagging.choices import FOLDED_NGRAMS, NGRAMS

WORDS = ["red", "roses", "grow", "there", "slowly", "and", "sing"]
TAGS = ["A", "N", "V", "D", "D", "C", "V"]
PLAIN = [(WORDS[k % 3:], TAGS[k % 3:]) for k in range(30)]


def inflected():
    """Words whose middle alone tells their label, in no two sentences the same."""
    rows = []
    for k in range(200):
        words = [f"{chr(97 + (k * 7 + j) % 26)}{k % 10}{'qui' if (k + j) % 2 else 'zol'}"
                 f"{(k * 3 + j) % 10}{chr(97 + (k * 5 + j * 3) % 26)}xyzyx" for j in range(4)]
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
        words = ["".join([*(pick("mnrs") for _ in range(3)), pick(kinds[w]), pick(kinds[1 - w]),
                          pick(kinds[w]), *(pick("mnrs") for _ in range(5))]) for w in which]
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


@pytest.mark.parametrize(("preset", "beam", "runs"), [
    ("fast", 1, 1), ("default", 1, 1), ("accurate", 4, 4)])
def test_a_preset_sets_what_is_not_given(preset, beam, runs):
    options = pn.train(PLAIN, preset=preset, epochs=2).model.record["options"]
    assert (options["preset"], options["beam"], options["runs"]) == (preset, beam, runs)
    assert (options["update"], options["epochs"]) == ("adagrad", 2)


def test_an_option_that_is_given_overrides_its_preset():
    tagger = pn.train(PLAIN, preset="accurate", runs=2, update="perceptron")
    options = tagger.model.record["options"]
    assert (options["beam"], options["runs"], options["update"]) == (4, 2, "perceptron")


def test_the_fast_preset_has_no_pairs_of_words():
    tagger = pn.train(PLAIN, preset="fast")
    assert all(len({a.offset for a in t.atoms if a.kind == "value"}) < 2
               for t in tagger.model.templates)


def test_a_preset_that_does_not_exist_is_refused_with_the_nearest():
    with pytest.raises(pn.ArgumentError, match="did you mean accurate"):
        pn.train(PLAIN, preset="acurate")


def test_the_choices_do_not_depend_on_anything_but_data_and_options():
    assert pn.train(PLAIN, seed=4).to_bytes() == pn.train(PLAIN, seed=4).to_bytes()


def test_a_single_sentence_is_enough_to_train_on():
    assert pn.train([(["a", "b"], ["X", "Y"])]).tag(["a", "b"]) == ["X", "Y"]
