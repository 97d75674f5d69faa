"""Each check seen to fail: the protection is taken out of a copy, where its check must break."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.trust import builds
from benchmarks.trust.children import ROOT, environment


class Removal(NamedTuple):
    """One protection and how to take it out: a piece of a source, and what stands in its place.

    ``builds``: the check compiles the headers of the core itself and needs no extensions of them.
    """

    row: str
    what: str
    source: str
    old: str
    new: str
    builds: bool = False


_CORE = "_core/"
REMOVALS = (
    Removal(
        "M1",
        "the checksum is not compared",
        "formats/tensorfile.py",
        "    if not intact:",
        "    if False:",
    ),
    Removal(
        "M2",
        "messages leave out the cause",
        "formats/tensorfile.py",
        "damaged: its checksum does not fit; get it again",
        "no good",
    ),
    Removal(
        "M3",
        "a fixed table is laid out as large as the file says",
        "_core/model/frozen.h",
        "t->direct = fixed_bits && (uint64_t)1 << fixed_bits <= 8 * n_rows + 4096;",
        "t->direct = fixed_bits > 0;",
    ),
    Removal(
        "M3",
        "starts of groups may fall, and lead anywhere",
        "tagger/model/weights.py",
        "or borders != sorted(borders)",
        "or False",
    ),
    Removal(
        "M3",
        "any positive scale is taken",
        "tagger/model/weights.py",
        "if not math.isfinite(2**31 / scale):",
        "if False:",
    ),
    Removal(
        "M4",
        "the version is not looked at",
        "tagger/model/file.py",
        'if metadata.get("format_version") not in versions:',
        "if False:",
    ),
    Removal(
        "M5",
        "pickle comes in",
        "tagger/model/model.py",
        "from typing import TYPE_CHECKING, Any, NamedTuple\n",
        "from typing import TYPE_CHECKING, Any, NamedTuple\nimport pickle\n",
    ),
    Removal(
        "M6",
        "the order of sentences hangs on Python's hash seed",
        "tagger/train/loop.py",
        "permutation(self.n_sentences, self.seed(run),",
        "permutation(self.n_sentences, hash('seed') & 0xFFFF,",
    ),
    Removal(
        "M6",
        "plain C takes scores for numbers without sign",
        "_core/model/packed.h",
        "int32_t score = (int16_t)parts",
        "int32_t score = parts",
    ),
    Removal(
        "R1",
        "errors name the first line of the sentence",
        "formats/conllu_rules.py",
        "raise FormatError(what, self.path, self.first_line + row)",
        "raise FormatError(what, self.path, self.first_line)",
    ),
    Removal(
        "R2",
        "a byte order mark stays",
        "formats/conllu.py",
        "start = 1 if block.startswith(BOM) else 0",
        "start = 0",
    ),
    Removal(
        "T1",
        "threads share one worker",
        "_core/tag/decode.pyx",
        "return self.idle.pop()",
        "return self.idle[-1]",
    ),
    Removal(
        "A1",
        "rows are settled for one example too many",
        "_core/table/weights.pxd",
        "cdef double quiet = <double>(t.done - r.last_update[0])",
        "cdef double quiet = <double>(t.done + 1 - r.last_update[0])",
    ),
    Removal(
        "A2",
        "examples are counted in 32 bits",
        "_core/table/weights.pxd",
        "cdef double quiet = <double>(t.done - r.last_update[0])",
        "cdef double quiet = <double>(<int32_t>(t.done - r.last_update[0]))",
    ),
    Removal(
        "K1",
        "the file is written in place",
        "formats/replace.py",
        'opened.extend(map(partial(FileIO, mode="xb", opener=opener), [temporary]))',
        'temporary = place.target; opened.append(FileIO(temporary, "wb"))',
    ),
    Removal(
        "K2",
        "what averages need is not saved",
        "_core/table/weights.pyx",
        "            r.total[k] = total[at]\n",
        "            pass\n",
    ),
    Removal(
        "K3",
        "Ctrl-C is not caught",
        "cli/main.py",
        "except KeyboardInterrupt as error:",
        "except ZeroDivisionError as error:",
    ),
    Removal(
        "K4",
        "failures to write go through",
        "formats/replace.py",
        "        raise\n    except OSError as error:",
        "        raise\n    except ZeroDivisionError as error:",
    ),
    Removal(
        "K5",
        "the file is not written",
        "annotation/treebank.py",
        "            self._file.write(self._in_text_order(records))\n",
        "            pass\n",
    ),
    Removal(
        "S1",
        "the cache is never emptied",
        "_core/tag/typecache.h",
        "    return c->n_types + types > l->most_types ||",
        "    return 0 && c->n_types + types > l->most_types &&",
    ),
    Removal(
        "S2",
        "the cache counts words but not their text",
        "_core/tag/typecache.h",
        "cache_bytes(c, l) + text > cache_most(l)",
        "cache_bytes(c, l) - c->text_used > cache_most(l)",
    ),
    Removal(
        "S3",
        "running out of memory goes through as it comes",
        "tagger/api.py",
        "    except MemoryError:\n",
        "    except ZeroDivisionError:\n",
    ),
    Removal(
        "S4",
        "sentences have no limit",
        "formats/lines.py",
        "LONGEST = 1 << 24",
        "LONGEST = 1 << 40",
    ),
    Removal(
        "S4",
        "sentences of running text have any number of characters",
        "tagger/tag/segment.py",
        "WINDOW = 40_000",
        "WINDOW = 1 << 40",
    ),
    Removal(
        "H1",
        "words are looked up by XXH64",
        "_core/tag/typelayout.h",
        "    return secrets[0] + secrets[1] *",
        "    uint64_t both[2] = {w->head, w->tail};\n"
        "    if (w->length) return xxh64((const uint8_t *)both, 16, 0);\n"
        "    return secrets[0] + secrets[1] *",
    ),
    Removal(
        "H1",
        "words of files are numbered by XXH64",
        _CORE + "conllu/numbering.h",
        "word_hash(&word, word_mark(&word, 0), x->secrets);",
        "xxh64(f->text, f->length, 0) + 0 * word.head;",
    ),
    Removal(
        "H1",
        "known lemmas are looked up by a hash without a secret base",
        _CORE + "text/lemmatizer.pyx",
        "cdef uint64_t base = draw_secret() | 1",
        "cdef uint64_t base = 0x9E3779B97F4A7C15",
    ),
    Removal(
        "H1",
        "words beside which tokens end are looked up without a key",
        _CORE + "text/atoms.h",
        "x->multiplier = secret | 1;",
        "x->multiplier = XXH_P1 + 0 * secret;",
    ),
    Removal(
        "H1",
        "sets of labels are looked up by the hash of frozensets",
        _CORE + "model/frozenmodel.pyx",
        "sets.setdefault(str(sorted(set(labels))), (len(sets), labels))",
        "sets.setdefault(str(sorted(set(labels))), (len(sets), labels))\n"
        "        {frozenset(labels) for labels in lexicon.values()}",
    ),
    Removal(
        "H2",
        "fixed tables report nothing",
        "analysis/inspection.py",
        "return 0.0 if weights.table_bits is None else",
        "return 0.0 if True else",
    ),
    Removal(
        "O1",
        "no room is made before an update",
        "_core/table/weights.pxd",
        "        return 0\n    if t.is_full:\n",
        "        return 0\n    return 0\n    if t.is_full:\n",
    ),
    Removal(
        "O1",
        "a sentence is learned while its cells are made",
        "_core/train/search.pyx",
        "    x.n_changes += 1\n",
        "    learn_step(&x.rule, &cells, touch(x.table, row, label, &cells), change.step)\n",
    ),
    Removal(
        "O1",
        "parts are added before their cells are made",
        "_core/train/factored.pyx",
        "            if make_cell(t, rows[i], x.differing[k], &cells) < 0:\n"
        "                return -1\n",
        "            learn_step(\n"
        "                &x.rule, &cells, touch(t, rows[i], x.differing[k], &cells), 0)\n",
    ),
    Removal(
        "O2",
        "the totals of rows have half the room that they need",
        "_core/table/weights.pxd",
        "calloc(<size_t>1 << t.chunk_bits, t.width * sizeof(double))",
        "calloc(<size_t>1 << t.chunk_bits, t.width * sizeof(double) // 2)",
        builds=True,
    ),
    Removal(
        "O3",
        "closing a table forgets a part",
        "_core/table/weights.pyx",
        "    free(t.words)\n",
        "    pass\n",
    ),
    Removal(
        "C1",
        "what stands for words is not looked at",
        "_checks.py",
        "if isinstance(tokens, str | bytes) or not isinstance(tokens, Iterable):",
        "if False:",
    ),
)


def show(rows: list[str]) -> int:
    """Take out the protections of these rows, one after the other; 1 where a check still passes."""
    unseen = 0
    chosen = [removal for removal in REMOVALS if removal.row in rows]
    for number, removal in enumerate(chosen, 1):
        begin = time.monotonic()
        failed, said = _fails(f"removed-{number}", removal)
        unseen += not failed
        print(
            f"{removal.row}  {removal.what}\n    {'seen to fail' if failed else 'NOT SEEN'}"
            f"  {said}  [{time.monotonic() - begin:.0f} s]  ({number} of {len(chosen)})",
            flush=True,
        )
    print(f"{len(chosen) - unseen} of {len(chosen)} removals seen to fail")
    return 1 if unseen else 0


def _fails(name: str, removal: Removal) -> tuple[bool, str]:
    is_core = removal.source.startswith(_CORE) and not removal.builds
    tree = builds.copied(name, with_core=True)
    _edit(tree / "perceptron_nlp" / removal.source, removal)
    try:
        if is_core:
            builds.build(tree, {})
    except builds.BuildFailed as error:
        return False, f"not built: {error}"
    try:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.trust", "--quick", removal.row],
            cwd=tree,
            env=environment(root=tree),
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )
    except subprocess.TimeoutExpired:
        return True, "it never ended"
    lines = [line.strip() for line in done.stdout.splitlines() if line.startswith("    ")]
    last = done.stderr.strip().splitlines()[-1:] or [""]
    return done.returncode != 0, lines[0] if lines else f"exit {done.returncode}: {last[0]}"


def _edit(source: Path, removal: Removal) -> None:
    text = source.read_text("utf-8")
    if removal.old not in text:
        raise ValueError(f"{removal.source}: {removal.old!r} is not there (any more)")
    source.write_text(text.replace(removal.old, removal.new), "utf-8")


def stale() -> list[str]:
    """Removals whose place is not in the sources any more."""
    return [
        f"{removal.row}: {removal.source}: {removal.old}"
        for removal in REMOVALS
        if removal.old not in (ROOT / "perceptron_nlp" / removal.source).read_text("utf-8")
    ]
