"""The perceptron family on a person's corpus: experiments, pictures, one report.

>>> found = study_corpus(["train.conllu"], dev="dev.conllu")            # doctest: +SKIP
>>> write_report(found, "study")[0]                                     # doctest: +SKIP
PosixPath('study/study.html')
"""

from __future__ import annotations

from perceptron_nlp.study.experiments import Study, study_corpus
from perceptron_nlp.study.pictures import plotting
from perceptron_nlp.study.report import made_folder, write_report

__all__ = ["Study", "made_folder", "plotting", "study_corpus", "write_report"]
