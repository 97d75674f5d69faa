"""What ``perceptron-nlp tag`` writes into MISC: how sure labels are, and which words are new."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import perceptron_nlp as pn
import perceptron_nlp.formats as formats
from perceptron_nlp.tagger.model.model import calibration_of

CONFIDENCE, UNKNOWN = "Conf", "Unknown"
MISC = "misc"
# Words that it is remembered of whether they are known.
_REMEMBERED = 1 << 16


class Marks:
    """Attributes of MISC that tagging adds; those of the same name are replaced.

    Parameters
    ----------
    confidence : whether ``Conf=0.9731`` is added to each word that is labelled; where several
        columns are filled, ``Conf[upos]=0.9731`` for each of them. A word whose label is kept
        stays as it is
    unknown : whether ``Unknown=Yes`` is added to words that were not in the training text, and
        taken from all others
    """

    def __init__(self, *, confidence: bool, unknown: bool) -> None:
        self.confidence = confidence
        self.unknown = unknown

    def check(
        self, corpus: pn.Corpus, chosen: Sequence[tuple[str, pn.Tagger]], written: str
    ) -> None:
        """Raise where they cannot be written, or not be known.

        Parameters
        ----------
        corpus : the text
        chosen : the columns that are filled, each with its tagger
        written : the format that the text is written in

        Raises
        ------
        ArgumentError : the text has no MISC, or it is to be filled with labels
        ModelError : a tagger is not calibrated
        """
        option = "confidence" if self.confidence else "mark_unknown"
        if written != "conllu":
            how = "is" if written == corpus.format else "is written as"
            raise pn.ArgumentError(
                f"{option}: {corpus.path} {how} {written}, which has no place for it; it goes into"
                " MISC, which CoNLL-U has"
            )
        if corpus.format == "conllu" and MISC not in corpus.column_names:
            raise pn.ArgumentError(f"{option}: {corpus.path} has no column MISC to write it into")
        if any(name == MISC for name, _ in chosen):
            raise pn.ArgumentError(f"{option}: it goes into MISC, which is filled with labels")
        for _, tagger in chosen if self.confidence else ():
            calibration_of(tagger.model)

    def add_confidences(
        self,
        batch: Sequence[pn.Sentence],
        columns: list[dict[str, list[str]]],
        name: str | None,
        sure: Sequence[Sequence[float]],
        kept: Sequence[Sequence[str | None]] | None,
    ) -> None:
        """Write how sure labels are.

        Parameters
        ----------
        batch : sentences
        columns : what they are filled with, which MISC is added to
        name : the column that is filled, where there are several
        sure : the confidence of each word
        kept : None, or the labels that are kept
        """
        key = CONFIDENCE if name is None else f"{CONFIDENCE}[{name}]"
        for number, (sentence, filled, own) in enumerate(zip(batch, columns, sure, strict=True)):
            misc = _misc_of(sentence, filled)
            for at, chance in enumerate(own):
                if kept is None or kept[number][at] is None:
                    misc[at] = formats.with_misc(misc[at], key, f"{chance:.4f}")

    def add_unknown(
        self, batch: Sequence[pn.Sentence], columns: list[dict[str, list[str]]], tagger: pn.Tagger
    ) -> None:
        """Write which words were not in the training text of a tagger."""
        knows = lru_cache(_REMEMBERED)(tagger.model.knows)
        for sentence, filled in zip(batch, columns, strict=True):
            misc = _misc_of(sentence, filled)
            for at, word in enumerate(sentence.words):
                misc[at] = (
                    formats.without_misc(misc[at], UNKNOWN)
                    if knows(word)
                    else formats.with_misc(misc[at], UNKNOWN, "Yes")
                )


def _misc_of(sentence: pn.Sentence, filled: dict[str, list[str]]) -> list[str]:
    """The values of MISC that the sentence is filled with; at first those that it has."""
    if MISC not in filled:
        layout = sentence.layout
        filled[MISC] = (
            layout.space_after()
            if isinstance(layout, formats.RunningLayout)
            else list(sentence.column(MISC))
            if sentence.words
            else []
        )
    return filled[MISC]
