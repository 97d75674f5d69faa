"""Ctrl-C at a moment of our choosing."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


class Interrupts:
    """Whether somebody has pressed Ctrl-C since ``waiting`` began."""

    def __init__(self) -> None:
        self.pressed = False

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """Note the first Ctrl-C instead of raising; a second one raises KeyboardInterrupt.

        Only the main thread is asked, and only where Ctrl-C has Python's own meaning; elsewhere
        nothing changes.
        """
        if (
            threading.current_thread() is not threading.main_thread()
            or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        ):
            yield
            return
        signal.signal(signal.SIGINT, self._note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True
