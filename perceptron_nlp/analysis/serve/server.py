"""A server for one person on one machine: four addresses, loopback only, nothing from outside.

Other pages in the same browser, and names that were made to point here (DNS rebinding), are the
attackers to think of. So requests must name this host and port, say that they come from this page
(where the browser says anything), and carry JSON, which forms of other pages cannot send; no answer
allows another page to read it, and the page runs no script but its own file.
"""

from __future__ import annotations

import errno
import json
import socket
import socketserver
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any

from perceptron_nlp._checks import check_choice, check_int
from perceptron_nlp.analysis.serve.answering import MOST_CHARACTERS, answer, check_tagger
from perceptron_nlp.errors import ArgumentError, PerceptronNLPError
from perceptron_nlp.pages.rendering import render
from perceptron_nlp.tagger.tagger import Tagger

HOSTS = ("127.0.0.1", "::1", "localhost")
PORT = 8765
QUESTION = "/tag"
# A character takes up to 12 bytes of JSON.
MOST_BYTES = 12 * MOST_CHARACTERS + 1024
_MOST_CONNECTIONS = 32
_IDLE_SECONDS = 15.0
_UNNAMED_PORT = 80
_STATIC = {"/style.css": "text/css", "/serve.js": "text/javascript"}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self';"
    " connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class TrialServer(ThreadingHTTPServer):
    """Serves the page and answers its questions, until it is shut down.

    Parameters
    ----------
    tagger : what is tried
    host, port : where, see make_server
    spaces : see answering.answer

    Attributes
    ----------
    url : what to open in a browser
    """

    daemon_threads = True
    # Elsewhere it means to take a port again soon after; there, to share it with who has it.
    allow_reuse_address = sys.platform != "win32"

    def __init__(self, tagger: Tagger, host: str, port: int, spaces: bool) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.tagger = tagger
        self.spaces = spaces
        templates = resources.files("perceptron_nlp.pages").joinpath("templates")
        page = render("serve.html", title="Try a tagger", max_characters=MOST_CHARACTERS)
        self.files = {"/": (page.encode(), "text/html")} | {
            path: (templates.joinpath(path[1:]).read_bytes(), kind)
            for path, kind in _STATIC.items()
        }
        self._free = threading.BoundedSemaphore(_MOST_CONNECTIONS)
        super().__init__((host, port), _Handler)
        # Browsers leave out the port that addresses have if they name none.
        end = "" if self.server_port == _UNNAMED_PORT else f":{self.server_port}"
        self.hosts = frozenset(f"{name}{end}" for name in ("127.0.0.1", "[::1]", "localhost"))
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}{end}/"

    def server_bind(self) -> None:
        """Listen; the base class would ask the network what this machine is called, too."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "localhost", int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread of its own, unless there are too many."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """What such a thread does."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Browsers go away in the middle of things; nobody needs to hear of it."""


def make_server(
    tagger: Tagger, *, host: str = HOSTS[0], port: int = PORT, spaces: bool = False
) -> TrialServer:
    """A server that listens; ``serve_forever()`` makes it answer.

    Parameters
    ----------
    tagger : what is tried
    host : 127.0.0.1, ::1 or localhost; nobody else can be served
    port : 0 to 65,535; 0 for any that is free
    spaces : whether words are what stands between white space

    Raises
    ------
    ArgumentError, ArgumentTypeError : a host or port that cannot be, or is taken; a tagger that
        looks at more than words
    """
    check_choice("host", host, HOSTS)
    check_int("port", port, 0, 65_535)
    check_tagger(tagger)
    try:
        return TrialServer(tagger, host, port, spaces)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ArgumentError(
                f"port: {port} is in use; choose another one, or 0 for any that is free"
            ) from error
        raise ArgumentError(
            f"port: cannot listen at {host}, port {port}: {error.strerror or error}"
        ) from error


class _Refused(Exception):
    """A request that is answered with a status and a line."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    server: TrialServer
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_SECONDS

    def do_GET(self) -> None:
        """One of the files of the page."""
        try:
            self._check_sender()
            path = self.path.partition("?")[0]
            if path not in self.server.files:
                raise _Refused(HTTPStatus.NOT_FOUND, "there is nothing here")
            content, kind = self.server.files[path]
            self._send(HTTPStatus.OK, content, f"{kind}; charset=utf-8")
        except _Refused as refused:
            self._refuse(refused)

    def do_POST(self) -> None:
        """The labels of a text."""
        try:
            self._check_sender()
            if self.path != QUESTION:
                raise _Refused(HTTPStatus.NOT_FOUND, "there is nothing here")
            found = answer(self.server.tagger, self._question(), spaces=self.server.spaces)
        except PerceptronNLPError as error:
            self._refuse(_Refused(HTTPStatus.BAD_REQUEST, str(error)))
        except _Refused as refused:
            self._refuse(refused)
        except Exception as error:
            # Whatever it is, whoever types is told, and the server goes on.
            self._refuse(
                _Refused(
                    HTTPStatus.INTERNAL_SERVER_ERROR,
                    f"unexpected failure: {type(error).__name__}: {error}",
                )
            )
        else:
            self._send(HTTPStatus.OK, json.dumps(found).encode(), "application/json")

    def _check_sender(self) -> None:
        if self.headers.get_all("Host", []) not in [[host] for host in self.server.hosts]:
            raise _Refused(HTTPStatus.FORBIDDEN, "this server answers to its own name alone")
        origin = self.headers.get("Origin")
        if origin is not None and origin != f"http://{self.headers['Host']}":
            raise _Refused(HTTPStatus.FORBIDDEN, "this server answers to its own page alone")
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise _Refused(HTTPStatus.FORBIDDEN, "this server answers to its own page alone")

    def _question(self) -> object:
        if self.headers.get_content_type() != "application/json":
            raise _Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "application/json is needed")
        length = self.headers.get("Content-Length", "")
        if "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdecimal()):
            raise _Refused(HTTPStatus.LENGTH_REQUIRED, "a length is needed")
        if len(length) > 9 or int(length) > MOST_BYTES:
            raise _Refused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"at most {MOST_CHARACTERS:,} characters can be shown at once",
            )
        body = self.rfile.read(int(length))
        try:
            asked = json.loads(body)
        except (ValueError, RecursionError):
            raise _Refused(HTTPStatus.BAD_REQUEST, "this is not JSON") from None
        if not isinstance(asked, dict) or set(asked) != {"text"}:
            raise _Refused(HTTPStatus.BAD_REQUEST, 'an object with a "text" is needed')
        return asked["text"]

    def _refuse(self, refused: _Refused) -> None:
        # What the body holds was not read, and is not to be taken for another request.
        self.close_connection = True
        self._send(refused.status, json.dumps({"error": str(refused)}).encode(), "application/json")

    def _send(self, status: HTTPStatus, content: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the base class refuses: methods that are not known, requests that are malformed."""
        self._refuse(_Refused(HTTPStatus(code), message or HTTPStatus(code).phrase))

    def version_string(self) -> str:
        """What the server calls itself."""
        return "perceptron_nlp"

    def log_message(self, format: str, *args: Any) -> None:
        """Texts that are typed are nobody's business, and lines would fill the terminal."""
