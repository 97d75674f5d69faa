"""Laws of the text formats, on generated files."""

import io

from hypothesis import example, given
from hypothesis import strategies as st

from perceptron_nlp.errors import FormatError
from perceptron_nlp.formats import open_corpus, read_columns, read_conllu, read_tagged, read_text
from perceptron_nlp.text.layout import split_grid
from perceptron_nlp.text.spans import broken_positions, labels_of, spans_of

# Control characters are left out: many of them make a file binary.
ANY_TEXT = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters=" ") | st.sampled_from(
    "\r\v\f\x1b\x85"
)
# A carriage return before the line break would belong to it.
WORD = st.text(ANY_TEXT, min_size=1, max_size=6).filter(lambda word: not word.endswith("\r"))
PHRASE = st.lists(WORD, min_size=1, max_size=3).map(" ".join)
BREAK = st.sampled_from(["\n", "\r\n"])
EMPTY_LINES = st.lists(BREAK, max_size=3).map("".join)
FEATS = st.sampled_from(["_", "Case=Nom", "Case=Acc,Nom|Number[psor]=Plur"])
TAG = st.text(st.characters(categories=["Lu", "Nd"]), min_size=1, max_size=3)


@st.composite
def conllu_sentences(draw):
    """The lines of a sentence with ranges, empty nodes and comments, without breaks."""
    length = draw(st.integers(1, 5))
    lines = [f"#{draw(PHRASE)}" for _ in range(draw(st.integers(0, 2)))]

    def node(number, *, is_range=False, is_empty=False):
        tags = st.just("_") if is_range else TAG
        heads = [str(n) for n in range(length + 1) if n != number]
        head = "_" if is_range or is_empty else draw(st.sampled_from(["_", *heads]))
        feats = st.sampled_from(["_", "Typo=Yes"]) if is_range else FEATS
        lemma = st.just("_") if is_range else PHRASE
        return "\t".join(
            [
                str(number),
                draw(PHRASE),
                draw(lemma),
                draw(tags),
                draw(tags),
                draw(feats),
                head,
                "_",
                "_" if is_range else draw(st.sampled_from(["_", "0:root", "1:dep|1:x"])),
                draw(PHRASE),
            ]
        )

    covered = 0
    for number in range(length + 1):
        if number:
            end = draw(st.integers(number, length))
            if number > covered and draw(st.booleans()):
                lines.append(node(f"{number}-{end}", is_range=True))
                covered = end
            lines.append(node(number))
        for empty in range(1, draw(st.integers(0, 2)) + 1):
            lines.append(node(f"{number}.{empty}", is_empty=True))
    return lines


def has_lines(text):
    """Is a carriage return in a text data, and not what all of its lines end in?"""
    return "\n" in text or "\r" not in text[:-1]


@st.composite
def files(draw, sentences):
    """Sentences (lists of lines) as a file: mixed breaks, more empty lines, cut at its end."""
    text = draw(st.sampled_from(["", "\ufeff"])) + draw(EMPTY_LINES)
    for lines in draw(st.lists(sentences, min_size=1, max_size=3)):
        for line in lines:
            text += line + draw(BREAK)
        text += draw(BREAK) + draw(EMPTY_LINES)
    stripped = text.rstrip("\r\n")
    bare = stripped if has_lines(stripped) else text
    return draw(st.sampled_from([text, stripped + "\n", stripped + "\r\n", bare]))


COLUMN_SENTENCES = {
    separator: st.lists(st.tuples(word, TAG, TAG).map(separator.join), min_size=1, max_size=4)
    for separator, word in ((" ", WORD), ("\t", PHRASE))
}
TAGGED_LINE = st.lists(st.tuples(WORD, TAG).map("/".join), min_size=1, max_size=5)
GAP = st.sampled_from([" ", "\t", "  ", " \t "])


@st.composite
def token_files(draw, tokens):
    text = ""
    for line in draw(st.lists(tokens, max_size=4)):
        text += draw(st.sampled_from(["", " "]))
        for token in line:
            text += token + draw(GAP)
        text += draw(BREAK) + draw(EMPTY_LINES)
    stripped = text.rstrip("\r\n")
    return draw(st.sampled_from([text, stripped if has_lines(stripped) else text]))


def written_back(text, format):
    corpus = open_corpus(io.BytesIO(text.encode()), format=format)
    parts = []
    for sentence in corpus:
        assert len(sentence) > 0
        column = corpus.default_column
        same = {} if column is None else {column: sentence.column(column)}
        parts.append(corpus.rewrite(sentence, same))
    return "".join(parts) + corpus.tail


@given(files(conllu_sentences()))
@example("1\t \t_\t_\t_\t_\t_\t_\t_\t_")
def test_reading_and_writing_conllu_is_the_identity(text):
    assert written_back(text, "conllu") == text


@given(st.sampled_from(" \t").flatmap(lambda gap: files(COLUMN_SENTENCES[gap])))
def test_reading_and_writing_columns_is_the_identity(text):
    assert written_back(text, "columns") == text


@given(token_files(TAGGED_LINE))
def test_reading_and_writing_tagged_text_is_the_identity(text):
    assert written_back(text, "tagged") == text


@given(token_files(st.lists(WORD, min_size=1, max_size=5)))
def test_reading_and_writing_plain_text_is_the_identity(text):
    assert written_back(text, "lines") == text


@given(files(conllu_sentences()), st.data())
def test_labels_written_are_read_back_and_every_word_stands_on_its_line(text, data):
    corpus = open_corpus(io.BytesIO(text.encode()), format="conllu")
    lines = text.split("\n")
    expected, parts = [], []
    for sentence in corpus:
        for index, word in enumerate(sentence):
            assert lines[sentence.line_of(index) - 1].split("\t")[1] == word
        labels = data.draw(st.lists(TAG, min_size=len(sentence), max_size=len(sentence)))
        expected.append((sentence.words, tuple(labels), sentence.column("xpos")))
        parts.append(corpus.rewrite(sentence, {"upos": labels}))
    again = read_conllu(io.BytesIO(("".join(parts) + corpus.tail).encode()))
    assert [(s.words, s.column("upos"), s.column("xpos")) for s in again] == expected


READERS = {
    "conllu": (read_conllu, files(conllu_sentences())),
    "columns": (read_columns, files(COLUMN_SENTENCES["\t"])),
    "tagged": (read_tagged, token_files(TAGGED_LINE)),
    "text": (read_text, token_files(TAGGED_LINE)),
}


@given(st.sampled_from(sorted(READERS)), st.data())
def test_a_file_changed_anywhere_is_read_or_refused_with_a_line_of_it(format, data):
    read, texts = READERS[format]
    content = bytearray(data.draw(texts).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content)))
        end = min(len(content), place + data.draw(st.integers(0, 3)))
        content[place:end] = data.draw(
            st.binary(max_size=3) | st.sampled_from([b"\t", b"\n", b"\n\n", b" ", b"/", b"9", b"#"])
        )
    try:
        for sentence in read(io.BytesIO(bytes(content))):
            assert sentence.words
    except FormatError as error:
        if error.line is None:
            assert content.startswith(b"\x1f\x8b") and "compressed data" in str(error)
        else:
            assert 1 <= error.line <= content.count(b"\n") + 1
        assert "\n" not in str(error)


CELL = st.text(st.sampled_from("ab \t"), max_size=3)


@given(st.lists(st.lists(CELL, min_size=1, max_size=4), min_size=1, max_size=4), st.integers(1, 4))
def test_a_grid_is_what_splitting_line_by_line_gives(rows, width):
    body = "".join("\t".join(row) + "\n" for row in rows)
    naive = [line.split("\t") for line in body[:-1].split("\n")]
    cells = split_grid(body, "\t", width)
    if all(len(fields) == width and all(fields) for fields in naive):
        assert cells == [cell for fields in naive for cell in [*fields, "\n"]]
    else:
        assert cells is None


@st.composite
def spans(draw):
    length = draw(st.integers(0, 8))
    found, start = [], 0
    while start < length:
        end = draw(st.integers(start + 1, length))
        if draw(st.booleans()):
            found.append((draw(st.sampled_from(["A", "B-C"])), start, end))
        start = end
    return found, length


@given(spans(), st.sampled_from(["bio", "iobes", "iob1"]))
def test_spans_written_in_any_scheme_are_read_back_and_unbroken(case, scheme):
    found, length = case
    labels = labels_of(found, length, scheme=scheme)
    assert spans_of(labels) == found
    assert broken_positions(labels, scheme=scheme) == []
