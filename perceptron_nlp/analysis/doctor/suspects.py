"""From opinions of labels to suspects, with where they stand and why they are suspects."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from perceptron_nlp.analysis.doctor.crosstagging import Opinions
from perceptron_nlp.analysis.doctor.diagnosis import Elsewhere, Suspect
from perceptron_nlp.analysis.doctor.variation import WIDTHS, Variation
from perceptron_nlp.formats import sentence_id
from perceptron_nlp.text.sentence import Sentence

_CONTEXT = 4


class SuspectFinder:
    """Turns the pool's opinion into suspects.

    Parameters
    ----------
    sentences : the text
    order : the places that they had in it as it was given
    said : what the taggers said
    variation : of all words
    gold : int64[n_words]: the number of each word's label, -1 for none
    """

    def __init__(
        self,
        sentences: Sequence[Sentence],
        order: Sequence[int],
        said: Opinions,
        variation: Variation,
        gold: npt.NDArray[np.int64],
    ) -> None:
        self._sentences = sentences
        self._starts = np.concatenate([[0], np.cumsum([len(s) for s in sentences])])
        self._said = said
        self._variation = variation
        self._gold = gold
        self._numbers = [0] * len(sentences)
        met: dict[str, int] = {}
        for place in np.argsort(order, kind="stable").tolist():
            # Of what is from no file, all sentences are counted together.
            path = sentences[place].path if sentences[place].line_of(0) else ""
            self._numbers[place] = met[path] = met.get(path, 0) + 1

    def suspects(self, logs: npt.NDArray[np.float64]) -> tuple[Suspect, ...]:
        """All words whose gold label is not the likeliest, the least likely first."""
        said = self._said
        rows = np.arange(len(said.words))
        best = logs.argmax(1)
        place = np.argmax(said.candidates == said.gold[:, None], axis=1)
        # Rounded, so that what differs between machines changes no order.
        odds = np.round(logs[rows, best] - logs[rows, place], 6)
        found = [
            self._suspect(
                row,
                int(best[row]),
                float(odds[row]),
                float(logs[row, best[row]]),
                float(logs[row, place[row]]),
            )
            for row in np.flatnonzero(best != place).tolist()
        ]
        return tuple(
            sorted(
                found, key=lambda one: (-one.log_odds, one.path, one.line, one.sentence, one.index)
            )
        )

    def _suspect(
        self, row: int, best: int, odds: float, log_best: float, log_gold: float
    ) -> Suspect:
        said = self._said
        word, expected = int(said.words[row]), int(said.candidates[row, best])
        number, index = self._place(word)
        sentence = self._sentences[number]
        words = sentence.words
        return Suspect(
            path=sentence.path,
            line=sentence.line_of(index),
            sentence=self._numbers[number],
            index=index,
            sentence_id=sentence_id(sentence),
            form=words[index],
            before=words[max(0, index - _CONTEXT) : index],
            after=words[index + 1 : index + 1 + _CONTEXT],
            gold=said.labels[int(said.gold[row])],
            expected=said.labels[expected],
            confidence=round(float(np.exp(log_best)), 6),
            gold_confidence=round(float(np.exp(log_gold)), 6),
            log_odds=odds,
            votes=int(said.votes[row, best]),
            taggers=said.taggers,
            elsewhere=self._elsewhere(word, expected),
        )

    def _place(self, word: int) -> tuple[int, int]:
        number = int(np.searchsorted(self._starts, word, "right")) - 1
        return number, word - int(self._starts[number])

    def _elsewhere(self, word: int, expected: int) -> Elsewhere | None:
        """The widest surroundings in which the word has the expected label in another place."""
        own = int(self._gold[word])
        for width in range(len(WIDTHS) - 1, -1, -1):
            counts, totals = self._variation.counts(
                width, np.array([word]), np.array([[expected, own]])
            )
            if not counts[0, 0]:
                continue
            number, index = self._place(self._variation.first(width, word, expected))
            there = self._sentences[number]
            return Elsewhere(
                WIDTHS[width],
                int(counts[0, 0]),
                int(counts[0, 1]),
                int(totals[0] - counts[0].sum()),
                there.path,
                there.line_of(index),
            )
        return None
