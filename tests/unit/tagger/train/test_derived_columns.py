"""Columns that are looked up, raw text, and both in the model file."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp.formats.tensorfile import DTYPES, Tensor
from perceptron_nlp.tagger.model.derived import ABSENT
from perceptron_nlp.tagger.model.weights import Reader, Writer
from perceptron_nlp.tagger.model.word_tables import WordTables
from perceptron_nlp.tagger.sources import Source
from perceptron_nlp.tagger.train.clusters import RawText
from perceptron_nlp.tagger.train.columns import CLUSTERS, INDUCED, LEXICON, partly_hidden
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.options import make_options
from perceptron_nlp.tagger.train.resources import INDUCED_FOLDS, induce

GOLD = [
    (["the", "dog", "barks"], ["DET", "NOUN", "VERB"]),
    (["A", "cat", "sleeps"], ["DET", "NOUN", "VERB"]),
] * 6
RAW = [
    ["the", noun, verb]
    for noun in ("dog", "cat", "hen", "cow")
    for verb in ("barks", "sleeps", "eats")
] * 3
TABLES = st.dictionaries(
    st.sampled_from(["one", "two", "three"]),
    st.dictionaries(st.text(max_size=4), st.text(min_size=1, max_size=3), max_size=6),
    min_size=1,
)


def as_read(arrays):
    """Arrays as the reader of model files gives them."""
    names = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
    return {
        name: Tensor(names[array.dtype], array.shape, memoryview(array.tobytes()))
        for name, array in arrays.items()
    }


def refused(name, what):
    return pn.ModelError(f"{name}: {what}")


@settings(max_examples=30, deadline=None)
@given(TABLES)
def test_tables_come_back_from_their_arrays(given_tables):
    tables = WordTables.of(given_tables)
    arrays = {}
    described = json.loads(json.dumps(tables.write(Writer("2.", arrays))))
    again = WordTables.read(described, Reader("2.", as_read(arrays), refused))
    assert again.names == tables.names and dict(again.rows) == dict(tables.rows)
    assert again.record() == tables.record()


@settings(max_examples=30, deadline=None)
@given(TABLES, st.lists(st.text(max_size=4)))
def test_a_word_is_looked_up_as_written_then_lower_cased_in_every_table(given_tables, words):
    columns = WordTables.of(given_tables).columns(words)
    assert columns == {
        name: tuple(table.get(word) or table.get(word.lower()) or ABSENT for word in words)
        for name, table in given_tables.items()
    }


@pytest.fixture(scope="module")
def tagger():
    return pn.train(GOLD, raw=RAW, epochs=2)


def test_clusters_are_in_the_model_and_new_words_have_them(tagger):
    assert tagger.model.tables.names == tuple(CLUSTERS)
    assert {f"column:{name}[0]" for name in CLUSTERS} <= set(map(str, tagger.model.templates))
    assert tagger.tag(["the", "hen", "eats"]) == ["DET", "NOUN", "VERB"]
    assert tagger.evaluate(GOLD).accuracy == 1
    assert tagger.scores(["the", "hen"]).shape == (2, 3)
    assert any("clusters of" in choice for choice in tagger.model.record["choices"])


def test_the_same_text_gives_the_same_file_and_it_reads_back(tagger, tmp_path):
    assert pn.train(GOLD, raw=RAW, epochs=2).to_bytes() == tagger.to_bytes()
    tagger.save(tmp_path / "m.model")
    again = pn.load(tmp_path / "m.model")
    assert again.to_bytes() == tagger.to_bytes()
    assert again.tag_sents(RAW) == tagger.tag_sents(RAW)


def test_the_accurate_preset_has_a_lexicon_induced_too():
    tagger = pn.train(GOLD, raw=RAW, preset="accurate", epochs=1, runs=1)
    assert INDUCED in tagger.model.tables.names
    assert tagger.model.tables.rows["hen"][-1].split("|")[0] in tagger.labels
    assert tagger.evaluate(GOLD).tokens == 36


def test_no_lexicon_is_induced_for_features_or_by_other_presets():
    rows = [
        pn.Sentence(words, {"upos": tags, "feats": ["_", "Case=Nom|Number=Sing", "_"]})
        for words, tags in GOLD
    ]
    for options in ({"column": "feats", "preset": "accurate"}, {"column": "upos"}):
        tables = pn.train(rows, raw=RAW, epochs=1, **options).model.tables
        assert tables.names == tuple(CLUSTERS)


def test_a_dev_set_is_scored_with_the_tables():
    tagger = pn.train(GOLD, dev=GOLD, raw=RAW, epochs=2)
    assert tagger.model.record["epochs"][-1]["dev_accuracy"] == 1


def test_features_in_two_passes_see_the_tables_in_both():
    rows = [
        pn.Sentence(words, {"upos": tags, "feats": ["_", f"Case={case}|Number=Sing", "_"]})
        for words, tags in GOLD
        for case in ("Nom", "Gen")
    ]
    tagger = pn.train(rows, column="feats", raw=RAW, two_passes=True, epochs=1)
    for model in (tagger.model, tagger.model.first):
        assert "clusters100" in model.template_columns
    again = pn.Tagger.from_bytes(tagger.to_bytes())
    assert again.model.feature_columns == () and again.tag_sents(RAW) == tagger.tag_sents(RAW)


def test_no_training_word_is_told_by_a_tagger_that_learnt_its_sentence(monkeypatch):
    seen = []
    from perceptron_nlp.tagger.train import resources

    def table(examples, raw, options):
        seen.append({id(sentence) for sentence in examples.sentences})
        return {"dog": str(len(seen))}

    monkeypatch.setattr(resources, "_lookup_table", table)
    examples = Examples.read(Source(GOLD, "train"), "tag", ())
    induced = induce(examples, RawText.read(RAW), make_options({}))
    assert len(seen) == INDUCED_FOLDS + 1 and induced.table == {"dog": str(INDUCED_FOLDS + 1)}
    for sentence, column in zip(examples.sentences, induced.columns, strict=True):
        for word, value in zip(sentence.words, column, strict=True):
            if word == "dog":
                assert id(sentence) not in seen[int(value) - 1]
            else:
                assert value == ABSENT


def test_raw_text_is_read_from_lines_packed_files_and_conllu(tmp_path):
    plain = tmp_path / "raw.txt"
    plain.write_text("either/or is a/word\n\nthe dog\n", "utf-8")
    packed = tmp_path / "raw.txt.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    tree = tmp_path / "raw.conllu"
    tree.write_text("1\tthe\t_\t_\t_\t_\t_\t_\t_\t_\n\n", "utf-8")
    expected = [["either/or", "is", "a/word"], ["the", "dog"]]
    assert RawText.read(plain).sentences == RawText.read([packed]).sentences == expected
    assert RawText.read([tree, ["a", "b"]]).sentences == [["the"], ["a", "b"]]
    assert RawText.read(plain).digest == RawText.read(expected).digest


def test_trainings_that_share_raw_text_learn_its_clusters_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from perceptron_nlp.tagger.train import resources

    learned: list[int] = []
    word_clusters = resources.word_clusters

    def counting(text, sizes, *rest):
        text = list(text)
        learned.append(len(text))
        return word_clusters(text, sizes, *rest)

    monkeypatch.setattr(resources, "word_clusters", counting)
    shared = pn.RawText.read(RAW)
    first = pn.train(GOLD, raw=shared, epochs=2)
    assert pn.train(GOLD, raw=shared, epochs=2).to_bytes() == first.to_bytes()
    assert learned == [len(RAW)]
    pn.train(GOLD, raw=RAW, epochs=2)
    assert learned == [len(RAW), len(RAW) + len(GOLD)]


@pytest.mark.parametrize(
    ("raw", "kind", "message"),
    [
        ([], pn.FormatError, "raw: there are no words in the raw text"),
        (3, pn.ArgumentTypeError, "raw: a path or lists of words are needed, not int"),
        ([3], pn.ArgumentTypeError, r"raw\[0\]: a list of words is needed, not int"),
        ([["a", 3]], pn.ArgumentTypeError, r"raw\[0\]: a word is a str, not int"),
        ("not-there.txt", pn.FileError, "not-there.txt"),
    ],
)
def test_raw_text_that_is_none_is_refused(raw, kind, message):
    with pytest.raises(kind, match=message):
        pn.train(GOLD, raw=raw)


def test_raw_text_of_another_script_is_said_to_help_little(caplog):
    tagger = pn.train(GOLD, raw=[["ο", "σκύλος", "γαβγίζει"]] * 4, epochs=1)
    said = "only 0.0 % of the words of the raw text are in the training text"
    assert said in caplog.text and any(said in c for c in tagger.model.record["choices"])


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("0.tables.forms", np.zeros(0, np.uint8)),
        ("0.tables.lengths", np.zeros(3, np.int64)),
        ("0.tables.0", np.zeros(1, np.uint8)),
        ("0.tables.0", np.full(3, 9, np.uint8)),
        ("0.tables.forms", np.frombuffer(b"cba", np.uint8)),
        ("0.tables.forms", np.frombuffer(b"ab\xff", np.uint8)),
    ],
)
def test_damaged_tables_are_refused(name, array):
    arrays = {}
    tables = WordTables.of({"t": {"a": "1", "b": "2", "c": "1"}})
    described = tables.write(Writer("0.", arrays))
    reader = Reader("0.", as_read(arrays), refused)
    assert WordTables.read(described, reader).rows["b"] == ("2",)
    with pytest.raises(pn.ModelError, match=r"tables(\.\w+)?: "):
        WordTables.read(described, reader._replace(tensors=as_read({**arrays, name: array})))
    for bad in (
        None,
        {"names": []},
        {"names": ["t"], "values": []},
        {"names": ["t", "t"], "values": [["1", "2"]] * 2},
        {"names": ["t"], "values": [[1, 2]]},
    ):
        with pytest.raises(pn.ModelError, match="tables: "):
            WordTables.read(bad, reader)


@settings(max_examples=5, deadline=None)
@given(st.integers(1, 4))
def test_threads_and_single_sentences_see_the_same_tables(n):
    tagger = pn.train(GOLD, raw=RAW, epochs=1)
    assert tagger.tag_sents(RAW * 20, threads=n) == [tagger.tag(words) for words in RAW] * 20


def seen_in(sentences, lexicon):
    """What training sees of a lexicon, by word."""
    examples = Examples.read(Source(sentences, "train"), "upos", ())
    (found,) = partly_hidden(examples, WordTables.of({LEXICON: lexicon})).values()
    seen = {}
    for (words, _), values in zip(sentences, found, strict=True):
        for word, value in zip(words, values, strict=True):
            seen.setdefault(word, []).append(value)
    return seen


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("abcdefghijklmnopqrst"), min_size=1), min_size=1),
    st.sets(st.sampled_from("abcdefghijklmnopqrst")),
)
def test_training_sees_entries_of_a_lexicon_but_of_no_word_that_stands_once(texts, forms):
    lexicon = {form: form.upper() for form in forms}
    for word, values in seen_in([(one, ["X"] * len(one)) for one in texts], lexicon).items():
        assert {*values} <= {ABSENT, lexicon.get(word, ABSENT)}
        assert len(values) > 1 or values == [ABSENT]


def test_the_more_often_a_word_stands_the_rarer_its_entry_is_hidden():
    for times in (2, 3, 7, 19):
        forms = [f"{times}.{number}" for number in range(6_000 // times)]
        text = [([form], ["X"]) for form in forms * times]
        seen = seen_in(text, dict.fromkeys(forms, "Y"))
        hidden = sum(values.count(ABSENT) for values in seen.values()) / len(text)
        assert abs(hidden - 2 / (1 + times)) < 0.03
        assert seen == seen_in(text, dict.fromkeys(forms, "Y"))


def learned_by(tagger):
    weights = tagger.model.weights
    return weights.keys.tolist(), weights.labels.tolist(), weights.weights.tolist()


def test_what_a_lexicon_says_of_words_that_stand_once_teaches_nothing():
    text = [*GOLD, (["the", "hen", "barks"], ["DET", "NOUN", "VERB"])]
    one, other = (pn.train(text, lexicon={"hen": label}, epochs=2) for label in ("NOUN", "VERB"))
    assert learned_by(one) == learned_by(other)
    often, differently = (
        pn.train(text, lexicon={"dog": label, "hen": "NOUN"}, epochs=2) for label in ("NOUN", "X")
    )
    assert learned_by(often) != learned_by(differently)


def test_a_resumed_training_hides_the_entries_that_a_training_hides():
    lexicon = {"dog": "NOUN", "the": "DET", "barks": "VERB"}
    options = {"lexicon": lexicon, "epochs": 2}
    whole = pn.train(GOLD, resumable=True, **options)
    begun = pn.train(GOLD, learn=False, **options)
    assert learned_by(begun.resume(GOLD)) == learned_by(whole)
