"""``pn.validate``: the rules of Universal Dependencies for CoNLL-U."""

from __future__ import annotations

import io
import lzma
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp.formats.ud_rules import RULES
from perceptron_nlp.formats.validation import Validator

GOOD = """\
# sent_id = a-1
# text = Vou ao sítio, disse.
1\tVou\tir\tVERB\t_\tMood=Ind|Number=Sing\t0\troot\t0:root\t_
2-3\tao\t_\t_\t_\t_\t_\t_\t_\t_
2\ta\ta\tADP\t_\t_\t4\tcase\t4:case\t_
3\to\to\tDET\t_\tPronType=Art,Dem\t4\tdet\t4:det\t_
4\tsítio\tsítio\tNOUN\t_\t_\t1\tobl\t1:obl:a\tSpaceAfter=No
5\t,\t,\tPUNCT\t_\t_\t6\tpunct\t6:punct\t_
6\tdisse\tdizer\tVERB\t_\t_\t1\tparataxis\t1:parataxis|4:dep\tSpaceAfter=No|Lang=pt
6.1\tele\tele\tPRON\t_\t_\t_\t_\t6:nsubj\tCopyOf=4
7\t.\t.\tPUNCT\t_\t_\t1\tpunct\t1:punct\t_

"""
# What is put in place of what, the rule that it breaks, and the line.
BROKEN: list[tuple[str, str, str, int]] = [
    ("sítio,", "s\udce9tio,", "invalid-utf8", 2),
    ("# sent_id", "\ufeff# sent_id", "byte-order-mark", 1),
    ("\n", "\r\n", "carriage-return", 1),
    ("# sent_id", "\n# sent_id", "extra-empty-line", 1),
    ("\n\n", "\n", "missing-empty-line", 11),
    ("\n\n", "", "missing-empty-line", 11),
    ("\n\n", "\n\n# newdoc\n\n", "empty-sentence", 13),
    ("\ta\ta\tADP", "\ta\tADP", "fields", 5),
    ("\ta\ta\tADP", "\ta\t\tADP", "fields", 5),
    ("4\tsítio", "5\tsítio", "ids", 7),
    ("2-3\tao", "2-8\tao", "ids", 4),
    ("6.1\tele", "5.1\tele", "ids", 10),
    ("\tir\t", "\t ir\t", "leading-whitespace", 3),
    ("\tir\t", "\tir\u00a0\t", "trailing-whitespace", 3),
    ("\tir\t", "\ti  r\t", "repeated-whitespace", 3),
    ("4:det", "4:d t", "invalid-whitespace", 6),
    ("2-3\tao", "2-3\ta o", "invalid-whitespace-mwt", 4),
    ("\tsítio\tNOUN", "\tsi\u0301tio\tNOUN", "unicode-normalization", 7),
    ("# sent_id = a-1\n", "", "missing-sent-id", 1),
    ("# text", "# sent_id = b\n# text", "multiple-sent-id", 2),
    ("a-1", "a 1", "invalid-sent-id", 1),
    ("a-1", "a/1", "slash-in-sent-id", 1),
    ("\n\n", "\n\n" + GOOD, "non-unique-sent-id", 13),
    ("# text = Vou ao sítio, disse.\n", "", "missing-text", 1),
    ("# text", "# text = Vou\n# text", "multiple-text", 3),
    ("disse.\n", "disse. \n", "text-trailing-whitespace", 2),
    ("Vou ao", "Vou no", "text-form-mismatch", 4),
    ("\tSpaceAfter=No\n", "\t_\n", "missing-spaceafter", 7),
    ("disse.", "disse. Sim.", "text-extra-chars", 11),
    ("det\t_", "det\tSpaceAfter=Yes", "spaceafter-value", 6),
    ("CopyOf=4", "SpaceAfter=No", "spaceafter-empty-node", 10),
    ("det\t_", "det\tSpaceAfter=No", "spaceafter-mwt-node", 6),
    ("CopyOf=4", r"SpacesAfter=\q", "misc-spaces", 10),
    ("|Lang", "||Lang", "empty-misc", 9),
    ("|Lang", "| Lang", "misc-extra-space", 9),
    ("|Lang=pt", "|Lang=pt|Lang=en", "repeated-misc", 9),
    ("\tNOUN", "\tnoun", "unknown-upos", 7),
    ("\tNOUN", "\t_", "missing-upos", 7),
    ("Art,Dem", "art", "invalid-feature", 6),
    ("Mood=Ind|Number=Sing", "Number=Sing|Mood=Ind", "unsorted-features", 3),
    ("Mood=Ind|Number=Sing", "Mood=Ind|Mood=Sub", "repeated-feature", 3),
    ("Art,Dem", "Dem,Art", "unsorted-feature-values", 6),
    ("Art,Dem", "Art,Art", "repeated-feature-value", 6),
    ("ao\t_", "ao\ta", "nonempty-field", 4),
    ("_\t_\t6:nsubj", "1\t_\t6:nsubj", "nonempty-field", 10),
    ("4\tdet\t", "9\tdet\t", "invalid-head", 6),
    ("4\tdet\t", "x\tdet\t", "invalid-head", 6),
    ("4\tdet\t", "3\tdet\t", "head-self-loop", 6),
    ("4\tdet\t", "_\tdet\t", "missing-head", 6),
    ("0\troot\t", "4\tdep\t", "missing-root", 3),
    ("4\tdet\t", "0\troot\t", "multiple-roots", 6),
    ("1\tobl\t", "3\tobl\t", "non-tree", 7),
    ("0\troot\t", "0\tdep\t", "0-is-not-root", 3),
    ("4\tdet\t", "4\troot\t", "0-is-root", 6),
    ("4\tdet\t", "4\tDet\t", "invalid-deprel", 6),
    ("4\tdet\t", "4\t_\t", "invalid-deprel", 6),
    ("4:det", "9:det", "invalid-deps", 6),
    ("4:det", "det", "invalid-deps", 6),
    ("1:parataxis|4:dep", "4:dep|1:parataxis", "unsorted-deps", 9),
    ("1:parataxis|4:dep", "4:dep|4:dep", "repeated-deps", 9),
    ("4:det", "4:Det", "invalid-edeprel", 6),
    ("0:root", "0:dep", "enhanced-0-root", 3),
    ("4:det", "3:det", "deps-self-loop", 6),
    ("4:det", "_", "edeps-only-sometimes", 6),
]


def found_in(text: str | bytes, level: int = 2) -> list[pn.Finding]:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    return list(pn.validate(io.BytesIO(data), level=level))


def test_a_good_sentence_has_no_findings() -> None:
    assert found_in(GOOD) == []
    assert found_in("") == []


def test_tags_alone_are_no_finding_and_a_tree_may_be_missing_as_a_whole() -> None:
    rows = [line.split("\t") for line in GOOD.strip().splitlines()]
    bare = ["\t".join([*r[:6], "_", "_", "_", r[9]]) if len(r) > 1 else r[0] for r in rows]
    assert found_in("\n".join(line for line in bare if "6.1" not in line) + "\n\n") == []


@pytest.mark.parametrize(("old", "new", "rule", "line"), BROKEN)
def test_what_breaks_a_rule_is_found_in_its_line(old: str, new: str, rule: str, line: int) -> None:
    assert old in GOOD
    broken = GOOD.replace(old, new, GOOD.count("\n") if old == "\n" else 1)
    found = {(one.rule, one.line): one for one in found_in(broken)}
    assert (rule, line) in found
    one = found[rule, line]
    assert one.level == RULES[rule].level and one.what
    assert str(one).startswith(f"<stream>:{line}: [{one.level} {rule}] ")
    at_level_one = {(one.rule, one.line) for one in found_in(broken, level=1)}
    assert ((rule, line) in at_level_one) == (RULES[rule].level == 1)


def test_each_rule_has_an_example() -> None:
    assert {rule for _, _, rule, _ in BROKEN} == set(RULES)


def test_the_cure_of_features_out_of_order_is_the_value_to_write() -> None:
    broken = GOOD.replace("Mood=Ind|Number=Sing", "Number=Sing|Mood=Ind")
    assert [one.cure for one in found_in(broken)] == ["write Mood=Ind|Number=Sing"]


@given(st.binary(max_size=8), st.integers(0, len(GOOD)), st.integers(0, 9))
def test_damaged_bytes_are_findings_and_never_a_crash(data: bytes, at: int, cut: int) -> None:
    good = GOOD.encode()
    broken = good[:at] + data + good[at + cut :]
    try:
        found = found_in(broken + good.replace(b"a-1", b"a-2"))
    except pn.FormatError:
        return
    lines = broken.count(b"\n") + good.count(b"\n")
    assert all(1 <= one.line <= lines for one in found)


def test_pieces_of_any_size_give_the_same_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (GOOD + GOOD.replace("NOUN", "Noun") + "\n" + GOOD).replace("\n", "\r\n")
    whole = [one[1:] for one in found_in(text)]
    assert len(whole) == 5

    class Slow(io.BytesIO):
        def read1(self, size: int | None = -1) -> bytes:
            return super().read(1)

    assert [one[1:] for one in pn.validate(Slow(text.encode()))] == whole


def test_packed_files_are_unpacked_and_sentences_counted(tmp_path: Path) -> None:
    path = tmp_path / "good.conllu.xz"
    path.write_bytes(lzma.compress(GOOD.encode()))
    judged = Validator(path, 2)
    assert not list(judged.findings()) and (judged.sentences, judged.lines) == (1, 12)


def test_what_is_no_text_is_an_error() -> None:
    with pytest.raises(pn.FormatError, match="binary"):
        found_in(bytes(range(32)) * 9)
    with pytest.raises(pn.ArgumentError, match="level"):
        found_in(GOOD, level=3)


def test_treebanks_that_are_published_have_no_findings(corpora: Path) -> None:
    for path in sorted(corpora.glob("treebanks/*/*test.conllu*")):
        assert list(pn.validate(path)) == [], path
