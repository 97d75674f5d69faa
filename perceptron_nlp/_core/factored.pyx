# cython: language_level=3
# cython: freethreading_compatible=True
"""Labels made of parts, and greedy training of the weights of their parts (factored.h)."""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from perceptron_nlp._core.extract cimport Program
from perceptron_nlp._core.train cimport Corpus, Counts, Rule, TrainingSet
from perceptron_nlp._core.train import BLOCK, RULES
from perceptron_nlp._core.weights cimport Table
from perceptron_nlp.errors import ArgumentError, MemoryLimitError

cdef extern from "factored.h" nogil:
    ctypedef struct Factored:
        const Program *program
        Table *table
        PartRows *copies
        const Corpus *corpus
        const Rule *rule
        const Parts *parts
        int right_to_left
        int32_t *rows
        uint64_t *new_keys
        double *part_scores
        double *scratch
        int32_t *differing
        double *steps
    void partrows_begin(PartRows *x, const Table *t) noexcept
    void partrows_clear(PartRows *x) noexcept
    int learn_parts_of_sentence(const Factored *x, int64_t sentence, Counts *counts) noexcept


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
    slots : None, or for each part what it fills, from 0 on without gaps; it changes nothing but
        the time that the best of thousands of labels takes

    Raises
    ------
    ArgumentError : a label has no parts, or they do not ascend or are out of range; slots that
        are too few, negative, or left out
    """

    def __cinit__(self, parts, int n_parts, slots=None):
        _check_parts(parts, n_parts)
        filled = [0] * n_parts if slots is None else list(slots)
        n_slots = max(filled, default=0) + 1
        if len(filled) != n_parts or (n_parts and set(filled) != set(range(n_slots))):
            raise ArgumentError(
                f"slots: {n_parts} numbers are needed, from 0 on and none of them left out")
        families = {}
        for label, numbers in enumerate(parts):
            key = () if slots is None else tuple(filled[number] for number in numbers)
            families.setdefault(key, []).append(label)
        self.arrays = []
        leaf, family = [0] * len(parts), [0] * len(parts)
        trees, slot_trees = _Trees(), _Trees()
        family_leaf, family_nodes, family_labels, members = [], [0], [0], []
        for number, (key, labels) in enumerate(families.items()):
            for label in labels:
                leaf[label] = trees.leaf(number, parts[label])
                family[label] = number
            members += labels
            family_leaf.append(slot_trees.leaf(0, key))
            family_nodes.append(len(trees.number))
            family_labels.append(len(members))
        cdef Parts *x = &self.parts
        x.n_labels, x.n_parts = len(parts), n_parts
        x.n_slots, x.n_families = n_slots, len(families)
        x.parts.n, x.slots.n = len(trees.number), len(slot_trees.number)
        x.parts.parent, x.parts.number = self._keep(trees.parent), self._keep(trees.number)
        x.slots.parent = self._keep(slot_trees.parent)
        x.slots.number = self._keep(slot_trees.number)
        x.leaf, x.slot, x.family = self._keep(leaf), self._keep(filled), self._keep(family)
        x.family_leaf = self._keep(family_leaf)
        x.family_nodes, x.family_labels = self._keep(family_nodes), self._keep(family_labels)
        x.members = self._keep(members)

    cdef const int32_t *_keep(self, numbers) except NULL:
        """A pointer to the numbers, which live as long as this object."""
        array = np.array([*numbers, 0], np.int32)
        cdef const int32_t[::1] view = array
        self.arrays.append(array)
        return &view[0]

    @property
    def n_labels(self):
        """Number of labels."""
        return self.parts.n_labels

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
        if len(part_scores) != self.parts.n_parts:
            raise ArgumentError(f"part_scores: {self.parts.n_parts} are needed")
        if np.asarray(part_scores).dtype == np.int32:
            return self._best_whole(np.append(part_scores, np.int32(0)), but)
        return self._best(np.append(np.asarray(part_scores, np.float64), 0.0), but)

    cdef _best(self, const double[::1] scores, int but):
        cdef double[::1] scratch = np.zeros(parts_scratch(&self.parts))
        cdef int32_t label = best_but(&self.parts, &scores[0], but, &scratch[0])
        return label, None if label < 0 else scratch[self.parts.leaf[label]]

    cdef _best_whole(self, const int32_t[::1] scores, int but):
        cdef int32_t[::1] scratch = np.zeros(parts_scratch(&self.parts), np.int32)
        cdef int32_t label = whole_best_but(&self.parts, &scores[0], but, &scratch[0])
        return label, None if label < 0 else scratch[self.parts.leaf[label]]


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


cdef class CopiedRows:
    """Copies of the rows that most time goes into, kept from one piece of training to the next
    (partrows.h)."""

    cdef PartRows rows

    def __cinit__(self):
        memset(&self.rows, 0, sizeof(PartRows))

    def __dealloc__(self):
        partrows_clear(&self.rows)


def learn_factored(TrainingSet data not None, LabelParts labels not None, order, *,
                   rule="perceptron", double rate=1.0, double margin=1.0,
                   bint right_to_left=False, CopiedRows copies=None):
    """Go once over some sentences, labelling each and learning from its mistakes.

    Parameters
    ----------
    data : TrainingSet; its table has as many labels as there are parts
    labels : what the labels of `data` are made of
    order, rule, rate, margin, right_to_left : as for train.learn; the rule is not
        "passive-aggressive"
    copies : None, or what earlier calls with the same table were given, and no other call: it
        changes nothing but the time that training takes

    Returns
    -------
    (examples, mistakes, updates) : as for train.learn

    Raises
    ------
    ArgumentError : numbers out of range, or a rule that parts are not learnt by
    MemoryLimitError : no memory for a new weight
    """
    cdef const int64_t[::1] sentences = np.append(np.ascontiguousarray(order, np.int64),
                                                  np.int64(0))
    cdef int64_t n = sentences.shape[0] - 1, at, end, i
    cdef int status = 0
    cdef Rule r
    cdef Counts counts
    cdef Factored x
    cdef CopiedRows copied = CopiedRows() if copies is None else copies
    cdef Table *t = &data.table.table
    if n and (np.min(order) < 0 or np.max(order) >= data.n_sentences):
        raise ArgumentError(f"order: sentence numbers run from 0 to {data.n_sentences - 1}")
    if rule not in ("perceptron", "margin", "adagrad"):
        raise ArgumentError(f"rule: {rule} does not learn labels made of parts")
    if rule == "adagrad" and not t.with_gradient:
        raise ArgumentError("rule: adagrad needs a table made with gradients=True")
    if t.n_labels != labels.parts.n_parts:
        raise ArgumentError(
            f"labels: {labels.parts.n_parts} parts, but the table has {t.n_labels}")
    r.kind = RULES.index(rule)
    r.rate = rate
    r.margin = margin
    r.scale = 1
    memset(&counts, 0, sizeof(counts))
    x.program = &data.program.program
    x.table = t
    x.copies = &copied.rows
    x.corpus = &data.corpus
    x.rule = &r
    x.parts = &labels.parts
    x.right_to_left = right_to_left
    x.rows = <int32_t *>malloc((data.most_rows + 1) * sizeof(int32_t))
    x.new_keys = <uint64_t *>malloc((x.program.n_history + 1) * sizeof(uint64_t))
    x.part_scores = <double *>malloc(t.n_labels * sizeof(double))
    x.scratch = <double *>malloc(parts_scratch(&labels.parts) * sizeof(double))
    x.differing = <int32_t *>malloc((t.n_labels + 1) * sizeof(int32_t))
    x.steps = <double *>malloc((t.n_labels + 1) * sizeof(double))
    try:
        if (x.rows == NULL or x.new_keys == NULL or x.part_scores == NULL or x.scratch == NULL
                or x.differing == NULL or x.steps == NULL):
            raise MemoryLimitError("no memory to train with")
        partrows_begin(x.copies, t)
        for at in range(0, n, BLOCK):
            end = min(at + <int64_t>BLOCK, n)
            with nogil:
                for i in range(at, end):
                    status = learn_parts_of_sentence(&x, sentences[i], &counts)
                    if status < 0:
                        break
            if status < 0:
                raise MemoryLimitError("no memory for a new weight; use table_bits or less data")
            x.copies.done = t.done
            PyErr_CheckSignals()
    finally:
        free(x.rows)
        free(x.new_keys)
        free(x.part_scores)
        free(x.scratch)
        free(x.differing)
        free(x.steps)
    return counts.examples, counts.mistakes, counts.updates
