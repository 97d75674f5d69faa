"""H: words that strangers choose so that they collide."""

from __future__ import annotations

import hashlib
import itertools
import random
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

import perceptron_nlp as pn
from benchmarks.trust import samples
from benchmarks.trust.children import ROOT
from benchmarks.trust.reached import Reached
from perceptron_nlp._core.conllu.numbering import number_conllu
from perceptron_nlp._core.features.extract import hash64
from perceptron_nlp._core.text.cutter import TextCutter
from perceptron_nlp._core.text.lemmatizer import LemmaDecoder
from perceptron_nlp.tagger.model.lemmas import KnownLemmas
from perceptron_nlp.tagger.tag.label import decoder_of, make_labeler
from perceptron_nlp.text.atoms import class_page, word_numbers
from perceptron_nlp.text.tagset import WORD_PLACES

Words = npt.NDArray[np.uint64]

_P1, _P2, _P3, _P4, _P5 = (
    np.uint64(p)
    for p in (
        0x9E3779B185EBCA87,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0x85EBCA77C2B2AE63,
        0x27D4EB2F165667C5,
    )
)
# Inverses of the odd multipliers modulo 2^64.
_I1, _I2, _I3 = (np.uint64(pow(int(p), -1, 1 << 64)) for p in (_P1, _P2, _P3))


def _rotl(x: Words, r: int) -> Words:
    return (x << np.uint64(r)) | (x >> np.uint64(64 - r))


def _round(lane: Words) -> Words:
    return _rotl(lane * _P2, 31) * _P1


def _round_back(value: Words) -> Words:
    return _rotl(value * _I1, 33) * _I2


def _lane(h: Words, lane: Words) -> Words:
    return _rotl(h ^ _round(lane), 27) * _P1 + _P4


def _avalanche_back(h: Words) -> Words:
    h = h ^ (h >> np.uint64(32))
    h = h * _I3
    h = h ^ (h >> np.uint64(29)) ^ (h >> np.uint64(58))
    h = h * _I2
    return h ^ (h >> np.uint64(33))


def words_with(targets: Words, seed: int) -> list[str]:
    """Words of 16 printable characters whose XXH64 (seed 0) is one of the targets, taken in turn.

    The first 8 characters are drawn; the other 8 are what the hash, run backwards from its
    target, asks for. One draw in some 3,000 asks for printable ones.
    """
    source = np.random.default_rng(seed)
    found: list[str] = []
    start = _P5 + np.uint64(16)
    wanted = len(targets)
    while len(found) < wanted:
        n = 200_000
        letters = source.integers(33, 127, (n, 8), np.uint8)
        first = letters.view("<u8").reshape(-1)
        after = _lane(np.full(n, start), first)
        target = np.resize(targets[len(found) :], n)
        before_last = _rotl((_avalanche_back(target) - _P4) * _I1, 37)
        second = _round_back(before_last ^ after)
        bytes_ = second.astype("<u8").view(np.uint8).reshape(n, 8)
        good = np.flatnonzero(((bytes_ > 32) & (bytes_ < 127)).all(axis=1))
        for at in good:
            found.append(bytes(letters[at]).decode() + bytes(bytes_[at]).decode())
    words = list(dict.fromkeys(found[:wanted]))
    if hash64(words[0].encode()) not in set(targets.tolist()):
        raise AssertionError("the hash was not inverted")
    return words


def attacks(count: int) -> Iterator[tuple[str, list[str]]]:
    """Lists of distinct words that collide, in all of XXH64 or in a part of it."""
    source = np.random.default_rng(1)
    random = source.integers(0, 2**63, count).astype(np.uint64)
    yield "all 64 bits", words_with(np.full(count, np.uint64(0x123456789ABCDEF0)), 2)
    yield "low 32 bits", words_with((random << np.uint64(32)) | np.uint64(77), 3)
    yield "high 32 bits", words_with((random & np.uint64(0xFFFFFFFF)) | np.uint64(77 << 32), 4)
    yield "a row of numbers", words_with(np.arange(count, dtype=np.uint64) << np.uint64(40), 5)


def seconds(work: Callable[[], Any], times: int) -> float:
    """The least time of several runs, each on its own."""
    best = float("inf")
    for _ in range(times):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


def label_sets(count: int, n_labels: int = 128) -> list[list[int]]:
    """Distinct sets of numbers of as many labels, whose hashes as Python's frozensets are equal.

    That hash has no key: numbers are mixed each by itself, and combined by exclusive or. So sets
    that collide are the solutions of linear equations over two elements.
    """
    mixed = [(((n ^ 89869747) ^ (n << 16)) * 3644798167) % 2**64 for n in range(n_labels)]
    empty: list[int] = []  # sets as bits, whose mixed numbers cancel out
    rows: dict[int, tuple[int, int]] = {}
    for number, value in enumerate(mixed):
        bits = 1 << number
        while value and value.bit_length() in rows:
            other, with_it = rows[value.bit_length()]
            value, bits = value ^ other, bits ^ with_it
        if value:
            rows[value.bit_length()] = value, bits
        else:
            empty.append(bits)
    chance = random.Random(6)
    found: dict[int, None] = {}
    while len(found) < count:
        chosen = 0
        for one in empty:
            chosen ^= one * chance.randrange(2)
        if chosen.bit_count() == n_labels // 2:
            found[chosen] = None
    sets = [[n for n in range(n_labels) if one >> n & 1] for one in found]
    if len({hash(frozenset(one)) for one in sets}) > 1:
        raise AssertionError("the hash was not inverted")
    return sets


def crowded(count: int, place: Callable[[Words], Words], seed: int) -> list[str]:
    """Distinct words of eight letters that some hash puts into one part in 64 of a table.

    place : from the letters of words, a row each, to 64 bits of which the highest name a slot
    """
    source = np.random.default_rng(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        letters = source.integers(ord("a"), ord("z") + 1, (1 << 19, 8), np.uint8)
        with np.errstate(over="ignore"):
            good = place(letters.astype(np.uint64)) >> np.uint64(58) == 0
        found.update(dict.fromkeys(bytes(word).decode() for word in letters[good]))
    return list(found)[:count]


def _lemma_place(letters: Words) -> Words:
    """Where lemmas of the first part of speech stood before their hash had a secret base."""
    value = np.zeros(len(letters), np.uint64)
    for letter in letters.T:
        value = value * np.uint64(0x9E3779B97F4A7C15) + letter + np.uint64(1)
    value = (value ^ value >> np.uint64(29)) * _P1
    return (value ^ value >> np.uint64(32)) * _P3


def _certain_place(letters: Words) -> Words:
    """Where words that know the places beside them stood before their table had a key."""
    value = _P5 + np.uint64(8)
    value = _lane(value, letters.astype(np.uint8).view("<u8").reshape(-1))
    value = (value ^ value >> np.uint64(33)) * _P2
    value = (value ^ value >> np.uint64(29)) * _P3
    return (value ^ value >> np.uint64(32) | np.uint64(1)) * _P1


_PROBE = re.compile(r"\(\w+ \+ (?:1|\(size_t\)\w+)\) & ")
_FUNCTION = re.compile(r"^(?:    )?(?:static|cdef) .*?(\w+)\(", re.MULTILINE)


def probing() -> set[tuple[str, str]]:
    """The file and the name of each function of the core that goes from slot to slot of a table."""
    core = ROOT / "perceptron_nlp" / "_core"
    found = set()
    for path in (path for kind in ("h", "pyx", "pxd") for path in core.glob(f"*/*.{kind}")):
        text = path.read_text("utf-8")
        for probe in _PROBE.finditer(text):
            *_, function = _FUNCTION.finditer(text, 0, probe.start())
            found.add((path.relative_to(core).as_posix(), function[1]))
    return found


def flooding(full: bool) -> Reached:
    """H1: what collides costs what as much else costs, in every table that strangers can fill.

    Words of lists and of files, in tagging and in training; names of features, when a classifier
    is fitted and when it predicts; the sets of labels of a lexicon; and the known lemmas of a model
    and its words beside which tokens end. The tables are those that the sources show.
    """
    # Beside other tests a factor of 2 may be chance; without the secret keys it is above 10.
    most, count = (2, 20_000) if full else (5, 8_000)
    slow, worst = [], 0.0
    plain = samples.random_words(count, 5)
    attacked = dict(attacks(count) if full else itertools.islice(attacks(count), 2))
    for work, name in FLOODED:
        usual = work(plain)
        names = attacked if full else (name,)
        factors = [work(attacked[one]) / usual for one in names]
        slow.append(f"{work.__name__[1:].replace('_', ' ')} {max(factors):.2f}×")
        worst = max(worst, *factors)
    for other, place in ((_known_lemmas, _lemma_place), (_certain_words, _certain_place)):
        usual = other(crowded(count, lambda letters: np.zeros(len(letters), np.uint64), 8))
        factor = other(crowded(count, place, 9)) / usual
        slow.append(f"{other.__name__[1:].replace('_', ' ')} {factor:.2f}×")
        worst = max(worst, factor)
    factor = _lexicon(label_sets(count // 2)) / _lexicon(_other_sets(count // 2))
    slow.append(f"lexicon {factor:.2f}×")
    slow += [f"{path}: {name} has no check" for path, name in sorted(probing() ^ PROBED.keys())]
    return Reached(", ".join(slow), max(worst, factor) <= most and probing() == PROBED.keys())


def _tagging(words: list[str]) -> float:
    """Seconds of processor time to tag a text of these words three times over."""
    model, sentences = samples.small_model(), _sentences(words)
    return seconds(lambda: pn.Tagger.from_bytes(model).tag_sents(sentences * 3), 3)


def _training(words: list[str]) -> float:
    """Seconds of processor time to learn from these words."""
    labeled = [(sentence, [_label(word) for word in sentence]) for sentence in _sentences(words)]
    return seconds(lambda: pn.train(labeled, epochs=1), 2)


def _training_from_a_file(words: list[str]) -> float:
    """The same from CoNLL-U, which is read another way; the reading alone, several times."""
    text = "".join(
        "".join(
            f"{n}\t{word}\t_\t{_label(word)}" + 6 * "\t_" + "\n" for n, word in enumerate(one, 1)
        )
        + "\n"
        for one in _sentences(words)
    ).encode()
    return seconds(
        lambda: number_conllu([text], [1, 3], underscore_is_none=False, digest=hashlib.sha256()), 3
    )


def _fitting(words: list[str]) -> float:
    """Seconds of processor time to fit a classifier to samples of features of these names."""
    samples = _sentences(words)
    labels = [_label(sample[0]) for sample in samples]
    return seconds(lambda: pn.PerceptronClassifier(max_iter=1).fit(samples, labels), 3)


def _predicting(words: list[str]) -> float:
    """Seconds of processor time to predict with what was fitted to them."""
    samples = _sentences(words)
    labels = [_label(sample[0]) for sample in samples]
    classifier = pn.PerceptronClassifier(max_iter=1).fit(samples, labels)
    return seconds(lambda: classifier.predict(samples), 3)


# With the attack that was worst for it before its table had a key.
FLOODED = (
    (_tagging, "all 64 bits"),
    (_training, "all 64 bits"),
    (_training_from_a_file, "all 64 bits"),
    (_fitting, "low 32 bits"),
    (_predicting, "low 32 bits"),
)


# Who floods each table of the core, by the functions that go from slot to slot of it.
PROBED: dict[tuple[str, str], str] = {
    ("conllu/numbering.h", "numbering_of"): "training from a file",
    ("conllu/numbering.h", "numbering_put"): "training from a file",
    ("model/frozen.h", "frozen_next"): "tagging",
    ("table/probe.h", "index_find"): "training",
    ("table/probe.h", "index_put"): "training",
    ("tag/typecache.h", "cache_free_slot"): "tagging",
    ("tag/typecache.h", "type_find"): "tagging",
    ("text/atoms.h", "place_at"): "certain words",
    ("text/writer.h", "lemma_find"): "tagging: its hash of words",
    ("text/writer.h", "lemma_lay_slots"): "tagging: its hash of words",
    ("text/lemmas.h", "known_lemmas_open"): "known lemmas",
    ("text/lemmas.h", "lemma_made"): "known lemmas",
    ("train/walk.pxd", "length_of"): "nobody: no table",
}


def _known_lemmas(lemmas: list[str]) -> float:
    """Seconds of processor time until a model that knows these lemmas can find any."""
    model = pn.load("en").by_column["lemma"].model
    known = KnownLemmas("", ["l,0,,0,"], {f"{lemma}\tNOUN": 0 for lemma in lemmas})
    derived = tuple(known if isinstance(one, KnownLemmas) else one for one in model.derived)
    labeler = make_labeler(model.replace(derived=derived))
    made = labeler.lemma_decoder([["NOUN"] for _ in labeler.needed_columns])
    assert made is not None
    return seconds(lambda: LemmaDecoder(*made), 3)


def _certain_words(words: list[str]) -> float:
    """Seconds of processor time until a model cuts text that makes places beside words certain."""
    segmentation = pn.load("en").model.segmentation
    assert segmentation is not None
    decoder = decoder_of(segmentation.cut)
    known = word_numbers({"before": {WORD_PLACES[0]: {"T": words}}})
    return seconds(
        lambda: TextCutter(decoder, {}, known, {}, class_page, None, [], [], [], 40_000, 0), 3
    )


def _lexicon(sets: list[list[int]]) -> float:
    """Seconds of processor time to hold forms to these sets of labels."""
    labels = [f"L{n:03}" for n in range(128)]
    tagger = pn.train([(["a"] * len(labels), labels)], epochs=1)
    lexicon = {f"w{n}": [labels[one] for one in chosen] for n, chosen in enumerate(sets)}
    return seconds(lambda: tagger.with_lexicon(lexicon), 2)


def _other_sets(count: int) -> list[list[int]]:
    chance = random.Random(7)
    return [sorted(chance.sample(range(128), 64)) for _ in range(count)]


def _sentences(words: list[str]) -> list[list[str]]:
    return [words[at : at + 20] for at in range(0, len(words), 20)]


def _label(word: str) -> str:
    return "A" if len(set(word)) % 2 else "B"


def collisions(full: bool) -> Reached:
    """H2: a fixed table reports how many features share a row; an exact one has none."""
    del full
    sentences = list(pn.open_corpus(samples.TRAIN))[:150]
    wrong = []
    rates = {}
    for bits in (None, 12, 16):
        tagger = pn.train(sentences, column="upos", epochs=1, table_bits=bits)
        found = pn.inspect(tagger)
        rates[bits] = found.columns[0].collision_rate
        said = found.to("text")
        if "coll" not in said:
            wrong.append(f"table_bits={bits}: not reported")
    features = pn.train(sentences, column="upos", epochs=1).model.weights.n_rows
    # Of n features thrown into B rows, a share of 1 - exp(-n / B) of the rows is used.
    for bits in (12, 16):
        expected = 1 - np.exp(-features / 2**bits)
        if abs(rates[bits] - expected) > 0.05:
            wrong.append(f"2^{bits} rows: {rates[bits]:.3f} for {expected:.3f}")
    if rates[None] != 0:
        wrong.append("exact keys collide")
    return Reached(
        f"exact 0 %, 2^12 rows {100 * rates[12]:.1f} %, 2^16 rows {100 * rates[16]:.1f} %, by"
        f" inspect{'; ' if wrong else ''}{'; '.join(wrong)}",
        not wrong,
    )
