"""The public names that tagging takes; those of _public.py bring in what training needs, too."""

from __future__ import annotations

from perceptron_nlp.formats import (
    Corpus,
    check_place,
    open_corpus,
    read_columns,
    read_conllu,
    read_tagged,
    read_text,
    replace_file,
    write_columns,
    write_conllu,
    write_tagged,
)
from perceptron_nlp.tagging.explaining import Explanation, WordExplanation
from perceptron_nlp.tagging.loading import load
from perceptron_nlp.tagging.model import TaggerModel
from perceptron_nlp.tagging.modelfile import read_model
from perceptron_nlp.tagging.reading import WeighedFeature
from perceptron_nlp.tagging.taggedtext import TextSentence, TextToken, tokenize
from perceptron_nlp.tagging.tagger import Tagger
from perceptron_nlp.text.sentence import Sentence, Token

__all__ = [
    "Corpus",
    "Explanation",
    "Sentence",
    "Tagger",
    "TaggerModel",
    "TextSentence",
    "TextToken",
    "Token",
    "WeighedFeature",
    "WordExplanation",
    "check_place",
    "load",
    "open_corpus",
    "read_columns",
    "read_conllu",
    "read_model",
    "read_tagged",
    "read_text",
    "replace_file",
    "tokenize",
    "write_columns",
    "write_conllu",
    "write_tagged",
]
