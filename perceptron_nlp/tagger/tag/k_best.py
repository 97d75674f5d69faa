"""The k best ways to label a sentence as a whole, best first; the first is what tagging gives.

*A greedy model* takes the best label word by word, so what makes a sequence worse than another is
where it leaves that way. A sequence falls short, at each word, by the score of the best label there
less the score of its own, both after its own labels before. Its score is that of what tagging gives
(the sum over the words) less all that it falls short. The search is exact: sequences come in the
order of their scores, from a queue of ways to leave a better sequence for the first time (Lawler,
1972, "A procedure for computing the k best solutions to discrete optimization problems"). Where no
template looks at labels, the scores are plain sums.

*A model with a beam* sums the scores of words along the sentence, and so does this search: with at
least STATES states, and no fewer than the model's beam or k (up to MOST_STATES), each with its k
best ways. It is exact where there are no more different memories of past labels than states. A
sequence that would score more than what tagging gives, which the model's own narrower beam has
passed over, is left out. Where there are hundreds of those (MOST_AHEAD), as in text unlike any that
was learned from, what follows are the sequences that have one label other than tagging gives.

A word that a dictionary or a lexicon gives its only label scores 0, as in the model's own search.
Of a model of two passes, the labels of the first stay as they are.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perceptron_nlp.tagger.explain.forward_trace import ForwardTrace
from perceptron_nlp.tagger.model.label_components import JOINT, features_of
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.tag.constraints import ConstrainedTokens, Lexicon
from perceptron_nlp.tagger.tag.label import Labeller
from perceptron_nlp.tagger.tag.lemmatize import ScriptLabels
from perceptron_nlp.text.sentence import words_of
from perceptron_nlp.text.spans import SCHEMES, legal_steps, written

MOST_SEQUENCES = 1_000_000
STATES, MOST_STATES = 64, 1024
MOST_AHEAD = 256
_Floats = npt.NDArray[np.float64]
_Path = tuple[int, ...]
_Found = tuple[_Path, float]


def best_labellings(
    model: TaggerModel, labeller: Labeller, lexicon: Lexicon | None, sentence: Sequence[str], k: int
) -> list[tuple[list[str], float]]:
    """Return the k best ways to label a prepared sentence; see Tagger.k_best."""
    labels = labeller.label([sentence])[0]
    return best_sequences(
        labeller.trace(sentence), labels, ConstrainedTokens(model, lexicon), words_of(sentence), k
    )


def best_sequences(
    trace: ForwardTrace,
    labels: Sequence[str],
    constrained: ConstrainedTokens,
    words: Sequence[str],
    k: int,
) -> list[tuple[list[str], float]]:
    """Return the k best ways to label a sentence that was read and labeled.

    ``labels`` are what tagging gives, as it is written; ``constrained`` the tokens that cannot get
    any label.
    """
    steps = _Steps(trace, constrained, words)
    if trace.model.beam == 1:
        found = _by_shortfall(steps)
    else:
        found = _by_sums(steps, tuple(trace.numbers[i] for i in steps.order), k)
    different: dict[tuple[str, ...], float] = {tuple(labels): 0.0}
    is_first = True
    for path, score in found:
        own = tuple(labels) if is_first else tuple(steps.written(path))
        if is_first or own not in different:
            different[own] = score
        is_first = False
        if len(different) == k:
            break
    return [(list(own), score) for own, score in different.items()]


class _Steps:
    """A sentence in the order in which it is labeled."""

    def __init__(
        self, trace: ForwardTrace, constrained: ConstrainedTokens, words: Sequence[str]
    ) -> None:
        self.model = trace.model
        places = range(len(words))
        self.order = places[::-1] if self.model.right_to_left else places
        self._reading = trace
        self._within = [constrained.within(words[i]) for i in self.order]
        self._words = words
        lemmas = self.model.lemmas
        self._scripts = None if lemmas is None else ScriptLabels(self.model.tags, lemmas.turkic)

    def scores(self, step: int, given: _Path) -> _Floats:
        """Return the scores of the labels after those given; -inf for forbidden ones."""
        within = self._within[step]
        if within is not None and len(within) == 1:
            scores = np.full(len(self.model.tags), -np.inf)
            scores[within] = 0.0
            return scores
        scores = self._reading.after(self.order[step], given)
        if self._scripts is not None:
            return self._of_different_lemmas(self._scripts, self._words[self.order[step]], scores)
        if within is None:
            return scores
        allowed = np.full(len(scores), -np.inf)
        allowed[within] = scores[within]
        return allowed

    @staticmethod
    def _of_different_lemmas(scripts: ScriptLabels, word: str, scores: _Floats) -> _Floats:
        """Return the scores of the best edit script for each lemma, -inf for the others."""
        allowed, seen = np.full(len(scores), -np.inf), set()
        for number in (-scores).argsort(kind="stable").tolist():
            lemma = scripts.lemma(word, number)
            if lemma is not None and lemma not in seen:
                seen.add(lemma)
                allowed[number] = scores[number]
        return allowed if seen else scores

    def written(self, path: _Path) -> list[str]:
        """The labels as tagging writes them, in the order of the text."""
        inside = [self.model.tags.label_of(number) for number in path]
        if self.model.right_to_left:
            inside.reverse()
        if self._scripts is not None:
            numbers = path[::-1] if self.model.right_to_left else path
            pairs = zip(self._words, numbers, strict=True)
            return [self._scripts.lemma(word, number) or word for word, number in pairs]
        if self.model.scheme == JOINT:
            return [features_of(label) for label in inside]
        scheme = self.model.scheme
        return written(inside, scheme) if scheme in SCHEMES and scheme else inside


@dataclass(slots=True)
class _Left:
    """A sequence that was given, and the ways to leave it, the least shortfall first."""

    path: _Path
    shortfall: float
    ways: Iterator[tuple[float, int, int]]


def _by_shortfall(steps: _Steps) -> Iterator[_Found]:
    """Sequences of a greedy model, in the order of their shortfall."""
    path, ways, total = _greedily(steps, ())
    yield path, total
    queue: list[tuple[float, int, int, int, _Left]] = []
    numbers = itertools.count()
    _queue(queue, numbers, _Left(path, 0.0, ways))
    while queue:
        shortfall, _, step, label, left = heapq.heappop(queue)
        path, ways, _ = _greedily(steps, (*left.path[:step], label))
        yield path, total - shortfall
        _queue(queue, numbers, left)
        _queue(queue, numbers, _Left(path, shortfall, ways))


def _queue(
    queue: list[tuple[float, int, int, int, _Left]], numbers: Iterator[int], left: _Left
) -> None:
    """Put the next way to leave a sequence into the queue, if there is one."""
    for shortfall, step, label in left.ways:
        heapq.heappush(queue, (left.shortfall + shortfall, next(numbers), step, label, left))
        return


def _greedily(steps: _Steps, given: _Path) -> tuple[_Path, Iterator[tuple[float, int, int]], float]:
    """The best label word by word behind those given.

    Returns
    -------
    (path, ways, total) : all labels; how it can be left behind those given, as (shortfall, step,
        label), the least first; what the labels taken scored
    """
    path, shortfalls, total = list(given), [], 0.0
    for step in range(len(given), len(steps.order)):
        scores = steps.scores(step, tuple(path))
        best = int(scores.argmax())
        short = scores[best] - scores
        total += float(scores[best])
        short[best] = np.inf
        path.append(best)
        shortfalls.append(short)
    return tuple(path), _ways(shortfalls, len(given)), total


def _ways(shortfalls: list[_Floats], begin: int) -> Iterator[tuple[float, int, int]]:
    flat = np.concatenate([np.empty(0), *shortfalls])
    for at in flat.argsort(kind="stable").tolist():
        if flat[at] == np.inf:
            return
        step, label = divmod(at, len(shortfalls[0]))
        yield float(flat[at]), begin + step, label


@dataclass(slots=True)
class _State:
    """The last labels given, and the best ways to them: scores, descending, and paths."""

    memory: _Path
    scores: _Floats
    paths: list[_Path]


def _by_sums(steps: _Steps, tagged: _Path, k: int) -> Iterator[_Found]:
    """Sequences of a model with a beam by the sums of their scores, what was tagged first."""
    own = _score(steps, tagged)
    yield tagged, own
    ways = k
    while True:
        found = _searched(steps, ways, max(STATES, steps.model.beam, min(k, MOST_STATES)))
        yield from ((path, score) for path, score in found if score <= own and path != tagged)
        if len(found) < ways:
            return
        if ways >= MOST_AHEAD + 2 * k:
            break
        # Some were left out, or are written alike; those that were given come again.
        ways *= 2
    yield from _by_one_label(steps, tagged, own)


def _by_one_label(steps: _Steps, tagged: _Path, most: float) -> Iterator[_Found]:
    """Sequences with one label other than those given, by their sums, up to so much."""
    allowed = _allowed(steps)
    found = []
    for at in range(len(tagged)):
        for label in range(len(steps.model.tags)):
            path = (*tagged[:at], label, *tagged[at + 1 :])
            score = _score(steps, path)
            if path != tagged and -np.inf < score <= most and _is_legal(path, allowed):
                found.append((path, score))
    yield from sorted(found, key=lambda way: -way[1])


def _score(steps: _Steps, path: _Path) -> float:
    return sum(float(steps.scores(step, path[:step])[label]) for step, label in enumerate(path))


def _allowed(steps: _Steps) -> npt.NDArray[np.bool_] | None:
    """Table of the labels that may follow each, in the order of trace; None for any."""
    if steps.model.scheme not in SCHEMES:
        return None
    return np.array(legal_steps(steps.model.tags, steps.model.right_to_left))


def _is_legal(path: _Path, allowed: npt.NDArray[np.bool_] | None) -> bool:
    """None is before the first label, and none behind the last."""
    if allowed is None:
        return True
    none = len(allowed) - 1
    return all(allowed[one, two] for one, two in itertools.pairwise((none, *path, none)))


def _searched(steps: _Steps, k: int, width: int) -> list[_Found]:
    allowed = _allowed(steps)
    # What may follow depends on the last label.
    depth = 0 if allowed is None else 1
    for atom in (atom for template in steps.model.templates for atom in template.atoms):
        if atom.kind == "tag":
            depth = max(depth, -atom.offset)
    states = [_State((), np.zeros(1), [()])]
    for step in range(len(steps.order)):
        # The last labels would be remembered for nothing.
        kept = depth if step < len(steps.order) - 1 else 0
        states = _extended(steps, step, states, allowed, kept, k, width) or _extended(
            steps, step, states, None, kept, k, width
        )
    return [
        (path, float(score))
        for state in states
        for path, score in zip(state.paths, state.scores, strict=True)
    ]


def _extended(
    steps: _Steps,
    step: int,
    states: list[_State],
    allowed: npt.NDArray[np.bool_] | None,
    depth: int,
    k: int,
    width: int,
) -> list[_State]:
    """The states after one more label."""
    reached: dict[_Path, list[tuple[float, _State, int]]] = {}
    n_labels = len(steps.model.tags)
    for state in states:
        local = steps.scores(step, state.paths[0])
        if allowed is not None:
            before = state.paths[0][-1] if step else n_labels
            may = allowed[before, :n_labels]
            if step == len(steps.order) - 1:
                may = may & allowed[:n_labels, n_labels]
            local = np.where(may, local, -np.inf)
        for label in np.flatnonzero(local > -np.inf).tolist():
            memory = (*state.memory, label)[-depth:] if depth else ()
            reached.setdefault(memory, []).append((float(local[label]), state, label))
    best = sorted(
        reached,
        key=lambda memory: -max(score + state.scores[0] for score, state, _ in reached[memory]),
    )
    return [_merged(memory, reached[memory], k) for memory in best[:width]]


def _merged(memory: _Path, ways: list[tuple[float, _State, int]], k: int) -> _State:
    """The k best of all ways to the same memory."""
    scores = np.concatenate([state.scores + score for score, state, _ in ways])
    places = [(state, label, at) for _, state, label in ways for at in range(len(state.paths))]
    best = np.argsort(-scores, kind="stable")[:k]
    paths = [(*places[at][0].paths[places[at][2]], places[at][1]) for at in best.tolist()]
    return _State(memory, scores[best], paths)
