"""``tag`` of JSON lines: records stay what they are, and get the sentences of their texts."""

from __future__ import annotations

import io
import json
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp.cli.main import main
from perceptron_nlp.cli.tag_files import Tagging

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=4,
)
WORDS = st.lists(st.sampled_from(["Don't", "dogs.", "\n\n", "\ud800", "\\", '"', "é", " "]))
TEXTS = st.none() | st.text() | WORDS.map(" ".join)


@pytest.fixture(scope="module")
def english() -> pn.Tagger:
    return pn.load("en")


def tagged(tagger: pn.Tagger, data: bytes, **how: object) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.jsonl")
        path.write_bytes(data)
        return b"".join(Tagging(tagger, None, **how).texts([str(path)]))


def as_written(sentences: list[pn.TextSentence]) -> list[list[dict[str, object]]]:
    return [
        [{"form": word.form, **word.labels, "start": word.start, "end": word.end} for word in one]
        for one in sentences
    ]


@settings(max_examples=60, deadline=None)
@given(
    records=st.lists(st.tuples(st.dictionaries(st.text(), VALUES, max_size=3), TEXTS), max_size=6),
    is_ascii=st.booleans(),
    threads=st.sampled_from([1, 3]),
)
def test_a_record_keeps_its_fields_and_gets_what_tag_text_gives(
    records: list[tuple[dict[str, object], str | None]],
    is_ascii: bool,
    threads: int,
    english: pn.Tagger,
) -> None:
    whole = [
        {**{name: value for name, value in held.items() if name != "sentences"}, "text": text}
        for held, text in records
    ]
    lines = [json.dumps(one, ensure_ascii=is_ascii) for one in whole]
    data = "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
    out = tagged(english, data, threads=threads)
    for one, before, line in zip(whole, data.splitlines(), out.splitlines(), strict=True):
        assert line.startswith(before[:-1] + b',"sentences":')
        text = one["text"]
        expected = None if text is None else as_written(english.tag_text(text))
        assert json.loads(line) == {**one, "sentences": expected}
    assert tagged(english, out) == out


def test_the_columns_are_those_that_are_chosen(cli) -> None:
    line = b'{"id":1,"body":"Hi."}\r\n'
    how = ("--json-lines", "--field", "body", "--quiet")
    found = cli("tag", "en", *how, "--column", "text", stdin=line).out
    words = b'[[{"form":"Hi","start":0,"end":2},{"form":".","start":2,"end":3}]]'
    assert found == b'{"id":1,"body":"Hi.","sentences":' + words + b"}\r\n"
    found = cli("tag", "en", *how, "--column", "upos", "--confidence", stdin=line).out
    word = json.loads(found)["sentences"][0][0]
    assert (word["upos"], list(word)[2]) == ("INTJ", "upos_confidence")
    assert 0 < word["upos_confidence"] <= 1


def test_a_model_that_never_learned_to_cut_tags_records(cli, model: Path) -> None:
    Path("two.jsonl").write_text('{"text":"The dog"}\n\n{"text":""}', "utf-8")
    assert cli("tag", model, "two.jsonl", "two.jsonl", "-o", "out.jsonl").status == 0
    one, _, empty, *again = Path("out.jsonl").read_text("utf-8").splitlines()
    assert [w["upos"] for w in json.loads(one)["sentences"][0]] == ["DET", "NOUN"]
    assert json.loads(empty)["sentences"] == [] and again == [one, "", empty]
    # Nothing is lost where a file takes the place of what was read.
    assert cli("tag", model, "out.jsonl", "-o", "out.jsonl", "--quiet").status == 0
    assert Path("out.jsonl").read_text("utf-8").splitlines()[0] == one


@pytest.mark.parametrize(
    ("lines", "how", "message"),
    [
        ('{"text":"a"}\n\n{"id":1}', "", "3: the record has no field 'text'; its fields are 'id'"),
        ("[1]", "", "1: a JSON object is needed, not '[1]'"),
        ('{"text":["a"]}', "", "1: the field 'text' must be a text, not '[\"a\"]'"),
        ('{"text":"a"', "", "1: this is no JSON (Expecting ',' delimiter, column 12); a line is a"),
        ("[" * 100_000, "", "1: this JSON is nested too deeply, or has a number too long"),
        ('{"text":"a"}\n{"text":"\xe4"}', "", "2: byte 0xe4 is not valid UTF-8; convert"),
        ('{"text":"' + "a" * (1 << 24), "", "1: a line of more than 16 MiB; break it up"),
        ('{"text":"a"}', "--field sentences", "--field: sentences is what tagging adds; rename"),
        ('{"text":"a"}', "--mark-unknown", "--mark-unknown: <stdin> is jsonl, which has no place"),
        ('{"text":"a"}', "--to tagged", "--to: only running text (--format text) is turned into"),
        ('{"text":"a"}', "--format text", "--json-lines: goes neither with --lines nor"),
        ('{"text":"a"}', "--lines", "--json-lines: goes neither with --lines nor"),
    ],
)
def test_what_cannot_be_used_is_said_with_its_line(
    refuses, model: Path, lines: str, how: str, message: str
) -> None:
    given = ["tag", model, "--json-lines", "--quiet", *how.split()]
    assert message in refuses(*given, stdin=lines.encode("latin-1"))


def test_other_texts_have_no_field_and_others_read_no_records(refuses, model: Path) -> None:
    text = "--field: <stdin> is text, not --json-lines"
    assert text in refuses("tag", model, "--field", "body", "--quiet", stdin=b"The dogs bark.")
    Path("a.jsonl").write_text("{}", "utf-8")
    found = refuses("evaluate", model, "a.jsonl", "--quiet")
    assert found == "a.jsonl: these are records of running text, which only tag reads"


def test_memory_does_not_follow_the_length_of_the_file(
    english: pn.Tagger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("perceptron_nlp.cli.tag_sentences.PIECE_BYTES", 100)
    data = b'{"text":"Dogs bark at cats."}\n' * 40
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    pieces = [piece for piece in Tagging(english, None, format="jsonl").texts(["-"]) if piece]
    assert len(pieces) == 10
    assert main(["tag", "en", "--json-lines", "nowhere.jsonl"]) == 2
