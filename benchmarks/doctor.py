"""Precision of the doctor's candidate errors where errors were planted, as Markdown.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/doctor.py [TREEBANK] [--share 0.02] [--seed 1]
        [--kinds FILE]

Into the training text of a treebank (EWT if none is named) errors are planted: a share of all
words gets another UPOS, drawn evenly from the other labels (random), or as often as a tagger that
has not seen the sentence confuses the two (confusable). Each row ranks labels by one method and
says how many of the first 100, and of as many as were planted, are planted ones. Errors that the
treebank had before count as false alarms.

``--kinds`` plants errors of each kind into one file and ranks them by the doctor alone: in UPOS,
looked for in the same contexts only; in lemmas and FEATS, where words get what others of their part
of speech have, as often as these do; and in tokens, of which two become one, or one becomes two, or
one has a word more or less.

``cleanlab`` ranks all labels, none pruned, by `cleanlab.rank.get_label_quality_scores`
(self-confidence) on the very probabilities of the doctor's taggers, on the sum of their
log-probabilities, and on those of its pool, which the doctor ranks itself.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from corpora import TREEBANKS, treebank

import perceptron_nlp as pn
from perceptron_nlp.analysis.doctor.doctoring import (
    TOKENS,
    DoctorOptions,
    Examination,
    examine,
    place_in,
    with_cuts,
    with_scripts,
)
from perceptron_nlp.analysis.doctor.pooling import Contexts, Variation, log_softmax
from perceptron_nlp.text.scripts import parse_script

FOLDS = 5
Place = tuple[int, int]


def confusions(sentences: Sequence[pn.Sentence], seed: int) -> dict[str, Counter[str]]:
    """For each gold label, what taggers of the other folds said in its place."""
    found: dict[str, Counter[str]] = {}
    order = list(range(len(sentences)))
    random.Random(seed).shuffle(order)
    for fold in range(FOLDS):
        held_out = set(order[fold::FOLDS])
        tagger = pn.train(
            [s for k, s in enumerate(sentences) if k not in held_out],
            column="upos",
            preset="fast",
            epochs=4,
        )
        for number in sorted(held_out):
            sentence = sentences[number]
            for gold, given in zip(sentence.column("upos"), tagger.tag(sentence), strict=True):
                if gold != given:
                    found.setdefault(gold, Counter())[given] += 1
    return found


def planted(
    sentences: Sequence[pn.Sentence],
    share: float,
    seed: int,
    confused: dict[str, Counter[str]] | None,
) -> tuple[list[pn.Sentence], set[Place]]:
    """The sentences with wrong labels, and where these are."""
    chance = random.Random(seed)
    places = [(k, i) for k, sentence in enumerate(sentences) for i in range(len(sentence))]
    gold = [list(sentence.column("upos")) for sentence in sentences]
    labels = sorted({label for row in gold for label in row})
    wrong: set[Place] = set()
    for k, i in chance.sample(places, round(share * len(places))):
        right = gold[k][i]
        if confused is None:
            gold[k][i] = chance.choice([label for label in labels if label != right])
        elif right in confused:
            others = sorted(confused[right])
            gold[k][i] = chance.choices(others, [confused[right][o] for o in others])[0]
        if gold[k][i] != right:
            wrong.add((k, i))
    return [
        pn.Sentence(s.words, {"upos": row}) for s, row in zip(sentences, gold, strict=True)
    ], wrong


def replaced(
    sentences: Sequence[pn.Sentence], column: str, share: float, seed: int
) -> tuple[list[pn.Sentence], set[Place]]:
    """The sentences with wrong labels of a column, and where these are.

    Of words, labels of others with the same part of speech, as often as they have them; of tokens,
    one cut more or less, or one word.
    """
    chance = random.Random(seed)
    others: dict[str, Counter[str]] = {}
    for sentence in sentences if column != TOKENS else ():
        for upos, label in zip(sentence.column("upos"), sentence.column(column), strict=True):
            others.setdefault(upos, Counter())[label] += 1
    places = [
        (k, i)
        for k, sentence in enumerate(sentences)
        for i, word in enumerate(sentence)
        if (len(word) > 1 if column == TOKENS else len(others[sentence.column("upos")[i]]) > 1)
        and sentence.column(column)[i] != "_"
    ]
    gold = [list(sentence.column(column)) for sentence in sentences]
    wrong: set[Place] = set()
    for k, i in chance.sample(places, round(share * len(places))):
        right, word = gold[k][i], sentences[k][i]
        if column == TOKENS:
            gold[k][i] = cut_otherwise(right, word, chance)
        else:
            rest = [*others[sentences[k].column("upos")[i]].items()]
            labels = [label for label, _ in rest if label != right]
            gold[k][i] = chance.choices(labels, [n for label, n in rest if label != right])[0]
        if gold[k][i] != right:
            wrong.add((k, i))
    # Under the names that the doctor gives to sentences of no file.
    return [
        pn.Sentence(s.words, {**(s.columns if column != TOKENS else {}), column: own})
        for s, own in zip(sentences, gold, strict=True)
    ], wrong


def cut_otherwise(label: str, form: str, chance: random.Random) -> str:
    """A label of tokens with a cut less, or with one more, or with another number of words."""
    parts = label.rstrip(">").split(",")
    how = chance.choice(("join", "cut", "words"))
    if how == "join" and len(parts) > 1:
        del parts[chance.randrange(1, len(parts))]
    elif how == "words" and any(":" in part for part in parts):
        parts = [part.partition(":")[0] for part in parts]
    elif len(parts) == 1:
        parts.append(place_in(form, chance.randrange(1, len(form))))
    else:
        del parts[-1]
    return ",".join(parts)


def lemmatized(sentence: pn.Sentence) -> pn.Sentence:
    """A sentence with lemmas in place of edit scripts; words, where one cannot be applied."""
    lemmas = [
        "_" if script == "_" else parse_script(script).apply(word) or word
        for word, script in zip(sentence.words, sentence.column("lemma"), strict=True)
    ]
    return pn.Sentence(sentence.words, {**sentence.columns, "lemma": lemmas})


def measure_kinds(path: str, share: float, seed: int) -> None:
    """Print a row of each kind of error."""
    sentences = [sentence for sentence in pn.open_corpus(path) if sentence.words]
    scripted = [with_scripts(sentence, "") for sentence in sentences]
    lemmas = [sentence.column("lemma") for sentence in sentences]
    kinds = {
        "UPOS, the same contexts": (sentences, "upos", ()),
        "lemmas": (scripted, "lemma", ()),
        "FEATS": (sentences, "feats", ("upos",)),
        "tokens": ([with_cuts(sentence) for sentence in sentences], TOKENS, ()),
    }
    print("| errors | planted | found | precision at 100 | at 1,000 | at as many as planted |")
    print("|---|---|---|---|---|---|", flush=True)
    confused = confusions(sentences, seed)
    for name, (units, column, evidence) in kinds.items():
        contexts = column == "upos"
        if contexts:
            given, wrong = planted(units, share, seed, confused)
        else:
            given, wrong = replaced(units, column, share, seed)
        if column == "lemma":
            given = [lemmatized(sentence) for sentence in given]
            wrong = {(k, i) for k, i in wrong if given[k].column(column)[i] != lemmas[k][i]}
            found = pn.doctor(given, column=column, seed=seed)
        else:
            options = DoctorOptions(seed=seed, contexts=contexts)
            found = examine(given, column, evidence, options, "sentences").diagnosis()
        hits = np.array([(c.sentence - 1, c.index) in wrong for c in found.candidates], float)
        print(
            f"| {name} | {len(wrong):,} | {len(hits):,} | {hits[:100].mean():.2f} |"
            f" {hits[:1000].mean():.3f} | {hits[: len(wrong)].mean():.3f} |",
            flush=True,
        )


def row(name: str, ranked: Sequence[Place], wrong: set[Place]) -> str:
    """A line of the table."""
    hits = np.array([place in wrong for place in ranked], float)
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    at_n = hits[: len(wrong)].sum() / len(wrong)
    average = float((precision * hits).sum()) / len(wrong)
    return (
        f"| {name} | {len(ranked):,} | {hits[:100].mean():.2f} | {hits[:1000].mean():.3f} |"
        f" {at_n:.3f} | {average:.3f} |"
    )


def cleanlab_ranked(
    examined: Examination, log_probabilities: npt.NDArray[np.float64]
) -> list[Place]:
    """Return all labels as cleanlab ranks them, the worst first."""
    said = examined.said
    whole = np.zeros((len(said.words), len(said.labels)))
    np.put_along_axis(whole, said.choices, np.exp(log_probabilities), axis=1)
    whole /= whole.sum(1, keepdims=True)
    from cleanlab.rank import get_label_quality_scores

    scores = get_label_quality_scores(said.gold, whole, method="self_confidence")
    starts = np.concatenate([[0], np.cumsum([len(s) for s in examined.examples.sentences])])
    words = said.words[np.argsort(scores, kind="stable")]
    numbers = np.searchsorted(starts, words, "right") - 1
    return [
        (examined.order[number], int(word - starts[number]))
        for number, word in zip(numbers.tolist(), words.tolist(), strict=True)
    ]


def measure(sentences: list[pn.Sentence], wrong: set[Place], options: DoctorOptions) -> None:
    """Print the rows of one planting, and what the doctor's first 100 hold of older errors."""
    start = time.process_time()
    examined = examine(sentences, "upos", (), options, "sentences")
    found = examined.diagnosis()
    seconds = time.process_time() - start
    ours = [(one.sentence - 1, one.index) for one in found.candidates]
    print(row(f"**doctor** ({seconds:.0f} CPU s)", ours, wrong), flush=True)
    variation = Variation(
        Contexts.of(examined.examples.sentences), examined.gold, len(examined.said.labels)
    )
    taggers = examined.said.scores
    for name, logs in {
        "cleanlab, taggers of words": log_softmax(taggers[..., 0]),
        "cleanlab, taggers with labels beside": log_softmax(taggers[..., 1]),
        "cleanlab, sum of both": log_softmax(taggers.sum(-1)),
        "cleanlab, the doctor's pool": examined.pool(variation)[1],
    }.items():
        print(row(name, cleanlab_ranked(examined, logs), wrong), flush=True)
    for one, place in zip(found.candidates[:100], ours, strict=False):
        if place not in wrong:
            print(
                f"\nNot planted, but among the doctor's first 100: {one.context},"
                f" {one.gold} → {one.expected}",
                flush=True,
            )


def main() -> None:
    """Print a table for each way of planting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("treebank", nargs="?", default="EWT", choices=TREEBANKS)
    parser.add_argument("--share", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--kinds", metavar="FILE")
    chosen = parser.parse_args()
    if chosen.kinds is not None:
        measure_kinds(chosen.kinds, chosen.share, chosen.seed)
        return
    sentences = [s for s in pn.open_corpus(treebank(chosen.treebank, "train")) if s.words]
    confused = confusions(sentences, chosen.seed)
    for how in ("random", "confusable"):
        given, wrong = planted(
            sentences, chosen.share, chosen.seed, None if how == "random" else confused
        )
        print(
            f"\n{chosen.treebank} train, {len(wrong):,} errors planted ({how}), seed"
            f" {chosen.seed}\n\n| method | ranked | precision at 100 | at 1,000 | at as many as"
            " planted | average precision |\n|---|---|---|---|---|---|",
            flush=True,
        )
        measure(given, wrong, DoctorOptions(seed=chosen.seed, runs=chosen.runs))


if __name__ == "__main__":
    main()
