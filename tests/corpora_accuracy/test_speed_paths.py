"""On real treebanks the fast ways of tagging give what the plain ways give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import perceptron_nlp as pn

TREEBANKS = (
    "UD_English-EWT/en_ewt-ud",
    "UD_French-Sequoia/fr_sequoia-ud",
    "UD_Greek-GDT/el_gdt-ud",
    "UD_Turkish-IMST/tr_imst-ud",
)


@pytest.mark.parametrize("name", TREEBANKS)
@pytest.mark.parametrize("templates", ["fast", "default"])
def test_files_and_plain_c_and_small_caches_give_the_same_labels(
    corpora: Path, name: str, templates: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stem = corpora / "treebanks" / name
    dev, test = (stem.with_name(f"{stem.name}-{part}.conllu") for part in ("dev", "test"))
    tagger = pn.train(
        dev, epochs=2, update="perceptron", templates=templates, beam=1, right_to_left=False
    )
    sentences = list(pn.read_conllu(test))
    words = [list(sentence.words) for sentence in sentences]
    labels = tagger.tag_sents(words)
    assert tagger.tag_sents(words, threads=2) == labels
    data = tagger.to_bytes()
    assert pn.Tagger.from_bytes(data, cache_size=20_000).tag_sents(words) == labels
    monkeypatch.setenv("PERCEPTRON_NLP_PORTABLE", "1")
    plain = pn.Tagger.from_bytes(data)
    assert plain.tag_sents(words) == labels
    for sentence in words[:50]:
        assert np.array_equal(plain.scores(sentence), tagger.scores(sentence))
    with pn.open_corpus(test) as corpus:
        fill = tagger.labelers.filler(corpus)
        assert fill is not None
        filled = [fill(piece) for piece in iter(lambda: corpus.take_blocks(1 << 20), b"")]
    with pn.open_corpus(test) as corpus:
        rewritten = [
            corpus.rewrite(s, {"upos": given}) for s, given in zip(corpus, labels, strict=True)
        ]
    assert None not in filled
    assert b"".join(piece or b"" for piece in filled) == "".join(rewritten).encode()
