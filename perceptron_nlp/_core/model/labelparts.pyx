# cython: language_level=3, freethreading_compatible=True
"""Labels made of parts: what tagging needs of them (parts.h)."""

from libc.stdint cimport int32_t

from perceptron_nlp.errors import ArgumentError


class _Trees:
    """Lists of numbers as trees: equal beginnings are one, within a group of lists."""

    def __init__(self):
        self.parent, self.number, self.nodes = [], [], {}

    def leaf(self, group, numbers):
        """The node of a list."""
        at = -1
        for number in numbers:
            key = (group, at, number)
            if key not in self.nodes:
                self.nodes[key] = len(self.number)
                self.parent.append(at)
                self.number.append(number)
            at = self.nodes[key]
        return at


cdef class LabelParts:
    """The parts of every label, as trees (parts.h).

    Parameters
    ----------
    parts : for each label a list of part numbers, ascending, not empty; 0 to n_parts - 1
    n_parts : int
    slots : None, or for each part what it fills, from 0 on without gaps; parts of a slot stand
        together
    families : None, or for each label what others of its family have, too; with slots it changes
        nothing but the time that the best of many labels takes

    Raises
    ------
    ArgumentError : a label has no parts, or they do not ascend or are out of range; slots that
        are too few, negative, or left out; another number of families than of labels
    """

    def __cinit__(self, parts, int n_parts, slots=None, families=None):
        _check_parts(parts, n_parts)
        filled = [0] * n_parts if slots is None else list(slots)
        n_slots = max(filled, default=0) + 1
        if len(filled) != n_parts or (n_parts and set(filled) != set(range(n_slots))):
            raise ArgumentError(
                f"slots: {n_parts} numbers are needed, from 0 on and none of them left out")
        kinds = [""] * len(parts) if families is None else list(families)
        if len(kinds) != len(parts):
            raise ArgumentError(f"families: {len(parts)} are needed, one a label")
        members_of = {}
        for label, kind in enumerate(kinds):
            # Found by strings, whose hash has a key; that of tuples of numbers has none.
            members_of.setdefault(str(kind), []).append(label)
        self.arrays = []
        leaf, family = [0] * len(parts), [0] * len(parts)
        trees, slot_trees = _Trees(), _Trees()
        family_leaf, family_nodes, family_labels, members = [], [0], [0], []
        for number, labels in enumerate(members_of.values()):
            for label in labels:
                leaf[label] = trees.leaf(number, parts[label])
                family[label] = number
            members += labels
            own = [[filled[part] for part in parts[label]] for label in labels]
            family_leaf.append(slot_trees.leaf(0, _family_slots(own, n_slots)))
            family_nodes.append(len(trees.number))
            family_labels.append(len(members))
        cdef Parts *x = &self.parts
        runs = [part for part in range(n_parts) if not part or filled[part] != filled[part - 1]]
        x.n_labels, x.n_parts, x.n_runs = len(parts), n_parts, len(runs)
        x.n_slots, x.n_families = n_slots, len(members_of)
        x.parts.n, x.slots.n = len(trees.number), len(slot_trees.number)
        x.parts.parent, x.parts.number = self._keep(trees.parent), self._keep(trees.number)
        x.slots.parent = self._keep(slot_trees.parent)
        x.slots.number = self._keep(slot_trees.number)
        x.n_optional = max(slot_trees.number, default=0) - n_slots + 1
        x.leaf, x.family = self._keep(leaf), self._keep(family)
        x.run_slot = self._keep([filled[part] for part in runs])
        x.run_start = self._keep([*runs, n_parts])
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

    def best(self, part_scores, int but=-1):
        """The label with the highest score of all but one, the first of several.

        Parameters
        ----------
        part_scores : float64[n_parts], or int32[n_parts]
        but : a label that is left out; -1 for none

        Returns
        -------
        (label, score); (-1, None) where there is no label
        """
        # Here, since tagging does without NumPy.
        import numpy as np

        if len(part_scores) != self.parts.n_parts:
            raise ArgumentError(f"part_scores: {self.parts.n_parts} are needed")
        if np.asarray(part_scores).dtype == np.int32:
            return self._best_whole(np.append(part_scores, np.int32(0)), but)
        return self._best(np.append(np.asarray(part_scores, np.float64), 0.0), but)

    cdef _best(self, const double[::1] scores, int but):
        cdef double[::1] scratch = memoryview(
            bytearray(8 * parts_scratch(&self.parts))).cast("d")
        cdef int32_t label = best_but(&self.parts, &scores[0], but, &scratch[0])
        return label, None if label < 0 else scratch[self.parts.leaf[label]]

    cdef _best_whole(self, const int32_t[::1] scores, int but):
        cdef int32_t[::1] scratch = memoryview(
            bytearray(4 * parts_scratch(&self.parts))).cast("i")
        cdef int32_t label = whole_best_but(&self.parts, &scores[0], but, &scratch[0])
        return label, None if label < 0 else scratch[self.parts.leaf[label]]


def _family_slots(filled, int n_slots):
    """The slots that all labels of a family fill, and, above n_slots, those that only some do."""
    least, most = None, {}
    for slots in filled:
        counts = {}
        for slot in slots:
            counts[slot] = counts.get(slot, 0) + 1
        for slot, n in counts.items():
            most[slot] = max(n, most.get(slot, 0))
        least = counts if least is None else {
            slot: min(n, counts[slot]) for slot, n in least.items() if slot in counts}
    key = []
    for slot in sorted(most):
        n_sure = least.get(slot, 0)
        key += [slot] * n_sure + [n_slots + slot] * (most[slot] - n_sure)
    return key


def _check_parts(parts, n_parts):
    if not len(parts):
        raise ArgumentError("parts: there are no labels")
    for label, numbers in enumerate(parts):
        before = -1
        if not len(numbers):
            raise ArgumentError(f"parts[{label}]: a label needs at least one part")
        for number in numbers:
            if not before < number < n_parts:
                raise ArgumentError(
                    f"parts[{label}]: numbers from 0 to {n_parts - 1} are needed, ascending")
            before = number
