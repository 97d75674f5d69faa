"""Feature keys are XXH64, as published and as the reference library computes it."""

from __future__ import annotations

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from perceptron_nlp._core.features.extract import hash64, hash64_each

PRIME32 = 2654435761
PRIME64 = 11400714785074694797
WORDS = st.integers(0, 2**64 - 1)


def sanity_buffer(size: int) -> bytes:
    """The buffer of the reference implementation's self test (xxHash, sanity_test.c)."""
    state, out = PRIME32, bytearray()
    for _ in range(size):
        out.append(state >> 56)
        state = state * PRIME64 % 2**64
    return bytes(out)


@pytest.mark.parametrize(
    ("size", "seed", "expected"),
    [
        (0, 0, 0xEF46DB3751D8E999),
        (0, PRIME32, 0xAC75FDA2929B17EF),
        (1, 0, 0xE934A84ADB052768),
        (1, PRIME32, 0x5014607643A9B4C3),
        (4, 0, 0x9136A0DCA57457EE),
        (14, 0, 0x8282DCC4994E35C8),
        (14, PRIME32, 0xC3BD6BF63DEB6DF0),
        (222, 0, 0xB641AE8CB691C174),
        (222, PRIME32, 0x20CB8AB7AE10C14A),
    ],
)
def test_the_published_vectors_hold(size: int, seed: int, expected: int) -> None:
    assert hash64(sanity_buffer(size), seed) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", 0xEF46DB3751D8E999),
        (b"a", 0xD24EC4F1A98C6E5B),
        (b"abc", 0x44BC2CF5AD770999),
        (b"Nobody inspects the spammish repetition", 0xFBCEA83C8A378BF1),
    ],
)
def test_the_values_that_other_libraries_print_hold(text: bytes, expected: int) -> None:
    assert hash64(text) == expected


@pytest.mark.parametrize("size", range(101))
def test_every_length_up_to_100_hashes_as_the_reference_library_does(size: int) -> None:
    data = bytes((7 * i + size) % 256 for i in range(size))
    for seed in (0, 1, 2**32, 2**63, 2**64 - 1):
        assert hash64(data, seed) == xxhash.xxh64_intdigest(data, seed)


@given(st.lists(st.binary(max_size=40)))
def test_many_strings_hash_as_one_by_one(strings: list[bytes]) -> None:
    assert hash64_each(strings).tolist() == [hash64(data) for data in strings]


@given(st.binary(max_size=300), WORDS)
def test_any_bytes_hash_as_the_reference_library_does(data: bytes, seed: int) -> None:
    assert hash64(data, seed) == xxhash.xxh64_intdigest(data, seed)
    assert hash64(bytearray(data), seed) == hash64(memoryview(data), seed) == hash64(data, seed)
