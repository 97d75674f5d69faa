"""The template language: what is read, how it is written, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_nlp._core.features.extract import FeatureProgram
from perceptron_nlp.errors import ArgumentError, TemplateError
from perceptron_nlp.features.templatefile import preset, preset_names
from perceptron_nlp.features.templates import (
    VIEWS,
    Atom,
    Template,
    Value,
    check_templates,
    compile_templates,
)

COLUMNS = st.sampled_from(["form", "xpos", "chunk-2", "Größe"])


@st.composite
def values(draw: st.DrawFn) -> Value:
    column, view = draw(COLUMNS), draw(st.sampled_from(VIEWS))
    affix = draw(st.sampled_from(["none", "prefix", "suffix"]))
    k = 0 if affix == "none" else draw(st.integers(1, 16))
    return Value(column, view, affix, k, k)


ATOMS = st.one_of(
    st.sampled_from([Atom("first"), Atom("last"), Atom("bias")]),
    st.builds(Atom, st.just("tag"), st.integers(-4, -1), st.none()),
    st.builds(Atom, st.just("value"), st.integers(-8, 8), values()),
)
PLAIN = st.lists(ATOMS, min_size=1, max_size=8, unique=True).map(lambda a: Template(tuple(a)))


@st.composite
def gram_templates(draw: st.DrawFn) -> Template:
    """N-grams and other values of the same word."""
    column, offset = draw(COLUMNS), draw(st.integers(-8, 8))
    low = draw(st.integers(1, 16))
    high = draw(st.integers(low, 16))
    grams = Atom("value", offset, Value(column, draw(st.sampled_from(VIEWS)), "ngrams", low, high))
    others = draw(
        st.lists(
            st.builds(
                lambda view: Atom("value", offset, Value(column, view)), st.sampled_from(VIEWS)
            ),
            max_size=3,
            unique=True,
        )
    )
    return Template((grams, *others))


@given(PLAIN | gram_templates())
def test_what_is_written_is_read_back(template: Template) -> None:
    assert Template.parse(str(template)) == template
    assert str(Template.parse(str(template))) == str(template)
    assert check_templates([template]) == (template,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("word[" + "9" * 5000 + "]", "is not an atom"),
        ("word.suffix" + "9" * 5000, "comes prefixK, suffixK, ngramsA-B or pieces, not 'suffix"),
    ],
)
def test_what_is_no_template_is_quoted_with_what_to_do(text: str, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        Template.parse(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 250


@pytest.mark.parametrize(
    ("items", "error", "message"),
    [
        (
            ["word", Template.parse("word")],
            TemplateError,
            "templates: a template stands in it twice",
        ),
        (
            [
                f"word.prefix{k}[{i}] {j}[0]"
                for k in range(1, 17)
                for i in range(-4, 5)
                for j in VIEWS
            ],
            TemplateError,
            "templates: 1 to 1000 templates are needed, not 1584",
        ),
    ],
)
def test_a_list_of_templates_is_checked(
    items: list[object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        check_templates(items)  # type: ignore[arg-type]
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "atoms",
    [
        (),
        tuple(Atom("value", i, Value("form", "word")) for i in range(-8, 8)),
        (Atom("value", 100, Value("form", "word")),),
        (Atom("tag", -9),),
        (Atom("value", 0, Value("form", "word", "suffix", 5, 99)),),
        (Atom("value", 0, Value("form", "word", "suffix", 99, 99)),),
        (Atom("value", 0, Value("a column", "word")),),
        (Atom("value", 0, Value("form", "word", "ngrams", 1, 2)), Atom("tag", -1)),
        (Atom("value", 0, None),),
        (Atom("nothing"),),
    ],
)
def test_a_template_put_together_by_hand_is_checked_like_a_text(atoms: tuple[Atom, ...]) -> None:
    with pytest.raises(TemplateError):
        check_templates([Template(atoms)])


def test_the_presets_are_these_and_all_of_them_parse() -> None:
    assert preset_names() == sorted(preset_names()) and {"classic", "default"} <= {*preset_names()}
    for name in preset_names():
        looked_at = {column for template in preset(name) for column in template.columns}
        derived = {"segmentation": {"gap"}, "lemmas": {"upos", "xpos", "feats", "known"}}
        left = looked_at - derived.get(name, set())
        assert all(column.startswith("near") for column in left)


def test_classic_has_the_fourteen_templates_of_the_tagger_that_nltk_uses() -> None:
    # nltk/tag/perceptron.py, _get_features: its names beside ours.
    expected = {
        "bias": "bias",
        "i suffix": "word.suffix3[0]",
        "i pref1": "word.prefix1[0]",
        "i-1 tag": "tag[-1]",
        "i-2 tag": "tag[-2]",
        "i tag+i-2 tag": "tag[-1] tag[-2]",
        "i word": "norm[0]",
        "i-1 tag+i word": "tag[-1] norm[0]",
        "i-1 word": "norm[-1]",
        "i-1 suffix": "norm.suffix3[-1]",
        "i-2 word": "norm[-2]",
        "i+1 word": "norm[1]",
        "i+1 suffix": "norm.suffix3[1]",
        "i+2 word": "norm[2]",
    }
    assert len(expected) == 14
    assert {str(template) for template in preset("classic")} == {*expected.values()}


def test_evidence_columns_get_templates_of_their_own() -> None:
    plain, more = preset("default"), preset("default", ["xpos", "chunk"])
    assert more[: len(plain)] == plain
    assert set().union(*(t.columns for t in more)) == {"xpos", "chunk"}
    assert sum("xpos" in t.columns for t in more) == sum("chunk" in t.columns for t in more) >= 10


def test_templates_are_compiled_by_how_often_they_must_be_worked_out() -> None:
    texts = [
        "word[0]",
        "first shape[1]",
        "word[0] word[1]",
        "tag[-1] word[0]",
        "bias",
        "first last",
        "word[0] lower[0]",
        "column:x[0] word[0]",
        "last",
    ]
    compiled = compile_templates([Template.parse(t) for t in texts])
    assert compiled.columns == ("form", "x")
    assert [texts[i] for i in compiled.history] == ["tag[-1] word[0]"]
    assert [texts[i] for i in compiled.static] == [
        "word[0] word[1]",
        "first last",
        "column:x[0] word[0]",
    ]
    assert {texts[i] for i in compiled.slot_templates} == {
        "word[0]",
        "first shape[1]",
        "bias",
        "word[0] lower[0]",
        "last",
    }


def test_more_columns_than_the_core_holds_are_refused() -> None:
    templates = [Template.parse(f"column:c{i}[0]") for i in range(64)]
    with pytest.raises(ArgumentError, match="templates: they look at more than 64 columns"):
        FeatureProgram(compile_templates(templates))
    assert FeatureProgram(compile_templates(templates[:63]))
