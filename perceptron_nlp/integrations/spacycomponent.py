"""The component of a spaCy pipeline, with training and keeping; spacy.py makes it known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp.errors import ArgumentError, missing_extra
from perceptron_nlp.integrations.spacydocs import Batch, Words, Writer, gold_sentences, place_of
from perceptron_nlp.tagger.model.model import joined
from perceptron_nlp.tagger.train.sources import NO_LABEL

try:
    from spacy.pipeline.pipe import Pipe
    from spacy.scorer import Scorer
    from spacy.util import minibatch
except ImportError:
    raise missing_extra("spaCy", "spacy") from None

FILE = "tagger.model"
FEATURES = "feats"
LEARNT = ("upos", "xpos", FEATURES)


class SpacyTagger(Pipe):
    """A tagger as a component of a spaCy pipeline.

    Made by ``nlp.add_pipe("perceptron_tagger", config={...})``; the settings are the parameters.

    Parameters
    ----------
    vocab : the pipeline's vocabulary
    name : the component's name in the pipeline
    model : None, or what ``perceptron_nlp.load`` takes; opened when it is first needed, so a
        pipeline that is loaded from a folder of its own never looks there
    columns : which of upos, xpos and feats ``initialize`` learns; None for those that examples have
    options : options of ``perceptron_nlp.train`` for ``initialize``, such as
        ``{"preset": "fast", "seed": 2}``
    threads : threads that tag; the result does not depend on it

    Raises
    ------
    ArgumentError : one of `columns` has no place in spaCy's tokens
    """

    def __init__(
        self,
        vocab: Any,
        name: str = "perceptron_tagger",
        *,
        model: str | None = None,
        columns: list[str] | None = None,
        options: dict[str, Any] | None = None,
        threads: int = 1,
    ) -> None:
        for column in columns or ():
            if place_of(column) == "lemma":
                raise ArgumentError(
                    "columns: lemmas are not learned from Docs; train on CoNLL-U with"
                    " perceptron_nlp.train, and name that model"
                )
        self.vocab = vocab
        self.name = name
        self.model = None
        self._path = model
        self._columns = columns
        self._options = dict(options or {})
        self._threads = threads
        self._words = Words(vocab.strings)
        self._opened: pn.Tagger | None = None
        self._writer: Writer | None = None
        self._taught: list[pn.Sentence] = []
        self._is_behind = False

    @property
    def tagger(self) -> pn.Tagger:
        """The tagger, opened or brought up to date with what ``update`` was given.

        Raises
        ------
        ArgumentError : there is none yet
        FileError, ModelError : the model cannot be opened
        """
        if self._is_behind:
            self._train()
        if self._opened is None:
            if self._path is None:
                raise ArgumentError(
                    f"{self.name}: has no model yet; name one, as in"
                    " nlp.add_pipe('perceptron_tagger', config={'model': path}),"
                    " or train one with nlp.initialize(get_examples)"
                )
            self._take(pn.load(self._path))
        assert self._opened is not None
        return self._opened

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the (first) column; none before the model was opened or trained."""
        return () if self._opened is None else tuple(sorted(self._opened.model.written_labels))

    @property
    def label_data(self) -> None:
        """None: labels are taken from the examples."""
        return None

    @property
    def is_trainable(self) -> bool:
        """True."""
        return True

    def __call__(self, doc: Any) -> Any:
        """Label one Doc, in place."""
        try:
            self._label([doc])
        except Exception as error:
            self.get_error_handler()(self.name, self, [doc], error)
        return doc

    def pipe(self, stream: Iterable[Any], *, batch_size: int = 128) -> Iterator[Any]:
        """Label Docs in batches, in place."""
        for docs in minibatch(stream, size=batch_size):
            try:
                self._label(docs)
            except Exception as error:
                self.get_error_handler()(self.name, self, docs, error)
            else:
                yield from docs

    def initialize(
        self, get_examples: Callable[[], Iterable[Any]], *, nlp: Any = None, labels: Any = None
    ) -> None:
        """Train on all examples, in place of the model that there was.

        Parameters
        ----------
        get_examples : gives spaCy's Examples; what their reference Docs have of tag_, pos_ and
            morph is learnt, morph from sentences in which all words have it. Where they have none,
            the component's model stays
        nlp, labels : not needed

        Raises
        ------
        ArgumentError : nothing to learn from and no model; see ``perceptron_nlp.train`` too
        """
        taught = [
            sentence for example in get_examples() for sentence in gold_sentences(example.reference)
        ]
        if not self._learnable(taught) and (self._path or self._opened):
            return
        self._taught = taught
        self._train()

    def update(
        self,
        examples: Iterable[Any],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Take note of sentences that are not known yet, and count mistakes.

        Those of ``initialize`` are known: it has learnt them to the end, and another pass over them
        changes nothing. New ones are learnt, together with all before them, when the tagger is
        needed next.

        Parameters
        ----------
        examples : spaCy's Examples
        drop, sgd : not needed
        losses : to which the number of labels is added that the tagger of now gets wrong

        Raises
        ------
        ArgumentError : the tagger was loaded, so what it learnt from is not here to go on from
        """
        losses = {} if losses is None else losses
        gold = [sentence for example in examples for sentence in gold_sentences(example.reference)]
        if not self._taught and (self._path or self._opened):
            raise ArgumentError(
                f"{self.name}: was loaded, and cannot go on learning without the sentences it was"
                " trained on; leave it out of the update (exclude, frozen_components), or train"
                " anew with initialize"
            )
        known = set(self._taught)
        new = [sentence for sentence in gold if sentence not in known]
        self._taught += new
        self._is_behind = self._is_behind or bool(new)
        losses[self.name] = losses.get(self.name, 0.0) + self._mistakes(gold)
        return losses

    def finish_update(self, sgd: Any) -> None:
        """Nothing is left to do after an update."""

    def score(self, examples: Iterable[Any], **kwargs: Any) -> dict[str, Any]:
        """spaCy's tag_acc, pos_acc, morph_acc and lemma_acc, of the columns that the tagger has."""
        examples = list(examples)
        scores: dict[str, Any] = {}
        for place in {place_of(column) for column in self.tagger.columns}:
            scores.update(Scorer.score_token_attr(examples, place, getter=_key))
        return scores

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The model file's content; nothing where there is no model yet."""
        return self.tagger.to_bytes() if self._has_model else b""

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> SpacyTagger:
        """Take over the model that to_bytes gave."""
        if data:
            self._take(pn.Tagger.from_bytes(data))
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the model into a folder, as tagger.model; nothing where there is no model yet."""
        if self._has_model:
            Path(path).mkdir(parents=True, exist_ok=True)
            self.tagger.save(Path(path) / FILE)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> SpacyTagger:
        """Take over the model that to_disk wrote."""
        if (Path(path) / FILE).exists():
            self._take(pn.load(Path(path) / FILE))
        return self

    @property
    def _has_model(self) -> bool:
        return bool(self._opened or self._path or self._is_behind)

    def _label(self, docs: list[Any]) -> None:
        tagger = self.tagger
        if self._writer is None:
            self._writer = Writer(tagger, self.vocab)
        self._writer.write(Batch(docs, self._words), self._threads)

    def _take(self, tagger: pn.Tagger, taught: Iterable[pn.Sentence] = ()) -> None:
        writer = Writer(tagger, self.vocab)
        self._opened, self._writer, self._taught = tagger, writer, list(taught)
        self._is_behind = False

    def _learnable(self, sentences: list[pn.Sentence]) -> list[str]:
        """The columns that are annotated somewhere."""
        return [
            name
            for name in self._columns or LEARNT
            if any(
                label is not NO_LABEL
                for sentence in _labelled(sentences, name)
                for label in sentence.column(name)
            )
        ]

    def _train(self) -> None:
        columns = self._learnable(self._taught)
        if not columns or (self._columns and columns != self._columns):
            wanted = " or ".join(self._columns or LEARNT)
            raise ArgumentError(
                f"{self.name}: no example has {wanted} to learn; give examples"
                " whose Docs have tag_, pos_ or morph"
            )
        models = [
            pn.train(_labelled(self._taught, name), column=name, **self._options).model
            for name in columns
        ]
        self._take(pn.Tagger(joined(models)), self._taught)

    def _mistakes(self, gold: list[pn.Sentence]) -> int:
        columns = self._opened.by_column if self._opened else {}
        wrong = 0
        for name in columns or self._learnable(gold):
            found = (
                columns[name].tag_sents(gold)
                if name in columns
                else [[""] * len(sentence) for sentence in gold]
            )
            wrong += sum(
                label != right and right is not NO_LABEL
                for labels, sentence in zip(found, gold, strict=True)
                for label, right in zip(labels, sentence.column(name), strict=True)
            )
        return wrong

    def __reduce__(self) -> tuple[Any, ...]:
        # What spaCy's own class would pickle knows nothing of this one's attributes.
        settings = {
            "model": self._path,
            "columns": self._columns,
            "options": self._options,
            "threads": self._threads,
        }
        return _restored, (
            self.vocab,
            self.name,
            settings,
            self._opened,
            self._taught,
            self._is_behind,
        )


def _restored(
    vocab: Any,
    name: str,
    settings: dict[str, Any],
    opened: pn.Tagger | None,
    taught: list[pn.Sentence],
    is_behind: bool,
) -> SpacyTagger:
    component = SpacyTagger(vocab, name, **settings)
    component._opened, component._taught, component._is_behind = opened, taught, is_behind
    return component


def _labelled(sentences: list[pn.Sentence], column: str) -> list[pn.Sentence]:
    """The sentences to learn a column from.

    Where a word has no features, it must not be taken for one that has none by its nature.
    """
    if column != FEATURES:
        return sentences
    return [
        sentence
        for sentence in sentences
        if all(label is not NO_LABEL for label in sentence.column(column))
    ]


def _key(token: Any, attribute: str) -> Any:
    return token.morph.key if attribute == "morph" else getattr(token, attribute)
