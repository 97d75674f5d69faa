"""Train the model of a language from a Universal Dependencies treebank: UPOS, XPOS and FEATS.

    python scripts/make_model.py TREEBANK [-o MODEL]

TREEBANK is a folder with the files ``*-ud-train.conllu``, ``*-ud-dev.conllu`` and
``*-ud-test.conllu``. What is left open is chosen by the dev part, with models of the train part
alone. Then both parts together are learnt from, and the test part tells how good the model is. Its
confidences are those of the models of the train part, which have not seen the dev part: a model
that cannot be calibrated is not written. The same treebank and version of the library make the same
bytes.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp.tagger.confidence.calibrate import RECORD as CALIBRATED
from perceptron_nlp.tagger.model.compress import compress_model
from perceptron_nlp.tagger.model.model import joined

# Bytes for each column: loading takes as long as there are weights, so all of them stay small.
SIZES = {"upos": 430_000, "xpos": 420_000, "feats": 700_000}
# Greedy taggers; parts of speech are sums of runs, which loses less when weights are made coarse.
RUNS = {"upos": 4, "xpos": 2, "feats": 1}
# From so many words on, what is known to suit: pairs of endings, but not of words.
MUCH_TEXT = 100_000
ENDINGS = (
    "word.suffix3[-1] word.suffix3[0]",
    "word.suffix3[0] word.suffix3[1]",
    "shape4[0] shape4[1]",
)


def main() -> None:
    """Choose, train, write, evaluate."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("treebank", metavar="TREEBANK", type=Path)
    parser.add_argument(
        "-o", "--output", metavar="MODEL", help="the file to write (default: out/LANGUAGE.model)"
    )
    chosen = parser.parse_args()
    train, dev, test = (part_of(chosen.treebank, name) for name in ("train", "dev", "test"))
    output = chosen.output or f"out/{train.name.partition('_')[0]}.model"
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    sentences = {path: list(pn.read_conllu(path)) for path in (train, dev)}
    columns = [name for name in SIZES if has_labels(sentences[train], name)]
    parts = [column_model(name, sentences[train], sentences[dev]) for name in columns]
    tagger = pn.Tagger(joined(parts))
    tagger.save(output)
    print(f"{output}: {Path(output).stat().st_size:,} bytes")
    for name, result in tagger.evaluate_columns(test, calibration=True).items():
        assert result.calibration is not None
        print(
            f"{test.name}: {name} {100 * result.accuracy:.2f} % of {result.tokens:,} words,"
            f" calibration error {100 * result.calibration.ece:.2f} %"
        )


def part_of(treebank: Path, name: str) -> Path:
    """The file of a part of a treebank; leaves the program if there is not one."""
    found = sorted(treebank.glob(f"*-ud-{name}.conllu"))
    if len(found) != 1:
        sys.exit(f"{treebank}: there are {len(found)} files *-ud-{name}.conllu; one is needed")
    return found[0]


def has_labels(sentences: list[pn.Sentence], column: str) -> bool:
    """Does the column hold more than one label?"""
    return len({label for sentence in sentences for label in sentence.column(column)}) > 1


def column_model(column: str, train: list[pn.Sentence], dev: list[pn.Sentence]) -> pn.TaggerModel:
    """The model of a column, learnt from both parts after its form was chosen by dev."""
    options: dict[str, Any] = {"column": column, "runs": RUNS[column]}
    if sum(map(len, train)) >= MUCH_TEXT:
        fast = [str(template) for template in pn.preset("fast")]
        options["templates"] = fast if column == "feats" else [*fast, *ENDINGS]
    tried = pn.train(train, **options)
    small = tried.compress(SIZES[column], dev=dev)
    try:
        small = small.calibrate(dev)
    except pn.ArgumentError as error:
        sys.exit(f"{column}: a model without calibration cannot be bundled: {error}")
    print(
        f"{column}: {100 * tried.evaluate(dev).accuracy:.2f} % of dev,"
        f" {100 * small.evaluate(dev).accuracy:.2f} % in {len(small.to_bytes()):,} bytes",
        flush=True,
    )
    made = small.model.record.get("compressed")
    whole = pn.train([*train, *dev], **options).model
    if made is not None:
        whole = compress_model(
            whole, SIZES[column], calibrate=partial(as_sure_as, small.model), steps=(made["steps"],)
        )
    whole = as_sure_as(small.model, whole)
    return replace(whole, record={**whole.record, "learnt_from": "train and dev"})


def as_sure_as(held_out: pn.TaggerModel, model: pn.TaggerModel) -> pn.TaggerModel:
    """The model with the calibration of one of the same kind that was held out from some text."""
    told = {**held_out.record[CALIBRATED], "by": "dev, with a model of train alone"}
    return replace(
        model, calibration=held_out.calibration, record={**model.record, CALIBRATED: told}
    )


if __name__ == "__main__":
    main()
