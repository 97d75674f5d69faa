"""Answers to the try-it page: words, labels, confidences and reasons."""

from __future__ import annotations

from typing import Any

from perceptron_nlp import Tagger, WordExplanation, tokenize
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, encodable

MOST_CHARACTERS = 10_000
TOP = 8


def check_tagger(tagger: Tagger) -> None:
    """Raise ArgumentError for a tagger that cannot label plain words."""
    for part in tagger.by_column.values():
        part.tag(["word"])


def answer(tagger: Tagger, text: object, *, spaces: bool) -> dict[str, Any]:
    """Everything about a text, as JSON has it.

    Parameters
    ----------
    tagger : of any columns
    text : a str of at most 10,000 characters
    spaces : whether words are what stands between white space, and sentences what stands on a
        line; else the tagger finds them, by the rules of ``tokenize`` if it never learned to

    Returns
    -------
    ``columns``, and ``sentences``: lists of words with ``word``, ``known`` and, in ``labels``, for
    each column ``label``, ``confidence`` (None where the model is not calibrated), ``runner_up``,
    ``score``, ``runner_up_score``, ``margin``, ``note``, and ``features``, the heaviest of them and
    the sum of all others, each a ``text`` and a ``margin``

    Raises
    ------
    ArgumentTypeError, ArgumentError : what is given is no such text
    """
    if not isinstance(text, str):
        raise ArgumentTypeError(f"text: a str is needed, not {type(text).__name__}")
    if len(text) > MOST_CHARACTERS:
        raise ArgumentError(
            f"text: has {len(text):,} characters; at most {MOST_CHARACTERS:,} can be shown at once"
        )
    if not encodable(text):
        raise ArgumentError("text: holds half of a surrogate pair, which is no character")
    if spaces:
        sentences = [words for line in text.splitlines() if (words := line.split())]
    elif tagger.segmenter is None:
        sentences = [sentence.words for sentence in tokenize(text)]
    else:
        sentences = [
            [word for token in sentence for word in token.words]
            for sentence in tagger.segmenter.sentences_of(text)
        ]
    found: list[list[dict[str, Any]]] = [
        [{"word": word, "known": False, "labels": {}} for word in words] for words in sentences
    ]
    for column, part in tagger.by_column.items():
        sure: list[list[float]] | None = None
        if part.model.calibration is not None:
            sure = part.tag_sents_with_confidences(sentences)[1]
        for k, explained in enumerate(part.explain_sents(sentences, top=TOP)):
            for i, why in enumerate(explained):
                found[k][i]["known"] = why.known
                found[k][i]["labels"][column] = {
                    "confidence": None if sure is None else sure[k][i],
                    **_told(why),
                }
    return {"columns": list(tagger.columns), "sentences": found}


def _told(why: WordExplanation) -> dict[str, Any]:
    features, rest = why.heaviest(TOP)
    shown = [*features, *filter(None, [rest])]
    return {
        "label": why.label,
        "runner_up": why.runner_up,
        "score": why.score,
        "runner_up_score": why.runner_up_score,
        "margin": why.margin,
        "note": why.note,
        "features": [
            {
                "text": feature.text,
                "value": feature.value,
                "margin": feature.margin,
                "is_rest": feature is rest,
            }
            for feature in shown
        ],
    }
