"""A replay shown to its user: written to files, or as a page that is served until Ctrl-C."""

import time
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from vigym.view.page.access import HEADERS, Access
from vigym.view.page.live import open_page
from vigym.view.replay.replay import Replay


def present(replay: Replay, out: tuple[Path, ...], speed: float, forces: bool, colliders: bool, browser: bool) -> None:
    """Write the files, or serve the page until Ctrl-C."""
    if not replay.complete:
        why = replay.damage or "a crash, or it is still being written"
        print(f"the recording has no end ({why}): {len(replay)} frames of it")
    for path in out:
        options = {"speed": speed} if path.suffix.lower() in (".mp4", ".gif") else {}
        print(f"wrote {replay.save(path, forces=forces, colliders=colliders, **options)}")
    if not out:
        with Served(replay.html(forces=forces, colliders=colliders)) as page:
            open_page(page.url, browser)
            print("Ctrl-C ends it", flush=True)
            while True:
                time.sleep(1.0)


class Served:
    """One page on a free port of this machine, at an address with a token, while the context lasts."""

    def __init__(self, text: str) -> None:
        access = Access()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, access, text.encode()))
        self.url = access.address(self.server.server_port)
        self.thread = Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self) -> "Served":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


class Handler(BaseHTTPRequestHandler):
    """Answers with the page, whoever may have it; there is nothing else to ask for."""

    timeout = 10.0  # s: who connects and says nothing

    def __init__(self, access: Access, page: bytes, *args: Any) -> None:
        self.access, self.page = access, page
        super().__init__(*args)  # answers

    def do_GET(self) -> None:
        """Send the page, or the reason why not."""
        reason = self.access.refusal(self.path, self.headers)
        data = self.page if reason is None else f"{reason}\n".encode()
        self.send_response(HTTPStatus.OK if reason is None else HTTPStatus.FORBIDDEN)
        self.send_header("Content-Type", f"text/{'html' if reason is None else 'plain'}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""
