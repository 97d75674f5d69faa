"""Laws of learned segmentation: no character of any text is lost or moved, however it comes."""

from __future__ import annotations

import html.entities
import itertools
import random
import re
import signal
import sys
import time
import tracemalloc
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.atoms import matches_of
from oracles.matches import matches
from oracles.segmentation import segmented

import perceptron_nlp as pn
from perceptron_nlp.tagger.model.model import Segmentation
from perceptron_nlp.tagger.tag.segment import WINDOW, Segmenter, TokenSpan
from perceptron_nlp.tagger.train import segmenting
from perceptron_nlp.text.tagset import CASED, CASELESS, LABELS, SIDES, SMALL, WORD_PLACES, Words

# All that breaks lines, joins letters, has no encoding, or is known to the French model.
ODD = "\n\r\t \u2028\u2029\x0b\x0c\x85\xa0\u3000\ufeff"
ODD += "\x00\x01\x1b\u200d\u0301\ud800\udfff\xad\u200b"
TEXTS = st.text(st.one_of(st.sampled_from(ODD + "du bois.LeAé,!?'’-9中ไ"), st.characters()))
# Such as holds a pattern, and what may stand about it.
ADDRESSES = ("https://a.org/x", "www.b.com", "jo@mail.org", "a.pdf", "@jo", "#bois", "1.2.3")
OTHERS = (
    "12,5",
    "2001-05-12",
    "10:30",
    "1/2",
    "12-15",
    "15–20",
    "3—",
    "km/h",
    "x=5",
    "4x4",
    "e-mail",
    "U.S.A.",
    "z.B.",
    "---",
    "du...bois",
    "bois(s)",
    "n.5",
    "AT&T",
    "👩\u200d💻",
    "🇫🇷",
    ". 😀",
    ":-)",
    "bois[1]",
    ".[12]",
    "fin.²",
    "**bois**",
    "`Le",
    "😀",
    "。」",
    "「",
    "#bois",
    "bois.Le",
    "dort!Zoé",
    "a.bois.Le_2",
    "中.我",
    "dort...Le",
    "(bois).Le",
    "os.Path",
    "leBois.Le",
    "`bois.Le`",
    "bois.LeBois",
    "bois.De",
    "Bois.Com",
    "했다.그는",
    "كان.هو",
    "Zo&eacute;.Le",
    "Le",
    "bois",
    "中",
)
PATTERNS = st.lists(
    st.sampled_from([*ADDRESSES, *OTHERS, *"().,!?/:;@#<>«»“” \n'"]), max_size=20
).map("".join)
# Lines of any length, with and without room for the word behind them.
LINES = st.lists(
    st.lists(
        st.sampled_from(["Le", "bois", "- du", "12", "longueur,", "fin.", "> Le"]), max_size=12
    )
    | st.lists(st.sampled_from([">", ">>", "# du", "bois", "//", "Le"]), max_size=3)
    | st.sampled_from([["x" * 399], ["x" * 400], ["Le"] * 140]),
    max_size=8,
)
# HTML entities, whole, in parts, and what only looks like one.
ENTITIES = st.lists(
    st.sampled_from(
        [
            *("&quot;", "&#39;", "&eacute;", "&shy;", "&nbsp;", "&#50;", "&#x41;", "&#768;"),
            *("&zwj;", "&amp;", "&rsquo;", "&#8203;", "&#146;", "&#32;", "&x;", "&;", "&thetasym;"),
            *("&", "#", "x", "quot", "39", ";", "du", "bois", "9", ".", " ", "\n\n", "l", "\u00ad"),
            *("&#20013;", "&#x1F600;", "&#x10FFFF;", "&#xD800;", "&#x110000;", "&#00000039;"),
        ]
    ),
    max_size=20,
).map("".join)
# Text without capitals, or with one somewhere, and quotes of more than one hand.
UNCAPITALIZED = st.lists(
    st.sampled_from(
        [
            *("le bois", "il dort", "είναι", "m", "x" * 70, "3", "Zoé", "中"),
            *(". ", "! ", "; ", "?", "… ", "։ ", ", ", ' "', '" ', " « ", "– ", " ", "\n\n"),
        ]
    ),
    max_size=30,
).map("".join)
TEXTS |= UNCAPITALIZED
TEXTS |= PATTERNS | ENTITIES | LINES.map(lambda lines: "\n".join(map(" ".join, lines)))


@pytest.fixture(scope="module")
def segmenter(pipeline: pn.Tagger) -> Segmenter:
    return pipeline.segmenter


@given(text=TEXTS)
def test_every_character_but_space_is_in_one_token_at_its_place(
    segmenter: Segmenter, text: str
) -> None:
    end, in_a_row, spans = 0, list[str](), list[tuple[int, int]]()
    for sentence in segmenter.sentences_of(text):
        assert sentence
        spans.append((sentence[0][0], sentence[-1][1]))
        for first, last, words in sentence:
            assert text[end:first].strip() == "" and first < last
            assert not text[first].isspace() and not text[last - 1].isspace()
            assert words and all(words)
            token = text[first:last]
            in_a_row += words if len(words) == 1 or "".join(words) == token else [token]
            end = last
    assert text[end:].strip() == ""
    assert segmenter.words_of(text) == in_a_row
    assert segmenter.spans_of(text) == spans


JOINED = st.lists(
    st.sampled_from(["12", "3", "2001", "du", "Le", "x"]) | st.sampled_from([*"-–/=+:., ", " "]),
    max_size=16,
).map("".join)


@given(text=JOINED)
def test_a_mark_between_numbers_is_a_token_or_part_of_one(segmenter: Segmenter, text: str) -> None:
    ends = {last for sentence in segmenter.sentences_of(text) for _, last, _ in sentence}
    for mark in re.finditer(r"(?<=\d)[-–/=+:.,](?=\d)", text):
        assert (mark.start() in ends) == (mark.end() in ends)


def plain(tagger: pn.Tagger) -> Segmentation:
    """Return a segmentation without abbreviations, of which its slow twin knows nothing."""
    assert tagger.model.segmentation is not None
    return tagger.model.segmentation._replace(abbreviations=())


@pytest.fixture(scope="module")
def plain_segmenters(pipeline: pn.Tagger) -> list[tuple[int, Segmenter]]:
    return [(window, Segmenter(plain(pipeline), window=window)) for window in (1, 30, 500, WINDOW)]


@pytest.fixture(scope="module")
def segmenters(pipeline: pn.Tagger) -> list[tuple[int, Segmenter]]:
    segmentation = pipeline.model.segmentation
    assert segmentation is not None
    return [(window, Segmenter(segmentation, window=window)) for window in (1, 30, 500, WINDOW)]


@given(text=TEXTS)
def test_the_core_cuts_as_its_slow_twin_does(
    pipeline: pn.Tagger, plain_segmenters: list[tuple[int, Segmenter]], text: str
) -> None:
    for window, segmenter in plain_segmenters:
        assert [*segmenter.sentences_of(text)] == segmented(plain(pipeline), text, window)


@given(
    text=st.lists(
        st.sampled_from(["Le", "bois", "dort", ".", " ", '"', "'", "&", "<3", "l'arbre", "Zoé"])
    ).map("".join),
    chance=st.randoms(use_true_random=False),
)
def test_text_with_entities_is_cut_as_what_they_stand_for(
    segmenter: Segmenter, text: str, chance: random.Random
) -> None:
    names = {mark: name for name, mark in html.entities.entitydefs.items()} | {"'": "#39"}
    written = [
        f"&{names[mark]};" if mark in names and chance.random() < 0.7 else mark for mark in text
    ]
    ends = [0, *itertools.accumulate(map(len, written))]
    assert [*segmenter.sentences_of("".join(written))] == [
        [
            (ends[first], ends[last], ("".join(written[first:last]),))
            if len(words) == 1
            else (ends[first], ends[last], words)
            for first, last, words in sentence
        ]
        for sentence in segmenter.sentences_of(text)
    ]


@given(text=TEXTS, lead=st.sampled_from([0.0, 0.25, 1.0, 2.5, 8.0]))
def test_near_atoms_that_are_sure_decide_as_in_its_slow_twin(
    pipeline: pn.Tagger, text: str, lead: float
) -> None:
    led = plain(pipeline)._replace(lead=lead, certain={}, words={})
    segmenter = Segmenter(led)
    found = [*segmenter.sentences_of(text)]
    assert found == segmented(led, text, WINDOW)
    # What was remembered changes nothing.
    assert [*segmenter.sentences_of(text)] == found


@given(
    text=TEXTS | st.text(st.sampled_from("waAbكتاب́中文ーかな1 ")),
    entries=st.sets(st.text(st.sampled_from("waAbكتاب́中文か"), min_size=1, max_size=12)),
    single=st.sampled_from(["", CASED, CASELESS, CASED + CASELESS]),
)
def test_the_core_matches_words_as_its_slow_twin_does(
    text: str, entries: set[str], single: str
) -> None:
    assert matches_of(text, entries, single) == matches(text, entries, single)


GLUED = ("le bois", "w+le bois", "w+Zoé .", "中+文+中 .", "w+中文 b+le .")


@pytest.fixture(scope="module")
def glued(tmp_path_factory: pytest.TempPathFactory) -> pn.Tagger:
    """A tagger whose treebank has tokens that end within runs of letters."""
    lines = []
    for text in GLUED * 20:
        pairs = re.findall(r"([^ +]+)([ +]?)", text)
        for at, (form, mark) in enumerate(pairs, 1):
            lines.append(
                f"{at}\t{form}" + "\t_" * 7 + ("\tSpaceAfter=No" if mark == "+" else "\t_")
            )
        lines.append("")
    path = tmp_path_factory.mktemp("glued") / "glued.conllu"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return pn.Tagger.from_bytes(pn.train(path, column="text").to_bytes())


@given(
    text=TEXTS
    | st.lists(st.sampled_from(["w", "le", "bois", "Zoé", ".", "中", "文", "b"])).map("".join)
)
def test_tokens_end_within_runs_of_letters_as_in_training_and_as_in_the_slow_twin(
    glued: pn.Tagger, text: str
) -> None:
    segmentation = plain(glued)
    assert segmentation.single == CASED
    for window in (30, WINDOW):
        found = [*Segmenter(segmentation, window=window).sentences_of(text)]
        assert found == segmented(segmentation, text, window)
    forms = [form for s in pn.tokenize("wbois w中文.", glued) for form in s.forms]
    assert forms == ["w", "bois", "w", "中文", "."]


WORDS = st.dictionaries(
    st.sampled_from(SIDES),
    st.dictionaries(
        st.sampled_from(WORD_PLACES),
        st.dictionaries(
            st.sampled_from(LABELS),
            st.lists(
                st.sampled_from(["le", "Le", "bois", "abois", "zoé", "12", "中", ",", "aois"])
            ),
        ),
    ),
)


def titles(path: Path, end: str) -> pn.Tagger:
    """What learned to cut text of headings, which end in a mark or in none, and sentences."""
    draw, rows = random.Random(1), []
    parts = ["".join(pair) for pair in itertools.product("bdfklmprst", "aeiou")]
    small, names = (["".join(draw.sample(parts, 2)) for _ in range(150)] for _ in range(2))
    for _ in range(270):
        name, other, *rest = draw.sample(names, 4)
        words = draw.sample(small, 9)
        title = [name.title(), words[0], other.title(), *end]
        body = [words[1].title(), *words[2:5], *(one.title() for one in rest), *words[5:], "."]
        for own in (title, body):
            rows += [f"{n}\t{word}" + "\t_" * 8 for n, word in enumerate(own, 1)] + [""]
    path.write_text("\n".join([*rows, ""]), "utf-8")
    return pn.train(path, column="text")


@pytest.fixture(scope="module")
def titled(tmp_path_factory: pytest.TempPathFactory) -> pn.Tagger:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segmenting, "_LEAST_GAIN", -1)
        return titles(tmp_path_factory.mktemp("titles") / "titles.conllu", "")


TITLES = st.lists(
    st.sampled_from(["Baka", "BAKA", "Bako", "dama", "Lemo", "É", "ér", ".", "2", "中", "\n\n"])
)


@given(text=TEXTS | TITLES.map(" ".join))
def test_the_core_looks_at_capitals_as_its_slow_twin_does(titled: pn.Tagger, text: str) -> None:
    own = plain(titled)
    for one in (own, own._replace(certain={}, words={}, lead=None)):
        assert [*Segmenter(one).sentences_of(text)] == segmented(one, text, WINDOW)


def test_capitals_are_looked_at_where_folds_say_so(titled: pn.Tagger, tmp_path: Path) -> None:
    titled.save(tmp_path / "titles.model")
    loaded = pn.load(tmp_path / "titles.model")
    assert loaded.to_bytes() == titled.to_bytes()
    segmentation = loaded.model.segmentation
    assert segmentation is not None and any(segmentation.small.values())
    assert segmentation.cut.feature_columns == ("gap", SMALL)
    # Where all sentences end in full stops, folds gain nothing.
    other = titles(tmp_path / "closed.conllu", ".").model.segmentation
    assert other is not None and not other.small and other.cut.feature_columns == ("gap",)


@given(words=WORDS, text=st.text(st.sampled_from("le bois Le abois,12 zoé中\n")))
def test_the_core_asks_the_words_beside_a_place_as_its_slow_twin_does(
    pipeline: pn.Tagger, words: Words, text: str
) -> None:
    assert pipeline.model.segmentation is not None
    own = {
        side: {place: _each_once(labels) for place, labels in places.items()}
        for side, places in words.items()
    }
    segmentation = plain(pipeline)._replace(certain={}, words=own)
    found = [*Segmenter(segmentation).sentences_of(text)]
    assert found == segmented(segmentation, text, WINDOW)


def _each_once(labels: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the words of each label but those of one before."""
    met: set[str] = set()
    found = {}
    for label, words in labels.items():
        found[label] = [word for word in words if word not in met]
        met.update(words)
    return found


@pytest.mark.parametrize("gap", [" ", "\n\n", ""])
def test_long_paragraphs_are_cut_in_windows_as_the_slow_twin_cuts_them(
    pipeline: pn.Tagger, segmenters: list[tuple[int, Segmenter]], gap: str
) -> None:
    segmentation = pipeline.model.segmentation
    assert segmentation is not None
    text = gap.join(["Le bois. Du", "9" * 30, "é" * 12_000, "a,b ", "," * 4200, "Il dort. " * 200])
    for window, segmenter in segmenters[2:]:
        assert [*segmenter.sentences_of(text)] == segmented(segmentation, text, window)


@given(st.lists(st.tuples(st.sampled_from(["Le", "bois.", "du", ",", "9é"]), st.integers(1, 3000))))
def test_how_long_white_space_is_changes_no_label(
    pipeline: pn.Tagger, segmenters: list[tuple[int, Segmenter]], pieces: list[tuple[str, int]]
) -> None:
    narrow = " ".join(word for word, _ in pieces)
    wide = "".join(word + " " * length for word, length in pieces)

    def cut(segmenter: Segmenter, text: str) -> list[list[tuple[str, ...]]]:
        return [[words for *_, words in sentence] for sentence in segmenter.sentences_of(text)]

    for _, segmenter in segmenters:
        assert cut(segmenter, wide) == cut(segmenter, narrow)


@pytest.mark.parametrize("text", [".-" * 20_000, "x" * 200_000, ("é" * 190 + ".") * 1000])
def test_windows_without_ends_of_sentences_are_taken_by_half_at_least(
    pipeline: pn.Tagger, segmenter: Segmenter, text: str
) -> None:
    segmentation = pipeline.model.segmentation
    assert segmentation is not None
    # Nothing is certain: the decoder alone says where sentences end.
    bare = segmentation._replace(certain={}, words={})
    for own, cut in ((segmentation, segmenter), (bare, Segmenter(bare))):
        found = [*cut.sentences_of(text)]
        assert found == segmented(own, text, WINDOW)
        assert len(found) <= 2 + 4 * len(text) / WINDOW + len(text) / 2000


@pytest.mark.skipif(sys.platform == "win32", reason="has no timers")
def test_signals_are_answered_while_a_long_paragraph_is_cut(segmenter: Segmenter) -> None:
    text = (".-" * 2_000_000).encode()
    begin = time.process_time()
    segmenter.cutter.cut_text(text, True)
    whole = time.process_time() - begin
    answered: list[int] = []
    done: list[object] = []

    def stop(number: int, _: object) -> None:
        answered.append(number)
        if len(answered) == 3:
            raise KeyboardInterrupt

    old = signal.signal(signal.SIGPROF, stop)
    try:
        signal.setitimer(signal.ITIMER_PROF, whole / 40, whole / 40)
        with pytest.raises(KeyboardInterrupt):
            # What `extend` has taken stays in the list: a cut that answers only at its end is seen.
            done.extend(map(segmenter.cutter.cut_text, [text], [True]))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old)
    assert not done
    assert [*segmenter.sentences_of("Le bois.")]


def test_white_space_within_a_token_is_one_space_in_its_word(tmp_path: Path) -> None:
    rows = "".join(f"{n}\t{form}\t_\tX\t_\t_\t_\t_\t_\t_\n" for n, form in [(1, "1 000"), (2, "x")])
    path = tmp_path / "spaces.conllu"
    path.write_text((rows + "\n") * 20, "utf-8")
    tagger = pn.train(path, column="all", preset="fast", epochs=4)
    (sentence,) = tagger.tag_text("1\t 000 x")
    assert sentence.forms == ["1 000", "x"] and sentence.tokens[0].form == "1\t 000"
    ((first, _),) = tagger.segmenter.sentences_of("1\t 000 x")
    assert first[2] == ("1 000",)


def whole(segmenter: Segmenter, text: str) -> list[tuple[str, list[TokenSpan]]]:
    found = []
    for tokens in segmenter.sentences_of(text):
        first = tokens[0][0]
        moved = [(a - first, b - first, words) for a, b, words in tokens]
        found.append((text[first : tokens[-1][1]], moved))
    return found


# All of one paragraph, or of few.
LONG = st.lists(
    st.sampled_from(
        [
            *"LMe.,!?'’中文。1\n  ",
            "Il ",
            "bois. ",
            "du ",
            "Zoé",
            "e\u0301",
            ".\n\n",
            "a.pdf",
            ":-) ",
            "👩\u200d💻",
        ]
    ),
    max_size=60,
).map("".join)


@given(text=TEXTS | LONG, cuts=st.lists(st.integers(0, 200), max_size=30), each=st.booleans())
def test_a_text_in_pieces_has_the_same_sentences(
    segmenters: list[tuple[int, Segmenter]],
    glued: pn.Tagger,
    titled: pn.Tagger,
    text: str,
    cuts: list[int],
    each: bool,
) -> None:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [*text] if each else [text[a:b] for a, b in itertools.pairwise(places)]
    for segmenter in (*(own for _, own in segmenters), glued.segmenter, titled.segmenter):
        found = [(own, tokens) for _, own, tokens, _ in segmenter.sentences_in(pieces)]
        assert found == whole(segmenter, text)


@given(
    words=st.lists(st.sampled_from(["Dr.", "z.B.", "Z.", "Le", "bois", "h.", "zB.", "-", "."])),
    gaps=st.text(st.sampled_from("  \n"), min_size=40, max_size=40),
)
def test_listed_abbreviations_keep_their_full_stops_in_a_text_and_in_pieces(
    pipeline: pn.Tagger, words: list[str], gaps: str
) -> None:
    own = pipeline.with_cutting(abbreviations=["Dr.", "z.B.", "h."]).segmenter
    assert own is not None
    text = "".join(itertools.chain(*zip(words, gaps, strict=False)))
    found = [(one, tokens) for _, one, tokens, _ in own.sentences_in([*text])]
    assert found == whole(own, text)
    # A letter at the end of a paragraph is none.
    for chunk in re.finditer(r"(?<!\S)(?:(?:Dr|z\.B)\.(?!\S)|h\.(?!\S|\s*\n\s*\n|\s*\Z))", text):
        assert chunk.span() in {token[:2] for one in own.sentences_of(text) for token in one}


@pytest.mark.parametrize(
    "text", [".-" * 3_000, "中文。" * 3_000, "é" * 50_000, "Le bois va. " * 900]
)
def test_a_long_paragraph_in_pieces_has_the_same_sentences(
    segmenter: Segmenter, glued: pn.Tagger, text: str
) -> None:
    for own in (segmenter, glued.segmenter):
        for size in (37, 5_000):
            pieces = [text[at : at + size] for at in range(0, len(text), size)]
            found = [(one, tokens) for _, one, tokens, _ in own.sentences_in(pieces)]
            assert found == whole(own, text)


@given(text=TEXTS | LONG, cuts=st.lists(st.integers(0, 200), max_size=8), widened=st.booleans())
def test_a_text_in_pieces_is_tagged_as_in_one(
    pipeline: pn.Tagger, tagger: pn.Tagger, text: str, cuts: list[int], widened: bool
) -> None:
    # Cut as learned and as English; long white space is shortened where text is cut.
    text = text.replace(" ", " " * 1500) if widened else text
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[a:b] for a, b in itertools.pairwise(places)]
    for own in (pipeline, tagger):
        assert [*own.iter_text(pieces)] == own.tag_text(text)


def test_a_sentence_comes_before_the_next_piece_is_asked_for(
    pipeline: pn.Tagger, tagger: pn.Tagger
) -> None:
    asked = []

    def pieces() -> Iterator[str]:
        for piece in ("Il do", "rt.\n", "\nElle", " voit. Il va.\n\n", "Fin"):
            asked.append(piece)
            yield piece

    for own in (pipeline, tagger):
        asked.clear()
        seen = [(sentence.text, len(asked)) for sentence in own.iter_text(pieces())]
        assert [text for text, _ in seen] == ["Il dort.", "Elle voit.", "Il va.", "Fin"]
        assert seen[0][1] <= 3 and seen[2][1] == 4


def test_a_sentence_comes_once_what_its_end_looks_at_is_there(pipeline: pn.Tagger) -> None:
    asked: list[str] = []
    words = re.findall(r"\S+ ", "Il dort. Elle voit le bois. Il va au bois. Elle dort. ")
    for sentence in pipeline.iter_text(asked.append(word) or word for word in words):
        assert len(asked) <= 4 + len("".join(words)[: sentence.end].split()), sentence
        break
    assert len(asked) < len(words)


def test_a_stream_of_any_length_takes_little_memory(pipeline: pn.Tagger) -> None:
    def peak(n: int) -> int:
        tracemalloc.start()
        pieces = itertools.chain(["Il dort.\n\n" * 20] * n, [" " * 5000] * n)
        count = sum(1 for _ in pipeline.iter_text(pieces))
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert count == 20 * n
        return used

    # The first sentences fill caches.
    peak(100)
    assert peak(300) < peak(100) + 100_000


def test_text_that_repeats_itself_is_cut_as_the_first_time(segmenter: Segmenter) -> None:
    # More places than those after which the sizes of the caches are chosen, twice.
    paragraph = " ".join(
        f"Le bois n° {n}, l'eau du {n % 7}. Il va, dit-on{'!' * (n % 3)}" for n in range(90)
    )
    once = whole(segmenter, paragraph)
    assert whole(segmenter, "\n\n".join([paragraph] * 150)) == once * 150


def test_an_endless_line_takes_constant_memory_and_keeps_every_character(
    pipeline: pn.Tagger,
) -> None:
    assert pipeline.model.segmentation is not None
    segmenter = Segmenter(pipeline.model.segmentation, window=2_000)
    piece = "aé9" * 500

    def peak(n_pieces: int) -> int:
        tracemalloc.start()
        total = sum(len(text) for _, text, *_ in segmenter.sentences_in([piece] * n_pieces))
        assert total == n_pieces * len(piece)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(2)
    assert peak(40) < 2 * peak(10)


@given(text=TEXTS)
def test_any_text_is_tagged(pipeline: pn.Tagger, text: str) -> None:
    for sentence in pipeline.tag_text(text):
        for token in sentence.tokens:
            assert text[token.start : token.end] == token.form
            assert all(word.lemma for word in token.words)
