"""How sure labels are, on the command line: calibrate, tag --confidence, evaluate --calibration."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import perceptron_nlp as pn

WORDS = ["the", "old", "Man", "boats", "ferry", "runs", "Zoë", "slowly"]
TAGS = ["DET", "ADJ", "NOUN", "VERB"]
MISC = ["_", "SpaceAfter=No", "Conf=0.1|A=b", "A=b|Unknown=Yes|C", "Unknown=No"]


def written(n: int, seed: int, words: list[str] = WORDS) -> str:
    """CoNLL-U in which one word in six has a label drawn at random."""
    draw = random.Random(seed)
    lines = []
    for number in range(n):
        lines.append(f"# sent_id = {number}")
        for at in range(1, draw.randint(2, 7)):
            word = draw.choice(words)
            place = WORDS.index(word) if word in WORDS and draw.random() > 1 / 6 else 1
            feats = ["_", "Case=Nom|Number=Sing", "Number=Plur"][place % 3]
            lines.append(
                f"{at}\t{word}\t_\t{TAGS[place % 4]}\t_\t{feats}\t_\t_\t_\t{draw.choice(MISC)}"
            )
        lines.append("")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Models of one column and of two, calibrated, and one that is not."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "train").write_text(written(90, 1), "utf-8")
    (folder / "dev").write_text(written(160, 2), "utf-8")
    train, dev = folder / "train", folder / "dev"
    return {
        "sure": pn.train(train, dev=dev, epochs=2).to_bytes(),
        "two": pn.train(train, dev=dev, epochs=2, column="upos,feats").to_bytes(),
        "unsure": pn.train(train, epochs=2).to_bytes(),
    }


@pytest.fixture
def files(models: dict[str, bytes]) -> None:
    """The models and some text in the working folder."""
    for name, data in models.items():
        Path(f"{name}.model").write_bytes(data)
    Path("dev.conllu").write_text(written(160, 2), "utf-8")
    Path("new.conllu").write_text(written(20, 3, [*WORDS, "neverseen"]), "utf-8")
    Path("small.conllu").write_text(written(3, 4), "utf-8")


def misc(text: str) -> list[list[str]]:
    return [line.split("\t")[9].split("|") for line in text.splitlines() if "\t" in line]


def without_misc(text: str) -> list[str]:
    return [line.rpartition("\t")[0] if "\t" in line else line for line in text.split("\n")]


@pytest.mark.usefixtures("files")
def test_confidences_go_into_misc_and_nothing_else_changes(cli) -> None:
    plain = cli("tag", "sure.model", "new.conllu", "--quiet").out.decode()
    sure = cli("tag", "sure.model", "new.conllu", "--quiet", "--confidence").out.decode()
    assert without_misc(sure) == without_misc(plain)
    tagger = pn.load("sure.model")
    expected = [
        f"Conf={x:.4f}"
        for sentence in pn.read_conllu("new.conllu")
        for x in tagger.confidences(sentence)
    ]
    before, after = misc(plain), misc(sure)
    assert [one for own in after for one in own if one.startswith("Conf=")] == expected
    for old, new in zip(before, after, strict=True):
        kept = [one for one in old if not one.startswith("Conf=") and one != "_"]
        assert [one for one in new if not one.startswith("Conf=")] == kept
        if any(one.startswith("Conf=") for one in old):
            assert new[0].startswith("Conf=")


@pytest.mark.usefixtures("files")
def test_several_columns_have_a_key_each(cli) -> None:
    out = cli("tag", "two.model", "new.conllu", "--quiet", "--confidence").out.decode()
    sentences = list(pn.read_conllu("new.conllu"))
    found = pn.load("two.model").tag_sents(
        sentences, columns=pn.load("two.model").columns, confidences=True
    )
    for name, given in found.items():
        expected = [f"Conf[{name}]={x:.4f}" for sure in given[1] for x in sure]
        assert [
            one for own in misc(out) for one in own if one.startswith(f"Conf[{name}]=")
        ] == expected
    one = cli("tag", "two.model", "new.conllu", "--quiet", "--confidence", "--column", "feats")
    assert "Conf[" not in one.out.decode() and "Conf=" in one.out.decode()


@pytest.mark.usefixtures("files")
def test_unknown_words_are_marked_and_known_ones_lose_the_mark(cli) -> None:
    out = cli("tag", "unsure.model", "new.conllu", "--quiet", "--mark-unknown").out.decode()
    words = [line.split("\t")[1] for line in out.splitlines() if "\t" in line]
    assert "neverseen" in words and "the" in words
    for word, own in zip(words, misc(out), strict=True):
        assert ("Unknown=Yes" in own) == (word == "neverseen")
        assert sum(one.startswith("Unknown") for one in own) == (word == "neverseen")


@pytest.mark.usefixtures("files")
def test_neither_threads_nor_a_pipe_change_a_byte(cli) -> None:
    how = ("--quiet", "--confidence", "--mark-unknown")
    text = Path("new.conllu").read_bytes() * 60
    Path("long.conllu").write_bytes(text)
    whole = cli("tag", "sure.model", "long.conllu", *how).out
    assert cli("tag", "sure.model", *how, "--threads", "3", stdin=text).out == whole
    assert cli("tag", "sure.model", "new.conllu", *how).out * 60 == whole


@pytest.mark.usefixtures("files")
def test_words_whose_labels_are_kept_keep_their_confidence_too(cli) -> None:
    text = "1\tthe\t_\tDET\t_\t_\t_\t_\t_\tConf=0.5\n2\told\t_\t_\t_\t_\t_\t_\t_\tConf=0.5\n\n"
    Path("part.conllu").write_text(text, "utf-8")
    out = cli("tag", "sure.model", "part.conllu", "--keep", "--confidence", "--quiet").out.decode()
    first, second = misc(out)
    assert first == ["Conf=0.5"] and second != ["Conf=0.5"]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("option", ["--confidence", "--mark-unknown"])
def test_where_there_is_no_misc_nothing_is_written(
    refuses: Callable[..., str], option: str
) -> None:
    Path("words.txt").write_text("the old\n", "utf-8")
    Path("words.columns").write_text("the DET\nold ADJ\n\n", "utf-8")
    Path("words.parquet").write_bytes(b"PAR1")
    Path("two.conllup").write_text("# global.columns = ID FORM UPOS\n1\tthe\t_\n\n", "utf-8")
    for name, format in (("words.txt", "lines"), ("words.columns", "columns")):
        said = refuses("tag", "sure.model", name, option, "--format", format, "-o", "out")
        assert said == (
            f"{option}: {name} is {format}, which has no place for it; it goes into"
            " MISC, which CoNLL-U has"
        )
    said = refuses("tag", "sure.model", "words.txt", option, "--format", "text", "--to", "tagged")
    assert said.startswith(f"{option}: words.txt is written as tagged, which has no place for it")
    if option != "--confidence":
        said = refuses("tag", "sure.model", "words.parquet", option, "-o", "out")
        assert said == f"{option}: does not go with Parquet files"
    said = refuses("tag", "sure.model", "two.conllup", option, "--quiet", "-o", "out")
    assert said == f"{option}: two.conllup has no column MISC to write it into"
    said = refuses("tag", "sure.model", "new.conllu", option, "--quiet", "--column", "misc")
    assert said == f"{option}: it goes into MISC, which is filled with labels"


@pytest.mark.usefixtures("files")
def test_a_model_that_is_not_calibrated_is_named_with_what_to_do(
    refuses: Callable[..., str],
) -> None:
    for verb in (
        ("tag", "unsure.model", "new.conllu", "--confidence"),
        ("evaluate", "unsure.model", "dev.conllu", "--calibration"),
    ):
        assert "perceptron-nlp calibrate MODEL DEV" in refuses(*verb, "--quiet")


@pytest.mark.usefixtures("files")
def test_calibrate_writes_the_model_whole_or_not_at_all(cli, refuses: Callable[..., str]) -> None:
    said = refuses("calibrate", "unsure.model", "small.conllu", "--quiet")
    assert said.startswith("dev: column upos: ") and "too few" in said
    refuses("calibrate", "unsure.model", "unsure.model", "--quiet")
    refuses("calibrate", "unsure.model", "dev.conllu", "-o", "-")
    refuses("calibrate", "unsure.model", "none.conllu")
    outcome = cli("calibrate", "unsure.model", "dev.conllu", "-o", "new.model")
    assert outcome.status == 0 and "expected calibration error" in outcome.err
    unsure = pn.load("unsure.model")
    assert Path("new.model").read_bytes() == unsure.calibrate("dev.conllu").to_bytes()
    assert unsure.to_bytes() == Path("unsure.model").read_bytes()
    assert cli("calibrate", "unsure.model", "dev.conllu", "--quiet").status == 0
    assert Path("unsure.model").read_bytes() == Path("new.model").read_bytes()


@pytest.mark.usefixtures("files")
def test_evaluate_tells_whether_confidences_hold_when_asked(cli) -> None:
    assert "calibration" not in json.loads(
        cli("evaluate", "sure.model", "dev.conllu", "--to", "json", "--quiet").out
    )
    found = json.loads(
        cli("evaluate", "sure.model", "dev.conllu", "--to", "json", "--quiet", "--calibration").out
    )
    bins = found["calibration"]
    assert 0 < len(bins) <= 15 and sum(part["tokens"] for part in bins) == found["tokens"]
    right = sum(part["tokens"] * (part["accuracy"] or 0) for part in bins)
    assert right == pytest.approx(found["tokens"] * found["accuracy"])
    page = cli("evaluate", "sure.model", "dev.conllu", "--quiet", "--calibration").out.decode()
    assert f"calibration error   {found['ece']:.4f}" in page
    both = json.loads(
        cli("evaluate", "two.model", "dev.conllu", "--to", "json", "--quiet", "--calibration").out
    )
    assert all("calibration" in column for column in both["sections"])


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("width", [20, 47, 80])
def test_the_table_of_confidences_fits_the_terminal(
    cli, on_terminal: Callable[[int], None], width: int
) -> None:
    on_terminal(width)
    out = cli("evaluate", "sure.model", "dev.conllu", "--quiet", "--calibration").out.decode()
    assert max(map(len, out.splitlines())) <= width


@pytest.mark.usefixtures("files")
def test_training_says_how_it_calibrated_or_why_not(cli) -> None:
    Path("train.conllu").write_text(written(90, 1), "utf-8")
    for dev, said in (("dev.conllu", "cross-validated"), ("small.conllu", "not calibrated: ")):
        outcome = cli("train", "train.conllu", "--dev", dev, "--model", "x.model", "--epochs", "1")
        assert outcome.status == 0 and said in outcome.err


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("model", ["sure.model", "two.model"])
def test_confidences_of_running_text_are_those_of_its_words(cli, model: str) -> None:
    text = b"the old man, the boats"
    outcome = cli("tag", model, "--confidence", "--format", "text", "--quiet", stdin=text)
    Path("words.conllu").write_bytes(
        cli("tag", model, "--format", "text", "--to", "conllu", stdin=text).out
    )
    words = cli("tag", model, "words.conllu", "--confidence", "--quiet").out
    assert outcome.out == words and b"SpaceAfter=No|Conf" in words


@pytest.mark.parametrize("threads", ["1", "2"])
def test_labels_below_the_least_confidence_are_left_open(cli, files: None, threads: str) -> None:
    tagger = pn.load("sure.model")
    run = ["tag", "sure.model", "new.conllu", "--quiet", "--threads", threads]
    new = [sentence.words for sentence in pn.read_conllu("new.conllu")]
    every = sorted(x for row in tagger.tag_sents(new, confidences=True)[1] for x in row)
    least = every[len(every) // 2]
    out = cli(*run, "--min-confidence", str(least)).out
    found = list(pn.read_conllu(io.BytesIO(out)))
    n_open = 0
    for sentence in found:
        sure = zip(tagger.tag(sentence.words), tagger.confidences(sentence.words), strict=True)
        wanted = tuple(label if x >= least else "_" for label, x in sure)
        assert sentence.column("upos") == wanted
        n_open += wanted.count("_")
    assert 0 < n_open < sum(map(len, found))
    assert cli(*run, "--min-confidence", "0").out == cli(*run).out
    both = cli(*run, "--min-confidence", str(least), "--confidence").out
    assert both.count(b"Conf=0.") == cli(*run, "--confidence").out.count(b"Conf=0.")


@pytest.mark.parametrize("columns", [(), ("--column", "upos")])
def test_labels_of_running_text_below_the_least_confidence_are_left_open(
    cli, columns: tuple[str, ...]
) -> None:
    run = ["tag", "en", "--format", "text", "--quiet", "--to", "conllu", *columns]
    text = b"Zyx quarks gloam, they run."
    given = [line.split(b"\t")[3:4] for line in cli(*run, stdin=text).out.splitlines()]
    least = cli(*run, "--min-confidence", "0.99", stdin=text).out
    left = [line.split(b"\t")[3:4] for line in least.splitlines()]
    assert {(a[0], b[0]) for a, b in zip(given, left, strict=True) if a != b} >= {
        (given[3][0], b"_")
    }
    assert [b"PUNCT"] in left


def test_a_least_confidence_that_cannot_be_is_refused(refuses, files: None) -> None:
    run = ["tag", "--quiet", "sure.model", "new.conllu", "--min-confidence"]
    assert refuses(*run, "1.5") == "--min-confidence: 1.5 is not between 0 and 1"
    assert refuses(*run, "high").startswith("argument --min-confidence: 'high' is not a number")
    assert "not calibrated" in refuses(
        "tag", "--quiet", "unsure.model", "new.conllu", "--min-confidence", "0.5"
    )
