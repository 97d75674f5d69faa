"""Standard input read as it comes, so that what is done is written before more is waited for."""

from __future__ import annotations

import select
import sys
from collections.abc import Callable
from typing import BinaryIO, cast


class WatchedInput:
    """Standard input that tells when reading is about to wait for more.

    Parameters
    ----------
    before_waiting : called then; what was read so far can be written
    """

    name = "<stdin>"

    def __init__(self, before_waiting: Callable[[], object]) -> None:
        self._before_waiting = before_waiting
        self._stream = cast(BinaryIO, sys.stdin.buffer)

    def read(self, size: int) -> bytes:
        """What there is, at most `size` bytes; none at the end."""
        if not self._is_ready():
            self._before_waiting()
        read_some: Callable[[int], bytes] = getattr(self._stream, "read1", self._stream.read)
        return read_some(size)

    def _is_ready(self) -> bool:
        try:
            return bool(select.select([self._stream], [], [], 0)[0])
        except (OSError, ValueError):
            # No descriptor, or a system where only sockets can be asked.
            return True
