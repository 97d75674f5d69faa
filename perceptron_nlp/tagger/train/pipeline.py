"""A whole pipeline in one model: segmentation of text, columns of tags, and lemmas.

``text`` among the columns stands for segmentation, and ``all`` for segmentation and every column of
tags and lemmas that the treebank fills.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp._display import percent
from perceptron_nlp.errors import ArgumentError, FormatError
from perceptron_nlp.formats.conllu import one_text
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagger.model.label_components import AGREEING, UPOS, XPOS
from perceptron_nlp.tagger.model.model import TEXT, Segmentation, TaggerModel, joined
from perceptron_nlp.tagger.overlap import with_sample
from perceptron_nlp.tagger.sources import ALL, Source
from perceptron_nlp.tagger.tag.segment import Segmenter
from perceptron_nlp.tagger.train.calibrate import RECORD, with_last_calibrated
from perceptron_nlp.tagger.train.compress import in_bytes
from perceptron_nlp.tagger.train.data import vocabulary_of
from perceptron_nlp.tagger.train.labeled_atoms import in_paragraphs
from perceptron_nlp.tagger.train.learning import Plan, learn_columns, learn_sentences
from perceptron_nlp.tagger.train.lemmatizing import learn_lemmas
from perceptron_nlp.tagger.train.loop import Callback
from perceptron_nlp.tagger.train.options import BEST
from perceptron_nlp.tagger.train.otherwise import in_other_hands
from perceptron_nlp.tagger.train.segmenting import learn_segmentation
from perceptron_nlp.tagger.train.settling import with_settled
from perceptron_nlp.tagger.train.sidebyside import awaited, side_by_side
from perceptron_nlp.text.scripts import LEMMA
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.tagset import UNLABELED, known_labels, word_bytes

logger = logging.getLogger("perceptron_nlp")

# Of words with UPOS so many have XPOS, or there is no telling which of the others would have any.
LEAST_XPOS = 0.2
# Options that are of use where text alone is learned.
OF_CUTTING = ("seed", "epochs", "runs")
# Of so many sentences one decides, where no dev set is given.
TENTH = 10


@dataclass(frozen=True, slots=True)
class Stages:
    """Parts of a training: columns of tags, segmentation and lemmas.

    There are no columns for the one that the text has for this.
    """

    columns: tuple[str, ...]
    text: bool = False
    lemmas: bool = False

    @property
    def several(self) -> bool:
        """Tell if more is learned than columns of tags."""
        return self.text or self.lemmas


def stages_of(names: Sequence[str], source: Source) -> Stages:
    """Return what the names of columns stand for in a text, which is read if need be."""
    if not {ALL, TEXT, LEMMA} & {*names}:
        return Stages(tuple(names))
    source.hold()
    sentences = list(source)
    if not sentences:
        raise FormatError(f"{source.place}: there are no sentences to learn from")
    layouts = [one.layout for one in sentences if one.layout is not None]
    if {ALL, TEXT} & {*names} and not any(layout.format == "conllu" for layout in layouts):
        raise ArgumentError(
            "column: segmentation is learned from the spaces of CoNLL-U (SpaceAfter=No, ranges);"
            " leave text and all out, or train on CoNLL-U"
        )
    if ALL in names:
        if len(names) > 1:
            raise ArgumentError("column: all stands for every column; name no other with it")
        empty = [name for name in (*AGREEING, LEMMA) if not is_filled(sentences, name)]
        if empty:
            logger.warning("train: left out, since no token has a value: %s", ", ".join(empty))
        if XPOS not in empty and n_filled(sentences, XPOS) < LEAST_XPOS * n_filled(sentences, UPOS):
            empty.append(XPOS)
            logger.warning(
                "train: xpos is left out, since hardly a token has one; name it if need be"
            )
        names = [TEXT, *(name for name in (*AGREEING, LEMMA) if name not in empty)]
    columns = tuple(name for name in names if name not in (TEXT, LEMMA))
    if {*names} == {TEXT, LEMMA} and filled_tags(sentences):
        raise ArgumentError(
            "column: lemmas are found by tags, which running text does not have; name a column of"
            " tags, too, such as text,upos,lemma"
        )
    return Stages(columns, TEXT in names, LEMMA in names)


def learn(
    source: Source,
    dev_source: Source | None,
    names: Sequence[str],
    plan: Plan,
    *,
    learn_dev: bool = False,
) -> TaggerModel:
    """Learn segmentation, columns and lemmas, and put them into one model.

    names : those of the columns, ``text`` and ``all`` among them
    learn_dev : when all is decided by the dev set, learn both texts together; without one, a tenth
        of the training text stands for it
    """
    stages = stages_of(names, source)
    if plan.resumable and stages.several:
        raise ArgumentError(
            "resumable: segmentation and lemmas are learned from all of a text at once and cannot"
            " be resumed; leave resumable out, or name columns of tags alone"
        )
    if not (stages.columns or stages.lemmas):
        chosen = [(o, getattr(plan.options, o.name)) for o in fields(plan.options)]
        own = [o.name for o, value in chosen if value != o.default and o.name not in OF_CUTTING]
        if own:
            logger.warning("train: of no use, since no tags are learned: %s", ", ".join(own))
    if not learn_dev:
        return _learn_stages(stages, source, dev_source, plan)
    if plan.minutes is not None:
        plan = replace(plan, minutes=plan.minutes / 2)
    if plan.told is None:
        plan = replace(plan, told={})
    n_columns = max(1, len(stages.columns))
    # So that a file which cannot be used is reported at once.
    plan.checkpoints(2 * n_columns)
    train, held_out, both = _prepared_for_dev(plan, source, dev_source)
    first = _learn_stages(stages, train, held_out, plan)
    if plan.before_dev is not None:
        plan.before_dev(first)
    always_jackknife = None
    lemmas = [part for part in first.parts_by_column if part.lemmas is not None]
    if lemmas and lemmas[0].record["train"]["sentences"] > len(list(train)):
        always_jackknife = True
    selection = None if plan.selection is None else plan.selection.with_dev
    plan = replace(plan, first_checkpoint=n_columns, selection=selection)
    model = _learn_stages(stages, both, None, plan, always_jackknife, first)
    learned = "a tenth of train, held out before," if dev_source is None else "the dev set"
    return _as_judged_before(model, first, f"{learned} is learned, too")


def _learn_stages(
    stages: Stages,
    source: Source,
    dev_source: Source | None,
    plan: Plan,
    always_jackknife: bool | None = None,
    like: TaggerModel | None = None,
) -> TaggerModel:
    if not stages.several:
        model = learn_columns(source, dev_source, stages.columns, plan)
        if plan.selection is not None and not plan.selection.kept:
            plan.selection.whole = model
        return model if like is None else with_settled(model, list(source), None, like)
    for one in (source, dev_source):
        if one is not None:
            one.hold()
    train, dev = list(source), None if dev_source is None else list(dev_source)
    for sentence in (*train, *(dev or ())):
        if sentence.layout is not None:
            sentence.layout.keep((*AGREEING, LEMMA))
    again = in_other_hands(train) if stages.text else []
    if again:
        source = source.followed_by(Source(again, "train"))
    seed, threads = plan.options.seed, plan.threads
    fit = partial(learn_sentences, threads=threads)
    limited = partial(fit, selection=plan.selection)
    judged = like if like is not None or plan.selection is None else plan.selection.whole
    tagging: list[tuple[TaggerModel, ...]] = []

    def tags(callback: Callback | None) -> None:
        own = replace(plan, callback=callback, settles=False)
        columns = stages.columns
        learned = learn_columns(source, dev_source, columns, own) if columns else None
        tagging.append(() if learned is None else learned.parts_by_column)

    def lemmas(_: Callback | None) -> TaggerModel | None:
        if not stages.lemmas:
            return None
        columns = stages.columns or filled_tags(train)
        given = [name for name in AGREEING if name in columns]
        always = always_jackknife
        if always is None:
            always = plan.options.preset in ("accurate", BEST)

        def taggers() -> list[TaggerModel]:
            return [model for model in awaited(tagging) if model.column in given]

        shown = [*train, *again]
        return learn_lemmas(shown, dev, limited, given, taggers, always, threads=threads, seed=seed)

    def text(_: Callback | None) -> TaggerModel | None:
        if not stages.text:
            return None
        raw = None if plan.resources is None else plan.resources.raw
        words = () if raw is None else raw.sentences
        own = None if judged is None else judged.segmentation
        names = ("seed",) if stages.columns or stages.lemmas else OF_CUTTING
        options = {name: getattr(plan.options, name) for name in names}
        found = learn_segmentation(train, dev, limited, threads, words, own, **options)
        return _cutting(found, train)

    parts: list[Callable[[Callback | None], Any]] = [tags, lemmas, text]
    more = [one for one in side_by_side(parts, threads, plan.callback) if one is not None]
    known = vocabulary_of([*map(word_bytes, {word for one in train for word in one.words})])
    model = joined([_told(part, again, known) for part in (*tagging[0], *more)])
    if plan.selection is not None and not plan.selection.kept:
        plan.selection.whole = model
    if stages.text:
        model = in_bytes(model)
        if dev is not None and model.segmentation is not None:
            model = model.replace(segmentation=with_lead(model.segmentation, dev))
    if stages.lemmas and stages.columns and dev is not None:
        # Learned and calibrated by gold tags; in use these are predicted.
        model = with_last_calibrated(model, dev)
    return with_settled(model, train, dev, like)


def _told(
    part: TaggerModel, again: Sequence[Sentence], known: npt.NDArray[np.uint32]
) -> TaggerModel:
    """Return a part that neither counts sentences learned again nor knows words they alone have."""
    if part.column == TEXT or not again:
        return part
    labels = [known_labels(part.column, one.column(part.column)) for one in again]
    more = {
        "sentences": len(again),
        "tokens": sum(map(len, again)),
        "labeled": sum(label is not None for own in labels for label in own),
    }
    counts = {name: part.record["train"][name] - n for name, n in more.items()}
    return part.replace(
        record={**part.record, "train": {**part.record["train"], **counts}},
        vocabulary=np.intersect1d(part.vocabulary, known),
    )


def _cutting(found: Segmentation, train: Sequence[Sentence]) -> TaggerModel:
    """Return a model that only cuts text, with a record of the sentences, not of their atoms."""
    n_tokens = sum(map(len, train))
    counts = {"sentences": len(train), "tokens": n_tokens, "labeled": n_tokens}
    record = {key: own for key, own in found.cut.record.items() if key not in (RECORD, "fields")}
    record["train"] = {**record["train"], **counts}
    record = with_sample(record, train)
    return found.cut.replace(column=TEXT, segmentation=found, calibration=None, record=record)


# The lead that is looked for is at most so many of the heaviest weight; for other text it is
# doubled, and no less than that weight: of two halves of a dev set the one then keeps its sentences
# by the other's lead, on 23 of 24 of twelve treebanks.
_MOST_LEAD, _MORE_LEAD = 8, 2


def with_lead(segmentation: Segmentation, dev: Iterable[Sentence]) -> Segmentation:
    """Return the segmentation with a lead that changes nothing in the text of a dev set.

    Where near atoms decide, most templates need not be looked at: see Segmentation.lead. There is
    none if the largest that is tried changes something.
    """
    text, weights = one_text(in_paragraphs(dev))[0], segmentation.cut.weights

    def cut(lead: int | None) -> list[object]:
        score = None if lead is None else lead / weights.scale
        segmenter = Segmenter(segmentation._replace(lead=score, splits=None))
        return list(segmenter.sentences_of(text))

    whole = cut(None)
    heaviest = max(map(abs, weights.weights.tolist()), default=0)
    low, high = -1, _MOST_LEAD * heaviest
    if cut(high) != whole:
        return segmentation
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if cut(middle) == whole else (middle, high)
    lead = max(_MORE_LEAD * high, heaviest) / weights.scale
    return segmentation._replace(lead=lead)


def _prepared_for_dev(
    plan: Plan, source: Source, dev_source: Source | None
) -> tuple[Source, Source, Source]:
    """Return what is learned first, what decides, and both; all are kept."""
    if plan.limit is not None:
        raise ArgumentError(
            "learn_dev: the text is gone over twice, which max_memory rules out; leave one of"
            " them out, or train on both sets without dev"
        )
    source.hold()
    if dev_source is not None:
        dev_source.hold()
        return source, dev_source, source.followed_by(dev_source)
    n_sentences = len(list(source))
    if n_sentences < 2:
        raise ArgumentError(
            "learn_dev: a tenth of train decides where no dev is given, and one sentence has none;"
            " name a dev set, or leave learn_dev out"
        )
    order = permutation(n_sentences, plan.options.seed).tolist()
    train, held_out = source.parted(order[: max(1, n_sentences // TENTH)])
    return train, held_out, source


def _as_judged_before(model: TaggerModel, first: TaggerModel, learned: str) -> TaggerModel:
    """Return a model of all text with the calibration, and the scores, of the first training."""
    parts = []
    for part, before in zip(model.parts_by_column, first.parts_by_column, strict=True):
        best: dict[int, float] = {}
        for epoch in before.record["epochs"]:
            score = epoch["dev_accuracy"]
            best[epoch["run"]] = max(score, best.get(epoch["run"], score))
        note = (
            f"{learned}; before, one run labeled"
            f" {percent(sum(best.values()) / len(best))} of it correctly"
        )
        record = {**part.record, "choices": [*part.record["choices"], note]}
        if RECORD in before.record:
            record[RECORD] = before.record[RECORD]
        parts.append(part.replace(calibration=before.calibration, record=record))
    whole = parts[0].replace(more=tuple(parts[1:]))
    cut, before_cut = whole.segmentation, first.segmentation
    if cut is None or before_cut is None:
        return whole
    return whole.replace(segmentation=cut._replace(lead=before_cut.lead))


def filled_tags(sentences: Sequence[Sentence]) -> list[str]:
    """Return the columns of tags in which a word has a value."""
    return [name for name in AGREEING if is_filled(sentences, name)]


def n_filled(sentences: Sequence[Sentence], name: str) -> int:
    """Return how many words have a value in a column."""
    columns = (sentence.columns.get(name, ()) for sentence in sentences)
    return sum(value != UNLABELED for column in columns for value in column)


def is_filled(sentences: Sequence[Sentence], name: str) -> bool:
    """Return True if a word has a value in a column."""
    return n_filled(sentences, name) > 0
