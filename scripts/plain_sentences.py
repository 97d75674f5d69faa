"""Short plain sentences made of a treebank's own clauses.

Text from the web holds few sentences such as "The dog sleeps.", in which a word that is mostly a
noun is the only verb there can be. Of each clause with one subject this keeps subject, verb,
object, one more phrase and adverbs next to the verb, without what depends on them further down.
Then verbs and nouns are exchanged for others in the same form. The form of a verb that was not seen
is made by the ending that verbs like it take, if that ending is right for 19 of 20 verbs that were
seen.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import perceptron_nlp as pn

NOMINAL = {"NOUN", "PROPN", "PRON"}
PHRASES = {"nsubj", "obj", "obl"}
KEPT_IN_PHRASE = {"det", "amod", "nmod:poss", "nummod", "case", "compound"}
# A clause with one of these is not whole without it, and with it no longer plain.
LEFT_ALONE = {"ccomp", "xcomp", "iobj", "expl", "aux", "aux:pass", "cop", "csubj", "nsubj:pass"}
LONGEST = 10
# Verbs that are exchanged for others in so many of ten sentences, and nouns.
VERBS, NOUNS, COORDINATED = 8, 6, 2
SURE = 0.95
# How many verbs with an ending must have been seen before it decides.
SEEN = 5
# Builds of which there are fewer clauses are left out.
FEW = 20


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a clause; `verb` is True for the verb that the clause is about."""

    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    verb: bool = False

    @property
    def kind(self) -> tuple[str, str, str]:
        """Words of one kind can stand in each other's place."""
        return self.upos, self.xpos, self.feats


def plain_sentences(
    treebank: Sequence[pn.Sentence], n_sentences: int, seed: int
) -> Iterator[pn.Sentence]:
    """Yield short sentences with UPOS, XPOS and FEATS; none if no clause is short enough.

    Parameters
    ----------
    treebank : sentences with LEMMA, HEAD and DEPREL
    n_sentences : how many
    seed : decides which clauses and words are drawn
    """
    draw = random.Random(seed)
    found = by_build(clause for sentence in treebank for clause in clauses_of(sentence))
    if not found:
        return
    paradigms = Paradigms(treebank)
    joining = coordinators(treebank)

    def clause() -> list[Word]:
        return [exchanged(word, paradigms, draw) for word in draw.choice(draw.choice(found))]

    for _ in range(n_sentences):
        words = clause()
        if joining and draw.randrange(10) < COORDINATED:
            words += [draw.choice(joining), *map(lowered, clause())]
        words[0] = replace(words[0], form=words[0].form[:1].upper() + words[0].form[1:])
        words.append(Word(".", ".", "PUNCT", ".", "_"))
        yield pn.Sentence(
            [word.form for word in words],
            {name: [getattr(word, name) for word in words] for name in ("upos", "xpos", "feats")},
        )


def by_build(clauses: Iterable[list[Word]]) -> list[list[list[Word]]]:
    """Clauses by the form of their verb and what comes first in them, without what is rare.

    Drawing from all kinds alike makes up for what a treebank has few of.
    """
    groups: dict[tuple[str, ...], list[list[Word]]] = defaultdict(list)
    for clause in clauses:
        verb = next(word for word in clause if word.verb)
        nominal = next(word for word in clause if word.upos in NOMINAL)
        groups[*verb.kind, nominal.upos].append(clause)
    return [group for _, group in sorted(groups.items()) if len(group) >= FEW]


def words_of(sentence: pn.Sentence) -> list[Word]:
    """The words of a sentence of a treebank."""
    columns = (sentence.column(name) for name in ("lemma", "upos", "xpos", "feats"))
    return [Word(*values) for values in zip(sentence.words, *columns, strict=True)]


def clauses_of(sentence: pn.Sentence) -> Iterator[list[Word]]:
    """Yield the plain clauses of a sentence, shortened, without their punctuation."""
    words = words_of(sentence)
    relations = sentence.column("deprel")
    below: dict[int, list[int]] = defaultdict(list)
    for at, head in enumerate(sentence.column("head")):
        if head.isdigit() and head != "0":
            below[int(head) - 1].append(at)
    for at, word in enumerate(words):
        roles = Counter(relations[child] for child in below[at])
        if not is_finite(word) or roles["nsubj"] != 1 or roles.keys() & LEFT_ALONE:
            continue
        kept = {at}
        for child in below[at]:
            kept |= kept_of(child, at, words, relations, below)
        subject = next(child for child in below[at] if relations[child] == "nsubj")
        if (
            subject in kept
            and len(kept) <= LONGEST
            and not any(asks_or_refers(words[one]) for one in kept)
        ):
            yield [replace(words[one], verb=one == at) for one in sorted(kept)]


def is_finite(word: Word) -> bool:
    """Can the word be the verb of a sentence, as far as the treebank tells?"""
    return word.upos == "VERB" and (word.feats == "_" or "VerbForm=Fin" in word.feats.split("|"))


def asks_or_refers(word: Word) -> bool:
    """Is it a pronoun that makes a question or a relative clause?"""
    return bool({"PronType=Int", "PronType=Rel"} & {*word.feats.split("|")})


def kept_of(
    child: int, verb: int, words: list[Word], relations: Sequence[str], below: dict[int, list[int]]
) -> set[int]:
    """Places of what is kept of something that depends on the verb."""
    if relations[child] == "compound:prt":
        return {child}
    if relations[child] == "advmod":
        near = abs(child - verb) == 1 and words[child].upos == "ADV" and not below[child]
        return {child} if near else set()
    if relations[child] not in PHRASES or words[child].upos not in NOMINAL:
        return set()
    if relations[child] == "obl" and child < verb:
        return set()
    return {
        child,
        *(one for one in below[child] if relations[one] in KEPT_IN_PHRASE and not below[one]),
    }


def coordinators(treebank: Sequence[pn.Sentence]) -> list[Word]:
    """The conjunctions that join verbs, as often as they do."""
    found = []
    for sentence in treebank:
        words, heads = words_of(sentence), sentence.column("head")
        for word, head in zip(words, heads, strict=True):
            if word.upos == "CCONJ" and head.isdigit() and words[int(head) - 1].upos == "VERB":
                found.append(lowered(word))
    return found


def lowered(word: Word) -> Word:
    """The word as it stands amid a sentence."""
    lower = word.upos != "PROPN" and word.form != word.lemma and word.form[1:].islower()
    return replace(word, form=word.form.lower()) if lower else word


def exchanged(word: Word, paradigms: Paradigms, draw: random.Random) -> Word:
    """The word, or another one in the same form."""
    if word.verb and draw.randrange(10) < VERBS:
        lemma = draw.choice(paradigms.verbs)
        form = paradigms.form_of(lemma, word.kind)
        return word if form is None else replace(word, form=form, lemma=lemma)
    if word.upos == "NOUN" and draw.randrange(10) < NOUNS:
        form = draw.choice(paradigms.nouns.get(word.kind, [word.form]))
        return replace(word, form=form, lemma=form)
    return word


class Paradigms:
    """Forms of verbs and nouns: those that were seen, and those that endings tell."""

    def __init__(self, treebank: Sequence[pn.Sentence]) -> None:
        seen: dict[tuple[str, str, str], dict[str, str]] = defaultdict(dict)
        nouns: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        for sentence in treebank:
            for word in words_of(sentence):
                if not (word.form.isalpha() and word.form.islower()):
                    continue
                if word.upos == "VERB":
                    seen[word.kind].setdefault(word.lemma, word.form)
                elif word.upos == "NOUN":
                    nouns[word.kind].add(word.form)
        self.seen = seen
        self.nouns = {kind: sorted(forms) for kind, forms in nouns.items()}
        self.verbs = sorted(set().union(*seen.values()))
        self.endings = {kind: endings_of(forms) for kind, forms in seen.items()}

    def form_of(self, lemma: str, kind: tuple[str, str, str]) -> str | None:
        """The form of a verb, or None if neither the treebank nor an ending tells it."""
        if lemma in self.seen[kind]:
            return self.seen[kind][lemma]
        for length in (3, 2, 1):
            changes = self.endings.get(kind, {}).get(lemma[-length:])
            if changes is not None and changes.total() >= SEEN:
                ((cut, added), count), *_ = changes.most_common(1)
                if count < SURE * changes.total():
                    return None
                return lemma[: len(lemma) - cut] + added
        return None


def endings_of(forms: dict[str, str]) -> dict[str, Counter[tuple[int, str]]]:
    """For the last one to three letters of lemmas: what is cut off and added, and how often."""
    endings: dict[str, Counter[tuple[int, str]]] = defaultdict(Counter)
    for lemma, form in forms.items():
        common = 0
        while common < min(len(lemma), len(form)) and lemma[common] == form[common]:
            common += 1
        for length in (1, 2, 3):
            endings[lemma[-length:]][len(lemma) - common, form[common:]] += 1
    return endings
