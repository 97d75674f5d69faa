"""Output for people: the width of the terminal, color, and messages.

Standard output and standard error are asked separately. ``NO_COLOR`` turns color off,
``FORCE_COLOR`` on, ``TERM=dumb`` off; ``COLUMNS`` gives a terminal's width. If the stream is no
terminal, nothing is cut.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from perceptron_nlp._display import printable, shortened

if TYPE_CHECKING:
    from perceptron_nlp.pages.serving import PageServer

DEFAULT_WIDTH = 80
NARROWEST = 20
UNLIMITED = 1 << 30
_CLEAR = "\r\x1b[2K"
BOLD, FAINT, GREEN, CYAN = "1", "2", "32", "36"


class Terminal:
    """A stream of text for a person.

    bounded : whether lines are cut to a width, which only terminals have
    live : whether lines can be drawn over
    color : whether colors are wanted
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.bounded = stream is not None and stream.isatty()
        self.live = self.bounded and os.environ.get("TERM") != "dumb"
        if os.environ.get("NO_COLOR"):
            self.color = False
        elif os.environ.get("FORCE_COLOR"):
            self.color = True
        else:
            self.color = self.live

    @property
    def width(self) -> int:
        """Columns of text in a line, at least 20; asked each time, as windows change.

        Streams other than terminals have room for every line.
        """
        if not self.bounded:
            return UNLIMITED
        given = os.environ.get("COLUMNS", "")
        if given.isdecimal() and int(given) > 0:
            return max(NARROWEST, int(given))
        try:
            found = os.get_terminal_size(self._stream.fileno()).columns if self._stream else 0
        except (OSError, ValueError):
            found = 0
        return max(NARROWEST, found or DEFAULT_WIDTH)

    @property
    def unicode(self) -> bool:
        """True if characters beyond ASCII can be shown."""
        encoding = getattr(self._stream, "encoding", None) or "ascii"
        return str(encoding).lower().replace("-", "").startswith("utf")

    def line(self, text: str, style: str = "") -> str:
        """Return the text as one line: printable, cut to the width, in a style (an SGR code)."""
        shown = shortened(printable(text), self.width)
        return self.paint(shown, style) if style else shown

    def paint(self, text: str, style: str) -> str:
        """Return the text in a style (an SGR code) if color is wanted."""
        return f"\x1b[{style}m{text}\x1b[0m" if self.color and text else text


def output() -> Terminal:
    """Return standard output."""
    return Terminal(sys.stdout)


def messages() -> Terminal:
    """Return standard error."""
    return Terminal(sys.stderr)


def say(text: str) -> None:
    """Write a line to standard error, made safe for printing, if anyone still reads it."""
    write_message(printable(text) + "\n")


def write_message(text: str) -> None:
    """Write to standard error as it is; a reader that went away stops no work."""
    if sys.stderr is None:
        return
    if _drawn:
        _drawn.clear()
        text = _CLEAR + text
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        silence(sys.stderr)


def silence(stream: TextIO | None) -> None:
    """Discard what is still to be written to a broken stream, at the exit as well."""
    try:
        if stream is not None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
    except (OSError, ValueError):
        return


# Seconds after which work says how far it is where no line can be drawn over, and again.
_FIRST_WORD, _BETWEEN_WORDS = 10, 60


class Progress:
    """A callback (done, total) that shows how far work is, and the time left.

    On a terminal the line is drawn over; elsewhere work of more than ten seconds writes one
    each minute.

    Parameters
    ----------
    what : done so many times: ``fold``, ``file``
    unit, scale : of the numbers shown, such as `` MB`` and 1,000,000
    quiet : show nothing
    clock : seconds since any moment
    """

    def __init__(
        self,
        what: str,
        unit: str = "",
        scale: int = 1,
        *,
        quiet: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._terminal = messages()
        self._what = what
        self._unit = unit
        self._scale = scale
        self.is_quiet = quiet
        self.is_live = self._terminal.live and not quiet
        self._clock = clock
        self._start = clock()
        self._next_word = self._start + _FIRST_WORD

    def __call__(self, done: int, total: int) -> None:
        """Draw the line over, or write it if it is time."""
        if self.is_quiet:
            return
        now = self._clock()
        if not self.is_live and now < self._next_word:
            return
        line = f"{self._what} {done // self._scale:,} of {total // self._scale:,}{self._unit}"
        if 0 < done < total:
            line += f", {duration((now - self._start) / done * (total - done))} left"
        if self.is_live:
            draw_over(self._terminal.paint(shortened(line, self._terminal.width - 1), FAINT))
        else:
            self._next_word = now + _BETWEEN_WORDS
            say(line)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        """Erase the line."""
        erase_drawn()


# The line that is to be drawn over, if there is one.
_drawn: list[str] = []


def draw_over(line: str) -> None:
    """Write a line to standard error over which the next one, or the next message, is written."""
    write_message(line)
    _drawn.append(line)


def erase_drawn() -> None:
    """Erase the line that is to be drawn over, if there is one."""
    if _drawn:
        write_message("")


def duration(seconds: float) -> str:
    """Return a time span for people: ``8 s``, ``3 min 20 s``, ``2 h 5 min``."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def escape_what_does_not_fit(stream: TextIO | None) -> None:
    """Let a stream write characters that it cannot encode as escapes, as standard error does."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


def serve_until_interrupted(server: PageServer) -> None:
    """Print the address of a page, and answer it until Ctrl-C, which is how it is meant to end."""
    print(server.url, flush=True)
    say("open this page in a browser; Ctrl-C ends it")
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()
