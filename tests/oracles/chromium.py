"""A browser that pages are tried in."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """A Chromium of this machine that Playwright drives; None where one of them is missing."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        yield None
        return
    with sync_playwright() as running:
        found = running.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()
