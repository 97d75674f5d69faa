"""Results on standard output."""

from __future__ import annotations

import json
from typing import Any

from perceptron_nlp.cli.style import output


def print_json(value: dict[str, Any]) -> None:
    """One JSON object on lines of its own; in ASCII where the stream is not Unicode."""
    print(json.dumps(value, ensure_ascii=not output().unicode, indent=2))
