"""A replay shown to its user: written to files, or as a page that is served until Ctrl-C."""

import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from vigym.view.page.live import open_page
from vigym.view.replay.replay import Replay


def present(replay: Replay, out: tuple[Path, ...], speed: float, forces: bool, browser: bool) -> None:
    """Write the files, or serve the page until Ctrl-C."""
    if not replay.complete:
        why = replay.damage or "a crash, or it is still being written"
        print(f"the recording has no end ({why}): {len(replay)} frames of it")
    for path in out:
        options = {"speed": speed} if path.suffix.lower() in (".mp4", ".gif") else {}
        print(f"wrote {replay.save(path, forces=forces, **options)}")
    if not out:
        with Served(replay.html(forces=forces)) as page:
            open_page(page.url, browser)
            print("Ctrl-C ends it", flush=True)
            while True:
                time.sleep(1.0)


class Served:
    """One page on a free port of this machine, while the context lasts."""

    def __init__(self, text: str) -> None:
        data = text.encode()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                found = self.path == "/"
                self.send_response(200 if found else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(data) if found else 0))
                self.end_headers()
                if found:
                    self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                """Nothing is logged."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        self.thread = Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self) -> "Served":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
