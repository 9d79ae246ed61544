"""Access to a page that this machine serves: for whoever has its address, from this machine, and no other web site.

The address holds a random token. The Host header must name this machine, so that a web site whose name was made to
lead here (DNS rebinding) gets nothing; an Origin must be the page itself, so that other sites cannot talk to it. The
port is not compared, so that a page can be looked at through a tunnel (`ssh -L`).
"""

import secrets
from typing import Any

HOSTS = ("127.0.0.1", "localhost", "[::1]")
# Of every answer: the address stays here, nothing is kept, and no other page shows this one inside itself.
HEADERS = {
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "frame-ancestors 'none'",
}


class Access:
    """The token of one page, and the check of those who ask for the page."""

    def __init__(self) -> None:
        self._token = secrets.token_urlsafe(24)

    def address(self, port: int) -> str:
        """The page's address on this machine."""
        return f"http://{HOSTS[0]}:{port}/{self._token}/"

    def refusal(self, target: str, headers: Any, *, socket: bool = False) -> str | None:
        """The reason to refuse a request, or None.

        target: path and query of the request
        headers: with a method `get_all`, as of `http.server` and of websockets
        socket: whether it asks for a websocket, which browsers ask for only with an Origin
        """
        host, origin = ((headers.get_all(name) or []) for name in ("Host", "Origin"))
        if len(host) != 1 or _name(host[0]) not in HOSTS:
            return f"the Host header must be one of {', '.join(HOSTS)}, with or without a port"
        if (socket or origin) and [text.lower() for text in origin] != [f"http://{host[0]}".lower()]:
            return "the Origin header must be the page's own address"
        token = target.partition("?")[0].removeprefix("/").removesuffix("/")
        if not secrets.compare_digest(token.encode(errors="replace"), self._token.encode()):
            return "the address must hold the token that was printed when the page was started"
        return None


def _name(host: str) -> str:
    """A Host header without its port."""
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdecimal() else host).lower()
