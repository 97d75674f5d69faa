"""A session of annotation: what is asked, what is kept, and what is told when it goes wrong."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.annotation import Session
from tests.unit.annotation.conftest import gold, gold_any_case, made, work


def shown(session: Session) -> pn.annotation.Task:
    task = session.next()
    assert task is not None
    return task


def kept(path: Path) -> list[pn.Sentence]:
    return list(pn.read_conllu(path))


def test_what_is_accepted_is_in_the_file_after_each_sentence(out: Path) -> None:
    pool = made(20)
    given = {}
    with Session(pool, out) as session:
        for count in range(1, 8):
            task = shown(session)
            assert list(task.words) in pool
            session.accept(gold(task.words))
            given[int(task.name)] = task.words
            assert [s.words for s in kept(out)] == [given[name] for name in sorted(given)]
            assert all(list(s.column("upos")) == gold(s.words) for s in kept(out))
            assert len(kept(out)) == count


@pytest.mark.parametrize("order", ["active", "document", "random"])
def test_the_same_actions_give_the_same_bytes_also_over_an_end_in_between(
    tmp_path: Path, order: str
) -> None:
    pool = made(60)
    folders = [tmp_path / name for name in ("whole", "parts", "beside")]
    for folder in folders:
        folder.mkdir()
    # Models name the file that they were learned from.
    whole, parts, beside = (folder / "gold.conllu" for folder in folders)
    with Session(pool, whole, order=order) as session:
        work(session, 24)
        model = session.model.to_bytes()
    for _ in range(6):
        with Session(pool, parts, order=order) as session:
            work(session, 4)
    again = session.model.to_bytes()
    with Session(pool, beside, order=order, background=True) as session:
        work(session, 24)
        third = session.model.to_bytes()
    assert whole.read_bytes() == parts.read_bytes() == beside.read_bytes()
    assert model == again == third


def test_a_model_is_saved_over_one_of_the_same_work_alone(tmp_path: Path) -> None:
    out, path = tmp_path / "gold.conllu", tmp_path / "gold.model"
    with Session(made(9), out) as session:
        work(session, 3)
        assert session.save_model() == str(path)
        first = path.read_bytes()
    with Session(made(9), out, model=path) as session:
        work(session, 3)
        assert session.save_model() == str(path)
    assert pn.load(path).model.record["annotation"] == "gold.conllu"
    others = [b"", b"no model", pn.train([(["a"], ["X"])], epochs=1).to_bytes()]
    (tmp_path / "other.conllu").write_bytes(out.read_bytes())
    (tmp_path / "other.model").write_bytes(first)
    for name, contents in (("gold", others), ("other", [first])):
        for content in contents:
            (tmp_path / f"{name}.model").write_bytes(content)
            with (
                Session(made(9), tmp_path / f"{name}.conllu") as session,
                pytest.raises(pn.ArgumentError, match=rf"{name}.model.* was not saved by"),
            ):
                session.save_model()
            assert (tmp_path / f"{name}.model").read_bytes() == content
    with Session(made(9)) as session, pytest.raises(pn.ArgumentError, match="no file was named"):
        session.save_model()


def test_proposals_become_right_and_the_estimate_says_so() -> None:
    session = Session(made(300))
    work(session, 60)
    task, progress = session.next(), session.progress()
    assert task is not None and task.labels["upos"] == gold(task.words)
    assert progress.corrections_per_100 is not None and progress.corrections_per_100 < 5
    assert progress.estimate is not None and progress.estimate.high > 0.97
    assert session.model.tag(["the", "old", "boat"]) == ["DET", "ADJ", "NOUN"]
    for alternatives, label in zip(task.alternatives, task.labels["upos"], strict=True):
        assert alternatives[0][0] == label
        confidences = [confidence for _, confidence in alternatives]
        assert confidences == sorted(confidences, reverse=True)
        assert sum(confidences) == pytest.approx(1, abs=0.01)


def test_a_draft_of_another_program_is_proposed_and_judged_by_what_was_corrected(
    tmp_path: Path, out: Path
) -> None:
    pool, draft = made(20), tmp_path / "draft.conllu"
    wrong = [["NOUN", *gold(words)[1:]] for words in pool[:8]]
    wrong[7][0] = "_"
    n_wrong = sum(own[0] != gold(words)[0] for own, words in zip(wrong, pool, strict=False))
    rows = [pn.Sentence(words, {"upos": own}) for words, own in zip(pool, wrong, strict=False)]
    pn.write_conllu(rows, draft)
    # A tag that cannot be is not proposed, and counts as a mistake.
    draft.write_text(draft.read_text("utf-8").replace("\tNOUN\t", "\tNoun\t", 1), "utf-8")
    with Session(pool, out, draft=draft, order="document", check=0) as session:
        assert any("has 8 of the 20 sentences of the text" in said for said in session.messages)
        assert session.progress().draft == {}
        assert shown(session).labels["upos"] == [None, *wrong[0][1:]]
        for words, own in zip(pool[:10], [*wrong, None, None], strict=True):
            proposed = shown(session).labels["upos"]
            assert own in (None, wrong[0], wrong[7]) or proposed == own
            session.accept(gold(words))
        found = session.progress().draft["upos"]
    total = sum(map(len, pool[:8]))
    assert found.share == pytest.approx((total - n_wrong) / total)
    assert found.low < found.share < found.high
    # By those drawn at random alone, once there are some.
    with Session(pool[:8], draft=draft, check=2) as session:
        while (task := session.next()) is not None:
            session.accept(gold(task.words) if task.origin == "check" else ["X"] * len(task.words))
        assert session.progress().draft["upos"].share > 0.6
    with pytest.raises(pn.FormatError, match="has none of the sentences of the text"):
        Session([["a"]], draft=draft)


def test_active_order_shows_new_words_first_and_document_order_the_first_sentence() -> None:
    pool = [["a", "a"], ["a", "b", "c", "d"], ["a", "b"], *[["c", "d"]] * 3]
    assert shown(Session(pool)).name == "2"
    assert shown(Session(pool, order="document")).name == "1"


def test_undo_takes_everything_back_also_what_an_earlier_session_did(out: Path) -> None:
    pool = made(30)
    states = []
    with Session(pool, out) as session:
        for _ in range(6):
            states.append(out.read_bytes() if out.exists() else b"")
            work(session, 1)
        end = out.read_bytes()
        session.skip()
        assert session.undo() and out.read_bytes() == end
        assert session.undo() and out.read_bytes() == states[5]
        task = shown(session)
        assert task.labels["upos"] == gold(task.words)
        session.accept()
        assert out.read_bytes() == end
    with Session(pool, out) as session:
        while states:
            assert session.undo() and out.read_bytes() == states.pop()
        assert not session.undo()


def test_a_skipped_sentence_comes_when_all_others_are_done() -> None:
    session = Session(made(4), order="document")
    session.skip()
    assert [one.name for one in _rest(session)] == ["2", "3", "4", "1"]


def _rest(session: Session) -> list[pn.annotation.Task]:
    tasks = []
    while (task := session.next()) is not None:
        tasks.append(task)
        session.accept(gold(task.words))
    return tasks


def test_edits_by_hand_are_told_and_kept(out: Path) -> None:
    pool = made(30)
    session = Session(pool, out, order="document")
    work(session, 3)
    text = out.read_text("utf-8")
    first = pool[0][0]
    edited = text.replace(f"1\t{first}\t_\t{gold([first])[0]}", f"1\t{first}\t_\tX", 1)
    assert edited != text
    out.write_text(edited, "utf-8")
    os.utime(out, ns=(1, 1))
    work(session, 1)
    assert kept(out)[0].column("upos")[0] == "X" and len(kept(out)) == 4
    assert any("changed by another program" in message for message in session.messages)
    with Session(pool, out) as again:
        work(again, 1)
    assert kept(out)[0].column("upos")[0] == "X" and len(kept(out)) == 5


def test_a_sentence_that_was_annotated_in_the_file_meanwhile_is_shown_and_not_overwritten(
    out: Path,
) -> None:
    pool = made(30)
    one, other = (Session(pool, out, order="document") for _ in range(2))
    task = shown(one)
    work(other, 1, lambda words: ["X"] * len(words))
    with pytest.raises(pn.ArgumentError, match="was changed in the file meanwhile"):
        one.accept(gold(task.words))
    now = shown(one)
    assert now.name == task.name and set(now.labels["upos"]) == {"X"}
    assert set(kept(out)[0].column("upos")) == {"X"}
    one.accept(gold(task.words))
    assert list(kept(out)[0].column("upos")) == gold(task.words)


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks that end with a program")
def test_what_two_sessions_accept_at_the_same_moment_is_kept(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = [["a"], ["b"], ["c"]]
    one, other = Session(pool, out, order="document"), Session(pool[::-1], out, order="document")
    second = threading.Thread(target=other.accept, args=[["X"]])
    shown(other)

    def slowly(*given: object) -> object:
        second.start()
        time.sleep(0.3)
        return new_record(*given)

    new_record = one._new_record
    monkeypatch.setattr(one, "_new_record", slowly)
    shown(one)
    one.accept(["X"])
    second.join()
    assert sorted(s.words for s in kept(out)) == [("a",), ("c",)]


def test_a_file_that_was_broken_by_hand_is_named_and_stays(out: Path) -> None:
    session = Session(made(9), out)
    work(session, 2)
    good = out.read_text("utf-8")
    out.write_text(good.replace("\tPUNCT", "\tPUNKT", 1), "utf-8")
    task = shown(session)
    with pytest.raises(
        pn.FormatError, match=r"gold.conllu:\d+: 'PUNKT' is not in the tag set; did"
    ):
        session.accept(gold(task.words))
    assert "PUNKT" in out.read_text("utf-8")
    out.write_text(good, "utf-8")
    session.accept(gold(task.words))
    assert len(kept(out)) == 3


def test_a_full_disk_loses_nothing(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(made(9), out)
    work(session, 2)
    before, task = out.read_bytes(), session.next()
    assert task is not None

    def full(path: object, data: object) -> None:
        raise pn.FileError(f"{path}: cannot be written: No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(pn, "replace_file", full)
        with pytest.raises(pn.FileError, match="No space left"):
            session.accept(gold(task.words))
    assert out.read_bytes() == before and session.next() is task
    session.accept(gold(task.words))
    assert len(kept(out)) == 3


def test_a_file_of_another_text_is_refused(out: Path) -> None:
    other = pn.Sentence(["x", "y"], {"upos": ["X", "X"]})
    pn.write_conllu([other], out)
    with pytest.raises(pn.ArgumentError, match=r"gold.conllu is of another text"):
        Session(made(9), out)


def test_sentences_of_other_texts_stay_in_the_file(out: Path) -> None:
    session = Session(made(9), out)
    work(session, 2)
    with out.open("a", encoding="utf-8") as file:
        file.write("# sent_id = mine\n1\tx\t_\tX\t_\t_\t_\t_\t_\tMine=Yes\n\n")
    session = Session(made(9), out)
    assert "1 sentence not of the text" in session.messages[0]
    work(session, 1)
    assert kept(out)[-1].words == ("x",) and "Mine=Yes" in out.read_text("utf-8")


def test_tokens_without_a_label_count_in_no_figure(tmp_path: Path) -> None:
    out, other = tmp_path / "gold.conllu", tmp_path / "other.conllu"
    pool = made(60)
    with Session(pool, out, check=3) as session:
        work(session, 30)
    text = out.read_text("utf-8")
    out.write_text(text.replace("\tNOUN\t", "\t_\t"), "utf-8")
    other.write_text(text.replace("\tDET\t", "\t_\t"), "utf-8")
    with Session(pool, out, check=3) as session:
        progress = session.progress()
        assert progress.estimate is not None and progress.estimate.share > 0.9
        agreement = session.review_against(other)
        assert agreement.tokens == agreement.agreed < progress.tokens and not session.reviewed
        assert session.undo() and None not in shown(session).labels["upos"]


def test_a_file_without_labels_in_the_first_column_is_refused_and_others_may_come_later(
    out: Path,
) -> None:
    with Session(made(9), out) as session:
        work(session, 2)
    with pytest.raises(pn.FormatError, match=r"gold\.conllu: no word has a label of xpos"):
        Session(made(9), out, column="xpos,upos")
    with Session(made(9), out, column="upos,lemma") as session:
        assert session.tagger is not None and session.tagger.columns == ("upos",)
        assert shown(session).labels["lemma"] == [None] * len(shown(session).words)


def test_what_a_file_begins_and_ends_with_stays_there(out: Path) -> None:
    pool = made(3)
    with Session(pool, out, order="document") as session:
        work(session, 2)
    second = out.read_text("utf-8").split("\n\n")[1]
    out.write_text(f"\ufeff{second}\n\n# to be done\n", "utf-8")
    with Session(pool, out, order="document") as session:
        work(session, 1)
    assert [list(sentence) for sentence in kept(out)] == pool[:2]
    assert out.read_text("utf-8").endswith("\n\n# to be done\n")


def test_a_packed_file_is_written_as_it_is_read(tmp_path: Path) -> None:
    out = tmp_path / "gold.conllu.gz"
    for count in (1, 2):
        with Session(made(9), out) as session:
            work(session, 1)
        assert len(kept(out)) == count


def test_a_file_in_other_columns_is_refused_and_stays(out: Path) -> None:
    pool = made(2)
    rows = "".join(f"{at}\t{word}\tX\n" for at, word in enumerate(pool[0], 1))
    text = f"# global.columns = ID FORM UPOS\n{rows}\n"
    out.write_text(text, "utf-8")
    with pytest.raises(pn.FormatError, match=r"gold.conllu:1: .*ten columns"):
        Session(pool, out)
    assert out.read_text("utf-8") == text


@pytest.mark.parametrize("name", ["gold.model", "-", "fifo", "gold.conllu.zst"])
def test_files_that_could_not_be_kept_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if name == "fifo":
        if not hasattr(os, "mkfifo"):
            pytest.skip("there are no named pipes here")
        os.mkfifo(name)
    with pytest.raises(pn.PerceptronNLPError, match=name):
        Session(made(2), name)


@pytest.mark.parametrize("cut", ["split", "join"])
def test_what_was_cut_stays_so_when_the_file_is_touched(
    out: Path, raw_text: Path, cut: str
) -> None:
    with Session(raw_text, out, order="document") as session:
        work(session, 1, gold_any_case)
        words = list(shown(session).words)
        if cut == "split":
            session.split_sentence(2)
        else:
            session.join_sentence()
        one = shown(session)
        os.utime(out, ns=(1, 1))
        session.accept(gold_any_case(one.words))
        following = shown(session).words
        if cut == "split":
            assert [*one.words, *following] == words
        else:
            assert session.undo() and shown(session).words == one.words


def test_names_that_are_numbers_are_names(tmp_path: Path, out: Path) -> None:
    text = tmp_path / "text.conllu"
    text.write_text(
        "".join(
            f"# sent_id = {name}\n1\t{word}" + 8 * "\t_" + "\n\n"
            for name, word in [
                (2, "No"),
                (3, "Yes"),
                (4, "Yes"),
                (9, "Yesterday"),
                (9, "Yesterdays"),
            ]
        ),
        "utf-8",
    )
    for name in ("2", "3", "4", "9"):
        with Session(text, out, order="document") as session:
            assert shown(session).name == name
            session.accept(["X"])
    last = out.read_text("utf-8").replace("Yesterday\t", "Yesterdays\t")
    out.write_text("# sent_id = 9" + last.partition("# sent_id = 9")[2], "utf-8")
    with Session(text, out, order="document") as session:
        assert session.annotated[0].words == ("Yesterdays",)
        work(session, 4)
    assert [s.words[0] for s in kept(out)] == ["No", "Yes", "Yes", "Yesterday", "Yesterdays"]


@pytest.mark.parametrize("name", ["", "# sent_id = a\n", "# sent_id = 1.1\n"])
def test_sentences_that_are_alike_are_told_apart_by_what_else_they_have(
    tmp_path: Path, out: Path, name: str
) -> None:
    text = tmp_path / "text.conllu"
    rows = [f"{name}1\tYes" + 7 * "\t_" + f"\tMine={n}\n\n" for n in range(6)]
    text.write_text("".join(rows), "utf-8")
    for _ in rows:
        with Session(text, out, order="random") as session:
            session.accept(["X"])
    with Session(text, out) as session:
        assert session.next() is None
    assert [s.column("misc")[0] for s in kept(out)] == [f"Mine={n}" for n in range(6)]


def test_comments_and_columns_of_others_stay_also_when_an_acceptance_is_taken_back(
    tmp_path: Path, out: Path
) -> None:
    text = tmp_path / "text.conllu"
    text.write_text(
        "# note = of the text\n# annotation = by hand\n# note = second\n1\ta" + 8 * "\t_" + "\n\n",
        "utf-8",
    )
    with Session(text, out) as session:
        assert shown(session).note == "of the text"
        session.accept(["X"])
    wanted = out.read_text("utf-8")
    assert wanted.startswith(
        "# note = of the text\n# annotation = by hand\n# note = second\n# annotation = order=1|"
    )
    wanted = wanted.replace("_\n\n", "Mine=Yes\n\n")
    out.write_text(wanted, "utf-8")
    with Session(text, out) as session:
        assert session.undo() and not out.read_bytes()
        session.accept()
    assert out.read_text("utf-8") == wanted


def test_other_columns_than_the_ten_of_conllu_give_their_words(tmp_path: Path, out: Path) -> None:
    text = tmp_path / "text.cupt"
    text.write_text("# global.columns = ID FORM MWE\n1\ta\t*\n\n1\tb\t*\n\n", "utf-8")
    with Session(text, out) as session:
        work(session, 2)
    assert [s.words for s in kept(out)] == [("a",), ("b",)]


def test_words_that_no_file_can_hold_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(pn.ArgumentError, match=r"pool\[1\]: word 'a\\tb' "):
        Session([["a"], ["a\tb"]], tmp_path / "gold.conllu")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"column": "deprel"}, "column: 'deprel' is not one of"),
        ({"column": "lemma"}, "lemma cannot be the first"),
        ({"column": "upos,upos"}, "name each column once"),
        ({"order": "best"}, "order: 'best' is not one of"),
        ({"check": -1}, "check: -1 is not between"),
        ({"tags": ["A B"]}, "tags: 'A B' holds a space"),
    ],
)
def test_options_that_cannot_be_are_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(pn.ArgumentError, match=message):
        Session(made(3), **options)  # type: ignore[arg-type]


def test_a_model_of_another_column_or_tag_set_is_refused() -> None:
    xpos = pn.train([pn.Sentence(["a", "b"], {"xpos": ["A", "B"]})] * 3, column="xpos")
    with pytest.raises(pn.ArgumentError, match="model: was trained on xpos, not on upos"):
        Session(made(3), model=xpos)
    other = pn.train([pn.Sentence(["a", "b"], {"upos": ["A", "B"]})] * 3, column="upos")
    with pytest.raises(pn.ArgumentError, match=r"not in the tag set \(A, B\)"):
        Session(made(3), model=other)
    assert Session([["a", "b"]], model=other, tags=["A", "B"]).next() is not None


def test_a_model_given_at_the_start_proposes_until_the_trained_one_is_better() -> None:
    right = [pn.Sentence(words, {"upos": gold(words)}) for words in made(40, seed=5)]
    good = Session(made(200), model=pn.train(right, column="upos"))
    task = shown(good)
    assert task.labels["upos"] == gold(task.words)
    wrong = [pn.Sentence(words, {"upos": ["X", *gold(words)[1:-1], "X"]}) for words in made(40)]
    bad = Session(made(200), model=pn.train(wrong, column="upos"))
    work(bad, 30)
    task = shown(bad)
    assert task.labels["upos"] == gold(task.words)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["DET"], "1 labels of upos for"),
        (lambda words: ["NUON", *gold(words)[1:]], "'NUON' is not in the tag set; did you mean"),
        (lambda words: {"feats": gold(words)}, "no column 'feats'"),
        (None, "a label of upos is missing"),
        (lambda words: ["_", *gold(words)[1:]], "'_' is not in the tag set"),
        (lambda words: {"upos": gold(words), "lemma": ["\r", *words[1:]]}, "holds a line break"),
        (lambda words: {"upos": gold(words), "lemma": ["\ud800", *words[1:]]}, "a lone surrogate"),
    ],
)
def test_labels_that_cannot_be_are_refused_with_the_word(labels: object, message: str) -> None:
    session = Session(made(3), column="upos,lemma")
    task = shown(session)
    with pytest.raises(pn.ArgumentError, match=message):
        session.accept(labels(task.words) if callable(labels) else labels)
    assert session.next() is task and not session.annotated


def test_a_note_that_no_file_can_hold_is_refused(tmp_path: Path) -> None:
    session = Session(made(3), tmp_path / "gold.conllu")
    task = shown(session)
    with pytest.raises(pn.ArgumentError, match="note: character 2 is half of a surrogate pair"):
        session.accept(gold(task.words), note="a \ud83d")
    assert session.next() is task and not session.annotated


def test_all_columns_are_proposed_and_written(out: Path) -> None:
    session = Session(made(60), out, column=["upos", "feats", "lemma"])
    for _ in range(12):
        task = shown(session)
        feats = ["Number=Sing" if tag == "NOUN" else "_" for tag in gold(task.words)]
        lemmas = [word.removesuffix("s") for word in task.words]
        session.accept({"upos": gold(task.words), "feats": feats, "lemma": lemmas})
    task = shown(session)
    assert task.labels["lemma"] == [w.removesuffix("s") for w in task.words]
    assert {*kept(out)[0].columns["feats"]} == {"_", "Number=Sing"}
    assert session.model.columns == ("upos", "feats", "lemma")


@pytest.mark.parametrize("order", ["active", "document", "random"])
def test_one_sentence_in_ten_is_drawn_at_random_measures_and_is_not_learned(
    out: Path, order: str
) -> None:
    session = Session(made(200), out, order=order)
    origins = []
    for _ in range(48):
        task = shown(session)
        origins.append(task.origin)
        # Wrong in those that nothing is learned from.
        is_check = task.origin == "check"
        session.accept(["X"] * len(task.words) if is_check else gold(task.words))
    assert [at for at, origin in enumerate(origins) if origin == "check"] == [5, 15, 25, 35, 45]
    checked = [s for s in kept(out) if s.layout is not None and "|check" in s.layout.text]
    assert len(checked) == 5
    assert session.tagger is not None and "X" not in session.tagger.labels
    progress = session.progress()
    assert progress.estimate is not None and progress.estimate.share < 0.2
    assert progress.curve[-1] == (progress.tokens, pytest.approx(progress.estimate.share))
    again = Session(made(200), out, order=order)
    assert again.progress() == progress and again.next() == session.next()
    assert "X" in again.model.labels


def test_a_sentence_drawn_at_random_stays_so_when_it_is_taken_back(out: Path) -> None:
    session = Session(made(60), out)
    work(session, 5)
    first = shown(session)
    session.skip()
    assert shown(session).origin == "check" and shown(session).name != first.name
    session.undo()
    assert shown(session) == first and first.origin == "check"
    session.accept(gold(first.words))
    session.undo()
    session.accept()
    assert out.read_text("utf-8").count("|check") == 1
    with Session(made(60), check=0) as without:
        work(without, 30)
        assert without.progress().estimate is None and not without.progress().curve


def test_tokens_and_sentences_of_raw_text_are_cut_anew_and_found_again(
    out: Path, raw_text: Path
) -> None:
    session = Session(raw_text, out, order="document")
    task = shown(session)
    before = task.words
    session.split_token(0, 1)
    task = shown(session)
    assert task.words == (before[0][:1], before[0][1:], *before[1:])
    session.join_tokens(0)
    task = shown(session)
    assert task.words == before
    session.split_sentence(2)
    task = shown(session)
    assert task.words == before[:2]
    session.accept(gold_any_case(task.words))
    rest = shown(session)
    assert rest.words == before[2:]
    # What was split but not annotated is found again, too.
    session = Session(raw_text, out, order="document")
    task = shown(session)
    assert task.words == before[2:] and task.name == rest.name
    session.join_sentence()
    joined = shown(session)
    assert joined.words[: len(before) - 2] == before[2:]
    session.undo()
    task = shown(session)
    assert task.words == before[2:]
    session.join_sentence()
    session.accept(gold_any_case(joined.words))
    assert kept(out)[1].words == joined.words
    assert "SpaceAfter=No" in out.read_text("utf-8")
    text = raw_text.read_text("utf-8")
    third = Session(raw_text, out, order="document").next()
    assert third is not None
    done = "".join("".join(s.words) for s in kept(out))
    assert "".join(text.split()).startswith(done + "".join(third.words))


def test_sentences_that_stand_right_behind_each_other_are_written_so(
    tmp_path: Path, out: Path
) -> None:
    text = "他来了。她走了。 我们走吧。你看！"
    source = tmp_path / "text.txt"
    source.write_text(text, "utf-8")
    session = Session(source, out, order="document")
    # A sentence may be split within what was glued, and joined with the next one.
    session.split_sentence(len(shown(session).words) - 1)
    session.accept(gold_any_case(shown(session).words))
    session.join_sentence()
    while (task := session.next()) is not None:
        session.accept(gold_any_case(task.words))
    written = "".join(
        word + ("" if "SpaceAfter=No" in misc else " ")
        for sentence in kept(out)
        for word, misc in zip(sentence.words, sentence.column("misc"), strict=True)
    )
    assert written.strip() == text
    assert "# text = 。她走了。\n" in out.read_text("utf-8")


def test_sentences_of_conllu_keep_what_else_they_have(tmp_path: Path, out: Path) -> None:
    source = tmp_path / "text.conllu"
    source.write_text(
        "# sent_id = a-1\n# text = du vin\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "1\tde\tde\t_\tP\t_\t2\tcase\t_\t_\n2\tle\tle\tDET\t_\t_\t0\troot\t_\tX=1\n\n",
        "utf-8",
    )
    with Session(source, out) as session:
        task = shown(session)
        assert task.name == "a-1"
        session.accept(["ADP", "DET"], note="why \n not")
        with pytest.raises(pn.ArgumentError, match="there is no sentence"):
            session.accept([])
    text = out.read_text("utf-8")
    assert text.startswith(
        "# sent_id = a-1\n# text = du vin\n# annotation = order=1|corrections=2\n"
    )
    assert "# note = why not\n" in text
    assert text.endswith(
        "1\tde\tde\tADP\tP\t_\t2\tcase\t_\t_\n2\tle\tle\tDET\t_\t_\t0\troot\t_\tX=1\n\n"
    )


def test_the_doctors_list_is_a_queue_and_skipping_leaves_things_as_they_are(out: Path) -> None:
    session = Session(made(150), out, order="document")
    work(session, 100)
    session.undo()
    task = shown(session)
    wrong = gold(task.words)
    at = wrong.index("DET")
    wrong[at] = "VERB"
    session.accept(wrong)
    assert session.review_errors() >= 1
    again = shown(session)
    assert again.origin == "review" and again.name == task.name
    assert again.doubts[at].label == "DET" and again.labels["upos"] == wrong
    assert again.doubts[at].reason.startswith("DET is likelier: ")
    session.skip()
    session.undo()
    session.accept(gold(task.words))
    assert list(kept(out)[99].column("upos")) == gold(task.words)
    session.stop_review()
    task = shown(session)
    assert task.origin == "pool"


def test_multiword_tokens_are_the_words_of_the_model_and_ranges_in_the_file(
    pipeline: pn.Tagger, tmp_path: Path, out: Path
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("Le chat va au bois. Le chat va au bois, au bois.\n", "utf-8")
    with Session(text, out, model=pipeline, order="document") as session:
        task = shown(session)
        assert task.words == ("Le", "chat", "va", "à", "le", "bois", ".")
        assert task.glued == [False, False, False, True, False, True, False]
        assert task.labels["upos"] == pipeline.tag_text("Le chat va au bois.")[0].labels
        session.accept()
        task = shown(session)
        with pytest.raises(pn.ArgumentError, match="consists of à le"):
            session.split_token(task.words.index("à"), 1)
        session.split_token(0, 1)
        assert session.undo() and session.undone.endswith("cut otherwise")
        session.skip()
    lines = out.read_text("utf-8").split("\n")
    assert lines[:2] == ["# sent_id = 1", "# text = Le chat va au bois."]
    assert [line.split("\t")[:2] for line in lines[6:9]] == [["4-5", "au"], ["4", "à"], ["5", "le"]]
    assert [line.split("\t")[-1] for line in lines[3:11]] == [*["_"] * 6, "SpaceAfter=No", "_"]
    for model in (pipeline, None):
        with Session(text, out, model=model, order="document") as session:
            assert session.progress().sentences == 1 == session.progress().waiting
            session.accept(["X"] * len(shown(session).words))
            assert session.next() is None
            session.undo()


def test_few_errors_are_asked_for_at_a_time_and_none_twice(tmp_path: Path) -> None:
    pool = made(300)
    given = [gold(words) for words in pool]
    for labels in given[::10]:
        labels[labels.index("DET")] = "VERB"
    sentences = [pn.Sentence(a, {"upos": b}) for a, b in zip(pool, given, strict=True)]
    pn.write_conllu(sentences, tmp_path / "gold.conllu")
    session = Session(pool, tmp_path / "gold.conllu", order="document")
    seen: set[str] = set()
    while count := session.review_errors():
        assert count <= 20
        for _ in range(count):
            task = shown(session)
            assert task.origin == "review" and task.name not in seen
            seen.add(task.name)
            session.accept()
    assert 20 < len(seen) <= 60
    assert session.next() is None
    assert not Session(pool, tmp_path / "gold.conllu").review_errors()
    session.undo()
    assert session.review_errors() >= 1


def test_a_second_annotator_is_compared_and_settled(tmp_path: Path) -> None:
    out, other = tmp_path / "gold.conllu", tmp_path / "other.conllu"
    session = Session(made(30), out, order="document")
    work(session, 10)
    with Session(made(30), other, order="document") as second:
        work(second, 12, lambda words: ["X", *gold(words)[1:]])
    agreement = session.review_against(other)
    n_tokens = sum(map(len, session.annotated))
    assert (agreement.tokens, agreement.agreed) == (n_tokens, n_tokens - 10)
    assert agreement.left_out == 2 and agreement.kappa is not None and 0.7 < agreement.kappa < 1
    assert agreement.tags[0].tag == "X" and agreement.tags[0].kappa == 0
    assert session.reviewed == 10
    task = shown(session)
    assert task.doubts[0].label == "X"


def test_a_text_of_one_endless_line_is_cut_and_told(tmp_path: Path) -> None:
    path = tmp_path / "endless.txt"
    path.write_text("word " * 200_000, "utf-8")
    session = Session(path)
    task = shown(session)
    assert len(task.words) <= 150
    assert any("were cut" in message for message in session.messages)


def test_lists_of_words_stay_as_they_are_however_long() -> None:
    assert len(shown(Session([["a"] * 400])).words) == 400


def test_text_without_words_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text(" \n\n")
    with pytest.raises(pn.FormatError, match=r"empty.txt: there are no words"):
        Session(tmp_path / "empty.txt")
    with pytest.raises(pn.ArgumentTypeError, match="pool"):
        Session(3)  # type: ignore[arg-type]


def test_contractions_are_words_of_a_token_and_are_proposed_when_they_come_again(
    tmp_path: Path, out: Path
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("Vou ao rio. Ao rio vou. Ele mora em Nova  York.\n", "utf-8")
    with Session(text, out, order="document") as session:
        task = shown(session)
        with pytest.raises(pn.ArgumentError, match="white space"):
            session.split_words(1, ["a o"])
        session.split_words(1, ["a", "o"])
        task = shown(session)
        assert task.words == ("Vou", "a", "o", "rio", ".")
        assert task.tokens[1] == ("ao", 2) and task.before == "" and task.after == "Ao rio vou."
        session.accept(["VERB", "ADP", "DET", "NOUN", "PUNCT"])
        task = shown(session)
        assert task.words[:3] == ("A", "o", "rio") and task.before == "Vou ao rio."
        session.split_words(0, ["Ao"])
        assert shown(session).words[:2] == ("Ao", "rio")
        assert session.undo() and "cut otherwise" in session.undone
        assert shown(session).words[:2] == ("A", "o")
        session.accept(["X"] * 5)
        session.join_tokens(shown(session).words.index("Nova"))
        assert shown(session).words[3] == "Nova York"
        session.accept(["X"] * 5)
    assert "Nova York" in out.read_text("utf-8")
    findings = [one for one in pn.validate(out) if one.rule != "repeated-whitespace"]
    assert findings == []
    with Session(text, out, order="document") as session:
        assert session.next() is None and session.progress().sentences == 3


def test_misspelled_words_and_empty_nodes_are_kept_and_changed(out: Path) -> None:
    extras = pn.annotation.Extras({1: "river"}, [pn.annotation.EmptyNode(2, "flows", "VERB")])
    with Session([["The", "riwer", "."], ["a", "."]], out, order="document") as session:
        with pytest.raises(pn.ArgumentError, match="typos"):
            session.accept(["DET", "NOUN", "PUNCT"], extras=extras._replace(typos={3: "x"}))
        session.accept(["DET", "NOUN", "PUNCT"], extras=extras)
        rows = [line.split("\t") for line in out.read_text("utf-8").splitlines()]
        assert [row[5] for row in rows if row[0] == "2"] == ["Typo=Yes"]
        assert [row[9] for row in rows if row[0] == "2"] == ["CorrectForm=river"]
        assert ["2.1", "flows", "_", "VERB"] in [row[:4] for row in rows]
        assert not list(pn.validate(out))
        session.undo()
        task = shown(session)
        assert task.extras == extras
        session.accept(["DET", "NOUN", "PUNCT"], extras=pn.annotation.Extras())
    text = out.read_text("utf-8")
    assert "Typo" not in text and "CorrectForm" not in text and "2.1" not in text


def test_features_are_written_in_order_and_only_as_they_may_be(out: Path) -> None:
    with Session([["a", "b"]], out, column="upos,feats") as session:
        for wrong in ("number=Sing", "Number=Sing,Sing"):
            with pytest.raises(pn.ArgumentError, match="word 1"):
                session.accept({"upos": ["X", "X"], "feats": [wrong, "_"]})
        session.accept({"upos": ["X", "X"], "feats": ["Number=Sing|Case=Nom,Acc", "_"]})
    assert "\tCase=Acc,Nom|Number=Sing\t" in out.read_text("utf-8")
