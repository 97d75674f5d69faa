"""The page on which a person annotates: a client of a Session, served to this machine alone."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields
from typing import Any

from perceptron_nlp._display import counted
from perceptron_nlp.annotation.asking import Task
from perceptron_nlp.annotation.goldfile import EmptyNode, Extras, model_place
from perceptron_nlp.annotation.labels import label_names
from perceptron_nlp.annotation.review import MOST_DOUBTED, Agreement
from perceptron_nlp.annotation.session import Session
from perceptron_nlp.errors import ArgumentError, PerceptronNLPError, file_error
from perceptron_nlp.formats import UD_TAGS
from perceptron_nlp.pages import render
from perceptron_nlp.pages.serving import HOSTS, PageServer, needed_uvicorn, page_application

# Not that of `serve`, so that both can run.
PORT = 8766
MAX_BYTES = 1 << 20
# The letters of the universal tags, in their order; u and s are taken.
_UD_KEYS = dict(zip(UD_TAGS, "aprxcdinmtoe.jyvz", strict=True))
_LETTERS = "abcdefghijklmnopqrtvwxyz"
_MOST_GUIDELINE = 200_000


class Desk:
    """One session and all pages that are open on it.

    Parameters
    ----------
    session : what they annotate
    against : a second annotator's file, or None
    guideline : text to show, or None
    tell : called with what a person should know, in addition to the page

    Raises ArgumentError if the model cannot be saved beside the file.
    """

    def __init__(
        self,
        session: Session,
        against: str | None = None,
        guideline: str | None = None,
        tell: Callable[[str], object] = lambda text: None,
    ) -> None:
        self._session = session
        self._against = against
        self._guideline = guideline
        self._tell = tell
        self._told = 0
        self._agreement: Agreement | None = None
        self._lock = threading.Lock()
        # Refuse what "save" would refuse before the work begins.
        self._model_path = model_place(session.out)

    def look(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the page shows."""
        with self._lock:
            return self._state()

    def act(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Do what a page asks for, and return what it shows then."""
        with self._lock:
            if asked["turn"] != self._session.turn:
                raise ArgumentError(
                    "another page has gone on with this text; what there is to do is shown now"
                )
            values = asked["values"]
            action = self._actions().get(str(asked["action"]))
            if action is None or not isinstance(values, dict):
                raise ArgumentError("action: there is no such action")
            try:
                said = action(values)
            except PerceptronNLPError as error:
                self._tell(str(error))
                raise
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise ArgumentError(f"values: do not fit the action: {error}") from error
            return self._state() | {"said": said if isinstance(said, str) else ""}

    def _actions(self) -> dict[str, Callable[[dict[str, Any]], object]]:
        session = self._session
        return {
            "accept": lambda values: session.accept(
                values["labels"], note=str(values["note"]), extras=_extras(values.get("extras"))
            ),
            "skip": lambda values: session.skip(),
            "undo": lambda values: (
                f"Taken back: {session.undone}."
                if session.undo()
                else "There is nothing to take back."
            ),
            "split_token": lambda values: session.split_token(values["token"], values["at"]),
            "split_words": lambda values: session.split_words(values["token"], values["words"]),
            "join_tokens": lambda values: session.join_tokens(values["token"]),
            "split_sentence": lambda values: session.split_sentence(values["token"]),
            "join_sentence": lambda values: session.join_sentence(),
            "errors": lambda values: self._review_errors(),
            "against": lambda values: self._review_against(),
            "stop_review": lambda values: session.stop_review(),
            "save": lambda values: self._save(),
        }

    def _review_errors(self) -> str:
        count = self._session.review_errors()
        if not count:
            return "No likely errors were found."
        more = "; D again looks for more" if count == MOST_DOUBTED else ""
        return f"{counted(count, 'sentence')} with likely errors, the likeliest first{more}."

    def _review_against(self) -> str:
        if self._against is None:
            raise ArgumentError("against: no second file was named (--against OTHER.conllu)")
        self._agreement = self._session.review_against(self._against)
        return f"The files differ in {counted(self._session.reviewed, 'sentence')}."

    def _save(self) -> str:
        path = self._session.save_model()
        self._tell(f"{path}: saved")
        return f"Saved {path}."

    def _state(self) -> dict[str, Any]:
        session = self._session
        task = session.next()
        for text in session.messages[self._told :]:
            self._tell(text)
        self._told = len(session.messages)
        return {
            "turn": session.turn,
            "file": session.out,
            "path": None if session.out is None else os.path.abspath(session.out),
            "model": self._model_path,
            "columns": session.columns,
            "tags": tag_keys(session.tags),
            "features": features_by_tag(session) if "feats" in session.columns else {},
            "task": None if task is None else _shown(task),
            "progress": asdict(session.progress()),
            "messages": session.messages[-3:],
            "reviewed": session.reviewed,
            "against": self._against,
            "agreement": None if self._agreement is None else asdict(self._agreement),
            "guideline": self._guideline,
        }


def make_server(desk: Desk, *, host: str = HOSTS[0], port: int = PORT) -> PageServer:
    """Return a server that listens; ``serve_forever()`` makes it answer."""
    needed_uvicorn()
    application = page_application(
        render("annotate.html", title="Annotate"),
        ("tokens.css", "style.css", "annotate.css", "annotate.js"),
        {"/look": desk.look, "/act": desk.act},
        {"/look": frozenset(), "/act": frozenset({"turn", "action", "values"})},
        MAX_BYTES,
        "the sentence is too long",
    )
    return PageServer(application, host, port)


def read_guideline(path: str) -> str:
    """Return the text of a guideline. Raises FileError."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_MOST_GUIDELINE)
    except (OSError, ValueError) as error:
        raise file_error(path, error, "opened") from error


def tag_keys(tags: Mapping[str, str] | None) -> list[dict[str, str]]:
    """Return the labels with what they are and the key of each, empty if keys ran out."""
    free = dict.fromkeys(_LETTERS)
    found = []
    for tag, about in (tags or {}).items():
        usual: Iterable[str] = [_UD_KEYS[tag]] if tag in _UD_KEYS else []
        wanted = [*usual, *tag.lower(), *free]
        key = next((key for key in wanted if key in free or key == "."), "")
        free.pop(key, None)
        found.append({"tag": tag, "about": about, "key": key})
    return found


def features_by_tag(session: Session) -> dict[str, list[str]]:
    """Return the features of words with each tag, the commonest first; of any tag under ``""``."""
    found: dict[str, Counter[str]] = {"": Counter()}
    for sentence in session.annotated:
        for tag, feats in zip(sentence.column("upos"), sentence.column("feats"), strict=True):
            parts = [] if feats == "_" else feats.split("|")
            found.setdefault(tag, Counter()).update(parts)
            found[""].update(parts)
    tagger = session.tagger
    if tagger is not None and "feats" in tagger.columns:
        for feats in label_names(tagger.by_column["feats"]):
            found[""].update([] if feats == "_" else feats.split("|"))
    return {tag: [part for part, _ in own.most_common()] for tag, own in found.items()}


def _extras(given: Any) -> Extras | None:
    """Return what a page says of typos and empty nodes; None if nothing."""
    if given is None:
        return None
    typos = {int(at): str(form) for at, form in given["typos"].items()}
    return Extras(typos, [EmptyNode(int(a), str(b), str(c)) for a, b, c in given["empty"]])


def _shown(task: Task) -> dict[str, Any]:
    own = {field.name: getattr(task, field.name) for field in fields(task)}
    own["extras"] = {"typos": task.extras.typos, "empty": task.extras.empty}
    doubts = {str(at): doubt._asdict() for at, doubt in task.doubts.items()}
    return own | {"doubts": doubts, "can_cut": bool(own.pop("spans"))}
