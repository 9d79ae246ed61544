"""A visitor of the live page that is not a browser: it connects as it likes, and sends what it likes."""

import socket
from urllib.parse import urlsplit

import msgspec
import zstandard
from websockets.sync.client import connect

PATIENCE = 120.0  # s, on a busy machine


def port_of(url):
    return urlsplit(url).port


def enter(url, path=None, host=None, origin=...):
    """A websocket to the page at `url`, as its own page would open it unless told otherwise."""
    import viser

    port = port_of(url)
    origin = f"http://127.0.0.1:{port}" if origin is ... else origin
    wire = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    return connect(
        f"ws://{host or f'127.0.0.1:{port}'}{urlsplit(url).path.removesuffix('/') if path is None else path}",
        sock=wire,
        origin=origin,
        subprotocols=[f"viser-v{viser.__version__}"],
        open_timeout=PATIENCE,
        max_size=None,
        max_queue=None,  # reads on, so that closing need not wait
        compression=None,
    )


def controls(connection, last="Let go"):
    """The uuids of the page's controls by label, from what the server tells a new page, up to the `last` of them."""
    found = {}
    while last not in found:
        raw = connection.recv(timeout=PATIENCE)
        packed = int.from_bytes(raw[8:16], "little")
        told = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(raw[16 : 16 + packed]))
        for message in told["messages"]:
            if message["type"].startswith("Gui") and "label" in message.get("props", {}):
                found[message["props"]["label"]] = message["uuid"]
    return found


def update(uuid, **updates):
    """The message of a page whose control has changed."""
    return msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": uuid, "updates": updates})
