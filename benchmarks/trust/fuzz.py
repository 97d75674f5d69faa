"""``python -m benchmarks.trust.fuzz [--seconds N] [--seed N]``: break what can be handed over.

Each target takes seeds (valid inputs, and those of tests/corpora and tests/unit/trust/cases),
changes them at random, and hands them to the library in a child process. What may happen is a
result or an error of the library; anything else is a finding: its input is written to out/fuzz,
named by its target. Moved to tests/unit/trust/cases, it is a regression test.

The same seed makes the same inputs, in the same order; only how far they get hangs on the time.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import perceptron_nlp as pn
from benchmarks.trust import agreement, samples
from benchmarks.trust.children import ROOT, call
from benchmarks.trust.damaging import mutate, resign, taken_apart
from perceptron_nlp.features.templatefile import parse_templates

CASES = ROOT / "tests" / "unit" / "trust" / "cases"
FINDINGS = Path("out") / "fuzz"
BATCH = 200
SECONDS_FOR_ONE = 30
_PIECES = (
    b"\t",
    b"\n",
    b"\r",
    b"\n\n",
    b" ",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"-",
    b".",
    b"#",
    b"/",
    b"_",
    b"1-2",
    b"0",
    b"-DOCSTART-",
    b"# global.columns =",
    "\u2028".encode(),
    "\u00a0".encode(),
    b"\xed\xa0\x80",
    b"\x1f\x8b",
    b"BZh",
    b"9" * 400,
    b"don't ",
    b"a\xcc\x81" * 60,
)
_PROSE = (
    b"I don't know.  You can't say that it isn't! He'd go, wouldn't he?\r\n\r\n"
    b"Zo\xc3\xab paid $9.50 (or 3 000 \xd8\xaf) \xf0\x9f\x98\x80 \xe4\xb8\xad\xe6\x96\x87.\n" * 3
)


def mix(data: bytes, chance: random.Random) -> bytes:
    """A text with a few changes: bytes, pieces that formats give a meaning, lines moved about."""
    for _ in range(chance.randrange(1, 5)):
        kind = chance.randrange(4)
        at = chance.randrange(len(data) + 1)
        if kind == 0 and data:
            data = mutate(data, chance)
        elif kind == 1:
            data = data[:at] + chance.choice(_PIECES) + data[at:]
        elif kind == 2:
            lines = data.split(b"\n")
            lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))
            data = b"\n".join(lines)
        else:
            data = data[:at] + data[at + chance.randrange(40) :]
    return data


# ---- targets: what is done with the bytes; seeds; how they are changed ----


def read_text(data: bytes, format: str) -> None:
    """Read, tag and write back."""
    corpus = samples.opened(data, format)
    sentences = list(corpus)
    back = "".join(corpus.rewrite(sentence, {}) for sentence in sentences) + corpus.tail
    if (
        corpus.format != "text"
        and not data.startswith((b"\x1f\x8b", b"BZh"))
        and back.encode() != data
    ):
        raise AssertionError("written back otherwise")
    labels = _tagger().tag_sents([list(sentence) for sentence in sentences])
    if list(map(len, labels)) != list(map(len, sentences)):
        raise AssertionError("labels do not fit the words")


def read_model(data: bytes) -> None:
    """Load, tag, keep labels, and write again."""
    tagger = pn.Tagger.from_bytes(data)
    for labels in tagger.tag(["The", "old", "x"], columns=tagger.columns).values():
        if len(labels) != 3:
            raise AssertionError("labels do not fit the words")
    kept = tagger.tag(["The", "old", "man"], keep=[None, "?", tagger.labels[-1]])
    if kept[1:] != ["?", tagger.labels[-1]]:
        raise AssertionError("labels are not kept")
    labels = tagger.tag_sents([["The", "old", "man", "the", "boats", "."], [], ["x" * 300]])
    if [len(tags) for tags in labels] != [6, 0, 1] or not set(labels[0]) <= set(tagger.labels):
        raise AssertionError("labels do not fit the words")
    again = pn.Tagger.from_bytes(tagger.to_bytes())
    if again.tag(["The", "old"]) != tagger.tag(["The", "old"]):
        raise AssertionError("written and read again, it tags otherwise")
    text = "Don't sink!  Du bois,\n\nthe 9\u0301 cats\ud800 I can't " + "x" * 300
    sentences = tagger.tag_text(text)
    if any(
        text[token.start : token.end] != token.form for one in sentences for token in one.tokens
    ):
        raise AssertionError("tokens are not where they say")
    filler = tagger.labelers.text_filler()
    if filler is not None:
        corpus = pn.open_corpus(io.BytesIO(text.encode("utf-8", "replace")), format="text")
        list(pn.open_corpus(io.BytesIO(b"".join(filler.texts(corpus, int))), format="conllu"))


def read_templates(data: bytes) -> None:
    """Parse a list, write it, and parse it again."""
    parsed = parse_templates(data.decode("utf-8", "replace"))
    if parse_templates("\n".join(map(str, parsed))) != parsed:
        raise AssertionError("written and parsed again, the templates are others")


def call_api(data: bytes) -> None:
    """Train and tag with what JSON can say: words, labels and options of any kind."""
    try:
        given = json.loads(data)
    except ValueError:
        return
    if not isinstance(given, dict):
        given = {"train": given}
    options = given.get("options")
    small = {"epochs": 1, "templates": "fast", "beam": 1}
    train = given.get("train")
    # Paths would be read: only sentences are of interest here.
    if isinstance(train, str) or (
        isinstance(train, list) and any(isinstance(item, str) for item in train)
    ):
        return
    if isinstance(options, dict):
        small |= {
            name: value
            for name, value in options.items()
            if name not in ("epochs", "runs", "table_bits", "checkpoint", "dev", "train")
        }
    tagger = pn.train(train, **small)
    tagger.tag(given.get("tag", ["a"]))


_DESCRIBED = ("model", "more", "segmentation", "agreement", "packed")


def resigned(data: bytes, chance: random.Random) -> bytes:
    """A model with something wrong under a checksum that is right."""
    header, arrays = taken_apart(data)
    kind = chance.randrange(4)
    if kind == 0:
        changed = bytearray(arrays)
        for _ in range(chance.randrange(1, 9)):
            changed[chance.randrange(len(changed))] = chance.choice([0, 1, 127, 128, 255])
        return resign(header, bytes(changed))
    metadata = header["__metadata__"]
    which = chance.choice([name for name in _DESCRIBED if name in metadata])
    described = json.loads(metadata[which])
    if kind == 1:
        changing = chance.choice(described)["model"] if which == "more" else described
        while True:
            name = chance.choice(range(len(changing)) if which == "agreement" else sorted(changing))
            if not isinstance(changing[name], dict) or chance.random() < 0.3:
                break
            changing = changing[name] or {"": None}
        changing[name] = _other(changing[name], chance)
        metadata[which] = json.dumps(described)
    elif kind == 2:
        name = chance.choice(sorted(name for name in header if name != "__metadata__"))
        part = chance.choice(["dtype", "shape", "data_offsets"])
        header[name][part] = _other(header[name][part], chance)
    else:
        metadata[which] = mix(metadata[which].encode(), chance).decode("utf-8", "replace")
    return resign(header, arrays)


def _other(value: Any, chance: random.Random) -> Any:
    """Another value: near by, of another type, or out of all bounds."""
    if isinstance(value, list) and value and chance.random() < 0.7:
        at = chance.randrange(len(value))
        return [*value[:at], _other(value[at], chance), *value[at + 1 :]]
    if isinstance(value, int) and chance.random() < 0.5:
        return value + chance.choice([-1, 1, 2**31, -(2**63)])
    return chance.choice(
        [
            None,
            True,
            0,
            -1,
            1,
            30,
            64,
            65,
            2**31,
            2**63,
            1e308,
            -1.0,
            0.5,
            "",
            "x",
            "io",
            "bio",
            "joint",
            [],
            {},
            [None],
            "word[0]",
            ["word[0]"],
            "F32",
        ]
    )


def api_calls(data: bytes, chance: random.Random) -> bytes:
    """JSON of sentences and options, with one value replaced."""
    given = json.loads(data)
    name = chance.choice(["train", "options", "tag"])
    if name == "options":
        option = chance.choice(sorted(pn.TrainingOptions.__dataclass_fields__))
        given["options"] = {
            option: _other(chance.choice([1, "perceptron", None, [3, 0.9]]), chance)
        }
    else:
        given[name] = _other(given[name], chance)
    return json.dumps(given).encode()


Target = tuple[
    Callable[[bytes], None], Callable[[], list[bytes]], Callable[[bytes, random.Random], bytes]
]


def _corpora(*suffixes: str) -> Callable[[], list[bytes]]:
    def seeds() -> list[bytes]:
        folder = ROOT / "tests" / "corpora"
        found = [path.read_bytes() for path in sorted(folder.glob("*")) if path.suffix in suffixes]
        return [*found, samples.DEV.read_bytes()[:3000]]

    return seeds


TARGETS: dict[str, Target] = {
    "conllu": (lambda data: read_text(data, "conllu"), _corpora(".conllu"), mix),
    "columns": (lambda data: read_text(data, "columns"), _corpora(".columns"), mix),
    "tagged": (lambda data: read_text(data, "tagged"), _corpora(".tagged"), mix),
    "text": (lambda data: read_text(data, "text"), _corpora(".text"), mix),
    "auto": (
        lambda data: read_text(data, "auto"),
        _corpora(".conllu", ".conllup", ".columns", ".tagged", ".text"),
        mix,
    ),
    "model": (read_model, lambda: [samples.small_model(), _tiny()], mutate),
    "signed": (
        read_model,
        lambda: [_tiny(), _tiny(table_bits=5), _tiny(beam=3), _tiny("upos,xpos"), *_wholes()],
        resigned,
    ),
    "filling": (agreement.fill_as_bytes, _corpora(".conllu"), mix),
    "numbering": (agreement.number, _corpora(".conllu"), mix),
    "running": (agreement.cut_text, _corpora(".text"), mix),
    "written": (agreement.write_text, lambda: [_PROSE, *_corpora(".text")()], mix),
    "ranges": (agreement.learn_all, lambda: [agreement.with_ranges()], mix),
    "buffers": (agreement.buffers, _corpora(".text"), mix),
    "explaining": (agreement.explain, _corpora(".text"), mix),
    "templates": (
        read_templates,
        lambda: [
            path.read_bytes()
            for path in sorted((ROOT / "perceptron_nlp" / "features" / "presets").glob("*.t*"))
        ],
        mix,
    ),
    "api": (
        call_api,
        lambda: [
            b'{"train": [[["a", "X"], ["b", "Y"]], [["b", "X"]]], "options": {}, "tag": ["a", "c"]}'
        ],
        api_calls,
    ),
}
_MODELS: dict[str, pn.Tagger] = {}


def _tagger() -> pn.Tagger:
    if not _MODELS:
        _MODELS["small"] = pn.Tagger.from_bytes(samples.small_model())
    return _MODELS["small"]


def _tiny(column: str = "upos", **options: Any) -> bytes:
    sentences = list(pn.open_corpus(samples.TRAIN))[:20]
    return pn.train(sentences, column=column, epochs=1, templates="fast", **options).to_bytes()


def _wholes() -> list[bytes]:
    """A model that cuts text, packed and plain."""
    whole = agreement.whole_model()
    return [whole, pn.Tagger(pn.Tagger.from_bytes(whole).model.replace(packed=False)).to_bytes()]


def handle(name: str, data: bytes) -> str:
    """Hand an input to its target; what went wrong, or nothing."""
    try:
        TARGETS[name][0](data)
    except pn.PerceptronNLPError:
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def batch(name: str, seed: int, first: int, count: int) -> list[tuple[int, str]]:
    """Inputs number `first` and on of a target; runs in a child. (number, what went wrong)."""
    seeds = _seeds(name)
    found = []
    for number in range(first, first + count):
        data = _input(name, seeds, seed, number)
        signal.alarm(SECONDS_FOR_ONE)
        said = handle(name, data)
        signal.alarm(0)
        if said:
            found.append((number, said))
    return found


def _seeds(name: str) -> list[bytes]:
    kept = [path.read_bytes() for path in sorted(CASES.glob(f"{name}-*"))]
    return TARGETS[name][1]() + (kept if TARGETS[name][2] is mix else [])


def _input(name: str, seeds: list[bytes], seed: int, number: int) -> bytes:
    chance = random.Random(f"{name} {seed} {number}")
    return TARGETS[name][2](chance.choice(seeds), chance)


def _findings(name: str, seed: int, first: int) -> Iterator[tuple[bytes, str]]:
    child = call(
        "benchmarks.trust.fuzz:batch", name, seed, first, BATCH, timeout=BATCH * SECONDS_FOR_ONE
    )
    seeds = _seeds(name)
    if child.result is not None:
        for number, said in child.result:
            yield _input(name, seeds, seed, number), said
        return
    # A crash or a hang: find the input by trying each by itself.
    for number in range(first, first + BATCH):
        one = call(
            "benchmarks.trust.fuzz:batch", name, seed, number, 1, timeout=2 * SECONDS_FOR_ONE
        )
        if one.result is None:
            yield _input(name, seeds, seed, number), one.fate


def main() -> int:
    """Fuzz for some time; 1 where something was found."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trust.fuzz")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    chosen = parser.parse_args()
    names = chosen.targets or list(TARGETS)
    if unknown := set(names) - set(TARGETS):
        parser.error(f"there is no target {min(unknown)}; there are {', '.join(TARGETS)}")
    end = time.monotonic() + chosen.seconds
    tried = dict.fromkeys(names, 0)
    kinds: set[str] = set()
    while time.monotonic() < end:
        for name in names:
            for data, said in _findings(name, chosen.seed, tried[name]):
                # One file for each kind of failure.
                kind = f"{name}: {said[:60]}"
                if kind not in kinds:
                    kinds.add(kind)
                    print(f"{_keep(name, data)}: {said}", flush=True)
            tried[name] += BATCH
    total = ", ".join(f"{count:,} of {name}" for name, count in tried.items())
    print(f"seed {chosen.seed}: {total}; {len(kinds)} findings")
    return 1 if kinds else 0


def _keep(name: str, data: bytes) -> Path:
    FINDINGS.mkdir(parents=True, exist_ok=True)
    path = FINDINGS / f"{name}-{hashlib.sha256(data).hexdigest()[:12]}"
    path.write_bytes(data)
    return path


if __name__ == "__main__":
    sys.exit(main())
