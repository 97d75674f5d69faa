"""Model repositories: folders that hold a model, its card and what machines read of it.

``tagger.model`` is the model file, ``README.md`` the card, and ``config.json`` names the columns,
the labels and the digest of the model file. So the parts of two models are never taken for one.
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
from perceptron_nlp.errors import ArgumentTypeError, FileError, ModelError, missing_extra
from perceptron_nlp.formats import read_file_bytes
from perceptron_nlp.integrations.modelcard import LIBRARY, ModelCard

MODEL, CARD, CONFIG = "tagger.model", "README.md", "config.json"


def save_to_folder(
    tagger: pn.Tagger, folder: str | os.PathLike[str], *, card: ModelCard | str | None
) -> None:
    """Write a tagger as a folder in the form of a model repository.

    A folder that is new appears whole or not at all. In one that is there each file is replaced
    whole, and others stay; should the machine stop between two of them, load_from_folder tells.

    Parameters
    ----------
    tagger : the tagger
    folder : where; the folder around it must be there
    card : what the card says besides what the tagger knows; or the whole text of README.md; or
        None to keep the README.md that is there

    Raises
    ------
    ArgumentTypeError : another type of `tagger` or `card`
    FileError : the place cannot be written, or there is no README.md to keep
    """
    if not isinstance(tagger, pn.Tagger):
        raise ArgumentTypeError(f"tagger: a Tagger is needed, not {type(tagger).__name__}")
    if not isinstance(card, ModelCard | str | None):
        raise ArgumentTypeError(
            f"card: a ModelCard, a str or None is needed, not {type(card).__name__}"
        )
    place = Path(folder)
    model = tagger.to_bytes()
    files = {MODEL: model, CONFIG: _config(tagger, model)}
    if card is None:
        if not (place / CARD).is_file():
            raise FileError(f"{place / CARD}: there is none to keep; give a card")
    else:
        files[CARD] = (card if isinstance(card, str) else card.text(tagger, MODEL)).encode()
    if place.is_dir():
        for name in files:
            pn.check_place(place / name)
        for name, data in files.items():
            pn.replace_file(place / name, data)
        return
    _make_folder(place, files)


def load_from_folder(folder: str | os.PathLike[str], **options: Any) -> pn.Tagger:
    """The tagger in a folder that save_to_folder wrote.

    Parameters
    ----------
    folder : the folder
    **options : those of ``perceptron_nlp.load``

    Raises
    ------
    FileError : there is no such folder, or a file is missing in it; the message says which
    ModelError : the model file is damaged, or another one than config.json tells of
    """
    place = Path(folder)
    if not place.is_dir():
        raise FileError(f"{place}: there is no such folder")
    for name, what in (
        (MODEL, "no model"),
        (CONFIG, "no description of the model"),
        (CARD, "no model card, so nobody knows the model's licence"),
    ):
        if not (place / name).is_file():
            raise FileError(
                f"{place}: has {what}: {name} is missing; save_to_folder writes it"
                + ("" if name == MODEL else f", and perceptron_nlp.load opens {MODEL} without it")
            )
    if _digest_told(place / CONFIG) != _digest(read_file_bytes(place / MODEL)):
        raise ModelError(
            f"{place / MODEL}: is not the file that {CONFIG} tells of; save the"
            " tagger, or download the folder, again"
        )
    return pn.load(place / MODEL, **options)


def push(
    tagger: pn.Tagger,
    repository: str,
    *,
    card: ModelCard | str,
    private: bool = False,
    token: str | None = None,
) -> None:
    """Upload a tagger to a repository of the Hugging Face Hub, which is made if need be.

    Parameters
    ----------
    tagger, card : see save_to_folder
    repository : its name, ``owner/name``
    private : whether a new repository is private
    token : None for the one that huggingface_hub has kept

    Raises
    ------
    MissingExtraError : huggingface_hub is not installed
    FileError : the hub refused, or was not to be reached
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
    """Download a tagger from a repository of the Hugging Face Hub, or take the copy kept of it.

    Parameters
    ----------
    repository : its name, ``owner/name``
    revision : a branch, tag or commit; None for the newest
    token : None for the one that huggingface_hub has kept
    **options : those of ``perceptron_nlp.load``

    Raises
    ------
    MissingExtraError : huggingface_hub is not installed
    FileError : the hub refused, or was not to be reached, or a file is missing
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
    told = {
        "library_name": LIBRARY,
        "library_version": pn.__version__,
        "columns": list(tagger.columns),
        "labels": {
            column: sorted(part.model.written_labels) for column, part in tagger.by_column.items()
        },
        "sha256": _digest(model),
    }
    return (json.dumps(told, indent=2, ensure_ascii=False) + "\n").encode()


def _digest(data: Any) -> str:
    return hashlib.sha256(data).hexdigest()


def _digest_told(path: Path) -> object:
    try:
        told = json.loads(bytes(read_file_bytes(path)))
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict) or "sha256" not in told:
        raise ModelError(f"{path}: is no description of a model; save_to_folder writes one")
    return told["sha256"]


def _make_folder(place: Path, files: dict[str, bytes]) -> None:
    """A new folder with these files, whole or not at all."""
    try:
        around = tempfile.mkdtemp(prefix=".perceptron-nlp-", dir=place.parent)
        try:
            made = Path(around) / "folder"
            made.mkdir()
            for name, data in files.items():
                pn.replace_file(made / name, data)
            os.rename(made, place)
        finally:
            shutil.rmtree(around, ignore_errors=True)
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{place}: cannot be written: {error.strerror}") from error


def _hub() -> Any:
    try:
        import huggingface_hub
    except ImportError:
        raise missing_extra("huggingface_hub", "hub") from None
    return huggingface_hub
