"""A page on which a tagger can be tried: words, labels, confidences and reasons of a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perceptron_nlp import Tagger, WordExplanation, tokenize
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, encodable
from perceptron_nlp.pages import render
from perceptron_nlp.pages.serving import HOSTS, PORT, PageServer, needed_uvicorn, page_application

if TYPE_CHECKING:
    from starlette.types import ASGIApp

MOST_CHARACTERS = 10_000
# A character takes up to 12 bytes of JSON.
MAX_BYTES = 12 * MOST_CHARACTERS + 1024
TOP = 8


def make_server(
    tagger: Tagger, *, host: str = HOSTS[0], port: int = PORT, spaces: bool = False
) -> PageServer:
    """Return a server that listens; ``serve_forever()`` makes it answer.

    Parameters
    ----------
    tagger : the tagger that is tried
    host : 127.0.0.1, ::1 or localhost; nobody else can be served
    port : 0 to 65,535; 0 for any that is free
    spaces : True where words are separated by white space in the text, and sentences by lines

    Raises
    ------
    ArgumentError, ArgumentTypeError : a host or port that cannot be, or is taken; a tagger that
        looks at more than words
    MissingExtraError : Starlette, uvicorn or Jinja2 is not installed (extra ``web``)
    """
    return PageServer(trial_application(tagger, spaces), host, port)


def trial_application(tagger: Tagger, spaces: bool) -> ASGIApp:
    """Return the page and its answers; errors and parameters are those of make_server."""
    check_tagger(tagger)
    needed_uvicorn()

    def tag(asked: dict[str, Any]) -> dict[str, Any]:
        return answer(tagger, asked["text"], spaces=spaces)

    return page_application(
        render("serve.html", title="Try a tagger", max_characters=MOST_CHARACTERS),
        ("style.css", "serve.js"),
        {"/tag": tag},
        {"/tag": frozenset({"text"})},
        MAX_BYTES,
        f"at most {MOST_CHARACTERS:,} characters can be shown at once",
    )


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
    parts = tagger.by_column
    sure: dict[str, list[list[float]]] = {}
    if all(part.model.calibration is not None for part in parts.values()):
        both = tagger.tag_sents_columns_with_confidences(sentences)
        labels = {column: own for column, (own, _) in both.items()}
        sure = {column: own for column, (_, own) in both.items()}
    else:
        labels = tagger.tag_sents_columns(sentences)
    for column, part in parts.items():
        # Why not what it says by itself, if the columns agreed on another label.
        reasons = part.explain_sents(sentences, top=TOP, against=labels[column])
        for k, explained in enumerate(reasons):
            for i, why in enumerate(explained):
                found[k][i]["known"] = why.known
                found[k][i]["labels"][column] = {
                    "confidence": sure[column][k][i] if column in sure else None,
                    **_told(why, labels[column][k][i]),
                }
    return {"columns": list(tagger.columns), "sentences": found}


def _told(why: WordExplanation, label: str) -> dict[str, Any]:
    features, rest = why.heaviest(TOP)
    shown = [*features, *filter(None, [rest])]
    told: dict[str, Any] = {"label": why.label, "score": why.score}
    other: dict[str, Any] = {"label": why.runner_up, "score": why.runner_up_score}
    # The label by itself is the runner-up where columns agreed on the one that it is told against.
    sign = -1 if label == other["label"] else 1
    if sign < 0:
        told, other = other, told
    return {
        **told,
        "runner_up": other["label"],
        "runner_up_score": other["score"],
        "margin": None if why.margin is None else sign * why.margin,
        "note": why.note,
        "features": [
            {
                "text": feature.text,
                "value": feature.value,
                "margin": sign * feature.margin,
                "is_rest": feature is rest,
            }
            for feature in shown
        ],
    }
