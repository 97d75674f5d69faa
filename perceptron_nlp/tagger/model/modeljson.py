"""JSON in the metadata of model files: equal values are equal bytes."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from perceptron_nlp.errors import ArgumentError

# JSON has numbers of any size; a file of ours has none that these do not hold.
_MOST_INT = 2**64
_COUNTS: dict[str, Any] = {"sentences": int, "tokens": int, "labelled": int, "sha256": str}
_EPOCH: dict[str, Any] = {"epoch": int, "mistakes": int, "dev_accuracy": float}
# The parts of a training record that this library reads again, and of what type they are: a list
# of one type, an object with these parts among others, or null.
_RECORD: dict[str, Any] = {
    "version": str,
    "train": _COUNTS,
    "dev": _COUNTS,
    "options": {"runs": int},
    "choices": [str],
    "doubts": [str],
    "epochs": [_EPOCH],
    "best_epoch": int,
    "calibration": {"method": str, "why": str, "words": int, "ece": float},
    "compressed": {"bytes_before": int, "rows_before": int, "steps": int, "scores": [float]},
}
_RECORD["merged"] = [{"weight": float, "sha256": str, "record": _RECORD}]


def to_json(value: Any) -> str:
    """A value as JSON in one line, keys in the order of their code points.

    Raises ArgumentError for what JSON, or UTF-8, cannot hold.
    """
    try:
        text = json.dumps(
            value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
        )
        text.encode("utf-8")
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"the model cannot be written: {error}") from None
    return text


def object_in(text: str, name: str) -> dict[str, Any]:
    """The JSON object in a text; ValueError where it holds something else."""
    return checked_object(_loaded(text), name)


def objects_in(text: str, name: str) -> list[dict[str, Any]]:
    """The list of JSON objects in a text; ValueError where it holds something else."""
    value = _loaded(text)
    if not isinstance(value, list):
        raise ValueError(f"{name} is not a JSON list")
    return [checked_object(one, name) for one in value]


def checked_object(value: Any, name: str) -> dict[str, Any]:
    """The value itself; ValueError where it is no JSON object."""
    if not isinstance(value, dict):
        raise ValueError(f"{name} is not a JSON object")
    return value


def checked_record(value: Any) -> dict[str, Any]:
    """The training record itself; ValueError where a part of it is of another type."""
    _check_form(value, _RECORD, "record")
    return checked_object(value, "record")


def _check_form(value: Any, form: Any, name: str) -> None:
    if value is None:
        return
    if isinstance(form, dict):
        for key, part in form.items():
            _check_form(checked_object(value, name).get(key), part, f"{name}.{key}")
    elif isinstance(form, list):
        if not isinstance(value, list):
            raise ValueError(f"{name} is not a JSON list")
        for one in value:
            _check_form(one, form[0], name)
    elif not isinstance(value, int | float if form is float else form) or isinstance(value, bool):
        raise ValueError(f"{name} is not of type {form.__name__}")


def _loaded(text: str) -> Any:
    """A JSON text's value; ValueError for numbers that are none or of a size never written."""
    return json.loads(text, parse_int=_int, parse_float=_float, parse_constant=_refuse)


def _int(digits: str) -> int:
    number = int(digits)
    return number if abs(number) < _MOST_INT else _refuse(digits)


def _float(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse(digits)


def _refuse(digits: str) -> NoReturn:
    raise ValueError(f"{digits[:20]} is not a number of a model file")
