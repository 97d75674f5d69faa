"""Width, color and curves on terminals of every kind."""

from __future__ import annotations

import io
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp._display import printable, shortened, shortened_inside
from perceptron_nlp.cli.terminal import BOLD, Terminal, duration, write_message
from perceptron_nlp.cli.training import ASCII_BLOCKS, BLOCKS, TrainingView, sparkline
from tests.unit.cli.conftest import Screen


class Stream(io.StringIO):
    """A stream that is a terminal or not, in some encoding."""

    def __init__(self, *, terminal: bool, encoding: str = "utf-8") -> None:
        super().__init__()
        self._terminal = terminal
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding

    def isatty(self) -> bool:
        return self._terminal


@pytest.mark.parametrize(
    ("variables", "terminal", "color"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
        ({"TERM": "dumb"}, True, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True, True),
    ],
)
def test_color_follows_stream_and_surroundings(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], terminal: bool, color: bool
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    asked = Terminal(Stream(terminal=terminal))
    assert asked.color is color
    assert (asked.paint("x", BOLD) == "x") is not color


def test_standard_output_and_standard_error_are_asked_apart() -> None:
    assert Terminal(Stream(terminal=True)).live
    assert not Terminal(Stream(terminal=False)).live
    assert not Terminal(None).live


@pytest.mark.parametrize(
    ("columns", "width"), [("50", 50), ("1", 20), ("0", 80), ("many", 80), ("", 80)]
)
def test_columns_gives_the_width(monkeypatch: pytest.MonkeyPatch, columns: str, width: int) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert Terminal(Stream(terminal=True)).width == width


@given(st.text())
def test_one_line_is_printable_and_keeps_what_is(text: str) -> None:
    line = printable(text)
    assert line.isprintable()
    assert printable(line) == line
    if text.isprintable():
        assert line == text


@given(st.text(), st.integers(1, 50))
def test_text_shortened_inside_fits_and_keeps_both_ends(text: str, width: int) -> None:
    short = shortened_inside(text, width)
    assert len(short) <= width
    begin, _, end = short.partition("…")
    assert short == text or (text.startswith(begin) and text.endswith(end))
    assert short == text or len(end) + 1 >= len(begin)


@given(st.text(max_size=200), st.sampled_from(["", BOLD]))
def test_what_is_no_terminal_gets_lines_whole_and_safe(text: str, style: str) -> None:
    assert Terminal(Stream(terminal=False)).line(text, style) == printable(text)


@given(st.text(), st.integers(1, 50))
def test_shortened_text_fits(text: str, width: int) -> None:
    short = shortened(text, width)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in short)
    none = sum(unicodedata.combining(c) != 0 for c in short)
    assert len(short) + wide - none <= width
    assert short == text or short.endswith("…")


@given(st.lists(st.floats(0, 1), max_size=50), st.integers(0, 60))
def test_a_sparkline_rises_where_its_values_do(values: list[float], width: int) -> None:
    line = sparkline(values, width)
    shown = values[-width:] if width else []
    assert len(line) == len(shown)
    heights = [BLOCKS.index(block) for block in line]
    for (value, height), (following, above) in zip(
        zip(shown, heights, strict=True), list(zip(shown, heights, strict=True))[1:], strict=False
    ):
        assert height <= above if value <= following else height >= above
    if shown and min(shown) < max(shown):
        assert (min(heights), max(heights)) == (0, len(BLOCKS) - 1)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0 s"),
        (0.4, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (200, "3 min 20 s"),
        (7500, "2 h 5 min"),
    ],
)
def test_a_duration_reads_as_people_say_it(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def report(epoch: int, *, epochs: int = 100, dev: float | None = 0.9) -> pn.EpochReport:
    return pn.EpochReport(
        epoch=epoch,
        epochs=epochs,
        examples=100,
        mistakes=max(0, 50 - epoch),
        updates=1,
        dev_accuracy=dev,
        best_epoch=1,
    )


def curve_text(
    monkeypatch: pytest.MonkeyPatch,
    stream: Stream,
    reports: list[pn.EpochReport],
    seconds_each: float = 2.0,
) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    clock = iter(range(1000))
    curve = TrainingView(Terminal(stream), lambda: next(clock) * seconds_each)
    for one in reports:
        curve(one)
    return stream.getvalue()


@pytest.mark.parametrize("width", [20, 30, 45, 70, 200])
@pytest.mark.parametrize("dev", [None, 0.9])
def test_no_line_of_the_curve_is_as_wide_as_the_terminal(
    monkeypatch: pytest.MonkeyPatch, width: int, dev: float | None
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    text = curve_text(
        monkeypatch, Stream(terminal=True), [report(epoch, dev=dev) for epoch in range(1, 100)]
    )
    lines = [line.split("F")[-1].removesuffix("\x1b[K") for line in text.splitlines()]
    assert max(map(len, lines)) < width


def test_time_left_is_reckoned_from_epochs_after_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    text = curve_text(
        monkeypatch,
        Stream(terminal=True),
        [report(1, epochs=5), report(2, epochs=5), report(3, epochs=5)],
    )
    statuses = [line for line in text.splitlines() if "of 5" in line]
    assert "left" not in statuses[0]
    assert "6 s left" in statuses[1]
    assert "4 s left" in statuses[2]


def test_a_terminal_without_unicode_gets_a_curve_in_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    text = curve_text(
        monkeypatch, Stream(terminal=True, encoding="latin-1"), [report(1), report(2)]
    )
    assert text.isascii()
    assert ASCII_BLOCKS[0] + ASCII_BLOCKS[-1] in text


def test_a_closed_stream_of_messages_takes_them_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(terminal=False)
    stream.close()
    for closed in (stream, None):
        monkeypatch.setattr(sys, "stderr", closed)
        write_message("lost")
        assert sys.stderr is closed


@pytest.mark.parametrize("verb", ["tag", "evaluate"])
def test_reading_shows_how_far_it_is_on_a_terminal(
    cli, model, train_file, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("perceptron_nlp.cli.inputs._BETWEEN_LINES", 0.0)
    plain = cli(verb, model, train_file)
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    assert cli(verb, model, train_file).out == plain.out
    shown = screen.getvalue()
    # What is drawn over is erased before the next message and at the end.
    assert "read 0 of 0 MB" in shown and shown.count("\r\x1b[2K") >= 1
    assert shown.replace("\r\x1b[2K", "\n").splitlines().count("train.conllu: read as conllu") == 1
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    assert cli(verb, model, train_file, "--quiet").out == plain.out
    assert screen.getvalue() == ""


def test_a_file_that_is_shown_being_read_can_be_replaced(
    cli, model, train_file, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("perceptron_nlp.cli.inputs._BETWEEN_LINES", 0.0)
    wanted = cli("tag", model, train_file).out
    monkeypatch.setattr(sys, "stderr", Screen())
    assert cli("tag", model, train_file, "-o", train_file).status == 0
    assert train_file.read_bytes() == wanted
