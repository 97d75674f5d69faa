"""Which language is a sentence of? A classifier of forty lines, learned from a folder of treebanks.

python benchmarks/which_language.py FOLDER [-o FILE] [--limit SENTENCES]
"""

import argparse
import heapq
from collections import Counter, defaultdict
from itertools import islice
from pathlib import Path

import numpy as np

import perceptron_nlp as pn


# docs: begin
def pieces(text: str) -> set[str]:
    """The runs of one to five characters within the words of a text."""
    words = [f" {word} " for word in text.lower().split()]
    return {
        word[i : i + n] for word in words for n in range(1, 6) for i in range(len(word) - n + 1)
    }


def telling(samples: list[set[str]], codes: list[str], most: int) -> list[str]:
    """The commonest pieces of each language, and those that no other language has as often."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for sample, code in zip(samples, codes, strict=True):
        counts[code].update(sample)
    sizes, shares = Counter(codes), defaultdict(list)
    for code, found in counts.items():
        for piece, n in found.items():
            if n > 2:
                shares[piece].append((n / sizes[code], code))
    ranked: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
    for piece, found in shares.items():
        (share, code), (other, _) = heapq.nlargest(2, [*found, (0.0, "")])
        ranked[code].append((share - other, piece))
    kept = {piece for found in counts.values() for piece, _ in found.most_common(most // 3)}
    best = [pair for found in ranked.values() for pair in heapq.nlargest(most, found)]
    return sorted(kept.union(piece for _, piece in best))


def short(text: str) -> str:
    """Two words of a text."""
    words = text.split()
    first = len(text) % max(len(words) - 1, 1)
    return " ".join(words[first : first + 2])


def learned(texts: list[str], codes: list[str], most: int = 600) -> dict[str, np.ndarray]:
    """Learn from texts and parts of them, and keep weights of eight bits."""
    found = [pieces(text) for text in (*texts, *map(short, texts))]
    codes = [*codes, *codes]
    names = telling(found, codes, most)
    # The first sample has every piece, so that columns stand in the order of the names.
    samples = [names, *(sample.intersection(names) or {" "} for sample in found)]
    learner = pn.PerceptronClassifier(average=True, max_iter=8).fit(samples, [codes[0], *codes])
    weights = np.column_stack([learner.coef_, learner.intercept_])
    weights = np.round(weights * (127 / np.abs(weights).max())).astype(np.int8)
    return {"pieces": np.array(names), "codes": learner.classes_, "weights": weights}


def languages(texts: list[str], model: dict[str, np.ndarray]) -> list[str]:
    """Tell the languages of texts."""
    columns = {piece: i for i, piece in enumerate(model["pieces"].tolist())}
    weights = model["weights"].T.astype(np.int64)
    found = [[columns[p] for p in pieces(text) if p in columns] for text in texts]
    return [str(model["codes"][weights[[*own, -1]].sum(0).argmax()]) for own in found]


# docs: end
def sentences(folder: Path, part: str, limit: int | None) -> tuple[list[str], list[str]]:
    """Sentences of all treebanks, and the codes of their languages."""
    paths = sorted(folder.rglob(f"*-ud-{part}.conllu*"))
    found = [(path.name.partition("_")[0], islice(pn.read_conllu(path), limit)) for path in paths]
    pairs = [(" ".join(one.words), code) for code, text in found for one in text]
    return [text for text, _ in pairs], [code for _, code in pairs]


def main() -> None:
    """Learn from the train parts, write the weights, and tell how many test sentences are right."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("language.npz"))
    parser.add_argument("--limit", metavar="SENTENCES", type=int, help="of each treebank at most")
    chosen = parser.parse_args()
    model = learned(*sentences(chosen.folder, "train", chosen.limit))
    np.savez_compressed(chosen.output, **model)
    texts, codes = sentences(chosen.folder, "test", chosen.limit)
    right = np.array(languages(texts, model)) == np.array(codes)
    longer = np.array([len(text) >= 20 for text in texts])
    print(f"{len(model['codes'])} languages, {chosen.output.stat().st_size:,} bytes")
    print(f"{100 * right.mean():.2f} % of {len(right):,} sentences are right")
    print(f"{100 * right[longer].mean():.2f} % of {longer.sum():,} of twenty characters or more")


if __name__ == "__main__":
    main()
