"""Running text cut into sentences of tokens, by rules, piece by piece.

A sentence ends behind a full stop, question mark or exclamation mark and the closing quotes and
brackets attached to it, and at an empty line. A full stop that belongs to an abbreviation, and dots
that leave something out, end it only before what looks like a beginning. A single line break is
white space within a sentence, but a line that is shorter than lines that are wrapped, such as a
heading or an item of a list, is a sentence of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from perceptron_nlp.text.atoms import (
    EMPTY_LINE,
    LINE_BREAK,
    LineCount,
    is_glued,
    with_gaps_shortened,
)
from perceptron_nlp.text.tokenizer import (
    CHUNK,
    FULL_STOPS,
    LOOKS_AHEAD,
    STARTERS,
    TITLES,
    Span,
    chunk_tokens,
    entries,
)

# No sentence has more tokens: a text without full stops is cut, so that what is held stays small.
LONGEST_SENTENCE = 5_000
# The same for the characters of its tokens: a text without white space is one chunk after another.
MOST_CHARACTERS = 1 << 20
# A line of fewer characters, white space left out, is not broken off to fit a width.
SHORTEST_WRAPPED = 32
_CLOSING = entries("""' " '' `` ’ ’’ ” » › 」 』 ) ] } * ** )) ]] > >>""")
_BRACKETS = entries(") ] } )) ]] ” ’’ ''")
_OPENING = entries("""' " `` ‘‘ ‘’ “ ‘ « ‹ ( [ { * ** *** - -- – — • # < << ¿ ¡""")
_SMILE = re.compile(r"[<>]?[:;=][-o^']?[)(\]\[|\\@*$DPpO3/]+|<3+|\^[_.]?\^|\(:|[xX]D")
_GAP = re.compile(r"\s+")
_EMPTY_LINE, _LINE_BREAK = re.compile(EMPTY_LINE), re.compile(LINE_BREAK)
# How a sentence stands after a token: going on, going on after an abbreviation, perhaps over, over.
_OPEN, _SHORT, _PERHAPS, _OVER = range(4)


def sentences_of(text: str) -> Iterator[list[Span]]:
    """Yield the sentences of a text: where the tokens of each begin and end."""
    splitter = Splitter()
    for match in CHUNK.finditer(text):
        yield from splitter.take(text, *match.span())
    yield from splitter.rest()


def sentences_in(pieces: Iterable[str]) -> Iterator[tuple[int, str, list[Span], bool]]:
    """Yield the sentences of a text in pieces, each as soon as it is known to be over.

    They are those of ``sentences_of`` for all pieces in one: of each the line that it begins on,
    from 1, its text, from its first token to its last, where its tokens begin and end in that
    text, and whether the next one stands right behind it. No more than a sentence and a piece are
    held at a time.
    """
    splitter, lines = Splitter(), LineCount()
    text = ""
    for piece in pieces:
        text = with_gaps_shortened(text, piece, lines)
        seen = 0
        for match in CHUNK.finditer(text, splitter.end):
            start, end = match.span()
            behind = text[end : end + LOOKS_AHEAD]
            at_break = behind.lstrip(" \t")[:1] in ("\n", "\r", "\f")
            if len(behind) < LOOKS_AHEAD and "\n" not in behind and "\r" not in behind:
                # What follows may belong to the chunk, or say what it is.
                break
            for spans in splitter.take(text, start, end):
                yield _cut_out(text, spans, lines)
            if at_break:
                gap = _GAP.match(text, end)
                at_end = gap is not None and _EMPTY_LINE.search(gap.group())
                for spans in splitter.rest() if at_end else splitter.end_line():
                    yield _cut_out(text, spans, lines)
            seen = end
        gone = splitter.forget(max(seen, splitter.end))
        lines.forget(text, gone)
        text = text[gone:]
    for match in CHUNK.finditer(text, splitter.end):
        for spans in splitter.take(text, *match.span()):
            yield _cut_out(text, spans, lines)
    for spans in splitter.rest():
        yield _cut_out(text, spans, lines)


def _cut_out(text: str, spans: list[Span], lines: LineCount) -> tuple[int, str, list[Span], bool]:
    first, last = spans[0][0], spans[-1][1]
    moved = [(start - first, end - first) for start, end in spans]
    return lines.of(text, first), text[first:last], moved, is_glued(text, last)


class Splitter:
    """The tokens of chunks put together to sentences."""

    def __init__(self) -> None:
        self._tokens: list[Span] = []
        self._characters = 0
        self._state = _OPEN
        self._quoted = False
        # Was the last token an abbreviation, a number?
        self._abbreviated = False
        self._number = False
        self._line_length = 0
        self.end = 0

    def take(self, text: str, start: int, end: int) -> Iterator[list[Span]]:
        """Yield the sentences that are over once the next chunk of the text is there."""
        gap = text[self.end : start]
        if gap != " " and gap:
            broken = _LINE_BREAK.search(gap) is not None
            if self._tokens and (_EMPTY_LINE.search(gap) or (broken and self._may_end_at_line())):
                yield from self.rest()
            if broken:
                self._line_length = 0
        self._line_length += end - start
        for span in chunk_tokens(text, start, end):
            form = text[span[0] : span[1]]
            attached = span[0] == self.end
            if self._tokens and (
                len(self._tokens) >= LONGEST_SENTENCE
                or self._characters >= MOST_CHARACTERS
                or (self._state and self._starts(form, attached))
            ):
                yield from self.rest()
            self._tokens.append(span)
            self._characters += len(form)
            self._judge(form, attached)
            self.end = span[1]

    def rest(self) -> Iterator[list[Span]]:
        """Yield the sentence that is not over yet, if there is one."""
        if self._tokens:
            if self._abbreviated:
                # At the end of a sentence the full stop is that of the sentence.
                start, end = self._tokens[-1]
                self._tokens[-1:] = [(start, end - 1), (end - 1, end)]
            yield self._tokens
        self._tokens, self._characters = [], 0
        self._state, self._quoted = _OPEN, False
        self._abbreviated = self._number = False

    def end_line(self) -> Iterator[list[Span]]:
        """Yield the sentence that is over because a line break follows the last chunk, if it is."""
        if self._may_end_at_line():
            yield from self.rest()
            self._line_length = 0

    def forget(self, seen: int) -> int:
        """Return how many characters need not be kept once the first `seen` were taken."""
        gone = self._tokens[0][0] if self._tokens else seen
        self._tokens = [(start - gone, end - gone) for start, end in self._tokens]
        self.end = max(0, self.end - gone)
        return gone

    def _may_end_at_line(self) -> bool:
        return self._state == _OVER or self._line_length < SHORTEST_WRAPPED

    def _starts(self, form: str, attached: bool) -> bool:
        """Return True if a token begins a sentence, if the one before it may be over."""
        if (attached and form in _CLOSING) or form in _BRACKETS:
            return False
        if _SMILE.fullmatch(form) or not form.strip(".?!…"):
            return False
        first = form[0]
        if self._state == _OVER and not self._quoted:
            return not (first in ",;:)" or (attached and form in "-–—/"))
        if self._state == _SHORT:
            return form in STARTERS
        return first.isupper() or first.isdigit() or form in _OPENING or first.istitle()

    def _judge(self, form: str, attached: bool) -> None:
        """Take in what the last token says about the sentence being over."""
        self._abbreviated = False
        if self._state and (form in _BRACKETS or (attached and form in _CLOSING)):
            self._quoted = self._quoted or form not in ")]}"
        elif form == "." and len(self._tokens) == 2 and self._number:
            # The number of an item of a list.
            self._state = _OPEN
        elif not form.strip("…."):
            self._state = _OVER if len(form) == 1 and form != "…" else _PERHAPS
        elif form[0] in FULL_STOPS and all(letter in FULL_STOPS for letter in form):
            self._state = _OVER
        elif form[-1] == "." and len(form) > 1:
            known = form[:-1].lower()
            self._abbreviated = known not in TITLES and len(known) > 1
            self._state = _SHORT if self._abbreviated else _OPEN
        elif _SMILE.fullmatch(form):
            self._state = self._state or _PERHAPS
        else:
            self._state, self._quoted = _OPEN, False
        self._number = form.isdigit()
