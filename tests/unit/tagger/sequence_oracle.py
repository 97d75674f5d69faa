"""Beam search and structured training the slow way: dictionaries, lists, no shared code."""

from oracles.word_views import feature_key

from perceptron_nlp._core.features.extract import hash64

TEMPLATES = (
    "lower[0]",
    "first lower[0]",
    "lower[-1] lower[0]",
    "tag[-1]",
    "tag[-1] tag[-2]",
    "tag[-1] lower[0]",
    "tag[-1] lower[1]",
)


def atom_hash(atom, words, i, past):
    """The hash of one atom of TEMPLATES; past[k] is the hash of the label k + 1 steps ago."""
    if atom == "first":
        return hash64(b"\xffyes" if i == 0 else b"\xffno")
    name, offset = atom[:-1].split("[")
    if name == "tag":
        return past[-int(offset) - 1]
    at = i + int(offset)
    if at < 0:
        return hash64(b"\xffL%d" % -at)
    if at >= len(words):
        return hash64(b"\xffR%d" % (at - len(words) + 1))
    return hash64(words[at].lower().encode())


def keys_of(words, i, past):
    """The key of each template for word i."""
    return [
        feature_key(
            [atom_hash(a, words, i, past) for a in template.split()], hash64(template.encode())
        )
        for template in TEMPLATES
    ]


UNKNOWN = -2


class Oracle:
    """Weights in a dictionary from (key, label), and the two things that are done with them.

    always: words that have one label, by its number, and are not scored.
    """

    def __init__(self, labels, *, width, cost=0, right_to_left=False, allowed=None, always=None):
        self.n = len(labels)
        self.hashes = [hash64(label.encode()) for label in labels] + [hash64(b"\xffstart")]
        self.width = width
        self.cost = cost
        self.right_to_left = right_to_left
        self.allowed = allowed
        self.always = always or {}
        self.weights = {}
        self.sums = {}
        self.done = 0

    def order(self, words):
        return list(range(len(words)))[:: -1 if self.right_to_left else 1]

    def past(self, given):
        labels = [*given[::-1], self.n, self.n][:2]
        return [self.hashes[k] for k in labels]

    def score(self, words, i, given, label):
        if words[i] in self.always:
            return 0
        return sum(self.weights.get((key, label), 0) for key in keys_of(words, i, self.past(given)))

    def search(self, words, gold=None, cost=0, forced=None):
        """The best states after each step, as lists of (score, labels).

        forced: for each word -1, a label, several labels to choose from, or UNKNOWN.
        """
        states, steps = [(0, ())], []
        order = self.order(words)
        for step, i in enumerate(order):
            only = forced[i] if forced is not None else -1
            last = step == len(order) - 1
            found = self.extend(states, words, i, gold, cost, only, last)
            states = found or self.extend(states, words, i, gold, cost, only, last, lawless=True)
            steps.append(states)
        return steps

    def extend(self, states, words, i, gold, cost, only, last, lawless=False):
        best = {}
        is_scored = words[i] not in self.always
        only = only if is_scored else self.always[words[i]]
        if only == UNKNOWN:
            return [(score, (*given, self.n)) for score, given in states]
        for label in range(self.n):
            if only not in (-1, label) and not (isinstance(only, tuple) and label in only):
                continue
            for rank, (score, given) in enumerate(states):
                before = given[-1] if given else self.n
                if (
                    self.allowed is not None
                    and not lawless
                    and not (
                        self.allowed[before][label] and (not last or self.allowed[label][self.n])
                    )
                ):
                    continue
                total = score + self.score(words, i, given, label)
                if gold is not None and is_scored and gold[i] not in (-1, label):
                    total += cost
                memory = (label, given[-1] if given else self.n)
                if memory not in best or total > best[memory][0]:
                    best[memory] = (total, rank, (*given, label))
        families = {}
        for memory in best:
            first = min(
                r for r, (_, g) in enumerate(states) if (g[-1] if g else self.n) == memory[1]
            )
            families[memory] = first
        ranked = sorted(best.items(), key=lambda m: (-m[1][0], m[0][0], families[m[0]]))
        return [(total, given) for _, (total, _, given) in ranked[: self.width]]

    def tag(self, words, forced=None):
        labels = self.search(words, forced=forced)[-1][0][1] if words else ()
        return list(labels[::-1] if self.right_to_left else labels)

    def learn(self, words, gold):
        """One sentence of the perceptron; gold has -1 where there is no label."""
        labeled = sum(k >= 0 and w not in self.always for w, k in zip(words, gold, strict=True))
        if not labeled:
            return
        gold = [self.always.get(w, label) for w, label in zip(words, gold, strict=True)]
        is_whole = min(gold) >= 0
        if not is_whole:
            path = self.search(words, forced=gold)[-1][0][1]
        else:
            path = tuple(gold[i] for i in self.order(words))
        truth = 0
        violations = []
        steps = self.search(words, gold, self.cost)
        for step, i in enumerate(self.order(words)):
            truth += self.score(words, i, path[:step], path[step])
            violations.append(steps[step][0][0] - truth)
        # Where words have no label, only a prefix that is wrong in one that has is a violation.
        mistaken = [
            is_whole
            or any(
                path[k] != rival[k] and gold[i] >= 0
                for k, i in enumerate(self.order(words)[: len(rival)])
            )
            for rival in (states[0][1] for states in steps)
        ]
        worst = max(
            [v for v, counts in zip(violations, mistaken, strict=True) if counts], default=0
        )
        if worst > 0:
            length = next(k for k, v in enumerate(violations) if v == worst and mistaken[k]) + 1
        else:
            length = len(words) if violations[-1] == 0 and mistaken[-1] else 0
        rival = steps[length - 1][0][1] if length else ()
        changes = {}
        for step, i in list(enumerate(self.order(words)))[:length]:
            if words[i] in self.always:
                continue
            for labels, sign in ((path, 1), (rival, -1)):
                for key in keys_of(words, i, self.past(labels[:step])):
                    cell = key, labels[step]
                    changes[cell] = changes.get(cell, 0) + sign
        for cell, change in changes.items():
            self.weights[cell] = self.weights.get(cell, 0) + change
        for cell, weight in self.weights.items():
            self.sums[cell] = self.sums.get(cell, 0) + labeled * weight
        self.done += labeled
