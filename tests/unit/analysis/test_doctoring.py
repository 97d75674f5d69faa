"""Gold labels that are likely wrong."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.analysis.doctor.crosstagging import beside_templates, fold_sentences
from perceptron_nlp.tagger.sources import Source
from perceptron_nlp.tagger.train.data import Examples

Labeled = tuple[list[str], list[str]]
WORDS = {
    "DET": ["the", "a", "every", "no"],
    "ADJ": ["old", "red", "small", "late"],
    "NOUN": ["dog", "boat", "house", "letter", "clerk", "ferry"],
    "VERB": ["sees", "likes", "draws", "sells"],
    "ADV": ["here", "today", "slowly"],
    "PUNCT": [".", "!"],
}
PATTERNS = [
    "DET NOUN VERB DET ADJ NOUN PUNCT",
    "DET ADJ NOUN VERB ADV PUNCT",
    "ADV DET NOUN VERB DET NOUN PUNCT",
    "DET NOUN VERB DET NOUN ADV PUNCT",
]


def toy(n: int = 60, seed: int = 5) -> list[Labeled]:
    """Sentences in which every word has one label."""
    chance = random.Random(seed)
    found = []
    for _ in range(n):
        labels = chance.choice(PATTERNS).split()
        found.append(([chance.choice(WORDS[label]) for label in labels], labels))
    return found


PLANTED = {(3, 1): "VERB", (17, 2): "ADV", (40, 0): "NOUN", (55, 3): "ADJ"}


def corrupted() -> list[Labeled]:
    text = [(words, list(labels)) for words, labels in toy()]
    for (number, index), label in PLANTED.items():
        text[number][1][index] = label
    return text


def conllu(sentences: list[Labeled], first: int = 1) -> str:
    """CoNLL-U with ranges, empty nodes and comments, so that lines are not simply counted."""
    blocks = []
    for number, (words, labels) in enumerate(sentences, first):
        rows = [f"# sent_id = s{number}", f"# text = {' '.join(words)}"]
        for at, (word, label) in enumerate(zip(words, labels, strict=True), 1):
            if at == 2:
                rows.append(f"2-3\t{word}x\t" + "\t".join("_" * 8))
            rows.append(f"{at}\t{word}\t_\t{label}\t_\t_\t_\t_\t_\t_")
            if at == 4:
                rows.append("4.1\tghost\t" + "\t".join("_" * 8))
        blocks.append("\n".join(rows) + "\n\n")
    return "".join(blocks)


def columns(sentences: list[Labeled]) -> str:
    return "".join(
        "\n".join(f"{word} {label}" for word, label in zip(*one, strict=True)) + "\n\n"
        for one in sentences
    )


def tagged(sentences: list[Labeled]) -> str:
    return "".join(
        " ".join(f"{word}/{label}" for word, label in zip(*one, strict=True)) + "\n"
        for one in sentences
    )


@pytest.fixture(scope="module")
def found() -> pn.Diagnosis:
    return pn.doctor(corrupted())


def test_planted_errors_come_first_with_the_right_label_expected(found: pn.Diagnosis) -> None:
    right = toy()
    first = found.candidates[: len(PLANTED)]
    assert {(one.sentence - 1, one.index) for one in first} == set(PLANTED)
    for one in first:
        number = one.sentence - 1
        assert one.gold == PLANTED[number, one.index]
        assert one.expected == right[number][1][one.index]
        assert one.form == right[number][0][one.index]
        assert one.votes <= one.taggers == 2
        assert one.confidence > one.gold_confidence >= 0


def test_candidates_are_ranked_with_reasons(found: pn.Diagnosis) -> None:
    odds = [one.log_odds for one in found.candidates]
    assert odds == sorted(odds, reverse=True) and min(odds) >= 0
    assert found.labeled == found.tokens == sum(len(words) for words, _ in toy())
    assert found.agreement == pytest.approx(1 - len(found.candidates) / found.labeled)
    assert set(found.weights) == {"words", "labels beside", "elsewhere"}
    one = found.candidates[0]
    assert f"[{one.form}]" in one.context
    assert one.reason.startswith(f"{one.votes} of 2 taggers trained on other sentences expect it")
    assert one.elsewhere is not None and one.elsewhere.expected > one.elsewhere.gold


def test_neither_threads_nor_the_order_of_sentences_change_what_is_found(
    found: pn.Diagnosis,
) -> None:
    def told(diagnosis: pn.Diagnosis) -> list[tuple[object, ...]]:
        return [
            (one.form, one.before, one.after, one.gold, one.expected, one.log_odds)
            for one in diagnosis.candidates
        ]

    assert pn.doctor(corrupted(), threads=3) == found
    assert sorted(told(pn.doctor(corrupted()[::-1])), key=repr) == sorted(told(found), key=repr)


def test_the_order_of_files_does_not_matter(tmp_path: Path) -> None:
    one, two = tmp_path / "one.conllu", tmp_path / "two.conllu"
    one.write_text(conllu(corrupted()[:30]))
    two.write_text(conllu(corrupted()[30:], 31))
    there, back = pn.doctor([one, two]), pn.doctor([two, one])
    assert there == back
    assert {one.path for one in there.candidates} == {str(one), str(two)}
    assert there.candidates[0].sentence_id is not None


@pytest.mark.parametrize(
    ("name", "write"), [("a.conllu", conllu), ("a.columns", columns), ("a.tagged", tagged)]
)
def test_every_line_number_points_at_the_word(tmp_path: Path, name: str, write) -> None:
    path = tmp_path / name
    path.write_text(write(corrupted()))
    found = pn.doctor(path, folds=3)
    lines = path.read_text().splitlines()
    assert len(found.candidates) >= len(PLANTED)
    for one in found.candidates:
        line = lines[one.line - 1]
        if name == "a.tagged":
            assert line.split()[one.index] == f"{one.form}/{one.gold}"
        else:
            fields = line.split("\t") if name == "a.conllu" else line.split(" ")
            assert one.form in fields and one.gold in fields
        if one.elsewhere is not None:
            assert one.form in lines[one.elsewhere.line - 1]
            assert one.expected in lines[one.elsewhere.line - 1]
    number = found.candidates[0].sentence
    expected = f"s{number}" if name == "a.conllu" else None
    assert found.candidates[0].sentence_id == expected


def test_words_without_a_label_are_no_candidates() -> None:
    text = [
        (words, ["_" if i % 3 == 0 else label for i, label in enumerate(labels)])
        for words, labels in corrupted()
    ]
    found = pn.doctor([pn.Sentence(words, {"upos": labels}) for words, labels in text])
    assert all(one.gold != "_" and one.expected != "_" for one in found.candidates)
    assert found.labeled == sum(label != "_" for _, labels in text for label in labels)
    assert "have no label and are not examined" in found.notes[0]


def test_features_are_examined_with_the_part_of_speech_in_view() -> None:
    number = {"dog": "Sing", "dogs": "Plur", "boat": "Sing", "boats": "Plur"}
    chance, text = random.Random(3), []
    for _ in range(60):
        noun = chance.choice(sorted(number))
        feats = [f"Case=Nom|Number={number[noun]}", f"Mood=Ind|Number={number[noun]}"]
        verb = "runs" if number[noun] == "Sing" else "run"
        text.append(pn.Sentence([noun, verb], {"upos": ["NOUN", "VERB"], "feats": feats}))
    wrong = text[7].columns["feats"]
    swapped = "Case=Nom|Number=" + ("Plur" if "Sing" in wrong[0] else "Sing")
    text[7] = pn.Sentence(text[7].words, {"upos": ["NOUN", "VERB"], "feats": [swapped, wrong[1]]})
    found = pn.doctor(text, column="feats", folds=4)
    assert found.evidence == ("upos",)
    assert (found.candidates[0].gold, found.candidates[0].expected) == (swapped, wrong[0])


def test_spans_are_examined_as_they_are_written() -> None:
    text = [
        (["in", name, "and", "at", name], ["O", "B-LOC", "O", "O", "B-LOC"])
        for name in ["Rome", "Oslo", "Bern", "Lima"]
        for _ in range(6)
    ]
    text = [([*words, str(k)], [*labels, "O"]) for k, (words, labels) in enumerate(text)]
    text[5][1][1] = "O"
    found = pn.doctor(text, folds=4)
    assert (found.candidates[0].path, found.candidates[0].index) == ("data[5]", 1)
    assert found.candidates[0].expected == "B-LOC"


def test_evidence_is_looked_at() -> None:
    chance, text = random.Random(4), []
    for number in range(40):
        labels = [chance.choice("AB") for _ in range(2)]
        shown = [label.lower() for label in labels]
        if number == 9:
            labels[0] = "A" if labels[0] == "B" else "B"
        text.append(
            pn.Sentence(["x", "x", str(number)], {"upos": [*labels, "N"], "xpos": [*shown, "n"]})
        )
    found = pn.doctor(text, evidence=["xpos"], folds=4)
    assert found.evidence == ("xpos",)
    assert (found.candidates[0].sentence, found.candidates[0].index) == (10, 0)


def spaced(sentences: list[list[str]]) -> str:
    """CoNLL-U of tokens; ``+`` after one has no space behind it, ``du=de le`` is two words."""
    rows = []
    for tokens in sentences:
        count = 0
        for token in tokens:
            form, _, words = token.rstrip("+").partition("=")
            misc = "SpaceAfter=No" if token.endswith("+") else "_"
            own = words.split() or [form]
            if words:
                rows.append(f"{count + 1}-{count + len(own)}\t{form}" + "\t_" * 7 + f"\t{misc}")
            for word in own:
                count += 1
                rows.append(f"{count}\t{word}" + "\t_" * 7 + ("\t_" if words else f"\t{misc}"))
        rows.append("")
    return "\n".join(rows) + "\n"


def test_tokens_that_are_cut_otherwise_elsewhere_are_found(tmp_path: Path) -> None:
    chance = random.Random(1)
    sentences = [
        ["l'+", chance.choice(WORDS["NOUN"]), "du=de le", chance.choice(WORDS["NOUN"]) + "+", "."]
        for _ in range(60)
    ]
    sentences[7] = ["l'boat", *sentences[7][2:]]
    sentences[20][2] = "du"
    sentences[33][3:] = ["bo+", "at+", "."]
    path = tmp_path / "gold.conllu"
    path.write_text(spaced(sentences), "utf-8")
    found = pn.doctor(path, column="tokens", folds=5)
    best = {(one.gold, one.expected): one for one in found.candidates[:3]}
    assert {*best} == {("l'boat", "l' boat"), ("du", "du (2 words)"), ("bo at .", "boat .")}
    lines = path.read_text("utf-8").splitlines()
    for one in best.values():
        assert one.form.startswith(lines[one.line - 1].split("\t")[1])
    assert found.column == "tokens"
    with pytest.raises(pn.ArgumentError, match="how text is cut is examined without"):
        pn.doctor(path, column="tokens", evidence=["upos"])


def test_tokens_over_spaces_are_units_of_their_own() -> None:
    chance = random.Random(1)
    text = [["100 000", chance.choice(WORDS["NOUN"]) + "+", "."] for _ in range(30)]
    text[4] = ["100", "000", "boat+", "."]
    found = pn.doctor(pn.read_conllu(io.BytesIO(spaced(text).encode())), column="tokens", folds=5)
    best = {(one.gold, one.expected) for one in found.candidates[:2]}
    assert best == {("100", "100…"), ("000", "…000")}


def test_labels_that_vary_between_the_same_neighbors_can_be_had_alone() -> None:
    text = [(["so", "sagt", "sie", "das"], ["ADV", "VERB", "PRON", "PRON"])] * 9 + toy()
    text[2] = (text[0][0], ["ADV", "NOUN", "PRON", "PRON"])
    text[30] = (text[30][0], ["ADV", *text[30][1][1:]])
    text[40] = ([*text[40][0], "never-seen"], [*text[40][1], "ADJ"])
    sentences = [pn.Sentence(words, {"upos": labels}) for words, labels in text]
    every = pn.doctor(sentences, folds=5)
    alone = pn.doctor(sentences, folds=5, contexts=True)
    assert alone.candidates == tuple(
        one for one in every.candidates if one.elsewhere is not None and one.elsewhere.width
    )
    assert ("sagt", "NOUN", "VERB") in {(c.form, c.gold, c.expected) for c in alone.candidates}
    assert len(alone.candidates) < len(every.candidates)


def test_equal_sentences_are_held_out_together() -> None:
    text = toy(20) + toy(20)
    examples = Examples.read(Source(text, "data"), "tag", ())
    folds = fold_sentences(examples, 5, 1, "data")
    assert sorted(number for fold in folds for number in fold) == list(range(40))
    fold_of = {tuple(text[number][0]): at for at, fold in enumerate(folds) for number in fold}
    for at, fold in enumerate(folds):
        assert all(fold_of[tuple(text[number][0])] == at for number in fold)


def test_no_template_sees_the_label_of_the_word_itself() -> None:
    for template in (*beside_templates(False), *beside_templates(True)):
        for atom in template.atoms:
            assert atom.value is not None
            assert atom.value.column == "form" or atom.offset != 0


ONE = (["a", "b"], ["X", "Y"])


@pytest.mark.parametrize(
    ("data", "options", "error", "message"),
    [
        ([ONE], {}, pn.FormatError, "there is one sentence alone; labels are checked by taggers"),
        ([ONE, ONE], {}, pn.FormatError, "all 2 sentences are the same"),
        (
            [(["a"], ["X"]), (["b"], ["X"])],
            {},
            pn.FormatError,
            "has the same, 'X'; there is nothing",
        ),
        ([(["a"], [None]), (["b"], [None])], {}, pn.FormatError, "no word has a label"),
        ([ONE, (["c"], [None])], {}, pn.ArgumentError, "folds: all labeled words are in one part"),
        ([ONE, (["c"], ["X"])], {"folds": 3}, pn.ArgumentError, "folds: 3 is more than the 2"),
        ([ONE, (["c"], ["X"])], {"folds": 1}, pn.ArgumentError, "folds"),
        ([ONE], {"runs": 0}, pn.ArgumentError, "runs"),
        ([ONE], {"seed": "1"}, pn.ArgumentTypeError, "seed"),
        ([ONE], {"threads": 0}, pn.ArgumentError, "threads"),
        ([ONE], {"evidence": "xpos"}, pn.ArgumentTypeError, "evidence"),
        ([ONE], {"fold": 3}, pn.ArgumentTypeError, "fold: there is no such option"),
        ([ONE], {"column": "form"}, pn.ArgumentError, "column"),
        ([ONE], {"callback": 3}, pn.ArgumentTypeError, "callback"),
    ],
)
def test_what_cannot_be_examined_is_said(data, options, error, message: str) -> None:
    with pytest.raises(error, match=message):
        pn.doctor(data, **options)


def test_two_sentences_are_enough() -> None:
    found = pn.doctor([ONE, (["a", "c"], ["Y", "X"])])
    assert (found.folds, found.labeled) == (2, 4)
