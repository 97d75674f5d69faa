"""What all tests share: the settings of Hypothesis, and the place of the real corpora."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from oracles.chromium import chromium

import perceptron_nlp as pn

# A loaded machine is slow, not wrong; no test depends on time. Nor on luck: the same sources are
# tried on the same cases, and `make laws` tries them on others, and on more.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("others", deadline=None, max_examples=500)
settings.load_profile("same")

# What a shell starts in the background ignores Ctrl-C, and so would the processes that tests start
# to interrupt them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder that holds ``treebanks/`` and ``corpora/``."""
    place = os.environ.get("PERCEPTRON_NLP_CORPORA")
    if not place:
        pytest.skip("PERCEPTRON_NLP_CORPORA names no folder with treebanks/ and corpora/")
    return Path(place)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A Chromium that Playwright drives."""
    with chromium() as found:
        if found is None:
            pytest.skip("needs playwright, and an installed chromium")
        yield found


SMALL_TEXT = """\
The/DET old/ADJ man/NOUN boards/VERB the/DET ferry/NOUN ./PUNCT
She/PRON sold/VERB three/NUM old/ADJ boards/NOUN in/ADP 1984/NUM ./PUNCT
Does/AUX the/DET ferry/NOUN stop/VERB here/ADV ?/PUNCT
Stop/VERB !/PUNCT
He/PRON will/AUX not/PART man/VERB the/DET desk/NOUN today/NOUN ./PUNCT
Wasn't/AUX Zoë/PROPN the/DET first/ADJ to/PART stop/VERB ?/PUNCT
Two/NUM late/ADJ ferries/NOUN ,/PUNCT one/NUM stop/NOUN ,/PUNCT no/DET coffee/NOUN ./PUNCT
I/PRON desk/VERB nobody/PRON ,/PUNCT said/VERB Zoë/PROPN slowly/ADV ./PUNCT
Well-known/ADJ men/NOUN of/ADP letters/NOUN write/VERB few/ADJ letters/NOUN ./PUNCT
It/PRON rained/VERB ;/PUNCT they/PRON waited/VERB here/ADV ./PUNCT
In/ADP July/PROPN the/DET old/ADJ write/VERB to/ADP the/DET young/ADJ ./PUNCT
Coffee/NOUN first/ADV ,/PUNCT letters/NOUN today/ADV ./PUNCT
"""


@pytest.fixture(scope="session")
def small() -> list[tuple[list[str], list[str]]]:
    """A dozen sentences (words, labels) in which several words have two labels."""
    lines = [[token.rsplit("/", 1) for token in line.split()] for line in SMALL_TEXT.splitlines()]
    return [([word for word, _ in line], [label for _, label in line]) for line in lines]


@pytest.fixture(scope="session")
def tagger(small: list[tuple[list[str], list[str]]]) -> pn.Tagger:
    """A tagger trained on the small sentences."""
    return pn.train(small, epochs=5, seed=3)


@pytest.fixture(scope="session")
def model(tagger: pn.Tagger, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model file of the tagger of small sentences."""
    path = tmp_path_factory.mktemp("model") / "small.model"
    tagger.save(path)
    return path


@pytest.fixture
def folder(small: list[tuple[list[str], list[str]]], tmp_path: Path) -> Path:
    """A folder with two CoNLL-U files, one of them deeper down, a Parquet file and another."""
    pa = pytest.importorskip("pyarrow", reason="the extra arrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra arrow is not installed")
    place = tmp_path / "in"
    (place / "deeper").mkdir(parents=True)
    sentences = [pn.Sentence(words, {"upos": labels}) for words, labels in small]
    pn.write_conllu(sentences, place / "a.conllu")
    pn.write_conllu(sentences[:3], place / "deeper" / "b.conllu")
    words = pa.array([list(words) for words, _ in small[3:]], pa.list_(pa.string()))
    parquet.write_table(pa.table({"tokens": words}), place / "words.parquet")
    (place / "readme.txt").write_text("not to be tagged")
    return place


# form/lemma/UPOS of each token, or form/UPOS if the lemma is the form; ~ before one says that no
# space stands there, and = that it is several words, which + separates. A line is a sentence; an
# empty one begins a paragraph.
FRENCH = """\
Le/le/DET chat/NOUN dort/dormir/VERB ~./PUNCT
Elle/elle/PRON voit/voir/VERB le/DET chat/NOUN du=de/ADP+le/DET bois/NOUN ~./PUNCT
Les/le/DET chats/chat/NOUN dorment/dormir/VERB dans/ADP les/le/DET bois/NOUN ~./PUNCT

Il/il/PRON va/aller/VERB au=à/ADP+le/DET bois/NOUN ~,/PUNCT dit/dire/VERB Zoé/PROPN ~./PUNCT
L'/le/DET ~arbre/NOUN du=de/ADP+le/DET bois/NOUN dort/dormir/VERB ~./PUNCT
Que/que/PRON voit/voir/VERB le/DET chat/NOUN ?/PUNCT
Le/le/DET chat/NOUN voit/voir/VERB l'/le/DET ~arbre/NOUN ~./PUNCT

Les/le/DET arbres/arbre/NOUN ~,/PUNCT dit/dire/VERB ~-il/PRON ~,/PUNCT dorment/dormir/VERB ~!/PUNCT
Zoé/PROPN va/aller/VERB au=à/ADP+le/DET bois/NOUN du=de/ADP+le/DET chat/NOUN ~./PUNCT
Elle/elle/PRON dort/dormir/VERB ~./PUNCT
"""


def treebank(text: str) -> str:
    """CoNLL-U out of the notation of FRENCH."""
    lines: list[str] = []
    opens = True
    for line in text.splitlines():
        if not line:
            opens = True
            continue
        lines += ["# newpar"] if opens else []
        opens, number = False, 0
        tokens = line.split(" ")
        for at, token in enumerate(tokens):
            surface, equals, words = token.removeprefix("~").partition("=")
            is_glued = at + 1 < len(tokens) and tokens[at + 1].startswith("~")
            misc = "SpaceAfter=No" if is_glued else "_"
            own = (words or surface).split("+")
            if equals:
                empty = "\t_" * 7
                lines.append(f"{number + 1}-{number + len(own)}\t{surface}{empty}\t{misc}")
            for word in own:
                number += 1
                form, *lemma, upos = word.split("/")
                row = f"{number}\t{form}\t{(lemma or [form])[0]}\t{upos}" + "\t_" * 5
                lines.append(f"{row}\t{'_' if equals else misc}")
        lines.append("")
    return "\n".join([*lines, ""])


@pytest.fixture(scope="session")
def french() -> str:
    """A treebank of ten sentences with multiword tokens, paragraphs and glued tokens."""
    return treebank(FRENCH)


@pytest.fixture(scope="session")
def pipeline(french: str, tmp_path_factory: pytest.TempPathFactory) -> pn.Tagger:
    """A tagger that learned segmentation, UPOS and lemmas from the French treebank."""
    path = tmp_path_factory.mktemp("treebank") / "fr.conllu"
    path.write_text(french, "utf-8")
    return pn.train(path, column="all", preset="fast", epochs=8)


PENN = {"NOUN": "NN", "PROPN": "NNP", "VERB": "VB", "DET": "DT", "ADJ": "JJ", "PUNCT": "."}


@pytest.fixture(scope="session")
def annotated(small: list[tuple[list[str], list[str]]]) -> list[pn.Sentence]:
    """The small sentences with UPOS, XPOS and features."""
    return [
        pn.Sentence(
            words,
            {
                "upos": labels,
                "xpos": [PENN.get(label, label[:2]) for label in labels],
                "feats": [feats(word, label) for word, label in zip(words, labels, strict=True)],
            },
        )
        for words, labels in small
    ]


def feats(word: str, label: str) -> str:
    """Features of a word, if it has any."""
    if label in ("NOUN", "PROPN"):
        return "Case=Nom|Number=" + ("Plur" if word.endswith("s") else "Sing")
    return "Tense=Past" if word.endswith("ed") else "_"
