"""The rules by which running text is cut, each by an example."""

from __future__ import annotations

from perceptron_nlp.text.splitter import MOST_CHARACTERS, sentences_in, sentences_of


def test_text_without_a_space_is_cut_into_sentences_that_hold_all_of_it() -> None:
    text = "ab" * MOST_CHARACTERS
    whole = list(sentences_of(text))
    assert len(whole) == 2
    places = [span for spans in whole for span in spans]
    assert "".join(text[start:end] for start, end in places) == text
    pieces = (text[at : at + 65_537] for at in range(0, len(text), 65_537))
    cut = [one for _, one, *_ in sentences_in(pieces)]
    assert cut == [text[spans[0][0] : spans[-1][1]] for spans in whole]
