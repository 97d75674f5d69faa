"""Checks of arguments: a value of another type or out of its range raises, and is named."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from perceptron_nlp._version import __version__
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, EngineError, in_message, quote
from perceptron_nlp.text.sentence import Sentence

_UNITS = {
    "": 1,
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
}
_BY_LETTERS = {unit.lower(): factor for unit, factor in _UNITS.items()}
_SIZE = r"(\d{1,18}(?:\.\d{1,9})?)\s*([A-Za-z]*)"

MAX_THREADS = 1024


def check_int(name: str, value: object, low: int, high: int) -> None:
    """Raise unless the value is an int from low to high."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise _of_type(name, "an int", value)
    if not low <= value <= high:
        raise ArgumentError(f"{name}: {in_message(value)} is not between {low:,} and {high:,}")


def check_threads(threads: object) -> None:
    """Raise unless it is a possible number of threads."""
    check_int("threads", threads, 1, MAX_THREADS)


def check_number(name: str, value: object, low: float, high: float, *, above: bool = False) -> None:
    """Raise unless the value is a number from low (with `above`, from above it) to high."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise _of_type(name, "a number", value)
    if above and not low < value <= high:
        raise ArgumentError(
            f"{name}: {in_message(value)} is not above {low:g} and at most {high:g}"
        )
    if not low <= value <= high:
        raise ArgumentError(f"{name}: {in_message(value)} is not between {low:,g} and {high:,.0f}")


def check_flag(name: str, value: object) -> None:
    """Raise unless the value is True or False."""
    if not isinstance(value, bool):
        raise _of_type(name, "a bool", value)


def check_callback(callback: object) -> None:
    """Raise unless it is None or can be called."""
    if callback is not None and not callable(callback):
        raise _of_type("callback", "a function", callback)


def check_path(name: str, value: object) -> None:
    """Raise unless the value is a str, or a path that is one."""
    if not isinstance(value, str | os.PathLike) or not isinstance(os.fspath(value), str):
        raise _of_type(name, "a str or path", value)


def check_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Raise unless the value is one of the choices; the message gives the nearest."""
    known = list(choices)
    if not isinstance(value, str):
        raise _of_type(name, "a str", value)
    if value not in known:
        hint = did_you_mean(value, known)
        raise ArgumentError(f"{name}: {quote(value)} is not one of {', '.join(known)}{hint}")


def check_choices(name: str, values: Sequence[object], choices: Sequence[str]) -> None:
    """Raise unless there are values, and each is one of the choices."""
    for value in values:
        check_choice(name, value, choices)
    if not values:
        raise ArgumentError(f"{name}: none is named; there are {', '.join(choices)}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``; did you mean …?`` with the known name most like this one, or nothing."""
    # Here, since a program in which nothing goes wrong does without.
    import difflib

    by_letters = {one.lstrip("-"): one for one in known}
    close = difflib.get_close_matches(name.lstrip("-"), by_letters, 1)
    return f"; did you mean {by_letters[close[0]]}?" if close else ""


def check_options(given: Iterable[str], known: Iterable[str]) -> None:
    """Raise unless each option is known; the message gives the nearest, or else all."""
    names = list(known)
    unknown = sorted({*given} - {*names})
    if unknown:
        hint = did_you_mean(unknown[0], names) or f"; there are {', '.join(names)}"
        raise ArgumentTypeError(f"{unknown[0]}: there is no such option{hint}")


def sentences_only(sentences: object) -> Iterator[Sentence]:
    """Yield the sentences; raise if they are none."""
    if not isinstance(sentences, Iterable):
        raise _of_type("sentences", "an iterable of Sentence objects", sentences)
    for number, sentence in enumerate(sentences):
        if not isinstance(sentence, Sentence):
            raise _of_type(f"sentences[{number}]", "a Sentence", sentence)
        yield sentence


def encodable_text(text: object, name: str = "text") -> str:
    """Return the text; raise unless it is a str that UTF-8 can hold."""
    if not isinstance(text, str):
        raise _of_type(name, "a str", text)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ArgumentError(
            f"{name}: character {error.start:,} is half of a surrogate pair, which is no character;"
            " replace it first"
        ) from None
    return text


def check_tokens(tokens: object) -> None:
    """Raise unless the tokens are an iterable that is not text."""
    if isinstance(tokens, str | bytes) or not isinstance(tokens, Iterable):
        raise _of_type("tokens", "a list of words", tokens)


def token_list(tokens: Sequence[str]) -> Sequence[str]:
    """Return the tokens of a sentence as a sequence."""
    check_tokens(tokens)
    return tokens if isinstance(tokens, Sentence) else list(tokens)


def sentence_list(sentences: Iterable[Sequence[str]]) -> list[Sequence[str]]:
    """Return sentences as a list."""
    if isinstance(sentences, str | bytes) or not isinstance(sentences, Iterable):
        raise _of_type("sentences", "a list of sentences", sentences)
    return list(sentences)


def parse_size(size: int | str, name: str = "size") -> int:
    """Return the bytes of a number, or of text such as ``400kB``, ``1.1MB`` or ``2 MiB``.

    Raises ArgumentTypeError unless it is an int or a str; ArgumentError for no size, or one below
    1.
    """
    if isinstance(size, bool) or not isinstance(size, int | str):
        raise _of_type(name, "an int or a str", size)
    if isinstance(size, int):
        n_bytes = size
    else:
        match = re.fullmatch(_SIZE, size.strip(), re.ASCII)
        factor = None if match is None else _BY_LETTERS.get(match[2].lower())
        if match is None or factor is None:
            raise ArgumentError(
                f"{name}: {quote(size)} is not a size such as 400kB or 1.1MB;"
                f" units are {', '.join(filter(None, _UNITS))}"
            )
        n_bytes = int(float(match[1]) * factor)
    if n_bytes < 1:
        raise ArgumentError(f"{name}: {quote(size)} is less than one byte")
    return n_bytes


def _of_type(name: str, needed: str, value: object) -> ArgumentTypeError:
    return ArgumentTypeError(f"{name}: {needed} is needed, not {type(value).__name__}")


def check_version(version: str) -> None:
    """Raise EngineError unless this library is of the version that a job was begun with."""
    if version != __version__:
        # Here, since only workers of an engine need it.
        import socket

        raise EngineError(
            f"engine: {socket.gethostname()} has version {__version__} of perceptron-nlp, and the"
            f" job was begun with {version}; install the same version everywhere"
        )


def check_text(text: object) -> None:
    """Raise ArgumentTypeError unless it is a str."""
    if not isinstance(text, str):
        hint = "; decode it first" if isinstance(text, bytes | bytearray) else ""
        raise ArgumentTypeError(f"text: a str is needed, not {type(text).__name__}{hint}")
