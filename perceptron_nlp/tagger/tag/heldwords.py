"""Words that cannot get any label: those of a model's dictionary, and of a lexicon before it."""

from __future__ import annotations

from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.tag.labelling import allowed_by
from perceptron_nlp.tagger.tag.lexicon import Lexicon, lower_cased

DICTIONARY, LEXICON = "dictionary", "lexicon"


class HeldWords:
    """What a word may be labelled.

    Parameters
    ----------
    model : the model, for its dictionary
    lexicon : what goes before that, or None
    """

    def __init__(self, model: TaggerModel, lexicon: Lexicon | None) -> None:
        self._model = model
        self._allowed = allowed_by(lexicon, model)

    @property
    def any(self) -> bool:
        """Are there any?"""
        return bool(self._allowed or self._model.dictionary)

    def within(self, word: str) -> list[int] | None:
        """The numbers of the labels that it may get, ascending; None for all."""
        found = self._in_lexicon(word)
        if found:
            return found
        label = self._model.dictionary.get(word)
        return None if label is None else [self._model.tags.id_of(label)]

    def decided_by(self, word: str) -> str | None:
        """DICTIONARY or LEXICON where it leaves one label only; else None."""
        found = self._in_lexicon(word)
        if found:
            return LEXICON if len(found) == 1 else None
        return DICTIONARY if word in self._model.dictionary else None

    def _in_lexicon(self, word: str) -> list[int]:
        if not self._allowed:
            return []
        return sorted({*(self._allowed.get(word) or self._allowed.get(lower_cased(word)) or ())})
