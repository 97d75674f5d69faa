"""Training on much text, with and without a bound on memory.

    PERCEPTRON_NLP_CORPORA=… python benchmarks/large.py 2000000 --max-memory 600MB

The training text is English-EWT's, repeated until it has so many words; in each repetition the
sentences come in another order, and one word in fifty has a letter changed, so that distinct words
and features grow with the text, too. Prints a Markdown table of whole commands: CPU time for each
word and epoch (reading and making the model in it), peak memory, and whether the bound changed the
model. The first row is the treebank as it is.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from corpora import treebank

VARIED = 50
LETTERS = "abcdefghijklmnopqrstuvwxyz"
PEAK = (
    "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:]);"
    " print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss);"
    " sys.exit(done.returncode)"
)


def varied(sentence: list[str], chance: random.Random) -> Iterator[str]:
    """The lines of a sentence, a letter changed in some of its words."""
    for line in sentence:
        if line[:1].isdigit() and chance.randrange(VARIED) == 0:
            fields = line.split("\t")
            at = chance.randrange(len(fields[1]))
            fields[1] = fields[1][:at] + chance.choice(LETTERS) + fields[1][at + 1 :]
            line = "\t".join(fields)
        yield line


def write_text(path: Path, n_tokens: int) -> int:
    """Write about so many words of training text; how many there are."""
    text = Path(treebank("EWT", "train")).read_text(encoding="utf-8")
    sentences = [block.split("\n") for block in text.strip("\n").split("\n\n")]
    lengths = [sum(line.partition("\t")[0].isdigit() for line in lines) for lines in sentences]
    chance = random.Random(1)
    order = list(range(len(sentences)))
    written = 0
    with path.open("w", encoding="utf-8") as file:
        first = True
        while written < n_tokens:
            for number in order:
                lines = sentences[number] if first else varied(sentences[number], chance)
                file.write("\n".join(lines) + "\n\n")
                written += lengths[number]
                if written >= n_tokens and not first:
                    break
            first = False
            chance.shuffle(order)
    return written


def train(
    text: Path, model: Path, epochs: int, limit: str | None, options: list[str]
) -> tuple[float, float]:
    """CPU seconds and peak megabytes of a whole training."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            PEAK,
            sys.executable,
            "-m",
            "perceptron_nlp",
            "train",
            str(text),
            "--model",
            str(model),
            "--epochs",
            str(epochs),
            "--quiet",
            *options,
            *(["--max-memory", limit] if limit else []),
        ],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, int(done.stdout) / (1e6 if sys.platform == "darwin" else 1000)


def main() -> None:
    """Write the texts, train on each twice, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tokens", type=int, nargs="+", help="words of text, at least a treebank's")
    parser.add_argument("--max-memory", default="1GB", help="the bound, for every size")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--bounded-only", action="store_true", help="do not train without bound")
    parser.add_argument(
        "--options", default="--templates default", help="options of the trainings, in one argument"
    )
    given = parser.parse_args()
    print("| words | bound | CPU s | ns a word and epoch | peak MB | same model |")
    print("|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        text, model = Path(folder) / "text.conllu", Path(folder) / "model"
        for wanted in (0, *given.tokens):
            words = write_text(text, max(1, wanted))
            digests = []
            for limit in (given.max_memory,) if given.bounded_only else (None, given.max_memory):
                seconds, peak = train(text, model, given.epochs, limit, given.options.split())
                digests.append(hashlib.sha256(model.read_bytes()).digest())
                same = "" if len(digests) < 2 else "yes" if digests[0] == digests[1] else "NO"
                print(
                    f"| {words:,} | {limit or 'none'} | {seconds:.1f}"
                    f" | {1e9 * seconds / words / given.epochs:.0f} | {peak:.0f} | {same} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
