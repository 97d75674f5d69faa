"""Bytes to sentences and back: the only place that knows a file layout."""

from __future__ import annotations

from perceptron_nlp.formats.columns import read_columns, write_columns
from perceptron_nlp.formats.conllu import read_conllu
from perceptron_nlp.formats.conllu_rules import COLUMNS as CONLLU_COLUMNS
from perceptron_nlp.formats.conllu_rules import wrong_value as wrong_conllu_value
from perceptron_nlp.formats.conllu_writing import with_misc, without_misc, write_conllu
from perceptron_nlp.formats.corpus import AUTO, FORMATS, Corpus, open_corpus
from perceptron_nlp.formats.detect import detect
from perceptron_nlp.formats.documents import opens_document
from perceptron_nlp.formats.filelayout import Section, layout_of
from perceptron_nlp.formats.modelbytes import map_file_bytes, read_file_bytes
from perceptron_nlp.formats.opening import Readable, named_stream
from perceptron_nlp.formats.packedtensors import packed_tensors, unpacked_tensors
from perceptron_nlp.formats.pairs import read_pairs
from perceptron_nlp.formats.plain import read_text
from perceptron_nlp.formats.replace import check_place, replace_file
from perceptron_nlp.formats.running import as_conllu
from perceptron_nlp.formats.sentenceids import sentence_id
from perceptron_nlp.formats.tagged import read_tagged, write_tagged
from perceptron_nlp.formats.tensorfile import begins_like_tensors, read_tensors, write_tensors

__all__ = [
    "AUTO",
    "CONLLU_COLUMNS",
    "FORMATS",
    "Corpus",
    "Readable",
    "Section",
    "as_conllu",
    "begins_like_tensors",
    "check_place",
    "detect",
    "layout_of",
    "map_file_bytes",
    "named_stream",
    "open_corpus",
    "opens_document",
    "packed_tensors",
    "read_columns",
    "read_conllu",
    "read_file_bytes",
    "read_pairs",
    "read_tagged",
    "read_tensors",
    "read_text",
    "replace_file",
    "sentence_id",
    "unpacked_tensors",
    "with_misc",
    "without_misc",
    "write_columns",
    "write_conllu",
    "write_tagged",
    "write_tensors",
    "wrong_conllu_value",
]
