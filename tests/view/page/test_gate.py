"""The live page lets in who has its address, from the page itself; and nothing that it is sent harms the loop."""

import http.client
import logging
import socket
import threading
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

import gymnasium as gym
import msgspec
import numpy as np
import pytest
from page.visitor import PATIENCE, controls, enter, port_of, update
from websockets.exceptions import ConnectionClosed, InvalidStatus

from vigym.view.page.access import HEADERS, Access
from vigym.view.page.gate import MOST_VISITORS, MOST_WAITING, Gate, between, is_switch, one_of
from vigym.view.page.server import HANDSHAKE
from vigym.view.page.stage import stop_server
from vigym.view.replay.serve import Served

ACTION = np.zeros(1, np.float32)


@pytest.fixture
def env():
    env = gym.make("VICartPole-v0", render_mode="human", browse=False, speed=1e6)
    env.reset(seed=0)
    yield env
    env.close()


@pytest.fixture
def live(env):
    return env.unwrapped.picture.live()


class Loop:
    """An environment that is stepped by a thread, and reset when an episode ends, until the context does."""

    def __init__(self, env):
        self.env, self.steps, self.going, self.error = env, 0, True, None
        self.stepped = threading.Condition()
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        try:
            while self.going:
                ended = self.env.step(ACTION)[2:4]
                if any(ended):
                    self.env.reset()
                with self.stepped:
                    self.steps += 1
                    self.stepped.notify_all()
        except Exception as error:
            self.error = error

    def goes_on(self, steps=20):
        """Wait for that many further steps; tell whether they are made."""
        with self.stepped:
            end = self.steps + steps
            return self.stepped.wait_for(lambda: self.steps >= end or self.error, PATIENCE) and self.error is None

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.going = False
        self.env.unwrapped.picture.live().pause.value = False
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()
        assert self.error is None


def until(happened):
    """Wait until happened() is true."""
    pause = threading.Event()
    for _ in range(int(PATIENCE / 0.01)):
        if happened():
            return
        pause.wait(0.01)
    raise AssertionError("waited in vain")


# -------------------- who comes in


def get(url, path=None, **headers):
    """Status and text of a GET with these headers."""
    connection = http.client.HTTPConnection("127.0.0.1", port_of(url), timeout=PATIENCE)
    try:
        connection.putrequest("GET", urlsplit(url).path if path is None else path, skip_host=True)
        for name, value in {"Host": f"127.0.0.1:{port_of(url)}", **headers}.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers
    finally:
        connection.close()


@contextmanager
def live_page():
    env = gym.make("VICartPole-v0", render_mode="human", browse=False, speed=1e6)
    env.reset(seed=0)
    yield env.unwrapped.picture.live().url
    env.close()


@contextmanager
def replay_page():
    with Served("<!doctype html><title>a recording</title>") as served:
        yield served.url


@pytest.mark.parametrize("page", [live_page, replay_page])
def test_a_page_is_for_those_who_have_its_address(page):
    with page() as url:
        port, path = port_of(url), urlsplit(url).path
        assert url.startswith("http://127.0.0.1:")
        assert len(path) > 30
        status, text, headers = get(url)
        assert status == 200
        assert text.lower().startswith("<!doctype html>")
        assert {name: headers[name] for name in HEADERS} == HEADERS
        assert get(url, path.removesuffix("/"))[0] == 200
        assert get(url, Host="localhost:4711")[0] == 200  # through a tunnel
        assert get(url, Origin=f"http://127.0.0.1:{port}")[0] == 200
        wrong = ["/", "//", "/token/", path[:-2] + "/", path + "x", path + "../", f"{path}index.html", f"/?{path}"]
        for other in [*wrong, "/%2e%2e/", "/../../../../etc/passwd", f"{path}../../../etc/passwd", "/%ff%00"]:
            status, text, _ = get(url, other)
            assert status == 403, other
            assert "token" in text
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "", "0.0.0.0", "localhost@evil"):
            assert get(url, Host=host)[0] in (400, 403), host
        for origin in ("http://evil.example", "null", f"https://127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}"):
            assert get(url, Origin=origin)[0] == 403, origin


def test_a_websocket_is_for_the_page_itself(live):
    port, path = port_of(live.url), urlsplit(live.url).path
    with enter(live.url) as connection:
        assert "Pause" in controls(connection)
    with enter(live.url, host=f"localhost:{port}", origin=f"http://localhost:{port}") as connection:
        assert "Pause" in controls(connection)
    refused = [
        {"path": ""},
        {"path": "/"},
        {"path": "/no-token-at-all"},
        {"path": path[:-2]},
        {"path": path + "more"},
        {"origin": None},
        {"origin": "null"},
        {"origin": "http://evil.example"},
        {"origin": f"http://127.0.0.1:{port + 1}"},
        {"origin": f"http://localhost:{port}"},
        {"origin": f"http://127.0.0.1:{port}.evil.example"},
        {"host": "evil.example", "origin": "http://evil.example"},
        {"host": f"evil.example:{port}", "origin": f"http://evil.example:{port}"},
        {"host": f"evil.example:{port}"},
    ]
    for how in refused:
        with pytest.raises(InvalidStatus, match="403"), enter(live.url, **how):
            pass
    until(lambda: not live.gate.visitors)


def test_tokens_differ_and_are_compared_in_constant_time(monkeypatch):
    from vigym.view.page import access

    compared = []
    genuine = access.secrets.compare_digest
    monkeypatch.setattr(access.secrets, "compare_digest", lambda a, b: compared.append(a) or genuine(a, b))
    pages = [Access() for _ in range(20)]
    paths = {urlsplit(page.address(1)).path for page in pages}
    assert len(paths) == 20
    headers = msg_headers(Host="127.0.0.1:1")
    for page in pages:
        admitted = [path for path in paths if page.refusal(path, headers) is None]
        assert admitted == [urlsplit(page.address(1)).path]
    assert len(compared) == 400


def msg_headers(**headers):
    from email.message import Message

    message = Message()
    for name, value in headers.items():
        message[name] = value
    return message


def test_a_header_that_comes_twice_is_refused():
    page = Access()
    path, headers = urlsplit(page.address(1)).path, msg_headers(Host="127.0.0.1:1")
    assert page.refusal(path, headers) is None
    headers["Host"] = "127.0.0.1:1"
    assert "Host" in page.refusal(path, headers)
    del headers["Host"]
    assert "Host" in page.refusal(path, headers)


def test_a_viser_that_starts_otherwise_is_an_error_and_not_an_open_page(monkeypatch):
    """Fails if the hook of `view/page/server.py` is no longer where viser looks for it."""
    from vigym.view.page import server
    from vigym.view.page.gate import Gate

    gate = Gate()
    stop_server(server.start(gate))
    assert gate.in_force
    monkeypatch.setattr(server, "GatedServe", server.serve)  # viser would call the genuine one
    with pytest.raises(RuntimeError, match="starts its server in a way that vigym does not know"):
        server.start(Gate())


def test_other_servers_of_the_process_are_left_alone():
    import viser
    import websockets.asyncio.server as module

    assert module.serve.__module__ == "websockets.asyncio.server"
    own = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    try:
        assert get(f"http://127.0.0.1:{own.get_port()}/")[0] == 200
    finally:
        stop_server(own)


# -------------------- what they may do


def test_good_values_arrive(env, live):
    with Loop(env) as loop, enter(live.url) as page:
        uuids = controls(page)
        page.send(update(uuids["Along x [N]"], value=3))
        until(lambda: live.gate.value(live.push[0]) == 3.0)
        page.send(update(uuids["Body"], value="pole"))
        until(lambda: live.force() is not None and live.force()[0, 1].tolist() == [3.0, 0.0, 0.0])
        page.send(update(uuids["Let go"], value=True))
        until(lambda: live.force() is None)
        page.send(update(uuids["Speed"], value="4x"))
        until(lambda: live.speed == 4.0)
        assert loop.goes_on()


def hostile(uuids):
    """Messages that no page sends, with what they try."""
    push, body, pause, speed = (uuids[name] for name in ("Along x [N]", "Body", "Pause", "Speed"))
    yield from (b"", b"\xc1", b"\x00", b"garbage" * 99, b"\x91" * 60_000, b"\x81\xa4type\xc0", "text, not bytes")
    for value in (float("nan"), float("inf"), -float("inf"), 1e300, -1e9, True, "12", "", None, [1.0], {"a": 1}, 2**63):
        yield update(push, value=value)
    for value in ("no such body", "", "Pole", 0, None, ["pole"], "x" * 60_000):
        yield update(body, value=value)
    for value in (1, "true", None, [True]):
        yield update(pause, value=value)
    yield update(speed, value="1e-9x")
    yield update(push, max=1e9)  # another property of the widget
    yield update(push, value=1.0, update_cb=[])
    yield update(push, _impl=None)
    yield update(push)
    yield update("no such widget", value=1.0)
    for kind in (
        "ShareUrlRequest",
        "ShareUrlDisconnect",
        "FileTransferStartUpload",
        "ScenePointerMessage",
        "",
        "Message",
    ):
        yield msgspec.msgpack.encode({"type": kind})
    yield update(push, value=1.0) + b"and more"
    yield msgspec.msgpack.encode({"type": "ViewerCameraMessage", "wxyz": "turn"})


def test_hostile_messages_are_ignored_with_one_warning_of_a_kind(env, live, caplog):
    def shared(*_):
        raise AssertionError("a page asked for a link to the outside, and got one")

    live.server.request_share_url = shared
    with caplog.at_level(logging.WARNING), Loop(env) as loop, enter(live.url) as page:
        uuids = controls(page)
        for _ in range(2):
            for message in hostile(uuids):
                page.send(message)
        # messages are read in turn: when this one has arrived, all others have
        page.send(update(uuids["Along y [N]"], value=1.0))
        until(lambda: live.gate.value(live.push[1]) == 1.0)
        assert loop.goes_on()
        assert [live.gate.value(slider) for slider in live.push] == [0.0, 1.0, 0.0]
        assert live.gate.value(live.body) == "cart"
        assert not live.paused
        assert live.speed == 1e6
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == len(set(told)) == 4, told
    assert all("ignored" in text for text in told)


def test_a_huge_message_ends_its_own_connection_only(env, live):
    with Loop(env) as loop, enter(live.url) as page:
        controls(page)
        with suppress(ConnectionClosed):
            page.send(bytes(10_000_000))
        with pytest.raises(ConnectionClosed):
            for _ in iter(lambda: page.recv(timeout=PATIENCE), None):
                pass
        assert loop.goes_on()


@pytest.mark.parametrize("button", ["Pause", "Single step"])
def test_a_pause_ends_with_the_page_that_asked_for_it(env, live, button):
    with Loop(env) as loop, enter(live.url) as other:
        controls(other)
        page = enter(live.url)
        page.send(update(controls(page)[button], value=True))
        until(lambda: live.paused)
        page.socket.shutdown(socket.SHUT_RDWR)  # without a word
        assert loop.goes_on()
        assert not live.paused
        assert not live.pause.value


def test_pushes_and_speeds_end_with_their_page_too(env, live):
    with Loop(env) as loop:
        with enter(live.url) as page:
            uuids = controls(page)
            page.send(update(uuids["Along x [N]"], value=2.0))
            page.send(update(uuids["Speed"], value="2x"))
            until(lambda: live.force() is not None and live.speed == 2.0)
        until(lambda: live.force() is None and live.speed == 1e6)
        assert loop.goes_on()


def test_a_page_that_pauses_and_leaves_at_once_does_not_stop_the_loop(env, live):
    with Loop(env) as loop:
        for _ in range(20):
            with enter(live.url) as page:
                pause = controls(page)["Pause"]
                for value in (True, False) * 10 + (True,):
                    page.send(update(pause, value=value))
        until(lambda: not live.gate.visitors)
        assert loop.goes_on()


def test_many_connections_do_not_stop_the_loop(env, live, caplog):
    """Hundreds that ask for nothing, hundreds that talk nonsense; no more than MOST_WAITING are kept, and a page that
    is opened while they wait gets in."""
    where = ("127.0.0.1", port_of(live.url))
    with Loop(env) as loop:
        idle = []
        for k in range(1000):
            wire = socket.create_connection(where, timeout=PATIENCE)
            if len(idle) < 200:
                idle.append(wire)
            else:
                with suppress(OSError):
                    wire.sendall(b"\x16\x03\x01nonsense\r\n\r\n")
                wire.close()
            if k % 100 == 0:
                assert len(live.gate.waiting) <= MOST_WAITING
                assert loop.goes_on(2)
        assert loop.goes_on()
        for _ in range(MOST_WAITING):
            idle.append(socket.create_connection(where, timeout=PATIENCE))
        with enter(live.url) as page:
            assert "Pause" in controls(page)
            assert len(live.gate.visitors) == 1
        for wire in idle:
            wire.close()
        until(lambda: not live.gate.waiting)
    assert not [record for record in caplog.records if record.exc_info]


def test_connections_that_ask_for_nothing_are_closed(live):
    """By themselves, after HANDSHAKE; half a request is no more than none."""
    wires = [socket.create_connection(("127.0.0.1", port_of(live.url)), timeout=PATIENCE) for _ in range(8)]
    for wire in wires[:4]:
        wire.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
    assert HANDSHAKE < PATIENCE
    assert all(is_closed(wire) for wire in wires)
    until(lambda: not live.gate.waiting)


def is_closed(wire):
    """True if the other side ends the connection while it is waited for."""
    with wire, suppress(ConnectionError):
        while wire.recv(1024):
            pass
    return True


def test_places_are_of_those_who_were_let_in():
    gate = Gate()
    waiting = [object() for _ in range(MOST_WAITING)]
    assert not any(gate.wait(visitor) for visitor in waiting)
    last = object()
    assert gate.wait(last) is waiting[0]
    assert len(gate.waiting) == MOST_WAITING
    assert gate.let_in(last)
    assert last not in gate.waiting
    others = [object() for _ in range(MOST_VISITORS)]
    assert [gate.let_in(visitor) for visitor in others] == [True] * (MOST_VISITORS - 1) + [False]
    gate.leave(last)
    assert gate.let_in(others[-1])


# -------------------- rules


def test_rules():
    assert is_switch(True)
    assert is_switch(False)
    assert not any(map(is_switch, (1, 0, "", None)))
    assert one_of(["a", "b"])("b")
    assert not any(map(one_of(["a", "b"]), ("c", "", None, 1, "A")))
    real, whole = between(-2.0, 2.0), between(0, 2, whole=True)
    assert all(map(real, (-2.0, 0, 2, 1.5)))
    assert not any(map(real, (2.1, -2.1, float("nan"), float("inf"), True, "1", None, 10**400)))
    assert all(map(whole, (0, 1, 2.0)))
    assert not any(map(whole, (0.5, -1, 3, float("nan"))))
