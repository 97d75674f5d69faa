"""One HTML page that needs nothing beside itself: headings, text, tables, pictures."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
:root {{ --text: #1b1b1b; --paper: #fff; --soft: #595959; --line: #d0d0d0; --card: #fff; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --text: #e8e8e8; --paper: #16181b; --soft: #b4b4b4; --line: #454a50; }}
}}
* {{ box-sizing: border-box; }}
body {{ margin: 0 auto; padding: 1rem; max-width: 62rem; background: var(--paper);
  color: var(--text); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }}
h1 {{ font-size: 1.6rem; line-height: 1.25; }}
h2 {{ font-size: 1.25rem; margin-top: 2.5rem; }}
p, li {{ max-width: 44rem; }}
.soft {{ color: var(--soft); }}
figure {{ margin: 1rem 0; }}
img {{ display: block; max-width: 100%; height: auto; background: var(--card);
  border: 1px solid var(--line); border-radius: .5rem; padding: .5rem; }}
.wide {{ overflow-x: auto; overflow-wrap: normal; }}
table {{ border-collapse: collapse; font-size: .95rem; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .3rem .7rem; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap; }}
th:first-child, td:first-child {{ text-align: left; }}
thead th {{ color: var(--soft); font-weight: 600; }}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def page(title: str, parts: Sequence[str]) -> bytes:
    """The page in UTF-8; `parts` are pieces of HTML made by the functions below."""
    return _PAGE.format(title=escape(title), body="\n".join(parts)).encode("utf-8", "replace")


def heading(text: str, level: int = 2) -> str:
    """A heading."""
    return f"<h{level}>{escape(text)}</h{level}>"


def paragraph(text: str, *, soft: bool = False) -> str:
    """A paragraph; `soft` is for side remarks."""
    kind = ' class="soft"' if soft else ""
    return f"<p{kind}>{escape(text)}</p>"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose first column is text and whose others are numbers."""
    top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "\n".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="wide" tabindex="0"><table>\n<thead><tr>{top}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def picture(png: bytes, alt: str) -> str:
    """A picture within the page itself; `alt` says what it shows."""
    data = base64.b64encode(png).decode("ascii")
    return f'<figure><img alt="{escape(alt)}" src="data:image/png;base64,{data}"></figure>'
