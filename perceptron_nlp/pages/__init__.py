"""Pages of HTML from ``templates/``: one base, one stylesheet, all text escaped (extra ``report``).

A page needs nothing beside itself: no network, and no script but that of the try-it page. Nothing
is said by color alone.
"""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from perceptron_nlp._display import between, counted, percent, points, printable
from perceptron_nlp._version import __version__
from perceptron_nlp.errors import missing_extra

if TYPE_CHECKING:
    from jinja2 import Environment

# What could end the element that the JSON stands in.
_IN_SCRIPT = str.maketrans({"&": "\\u0026", "<": "\\u003c", ">": "\\u003e"})


def render(template: str, **values: Any) -> str:
    """Return a page, or a part of one, from a file in ``templates/`` and its variables."""
    return environment().get_template(template).render(values)


@functools.cache
def environment() -> Environment:
    """Return the templates, and the filters and functions that they use."""
    try:
        import jinja2
        import markupsafe
    except ImportError:
        raise missing_extra("Jinja2", "report") from None

    def finalized(value: Any) -> Any:
        is_text = isinstance(value, str) and not hasattr(value, "__html__")
        return printable(value) if is_text else value

    def word(text: str) -> markupsafe.Markup:
        """Set a word apart from the direction of the text around it; feature sets may be broken."""
        parts = printable(text).split("|")
        return markupsafe.Markup("<bdi>{}</bdi>").format(markupsafe.Markup("|<wbr>").join(parts))

    def script_json(value: Any) -> markupsafe.Markup:
        text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
        return markupsafe.Markup(text.translate(_IN_SCRIPT))

    def image(svg: str) -> markupsafe.Markup:
        """Take in an SVG that the program has drawn itself (drawing.inlined)."""
        return markupsafe.Markup(svg)

    found = jinja2.Environment(
        loader=jinja2.PackageLoader("perceptron_nlp.pages"),
        autoescape=True,
        finalize=finalized,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "between": between,
        "counted": counted,
        "image": image,
        "percent": percent,
        "points": points,
        "script_json": script_json,
        "word": word,
    }
    icon = resources.files(__name__).joinpath("templates/icon.svg").read_text("utf-8")
    found.globals |= {"version": __version__, "icon": "data:image/svg+xml," + quote(icon.strip())}
    return found
