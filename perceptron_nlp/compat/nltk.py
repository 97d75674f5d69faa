"""NLTK's calls, answered by this library: nothing is downloaded, and NLTK need not be installed.

Functions and classes take what NLTK's take. A language is ``english`` (``eng``), the bundled model,
or the path of another. `install` puts them under NLTK's own names.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from types import MethodType, ModuleType
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp import Tagger, tokenize
from perceptron_nlp._checks import check_choice
from perceptron_nlp.errors import ArgumentTypeError, missing_extra, not_fitted

# NLTK's names of languages, and ours.
LANGUAGES = {"eng": "en", "english": "en"}
PENN_COLUMN = "xpos"

Pairs = list[tuple[str, str]]
Triples = list[tuple[str, str, float]]

# A hyphen or slash within a word, which NLTK does not cut.
_JOINT = re.compile(r"(?<=[\w.'’])[-/](?=\w)")
# A quotation mark opens where NLTK has it open.
_OPENS = re.compile(r"(?:^|[\s(\[{<])$")
_QUOTES = {"``": '"', "''": '"'}
# Tags of the English Web Treebank that the Penn Treebank does not have.
_PENN = {
    **{"-LRB-": "(", "-RRB-": ")", "HYPH": ":", "NFP": ":"},
    **{"ADD": "NN", "AFX": "JJ", "GW": "NN"},
}
# Universal tags by the first two letters of Penn tags; all others are punctuation.
_UNIVERSAL = {
    first: tag
    for tag, firsts in {
        **{"NOUN": "NN", "VERB": "VB MD", "ADJ": "JJ", "ADV": "RB WR", "PRON": "PR WP"},
        **{"DET": "DT EX PD WD", "ADP": "IN", "NUM": "CD", "CONJ": "CC", "PRT": "PO RP TO"},
        "X": "FW LS SY UH",
    }.items()
    for first in firsts.split()
}
_WORDNET = {"n": "NOUN", "v": "VERB", "a": "ADJ", "s": "ADJ", "r": "ADV"}


_load = cache(pn.load)


def _tagger(language: str) -> Tagger:
    # NLTK has two names for one language.
    return _load(LANGUAGES.get(language, language))


def sent_tokenize(text: str, language: str = "english") -> list[str]:
    """Return the sentences of a text.

    Raises FileError or ModelError if there is no such language; ArgumentTypeError for no str.
    """
    return [sentence.text for sentence in tokenize(text, _tagger(language))]


def word_tokenize(text: str, language: str = "english", preserve_line: bool = False) -> list[str]:
    """Return the tokens of a text as Penn's, words with hyphens whole; raises as sent_tokenize."""
    return [form for _, _, form in _words(text, language)]


def span_tokenize(text: str, language: str = "english") -> Iterator[tuple[int, int]]:
    """Yield the place of each token of word_tokenize; raises what sent_tokenize raises."""
    for start, end, _ in _words(text, language):
        yield start, end


def _words(text: str, language: str) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    for sentence in tokenize(text, _tagger(language)):
        joints = {sentence.start + match.start() for match in _JOINT.finditer(sentence.text)}
        for token in sentence.tokens:
            first, at = len(found), token.start
            for word in token.words:
                # The words of English tokens stand one after the other in the text.
                is_there = text.startswith(word.form, at)
                end = at + len(word.form) if is_there else token.end
                found.append((at if is_there else token.start, end, word.form))
                at = end if is_there else at
            if first and not joints.isdisjoint((token.start, token.start - 1)):
                start, end, form = found.pop(first - 1)
                _, behind, more = found.pop(first - 1)
                found.insert(first - 1, (start, behind, form + more))
    return [
        (a, b, form if form != '"' else "``" if _OPENS.search(text[max(0, a - 1) : a]) else "''")
        for a, b, form in found
    ]


def pos_tag(tokens: Iterable[str], tagset: str | None = None, lang: str = "eng") -> Pairs:
    """Return the words of a sentence with Penn Treebank tags, or with the 12 ``universal`` ones.

    Raises ArgumentTypeError for no list of str, ArgumentError for another tagset.
    """
    return pos_tag_sents([tokens], tagset, lang)[0]


def pos_tag_sents(
    sentences: Iterable[Iterable[str]], tagset: str | None = None, lang: str = "eng"
) -> list[Pairs]:
    """Return what pos_tag gives for each sentence, faster than one by one."""
    check_choice("tagset", "universal" if tagset is None else tagset, ["universal"])
    tagger = _tagger(lang).by_column.get(PENN_COLUMN, _tagger(lang))
    batch: list[Any] = list(map(_words_of, sentences))
    asked: Any = [
        [_QUOTES.get(word, word) for word in words] if isinstance(words, list | tuple) else words
        for words in batch
    ]
    found = []
    for words, tags in zip(batch, tagger.tag_sents(asked), strict=True):
        own = [
            word if word in _QUOTES else _PENN.get(tag, tag)
            for word, tag in zip(words, tags, strict=True)
        ]
        if tagset is not None:
            own = [_UNIVERSAL.get(tag[:2], ".") for tag in own]
        found.append(list(zip(words, own, strict=True)))
    return found


class PunktTokenizer:
    """Sentences of texts."""

    def __init__(self, lang: str = "english") -> None:
        self._lang = lang

    def tokenize(self, text: str, realign_boundaries: bool = True) -> list[str]:
        """Return the sentences of a text."""
        return sent_tokenize(text, self._lang)

    def span_tokenize(self, text: str, realign_boundaries: bool = True) -> Iterator[Any]:
        """Yield the place of each sentence."""
        for sentence in tokenize(text, _tagger(self._lang)):
            yield sentence.start, sentence.end


class WordNetLemmatizer:
    """Lemmas of English words, by the bundled model in place of WordNet."""

    def lemmatize(self, word: str, pos: str = "n") -> str:
        """Return the lemma of a word, by its `pos`: ``n``, ``v``, ``a``, ``r`` or ``s``."""
        check_choice("pos", pos, _WORDNET)
        keep = {"upos": [[_WORDNET[pos]]]}
        found = _tagger("english").tag_sents([[word]], columns=["lemma"], keep=keep)
        lemma: str = found["lemma"][0][0]
        # WordNet gives a word back whose lemma it is, in whatever case.
        return word if lemma.lower() == word.lower() else lemma


class PerceptronTagger:
    """An averaged perceptron tagger with NLTK's interface.

    It has ``accuracy``, ``confusion``, ``precision``, ``recall``, ``f_measure`` and
    ``evaluate_per_tag`` from NLTK, if that is installed. Models are this library's files.

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
        tagger: Tagger | None = None,
        **options: Any,
    ) -> None:
        self.lang = lang
        self._options = options
        self._tagger: Tagger | None = None
        self._without_dictionary: Tagger | None = None
        if tagger is not None:
            self._take(tagger)
        elif load:
            self._take(pn.load(LANGUAGES.get(lang, lang) if loc is None else loc))

    def __getattr__(self, name: str) -> Any:
        if name not in _MEASURES:
            return object.__getattribute__(self, name)
        try:
            from nltk.tag.api import TaggerI
        except ImportError:
            raise missing_extra("NLTK", "nltk") from None
        return MethodType(getattr(TaggerI, name), self)

    @property
    def tagger(self) -> Tagger:
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

        return_conf : True for triples, the third being the confidence in the tag, 0 to 1. Unlike
            NLTK's it is calibrated: of tags with 0.9, about nine in ten are right
        use_tagdict : False to tag the words of `tagdict` like all others

        Raises what Tagger.tag raises; ModelError for confidences of a model without calibration.
        """
        tagger = self._chosen(use_tagdict)
        words = _words_of(tokens)
        if return_conf:
            tags, confidences = tagger.tag_sents([words], confidences=True)
            return list(zip(words, tags[0], confidences[0], strict=True))
        return list(zip(words, tagger.tag(words), strict=True))

    def tag_sents(self, sentences: Iterable[Iterable[str]]) -> list[Pairs]:
        """Return the words of each sentence with their tags."""
        batch = list(map(_words_of, sentences))
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
        """Train a model on lists of (word, tag) pairs, in `nr_iter` passes; save it in `save_loc`.

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

        Raises ArgumentError if they have less than 300 words, or hardly a tag of theirs is wrong.
        """
        self._take(self.tagger.calibrate(list(map(list, sentences))))

    def _take(self, tagger: Tagger) -> None:
        # NLTK's own tags English with the Penn Treebank's tags.
        self._tagger = tagger.by_column.get(PENN_COLUMN, tagger)
        self._without_dictionary = None

    def _chosen(self, use_tagdict: bool) -> Tagger:
        if use_tagdict or not self.tagger.model.dictionary:
            return self.tagger
        if self._without_dictionary is None:
            self._without_dictionary = Tagger(self.tagger.model.replace(dictionary={}))
        return self._without_dictionary


def _words_of(tokens: Iterable[str]) -> Any:
    """Return tokens that can be gone over twice; the tagger refuses what is none."""
    return list(tokens) if isinstance(tokens, Iterator) else tokens


_MEASURES = {"accuracy", "confusion", "precision", "recall", "f_measure", "evaluate_per_tag"}
_MEASURES.add("_confusion_cached")
if "nltk.tag.api" in sys.modules:
    sys.modules["nltk.tag.api"].TaggerI.register(PerceptronTagger)

# What is answered here of the data that NLTK downloads, and what only lemmas need.
_DATA = re.compile(r"\b(?:punkt|averaged_perceptron_tagger)(?:_tab|_eng)?\b")
_OF_LEMMAS = ("wordnet", "omw-1.4")
_PLACES = {
    "nltk.tokenize": "sent_tokenize word_tokenize",
    "nltk.tokenize.punkt": "PunktTokenizer",
    "nltk.tag": "pos_tag pos_tag_sents",
    "nltk.tag.perceptron": "PerceptronTagger",
    "nltk.stem.wordnet": "WordNetLemmatizer",
    "nltk.data": "find load",
    "nltk.downloader": "download",
}
_theirs: dict[str, Any] = {}


def install() -> None:
    """Put this module's functions and classes under NLTK's names, for this process.

    Modules that have imported NLTK's get these, too; other parts of NLTK stay. What is not needed
    any more counts as downloaded. Without NLTK, modules of its names have these alone.
    """
    if _theirs:
        return
    try:
        import nltk.stem.wordnet
        import nltk.tag.perceptron
        import nltk.tokenize.punkt  # noqa: F401
    except ImportError:
        _stand_in()
    for place, names in _PLACES.items():
        for name in names.split():
            _theirs[name] = getattr(sys.modules[place], name, None)
    ours = {id(theirs): globals()[name] for name, theirs in _theirs.items() if theirs is not None}
    for module in [*sys.modules.values()]:
        for name, value in [*getattr(module, "__dict__", {}).items()]:
            if id(value) in ours:
                setattr(module, name, ours[id(value)])


def _stand_in() -> None:
    """Make modules of NLTK's names; what is in one is in those above it, too."""
    for place, names in _PLACES.items():
        parts = place.split(".")
        above = [".".join(parts[: n + 1]) for n in range(len(parts))]
        for path in above:
            module = sys.modules.setdefault(path, ModuleType(path))
            module.__path__ = []
            vars(module).update({name: globals()[name] for name in names.split()})
        for parent, child in pairwise(above):
            setattr(sys.modules[parent], child.rpartition(".")[2], sys.modules[child])


def _is_here(resource: object) -> bool:
    return isinstance(resource, str) and _DATA.search(resource) is not None


def find(resource_name: str, *paths: Any) -> Any:
    """Return the name of data that is not needed here; else what ``nltk.data.find`` gives."""
    return resource_name if _is_here(resource_name) else _original("find")(resource_name, *paths)


def load(resource_url: str, *how: Any, **options: Any) -> Any:
    """Return a PunktTokenizer for Punkt's data; else what ``nltk.data.load`` gives."""
    if isinstance(resource_url, str) and "punkt" in resource_url:
        return PunktTokenizer()
    return _original("load")(resource_url, *how, **options)


def download(info_or_id: Any = None, *how: Any, **options: Any) -> Any:
    """Download what is not answered here by ``nltk.download``; return True if nothing is left."""
    names = info_or_id if isinstance(info_or_id, list | tuple) else [info_or_id]
    left = [name for name in names if name not in _OF_LEMMAS and not _is_here(name)]
    return all(_original("download")(name, *how, **options) for name in left)


def _original(name: str) -> Any:
    theirs = _theirs.get(name)
    if theirs is None or theirs is globals()[name]:
        raise missing_extra("NLTK", "nltk")
    return theirs
