"""python-crfsuite and NLTK on the same damage, so that the difference is seen."""

from __future__ import annotations

import importlib.util
import os
import random
import signal
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.trust import samples
from benchmarks.trust.children import call
from benchmarks.trust.damage import SECONDS_TO_LOAD
from benchmarks.trust.damaging import mutate
from benchmarks.trust.kills import kill_while
from benchmarks.trust.reached import Missing, Reached

MUTANTS = 200
KILLS = 60
LANGUAGE = "trust"


def _need(module: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise Missing(f"{module} is not installed")


# ---- python-crfsuite ----


def _crfsuite_trainer() -> Any:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.select("averaged-perceptron")
    trainer.set_params({"max_iterations": 2})
    for words in samples.words_of()[:60]:
        trainer.append(
            [[f"w={word}", f"s={word[-3:]}"] for word in words],
            [str(len(word) % 7) for word in words],
        )
    return trainer


def crfsuite_train(path: str) -> None:
    """Write a model; runs in a child."""
    _crfsuite_trainer().train(path)


def crfsuite_load(path: str, first: int, count: int) -> int:
    """Load and use mutants, one child for several; returns how many were refused."""
    import pycrfsuite

    good = Path(path).read_bytes()
    refused = 0
    for seed in range(first, first + count):
        bad = f"{path}-{seed}"
        Path(bad).write_bytes(mutate(good, random.Random(seed)))
        signal.alarm(SECONDS_TO_LOAD)
        try:
            tagger = pycrfsuite.Tagger()
            tagger.open(bad)
            tagger.tag([["w=the"], ["w=dog", "s=dog"]])
        except Exception:
            refused += 1
        signal.alarm(0)
        os.unlink(bad)
    return refused


def _crashes_of(load: str, path: str, per_child: int = 1) -> Reached:
    """Mutants in children of their own: a crash takes no other with it."""
    refused = crashed = hung = 0
    for seed in range(0, MUTANTS, per_child):
        child = call(load, path, seed, per_child, timeout=3 * SECONDS_TO_LOAD * per_child)
        if child.result is not None:
            refused += child.result
        elif child.status is None or child.status == -signal.SIGALRM:
            hung += 1
        else:
            crashed += 1
    loaded = MUTANTS - refused - crashed - hung
    return Reached(
        f"of {MUTANTS} mutants {refused} refused, {loaded} loaded, {crashed} crashed, {hung} hung",
        False,
    )


def crfsuite_mutants(full: bool) -> Reached:
    """Mutants of a model of python-crfsuite."""
    del full
    _need("pycrfsuite")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        call("benchmarks.trust.neighbours:crfsuite_train", path)
        return _crashes_of("benchmarks.trust.neighbours:crfsuite_load", path)


def crfsuite_kill(folder: str) -> int:
    """Kill saves; how many left a model that is not whole. Runs in a child."""
    path = Path(folder) / "model"
    trainer = _crfsuite_trainer()
    trainer.train(str(path))
    return sum(
        not _crfsuite_whole(content)
        for content in kill_while(lambda _: trainer.train(str(path)), path, KILLS, 1)
    )


def _crfsuite_whole(content: bytes | None) -> bool:
    """Its header, which it writes last, holds the size of the whole file."""
    return (
        content is not None
        and content[:4] == b"lCRF"
        and int.from_bytes(content[4:8], "little") == len(content)
    )


def crfsuite_kills(full: bool) -> Reached:
    """Kills while python-crfsuite saves."""
    del full
    return _kills("pycrfsuite", "benchmarks.trust.neighbours:crfsuite_kill")


def _kills(module: str, function: str) -> Reached:
    _need(module)
    with tempfile.TemporaryDirectory() as folder:
        child = call(function, folder)
    if child.result is None:
        return Reached(child.fate, False)
    return Reached(f"{KILLS - child.result} of {KILLS} whole", child.result == 0)


# ---- NLTK ----


def _nltk_tagger(folder: str) -> Any:
    import nltk
    from nltk.tag.perceptron import PerceptronTagger

    # NLTK reads and writes only below its data folders.
    nltk.data.path.insert(0, folder)
    tagger = PerceptronTagger(load=False)
    tagger.train(
        [[(word, str(len(word) % 7)) for word in words] for words in samples.words_of()[:60]],
        nr_iter=2,
    )
    return tagger


def nltk_train(folder: str) -> None:
    """Write a model; runs in a child."""
    _nltk_tagger(folder).save_to_json(LANGUAGE, os.path.join(folder, "model"))


def nltk_load(folder: str, first: int, count: int) -> int:
    """Load and use mutants of one of the files; returns how many were refused."""
    import nltk
    from nltk.tag.perceptron import PerceptronTagger

    nltk.data.path.insert(0, folder)
    place = Path(folder) / "model"
    refused = 0
    for seed in range(first, first + count):
        chance = random.Random(seed)
        part = chance.choice(sorted(place.iterdir()))
        good = part.read_bytes()
        part.write_bytes(mutate(good, chance))
        signal.alarm(SECONDS_TO_LOAD)
        try:
            tagger = PerceptronTagger(load=False)
            tagger.load_from_json(LANGUAGE, str(place))
            tagger.tag(["the", "dog"])
        except Exception:
            refused += 1
        signal.alarm(0)
        part.write_bytes(good)
    return refused


def nltk_mutants(full: bool) -> Reached:
    """Mutants of a model of NLTK."""
    del full
    _need("nltk")
    with tempfile.TemporaryDirectory() as folder:
        made = call("benchmarks.trust.neighbours:nltk_train", folder)
        if made.status != 0:
            return Reached(made.fate, False)
        # It is Python throughout, so a child for each would only cost time.
        return _crashes_of("benchmarks.trust.neighbours:nltk_load", folder, per_child=50)


def nltk_kill(folder: str) -> int:
    """Kill saves; how many left a model that is not whole. Runs in a child."""
    tagger = _nltk_tagger(folder)
    place = Path(folder) / "model"
    tagger.save_to_json(LANGUAGE, str(place))
    parts = sorted(place.iterdir())
    whole = [part.read_bytes() for part in parts]
    largest = max(parts, key=lambda part: part.stat().st_size)
    broken = 0
    for number in range(KILLS):
        kill_while(lambda _: tagger.save_to_json(LANGUAGE, str(place)), largest, 1, number)
        broken += [part.read_bytes() if part.exists() else b"" for part in parts] != whole
    return broken


def nltk_kills(full: bool) -> Reached:
    """Kills while NLTK saves."""
    del full
    return _kills("nltk", "benchmarks.trust.neighbours:nltk_kill")
