"""The component in a spaCy pipeline: what it writes, learns and keeps."""

from __future__ import annotations

import ast
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perceptron_nlp as pn

# What spaCy warns of when it is imported, and of its own forks.
pytestmark = pytest.mark.filterwarnings("ignore")
spacy = pytest.importorskip("spacy", reason="the extra spacy is not installed")
from spacy.tokens import Doc  # noqa: E402
from spacy.training import Example  # noqa: E402

from perceptron_nlp.integrations import spacy as factory  # noqa: E402
from perceptron_nlp.integrations.spacy import SpacyTagger  # noqa: E402

BLANK = spacy.blank("en")
VOCAB = BLANK.vocab
WORDS = ["The", "old", "man", "Stop", "!", "ferries", "  ", "\n"]


@pytest.fixture(scope="module")
def model(three: pn.Tagger, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of the model of three columns."""
    path = tmp_path_factory.mktemp("models") / "three.model"
    three.save(path)
    return str(path)


@pytest.fixture
def nlp(model: str) -> Any:
    """A pipeline of our component alone."""
    pipeline = spacy.blank("en")
    pipeline.add_pipe("perceptron_tagger", config={"model": model})
    return pipeline


def written(doc: Any) -> list[tuple[str, str, str]]:
    return [(token.tag_, token.pos_, str(token.morph)) for token in doc]


def labels_of(tagger: pn.Tagger, words: list[str]) -> list[tuple[str, str, str]]:
    found = tagger.tag(words, columns=tagger.columns)
    feats = ["" if value == "_" else value for value in found["feats"]]
    return list(zip(found["xpos"], found["upos"], feats, strict=True))


def test_all_three_attributes_are_written(nlp: Any, three: pn.Tagger) -> None:
    doc = nlp("The old man waited here .")
    assert written(doc) == labels_of(three, [token.text for token in doc])
    assert all(map(doc.has_annotation, ["TAG", "POS", "MORPH"]))


def test_whitespace_is_no_context(nlp: Any, three: pn.Tagger) -> None:
    doc = nlp("The  old man\n waited  ")
    words = [token for token in doc if not token.is_space]
    assert [(t.tag_, t.pos_, str(t.morph)) for t in words] == labels_of(
        three, ["The", "old", "man", "waited"]
    )
    assert {(t.tag_, t.pos_, str(t.morph)) for t in doc if t.is_space} == {("_SP", "SPACE", "")}


@settings(max_examples=25)
@given(
    texts=st.lists(
        st.lists(st.tuples(st.sampled_from(WORDS), st.booleans()), max_size=6), max_size=5
    ),
    size=st.integers(1, 3),
)
def test_docs_get_the_labels_of_their_sentences(
    three: pn.Tagger, texts: list[list[tuple[str, bool]]], size: int
) -> None:
    component = SpacyTagger(BLANK)
    component.from_bytes(three.to_bytes())
    docs = [
        Doc(VOCAB, words=[word for word, _ in text], sent_starts=[starts for _, starts in text])
        for text in texts
    ]
    assert list(component.pipe(iter(docs), batch_size=size)) == docs
    for text, doc in zip(texts, docs, strict=True):
        expected: list[tuple[str, str, str]] = []
        for at, (_, starts) in enumerate(text):
            if at and not starts:
                continue
            end = next((k for k in range(at + 1, len(text)) if text[k][1]), len(text))
            words = [word for word, _ in text[at:end] if not word.isspace()]
            expected += labels_of(three, words)
        assert [
            row for row, token in zip(written(doc), doc, strict=True) if not token.is_space
        ] == expected


def test_docs_without_words_pass_through(nlp: Any) -> None:
    docs = list(nlp.pipe(["", "   ", "Stop !", ""]))
    assert [len(doc) for doc in docs] == [0, 1, 2, 0]
    assert docs[2][0].pos_ == "VERB"
    assert list(nlp.pipe([])) == []


def test_pipelines_come_back_from_bytes_and_from_folders(
    nlp: Any, model: str, tmp_path: Path, three: pn.Tagger
) -> None:
    text = "The old man sold three boards ."
    expected = written(nlp(text))
    other = spacy.blank("en")
    component = other.add_pipe("perceptron_tagger")
    other.from_bytes(nlp.to_bytes())
    assert component.to_bytes() == three.to_bytes()
    assert written(other(text)) == expected
    other.to_disk(tmp_path / "pipeline")
    assert written(spacy.load(tmp_path / "pipeline")(text)) == expected


def test_a_folder_needs_no_file_that_its_settings_name(nlp: Any, tmp_path: Path) -> None:
    nlp.config["components"]["perceptron_tagger"]["model"] = str(tmp_path / "gone.model")
    nlp.to_disk(tmp_path / "pipeline")
    assert spacy.load(tmp_path / "pipeline")("Stop !")[0].pos_ == "VERB"


def test_components_pickle_and_work_in_other_processes(nlp: Any) -> None:
    text = "The old man waited ."
    copy = pickle.loads(pickle.dumps(nlp))
    assert written(copy(text)) == written(nlp(text))
    docs = list(nlp.pipe([text] * 4, n_process=2, batch_size=2))
    assert [written(doc) for doc in docs] == [written(nlp(text))] * 4


def examples(nlp: Any, sentences: list[pn.Sentence]) -> list[Any]:
    made = []
    for sentence in sentences:
        gold = Doc(
            nlp.vocab,
            words=list(sentence.words),
            tags=list(sentence.column("xpos")),
            pos=list(sentence.column("upos")),
            morphs=["" if f == "_" else f for f in sentence.column("feats")],
        )
        made.append(Example(Doc(nlp.vocab, words=list(sentence.words)), gold))
    return made


def test_a_pipeline_is_trained_by_initialize(annotated: list[pn.Sentence]) -> None:
    nlp = spacy.blank("en")
    component = nlp.add_pipe("perceptron_tagger", config={"options": {"epochs": 3}})
    gold = examples(nlp, annotated)
    nlp.initialize(lambda: gold)
    same = pn.train(annotated, column=("upos", "xpos", "feats"), epochs=3)
    assert component.to_bytes() == same.to_bytes()
    assert component.labels == tuple(sorted(same.labels))
    scores = nlp.evaluate(gold)
    assert scores["pos_acc"] == same.evaluate_columns(annotated)["upos"].accuracy
    assert {scores["tag_acc"], scores["morph_acc"]} <= {
        result.accuracy for result in same.evaluate_columns(annotated).values()
    }


def mistakes(tagger: pn.Tagger, sentences: list[pn.Sentence]) -> int:
    result = tagger.evaluate(sentences, column="upos")
    return result.tokens - result.correct


def test_update_learns_what_is_new_once_the_tagger_is_needed(annotated: list[pn.Sentence]) -> None:
    nlp = spacy.blank("en")
    component = nlp.add_pipe(
        "perceptron_tagger", config={"columns": ["upos"], "options": {"epochs": 3}}
    )
    gold = examples(nlp, annotated)
    optimizer = nlp.initialize(lambda: gold[:6])
    before = component.to_bytes()
    losses = nlp.update(gold[:6], sgd=optimizer)
    first = pn.train(annotated[:6], column="upos", epochs=3)
    assert losses == {"perceptron_tagger": mistakes(first, annotated[:6])}
    assert component.to_bytes() == before
    losses = nlp.update(gold, sgd=optimizer)
    assert losses == {"perceptron_tagger": mistakes(first, annotated)}
    anew = spacy.blank("en")
    other = anew.add_pipe(
        "perceptron_tagger", config={"columns": ["upos"], "options": {"epochs": 3}}
    )
    anew.initialize(lambda: gold)
    assert component.to_bytes() == other.to_bytes() != before


def test_words_without_annotation_are_not_learned_from(annotated: list[pn.Sentence]) -> None:
    nlp = spacy.blank("en")
    component = nlp.add_pipe("perceptron_tagger", config={"options": {"epochs": 2}})
    gold = examples(nlp, annotated)
    gold[0].reference[0].pos_ = ""
    for example in gold:
        for token in example.reference:
            token.tag_ = ""
    gold.append(
        Example(Doc(nlp.vocab, words=["Bare", "words"]), Doc(nlp.vocab, words=["Bare", "words"]))
    )
    nlp.initialize(lambda: gold)
    assert component.tagger.columns == ("upos", "feats")
    words = sum(map(len, annotated))
    taggers = component.tagger.by_column.values()
    assert [part.model.record["train"]["labeled"] for part in taggers] == [words - 1, words]


def test_a_model_stays_where_examples_have_nothing_to_learn(nlp: Any, three: pn.Tagger) -> None:
    nlp.initialize()
    assert nlp.get_pipe("perceptron_tagger").to_bytes() == three.to_bytes()


def test_what_cannot_be_done_is_said(nlp: Any, tagger: pn.Tagger) -> None:
    bare = spacy.blank("en")
    component = bare.add_pipe("perceptron_tagger")
    with pytest.raises(pn.ArgumentError, match="perceptron_tagger: has no model yet; name one"):
        bare("Stop !")
    with pytest.raises(pn.ArgumentError, match="no example has upos or xpos or feats to learn"):
        bare.initialize()
    assert component.to_bytes() == b""
    gold = Example(Doc(nlp.vocab, words=["a"]), Doc(nlp.vocab, words=["a"], pos=["X"]))
    nlp("Stop !")
    with pytest.raises(pn.ArgumentError, match="was loaded, and cannot learn more"):
        nlp.update([gold])
    with pytest.raises(pn.ArgumentError, match=r"columns: 'ner' is not learned from Docs"):
        bare.add_pipe("perceptron_tagger", name="other", config={"columns": ["ner"]})
    with pytest.raises(pn.ArgumentError, match="lemmas are not learned from Docs"):
        bare.add_pipe("perceptron_tagger", name="other", config={"columns": ["lemma"]})
    strange = pn.train([(["a", "b"], ["X", "Q"])] * 3, column="upos", epochs=1)
    with pytest.raises(pn.ArgumentError, match="'Q' is none of spaCy's parts of speech"):
        component.from_bytes(strange.to_bytes())
    looking = pn.train(
        [pn.Sentence(["a", "b"], {"chunk": ["X", "Y"], "tag": ["X", "Y"]})],
        column="tag",
        templates=["column:chunk[0]"],
    )
    with pytest.raises(pn.ArgumentError, match="looks at the columns chunk in addition to"):
        component.from_bytes(looking.to_bytes())
    with pytest.raises(pn.FileError, match=r"gone\.model"):
        bare.add_pipe("perceptron_tagger", name="gone", config={"model": "gone.model"})
        bare.get_pipe("gone")(Doc(bare.vocab, words=["a"]))


def test_a_batch_that_fails_is_handed_to_the_error_handler() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("perceptron_tagger")
    seen: list[Any] = []
    nlp.set_error_handler(lambda name, component, docs, error: seen.append((name, len(docs))))
    assert list(nlp.pipe(["a", "b"], batch_size=2)) == []
    assert seen == [("perceptron_tagger", 2)]


def test_the_words_that_are_remembered_are_bounded(
    nlp: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("perceptron_nlp.integrations.spacy_docs.WORDS_LIMIT", 3)
    doc = nlp("The old man sold three boards in here .")
    assert written(doc) == written(nlp(doc.text))
    assert len(nlp.get_pipe("perceptron_tagger")._words) <= 3


def test_labels_outlive_the_memory_zone_that_they_were_first_used_in(nlp: Any) -> None:
    with nlp.memory_zone():
        expected = written(nlp("The zorkmid waited ."))
    assert written(nlp("The zorkmid waited .")) == expected
    assert all(tag and pos for tag, pos, _ in expected)


def test_the_entry_point_names_the_factory() -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["entry-points"]["spacy_factories"] == {
        "perceptron_tagger": f"{factory.__name__}:make_perceptron_tagger"
    }


def test_lemmas_are_written_and_text_is_cut_as_the_model_learned_to(
    pipeline: pn.Tagger, tmp_path: Path
) -> None:
    path = tmp_path / "fr.model"
    pipeline.save(path)
    config = {"nlp": {"tokenizer": {"@tokenizers": "perceptron_tokenizer", "model": str(path)}}}
    nlp = spacy.blank("xx", config=config)
    nlp.add_pipe("perceptron_tagger", config={"model": str(path)})
    text = " Le chat dort.  Elle voit\nle chat. "
    found = pipeline.tag_text(text)
    nlp.to_disk(tmp_path / "kept")
    for one in (nlp, spacy.load(tmp_path / "kept")):
        doc = one(text)
        assert doc.text == text
        assert [[t.text for t in s if not t.is_space] for s in doc.sents] == [
            s.forms for s in found
        ]
        lemmas = [t.lemma_ for t in doc if not t.is_space]
        assert lemmas == [token.lemma for sentence in found for token in sentence]
        assert doc.has_annotation("LEMMA") and nlp("").text == ""


@pytest.fixture(scope="module")
def tokenizer(pipeline: pn.Tagger, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A tokenizer with a model that cuts text."""
    path = tmp_path_factory.mktemp("models") / "fr.model"
    pipeline.save(path)
    return factory.make_perceptron_tokenizer(str(path))(spacy.blank("xx"))


def tokens_of(doc: Any, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    """The place of each token and what stands in its attributes for some columns."""
    getters: dict[str, Callable[[Any], str]] = {
        "upos": lambda token: token.pos_,
        "xpos": lambda token: token.tag_,
        "feats": lambda token: str(token.morph) or "_",
        "lemma": lambda token: token.lemma_,
    }
    return [
        (token.idx, token.idx + len(token), *(getters[name](token) for name in columns))
        for token in doc
        if not token.is_space
    ]


def words_of(tagger: pn.Tagger, text: str) -> list[tuple[Any, ...]]:
    """The same by tag_text: a token of several words has the first's labels and all lemmas."""
    found: list[tuple[Any, ...]] = []
    for token in (token for sentence in tagger.tag_text(text) for token in sentence.tokens):
        place, places = token.start, []
        for word in token.words:
            places.append((place, place + len(word.form)))
            place += len(word.form)
        if "".join(word.form for word in token.words) == token.form and len(token.words) > 1:
            rows = zip(places, token.words, strict=True)
            found += [(*own, *(word.labels[n] for n in tagger.columns)) for own, word in rows]
            continue
        labels = dict(token.words[0].labels)
        if "lemma" in labels:
            labels["lemma"] = " ".join(word.labels["lemma"] for word in token.words)
        found.append((token.start, token.end, *(labels[name] for name in tagger.columns)))
    return found


def pipeline_of(path: object, **tokenizer: object) -> Any:
    how: Any = tokenizer or {"@tokenizers": "perceptron_tokenizer", "model": str(path)}
    nlp = spacy.blank("xx", config={"nlp": {"tokenizer": how}})
    nlp.add_pipe("perceptron_tagger", config={"model": str(path)})
    return nlp


@settings(max_examples=30)
@given(
    texts=st.lists(
        st.lists(st.sampled_from(["Le", "chat", "du", "au", "bois", "va", "dort", ".", "\n"])),
        min_size=1,
        max_size=3,
    )
)
def test_multiword_tokens_get_the_labels_of_their_words(
    pipeline: pn.Tagger, tmp_path_factory: pytest.TempPathFactory, texts: list[list[str]]
) -> None:
    path = tmp_path_factory.mktemp("models") / "fr.model"
    pipeline.save(path)
    given = [" ".join(text) for text in texts]
    for text, doc in zip(given, pipeline_of(path).pipe(given), strict=True):
        assert tokens_of(doc, pipeline.columns) == words_of(pipeline, text)


def test_contractions_are_tokens_where_their_letters_allow() -> None:
    tagger, text = pn.load("en"), "I don't know what they'll do with it. Aren't you done?"
    doc = pipeline_of("en")(text)
    assert [token.text for token in doc][1:3] == ["do", "n't"] and doc.text == text
    assert tokens_of(doc, tagger.columns) == words_of(tagger, text)


def test_tokens_of_another_tokenizer_are_the_words_of_the_model_too(
    pipeline: pn.Tagger, tmp_path: Path
) -> None:
    pipeline.save(tmp_path / "fr.model")
    blank = {"@tokenizers": "spacy.Tokenizer.v1"}
    nlp = pipeline_of(tmp_path / "fr.model", **blank)
    text = "Le chat va au bois"
    assert tokens_of(nlp(text), pipeline.columns) == words_of(pipeline, text)
    assert nlp(text)[3].lemma_ == "à le"


@pytest.mark.parametrize("treebank", ["UD_French-Sequoia/fr_sequoia"])
def test_the_labels_of_a_treebank_are_those_of_tag_text(
    treebank: str, corpora: Path, tmp_path: Path
) -> None:
    place = str(corpora / "treebanks" / treebank)
    tagger = pn.train(f"{place}-ud-dev.conllu", column="text,upos,lemma", preset="fast")
    tagger.save(tmp_path / "fr.model")
    lines = Path(f"{place}-ud-test.conllu").read_text("utf-8").splitlines()
    texts = [line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")]
    text = "\n\n".join(texts[:200])
    doc = pipeline_of(tmp_path / "fr.model")(text)
    assert tokens_of(doc, tagger.columns) == words_of(tagger, text)


@given(st.text("aC. \t\n\0é😀\u3000\u202e", max_size=40))
def test_a_doc_has_the_text_tokens_and_sentences_of_its_text(tokenizer: Any, text: str) -> None:
    doc = tokenizer(text)
    assert doc.text == text
    found = list(tokenizer._tagger.segmenter.sentences_of(text))
    tokens = [token for token in doc if not token.is_space]
    assert [(t.idx, t.idx + len(t)) for t in tokens] == [t[:2] for s in found for t in s]
    starts = {0, *(sentence[0][0] for sentence in found[1:])}
    assert all(token.is_sent_start is (token.idx in starts) for token in doc)


def test_the_time_of_a_doc_grows_with_its_text(tokenizer: Any) -> None:
    # Looking for each word in the rest of the text took minutes.
    assert len(tokenizer("le chat dort. " * 60_000)) > 180_000


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("le \ud800chat", "text: character 3 is half of a surrogate pair"),
        (b"le chat", "text: a str is needed, not bytes"),
        (None, "text: a str is needed, not NoneType"),
    ],
)
def test_what_no_doc_can_hold_is_refused(tokenizer: Any, text: Any, reason: str) -> None:
    with pytest.raises((pn.ArgumentError, pn.ArgumentTypeError), match=reason):
        tokenizer(text)


def test_docs_are_no_context_for_each_other(tmp_path: Path) -> None:
    names = [f"{first}{second}" for first in "ABCDEFGHIJ" for second in "abcdefghij"]
    other = ["x"], ["VERB"]
    gold: list[tuple[list[str], list[str]]] = []
    for number, name in enumerate(names):
        again = number % 2
        gold += [([name], ["NOUN" if again else "PROPN"])] * (1 + again) + [other] * 3
    path = tmp_path / "near.model"
    tagger = pn.train(gold, column="upos", templates=["column:near[0]"], window=1)
    tagger.save(path)
    assert tagger.tag_sents([["Rose"], ["Rose"]]) != [tagger.tag(["Rose"])] * 2
    nlp = spacy.blank("en")
    nlp.add_pipe("perceptron_tagger", config={"model": str(path)})
    assert [doc[0].pos_ for doc in nlp.pipe(["Rose", "Rose"])] == tagger.tag(["Rose"]) * 2


def test_confidences_are_extensions_of_docs_and_tokens(sure: pn.Tagger, tmp_path: Path) -> None:
    sure.save(tmp_path / "sure.model")
    nlp = spacy.blank("en")
    settings = {"model": str(tmp_path / "sure.model"), "confidences": True}
    nlp.add_pipe("perceptron_tagger", config=settings)
    docs = list(nlp.pipe(["The old  man", "Stop !", ""]))
    spaces = [token.is_space for token in docs[0]]
    for name, part in sure.by_column.items():
        found = docs[0]._.confidences[name]
        assert [x is None for x in found] == spaces
        assert [x for x in found if x is not None] == part.confidences(["The", "old", "man"])
    assert docs[1][0]._.confidence == docs[1]._.confidences["upos"][0]
    assert docs[2]._.confidences == {"upos": [], "xpos": []}
    assert spacy.blank("en")("Stop")[0]._.confidence is None
    with docs[0].retokenize() as retokenizer:
        retokenizer.merge(docs[0][:2])
    assert [token._.confidence for token in docs[0]] == [None] * len(docs[0])


PEOPLE = ["Ann", "Bo", "Cy", "Dee"]


@pytest.fixture(scope="module")
def names() -> pn.Tagger:
    """A tagger of parts of speech, of names and of one more column."""
    sentences = []
    for first in PEOPLE:
        for last in ("Stone", "Field"):
            words = [first, last, "met", "us", "in", "Oslo", "."]
            columns = {
                "upos": ["PROPN", "PROPN", "VERB", "PRON", "ADP", "PROPN", "PUNCT"],
                "ner": ["B-PER", "I-PER", "O", "O", "O", "B-LOC", "O"],
                "case": ["up", "up", "low", "low", "low", "up", "none"],
            }
            sentences.append(pn.Sentence(words, columns))
    return pn.train(sentences * 4, column=["upos", "ner", "case"], epochs=4)


def with_names(names: pn.Tagger, **settings: Any) -> Any:
    nlp = spacy.blank("en")
    component = nlp.add_pipe("perceptron_tagger", config=settings)
    component.from_bytes(names.to_bytes())
    return nlp


def entities(doc: Any) -> list[tuple[str, str]]:
    return [(entity.text, entity.label_) for entity in doc.ents]


def test_spans_are_entities_and_other_columns_extensions(names: pn.Tagger) -> None:
    nlp = with_names(names)
    doc = nlp("Ann Field met us in Oslo.")
    assert entities(doc) == [("Ann Field", "PER"), ("Oslo", "LOC")]
    assert [token._.case for token in doc] == ["up", "up", "low", "low", "low", "up", "none"]
    assert doc[2].ent_iob_ == "O" and doc[2].pos_ == "VERB"
    # White space within a name is part of it, and has no label elsewhere.
    spread = nlp("Ann  Field met us in  Oslo.")
    assert entities(spread) == [("Ann  Field", "PER"), ("Oslo", "LOC")]
    assert spread[1]._.case is None
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert entities(again) == entities(doc) and again[0]._.case == "up"
    scores = nlp.evaluate([Example(Doc(nlp.vocab, words=[t.text for t in doc]), doc)])
    assert scores["ents_f"] == scores["pos_acc"] == 1


def test_a_model_of_names_alone_fills_entities(names: pn.Tagger) -> None:
    plain = [
        (list(words), ["B-PER", "I-PER", "O"]) for words in (["Ann", "Field", "met"], ["Bo"] * 3)
    ]
    nlp = with_names(pn.train(plain * 6, epochs=3))
    doc = nlp("Ann Field met")
    assert entities(doc) == [("Ann Field", "PER")] and doc[0].tag_ == ""


@pytest.mark.parametrize("overwrite", [True, False])
def test_labels_that_are_given_are_kept(names: pn.Tagger, overwrite: bool) -> None:
    nlp = with_names(names, overwrite=overwrite)
    words = ["Ann", "Field", "met", "us", "in", "Oslo", "."]
    doc = Doc(nlp.vocab, words=words, pos=["X", *[""] * 6], ents=["", "", "", "", "B-X", "", ""])
    doc[1]._.case = "odd"
    nlp.get_pipe("perceptron_tagger")(doc)
    assert [t.pos_ for t in doc][1:] == ["PROPN", "VERB", "PRON", "ADP", "PROPN", "PUNCT"]
    own = doc[0].pos_, doc[1]._.case, doc[4].ent_type_
    assert own == (("PROPN", "up", "") if overwrite else ("X", "odd", "X"))
    assert ("Ann Field", "PER") in entities(doc)


def test_an_extension_that_is_computed_is_not_written_over(names: pn.Tagger) -> None:
    spacy.tokens.Token.set_extension("case", getter=len, force=True)
    try:
        with pytest.raises(pn.ArgumentError, match=r"token\._\.case is computed by another"):
            with_names(names)
    finally:
        spacy.tokens.Token.remove_extension("case")


def test_texts_keep_their_context_in_a_stream(nlp: Any) -> None:
    pairs = [("The old man waited .", {"id": 1}), ("", {"id": 2}), ("Stop !", {"id": 3})]
    found = list(nlp.pipe(pairs, as_tuples=True))
    assert [context for _, context in found] == [context for _, context in pairs]
    assert [written(doc) for doc, _ in found] == [written(nlp(text)) for text, _ in pairs]


def test_sentences_are_those_of_the_model_where_nobody_has_set_them() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("perceptron_tagger", config={"model": "en"})
    text = "Dr. Smith came home. He slept! \n\nNobody saw him."
    expected = [sentence.text for sentence in pn.load("en").tag_text(text)]
    doc = nlp(text)
    assert [str(sentence).strip() for sentence in doc.sents] == expected and len(expected) == 3
    whole = Doc(nlp.vocab, words=["One", ".", "Two", "."], sent_starts=[True, False, False, False])
    assert len(list(nlp(whole).sents)) == 1


def test_a_package_of_spacy_installs_and_loads(nlp: Any, tmp_path: Path) -> None:
    from spacy.cli.package import package

    pytest.importorskip("setuptools", reason="setuptools builds the package")
    text = "The old man waited ."
    nlp.meta.update(name="perceptrons", version="1.2.0")
    nlp.to_disk(tmp_path / "pipeline")
    package(tmp_path / "pipeline", tmp_path, create_sdist=False, create_wheel=False, silent=True)
    # Ours, in the version that made it, is what the package asks for.
    folder = tmp_path / "en_perceptrons-1.2.0"
    meta = json.loads((folder / "meta.json").read_text("utf-8"))
    assert [one.split(">=")[0] for one in meta["requirements"]] == ["perceptron-nlp"]
    site = tmp_path / "site"
    install = ["pip", "install", "--no-deps", "--no-index", "--no-build-isolation", "-q"]
    subprocess.run([sys.executable, "-m", *install, "-t", site, folder], check=True)
    code = (
        f"import spacy; doc = spacy.load('en_perceptrons')({text!r});"
        " print([(t.tag_, t.pos_, str(t.morph)) for t in doc])"
    )
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ast.literal_eval(ran.stdout) == written(nlp(text))


def test_the_entry_for_the_universe_shows_code_that_runs(capsys: Any) -> None:
    path = Path(__file__).parents[3] / "docs" / "spacy-universe.json"
    entry = json.loads(path.read_text("utf-8"))
    assert {"id", "title", "slogan", "description", "pip", "category"} <= entry.keys()
    exec("\n".join(entry["code_example"]), {})
    lines = capsys.readouterr().out.splitlines()
    assert "('sold', 'VERB', 'sell')" in lines[0]
    assert lines[1] == "['She sold the boats.', 'Nobody asked why.']"
