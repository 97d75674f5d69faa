"""The perceptron family on a person's corpus: experiments, pictures, one report.

>>> corpus = read_study_corpus(["train.conllu"], dev="dev.conllu")     # doctest: +SKIP
>>> write_report(study_corpus(corpus), "study")[0]                      # doctest: +SKIP
PosixPath('study/study.html')
"""

from __future__ import annotations

from perceptron_nlp.perceptrons.study.corpus import (
    TOKENS,
    StudyCorpus,
    read_study_corpus,
    sample_files,
)
from perceptron_nlp.perceptrons.study.experiments import Study, study_corpus
from perceptron_nlp.perceptrons.study.report import check_libraries, made_folder, write_report

__all__ = [
    "TOKENS",
    "Study",
    "StudyCorpus",
    "check_libraries",
    "made_folder",
    "read_study_corpus",
    "sample_files",
    "study_corpus",
    "write_report",
]
