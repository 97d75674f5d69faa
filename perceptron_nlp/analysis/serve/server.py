"""A server for one person on one machine: four addresses, loopback only, nothing from outside.

Other pages in the same browser, and names that were made to point here (DNS rebinding), are the
attackers to think of. So requests must name this host and port, come from this page (where the
browser tells the origin), and carry JSON, which forms of other pages cannot send; no answer allows
another page to read it, and the page runs no script but its own file. Connections are closed when
a request takes too long to arrive, and the oldest one makes room where there are too many, so that
slow clients cannot keep others out.

Starlette and uvicorn, of the extra ``web``, are imported when a server is made.
"""

from __future__ import annotations

import asyncio
import errno
import json
import socket
import sys
from importlib import resources
from typing import TYPE_CHECKING, Any

from perceptron_nlp import Tagger
from perceptron_nlp._checks import check_choice, check_int
from perceptron_nlp.analysis.serve.answering import MOST_CHARACTERS, answer, check_tagger
from perceptron_nlp.errors import ArgumentError, PerceptronNLPError, missing_extra
from perceptron_nlp.pages.rendering import render

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOSTS = ("127.0.0.1", "::1", "localhost")
PORT = 8765
# A character takes up to 12 bytes of JSON.
MAX_BYTES = 12 * MOST_CHARACTERS + 1024
MAX_CONNECTIONS = 64
_MAX_HEAD = 16_384
_SECONDS = 20.0
_END_SECONDS = 2
_UNNAMED_PORT = 80
_FILES = {"/style.css": "text/css", "/serve.js": "text/javascript"}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self';"
    " connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Server": "perceptron_nlp",
}


class TrialServer:
    """Serve the page and answer its questions until it is shut down.

    Parameters
    ----------
    tagger : the tagger that is tried
    host, port : where, see make_server
    spaces : see answering.answer
    seconds : a connection is closed when it has had no complete request and answer for so long

    Attributes
    ----------
    url : the address to open in a browser
    server_port : the port that it listens at
    """

    def __init__(
        self, tagger: Tagger, host: str, port: int, spaces: bool, seconds: float = _SECONDS
    ) -> None:
        uvicorn = _uvicorn()
        self.tagger = tagger
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        try:
            if sys.platform != "win32":
                # There it means to share a port with its owner; elsewhere, to take one again soon.
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind((host, port))
            self._socket.listen(128)
        except BaseException:
            self._socket.close()
            raise
        self.server_port = int(self._socket.getsockname()[1])
        # Browsers leave out the port that addresses have if they name none.
        end = "" if self.server_port == _UNNAMED_PORT else f":{self.server_port}"
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}{end}/"
        hosts = frozenset(f"{name}{end}" for name in ("127.0.0.1", "[::1]", "localhost"))
        self._server = uvicorn.Server(
            uvicorn.Config(
                _guarded(_application(tagger, spaces), hosts),
                loop="asyncio",
                http=_connection_class(seconds),
                ws="none",
                lifespan="off",
                # Texts that are typed are nobody's business, and lines would fill the terminal.
                log_config=None,
                log_level="critical",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=int(_SECONDS),
                timeout_graceful_shutdown=_END_SECONDS,
                h11_max_incomplete_event_size=_MAX_HEAD,
            )
        )

    def serve_forever(self) -> None:
        """Answer until `shutdown`, or a signal, after which requests at hand are finished."""
        self._server.run(sockets=[self._socket])

    def shutdown(self) -> None:
        """Let serve_forever, in another thread, come to its end."""
        self._server.should_exit = True

    def server_close(self) -> None:
        """Stop listening."""
        self._socket.close()

    def __enter__(self) -> TrialServer:
        return self

    def __exit__(self, *error: object) -> None:
        self.server_close()


def make_server(
    tagger: Tagger, *, host: str = HOSTS[0], port: int = PORT, spaces: bool = False
) -> TrialServer:
    """Return a server that listens; ``serve_forever()`` makes it answer.

    Parameters
    ----------
    tagger : the tagger that is tried
    host : 127.0.0.1, ::1 or localhost; nobody else can be served
    port : 0 to 65,535; 0 for any that is free
    spaces : True where words are separated by white space in the text, and sentences by lines

    Raises
    ------
    ArgumentError, ArgumentTypeError : a host or port that cannot be, or is taken; a tagger that
        looks at more than words
    MissingExtraError : Starlette, uvicorn or Jinja2 is not installed (extra ``web``)
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


def _uvicorn() -> Any:
    try:
        import starlette
        import uvicorn
    except ImportError as error:
        raise missing_extra(error.name or "uvicorn", "web") from None
    del starlette
    return uvicorn


def _connection_class(seconds: float) -> Any:
    """The connections of a server, each with a time limit, their number bounded."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Connection(H11Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._limit: asyncio.TimerHandle | None = None
            self._start()
            if len(self.connections) > MAX_CONNECTIONS:
                others: Any = self.connections
                min(others, key=lambda other: other.began).transport.abort()

        def _start(self) -> None:
            """Give the next request the whole time."""
            self.began = self.loop.time()
            self._stop()
            self._limit = self.loop.call_later(seconds, self.transport.abort)

        def _stop(self) -> None:
            if self._limit is not None:
                self._limit.cancel()

        def on_response_complete(self) -> None:
            self._start()
            super().on_response_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

    return Connection


def _guarded(application: ASGIApp, hosts: frozenset[str]) -> ASGIApp:
    """The application for requests of its own page alone, with headers that guard the answers."""
    from starlette.datastructures import Headers, MutableHeaders

    def refusal(headers: Headers) -> str | None:
        if headers.getlist("host") not in [[host] for host in hosts]:
            return "this server answers to its own name alone"
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{headers['host']}":
            return "this server answers to its own page alone"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return "this server answers to its own page alone"
        return None

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        reason = refusal(Headers(scope=scope))
        answering = application if reason is None else _refused(403, reason)
        await answering(scope, receive, send_with_headers)

    return guarded


def _application(tagger: Tagger, spaces: bool) -> ASGIApp:
    """The page, its files, and the labels of texts."""
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.exceptions import HTTPException
    from starlette.responses import JSONResponse
    from starlette.responses import Response as Plain
    from starlette.routing import Route

    templates = resources.files("perceptron_nlp.pages").joinpath("templates")
    page = render("serve.html", title="Try a tagger", max_characters=MOST_CHARACTERS)
    files = {"/": (page.encode(), "text/html")} | {
        path: (templates.joinpath(path[1:]).read_bytes(), kind) for path, kind in _FILES.items()
    }

    def file(request: Request) -> Response:
        content, kind = files[request.url.path]
        return Plain(content, media_type=kind)

    async def tag(request: Request) -> Response:
        text = await _question(request)
        try:
            found = await run_in_threadpool(answer, tagger, text, spaces=spaces)
        except PerceptronNLPError as error:
            return _refused(400, str(error))
        except Exception as error:
            # Whatever it is, the person who types sees it, and the server goes on.
            return _refused(500, f"unexpected failure: {type(error).__name__}: {error}")
        return JSONResponse(found)

    def refuse(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return _refused(error.status_code, error.detail)

    routes = [Route(path, file) for path in files] + [Route("/tag", tag, methods=["POST"])]
    made = Starlette(routes=routes, exception_handlers={HTTPException: refuse})
    made.router.redirect_slashes = False
    return made


async def _question(request: Request) -> object:
    """Read the text out of a request; HTTPException where there is none."""
    from starlette.exceptions import HTTPException

    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, "application/json is needed")
    length = request.headers.get("content-length", "")
    if "transfer-encoding" in request.headers or not length.isdecimal():
        raise HTTPException(411, "a length is needed")
    if len(length) > 9 or int(length) > MAX_BYTES:
        raise HTTPException(413, f"at most {MOST_CHARACTERS:,} characters can be shown at once")
    try:
        asked = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise HTTPException(400, "this is not JSON") from None
    if not isinstance(asked, dict) or set(asked) != {"text"}:
        raise HTTPException(400, 'an object with a "text" is needed')
    return asked["text"]


def _refused(status: int, message: str) -> Response:
    """An error as JSON; the connection ends, since the rest of the request may not be read."""
    from starlette.responses import JSONResponse

    return JSONResponse({"error": message}, status, {"Connection": "close"})
