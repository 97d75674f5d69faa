"""The tagger that people use: label, evaluate, save."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp.errors import ArgumentTypeError, ModelError
from perceptron_nlp.formats import Corpus, read_file_bytes, replace_file
from perceptron_nlp.tagging.evaluation import Evaluation, span_scores
from perceptron_nlp.tagging.extractor import Extractor
from perceptron_nlp.tagging.filling import Fill
from perceptron_nlp.tagging.fitting import fit
from perceptron_nlp.tagging.labellers import make_labeller
from perceptron_nlp.tagging.model import TaggerModel
from perceptron_nlp.tagging.modelfile import model_from_bytes, model_to_bytes
from perceptron_nlp.tagging.options import check_int
from perceptron_nlp.tagging.sources import Labelled, Source, check_labelled, gold_labels
from perceptron_nlp.tagging.trainer import Callback

# Sentences handed to a thread at a time: enough work to outweigh the handing over.
CHUNK = 512
MAX_THREADS = 1024


class Tagger:
    """A trained tagger. It does not change; one object serves any number of threads.

    Made by ``perceptron_nlp.train`` or ``perceptron_nlp.load``. It pickles and copies through
    its own file form.

    Parameters
    ----------
    model : what was trained
    features : the function that makes the features, where the model was trained with one
    cache_limit : how many distinct words each thread remembers; None for the default (32,768)

    Raises
    ------
    ModelError : the model needs a feature function, or its parts do not fit together
    ArgumentError : a function is given to a model that has templates
    """

    def __init__(self, model: TaggerModel, *, features: Extractor | None = None,
                 cache_limit: int | None = None) -> None:
        if cache_limit is not None:
            check_int("cache_limit", cache_limit, 1, 1 << 30)
        self.model = model
        self._features = features
        self._cache_limit = cache_limit
        self._labeller = make_labeller(model, features, cache_limit)

    @classmethod
    def train(cls, train: Labelled, *, dev: Labelled | None = None, column: str | None = None,
              features: Extractor | None = None, format: str = "auto",
              fields: Sequence[str] | None = None, callback: Callback | None = None,
              **options: Any) -> Tagger:
        """Train a tagger.

        Parameters
        ----------
        train : a path, several paths, a Corpus, or labelled sentences: Sentence objects, pairs
            (words, labels), or lists of (word, label) pairs
        dev : the like; the epoch that does best on it is kept, and training may stop early
        column : the column to learn; None for ``upos`` in CoNLL-U, the last one of column files,
            the one of word/TAG text
        features : a function (tokens, i, history) -> features in place of templates
        format, fields : see ``perceptron_nlp.open_corpus``; where columns are named by `fields`,
            those besides the words and the learnt one are evidence
        callback : called with an EpochReport after each epoch
        **options : the fields of ``perceptron_nlp.TrainingOptions``: preset, epochs, seed,
            update, templates, table_bits, min_count, dictionary, patience, right_to_left, beam,
            margin, rate, cost, two_passes, runs;
            and these: ``checkpoint``, a file in which the state of the training is saved on the
            way, ``every``, when (such as "2epochs" or "10minutes"; each epoch if left out), and
            ``resume=True``, to go on from the file. A resumed training gives the same model, byte
            for byte, as one that was not interrupted. Ctrl-C saves too

        Raises
        ------
        FormatError : a file breaks its format (file:line), or nothing in it is labelled
        FileError : a file cannot be read
        ArgumentError, ArgumentTypeError, TemplateError : an option cannot be used
        """
        model = fit(train, dev=dev, column=column, features=features, format=format,
                    fields=fields, callback=callback, options=options)
        return cls(model, features=features)

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels that it can give, in code point order."""
        return self.model.tags.labels

    @property
    def column(self) -> str:
        """The column that it was trained on."""
        return self.model.column

    def tag(self, tokens: Sequence[str]) -> list[str]:
        """The labels of one sentence.

        Parameters
        ----------
        tokens : its words; a Sentence where the model looks at further columns

        Returns
        -------
        list of str, one label a word

        Raises
        ------
        ArgumentTypeError : something other than a sequence of str
        ArgumentError : columns that the model needs are missing

        Examples
        --------
        ``tagger.tag(["The", "old", "man"])`` may give ``["DET", "ADJ", "NOUN"]``.
        """
        _check_tokens(tokens, "tokens")
        return self._labeller.label([tokens])[0]

    def tag_sents(self, sentences: Iterable[Sequence[str]], *, threads: int = 1
                  ) -> list[list[str]]:
        """The labels of many sentences.

        Parameters
        ----------
        sentences : as for tag
        threads : 1 to 1,024; the result does not depend on it

        Returns
        -------
        one list of labels a sentence

        Raises
        ------
        ArgumentTypeError, ArgumentError : as for tag; the message gives the sentence's number
        """
        check_int("threads", threads, 1, MAX_THREADS)
        if isinstance(sentences, str | bytes) or not isinstance(sentences, Iterable):
            raise ArgumentTypeError(
                f"sentences: a list of sentences is needed, not {type(sentences).__name__}")
        batch = list(sentences)
        if threads == 1 or len(batch) <= CHUNK:
            return self._labeller.label(batch)
        chunks = [batch[at:at + CHUNK] for at in range(0, len(batch), CHUNK)]
        with ThreadPoolExecutor(threads) as pool:
            return [labels for chunk in pool.map(self._labeller.label, chunks) for labels in chunk]

    def filler(self, corpus: Corpus) -> Fill | None:
        """What labels whole sentences of a CoNLL-U text without making Python objects of them.

        Parameters
        ----------
        corpus : the text, not yet iterated over

        Returns
        -------
        None where this cannot be done: another format, or a model that looks at more than words.
        Else a function from bytes (``corpus.take_blocks``) to the same bytes with the column that
        was learnt filled in, or to None for sentences that must be read one by one
        (``corpus.put_back`` them). Several threads may call it.
        """
        return self._labeller.filler(corpus, self.column)

    def scores(self, tokens: Sequence[str]) -> npt.NDArray[np.float64]:
        """What each label scored for each word, as it was tagged.

        Parameters
        ----------
        tokens : as for tag

        Returns
        -------
        float64[n_words, n_labels], labels as in ``labels``; sums of weights, without a unit
        """
        _check_tokens(tokens, "tokens")
        return self._labeller.scores(tokens)

    def evaluate(self, data: Labelled, *, column: str | None = None, format: str = "auto",
                 fields: Sequence[str] | None = None, threads: int = 1) -> Evaluation:
        """Compare the labels that it gives with gold ones.

        Parameters
        ----------
        data : a path, several paths, or labelled sentences (see ``perceptron_nlp.train``)
        column : the column that holds the gold labels; None for the one trained on
        format, fields : see ``perceptron_nlp.open_corpus``
        threads : as for tag_sents

        Raises
        ------
        FormatError : a file breaks its format, or has no gold labels
        """
        source = Source(data, "data", format=format, fields=fields)
        name = source.column_named(column or self.column)
        sentences = list(source)
        gold = [gold_labels(sentence, name) for sentence in sentences]
        found = self.tag_sents(self.model.inputs(sentences), threads=threads)
        result = Evaluation(name, spans=span_scores(gold, found))
        for sentence, truth, given in zip(sentences, gold, found, strict=True):
            result.add(truth, given, map(self.model.knows, sentence.words))
        check_labelled(result.tokens, source, name)
        return result

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, which is replaced whole or not at all.

        Raises
        ------
        FileError : the place cannot be written
        """
        replace_file(path, self.to_bytes())

    def to_bytes(self) -> bytes:
        """The content of the model file."""
        return model_to_bytes(self.model)

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview, *, features: Extractor | None = None,
                   cache_limit: int | None = None) -> Tagger:
        """A tagger from the content of a model file; see load."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise ArgumentTypeError(f"data: bytes are needed, not {type(data).__name__}")
        return cls(model_from_bytes(data, "<bytes>"), features=features, cache_limit=cache_limit)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self.to_bytes(), self._features, self._cache_limit)

    def __repr__(self) -> str:
        weights = self.model.weights
        return (f"<Tagger of {self.column}: {len(self.labels)} labels, {weights.n_rows:,} features,"
                f" {weights.n_cells:,} weights>")


def _unpickle(data: bytes, features: Extractor | None, cache_limit: int | None) -> Tagger:
    return Tagger.from_bytes(data, features=features, cache_limit=cache_limit)


def load(path: str | os.PathLike[str], *, features: Extractor | None = None,
         cache_limit: int | None = None) -> Tagger:
    """A tagger from a model file.

    Parameters
    ----------
    path : the file
    features : the feature function, where the model was trained with one; the file only names it
    cache_limit : how many distinct words each thread remembers; None for the default (32,768)

    Raises
    ------
    FileError : the file is missing, a folder, or cannot be read
    ModelError : it is damaged, of another program or version, or needs `features`
    """
    data = read_file_bytes(path)
    try:
        return Tagger(model_from_bytes(data, os.fspath(path)), features=features,
                      cache_limit=cache_limit)
    except ModelError as error:
        name = os.fspath(path)
        raise error if str(error).startswith(name) else ModelError(f"{name}: {error}") from None


def _check_tokens(tokens: object, name: str) -> None:
    if isinstance(tokens, str | bytes) or not isinstance(tokens, Iterable):
        raise ArgumentTypeError(
            f"{name}: a list of words is needed, not {type(tokens).__name__}")


train = Tagger.train
