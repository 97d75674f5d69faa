"""The options beam and cost, through training, saving and tagging."""

import pytest

import perceptron_nlp as pn

SENTENCES = [
    (["time", "flies"], ["N", "V"]),
    (["fruit", "flies"], ["A", "N"]),
    (["fruit", "flies", "like", "time"], ["A", "N", "V", "N"]),
    (["time", "flies", "like", "fruit"], ["N", "V", "P", "N"]),
]


@pytest.mark.parametrize("update", ["perceptron", "margin", "adagrad"])
@pytest.mark.parametrize("right_to_left", [False, True])
def test_a_tagger_trained_with_a_beam_tags_with_it_after_saving_and_loading(update, right_to_left):
    tagger = pn.train(SENTENCES, beam=4, update=update, right_to_left=right_to_left, epochs=20)
    again = pn.Tagger.from_bytes(tagger.to_bytes())
    assert again.model.beam == 4
    assert again.tag_sents([words for words, _ in SENTENCES]) == [tags for _, tags in SENTENCES]
    assert again.to_bytes() == tagger.to_bytes()


def test_threads_do_not_change_what_a_beam_finds():
    tagger = pn.train(SENTENCES, beam=3, epochs=3)
    words = [words for words, _ in SENTENCES] * 400
    assert tagger.tag_sents(words, threads=4) == tagger.tag_sents(words)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam": 0}, "beam: 0"),
        ({"beam": 65}, "beam: 65"),
        ({"cost": -1.0}, "cost: -1.0"),
        ({"cost": float("nan")}, "cost: nan"),
        (
            {"beam": 2, "update": "passive-aggressive"},
            "passive-aggressive learns from single labels",
        ),
    ],
)
def test_options_of_the_search_that_cannot_be_used_are_refused(options, message):
    with pytest.raises(pn.ArgumentError, match=message):
        pn.train(SENTENCES, **options)


def test_a_cost_that_is_no_number_is_refused():
    with pytest.raises(pn.ArgumentTypeError, match="cost: a number is needed, not str"):
        pn.train(SENTENCES, cost="1")
