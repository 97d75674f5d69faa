"""Explanations as objects, text and HTML."""

from __future__ import annotations

import json
import pickle
from html.parser import HTMLParser

import pytest

import perceptron_nlp as pn
from perceptron_nlp.tagger.explain.render import folded, page
from perceptron_nlp.tagger.tag.forward_trace import WeighedFeature

COLUMNS = [
    pn.Sentence(["la", "lupo"], {"upos": ["DET", "NOUN"], "xpos": ["D", "N"]}),
    pn.Sentence(["kato", "."], {"upos": ["NOUN", "PUNCT"], "xpos": ["N", "."]}),
]
HOSTILE = "<script>alert('&\"')</script>\x1b[31m"


def test_a_sentence_of_no_words_has_an_explanation_of_none(tagger: pn.Tagger) -> None:
    explained = tagger.explain([])
    assert len(explained) == 0 and explained.labels == [] and str(explained) == ""
    assert explained.to_dict()["words"] == []


def test_an_explanation_is_a_sequence_of_its_words_and_json(tagger: pn.Tagger) -> None:
    explained = tagger.explain(["The", "old", "man"])
    assert [word.word for word in explained] == ["The", "old", "man"]
    assert explained[1:] == explained.words[1:] and explained[-1].word == "man"
    found = json.loads(json.dumps(explained.to_dict(top=2)))
    assert [word["label"] for word in found["words"]] == explained.labels
    for word in found["words"]:
        assert len(word["features"]) == 2
        margins = sum(feature["margin"] for feature in [*word["features"], word["rest"]])
        assert margins == word["margin"] == word["score"] - word["runner_up_score"]
    with pytest.raises(AttributeError):
        explained[0].label = "X"  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(explained)).to_dict() == explained.to_dict()


def test_words_of_a_dictionary_say_so_and_so_do_those_of_a_lexicon(
    small: list[tuple[list[str], list[str]]],
) -> None:
    one = pn.train(small, epochs=3, dictionary=(2, 0.9))
    assert one.model.dictionary
    word = next(iter(one.model.dictionary))
    explained = one.explain([word, "zzz"])
    assert explained[0].decided_by == "dictionary" and "dictionary" in str(explained[0])
    assert explained[1].decided_by == "weights" and not explained[1].known
    held = one.with_lexicon({word: "PROPN", "zzz": ["NUM", "ADV"]}).explain([word, "zzz"])
    assert (held[0].decided_by, held[0].label) == ("lexicon", "PROPN")
    assert {held[1].learned, held[1].runner_up} == {"NUM", "ADV"}
    assert held[1].decided_by == "weights" and held[1].note == "the lexicon leaves ADV, NUM"


def test_a_column_is_explained_by_its_own_tagger() -> None:
    both = pn.train(COLUMNS, column="upos,xpos", epochs=2)
    words = ["la", "kato"]
    assert both.explain(words).column == "upos"
    assert (
        both.explain(words, column="xpos").labels == both.tag(words, columns=both.columns)["xpos"]
    )
    assert [labels for labels, _ in pn.k_best(both, words, 1, column="xpos")] == [
        both.by_column["xpos"].tag(words)
    ]
    for bad in (both.explain, lambda w, column: pn.k_best(both, w, 1, column=column)):
        with pytest.raises(pn.ArgumentError, match="column: 'xpo' is not one of"):
            bad(words, column="xpo")


@pytest.mark.parametrize("tokens", ["text", b"text", 3, None])
def test_what_is_no_list_of_words_is_refused(tagger: pn.Tagger, tokens: object) -> None:
    for method in (tagger.explain, lambda given: pn.k_best(tagger, given, 2)):
        with pytest.raises(pn.ArgumentTypeError, match="tokens: a list of words is needed"):
            method(tokens)  # type: ignore[arg-type]
    with pytest.raises(pn.ArgumentTypeError, match=r"\[1\]: a str is needed, not int"):
        tagger.explain(["a", 1])  # type: ignore[list-item]


def test_words_may_come_from_an_iterator(tagger: pn.Tagger) -> None:
    words = ["The", "man"]
    assert tagger.explain(iter(words)).labels == tagger.tag(words)  # type: ignore[arg-type]
    assert pn.k_best(tagger, iter(words), 1)[0][0] == tagger.tag(words)  # type: ignore[arg-type]


def test_a_model_whose_function_is_missing_says_which_it_is() -> None:
    one = pn.train(COLUMNS, column="upos", features=len_of)
    with pytest.raises(pn.ModelError, match=r"feature function .*len_of; give it to load"):
        pn.Tagger.from_bytes(one.to_bytes())
    assert pn.Tagger.from_bytes(one.to_bytes(), features=len_of).explain(["la"])[0].features


def len_of(tokens: pn.Sentence, i: int) -> list[str]:
    return [str(len(tokens[i]))]


def test_the_first_of_two_passes_is_explained_beside_the_second() -> None:
    rows = [
        pn.Sentence(["bel", noun], {"upos": ["ADJ", "NOUN"], "feats": [f"Case={case}|X=Y"] * 2})
        for noun, case in [("lupo", "Nom"), ("lupu", "Gen")] * 6
    ]
    one = pn.train(rows, column="feats", two_passes=True, epochs=3)
    explained = one.explain(["bel", "lupo"])
    assert explained.first is not None and explained.first.first is None
    assert "column:pass1[0]=" + explained.first[1].learned in {
        feature.text for feature in explained[1].features
    }


@pytest.mark.parametrize("width", [20, 33, 80])
def test_text_fits_the_width_and_shows_no_control_characters(tagger: pn.Tagger, width: int) -> None:
    explained = tagger.explain(["man", HOSTILE, "漢字" * 40, "e\u0301" * 50, "\ud800"])
    lines = explained.to_text(width=width, top=None).splitlines()
    assert all(line.isprintable() and len(line) <= width + line.count("\u0301") for line in lines)
    wide = next(line for line in lines if line.startswith("漢"))
    assert sum(1 + (character > "\u2fff") for character in wide) <= width


class Tags(HTMLParser):
    """Collects the names of tags."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        if tag == "link":
            # The icon, which stands in the page itself.
            assert dict(attrs).get("href", "").startswith("data:image/svg+xml,")
            return
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)


def test_html_is_whole_and_what_the_sentence_holds_stays_text(tagger: pn.Tagger) -> None:
    explained = tagger.explain(["man", HOSTILE, "\ud800"])
    parser = Tags()
    text = page([explained], top=3, title=HOSTILE, right_to_left=True)
    text.encode("utf-8")
    parser.feed(text)
    parser.close()
    assert {"script", "img", "iframe"}.isdisjoint(parser.names)
    assert parser.names.count("table") == 3
    assert "light-dark(" in text and "\x1b" not in text
    assert explained.to_html(top=3).startswith("<!DOCTYPE html>")


def weighed(texts: dict[str, float]) -> list[WeighedFeature]:
    """Features by their texts and what they add to the margin."""
    return [
        WeighedFeature(text.partition("=")[0], text, margin, 0.0) for text, margin in texts.items()
    ]


def test_features_that_say_the_same_of_one_word_are_one_line() -> None:
    same = {"lower[0]=old": 1.0, "lower.prefix4[0]=old": 2.0, "lower.ngrams1-6[0]=^old$": 4.0}
    start = {"lower.prefix2[0]=ol": -8.0, "lower.ngrams1-6[0]=^ol": -8.0}
    others = {"lower[+1]=old": 3.0, "lower.ngrams1-6[0]=ol": 0.5, "tag[+1]=old": 0.25}
    lines = folded(weighed(same | start | others))
    assert [(line.text, line.margin) for line in lines] == [
        ("lower.prefix2[0]=ol", -16.0),
        ("lower[0]=old", 7.0),
        ("lower[+1]=old", 3.0),
        ("lower.ngrams1-6[0]=ol", 0.5),
        ("tag[+1]=old", 0.25),
    ]
    assert [line.alike for line in lines[:3]] == [
        ("lower.ngrams1-6",),
        ("lower.prefix4", "lower.ngrams1-6"),
        (),
    ]


def test_folding_loses_nothing_of_the_margin(tagger: pn.Tagger) -> None:
    for word in tagger.explain(["The", "old", "man", "boards", "it"]):
        total = sum(line.margin for line in folded(word.features))
        assert total == pytest.approx(word.margin)


def test_calibrated_models_explain_with_their_confidences() -> None:
    rows = [
        ([f"w{(7 * i + j) % 60}" for j in range(8)], ["AB"[(i * j) % 2] for j in range(8)])
        for i in range(60)
    ]
    tagger = pn.train(rows[:10], epochs=2)
    assert tagger.explain(["w1"])[0].confidence is None
    tagger = tagger.calibrate(rows)
    found = tagger.explain(["w1", "w2"])
    assert [word.confidence for word in found] == tagger.confidences(["w1", "w2"])
    assert found.to_dict()["words"][0]["confidence"] == found[0].confidence
    assert f"<small>{100 * found[0].confidence:.0f} %</small>" in found.to_html()


def test_labels_to_compare_with_must_be_as_many_as_the_words(tagger: pn.Tagger) -> None:
    with pytest.raises(pn.ArgumentError, match="against: 1 labels for 2 words"):
        tagger.explain(["The", "dog"], against=["DET"])


def test_labels_that_cannot_be_compared_leave_the_runner_up(tagger: pn.Tagger) -> None:
    words = ["The", "dog", "barks"]
    plain = tagger.explain(words)
    for against in (plain.labels, [None, None, None], ["no", "such", "label"]):
        found = tagger.explain(words, against=against)
        assert [why.runner_up for why in found] == [why.runner_up for why in plain]


def test_spans_are_compared_as_they_are_written() -> None:
    labeled = [(["the", "cat", "sees", "dogs"], ["B-NP", "I-NP", "O", "B-NP"])] * 3
    tagger = pn.train(labeled, epochs=3)
    why = tagger.explain(labeled[0][0], against=["O", "B-NP", "B-NP", "I-NP"])
    assert why.labels == labeled[0][1]
    assert why[0].runner_up == "O"
    assert why[1].runner_up in ("B-NP", "S-NP") and why[2].runner_up in ("B-NP", "S-NP")
    assert why[3].runner_up in ("I-NP", "E-NP")


@pytest.mark.parametrize("right_to_left", [False, True])
def test_offsets_are_in_the_order_of_the_text_whatever_the_direction(right_to_left: bool) -> None:
    rows = [(["a", "b", "c"], ["A", "B", "C"])] * 3
    templates = ["tag[-1]", "lower[-1]", "lower[1] tag[-2]"]
    tagger = pn.train(rows, epochs=3, templates=templates, right_to_left=right_to_left)
    found = tagger.explain(["a", "b", "c"])
    labels = found.labels
    seen = {feature.template: feature.text for feature in found[1].features}
    near = f"tag[+1]={labels[2]}" if right_to_left else f"tag[-1]={labels[0]}"
    assert {near, "lower[-1]=a"} <= set(seen.values())
    assert {near.partition("=")[0], "lower[-1]"} <= set(seen)
    far = "[+2]" if right_to_left else "[-2]"
    last = found[0 if right_to_left else 2].features
    assert any(feature.template == f"lower[+1] tag{far}" for feature in last)
    how = "right to left" if right_to_left else "left to right"
    assert str(found).startswith(f"read {how}; [-1] is the word before, [+1] the word after\n\n")
    assert f"the text was read {how}." in found.to_html()
    assert found.to_dict()["right_to_left"] is right_to_left
    shown = [item.template for item in pn.inspect(tagger).columns[0].templates]
    assert shown == [t.in_text_order(right_to_left) for t in tagger.model.templates]
