"""What is in a model: worth, features, layout, collisions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from oracles.feature_keys import template_keys

import perceptron_nlp as pn
from perceptron_nlp.analysis.templates import FeatureSearch

Small = list[tuple[list[str], list[str]]]
TEMPLATES = [
    "lower[0]",
    "lower[-1]",
    "lower.suffix2[0] lower[1]",
    "lower.ngrams2-3[0]",
    "bias",
    "first shape[0]",
    "tag[-1]",
    "tag[-1] tag[-2]",
    "last",
    "flags[2]",
]


@pytest.fixture(scope="module")
def model(small: Small) -> pn.Tagger:
    return pn.train(small, epochs=3, templates=TEMPLATES)


def test_what_templates_take_adds_up_to_the_model(model: pn.Tagger, small: Small) -> None:
    found = pn.inspect(model).columns[0]
    weights = model.model.weights
    assert sum(one.rows or 0 for one in found.templates) == weights.n_rows
    assert sum(one.weights or 0 for one in found.templates) == weights.n_cells
    total = np.abs(weights.weights.astype(np.int64)).sum() / weights.scale
    assert sum(one.weight_sum or 0 for one in found.templates) == pytest.approx(total)
    layout = {part.name: part for part in pn.inspect(model).layout}
    taken = sum(layout[f"0.{name}"].bytes for name in ("keys", "counts", "labels", "weights"))
    assert sum(one.bytes or 0 for one in found.templates) == taken
    assert all(one.accuracy_lost is None for one in found.templates)


def test_the_layout_covers_the_file_without_a_gap(model: pn.Tagger, tmp_path: Path) -> None:
    path = tmp_path / "a.model"
    model.save(path)
    found = pn.inspect(path)
    at = 0
    for part in found.layout:
        assert part.begin == at
        at += part.bytes
    assert at == path.stat().st_size == found.bytes == found.to_dict()["bytes"]
    assert pn.inspect(model).layout == found.layout


def scores_without(tagger: pn.Tagger, number: int, small: Small) -> float:
    """Accuracy where the oracle adds up weights of all templates but one."""
    model = tagger.model
    weights, right, total = model.weights, 0, 0
    for words, gold in small:
        past: list[str] = []
        order = range(len(words) - 1, -1, -1) if model.right_to_left else range(len(words))
        for i in order:
            scores = np.zeros(len(model.tags), np.int64)
            for group, template in enumerate(model.templates):
                first, last = weights.group_starts[group : group + 2]
                keys = template_keys(template, {"form": words}, i, past) if group != number else []
                for key in keys:
                    row = first + int(np.searchsorted(weights.keys[first:last], np.uint64(key)))
                    if row < last and weights.keys[row] == key:
                        cells = slice(weights.starts[row], weights.starts[row + 1])
                        scores[weights.labels[cells]] += weights.weights[cells]
            past.insert(0, model.tags.label_of(int(scores.argmax())))
            right += past[0] == gold[i]
            total += 1
    return right / total


def test_what_is_lost_without_a_template_is_what_an_oracle_loses(
    model: pn.Tagger, small: Small
) -> None:
    found = pn.inspect(model, dev=small).columns[0]
    assert found.dev_accuracy == model.evaluate(small).accuracy
    for number, one in enumerate(found.templates):
        assert one.accuracy_lost == pytest.approx(
            found.dev_accuracy - scores_without(model, number, small)
        )


def test_features_found_are_those_of_the_oracle(model: pn.Tagger, small: Small) -> None:
    sentences = [pn.Sentence(words) for words, _ in small]
    search = FeatureSearch(model.model, sentences)
    weights = model.model.weights
    wanted: Counter[tuple[int, int]] = Counter()
    for sentence in sentences:
        labels = model.tag(sentence)
        # A mark without weights is seen as one that has some.
        seen = [*map(model._labeler.decoder.seen_as, sentence.words)]
        for i in range(len(sentence)):
            past = labels[i + 1 :] if model.model.right_to_left else labels[:i][::-1]
            for number, template in enumerate(model.model.templates):
                wanted.update(
                    (number, key) for key in template_keys(template, {"form": seen}, i, past)
                )
    there = {
        (int(group), int(key)) for group, key in zip(weights.groups(), weights.keys, strict=True)
    }
    coverage = search.coverage()
    assert coverage.features == len(wanted)
    assert coverage.with_weights == len(there & {*wanted})
    assert coverage.sharing == 0
    found = search.heaviest("NOUN", 10_000)
    assert sum(one.count for one in found) <= wanted.total()
    noun = model.model.tags.id_of("NOUN")
    assert len(found) == sum(
        (group, key) in wanted
        for group, key, row in zip(
            weights.groups().tolist(), weights.keys.tolist(), range(weights.n_rows), strict=True
        )
        if noun in weights.labels[weights.starts[row] : weights.starts[row + 1]]
    )
    assert [abs(one.weight) for one in found] == sorted(
        (abs(one.weight) for one in found), reverse=True
    )


def test_running_text_is_cut_and_gets_the_columns_that_later_ones_look_at(
    pipeline: pn.Tagger, tmp_path: Path
) -> None:
    path = tmp_path / "text.txt"
    path.write_text("Il va au bois.", "utf-8")
    upos, lemma = pn.inspect(pipeline, text=path, label="ADP", top=1000).columns
    # "au" is two words where the model has learned to cut, and one in English.
    assert {"à", "bois"} <= {feature.word for feature in upos.heaviest}
    assert lemma.coverage is not None and lemma.coverage.with_weights > 0


def test_a_text_without_sentences_has_no_features(model: pn.Tagger) -> None:
    coverage = pn.inspect(model, text=[]).columns[0].coverage
    assert coverage is not None and coverage.features == coverage.with_weights == 0


def test_the_heaviest_features_of_a_label_speak_for_it(model: pn.Tagger, small: Small) -> None:
    found = pn.inspect(model, text=small, label="NOUN", top=5)
    column = found.columns[0]
    assert column.label == "NOUN" and len(column.heaviest) == 5
    assert {one.template for one in column.heaviest} <= {
        str(pn.Template.parse(text)) for text in TEMPLATES
    }
    assert found.to_dict()["heaviest"][0]["weight"] == column.heaviest[0].weight


def test_features_are_shown_with_what_they_saw(model: pn.Tagger, small: Small) -> None:
    search = FeatureSearch(model.model, [pn.Sentence(words) for words, _ in small])
    for one in search.heaviest("VERB", 10_000):
        for atom, text in zip(one.template.split(), one.text.split(), strict=True):
            name, _, saw = text.partition("=")
            assert name == atom and saw
            if atom == "lower[0]":
                assert saw == one.word.lower()
            elif atom == "lower.suffix2[0]":
                assert saw == one.word.lower()[-2:]
            elif atom == "lower.ngrams2-3[0]":
                assert saw in f"^{one.word.lower()}$"
            elif atom == "lower[-1]":
                assert saw == (one.before[-1].lower() if one.before else "<s>")
            elif atom.startswith("tag"):
                assert saw in {*model.labels, "<none>"}


def test_rows_of_a_fixed_table_belong_to_no_template(small: Small) -> None:
    tagger = pn.train(small, epochs=3, templates=TEMPLATES, table_bits=8)
    found = pn.inspect(tagger, dev=small).columns[0]
    assert all(one.rows is one.bytes is one.weight_sum is None for one in found.templates)
    assert all(one.accuracy_lost is not None for one in found.templates)
    assert found.coverage is not None and 0 < found.coverage.sharing <= found.coverage.with_weights
    assert found.collision_rate == tagger.model.weights.n_rows / 256


def test_a_model_of_one_template_loses_all_without_it(small: Small) -> None:
    for bits in (None, 8):
        tagger = pn.train(small, epochs=3, templates=["lower[0]"], table_bits=bits)
        found = pn.inspect(tagger, dev=small).columns[0]
        first = sum(label == tagger.labels[0] for _, labels in small for label in labels)
        share = first / sum(len(labels) for _, labels in small)
        assert found.dev_accuracy is not None
        assert found.templates[0].accuracy_lost == pytest.approx(found.dev_accuracy - share)


def test_features_of_labels_in_parts_and_two_passes_are_found(small: Small) -> None:
    feats = {"NOUN": "Case=Nom|Number=Sing", "VERB": "Mood=Ind|Number=Sing"}
    text = [
        pn.Sentence(words, {"upos": labels, "feats": [feats.get(x, "_") for x in labels]})
        for words, labels in small
    ]
    tagger = pn.train(text, column="feats", epochs=3, two_passes=True)
    found = pn.inspect(tagger, dev=text, label="NOUN|Case=Nom|Number=Sing").columns[0]
    assert found.heaviest and found.first_templates
    assert sum(one.rows or 0 for one in found.templates) == tagger.model.weights.n_rows
    assert found.coverage is not None
    assert found.coverage.with_weights == pytest.approx(tagger.model.weights.n_rows, rel=0.2)


def test_each_of_several_columns_is_looked_at(small: Small) -> None:
    text = [
        pn.Sentence(words, {"upos": labels, "xpos": [x[:1] for x in labels]})
        for words, labels in small
    ]
    tagger = pn.train(text, column=["upos", "xpos"], epochs=2)
    found = pn.inspect(tagger, dev=text, label="NOUN")
    assert [column.model.column for column in found.columns] == ["upos", "xpos"]
    assert [column.label for column in found.columns] == ["NOUN", None]
    assert [one["column"] for one in found.to_dict()["sections"]] == ["upos", "xpos"]


def own(tokens: object, i: int) -> list[str]:
    return ["one"]


def test_what_cannot_be_looked_at_is_said(model: pn.Tagger, small: Small, tmp_path: Path) -> None:
    with pytest.raises(pn.ArgumentError, match="label: a model holds only hashes"):
        pn.inspect(model, label="NOUN")
    with pytest.raises(pn.ArgumentError, match="label: the model has no label 'NOUNS'"):
        pn.inspect(model, label="NOUNS", text=small)
    with pytest.raises(pn.ArgumentError, match="top"):
        pn.inspect(model, top=0)
    function = pn.train(small, features=own, epochs=2)
    assert "column:features.word.pieces[0]" in (
        template.template for template in pn.inspect(function).columns[0].templates
    )
    assert pn.inspect(function, dev=small).columns[0].dev_accuracy is not None
    function.save(tmp_path / "function.model")
    with pytest.raises(pn.ModelError, match="give it to load"):
        pn.inspect(tmp_path / "function.model", dev=small)
    (tmp_path / "bad.model").write_bytes(b"nothing")
    with pytest.raises(pn.ModelError, match=r"bad\.model"):
        pn.inspect(tmp_path / "bad.model")
