"""Training by an engine that is named: ``perceptron_nlp.train(..., engine="ray", workers=4)``."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, cast

from perceptron_nlp._checks import check_choice
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError
from perceptron_nlp.tagger.tag.feature_function import Extractor
from perceptron_nlp.tagger.tagger import Tagger
from perceptron_nlp.tagger.train.loop import Callback, Engine
from perceptron_nlp.tagger.train.sources import Labelled, LabelLists

# The module of each, and its class.
_ENGINES = {"ray": ("perceptron_nlp.integrations.ray", "RayEngine")}


def train(
    train: Labelled,
    labels: LabelLists | None = None,
    *,
    dev: Labelled | None = None,
    column: str | Sequence[str] | None = None,
    features: Extractor | None = None,
    format: str = "auto",
    fields: Sequence[str] | None = None,
    callback: Callback | None = None,
    size: int | str | None = None,
    engine: str | Engine | None = None,
    workers: int | None = None,
    read_by: str | None = None,
    **options: Any,
) -> Tagger:
    """Train a tagger, here or by the workers of an engine.

    Parameters
    ----------
    engine : None to train in this process; ``"ray"``, or an engine such as
        ``perceptron_nlp.integrations.ray.RayEngine(workers=4, mixes=2)``, to deal the text out to
        workers, whose weights are mixed after each epoch (docs/engines.md)
    workers : with ``"ray"``, how many; None for as many as there are processors. The model depends
        on their number; one gives what training without an engine gives, byte for byte
    read_by : with ``"ray"``, who reads the text: ``"program"`` (as None), which then holds it, or
        ``"workers"``, each its part of CoNLL-U files that all machines have. The model is the same
    train, labels, dev, column, features, format, fields, callback, size, **options : as for
        Tagger.train

    Raises
    ------
    MissingExtraError : the engine is not installed
    EngineError : the engine cannot be reached, or its workers die again and again
    ArgumentError : more workers than sentences, an option that shards cannot be learnt with, or
        what Tagger.train raises
    FileError, FormatError, ArgumentTypeError, TemplateError : as for Tagger.train
    """
    given = (
        {}
        if engine is None and workers is None and read_by is None
        else {"engine": engine_of(engine, workers, read_by)}
    )
    return Tagger.train(
        train,
        labels,
        dev=dev,
        column=column,
        features=features,
        format=format,
        fields=fields,
        callback=callback,
        size=size,
        **given,
        **options,
    )


def engine_of(engine: object, workers: int | None = None, read_by: str | None = None) -> Engine:
    """The engine of a name; one that is none yet is started.

    Raises
    ------
    ArgumentError, ArgumentTypeError : there is no such engine, or no such number of workers
    MissingExtraError : it is not installed
    """
    options = {"workers": workers, "read_by": read_by}
    given = {name: value for name, value in options.items() if value is not None}
    if engine is None:
        raise ArgumentError(
            f"{next(iter(given), 'engine')}: is an option of an engine; name one, too, such as ray"
        )
    if isinstance(engine, str):
        check_choice("engine", engine, _ENGINES)
        module, name = _ENGINES[engine]
        return cast(Engine, getattr(importlib.import_module(module), name)(**given))
    if not hasattr(engine, "trainer"):
        raise ArgumentTypeError(
            f"engine: a name or an engine is needed, not {type(engine).__name__}"
        )
    if given:
        raise ArgumentError(
            f"{next(iter(given))}: the engine that was given has its own; leave it out"
        )
    return cast(Engine, engine)
