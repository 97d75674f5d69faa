"""Every page in a real browser: on a screen and on a phone, light and dark, by keyboard alone.

If PERCEPTRON_NLP_PICTURES names a folder, the pictures of the documentation are made there.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import threading
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

import perceptron_nlp as pn
from perceptron_nlp.analysis.serve import make_server
from perceptron_nlp.tagger.explain.render import page as explanation_page

DATA = Path(__file__).parents[3] / "data"
WIDTHS, SCHEMES = (1280, 390), ("light", "dark")
PAGES = ("overview", "labels", "features", "explanation", "study", "serve")
TALLEST, HEAVIEST = 6_000, 1_500_000


@pytest.fixture(scope="module")
def tagger() -> pn.Tagger:
    """A tagger of running text, with lemmas."""
    train, dev = DATA / "english-train.conllu", DATA / "english-dev.conllu"
    return pn.train(train, dev=dev, column="all", preset="fast", epochs=5)


@pytest.fixture(scope="module")
def report(tagger: pn.Tagger, tmp_path_factory: pytest.TempPathFactory) -> pn.WrittenReport:
    """A report on three columns."""
    three = pn.Tagger.joined([tagger.by_column[name] for name in ("upos", "xpos", "feats")])
    folder = tmp_path_factory.mktemp("report")
    return pn.report(three, DATA / "english-test.conllu", folder, title="Accuracy of en.model")


@pytest.fixture(scope="module")
def addresses(
    tagger: pn.Tagger, report: pn.WrittenReport, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """The address of each page."""
    folder = tmp_path_factory.mktemp("pages")
    sentences = list(pn.read_conllu(DATA / "english-test.conllu"))[:6]
    explained = [tagger.explain(one, column="upos") for one in sentences]
    why = explanation_page(explained, top=6, title="Why these labels: upos", right_to_left=True)
    (folder / "why.html").write_text(why, "utf-8")
    with make_server(tagger, name="en.model", port=0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield {
            "overview": report.pages[0].as_uri(),
            "labels": report.pages[1].as_uri(),
            "features": report.pages[3].as_uri(),
            "explanation": (folder / "why.html").as_uri(),
            "study": study_page(folder).as_uri(),
            "serve": server.url,
        }
        server.shutdown()
        thread.join()


def study_page(folder: Path) -> Path:
    """The page of a study of very little."""
    from perceptron_nlp.perceptrons.study import corpus, experiments
    from perceptron_nlp.perceptrons.study.report import write_report

    lines = [
        f"{subject} {verb} the/DET light/NOUN ./PUNCT\n"
        for subject in ("The/DET dog/NOUN", "Old/ADJ Tom/PROPN", "She/PRON", "They/PRON")
        for verb in ("sees/VERB", "found/VERB", "can/AUX see/VERB", "runs/VERB to/ADP")
    ]
    (folder / "little.tagged").write_text("".join(lines), "utf-8")
    read = corpus.read_study_corpus([str(folder / "little.tagged")])
    found = experiments.study_corpus(read)
    return write_report(found, folder / "study")[0]


@contextlib.contextmanager
def opened(browser: Any, address: str, width: int = 1280, scheme: str = "light") -> Iterator[Any]:
    """A page that makes no errors while it is open."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.set_default_timeout(60_000)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text))
    page.goto(address)
    if address.startswith("http"):
        page.wait_for_selector(".panel")
    yield page
    assert wrong == []
    page.close()


def open_everything(page: Any) -> None:
    """Open what can be opened at once: tables, explanations, a list of sentences."""
    page.evaluate(
        """() => {
          document.querySelectorAll("details").forEach((one) => { one.open = true; });
          document.querySelector(".word input")?.click();
          document.querySelector("[popovertarget]")?.click();
        }"""
    )


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_its_screen_closed_and_open(
    browser: Any, addresses: dict[str, str], name: str, width: int, scheme: str
) -> None:
    with opened(browser, addresses[name], width, scheme) as page:
        height = page.evaluate("document.documentElement.scrollHeight")
        assert name not in ("overview", "labels", "features") or height <= TALLEST
        open_everything(page)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (max(map(int, re.findall(r"\d+", dark))) < 64) == (scheme == "dark")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_closed_and_open(
    browser: Any, addresses: dict[str, str], name: str, width: int, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe").Axe()
    with opened(browser, addresses[name], width, scheme) as page:
        for act in (None, open_everything):
            if act is not None:
                act(page)
            found = axe.run(page)
            assert found.violations_count == 0, found.generate_report()


def luminance(color: str) -> float:
    """Relative luminance of a color, by the definition of WCAG 2."""
    shares = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1], ids=SCHEMES)
def test_every_color_of_text_stands_out_from_every_surface(theme: int) -> None:
    text = resources.files("perceptron_nlp.pages").joinpath("templates/tokens.css").read_text()
    pairs = re.findall(r"--(\w+):light-dark\((#\w{6}),(#\w{6})\)", text)
    colors = {name: luminance(both[theme]) for name, *both in pairs}
    surfaces = ("paper", "card", "goodpaper", "badpaper")
    for name in ("ink", "soft", "good", "bad", "third", "fourth", "fifth", "sixth"):
        for surface in surfaces:
            low, high = sorted((colors[name], colors[surface]))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (name, surface)


def test_a_report_of_three_columns_is_light(report: pn.WrittenReport) -> None:
    files = [*report.pages, *report.pictures]
    assert sum(path.stat().st_size for path in files) <= HEAVIEST


def focused(page: Any) -> str:
    """The name or text of what has the focus."""
    return str(
        page.evaluate(
            "() => { const e = document.activeElement;"
            " return e.getAttribute('aria-label') || e.closest('label')?.innerText || e.innerText }"
        )
    )


def tab_to(page: Any, text: str) -> None:
    """Press Tab until something of that name has the focus."""
    for _ in range(400):
        page.keyboard.press("Tab")
        if focused(page).startswith(text):
            return
    raise AssertionError(f"{text} is never reached")


def test_by_keyboard_a_cell_of_the_matrix_opens_its_sentences(
    browser: Any, addresses: dict[str, str]
) -> None:
    with opened(browser, addresses["labels"]) as page:
        tab_to(page, "Sentences")
        page.keyboard.press("Enter")
        contents = page.locator(".toc").bounding_box()
        assert page.evaluate("scrollY") > 300 and 0 <= contents["y"] < 200, "it stays in view"
        page.reload()
        tab_to(page, "ADJ, NOUN")
        page.keyboard.press("Enter")
        sheet = page.locator(".sheet:popover-open")
        count = int(focused(page).rpartition(": ")[2])
        assert f"{count} token" in sheet.inner_text()
        assert sheet.locator("tbody tr").count() == min(count, 15)
        page.keyboard.press("Escape")
        assert sheet.count() == 0 and focused(page).startswith("ADJ, NOUN")


def test_names_of_rows_stay_where_the_matrix_is_moved(
    browser: Any, addresses: dict[str, str]
) -> None:
    with opened(browser, addresses["labels"], 390) as page:
        name = page.locator(".matrix tbody th").first
        before = name.bounding_box()["x"]
        moved = page.evaluate(
            "() => { const e = document.querySelector('.wide:has(.matrix)');"
            " e.scrollLeft = 200; return e.scrollLeft }"
        )
        assert moved > 100 and name.bounding_box()["x"] == before


def test_by_keyboard_words_are_explained_one_after_the_other_or_all(
    browser: Any, addresses: dict[str, str]
) -> None:
    with opened(browser, addresses["explanation"]) as page:
        panels = page.locator(".panel")
        assert panels.filter(visible=True).count() == 0
        tab_to(page, "Open all")
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowRight")
        first = page.locator(".words").first.locator(".word")
        assert panels.filter(visible=True).count() == 1
        assert first.nth(1).locator("input").is_checked()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.name") == "s2", "a sentence is one stop"
        page.locator("#all").check()
        assert panels.filter(visible=True).count() == page.locator(".word").count()


def test_by_keyboard_a_typed_text_is_explored(browser: Any, addresses: dict[str, str]) -> None:
    with opened(browser, addresses["serve"]) as page:
        assert page.locator("h1").inner_text() == "en.model"
        assert page.input_value("#text") == "The old man the boats."
        assert page.evaluate("document.activeElement.id") == "text"
        page.keyboard.type("She sold boats. He saw them.")
        page.wait_for_selector("#status:has-text('8 words in 2 sentences')")
        page.keyboard.press("Escape")
        assert page.locator(".panel").count() == 0
        page.keyboard.press("Tab")
        assert focused(page).startswith("She")
        page.keyboard.press("ArrowRight")
        assert focused(page).startswith("sold") and "sell" in focused(page)
        assert page.locator(".panel h2").inner_text() == "Why sold?"
        assert page.locator("#said").inner_text().startswith("sold: ")
        word, panel = page.locator(".word:has(:checked)"), page.locator(".panel")
        assert panel.bounding_box()["y"] >= word.bounding_box()["y"] + 20
        page.keyboard.press("Enter")
        assert focused(page) == "Why sold"
        page.keyboard.press("Escape")
        assert focused(page).startswith("sold") and page.locator(".panel").count() == 0
        page.keyboard.press("Tab")
        assert focused(page).startswith("He"), "a sentence is one stop"


def test_arrows_follow_the_direction_of_writing(browser: Any, addresses: dict[str, str]) -> None:
    with opened(browser, addresses["serve"], 390) as page:
        page.fill("#text", "הילדים קוראים ספר ישן")
        page.wait_for_selector(".word:has-text('ישן')")
        words = page.locator(".word")
        assert words.nth(0).bounding_box()["x"] > words.nth(1).bounding_box()["x"]
        words.nth(0).locator("input").focus()
        page.keyboard.press("ArrowLeft")
        assert focused(page).startswith("קוראים")
        page.keyboard.press("ArrowRight")
        assert focused(page).startswith("הילדים")


@pytest.fixture(scope="module")
def shown(addresses: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The addresses of the pages in pictures: the report is that of the tagger of README."""
    data = [DATA / f"english-{part}.conllu" for part in ("train", "dev", "test")]
    readme = pn.train(data[0], dev=data[1], seed=1)
    folder = tmp_path_factory.mktemp("shown")
    report = pn.report(readme, data[2], folder, title="Accuracy of en.model")
    return addresses | {"report": report.pages[0].as_uri()}


PICTURES = {
    "report-desktop": ("report", 1280, "light", ""),
    "report-phone": ("report", 390, "dark", ""),
    "report-sentences": (
        "report",
        1280,
        "light",
        "document.querySelector('#matrix').scrollIntoView();"
        "document.querySelector('[aria-label^=\"ADJ, NOUN\"]').click()",
    ),
    "explain": (
        "explanation",
        1280,
        "light",
        "document.querySelectorAll('.word input')[2].click()",
    ),
    "serve": ("serve", 1280, "light", ""),
    "serve-phone": ("serve", 390, "dark", ""),
}


@pytest.mark.skipif(
    "PERCEPTRON_NLP_PICTURES" not in os.environ, reason="make pictures makes the pictures"
)
@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_of_the_pages(browser: Any, shown: dict[str, str], name: str) -> None:
    from PIL import Image, PngImagePlugin

    page_name, width, scheme, act = PICTURES[name]
    with opened(browser, shown[page_name], width, scheme) as page:
        # The figures of the page, which a test of the documentation holds to the text beside it.
        figures = PngImagePlugin.PngInfo()
        figures.add_text("Description", ", ".join(re.findall(r"[\d.]+ %", page.inner_text("main"))))
        page.evaluate(f"() => {{ {act} }}")
        page.wait_for_timeout(300)
        image = Image.open(io.BytesIO(page.screenshot()))
        small = image.convert("RGB").quantize(128, dither=Image.Dither.NONE)
        place = Path(os.environ["PERCEPTRON_NLP_PICTURES"], f"{name}.png")
        small.save(place, optimize=True, pnginfo=figures)
        assert image.width == width and place.stat().st_size < 120_000
