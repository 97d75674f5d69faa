"""The English sample corpus in `data/` is well formed, consistently tagged and cut as documented.

The files are parsed here, in a few lines, so that a fault of the package's own reader cannot hide a
fault of the data. The tag inventories are written out in inventory.txt, not computed.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[3] / "data"
SPLITS = ("train", "dev", "test")
GENRES = ("fiction", "howto", "news", "question", "talk", "web")
BLOCK = 20
DEV_PLACES = {4, 11, 18}
TEST_PLACES = {7, 14, 0}


def inventory() -> Iterator[tuple[str, str, list[str]]]:
    """Of each line the section that it is in, the tag, and what goes with the tag."""
    section = ""
    for line in (Path(__file__).parent / "inventory.txt").read_text("utf-8").split("\n"):
        if line.startswith("== "):
            section = line[3:]
        elif line and not line.startswith("#"):
            tag, *others = line.split()
            yield section, tag, others


def features_of(section: str) -> dict[str, dict[str, list[str]]]:
    """The features of each tag, and the values that each may have."""
    return {
        tag: {name: values.split(",") for name, values in (one.split("=") for one in others)}
        for where, tag, others in inventory()
        if where == section
    }


XPOS_OF = {tag: others for where, tag, others in inventory() if where == "xpos of upos"}
FEATS_OF = features_of("feats of upos")
REQUIRED_FEATS = features_of("feats of xpos")
CHUNKS = {"ADJP", "ADVP", "NP", "PP", "PRT", "SBAR", "VP"}
ENTITIES = {"LOC", "MISC", "ORG", "PER"}


@dataclass(frozen=True)
class Sentence:
    split: str
    comments: dict[str, str]
    comment_lines: int
    rows: tuple[tuple[str, ...], ...]

    @property
    def name(self) -> str:
        return self.comments["sent_id"]

    @property
    def words(self) -> list[tuple[str, ...]]:
        return [row for row in self.rows if "-" not in row[0]]

    @property
    def ranges(self) -> list[tuple[str, ...]]:
        return [row for row in self.rows if "-" in row[0]]


@cache
def corpus() -> tuple[Sentence, ...]:
    """All sentences of the three CoNLL-U files, in the order of the files."""
    found = []
    for split in SPLITS:
        text = (DATA / f"english-{split}.conllu").read_bytes().decode("utf-8")
        assert text.endswith("\n\n") and "\r" not in text and "\n\n\n" not in text
        for block in text[:-2].split("\n\n"):
            lines = block.split("\n")
            notes = [line for line in lines if line.startswith("# ")]
            comments = dict(note[2:].split(" = ", 1) for note in notes)
            rows = tuple(tuple(line.split("\t")) for line in lines[len(notes) :])
            found.append(Sentence(split, comments, len(notes), rows))
    return tuple(found)


@cache
def column_sentences() -> tuple[tuple[tuple[str, ...], ...], ...]:
    """The sentences of the column file, each a tuple of (form, xpos, chunk, entity)."""
    text = (DATA / "english-chunks.columns").read_bytes().decode("utf-8")
    assert text.endswith("\n\n") and "\r" not in text and "\n\n\n" not in text
    blocks = text[:-2].split("\n\n")
    return tuple(tuple(tuple(row.split(" ")) for row in block.split("\n")) for block in blocks)


def every_word() -> list[tuple[str, tuple[str, ...]]]:
    return [(sentence.name, row) for sentence in corpus() for row in sentence.words]


def features(row: tuple[str, ...]) -> dict[str, str]:
    return {} if row[5] == "_" else dict(pair.split("=", 1) for pair in row[5].split("|"))


def forms(sentence: Sentence) -> tuple[str, ...]:
    return tuple(row[1] for row in sentence.words)


def test_there_are_at_least_400_sentences() -> None:
    assert len(corpus()) >= 400


def test_every_line_has_ten_filled_fields_without_stray_spaces() -> None:
    for sentence in corpus():
        for row in sentence.rows:
            assert len(row) == 10, (sentence.name, row)
            for field in row:
                assert field and field == field.strip() and " " not in field, (sentence.name, row)


def test_every_sentence_carries_an_id_a_text_and_a_genre_and_nothing_else() -> None:
    for sentence in corpus():
        assert list(sentence.comments) == ["sent_id", "text", "genre"], sentence.name
        assert sentence.comment_lines == 3, sentence.name
        assert sentence.comments["genre"] in GENRES, sentence.name
        assert re.fullmatch(sentence.comments["genre"] + r"-\d{3}", sentence.name), sentence.name


def test_sentence_ids_count_up_from_one_in_each_genre_without_gaps_or_repeats() -> None:
    for genre in GENRES:
        names = sorted(s.name for s in corpus() if s.comments["genre"] == genre)
        assert names == [f"{genre}-{n:03}" for n in range(1, len(names) + 1)]


def test_the_split_of_a_sentence_follows_from_its_number() -> None:
    for sentence in corpus():
        place = int(sentence.name.split("-")[1]) % BLOCK
        expected = "dev" if place in DEV_PLACES else "test" if place in TEST_PLACES else "train"
        assert sentence.split == expected, sentence.name


def test_sentences_stand_in_order_of_their_ids_in_each_file() -> None:
    for split in SPLITS:
        names = [sentence.name for sentence in corpus() if sentence.split == split]
        assert names == sorted(names)


def test_no_sentence_stands_in_two_splits_or_twice_in_one() -> None:
    plain = Counter(" ".join(re.findall(r"\w+", s.comments["text"].lower())) for s in corpus())
    assert [text for text, count in plain.items() if count > 1] == []


def test_every_genre_is_cut_about_70_15_15() -> None:
    for genre in GENRES:
        counts = Counter(s.split for s in corpus() if s.comments["genre"] == genre)
        total = sum(counts.values())
        for split, share in zip(SPLITS, (0.70, 0.15, 0.15), strict=True):
            assert abs(counts[split] / total - share) < 0.03, (genre, split)


def test_no_genre_has_less_than_a_tenth_of_the_sentences() -> None:
    counts = Counter(sentence.comments["genre"] for sentence in corpus())
    assert min(counts[genre] for genre in GENRES) >= len(corpus()) / 10


def test_sentences_differ_in_shape() -> None:
    shapes = Counter(tuple(row[3] for row in sentence.words) for sentence in corpus())
    sharing = sum(count for count in shapes.values() if count > 1)
    assert sharing <= len(corpus()) / 100


def test_sentences_begin_differently() -> None:
    openings = Counter(tuple(f.lower() for f in forms(sentence)[:3]) for sentence in corpus())
    assert max(openings.values()) <= 2


def test_word_ids_are_consecutive_from_one() -> None:
    for sentence in corpus():
        ids = [row[0] for row in sentence.words]
        assert ids == [str(n) for n in range(1, len(ids) + 1)], sentence.name


def test_ranges_stand_before_their_first_word_and_neither_overlap_nor_overrun() -> None:
    for sentence in corpus():
        last = 0
        for row, following in zip(sentence.rows, (*sentence.rows[1:], ("",)), strict=True):
            if "-" not in row[0]:
                continue
            first, end = (int(part) for part in row[0].split("-"))
            assert last < first < end <= len(sentence.words), (sentence.name, row[0])
            assert following[0] == str(first), (sentence.name, row[0])
            assert row[2:9] == ("_",) * 7, (sentence.name, row[0])
            last = end


def test_ranges_spell_out_as_their_words() -> None:
    for sentence in corpus():
        for row in sentence.ranges:
            first, end = (int(part) for part in row[0].split("-"))
            inside = sentence.words[first - 1 : end]
            assert "".join(word[1] for word in inside) == row[1], (sentence.name, row[1])
            assert {word[9] for word in inside} == {"_"}, (sentence.name, row[1])


def test_contractions_stand_under_a_range() -> None:
    clitics = {"n't", "'s", "'re", "'ve", "'ll", "'d", "'m", "na", "ta"}
    for sentence in corpus():
        covered: set[int] = set()
        for row in sentence.ranges:
            first, end = (int(part) for part in row[0].split("-"))
            covered.update(range(first, end + 1))
        for row in sentence.words:
            if row[1].lower() in clitics or row[4] == "POS":
                assert int(row[0]) in covered, (sentence.name, row[1])


def test_the_text_comment_is_the_words_with_their_spaces() -> None:
    for sentence in corpus():
        text, covered = "", 0
        for row in sentence.rows:
            if "-" in row[0]:
                covered = int(row[0].split("-")[1])
            elif int(row[0]) <= covered:
                continue
            text += row[1] + ("" if row[9] == "SpaceAfter=No" else " ")
        assert text.rstrip(" ") == sentence.comments["text"], sentence.name


def test_misc_holds_only_spaceafter() -> None:
    assert {row[9] for s in corpus() for row in s.rows} == {"_", "SpaceAfter=No"}


def test_heads_and_relations_are_left_empty() -> None:
    assert {row[6:9] for s in corpus() for row in s.rows} == {("_", "_", "_")}


def test_all_17_universal_tags_occur_in_training_and_no_other_tag_anywhere() -> None:
    used = {row[3] for _, row in every_word()}
    trained = {row[3] for s in corpus() if s.split == "train" for row in s.words}
    assert used == trained == set(XPOS_OF) == set(FEATS_OF)
    assert len(XPOS_OF) == 17


def test_fine_tags_fit_their_universal_tag() -> None:
    for name, row in every_word():
        assert row[4] in XPOS_OF[row[3]], (name, row[:5])


def test_features_and_values_are_allowed_for_their_universal_tag() -> None:
    for name, row in every_word():
        allowed = FEATS_OF[row[3]]
        for feature, value in features(row).items():
            assert value in allowed.get(feature, []), (name, row[:6])


def test_features_are_sorted_and_not_repeated() -> None:
    for name, row in every_word():
        if row[5] != "_":
            pairs = row[5].split("|")
            assert all(pair.count("=") == 1 for pair in pairs), (name, row[:6])
            assert pairs == sorted(pairs, key=str.lower), (name, row[:6])
            assert len(features(row)) == len(pairs), (name, row[:6])


def test_fine_tags_carry_the_features_that_they_imply() -> None:
    for name, row in every_word():
        for feature, values in REQUIRED_FEATS.get(row[4], {}).items():
            assert features(row).get(feature) in values, (name, row[:6])


def test_infinitives_imperatives_and_subjunctives_are_told_apart() -> None:
    for name, row in every_word():
        if row[4] == "VB":
            mood = features(row).get("Mood")
            expected = "Inf" if mood is None else "Fin"
            assert features(row)["VerbForm"] == expected and mood != "Ind", (name, row[:6])


def test_present_participles_have_a_tense_and_gerunds_have_none() -> None:
    for name, row in every_word():
        if row[4] == "VBG":
            pair = (features(row)["VerbForm"], features(row).get("Tense"))
            assert pair in {("Part", "Pres"), ("Ger", None)}, (name, row[:6])


def test_lemmas_keep_capitals_only_in_names_and_in_the_words_written_with_them() -> None:
    for name, row in every_word():
        form, lemma, xpos = row[1], row[2], row[4]
        if xpos in {"NNP", "NNPS"}:
            assert lemma != lemma.lower(), (name, row[:5])
        elif lemma != lemma.lower():
            assert lemma in {form, "I"} and lemma[0].isupper(), (name, row[:5])


def test_one_form_with_one_fine_tag_has_one_lemma() -> None:
    lemmas: dict[tuple[str, str, str], set[str]] = {}
    for _, row in every_word():
        lemmas.setdefault((row[1].lower(), row[3], row[4]), set()).add(row[2])
    found = {key[0]: names for key, names in lemmas.items() if len(names) > 1}
    # The contraction of two verbs.
    assert found == {"'s": {"be", "have"}}


def test_the_column_file_holds_100_different_sentences_of_four_columns() -> None:
    assert len(column_sentences()) == 100
    assert len(set(column_sentences())) == 100
    for sentence in column_sentences():
        assert all(len(row) == 4 and all(row) for row in sentence), sentence


def test_the_column_sentences_are_corpus_sentences_with_the_same_tags_in_id_order() -> None:
    names = {
        tuple((row[1], row[4]) for row in sentence.words): sentence.name for sentence in corpus()
    }
    found = [names.get(tuple((row[0], row[1]) for row in rows)) for rows in column_sentences()]
    lost = [rows for rows, name in zip(column_sentences(), found, strict=True) if name is None]
    assert lost == []
    assert found == sorted(name for name in found if name is not None)


@pytest.mark.parametrize(("column", "inventory"), [(2, CHUNKS), (3, ENTITIES)])
def test_spans_are_legal_bio_over_the_whole_inventory(column: int, inventory: set[str]) -> None:
    seen = set()
    for sentence in column_sentences():
        previous = "O"
        for row in sentence:
            label = row[column]
            if label != "O":
                place, _, kind = label.partition("-")
                assert place in {"B", "I"} and kind in inventory, row
                assert place == "B" or previous in {f"B-{kind}", f"I-{kind}"}, (sentence, row)
                seen.add(kind)
            previous = label
    assert seen == inventory


@pytest.mark.parametrize("kind", sorted(ENTITIES))
def test_each_entity_kind_has_at_least_fifteen_spans(kind: str) -> None:
    assert sum(row[3] == f"B-{kind}" for rows in column_sentences() for row in rows) >= 15


def test_particles_and_chunks_of_particles_agree() -> None:
    for sentence in column_sentences():
        for form, xpos, chunk, _ in sentence:
            assert (xpos == "RP") == (chunk == "B-PRT"), (form, xpos, chunk)


def test_the_counts_in_the_readme_are_those_of_the_files() -> None:
    lines = (DATA / "README.md").read_text(encoding="utf-8").splitlines()
    stated = {
        cells[0].strip(" *"): [int(cell) for cell in cells[1:]]
        for cells in (line.strip("|").split("|") for line in lines if line.startswith("|"))
        if all(cell.strip().isdigit() for cell in cells[1:])
    }
    counted = {}
    for genre in GENRES:
        chosen = [sentence for sentence in corpus() if sentence.comments["genre"] == genre]
        splits = Counter(sentence.split for sentence in chosen)
        words = sum(len(sentence.words) for sentence in chosen)
        counted[genre] = [*(splits[split] for split in SPLITS), len(chosen), words]
    totals = [sum(column) for column in zip(*counted.values(), strict=True)]
    for split in SPLITS:
        chosen = [sentence for sentence in corpus() if sentence.split == split]
        words = sum(len(sentence.words) for sentence in chosen)
        counted[f"english-{split}.conllu"] = [len(chosen), words]
    for kind in ENTITIES:
        spans = sum(row[3] == f"B-{kind}" for rows in column_sentences() for row in rows)
        counted[kind] = [spans]
    assert stated == counted | {"all": totals}
