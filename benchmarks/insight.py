"""What insight costs and how right it is. Prints Markdown.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/insight.py [NAME…]

NAMEs are measurements (default: all). Times are CPU seconds of one core, the least of several
rounds.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable

from corpora import treebank
from cputime import least_of

import perceptron_nlp as pn

ROUNDS = 3
BEST = 10
DRAWINGS = 5
REPORTED = (("Greek-GDT", "upos,xpos,feats"),)


def each(sentences: list[list[str]], work: Callable[[list[str]], object]) -> None:
    """Do something with each sentence, and keep nothing of it."""
    for words in sentences:
        work(words)


def explain() -> str:
    """How fast EWT test is explained, with all features and with few, and its k best found."""
    tagger = pn.train(treebank("EWT", "train"), seed=1, runs=1)
    sentences = [list(sentence.words) for sentence in pn.read_conllu(treebank("EWT", "test"))]
    few = sentences[:200]
    n_words, n_few = sum(map(len, sentences)), sum(map(len, few))
    jobs: list[tuple[str, int, Callable[[], object]]] = [
        (
            "`explain`: labels, runners-up, scores, margins",
            n_words,
            lambda: each(sentences, tagger.explain),
        ),
        (
            "the same, and every feature made",
            n_words,
            lambda: each(
                sentences, lambda words: [word.features for word in tagger.explain(words)]
            ),
        ),
        (
            "`explain(…, top=5)`, and these features made",
            n_words,
            lambda: each(
                sentences, lambda words: [word.features for word in tagger.explain(words, top=5)]
            ),
        ),
        (
            "the same as dictionaries",
            n_words,
            lambda: each(sentences, lambda words: tagger.explain(words).to_dict(top=5)),
        ),
        (
            "the same as HTML",
            n_few,
            lambda: each(few, lambda words: tagger.explain(words).to_html()),
        ),
        (
            f"`k_best`, k = {BEST}",
            n_few,
            lambda: each(few, lambda words: pn.k_best(tagger, words, BEST)),
        ),
        ("`tag`, one sentence at a time", n_words, lambda: each(sentences, tagger.tag)),
    ]
    lines = [
        f"## Why: EWT test, {n_words:,} words, the default preset\n",
        "| | words / CPU s |",
        "|---|---|",
    ]
    lines += [f"| {name} | {count / least_of(ROUNDS, work):,.0f} |" for name, count, work in jobs]
    return "\n".join(lines)


def report() -> str:
    """How large reports are, what writing them takes, and how soon a browser has drawn them."""
    lines = [
        "## Reports: test sets, the default preset\n",
        "| | pages and pictures, bytes | written in CPU s | first paint, 1280 wide | 390 wide |",
        "|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name, column in REPORTED:
            tagger = pn.train(
                treebank(name, "train"), column=column, seed=1, dev=treebank(name, "dev")
            )
            start = time.process_time()
            written = pn.report(tagger, treebank(name, "test"), os.path.join(folder, "report"))
            seconds = time.process_time() - start
            size = sum(path.stat().st_size for path in (*written.pages, *written.pictures))
            wide, narrow = (drawn(written.pages[-1].as_uri(), width) for width in (1280, 390))
            lines.append(f"| {name}, {column} | {size:,} | {seconds:.1f} | {wide} | {narrow} |")
    return "\n".join(lines)


def drawn(address: str, width: int) -> str:
    """Return the median time from asking for a page to the first paint of what it says."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return "– (needs playwright)"
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        return "– (needs chromium)"
    found = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for _ in range(DRAWINGS):
            page = browser.new_page(viewport={"width": width, "height": 900})
            page.goto(address)
            page.wait_for_timeout(500)
            painted = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
            found.append(page.evaluate(painted))
            page.close()
        browser.close()
    return f"{statistics.median(found):.0f} ms"


MEASUREMENTS: dict[str, Callable[[], str]] = {"explain": explain, "report": report}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"what to measure: {', '.join(MEASUREMENTS)} (default: all)",
    )
    chosen = parser.parse_args().names or list(MEASUREMENTS)
    for name in chosen:
        if name not in MEASUREMENTS:
            parser.error(f"unknown measurement {name}; there are {', '.join(MEASUREMENTS)}")
    print("# Insight\n")
    for name in chosen:
        print(MEASUREMENTS[name]() + "\n", flush=True)


if __name__ == "__main__":
    main()
