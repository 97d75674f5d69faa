"""What ``perceptron-nlp tag`` makes of confidences, and marks that it adds to MISC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import perceptron_nlp as pn
from perceptron_nlp import formats
from perceptron_nlp._checks import check_number

NOT_GIVEN = "_"
CONFIDENCE, UNKNOWN, MISC = "Conf", "Unknown", "misc"
# Entries of the cache of known words.
_REMEMBERED = 1 << 16
Columns = list[dict[str, list[str]]]
"""Of each sentence its columns that are filled in."""


class Marks:
    """Attributes of MISC that tagging adds, and labels that it leaves open.

    Attributes of the same name are replaced.

    confidence : whether ``Conf=0.9731`` is added to each token that is labeled; if several columns
        are filled, ``Conf[upos]=0.9731`` for each of them. A token whose label is kept stays as it
        is
    unknown : whether ``Unknown=Yes`` is added to tokens that were not in the training text, and
        taken from all others
    least : labels whose confidence is below are left open, as an underscore; None: none are

    Attributes
    ----------
    in_misc : whether anything is added to MISC
    reads_confidences : whether confidences are needed
    """

    def __init__(self, *, confidence: bool, unknown: bool, least: float | None) -> None:
        if least is not None:
            check_number("min_confidence", least, 0, 1)
        self._confidence = confidence
        self._unknown = unknown
        self._least = least
        self.in_misc = confidence or unknown
        self.reads_confidences = confidence or least is not None

    def check(self, corpus: pn.Corpus, chosen: Mapping[str, pn.Tagger], written: str) -> None:
        """Raise if the marks cannot be written into a text of this format, or not be known."""
        # Raises ModelError unless they are calibrated.
        for tagger in chosen.values() if self.reads_confidences else ():
            tagger.tag_sents([], confidences=True)
        if not self.in_misc:
            return
        option = "confidence" if self._confidence else "mark_unknown"
        if written != "conllu":
            how = "is" if written == corpus.format else "is written as"
            raise pn.ArgumentError(
                f"{option}: {corpus.path} {how} {written}, which has no place for it; it goes into"
                " MISC, which CoNLL-U has"
            )
        if corpus.format == "conllu" and MISC not in corpus.column_names:
            raise pn.ArgumentError(f"{option}: {corpus.path} has no column MISC to write it into")
        if MISC in chosen:
            raise pn.ArgumentError(f"{option}: it goes into MISC, which is filled with labels")

    def add(
        self,
        batch: Sequence[pn.Sentence],
        columns: Columns,
        chosen: Mapping[str, pn.Tagger],
        confidences: Mapping[str, Sequence[Sequence[float]]],
        kept: Mapping[str, Sequence[Sequence[str | None]]],
    ) -> None:
        """Write the marks into the columns of sentences, and leave labels open."""
        for name, rows in confidences.items() if self._least is not None else ():
            for filled, row in zip(columns, rows, strict=True):
                filled[name] = [
                    label if confidence >= (self._least or 0) else NOT_GIVEN
                    for label, confidence in zip(filled[name], row, strict=True)
                ]
        for name, rows in confidences.items() if self._confidence else ():
            key = CONFIDENCE if len(chosen) == 1 else f"{CONFIDENCE}[{name}]"
            for number, (sentence, filled, own) in enumerate(
                zip(batch, columns, rows, strict=True)
            ):
                misc = _misc_of(sentence, filled)
                for at, confidence in enumerate(own):
                    if name not in kept or kept[name][number][at] is None:
                        misc[at] = formats.with_misc(misc[at], key, f"{confidence:.4f}")
        if not self._unknown:
            return
        knows = lru_cache(_REMEMBERED)(next(iter(chosen.values())).model.knows)
        for sentence, filled in zip(batch, columns, strict=True):
            misc = _misc_of(sentence, filled)
            for at, word in enumerate(sentence.words):
                misc[at] = (
                    formats.without_misc(misc[at], UNKNOWN)
                    if knows(word)
                    else formats.with_misc(misc[at], UNKNOWN, "Yes")
                )


def _misc_of(sentence: pn.Sentence, filled: dict[str, list[str]]) -> list[str]:
    """Return the values of MISC that the sentence is filled with; at first its own."""
    if MISC not in filled:
        layout = sentence.layout
        if layout is not None and layout.format == "text":
            filled[MISC] = formats.space_after(sentence)
        else:
            filled[MISC] = list(sentence.column(MISC)) if sentence.words else []
    return filled[MISC]
