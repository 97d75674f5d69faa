# cython: language_level=3
# cython: freethreading_compatible=True
"""Greedy training of the weights of the parts that labels are made of (factored.h)."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

from perceptron_nlp._core.features.extract cimport Program
from perceptron_nlp._core.model.labelparts cimport LabelParts, Parts, parts_scratch
from perceptron_nlp._core.table.table cimport Table
from perceptron_nlp._core.train.train cimport (
    Counts, Rule, Scratch, checked_order, checked_rule, learn_in_order,
)
from perceptron_nlp._core.train.trainingset cimport Corpus, TrainingSet
from perceptron_nlp.errors import ArgumentError

cdef extern from "train/factored.h" nogil:
    ctypedef struct PartRows:
        int64_t done
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
    cdef const int64_t[::1] sentences = checked_order(data, order)
    cdef Rule r
    cdef Scratch scratch = Scratch()
    cdef Factored x
    cdef CopiedRows copied = CopiedRows() if copies is None else copies
    cdef Table *t = &data.table.table
    if rule not in ("perceptron", "margin", "adagrad"):
        raise ArgumentError(f"rule: {rule} does not learn labels made of parts")
    r = checked_rule(data, rule, rate, margin)
    if t.n_labels != labels.parts.n_parts:
        raise ArgumentError(
            f"labels: {labels.parts.n_parts} parts, but the table has {t.n_labels}")
    x.program = &data.program.program
    x.table = t
    x.copies = &copied.rows
    x.corpus = &data.corpus
    x.rule = &r
    x.parts = &labels.parts
    x.right_to_left = right_to_left
    x.rows = <int32_t *>scratch.of((data.most_rows + 1) * sizeof(int32_t))
    x.new_keys = <uint64_t *>scratch.of((x.program.n_history + 1) * sizeof(uint64_t))
    x.part_scores = <double *>scratch.of(t.n_labels * sizeof(double))
    x.scratch = <double *>scratch.of(parts_scratch(&labels.parts) * sizeof(double))
    x.differing = <int32_t *>scratch.of((t.n_labels + 1) * sizeof(int32_t))
    x.steps = <double *>scratch.of((t.n_labels + 1) * sizeof(double))
    partrows_begin(x.copies, t)
    return learn_in_order(sentences, _learn_parts, &x)


cdef int _learn_parts(void *learner, const int64_t *order, int64_t i, int64_t n,
                      Counts *counts) noexcept nogil:
    cdef const Factored *x = <const Factored *>learner
    if learn_parts_of_sentence(x, order[i], counts) < 0:
        return -1
    # Whatever interrupts the pass after this sentence finds that they agree.
    x.copies.done = x.table.done
    return 0
