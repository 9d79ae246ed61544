"""A server of viser behind a gate: the one file that knows how viser starts its server and what its pages send.

viser hands its server to `websockets.asyncio.server.serve` and has no argument for checks of its own. So its server is
started while that name stands for `GatedServe`, which differs only for a host that comes with a gate: requests and
messages then pass the gate first. A viser that starts its server in another way is an error, not an open page.
"""

import asyncio
import contextlib
import io
import logging
import threading
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any

import msgspec
import viser
import websockets.asyncio.server as websockets_server
from websockets.asyncio.server import ServerConnection, serve

from vigym.view.page.access import HEADERS
from vigym.view.page.gate import MOST_VISITORS, Gate

MOST_BYTES = 2**16  # of a message of a page; they have some hundred
HANDSHAKE = 5.0  # s: who connects and does not ask for anything
PAUSE = 0.001  # s between two messages of a page: a flood of them is slowed down

_starting = threading.Lock()
_log = logging.getLogger("vigym.view.page.websockets")
# Whoever connects and talks nonsense would otherwise fill the terminal with tracebacks.
_log.addFilter(lambda record: record.getMessage() != "opening handshake failed")


def start(gate: Gate) -> viser.ViserServer:
    """A server on a free port of this machine only, behind `gate`; it prints nothing."""
    with _starting, contextlib.redirect_stdout(io.StringIO()):
        websockets_server.serve = GatedServe
        try:
            server = viser.ViserServer(host=GatedHost(gate), port=0, label="vigym", verbose=False)
        finally:
            websockets_server.serve = serve
    if not gate.in_force:
        server.stop()
        raise RuntimeError(
            f"viser {viser.__version__} starts its server in a way that vigym does not know, and the page would be "
            'open to every web site: pip install "vigym[render]" for a version that works'
        )
    return server


class GatedHost(str):
    """127.0.0.1, with a gate."""

    __slots__ = ("gate",)
    gate: Gate

    def __new__(cls, gate: Gate) -> "GatedHost":
        """Make the address, and keep the gate with it."""
        host = super().__new__(cls, "127.0.0.1")
        host.gate = gate
        return host


class GatedServe(serve):
    """`serve`, and for a `GatedHost` behind its gate."""

    def __init__(self, handler: Any, host: Any = None, port: Any = None, **options: Any) -> None:
        if isinstance(host, GatedHost):
            gate = host.gate
            options["process_request"] = partial(answer, gate, options["process_request"])
            options |= {"create_connection": partial(Visitor, gate), "max_size": MOST_BYTES, "logger": _log}
            options["open_timeout"] = HANDSHAKE
            gate.in_force = True
        super().__init__(handler, host, port, **options)


def answer(gate: Gate, page: Callable[..., Any], connection: ServerConnection, request: Any) -> Any:
    """Refuse a request, or have viser answer it: with its page, or with None for a websocket."""
    reason = gate.access.refusal(request.path, request.headers, socket="Upgrade" in request.headers)
    if reason is not None:
        gate.warn(f"a connection to the page was refused ({reason})")
        response = connection.respond(HTTPStatus.FORBIDDEN, f"{reason}\n")
    elif (response := page_of(page, connection, request)) is None and not gate.let_in(connection):
        reason = f"{MOST_VISITORS} are open"
        gate.warn(f"a connection to the page was refused ({reason})")
        response = connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, f"{reason}\n")
    if response is not None:
        for name, value in HEADERS.items():
            response.headers[name] = value
    return response


def page_of(page: Callable[..., Any], connection: ServerConnection, request: Any) -> Any:
    """Answer of viser to a request for the only file there is."""
    request.path = "/"
    return page(connection, request)


class Update(msgspec.Struct):
    """Part of a page's message that is read: GuiUpdateMessage, and the type of all others."""

    type: str
    uuid: str = ""
    updates: dict[str, bool | int | float | str] = {}


_read = msgspec.msgpack.Decoder(Update).decode


class Visitor(ServerConnection):
    """A connection of which viser hears only what the gate accepts."""

    def __init__(self, gate: Gate, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.gate = gate

    def connection_made(self, transport: Any) -> None:
        """Let the visitor wait at the gate; hang up on the one who has waited longest if there are too many."""
        super().connection_made(transport)
        if (longest := self.gate.wait(self)) is not None:
            longest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the visitor."""
        self.gate.leave(self)
        super().connection_lost(exc)

    async def recv(self, decode: bool | None = None) -> Any:
        """Return the next message that the gate accepts."""
        while True:
            await asyncio.sleep(PAUSE)
            if (message := self._accepted(await super().recv(decode))) is not None:
                return message

    def _accepted(self, raw: Any) -> bytes | None:
        """The message, written anew from what was checked; None if it is to be ignored."""
        try:
            message = _read(raw)
        except (msgspec.MsgspecError, RecursionError, TypeError, ValueError):
            self.gate.warn("a page sent a message that it cannot have meant")
            return None
        if message.type == "ViewerCameraMessage":  # pages look from where they like; nobody here wants to know
            return None
        if message.type != "GuiUpdateMessage":  # files, links to the outside, ...: not of this page
            self.gate.warn("a page sent a message of a kind that it has no reason to send")
            return None
        if not self.gate.accept(message.uuid, message.updates, self):
            return None
        return msgspec.msgpack.encode({"type": message.type, "uuid": message.uuid, "updates": message.updates})
