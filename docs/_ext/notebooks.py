"""Runs the notebooks, all in one kernel, and keeps what they print.

``python docs/_ext/notebooks.py`` does it. The tests run them in the same way and hold what is
printed against what is kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "notebooks"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
AFRESH = "%reset -f"


def read() -> dict[Path, Any]:
    """All notebooks by their files."""
    return {path: nbformat.read(path, as_version=4) for path in sorted(FOLDER.glob("*.ipynb"))}


def run(books: dict[Path, Any]) -> None:
    """Run the notebooks one after the other, each with no names of those before it.

    What is printed takes the place of what their cells held. Starting a kernel takes longer than
    most notebooks, so there is one for all.
    """
    whole = nbformat.v4.new_notebook(metadata=METADATA)
    for book in books.values():
        whole.cells += [nbformat.v4.new_code_cell(AFRESH), *book.cells]
    NotebookClient(
        whole, timeout=300, record_timing=False, resources={"metadata": {"path": str(FOLDER)}}
    ).execute()


def printed(book: Any) -> list[str]:
    """The text that each cell printed or gave; pictures are left out."""
    return [
        "".join(
            output.get("text", "") or output.get("data", {}).get("text/plain", "")
            for output in cell.get("outputs", ())
            if "image/png" not in output.get("data", {})
        )
        for cell in book.cells
    ]


def main() -> None:
    """Run all notebooks and write them back."""
    books = read()
    run(books)
    for path, book in books.items():
        book.metadata = METADATA
        for number, cell in enumerate(book.cells):
            cell.id, cell.metadata = f"cell-{number}", {}
            if cell.cell_type == "code":
                cell.execution_count = None
                for output in cell.outputs:
                    output.pop("execution_count", None)
                    if output.output_type == "execute_result":
                        output.execution_count = None
        nbformat.write(book, path)


if __name__ == "__main__":
    main()
