"""The columns of a tagger: those that agree are labeled together, others after these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from perceptron_nlp._checks import check_choice, check_choices, check_threads, sentence_list
from perceptron_nlp._core.model.frozenmodel import CacheMemory
from perceptron_nlp.errors import ArgumentTypeError, ModelError
from perceptron_nlp.tagger.model.model import NO_TAGS, TaggerModel
from perceptron_nlp.tagger.tag.label import Labeled, Labeler
from perceptron_nlp.text.sentence import Sentence

if TYPE_CHECKING:
    from perceptron_nlp._core.conllu.splice import ConlluFiller
    from perceptron_nlp._core.text.writer import TextFiller
    from perceptron_nlp.formats import Corpus
    from perceptron_nlp.tagger.tag.agreeing_columns import AgreeingColumns
    from perceptron_nlp.tagger.tag.arrays import LabelArrays, WordBuffers
    from perceptron_nlp.tagger.tag.constraints import Keep
    from perceptron_nlp.tagger.tag.fill import TextFill
    from perceptron_nlp.tagger.tag.segment import Segmenter
    from perceptron_nlp.tagger.tag.text import LabeledText, TextSentence


class ColumnLabelers:
    """What labels the columns of a tagger; any number of threads may use it at once.

    model : of all columns
    by_column : a labeler for each, in the tagger's order
    memory : what its caches may take together with others
    """

    def __init__(
        self, model: TaggerModel, by_column: Mapping[str, Labeler], memory: CacheMemory
    ) -> None:
        self.by_column = by_column
        self._names = tuple(by_column)
        self._memory = memory
        self._agreement = model.agreement if model.more else None
        self._model = model
        self._together: dict[tuple[str, ...], AgreeingColumns | None] = {}
        self._fillers: dict[tuple[str, ...], TextFiller | None] = {}
        self._fills: dict[tuple[str, ...], TextFill | None] = {}

    @cached_property
    def segmenter(self) -> Segmenter:
        """What cuts running text."""
        from perceptron_nlp.tagger.tag.segment import Segmenter, reading_of

        own = self._model.segmentation
        if own is None:
            from perceptron_nlp.tagger.model.installed import bundled_segmentation

            own = bundled_segmentation()
        return Segmenter(own, self._memory, reading=reading_of(self._model))

    @property
    def window(self) -> int:
        """Sentences of document context on either side; 0 for none."""
        return max((labeler.model.window or 0 for labeler in self.by_column.values()), default=0)

    def named(self, columns: Sequence[str] | None) -> tuple[str, ...]:
        """Return some of the columns, in the tagger's order; None for all.

        Raises ArgumentTypeError, ArgumentError if they are no names, or there is no such column.
        """
        if columns is None:
            return self._names
        self.check_tags()
        if isinstance(columns, str) or not isinstance(columns, Iterable):
            raise ArgumentTypeError(
                f"columns: a list of names is needed, not {type(columns).__name__}"
            )
        wanted = [*columns]
        check_choices("columns", wanted, [*self.by_column])
        return tuple(name for name in self.by_column if name in wanted)

    def named_one(self, column: str | None) -> Labeler:
        """Return what labels a column; None for the first.

        Raises ArgumentTypeError, ArgumentError if there is no such column.
        """
        self.check_tags()
        if column is None:
            return next(iter(self.by_column.values()))
        check_choice("column", column, self.by_column)
        return self.by_column[column]

    def check_tags(self) -> None:
        """Raise ModelError if the model only cuts text."""
        if not self.by_column:
            raise ModelError(NO_TAGS)

    def of(self, names: Sequence[str]) -> dict[str, Labeler]:
        """Return what labels some of the columns."""
        return {name: self.by_column[name] for name in names}

    def needed(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return columns and those before them that they look at."""
        seen = {*names, *(earlier for name in names for earlier in self.by_column[name].earlier)}
        return tuple(name for name in self.by_column if name in seen)

    def known_labels(self, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return all labels that columns may write, in code point order."""
        return {name: tuple(sorted(self.by_column[name].model.written_labels)) for name in names}

    def label(
        self,
        sentences: Iterable[Sequence[str]],
        threads: int = 1,
        keep: Mapping[str, Sequence[Keep]] | None = None,
        before: Sequence[Sequence[str]] = (),
        after: Sequence[Sequence[str]] = (),
        columns: Sequence[str] | None = None,
        *,
        sure: bool = False,
    ) -> dict[str, Labeled]:
        """Return the labels of columns, each with confidences (if `sure`) or None.

        Parameters and errors are those of Tagger.tag_sents; None stands for all columns.
        """
        check_threads(threads)
        self.check_tags()
        batch = sentence_list(sentences)
        kept = self._kept(batch, keep)
        names = self.named(columns)
        needed = self.needed(names)
        plain = len(needed) > 1 and not sure and not any(kept.values())
        core = self._words_filler(names) if plain else None
        if core is not None:
            return self._lists(core, batch, names, threads)
        found: dict[str, Labeled] = {}
        if (agreeing := self.agreeing(needed)) is not None:
            inputs = {
                name: _inputs(self.by_column[name], batch, before, after, {})
                for name in agreeing.columns
            }
            if sure:
                from perceptron_nlp.tagger.confidence import sure_columns

                found.update(sure_columns(agreeing, inputs, kept, threads))
            else:
                labels = agreeing.labels(inputs, kept, threads)
                found.update((name, (own, None)) for name, own in labels.items())
        for name in needed:
            if name not in found:
                known = {at: own for at, (own, _) in found.items()}
                prepared = _inputs(self.by_column[name], batch, before, after, known)
                found[name] = self._by_itself(name, prepared, kept.get(name), threads, sure)
        return {name: found[name] for name in names}

    def buffers(
        self, words: WordBuffers, names: Sequence[str], threads: int, *, sure: bool
    ) -> LabelArrays:
        """Return words in buffers with labels: columns of words alone straight from the core."""
        from perceptron_nlp.tagger.tag.arrays import label_buffers

        core = None if sure else self._words_filler(tuple(names))
        if core is None:
            others = self.label(words.lists(), threads, columns=names, sure=sure)
            return words.with_labels(self.known_labels(names), {}, None, others)
        turn = self._filled_in_turn(names).items()
        tags = {name: one.written_labels for name, one in turn if not one.gives_lemmas}
        numbers, lemmas = label_buffers(core, words, len(tags), threads)
        found = zip(tags, numbers, tags.values(), strict=True)
        labels = {name: (one, own) for name, one, own in found if name in names}
        return words.with_labels(self.known_labels(names), labels, lemmas, {})

    def texts(
        self, names: tuple[str, ...], threads: int, *, sure: bool = False
    ) -> Callable[..., Iterator[LabeledText]]:
        """Return what labels texts, in the core where that can be done; see TextFill.pieces."""
        fill = None if sure else self._text_filler(names)
        if fill is not None:
            return partial(fill.pieces, threads=threads)
        from perceptron_nlp.tagger.tag.text import BATCH, labeled_batches

        label = self._labeling(names, threads, sure)
        return lambda text, whole=False: labeled_batches(
            self.segmenter.sentences_of(text), label, self.window, None if whole else BATCH
        )

    def _labeling(
        self, names: tuple[str, ...], threads: int, sure: bool
    ) -> Callable[..., dict[str, Labeled]]:
        if not names:
            return lambda *_: {}
        read = self.segmenter.cutter.as_read

        def label(*parts: Iterable[Sequence[str]]) -> dict[str, Labeled]:
            shown, before, after = ([*map(read, sentences)] for sentences in parts)
            return self.label(shown, threads, None, before, after, names, sure=sure)

        return label

    def sentences(
        self, text: str | Iterable[str], names: tuple[str, ...] = (), threads: int = 1
    ) -> Iterator[TextSentence]:
        """Yield the sentences of a text, perhaps in pieces, with some of the columns, or none."""
        if not isinstance(text, str):
            from perceptron_nlp.tagger.tag.stream import filled_sentences, stream_sentences

            fill = self._text_filler(names)
            if fill is not None:
                return filled_sentences(fill.streamed(text))
            label = self._labeling(names, threads, False)
            return stream_sentences(text, self.segmenter, label, self.window if names else 0)
        from perceptron_nlp.tagger.tag.text import text_sentences

        return text_sentences(text, self.texts(names, threads)(text))

    def filler(
        self, corpus: Corpus, *, column: str | None = None, columns: Sequence[str] | None = None
    ) -> ConlluFiller | None:
        """Return a function that labels whole CoNLL-U sentences without a Python object of them.

        Parameters
        ----------
        corpus : the text, not yet iterated over
        column : the column to fill in place of the (first) one that was learned
        columns : those of the columns that were learned to fill; None for all

        Returns
        -------
        None where this cannot be done: another format, or a model that looks at more than words.
        Else a function from bytes (``corpus.take_blocks``) to the same bytes with the column,
        or the columns, filled in, or to None for sentences that must be read one by one
        (``corpus.put_back`` them). Several threads may call it.
        """
        from perceptron_nlp._core.conllu.splice import ConlluFiller
        from perceptron_nlp.tagger.tag.fill import conllu_holds, has_all_columns

        names = (column,) if column is not None else self.named(columns)
        own = self.of(names) if column is None else {column: self.named_one(None)}
        if not has_all_columns(corpus) or not conllu_holds(own):
            return None
        if column is None:
            core = self._words_filler(names)
        else:
            from perceptron_nlp.tagger.tag.agreeing_columns import words_filler

            core = words_filler(own, names)
        return None if core is None else ConlluFiller(core)

    def text_filler(self, columns: Sequence[str] | None = None) -> TextFill | None:
        """Return what writes running text as CoNLL-U without a Python object of a token.

        Parameters
        ----------
        columns : the columns to fill, perhaps none; None for all

        Returns
        -------
        None where this cannot be done: the model looks at more than words. Several threads may use
        it
        """
        empty = columns is not None and not columns
        return self._text_filler(() if empty else self.named(columns))

    def _text_filler(self, names: tuple[str, ...]) -> TextFill | None:
        if names not in self._fills:
            from perceptron_nlp.tagger.tag.fill import TextFill, conllu_holds

            own, core = self.of(self.needed(names)), self._words_filler(names)
            # Running text has a MISC of its own.
            able = core is not None and "misc" not in own and conllu_holds(own)
            made = TextFill(self.segmenter, core, own, names) if core and able else None
            self._fills[names] = made
        return self._fills[names]

    def _words_filler(self, names: tuple[str, ...]) -> TextFiller | None:
        needed = self.needed(names)
        if names not in self._fillers:
            # Here, since one column of lists does without.
            from perceptron_nlp.tagger.tag.agreeing_columns import words_filler

            own = self.of(needed)
            is_whole = all(name in needed for one in own.values() for name in one.earlier)
            core = words_filler(own, names, self.agreeing(needed)) if is_whole else None
            self._fillers[names] = core
        return self._fillers[names]

    def _filled_in_turn(self, names: Sequence[str]) -> dict[str, Labeler]:
        """Return what labels columns and those that they need, as their filler has them in turn."""
        own = self.of(self.needed(names))
        return dict(sorted(own.items(), key=lambda item: item[1].gives_lemmas))

    def _lists(
        self, core: TextFiller, batch: list[Sequence[str]], names: Sequence[str], threads: int
    ) -> dict[str, Labeled]:
        from perceptron_nlp.tagger.tag.threads import label_columns

        own = self._filled_in_turn(names)
        words = _inputs(next(iter(own.values())), batch, (), (), {})
        columns: Any = dict(zip(own, label_columns(core, words, len(own), threads), strict=True))
        return {name: (columns[name], None) for name in names}

    def _by_itself(
        self,
        name: str,
        prepared: list[Sequence[str]],
        keep: list[Keep] | None,
        threads: int,
        sure: bool,
    ) -> Labeled:
        if not sure:
            return self.by_column[name].label(prepared, keep, threads), None
        from perceptron_nlp.tagger.confidence import sure_labels

        return sure_labels(self.by_column[name], prepared, keep, threads)

    def _kept(
        self, batch: Sequence[Sequence[str]], keep: Mapping[str, Sequence[Keep]] | None
    ) -> dict[str, list[Keep] | None]:
        if keep is None:
            return {}
        # Here, since most text has no labels yet.
        from perceptron_nlp.tagger.tag.constraints import check_columns, check_keep

        check_columns(keep, [*self.by_column])
        return {name: check_keep(batch, own) for name, own in keep.items()}

    def agreeing(self, names: Sequence[str]) -> AgreeingColumns | None:
        """Return those of the columns whose labels agree; None if there are none."""
        if self._agreement is None:
            return None
        chosen = tuple(
            name
            for name in self._agreement.columns
            if name in names and name in self.by_column and self.by_column[name].model.can_agree
        )
        if chosen not in self._together:
            # Here, since a column by itself has nothing to agree with.
            from perceptron_nlp.tagger.tag.agreeing_columns import AgreeingColumns

            own = self._agreement.within(chosen)
            self._together[chosen] = None if own is None else AgreeingColumns(own, self.by_column)
        return self._together[chosen]


def _inputs(
    labeler: Labeler,
    batch: list[Sequence[str]],
    before: Sequence[Sequence[str]],
    after: Sequence[Sequence[str]],
    known: Mapping[str, list[list[str]]],
) -> list[Sequence[str]]:
    """Return sentences as a labeler takes them, with what is known of earlier columns."""
    read = [sentence for sentence in batch if isinstance(sentence, Sentence)]
    inputs = labeler.model.inputs(read) if len(read) == len(batch) else batch
    return labeler.prepared(inputs, before, after, known)
