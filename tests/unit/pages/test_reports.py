"""Reports: one description of a result, and a renderer for each form."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp._display import FORMS
from perceptron_nlp.pages.html import html
from perceptron_nlp.pages.renderers import Reported, text_lines, tsv_cell, tsv_text, written
from perceptron_nlp.pages.reports import Column, Figure, Report, Table

LABELS = Table(
    "labels",
    "by label",
    [
        Column("label"),
        Column("f1", "percent", "F1"),
        Column("support", "count"),
        Column("why", "prose"),
    ],
    [("NOUN|Case=Nom", 0.5, 12345, "since " * 30), ("=cmd|' /C calc'!A0", None, 4, "\x1b[31m")],
)
REPORT = Report(
    "upos: 93.25 % of 5,490 words",
    [
        Figure("accuracy", 0.9325, "percent", note="of 5,490"),
        Figure("labels_seen", "ADJ NOUN", "text"),
        Figure("record", {"epochs": 5}, "data"),
    ],
    [LABELS],
    ["Nobody knows_why & <where>."],
    [Report("a part", [Figure("p_value", 0.03125, "p", "p")])],
)


def test_text_holds_figures_tables_notes_and_sections() -> None:
    lines = written(REPORT, "text").splitlines()
    assert lines[:3] == [
        "upos: 93.25 % of 5,490 words",
        "accuracy     93.25 %  of 5,490",
        "labels seen  ADJ NOUN",
    ]
    assert lines[4:7] == [
        "by label",
        "label                  F1  support",
        "NOUN|Case=Nom       50.00   12,345",
    ]
    assert lines[-5:] == ["", "Nobody knows_why & <where>.", "", "a part", "p  0.0312"]
    assert "record" not in "".join(lines)


@pytest.mark.parametrize("width", [20, 33, 50, 80])
def test_no_line_is_wider_than_it_may_be_and_none_holds_control_characters(width: int) -> None:
    lines = text_lines(REPORT, width)
    assert max(map(len, lines)) <= width
    assert all(line.isprintable() for line in lines)


def test_rows_that_are_left_out_are_counted_and_json_has_them() -> None:
    rows = [(str(number),) for number in range(30)]
    report = Report("x", tables=[Table("t", "", [Column("n")], rows, 20, "--limit shows more")])
    assert written(report, "text").splitlines()[-1] == "… and 10 more rows (--limit shows more)"
    assert len(json.loads(written(report, "json"))["t"]) == 30
    assert len(written(report, "tsv").splitlines()) == 31


def test_json_has_everything_by_key_and_shares_as_fractions() -> None:
    found = json.loads(written(REPORT, "json"))
    assert found == REPORT.to_dict()
    assert found["accuracy"] == 0.9325 and found["record"] == {"epochs": 5}
    assert found["labels"][1]["label"] == "=cmd|' /C calc'!A0"
    assert found["sections"][0]["p_value"] == 0.03125
    assert written(REPORT, "json").replace("\n", "").isprintable()


def test_no_cell_of_a_table_is_a_formula_to_a_spreadsheet() -> None:
    rows = list(
        csv.reader(
            io.StringIO(written(REPORT, "tsv")),
            delimiter="\t",
            quotechar=None,
            quoting=csv.QUOTE_NONE,
        )
    )
    assert rows[0] == ["label", "f1", "support", "why"]
    assert rows[2][:3] == ["'=cmd|' /C calc'!A0", "", "4"]
    for text in ("=1", "+a", "-a", "@a", "'=1", "''=1", "a", "-", "'", "'a", "=", "--"):
        cell = tsv_cell(text)
        assert tsv_text(cell) == text
        assert len(cell) < 2 or cell[0] not in "=+-@"
    assert tsv_cell(-1.5) == "-1.5"


TEX_TOKEN = re.compile(r"\\\\|\\[a-zA-Z]+|\\[&%$#_{}]|[^\\]")


def tex_rows(source: str) -> list[list[str]]:
    """Cells of the rows of LaTeX's tables; fails where TeX would stop, or take text for markup."""
    depth, is_formula, rows, cells = 0, False, [], [""]
    for line in source.split("\n"):
        if line.startswith("%"):
            continue
        tokens = TEX_TOKEN.findall(line)
        assert "".join(tokens) == line
        for token in tokens:
            depth += (token == "{") - (token == "}")
            is_formula ^= token == "$"
            assert depth >= 0 and token not in ("%", "#", "_", "^", "~")
            assert "--" not in line
            if token == "\\\\":
                rows.append([cell.strip() for cell in cells])
            if token == "&":
                cells.append("")
            elif token == "\\\\" or token.endswith("rule"):
                cells = [""]
            else:
                cells[-1] += token
    assert not depth and not is_formula
    return rows


@given(st.lists(st.text("&%$#_{}~^\\<>|-–→ab\n'`\"", max_size=9), min_size=2, max_size=6))
def test_no_text_is_markup_in_latex(texts: list[str]) -> None:
    columns = [Column("a_b"), Column("share", "percent"), Column("why", "prose")]
    rows = [(text, -0.5, text) for text in texts]
    report = Report(texts[0], [], [Table("t", texts[1], columns, rows)], texts, [Report(texts[0])])
    found = tex_rows(written(report, "latex"))
    assert len(found) == len(texts) + 1 and {len(row) for row in found} == {3}
    assert all(row[1] == "$-$50.00" for row in found[1:])


def test_markdown_and_latex_escape_what_has_a_meaning() -> None:
    markdown = written(REPORT, "markdown")
    assert markdown.startswith("## upos: 93.25 % of 5,490 words\n")
    assert "| NOUN\\|Case=Nom | 50.00 | 12,345 |" in markdown and "### a part" in markdown
    latex = written(REPORT, "latex")
    assert r"NOUN\textbar{}Case=Nom & 50.00 & 12,345 &" in latex
    assert (
        r"\begin{tabular}{lrrl}" in latex
        and r"knows\_why \& \textless{}where\textgreater{}" in latex
    )


def test_html_is_escaped_and_a_page_stands_alone() -> None:
    pytest.importorskip("jinja2")
    page = written(REPORT, "html")
    assert '<td style="text-align:right">50.00</td>' in page and "&lt;where&gt;" in page
    assert "http://" not in page and "\x1b" not in page
    (table,) = re.findall("<table>.*?</table>", page, re.S)
    assert table in html(REPORT) and "<h2>a part</h2>" in page


def test_another_form_is_refused() -> None:
    with pytest.raises(pn.ArgumentError, match="form: 'pdf' is none of text, tsv"):
        written(REPORT, "pdf")


def test_a_result_is_shown_by_its_report() -> None:
    class Result(Reported):
        def report(self) -> Report:
            return REPORT

    result = Result()
    assert str(result) == REPORT.title
    assert result.rows() == REPORT.to_dict()["labels"]
    assert result.to_dict() == REPORT.to_dict() and result._repr_html_() == html(REPORT)


def test_every_form_ends_with_one_line_break() -> None:
    for form in FORMS:
        if form != "html":
            text = written(REPORT, form)
            assert text.endswith("\n") and not text.endswith("\n\n")
