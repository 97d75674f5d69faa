"""Regular expressions of the package: none takes quadratic time in the way in which it is used."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest

import perceptron_nlp as pn

LENGTH = 40_000
REPEATED = (" ", "\t", "-", "=", "_", "/", ".", ":", "a", "A", "0", "\r", "\n", "a.", "-a", ". ")
BEGINNINGS = ("", "\n", "# sent_id = ", "# note = ", "# annotation = order=1|corrections=0")
USES = ("search", "match", "fullmatch", "sub", "split", "finditer", "findall")


def uses() -> Iterator[tuple[str, re.Pattern[str] | re.Pattern[bytes], str]]:
    """Yield the name of each pattern that a module has, the pattern, and how the module uses it."""
    for info in pkgutil.walk_packages(pn.__path__, "perceptron_nlp."):
        spec = importlib.util.find_spec(info.name)
        if spec is None or not (spec.origin or "").endswith(".py"):
            continue
        text = Path(spec.origin or "").read_text("utf-8")
        for name in re.findall(r"^(\w+)(?:: [^=\n]+)? = re\.compile\(", text, re.MULTILINE):
            try:
                module = importlib.import_module(info.name)
            except pn.MissingExtraError:
                continue
            for use in USES:
                if re.search(rf"\b{name}\.{use}\b", text):
                    yield f"{info.name}.{name}.{use}", getattr(module, name), use


FOUND = [pytest.param(pattern, use, id=name) for name, pattern, use in uses()]


def test_patterns_are_found() -> None:
    assert len(FOUND) > 40


@pytest.mark.parametrize(("pattern", "use"), FOUND)
def test_no_pattern_takes_quadratic_time(
    pattern: re.Pattern[str] | re.Pattern[bytes], use: str
) -> None:
    begin = time.process_time()
    for beginning in BEGINNINGS:
        for piece in REPEATED:
            text = beginning + piece * (LENGTH // len(piece)) + "\x00"
            subject = text.encode() if isinstance(pattern.pattern, bytes) else text
            empty: str | bytes = b"" if subject is not text else ""
            arguments = (empty, subject) if use == "sub" else (subject,)
            found = getattr(pattern, use)(*arguments)
            if use == "finditer":
                deque(found, maxlen=0)
            assert time.process_time() - begin < 5, (beginning, piece)
