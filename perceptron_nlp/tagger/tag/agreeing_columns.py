"""Labels of several columns that make combinations met in training; see model/agreement.py.

Each column is labeled by itself. Where the labels of a token were never met together, it gets, of
the combinations that were, the one whose scores sum to the most, those of the part of speech times
what it counts. Labels that are kept, or forced by a lexicon, stay even if no combination has them,
and then the other columns agree among themselves; those of a tag dictionary give way. Columns of
words alone, none of whose labels are kept, are labeled by the core (agreement.h) in one pass; the
others one by one, and it is given their scores.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from perceptron_nlp._core.tag.decode import HELD_TO, ColumnsDecoder, SentenceDecoder
from perceptron_nlp._core.text.lemmatizer import LemmaDecoder
from perceptron_nlp._core.text.writer import TextFiller
from perceptron_nlp.formats import CONLLU_COLUMNS
from perceptron_nlp.tagger.model.agreement import Agreement
from perceptron_nlp.tagger.model.label_components import UPOS
from perceptron_nlp.tagger.model.model import can_lead
from perceptron_nlp.tagger.tag.label import Labeler

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from perceptron_nlp.tagger.model.model import TaggerModel
    from perceptron_nlp.tagger.model.settled import Settled
    from perceptron_nlp.tagger.tag.constraints import ConstrainedTokens, Keep

    IntArray = npt.NDArray[np.int64]
    FloatArray = npt.NDArray[np.float64]

T = TypeVar("T")
# What the core labels at once.
MOST_COLUMNS = 7
# The place of a column that CoNLL-U does not have, or that is labeled for others to look at.
NOT_WRITTEN = -1
Keeps: TypeAlias = "Mapping[str, Sequence[Keep] | None]"


class Scored:
    """Scores of a column's own model for some words, and their labels.

    own : int64[n_words], the labels by itself; n_labels for a kept one that is not known
    numbers : int64[n_words], those that agree with the other columns
    scores : float64[n_words, n_labels], as Labeler.scored gives them
    settled : by word how likely its label is right, of those whose labels are settled
    """

    __slots__ = ("numbers", "own", "scores", "settled")

    def __init__(self, own: IntArray, scores: FloatArray, settled: dict[int, float]) -> None:
        self.own = own
        self.numbers = own.copy()
        self.scores = scores
        self.settled = settled


class AgreeingColumns:
    """Columns of a tagger that are labeled together; any number of threads may use it at once.

    agreement : the combinations that they may have
    labelers : of each of its columns
    """

    def __init__(self, agreement: Agreement, labelers: Mapping[str, Labeler]) -> None:
        self.columns = agreement.columns
        self.labelers = [labelers[name] for name in self.columns]
        self._models = [labeler.model for labeler in self.labelers]
        self._weights = [agreement.upos_weight if name == UPOS else 1.0 for name in self.columns]
        self._table = agreement.table(dict(zip(self.columns, self._models, strict=True)))
        self._settled = [
            self._settled_of(labeler, self.columns[:place], self._models[0])
            for place, labeler in enumerate(self.labelers)
        ]

    @staticmethod
    def _settled_of(labeler: Labeler, before: Sequence[str], first: TaggerModel) -> Settled | None:
        """Return what settles a column by those before it, unless a lexicon holds its labels."""
        found = labeler.model.settled
        able = found is not None and found.columns == tuple(before) and labeler.lexicon is None
        return found if able and can_lead(first) else None

    @cached_property
    def _written(self) -> list[tuple[str, ...]]:
        return [labeler.written_labels for labeler in self.labelers]

    @cached_property
    def _core(self) -> ColumnsDecoder:
        return ColumnsDecoder(
            [labeler.decoder for labeler in self.labelers],
            self._written,
            [model.weights.scale for model in self._models],
            self._weights,
            self._table,
            [s if s is None else s.table(self._written[:k]) for k, s in enumerate(self._settled)],
        )

    @cached_property
    def _filler(self) -> TextFiller | None:
        return words_filler(dict(zip(self.columns, self.labelers, strict=True)), (), self)

    @cached_property
    def decoder(self) -> ColumnsDecoder | None:
        """The core's form, which writes labels as the columns do; None if they need more."""
        return self._core if all(one.words_alone for one in self.labelers) else None

    def labels(
        self, prepared: Mapping[str, list[Sequence[str]]], keep: Keeps, threads: int
    ) -> dict[str, list[list[str]]]:
        """Return the labels of prepared sentences, by column."""
        kept = [keep.get(name) for name in self.columns]
        if self._filler is not None and kept.count(None) == len(kept):
            from perceptron_nlp.tagger.tag.threads import label_columns

            sentences = prepared[self.columns[0]]
            found: Any = label_columns(self._filler, sentences, len(self.columns), threads)
            return dict(zip(self.columns, found, strict=True))

        pieces = self.scored(
            prepared, lambda batch, found: self.written(batch, found, prepared, keep), keep, threads
        )
        return {
            name: [labels for piece in pieces for labels in piece[place]]
            for place, name in enumerate(self.columns)
        }

    def written(
        self,
        batch: range,
        found: Sequence[Scored],
        prepared: Mapping[str, list[Sequence[str]]],
        keep: Keeps,
    ) -> list[list[list[str]]]:
        """Return the labels of a batch that was scored as its columns write them."""
        from perceptron_nlp.tagger.tag.constraints import with_kept

        part = slice(batch.start, batch.stop)
        columns = []
        for name, own, model, labeler in zip(
            self.columns, found, self._models, self.labelers, strict=True
        ):
            # One more, for a kept label that the model does not have.
            learned = (*model.tags, "O|O")
            labels = iter([learned[number] for number in own.numbers.tolist()])
            each = [list(itertools.islice(labels, len(one))) for one in prepared[name][part]]
            each = labeler.written(each)
            kept = keep.get(name)
            if kept is not None:
                each = [with_kept(own, one) for own, one in zip(each, kept[part], strict=True)]
            columns.append(each)
        return columns

    def scored(
        self,
        prepared: Mapping[str, list[Sequence[str]]],
        use: Callable[[range, Sequence[Scored]], T],
        keep: Keeps,
        threads: int,
    ) -> list[T]:
        """Label prepared sentences, and return what `use` makes of their scores, batch by batch."""
        import numpy as np

        from perceptron_nlp.tagger.tag.threads import in_pieces

        def run(batch: range) -> T:
            part = slice(batch.start, batch.stop)
            found: list[Scored] = []
            sentences = prepared[self.columns[0]][part]
            kept_labels = [_flat(keep.get(name), part, sentences) for name in self.columns]
            words = list(itertools.chain.from_iterable(sentences))
            for name, labeler, labels in zip(self.columns, self.labelers, kept_labels, strict=True):
                kept = keep.get(name)
                given, rates = self._settle(words, found, kept_labels[0], labels)
                pieces = labeler.scored(
                    prepared[name][part],
                    lambda _, numbers, scores: (numbers, scores),
                    None if kept is None else kept[part],
                    settled=given,
                    met_with=self._core.met_with[len(found)],
                )
                numbers = np.concatenate([own for own, _ in pieces])
                scores = np.concatenate([own for _, own in pieces])
                found.append(Scored(numbers, scores, rates))
            self._core.agree(
                [own.numbers for own in found],
                [own.scores for own in found],
                lambda at: self._held(at, words[at], found, [one[at] for one in kept_labels]),
            )
            return use(batch, found)

        lengths = [*map(len, prepared[self.columns[0]])]
        if not lengths:
            return []
        n_labels = sum(len(model.tags) for model in self._models)
        return in_pieces(run, lengths, n_labels, threads)

    @cached_property
    def rows(self) -> IntArray:
        """The label numbers of each combination that was met, ascending."""
        import numpy as np

        met = self._table.met
        prefixes = np.array(self._table.prefixes, np.int64).reshape(len(met), -1)
        packed = np.frombuffer(b"".join(met), np.uint8).reshape(len(met), -1)
        prefix, last = np.nonzero(np.unpackbits(packed, axis=1, bitorder="little"))
        return np.column_stack([prefixes[prefix], last])

    @cached_property
    def _tokens(self) -> list[ConstrainedTokens]:
        # Here, as below, since what is labeled in the core does without.
        from perceptron_nlp.tagger.tag.constraints import ConstrainedTokens

        return [ConstrainedTokens(own.model, own.lexicon) for own in self.labelers]

    def _settle(
        self,
        words: Sequence[str],
        before: Sequence[Scored],
        first: Sequence[str | None],
        kept: Sequence[str | None],
    ) -> tuple[npt.NDArray[np.int32] | None, dict[int, float]]:
        """Return the labels that settle words in the column after some, and their rates.

        Others are held to what was met with the first column's label, or -1; see tag_scored.

        None if none does; words that keep a label are not looked up, and those that keep one in the
        first column are sure of it.
        """
        import numpy as np

        settled = self._settled[len(before)]
        if settled is None:
            return None, {}
        rates = {}
        numbers = np.full(len(words), -1, np.int32)
        columns = [
            [*map((*written, "").__getitem__, one.own.tolist())]
            for one, written in zip(before, self._written, strict=False)
        ]
        sure = self._lead(before[0]) >= settled.lead * self._models[0].weights.scale
        holds = settled.lead > 0 and self._models[len(before)].parts is not None
        free = [
            label is None and (is_sure or known is not None)
            for label, is_sure, known in zip(kept, sure, first, strict=True)
        ]
        for at, (word, *labels) in enumerate(zip(words, *columns, strict=True)):
            if not (free[at] and all(labels)):
                continue
            found = settled.find(word, False, labels)
            if found is not None:
                numbers[at], rates[at] = found[0], settled.rates[found[1]]
            elif holds:
                numbers[at] = HELD_TO - before[0].own[at]
        return numbers, rates

    def _lead(self, first: Scored) -> FloatArray:
        """Return by how many steps of the weights the label in the first column leads."""
        import numpy as np

        steps = np.rint(first.scores * self._models[0].weights.scale)
        known = first.own < steps.shape[1]
        rows, own = np.flatnonzero(known), first.own[known]
        lead = np.full(len(known), -np.inf)
        scores = steps[rows, own]
        steps[rows, own] = -np.inf
        lead[known] = scores - steps[known].max(axis=1, initial=np.iinfo(np.int32).min // 2)
        return lead

    def _held(
        self, at: int, word: str, found: Sequence[Scored], kept: Sequence[str | None]
    ) -> Iterable[tuple[list[int] | None, bool]]:
        """Return for each column the labels that a word is held to, and whether they must stay."""
        for tokens, labeler, label, own in zip(
            self._tokens, self.labelers, kept, found, strict=True
        ):
            if at in own.settled:
                yield [int(own.own[at])], False
                continue
            numbers = (
                tokens.within(word) if label is None else labeler.constraints.numbers_of(label)
            )
            is_held = label is not None or labeler.lexicon is not None
            yield numbers, numbers is not None and is_held


def words_filler(
    labelers: Mapping[str, Labeler], written: Sequence[str], agreeing: AgreeingColumns | None = None
) -> TextFiller | None:
    """Return the core's form of columns of words alone, and of lemmas that depend on these.

    labelers : by column, what labels it; those that others look at among them
    written : the columns that are written in CoNLL-U; none if text is only cut
    agreeing : those of the columns whose labels are to agree, or None

    Returns
    -------
    What labels the columns but lemmas in their order, then these; None if a labeler looks at more
    than words, or lemmas at other columns
    """
    columns: list[tuple[int, SentenceDecoder, Sequence[str]]] = []
    lemmas: tuple[int, list[int], LemmaDecoder] | None = None
    names = [name for name, labeler in labelers.items() if not labeler.gives_lemmas]
    for name, labeler in labelers.items():
        is_written = name in written and name in CONLLU_COLUMNS[2:]
        place = CONLLU_COLUMNS.index(name) if is_written else NOT_WRITTEN
        if labeler.words_alone and not labeler.gives_lemmas:
            columns.append((place, labeler.decoder, labeler.written_labels))
            continue
        tags = labeler.needed_columns
        if not labeler.gives_lemmas or lemmas is not None or not {*tags} <= {*names}:
            return None
        made_of = labeler.lemma_decoder([labelers[tag].written_labels for tag in tags])
        if made_of is None:
            return None
        lemmas = place, [names.index(tag) for tag in tags], LemmaDecoder(*made_of)
    if (labelers and not columns) or len(columns) > MOST_COLUMNS:
        return None
    agreement = None
    if agreeing is not None and agreeing.decoder is not None:
        agreement = agreeing.decoder, [names.index(name) for name in agreeing.columns]
    return TextFiller(columns, lemmas, agreement)


def _flat(
    keep: Sequence[Keep] | None, part: slice, sentences: Sequence[Sequence[str]]
) -> list[str | None]:
    """Return the labels that the words of some sentences keep, one after the other."""
    own = [None] * len(sentences) if keep is None else keep[part]
    return [
        label
        for kept, sentence in zip(own, sentences, strict=True)
        for label in ([None] * len(sentence) if kept is None else kept)
    ]
