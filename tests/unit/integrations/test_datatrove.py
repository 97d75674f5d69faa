"""datatrove's filters with our words and sentences."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import perceptron_nlp as pn

pytestmark = pytest.mark.filterwarnings("ignore")
datatrove = pytest.importorskip("datatrove", reason="datatrove is not installed")
from perceptron_nlp.compat.datatrove import PerceptronTokenizer  # noqa: E402

TEXT = "Dr. Smith didn't sail. The ferries  wait!\n\nNobody knows why."


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """That of the bundled model."""
    return PerceptronTokenizer()


def test_words_and_sentences_are_those_of_the_model(tokenizer: Any) -> None:
    sentences = list(pn.load("en").tag_text(TEXT))
    assert tokenizer.word_tokenize(TEXT) == [word.form for own in sentences for word in own]
    assert tokenizer.sent_tokenize(TEXT) == [own.text for own in sentences]
    assert tokenizer.span_tokenize(TEXT) == [(own.start, own.end) for own in sentences]
    assert tokenizer.word_tokenize(" \n") == tokenizer.span_tokenize("") == []


def test_a_model_that_never_learned_to_cut_does_as_the_english_one(tmp_path: Path) -> None:
    pn.train([(["a", "b"], ["X", "Y"])] * 3, epochs=1).save(tmp_path / "plain.model")
    plain = PerceptronTokenizer(str(tmp_path / "plain.model"))
    assert plain.word_tokenize("A boat. Two!") == ["A", "boat", ".", "Two", "!"]
    assert plain.sent_tokenize("A boat. Two!") == ["A boat.", "Two!"]


def test_workers_open_the_model_themselves(tokenizer: Any) -> None:
    tokenizer.word_tokenize(TEXT)
    sent = pickle.dumps(tokenizer)
    assert len(sent) < 1000
    assert pickle.loads(sent).word_tokenize(TEXT) == tokenizer.word_tokenize(TEXT)


def test_filters_of_datatrove_run_with_it(tokenizer: Any, tmp_path: Path) -> None:
    from datatrove.data import Document
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.filters import GopherQualityFilter

    corpus = pn.open_corpus("data/english-test.conllu")
    long = " ".join(" ".join(sentence.words) for sentence in corpus)
    documents = [Document(text=text, id=str(n)) for n, text in enumerate([long, "Too short."])]
    kept: list[str] = []

    def collected(data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        for document in data:
            kept.append(document.id)
            yield document

    # The text of the example has no stop words to speak of, but enough words.
    words = GopherQualityFilter(language=tokenizer, min_stop_words=0)
    pipeline = [documents, words, collected]
    LocalPipelineExecutor(pipeline=pipeline, logging_dir=str(tmp_path / "logs")).run()
    assert kept == ["0"]
