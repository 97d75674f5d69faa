"""NLTK: this library's tagger in the place of ``nltk.tag.PerceptronTagger``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp.errors import ArgumentTypeError, missing_extra, not_fitted

try:
    from nltk.tag.api import TaggerI
except ImportError:
    raise missing_extra("NLTK", "nltk") from None

# NLTK's codes of languages, and ours.
LANGUAGES = {"eng": "en"}
PENN_COLUMN = "xpos"

Pairs = list[tuple[str, str]]
Triples = list[tuple[str, str, float]]


class PerceptronTagger(TaggerI):
    """An averaged perceptron tagger with NLTK's interface.

    It has ``accuracy``, ``confusion``, ``precision``, ``recall``, ``f_measure`` and
    ``evaluate_per_tag`` from NLTK. Models are this library's files: nothing is read from
    NLTK's data or written in its JSON.

    Parameters
    ----------
    load : False for a tagger that is to be trained; else a model is opened
    lang : the language of the bundled model (``eng``) to open if `loc` is None
    loc : None, or a model file
    tagger : a Tagger to use in place of opening one
    **options : options of ``perceptron_nlp.train`` for `train`, such as ``preset="fast"``, or
        ``dictionary=(20, 0.97)``, which is NLTK's rule for words that always get one tag

    Raises
    ------
    FileError, ModelError : the model cannot be opened
    """

    def __init__(
        self,
        load: bool = True,
        lang: str = "eng",
        loc: str | os.PathLike[str] | None = None,
        *,
        tagger: pn.Tagger | None = None,
        **options: Any,
    ) -> None:
        self.lang = lang
        self._options = options
        self._tagger: pn.Tagger | None = None
        self._without_dictionary: pn.Tagger | None = None
        if tagger is not None:
            self._take(tagger)
        elif load:
            self._take(pn.load(LANGUAGES.get(lang, lang) if loc is None else loc))

    @property
    def tagger(self) -> pn.Tagger:
        """The Tagger behind it; raises NotFittedError if there is none yet."""
        if self._tagger is None:
            raise not_fitted("this PerceptronTagger has no model yet; call train, or give loc")
        return self._tagger

    @property
    def classes(self) -> set[str]:
        """All tags that it may predict; none before it has a model."""
        return set() if self._tagger is None else set(self._tagger.model.written_labels)

    @property
    def tagdict(self) -> dict[str, str]:
        """The tag dictionary; empty unless it was trained with `dictionary`."""
        return {} if self._tagger is None else dict(self._tagger.model.dictionary)

    def tag(
        self, tokens: Iterable[str], return_conf: bool = False, use_tagdict: bool = True
    ) -> Pairs | Triples:
        """Return the words of a sentence with their tags.

        Parameters
        ----------
        tokens : its words
        return_conf : True for triples, the third being the confidence in the tag, 0 to 1. Unlike
            NLTK's it is calibrated: of tags with 0.9, about nine in ten are right
        use_tagdict : False to tag the words of `tagdict` like all others

        Raises
        ------
        ArgumentError, ArgumentTypeError : what Tagger.tag raises
        ModelError : `return_conf`, and the model is not calibrated; see calibrate
        """
        tagger = self._chosen(use_tagdict)
        words = _words(tokens)
        if return_conf:
            tags, confidences = tagger.tag_sents([words], confidences=True)
            return list(zip(words, tags[0], confidences[0], strict=True))
        return list(zip(words, tagger.tag(words), strict=True))

    def tag_sents(self, sentences: Iterable[Iterable[str]]) -> list[Pairs]:
        """Return the words of each sentence with their tags."""
        batch = list(map(_words, sentences))
        return [
            list(zip(words, tags, strict=True))
            for words, tags in zip(batch, self.tagger.tag_sents(batch), strict=True)
        ]

    def train(
        self,
        sentences: Iterable[Iterable[tuple[str, str]]],
        save_loc: str | os.PathLike[str] | None = None,
        nr_iter: int = 5,
    ) -> None:
        """Train a model in place of the current one.

        Parameters
        ----------
        sentences : lists of (word, tag) pairs
        save_loc : None, or the file to save the model in
        nr_iter : passes over the sentences

        Raises
        ------
        ArgumentError, ArgumentTypeError : sentences or options that cannot be used
        FileError : `save_loc` cannot be written; raised before training begins
        """
        if "epochs" in self._options:
            raise ArgumentTypeError("epochs: is nr_iter of train here")
        if save_loc is not None:
            pn.check_place(save_loc)
        self._take(pn.train(list(map(list, sentences)), epochs=nr_iter, **self._options))
        if save_loc is not None:
            self.tagger.save(save_loc)

    def calibrate(self, sentences: Iterable[Iterable[tuple[str, str]]]) -> None:
        """Calibrate the confidences on sentences that the model was not trained on.

        Parameters
        ----------
        sentences : lists of (word, tag) pairs, of 300 words or more

        Raises ArgumentError if they are too few, or hardly a tag of theirs is wrong.
        """
        self._take(self.tagger.calibrate(list(map(list, sentences))))

    def _take(self, tagger: pn.Tagger) -> None:
        # NLTK's own tags English with the Penn Treebank's tags.
        self._tagger = tagger.by_column.get(PENN_COLUMN, tagger)
        self._without_dictionary = None

    def _chosen(self, use_tagdict: bool) -> pn.Tagger:
        if use_tagdict or not self.tagger.model.dictionary:
            return self.tagger
        if self._without_dictionary is None:
            self._without_dictionary = pn.Tagger(self.tagger.model.replace(dictionary={}))
        return self._without_dictionary


def _words(tokens: Iterable[str]) -> Any:
    """Return tokens that can be gone over twice; the tagger refuses what is none."""
    return list(tokens) if isinstance(tokens, Iterator) else tokens
