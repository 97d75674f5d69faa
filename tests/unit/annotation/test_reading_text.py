"""Which sentences of a text are read: all, the first, or some from all over a long one."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.annotation import Session
from perceptron_nlp.annotation.reading import read_pool

NUMBER = re.compile(r"\d+")


def numbered(form: str, count: int) -> str:
    """Sentences of which each says its number, as text."""
    if form == "conllu":
        rows = "1\tBoat\t_\t_\t_\t_\t_\t_\t_\t_\n2\t{}\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
        return "".join(f"# sent_id = n{n}\n" + rows.format(n) for n in range(count))
    end = {"lines": " .\n", "text": ". ", "endless": "。"}[form]
    head = {"lines": "The boat , number {}", "text": "The boat has number {}", "endless": "船是{}"}
    return "".join(head[form].format(n) + end for n in range(count))


@pytest.mark.parametrize("form", ["conllu", "lines", "text", "endless"])
def test_of_a_long_text_whole_sentences_are_read_from_all_over_it(
    tmp_path: Path, form: str
) -> None:
    path = tmp_path / "text"
    path.write_text(numbered(form, 6000), "utf-8")
    whole = {tuple(sentence) for sentence in pn.open_corpus(path)}
    found, said = read_pool(str(path), 200, spread=True)
    assert {tuple(sentence) for sentence in found} <= whole
    numbers = [int(NUMBER.findall(" ".join(sentence))[-1]) for sentence in found]
    assert numbers == sorted(set(numbers))
    assert 190 <= len(numbers) <= 200
    gaps = [later - one for one, later in zip([0, *numbers], [*numbers, 6000], strict=True)]
    assert max(gaps) < 120
    assert said is not None and said.startswith(f"the text is long: {len(numbers)} sentences")
    assert read_pool(path, 200, spread=True)[0] == found


def test_more_sentences_take_in_what_fewer_had(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text(numbered("lines", 6000), "utf-8")
    few, _ = read_pool(path, 200, spread=True)
    many, _ = read_pool(path, 500, spread=True)
    assert {tuple(s) for s in few} <= {tuple(s) for s in many}


def test_several_files_have_their_shares(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in "ab"]
    for path, count in zip(paths, (3000, 9000), strict=True):
        path.write_text(f"{path.name} boat , number 1 .\n" * count)
    found, _ = read_pool(paths, 400, spread=True)
    shares = [sum(sentence[0] == name for sentence in found) for name in "ab"]
    assert shares == [100, 300]


def test_in_the_order_of_the_text_or_without_a_plain_file_the_first_are_read(
    tmp_path: Path,
) -> None:
    path, packed = tmp_path / "text", tmp_path / "text.gz"
    path.write_text(numbered("lines", 300), "utf-8")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    lists = [list(sentence) for sentence in pn.open_corpus(path)]
    for source, spread in ((path, False), (packed, True), (lists, True), (iter(lists), True)):
        found, said = read_pool(source, 100, spread)
        assert [list(sentence) for sentence in found] == lists[:100]
        assert said is not None and said.startswith("the first 100 sentences")
    assert read_pool(path, 300, spread=True) == (list(pn.open_corpus(path)), None)


def test_work_on_some_sentences_goes_on_with_more(tmp_path: Path) -> None:
    path, out = tmp_path / "text", tmp_path / "gold.conllu"
    path.write_text(numbered("lines", 3000), "utf-8")
    with Session(path, out, sentences=200) as session:
        for _ in range(3):
            task = session.next()
            assert task is not None
            session.accept(["X"] * len(task.words))
    with Session(path, out, sentences=400) as session:
        assert session.progress().sentences == 3 and session.progress().waiting == 397


def test_a_broken_line_within_a_long_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "text.conllu"
    path.write_text(numbered("conllu", 3000).replace("2\t2990\t", "7\t2990\t"), "utf-8")
    with pytest.raises(pn.FormatError, match=r"text.conllu from byte \d+:"):
        read_pool(path, 2000, spread=True)
