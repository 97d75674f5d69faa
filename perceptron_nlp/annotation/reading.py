"""Reading the text: all of it, its beginning, or stretches from all over a very long one."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise

import perceptron_nlp as pn
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, quote
from perceptron_nlp.formats import Readable, Segment, named_stream, wrong_conllu_value

PoolSource = str | os.PathLike[str] | Iterable[str | os.PathLike[str] | Sequence[str]]

STRETCHES = 100
# Bytes that are read for a sentence at first, and at most.
_FEW_BYTES, _MOST_BYTES = 128, 8192
# Bytes that no text has for a sentence on average; a larger one need not be read to be counted.
_SURELY_MORE = 2048
# What a stretch begins after. Running text is cut between any two characters, and the sentences at
# both ends, which may lack words, are left out.
_BEGINS = {
    "conllu": (b"\n\n", b"\n\r\n"),
    "columns": (b"\n\n", b"\n\r\n"),
    "lines": (b"\n",),
    "tagged": (b"\n",),
}
_WITHIN_CHARACTER = bytes(range(0x80, 0xC0))


def read_pool(
    source: PoolSource, most: int, spread: bool, segment: Segment | None = None
) -> tuple[list[Sequence[str]], str | None]:
    """Return at most so many sentences of a text, if `spread` from all over it, and a remark.

    `segment` cuts running text in place of rules; see Corpus.cut_by.
    """
    if isinstance(source, bytes) or not isinstance(source, str | os.PathLike | Iterable):
        raise ArgumentTypeError(
            f"pool: a path or lists of words are needed, not {type(source).__name__}"
        )
    given = [source] if isinstance(source, str | os.PathLike) else source
    paths = []
    if spread and isinstance(given, Sequence):
        paths = [os.fspath(one) for one in given if isinstance(one, str | os.PathLike)]
        spread = len(paths) == len(given) and all(map(_is_plain, paths))
    else:
        spread = False
    if not (spread and sum(map(os.path.getsize, paths)) > most * _SURELY_MORE):
        found = list(islice(_all_of(given, segment), most + 1))
        if len(found) <= most:
            return found, None
    if spread:
        found = _stretches(paths, most, segment)
        return found, (
            f"the text is long: {len(found):,} sentences, in stretches from its beginning to its"
            " end, are what is asked for (--sentences N)"
        )
    return found[:most], (
        f"the first {most:,} sentences are what is asked for; the text has more (--sentences N)"
    )


def _opened(path: Readable, segment: Segment | None, form: str = "auto") -> pn.Corpus:
    corpus = pn.open_corpus(path, format=form)
    if segment is not None:
        corpus.cut_by(segment)
    return corpus


def _all_of(
    source: Iterable[str | os.PathLike[str] | Sequence[str]], segment: Segment | None
) -> Iterator[Sequence[str]]:
    for number, one in enumerate(source):
        if isinstance(one, str | os.PathLike):
            yield from _opened(one, segment)
            continue
        try:
            sentence = one if isinstance(one, pn.Sentence) else pn.Sentence(one)
        except ArgumentTypeError as error:
            raise ArgumentTypeError(f"pool[{number}]: {error}") from None
        for word in sentence.words:
            if wrong := wrong_conllu_value("form", word):
                raise ArgumentError(f"pool[{number}]: word {quote(word)} {wrong}")
        yield sentence


def _is_plain(path: str) -> bool:
    """Return True for the path of a regular file of text that is not compressed."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
        with open(path, "rb") as file:
            # A character may be cut at the end.
            file.read(4096).decode(errors="strict")
    except UnicodeDecodeError as error:
        return error.end == 4096 and error.start > 4092
    except (OSError, ValueError):
        return False
    return True


def _stretches(paths: Sequence[str], most: int, segment: Segment | None) -> list[Sequence[str]]:
    """Return sentences from places that are as far from each other as can be."""
    sizes = [os.path.getsize(path) for path in paths]
    total = sum(sizes)
    n_stretches = min(STRETCHES, most)
    bounds = [total * number // n_stretches for number in range(n_stretches + 1)]
    found: list[Sequence[str]] = []
    begin = 0
    for path, size in zip(paths, sizes, strict=True):
        with pn.open_corpus(path) as corpus:
            form = corpus.format
        with open(path, "rb") as file:
            for number, (low, high) in enumerate(pairwise(bounds)):
                if begin <= low < begin + size:
                    wanted = most * (number + 1) // n_stretches - most * number // n_stretches
                    end = min(high, begin + size) - begin
                    found += _stretch(file, path, form, (low - begin, end), wanted, segment)
        begin += size
    return found


def _stretch(
    file: io.BufferedReader,
    path: str,
    form: str,
    place: tuple[int, int],
    most: int,
    segment: Segment | None,
) -> list[pn.Sentence]:
    """Return so many sentences at most that begin at some place of a file."""
    start, end = place
    first = int(bool(start) and form == "text")
    wanted = first + most
    length = min(end - start, _FEW_BYTES * (wanted + 1))
    while True:
        file.seek(start)
        data = file.read(length)
        is_cut = start + length < os.path.getsize(path)
        data = _whole(data, _BEGINS.get(form), bool(start), is_cut)
        named = named_stream(data, f"{path} from byte {start}")
        found = list(islice(_opened(named, segment, form), wanted + 1))
        if is_cut and form == "text" and len(found) <= wanted:
            found = found[:-1]
        if len(found) >= wanted or length == min(end - start, _MOST_BYTES * (wanted + 1)):
            return found[first:wanted]
        length = min(end - start, _MOST_BYTES * (wanted + 1), 4 * length)


def _whole(data: bytes, marks: Sequence[bytes] | None, has_past: bool, has_future: bool) -> bytes:
    """Return what is whole of bytes that were cut out of a text: characters, or sentences."""
    if marks is None:
        data = data.lstrip(_WITHIN_CHARACTER) if has_past else data
        return data.rstrip(_WITHIN_CHARACTER)[:-1] if has_future else data
    low, high = 0, len(data)
    if has_past:
        low = min((at + len(mark) for mark in marks if (at := data.find(mark)) >= 0), default=high)
    if has_future:
        high = max((at + len(mark) for mark in marks if (at := data.rfind(mark)) >= 0), default=0)
    return data[low:high]
