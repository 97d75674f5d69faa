"""The template language: what is read, how it is written, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_nlp._core.features.extract import FeatureProgram
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, TemplateError
from perceptron_nlp.features.templatefile import parse_templates, preset, preset_names
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
    ("text", "spelling"),
    [
        ("word", "word[0]"),
        ("  lower[+1]\ttag[-1] ", "lower[1] tag[-1]"),
        ("word[-0]", "word[0]"),
        ("column:xpos", "column:xpos[0]"),
        ("column:xpos.word", "column:xpos[0]"),
        ("column:form.lower", "lower[0]"),
        ("word.suffix03[0]", "word.suffix3[0]"),
        ("column:xpos.word.prefix2[1]", "column:xpos.word.prefix2[1]"),
        ("word.ngrams2-4", "word.ngrams2-4[0]"),
        ("column:x.word.pieces", "column:x.word.pieces[0]"),
        ("first shape", "first shape[0]"),
    ],
)
def test_there_is_one_spelling_of_each_template(text: str, spelling: str) -> None:
    assert str(Template.parse(text)) == spelling


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'': a template has 1 to 8 atoms, this one 0"),
        (" ".join(f"word[{i}]" for i in range(-4, 5)), "a template has 1 to 8 atoms, this one 9"),
        ("word word[0]", "'word word[0]': an atom stands in it twice"),
        ("word[1", "'word[1' is not an atom; write a name and an offset: lower[-1]"),
        ("word[1.5]", "'word[1.5]' is not an atom"),
        ("word[" + "9" * 5000 + "]", "is not an atom"),
        ("wrod[0]", "'wrod[0]': no view is called 'wrod'; did you mean word?"),
        ("lowr[0]", "no view is called 'lowr'; did you mean lower?"),
        ("zzz[0]", "no view is called 'zzz'; there are word, lower, norm, shape, shape4, folded,"),
        ("word[9]", "'word[9]': offsets reach from -8 to 8, not 9"),
        ("word[-9]", "'word[-9]': offsets reach from -8 to 8, not -9"),
        ("tag[0]", "'tag[0]': labels already given are tag[-1] to tag[-4]"),
        ("tag[1]", "'tag[1]': labels already given are tag[-1] to tag[-4]"),
        ("tag", "'tag': labels already given are tag[-1] to tag[-4]"),
        ("tag[-5]", "'tag[-5]': labels already given are tag[-1] to tag[-4]"),
        ("first[0]", "'first[0]': first takes no offset"),
        ("bias[1]", "'bias[1]': bias takes no offset"),
        ("column:[0]", "'column:[0]': column: needs the name of a column after it"),
        ("column:x.y[0]", "no view is called 'y'"),
        (
            "word.affix3[0]",
            "after the view comes prefixK, suffixK, ngramsA-B or pieces, not 'affix3'",
        ),
        (
            "word.suffix[0]",
            "after the view comes prefixK, suffixK, ngramsA-B or pieces, not 'suffix'",
        ),
        ("word.suffix0[0]", "'word.suffix0[0]': lengths run from 1 to 16, the shorter one first"),
        ("word.prefix17[0]", "lengths run from 1 to 16"),
        ("word.suffix" + "9" * 5000, "comes prefixK, suffixK, ngramsA-B or pieces, not 'suffix"),
        ("word.pieces2[0]", "prefixK, suffixK, ngramsA-B or pieces, not 'pieces2'"),
        (
            "word.ngrams4-2[0]",
            "'word.ngrams4-2[0]': lengths run from 1 to 16, the shorter one first",
        ),
        ("word.ngrams2-3 tag[-1]", "n-grams and pieces go together only with other values of the"),
        (
            "word.pieces word[1]",
            "n-grams and pieces go together only with other values of the same",
        ),
        ("word.ngrams2-3 bias", "n-grams and pieces go together only with other values of the"),
        ("word.ngrams2-3 lower.ngrams2-3", "and once in a template"),
    ],
)
def test_what_is_no_template_is_quoted_with_what_to_do(text: str, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        Template.parse(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 250


def test_a_template_is_a_str() -> None:
    with pytest.raises(ArgumentTypeError, match="text: a str is needed, not int"):
        Template.parse(3)  # type: ignore[arg-type]


def test_a_list_is_read_line_by_line_without_comments() -> None:
    text = "# all\n\nword[0]\n   # more\n lower[-1] tag[-1]\n"
    assert [str(t) for t in parse_templates(text)] == ["word[0]", "lower[-1] tag[-1]"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("word[0]\n\nwrod[0]", "my.txt:3: 'wrod[0]': no view is called 'wrod'; did you mean word?"),
        ("word[0]\nlower\nword", "my.txt:3: 'word[0]' stands in line 1 already"),
        ("# nothing\n", "my.txt: 1 to 1000 templates are needed, not 0"),
    ],
)
def test_a_bad_list_names_its_line(text: str, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        parse_templates(text, "my.txt")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("items", "error", "message"),
    [
        ([], TemplateError, "templates: 1 to 1000 templates are needed, not 0"),
        ([3], ArgumentTypeError, "templates: Template or str is needed, not int"),
        (["word", "word[0]"], TemplateError, "templates: a template stands in it twice"),
        (
            ["word", Template.parse("word")],
            TemplateError,
            "templates: a template stands in it twice",
        ),
        (["zzz"], TemplateError, "no view is called 'zzz'"),
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


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("defualt", "no template list is called 'defualt'; did you mean default?"),
        ("zzzz", "no template list is called 'zzzz'; there are chunk, classic, default"),
    ],
)
def test_an_unknown_preset_is_told_the_did_you_mean(name: str, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        preset(name)
    assert message in str(caught.value)


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
