"""``--raw`` and ``--lexicon`` on the command line."""

from __future__ import annotations

import gzip
from pathlib import Path

import perceptron_nlp as pn

RAW = "the dog sleeps .\nthe cat barks .\na house sleeps .\n" * 4


def test_a_tagger_is_trained_with_raw_text_and_a_lexicon(cli, train_file: Path) -> None:
    Path("raw.txt.gz").write_bytes(gzip.compress(RAW.encode()))
    Path("more.txt").write_text(RAW, "utf-8")
    Path("forms.tsv").write_text("dog\tthing\nhouse\tthing\n", "utf-8")
    done = cli(
        f"train {train_file} --raw raw.txt.gz --raw more.txt --lexicon forms.tsv --model m.model "
        "--epochs 1"
    )
    assert done.status == 0, done
    assert "chosen: clusters of" in done.err and "chosen: the lexicon has 2 forms" in done.err
    tables = pn.load("m.model").model.tables
    assert tables is not None and tables.rows["dog"][0] == "thing"
    same = pn.train(train_file, raw=["raw.txt.gz", "more.txt"], lexicon="forms.tsv", epochs=1)
    assert Path("m.model").read_bytes() == same.to_bytes()


def test_tag_and_evaluate_keep_to_a_lexicon(cli, model: Path, train_file: Path) -> None:
    Path("forms.tsv").write_text("dog\tVERB\ndog\tPRON\nTHE\tNOUN\n", "utf-8")
    tagged = cli("tag", model, "--lexicon", "forms.tsv", stdin=b"the dog barks\nTHE dog\n")
    (_, dog, barks), (the, _) = (line.split() for line in tagged.out.decode().splitlines())
    assert dog in ("dog/VERB", "dog/PRON") and the == "THE/NOUN"
    free = cli("tag", model, stdin=b"the dog barks\n").out.decode().split()
    assert free[1] == "dog/NOUN" and free[2] == barks
    worse = cli("evaluate", model, train_file, "--lexicon", "forms.tsv").out
    assert worse != cli("evaluate", model, train_file).out
    filled = cli("tag", model, train_file, "--lexicon", "forms.tsv").out.decode()
    assert "\tdog\tdog\tNOUN" not in filled


def test_messages_name_no_column_that_a_model_makes_for_itself(cli, refuses) -> None:
    Path("a.columns").write_text("the x D\ndog y N\nbarks z V\n\n" * 6, "utf-8")
    trained = cli(
        "train",
        "a.columns",
        "--fields",
        "form,shape,pos",
        "--lexicon",
        _lexicon("dog\tthing\n"),
        "--epochs",
        1,
        "--model",
        "m.model",
    )
    assert trained.status == 0, trained
    Path("b.columns").write_text("the D\n", "utf-8")
    assert refuses("tag", "m.model", "b.columns", "--fields", "form,pos", "--quiet") == (
        "b.columns: no column 'shape'; there are: form, pos"
    )


def test_many_long_labels_are_not_listed_whole(refuses, cli) -> None:
    rows = "".join(f"w{n}\t{'Long=' + str(n) * 60}\n\n" for n in range(9))
    Path("a.columns").write_text(rows, "utf-8")
    assert cli("train", "a.columns", "--epochs", 1, "--model", "m.model").status == 0
    said = refuses("tag", "m.model", "a.columns", "--lexicon", _lexicon("w1\tnone\n"), "--quiet")
    assert "no label 'none'; it has Long=" in said and len(said) < 400


def _lexicon(text: str) -> Path:
    path = Path("some.tsv")
    path.write_text(text, "utf-8")
    return path
