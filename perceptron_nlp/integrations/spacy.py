"""spaCy: a pipeline component, ``nlp.add_pipe("perceptron_tagger")``.

It fills ``tag_`` from a tagger's column xpos (or tag), ``pos_`` from upos, ``morph`` from feats,
``lemma_`` from lemma, ``doc.ents`` from a column of spans (B-PER, I-PER, O), and ``token._.NAME``
from any other. A tokenizer, ``perceptron_tokenizer``, cuts text as a model has learned to.
"""

# spaCy reads the annotations of factories at run time: they are no strings here.

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import perceptron_nlp as pn
from perceptron_nlp.errors import ArgumentError, missing_extra
from perceptron_nlp.integrations.spacy_docs import (
    ATTRIBUTES,
    LEARNED,
    Batch,
    SpacyTokenizer,
    Words,
    add_extensions,
    gold_labels,
    gold_sentences,
    learned_column,
)
from perceptron_nlp.integrations.spacy_writer import Writer

try:
    from spacy.language import Language
    from spacy.pipeline.pipe import Pipe
    from spacy.scorer import Scorer, get_ner_prf
    from spacy.util import minibatch, registry
except ImportError:
    raise missing_extra("spaCy", "spacy") from None

FILE = "tagger.model"
# Attributes that a pickle leaves out: they are made of the vocabulary and the model.
_OF_PROCESS = ("vocab", "_words", "_writer")


@Language.factory(
    "perceptron_tagger",
    assigns=["token.tag", "token.pos", "token.morph", "token.lemma", "doc.ents", "doc.sents"],
    default_score_weights={
        "tag_acc": 0.5,
        "pos_acc": 0.5,
        "morph_acc": None,
        "lemma_acc": None,
        "ents_f": None,
    },
)
class SpacyTagger(Pipe):
    """A tagger as a component of a spaCy pipeline.

    Made by ``nlp.add_pipe("perceptron_tagger", config={...})``; the settings are the parameters.

    Parameters
    ----------
    nlp : the pipeline, whose vocabulary it shares
    name : the component's name in the pipeline
    model : None, or what ``perceptron_nlp.load`` takes; opened when it is first needed, so a
        pipeline that is loaded from a folder of its own never looks there
    columns : which of upos, xpos and feats ``initialize`` learns; None for those that examples have
    options : options of ``perceptron_nlp.train`` for ``initialize``, such as
        ``{"preset": "fast", "seed": 2}``
    threads : threads that tag; the result does not depend on it
    confidences : True to keep the confidence in each label: ``doc._.confidences`` by column, None
        for white space, and ``token._.confidence`` in the label of the first column; the model must
        be calibrated
    overwrite : False to keep the tags, lemmas and entities that tokens have already; tags are
        context for the rest

    Raises
    ------
    ArgumentError : one of `columns` is not learned from Docs
    """

    def __init__(
        self,
        nlp: Any,
        name: str = "perceptron_tagger",
        *,
        model: str | None = None,
        columns: list[str] | None = None,
        options: dict[str, Any] | None = None,
        threads: int = 1,
        confidences: bool = False,
        overwrite: bool = True,
    ) -> None:
        if confidences:
            add_extensions()
        for column in columns or ():
            learned_column(column)
        self.vocab = nlp.vocab
        self.name = name
        self.model = None
        self._path, self._columns, self._options = model, columns, dict(options or {})
        self._threads, self._confidences, self._overwrite = threads, confidences, overwrite
        self._words = Words(nlp.vocab.strings)
        self._opened: pn.Tagger | None = None
        self._writer: Writer | None = None
        self._gold: list[pn.Sentence] = []
        self._is_behind = False

    @property
    def tagger(self) -> "pn.Tagger":
        """The tagger, opened, or trained again if ``update`` was given new sentences.

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
        """Train on all examples, in place of the model so far.

        Parameters
        ----------
        get_examples : returns spaCy's Examples; tag_, pos_ and morph are learned if their reference
            Docs have them, morph from sentences in which all words have it. If they have none,
            the component's model stays

        Raises
        ------
        ArgumentError : nothing to learn from and no model; see ``perceptron_nlp.train`` too
        """
        gold = _gold_of(get_examples())
        if not self._learnable(gold) and (self._path or self._opened):
            return
        self._gold = gold
        self._train()

    def update(
        self,
        examples: Iterable[Any],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Add sentences that are new to the training text, and count mistakes.

        New ones are learned, together with all before them, when the tagger is needed next.

        Parameters
        ----------
        examples : spaCy's Examples
        drop, sgd : not needed
        losses : the number of wrong labels of the current tagger is added to these

        Raises
        ------
        ArgumentError : the tagger was loaded, so its training text is not here
        """
        losses = {} if losses is None else losses
        gold = _gold_of(examples)
        if not self._gold and (self._path or self._opened):
            raise ArgumentError(
                f"{self.name}: was loaded, and cannot learn more without the sentences it was"
                " trained on; leave it out of the update (exclude, frozen_components), or train"
                " it again with initialize"
            )
        known = set(self._gold)
        new = [sentence for sentence in gold if sentence not in known]
        self._gold += new
        self._is_behind = self._is_behind or bool(new)
        losses[self.name] = losses.get(self.name, 0.0) + self._mistakes(gold)
        return losses

    def finish_update(self, sgd: Any) -> None:
        """Do nothing."""

    def score(self, examples: Iterable[Any], **kwargs: Any) -> dict[str, Any]:
        """Return spaCy's tag_acc, pos_acc, morph_acc, lemma_acc and ents_f, of what is written."""
        examples = list(examples)
        scores: dict[str, Any] = {}
        for name in sorted({ATTRIBUTES.get(column, "ents") for column in self.tagger.columns}):
            if name != "ents":
                scores.update(Scorer.score_token_attr(examples, name, getter=_key))
            elif any(example.reference.has_annotation("ENT_IOB") for example in examples):
                scores.update(get_ner_prf(examples))
        return scores

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the content of the model file; empty if there is no model yet."""
        return self.tagger.to_bytes() if self._has_model else b""

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Take over the model of to_bytes."""
        if data:
            self._take(pn.Tagger.from_bytes(data))
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the model into a folder, as tagger.model; nothing if there is no model yet."""
        if self._has_model:
            Path(path).mkdir(parents=True, exist_ok=True)
            self.tagger.save(Path(path) / FILE)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Take over the model of to_disk."""
        if (Path(path) / FILE).exists():
            self._take(pn.load(Path(path) / FILE))
        return self

    @property
    def _has_model(self) -> bool:
        return bool(self._opened or self._path or self._is_behind)

    def _label(self, docs: list[Any]) -> None:
        tagger = self.tagger
        if self._writer is None:
            self._writer = Writer(tagger, self.vocab, self._confidences, self._overwrite)
        # Docs are no context for each other.
        for own in [[doc] for doc in docs] if tagger.window else [docs]:
            self._writer.write(Batch(own, self._words, tagger), self._threads)

    def _take(self, tagger: "pn.Tagger", gold: Iterable["pn.Sentence"] = ()) -> None:
        writer = Writer(tagger, self.vocab, self._confidences, self._overwrite)
        self._opened, self._writer, self._gold = tagger, writer, list(gold)
        self._is_behind = False

    def _learnable(self, gold: Sequence["pn.Sentence"]) -> list[str]:
        """The columns that are annotated somewhere."""
        return [
            name
            for name in self._columns or LEARNED
            if any(set(gold_labels(sentence, name)) - {None} for sentence in gold)
        ]

    def _train(self) -> None:
        columns = self._learnable(self._gold)
        if not columns or (self._columns and columns != self._columns):
            wanted = " or ".join(self._columns or LEARNED)
            raise ArgumentError(
                f"{self.name}: no example has {wanted} to learn; give examples"
                " whose Docs have tag_, pos_ or morph"
            )
        if all({*columns} <= {*sentence.columns} for sentence in self._gold):
            # Together, so that their labels agree.
            self._take(pn.train(self._gold, column=columns, **self._options), self._gold)
            return
        taggers = []
        for name in columns:
            own = [sentence for sentence in self._gold if name in sentence.columns]
            taggers.append(pn.train(own, column=name, **self._options))
        self._take(pn.Tagger.joined(taggers), self._gold)

    def _mistakes(self, gold: Sequence["pn.Sentence"]) -> int:
        columns = self._opened.by_column if self._opened else {}
        wrong = 0
        for name in columns or self._learnable(gold):
            right = [gold_labels(sentence, name) for sentence in gold]
            found: Any = columns[name].tag_sents(gold) if name in columns else [()] * len(gold)
            for labels, own in zip(found, right, strict=True):
                pairs = zip_longest(labels, own)
                wrong += sum(label != one and one is not None for label, one in pairs)
        return wrong

    def __reduce__(self) -> tuple[Any, ...]:
        # What spaCy's own class would pickle knows nothing of this one's attributes.
        own = {name: value for name, value in vars(self).items() if name not in _OF_PROCESS}
        return _restored, (self.vocab, self.name, own)


def _restored(vocab: Any, name: str, own: dict[str, Any]) -> SpacyTagger:
    component = SpacyTagger(SimpleNamespace(vocab=vocab), name, confidences=own["_confidences"])
    component.__dict__.update(own)
    return component


def _gold_of(examples: Iterable[Any]) -> list["pn.Sentence"]:
    return [sentence for example in examples for sentence in gold_sentences(example.reference)]


def _key(token: Any, attribute: str) -> Any:
    return token.morph.key if attribute == "morph" else getattr(token, attribute)


# The name of the package's entry point.
make_perceptron_tagger = SpacyTagger


@registry.tokenizers("perceptron_tokenizer")
def make_perceptron_tokenizer(model: str) -> Callable[[Language], Any]:
    """Return a factory of SpacyTokenizers; `model` is what ``perceptron_nlp.load`` takes."""
    return lambda nlp: SpacyTokenizer(nlp.vocab, model)
