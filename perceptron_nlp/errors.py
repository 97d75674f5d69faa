"""The exceptions of perceptron_nlp: each says what is wrong, where, and what to do.

Every class derives from :class:`PerceptronNLPError` and from the built-in class that a caller would
catch in its place.
"""

from __future__ import annotations

import sys

_QUOTE_LIMIT = 60
_LONG_INT = 256


def quote(piece: object) -> str:
    """A piece of someone's input, fit for a one-line message (at most ~60 characters)."""
    text = piece if isinstance(piece, str) else in_message(piece)
    shown = ascii(text) if not text.isprintable() or not encodable(text) else f"'{text}'"
    return shown if len(shown) <= _QUOTE_LIMIT else shown[: _QUOTE_LIMIT - 1] + "…"


def in_message(value: object) -> str:
    """A value as it stands in a message: a str in quotes, the length of a huge int."""
    if isinstance(value, int) and value.bit_length() > _LONG_INT:
        return f"an int of {value.bit_length():,} bits"
    try:
        return repr(value) if isinstance(value, str) else str(value)
    except ValueError:
        # It holds an int of thousands of digits.
        return type(value).__name__


def encodable(text: str) -> bool:
    """Can UTF-8 hold the text? It cannot hold halves of surrogate pairs."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


class PerceptronNLPError(Exception):
    """Base of every error that this library raises on purpose."""


class FormatError(PerceptronNLPError, ValueError):
    """Text that breaks the rules of its format.

    Parameters
    ----------
    message : what is wrong and what to do
    path : the file's name, or ``<stdin>``, or ``<text>``
    line : 1-based line number, or None where the whole file is meant
    """

    def __init__(self, message: str, path: str | None = None, line: int | None = None) -> None:
        self.message = message
        self.path = path
        self.line = line
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(place + message)

    def __reduce__(self) -> tuple[type, tuple[str, str | None, int | None]]:
        return type(self), (self.message, self.path, self.line)


class FileError(PerceptronNLPError, OSError):
    """A file that cannot be opened, read, written or replaced."""


def file_error(name: str, error: OSError | ValueError, done: str) -> FileError:
    """Return the error for what the system says of a file that cannot be opened, read, …"""
    if isinstance(error, ValueError):
        return FileError(f"{name!r}: cannot be the name of a file: {error}")
    if isinstance(error, FileNotFoundError) and done == "opened":
        return FileError(f"{name or repr(name)}: there is no such file")
    return FileError(f"{name}: cannot be {done}: {error.strerror or error}")


class ModelError(PerceptronNLPError, ValueError):
    """A model file that is damaged, foreign, or of a version not known here."""


class TemplateError(PerceptronNLPError, ValueError):
    """A feature template that does not follow the template language."""


class ArgumentError(PerceptronNLPError, ValueError):
    """An argument whose value cannot be used; the message names the argument."""


class ArgumentTypeError(PerceptronNLPError, TypeError):
    """An argument of a type that cannot be used; the message names the argument."""


class MissingExtraError(PerceptronNLPError, ImportError):
    """An optional package that is not installed; the message names the extra."""


def missing_extra(library: str, extra: str) -> MissingExtraError:
    """Return the error that names the extra to install for a library, as people call it."""
    return MissingExtraError(f'{library} is not installed: pip install "perceptron-nlp[{extra}]"')


class EngineError(PerceptronNLPError, RuntimeError):
    """An engine that cannot do its part: workers that die again and again, or of other versions."""


class MemoryLimitError(PerceptronNLPError, MemoryError):
    """Work that would need more memory than there is, or than the caller allowed."""


class NotFittedError(PerceptronNLPError, ValueError, AttributeError):
    """An estimator asked for what only its training can give it."""


def not_fitted(message: str) -> NotFittedError:
    """Return a NotFittedError, of scikit-learn's class of that name, too, if that is loaded."""
    theirs = getattr(sys.modules.get("sklearn.exceptions"), "NotFittedError", None)
    if theirs is None:
        return NotFittedError(message)
    own = {"__reduce__": lambda self: (not_fitted, (str(self),))}
    both: type[NotFittedError] = type("NotFittedError", (NotFittedError, theirs), own)
    return both(message)
