"""The page on which a person annotates: what it answers, and how it is to use by keyboard."""

from __future__ import annotations

import io
import json
import os
import re
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

import perceptron_nlp as pn
from perceptron_nlp.annotation import Session
from perceptron_nlp.annotation.labels import UD_TAGS
from perceptron_nlp.annotation.server import tag_keys
from perceptron_nlp.pages.serving import PageServer
from tests.unit.annotation.browsing import (
    annotate_by_keys,
    opened,
    press,
    serving,
    tags,
    wait_for,
    wait_for_status,
    wait_for_words,
    words,
)
from tests.unit.annotation.conftest import gold, gold_any_case, made, work


def asked(server: PageServer, path: str, body: Any, **headers: str) -> tuple[int, Any]:
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    key = {"Authorization": f"Bearer {server.key}"}
    sent = {"Content-Type": "application/json"} | key | headers
    connection.request("POST", path, json.dumps(body), sent)
    reply = connection.getresponse()
    found = reply.status, json.loads(reply.read())
    connection.close()
    return found


def accept(state: dict[str, Any]) -> dict[str, Any]:
    labels = {"upos": gold(state["task"]["words"])}
    return {"turn": state["turn"], "action": "accept", "values": {"labels": labels, "note": ""}}


def test_the_page_and_a_session_in_python_write_the_same_bytes(tmp_path: Path) -> None:
    page, python = tmp_path / "page.conllu", tmp_path / "python.conllu"
    pool = made(40)
    with serving(Session(pool, page, background=True)) as server:
        _, state = asked(server, "/look", {})
        for count in range(12):
            assert state["progress"]["sentences"] == count
            status, state = asked(server, "/act", accept(state))
            assert status == 200
    with Session(pool, python) as session:
        work(session, 12)
    assert page.read_bytes() == python.read_bytes()


def test_of_two_pages_the_one_that_is_behind_is_told_and_changes_nothing(out: Path) -> None:
    with serving(Session(made(9), out)) as server:
        _, one = asked(server, "/look", {})
        _, other = asked(server, "/look", {})
        assert asked(server, "/act", accept(one))[0] == 200
        before = out.read_bytes()
        status, said = asked(server, "/act", accept(other))
        assert status == 400 and "another page has gone on" in said["error"]
        assert out.read_bytes() == before
        _, now = asked(server, "/look", {})
        assert now["turn"] == one["turn"] + 1


def test_what_goes_wrong_is_told_on_the_page_and_to_the_terminal(tmp_path: Path) -> None:
    told: list[str] = []
    with serving(Session(made(9), tmp_path / "gold.conllu"), tell=told.append) as server:
        _, state = asked(server, "/look", {})
        question = accept(state)
        question["values"]["labels"]["upos"][0] = "NUON"
        status, said = asked(server, "/act", question)
        assert status == 400 and "'NUON' is not in the tag set" in said["error"]
        assert told == [said["error"]]
        actions: list[tuple[object, object]] = [
            ("rm", {}),
            (["undo"], {}),
            ("accept", []),
            ("accept", {}),
            ("split_token", {}),
        ]
        for action, values in actions:
            question = {"turn": state["turn"], "action": action, "values": values}
            assert asked(server, "/act", question)[0] == 400
        assert asked(server, "/act", {"turn": 0})[0] == 400
        assert asked(server, "/act", accept(state))[0] == 200


def test_other_pages_cannot_annotate(tmp_path: Path) -> None:
    with serving(Session(made(9), tmp_path / "gold.conllu")) as server:
        _, state = asked(server, "/look", {})
        question = accept(state)
        assert asked(server, "/act", question, Origin="http://example.org")[0] == 403
        assert asked(server, "/act", question, Host="example.org")[0] == 403
        assert asked(server, "/act", question, **{"Content-Type": "text/plain"})[0] == 415
        assert asked(server, "/act", question, Authorization="Bearer guessed")[0] == 401
    assert not (tmp_path / "gold.conllu").exists()


def test_every_tag_has_a_key_of_its_own_that_does_nothing_else() -> None:
    for names in (UD_TAGS, {"NN": "", "NNS": "", "NNP": "", "VB": "", "S": "", "U": ""}):
        keys = [one["key"] for one in tag_keys(names)]
        assert len({*keys}) == len(keys) and "" not in keys and not {"u", "s"} & {*keys}
    assert len(tag_keys({f"T{n}": "" for n in range(60)})) == 60


def test_by_keyboard_alone_raw_text_becomes_a_treebank(
    browser: Any, tmp_path: Path, out: Path, raw_text: Path
) -> None:
    session = Session(raw_text, out, order="document", check=0, background=True)
    with serving(session) as server, opened(browser, server) as page:
        for count in range(1, 7):
            annotate_by_keys(page, gold_any_case)
            assert len(list(pn.read_conllu(out))) == count
        # Within a sentence, then over sentences.
        first = tags(page)[0]
        page.keyboard.press("z")
        assert tags(page)[0] == "X"
        page.keyboard.press("u")
        assert tags(page)[0] == first
        before = words(page)
        page.keyboard.press("u")
        wait_for(page, "document.querySelector('#origin').innerText.includes('taken')")
        assert words(page) != before and len(list(pn.read_conllu(out))) == 5
        page.keyboard.press("Enter")
        wait_for(page, "!document.querySelector('#origin').innerText.includes('taken')")
        assert words(page) == before
        # Cut otherwise; what was set stays.
        press(page, "z", "ArrowRight", "+", "Enter")
        wait_for(page, f"document.querySelectorAll('.token').length === {len(before) + 1}")
        assert words(page)[1] == before[1][0] and tags(page)[0] == "X"
        page.keyboard.press("-")
        wait_for(page, f"document.querySelectorAll('.token').length === {len(before)}")
        assert words(page) == before
        page.keyboard.press("N")
        page.keyboard.type("unsure")
        press(page, "Enter", "?")
        assert page.locator("#help").is_visible()
        page.keyboard.press("Escape")
        assert not page.locator("#help").is_visible()
        page.keyboard.press("1")
        annotate_by_keys(page, gold_any_case)
        assert "# note = unsure" in out.read_text("utf-8")
        page.keyboard.press("M")
        wait_for_status(page, "Saved")
    text = raw_text.read_text("utf-8")
    assert "".join(text.split()).startswith("".join("".join(s) for s in pn.read_conllu(out)))
    assert pn.load(tmp_path / "gold.model").to_bytes() == session.model.to_bytes()


def test_a_tag_of_the_set_is_typed(browser: Any, out: Path) -> None:
    with serving(Session(made(9), out)) as server, opened(browser, server) as page:
        for typed, tag in (("nou", "NOUN"), ("X", "X"), ("pro", "PRON"), ("proper", "PROPN")):
            page.keyboard.press("/")
            page.keyboard.type(typed)
            assert page.locator(".all .meant").inner_text().startswith(tag)
            page.keyboard.press("Enter")
            assert tags(page)[0] == tag
        page.keyboard.press("/")
        page.keyboard.type("qu")
        page.keyboard.press("Enter")
        wait_for_status(page, "“qu” begins no tag of the set")
        page.keyboard.press("Escape")
        assert tags(page)[0] == "PROPN"
        page.keyboard.press("u")
        assert tags(page)[0] == "PRON"
        press(page, "/", "Enter", "n")
        assert tags(page)[0] == "NOUN"
    assert not out.exists()


def test_the_cursor_goes_on_to_the_next_uncertain_token_and_undo_says_what(
    browser: Any, out: Path
) -> None:
    with serving(Session([["a", "b", "c"]], out)) as server, opened(browser, server) as page:
        press(page, "n", "n")
        assert tags(page) == ["NOUN", "?", "?"]
        press(page, "O", "n", "v", "x")
        assert tags(page) == ["NOUN", "VERB", "X"] or len(set(tags(page))) == 3
        page.keyboard.press("u")
        wait_for_status(page, "Taken back: “c”")
        press(page, "O")
        wait_for_status(page, "The cursor stays after a label.")


def test_keys_work_where_they_are_on_keyboards_without_the_letters_of_english(
    browser: Any, out: Path
) -> None:
    with serving(Session([["a", "b"]], out)) as server, opened(browser, server) as page:
        for key, code, shift in (("т", "KeyN", False), ("é", "Digit2", False), ("Ы", "KeyS", True)):
            page.evaluate(
                "([key, code, shiftKey]) => document.activeElement.dispatchEvent("
                "new KeyboardEvent('keydown', {key, code, shiftKey, bubbles: true}))",
                [key, code, shift],
            )
            assert tags(page)[0] == "NOUN"
        assert page.locator("#typed").count() == 1
        page.keyboard.type("pro")
        assert page.locator(".all li:visible").count() == 2
        page.keyboard.press("Escape")


def test_misspelled_words_empty_tokens_and_features_are_typed(browser: Any, out: Path) -> None:
    session = Session([["riwer", "b"], ["c"]], out, column="upos,feats,lemma", order="document")
    with serving(session) as server, opened(browser, server) as page:
        assert page.inner_text("#after") == "c"
        press(page, "n", "T")
        page.keyboard.type("river")
        press(page, "Enter", "E")
        page.keyboard.type("flows VERB")
        press(page, "Enter", "F")
        for part in ("Number=Sing", "Case=Nom"):
            page.keyboard.type(part)
            page.keyboard.press("Enter")
        press(page, "Escape", "ArrowRight", "n", "Enter")
        wait_for_words(page, ["c"])
        assert page.inner_text("#before") == "riwer b"
        # Now features of nouns are there to choose from.
        press(page, "n", "F")
        page.keyboard.type("si")
        press(page, "Enter", "Escape", "Enter")
        page.wait_for_selector("#finished h2")
    first, second = pn.read_conllu(out)
    assert first.column("feats")[0] == "Case=Nom|Number=Sing|Typo=Yes"
    assert first.column("misc")[0] == "CorrectForm=river"
    assert second.column("feats") == ("Number=Sing",) and "1.1\tflows" in out.read_text("utf-8")
    assert not list(pn.validate(out))


def test_after_the_last_sentence_the_page_says_what_is_done_and_what_is_next(
    browser: Any, tmp_path: Path, out: Path
) -> None:
    with serving(Session(made(2), out)) as server, opened(browser, server) as page:
        annotate_by_keys(page, gold)
        assert not page.locator("#finished").is_visible()
        annotate_by_keys(page, gold)
        said = page.inner_text("#finished")
        assert f"They are in {out}." in said and "2 sentences" in said
        assert str(tmp_path / "gold.model") in said
        page.locator("#finished-save").click()
        wait_for_status(page, "Saved")
        page.keyboard.press("D")
        wait_for_status(page, "No likely errors were found.")
        page.keyboard.press("u")
        page.wait_for_selector(".token")
        assert not page.locator("#finished").is_visible()
    assert (tmp_path / "gold.model").exists()


def test_by_clicks_and_touch_the_same_can_be_done(browser: Any, out: Path) -> None:
    how = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
    with serving(Session(made(9), out)) as server, opened(browser, server, **how) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        before = words(page)
        for i, tag in enumerate(gold(words(page))):
            page.locator(".token").nth(i).tap()
            page.get_by_role("button", name=re.compile(rf"^{tag}\b")).last.tap()
        page.locator("#accept").tap()
        wait_for(page, "document.querySelector('#facts').innerText.trim()[0] !== '0'")
    (sentence,) = pn.read_conllu(out)
    assert list(sentence) == before and list(sentence.column("upos")) == gold(before)


def test_what_is_missing_or_lost_is_told_on_the_page(browser: Any, out: Path) -> None:
    with serving(Session(made(9), out)) as server, opened(browser, server) as page:
        page.keyboard.press("Enter")
        assert "has no tag yet" in page.inner_text("#status")
        for _ in words(page):
            press(page, "n", "ArrowRight")
        out.mkdir()
        page.keyboard.press("Enter")
        wait_for_status(page, "gold.conllu")
        assert set(tags(page)) == {"NOUN"}
        out.rmdir()
        page.keyboard.press("Enter")
        wait_for(page, "document.querySelector('#status').className !== 'wrong'")
        assert out.is_file()


def test_scripts_from_right_to_left_are_walked_from_right_to_left(
    browser: Any, tmp_path: Path
) -> None:
    with (
        serving(Session([["הילדה", "קוראת", "ספר", "."]])) as server,
        opened(browser, server) as page,
    ):
        boxes = [page.locator(".token").nth(i).bounding_box()["x"] for i in range(4)]
        assert boxes == sorted(boxes, reverse=True)
        page.keyboard.press("ArrowLeft")
        assert page.locator(".token[aria-current=true] .form").inner_text() == "קוראת"


def test_scripts_without_spaces_are_cut_and_joined_by_keyboard(
    browser: Any, tmp_path: Path
) -> None:
    text, out = tmp_path / "text.txt", tmp_path / "gold.conllu"
    text.write_text("小船在河上。我们走了。", "utf-8")
    gold = {"小": "ADJ", "船": "NOUN", "在": "ADP", "河上": "NOUN", "。": "PUNCT"}
    with serving(Session(text, out, order="document")) as server, opened(browser, server) as page:
        # English finds no words but marks; a person cuts the rest, and goes on from there.
        found = words(page)
        while len(found) > 2:
            page.keyboard.press("-")
            found[:2] = ["".join(found[:2])]
            wait_for_words(page, found)
        assert found == ["小船在河上", "。"]
        for at, word in enumerate(["小", "船", "在", "河"]):
            press(page, "+", "Enter")
            found[at : at + 1] = [word, found[at].removeprefix(word)]
            wait_for_words(page, found)
            if word != "河":
                page.keyboard.press("ArrowRight")
        page.keyboard.press("-")
        found[3:5] = ["河上"]
        wait_for_words(page, found)
        page.keyboard.press("Home")
        annotate_by_keys(page, lambda cut: [gold[word] for word in cut])
    (sentence,) = pn.read_conllu(out)
    assert sentence.words == (*gold,) and sentence.columns["upos"] == (*gold.values(),)
    assert "# text = 小船在河上。" in out.read_text("utf-8")


def test_a_page_that_was_closed_or_is_behind_loses_nothing(browser: Any, out: Path) -> None:
    with serving(Session(made(9), out, order="document")) as server:
        with opened(browser, server) as page:
            annotate_by_keys(page, gold)
            page.keyboard.press("z")
            shown = words(page)
        with opened(browser, server) as page, opened(browser, server) as other:
            assert words(page) == shown and len(list(pn.read_conllu(out))) == 1
            annotate_by_keys(page, gold)
            for _ in words(other):
                press(other, "n", "ArrowRight")
            other.keyboard.press("Enter")
            wait_for_status(other, "another page has gone on")
            wait_for_words(other, words(page))
            assert all(list(s.column("upos")) == gold(s.words) for s in pn.read_conllu(out))
            annotate_by_keys(other, gold)
    assert len(list(pn.read_conllu(out))) == 3


def test_likely_errors_and_a_second_file_are_gone_through_by_keyboard(
    browser: Any, tmp_path: Path
) -> None:
    out, second = tmp_path / "gold.conllu", tmp_path / "second.conllu"
    sentences = [pn.Sentence(words, {"upos": gold(words)}) for words in made(40)]
    pn.write_conllu(sentences, second)
    wrong = gold(sentences[30].words)
    wrong[wrong.index("DET")] = "VERB"
    sentences[30] = pn.Sentence(sentences[30].words, {"upos": wrong})
    pn.write_conllu(sentences, out)
    session = Session(made(45), out, order="document")
    with serving(session, against=str(second)) as server, opened(browser, server) as page:
        page.keyboard.press("A")
        wait_for_status(page, "The files differ in 1 sentence.")
        assert "Cohen" in page.inner_text("#agreement")
        assert "VERB here, DET in the other file" in page.inner_text("#panel")
        page.locator("#stop").click()
        wait_for(page, "document.querySelector('#reviewing').hidden")
        page.keyboard.press("D")
        wait_for_status(page, "with likely errors")
        while "look at again" in page.inner_text("#origin"):
            annotate_by_keys(page, gold)
    assert [s.columns["upos"] for s in pn.read_conllu(out)] == [
        s.columns["upos"] for s in pn.read_conllu(second)
    ]


def test_text_is_never_run_as_part_of_the_page(browser: Any) -> None:
    hostile = [
        "<script>document.title='bad'</script>",
        "<img src=x onerror=alert(1)>",
        "\u202egnol",
    ]
    with serving(Session([hostile])) as server, opened(browser, server) as page:
        assert words(page) == [*hostile[:2], "\\u{202e}gnol"]
        assert page.title() == "Annotate" and page.locator("img").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_accessible(browser: Any, tmp_path: Path, scheme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe")
    session = Session(made(60), column="upos,feats,lemma")
    for _ in range(12):
        task = session.next()
        assert task is not None
        count = len(task.words)
        session.accept({"upos": gold(task.words), "feats": ["_"] * count, "lemma": [*task.words]})
    how = {"color_scheme": scheme, "viewport": {"width": width, "height": 860}}
    with (
        serving(session, guideline="NOUN: things") as server,
        opened(browser, server, **how) as page,
    ):
        page.keyboard.press("n")
        for _ in range(2):
            # The check itself needs a script that the policy of the page forbids.
            page.context.set_default_timeout(20_000)
            found = axe.Axe().run(page)
            assert found.violations_count == 0, found.generate_report()
            page.keyboard.press("?")


@pytest.mark.skipif(
    "PERCEPTRON_NLP_PICTURES" not in os.environ, reason="make pictures makes the pictures"
)
def test_pictures_are_of_the_page(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from PIL import Image

    folder = Path(os.environ["PERCEPTRON_NLP_PICTURES"]).absolute()
    # The page shows the name of the file.
    monkeypatch.chdir(tmp_path)

    def save(page: Any, name: str) -> None:
        page.wait_for_timeout(300)
        image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        place = folder / f"annotate-{name}.png"
        image.quantize(128, dither=Image.Dither.NONE).save(place, optimize=True)
        assert place.stat().st_size < 120_000

    person = pn.load("en")
    text = Path(__file__).absolute().parents[3] / "data" / "harbor.txt"
    phone = {"viewport": {"width": 390, "height": 760}, "color_scheme": "dark"}
    with serving(Session(text, "gold.conllu", background=True)) as server:
        with opened(browser, server, viewport={"width": 1000, "height": 740}) as page:
            for key in (".", "ArrowRight", "o", "ArrowRight"):
                page.keyboard.press(key)
            save(page, "first")
            for _ in range(16):
                annotate_by_keys(page, lambda found: list(person.tag(list(found))))
            press(page, "End", "ArrowLeft")
            save(page, "later")
        with opened(browser, server, **phone) as page:
            save(page, "phone")
