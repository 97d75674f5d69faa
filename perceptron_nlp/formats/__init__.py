"""Bytes to sentences and back: the only place that knows the layout of a file."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perceptron_nlp.formats.columns import read_columns, write_columns
    from perceptron_nlp.formats.conllu import (
        opens_document,
        read_conllu,
        rewrite_conllu,
        sentence_id,
        surface,
        with_misc,
        without_misc,
        write_conllu,
    )
    from perceptron_nlp.formats.corpus import AUTO, FORMATS, Corpus, check_format, open_corpus
    from perceptron_nlp.formats.jsonlines import FIELD, SENTENCES, Record, record_of, sentences_json
    from perceptron_nlp.formats.opening import BOM, Readable, named_stream, packed
    from perceptron_nlp.formats.plaintext import as_conllu, space_after
    from perceptron_nlp.formats.reading import Segment
    from perceptron_nlp.formats.replace import check_place, replace_file
    from perceptron_nlp.formats.tagged import read_pairs, read_tagged, read_text, write_tagged
    from perceptron_nlp.formats.tensorarrays import packed_tensors, unpacked_tensors, write_tensors
    from perceptron_nlp.formats.tensorfile import (
        begins_like_tensors,
        map_file_bytes,
        open_tensors,
        read_file_bytes,
    )
    from perceptron_nlp.formats.ud_rules import UD_TAGS, ordered_features, wrong_ud_value
    from perceptron_nlp.text.layout import (
        CONLLU_COLUMNS,
        Layout,
        TokenSpan,
        names_in,
        wrong_conllu_value,
        wrong_tag,
    )
    from perceptron_nlp.text.tagset import known_labels

# The names of each module.
_PLACES = {
    "formats.columns": "read_columns write_columns",
    "formats.conllu": "opens_document read_conllu rewrite_conllu sentence_id surface with_misc"
    " without_misc write_conllu",
    "formats.corpus": "AUTO FORMATS Corpus check_format open_corpus",
    "formats.jsonlines": "FIELD SENTENCES Record record_of sentences_json",
    "formats.opening": "BOM Readable named_stream packed",
    "formats.plaintext": "as_conllu space_after",
    "formats.reading": "Segment",
    "formats.replace": "check_place replace_file",
    "formats.tagged": "read_pairs read_tagged read_text write_tagged",
    "formats.tensorarrays": "packed_tensors unpacked_tensors write_tensors",
    "formats.tensorfile": "begins_like_tensors map_file_bytes open_tensors read_file_bytes",
    "formats.ud_rules": "UD_TAGS ordered_features wrong_ud_value",
    "text.layout": "CONLLU_COLUMNS Layout TokenSpan names_in wrong_conllu_value wrong_tag",
    "text.tagset": "known_labels",
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names.split()}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    # Most programs need one or two formats: what the others take to import they do without.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"perceptron_nlp.{_MODULES[name]}")
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return __all__
