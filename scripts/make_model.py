"""Train the model of a language from a Universal Dependencies treebank: text, tags and lemmas.

    python scripts/make_model.py TREEBANK [-o MODEL] [--raw FILE …] [--text FILE …] [--plain N]

TREEBANK is a folder with the files ``*-ud-train.conllu``, ``*-ud-dev.conllu`` and
``*-ud-test.conllu``. The model segments running text and fills UPOS, XPOS, FEATS and LEMMA, as far
as the treebank does. What is left open is chosen by the dev part, with models of the train part
alone. Then both parts together are learned from, and the test part tells how good the model is. Its
confidences are those of the models of the train part, which have not seen the dev part: a model
that cannot be calibrated is not written. The same texts and version of the library make the same
bytes. Beside the model is its card, such as make_models.py writes.

With raw text, UPOS and XPOS are learned from what slower taggers, which have clusters of it, say of
it, too: ``--raw`` names tokenized text, a sentence a line, and ``--text`` running text. What words
settle is counted there as well, as the model itself labels it. ``--plain`` adds so many short
sentences made of the treebank's clauses (plain_sentences.py). Running text is also cut with the
abbreviations that data/abbreviations lists for the language, as by make_models.py. Segmentation is
also learned from sentences of more_text.py, which have the full stops of other scripts, since the
bundled model cuts text for models that never learned to.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from make_models import about, in_percent, listed_for, write_card
from more_text import with_clitics, with_other_stops
from plain_sentences import plain_sentences

import perceptron_nlp as pn
from perceptron_nlp.features.templatefile import preset
from perceptron_nlp.tagger.model.model import TaggerModel, joined
from perceptron_nlp.tagger.train.calibrate import RECORD as CALIBRATED
from perceptron_nlp.tagger.train.compress import compress_model
from perceptron_nlp.tagger.train.otherwise import with_addresses
from perceptron_nlp.tagger.train.pipeline import with_lead
from perceptron_nlp.tagger.train.settling import with_settled

# Bytes for each column: loading takes as long as there are weights, so all of them stay small.
SIZES = {"upos": 1_100_000, "xpos": 900_000, "feats": 1_050_000, "lemma": 1_100_000}
# Segmentation does with less: of the sentences of the dev part of English-EWT .7 % are other ones
# than whole, where 180 kB in 31 steps change 1.6 %.
CUT_SIZE, CUT_STEPS = 400_000, 127
TAGS = ("upos", "xpos", "feats")
# Columns that are learned from raw text, too, and the seeds and directions of those who teach them.
TAUGHT = ("upos", "xpos")
TEACHERS = ((1, False), (2, True))
# Of a column that is taught, of others, and of segmentation: with one run a seed more or less made
# 105 to 139 sentence ends too many behind abbreviations.
TAUGHT_RUNS, RUNS, CUT_RUNS = 4, 2, 4
# Whether the sentence begins close by: where little follows either, a word that is mostly a noun
# may be the only verb there can be. What teachers see in addition costs a third of their speed.
BEGINNINGS = ("lower[-2] shape4[-3]",)
MORE_BEGINNINGS = ("tag[-1] lower[-2] shape4[-3]", "tag[-1] lower[-1]")
# What teachers see of raw text.
EVIDENCE = ("clusters100", "clusters800", "induced")
STUDENT = [*map(str, preset("default")), *BEGINNINGS]
TEACHER = [*map(str, preset("default", EVIDENCE)), *BEGINNINGS, *MORE_BEGINNINGS]
# A part of the plain sentences is enough for FEATS, whose training is slow.
PLAIN_FEATS = 0.5
# Plain sentences of the dev part, which tell what packing takes away of what others taught.
PLAIN_DEV = 0.15


@dataclass
class Texts:
    """What is learned from beside the treebank.

    Attributes
    ----------
    raw : tokenized sentences
    running : paths of running text, which is cut by what the train part teaches
    n_plain : how many plain sentences are made
    teachers : by column, those who label raw text; they learned from the train part and from plain
        sentences
    """

    raw: list[list[str]]
    running: list[Path]
    n_plain: int
    teachers: dict[str, list[pn.Tagger]] = field(default_factory=dict)


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
    parser.add_argument("--raw", metavar="FILE", nargs="+", type=Path, default=[])
    parser.add_argument("--text", metavar="FILE", nargs="+", type=Path, default=[])
    parser.add_argument("--plain", metavar="N", type=int, default=0)
    chosen = parser.parse_args()
    train, dev, test = (part_of(chosen.treebank, name) for name in ("train", "dev", "test"))
    output = chosen.output or f"out/{train.name.partition('_')[0]}.model"
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    raw = [line.split() for path in chosen.raw for line in path.read_text("utf-8").split("\n")]
    texts = Texts([sentence for sentence in raw if sentence], chosen.text, chosen.plain)
    held_out = list(pn.read_conllu(dev))
    sentences = list(pn.read_conllu(train))
    n_plain = round(PLAIN_DEV * texts.n_plain)
    tried = compressed_by_dev(learned(sentences, texts), sentences, texts.raw, held_out, n_plain)
    both = [*sentences, *held_out]
    whole = compressed_like(learned(both, texts), tried)
    tagger = pn.Tagger(with_settled(whole, [*both, *labeled(whole, texts.raw)], None, tried))
    tagger = tagger.with_cutting(**listed_for(train.name.partition("_")[0]))
    tagger.save(output)
    print(f"{output}: {Path(output).stat().st_size:,} bytes")
    gold = tagger.evaluate_columns(test, calibration=True)
    text = tagger.evaluate_text(test)
    card = about(Path(output).stem, chosen.treebank, Path(output), tagger)
    card |= {"words": sum(map(len, sentences)), "small": in_percent(gold, text)}
    write_card(Path(output), {**card, "command": "make model"})
    for name, result in gold.items():
        assert result.calibration is not None
        print(
            f"{test.name}: {name} {100 * result.accuracy:.2f} % of {result.tokens:,} words,"
            f" calibration error {100 * result.calibration.ece:.2f} %"
        )
    told = ", ".join(f"{name} {100 * one.f1:.2f}" for name, one in text.items())
    print(f"{test.name}, from text (F1): {told}")


def part_of(treebank: Path, name: str) -> Path:
    """The file of a part of a treebank; leaves the program if there is not one."""
    found = sorted(treebank.glob(f"*-ud-{name}.conllu"))
    if len(found) != 1:
        sys.exit(f"{treebank}: there are {len(found)} files *-ud-{name}.conllu; one is needed")
    return found[0]


def has_labels(sentences: Sequence[pn.Sentence], column: str) -> bool:
    """Does the column hold more than one label?"""
    return len({label for sentence in sentences for label in sentence.column(column)}) > 1


def learned(sentences: list[pn.Sentence], texts: Texts) -> TaggerModel:
    """The whole model of some sentences, as large as it comes."""
    tags = [name for name in TAGS if has_labels(sentences, name)]
    lemmas = has_labels(sentences, "lemma")
    if texts.running:
        texts.raw += cut(pn.train(sentences, column="text"), texts.running)
        texts.running = []
    plain = list(plain_sentences(sentences, texts.n_plain, seed=1)) if texts.n_plain else []
    shown = [*sentences, *with_addresses(sentences)]
    parts = [column_model(name, shown, texts, plain) for name in tags]
    if lemmas:
        parts.append(pn.train(shown, column="lemma").model)
    model = joined(parts)
    model = model.agreeing(
        {name: [label for s in sentences for label in s.column(name)] for name in tags}
    )
    more = [*with_other_stops(sentences), *with_clitics(sentences)]
    cutting = pn.train([*sentences, *more], column="text", runs=CUT_RUNS).model
    return model.replace(segmentation=cutting.segmentation)


def cut(tagger: pn.Tagger, paths: list[Path]) -> list[list[str]]:
    """The words of running text."""
    return [
        [word for _, _, words in sentence for word in words]
        for path in paths
        for sentence in tagger.segmenter.sentences_of(path.read_text("utf-8"))
    ]


def column_model(
    column: str, sentences: list[pn.Sentence], texts: Texts, plain: list[pn.Sentence]
) -> TaggerModel:
    """The model of a column of tags."""
    if column not in TAUGHT:
        plain = plain[: round(PLAIN_FEATS * len(plain))]
    gold = [*sentences, *plain]
    if not texts.raw:
        return pn.train(gold, column=column, runs=RUNS).model
    if column not in TAUGHT:
        return pn.train(gold, column=column, runs=RUNS, templates=STUDENT).model
    if column not in texts.teachers:
        texts.teachers[column] = [
            pn.train(
                gold,
                column=column,
                preset="accurate",
                seed=seed,
                right_to_left=backwards,
                raw=texts.raw,
                templates=TEACHER,
            )
            for seed, backwards in TEACHERS
        ]
    taught = pn.distill(
        texts.teachers[column],
        raw=texts.raw,
        train=gold,
        column=column,
        runs=TAUGHT_RUNS,
        templates=STUDENT,
    )
    print(f"{column}: learned", flush=True)
    return taught.model


def labeled(model: TaggerModel, raw: list[list[str]]) -> list[pn.Sentence]:
    """Tokenized sentences with all that a model says of them."""
    columns = pn.Tagger(model).tag_sents(raw, columns=model.columns)
    return [
        pn.Sentence(words, dict(zip(columns, labels, strict=True)))
        for words, *labels in zip(raw, *columns.values(), strict=True)
    ]


def compressed_by_dev(
    model: TaggerModel,
    train: list[pn.Sentence],
    raw: list[list[str]],
    dev: list[pn.Sentence],
    n_plain: int,
) -> TaggerModel:
    """The model with each part in its size, and as sure as the dev part says."""
    parts = []
    plain = list(plain_sentences(dev, n_plain, seed=2)) if n_plain else []
    measured = [dev, plain] if plain else [dev]
    for part in parts_alone(model):
        score = None if part.feature_columns else partial(accuracies, measured)
        parts.append(fitted(part, score))
    whole = with_parts(model, parts)
    assert whole.segmentation is not None
    whole = whole.replace(segmentation=with_lead(whole.segmentation, dev))
    whole = with_settled(whole, [*train, *labeled(whole, raw)], dev)
    for name, result in pn.Tagger(whole).evaluate_columns(dev).items():
        print(f"{name}: {100 * result.accuracy:.2f} % of dev", flush=True)
    try:
        return pn.Tagger(whole).calibrate(dev).model
    except pn.ArgumentError as error:
        sys.exit(f"a model without calibration cannot be bundled: {error}")


def compressed_like(model: TaggerModel, tried: TaggerModel) -> TaggerModel:
    """The model in the form of one that dev chose, and with its calibration."""
    parts = []
    for part, like in zip(parts_alone(model), tried.parts_by_column, strict=True):
        made: Any = like.record.get("compressed")
        steps = () if made is None else (made["steps"],)
        small = fitted(part, calibrate=partial(as_sure_as, like), steps=steps)
        small = as_sure_as(like, small)
        parts.append(small.replace(record={**small.record, "learnt_from": "train and dev"}))
    whole = with_parts(model, parts)
    assert whole.segmentation is not None and tried.segmentation is not None
    return whole.replace(segmentation=whole.segmentation._replace(lead=tried.segmentation.lead))


def parts_alone(model: TaggerModel) -> list[TaggerModel]:
    """The model of each column, without what the first of them has for all: it has its own size."""
    return [part.replace(segmentation=None, agreement=None) for part in model.parts_by_column]


def fitted(part: TaggerModel, score: Any = None, **options: Any) -> TaggerModel:
    """The part in its size, or in the least above it that it can do with."""
    size = SIZES[part.column]
    while True:
        try:
            return compress_model(part, size, score, **options)
        except pn.ArgumentError:
            size += size // 5


def with_parts(model: TaggerModel, parts: Sequence[TaggerModel]) -> TaggerModel:
    """The model with other parts for its columns, and its segmentation in its size."""
    found = model.segmentation
    assert found is not None
    small = found._replace(cut=compress_model(found.cut, CUT_SIZE, steps=(CUT_STEPS,)))
    return joined(parts).replace(segmentation=small, agreement=model.agreement)


def accuracies(measured: list[list[pn.Sentence]], model: TaggerModel) -> dict[str, float]:
    """How much of some texts is right in the column of a model, each counted alike."""
    tagger = pn.Tagger(model)
    found = fmean(tagger.evaluate(sentences).accuracy for sentences in measured)
    return {tagger.column: found}


def as_sure_as(held_out: TaggerModel, model: TaggerModel) -> TaggerModel:
    """The model with the calibration of one of the same kind that was held out from some text."""
    told = {**held_out.record[CALIBRATED], "by": "dev, with a model of train alone"}
    return model.replace(
        calibration=held_out.calibration, record={**model.record, CALIBRATED: told}
    )


if __name__ == "__main__":
    main()
