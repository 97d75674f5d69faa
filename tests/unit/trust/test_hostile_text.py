"""Text made to harm: what is read comes back byte for byte, the rest is refused by its line."""

from __future__ import annotations

import io

import pytest

import perceptron_nlp as pn

LINE = "1\tThe\tthe\tDET\tDT\t_\t0\troot\t_\t_\n"
REST = "\t_" * 8 + "\n"
READ = {
    "a mark before a form": LINE.replace("The", "\ufeffThe") + "\n",
    "a carriage return in a form": LINE.replace("The", "T\rhe") + "\n",
    "both ends of lines": LINE.replace("\n", "\r\n") + "\n" + LINE + "\r\n",
    "NUL in a form": LINE.replace("The", "T\0he") + "\n",
    "every other line end of Unicode in a form": LINE.replace("The", "a\v\f\x1c\x85\u2028\u2029b")
    + "\n",
    "a form of a million letters": LINE.replace("The", "x" * 1_000_000) + "\n",
    "a comment of a million letters": "# " + "y" * 1_000_000 + "\n" + LINE + "\n",
    "a million empty lines": "\n" * 1_000_000,
    "comments without a sentence": "# x\n\n# y\n\n",
    "a comment that ends the file": LINE + "\n# x",
    "an empty node before the first word": "0.1\tx" + REST + LINE + "\n",
}
REFUSED: dict[str, tuple[bytes, int]] = {
    "a mark in the middle": (f"{LINE}\n\ufeff{LINE}\n".encode(), 3),
    "two marks": (f"\ufeff\ufeff{LINE}\n".encode(), 1),
    "two carriage returns a line": (f"{LINE}\n".replace("\n", "\r\r\n").encode(), 2),
    "nothing but NUL": (b"\0" * 10_000, 1),
    "a million tabs": (b"\t" * 1_000_000, 1),
    "a million digits": (b"9" * 1_000_000 + b"\ta\n", 1),
    "an ID of 5,000 digits": (("9" * 5000 + LINE[1:] + "\n").encode(), 1),
    "a HEAD of 5,000 digits": (LINE.replace("\t0\t", "\t" + "9" * 5000 + "\t").encode(), 1),
    "digits of another script": (f"\u0661{LINE[1:]}\n".encode(), 1),
    "a raised digit": (f"\u00b9{LINE[1:]}\n".encode(), 1),
    "half a surrogate pair": (LINE.encode().replace(b"The", b"\xed\xa0\x80") + b"\n", 1),
    "an overlong NUL": (LINE.encode().replace(b"The", b"\xc0\x80") + b"\n", 1),
    "lines that end in carriage returns alone": (f"# a\r{LINE}\r".replace("\n", "\r").encode(), 1),
    "a range of 10^9 words": (f"1-1000000000\tx{REST}{LINE}\n".encode(), 1),
    "a range turned round": (f"2-1\tx{REST}{LINE}\n".encode(), 1),
    "100,000 ranges": (
        b"".join(b"%d-%d\tx%s" % (i, i + 1, REST.encode()) for i in range(1, 100_000)),
        2,
    ),
}


@pytest.mark.parametrize("text", READ.values(), ids=READ)
def test_odd_text_is_read_tagged_and_written_back_as_it_came(text: str, tagger: pn.Tagger) -> None:
    corpus = pn.open_corpus(io.BytesIO(text.encode()), format="conllu")
    sentences = list(corpus)
    assert "".join(corpus.rewrite(one, {}) for one in sentences) + corpus.tail == text
    labels = tagger.tag_sents([list(one.words) for one in sentences])
    assert list(map(len, labels)) == [len(one.words) for one in sentences]


@pytest.mark.parametrize(("data", "line"), REFUSED.values(), ids=REFUSED)
def test_hostile_text_is_refused_by_its_line(data: bytes, line: int) -> None:
    with pytest.raises(pn.FormatError, match=f"^<stream>:{line}: .{{10,300}}$"):
        list(pn.open_corpus(io.BytesIO(data), format="conllu"))
