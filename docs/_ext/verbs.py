"""A page for each verb of the program with its options in groups, by its parser.

The directive ``verbs`` lists them, and ``verb`` is one of them. The pages are written as the site
is built, so they say what ``perceptron-nlp VERB --help`` says.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx import addnodes

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


def described(verb: str) -> list[nodes.Node]:
    """Return what a verb does, how it is called, its options, and examples."""
    parser = parser_of(verb)
    shown: list[nodes.Node] = []
    for paragraph in re.split(r"\n\n", str(parser.description)):
        shown.append(plain(paragraph))
    shown.append(literal(usage_of(verb, parser.actions())))
    for group in parser._action_groups:
        shown += table_of(verb, group)
    _, _, examples = str(parser.epilog).partition("examples:\n")
    shown.append(nodes.rubric(text="Examples"))
    shown.append(literal(re.sub(r"^  ", "", examples, flags=re.M)))
    return shown


def literal(text: str) -> nodes.literal_block:
    """Return a block of commands."""
    return nodes.literal_block(text, text, language="sh", classes=["commands"])


class Verb(Directive):
    """The description of one verb."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        os.environ.update({"COLUMNS": "88", "NO_COLOR": "1"})
        return described(self.arguments[0])


class Verbs(Directive):
    """A list of the verbs, each with a link to its page."""

    def run(self) -> list[nodes.Node]:
        verbs = nodes.bullet_list()
        for verb, about in VERBS.items():
            line = addnodes.compact_paragraph()
            link = addnodes.pending_xref(
                "", reftype="doc", refdomain="std", reftarget=f"commands/{verb}", refexplicit=True
            )
            link["refdoc"] = "reference/commands"
            link += nodes.literal(text=verb)
            line += [link, nodes.Text(f": {about}")]
            verbs += nodes.list_item("", line)
        return [verbs]


def write_pages(app: Any, config: Any) -> None:
    """Write a page for each verb, and remove the pages of names that an earlier build left."""
    reference = Path(app.srcdir) / "reference"
    for folder in ("commands", "names"):
        shutil.rmtree(reference / folder, ignore_errors=True)
    (reference / "commands").mkdir()
    for verb in VERBS:
        page = f"{verb}\n{'=' * len(verb)}\n\n.. verb:: {verb}\n"
        (reference / "commands" / f"{verb}.rst").write_text(page, "utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("verb", Verb)
    app.add_directive("verbs", Verbs)
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
