"""``perceptron-nlp tag`` on running text, and models by name."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.tagger import tagger as facade

CONLLU = """\
# sent_id = 1
# text = They don't sink!
1\tThey\tthey\tPRON\tPRP\tCase=Nom|Number=Plur|Person=3|PronType=Prs\t_\t_\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\tMood=Ind|Number=Plur|Person=3|Tense=Pres|VerbForm=Fin\t_\t_\t_\t_
3\tn't\tnot\tPART\tRB\tPolarity=Neg\t_\t_\t_\t_
4\tsink\tsink\tVERB\tVB\tVerbForm=Inf\t_\t_\t_\tSpaceAfter=No
5\t!\t!\tPUNCT\t.\t_\t_\t_\t_\t_

"""


def test_english_is_tagged_at_once(cli) -> None:
    outcome = cli("tag", "en", stdin="\ufeffThey  don't sink!\n".encode())
    assert outcome.out.decode() == CONLLU
    assert outcome.err == "<stdin>: read as text\n"
    Path("tagged.conllu").write_bytes(outcome.out)
    assert cli("tag", "en", "tagged.conllu").out == outcome.out
    (sentence,) = pn.read_conllu("tagged.conllu")
    assert sentence.words == ("They", "do", "n't", "sink", "!")


def test_explain_cuts_text_as_tag_does(cli) -> None:
    text = b"It cost $5.6m in the U.S. Who's next?"
    tagged = cli("tag", "en", "--column", "upos", "--to", "tagged", stdin=text).out.decode()
    words = [token.rpartition("/")[0] for token in tagged.split()]
    outcome = cli("explain", "en", "--column", "upos", "--to", "json", stdin=text)
    found = [w["word"] for one in json.loads(outcome.out)["sentences"] for w in one["words"]]
    assert found == words != [word for one in pn.tokenize(text.decode()) for word in one]


def test_text_that_is_cut_as_in_english_says_so(cli, model: Path) -> None:
    said = "<stdin>: cut into tokens as in English; train --column all learns others\n"
    for verb in ("tag", "explain"):
        outcome = cli(verb, model, stdin=b"The dog barks.  They run!")
        assert outcome.err.endswith(said)
        assert not cli(verb, model, "--quiet", stdin=b"The dog barks.  They run!").err


def test_one_column_of_running_text_is_word_and_label(cli, model: Path) -> None:
    outcome = cli("tag", model, "--format", "text", stdin=b"The dog barks.  They run!")
    assert outcome.out == b"The/DET dog/NOUN barks/VERB ./PUNCT\nThey/PRON run/VERB !/PUNCT\n"
    one = cli("tag", "en", "--column", "upos", "--quiet", stdin=b"They don't sink!")
    assert one.out == b"They/PRON do/AUX n't/PART sink/VERB !/PUNCT\n"


def test_running_text_becomes_what_to_says(cli, model: Path) -> None:
    text = b"The dog (a cat) barks. Run!"
    tagged = cli("tag", model, "--format", "text", "--to", "tagged", stdin=text).out
    assert tagged.startswith(b"The/DET dog/NOUN (/")
    rows = cli("tag", model, "--format", "text", "--to", "conllu", stdin=text).out.decode()
    assert "# sent_id = 2\n# text = Run!\n1\tRun\t_\tVERB\t" in rows
    assert rows.count("SpaceAfter=No") == 4
    one = cli("tag", "en", "--to", "conllu", "--column", "xpos", stdin=b"Stop").out
    assert one == b"# sent_id = 1\n# text = Stop\n1\tStop\t_\t_\tVB\t_\t_\t_\t_\t_\n\n"


def test_a_column_that_conllu_does_not_have_stands_in_misc(cli) -> None:
    pn.train([(["Stop", "!"], ["A", "B"])], epochs=1).save("kind.model")
    name = pn.load("kind.model").column
    outcome = cli("tag", "kind.model", "--format", "text", "--to", "conllu", stdin=b"Stop!")
    assert f"1\tStop\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No|{name}=A\n" in outcome.out.decode()


def test_text_that_is_cut_already_keeps_its_words_and_lines(cli, model: Path) -> None:
    text = b"The dog don't\nThey run !\n"
    outcome = cli("tag", model, "--format", "lines", stdin=text)
    assert [line.count(b"/") for line in outcome.out.splitlines()] == [3, 3]


def test_lines_with_marks_alone_become_conllu_of_a_model_that_cuts_text(cli) -> None:
    outcome = cli("tag", "en", stdin=b"Qui est-ce ?\n")
    assert outcome.status == 0 and outcome.err == "<stdin>: read as text\n"
    assert b"# text = Qui est-ce ?\n" in outcome.out
    assert cli("tag", "en", "--column", "upos", stdin=b"Who ?\n").err == "<stdin>: read as lines\n"
    assert cli("tag", "en", "--format", "lines", stdin=b"Who ?\n").status == 2


@pytest.mark.parametrize("text", [b"", b" \n\n \t"])
def test_text_without_words_gives_nothing(cli, text: bytes) -> None:
    outcome = cli("tag", "en", "--format", "text", stdin=text)
    assert (outcome.status, outcome.out, outcome.err) == (0, b"", "")


def test_text_in_pieces_of_any_size_is_the_same(
    cli, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = ("Zoë – the naïve dog — barks… They run! " * 50 + "\n\n" + "no end " * 300).encode()
    Path("long.txt").write_bytes(text)
    whole = cli("tag", model, "long.txt", "--format", "text").out
    for size in (1, 7, 100):
        monkeypatch.setattr("perceptron_nlp.formats.lines._CHUNK", size)
        assert cli("tag", model, "long.txt", "--format", "text", "--quiet").out == whole


def test_a_line_without_end_is_tagged_in_bounded_pieces(cli, model: Path) -> None:
    out = cli("tag", model, "--format", "text", stdin=b"dog " * 12_000).out
    assert [line.count(b"/") for line in out.splitlines()] == [4_000, 4_000, 4_000]


def test_a_line_that_ends_a_sentence_is_answered_at_once(
    model: Path, started: Callable[..., subprocess.Popen[bytes]]
) -> None:
    with started("tag", model, "--format", "text") as running:
        assert running.stdin is not None and running.stdout is not None
        for _ in range(2):
            running.stdin.write(b"The dog barks.\n")
            running.stdin.flush()
            assert running.stdout.readline() == b"The/DET dog/NOUN barks/VERB ./PUNCT\n"
        running.stdin.close()
        assert running.wait(60) == 0


def test_every_verb_that_takes_a_model_takes_its_name(cli, train_file: Path) -> None:
    assert cli("evaluate", "en", train_file, "--column", "upos").status == 0
    assert "upos" in cli("inspect", "en").out.decode()
    assert cli("compare", "en", "en", train_file, "--column", "upos").status == 0
    assert (
        cli("compress", "en", "--size", "900kB", "-o", "small.model", "--quiet", "--force").status
        == 0
    )
    assert Path("small.model").stat().st_size <= 900_000


def test_a_model_that_was_removed_is_missed_by_name(
    refuses, train_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facade, "FOLDER", Path("nowhere"))
    for arguments in (
        ["tag", "en"],
        ["evaluate", "en", train_file],
        ["inspect", "en"],
        ["compare", "en", "en", train_file],
        ["compress", "en", "--size", "1MB", "-o", "x.model"],
    ):
        assert "en: there is no such file, and the model of this name" in refuses(*arguments)


def test_sentences_of_several_texts_have_names_of_their_own(cli, model: Path) -> None:
    for name in ("a.txt", "b.txt"):
        Path(name).write_text("The dog barks. They run!\n")
    one = cli("tag", model, "a.txt", "--format", "text", "--to", "conllu").out.decode()
    two = cli("tag", model, "a.txt", "b.txt", "--format", "text", "--to", "conllu").out.decode()
    named = [line for line in two.splitlines() if line.startswith("# sent_id")]
    assert named == [f"# sent_id = {number}" for number in (1, 2, 3, 4)]
    assert two.startswith(one)
    both = cli("tag", "en", "a.txt", "b.txt", "--format", "text").out.decode()
    assert both.count("# sent_id = 4\n") == both.count("# sent_id = 1\n") == 1


def test_marks_on_running_text_stand_in_misc_beside_what_is_there(cli, model: Path) -> None:
    out = cli("tag", model, "--format", "text", "--mark-unknown", stdin=b"The fox barks.").out
    rows = [line.split("\t") for line in out.decode().splitlines() if "\t" in line]
    assert [(row[1], row[3], row[9]) for row in rows] == [
        ("The", "DET", "_"),
        ("fox", "NOUN", "Unknown=Yes"),
        ("barks", "VERB", "SpaceAfter=No"),
        (".", "PUNCT", "_"),
    ]
    assert (
        cli(f"tag {model} --to conllu --format text --mark-unknown", stdin=b"The fox barks.").out
        == out
    )


def test_a_model_of_one_column_writes_the_tokens_with_spaces_that_it_learned(cli) -> None:
    rows = [("Il", "PRON"), ("paie", "VERB"), ("10 000", "NUM"), ("euros", "NOUN")]
    lines = [f"{n}\t{w}\t_\t{t}" + "\t_" * 6 for n, (w, t) in enumerate(rows, 1)]
    Path("fr.conllu").write_text("\n".join([*lines, "", ""]) * 8)
    assert cli("train", "fr.conllu", "--column", "text,upos", "--model", "fr.model").status == 0
    outcome = cli("tag", "fr.model", "--format", "text", stdin=b"Il paie 10 000 euros")
    assert outcome.status == 0
    assert "3\t10 000\t_\tNUM\t" in outcome.out.decode()
    named = cli(
        *("tag", "fr.model", "--column", "upos", "--format", "text"), stdin=b"Il paie 10 000 euros"
    )
    # In a line of words, others are separated by spaces.
    assert named.out.decode() == "Il/PRON paie/VERB 10\N{NO-BREAK SPACE}000/NUM euros/NOUN\n"


@pytest.mark.parametrize("text", ["They don't sink!\n", "They sank .\nWho knows ?\n"])
def test_text_is_not_replaced_by_what_has_lost_its_spaces(refuses, text: str) -> None:
    Path("a.txt").write_text(text)
    message = refuses("tag", "en", "a.txt", "-o", "a.txt", "--column", "upos", "--quiet")
    assert message.startswith("a.txt: is read as ")
    assert "would be replaced by" in message and message.endswith("name another file with -o")
    Path("b.txt").hardlink_to("a.txt")
    assert refuses("tag", "en", "a.txt", "-o", "b.txt", "--quiet").startswith("a.txt: is read as ")


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.conllu", CONLLU), ("a.columns", "They\tX\nsink\tY\n\n"), ("a.tagged", "They/X sink/Y\n")],
)
def test_files_with_labels_are_tagged_in_place(cli, name: str, text: str) -> None:
    Path(name).write_text(text)
    how = ("--column", "2" if name == "a.columns" else "upos", "--quiet")
    if name == "a.columns":
        pn.train(name, epochs=1).save("own.model")
    model = "own.model" if name == "a.columns" else "en"
    before = cli("tag", model, name, *how).out
    assert cli("tag", model, name, *how, "-o", name).status == 0
    assert Path(name).read_bytes() == before


@pytest.mark.parametrize("text", [b"Take 1/2 of it from the U. S. now.\n", b"Take 1/2 of it .\n"])
def test_a_column_that_word_tag_cannot_hold_becomes_conllu_and_says_so(cli, text: bytes) -> None:
    outcome = cli("tag", "en", "--column", "lemma", stdin=text)
    assert outcome.status == 0
    cells = [line.split(b"\t") for line in outcome.out.splitlines() if line[:1].isdigit()]
    assert [b"Take", b"take", b"_"] in [row[1:4] for row in cells]
    assert (
        "<stdin>: word/TAG cannot hold all that lemma may be; written as CoNLL-U"
        in outcome.err.splitlines()
    )
