"""The program ``perceptron-nlp``, also as ``python -m perceptron_nlp``.

Whatever fails before the command line is read, Ctrl-C too, is answered here with one line, so
everything that takes time is imported within `main`.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> int:
    """Run the command line of this process and return the exit status."""
    try:
        import signal

        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            # Modules that are interrupted while they are imported fail in ways of their own.
            signal.signal(signal.SIGINT, _stop)
        try:
            from perceptron_nlp.cli.main import main as run
        except (SystemError, ValueError) as error:
            # Of Python's compiler, where memory ends while it compiles a module.
            raise MemoryError from error

        return run()
    except KeyboardInterrupt:
        _stop()
    except (ImportError, MemoryError, OSError) as error:
        # Nothing more can be imported, perhaps.
        _write(f"cannot start: {str(error) or 'there is not enough memory'}")
        return 2


def _stop(*_: object) -> NoReturn:
    _write("interrupted")
    os._exit(130)


def _write(message: str) -> None:
    line = f"perceptron-nlp: {' '.join(message.split())}\n"
    try:
        os.write(2, line.encode(errors="backslashreplace"))
    except OSError:
        return


if __name__ == "__main__":
    sys.exit(main())
