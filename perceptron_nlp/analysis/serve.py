"""A page on which a tagger can be tried: words, labels, confidences and reasons of a text."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from perceptron_nlp import Explanation, Tagger, WordExplanation
from perceptron_nlp._checks import encodable_text
from perceptron_nlp._display import counted
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.pages import render
from perceptron_nlp.pages.serving import HOSTS, PORT, PageServer, needed_uvicorn, page_application
from perceptron_nlp.tagger.explain.render import Line, folded

if TYPE_CHECKING:
    from starlette.types import ASGIApp

MOST_CHARACTERS = 10_000
# A character takes up to 12 bytes of JSON.
MAX_BYTES = 12 * MOST_CHARACTERS + 1024
TOP = 8
# Of the example that a page begins with, so much at least must be words that the model knows.
_KNOWN = 0.4
EXAMPLES = (
    "The old man the boats .",
    "Die Kinder lesen heute ein altes Buch im Garten .",
    "Les enfants lisent un vieux livre dans le jardin .",
    "Los niños leen un libro viejo en el jardín .",
    "As crianças leem um livro antigo no jardim .",
    "I bambini leggono un vecchio libro nel giardino .",
    "Els nens llegeixen un llibre vell al jardí .",
    "Copiii citesc o carte veche în grădină .",
    "De kinderen lezen een oud boek in de tuin .",
    "Barnen läser en gammal bok i trädgården .",
    "Børnene læser en gammel bog i haven .",
    "Barna leser en gammel bok i hagen .",
    "Lapset lukevat vanhaa kirjaa puutarhassa .",
    "Lapsed loevad aias vana raamatut .",
    "A gyerekek egy régi könyvet olvasnak a kertben .",
    "Dzieci czytają starą książkę w ogrodzie .",
    "Děti čtou v zahradě starou knihu .",
    "Djeca čitaju staru knjigu u vrtu .",
    "Дети читают в саду старую книгу .",
    "Діти читають у саду стару книгу .",
    "Децата четат стара книга в градината .",
    "Τα παιδιά διαβάζουν ένα παλιό βιβλίο στον κήπο .",
    "Çocuklar bahçede eski bir kitap okuyor .",
    "يقرأ الأطفال كتابا قديما في الحديقة .",
    "بچه‌ها در باغ کتابی قدیمی می‌خوانند .",
    "הילדים קוראים ספר ישן בגן .",
    "बच्चे बगीचे में एक पुरानी किताब पढ़ रहे हैं ।",
    "孩子们 在 花园 里 读 一 本 旧 书 。",
    "子供 たち は 庭 で 古い 本 を 読ん で いる 。",
    "아이들이 정원에서 오래된 책을 읽는다 .",
    "Trẻ em đọc một cuốn sách cũ trong vườn .",
    "Anak-anak membaca buku lama di taman .",
    "Pueri in horto librum veterem legunt .",
)
"""A sentence of each of some languages, cut into words."""


def make_server(
    tagger: Tagger,
    *,
    name: str = "a tagger",
    host: str = HOSTS[0],
    port: int = PORT,
    spaces: bool = False,
) -> PageServer:
    """Return a server that listens; ``serve_forever()`` makes it answer."""
    return PageServer(trial_application(tagger, spaces, name), host, port)


def trial_application(tagger: Tagger, spaces: bool, name: str = "a tagger") -> ASGIApp:
    """Return the page and its answers; errors and parameters are those of make_server."""
    check_tagger(tagger, name)
    needed_uvicorn()

    def tag(asked: dict[str, Any]) -> dict[str, Any]:
        return answer(tagger, asked["text"], spaces=spaces)

    return page_application(
        render(
            "serve.html",
            title=f"Try {name}",
            name=name,
            about=about(tagger),
            example=example(tagger, spaces=spaces),
            max_characters=MOST_CHARACTERS,
        ),
        ("tokens.css", "style.css", "words.css", "serve.css", "serve.js"),
        {"/tag": tag},
        {"/tag": frozenset({"text"})},
        MAX_BYTES,
        f"at most {MOST_CHARACTERS:,} characters can be shown at once",
    )


def check_tagger(tagger: Tagger, name: str) -> None:
    """Raise ArgumentError for a tagger that cannot label plain words, ModelError without tags."""
    tagger.labelers.check_tags()
    if tagger.feature_columns:
        raise ArgumentError(
            f"{name}: looks at the columns {', '.join(tagger.feature_columns)} in addition to the"
            " words, which what one types does not have"
        )
    for part in tagger.by_column.values():
        part.tag(["word"])


def about(tagger: Tagger) -> str:
    """Return what the page says of a model: its columns, and the text that it learned from."""
    train = tagger.model.record.get("train")
    tokens = train.get("tokens") if isinstance(train, dict) else None
    text = "" if tokens is None else f" · trained on {counted(tokens, 'token')}"
    return ", ".join(tagger.columns) + text


def example(tagger: Tagger, *, spaces: bool) -> str:
    """Return the example of whose words the model knows most, as text; "" if it knows too few."""

    def share(text: str) -> float:
        # The last is a mark, which many languages have.
        known = tagger.model.known(text.split()[:-1])
        return sum(known) / len(known)

    most, best = max(((share(text), text) for text in EXAMPLES), key=itemgetter(0))
    if most < _KNOWN:
        return ""
    if spaces:
        return best
    if best[-1] == "。" and tagger.model.segmentation is not None:
        return best.replace(" ", "")
    return best.replace(" .", ".")


def answer(tagger: Tagger, text: object, *, spaces: bool) -> dict[str, Any]:
    """Everything about a text, as JSON has it.

    Parameters
    ----------
    tagger : of any columns
    text : a str of at most 10,000 characters
    spaces : whether words are what stands between white space, and sentences what stands on a
        line; else the tagger finds them

    Returns
    -------
    ``columns``, and ``sentences``: lists of words with ``word``, ``known``, ``token`` (of one that
    is cut into several words, else None), ``continues`` (whether its token began before) and, in
    ``labels``, for each column ``label``, ``confidence`` (None where the model is not calibrated),
    ``runner_up``, ``score``, ``runner_up_score``, ``margin``, ``note``, and ``features``, the
    heaviest of them and the sum of all others, each a ``text``, a ``margin``, and ``alike``, other
    views and affixes that say the same

    Raises ArgumentTypeError, ArgumentError for what is no such text.
    """
    text = encodable_text(text)
    if len(text) > MOST_CHARACTERS:
        raise ArgumentError(
            f"text: has {len(text):,} characters; at most {MOST_CHARACTERS:,} can be shown at once"
        )
    if spaces:
        tokens = [[(word, [word]) for word in line.split()] for line in text.splitlines()]
    else:
        tokens = [
            [(text[start:end], list(words)) for start, end, words in sentence]
            for sentence in tagger.segmenter.sentences_of(text)
        ]
    found: list[list[dict[str, Any]]] = [
        [
            {
                "word": word,
                "known": False,
                "token": form if len(words) > 1 else None,
                "continues": at > 0,
                "labels": {},
            }
            for form, words in sentence
            for at, word in enumerate(words)
        ]
        for sentence in tokens
        if sentence
    ]
    sentences = [[one["word"] for one in words] for words in found]
    parts = tagger.by_column
    sure: dict[str, list[list[float]]] = {}
    if all(part.model.calibration is not None for part in parts.values()):
        both = tagger.tag_sents(sentences, columns=tagger.columns, confidences=True)
        labels = {column: own for column, (own, _) in both.items()}
        sure = {column: own for column, (_, own) in both.items()}
    else:
        labels = tagger.tag_sents(sentences, columns=tagger.columns)
    for column, part in parts.items():
        # Why not what it says by itself, if the columns agreed on another label.
        for k in range(len(sentences)):
            for i, why in enumerate(_explained(part, sentences, k, labels[column][k])):
                found[k][i]["known"] = why.known
                found[k][i]["labels"][column] = {
                    "confidence": sure[column][k][i] if column in sure else None,
                    **_told(why, labels[column][k][i]),
                }
    return {"columns": list(tagger.columns), "sentences": found}


def _explained(
    part: Tagger, sentences: Sequence[Sequence[str]], k: int, labels: Sequence[str]
) -> Explanation:
    return part.explain(
        sentences[k], before=sentences[:k], after=sentences[k + 1 :], against=labels
    )


def _told(why: WordExplanation, label: str) -> dict[str, Any]:
    lines = folded(why.heaviest(None)[0])
    left = [line.margin for line in lines[TOP:]]
    rest = [Line(f"{len(left)} more", (), sum(left))] if left else []
    told: dict[str, Any] = {"label": why.label, "score": why.score}
    other: dict[str, Any] = {"label": why.runner_up, "score": why.runner_up_score}
    # Where columns agreed on another label, the one by itself is the runner-up, and the other is
    # named as it was learned there (NOUN|Number=Sing).
    sign = 1 if label == why.label else -1
    if sign < 0:
        told, other = {**other, "label": label}, told
    return {
        **told,
        "runner_up": other["label"],
        "runner_up_score": other["score"],
        "margin": None if why.margin is None else sign * why.margin,
        "note": why.note,
        "features": [
            {
                "text": line.text,
                "alike": line.alike,
                "margin": sign * line.margin,
                "is_rest": line in rest,
            }
            for line in [*lines[:TOP], *rest]
        ],
    }
