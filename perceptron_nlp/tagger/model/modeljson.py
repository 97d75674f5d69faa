"""JSON in the metadata of model files: equal values are equal bytes."""

from __future__ import annotations

import json
from typing import Any

from perceptron_nlp.errors import ArgumentError


def to_json(value: Any) -> str:
    """A value as JSON in one line, keys in the order of their code points.

    Raises ArgumentError for what JSON, or UTF-8, cannot hold.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        text.encode("utf-8")
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"the model cannot be written: {error}") from None
    return text


def object_in(text: str, name: str) -> dict[str, Any]:
    """The JSON object in a text; ValueError where it holds something else."""
    return checked_object(json.loads(text), name)


def objects_in(text: str, name: str) -> list[dict[str, Any]]:
    """The list of JSON objects in a text; ValueError where it holds something else."""
    value = json.loads(text)
    if not isinstance(value, list):
        raise ValueError(f"{name} is not a JSON list")
    return [checked_object(one, name) for one in value]


def checked_object(value: Any, name: str) -> dict[str, Any]:
    """The value itself; ValueError where it is no JSON object."""
    if not isinstance(value, dict):
        raise ValueError(f"{name} is not a JSON object")
    return value
