"""A corpus small enough to study in a second, and a study of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from perceptron_nlp.perceptrons.study import curves, experiments
from perceptron_nlp.perceptrons.study.corpus import StudyCorpus, read_study_corpus
from perceptron_nlp.perceptrons.study.experiments import Study

SUBJECTS = ["The/DET dog/NOUN", "A/DET cat/NOUN", "Old/ADJ Tom/PROPN", "She/PRON", "They/PRON"]
VERBS = ["sees/VERB", "found/VERB", "can/AUX see/VERB", "runs/VERB to/ADP"]
OBJECTS = ["the/DET light/NOUN ./PUNCT", "a/DET light/ADJ box/NOUN ./PUNCT", "Lisbon/PROPN !/PUNCT"]
LINES = [f"{s} {v} {o}" for s in SUBJECTS for v in VERBS for o in OBJECTS]


@pytest.fixture(scope="session")
def tagged_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "sixty.tagged"
    path.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def corpus(tagged_file: Path) -> StudyCorpus:
    return read_study_corpus([str(tagged_file)])


@pytest.fixture(scope="session")
def found(corpus: StudyCorpus) -> Study:
    return Study(
        corpus,
        curves.learning_curves(corpus, epochs=3),
        curves.learner_table(corpus, epochs=2),
        experiments.compare(corpus, epochs=2, repeats=2),
        curves.order_spread(corpus, orders=6, epochs=2),
        curves.margins(corpus, wanted=(0.0, 2.0), epochs=2),
        experiments.seven_steps(),
        experiments.clouds(points=40, epochs=4),
        1.0,
    )
