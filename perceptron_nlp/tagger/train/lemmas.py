"""Lemmas as a column: edit scripts learned from words and their tags."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from perceptron_nlp.features.templatefile import preset
from perceptron_nlp.features.templates import Template
from perceptron_nlp.tagger.model.lemmas import KNOWN, SCRIPTS, KnownLemmas
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.train.segmentation import Fit
from perceptron_nlp.text.scripts import Script, is_turkic, make_script
from perceptron_nlp.text.sentence import Sentence

LEMMA = "lemma"
UPOS, TAGS = "upos", ("upos", "xpos", "feats")
EPOCHS = 8


def learn_lemmas(
    train: Sequence[Sentence],
    dev: Sequence[Sentence] | None,
    fit: Fit,
    tags: Sequence[str],
    lexicon: Iterable[tuple[str, str]] = (),
    **options: Any,
) -> TaggerModel:
    """Return a model that gives words their lemmas.

    Parameters
    ----------
    train, dev : sentences with lemmas; ``_`` on a word of another form says that it has none
    fit : what trains a tagger of sentences
    tags : those of upos, xpos and feats that the sentences have, and that all text will have
    lexicon : further lemmas with their parts of speech
    options : further options of the training, such as the seed

    Raises
    ------
    FormatError : no word has a lemma
    """
    turkic = is_turkic(
        (word, lemma)
        for sentence in train
        for word, lemma in zip(sentence.words, sentence.column(LEMMA), strict=True)
        if lemma != "_"
    )
    lemmas = KnownLemmas.of(
        (
            (word, upos, lemma, script)
            for sentence in train
            for word, upos, lemma, script in zip(
                sentence.words,
                parts_of_speech(sentence, tags),
                sentence.column(LEMMA),
                _scripts(sentence, turkic),
                strict=True,
            )
            if script is not None
        ),
        turkic=turkic,
    ).with_lexicon(lexicon)
    columns = [*tags, KNOWN]
    model = fit(
        [_example(sentence, lemmas, tags) for sentence in train],
        dev=None if dev is None else [_example(sentence, lemmas, tags) for sentence in dev],
        column=LEMMA,
        fields=("form", *columns, LEMMA),
        templates=lemma_templates(columns),
        right_to_left=False,
        **{"runs": 1, "epochs": EPOCHS, **options},
    )
    return model.replace(scheme=SCRIPTS, lemmas=lemmas)


def lemma_templates(columns: Sequence[str]) -> tuple[Template, ...]:
    """Return the templates of lemmas that look at no other columns than these."""
    return tuple(t for t in preset("lemmas") if {*t.columns} <= {*columns})


def parts_of_speech(sentence: Sentence, tags: Sequence[str]) -> Sequence[str]:
    """Return the parts of speech of a sentence; where nobody knows them, all are the same."""
    return sentence.column(UPOS) if UPOS in tags else ("_",) * len(sentence)


def _scripts(sentence: Sentence, turkic: bool) -> list[Script | None]:
    return [
        None if lemma == "_" != word else make_script(word, lemma, turkic=turkic)
        for word, lemma in zip(sentence.words, sentence.column(LEMMA), strict=True)
    ]


def _example(sentence: Sentence, lemmas: KnownLemmas, tags: Sequence[str]) -> Sentence:
    known = lemmas.column(sentence.words, parts_of_speech(sentence, tags))
    scripts = _scripts(sentence, lemmas.turkic)
    labels = tuple("_" if script is None else str(script) for script in scripts)
    columns = {name: sentence.column(name) for name in tags}
    return Sentence(sentence.words, {**columns, KNOWN: known, LEMMA: labels})
