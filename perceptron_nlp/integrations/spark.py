"""Spark: columns of labels for data frames, batch by batch through Arrow (``mapInArrow``)."""

from __future__ import annotations

from typing import Any

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, missing_extra, quote

try:
    from pyspark.sql.types import ArrayType, IntegerType, StringType, StructField, StructType
except ImportError:
    raise missing_extra("PySpark", "spark") from None

# Behind it, so that the extra that is named brings all that is missing.
from perceptron_nlp.integrations.arrow import ArrowTagger
from perceptron_nlp.integrations.arrow_text import FORM, PLACES, WORDS


def tag_dataframe(frame: Any, tagger: ArrowTagger) -> Any:
    """A Spark data frame with columns of labels added, each an array of strings.

    If the tagger names a column of texts, a column of words is added instead: an array of structs
    (see arrow.tag_arrow).

    Nothing is tagged before the frame is asked for rows. A column of the same name is replaced.
    Workers need this library and the model file, at the place that the tagger names.

    Parameters
    ----------
    frame : a pyspark.sql.DataFrame with a column of arrays of words, a row a sentence; or of texts
    tagger : what fills the columns in

    Raises
    ------
    ArgumentTypeError : one of them is of another type
    ArgumentError : the frame has no such column of words, or several that may be meant
    """
    if not isinstance(tagger, ArrowTagger):
        raise ArgumentTypeError(f"tagger: an ArrowTagger is needed, not {type(tagger).__name__}")
    if not hasattr(frame, "mapInArrow"):
        raise ArgumentTypeError(f"frame: a Spark data frame is needed, not {type(frame).__name__}")
    if tagger.text_column is None:
        _check_words(frame.schema, tagger.tokens_column)
    elif tagger.text_column not in frame.schema.names:
        raise ArgumentError(
            f"text_column: {quote(tagger.text_column)}: there is no such column; there are"
            f" {', '.join(frame.schema.names)}"
        )
    for name in tagger.keep or ():
        if name not in frame.schema.names:
            raise ArgumentError(
                f"keep: {quote(name)}: there is no such column; there are"
                f" {', '.join(frame.schema.names)}"
            )
    fields = {
        field.name: field
        for field in frame.schema.fields
        if tagger.keep is None or field.name in tagger.keep
    }
    if tagger.text_column is None:
        for name in tagger.columns:
            fields[name] = StructField(name, ArrayType(StringType()))
    else:
        strings = [StructField(name, StringType()) for name in (FORM, *tagger.columns)]
        numbers = [StructField(name, IntegerType()) for name in PLACES]
        fields[WORDS] = StructField(WORDS, ArrayType(StructType([*strings, *numbers])))
    return frame.mapInArrow(tagger.batches, StructType(list(fields.values())))


def _check_words(schema: Any, wanted: str | None) -> None:
    """Here, and not on a worker when the first row is asked for."""
    names = [
        field.name
        for field in schema.fields
        if isinstance(field.dataType, ArrayType)
        and isinstance(field.dataType.elementType, StringType)
    ]
    if wanted is not None:
        if wanted not in schema.names:
            raise ArgumentError(
                f"tokens_column: {quote(wanted)}: there is no such column; there"
                f" are {', '.join(schema.names)}"
            )
    elif not names:
        raise ArgumentError(
            f"tokens_column: no column is an array of strings; there are {', '.join(schema.names)}"
        )
    elif len(names) > 1 and "tokens" not in names:
        raise ArgumentError(
            f"tokens_column: several columns are arrays of strings; name one of {', '.join(names)}"
        )
