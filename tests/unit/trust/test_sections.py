"""Models whose sections are cut, exchanged, retyped or moved, under a checksum that is right."""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from oracles.tensors import read_tensors

import perceptron_nlp as pn
from benchmarks.trust import agreement, samples
from benchmarks.trust.damaging import resign, taken_apart
from perceptron_nlp.formats.tensorfile import DTYPES, item_size

TEXT = "I can't,  don't!\n\nA 9\u0301 " + "a" * 300
WORDS = ["The", "old", "x", "", "\ud800", "a" * 300]
Section = tuple[str, list[int], bytes]


@functools.cache
def models() -> dict[str, bytes]:
    """Small models of many kinds."""
    train = list(pn.open_corpus(samples.TRAIN))[:60]
    dev = list(pn.open_corpus(samples.DEV))[:35]

    def made(column: str = "upos", **options: Any) -> pn.Tagger:
        return pn.train(train, column=column, **{"epochs": 1, "templates": "fast", **options})

    whole = pn.Tagger.from_bytes(agreement.whole_model())
    return {
        name: tagger.to_bytes()
        for name, tagger in {
            "text": pn.Tagger(whole.model.replace(packed=False)),
            "fixed": made(table_bits=6),
            "two columns": made("upos,xpos"),
            "features": made("feats"),
            "resumable": made(update="adagrad", resumable=True, templates=["word[0]", "tag[-1]"]),
            "tables": made(lexicon={"the": ["DET"]}, templates="default"),
            "packed": made(templates="default", dev=dev).compress(9000, force=True),
        }.items()
    }


def sections(data: bytes) -> tuple[dict[str, str], dict[str, Section]]:
    """The metadata, and type, shape and bytes of each array."""
    header, arrays = taken_apart(data)
    metadata = header.pop("__metadata__")
    return metadata, {
        name: (entry["dtype"], entry["shape"], arrays[slice(*entry["data_offsets"])])
        for name, entry in header.items()
    }


def put_together(metadata: dict[str, str], parts: dict[str, Section]) -> bytes:
    """A file of these."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    arrays = b""
    for name in sorted(parts, key=lambda name: (-item_size(parts[name][0]), name)):
        dtype, shape, data = parts[name]
        header[name] = {
            "dtype": dtype,
            "shape": shape,
            "data_offsets": [len(arrays), len(arrays) + len(data)],
        }
        arrays += data
    return resign(header, arrays)


def is_used(data: bytes) -> bool:
    """Load a model and do all that it can with it; was it taken?"""
    try:
        tagger = pn.Tagger.from_bytes(data)
    except pn.ModelError:
        return False
    labels = tagger.tag(WORDS, columns=tagger.columns)
    assert {len(tags) for tags in labels.values()} == {len(WORDS)}
    tagger.tag(WORDS, keep=[None, "?", tagger.labels[-1], None, None, None])
    tagger.explain(WORDS)
    tagger.scores(WORDS)
    tagger.tag_text(TEXT)
    filler = tagger.labelers.text_filler()
    if filler is not None:
        list(filler.texts(pn.open_corpus(io.BytesIO(TEXT.encode()), format="text"), int))
    if tagger.model.state is not None:
        # Numbers beyond all bounds are told when they are used.
        with contextlib.suppress(pn.PerceptronNLPError):
            tagger.resume([(["The", "old"], [tagger.labels[0]] * 2)], epochs=1)
    return True


@pytest.mark.parametrize("name", models())
def test_a_model_that_is_put_together_again_is_used(name: str) -> None:
    assert is_used(put_together(*sections(models()[name])))


@pytest.mark.parametrize("name", models())
def test_a_model_cut_at_any_border_of_its_sections_says_so(name: str) -> None:
    data = models()[name]
    header, arrays = taken_apart(data)
    del header["__metadata__"]
    start = len(data) - len(arrays)
    borders = {start + at for entry in header.values() for at in entry["data_offsets"]}
    for border in sorted(borders - {len(data)}):
        with pytest.raises(pn.ModelError, match=r"cut short: .* missing"):
            pn.Tagger.from_bytes(data[:border])


@pytest.mark.parametrize("name", models())
def test_sections_that_claim_sizes_near_the_limits_of_numbers_are_refused(name: str) -> None:
    header, arrays = taken_apart(models()[name])
    for section in header.keys() - {"__metadata__"}:
        for claim in (2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 1):
            for parts in (["shape"], [0], [1], ["shape", 1]):
                changed = json.loads(json.dumps(header))
                for part in parts:
                    if part == "shape":
                        changed[section]["shape"] = [claim]
                    else:
                        changed[section]["data_offsets"][part] = claim
                assert not is_used(resign(changed, arrays)), (section, claim, parts)


def test_a_section_given_twice_is_refused() -> None:
    data = models()["fixed"]
    length = int.from_bytes(data[:8], "little")
    text = data[8 : 8 + length].rstrip()
    entry = json.dumps(json.loads(text)["vocabulary"])
    twice = text[:-1] + b',"vocabulary":' + entry.encode() + b"}"
    with pytest.raises(pn.ModelError, match="header"):
        pn.Tagger.from_bytes(len(twice).to_bytes(8, "little") + twice + data[8 + length :])


def changed(name: str) -> Iterator[tuple[str, bytes]]:
    """The model with a section of another type, length or content."""
    chance = random.Random(name)
    metadata, parts = sections(models()[name])
    for section, (dtype, shape, data) in parts.items():
        size = item_size(dtype)
        for other in DTYPES.keys() - {dtype}:
            if len(data) % item_size(other) == 0:
                yield (
                    f"{section} as {other}",
                    put_together(
                        metadata, parts | {section: (other, [len(data) // item_size(other)], data)}
                    ),
                )
        for fill in (b"\0", b"\xff", b"\x80", b"\x7f"):
            yield (
                f"{section} filled with {fill!r}",
                put_together(metadata, parts | {section: (dtype, shape, fill * len(data))}),
            )
        for length in {0, 1, max(0, len(data) // size - 1)}:
            yield (
                f"{length} of {section}",
                put_together(metadata, parts | {section: (dtype, [length], data[: length * size])}),
            )
        for at in [chance.randrange(len(data)) for _ in range(4) if data]:
            yield (
                f"{section} changed at {at}",
                put_together(
                    metadata,
                    parts
                    | {
                        section: (
                            dtype,
                            shape,
                            data[:at]
                            + bytes([data[at] ^ 1 << chance.randrange(8)])
                            + data[at + 1 :],
                        )
                    },
                ),
            )


@pytest.mark.parametrize("name", models())
def test_changed_sections_are_refused_or_do_no_harm(name: str) -> None:
    taken = [what for what, data in changed(name) if is_used(data)]
    # Other weights make another model; other types, and what does not fit, make none.
    assert taken and not any(" as " in what for what in taken)


def test_columns_whose_table_of_combinations_would_be_endless_cannot_agree() -> None:
    metadata, parts = sections(models()["text"])
    described, more = json.loads(metadata["model"]), json.loads(metadata["more"])
    for model in (described, more[0]["model"]):
        assert model["column"] in ("upos", "xpos")
        model["labels"] += [f"~{number:04}" for number in range(4_000)]
    metadata |= {"model": json.dumps(described), "more": json.dumps(more)}
    with pytest.raises(pn.ModelError, match="agreement: of more than"):
        pn.Tagger.from_bytes(put_together(metadata, parts))


def test_sections_exchanged_between_models_are_refused_or_do_no_harm() -> None:
    tried = 0
    for one, other in itertools.permutations(models().values(), 2):
        metadata, parts = sections(one)
        for section, content in sections(other)[1].items():
            if parts.get(section) != content:
                is_used(put_together(metadata, parts | {section: content}))
                tried += 1
    assert tried > 100


def test_numbers_never_stand_where_the_machine_cannot_read_them() -> None:
    data = models()["fixed"]
    moved = memoryview(b"x" + data)[1:]
    arrays, _ = read_tensors(moved, "moved")
    assert all(array.flags.aligned for array in arrays.values())
    assert pn.Tagger.from_bytes(moved).tag(WORDS) == pn.Tagger.from_bytes(data).tag(WORDS)
