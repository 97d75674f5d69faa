"""The fast decoder gives exactly the labels and the scores of a slow one in plain Python.

Caches, dense vectors, memos, tables of tags, and sentences side by side are all invisible.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from oracles.greedy_tagging import Row, SlowTagger
from oracles.word_views import feature_key, text_hash

from perceptron_nlp._core.features.extract import FeatureProgram, hash64
from perceptron_nlp._core.model.frozenmodel import CacheMemory
from perceptron_nlp._core.tag.decode import BATCH_TOKENS, SentenceDecoder
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError
from perceptron_nlp.features.templatefile import preset
from perceptron_nlp.features.templates import CompiledTemplates, Template, compile_templates

ATOMS = [
    "word[0]",
    "lower[0]",
    "lower[-1]",
    "lower[1]",
    "norm[2]",
    "word[-8]",
    "lower[8]",
    "lower.suffix2[0]",
    "word.prefix1[-1]",
    "shape[0]",
    "shape4[1]",
    "flags[0]",
    "allcaps[-2]",
    "first",
    "last",
    "bias",
    "tag[-1]",
    "tag[-1]",
    "tag[-2]",
    "tag[-3]",
    "tag[-4]",
    "column:x[0]",
    "column:x[-1]",
    "column:x.word.suffix1[1]",
    "column:y.shape[0]",
]
GRAMS = [
    "word.ngrams1-2[0]",
    "lower.ngrams2-4[-1] shape[-1]",
    "word.ngrams3-3[1]",
    "column:x.word.ngrams1-3[0]",
    "word.pieces[-1]",
    "column:x.word.pieces[0]",
]
FIXED_FORMS = [
    "lower[0]",
    "word[0]",
    "shape[1]",
    "first shape[0]",
    "last lower[1]",
    "tag[-1]",
    "tag[-2]",
    "tag[-1] tag[-2]",
    "tag[-2] tag[-1]",
    "tag[-1] lower[0]",
    "tag[-1] word[0] shape[0]",
    "tag[-1] lower[1]",
    "tag[-1] tag[-2] lower[0]",
    "lower[-1] lower[0]",
    "first last",
    "tag[-3]",
    "tag[-4] tag[-1]",
    "bias",
    "first",
    "last bias",
    "tag[-1] first",
    "tag[-1] column:x[0]",
    "first column:x[-1]",
]
TEMPLATE = (
    st.sampled_from(FIXED_FORMS)
    | st.lists(st.sampled_from(ATOMS), min_size=1, max_size=4, unique=True).map(" ".join)
    | st.sampled_from(GRAMS)
).map(Template.parse)
TEMPLATES = st.lists(TEMPLATE, min_size=1, max_size=8, unique=True)

WORDS = [
    "the",
    "The",
    "THE",
    "a",
    "",
    "cat",
    "cats",
    "won't",
    "co-op",
    "1984",
    "straße",
    "İ",
    "Σ",
    "ΌΔΟΣ",
    "e\u0301",
    "👍",
    "\ud800",
    "x" * 60,
    "中文字",
    "a|b||ß",
]
WORD = st.sampled_from(WORDS) | st.text(max_size=5)
SENTENCE = st.lists(WORD, max_size=9) | st.lists(st.sampled_from(WORDS[:6]), max_size=40)


@dataclass
class Model:
    """A random model: each row is a function of its key, so that both decoders can have it."""

    n_labels: int
    seed: int
    heaviest: int
    density: float
    table_bits: int | None

    def __post_init__(self) -> None:
        self.rows: dict[int, Row] = {}
        self.labels = [f"L{i}" for i in range(self.n_labels)]

    def row_of(self, key: int) -> Row:
        row = key if self.table_bits is None else key >> (64 - self.table_bits)
        if row not in self.rows:
            self.rows[row] = self._make(random.Random(f"{self.seed} {row}"))
        return self.rows[row]

    def _make(self, rng: random.Random) -> Row:
        if rng.random() > self.density:
            return {}
        count = rng.choice([1, 2, 2, 3, 5, self.n_labels])
        chosen = sorted(rng.sample(range(self.n_labels), min(count, self.n_labels)))
        return {label: rng.choice([-1, 1]) * rng.randint(1, self.heaviest) for label in chosen}

    def decoder(
        self,
        compiled: CompiledTemplates,
        *,
        cache_size: int,
        right_to_left: bool,
        dictionary: dict[str, int],
    ) -> SentenceDecoder:
        """The fast decoder with all rows made so far."""
        rows = sorted((row, cells) for row, cells in self.rows.items() if cells)
        cells = [cell for _, row in rows for cell in row.items()]
        return SentenceDecoder(
            FeatureProgram(compiled),
            keys=np.array([row for row, _ in rows], np.uint64),
            starts=np.cumsum([0, *(len(row) for _, row in rows)]),
            cell_labels=np.array([label for label, _ in cells], np.uint16),
            weights=np.array([weight for _, weight in cells], np.int16),
            labels=self.labels,
            table_bits=self.table_bits,
            right_to_left=right_to_left,
            label_hashes=np.array([text_hash(label) for label in self.labels], np.uint64),
            dictionary={w.encode("utf-8", "surrogatepass"): k for w, k in dictionary.items()},
            memory=CacheMemory(cache_size),
            # What stands for a mark that is not known is told by test_marks.py.
            as_written=True,
        )


MODEL = st.builds(
    Model,
    st.sampled_from([1, 2, 3, 7, 8, 9, 16, 17, 24, 40, 63, 64, 65, 70, 200]),
    st.integers(0, 2**32),
    st.sampled_from([1, 2, 5, 1000, 32767]),
    st.sampled_from([0.2, 0.7, 1.0]),
    st.sampled_from([None, None, 1, 6, 12]),
)


def check(
    templates: Sequence[Template],
    model: Model,
    sentences: list[list[str]],
    *,
    cache_size: int = 64 << 20,
    right_to_left: bool = False,
    dictionary: dict[str, int] | None = None,
) -> None:
    compiled = compile_templates(templates)
    dictionary = {w: k % model.n_labels for w, k in (dictionary or {}).items()}
    batch = [
        {
            name: sentence if name == "form" else [f"{name}{w[:1]}" for w in sentence]
            for name in compiled.columns
        }
        for sentence in sentences
    ]
    slow = SlowTagger(templates, model.labels, model.row_of, right_to_left, dictionary)
    expected = [slow.tag(columns) for columns in batch]
    fast = model.decoder(
        compiled, cache_size=cache_size, right_to_left=right_to_left, dictionary=dictionary
    )
    given = [
        s if len(compiled.columns) == 1 else tuple(columns.values())
        for s, columns in zip(sentences, batch, strict=True)
    ]
    tagged = [[model.labels[k] for k in labels] for labels, _ in expected]
    for _ in range(2):
        assert fast.tag(given) == tagged  # type: ignore[arg-type]
        assert [fast.tag([sentence])[0] for sentence in given] == tagged  # type: ignore[list-item]
        for sentence, (labels, scores) in zip(given, expected, strict=True):
            found, sums = fast.tag_scored([sentence])  # type: ignore[arg-type]
            assert found.tolist() == labels
            assert [row for row, want in zip(sums.tolist(), scores, strict=True) if want] == [
                want for want in scores if want
            ]


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(
    templates=TEMPLATES,
    model=MODEL,
    sentences=st.lists(SENTENCE, max_size=12),
    cache_size=st.sampled_from([1, 1000, 10_000, 64 << 20]),
    right_to_left=st.booleans(),
    dictionary=st.dictionaries(st.sampled_from(WORDS), st.integers(0, 199), max_size=3),
)
@example([Template.parse("word[0]")], Model(3, 1, 5, 1.0, None), [[""]], 1, False, {})
@example([Template.parse("tag[-1]")], Model(2, 1, 5, 1.0, None), [[], ["a"], []], 1, True, {})
def test_the_fast_decoder_is_the_slow_one(
    templates: list[Template],
    model: Model,
    sentences: list[list[str]],
    cache_size: int,
    right_to_left: bool,
    dictionary: dict[str, int],
) -> None:
    check(
        templates,
        model,
        sentences,
        cache_size=cache_size,
        right_to_left=right_to_left,
        dictionary=dictionary,
    )


@pytest.mark.parametrize("n_labels", [2, 17, 64, 65, 200])
@pytest.mark.parametrize("name", ["default", "classic", "fast"])
def test_the_presets_decode_as_the_slow_one_in_both_directions(name: str, n_labels: int) -> None:
    rng = random.Random(n_labels)
    sentences = [
        [
            rng.choice(WORDS) + rng.choice(["", "s", "ed", "-1"])
            for _ in range(rng.choice([1, 3, 8]))
        ]
        for _ in range(6)
    ]
    for right_to_left in (False, True):
        check(
            preset(name),
            Model(n_labels, 7, 9, 0.8, None),
            sentences,
            cache_size=5_000,
            right_to_left=right_to_left,
        )


def test_ties_go_to_the_lowest_label() -> None:
    for n_labels in (2, 17, 70):
        model = Model(n_labels, 3, 1, 1.0, None)
        check([Template.parse("word[0]"), Template.parse("tag[-1]")], model, [WORDS] * 2)
    nothing = Model(70, 3, 1, 0.0, None)
    check([Template.parse("word[0]")], nothing, [["a", "b"]])
    decoder = nothing.decoder(
        compile_templates([Template.parse("word[0]")]),
        cache_size=1,
        right_to_left=False,
        dictionary={},
    )
    assert decoder.tag([["a", "b"]]) == [["L0", "L0"]]


@pytest.mark.parametrize("n_labels", [5, 80])
def test_sentences_longer_than_a_batch_and_many_short_ones_decode_alike(n_labels: int) -> None:
    rng = random.Random(5)
    long = [rng.choice(WORDS[:10]) for _ in range(BATCH_TOKENS + 500)]
    short = [[rng.choice(WORDS[:10])] * rng.randint(0, 3) for _ in range(1200)]
    templates = [
        Template.parse(t)
        for t in (
            "lower[0]",
            "tag[-1] lower[0]",
            "tag[-1] tag[-2]",
            "first shape[0]",
            "lower[-1] lower[0]",
        )
    ]
    check(templates, Model(n_labels, 2, 50, 0.8, None), [long[:300], *short, long])


@pytest.mark.parametrize("limit", [1, 10_000, 50_000])
def test_the_cache_stays_below_its_limit_and_changes_nothing(limit: int) -> None:
    templates = [Template.parse(t) for t in ("lower[0]", "lower[1]", "tag[-1] lower[0]")]
    sentences = [[f"w{i}", f"w{i // 2}", "the"] for i in range(400)]
    model = Model(4, 1, 9, 0.9, None)
    check(templates, model, sentences, cache_size=limit)
    decoder = model.decoder(
        compile_templates(templates), cache_size=limit, right_to_left=False, dictionary={}
    )
    for sentence in sentences:
        decoder.tag([sentence])
    assert decoder.cache_counts[1] <= max(decoder.memory.n_words, 64)


@pytest.mark.parametrize("n_labels", [5, 80])
def test_a_full_cache_begins_anew(n_labels: int) -> None:
    rng = random.Random(4)
    templates = [Template.parse(t) for t in ("lower[0]", "lower[1]", "tag[-1] lower[0]")]
    again = [f"again{i}" + "-and-a-long-word" * (i % 3) for i in range(200)]
    text, new = [], 0
    for _ in range(3000):
        text.append(
            [rng.choice(again) for _ in range(6)] + [f"{new + i}-new-word" for i in range(6)]
        )
        new += 6
    model = Model(n_labels, 1, 9, 0.6, None)
    SlowTagger(templates, model.labels, model.row_of).tag(
        {"form": [w for words in text[:60] for w in words]}
    )
    compiled = compile_templates(templates)
    large = model.decoder(compiled, cache_size=1 << 30, right_to_left=False, dictionary={})
    labels = large.tag(text)
    room = 4000 * ((1 << 30) // large.memory.n_words)
    small = model.decoder(compiled, cache_size=room, right_to_left=False, dictionary={})
    assert small.tag(text) == labels
    misses, held = small.cache_counts
    assert held <= 4000 + BATCH_TOKENS
    times_full = 1 + new // (4000 - BATCH_TOKENS)
    assert large.cache_counts[0] < misses <= large.cache_counts[0] + times_full * len(again)


def small_decoder() -> SentenceDecoder:
    return Model(2, 1, 3, 1.0, None).decoder(
        compile_templates([Template.parse("word[0]"), Template.parse("column:x[0]")]),
        cache_size=1_000,
        right_to_left=False,
        dictionary={},
    )


@pytest.mark.parametrize(
    ("sentences", "error", "message"),
    [
        ([(["a"], ["b"], ["c"])], ArgumentError, r"sentences[0]: 2 columns are needed, not 3"),
        (
            [(["a"], ["b"]), (["a"], ["b", "c"])],
            ArgumentError,
            "sentences[1]: its columns have 1, 2",
        ),
        ([(["a"], [1])], ArgumentTypeError, "sentences[0][0]: a str is needed, not int"),
        (
            [("ab", ["b"])],
            ArgumentTypeError,
            "sentences[0]: a list of words is needed, not one str",
        ),
        (
            [(["a"], None)],
            ArgumentTypeError,
            "sentences[0]: a list of words is needed, not NoneType",
        ),
    ],
)
def test_columns_that_do_not_fit_are_refused_with_the_number_of_the_sentence(
    sentences: list[tuple[object, ...]], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        small_decoder().tag(sentences)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_after_an_error_the_decoder_goes_on_as_before() -> None:
    decoder = small_decoder()
    good = [(["a", "b"], ["c", "d"])]
    before = decoder.tag(good)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError):
        decoder.tag([good[0], (["a", None], ["b", "c"])])  # type: ignore[list-item]
    assert decoder.tag(good) == before  # type: ignore[arg-type]


def test_the_same_key_twice_is_refused() -> None:
    program = FeatureProgram(compile_templates([Template.parse("word[0]")]))
    with pytest.raises(ArgumentError, match="keys: row 0 and row 1 have the same key"):
        SentenceDecoder(
            program,
            keys=np.array([5, 5], np.uint64),
            starts=np.array([0, 1, 2]),
            cell_labels=np.array([0, 1], np.uint16),
            weights=np.array([1, 1], np.int16),
            labels=["A", "B"],
            label_hashes=np.array([1, 2], np.uint64),
        )


@pytest.mark.parametrize("cells", [[3, 1], [1, 1], [2, 70], [65535, 1]])
def test_labels_that_cannot_be_searched_for_in_their_row_are_refused(cells: list[int]) -> None:
    program = FeatureProgram(compile_templates([Template.parse("word[0]")]))
    with pytest.raises(ArgumentError, match=r"cell_labels: those of row 1 do not ascend within"):
        SentenceDecoder(
            program,
            keys=np.array([5, 6], np.uint64),
            starts=np.array([0, 1, 3]),
            cell_labels=np.array([0, *cells], np.uint16),
            weights=np.ones(3, np.int16),
            labels=[f"L{k}" for k in range(70)],
            label_hashes=np.arange(70, dtype=np.uint64),
        )


@pytest.mark.parametrize("n_labels", [2, 40, 70])
def test_keys_that_share_their_lower_half_are_told_apart(n_labels: int) -> None:
    compiled = compile_templates([Template.parse("word[0]")])
    own = {word: feature_key([hash64(word.encode())], compiled.seeds[0]) for word in "abc"}
    keys = [own["a"], own["b"]]
    keys += [key ^ (high << 32) for key in own.values() for high in range(1, 400)]
    decoder = SentenceDecoder(
        FeatureProgram(compiled),
        keys=np.array(keys, np.uint64),
        starts=np.arange(len(keys) + 1),
        cell_labels=np.array([1, 1, *[0] * (len(keys) - 2)], np.uint16),
        weights=np.array([5, 7, *[9] * (len(keys) - 2)], np.int16),
        group_starts=[0, len(keys)],
        labels=[f"L{k}" for k in range(n_labels)],
        label_hashes=np.arange(n_labels, dtype=np.uint64),
    )
    labels, scores = decoder.tag_scored([["a", "b", "c", "d"]])
    assert labels.tolist() == [1, 1, 0, 0]
    assert scores[:, :2].tolist() == [[0, 5], [0, 7], [0, 0], [0, 0]]
    assert decoder.score(np.array(keys[2:4], np.uint64))[0] == 18
