"""The directive ``verbs``: each verb of the program with its options in groups, by its parser.

It is made as the site is built, so the pages say what ``perceptron-nlp VERB --help`` says.
"""

from __future__ import annotations

import argparse
import os
import re
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive

from perceptron_nlp.cli.main import VERBS, parser_of
from perceptron_nlp.cli.parsing import PROGRAM

# argparse's names of its two groups, and what stands on the page.
HEADINGS = {"positional arguments": "Arguments", "options": "Options"}


def plain(text: str) -> nodes.paragraph:
    """Return a paragraph in which options and names of files look like code."""
    paragraph = nodes.paragraph()
    for piece in re.split(r"(?<![\w/])(--?[a-z][a-z-]*)", " ".join(text.split())):
        is_option = re.fullmatch(r"--?[a-z][a-z-]*", piece)
        paragraph += nodes.literal(text=piece) if is_option else nodes.Text(piece)
    return paragraph


def term(action: argparse.Action) -> str:
    """Return an argument as one writes it: ``-o OUT, --output OUT``, ``TRAIN [TRAIN ...]``."""
    value = str(action.metavar or action.dest).strip("[]") if action.nargs != 0 else ""
    many = {"+": f"{value} …", "*": f"[{value} …]", "?": f"[{value}]"}
    shown = many.get(str(action.nargs), value)
    if not action.option_strings:
        return shown
    return ", ".join(f"{name} {shown}".strip() for name in action.option_strings)


def table_of(verb: str, group: argparse._ArgumentGroup) -> list[nodes.Node]:
    """Return the heading of a group and its arguments with what they mean."""
    actions = [action for action in group._group_actions if action.dest != "help"]
    if not actions:
        return []
    title = HEADINGS.get(str(group.title), str(group.title).capitalize())
    rows = nodes.definition_list(classes=["options"])
    for action in actions:
        row = nodes.definition_list_item()
        name = action.option_strings[-1].lstrip("-") if action.option_strings else action.dest
        head = nodes.term(ids=[f"{verb}-{name}"])
        head += nodes.literal(text=term(action))
        row += head
        meaning = nodes.definition()
        meaning += plain((action.help or "") % {"default": action.default})
        row += meaning
        rows += row
    return [nodes.rubric(text=title), rows]


def usage_of(verb: str, actions: list[argparse.Action]) -> str:
    """Return how a verb is called, with what must be given."""
    needed = [term(one) for one in actions if one.required and one.option_strings]
    names = [term(one) for one in actions if not one.option_strings]
    return " ".join([PROGRAM, verb, "[OPTIONS]", *needed, *names])


def section_of(verb: str) -> nodes.section:
    """Return what a verb does, how it is called, its options, and examples."""
    parser = parser_of(verb)
    section = nodes.section(ids=[verb], names=[verb])
    section += nodes.title(text=verb)
    for paragraph in re.split(r"\n\n", str(parser.description)):
        section += plain(paragraph)
    section += literal(usage_of(verb, parser.actions()))
    for group in parser._action_groups:
        section += table_of(verb, group)
    _, _, examples = str(parser.epilog).partition("examples:\n")
    section += nodes.rubric(text="Examples")
    section += literal(re.sub(r"^  ", "", examples, flags=re.M))
    return section


def literal(text: str) -> nodes.literal_block:
    """Return a block of commands."""
    return nodes.literal_block(text, text, language="sh", classes=["commands"])


class Verbs(Directive):
    """A list of the verbs, and a section for each."""

    def run(self) -> list[nodes.Node]:
        os.environ.update({"COLUMNS": "88", "NO_COLOR": "1"})
        listed = nodes.bullet_list()
        for verb, about in VERBS.items():
            line = nodes.paragraph()
            link = nodes.reference("", "", nodes.literal(text=verb), refid=verb)
            line += [link, nodes.Text(f": {about}")]
            listed += nodes.list_item("", line)
        return [listed, *map(section_of, VERBS)]


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("verbs", Verbs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
