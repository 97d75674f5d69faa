"""The keys of a token's features, straight from the templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import xxhash

from oracles.word_views import feature_key, seen, text_hash
from perceptron_nlp.features.templates import Atom, Template


def mark(name: bytes) -> int:
    """Hashes that no word can have: no UTF-8 text holds the byte 0xFF."""
    return xxhash.xxh64_intdigest(b"\xff" + name)


def atom_hashes(
    atom: Atom, columns: Mapping[str, Sequence[str]], i: int, past: Sequence[str]
) -> list[int]:
    """`past` holds the labels given so far, the last one first."""
    n = len(columns["form"])
    if atom.kind == "tag":
        back = -atom.offset - 1
        return [text_hash(past[back]) if back < len(past) else mark(b"start")]
    if atom.kind == "bias":
        return [mark(b"bias")]
    if atom.kind in ("first", "last"):
        yes = i == (0 if atom.kind == "first" else n - 1)
        return [mark(b"yes" if yes else b"no")]
    assert atom.value is not None
    place = i + atom.offset
    if 0 <= place < n:
        return [text_hash(text) for text in seen(columns[atom.value.column][place], atom.value)]
    if atom.value.affix in ("ngrams", "pieces"):
        return []
    distance = -place if place < 0 else place - n + 1
    return [mark(b"%c%d" % (b"L"[0] if place < 0 else b"R"[0], distance))]


def template_keys(
    template: Template, columns: Mapping[str, Sequence[str]], i: int, past: Sequence[str]
) -> list[int]:
    """The keys that one template has for token i."""
    seed = xxhash.xxh64_intdigest(str(template).encode())
    hashes = [atom_hashes(atom, columns, i, past) for atom in template.atoms]
    return [feature_key(words, seed) for words in product(*hashes)]


def has_history(template: Template) -> bool:
    return any(atom.kind == "tag" for atom in template.atoms)
