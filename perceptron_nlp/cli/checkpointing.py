"""Training that can be interrupted: where its state is saved, and how it goes on."""

from __future__ import annotations

import argparse
import os
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp.cli.inputs import check_apart
from perceptron_nlp.cli.parsing import VerbParser
from perceptron_nlp.tagger.train.checkpoint import take_checkpoint_options


def add_checkpoint_options(verb: VerbParser) -> None:
    """``--checkpoint``, ``--every`` and ``--resume``."""
    verb.add_argument(
        "--checkpoint",
        metavar="FILE",
        help="save the state of the training in FILE on the way, and on Ctrl-C",
    )
    verb.add_argument(
        "--every", metavar="N", help="when to save it: Nepochs or Nminutes (default: 1epoch)"
    )
    verb.add_argument(
        "--resume",
        action="store_true",
        help="go on from the checkpoint; the model is the same as without a stop",
    )


def checkpoint_options(chosen: argparse.Namespace, inputs: list[str]) -> dict[str, Any]:
    """Where the state of the training is saved, if it is."""
    given: dict[str, Any] = {
        "checkpoint": chosen.checkpoint,
        "every": chosen.every,
        "resume": chosen.resume,
    }
    if chosen.checkpoint is not None:
        check_apart(chosen.checkpoint, inputs, "one of the files to learn from")
        if os.path.realpath(chosen.checkpoint) == os.path.realpath(chosen.model):
            raise pn.FileError(
                f"{chosen.checkpoint}: is the model, too; name another file for the checkpoint"
            )
    # Now, and not after the files have been read.
    take_checkpoint_options(dict(given))
    return given


def how_to_go_on(interrupt: KeyboardInterrupt, checkpoint: str | None) -> str:
    """What is said of a training that was interrupted."""
    said = str(interrupt)
    # Between two columns nobody has said it.
    if not said and checkpoint is not None and os.path.lexists(checkpoint):
        said = f"the training so far is saved in {checkpoint}; resume=True goes on"
    return said.replace("resume=True", "the same command with --resume")
