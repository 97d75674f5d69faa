"""The table: every promise, the figure it must reach, and its check."""

from __future__ import annotations

from benchmarks.trust import (
    annotating,
    arguments,
    averages,
    damage,
    exhaustion,
    hashes,
    kills,
    memory,
    neighbours,
    reading,
    resuming,
    sameness,
    sources,
    threads,
)
from benchmarks.trust.reached import Row

ROWS = (
    Row(
        "M1",
        "a damaged model never loads",
        "100,000 mutants refused, no crash, no hang, at most 2× the memory of a good load",
        damage.mutants,
        (("python-crfsuite", neighbours.crfsuite_mutants), ("NLTK", neighbours.nltk_mutants)),
    ),
    Row("M2", "a damaged model says so", "every refusal names the file and the cause", damage.said),
    Row(
        "M3",
        "a hostile header allocates nothing it claims",
        "peak memory below 64 MB",
        damage.hostile_headers,
    ),
    Row("M4", "a foreign model gets a clear error", "all", damage.foreign_files),
    Row("M5", "loading runs no code", "no pickle, eval or import in the way", sources.no_code),
    Row("M6", "the same model on any machine", "byte-equal in 20 runs", sameness.same_bytes),
    Row(
        "R1",
        "malformed text is refused with file:line",
        "≥ 99 % name the very line",
        reading.wrong_lines,
    ),
    Row("R2", "odd but valid text is read", "all, written back as they came", reading.odd_texts),
    Row(
        "T1",
        "one tagger serves many threads",
        "8 threads × 10^6 words, no difference",
        threads.many_threads,
    ),
    Row("A1", "averages are exact", "drift ≤ 1e-9 after 10^8 examples", averages.averages),
    Row("A2", "counters do not overflow", "right, or a clear error", averages.overflow),
    Row(
        "K1",
        "a kill while saving leaves a whole model",
        "500 of 500",
        kills.kill_during_save,
        (("python-crfsuite", neighbours.crfsuite_kills), ("NLTK", neighbours.nltk_kills)),
    ),
    Row(
        "K2",
        "a kill while training loses nothing saved",
        "the same bytes after resuming",
        resuming.killed,
    ),
    Row(
        "K3",
        "Ctrl-C ends training and tagging in order",
        "all within 1 s, exit 130",
        kills.interrupted,
        alone=True,
    ),
    Row("K4", "where nothing can be written, nothing is lost", "all", kills.nowhere_to_write),
    Row(
        "K5",
        "a kill while annotating loses nothing accepted",
        "500 kills, nothing lost",
        annotating.killed,
    ),
    Row(
        "S1",
        "long runs do not grow, nor take more than cache_size",
        "< 1 % over 10^8 new words, and over 9 · 10^6 of running text",
        memory.steady,
    ),
    Row("S2", "caches are bounded", "below their limit", memory.caches),
    Row(
        "S3",
        "memory bounds training",
        "within the limit, or a clear error before work is lost",
        memory.bounded_training,
    ),
    Row(
        "S4",
        "text is unpacked in bounded memory",
        "< 128 MB more for 294 MB of hostile text",
        memory.unpacking,
    ),
    Row("H1", "hash flooding gains nothing", "≤ 2× slower", hashes.flooding, alone=True),
    Row("H2", "collisions are known", "reported by inspect", hashes.collisions),
    Row(
        "O1",
        "running out of memory breaks nothing",
        "MemoryError, old state intact",
        exhaustion.allocations,
    ),
    Row("O2", "no undefined behavior", "0 reports", exhaustion.undefined),
    Row("O3", "no leaks", "0 leaks of the core", exhaustion.leaks),
    Row(
        "C1",
        "arguments are checked",
        "a typed error that names it, or the documented result",
        arguments.checked,
    ),
)
