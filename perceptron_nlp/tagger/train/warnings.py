"""What should give a person pause about the text that a tagger was trained on."""

from __future__ import annotations

from perceptron_nlp.tagger.evaluation import untrained_labels
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.overlap import trained_on

_NAMED = 5


def training_warnings(model: TaggerModel, examples: Examples, dev: Examples | None) -> list[str]:
    """Each in a sentence; none where there is nothing to say.

    Parameters
    ----------
    model : of one column
    examples, dev : the sentences as they were read; dev is None where there were none
    """
    said = []
    if len(examples.tags) == 1:
        said.append(
            f"train: every word that has a label in column {model.column} has the same,"
            f" {examples.tags.labels[0]}; there is nothing to choose"
        )
    if dev is not None:
        new = untrained_labels(dev.gold, model.written_labels)
        if new:
            named = ", ".join(sorted(new, key=lambda label: (-new[label], label))[:_NAMED])
            more = f" and {len(new) - _NAMED} more" if len(new) > _NAMED else ""
            said.append(
                f"dev: {new.total():,} of {dev.n_labelled:,} words have labels that were"
                f" never trained: {named}{more}"
            )
        seen = trained_on(model.record, dev.sentences, "dev")
        said += [] if seen is None else [seen]
    return said
