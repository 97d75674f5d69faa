"""A person annotates a text, sentence by sentence, and a tagger learns from it meanwhile."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache

import perceptron_nlp as pn
from perceptron_nlp._checks import check_choice, check_flag, check_int, encodable_text
from perceptron_nlp.annotation import asking, review
from perceptron_nlp.annotation.asking import Labels, Task
from perceptron_nlp.annotation.goldfile import Extras, GoldFile, Record, model_place
from perceptron_nlp.annotation.labels import column_names, start_model, tag_set
from perceptron_nlp.annotation.learning import Learned, Learner, Trainings
from perceptron_nlp.annotation.pool import Item, Pool, PoolSource
from perceptron_nlp.annotation.review import Agreement, Doubt, Draft, Progress
from perceptron_nlp.annotation.treebank import Treebank
from perceptron_nlp.errors import ArgumentError

MOST_SENTENCES = 10_000
_PAUSE = 300.0  # Seconds; a longer one is not work.


class Session(AbstractContextManager["Session"]):
    """Annotate a text and learn from it: propose labels, ask for the most useful sentences.

    The same actions give the same proposals and the same file, whether the session was ended and
    begun again in between, in this program or on the page (``perceptron-nlp annotate``).

    Parameters
    ----------
    pool : the text: a path, several, or lists of words; see docs/annotating.md
    out : the CoNLL-U file of what is annotated, replaced whole after each sentence; a session goes
        on from what is in it. None keeps all in memory
    column : ``"upos"``, ``"xpos"`` or ``"feats"``, or several, as a list or separated by commas,
        also ``"lemma"``; the first is what confidences are about
    tags : labels that the first column may have: ``"ud"``, a path of a file with one a line (and,
        after a tab, what it is), or a list; None for ``"ud"`` if that is ``upos``, else any
    model : a tagger, or the path of one, that proposes until what is learned here is better
    draft : CoNLL-U of any program, whose labels are proposed and corrected; `progress` says how
        many of them were right
    order : ``"active"`` asks for what is learned most from, ``"document"``, ``"random"``
    check : one sentence in so many is drawn at random and not learned from while annotating: the
        accuracy is estimated by them; 0 for none
    every : proposals are never older than so many tokens
    seed : of random choices
    sentences : how many of the text are taken at most, the first ones
    background : whether a thread trains while the person goes on; the results are the same

    Raises
    ------
    FileError, FormatError : a file cannot be read, or `out` has a tag that is not in the set
    ArgumentError : an option cannot be used, `out` is of another text, or the model has no such
        column, or other tags
    """

    def __init__(
        self,
        pool: PoolSource,
        out: str | os.PathLike[str] | None = None,
        *,
        column: str | Sequence[str] = "upos",
        tags: str | os.PathLike[str] | Iterable[str] | None = None,
        model: pn.Tagger | str | os.PathLike[str] | None = None,
        draft: str | os.PathLike[str] | None = None,
        order: str = "active",
        check: int = 10,
        every: int = 50,
        seed: int = 1,
        sentences: int = MOST_SENTENCES,
        background: bool = False,
    ) -> None:
        self.columns = column_names(column)
        self.out = None if out is None else os.fspath(out)
        self.tags = tag_set(tags, self.columns[0])
        check_choice("order", order, asking.ORDERS)
        check_int("check", check, 0, 1_000_000)
        check_int("every", every, 1, 1_000_000)
        check_int("seed", seed, 0, 2**32)
        check_int("sentences", sentences, 1, 100_000_000)
        check_flag("background", background)
        start = start_model(model, self.columns[0], self.tags)
        file = None if self.out is None else GoldFile(self.out, self.columns, self.tags)
        tagger = cache(lambda: start or pn.load("en"))  # opened once, if there is running text
        self._pool = Pool(pool, sentences, lambda text: tagger().segmenter.sentences_in(text))
        self._treebank = Treebank(self._pool, file)
        self._draft = Draft(draft, self.columns, self._pool.items)
        self.messages = [*self._pool.warnings, *self._treebank.warnings, *self._draft.warnings]
        self._asking = asking.Asking(self._pool.items, order, check, seed)
        self._learner = Learner(self._pool.items, self.columns, order == "active", every, start)
        self._trainings = Trainings(self._learner, every, background)
        self._drafts: dict[str, Record] = {}
        self._review: dict[str, Mapping[int, Doubt]] = {}
        self.turn = 0
        self._history: list[tuple[str, str, Callable[[], None], bool]] = []
        self.undone = ""
        self._current: Item | None = None
        self._is_check = False
        self._shown: Task | None = None
        self._proposed: dict[str, list[str | None]] = {}
        self._pace: list[tuple[float, int]] = []
        self._since = time.monotonic()
        self._prepare()
        self._trainings.warm_up()

    def close(self) -> None:
        """End the thread that trains in the background, if there is one."""
        self._trainings.close()

    def __exit__(self, *raised: object) -> None:
        self.close()

    @property
    def annotated(self) -> list[pn.Sentence]:
        """The annotated sentences with their labels, in the order of the text."""
        return [record.sentence for record in self._treebank.in_text_order]

    @property
    def model(self) -> pn.Tagger:
        """The tagger to use elsewhere: all columns, all that was annotated, preset ``accurate``.

        Raises ArgumentError if nothing was annotated.
        """
        if not (sentences := self.annotated):
            raise ArgumentError("model: nothing is annotated yet")
        return self._learner.export(sentences, os.path.basename(self.out or ""))

    def save_model(self) -> str:
        """Save `model` as `out` with the ending ``.model``; return that path.

        Raises ArgumentError if nothing is annotated, `out` is None, or a file is there that no
        session on `out` has saved; FileError.
        """
        if (path := model_place(self.out)) is None:
            raise ArgumentError("out: no file was named")
        self.model.save(path)
        return path

    @property
    def tagger(self) -> pn.Tagger | None:
        """The tagger that proposals come from; None as long as nothing was learned."""
        return self._learned().tagger

    def next(self) -> Task | None:
        """Return the sentence to annotate; the same one until it is accepted or skipped.

        None if there is nothing left.
        """
        if self._shown is None:
            if self._current is None:
                self._current = self._next_item()
            if self._current is not None:
                self._shown = self._task(self._current)
        return self._shown

    def accept(
        self, labels: Labels | None = None, *, note: str | None = None, extras: Extras | None = None
    ) -> None:
        """Take the labels of the sentence that `next` gave, and write the file.

        Parameters
        ----------
        labels : by column, or of one column its labels alone; None for those of the task
        note : a remark, which stays in the file; None for the one that is there
        extras : correct forms and empty nodes; None for those that are there

        Raises
        ------
        ArgumentError : labels or a note that cannot be, or the file has the sentence meanwhile
        FileError, FormatError : the file cannot be written, or was broken; nothing is lost then
        """
        item, task = self._item(), self.next()
        assert task is not None
        given = asking.checked_labels(labels, task, self.columns, self.tags)
        remark = task.note if note is None else encodable_text(note, "note")
        more = task.extras if extras is None else extras.checked(len(item.words))
        old = self._treebank.records.get(item.name)
        with self._treebank.alone():
            self._merge()
            self._refuse_conflict(item, old)
            record = old or self._new_record(item, given)
            seen = {*record.reviewed, *self._review.get(item.name, ())}
            record = replace(record, note=remark, reviewed=seen)
            self._treebank.put(item, record.written(given, more))
        self._drafts.pop(item.name, None)
        doubts = self._review.pop(item.name, None)

        def undo() -> None:
            kept = self._treebank.records[item.name]
            self._treebank.put(item, old)
            if old is None:
                self._drafts[item.name] = kept
            if doubts is not None:
                self._review = {item.name: doubts, **self._review}

        self._did(item.name, "accepted", undo)
        since, self._since = self._since, time.monotonic()
        self._pace.append((min(self._since - since, _PAUSE), len(item.words)))
        self._prepare()

    def skip(self) -> None:
        """Put the sentence off until all others are done; one to look at again stays as it is."""
        if self.next() is None or self._current is None:
            return
        name = self._current.name
        if (doubts := self._review.pop(name, None)) is None:
            self._asking.skipped.add(name)

        def undo() -> None:
            self._asking.skipped.discard(name)
            if doubts is not None:
                self._review = {name: doubts, **self._review}

        self._did(name, "put off", undo)

    def undo(self) -> bool:
        """Take the last action back, also of earlier sessions; return False if there is none.

        `undone` says which it was. Raises FileError, FormatError, as `accept`.
        """
        with self._treebank.alone():
            self._merge()
            is_check = False
            if self._history:
                name, self.undone, undo, is_check = self._history[-1]
                undo()
                self._history.pop()
            else:
                last = max(self._treebank.records.values(), key=lambda r: r.order, default=None)
                if last is None or last.item is None or not last.order:
                    return False
                name = last.item.name
                self.undone = f"sentence {name} accepted"
                self._treebank.put(last.item, None)
                self._drafts[name] = last
        self._go_to(self._treebank.item(name))
        self._is_check = is_check
        return True

    def split_token(self, token: int, at: int) -> None:
        """Cut a word of the sentence after `at` characters; for raw text, as those below.

        Raises ArgumentError, ArgumentTypeError : it cannot be cut there.
        """
        self._replace(*self._treebank.token_split(self._item(), token, at))

    def join_tokens(self, token: int) -> None:
        """Join a word of the sentence with the next one."""
        self._replace(*self._treebank.tokens_joined(self._item(), token))

    def split_words(self, token: int, words: Sequence[str]) -> None:
        """Let the token of a word be a multiword token of these words; of one, an ordinary one."""
        self._replace(*self._treebank.token_words(self._item(), token, words))

    def split_sentence(self, token: int) -> None:
        """Let another sentence begin at a word, and go on with what is before it."""
        self._replace(*self._treebank.sentence_split(self._item(), token))

    def join_sentence(self) -> None:
        """Join the sentence with the next one of the text, which is not annotated yet."""
        self._replace(*self._treebank.sentence_joined(self._item()))

    def review_errors(self) -> int:
        """Ask for the sentences with the likeliest errors next, 20 at most; return how many.

        Words that were reviewed are not doubted again. Raises ArgumentError, FormatError if too
        little is annotated to tell.
        """
        return self._look_at(review.likely_errors(self._treebank.in_text_order, self.columns[0]))

    def review_against(self, other: str | os.PathLike[str]) -> Agreement:
        """Ask for the sentences next that a second annotator's file labels otherwise.

        Raises FileError, FormatError : the file cannot be read, or has none of the sentences.
        """
        agreement, doubts = review.compared(self._treebank.in_text_order, other, self.columns[0])
        self._look_at(doubts)
        return agreement

    def stop_review(self) -> None:
        """Go back to what is not annotated."""
        self._look_at({})

    @property
    def reviewed(self) -> int:
        """Sentences that are still to be looked at again."""
        return len(self._review)

    def progress(self) -> Progress:
        """Return what was done, how good the model is, and what more would bring."""
        learned = self._learned()
        records, waiting = self._treebank.in_work_order, len(self._treebank.waiting)
        how = (learned.confidence, learned.estimate, self._draft, self._pace)
        return review.progress_of(records, waiting, *how)

    def _did(self, name: str, what: str, undo: Callable[[], None]) -> None:
        self._history.append((name, f"sentence {name} {what}", undo, self._is_check))
        self._go_to(None)

    def _go_to(self, item: Item | None) -> None:
        self._current, self._shown = item, None
        self._is_check = False
        self.turn += 1

    def _merge(self) -> None:
        told = self._treebank.merge()
        if told is not None:
            self.messages.append(told)
            # What can be undone may not be what is there.
            self._history.clear()

    def _refuse_conflict(self, item: Item, old: Record | None) -> None:
        now = self._treebank.records.get(item.name)
        if now is None and old is None and item.name in self._treebank.waiting:
            return
        if now is not None and old is not None and now.text == old.text:
            return
        if now is not None:
            self._review = {item.name: {}, **self._review}
        self._go_to(None if now is None else now.item)
        raise ArgumentError(
            f"labels: sentence {item.name} was changed in the file meanwhile; what is there is"
            " shown now"
        )

    def _new_record(self, item: Item, given: Mapping[str, Sequence[str]]) -> Record:
        draft = self._drafts.get(item.name)
        if draft is None or draft.sentence.words != item.words:
            draft = Record.of(item)
        return replace(
            draft,
            order=1 + max((one.order for one in self._treebank.records.values()), default=0),
            corrections=sum(
                any(given[name][at] != self._proposed[name][at] for name in self.columns)
                for at in range(len(item.words))
            ),
            confidence=self._learned().confidence,
            is_check=draft.is_check or self._is_check,
        )

    def _look_at(self, doubts: Mapping[str, Mapping[int, Doubt]]) -> int:
        self._review = {name: own for name, own in doubts.items() if name in self._treebank.records}
        self._go_to(None)
        return len(self._review)

    def _item(self) -> Item:
        """Return the sentence that is shown."""
        if self.next() is None or self._current is None:
            raise ArgumentError("labels: there is no sentence to annotate")
        return self._current

    def _replace(self, old: Sequence[Item], new: Sequence[Item]) -> None:
        self._treebank.cut(old, new)
        is_check = self._is_check
        self._did(old[0].name, "cut otherwise", lambda: self._treebank.cut(new, old))
        self._current, self._is_check = new[0], is_check

    def _next_item(self) -> Item | None:
        for name in self._review:
            return self._treebank.item(name)
        treebank = self._treebank
        asked = lambda: self._trainings.asked(treebank.in_work_order, self._waiting)  # noqa: E731
        found, self._is_check = self._asking.chosen(treebank.waiting, len(treebank.records), asked)
        return found and treebank.with_known_words(found)

    def _prepare(self) -> None:
        self._trainings.prepare(self._treebank.in_work_order, self._waiting)

    def _learned(self) -> Learned:
        return self._trainings.learned(self._treebank.in_work_order, self._waiting)

    def _waiting(self) -> Iterable[Item]:
        return self._treebank.waiting.values()

    def _task(self, item: Item) -> Task:
        learned = self._learned()
        proposed, alternatives = asking.proposals(
            learned.tagger, learned.calibration.temperature, item.words, self.columns
        )
        self._proposed = self._draft.put_into(proposed, item.words, self.tags)
        record = self._treebank.records.get(item.name)
        origin = "check" if self._is_check else "pool"
        if record is not None:
            origin = "review"
        elif item.name in self._drafts:
            origin, record = "again", self._drafts[item.name]
        return Task.of(
            item,
            record,
            {word for one in self._treebank.records.values() for word in one.sentence.words},
            origin,
            labels=asking.initial_labels(record, self._proposed, item.words),
            alternatives=alternatives,
            doubts=self._review.get(item.name, {}),
            around=self._pool.around(item),
        )
