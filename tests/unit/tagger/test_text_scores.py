"""F1 from running text, as the CoNLL 2018 shared task counts."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_nlp.errors import FormatError
from perceptron_nlp.formats import read_conllu
from perceptron_nlp.tagger.text_scores import METRICS, text_scores
from perceptron_nlp.text.sentence import Sentence

Row = tuple[str, str]
"""A word and its part of speech; a word with a + makes two words of one token."""


def sentences(*texts: Sequence[str]) -> list[Sentence]:
    """Sentences of ``form/UPOS`` tokens; ``du=de/ADP+le/DET`` is a multiword token."""
    lines = []
    for tokens in texts:
        number = 0
        for token in tokens:
            surface, _, parts = token.partition("=")
            words = (parts or surface).split("+")
            if parts:
                lines.append(f"{number + 1}-{number + len(words)}\t{surface}" + "\t_" * 8)
            for word in words:
                number += 1
                form, tag = word.split("/")
                lines.append(f"{number}\t{form}\t{form.lower()}\t{tag}\t_\t_\t_\t_\t_\t_")
        lines.append("")
    return list(read_conllu(io.BytesIO("\n".join([*lines, ""]).encode())))


def test_what_is_the_same_is_found() -> None:
    gold = sentences(["Il/PRON", "va/VERB", "du=de/ADP+le/DET", "bois/NOUN"], ["Oui/INTJ"])
    scores = text_scores(gold, gold)
    assert tuple(scores) == METRICS
    assert all(score.f1 == score.precision == score.recall == 1 for score in scores.values())
    assert (scores["Tokens"].gold, scores["Words"].gold, scores["Sentences"].gold) == (5, 6, 2)


def test_words_of_a_token_that_was_not_split_are_missed() -> None:
    gold = sentences(["du=de/ADP+le/DET", "bois/NOUN"])
    system = sentences(["du/DET", "bois/VERB"])
    scores = text_scores(gold, system)
    assert scores["Tokens"].correct == 2
    assert (scores["Words"].gold, scores["Words"].system, scores["Words"].correct) == (3, 2, 1)
    assert scores["UPOS"].correct == 0 and scores["UPOS"].aligned == 1
    assert scores["Lemmas"].f1 == pytest.approx(2 / 5)


def test_a_range_of_one_word_is_a_multiword_token() -> None:
    gold = sentences(["dont=don't/AUX", "x/X"])
    scores = text_scores(gold, sentences(["dont/AUX", "x/X"]))
    assert scores["Tokens"].f1 == 1 and scores["Words"].correct == 1
    same = text_scores(gold, sentences(["dont=DON'T/AUX", "x/X"]))
    assert same["Words"].f1 == same["UPOS"].f1 == 1


def test_words_of_multiword_tokens_are_aligned_by_their_forms() -> None:
    gold = sentences(["aux=à/ADP+les/DET", "x/NOUN"])
    system = sentences(["aux=a/ADP+Les/DET+s/X", "x/NOUN"])
    scores = text_scores(gold, system)
    assert (scores["Words"].correct, scores["UPOS"].correct) == (2, 2)
    assert scores["Words"].precision == 0.5


def test_tokens_cut_elsewhere_and_sentences_joined_are_not_found() -> None:
    gold = sentences(["can't/AUX", "go/VERB"], ["No/INTJ"])
    system = sentences(["can/AUX", "'t/PART", "go/VERB", "No/INTJ"])
    scores = text_scores(gold, system)
    assert (scores["Tokens"].correct, scores["Words"].correct, scores["Sentences"].correct) == (
        2,
        2,
        0,
    )
    assert scores["UPOS"].f1 == pytest.approx(2 * 2 / (3 + 4))


def test_any_lemma_will_do_where_gold_has_none() -> None:
    gold, system = sentences(["a/X"]), sentences(["a/X"])
    gold = list(read_conllu(io.BytesIO(b"1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n\n")))
    assert text_scores(gold, system)["Lemmas"].correct == 1
    assert text_scores(system, gold)["Lemmas"].correct == 0


def test_other_texts_are_refused_with_the_place() -> None:
    with pytest.raises(FormatError, match="after 2 characters 'go' in the gold text, 'do' in"):
        text_scores(sentences(["I'/X", "go/X"]), sentences(["I'/X", "do/X"]))


def test_features_of_a_language_alone_do_not_count() -> None:
    rows = (b"Case=Nom|Style=Rare", b"Style=Arch|Case=Nom", b"Case=Gen")
    texts = [list(read_conllu(io.BytesIO(b"1\ta\t_\tX\t_\t%s\t_\t_\t_\t_\n\n" % r))) for r in rows]
    assert text_scores(texts[0], texts[1])["UFeats"].correct == 1
    assert text_scores(texts[0], texts[2])["UFeats"].correct == 0


TOKEN = st.sampled_from(["a/X", "b/Y", "ab/X", "ab=a/X+b/Y", "ba=b/X+a/Y+c/X", "aab=a/X+ab/X"])


@given(st.lists(st.lists(TOKEN, min_size=1, max_size=6), min_size=1, max_size=3))
def test_a_text_against_itself_is_perfect(texts: list[list[str]]) -> None:
    gold = sentences(*texts)
    assert {score.f1 for score in text_scores(gold, gold).values()} == {1.0}


@given(st.lists(TOKEN, min_size=1, max_size=8), st.data())
def test_counts_stay_within_their_bounds(tokens: list[str], data: st.DataObject) -> None:
    gold = sentences(tokens)
    letters = "".join(token.partition("=")[0].partition("/")[0] for token in tokens)
    cuts = data.draw(st.lists(st.integers(1, max(1, len(letters) - 1)), unique=True).map(sorted))
    pieces = [letters[a:b] for a, b in zip([0, *cuts], [*cuts, len(letters)], strict=True)]
    system = sentences([f"{piece}/X" for piece in pieces if piece])
    for score in text_scores(gold, system).values():
        assert 0 <= score.correct <= min(score.gold, score.system)
    for name, score in text_scores(system, gold).items():
        other = text_scores(gold, system)[name]
        assert (score.gold, score.system) == (other.system, other.gold)


def test_columns_are_evaluated_over_the_words_that_both_have() -> None:
    gold = sentences(["Il/PRON", "va/VERB", "du=de/ADP+le/DET", "bois/NOUN"], ["Oui/INTJ"])
    system = sentences(["Il/PRON", "va/AUX", "du/ADP", "bois/NOUN", "Oui/NOUN"])
    scores = text_scores(gold, system)
    (result,) = [own for name, own in scores.columns.items() if name == "upos"]
    assert result.tokens == scores["UPOS"].aligned == 4
    assert result.correct == scores["UPOS"].correct == 2
    assert result.confusion["VERB", "AUX"] == 1
    assert result.mistakes is not None
    assert [(one.token, one.gold, one.predicted) for one in result.mistakes] == [
        ("va", "VERB", "AUX"),
        ("Oui", "INTJ", "NOUN"),
    ]
    assert set(text_scores(gold, gold).columns) == {"upos", "lemma"}


def test_features_of_a_system_are_scored_one_by_one() -> None:
    def text(feats: str) -> list[Sentence]:
        return list(read_conllu(io.BytesIO(f"1\ta\t_\tX\t_\t{feats}\t_\t_\t_\t_\n\n".encode())))

    found = text_scores(text("Case=Nom|Number=Sing|Own=A"), text("Case=Nom|Number=Plur|Own=B"))
    features = found.columns["feats"].features
    assert list(features) == ["Case", "Number"]
    assert (features["Case"].f1, features["Number"].f1) == (1.0, 0.0)
