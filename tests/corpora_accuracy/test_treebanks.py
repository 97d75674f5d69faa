"""Accuracy on real treebanks, where they are at hand; the bounds leave room for one seed's luck."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import perceptron_nlp as pn

EWT = "UD_English-EWT/en_ewt-ud"


def files(corpora: Path, name: str) -> tuple[Path, Path, Path]:
    stem = corpora / "treebanks" / name
    return tuple(
        stem.with_name(f"{stem.name}-{part}.conllu")  # type: ignore[return-value]
        for part in ("train", "dev", "test")
    )


# The plain learner; what else can be chosen has figures of its own.
PLAIN: dict[str, Any] = {"seed": 1, "update": "perceptron"}


@pytest.fixture(scope="module")
def ewt(corpora: Path) -> pn.Tagger:
    return pn.train(files(corpora, EWT)[0], epochs=5, templates="default", **PLAIN)


def test_the_default_templates_reach_94_8_on_english(ewt: pn.Tagger, corpora: Path) -> None:
    result = ewt.evaluate(files(corpora, EWT)[2])
    assert result.tokens == 25_094 and result.sentences == 2_077
    assert result.accuracy >= 0.948
    assert result.known_accuracy is not None and result.unknown_accuracy is not None
    assert result.known_accuracy > 0.95 > result.unknown_accuracy > 0.7


def test_the_classic_templates_reach_93_8_on_english(corpora: Path) -> None:
    train, _, test = files(corpora, EWT)
    tagger = pn.train(train, epochs=5, templates="classic", **PLAIN)
    assert tagger.evaluate(test).accuracy >= 0.938


def test_a_real_model_is_small_and_loads_as_it_was_saved(
    ewt: pn.Tagger, corpora: Path, tmp_path: Path
) -> None:
    ewt.save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_size <= 4_000_000
    loaded = pn.load(tmp_path / "model")
    sentences = [list(s.words) for s in pn.read_conllu(files(corpora, EWT)[1])]
    expected = ewt.tag_sents(sentences)
    assert loaded.tag_sents(sentences) == loaded.tag_sents(sentences, threads=4) == expected


@pytest.mark.parametrize(
    ("name", "column", "bound"),
    [
        ("UD_French-Sequoia/fr_sequoia-ud", "upos", 0.965),
        ("UD_Greek-GDT/el_gdt-ud", "upos", 0.95),
        ("UD_Turkish-IMST/tr_imst-ud", "upos", 0.895),
        ("UD_Greek-GDT/el_gdt-ud", "feats", 0.80),
    ],
)
def test_two_epochs_suffice_on_smaller_treebanks(
    name: str, column: str, bound: float, corpora: Path
) -> None:
    train, _, test = files(corpora, name)
    tagger = pn.train(train, epochs=2, column=column, templates="default", **PLAIN)
    assert tagger.evaluate(test).accuracy >= bound


def test_a_fixed_table_loses_little(corpora: Path) -> None:
    train, _, test = files(corpora, "UD_Turkish-IMST/tr_imst-ud")
    exact = pn.train(train, epochs=2, templates="default", **PLAIN)
    fixed = pn.train(train, epochs=2, templates="default", table_bits=18, **PLAIN)
    assert fixed.evaluate(test).accuracy >= exact.evaluate(test).accuracy - 0.01


def test_greek_text_becomes_words_tags_and_lemmas(corpora: Path) -> None:
    train, _, test = files(corpora, "UD_Greek-GDT/el_gdt-ud")
    tagger = pn.train(train, column="all", preset="fast", seed=1)
    found = {name: score.f1 for name, score in tagger.evaluate_text(test).items()}
    floors = {
        "Tokens": 0.995,
        "Sentences": 0.88,
        "Words": 0.995,
        "UPOS": 0.96,
        "UFeats": 0.90,
        "Lemmas": 0.95,
    }
    assert {name: found[name] for name, floor in floors.items() if found[name] < floor} == {}
    assert tagger.evaluate(test, column="lemma").accuracy >= 0.95
    again = pn.Tagger.from_bytes(tagger.to_bytes())
    assert again.evaluate_text(test)["Lemmas"].f1 == found["Lemmas"]
