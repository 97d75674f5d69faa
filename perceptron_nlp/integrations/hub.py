"""Model repositories: folders that hold a model, its card and a machine-readable description.

``tagger.model`` is the model file, ``README.md`` the card, and ``config.json`` names the columns,
the labels and the digest of the model file, so parts of two models are never taken for one.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp._checks import encodable_text
from perceptron_nlp._display import percent
from perceptron_nlp.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    ModelError,
    file_error,
    missing_extra,
)

MODEL, CARD, CONFIG = "tagger.model", "README.md", "config.json"
LIBRARY = "perceptron-nlp"
TASK = "token-classification"
# Labels beyond these are counted, not named.
LABELS_NAMED = 60
USAGE = """The file `{model}` is all that it needs:

```python
import perceptron_nlp as pn

tagger = pn.load("{model}")
tagger.tag({words})
```"""
WORDS = ["a", "list", "of", "words"]


def model_card(
    tagger: pn.Tagger,
    *,
    name: str,
    language: str,
    license: str,
    dataset: str | None = None,
    description: str = "",
) -> Any:
    """Return the card of a tagger, a huggingface_hub.ModelCard.

    Labels, the size of the training text and the accuracy on the development set come from the
    tagger. The card can be changed before it is saved (``card.data``, ``card.text``).

    Parameters
    ----------
    tagger : the tagger
    name : the model's name
    language : the code of its language, such as ``en``
    license : the license that the model is under, such as ``cc-by-sa-4.0``
    dataset : None, or the name of the data that it was trained on
    description : text (Markdown) for the beginning of the card

    Raises
    ------
    MissingExtraError : huggingface_hub is not installed
    ArgumentTypeError : a value that is no str
    ArgumentError : a name, language or license that is empty
    """
    given = {"name": name, "language": language, "license": license, "description": description}
    for field, value in given.items() if dataset is None else {**given, "dataset": dataset}.items():
        if not isinstance(value, str):
            raise ArgumentTypeError(f"{field}: a str is needed, not {type(value).__name__}")
        if field in ("name", "language", "license") and not value.strip():
            raise ArgumentError(f"{field}: must not be empty")
    hub = _hub()
    results = [
        hub.EvalResult(
            task_type=TASK,
            task_name=column,
            dataset_type=dataset or "unnamed",
            dataset_name=f"{dataset or 'unnamed'}, development part",
            metric_type="accuracy",
            metric_value=round(score, 4),
        )
        for column, part in tagger.by_column.items()
        if (score := dev_accuracy(part.model.record)) is not None
    ]
    data = hub.ModelCardData(
        model_name=name,
        language=language,
        license=license,
        library_name=LIBRARY,
        pipeline_tag=TASK,
        tags=["averaged perceptron", *tagger.columns],
        eval_results=results or None,
    )
    facts = [f"- **{column}**: {_facts(part)}" for column, part in tagger.by_column.items()]
    facts += [] if dataset is None else [f"- Data: {dataset}"]
    made = (
        f"An averaged-perceptron tagger of {', '.join(tagger.columns)}, made by {LIBRARY}"
        f" {pn.__version__}. {USAGE.format(model=MODEL, words=_example(tagger))}"
    )
    lists = "\n".join([*facts, f"- License: {license}"])
    blocks = [f"# {name}", description.strip(), made, "## Training", lists]
    text = "\n\n".join(block for block in blocks if block)
    return hub.ModelCard(f"---\n{data.to_yaml()}\n---\n\n{text}\n")


def _example(tagger: pn.Tagger) -> str:
    """Return the words to call a tagger with, and the columns that it looks at."""
    words = json.dumps(WORDS)
    columns = {name: ["…"] * len(WORDS) for name in tagger.feature_columns}
    return f"pn.Sentence({words}, {json.dumps(columns, ensure_ascii=False)})" if columns else words


def dev_accuracy(record: Any) -> float | None:
    """Return the accuracy on the development set, 0 to 1, if the training record has it.

    It has that of single runs, not of an ensemble, and of the model as trained, not as compressed.
    """
    if record.get("options", {}).get("runs", 1) != 1 or "compressed" in record:
        return None
    for epoch in record.get("epochs", ()):
        if epoch.get("epoch") == record.get("best_epoch"):
            score = epoch.get("dev_accuracy")
            return float(score) if isinstance(score, int | float) else None
    return None


def _facts(tagger: pn.Tagger) -> str:
    """The labels, the training text and the accuracy of one column."""
    record, labels = tagger.model.record, sorted(tagger.model.written_labels)
    # Penn tags have double backticks among them.
    named = f" (``` {' '.join(labels)} ```)" if len(labels) <= LABELS_NAMED else ""
    facts = [f"{len(labels)} labels{named}"]
    if tagger.model.lemmas is not None:
        facts = [f"{len(tagger.labels)} edit scripts, {len(tagger.model.lemmas.lemmas):,} lemmas"]
    data = record.get("train") or {}
    if isinstance(data.get("tokens"), int) and isinstance(data.get("sentences"), int):
        facts.append(f"trained on {data['tokens']:,} tokens in {data['sentences']:,} sentences")
    if (score := dev_accuracy(record)) is not None:
        facts.append(f"development accuracy {percent(score)}")
    return "; ".join(facts)


def save_to_folder(tagger: pn.Tagger, folder: str | os.PathLike[str], *, card: Any) -> None:
    """Write a tagger as a folder in the form of a model repository.

    A new folder appears whole or not at all. In an existing one each file is replaced whole, and
    others stay; if the machine stops between two of them, load_from_folder raises an error.

    Parameters
    ----------
    tagger : the tagger
    folder : its path; the folder around it must exist
    card : what model_card returns; or the whole text of README.md; or None to keep the README.md
        that is there

    Raises
    ------
    ArgumentTypeError : another type of `tagger` or `card`
    FileError : the folder cannot be written, or there is no README.md to keep
    """
    if not isinstance(tagger, pn.Tagger):
        raise ArgumentTypeError(f"tagger: a Tagger is needed, not {type(tagger).__name__}")
    text = getattr(card, "content", card)
    if not isinstance(text, str | None):
        raise ArgumentTypeError(
            f"card: a model card, a str or None is needed, not {type(card).__name__}"
        )
    path = Path(folder)
    model = tagger.to_bytes()
    files = {MODEL: model, CONFIG: _config(tagger, model)}
    if text is not None:
        files[CARD] = encodable_text(text, "card").encode()
    elif not (path / CARD).is_file():
        raise FileError(f"{path / CARD}: there is none to keep; give a card")
    if path.is_dir():
        for name in files:
            pn.check_place(path / name)
        for name, data in files.items():
            pn.replace_file(path / name, data)
        return
    _make_folder(path, files)


def load_from_folder(folder: str | os.PathLike[str], **options: Any) -> pn.Tagger:
    """Load the tagger in a folder that save_to_folder wrote.

    Parameters
    ----------
    folder : the folder
    **options : those of ``perceptron_nlp.load``

    Raises
    ------
    FileError : there is no such folder, or a file is missing in it; the message says which
    ModelError : the model file is damaged, or not the one that config.json describes
    """
    path = Path(folder)
    if not path.is_dir():
        raise FileError(f"{path}: there is no such folder")
    for name, what in (
        (MODEL, "no model"),
        (CONFIG, "no description of the model"),
        (CARD, "no model card, so nobody knows the model's license"),
    ):
        if not (path / name).is_file():
            raise FileError(
                f"{path}: has {what}: {name} is missing; save_to_folder writes it"
                + ("" if name == MODEL else f", and perceptron_nlp.load opens {MODEL} without it")
            )
    if _described_digest(path / CONFIG) != _digest(_read(path / MODEL)):
        raise ModelError(
            f"{path / MODEL}: is not the file that {CONFIG} describes; save the"
            " tagger, or download the folder, again"
        )
    return pn.load(path / MODEL, **options)


def push(
    tagger: pn.Tagger,
    repository: str,
    *,
    card: Any,
    private: bool = False,
    token: str | None = None,
) -> None:
    """Upload a tagger to a repository of the Hugging Face Hub, which is created if need be.

    Parameters
    ----------
    tagger, card : see save_to_folder
    repository : its name, ``owner/name``
    private : True for a new repository that is private
    token : None for the one that huggingface_hub has stored

    Raises
    ------
    MissingExtraError : huggingface_hub is not installed
    FileError : the hub refused, or could not be reached
    """
    hub = _hub()
    with tempfile.TemporaryDirectory() as around:
        folder = Path(around) / "model"
        save_to_folder(tagger, folder, card=card)
        try:
            api = hub.HfApi(token=token)
            api.create_repo(repository, private=private, exist_ok=True)
            api.upload_folder(
                repo_id=repository,
                folder_path=str(folder),
                commit_message=f"Tagger of {', '.join(tagger.columns)}",
            )
        except (OSError, ValueError) as error:
            raise FileError(f"{repository}: could not be uploaded: {error}") from error


def from_pretrained(
    repository: str, *, revision: str | None = None, token: str | None = None, **options: Any
) -> pn.Tagger:
    """Load a tagger from a repository of the Hugging Face Hub, downloaded or from its cache.

    Parameters
    ----------
    repository : its name, ``owner/name``
    revision : a branch, tag or commit; None for the newest
    token : None for the one that huggingface_hub has stored
    **options : those of ``perceptron_nlp.load``

    Raises
    ------
    MissingExtraError : huggingface_hub is not installed
    FileError : the hub refused, or could not be reached, or a file is missing
    ModelError : as for load_from_folder
    """
    try:
        folder = _hub().snapshot_download(
            repository, revision=revision, token=token, allow_patterns=[MODEL, CARD, CONFIG]
        )
    except (OSError, ValueError) as error:
        raise FileError(f"{repository}: could not be downloaded: {error}") from error
    return load_from_folder(folder, **options)


def _config(tagger: pn.Tagger, model: bytes) -> bytes:
    described = {
        "library_name": LIBRARY,
        "library_version": pn.__version__,
        "columns": list(tagger.columns),
        "labels": {
            column: sorted(part.model.written_labels) for column, part in tagger.by_column.items()
        },
        "sha256": _digest(model),
    }
    return (json.dumps(described, indent=2, ensure_ascii=False) + "\n").encode()


def _digest(data: Any) -> str:
    return hashlib.sha256(data).hexdigest()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise file_error(str(path), error, "read") from error


def _described_digest(path: Path) -> object:
    try:
        described = json.loads(_read(path))
    except (ValueError, RecursionError):
        described = None
    if not isinstance(described, dict) or "sha256" not in described:
        raise ModelError(f"{path}: is no description of a model; save_to_folder writes one")
    return described["sha256"]


def _make_folder(path: Path, files: dict[str, bytes]) -> None:
    """Make a new folder with these files, whole or not at all."""
    try:
        around = tempfile.mkdtemp(prefix=".perceptron-nlp-", dir=path.parent)
        try:
            made = Path(around) / "folder"
            made.mkdir()
            for name, data in files.items():
                pn.replace_file(made / name, data)
            os.rename(made, path)
        finally:
            shutil.rmtree(around, ignore_errors=True)
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}") from error


def _hub() -> Any:
    try:
        import huggingface_hub
    except ImportError:
        raise missing_extra("huggingface_hub", "hub") from None
    return huggingface_hub
