"""The directive ``verb``: what ``perceptron-nlp VERB --help`` prints, made as the site is built."""

from __future__ import annotations

import contextlib
import io
import os
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive

from perceptron_nlp.cli.main import VERBS, main


def help_of(verb: str) -> str:
    """The help of a verb, in lines of at most 80 characters and without colours."""
    os.environ.update({"COLUMNS": "80", "NO_COLOR": "1"})
    with contextlib.redirect_stdout(io.StringIO()) as out:
        main([verb, "--help"] if verb else ["--help"])
    return out.getvalue()


class Verbs(Directive):
    """The program's own help, and a section for each verb."""

    def run(self) -> list[nodes.Node]:
        whole = nodes.section(ids=["the-program"])
        whole += [nodes.title(text="The program"), literal(help_of(""))]
        found: list[nodes.Node] = [whole]
        for verb in VERBS:
            section = nodes.section(ids=[verb], names=[verb])
            section += [nodes.title(text=verb), literal(help_of(verb))]
            found.append(section)
        return found


def literal(text: str) -> nodes.literal_block:
    """A block of text as it stands."""
    return nodes.literal_block(text, text, language="none")


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("verbs", Verbs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
