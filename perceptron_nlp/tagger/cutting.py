"""Running text that is only cut."""

from __future__ import annotations

from functools import cache

from perceptron_nlp._checks import check_text
from perceptron_nlp.errors import ArgumentTypeError
from perceptron_nlp.tagger.model.installed import bundled_segmentation
from perceptron_nlp.tagger.model.model import TEXT
from perceptron_nlp.tagger.tag.text import TextSentence
from perceptron_nlp.tagger.tagger import Tagger


def tokenize(text: str, model: Tagger | None = None) -> list[TextSentence]:
    """Return the sentences and tokens of running text, cut as a model has learned.

    Parameters
    ----------
    text : any str
    model : a tagger, such as one trained with ``column="text"``, whose tags are left out; None, or
        one that never learned to cut text, for what the bundled model has learned

    Returns
    -------
    its sentences, as tag_text gives them, whose words have no labels. All characters but white
    space are in exactly one token each, and ``text[token.start:token.end] == token.form``

    Raises
    ------
    ArgumentTypeError : something other than a str; no tagger

    Examples
    --------
    ``[[w.form for w in s] for s in tokenize("Don't! I'm here.")]`` is
    ``[["Do", "n't", "!"], ["I", "'m", "here", "."]]``.
    """
    check_text(text)
    if model is not None and not isinstance(model, Tagger):
        raise ArgumentTypeError(
            f'model: a tagger is needed, such as load("en"), not {type(model).__name__}'
        )
    return list((model or _cutter()).labelers.sentences(text))


@cache
def _cutter() -> Tagger:
    own = bundled_segmentation()
    return Tagger(own.cut.replace(column=TEXT, segmentation=own))
