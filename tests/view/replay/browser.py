"""A headless Chromium that tests drive over the DevTools protocol: open, look, click, type, listen to the console."""

import atexit
import base64
import io
import itertools
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
INSTALL = "no browser: apt-get install chromium (Debian), or put chromium or google-chrome on PATH"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--use-angle=swiftshader",  # graphics without a graphics card
    "--enable-unsafe-swiftshader",
    "--remote-debugging-port=0",
    "--no-first-run",
    "--disable-quic",
    "--disable-sync",
    "--disable-extensions",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
]
PATIENCE = 120.0  # s: software graphics on a busy machine


def find():
    """The browser's program; the test is skipped, with how to install one, if there is none."""
    named = os.environ.get("CHROME_PATH")
    program = named or next(filter(None, map(shutil.which, NAMES)), None)
    return program or pytest.skip(INSTALL)


class Browser:
    """One page of a browser with a new profile in `folder`; size: of its window."""

    def __init__(self, folder: Path, size: tuple[int, int] = (640, 520)) -> None:
        from websockets.sync.client import connect

        own = [f"--user-data-dir={folder}", "--window-size={},{}".format(*size)]
        command = [find(), *FLAGS, *own, "about:blank"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        atexit.register(self.process.kill)  # whatever happens
        told = folder / "DevToolsActivePort"
        wait(lambda: told.exists() and told.read_text().count("\n") >= 1, "the browser to start")
        port, path = told.read_text().split("\n")[:2]
        self.socket = connect(f"ws://127.0.0.1:{port}{path}", max_size=None, open_timeout=PATIENCE, ping_interval=None)
        self.numbers, self.session = itertools.count(1), None
        self.complaints: list[str] = []  # errors of the console, and exceptions
        self.requests: list[str] = []  # once Network.enable was called
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        """One command, and its result; what the page tells meanwhile is kept."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params}
        self.socket.send(json.dumps(message | ({"sessionId": self.session} if self.session else {})))
        while True:
            answer = json.loads(self.socket.recv(timeout=PATIENCE))
            self._listen(answer)
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]

    def _listen(self, told):
        params = told.get("params", {})
        if told.get("method") == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        if told.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(params["exceptionDetails"])[:500])
        elif told.get("method") == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.complaints.append(str([part.get("value", part.get("description")) for part in params["args"]])[:500])
        elif told.get("method") == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.complaints.append(f"{params['entry']['text']} {params['entry'].get('url', '')}"[:500])

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && !!document.querySelector('canvas')", f"{url} to load")

    def run(self, script):
        """The value of an expression in the page."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def until(self, script, what):
        """Wait until an expression is true."""
        wait(lambda: self.run(script), what)

    def picture(self):
        """The page as it looks now, (height, width, 3)."""
        from PIL import Image

        data = base64.b64decode(self.call("Page.captureScreenshot")["data"])
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)

    def still(self):
        """The same once the scene is drawn (viser fades it in) and has come to rest."""
        self.until(
            "[...document.querySelectorAll('canvas')].some(e => e.style.opacity === '1')", "the scene to be drawn"
        )
        # on a busy machine a frame takes its time: what was asked for before is drawn after a few of them
        self.run("window.framesDrawn = 0, (function next() { if (++framesDrawn < 8) requestAnimationFrame(next) })()")
        self.until("framesDrawn >= 8", "frames to be drawn")
        before, end = self.picture(), time.monotonic() + PATIENCE
        while time.monotonic() < end:
            time.sleep(0.2)
            after = self.picture()
            if (np.abs(after - before).max(-1) > 8).sum() < 40:  # a cursor blinks
                return after
            before = after
        raise AssertionError("the page does not come to rest")

    def press(self, x, y):
        """A click of the left button at a point of the window."""
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent",
                type=kind,
                x=x,
                y=y,
                button="none" if kind == "mouseMoved" else "left",
                buttons=int(kind == "mousePressed"),
                clickCount=1,
            )

    def box(self, script):
        """Left edge, middle height and width of an element, in pixels of the window."""
        rectangle = (
            f"(() => {{const r = ({script}).getBoundingClientRect(); return [r.x, r.y + r.height/2, r.width]}})()"
        )
        return self.run(rectangle)

    def click(self, script):
        """A click on an element."""
        left, y, width = self.box(script)
        self.press(left + width / 2, y)

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
            self.socket.close()
            self.process.wait(10)
        except Exception:  # a browser that hangs is ended
            self.process.kill()
            self.process.wait()
        atexit.unregister(self.process.kill)


def wait(happened, what):
    """Until happened() is true."""
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end, f"waited {PATIENCE:g} s in vain for {what}"
        time.sleep(0.05)
