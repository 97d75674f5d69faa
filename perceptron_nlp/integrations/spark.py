"""Spark: columns of labels for data frames, batch by batch through Arrow (``mapInArrow``)."""

from __future__ import annotations

import os
from typing import Any

from perceptron_nlp.errors import ArgumentTypeError, missing_extra

try:
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
except ImportError:
    raise missing_extra("PySpark", "spark") from None

# Behind it, so that the extra that is named brings all that is missing.
from perceptron_nlp.integrations.arrow import ArrowTagger


def tag_dataframe(frame: Any, tagger: ArrowTagger | str | os.PathLike[str]) -> Any:
    """A Spark data frame with columns of labels added, each an array of strings.

    If the tagger names a column of texts, a column of words is added instead: an array of structs
    (see arrow.tag_arrow).

    Nothing is tagged before the frame is asked for rows. A column of the same name is replaced.
    Workers need this library and the model file, at the place that the tagger names.

    Parameters
    ----------
    frame : a pyspark.sql.DataFrame with a column of arrays of words, a row a sentence; or of texts
    tagger : an ArrowTagger, or what ``perceptron_nlp.load`` takes, for all columns

    Raises
    ------
    ArgumentTypeError, FileError, ModelError : as for ArrowTagger; `frame` is of another type
    ArgumentError : the frame has no such column of words, or several that may be meant
    """
    own = tagger if isinstance(tagger, ArrowTagger) else ArrowTagger(tagger)
    if not hasattr(frame, "mapInArrow"):
        raise ArgumentTypeError(f"frame: a Spark data frame is needed, not {type(frame).__name__}")
    # Here, and not on a worker when the first row is asked for.
    schema = from_arrow_schema(own.schema(to_arrow_schema(frame.schema)))
    return frame.mapInArrow(own.batches, schema)
