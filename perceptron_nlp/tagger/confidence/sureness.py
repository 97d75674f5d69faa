"""How sure a calibrated model is of the labels of sentences.

A kept label is sure; one from the model's dictionary is as sure as the dictionary was on the dev
set; of all others labelview.py tells which labels count as the one given.
"""

from __future__ import annotations

from collections.abc import Sequence

from perceptron_nlp.tagger.confidence.calibration import Array
from perceptron_nlp.tagger.model.model import TaggerModel, calibration_of
from perceptron_nlp.tagger.tag.keeping import Keep, with_kept
from perceptron_nlp.tagger.tag.labelling import Labeller
from perceptron_nlp.tagger.tag.labelview import LabelView, Numbers, by_sentence
from perceptron_nlp.tagger.tag.lexicon import Lexicon

Sure = tuple[list[list[str]], list[list[float]]]


def sure_labels(
    model: TaggerModel,
    labeller: Labeller,
    lexicon: Lexicon | None,
    sentences: list[Sequence[str]],
    keep: Sequence[Keep] | None = None,
    threads: int = 1,
) -> Sure:
    """The labels of prepared sentences, and how likely each is right.

    Parameters
    ----------
    model : of one column, calibrated
    labeller : of the model and the lexicon
    lexicon : what labels some forms may have, or None
    sentences, keep, threads : as for the labeller

    Returns
    -------
    a list of labels a sentence, as the labeller's `label` gives them; and for each a float from 0
    to 1

    Raises
    ------
    ModelError : the model is not calibrated
    """
    calibration = calibration_of(model)
    view = LabelView(model, lexicon)

    def use(piece: range, numbers: Numbers, scores: Array) -> Sure:
        part = [sentences[k] for k in piece]
        scores, given = view.seen(part, numbers, scores)
        found = calibration.confidences(scores, given)
        found[view.in_dictionary(part)] = calibration.dictionary
        return (
            labeller.written(by_sentence(part, view.labels_of(numbers))),
            by_sentence(part, found.tolist()),
        )

    pieces = labeller.scored(sentences, use, keep, threads)
    labels, sure = (
        [one for piece in pieces for one in piece[0]],
        [one for piece in pieces for one in piece[1]],
    )
    if keep is None:
        return labels, sure
    return (
        [with_kept(own, kept) for own, kept in zip(labels, keep, strict=True)],
        [
            own
            if kept is None
            else [x if label is None else 1.0 for x, label in zip(own, kept, strict=True)]
            for own, kept in zip(sure, keep, strict=True)
        ],
    )


def label_chances(
    model: TaggerModel, labeller: Labeller, lexicon: Lexicon | None, sentence: Sequence[str]
) -> Array:
    """float64[n_words, n_labels]: how likely each learnt label is for the words of one sentence.

    Raises
    ------
    ModelError : the model is not calibrated
    """
    calibration = calibration_of(model)
    view = LabelView(model, lexicon)

    def use(piece: range, numbers: Numbers, scores: Array) -> Array:
        part = [sentence for _ in piece]
        scores, given = view.seen(part, numbers, scores)
        found = calibration.probabilities(scores, given)
        fixed = view.in_dictionary(part)
        if fixed.any() and found.shape[1] > 1:
            found[fixed] = (1 - calibration.dictionary) / (found.shape[1] - 1)
            found[fixed, numbers[fixed]] = calibration.dictionary
        return found

    return labeller.scored(labeller.prepared([sentence]), use)[0]
