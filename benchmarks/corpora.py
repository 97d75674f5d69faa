"""Where the benchmarks find real corpora: the folder that PERCEPTRON_NLP_CORPORA names."""

from __future__ import annotations

import os
import sys
from pathlib import Path

TREEBANKS = {
    "EWT": "UD_English-EWT/en_ewt-ud",
    "French-Sequoia": "UD_French-Sequoia/fr_sequoia-ud",
    "Greek-GDT": "UD_Greek-GDT/el_gdt-ud",
    "Turkish-IMST": "UD_Turkish-IMST/tr_imst-ud",
}
# These have no train part here and learn from dev: they stand for small treebanks.
DEV_ALONE = {
    "Finnish-TDT": "UD_Finnish-TDT/fi_tdt-ud",
    "German-GSD": "UD_German-GSD/de_gsd-ud",
    "Chinese-GSDSimp": "UD_Chinese-GSDSimp/zh_gsdsimp-ud",
    "Japanese-GSD": "UD_Japanese-GSD/ja_gsd-ud",
    "Russian-GSD": "UD_Russian-GSD/ru_gsd-ud",
}


def corpora() -> Path:
    """The folder with treebanks/ and corpora/ in it; leaves the program if there is none."""
    folder = os.environ.get("PERCEPTRON_NLP_CORPORA")
    if not folder or not (Path(folder) / "treebanks").is_dir():
        sys.exit("Set PERCEPTRON_NLP_CORPORA to a folder that holds treebanks/ and corpora/.")
    return Path(folder)


def treebank(name: str, part: str) -> str:
    """The path of the train, dev or test part of a treebank."""
    stem = {**TREEBANKS, **DEV_ALONE}[name]
    return str(corpora() / "treebanks" / f"{stem}-{part}.conllu")
