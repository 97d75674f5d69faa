"""The k best ways to label a sentence as a whole, best first; the first is what tagging gives.

The search keeps the best beginnings of the sentence, label by label. *A greedy model* takes the
best label word by word, so what makes a sequence worse is by how much each of its labels falls
short of the best label there, both after its own labels before; its score is that of what tagging
gives (the sum over the words) less all that it falls short. To keep k beginnings is exact then,
since each can go on without falling shorter. *A model with a beam* sums scores along the sentence,
and so does the search, over STATES beginnings or more; what would score more than what tagging
gives, which the model's own narrower beam has passed over, is left out.

A word that a dictionary or a lexicon gives its only label scores 0, as in the model's own search.
Of a model of two passes, the labels of the first stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import islice

import numpy as np
import numpy.typing as npt

from perceptron_nlp._checks import check_int, token_list
from perceptron_nlp.tagger.tag.constraints import ConstrainedTokens
from perceptron_nlp.tagger.tag.lemmatize import ScriptLabels
from perceptron_nlp.tagger.tagger import Tagger
from perceptron_nlp.text.sentence import words_of
from perceptron_nlp.text.spans import legal_steps
from perceptron_nlp.text.tagset import SCHEMES

MOST_SEQUENCES = 1_000_000
STATES = 64
# The search is repeated with more beginnings, up to so many times as many, if too few ways differ.
_WIDEST = 16
_Floats = npt.NDArray[np.float64]
_Path = tuple[int, ...]


def k_best(
    tagger: Tagger, tokens: Sequence[str], k: int, *, column: str | None = None
) -> list[tuple[list[str], float]]:
    """Return the best labelings of one sentence as a whole.

    Parameters
    ----------
    tagger : a tagger
    tokens : as for Tagger.tag
    k : how many; 1 to 1,000,000
    column : of a tagger of several columns, which; None for the first

    Returns
    -------
    list of (labels, score) : the best first, no two with the same labels. The first is what
        ``Tagger.tag`` gives. There are fewer than k where there are fewer ways. The search is exact
        for greedy models, which are searched by what each label falls short of the best at its
        word; models with a beam are searched by sums of scores, where a model's own beam may have
        passed over better ones, which are left out

    Raises
    ------
    ArgumentTypeError, ArgumentError : as for Tagger.tag; k out of its range; no such column

    Examples
    --------
    ``perceptron_nlp.k_best(tagger, ["The", "old", "man"], 2)[0][0]`` may be
    ``["DET", "ADJ", "NOUN"]``.
    """
    check_int("k", k, 1, MOST_SEQUENCES)
    labeler = tagger.labelers.named_one(column)
    model, sentence = labeler.model, labeler.prepared([token_list(tokens)])[0]
    labels = tuple(labeler.label([sentence])[0])
    trace, words = labeler.trace(sentence), words_of(sentence)
    constrained, lemmas = ConstrainedTokens(model, labeler.lexicon), model.lemmas
    scripts = None if lemmas is None else ScriptLabels(model.tags, lemmas.alphabet)
    way = -1 if model.right_to_left else 1

    @cache
    def scores(i: int, before: _Path) -> _Floats:
        """Return the scores of the labels of word i after those given; -inf for forbidden ones."""
        within = constrained.within(words[i])
        is_only = within is not None and len(within) == 1
        found: _Floats = np.zeros(len(model.tags)) if is_only else trace.after(i, before)
        if scripts is not None and not is_only:
            # The best edit script for each lemma.
            first: dict[str, int] = {}
            for number in (-found).argsort(kind="stable").tolist():
                if lemma := scripts.lemma(words[i], number):
                    first.setdefault(lemma, number)
            within = list(first.values()) or None
        if within is not None:
            forbidden = np.ones(len(found), np.bool_)
            forbidden[within] = False
            found = np.where(forbidden, -np.inf, found)
        return found

    def written(path: _Path) -> tuple[str, ...]:
        numbers = path[::way]
        if scripts is not None:
            pairs = zip(words, numbers, strict=True)
            return tuple(scripts.lemma(word, number) or word for word, number in pairs)
        return tuple(labeler.written([[model.tags.label_of(number) for number in numbers]])[0])

    order = range(len(words))[::way]
    tagged = tuple(trace.numbers[i] for i in order)
    atoms = (atom for template in model.templates for atom in template.atoms)
    depth = max((-atom.offset for atom in atoms if atom.kind == "tag"), default=0)
    starts = [max(0, n - depth) for n in range(len(words))]
    total = sum(float(scores(i, tagged[starts[n] : n])[tagged[n]]) for n, i in enumerate(order))
    is_greedy = model.beam == 1
    may = None
    if not is_greedy and model.scheme in SCHEMES:
        may = np.array(legal_steps(model.tags, model.right_to_left))
    least = width = k if is_greedy else max(STATES, model.beam, k)
    while True:
        ways = [((), 0.0)]
        for n, i in enumerate(order):
            rows = np.stack([scores(i, path[starts[n] :]) for path, _ in ways])
            if is_greedy:
                rows = rows - rows.max(1, keepdims=True)
            elif may is not None:
                rows = _legal(rows, [path[-1:] for path, _ in ways], may, n == len(words) - 1)
            totals = np.array([score for _, score in ways])[:, None] + rows
            best = np.argsort(-totals, axis=None, kind="stable")[:width]
            ways = [
                ((*ways[at][0], int(label)), float(totals[at, label]))
                for at, label in zip(*np.unravel_index(best, totals.shape), strict=True)
                if totals[at, label] > -np.inf
            ]
        different = {labels: total}
        for path, score in ways:
            score += total if is_greedy else 0.0
            if path != tagged and score <= total:
                different.setdefault(written(path), score)
        if len(different) >= k or len(ways) < width or width >= _WIDEST * least:
            return [(list(own), score) for own, score in islice(different.items(), k)]
        width *= 4


def _legal(
    rows: _Floats, before: Sequence[_Path], may: npt.NDArray[np.bool_], is_last: bool
) -> _Floats:
    """Return scores with -inf for labels that may not follow; as they are if none may.

    ``may`` has a last row for what is before the first label, a last column for what follows the
    last.
    """
    none = len(may) - 1
    allowed = may[[path[0] if path else none for path in before], :none]
    if is_last:
        allowed = allowed & may[:none, none]
    found = np.where(allowed, rows, -np.inf)
    return found if (found > -np.inf).any() else rows
