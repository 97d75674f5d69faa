"""A model of a whole pipeline: text, tags and lemmas in one file, and what the API makes of it."""

from __future__ import annotations

import copy
import io
import itertools
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oracles.tensors import array_of

import perceptron_nlp as pn
from perceptron_nlp.analysis.serve import answer
from perceptron_nlp.formats import as_conllu, open_tensors, write_tensors
from perceptron_nlp.formats.conllu import running_text
from perceptron_nlp.tagger.tag.segment import Segmenter
from perceptron_nlp.tagger.train.pipeline import with_lead

PLAIN = Path(__file__).parents[3] / "benchmarks" / "plain_english.conllu"
TEXT = " Le chat va au bois.  Elle voit\nl'arbre du bois !\n\nIl dort"


@pytest.fixture
def gold(french: str, tmp_path: Path) -> Path:
    path = tmp_path / "gold.conllu"
    path.write_text(french, "utf-8")
    return path


def test_text_becomes_tokens_words_tags_and_lemmas_at_their_places(pipeline: pn.Tagger) -> None:
    assert pipeline.columns == ("upos", "lemma") and pipeline.feature_columns == ()
    first, second, third = pipeline.tag_text(TEXT)
    assert first.forms == ["Le", "chat", "va", "à", "le", "bois", "."]
    assert [token.form for token in first.tokens] == ["Le", "chat", "va", "au", "bois", "."]
    assert [word.lemma for word in first.tokens[3].words] == ["à", "le"]
    assert first.tokens[3].label == ("ADP", "DET") and first[2].lemma == "aller"
    assert third.forms == ["Il", "dort"] and second.text == TEXT[second.start : second.end]
    for token in (*first.tokens, *second.tokens, *third.tokens):
        assert TEXT[token.start : token.end] == token.form


def test_what_it_learned_from_comes_back_from_its_text(pipeline: pn.Tagger, gold: Path) -> None:
    scores = pipeline.evaluate_text(gold)
    assert list(scores) == ["Tokens", "Sentences", "Words", "UPOS", "AllTags", "Lemmas"]
    assert {score.f1 for score in scores.values()} == {1.0}
    assert scores["Words"].gold == scores["Tokens"].gold + 5
    assert pipeline.evaluate_text(gold, threads=2) == scores


def test_one_file_holds_all_stages_and_gives_the_same_bytes(
    pipeline: pn.Tagger, tmp_path: Path
) -> None:
    path = tmp_path / "fr.model"
    pipeline.save(path)
    for other in (
        pn.load(path),
        pn.load(path, mmap=True),
        pn.Tagger.from_bytes(path.read_bytes()),
        pickle.loads(pickle.dumps(pipeline)),
        copy.deepcopy(pipeline),
        pipeline.compress(len(path.read_bytes()) * 97 // 100, force=True),
    ):
        assert other.tag_text(TEXT) == pipeline.tag_text(TEXT)
    assert pn.load(path).to_bytes() == path.read_bytes()


def test_the_same_treebank_gives_the_same_bytes(pipeline: pn.Tagger, gold: Path) -> None:
    again = pn.train(gold, column=["text", "upos", "lemma"], preset="fast", epochs=8)
    assert again.to_bytes() == pipeline.to_bytes()


@pytest.mark.parametrize("lemma", ["", "a\tb", "a\nb", "a\r"])
def test_lemmas_that_no_file_can_carry_are_refused_as_other_labels_are(lemma: str) -> None:
    sentences = [pn.Sentence(["dogs", "run"], {"lemma": [lemma, "run"]})]
    with pytest.raises(pn.ArgumentError, match=r"^train: column lemma: labels: "):
        pn.train(sentences, column="lemma", epochs=1)


def test_lemmas_alone_see_the_tags_of_the_tagger_that_they_are_part_of(pipeline: pn.Tagger) -> None:
    words = ["Les", "chats", "dorment"]
    part = pipeline.by_column["lemma"]
    assert (
        part.tag(words)
        == pipeline.tag(words, columns=pipeline.columns)["lemma"]
        == ["le", "chat", "dormir"]
    )
    assert pickle.loads(pickle.dumps(part)).tag(words) == part.tag(words)
    alone = pn.Tagger.from_bytes(part.to_bytes())
    assert alone.feature_columns == ("upos",)
    with pytest.raises(pn.ArgumentError, match="looks at the columns upos"):
        alone.tag(words)


def test_kept_lemmas_stay_and_need_no_script(pipeline: pn.Tagger) -> None:
    words = ["Les", "chats", "dorment"]
    kept = pipeline.tag(words, keep={"lemma": [None, "félin", None]}, columns=pipeline.columns)
    assert kept["lemma"] == ["le", "félin", "dormir"]


def test_lemmas_are_evaluated_explained_and_ranked_as_lemmas(
    pipeline: pn.Tagger, gold: Path
) -> None:
    words = ["Les", "chats", "dorment"]
    found = pipeline.evaluate(gold, column="lemma")
    assert found.accuracy == 1 and not found.untrained
    odd = pn.Sentence(["Les", "chats"], {"upos": ["DET", "NOUN"], "lemma": ["le", "félin"]})
    assert pipeline.evaluate([odd], column="lemma").untrained == {"félin": 1}
    explained = pipeline.explain(words, column="lemma")
    assert explained.labels == ["le", "chat", "dormir"]
    assert explained[2].learned == "-3 +ir"
    for word in explained:
        assert word.runner_up not in (None, word.label)
        features = sum(feature.weight for feature in word.features)
        assert word.score == pytest.approx(features)
    other = pipeline.explain(words, column="lemma", against=[None, "chats", None])
    assert other[1].runner_up == "chats"
    best = pn.k_best(pipeline, words, 4, column="lemma")
    assert best[0][0] == explained.labels
    assert len({tuple(labels) for labels, _ in best}) == 4
    assert [score for _, score in best] == sorted((s for _, s in best), reverse=True)


def test_confidences_are_those_of_lemmas(french: str, tmp_path: Path) -> None:
    path = tmp_path / "dev.conllu"
    path.write_text(french * 6, "utf-8")
    with_mistakes = path.read_text("utf-8").replace("\tdormir\t", "\tsommeiller\t", 5)
    tagger = pn.train(path, column="all", preset="fast", epochs=3)
    path.write_text(with_mistakes.replace("\tNOUN\t", "\tX\t", 6), "utf-8")
    sure = tagger.calibrate(path)
    words = ["Les", "chats", "dorment"]
    lemmas, confidences = sure.by_column["lemma"].tag_sents([words], confidences=True)
    assert lemmas == [["le", "chat", "dormir"]]
    assert all(0 < x <= 1 for x in confidences[0])
    lemmas, confidences = sure.by_column["lemma"].tag_sents(
        [words], keep=[[None, "félin", None]], confidences=True
    )
    assert lemmas[0][1] == "félin" and confidences[0][1] == 1
    assert sure.evaluate(path, column="lemma", calibration=True).calibration is not None


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        (lambda t, d: t.resume(d), "resume: segmentation and lemmas are learned from all"),
        (lambda t, d: pn.train(d, column="all", resumable=True), "resumable: segmentation and"),
        (lambda t, d: t.with_lexicon({"va": "aller"}, column="lemma"), r"lexicon\['va'\]: "),
        (lambda t, d: pn.merge([t, pn.train(d, column="all", preset="fast", seed=2)]), "no mean"),
        (lambda t, d: pn.train(d, column="lemma,text"), "name a column of tags, too"),
        (lambda t, d: pn.train(d, column="all,upos"), "all stands for every column"),
        (lambda t, d: pn.train([(["a"], ["X"])], column="all"), "leave text and all out"),
    ],
)
def test_what_a_pipeline_cannot_do_is_said(
    pipeline: pn.Tagger, gold: Path, refused: Callable[..., Any], message: str
) -> None:
    with pytest.raises(pn.ArgumentError, match=message):
        refused(pipeline, gold)


def test_text_without_spaces_is_refused_before_columns_are_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(pn.ArgumentError, match="leave text and all out"):
        pn.train([(["a"], ["X"])], column="all")
    assert not caplog.records


def test_the_lead_of_near_atoms_changes_nothing_of_the_dev_set(
    pipeline: pn.Tagger, french: str, tmp_path: Path
) -> None:
    path = tmp_path / "fr.conllu"
    path.write_text(french, "utf-8")
    assert pipeline.model.segmentation is not None and pipeline.model.segmentation.lead is None
    led = pn.train(path, dev=path, column=["text", "upos"], preset="fast", epochs=8)
    found = led.model.segmentation
    assert found is not None and found.lead is not None and found.lead >= 0
    again = pn.Tagger.from_bytes(led.to_bytes()).model.segmentation
    assert again is not None and again.lead == found.lead
    both = pn.train(
        path, dev=path, learn_dev=True, column=["text", "upos"], preset="fast", epochs=8
    ).model.segmentation
    assert both is not None and both.lead == found.lead


@pytest.mark.parametrize(("n_sentences", "is_doubled"), [(200, True), (100, False)])
def test_the_lead_is_twice_the_least_that_changes_nothing_or_the_heaviest_weight(
    n_sentences: int, is_doubled: bool
) -> None:
    bundled = pn.load("en").model.segmentation
    assert bundled is not None and bundled.lead is not None
    # Without what is certain more is asked.
    bare = bundled._replace(certain={}, words={}, lead=None)
    dev = list(itertools.islice(pn.read_conllu(PLAIN), n_sentences))
    text, weights = running_text(dev)[0], bare.cut.weights
    whole, found = list(Segmenter(bare).sentences_of(text)), with_lead(bare, dev).lead
    assert found is not None
    for lead in (found, found / 2):
        assert list(Segmenter(bare._replace(lead=lead)).sentences_of(text)) == whole
    assert (found > max(map(abs, weights.weights.tolist())) / weights.scale) == is_doubled
    if is_doubled:
        less = bare._replace(lead=found / 2 - 1 / weights.scale)
        assert list(Segmenter(less).sentences_of(text)) != whole


def test_inspection_lists_the_stages(pipeline: pn.Tagger) -> None:
    found = pn.inspect(pipeline).to_dict()
    assert found["segmentation_splits"] == 2
    assert ["known_lemmas" in column for column in found["sections"]] == [False, True]
    (line,) = [part for part in found["layout"] if part["name"].endswith("lemmas.only")]
    assert line["length"] == found["sections"][1]["known_lemmas"]


def test_candidate_errors_in_lemmas_are_lemmas(french: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.conllu"
    wrong = french.replace("dorment\tdormir\t", "dorment\tdorment\t", 1)
    path.write_text(french * 3 + wrong, "utf-8")
    found = pn.doctor(path, column="lemma", folds=2)
    assert ("dorment", "dormir") in {(one.gold, one.expected) for one in found.candidates}
    assert all(one.gold != one.expected for one in found.candidates)


def test_the_page_to_try_a_tagger_on_cuts_as_the_model_has_learned(pipeline: pn.Tagger) -> None:
    found = answer(pipeline, TEXT, spaces=False)["sentences"]
    assert [[word["word"] for word in words] for words in found] == [
        sentence.forms for sentence in pipeline.tag_text(TEXT)
    ]
    assert found[0][2]["labels"]["lemma"]["label"] == "aller"


def test_a_folder_for_a_hub_tells_of_lemmas_and_loads(pipeline: pn.Tagger, tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub", reason="the extra hub is not installed")
    from perceptron_nlp.integrations import hub

    card = hub.model_card(pipeline, name="fr", license="mit", language="fr")
    assert "edit scripts" in str(card)
    hub.save_to_folder(pipeline, tmp_path / "fr", card=card)
    assert hub.load_from_folder(tmp_path / "fr").tag_text(TEXT) == pipeline.tag_text(TEXT)


def damaged(data: bytes, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> bytes:
    """The bytes of a model whose description and arrays were changed."""
    tensors, metadata = open_tensors(data, "fr.model")
    arrays = {name: array_of(tensor) for name, tensor in tensors.items()}
    described = {name: json.loads(metadata[name]) for name in ("model", "more", "segmentation")}
    change(described, arrays)
    written = {**metadata, **{name: json.dumps(part) for name, part in described.items()}}
    return write_tensors(arrays, {k: v for k, v in written.items() if k != "sha256"})


LEMMAS, CUT = ("more", 0, "model"), ("segmentation",)
# A name, so that cases are named alike in every process.
GONE, CUT_SHORT = "(gone)", slice(-1)


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ((*LEMMAS, "labels", 0), "l,0,,999,"),
        ((*LEMMAS, "lemmas", "scripts", 0), "nonsense"),
        ((*LEMMAS, "lemmas", "scripts", 0), "=be"),
        ((*LEMMAS, "lemmas", "alphabet"), True),
        ((*LEMMAS, "lemmas", "alphabet"), "e"),
        ((*LEMMAS, "lemmas"), GONE),
        (("2.lemmas.only",), GONE),
        (("2.lemmas.only",), CUT_SHORT),
        ((*CUT, "certain"), {"a0a": "Q"}),
        ((*CUT, "certain"), ["a0a"]),
        ((*CUT, "words"), {"beside": {"1a": {"T": ["the"]}}}),
        ((*CUT, "words"), {"before": {"1a": {"Q": ["the"]}}}),
        ((*CUT, "words"), {"after": {"a": {"T": ["the"]}}}),
        ((*CUT, "words"), {"after": {"1a": {"T": [7]}}}),
        ((*CUT, "words"), {"after_ending": {"1a": {"T": [""]}}}),
        ((*CUT, "words"), GONE),
        ((*CUT, "lead"), -1.0),
        ((*CUT, "lead"), "far"),
        ((*CUT, "lead"), GONE),
        ((*CUT, "single"), "b"),
        ((*CUT, "entries"), ["a" * 13]),
        ((*CUT, "entries"), [""]),
        ((*CUT, "cut", "labels"), ["A", "B", "C"]),
        ((*CUT, "splits", "labels", -1), "r9999|x|y"),
        ((*CUT, "splits", "templates", 0), "column:gap[0]"),
        ((*CUT, "cut"), None),
    ],
    ids=str,
)
def test_a_hostile_description_is_refused(
    pipeline: pn.Tagger, where: tuple[Any, ...], value: Any
) -> None:
    def change(described: dict[str, Any], arrays: dict[str, Any]) -> None:
        owner: Any = arrays if where[0] in arrays else described
        for name in where[:-1]:
            owner = owner[name]
        old = owner.get(where[-1]) if isinstance(owner, dict) else owner[where[-1]]
        owner[where[-1]] = old[value] if value is CUT_SHORT else value
        if value == GONE:
            del owner[where[-1]]

    data = pipeline.to_bytes()
    assert pn.Tagger.from_bytes(damaged(data, lambda *_: None)).tag_text(TEXT)
    with pytest.raises(pn.ModelError):
        pn.Tagger.from_bytes(damaged(data, change))


@pytest.mark.parametrize("piece", ["%a;", "%9;", "%d;", "%0;", "%1b;", "%85;", "%2028;", "%d800;"])
@pytest.mark.parametrize("label", ["=be{}x", "l,0,{},1,", "l,1,,1,a{}", "r1|{}|x", "r1|x|le{}le"])
def test_a_script_that_would_break_lines_is_refused(
    pipeline: pn.Tagger, label: str, piece: str
) -> None:
    def change(described: Any, arrays: Any) -> None:
        is_split = label.startswith("r")
        segmentation = described["segmentation"]["splits"]
        own = segmentation if is_split else described["more"][0]["model"]
        own["labels"] = sorted([*own["labels"][1:], label.format(piece)])

    with pytest.raises(pn.ModelError, match=r"is no (split|edit) script"):
        pn.Tagger.from_bytes(damaged(pipeline.to_bytes(), change))


def test_files_are_written_as_conllu_with_ranges_that_read_back(
    pipeline: pn.Tagger, tmp_path: Path, cli_tag: Callable[[bytes], bytes]
) -> None:
    written = cli_tag(TEXT.encode())
    sentences = list(pn.read_conllu(io.BytesIO(written)))
    assert [list(s.words) for s in sentences] == [s.forms for s in pipeline.tag_text(TEXT)]
    assert b"4-5\tau\t" in written and b"SpaceAfter=No" in written
    assert pn.text_scores(sentences, sentences)["Words"].f1 == 1
    assert cli_tag("\ufeff".encode() + TEXT.encode().replace(b"\n", b"\r\n")) == written


def test_sentences_with_nothing_between_them_say_so_in_conllu(pipeline: pn.Tagger) -> None:
    segmentation = pipeline.model.segmentation
    assert segmentation is not None
    text = "Le chat dort.Elle voit.Il dort. Elle dort."
    cut = segmentation._replace(certain={".0A": "S", ".1A": "S", "a0.": "T", "a1a": "T"})
    tagger = pn.Tagger(pipeline.model.replace(segmentation=cut))
    assert len(tagger.tag_text(text)) == 4

    def rebuilt(written: bytes) -> str:
        return running_text(pn.read_conllu(io.BytesIO(written)))[0]

    fill = tagger.labelers.text_filler()
    assert fill is not None
    with pn.open_corpus(io.BytesIO(text.encode()), format="text") as corpus:
        assert rebuilt(b"".join(fill.texts(corpus, int))) == text
    with pn.open_corpus(io.BytesIO(text.encode()), format="text") as corpus:
        corpus.cut_by(tagger.segmenter.sentences_in)
        assert rebuilt("".join(as_conllu(one, {}) for one in corpus).encode()) == text
    as_english = "一。二。 三。四"
    with pn.open_corpus(io.BytesIO(as_english.encode()), format="text") as corpus:
        corpus.cut_by(pn.load("en").segmenter.sentences_in)
        sentences = list(corpus)
    assert len(sentences) == 4
    assert rebuilt("".join(as_conllu(one, {}) for one in sentences).encode()) == as_english
    with pytest.raises(pn.ArgumentError, match="<stream>: read as running text"):
        list(pn.open_corpus(io.BytesIO(b"a"), format="text"))


@pytest.fixture
def cli_tag(
    pipeline: pn.Tagger,
    tmp_path: Path,
    capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[bytes], bytes]:
    """Tags standard input from the shell."""
    from perceptron_nlp.cli.main import main

    path = tmp_path / "fr.model"
    pipeline.save(path)

    def run(text: bytes) -> bytes:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text), "utf-8"))
        assert main(["tag", str(path), "--quiet", "--format", "text"]) == 0
        return capsysbinary.readouterr().out

    return run


def test_a_pipeline_is_packed_in_weights_of_8_bits(pipeline: pn.Tagger) -> None:
    assert pipeline.model.packed
    for part in pipeline.model.parts_by_column:
        assert abs(part.weights.weights.astype(int)).max() <= 127


@pytest.fixture(scope="module")
def cutter(french: str, tmp_path_factory: pytest.TempPathFactory) -> pn.Tagger:
    path = tmp_path_factory.mktemp("cut") / "gold.conllu"
    path.write_text(french, "utf-8")
    return pn.train(path, column="text")


def test_options_of_tags_are_named_where_no_tags_are_learned(
    cutter: pn.Tagger, gold: Path, caplog: pytest.LogCaptureFixture
) -> None:
    other = pn.train(gold, column="text", beam=3, preset="fast", seed=1)
    assert caplog.messages == ["train: of no use, since no tags are learned: preset, beam"]
    assert other.to_bytes() == cutter.to_bytes()
    caplog.clear()
    shorter = pn.train(gold, column="text", seed=2, epochs=3, runs=2)
    assert not caplog.messages and shorter.model.segmentation is not None
    epochs = shorter.model.segmentation.cut.record["epochs"]
    assert [(one["run"], one["epoch"]) for one in epochs] == [
        (1, 1),
        (1, 2),
        (1, 3),
        (2, 1),
        (2, 2),
        (2, 3),
    ]


def test_a_model_may_only_cut_text(cutter: pn.Tagger, gold: Path) -> None:
    assert cutter.columns == cutter.feature_columns == () and not cutter.by_column
    scores = cutter.evaluate_text(gold)
    assert {name: one.f1 for name, one in scores.items()} == {
        "Tokens": 1.0,
        "Sentences": 1.0,
        "Words": 1.0,
    }
    for other in (
        pn.Tagger.from_bytes(cutter.to_bytes()),
        pickle.loads(pickle.dumps(cutter)),
        pn.train(gold, column="text"),
    ):
        assert other.to_bytes() == cutter.to_bytes() and other.tag_text(TEXT) == pn.tokenize(
            TEXT, cutter
        )
    assert len(cutter.compress(len(cutter.to_bytes()) - 300, dev=gold).to_bytes()) < len(
        cutter.to_bytes()
    )
    found = pn.inspect(cutter).to_dict()
    assert found["segmentation_splits"] == 2
    counts = cutter.model.record["train"]
    assert counts["tokens"] == sum(map(len, pn.read_conllu(gold)))


def test_tags_change_nothing_of_how_text_is_cut(
    cutter: pn.Tagger, pipeline: pn.Tagger, gold: Path
) -> None:
    """Neither beside it in training, nor joined with it later, nor left out in use."""
    upos = pn.train(gold, column="upos", preset="fast")
    both = pn.Tagger.joined([upos, cutter])
    both = pn.Tagger.from_bytes(both.to_bytes())
    (one,) = both.tag_text("Elle voit l'arbre.")
    assert one.labels == upos.tag(one.forms)
    tokens = [
        [(token.form, token.start, token.end, [word.form for word in token.words]) for token in own]
        for own in (
            [token for sentence in tagger.tag_text(TEXT) for token in sentence.tokens]
            for tagger in (cutter, pipeline, both)
        )
    ]
    assert tokens[0] == tokens[1] == tokens[2]
    assert pn.tokenize(TEXT, pipeline) == pn.tokenize(TEXT, both) == cutter.tag_text(TEXT)
    assert {word.label for one in pn.tokenize(TEXT, pipeline) for word in one} == {None}
    english = pn.tokenize(TEXT)
    assert pn.tokenize(TEXT, upos) == english == pn.tokenize(TEXT, pn.load("en"))
    assert english != pn.tokenize(TEXT, cutter)
    with pytest.raises(pn.ArgumentTypeError, match="model: a tagger is needed"):
        pn.tokenize(TEXT, "en")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "asked",
    [
        lambda t, d: t.tag(["va"]),
        lambda t, d: t.tag_sents([["va"]]),
        lambda t, d: t.tag_sents([["va"]], columns=["upos"], confidences=True),
        lambda t, d: t.tag_text("va", columns=["upos"]),
        lambda t, d: t.scores(["va"]),
        lambda t, d: t.confidences(["va"]),
        lambda t, d: t.explain(["va"]),
        lambda t, d: t.evaluate(d),
        lambda t, d: t.evaluate_columns(d),
        lambda t, d: t.calibrate(d),
        lambda t, d: t.with_lexicon({"va": "VERB"}),
        lambda t, d: pn.compare(t, t, d),
        lambda t, d: pn.inspect(t, dev=d),
        lambda t, d: pn.k_best(t, ["va"], 2),
    ],
)
def test_a_model_that_only_cuts_text_says_that_it_has_no_tags(
    cutter: pn.Tagger, gold: Path, asked: Callable[..., Any]
) -> None:
    with pytest.raises(pn.ModelError, match="this model has no tags: it only cuts running text"):
        asked(cutter, gold)


def test_a_damaged_model_that_only_cuts_text_is_refused(cutter: pn.Tagger) -> None:
    tensors, metadata = open_tensors(cutter.to_bytes(), "m")
    del metadata["segmentation"]
    arrays = {name: array_of(tensor) for name, tensor in tensors.items()}
    kept = {name: part for name, part in metadata.items() if name != "sha256"}
    with pytest.raises(pn.ModelError, match="segmentation: missing"):
        pn.Tagger.from_bytes(write_tensors(arrays, kept))
