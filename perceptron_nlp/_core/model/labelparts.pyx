# cython: language_level=3, freethreading_compatible=True
"""Labels made of parts: what tagging needs of them (parts.h)."""

from libc.stdint cimport int32_t

from perceptron_nlp.errors import ArgumentError

ctypedef fused Score:
    double
    int32_t


class _Trees:
    """Lists of numbers as trees: equal beginnings are one, within a group of lists. Its nodes stand
    by their depth, since a sum that needs that of the node just before waits for it."""

    def __init__(self):
        self.parent, self.number, self.nodes = [], [], {}

    def leaves(self, group, lists):
        """The nodes of lists, which are all of a group."""
        at = [-1] * len(lists)
        for depth in range(max(map(len, lists))):
            for i in range(len(lists)):
                if depth < len(lists[i]):
                    at[i] = self._node(group, at[i], lists[i][depth])
        return at

    def _node(self, group, at, number):
        key = (group, at, number)
        if key not in self.nodes:
            self.nodes[key] = len(self.number)
            self.parent.append(at)
            self.number.append(number)
        return self.nodes[key]


cdef class LabelParts:
    """The parts of every label, as trees (parts.h).

    Parameters
    ----------
    parts : for each label a list of part numbers, ascending, not empty; 0 to n_parts - 1
    n_parts : int
    slots : None, or for each part but wholes what it fills, from 0 on without gaps; parts of a slot
        stand together
    families : None, or for each label what others of its family have, too; with slots it changes
        the time alone that the best of many labels takes, if no label fills a slot twice
    n_wholes : how many parts, the last ones, fill none: 0, or one a label, in the order of labels

    Raises
    ------
    ArgumentError : a label has no parts, or they do not ascend or are out of range; slots that
        are too few, negative, or left out; another number of families than of labels
    """

    def __cinit__(self, parts, int n_parts, slots=None, families=None, int n_wholes=0):
        cdef int n = n_parts - n_wholes
        _check_parts(parts, n_parts)
        filled = [0] * n if slots is None else list(slots)
        n_slots = max(filled, default=0) + 1
        if len(filled) != n or (n and set(filled) != set(range(n_slots))):
            raise ArgumentError(
                f"slots: {n} numbers are needed, from 0 on and none of them left out")
        wholes = [[part for part in own if part >= n] for own in parts if n_wholes]
        if wholes != [[n + label] for label in range(n_wholes)]:
            raise ArgumentError("n_wholes: each label needs one, in the order of labels")
        kinds = [""] * len(parts) if families is None else list(families)
        if len(kinds) != len(parts):
            raise ArgumentError(f"families: {len(parts)} are needed, one a label")
        fills = [[filled[part] for part in own if part < n] for own in parts]
        if any([len(set(own)) < len(own) for own in fills]):
            kinds = [""] * len(parts)
        members_of = {}
        for label, kind in enumerate(kinds):
            # Found by strings, whose hash has a key; that of tuples of numbers has none.
            members_of.setdefault(str(kind), []).append(label)
        self.arrays, leaf, family = [], [0] * len(parts), [0] * len(parts)
        trees, bounds, keys = _Trees(), _Trees(), []
        family_nodes, family_labels, members = [0], [0], []
        for number, labels in enumerate(members_of.values()):
            lists = [parts[label] for label in labels]
            for label, node in zip(labels, trees.leaves(number, lists)):
                leaf[label], family[label] = node, number
            members += labels
            keys.append(_family_slots([fills[label] for label in labels], n_slots))
            family_nodes.append(len(trees.number))
            family_labels.append(len(members))
        family_leaf = bounds.leaves(0, keys)
        cdef Parts *x = &self.parts
        runs = [part for part in range(n) if not part or filled[part] != filled[part - 1]]
        x.n_labels, x.n_parts, x.n_pieces, x.n_runs = len(parts), n_parts, n, len(runs)
        x.n_slots, x.n_families = n_slots, len(members_of)
        x.parts.n, x.slots.n = len(trees.number), len(bounds.number)
        x.parts.parent, x.parts.number = self._keep(trees.parent), self._keep(trees.number)
        x.slots.parent, x.slots.number = self._keep(bounds.parent), self._keep(bounds.number)
        x.n_optional = max(bounds.number, default=0) - n_slots + 1
        x.leaf, x.family = self._keep(leaf), self._keep(family)
        x.run_slot = self._keep([filled[part] for part in runs])
        x.run_start = self._keep([*runs, n])
        x.family_leaf = self._keep(family_leaf)
        x.family_nodes, x.family_labels = self._keep(family_nodes), self._keep(family_labels)
        x.members = self._keep(members)

    cdef const int32_t *_keep(self, numbers) except NULL:
        """A pointer to the numbers, which live as long as this object."""
        cdef int32_t[::1] view = memoryview(bytearray(4 * (len(numbers) + 1))).cast("i")
        cdef Py_ssize_t i
        for i in range(len(numbers)):
            view[i] = numbers[i]
        self.arrays.append(view)
        return &view[0]

    @property
    def n_parts(self):
        """Number of parts that there may be."""
        return self.parts.n_parts

    def best(self, const Score[::1] part_scores, int but=-1):
        """(label, score): the highest one of all labels, or of all but one, the first of several;
        (-1, None) where there is none. `part_scores` are float64[n_parts] or int32[n_parts].
        """
        cdef bytearray room = bytearray(8 * parts_scratch(&self.parts))
        cdef Score *sums = <Score *><char *>room
        cdef int32_t label
        if part_scores.shape[0] != self.parts.n_parts:
            raise ArgumentError(f"part_scores: {self.parts.n_parts} are needed")
        if Score is double:
            label = best_but(&self.parts, &part_scores[0], but, sums)
        else:
            label = whole_best_but(&self.parts, &part_scores[0], but, sums)
        return label, None if label < 0 else sums[self.parts.leaf[label]]


def _family_slots(filled, int n_slots):
    """The slots that all labels of a family fill, and, above n_slots, those that only some do."""
    all_fill, some_fill = set(filled[0]), set()
    for slots in filled:
        all_fill.intersection_update(slots)
        some_fill.update(slots)
    return [slot if slot in all_fill else n_slots + slot for slot in sorted(some_fill)]


def _check_parts(parts, n_parts):
    if not len(parts):
        raise ArgumentError("parts: there are no labels")
    for label, numbers in enumerate(parts):
        if not len(numbers):
            raise ArgumentError(f"parts[{label}]: a label needs at least one part")
        if [*numbers] != sorted({*numbers}) or not 0 <= numbers[0] <= numbers[-1] < n_parts:
            raise ArgumentError(
                f"parts[{label}]: numbers from 0 to {n_parts - 1} are needed, ascending")
