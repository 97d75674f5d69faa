"""Lexicons that a person gives: read, obeyed when tagging, and evidence in training."""

import gzip
import pickle
from pathlib import Path

import pytest

import perceptron_nlp as pn

SENTENCES = [
    (["The", "dog", "barks"], ["DET", "NOUN", "VERB"]),
    (["a", "cat", "sleeps"], ["DET", "NOUN", "VERB"]),
    (["dogs", "bark"], ["NOUN", "VERB"]),
] * 3
TEXT = ["The", "dog", "barks"]


@pytest.fixture(scope="module")
def tagger():
    return pn.train(SENTENCES, epochs=4)


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def test_a_word_is_looked_up_as_it_is_written_and_then_lower_cased(tagger):
    assert tagger.tag(TEXT) == ["DET", "NOUN", "VERB"]
    held = tagger.with_lexicon({"the": "VERB", "Dog": "VERB"})
    assert held.tag(TEXT)[:2] == ["VERB", "NOUN"]
    assert held.tag(["Dog"]) == ["VERB"]
    assert tagger.with_lexicon({"the": "VERB", "The": "NOUN"}).tag(TEXT)[0] == "NOUN"


def test_letters_are_made_small_one_by_one(tagger):
    held = tagger.with_lexicon({"i̇zmi̇r": "VERB", "izmir": "VERB", "οδοσ": "VERB"})
    assert held.tag(["İZMİR"]) == ["VERB"] and held.tag(["ΟΔΟΣ"]) == ["VERB"]


def test_a_form_of_several_labels_gets_the_one_that_scores_best(tagger):
    held = tagger.with_lexicon({"dog": ["VERB", "DET"], "barks": ["VERB", "NOUN"]})
    scores = held.scores(TEXT)
    labels = held.tag(TEXT)
    assert labels[2] == "VERB"
    allowed = [tagger.labels.index(label) for label in ("DET", "VERB")]
    assert labels[1] == tagger.labels[max(allowed, key=scores[1].__getitem__)]


def test_the_lexicon_goes_before_the_words_that_always_get_one_label():
    tagger = pn.train(SENTENCES, epochs=2, dictionary=(2, 0.9))
    assert tagger.model.dictionary["dog"] == "NOUN"
    assert tagger.with_lexicon({"DOG": "VERB"}).tag(["dog"]) == ["NOUN"]
    assert tagger.with_lexicon({"dog": "VERB"}).tag(["dog"]) == ["VERB"]


def test_a_feature_function_is_held_to_the_lexicon_too():
    def features(tokens, i):
        return [tokens[i].lower()]

    tagger = pn.train(SENTENCES, features=features, epochs=2)
    held = tagger.with_lexicon({"dog": ["VERB", "DET"], "the": "VERB"})
    found = held.tag(TEXT)
    assert found[0] == "VERB" and found[1] in ("VERB", "DET") and found[2] == "VERB"


def test_files_may_have_empty_lines_a_byte_order_mark_and_be_compressed(tagger, tmp_path):
    text = "\ufeffdog\tVERB\r\n\r\ndog\tDET\nbarks \t NOUN".replace(" \t ", "\t")
    plain = write(tmp_path / "forms.tsv", text)
    packed = tmp_path / "forms.tsv.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    for path in (plain, packed):
        found = tagger.with_lexicon(path).tag(TEXT)
        assert found[1] in ("VERB", "DET") and found[2] == "NOUN"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dog\tNOUN\ncat NOUN\n", r":2: a form, a tab and a label are needed, not 'cat NOUN'"),
        ("dog\tNOUN\tVERB\n", r":1: a form, a tab and a label"),
        ("\tNOUN\n", r":1: the form or the label is empty"),
        ("dog\t\n", r":1: the form or the label is empty"),
        ("dog\tNOUN \n", r":1: the form or the label is empty or has spaces"),
        ("\n \n", "the lexicon is empty"),
        ("dog\tNOUN\ncat\tNN\n", r":2: the model has no label 'NN'; it has DET, NOUN, VERB"),
    ],
)
def test_a_bad_line_is_named_with_file_and_line(tagger, tmp_path, text, message):
    path = write(tmp_path / "forms.tsv", text)
    with pytest.raises(pn.FormatError, match=message) as caught:
        tagger.with_lexicon(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("lexicon", "kind", "message"),
    [
        ({"dog": "NN"}, pn.ArgumentError, r"lexicon\['dog'\]: the model has no label 'NN'"),
        ({}, pn.ArgumentError, "lexicon: it is empty"),
        ({"dog": []}, pn.ArgumentTypeError, r"lexicon\['dog'\]: labels are str and not empty"),
        (
            {"dog": 3},
            pn.ArgumentTypeError,
            r"lexicon\['dog'\]: a label or several are needed, not int",
        ),
        ({1: "NOUN"}, pn.ArgumentTypeError, "lexicon: a form is a str"),
        (["dog"], pn.ArgumentTypeError, "lexicon: a path or a mapping"),
    ],
)
def test_a_mapping_that_is_no_lexicon_is_refused(tagger, lexicon, kind, message):
    with pytest.raises(kind, match=message):
        tagger.with_lexicon(lexicon)


def test_columns_of_spans_are_refused():
    rows = [pn.Sentence(["in", "New", "York"], {"ner": ["O", "B-LOC", "I-LOC"]})] * 2
    with pytest.raises(pn.ArgumentError, match="this model labels spans"):
        pn.train(rows, column="ner", epochs=1).with_lexicon({"New": "O"})


def test_a_tagger_with_a_lexicon_pickles_with_it_and_saves_without(tagger):
    held = tagger.with_lexicon({"dog": "VERB"})
    assert pickle.loads(pickle.dumps(held)).tag(["dog"]) == ["VERB"]
    assert held.to_bytes() == tagger.to_bytes()


def test_of_several_columns_one_is_held_to_a_lexicon():
    rows = [
        pn.Sentence(words, {"upos": tags, "xpos": [tag[0] for tag in tags]})
        for words, tags in SENTENCES
    ]
    tagger = pn.train(rows, column="upos,xpos", epochs=2)
    first = tagger.with_lexicon({"dog": "VERB"})
    second = pickle.loads(pickle.dumps(tagger.with_lexicon({"dog": "V"}, column="xpos")))
    assert first.tag(["dog"]) == ["VERB"] and second.tag(["dog"]) == ["NOUN"]
    assert second.tag(["dog"], columns=second.columns)["xpos"] == ["V"]
    with pytest.raises(pn.ArgumentError, match="column: 'feats' is not one of upos, xpos"):
        tagger.with_lexicon({"dog": "V"}, column="feats")


def test_in_training_a_lexicon_of_any_labels_becomes_features_that_the_model_keeps():
    things, deeds = ([f"{a}{b}" for a in letters for b in "aeiou"] for letters in ("fgl", "bpd"))
    pairs = list(zip(things, deeds, strict=True))
    nonsense = [([one, two], ["NOUN", "VERB"]) for one, two in pairs]
    nonsense = [*nonsense, *(([two, one], ["VERB", "NOUN"]) for one, two in pairs)] * 3
    lexicon = dict.fromkeys([*things, "zup"], "thing")
    lexicon |= {word: ["deed", "doing"] for word in (*deeds, "qux")}
    tagger = pn.train(nonsense, lexicon=lexicon, templates="fast", epochs=4)
    assert "column:lexicon[0]" in map(str, tagger.model.templates)
    assert tagger.model.feature_columns == () and tagger.model.tables.names == ("lexicon",)
    again = pn.Tagger.from_bytes(tagger.to_bytes())
    for one in (tagger, again):
        assert one.tag(["Zup"]) == ["NOUN"] and one.tag(["qux"]) == ["VERB"]
    assert again.to_bytes() == tagger.to_bytes()


def test_own_templates_must_look_at_what_is_given():
    with pytest.raises(pn.ArgumentError, match="they look at none of the columns lexicon"):
        pn.train(SENTENCES, templates=["lower[0]"], lexicon={"dog": "x"})
    tagger = pn.train(
        SENTENCES, templates=["lower[0]", "column:lexicon[-1]"], lexicon={"dog": "x"}, epochs=1
    )
    assert tagger.model.template_columns == ("lexicon",)


def test_templates_of_a_function_that_do_not_look_at_the_lexicon_are_refused():
    with pytest.raises(pn.ArgumentError, match="or leave raw and lexicon out"):
        pn.train(SENTENCES, features=lambda tokens, i: ["x"], lexicon={"dog": "x"})


def test_a_column_of_the_input_cannot_have_a_name_that_is_made():
    rows = [pn.Sentence(["a", "b"], {"lexicon": ["x", "y"], "upos": ["X", "Y"]})] * 2
    with pytest.raises(pn.ArgumentError, match="'lexicon' is the name of a column"):
        pn.train(rows, column="upos", fields=("form", "lexicon", "upos"), lexicon={"a": "x"})
