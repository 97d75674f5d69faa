"""spaCy: a pipeline component, ``nlp.add_pipe("perceptron_tagger")``.

spaCy finds it by the entry point of this package. It fills ``tag_`` from a tagger's column xpos (or
tag), ``pos_`` from upos, ``morph`` from feats and ``lemma_`` from lemma; see
spacycomponent.SpacyTagger. A tokenizer, ``perceptron_tokenizer``, cuts text and sentences as a
model has learned to.
"""

# spaCy reads the annotations of factories as they stand: they must not be strings.

import importlib
from collections.abc import Callable
from typing import Any

from perceptron_nlp.errors import missing_extra

try:
    from spacy.language import Language
    from spacy.util import registry
except ImportError:
    raise missing_extra("spaCy", "spacy") from None


@Language.factory(
    "perceptron_tagger",
    assigns=["token.tag", "token.pos", "token.morph", "token.lemma"],
    default_config={"model": None, "columns": None, "options": {}, "threads": 1},
    default_score_weights={"tag_acc": 0.5, "pos_acc": 0.5, "morph_acc": None, "lemma_acc": None},
)
def make_perceptron_tagger(
    nlp: Language,
    name: str,
    model: str | None,
    columns: list[str] | None,
    options: dict[str, Any],
    threads: int,
) -> Any:
    """A SpacyTagger, with the settings as its parameters."""
    # Here, since every pipeline imports this module, and most do without a tagger of ours.
    component = importlib.import_module("perceptron_nlp.integrations.spacycomponent")
    return component.SpacyTagger(
        nlp.vocab, name, model=model, columns=columns, options=options, threads=threads
    )


@registry.tokenizers("perceptron_tokenizer")
def make_perceptron_tokenizer(model: str) -> Callable[[Language], Any]:
    """Return what makes a pipeline's SpacyTokenizer of a model that ``load`` takes."""

    def make(nlp: Language) -> Any:
        docs = importlib.import_module("perceptron_nlp.integrations.spacydocs")
        return docs.SpacyTokenizer(nlp.vocab, model)

    return make
