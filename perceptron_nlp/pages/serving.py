"""A server of one page for one person on one machine: loopback only, nothing from outside.

Other pages in the same browser, names that were made to point here (DNS rebinding), and other users
of the machine are the attackers to think of. So requests must name this host and port, come from
this page (where the browser tells the origin), and carry JSON, which forms of other pages cannot
send; questions must carry a key that is drawn when the server is made, and that stands behind the
``#`` of its address, where no request shows it. No answer allows another page to read it, and the
page runs no script but its own file. Connections are closed when a request takes too long to
arrive, or its answer to be read, and the oldest one is closed if there are too many, so that slow
clients cannot keep others out. An answer may take as long as it needs.

Starlette and uvicorn, of the extra ``web``, are imported when a server is made.
"""

from __future__ import annotations

import asyncio
import errno
import json
import secrets
import socket
import sys
from collections.abc import Callable, Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any

from perceptron_nlp._checks import check_choice, check_int
from perceptron_nlp.errors import ArgumentError, PerceptronNLPError, missing_extra

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOSTS = ("127.0.0.1", "::1", "localhost")
PORT = 8765
MAX_CONNECTIONS = 64
_MAX_HEAD = 16_384
_SECONDS = 20.0
_END_SECONDS = 2
_UNNAMED_PORT = 80
_KINDS = {".css": "text/css", ".js": "text/javascript"}
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


class PageServer:
    """Serve the page and answer its questions until it is shut down.

    Parameters
    ----------
    application : what answers, see page_application
    host : 127.0.0.1, ::1 or localhost; nobody else can be served
    port : 0 to 65,535; 0 for any that is free
    seconds : a connection is closed when it has sent no complete request, or has not read its
        answer, for so long

    Attributes
    ----------
    url : the address to open in a browser, with the key
    key : what questions must carry, as ``Authorization: Bearer`` and the key
    server_port : the port that it listens at

    Raises
    ------
    ArgumentError, ArgumentTypeError : a host or port that cannot be, or is taken
    MissingExtraError : Starlette or uvicorn is not installed (extra ``web``)
    """

    def __init__(
        self, application: ASGIApp, host: str, port: int, seconds: float = _SECONDS
    ) -> None:
        uvicorn = needed_uvicorn()
        check_choice("host", host, HOSTS)
        check_int("port", port, 0, 65_535)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        try:
            if sys.platform != "win32":
                # There it means to share a port with its owner; elsewhere, to take one again soon.
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind((host, port))
            self._socket.listen(128)
        except OSError as error:
            self._socket.close()
            reason = f"cannot listen at {host}, port {port}: {error.strerror or error}"
            if error.errno == errno.EADDRINUSE:
                reason = f"{port} is in use; choose another one, or 0 for any that is free"
            raise ArgumentError(f"port: {reason}") from error
        self.server_port = int(self._socket.getsockname()[1])
        # Browsers leave out the port that addresses have if they name none.
        end = "" if self.server_port == _UNNAMED_PORT else f":{self.server_port}"
        shown = f"[{host}]" if ":" in host else host
        self.key = secrets.token_urlsafe(16)
        self.url = f"http://{shown}{end}/#{self.key}"
        hosts = frozenset(f"{name}{end}" for name in ("127.0.0.1", "[::1]", "localhost"))
        self._server = uvicorn.Server(
            uvicorn.Config(
                _guarded(application, hosts, self.key),
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

    def __enter__(self) -> PageServer:
        return self

    def __exit__(self, *error: object) -> None:
        self.server_close()


def page_application(
    page: str,
    files: tuple[str, ...],
    answers: Mapping[str, Callable[[dict[str, Any]], Any]],
    keys: Mapping[str, frozenset[str]],
    max_bytes: int,
    too_long: str,
) -> ASGIApp:
    """Return an application of one page, its files, and questions in JSON that it asks.

    Parameters
    ----------
    page : the page, at ``/``
    files : of the folder of templates, such as ``"style.css"``
    answers : by path, a function from what was asked, an object, to what JSON holds. Errors of this
        library become answers with ``error``
    keys : by path, the keys that such an object must have
    max_bytes : the longest question
    too_long : what is said of a longer one
    """
    needed_uvicorn()
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.exceptions import HTTPException
    from starlette.responses import JSONResponse
    from starlette.responses import Response as Plain
    from starlette.routing import Route

    templates = resources.files("perceptron_nlp.pages").joinpath("templates")
    contents = {"/": (page.encode(), "text/html")} | {
        f"/{name}": (templates.joinpath(name).read_bytes(), _KINDS[name[name.index(".") :]])
        for name in files
    }

    def file(request: Request) -> Response:
        content, kind = contents[request.url.path]
        return Plain(content, media_type=kind)

    async def ask(request: Request) -> Response:
        path = request.url.path
        asked = await _question(request, keys[path], max_bytes, too_long)
        try:
            return JSONResponse(await run_in_threadpool(answers[path], asked))
        except PerceptronNLPError as error:
            return _refused(400, str(error))
        except Exception as error:
            # Whatever it is, the person sees it, and the server goes on.
            return _refused(500, f"unexpected failure: {type(error).__name__}: {error}")

    def refuse(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return _refused(error.status_code, error.detail)

    routes = [Route(path, file) for path in contents]
    routes += [Route(path, ask, methods=["POST"]) for path in answers]
    made = Starlette(routes=routes, exception_handlers={HTTPException: refuse})
    made.router.redirect_slashes = False
    return made


def needed_uvicorn() -> Any:
    """Return uvicorn. Raises MissingExtraError where it, or Starlette, is not installed."""
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
        @property
        def is_answering(self) -> bool:
            """Whether the answer to a complete request is being computed."""
            return (
                self.cycle is not None
                and not self.cycle.more_body
                and not self.cycle.response_started
            )

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._limit: asyncio.TimerHandle | None = None
            self._start()
            if len(self.connections) > MAX_CONNECTIONS:
                others: Any = self.connections
                min(others, key=lambda other: (other.is_answering, other.began)).transport.abort()

        def _start(self) -> None:
            """Give the next request the whole time."""
            self.began = self.loop.time()
            self._stop()
            self._limit = self.loop.call_later(seconds, self._expire)

        def _expire(self) -> None:
            if self.is_answering:
                self._start()
            else:
                self.transport.abort()

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


def _guarded(application: ASGIApp, hosts: frozenset[str], key: str) -> ASGIApp:
    """The application for requests of its own page alone, with headers that guard the answers."""
    from starlette.datastructures import Headers, MutableHeaders

    bearer = f"Bearer {key}".encode()

    def refusal(method: str, headers: Headers) -> tuple[int, str] | None:
        if headers.getlist("host") not in [[host] for host in hosts]:
            return 403, "this server answers to its own name alone"
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{headers['host']}":
            return 403, "this server answers to its own page alone"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return 403, "this server answers to its own page alone"
        given = headers.get("authorization", "").encode()
        if method == "POST" and not secrets.compare_digest(given, bearer):
            return 401, "the key is missing or wrong; open the whole address that was printed"
        return None

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        refused = refusal(scope["method"], Headers(scope=scope))
        answering = application if refused is None else _refused(*refused)
        await answering(scope, receive, send_with_headers)

    return guarded


async def _question(
    request: Request, keys: frozenset[str], max_bytes: int, too_long: str
) -> dict[str, Any]:
    """Read the object that a request holds; HTTPException where there is none."""
    from starlette.exceptions import HTTPException

    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, "application/json is needed")
    length = request.headers.get("content-length", "")
    if "transfer-encoding" in request.headers or not length.isdecimal():
        raise HTTPException(411, "a length is needed")
    if len(length) > 9 or int(length) > max_bytes:
        raise HTTPException(413, too_long)
    try:
        asked = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise HTTPException(400, "this is not JSON") from None
    if not isinstance(asked, dict) or set(asked) != keys:
        named = ", ".join(f'"{key}"' for key in sorted(keys))
        raise HTTPException(400, f"an object with a {named} is needed")
    return asked


def _refused(status: int, message: str) -> Response:
    """An error as JSON; the connection ends, since the rest of the request may not be read."""
    from starlette.responses import JSONResponse

    return JSONResponse({"error": message}, status, {"Connection": "close"})
