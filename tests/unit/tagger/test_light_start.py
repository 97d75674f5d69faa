"""A short-lived process takes no more than it needs: modules are counted, not seconds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import perceptron_nlp as pn

# What takes longer to import than a small job takes, and parts of this library that only training,
# explaining and other formats need.
HEAVY = {
    "numpy",
    "dataclasses",
    "inspect",
    "ast",
    "logging",
    "pathlib",
    "urllib",
    "pickle",
    "shutil",
    "gzip",
    "bz2",
    "lzma",
    "tempfile",
    "random",
    "difflib",
    "concurrent",
    "multiprocessing",
    "perceptron_nlp.tagger.api",
    "perceptron_nlp._core.train.greedy",
    "perceptron_nlp._core.table.weights",
    "perceptron_nlp._core.train.trainingset",
    "perceptron_nlp._core.train.history",
    "perceptron_nlp._core.model.frozenweights",
    "perceptron_nlp.sampling",
    "perceptron_nlp.tagger.train.options",
    "perceptron_nlp.tagger.train.data",
    "perceptron_nlp.tagger.sources",
    "perceptron_nlp.tagger.evaluation",
    "perceptron_nlp.tagger.explain.explanation",
    "perceptron_nlp.tagger.tag.forward_trace",
    "perceptron_nlp.tagger.tag.sentence_features",
    "perceptron_nlp.tagger.k_best",
    "perceptron_nlp.crossfit",
    "perceptron_nlp.probability",
    "perceptron_nlp.tagger.confidence",
    "perceptron_nlp.tagger.train.calibrate",
    "perceptron_nlp.tagger.train.compress",
    "perceptron_nlp.tagger.model.state",
    "perceptron_nlp.text.splitter",
    "perceptron_nlp.formats.plaintext",
}
if sys.version_info >= (3, 14):
    # There typing's NamedTuple and argparse import these by themselves.
    HEAVY -= {"ast", "dataclasses", "inspect"}
LISTS = """
import json, sys
before = set(sys.modules)
import perceptron_nlp as pn
words = json.loads(sys.argv[1])
found = {path: (own := pn.load(path, mmap=path.endswith("mapped"))).tag(words, columns=own.columns)
         for path in sys.argv[2:]}
print(json.dumps([found, sorted(set(sys.modules) - before)]))
"""
SHELL = """
import json, sys
before = set(sys.modules)
from perceptron_nlp.cli.main import main
assert main(sys.argv[1:]) == 0
print(json.dumps(sorted(set(sys.modules) - before)))
"""
WORDS = ["the", "old", "man", "saw", "a", "dog"]
TAGS = ["DET", "ADJ", "NOUN", "VERB", "DET", "NOUN"]
SENTENCES = [
    pn.Sentence(
        [f"{word}{k % 3}" if k % 2 else word for word in WORDS],
        {
            "upos": TAGS,
            "xpos": [tag[0] for tag in TAGS],
            "chunk": ["B-NP", "I-NP", "I-NP", "O", "B-NP", "I-NP"],
            "feats": ["_", "Degree=Pos", "Case=Nom|Number=Sing", "_", "_", "Case=Acc|Number=Sing"],
        },
    )
    for k in range(60)
]


def models() -> dict[str, Any]:
    """Models of every kind that labels words by themselves."""
    plain: dict[str, Any] = {"seed": 1, "epochs": 3}
    several = pn.train(SENTENCES, column="upos,xpos", **plain)
    fast = pn.train(SENTENCES, dev=SENTENCES, column="upos", preset="fast", **plain)
    return {
        "fast": fast,
        "mapped": fast,
        "several": several,
        "small": several.compress(20_000, force=True),
        "fixed": pn.train(SENTENCES, column="upos", table_bits=12, **plain),
        "parts": pn.train(SENTENCES, column="feats", two_passes=False, **plain),
        "spans": pn.train(SENTENCES, column="chunk", window=None, **plain),
    }


def run(code: str, *arguments: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def heavy(modules: list[str]) -> list[str]:
    return [name for name in modules if name in HEAVY or name.partition(".")[0] in HEAVY]


def test_loading_and_tagging_lists_imports_nothing_that_they_do_without(tmp_path: Path) -> None:
    taggers = {str(tmp_path / name): tagger for name, tagger in models().items()}
    for path, tagger in taggers.items():
        tagger.save(path)
    found, modules = run(LISTS, json.dumps(WORDS), *taggers)
    assert found == {
        path: tagger.tag(WORDS, columns=tagger.columns) for path, tagger in taggers.items()
    }
    assert not heavy(modules)


def test_tagging_a_conllu_file_from_the_shell_imports_nothing_that_it_does_without(
    tmp_path: Path,
) -> None:
    model, given, tagged = (str(tmp_path / name) for name in ("m.model", "in.conllu", "out.conllu"))
    tagger = pn.train(SENTENCES, column="upos", preset="fast", epochs=3)
    tagger.save(model)
    line = "".join(f"{k}\t{word}\t_\t_\t_\t_\t_\t_\t_\t_\n" for k, word in enumerate(WORDS, 1))
    Path(given).write_text(f"{line}\n" * 3, encoding="utf-8")
    assert not heavy(run(SHELL, "tag", model, given, "-o", tagged, "--quiet"))
    assert [s.column("upos") for s in pn.read_conllu(tagged)] == [tuple(tagger.tag(WORDS))] * 3
