"""Model cards: what a model repository says of a model, as Markdown with YAML before it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError

LIBRARY = "perceptron-nlp"
TASK = "token-classification"
# Labels beyond these are counted, not named.
LABELS_NAMED = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """What people must be told of a model and its file does not know.

    Attributes
    ----------
    name : the model's name
    language : the code of its language, such as ``en``
    license : the licence that the model is under, such as ``cc-by-sa-4.0``
    dataset : None, or the name of the data that it was trained on
    description : text (Markdown) for the beginning of the card

    Raises
    ------
    ArgumentTypeError : a value that is no str
    ArgumentError : a name, language or licence that is empty
    """

    name: str
    language: str
    license: str
    dataset: str | None = None
    description: str = ""

    def __post_init__(self) -> None:
        for field in ("name", "language", "license", "dataset", "description"):
            value = getattr(self, field)
            if not isinstance(value, str) and not (field == "dataset" and value is None):
                raise ArgumentTypeError(f"{field}: a str is needed, not {type(value).__name__}")
        for field in ("name", "language", "license"):
            if not getattr(self, field).strip():
                raise ArgumentError(f"{field}: must not be empty")

    def text(self, tagger: pn.Tagger, file: str) -> str:
        """The card of a tagger, whose model file has this name."""
        return "".join(
            f"{line}\n"
            for line in ["---", *self._metadata(tagger), "---", "", *self._prose(tagger, file)]
        )

    def _metadata(self, tagger: pn.Tagger) -> Iterator[str]:
        yield f"library_name: {LIBRARY}"
        yield f"pipeline_tag: {TASK}"
        yield f"language: {_quoted(self.language)}"
        yield f"license: {_quoted(self.license)}"
        yield "tags:"
        yield from (f"- {_quoted(tag)}" for tag in ("averaged perceptron", *tagger.columns))
        scores = {
            column: score
            for column, part in tagger.by_column.items()
            if (score := dev_accuracy(part.model.record)) is not None
        }
        if not scores:
            return
        yield "model-index:"
        yield f"- name: {_quoted(self.name)}"
        yield "  results:"
        for column, score in scores.items():
            data = self.dataset or "unnamed"
            part = f"{data}, development part"
            yield f"  - task: {{type: {TASK}, name: {_quoted(column)}}}"
            yield f"    dataset: {{type: {_quoted(data)}, name: {_quoted(part)}}}"
            yield f"    metrics: [{{type: accuracy, value: {score:.4f}}}]"

    def _prose(self, tagger: pn.Tagger, file: str) -> Iterator[str]:
        yield f"# {self.name}"
        if self.description.strip():
            yield from ("", self.description.strip())
        yield ""
        yield f"An averaged-perceptron tagger of {', '.join(tagger.columns)}, made by {LIBRARY}"
        yield f"{pn.__version__}. The file `{file}` is all that it needs:"
        yield from (
            "",
            "```python",
            "import perceptron_nlp as pn",
            "",
            f'tagger = pn.load("{file}")',
            'tagger.tag(["a", "list", "of", "words"])',
            "```",
            "",
            "## Training",
            "",
        )
        for column, part in tagger.by_column.items():
            yield f"- **{column}**: {_labels(part)}{_trained(part.model.record)}"
        if self.dataset:
            yield f"- Data: {self.dataset}"
        yield f"- Licence: {self.license}"


def dev_accuracy(record: Any) -> float | None:
    """The share of the dev set's words that the model got right, where the record tells.

    It tells of single runs, not of their sum, and of what was trained, not of what was made of it.
    """
    best = record.get("best_epoch")
    if record.get("options", {}).get("runs", 1) != 1 or "compressed" in record:
        return None
    for epoch in record.get("epochs", ()):
        if epoch.get("epoch") == best:
            score = epoch.get("dev_accuracy")
            return float(score) if isinstance(score, int | float) else None
    return None


def _labels(tagger: pn.Tagger) -> str:
    labels = sorted(tagger.model.written_labels)
    # Penn tags have double backticks among them.
    named = f" (``` {' '.join(labels)} ```)" if len(labels) <= LABELS_NAMED else ""
    return f"{len(labels)} labels{named}"


def _trained(record: Any) -> str:
    data = record.get("train") or {}
    score = dev_accuracy(record)
    return (
        f"; learnt from {data['tokens']:,} words in {data['sentences']:,} sentences"
        if isinstance(data.get("tokens"), int) and isinstance(data.get("sentences"), int)
        else ""
    ) + ("" if score is None else f"; {100 * score:.2f} % right on the dev part")


def _quoted(text: str) -> str:
    """A string of JSON, which YAML reads as the same string."""
    return json.dumps(text, ensure_ascii=False)
