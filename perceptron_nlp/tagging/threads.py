"""Many sentences labelled by several threads; the result does not depend on how many."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from perceptron_nlp.tagging.keeping import Keep
from perceptron_nlp.tagging.options import check_int

# Sentences handed to a thread at a time: enough work to outweigh the handing over.
CHUNK = 512
MAX_THREADS = 1024

Label = Callable[[list[Sequence[str]], Sequence[Keep] | None], list[list[str]]]


def check_threads(threads: object) -> None:
    """Raise unless it is a number of threads that can be had."""
    check_int("threads", threads, 1, MAX_THREADS)


def label_in_threads(label: Label, batch: list[Sequence[str]], keep: list[Keep] | None,
                     threads: int) -> list[list[str]]:
    """One list of labels a sentence.

    Parameters
    ----------
    label : see labellers.Labeller
    batch : the sentences
    keep : None, or for each the labels that it has already
    threads : how many
    """
    if threads == 1 or len(batch) <= CHUNK:
        return label(batch, keep)
    starts = range(0, len(batch), CHUNK)
    chunks = [batch[at:at + CHUNK] for at in starts]
    keeps = [None if keep is None else keep[at:at + CHUNK] for at in starts]
    # Here, since it brings logging in, and one thread does without.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        return [labels for found in pool.map(label, chunks, keeps) for labels in found]
