"""A treebank of Turkish from raw text: by the keys of a browser, and in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp.annotation import Session
from tests.unit.annotation.browsing import annotate_by_keys, opened, serving

TOKENS = 1000


def test_a_thousand_tokens_of_turkish_through_the_page_are_those_of_python(
    browser: Any, corpora: Path, tmp_path: Path
) -> None:
    stem = corpora / "treebanks" / "UD_Turkish-IMST" / "tr_imst-ud"
    gold: dict[tuple[str, ...], list[str]] = {}
    for sentence in pn.read_conllu(f"{stem}-train.conllu"):
        gold[sentence.words] = list(sentence.column("upos"))
    raw = tmp_path / "raw.txt"
    raw.write_text("".join(" ".join(words) + "\n" for words in gold), "utf-8")
    # A model names its file of labels, but not the folder.
    page_file, python_file = (tmp_path / name / "gold.conllu" for name in ("page", "python"))
    page_file.parent.mkdir()
    python_file.parent.mkdir()

    session = Session(raw, page_file, background=True)
    with serving(session) as server, opened(browser, server) as page:
        while session.progress().tokens < TOKENS:
            # A word with a space within is two here: there is no gold, and it is put off.
            annotate_by_keys(page, gold.get)
        by_keys = session.model

    with Session(raw, python_file) as session:
        while session.progress().tokens < TOKENS:
            task = session.next()
            assert task is not None
            labels = gold.get(task.words)
            if labels is None:
                session.skip()
            else:
                session.accept(labels)
    assert page_file.read_bytes() == python_file.read_bytes()
    assert session.model.to_bytes() == by_keys.to_bytes()
    accuracy = by_keys.evaluate(f"{stem}-test.conllu", column="upos").accuracy
    print(f"{TOKENS} tokens: {100 * accuracy:.1f} % on the test part")
    assert accuracy >= 0.79
