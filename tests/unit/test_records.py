"""Records are dataclasses to whoever looks at them."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from typing import Any

import pytest

import perceptron_nlp as pn
from perceptron_nlp.records import record


@record()
class Place:
    line: int
    name: str = "here"


@record(kw_only=True, eq=False)
class Named:
    name: str


def test_signatures_name_fields_types_and_defaults() -> None:
    assert str(inspect.signature(Place)) == "(line: 'int', name: 'str' = 'here')"
    assert str(inspect.signature(Named)) == "(*, name: 'str')"
    assert list(inspect.signature(pn.Token).parameters) == ["index", "word", "columns"]


def test_what_takes_dataclasses_takes_records() -> None:
    place = Place(3)
    assert dataclasses.is_dataclass(place)
    assert dataclasses.asdict(place) == {"line": 3, "name": "here"}
    assert dataclasses.replace(place, line=4) == Place(4, "here")
    assert [field.name for field in dataclasses.fields(Named)] == ["name"]


def test_records_are_copied_and_pickled() -> None:
    place = Place(3, "there")
    assert pickle.loads(pickle.dumps(place)) == copy.deepcopy(place) == place
    assert hash(copy.copy(place)) == hash(place)


def test_records_without_eq_are_equal_to_themselves_alone() -> None:
    one = Named(name="a")
    assert one == one and one != Named(name="a")


def test_records_do_not_change() -> None:
    place = Place(3)
    with pytest.raises(dataclasses.FrozenInstanceError, match="line"):
        place.line = 4  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError, match="name"):
        del place.name


@pytest.mark.parametrize(
    ("given", "named", "message"),
    [
        ((), {}, "line is missing"),
        ((1, "a", 2), {}, "takes 2 fields, not 3"),
        ((1,), {"line": 2}, "line is given twice"),
        ((1,), {"x": 2}, "has no field x"),
    ],
)
def test_fields_that_do_not_fit_are_named(
    given: tuple[Any, ...], named: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        Place(*given, **named)
