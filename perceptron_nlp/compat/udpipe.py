"""What those type who come from UDPipe, and the word for it here.

Options are those of UDPipe 1's program (its manual, "Running UDPipe"), formats those of its
``--input`` and ``--output``.
"""

from __future__ import annotations

_CUTS = "a model that has learned to cut text does so by itself: leave it out"
_TAGS = "that is the verb: perceptron-nlp tag MODEL FILES"
_PARSES = "nothing here parses; give the tagged CoNLL-U to a parser, see docs/migrating/udpipe.md"
_JUDGES = "that is a verb: perceptron-nlp evaluate MODEL FILE (--from-text: cut the text, too)"
_LEARNS = "that is a verb: perceptron-nlp train FILES --dev DEV --model MODEL"
OPTIONS = {
    "--tokenize": _CUTS,
    "--tokenizer": f"{_CUTS}; --format lines takes sentences that are cut already",
    "--tag": _TAGS,
    "--tagger": f"{_TAGS}; options of training go to perceptron-nlp train",
    "--parse": _PARSES,
    "--parser": _PARSES,
    "--accuracy": _JUDGES,
    "--immediate": "sentences are written as soon as they are over: leave it out",
    "--train": _LEARNS,
    "--heldout": _LEARNS,
    "--method": f"{_LEARNS}; there is one method, the averaged perceptron",
    "--detokenize": "text is written with its spaces by --to conllu: see # text and SpaceAfter=No",
}
INPUTS = {
    "conllu": "--format conllu, which is found out, too",
    "horizontal": "--format lines (words separated by spaces, a sentence a line)",
    "vertical": "--format columns (a word a line)",
    "generic_tokenizer": "--format text, which the model cuts",
}
OUTPUTS = {
    "conllu": "--to conllu",
    "horizontal": "--column text --to lines",
    "vertical": "--to conllu, whose second column has the words",
    "plaintext": "--to conllu, whose comments # text have it",
    "epe": "--to conllu",
    "matxin": "--to conllu",
}


def answer(option: str, value: str = "") -> str | None:
    """Return what to say of an option of UDPipe, with its value; None for any other.

    >>> answer("--input", "horizontal")
    'here it is --format lines (words separated by spaces, a sentence a line)'
    """
    if option == "--input":
        return f"here it is {INPUTS.get(value.partition('=')[0], '--format NAME')}"
    if option == "--output":
        found = OUTPUTS.get(value.partition("=")[0])
        return found and f"names the file to write here, and the format is {found}"
    return OPTIONS.get(option)
