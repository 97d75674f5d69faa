"""Spark: columns of labels for data frames, batch by batch through Arrow (``mapInArrow``)."""

from __future__ import annotations

from typing import Any

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, missing_extra, quote

try:
    from pyspark.sql.types import ArrayType, StringType, StructField, StructType
except ImportError:
    raise missing_extra("PySpark", "spark") from None

# Behind it, so that the extra that is named brings all that is missing.
from perceptron_nlp.integrations.arrow import ArrowTagger


def tag_dataframe(frame: Any, tagger: ArrowTagger) -> Any:
    """A Spark data frame with columns of labels added, each an array of strings.

    Nothing is tagged before the frame is asked for rows. A column of the same name is replaced.
    Workers need this library and the model file, at the place that the tagger names.

    Parameters
    ----------
    frame : a pyspark.sql.DataFrame with a column of arrays of words, a row a sentence
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
    _check_words(frame.schema, tagger.tokens_column)
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
    for name in tagger.columns:
        fields[name] = StructField(name, ArrayType(StringType()))
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
