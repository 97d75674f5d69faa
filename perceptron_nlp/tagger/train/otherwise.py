"""Copies of training sentences as other hands write them, to be learned beside the sentences."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from perceptron_nlp.tagger.model.label_components import AGREEING, UPOS
from perceptron_nlp.tagger.train.labeled_atoms import capital_looks
from perceptron_nlp.text.script_making import alphabet_of
from perceptron_nlp.text.scripts import LEMMA, lowered
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.tagset import MATCHES, NOTHING, SMALL, SPACE

# Of so many sentences one is learned again, in capitals or in small letters. With four times
# as many, dev parts of German and Lithuanian lost .2 to .4 of their parts of speech.
_CASED_EVERY = 64
# Of so many sentences with a name one is learned again, with what stands here in its place: how a
# kind looks, and ways to make one of the name and of another word. So often must it be met for the
# treebank to have labels for it.
_ADDRESS_EVERY, _LEAST_ADDRESSES = 12, 3
_ADDRESSES = {
    "address": (
        r"://|^www\.|.@.+\.",
        ("https://www.{0}.org/{1}", "{1}@{0}.com", "www.{1}.net", "http://{0}.edu/{1}.html"),
    ),
    "file": (
        r"^[~.]?/\w|^[A-Z]:\\|[^/@]\.(?:[a-z]{2,3}|html|json)$",
        (
            *("{1}.txt", "{0}.pdf", "/usr/{1}/{0}.md", "{1}.js"),
            *("C:\\{0}\\{1}.doc", "{1}_{0}.py", "{0}.com"),
        ),
    ),
    "handle": ("^@.", ("@{0}", "@{1}_{0}", "@{1}1")),
    "tag": ("^#.", ("#{1}", "#{0}{1}")),
}


def in_other_hands(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return copies of some sentences: in other cases, and with addresses."""
    return [*in_other_cases(sentences), *with_addresses(sentences)]


def in_other_cases(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return some of the sentences in capitals and in small letters, in turns, if these differ."""
    some, found = sentences[_CASED_EVERY - 1 :: _CASED_EVERY], list[Sentence]()
    with_lemmas = (one for one in sentences if LEMMA in one.columns)
    alphabet = alphabet_of(
        pair for one in with_lemmas for pair in zip(one.words, one.column(LEMMA), strict=True)
    )
    for sentence, is_raised in zip(some, itertools.cycle((True, False)), strict=False):
        upper = [word.replace("i", "İ") if "I" in alphabet else word for word in sentence.words]
        words = (
            [word.upper() for word in upper]
            if is_raised
            else [lowered(word, alphabet) for word in sentence.words]
        )
        if words != [*sentence.words]:
            found.append(Sentence(words, sentence.columns))
    return found


def with_addresses(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return some of the sentences with an address, a file or the like in place of a name.

    It has the labels that most of its kind have in these sentences, those of the plainest name if
    they have none, and is its own lemma.
    """
    met: dict[str, dict[str, list[dict[str, str]]]] = {kind: {} for kind in _ADDRESSES}
    named: list[tuple[Sentence, int]] = []
    plain: dict[str, str] = {}
    for sentence in (one for one in sentences if UPOS in one.columns):
        begin = len(named)
        for at, (word, upos) in enumerate(zip(sentence.words, sentence.columns[UPOS], strict=True)):
            if word.isalpha() and upos == "PROPN":
                own = {name: labels[at] for name, labels in sentence.columns.items()}
                plain = min(plain or own, own, key=lambda one: sum(map(len, one.values())))
                named[begin:] = [(sentence, at)]
            for kind, (looks, _) in _ADDRESSES.items() if not word.isalnum() else ():
                if re.search(looks, word):
                    own = {name: labels[at] for name, labels in sentence.columns.items()}
                    met[kind].setdefault(upos, []).append(own)
    often = {kind: max(own.values(), key=len, default=[]) for kind, own in met.items()}
    ways = [(kind, form) for kind, (_, forms) in _ADDRESSES.items() for form in forms]
    found = []
    for (sentence, at), (kind, form) in zip(
        named[_ADDRESS_EVERY - 1 :: _ADDRESS_EVERY], itertools.cycle(ways), strict=False
    ):
        words = [*sentence.words]
        other = max((word for word in words if word.isalpha()), key=len)
        words[at] = form.format(words[at], other)
        labels = often[kind][0] if len(often[kind]) >= _LEAST_ADDRESSES else plain
        columns = {
            name: (*own[:at], words[at] if name == LEMMA else labels[name], *own[at + 1 :])
            for name, own in sentence.columns.items()
            if name in (*AGREEING, LEMMA) and name in labels
        }
        found.append(Sentence(words, {**sentence.columns, **columns}))
    return found


def atoms_in_other_hands(
    paragraphs: Sequence[Sentence], small: Mapping[str, Sequence[str]]
) -> Iterator[Sentence]:
    """Yield paragraphs in small letters, in capitals, and with no space behind commas, in turns."""
    changes: tuple[Callable[[str], str], ...] = (str.lower, str.upper, str)
    for paragraph, change in zip(paragraphs, itertools.cycle(changes), strict=False):
        words = [change(word) for word in paragraph.words]
        columns: dict[str, Sequence[str]] = {**paragraph.columns}
        if MATCHES in columns:
            return
        if change is str:
            places = zip(words, columns["gap"], strict=True)
            columns["gap"] = [NOTHING if own == (",", SPACE) else own[1] for own in places]
        if small:
            columns[SMALL] = capital_looks(words, small)
        yield Sentence(words, columns)
