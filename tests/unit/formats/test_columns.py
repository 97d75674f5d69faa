"""Column files read and written."""

from perceptron_nlp.formats import read_columns, write_columns
from perceptron_nlp.text.sentence import Sentence


def test_the_words_of_another_format_become_columns(tmp_path):
    sentence = Sentence(["New York", "is"], {"upos": ["PROPN", "AUX"]})
    write_columns([sentence, sentence], tmp_path / "x")
    assert (tmp_path / "x").read_text() == "New York\tPROPN\nis\tAUX\n\n" * 2
    assert next(read_columns(tmp_path / "x", ["form", "upos"])) == sentence
