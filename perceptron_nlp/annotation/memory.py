"""What was learned, kept beside the annotated file, so that going on begins at once.

Nothing is lost with it: what is not there, or is of other work, is learned again, with the same
result.
"""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import perceptron_nlp as pn

# The model in use and the one after it.
_MOST_MODELS = 2
_CLUSTERS = "clusters"
# What reading raises, depending on the byte that is wrong.
_DAMAGED = (OSError, ValueError, KeyError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)


class Memory:
    """Models by what they were learned from, and the clusters of the raw text.

    Parameters
    ----------
    path : the file; None forgets all at the end
    raw : the text, which is given its clusters if they are known
    """

    def __init__(self, path: str | None, raw: pn.RawText) -> None:
        self._path = path
        self._raw = raw
        self._models: dict[str, tuple[Any, bytes]] = {}
        if path is not None:
            with contextlib.suppress(*_DAMAGED):
                self._models = _read(path)
        facts, _ = self._models.pop(_CLUSTERS, ({}, b""))
        if facts.get("of") == self._text:
            raw.clusters.update({tuple(names): tables for names, tables in facts["clusters"]})

    def found(self, key: str) -> tuple[Any, pn.Tagger | None] | None:
        """Return the facts and the tagger that were kept under a key; None if there are none."""
        if key not in self._models:
            return None
        facts, model = self._models[key]
        try:
            return facts, pn.Tagger.from_bytes(model) if model else None
        except pn.PerceptronNLPError:
            return None

    def keep(self, key: str, facts: Mapping[str, Any], tagger: pn.Tagger | None) -> None:
        """Keep facts, which JSON can hold, and a tagger; forget the oldest."""
        if self._path is None:
            return
        self._models[key] = facts, b"" if tagger is None else tagger.to_bytes()
        for name in [*self._models][:-_MOST_MODELS]:
            del self._models[name]
        clusters = {"of": self._text, "clusters": list(self._raw.clusters.items())}
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, (said, data) in {**self._models, _CLUSTERS: (clusters, b"")}.items():
                archive.writestr(zipfile.ZipInfo(name + ".json"), json.dumps(said))
                archive.writestr(zipfile.ZipInfo(name + ".model"), data)
        # A full disk stops what the person does, and tells them; this here can be done without.
        with contextlib.suppress(pn.FileError):
            pn.replace_file(self._path, packed.getvalue())

    @property
    def _text(self) -> list[str]:
        return [pn.__version__, self._raw.digest]


def _read(path: str) -> dict[str, tuple[Any, bytes]]:
    with zipfile.ZipFile(path) as archive:
        keys = [name.removesuffix(".json") for name in archive.namelist() if ".json" in name]
        return {
            key: (json.loads(archive.read(key + ".json")), archive.read(key + ".model"))
            for key in keys
        }
