"""Laws of whole taggers: the same bytes for the same data, and nothing lost on the way."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perceptron_nlp as pn

Labeled = list[tuple[list[str], list[str]]]

OPTIONS = [
    {},
    {"templates": "classic"},
    {"table_bits": 9},
    {"right_to_left": True},
    {"min_count": 2},
    {"update": "margin"},
    {"update": "passive-aggressive"},
    {"update": "adagrad"},
    {"dictionary": (3, 0.9)},
    {"templates": ["word[0]"]},
    {"templates": ["bias"]},
    {"templates": ["tag[-1]", "lower.ngrams2-4[0]", "tag[-1] tag[-3]"]},
]
NAMES = [",".join(f"{k}={v}" for k, v in options.items()) or "defaults" for options in OPTIONS]
WORD = st.sampled_from(["the", "old", "man", "stop", "Zoë", "1984", ".", ""]) | st.text(max_size=6)
SENTENCES = st.lists(st.lists(WORD, max_size=8), max_size=8)


@pytest.mark.parametrize("options", OPTIONS, ids=NAMES)
def test_saving_and_loading_gives_the_same_bytes_and_the_same_tags(
    options: dict[str, object], small: Labeled, tmp_path: Path
) -> None:
    tagger = pn.train(small, epochs=3, **options)
    path = tmp_path / "model"
    tagger.save(path)
    loaded = pn.load(path)
    assert path.read_bytes() == loaded.to_bytes() == tagger.to_bytes()
    sentences = [words for words, _ in small] + [["new", "words", "here"], [], ["the"]]
    assert loaded.tag_sents(sentences) == tagger.tag_sents(sentences)
    for words in sentences:
        assert (loaded.scores(words) == tagger.scores(words)).all()


@pytest.mark.parametrize("options", OPTIONS, ids=NAMES)
def test_two_trainings_with_one_seed_give_the_same_bytes(
    options: dict[str, object], small: Labeled
) -> None:
    first, second = (pn.train(small, epochs=3, seed=11, **options) for _ in range(2))
    assert first.to_bytes() == second.to_bytes()


def test_another_seed_gives_other_weights(small: Labeled) -> None:
    weights = [
        pn.train(small, epochs=2, seed=seed).model.weights.weights.tobytes() for seed in (1, 2)
    ]
    assert weights[0] != weights[1]


PROGRAM = """
import sys
import perceptron_nlp as pn
lines = [[t.rsplit("/", 1) for t in line.split()] for line in sys.stdin.read().splitlines()]
tagger = pn.train([([w for w, _ in s], [t for _, t in s]) for s in lines], epochs=3, seed=5,
                  dictionary=(3, 0.9), dev=[(["The", "man"], ["DET", "NOUN"])])
sys.stdout.buffer.write(tagger.to_bytes())
"""


def test_the_hash_seed_of_python_changes_no_byte(small: Labeled) -> None:
    text = "\n".join(
        " ".join(f"{w}/{t}" for w, t in zip(words, tags, strict=True)) for words, tags in small
    )
    root = Path(pn.__file__).parents[1]
    outputs = []
    for seed in ("0", "1", "2718"):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": str(root),
            "PYTHONUTF8": "1",
        }
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            input=text.encode(),
            check=True,
            stdout=subprocess.PIPE,
            env=environment,
        )
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1] == outputs[2]
    here = pn.train(
        small, epochs=3, seed=5, dictionary=(3, 0.9), dev=[(["The", "man"], ["DET", "NOUN"])]
    )
    assert outputs[0] == here.to_bytes()


@settings(max_examples=30)
@given(sentences=SENTENCES)
def test_one_sentence_at_a_time_tags_as_all_at_once(
    tagger: pn.Tagger, sentences: list[list[str]]
) -> None:
    alone = [tagger.tag(words) for words in sentences]
    assert tagger.tag_sents(sentences) == alone
    assert tagger.tag_sents(map(tuple, sentences)) == alone
    assert [len(labels) for labels in alone] == [len(words) for words in sentences]
    assert all(label in tagger.labels for labels in alone for label in labels)


def test_any_number_of_threads_tags_as_one(tagger: pn.Tagger, small: Labeled) -> None:
    sentences = [[*words, f"word{i % 997}"] for i in range(300) for words, _ in small]
    expected = tagger.tag_sents(sentences)
    for threads in (2, 4, 9):
        assert tagger.tag_sents(sentences, threads=threads) == expected


def test_one_tagger_serves_many_threads_of_the_caller(tagger: pn.Tagger, small: Labeled) -> None:
    parts = [[[*words, f"w{k}-{i}"] for i in range(40) for words, _ in small] for k in range(8)]
    expected = [tagger.tag_sents(part) for part in parts]
    found: list[object] = [None] * len(parts)

    def work(k: int) -> None:
        found[k] = [tagger.tag(words) for words in parts[k]]

    workers = [threading.Thread(target=work, args=(k,)) for k in range(len(parts))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == expected


@pytest.mark.parametrize(
    "copied",
    [
        lambda t: pickle.loads(pickle.dumps(t)),
        copy.copy,
        copy.deepcopy,
        lambda t: pn.Tagger.from_bytes(t.to_bytes()),
        lambda t: pn.Tagger.from_bytes(memoryview(bytearray(t.to_bytes()))),
    ],
    ids=["pickle", "copy", "deepcopy", "bytes", "memoryview"],
)
def test_a_copy_tags_alike_and_has_the_same_bytes(
    tagger: pn.Tagger, small: Labeled, copied: object
) -> None:
    assert callable(copied)
    twin = copied(tagger)
    assert twin.to_bytes() == tagger.to_bytes() and twin.labels == tagger.labels
    assert twin.tag_sents([w for w, _ in small]) == tagger.tag_sents([w for w, _ in small])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_tags_alike(tagger: pn.Tagger, small: Labeled) -> None:
    sentences = [words for words, _ in small]
    expected = tagger.tag_sents(sentences)
    child = os.fork()
    if child == 0:
        ok = tagger.tag_sents([*sentences, ["more"]])[:-1] == expected
        os._exit(0 if ok and tagger.tag_sents(sentences, threads=2) == expected else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert tagger.tag_sents(sentences) == expected


@pytest.mark.parametrize("limit", [1, 7_000, "100kB"])
def test_a_small_cache_changes_no_tag(limit: int | str, tagger: pn.Tagger, small: Labeled) -> None:
    sentences = [[*words, f"w{i}"] for i in range(30) for words, _ in small]
    narrow = pn.Tagger.from_bytes(tagger.to_bytes(), cache_size=limit)
    assert narrow.tag_sents(sentences) == tagger.tag_sents(sentences)
    assert pickle.loads(pickle.dumps(narrow)).tag_sents(sentences) == tagger.tag_sents(sentences)


def test_the_order_in_which_training_meets_labels_does_not_change_their_numbers(
    small: Labeled,
) -> None:
    assert (
        pn.train(small[::-1], epochs=1).labels
        == pn.train(small, epochs=1).labels
        == tuple(sorted({label for _, labels in small for label in labels}))
    )


def test_the_best_label_is_the_one_that_scores_highest(tagger: pn.Tagger, small: Labeled) -> None:
    for words, _ in small:
        best = tagger.scores(words).argmax(axis=1)
        assert tagger.tag(words) == [tagger.labels[k] for k in best]
