"""Rules of training measured on the dev parts of treebanks, as Markdown.

    python benchmarks/rules.py RULE FOLDER TREEBANK...

RULE is one of

weight : what parts of speech count where columns are made to agree, by preset; each figure less
    that of weight 1
lexicon : a lexicon of the training words, and one of these and the words of the sentences behind
    them, each with entries partly hidden in training and not; less no lexicon
positions : XPOS by their positions, too, where that is chosen, less XPOS as wholes, on all words
    and on those that are not in train; and how many times the training takes
lemmas : lemmas behind predicted tags, learned from such tags of half the text, too, less gold tags
    alone; on all words, on those that are not in train, and how many times the training takes
best : UPOS by the presets accurate and best (of ten minutes), less default

Each TREEBANK is a folder in FOLDER with train and dev parts (``*-train.conllu.xz``); the first 600
sentences of train are learned, the first 600 of dev scored. Seed 1.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest.mock import patch

import perceptron_nlp as pn
from perceptron_nlp.tagger.train import auto, lemmatizing, resources
from perceptron_nlp.tagger.train.learning import learn_sentences

LIMIT = 600
WEIGHTS = (1.5, 2.0, 2.5, 3.0, 4.0, 6.0)
COLUMNS = ("upos", "xpos", "feats")
Sentences = list[pn.Sentence]


def part(folder: Path, name: str) -> Sentences:
    """The sentences of a part of a treebank."""
    (path,) = folder.glob(f"*-{name}.conllu*")
    return list(pn.read_conllu(path))


def accuracies(tagger: pn.Tagger, dev: Sentences) -> list[float]:
    """Percentages of the tokens of each column of a tagger, tagged together, that are right."""
    found = tagger.tag_sents([one.words for one in dev], columns=tagger.columns)
    return [
        100
        * statistics.mean(
            label == right
            for own, one in zip(labels, dev, strict=True)
            for label, right in zip(own, one.column(name), strict=True)
        )
        for name, labels in found.items()
    ]


def weights(train: Sentences, dev: Sentences) -> Iterator[tuple[str, list[float]]]:
    """What each weight of parts of speech gives, by preset."""
    for preset in ("default", "accurate"):
        tagger = pn.train(train[:LIMIT], column=COLUMNS, preset=preset)
        agreement = tagger.model.agreement
        assert agreement is not None

        def scored(weight: float, own: pn.Tagger = tagger, rows: object = agreement) -> list[float]:
            weighted = rows._replace(upos_weight=weight)  # type: ignore[attr-defined]
            return accuracies(pn.Tagger(own.model.replace(agreement=weighted)), dev)

        plain = scored(1.0)
        for weight in WEIGHTS:
            both = zip(scored(weight), plain, strict=True)
            yield f"`{preset}`, {weight:g}", [ours - theirs for ours, theirs in both]


def lexicons(train: Sentences, dev: Sentences) -> Iterator[tuple[str, list[float]]]:
    """What lexicons give, with entries partly hidden in training and not."""
    (plain,) = accuracies(pn.train(train[:LIMIT], column="upos"), dev)
    for what, text in (("training words", train[:LIMIT]), ("more words, too", train)):
        lexicon: dict[str, set[str]] = {}
        for one in text:
            for word, label in zip(one.words, one.column("upos"), strict=True):
                lexicon.setdefault(word, set()).add(label)
        for how in ("hidden", "not hidden"):
            with patch.object(
                resources,
                "partly_hidden",
                resources.partly_hidden if how == "hidden" else lambda *_: {},
            ):
                tagger = pn.train(train[:LIMIT], column="upos", lexicon=lexicon)
            yield f"{what}, {how}", [accuracies(tagger, dev)[0] - plain]


def positions(train: Sentences, dev: Sentences) -> Iterator[tuple[str, list[float]]]:
    """What positions give to XPOS alone."""
    known = {word for one in train[:LIMIT] for word in one.words}
    new = [[word not in known for word in one.words] for one in dev]
    found = []
    for chosen in (auto.mode_of_positions, lambda _: None):
        begin = time.process_time()
        with patch.object(auto, "mode_of_positions", chosen):
            tagger = pn.train(train[:LIMIT], column="xpos")
        seconds = time.process_time() - begin
        right = [
            [
                label == gold
                for label, gold in zip(tagger.tag(one.words), one.column("xpos"), strict=True)
            ]
            for one in dev
        ]
        pairs = [
            pair
            for own, which in zip(right, new, strict=True)
            for pair in zip(own, which, strict=True)
        ]
        found.append((pairs, seconds))
    (ours, longer), (theirs, seconds) = found
    yield (
        "XPOS",
        [
            100 * (statistics.mean(a for a, _ in ours) - statistics.mean(b for b, _ in theirs)),
            100
            * (
                statistics.mean(a for a, is_new in ours if is_new)
                - statistics.mean(b for b, is_new in theirs if is_new)
            ),
            longer / seconds,
        ],
    )


def lemmas(train: Sentences, dev: Sentences) -> Iterator[tuple[str, list[float]]]:
    """What learning from predicted tags, too, gives to lemmas behind them."""
    text = train[:LIMIT]
    names = [name for name in COLUMNS if any({*one.column(name)} != {"_"} for one in text)]
    tagger = pn.train(text, column=names)
    taggers = [part.model for part in tagger.by_column.values()]
    found = tagger.tag_sents([one.words for one in dev], columns=names)
    known = {word.lower() for one in text for word in one.words}
    figures = []
    for always in (True, False):
        begin = time.process_time()
        model = lemmatizing.learn_lemmas(
            text, None, learn_sentences, names, lambda: taggers, always_jackknife=always, seed=1
        )
        seconds = time.process_time() - begin
        tagged = [
            pn.Sentence(one.words, {name: found[name][at] for name in names})
            for at, one in enumerate(dev)
        ]
        right = [
            (lemma == gold, word.lower() not in known)
            for own, one in zip(pn.Tagger(model).tag_sents(tagged), dev, strict=True)
            for lemma, gold, word in zip(own, one.column("lemma"), one.words, strict=True)
        ]
        new = [is_right for is_right, is_new in right if is_new]
        figures.append((statistics.mean(is_right for is_right, _ in right), statistics.mean(new)))
        figures[-1] += (seconds,)
    (ours, our_new, longer), (theirs, their_new, seconds) = figures
    yield "lemmas", [100 * (ours - theirs), 100 * (our_new - their_new), longer / seconds]


def bests(train: Sentences, dev: Sentences) -> Iterator[tuple[str, list[float]]]:
    """What the slower presets give to UPOS."""
    (plain,) = accuracies(pn.train(train[:LIMIT], column="upos"), dev)
    for preset in ("accurate", "best"):
        tagger = pn.train(train[:LIMIT], column="upos", preset=preset)
        yield preset, [accuracies(tagger, dev)[0] - plain]
        if preset == "best":
            print(*tagger.model.record["choices"], sep="; ", file=sys.stderr)


RULES = {
    "weight": weights,
    "lexicon": lexicons,
    "positions": positions,
    "lemmas": lemmas,
    "best": bests,
}


def main(rule: str, folder: str, names: Sequence[str]) -> None:
    """Print a table of the means, and the figures of each treebank behind them."""
    rows: dict[str, list[list[float]]] = {}
    for name in names:
        train, dev = part(Path(folder) / name, "train"), part(Path(folder) / name, "dev")[:LIMIT]
        for what, figures in RULES[rule](train, dev):
            rows.setdefault(what, []).append(figures)
        print(name, file=sys.stderr, flush=True)
    for what, found in rows.items():
        columns = [*zip(*found, strict=True)]
        means = " | ".join(f"{statistics.mean(own):+.2f}" for own in columns)
        each = "; ".join(" ".join(f"{x:+.2f}" for x in own) for own in columns)
        print(f"| {what} | {means} | {each} |")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
