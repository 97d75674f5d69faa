"""An HTML page as a strict reader sees it: every element closed in its turn."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "link", "br", "img", "hr", "input", "wbr"}


class Page(HTMLParser):
    """A page, parsed.

    Attributes
    ----------
    elements : (name, attributes) of each, in order
    texts : what stands in elements that show text
    scripts : (attributes, content) of script elements
    ids : all ids, in order
    """

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open, f"never closed: {self._open}"

    @property
    def ids(self) -> list[str]:
        return [str(attributes["id"]) for _, attributes in self.elements if "id" in attributes]

    def data(self, name: str) -> Any:
        """The JSON in the script element of an id."""
        (content,) = [text for attributes, text in self.scripts if attributes.get("id") == name]
        return json.loads(content)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice"
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert "svg" in self._open, f"<{tag}/> is not closed in HTML"
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open and self._open[-1] == tag, f"</{tag}> within {self._open}"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "script":
            attributes, content = self.scripts[-1]
            self.scripts[-1] = attributes, content + data
        elif not self._open or self._open[-1] != "style":
            self.texts.append(data)
