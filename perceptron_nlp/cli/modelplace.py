"""Where what was trained is saved: looked over before the training, written after it."""

from __future__ import annotations

import perceptron_nlp as pn
from perceptron_nlp.cli.inputs import STDIN, check_apart


def check_model_place(path: str, inputs: list[str]) -> None:
    """Before hours of work, not after them: raises FileError where no model can be saved."""
    if path == STDIN:
        raise pn.FileError("--model: a model is not written to standard output; name a file")
    check_apart(path, inputs, "one of the files to learn from")
    pn.check_place(path)


def save_model(tagger: pn.Tagger, path: str) -> None:
    """Raises FileError where it cannot be saved: a pipe without reader is none of ours."""
    try:
        tagger.save(path)
    except BrokenPipeError as error:
        raise pn.FileError(f"{path}: cannot be written: {error.strerror}") from error
