"""What features add sums to the score that the label got, for models of every kind."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.feature_keys import template_keys
from oracles.word_views import seen

import perceptron_nlp as pn
from perceptron_nlp.features.readable import value_texts
from perceptron_nlp.features.templates import VIEWS, Value

NOUNS = {"lupo": "Nom", "lupu": "Gen", "Kato": "Nom", "katu": "Gen"}
WORDS = ["la", "bel", ".", "1984", "Ünï-x", *NOUNS]
SENTENCES = st.lists(st.sampled_from(WORDS) | st.text(max_size=4), max_size=7)


def rows() -> list[pn.Sentence]:
    made = []
    for number in range(24):
        noun = list(NOUNS)[number % 4]
        case = f"Case={NOUNS[noun]}|Number=Sing"
        words = ["la", "bel", noun, "."][number % 3 != 0 :]
        made.append(
            pn.Sentence(
                words,
                {
                    "upos": ["DET", "ADJ" if number % 5 else "NOUN", "NOUN", "PUNCT"][
                        -len(words) :
                    ],
                    "feats": ["_", case, case, "_"][-len(words) :],
                    "chunk": [
                        *["B-N", "I-N", "I-N" if number % 7 else "B-N"][: len(words) - 1],
                        "O",
                    ],
                },
            )
        )
    return made


def features(tokens: Sequence[str], i: int) -> dict[str, str | bool]:
    return {"word": tokens[i], "long": len(tokens[i]) > 3, "odd": i % 2 == 1}


def names(tokens: Sequence[str], i: int) -> list[str]:
    return [tokens[i], tokens[i][-1:]]


TEMPLATES = [
    "lower.ngrams2-4[0]",
    "tag[-1] tag[-3]",
    "first lower[1]",
    "flags[0]",
    "bias",
    "shape[-1] word[1]",
    "lower[-2] tag[-1]",
    "last",
]
NAMES = [
    (["Kato", "bel", noun], ["B-PER", "O", "B-LOC" if noun == "Kato" else "O"]) for noun in NOUNS
] * 3
RAW = [["la", "bel", noun, "."] for noun in NOUNS] * 3


def learn(**options: object) -> pn.Tagger:
    return pn.train(rows(), **{"epochs": 3, "column": "upos", "seed": 1, **options})


KINDS: dict[str, Callable[[], pn.Tagger]] = {
    "greedy": learn,
    "one label": lambda: pn.train([(["a", "b"], ["X", "X"])]),
    "from the end": lambda: learn(right_to_left=True, templates=TEMPLATES),
    "templates": lambda: learn(templates=TEMPLATES, right_to_left=False),
    "fixed table": lambda: learn(table_bits=5),
    "beam": lambda: learn(beam=4),
    "beam from the end": lambda: learn(beam=3, right_to_left=True, templates=TEMPLATES),
    "dictionary": lambda: learn(dictionary=(3, 0.9)),
    "dictionary and beam": lambda: learn(dictionary=(3, 0.9), beam=4),
    "held to a lexicon": lambda: learn().with_lexicon({"lupo": ["ADJ", "DET"], "la": "NOUN"}),
    "lexicon and beam": lambda: learn(beam=2).with_lexicon({"lupo": ["ADJ", "DET"]}),
    "runs": lambda: learn(runs=2),
    "compressed": lambda: learn().compress(3_500, force=True),
    "spans": lambda: learn(column="chunk"),
    "names": lambda: pn.train(NAMES, window=3, epochs=3),
    "parts of features": lambda: learn(column="feats"),
    "two passes": lambda: learn(column="feats", two_passes=True),
    "clusters": lambda: learn(raw=RAW),
    "lexicon learned": lambda: learn(lexicon={"lupo": ["NOUN", "VERB"], "bel": "ADJ"}),
    "a mapping": lambda: learn(features=features),
    "a list and a lexicon": lambda: learn(features=names).with_lexicon({"la": ["ADJ", "NOUN"]}),
    "a list and a dictionary": lambda: learn(features=names, dictionary=(3, 0.9)),
}


@functools.cache
def tagger(kind: str) -> pn.Tagger:
    return KINDS[kind]()


def test_the_kinds_are_what_they_are_called() -> None:
    assert tagger("two passes").model.first and tagger("names").window == 3
    assert tagger("clusters").model.tables and tagger("lexicon learned").model.tables
    assert tagger("parts of features").model.parts and tagger("spans").model.scheme == "bio"
    assert tagger("dictionary").model.dictionary and tagger("fixed table").model.weights.table_bits
    assert tagger("compressed").model.packed and tagger("beam").model.beam == 4


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=6)
@given(words=SENTENCES, top=st.integers(0, 5))
def test_the_parts_sum_to_the_scores_up_to_rounding(kind: str, words: list[str], top: int) -> None:
    one = tagger(kind)
    explained, scores = one.explain(words), one.scores(words)
    few = one.explain(words, top=top)
    assert explained.labels == one.tag(words) and len(explained) == len(words)
    for i, word in enumerate(explained):
        own = one.labels.index(word.learned)
        # Steps of weights may be eighths of a power of two, whose sums are rounded as floats are.
        near = functools.partial(pytest.approx, rel=1e-12, abs=1e-12)
        assert word.score == scores[i, own] == near(sum(one.weight for one in word.features))
        assert word.known == one.model.knows(words[i])
        lefts = [*few[i].features, *([few[i].rest] if few[i].rest else [])]
        assert len(few[i].features) == min(top, len(word.features))
        assert few[i].features == word.features[:top]
        assert sum(feature.weight for feature in lefts) == near(word.score)
        if word.runner_up is None or word.margin is None:
            assert word.runner_up_score is None
            continue
        other = one.labels.index(word.runner_up)
        assert other != own and word.runner_up_score == scores[i, other]
        assert sum(feature.margin for feature in word.features) == near(word.margin)
        assert sum(feature.margin for feature in lefts) == near(word.margin)
        if word.note is None:
            assert word.margin >= 0
            assert all(
                scores[i, other] >= score for label, score in enumerate(scores[i]) if label != own
            )


def expected(one: pn.Tagger, words: list[str], i: int) -> Counter[tuple[str, int, int]]:
    """Template, weight for the label and weight for the runner-up, key by key."""
    model, word = one.model, one.explain(words)[i]
    weights = model.weights
    cells = {
        (int(weights.keys[row]), int(weights.labels[cell])): int(weights.weights[cell])
        for row in range(weights.n_rows)
        for cell in range(weights.starts[row], weights.starts[row + 1])
    }
    known = {key for key, _ in cells}
    given = [explained.learned for explained in one.explain(words)]
    past = given[i + 1 :] if model.right_to_left else given[:i][::-1]
    own, other = (
        model.tags.id_of(label) if label else -1 for label in (word.learned, word.runner_up)
    )
    return Counter(
        (
            template.in_text_order(model.right_to_left),
            cells.get((key, own), 0),
            cells.get((key, other), 0),
        )
        for template in model.templates
        for key in template_keys(template, {"form": words}, i, past)
        if key in known
    )


@pytest.mark.parametrize("kind", ["greedy", "templates", "from the end", "beam", "spans"])
@settings(max_examples=5)
@given(words=SENTENCES.filter(bool))
def test_the_features_are_those_of_the_templates_and_their_weights_those_of_the_model(
    kind: str, words: list[str]
) -> None:
    one = tagger(kind)
    scale = one.model.weights.scale
    for i, word in enumerate(one.explain(words)):
        assert expected(one, words, i) == Counter(
            (feature.template, int(feature.weight * scale), int(feature.runner_up_weight * scale))
            for feature in word.features
        )


@given(
    word=st.text(max_size=60),
    view=st.sampled_from(VIEWS),
    affix=st.sampled_from(
        [("none", 0, 0), ("prefix", 3, 3), ("suffix", 1, 1), ("ngrams", 2, 4), ("pieces", 0, 0)]
    ),
)
def test_the_texts_of_values_are_those_whose_hashes_are_taken(
    word: str, view: str, affix: tuple[str, int, int]
) -> None:
    value = Value("form", view, *affix)
    assert value_texts(word, value) == seen(word, value)


def test_what_features_saw_is_said_in_words() -> None:
    one = tagger("templates")
    said = {
        feature.template: set()
        for word in one.explain(["la", "bel", "lupo", "."])
        for feature in word.features
    }
    for word in one.explain(["la", "bel", "lupo", "."]):
        for feature in word.features:
            said[feature.template].add(feature.text)
    assert "first=yes lower[+1]=bel" in said["first lower[+1]"]
    assert "lower[-2]=<s2> tag[-1]=<none>" in said["lower[-2] tag[-1]"]
    assert "lower[-2]=<s> tag[-1]=DET" in said["lower[-2] tag[-1]"]
    assert "shape[-1]=x word[+1]=</s>" in said["shape[-1] word[+1]"]
    assert "lower.ngrams2-4[0]=^l" in said["lower.ngrams2-4[0]"]
    assert "flags[0]=no-letter+other" in said["flags[0]"]
    assert said["bias"] == {"bias=1"} and said["last"] == {"last=yes", "last=no"}
