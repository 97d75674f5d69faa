"""A browser that pages are tried in."""

from __future__ import annotations

import contextlib
import os
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
        # A sanitizer, which this process may have loaded first, keeps a browser from starting.
        kept = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        found = running.chromium.launch(executable_path=path, args=["--no-sandbox"], env=kept)
        yield found
        found.close()
