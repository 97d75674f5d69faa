"""Other taggers that pip can install, trained and called as their users would, lists in and out.

A peer learns from pairs of words and labels and gives a function that labels a list of sentences,
and the file that its model is kept in. CRFsuite, scikit-learn and Vowpal Wabbit are given the same
features (`features`), made in Python for each call, for that is what their users pay; NLTK, LTP,
UDPipe and spaCy have features of their own.
"""

from __future__ import annotations

import json
import os
import pickle
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Sentences = list[list[str]]
Example = tuple[list[str], list[str]]
Tag = Callable[[Sentences], Sentences]


@dataclass(frozen=True, slots=True)
class Peer:
    """A tagger of others: what pip calls it, how it is trained, and on how many sentences."""

    name: str
    package: str
    setting: str
    train: Callable[[list[Example], Path], tuple[Tag, Path]]
    sentences: int | None = None


def features(words: list[str]) -> list[list[str]]:
    """The words around each word, its affixes, and what its characters are."""
    around = ["", "", *words, "", ""]
    rows = []
    for place, word in enumerate(words):
        before, after = around[place + 1], around[place + 3]
        rows.append(
            [
                f"w={word}",
                f"l={word.lower()}",
                f"a={around[place]}",
                f"b={before}",
                f"c={after}",
                f"d={around[place + 4]}",
                f"s1={word[-1:]}",
                f"s2={word[-2:]}",
                f"s3={word[-3:]}",
                f"s4={word[-4:]}",
                f"p1={word[:1]}",
                f"p2={word[:2]}",
                f"p3={word[:3]}",
                f"bs={before[-3:]}",
                f"cs={after[-3:]}",
                f"k={word[:1].isupper():d}{word.isupper():d}{any(map(str.isdigit, word)):d}"
                f"{'-' in word:d}{not place:d}",
            ]
        )
    return rows


def nltk(examples: list[Example], folder: Path) -> tuple[Tag, Path]:
    """NLTK's averaged perceptron, which learns and tags in Python."""
    from nltk.tag.perceptron import PerceptronTagger

    random.seed(1)
    tagger = PerceptronTagger(load=False)
    tagger.train([list(zip(words, labels, strict=True)) for words, labels in examples], nr_iter=5)
    path = folder / "nltk.json"
    path.write_text(json.dumps([tagger.model.weights, tagger.tagdict, sorted(tagger.classes)]))
    return lambda text: [[label for _, label in tagger.tag(words)] for words in text], path


def crfsuite(algorithm: str, iterations: int) -> Callable[[list[Example], Path], tuple[Tag, Path]]:
    """CRFsuite with a training algorithm of its own."""

    def train(examples: list[Example], folder: Path) -> tuple[Tag, Path]:
        import pycrfsuite

        trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False)
        for words, labels in examples:
            trainer.append(features(words), labels)
        trainer.set_params({"max_iterations": iterations})
        path = folder / "crfsuite.model"
        trainer.train(str(path))
        tagger = pycrfsuite.Tagger()
        tagger.open(str(path))
        return lambda text: [tagger.tag(features(words)) for words in text], path

    return train


def sklearn(examples: list[Example], folder: Path) -> tuple[Tag, Path]:
    """A dictionary vectoriser and logistic regression by stochastic gradients; no label history."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import SGDClassifier

    def rows(text: Sentences) -> list[dict[str, int]]:
        return [dict.fromkeys(row, 1) for words in text for row in features(words)]

    vectoriser = DictVectorizer()

    def narrow(matrix: Any) -> Any:
        matrix.indices, matrix.indptr = matrix.indices.astype("i4"), matrix.indptr.astype("i4")
        return matrix

    model = SGDClassifier(loss="log_loss", alpha=1e-6, max_iter=5, tol=None, random_state=1)
    model.fit(
        narrow(vectoriser.fit_transform(rows([words for words, _ in examples]))),
        [label for _, labels in examples for label in labels],
    )
    path = folder / "sklearn.pickle"
    path.write_bytes(pickle.dumps((vectoriser, model)))

    def tag(text: Sentences) -> Sentences:
        labels = iter(model.predict(narrow(vectoriser.transform(rows(text)))).tolist())
        return [[next(labels) for _ in words] for words in text]

    return tag, path


def ltp(examples: list[Example], folder: Path) -> tuple[Tag, Path]:
    """LTP's extension in Rust: a passive-aggressive tagger, on one thread."""
    os.environ["RAYON_NUM_THREADS"] = "1"
    from ltp_extension import perceptron

    source, path = folder / "ltp.txt", folder / "ltp.model"
    labels = sorted({label for _, labels in examples for label in labels})
    source.write_text(
        "".join(
            " ".join(
                f"{word.replace('/', '|')}/{label}" for word, label in zip(*example, strict=True)
            )
            + "\n"
            for example in examples
        ),
        encoding="utf-8",
    )
    trainer = perceptron.POSTrainer(labels)
    trainer.load_train_data(str(source))
    trainer.load_eval_data(str(source))
    trainer.epoch, trainer.eval_threads, trainer.verbose = 5, 1, False
    trainer.algorithm = perceptron.Algorithm("Pa")
    model = trainer.train()
    model.save(str(path))
    return lambda text: model.batch_predict(text, parallelism=False), path


_SAFE = str.maketrans({":": "<colon>", "|": "<pipe>", " ": "_", "\u00a0": "_", "\t": "_"})


def vowpal_wabbit(examples: list[Example], folder: Path) -> tuple[Tag, Path]:
    """Vowpal Wabbit's learning to search. Text goes through files, its fastest way from Python."""
    from vowpalwabbit import pyvw

    labels = sorted({label for _, labels in examples for label in labels})
    numbers = {label: number for number, label in enumerate(labels, 1)}
    path, source = folder / "vw.model", folder / "vw.txt"

    def run(options: str, text: Sentences, gold: Sentences | None) -> None:
        with source.open("w", encoding="utf-8") as file:
            for place, words in enumerate(text):
                for row, line in enumerate(features([word.translate(_SAFE) for word in words])):
                    number = numbers[gold[place][row]] if gold else 1
                    file.write(f"{number} | {' '.join(line)}\n")
                file.write("\n")
        workspace = pyvw.Workspace(f"--quiet -d {source} {options}")
        workspace.finish()

    run(
        f"-f {path} --search {len(labels)} --search_task sequence --search_rollout none "
        "--search_alpha 1e-6 --search_history_length 2 -b 24 --passes 3 -c -k --holdout_off "
        "--random_seed 1",
        [words for words, _ in examples],
        [labels for _, labels in examples],
    )

    def tag(text: Sentences) -> Sentences:
        answers = folder / "vw.answers"
        run(f"-i {path} -t -p {answers}", text, None)
        return [
            [labels[int(number) - 1] for number in line.split()]
            for line in answers.read_text().splitlines()
        ]

    return tag, path


def udpipe(examples: list[Example], folder: Path) -> tuple[Tag, Path]:
    """UDPipe 1's tagger, universal tags alone, one iteration."""
    from ufal import udpipe as udp

    def sentence(words: list[str], labels: list[str] | None = None) -> udp.Sentence:
        made = udp.Sentence()
        for place, word in enumerate(words):
            node = made.addWord(word)
            if labels:
                node.upostag = labels[place]
        return made

    error = udp.ProcessingError()
    data = udp.Trainer.train(
        "morphodita_parsito",
        [sentence(*example) for example in examples],
        [],
        "none",
        "models=1;use_lemma=0;provide_lemma=0;use_xpostag=0;provide_xpostag=0;use_feats=0;"
        "provide_feats=0;iterations=1",
        "none",
        error,
    )
    if error.occurred():
        raise RuntimeError(error.message)
    path = folder / "udpipe.model"
    path.write_bytes(data)
    model = udp.Model.load(str(path))

    def tag(text: Sentences) -> Sentences:
        tagged = []
        for words in text:
            made = sentence(words)
            model.tag(made, udp.Model.DEFAULT)
            tagged.append([word.upostag for word in made.words][1:])
        return tagged

    return tag, path


def spacy(examples: list[Example], folder: Path) -> tuple[Tag, Path]:
    """spaCy's tagger over its convolutional network, one epoch."""
    import spacy as library
    from spacy.tokens import Doc
    from spacy.training import Example as Pair

    library.util.fix_random_seed(1)
    program = library.blank("en")
    program.add_pipe("tagger")
    pairs = [
        Pair.from_dict(Doc(program.vocab, words=words), {"tags": labels})
        for words, labels in examples
    ]
    optimizer = program.initialize(lambda: pairs)
    for batch in library.util.minibatch(pairs, size=32):
        program.update(batch, sgd=optimizer)
    path = folder / "spacy.model"
    path.write_bytes(program.to_bytes())

    def tag(text: Sentences) -> Sentences:
        documents = program.pipe(Doc(program.vocab, words=words) for words in text)
        return [[token.tag_ for token in document] for document in documents]

    return tag, path


PEERS = (
    Peer("NLTK PerceptronTagger", "nltk", "5 epochs", nltk),
    Peer(
        "python-crfsuite, averaged perceptron", "python-crfsuite", "10 epochs", crfsuite("ap", 10)
    ),
    Peer("python-crfsuite, passive-aggressive", "python-crfsuite", "10 epochs", crfsuite("pa", 10)),
    Peer("scikit-learn DictVectorizer + SGD", "scikit-learn", "5 epochs", sklearn),
    Peer("LTP extension, passive-aggressive", "ltp-extension", "5 epochs", ltp),
    Peer("Vowpal Wabbit search", "vowpalwabbit", "3 passes", vowpal_wabbit),
    Peer("UDPipe 1", "ufal.udpipe", "1 iteration", udpipe, 1000),
    Peer("spaCy 3 tagger", "spacy", "1 epoch", spacy, 1000),
)
