"""Training on shards, whichever engine runs them: what stays as it is, and what is refused."""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp._core.features.hashing import hash64
from perceptron_nlp.integrations import shards
from perceptron_nlp.integrations.shard_training import Sharding, ShardWorker
from perceptron_nlp.integrations.shards import TextFile, ends_in, sentences_by_shard

Small = list[tuple[list[str], list[str]]]
FAST: dict[str, Any] = {"templates": "fast", "epochs": 3}


def own_features(tokens: Any, i: int) -> list[str]:
    return [f"w={tokens[i]}", f"end={str(tokens[i])[-2:]}"]


@pytest.mark.parametrize(
    "options",
    [
        FAST,
        {"preset": "default", "epochs": 2},
        {**FAST, "update": "perceptron", "runs": 2},
        {**FAST, "beam": 3, "dictionary": (2, 0.9)},
        {**FAST, "table_bits": 9, "min_count": 2},
        {"features": own_features, "epochs": 2},
        {**FAST, "column": ["upos", "xpos"]},
        {**FAST, "column": "feats", "two_passes": False},
        {**FAST, "column": "feats", "two_passes": True, "epochs": 1},
    ],
    ids=["fast", "default", "runs", "beam", "table", "function", "columns", "feats", "two passes"],
)
def test_one_worker_learns_byte_for_byte_what_ordinary_training_does(
    options: dict[str, Any], annotated: list[pn.Sentence], here: Any
) -> None:
    whole = pn.train(annotated, dev=annotated[:6], **options)
    alone = pn.train(annotated, dev=annotated[:6], engine=here(1, mixes=2), **options)
    assert bytes(alone.to_bytes()) == bytes(whole.to_bytes())


@pytest.mark.parametrize("mix_by", ["errors", "examples"])
def test_several_workers_learn_the_text(mix_by: str, small: Small, here: Any) -> None:
    tagger = pn.train(small, engine=here(4, mix_by=mix_by, mixes=2), templates="fast", epochs=8)
    assert tagger.evaluate(small).accuracy > 0.97
    assert tagger.model.record["sharding"] == {"workers": 4, "mix_by": mix_by, "mixes": 2}


def test_a_model_of_shards_can_be_resumed_and_holds_what_it_is_the_average_of(
    small: Small, here: Any
) -> None:
    whole = pn.train(small, engine=here(3), resumable=True, **FAST)
    state = whole.model.state.runs[0]
    assert state.done == 3 * whole.model.record["train"]["labelled"] and state.epochs == 3
    assert whole.resume(small, epochs=1).evaluate(small).accuracy > 0.97


def test_a_training_on_shards_goes_on_from_its_checkpoint(
    small: Small, here: Any, tmp_path: Path
) -> None:
    place = tmp_path / "state"

    def stop(report: pn.EpochReport) -> None:
        if report.epoch == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        pn.train(small, engine=here(3), callback=stop, checkpoint=place, **FAST)
    resumed = pn.train(small, engine=here(3), checkpoint=place, resume=True, **FAST)
    assert bytes(resumed.to_bytes()) == bytes(pn.train(small, engine=here(3), **FAST).to_bytes())
    with pytest.raises(pn.ArgumentError, match="of a training with"):
        pn.train(small, engine=here(2), checkpoint=place, resume=True, **FAST)


def test_only_what_changed_travels(small: Small, here: Any) -> None:
    engine = here(2)
    pn.train(small, engine=engine, templates="fast", epochs=12)
    sent = [sum(count.bytes_sent for count in piece.counts) for piece in engine.rounds]
    assert len(sent) == 12 and sent[-1] < sent[0] / 3
    assert engine.rounds[-1].bytes_mixed < engine.rounds[0].bytes_mixed / 3


def test_a_shard_without_labels_adds_nothing(small: Small, here: Any) -> None:
    labelled = [(words, labels) for words, labels in small]
    labelled[1::3] = [(words, [None] * len(words)) for words, _ in small[1::3]]
    assert pn.train(labelled, engine=here(3), **FAST).evaluate(small).accuracy > 0.6


def test_a_piece_of_an_epoch_without_a_token_to_learn_from_changes_nothing(
    small: Small, here: Any
) -> None:
    # Two shards of six sentences: with twelve pieces, every second one has none.
    six, twelve = (pn.train(small, engine=here(2, mixes=n), **FAST) for n in (6, 12))
    assert six.model.weights.weights.tobytes() == twelve.model.weights.weights.tobytes()
    certain = {"dictionary": (1, 0.51), **FAST}
    words = [(["a", "b"], ["X", "Y"])] * 4
    assert pn.train(words, engine=here(2), **certain).tag(["b", "a"]) == ["Y", "X"]


def test_more_workers_than_sentences_are_refused(small: Small, here: Any) -> None:
    with pytest.raises(
        pn.ArgumentError,
        match=r"workers: 13 are more than there are sentences to"
        r" learn from \(12\); give 12 at most",
    ):
        pn.train(small, engine=here(13), **FAST)
    assert pn.train(small, engine=here(12), **FAST).evaluate(small).accuracy > 0.9


def test_what_shards_cannot_know_is_refused(small: Small, here: Any) -> None:
    with pytest.raises(pn.ArgumentError, match="min_count: 2 with 3 workers"):
        pn.train(small, engine=here(3), min_count=2, **FAST)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"workers": 2}, pn.ArgumentError, "workers: is an option of an engine; name one"),
        ({"read_by": "workers"}, pn.ArgumentError, "read_by: is an option of an engine; name one"),
        ({"engine": "rey"}, pn.ArgumentError, "engine: 'rey' is not one of ray; did you mean ray"),
        ({"engine": 3}, pn.ArgumentTypeError, "engine: a name or an engine is needed, not int"),
    ],
    ids=lambda value: "" if isinstance(value, str) else None,
)
def test_engines_that_are_none_are_refused(
    options: dict[str, Any], error: type[Exception], message: str, small: Small
) -> None:
    with pytest.raises(error, match=message):
        pn.train(small, **options)


def test_workers_are_given_once(here: Any, small: Small) -> None:
    with pytest.raises(pn.ArgumentError, match="the engine that was given has its own"):
        pn.train(small, engine=here(2), workers=3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"workers": 0}, "workers: 0 is not between 1 and 10,000"),
        ({"workers": 2, "mix_by": "words"}, "mix_by: 'words' is not one of errors, examples"),
        ({"workers": 2, "mixes": 0}, "mixes: 0 is not between 1 and 1,000"),
    ],
    ids=["workers", "mix_by", "mixes"],
)
def test_shardings_out_of_range_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(pn.ArgumentError, match=message):
        Sharding(**given)


@pytest.fixture
def files(annotated: list[pn.Sentence], tmp_path: Path) -> list[Path]:
    """The sentences in two files, of which the second begins with a byte order mark, has comments
    and two empty lines, and does not end in an empty line."""
    one, other = tmp_path / "one.conllu", tmp_path / "other.conllu"
    pn.write_conllu(annotated[:7], one)
    pn.write_conllu(annotated[7:], other)
    text = other.read_text().rstrip("\n").replace("\n\n", "\n\n\n# a comment\n", 2)
    other.write_text("\ufeff" + text)
    return [one, other]


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize(
    "options",
    [FAST, {**FAST, "dictionary": (2, 0.9), "runs": 2}, {**FAST, "column": ["upos", "xpos"]}],
    ids=["fast", "dictionary", "columns"],
)
def test_who_reads_the_files_changes_no_byte(
    options: dict[str, Any], workers: int, files: list[Path], here: Any
) -> None:
    found = [
        bytes(pn.train(files, engine=here(workers, read_by=who), **options).to_bytes())
        for who in ("program", "workers")
    ]
    assert found[0] == found[1]


def test_cards_of_several_sentences_are_the_same_whoever_reads_them(
    files: list[Path], here: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = pn.train(files, engine=here(2), **FAST).to_bytes()
    monkeypatch.setattr(shards, "GROUPS", 2)
    found = [
        bytes(pn.train(files, engine=here(2, read_by=who), **FAST).to_bytes())
        for who in ("program", "workers")
    ]
    assert found[0] == found[1] != bytes(whole)


@pytest.mark.parametrize("block", [1, 2, 3, 7, 100])
def test_where_a_sentence_ends_does_not_depend_on_what_is_read_at_a_time(
    block: int, files: list[Path], here: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for size in (1 << 24, block):
        monkeypatch.setattr(shards, "BLOCK", size)
        found.append([ends_in(TextFile.at(str(path))).tolist() for path in files])
    assert found[0] == found[1] and found[0][0][-1] == files[0].stat().st_size


@given(n_sentences=st.integers(0, 400), workers=st.integers(1, 9), least=st.integers(1, 20))
def test_every_sentence_is_dealt_to_one_worker_and_shards_differ_by_one_card(
    n_sentences: int, workers: int, least: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "GROUPS", least)
        dealt = sentences_by_shard(n_sentences, workers)
    assert sorted(number for part in dealt for number in part.tolist()) == [*range(n_sentences)]
    sizes = [len(part) for part in dealt]
    assert max(sizes) - min(sizes) <= max(1, n_sentences // (workers * least))


def test_a_worker_without_labels_may_read_for_itself(
    annotated: list[pn.Sentence], tmp_path: Path, here: Any
) -> None:
    path = tmp_path / "few.conllu"
    pn.write_conllu(
        [
            pn.Sentence(s.words, s.columns if number % 3 != 1 else {})
            for number, s in enumerate(annotated)
        ],
        path,
    )
    found = [
        bytes(pn.train(path, engine=here(3, read_by=who), **FAST).to_bytes())
        for who in ("program", "workers")
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            lambda path: path.write_bytes(path.read_bytes().replace(b"man", b"men")),
            pn.FileError,
            "is another file than where the training was begun",
        ),
        (lambda path: path.unlink(), pn.FileError, "put the files where every worker finds them"),
    ],
    ids=["another", "none"],
)
def test_a_file_that_is_another_one_where_a_worker_is_is_refused(
    change: Any,
    error: type[Exception],
    message: str,
    files: list[Path],
    here: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Elsewhere(ShardWorker):
        def __init__(self, shard: Any) -> None:
            change(files[0])
            super().__init__(shard)

    monkeypatch.setattr("benchmarks.here.ShardWorker", Elsewhere)
    with pytest.raises(error, match=message):
        pn.train(files, engine=here(2, read_by="workers"), **FAST)


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (lambda files: list(pn.read_conllu(files[0])), FAST, "these sentences are in memory"),
        (lambda files: pn.open_corpus(io.BytesIO(files[0].read_bytes())), FAST, "which is no file"),
        (lambda files: _as(files[0], "x.tagged", b"a/B c/D\n"), FAST, "is none; leave read_by out"),
        (
            lambda files: _as(files[0], "x.conllu", files[0].read_bytes().replace(b"\n", b"\r\n")),
            FAST,
            "they read plain CoNLL-U, whose lines end in line feeds",
        ),
        (
            lambda files: _as(files[0], "x.conllu.gz", gzip.compress(files[0].read_bytes())),
            FAST,
            "unpack or rewrite it, or leave read_by out",
        ),
        (lambda files: files, {**FAST, "column": "feats"}, "read_by: what is learned here looks"),
        (lambda files: files, {"features": own_features, "epochs": 1}, "leave read_by out"),
    ],
    ids=["memory", "stream", "tagged", "carriage returns", "packed", "features", "function"],
)
def test_what_workers_cannot_read_for_themselves_is_refused(
    make: Any, options: dict[str, Any], message: str, files: list[Path], here: Any
) -> None:
    with pytest.raises(pn.ArgumentError, match=message):
        pn.train(make(files), engine=here(2, read_by="workers"), **options)


def test_a_bad_line_is_named_whoever_reads(files: list[Path], here: Any) -> None:
    files[1].write_text(files[1].read_text() + "\n\n1\tno\ttabs\n\n")
    with pytest.raises(pn.FormatError, match=r"other\.conllu:\d+: "):
        pn.train(files, engine=here(2, read_by="workers"), **FAST)


def test_a_file_that_is_written_while_it_is_read_is_refused(
    files: list[Path], here: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def later(data: Any) -> int:
        os.utime(files[0], ns=(0, 1))
        return hash64(data)

    monkeypatch.setattr(shards, "hash64", later)
    with pytest.raises(pn.FileError, match="was changed while it was read"):
        pn.train(files, engine=here(2, read_by="workers"), **FAST)


def _as(path: Path, name: str, data: bytes) -> Path:
    found = path.with_name(name)
    found.write_bytes(data)
    return found
