"""Text with counted lines: every error can say ``path:line``.

A line ends at a line feed and nowhere else: a carriage return before it belongs to the line break,
any other is data, as are U+0085, U+2028 and the rest. Lines keep their breaks, so that joining what
is read gives the file again, byte for byte.

The text is UTF-8. A byte order mark at its start is kept and taken off by the reader of the format.
An invalid byte, or a file that is plainly not text, is a FormatError with its line; a stray NUL or
other control character is data. With ``errors="replace"`` invalid bytes become U+FFFD (what is
written back then has U+FFFD too).

What is held at a time has limits, ``LONGEST`` and ``MOST_WORDS``: a line or a sentence that is
longer, with the comments and empty lines before it, is a FormatError with its line. So memory does
not follow what a small compressed file unpacks to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from perceptron_nlp._checks import check_choice
from perceptron_nlp._core.conllu.conlluscan import count_newlines
from perceptron_nlp.errors import FileError, FormatError
from perceptron_nlp.formats.opening import Readable, name_of, no_text, open_bytes

LONGEST = 1 << 24
"""Bytes of a line, and of a sentence with what stands between it and the sentence before."""
MOST_WORDS = 1 << 19
"""Words of a sentence, and its lines; a word takes some 250 bytes while it is tagged."""
SILENCE = 0.5
"""Seconds for which a pipe gives nothing before what it gave is taken for all there is for now."""
TEXT_END = b"\f"
"""What stands between texts of their own: white space that ends a paragraph, and no line break."""
_CHUNK = 1 << 16
_HEAD = 1 << 16
_WHOLE = 1 << 20
_BLANK_LINE, _BLANK_LINES = rb"\n\r?\n", rb"(?:\r?\n)+"
T = TypeVar("T")
A = TypeVar("A")
R = TypeVar("R", int, bytes)
Scanned = tuple[list[T], int, int, bool]


class LineSource:
    """A text being read once, from its start, line by line or block by block.

    It takes a path, ``-`` for standard input, or a binary stream; ``errors`` are ``strict`` or
    ``replace``, for bytes that are not UTF-8. Messages call it ``name``. Its file is closed as soon
    as reading has ended, also by an error, which reading on repeats.
    """

    def __init__(self, path: Readable, *, errors: str = "strict") -> None:
        check_choice("errors", errors, ["strict", "replace"])
        self.name = name_of(path)
        self._errors = errors
        self._bytes = open_bytes(path)
        self._buffer = bytearray()
        self._ended = False
        self._failure: FileError | FormatError | None = None
        self._line = 1
        self._checked_binary = False
        self._before_waiting: Callable[[], object] | None = None
        self._by_line = False
        self._may_end = False

    def head(self, enough: Callable[[str], bool] = lambda text: False, silence: float = 0) -> str:
        """Return the whole lines within the first 64 KiB, without using them up.

        A text of fewer bytes is given whole; a longer first line is cut. What is not UTF-8 is
        replaced here: reading will report it with its line. ``enough`` tells whether what was read
        so far will do: more is then read only as long as a pipe gives it within `silence`.
        """
        while len(self._buffer) < _HEAD:
            is_enough = enough(self._buffer.decode("utf-8", "replace"))
            if is_enough and (not silence or self.is_waiting(silence)):
                break
            if not self._fill():
                break
        piece = bytes(self._buffer[:_HEAD])
        if len(self._buffer) > _HEAD or not self._ended:
            piece = piece[: piece.rfind(b"\n") + 1] or piece
        return piece.decode("utf-8", "replace")

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield every line with its number (from 1) and its break; the last may have none."""
        return self._cut("line", lambda start: self._buffer.find(b"\n", start) + 1)

    def blocks(self) -> Iterator[tuple[int, str]]:
        """Yield every run of lines to its empty line, with the number of its first line.

        Empty lines that follow an empty line, or begin the text, are a block of their own. The last
        block may lack the empty line, and the break of its last line.
        """

        one, several = re.compile(_BLANK_LINE), re.compile(_BLANK_LINES)

        def end(start: int) -> int:
            match = several.match(self._buffer) or one.search(self._buffer, start)
            return 0 if match is None else match.end()

        return self._cut("sentence", end)

    def _cut(self, what: str, end_from: Callable[[int], int]) -> Iterator[tuple[int, str]]:
        """Yield the text in pieces; `end_from` finds the end of the first, 0 if it is not there."""
        self.refuse_bare_returns()
        start = 0
        while True:
            end = end_from(start)
            if end:
                yield self._take(end, what)
                start = 0
                continue
            if len(self._buffer) > LONGEST:
                raise self._fail(too_long(what, self.name, self._line))
            # A blank line may begin in the last two bytes: LF, CR | LF.
            start = max(0, len(self._buffer) - 2)
            if not self._fill():
                break
        if self._buffer:
            yield self._take(len(self._buffer), what)

    def refuse_bare_returns(self) -> None:
        """Raise FormatError for a text whose lines end in carriage returns alone.

        Such a text would be a single line. One line feed in the first 64 KiB, or in all of a
        shorter text, makes carriage returns data.
        """
        start = 0
        while self._line == 1 and self._buffer.find(b"\n", start) < 0:
            start = len(self._buffer)
            if start < _HEAD and self._fill():
                continue
            if 0 <= self._buffer.find(b"\r") < start - 1:
                what = (
                    "its lines end in carriage returns alone; convert them to line feeds"
                    " (tr '\\r' '\\n' < OLD > NEW)"
                )
                raise self._fail(FormatError(what, self.name, 1))
            return

    def answer(self, before_waiting: Callable[[], object]) -> None:
        """Have a function called before the text is waited for, and running text end meanwhile.

        Running text is then given up to its last line break, or a line of it as far as it is there,
        and if nothing follows a line break for `SILENCE` seconds, a `TEXT_END`.
        """
        self._before_waiting = before_waiting

    def end_at_lines(self) -> None:
        """Give running text by whole lines, with a `TEXT_END` behind each."""
        self._by_line = True

    def pieces(self) -> Iterator[str]:
        """Yield the text in pieces as they are read, cut anywhere between characters."""
        end = TEXT_END.decode()
        while length := self._text_length(_CHUNK):
            text = end if length < 0 else self._take(length)[1]
            yield text.replace("\n", "\n" + end) if self._by_line else text

    def _text_length(self, least: int) -> int:
        """Return the length of the running text that comes next; 0 at the end, -1 for a pause."""
        while not (length := self._whole_length()):
            if self._is_paused():
                return -1
            if not self._fill(least):
                length = len(self._buffer)
                break
        self._may_end = self._buffer.endswith(b"\n", 0, length)
        return length

    def _is_paused(self) -> bool:
        """Return True, once, if nothing follows a line break for some time."""
        if self._before_waiting is None or not self._may_end or not self.is_waiting():
            return False
        self._before_waiting()
        self._may_end = not self.is_waiting(SILENCE)
        return not self._may_end

    def is_over(self) -> bool:
        """Return True if the end was reached, and all that is before it is taken."""
        return self._ended and not self._buffer

    def is_waiting(self, seconds: float = 0) -> bool:
        """Return True if nothing more can be read within this time, and the end is not reached."""
        return not self._ended and self._bytes.waits(seconds)

    def _whole_length(self) -> int:
        """Return the number of bytes without a character that is not all there yet.

        Nor a line, where texts end with lines, unless it is very long; nor one behind a line break
        that may prove to be the end for now.
        """
        length = len(self._buffer)
        if self._by_line or (self._before_waiting is not None and self.is_waiting()):
            end = self._buffer.rfind(b"\n") + 1
            if end or (length < _WHOLE and (self._by_line or self._may_end)):
                return end
        for behind in range(1, min(3, length) + 1):
            byte = self._buffer[length - behind]
            if byte >= 0xC0:
                wanted = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
                return length - behind if wanted > behind else length
            if byte < 0x80:
                break
        return length

    def scan(self, scanner: Callable[[bytearray, int], Scanned[T]]) -> list[T]:
        """Return what ``scanner`` makes of the text that comes next, which is used up.

        It gets the text as far as it was read, and the number of its first line; it gives what it
        took, of how many bytes and lines, and whether it stopped for want of text. More is read
        only if it took nothing for that reason, and till an empty line is there. If it still
        takes nothing, nothing is used up.
        """
        while True:
            taken, length, lines, wanting = scanner(self._buffer, self._line)
            del self._buffer[:length]
            self._line += lines
            if taken or not wanting or len(self._buffer) > _WHOLE:
                return taken
            if not self._read_to_empty_line():
                return taken

    def peek_text(self) -> bytearray | None:
        """Return everything to the end, without using it up; None if reading it fails.

        Reading on then raises the error in its place. What is given is the source's own; it changes
        when the source is read.
        """
        block = 0
        try:
            while self._fill(_WHOLE):
                block = max(block, self._buffer.rfind(b"\n\n", block))
                if len(self._buffer) - block > LONGEST:
                    return None
        except (FileError, FormatError):
            return None
        return self._buffer

    def take_text(self, least: int) -> bytes:
        """Take the running text that comes next, unread; empty at its end."""
        length = self._text_length(least)
        if length < 0:
            return TEXT_END
        piece = bytes(self._buffer[:length])
        del self._buffer[:length]
        self._line += count_newlines(piece)
        return piece.replace(b"\n", b"\n" + TEXT_END) if self._by_line else piece

    def take_blocks(self, least: int, most: int = LONGEST) -> bytes:
        """Take all whole blocks, as bytes that nothing has looked at; empty if there are none.

        If it must read for them, it reads ``least`` bytes at a time, or what there is. It looks
        no further than ``most`` bytes, or a little more, for the end of the first one.
        """
        while True:
            end = self._buffer.rfind(b"\n\n") + 2
            if end > 1:
                with memoryview(self._buffer) as whole:
                    piece = bytes(whole[:end])
                del self._buffer[:end]
                self._line += count_newlines(piece)
                return piece
            if len(self._buffer) >= most or not self._fill(least):
                return b""

    def take_blocks_into(self, memory: bytearray) -> int:
        """Take them into memory that can be used again; return how many bytes."""
        held = len(self._buffer)
        # Blocks that are there are not kept waiting for more to be read.
        if (
            self._checked_binary
            and not self._ended
            and 2 * held <= len(memory)
            and self._buffer.find(b"\n\n") < 0
        ):
            with memoryview(memory) as whole:
                whole[:held] = self._buffer
                filled = held + (self._read(self._bytes.readinto, whole[held:]) or 0)
                end = memory.rfind(b"\n\n", 0, filled) + 2
                if end > 1:
                    self._buffer[:] = whole[end:filled]
                    self._line += count_newlines(whole[:end])
                    return end
                self._buffer += whole[held:filled]
        piece = self.take_blocks(len(memory))
        memory[: len(piece)] = piece
        return len(piece)

    def put_back(self, piece: bytes | memoryview) -> None:
        """Make what ``take_blocks`` took last the next to be read."""
        self._buffer[:0] = piece
        self._line -= count_newlines(piece)

    def close(self) -> None:
        """Close the file, if this library opened it."""
        self._bytes.close()

    def __enter__(self) -> LineSource:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _fill(self, least: int = _CHUNK) -> bool:
        """Read on; False at the end. Reads grow with the buffer, up to a mebibyte."""
        piece = self._read(self._bytes.read, max(least, min(len(self._buffer), _WHOLE)))
        if not piece:
            return False
        self._buffer += piece
        if not self._checked_binary:
            self._checked_binary = True
            self._refuse_binary()
        return True

    def _read(self, read: Callable[[A], R], argument: A) -> R | None:
        """Call a method that reads; None at the end."""
        if self._failure is not None:
            raise self._failure
        if self._ended:
            return None
        if self._before_waiting is not None and self.is_waiting():
            self._before_waiting()
        try:
            found = read(argument)
        except (FileError, FormatError) as error:
            self._fail(error)
            raise
        if not found:
            self._ended = True
            self.close()
        return found

    def _fail(self, error: FileError | FormatError) -> FileError | FormatError:
        self._failure = error
        self.close()
        return error

    def _read_to_empty_line(self) -> bool:
        """Read on until two line feeds follow each other; False if a carriage return may do.

        False, too, if that is more than a sentence may have.
        """
        while True:
            start = max(0, len(self._buffer) - 1)
            if not self._fill() or self._buffer.find(b"\r", start) >= 0:
                return False
            if self._buffer.find(b"\n\n", start) >= 0:
                return True
            if len(self._buffer) > LONGEST:
                return False

    def _take(self, length: int, what: str = "piece") -> tuple[int, str]:
        if length > LONGEST:
            raise self._fail(too_long(what, self.name, self._line))
        piece = self._buffer[:length]
        del self._buffer[:length]
        first = self._line
        breaks = piece.count(b"\n")
        if breaks > MOST_WORDS and what == "sentence" and not piece.isspace():
            raise self._fail(too_long(what, self.name, first))
        self._line += breaks
        try:
            text = piece.decode("utf-8", self._errors)
        except UnicodeDecodeError as error:
            line = first + piece.count(b"\n", 0, error.start)
            raise self._fail(
                FormatError(
                    f"byte 0x{piece[error.start]:02x} is not valid UTF-8; "
                    "convert the file to UTF-8, as with iconv -f LATIN1 -t UTF-8",
                    self.name,
                    line,
                )
            ) from error
        return first, text

    def _refuse_binary(self) -> None:
        head = bytes(self._buffer[:4096])
        found = no_text(head)
        if found is not None:
            at, what = found
            raise self._fail(
                FormatError(f"this is {what}", self.name, 1 + head.count(b"\n", 0, at))
            )


def too_long(what: str, path: str, line: int) -> FormatError:
    """Return the error for a ``line`` or ``sentence`` beyond `LONGEST` or `MOST_WORDS`."""
    most = f"{LONGEST >> 20} MiB"
    if what == "sentence":
        most += f" or {MOST_WORDS:,} words, with the comments and empty lines before it"
    return FormatError(f"a {what} of more than {most}; break it up", path, line)
