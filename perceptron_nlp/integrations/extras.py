"""What is said where a library that an integration needs is not installed."""

from __future__ import annotations

from perceptron_nlp.errors import MissingExtraError


def missing_extra(library: str, extra: str) -> MissingExtraError:
    """The error that names the extra to install.

    Parameters
    ----------
    library : what is missing, as people call it
    extra : the extra of this package that brings it
    """
    return MissingExtraError(f'{library} is not installed: pip install "perceptron-nlp[{extra}]"')
