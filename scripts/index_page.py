"""README.md as a package index shows it, where links into the repository lead nowhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

# A link or, with "!", a picture, to a place of the repository: its words, and the place.
_LINK = re.compile(r"(!?)\[([^\[\]]*)\]\((?![a-z][a-z0-9+.-]*:|#)([^)\s]+)\)")


def index_page(text: str, repository: str | None) -> str:
    """Return the text with links that hold anywhere.

    Parameters
    ----------
    text : Markdown whose links are relative to the repository's top folder
    repository : its address, which links and pictures then begin with; None if it has none: then
        the words of links stay without them, and pictures go
    """

    def mended(found: re.Match[str]) -> str:
        picture, words, place = found.groups()
        if repository is None:
            return "" if picture else words
        kind = "raw" if picture else "blob"
        return f"{picture}[{words}]({repository.rstrip('/')}/{kind}/HEAD/{place})"

    return re.sub(r"\n{3,}", "\n\n", _LINK.sub(mended, text))


def long_description() -> str:
    """Return what the package in the working folder says of itself on an index."""
    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
    repository = project.get("urls", {}).get("Repository")
    return index_page(Path("README.md").read_text("utf-8"), repository)
