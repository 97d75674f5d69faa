"""Training within a bound on memory: the same model, and the bound is held to."""

from __future__ import annotations

import gzip
import io
import resource
import signal
import tempfile
from pathlib import Path
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import perceptron_nlp as pn
from benchmarks.trust import samples
from benchmarks.trust.children import call
from perceptron_nlp._core.train import trainingset
from perceptron_nlp.tagger import encoded
from perceptron_nlp.tagger.sources import Source
from perceptron_nlp.tagger.train import data, memory
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.memory import ROOM, MemoryLimit, resident

ENOUGH = "100GB"
Small = list[tuple[list[str], list[str]]]


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first 200 sentences of the English training text."""
    path = tmp_path_factory.mktemp("text") / "part.conllu"
    path.write_text("\n\n".join(samples.TRAIN.read_text().split("\n\n")[:200]) + "\n\n")
    return path


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many pieces of little text."""
    monkeypatch.setattr(data, "BLOCK", 4096)
    monkeypatch.setattr(data, "GATHERED", 300)
    monkeypatch.setattr(encoded, "CHUNK", 300)
    monkeypatch.setattr(trainingset, "CHUNK", 300)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"preset": "fast", "runs": 2},
        {"update": "perceptron", "right_to_left": False},
        {"update": "margin", "beam": 3},
        {"update": "passive-aggressive"},
        {"min_count": 3},
        {"table_bits": 9, "min_count": 2},
        {"dictionary": (3, 0.9)},
        {"column": "xpos", "margin": 2.0},
        {
            "column": "xpos",
            "templates": [
                "word[0]",
                "column:upos[-1] column:upos[0]",
                "tag[-1] word[0]",
                "lower.ngrams3-4[0]",
            ],
        },
        {"column": "feats", "beam": 2},
    ],
    ids=str,
)
def test_the_model_is_the_same_bytes(part: Path, options: dict[str, Any]) -> None:
    options = {"epochs": 2, **options}
    plain = pn.train(part, dev=samples.DEV, **options)
    assert (
        pn.train(part, dev=samples.DEV, max_memory=ENOUGH, **options).to_bytes() == plain.to_bytes()
    )


SENTENCES = st.lists(
    st.integers(1, 5).flatmap(
        lambda n: st.tuples(
            st.lists(st.sampled_from(["a", "b", "Ab", "ß"]), min_size=n, max_size=n),
            st.lists(st.sampled_from(["X", "Y", None, "_"]), min_size=n, max_size=n),
        )
    ),
    min_size=1,
    max_size=8,
)


@settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    sentences=SENTENCES,
    min_count=st.integers(1, 3),
    beam=st.integers(1, 2),
    bits=st.sampled_from([None, 4]),
    chunk=st.integers(1, 12),
)
def test_any_sentences_from_memory_give_the_same_bytes(
    monkeypatch: pytest.MonkeyPatch,
    sentences: Any,
    min_count: int,
    beam: int,
    bits: int | None,
    chunk: int,
) -> None:
    monkeypatch.setattr(encoded, "CHUNK", chunk)
    monkeypatch.setattr(data, "GATHERED", chunk)
    monkeypatch.setattr(trainingset, "CHUNK", chunk)
    if not any(label is not None for _, labels in sentences for label in labels):
        sentences[0][1][0] = "X"
    options: dict[str, Any] = {
        "epochs": 2,
        "templates": ["word[0]", "word[-1] word[1]", "tag[-1]"],
        "min_count": min_count,
        "beam": beam,
        "table_bits": bits,
        "dictionary": (2, 0.7),
    }
    assert (
        pn.train(sentences, max_memory=ENOUGH, **options).to_bytes()
        == pn.train(sentences, **options).to_bytes()
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text.rstrip(b"\n"),
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: text.replace(b"\n", b"\r\n"),
        gzip.compress,
        lambda text: text[:9000] + text[9000:].replace(b"\n\n", b"\n\n\n\n"),
    ],
    ids=["plain", "cut", "mark", "crlf", "gzip", "blank lines"],
)
def test_any_writing_of_the_text_gives_the_same_bytes(
    part: Path, tmp_path: Path, change: Any
) -> None:
    path = tmp_path / "text"
    path.write_bytes(change(part.read_bytes()))
    options: dict[str, Any] = {"preset": "fast", "templates": "fast", "epochs": 1}
    bounded = pn.train([path, samples.DEV], max_memory=ENOUGH, **options)
    assert bounded.to_bytes() == pn.train([path, samples.DEV], **options).to_bytes()


@pytest.mark.parametrize("text", ["a/X b/Y\nc/Z a/X\n" * 9, "a X\nb Y\n\nc X\n\n" * 9])
def test_other_formats_and_streams_give_the_same_bytes(text: str) -> None:
    streams = [io.BytesIO(text.encode()) for _ in range(2)]
    bounded, plain = (
        pn.train(pn.open_corpus(stream), epochs=1, max_memory=limit)
        for stream, limit in zip(streams, (ENOUGH, None), strict=True)
    )
    assert bounded.to_bytes() == plain.to_bytes()


def test_a_bad_line_is_the_same_error_at_the_same_place(part: Path, tmp_path: Path) -> None:
    path = tmp_path / "bad.conllu"
    lines = part.read_text().split("\n")
    place = next(n for n, line in enumerate(lines) if n > 2000 and line[:1].isdigit())
    lines[place] = lines[place].replace("\t", " ", 1)
    path.write_text("\n".join(lines))
    told = []
    for limit in (None, ENOUGH):
        with pytest.raises(pn.FormatError, match=rf"bad\.conllu:{place + 1}: ") as caught:
            pn.train(path, max_memory=limit)
        told.append(str(caught.value))
    assert told[0] == told[1]


def test_text_without_labels_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bare.conllu"
    path.write_text("1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    with pytest.raises(pn.FormatError, match="no word has a label"):
        pn.train(path, max_memory=ENOUGH)


@pytest.mark.parametrize(
    ("size", "kind"),
    [
        ("lots", pn.ArgumentError),
        ("10 XB", pn.ArgumentError),
        ("0", pn.ArgumentError),
        (-1, pn.ArgumentError),
        (0.5, pn.ArgumentTypeError),
        (True, pn.ArgumentTypeError),
    ],
)
def test_what_is_no_size_is_refused(small: Small, size: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="max_memory: "):
        pn.train(small, max_memory=size)


def test_a_bound_below_the_floor_says_where_the_floor_is(small: Small) -> None:
    with pytest.raises(
        pn.MemoryLimitError,
        match=r"max_memory: 1 MB are too few: this process"
        r" holds [\d,]+ MB .* allow at least [\d,]+ MB",
    ):
        pn.train(small, max_memory="1MB")


def test_a_bound_that_is_passed_on_the_way_says_what_to_do(
    part: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = iter(range(10**8, 10**11, 10**6))
    monkeypatch.setattr(memory, "resident", lambda: next(held))
    with pytest.raises(
        pn.MemoryLimitError,
        match=r"max_memory: 160 MB are too few: this process"
        r" holds 1\d\d MB, and making a model .*table_bits",
    ):
        pn.train(part, max_memory="160MB", epochs=100)


def test_a_system_that_does_not_tell_what_is_held_is_named(
    small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "resident", lambda: None)
    with pytest.raises(pn.ArgumentError, match="max_memory: this system does not tell"):
        pn.train(small, max_memory=ENOUGH)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"column": "upos,xpos"}, "one column at a time"),
        ({"column": "feats"}, "features"),
        ({"raw": [["a", "b"]]}, "raw"),
        ({"two_passes": True}, "two_passes"),
        ({"resumable": True}, "resumable"),
        ({"checkpoint": "state"}, "checkpoint"),
        ({"size": "1MB"}, "size"),
        ({"templates": ["word[0]", "nearby.tag[0]"]}, "nearby"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_needs_whole_sentences_is_refused(
    part: Path, options: dict[str, Any], named: str
) -> None:
    if named == "nearby":
        options, named = {"templates": pn.preset("names")}, "other places"
    with pytest.raises(pn.ArgumentError, match=rf"max_memory: .*{named}"):
        pn.train(part, max_memory=ENOUGH, **options)


def test_spans_are_refused_unless_they_are_learnt_as_plain_labels() -> None:
    chunks = samples.DATA / "english-chunks.columns"
    with pytest.raises(pn.ArgumentError, match="spans"):
        pn.train(chunks, max_memory=ENOUGH)
    options: dict[str, Any] = {"beam": 1, "epochs": 1}
    assert (
        pn.train(chunks, max_memory=ENOUGH, **options).to_bytes()
        == pn.train(chunks, **options).to_bytes()
    )


def test_the_temporary_files_have_no_names(
    part: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen = []
    pn.train(
        part,
        max_memory=ENOUGH,
        preset="fast",
        templates="fast",
        epochs=1,
        callback=lambda report: seen.append(list(tmp_path.iterdir())),
    )
    assert seen == [[]]


def test_a_folder_that_is_gone_is_told(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(
        pn.FileError,
        match=r"gone: the temporary file for max_memory cannot be"
        r" made: .*TMPDIR",
    ):
        pn.train(small, max_memory=ENOUGH)


def on_full_disc(folder: str) -> str:
    """Train where there is no room for the text; runs in a child."""
    tempfile.tempdir = folder
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
    try:
        pn.train(samples.TRAIN, epochs=1, max_memory=ENOUGH)
    except pn.FileError as error:
        return str(error)
    return "trained"


def test_a_full_disc_is_told_and_nothing_is_left_on_it(tmp_path: Path) -> None:
    said = call("tests.unit.tagger.train.test_memory:on_full_disc", str(tmp_path))
    assert str(said.result).startswith(
        f"{tmp_path}: the temporary file for max_memory cannot be written: "
    )
    assert list(tmp_path.iterdir()) == []


def bounded(path: str, more: int) -> tuple[int, int]:
    """Train with little more than the least room; runs in a child. The bound, and the peak."""
    pn.train([(["a"], ["X"])], epochs=1)
    size = (resident() or 0) + ROOM + more
    pn.train(
        path,
        templates=["word[0]", "word[-1] word[0]", "tag[-1]"],
        epochs=1,
        update="perceptron",
        max_memory=size,
    )
    status = Path("/proc/self/status").read_text()
    return size, int(status.partition("VmHWM:")[2].split()[0]) * 1024


def test_little_memory_suffices_for_much_text(tmp_path: Path) -> None:
    path = tmp_path / "long.conllu"
    sentence = "".join(
        f"{n}\tword{n}\t{200 * 'a'}\tX{n % 5}" + 6 * "\t_" + "\n" for n in range(1, 21)
    )
    path.write_text((sentence + "\n") * 7_000)
    size, peak = call("tests.unit.tagger.train.test_memory:bounded", str(path), 4 << 20).result
    assert peak <= size
    # Without a bound the file alone, held whole, would not fit.
    assert path.stat().st_size > ROOM + (4 << 20)


@settings(max_examples=50)
@given(pieces=st.lists(hnp.arrays(np.int32, st.integers(0, 9)), max_size=6))
def test_numbers_in_a_file_are_an_array(pieces: list[Any]) -> None:
    limit = MemoryLimit(10**12)
    file = limit.file()
    for piece in pieces:
        limit.write(file, piece)
    found = limit.mapped(file)
    assert found.dtype == np.int32 and found.tolist() == [x for piece in pieces for x in piece]


def test_what_is_let_go_of_is_still_there(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = MemoryLimit(10**12)
    found = limit.empty(1 << 20)
    assert not found.any()
    found[:] = np.arange(1 << 20)
    held = iter([10**13, 10**6])
    monkeypatch.setattr(memory, "resident", lambda: next(held))
    limit.check()
    monkeypatch.undo()
    before = resident()
    assert (found == np.arange(1 << 20)).all()
    assert (resident() or 0) >= (before or 0)


def test_text_in_a_file_is_not_made_a_list(part: Path) -> None:
    read = Examples.read(Source(str(part), "train"), "upos", (), MemoryLimit(10**12))
    for look in (lambda: list(read.gold), lambda: read.sentences[0], lambda: list(read.sentences)):
        with pytest.raises(pn.ArgumentError, match="max_memory: what is learned here looks at"):
            look()
    whole = Examples.read(Source(str(part), "train"), "upos", ())
    assert read.vocabulary().tolist() == whole.vocabulary().tolist()
