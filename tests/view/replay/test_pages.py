"""The exported page and the live page, driven in a headless browser; and the live page's pace without one."""

import subprocess
import sys
import threading
import time

import gymnasium as gym
import numpy as np
import pytest
from replay.browser import PATIENCE, Browser, wait
from replay.hostile import HOSTILE, hostile

import vigym
from vigym.envs.controllers import scripted

MIDDLE = np.s_[150:400, 190:400]  # of the window: the robot, without plots and messages
NOW = "[...document.querySelectorAll('#vigym-plots span')].map(e => e.textContent).join(' ')"
CANVAS = "document.querySelector('#vigym-plots canvas')"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture(autouse=True)
def quiet_console(request):
    """No test ends with an error in the console of its page."""
    yield
    if "browser" in request.fixturenames:
        browser = request.getfixturevalue("browser")
        complaints, browser.complaints = browser.complaints, []
        assert not complaints


def changed(a, b, where=MIDDLE):
    """Pixels of the robot's part of the window that differ."""
    return int((np.abs(a[where] - b[where]).max(-1) > 40).sum())


def drawn(browser, is_right):
    """The picture once it is right: on a busy machine the scene is drawn some time after the player is there."""
    for _ in range(20):
        picture = browser.still()
        if is_right(picture):
            return picture
    raise AssertionError("the scene is not drawn as it should be")


def play_and_scrub(browser, replay):
    """A user watches a replay, stops it, and goes to other times, by the timeline and by the plots."""
    browser.until("!!window.vigym && window.vigym.now() > 0.1", "the player to play")
    begun = browser.run("vigym.now()")
    browser.until(f"vigym.now() !== {begun}", "time to pass")
    browser.run("vigym.seek(0.4)")  # pauses as well
    browser.until("Math.abs(vigym.now() - 0.4) < 1e-3", "the player to go to 0.4 s")
    early, told = browser.still(), browser.run(NOW)
    # the values beside the plots are those of that time
    k = int(np.searchsorted(replay.time, 0.4 + 1e-6)) - 1
    assert abs(float(told.split()[-1]) - replay.reward[k]) < 1e-3
    browser.run("vigym.seek(1.3)")
    browser.until("Math.abs(vigym.now() - 1.3) < 1e-3", "the player to go to 1.3 s")
    late = drawn(browser, lambda picture: changed(early, picture) > 300)  # legs have moved
    assert browser.run(NOW) != told  # the plots' values have followed
    left, y, width = map(int, browser.box(CANVAS))
    plot = np.s_[y - 15 : y + 15, left + 46 : left + width]
    assert changed(early, late, plot) > 25  # and so has their cursor
    # back: as it was
    browser.run("vigym.seek(0.4)")
    browser.until("Math.abs(vigym.now() - 0.4) < 1e-3", "the player to go back to 0.4 s")
    drawn(browser, lambda picture: changed(early, picture) < 20)
    # a press on a plot goes to the time below it; the plot's lines begin 46 pixels from its left edge
    browser.press(left + 46 + 0.5 * (width - 50), y)
    browser.until(f"Math.abs(vigym.now() - {0.5 * replay.time[-1]}) < 0.02", "the player to follow the press")
    assert changed(early, browser.still()) > 100
    # it plays on when told to
    browser.click("document.querySelector('input').parentElement.parentElement.previousElementSibling")
    paused = browser.run("vigym.now()")
    browser.until(f"vigym.now() !== {paused}", "the player to play on")


def test_the_exported_page_plays_offline(browser, replay, tmp_path):
    replay.save(tmp_path / "run.html")
    browser.call("Network.enable")
    browser.requests.clear()
    browser.open((tmp_path / "run.html").as_uri())
    play_and_scrub(browser, replay)
    assert not [url for url in browser.requests if not url.startswith(("file:", "data:", "blob:"))]


def test_the_command_serves_the_same_page(browser, trot):
    command = [sys.executable, "-m", "vigym", "view", str(trot), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            url = process.stdout.readline().split()[2]
            assert url.startswith("http://127.0.0.1:")
            browser.open(url)
            browser.until("!!window.vigym && window.vigym.now() > 0.1", "the player to play")
        finally:
            browser.call("Page.navigate", url="about:blank")
            process.terminate()


def test_a_notebook_shows_it_inline(browser, replay, tmp_path):
    page = f"<!doctype html><title>notebook</title><body>{replay._repr_html_()}<canvas></canvas></body>"
    (tmp_path / "notebook.html").write_text(page, encoding="utf-8")
    browser.open((tmp_path / "notebook.html").as_uri())
    browser.until("frames[0].vigym && frames[0].vigym.now() > 0.1", "the player in the notebook to play")


def test_names_are_only_names(browser, tmp_path):
    """Names of the title, the bodies and the contacts never become a part of the page, nor do they run."""
    hostile(tmp_path / "run.vigym", HOSTILE[:4])
    page = vigym.Replay.load(tmp_path / "run.vigym").save(tmp_path / "run.html")
    browser.call("Page.addScriptToEvaluateOnNewDocument", source="window.alert = () => { window.ran = true }")
    browser.open(page.as_uri())
    browser.until("!!window.vigym && !!document.querySelector('#vigym-plots span')", "the plots")
    assert (
        browser.run("[...document.querySelectorAll('#vigym-plots span')].slice(0, 4).map(e => e.title)") == HOSTILE[:4]
    )
    assert not browser.run("window.ran || !!document.getElementById('hostile')")


# -------------------- the live page


class Running:
    """An environment that runs in a thread until the context ends."""

    def __init__(self, env_id, **options):
        self.env = gym.make(env_id, render_mode="human", browse=False, **options)
        self.controller, self.steps, self.going = scripted(env_id), 0, True
        self.observation, _ = self.env.reset(seed=0)
        self.live = self.env.unwrapped.picture.live()
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        while self.going:
            self.observation, _, terminated, truncated, _ = self.env.step(self.controller.act(self.observation))
            self.steps += 1
            if terminated or truncated:
                self.observation, _ = self.env.reset()
                self.controller.reset()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.going = False
        self.live.pause.value = False
        self.thread.join(PATIENCE)
        self.env.close()
        assert not self.thread.is_alive()

    def rests(self):
        """Tell whether no step is made for a while."""
        before = self.steps
        time.sleep(0.3)
        return self.steps == before


def labelled(text, tag="input"):
    """Script: the control of a row with that label."""
    return f"""(() => {{
        let row = [...document.querySelectorAll('label, span')].find(e => e.innerText === '{text}');
        while (!row.querySelector('{tag}')) row = row.parentElement;
        return row.querySelector('{tag}');
    }})()"""


def button(text):
    return f"[...document.querySelectorAll('button')].find(e => e.innerText === '{text}')"


def test_the_live_page(browser):
    with Running("VIQuadruped-v0") as run:
        browser.open(run.live.url)
        browser.until(f"!!{button('Single step')}", "the controls")
        first = browser.picture()
        wait(lambda: changed(first, browser.picture()) > 300, "the robot to move")
        # pause, and single steps
        browser.click(labelled("Pause"))
        wait(lambda: run.live.pause.value, "the pause")
        wait(run.rests, "the robot to rest")
        before, rest = run.steps, browser.still()
        for k in range(1, 4):
            browser.click(button("Single step"))
            wait(lambda k=k: run.steps >= before + k, "a single step")
        wait(run.rests, "the robot to rest again")
        assert run.steps == before + 3
        assert changed(rest, browser.still()) > 20
        # the push: the slider, three quarters to the right
        left, y, width = browser.box(labelled("Along y [N]", ".mantine-Slider-root"))
        browser.press(left + 0.75 * width, y)
        wait(lambda: run.live.push[1].value > 50.0, "the push")
        speed = run.env.unwrapped.task.state.v[0, 0, 1]
        for k in range(1, 4):
            browser.click(button("Single step"))
            wait(lambda k=k: run.steps >= before + 3 + k, "a single step")
        assert run.env.unwrapped.task.state.v[0, 0, 1] > speed + 0.1  # 100 N on 12 kg for 40 ms, less what the legs do
        browser.click(button("Let go"))
        wait(lambda: run.live.force() is None, "the push to end")
        browser.call("Page.navigate", url="about:blank")


def test_the_pace_without_a_browser(monkeypatch):
    """A control step of VIPendulum-v0 lasts at least as long as it says, and waits for nothing where it need not."""
    sleep, here, slept = time.sleep, threading.get_ident(), []

    def watched(seconds: float) -> None:
        if threading.get_ident() == here:
            slept.append(seconds)
        sleep(seconds)

    monkeypatch.setattr(time, "sleep", watched)
    for speed in (1.0, 1e6):
        env = gym.make("VIPendulum-v0", render_mode="human", speed=speed)
        env.reset(seed=0)
        slept.clear()
        began = time.monotonic()
        for _ in range(10):
            env.step(np.zeros(1, np.float32))
        if speed == 1.0:
            assert time.monotonic() - began > 9.5 * env.unwrapped.dt
        else:
            assert sum(slept) <= 10 * env.unwrapped.dt / speed
        env.close()
        env.close()


def test_a_push_is_a_force_on_the_chosen_body():
    env = gym.make("VICartPole-v0", render_mode="human", speed=1e6).unwrapped
    env.reset(seed=0)
    live = env.picture.live()
    assert live.force() is None
    live.push[0].value = 20.0
    env.step(np.zeros(1, np.float32))
    assert env.task.variation.hand[0, 0].tolist() == [20.0, 0.0, 0.0]
    before = env.task.state.v[0, 0, 0]
    env.step(np.zeros(1, np.float32))
    assert env.task.state.v[0, 0, 0] > before + 0.1  # m/s
    live.let_go()
    env.step(np.zeros(1, np.float32))
    assert env.task.variation.hand is None
    env.close()


def test_batches_have_one_page_with_a_choice():
    envs = gym.make_vec("VICartPole-v0", num_envs=3, render_mode="human", speed=1e6).unwrapped
    envs.reset(seed=0)
    assert envs.render() is None
    live = envs.picture.live()
    live.which.value = 2
    live.push[0].value = 20.0
    envs.step(np.zeros((3, 1), np.float32))
    assert envs.task.variation.hand[:, 0, 0].tolist() == [0.0, 0.0, 20.0]
    with pytest.raises(RuntimeError, match="rgb_array"):
        envs.render_grid()
    envs.close()
    assert live.server is None


def test_a_browser_is_opened_where_there_is_one(monkeypatch, capsys):
    from vigym.view.page.live import open_page

    opened = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    monkeypatch.setenv("DISPLAY", ":0")
    assert open_page("http://127.0.0.1:1/")
    assert opened == ["http://127.0.0.1:1/"]
    assert not open_page("http://127.0.0.1:2/", browse=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert not open_page("http://127.0.0.1:3/")
    assert len(opened) == 1
    out = capsys.readouterr().out
    assert "open http://127.0.0.1:2/ in a browser" in out
    assert "open http://127.0.0.1:3/ in a browser" in out


def test_no_thread_is_left_behind():
    before = set(threading.enumerate())
    env = gym.make("VIPendulum-v0", render_mode="human", browse=False)
    env.reset(seed=0)
    assert set(threading.enumerate()) > before
    env.close()
    wait(lambda: set(threading.enumerate()) <= before, "the server's threads to end")
