"""Replays and live pages of bodies that touch each other: their contacts, forces, colliders, in every form."""

import numpy as np
import pytest
from replay.browser import Browser, wait
from replay.test_pages import button, changed, drawn, labelled
from replay.test_replay import plotted
from replay.touching import grip, gripper

import vigym
from vigym import InputError, Replay
from vigym.view.page.live import Live
from vigym.view.pictures.camera import Camera

CUBE = 3  # its number among the bodies


@pytest.fixture(scope="module")
def pinched(pinch):
    return Replay.load(pinch)


def test_a_replay_gives_contacts_back(tmp_path):
    sim = grip(tmp_path / "run.vigym")
    replay = Replay.load(tmp_path / "run.vigym")
    found, told = sim.contacts(0), replay.contacts(-1)
    assert len(found) > 3
    for name in ("env", "collider", "position", "normal", "gap", "force"):
        np.testing.assert_array_equal(getattr(told, name), getattr(found, name))
    assert not replay.damage


def test_forces_act_where_fingers_touch(pinched):
    """The cube is held: at the end, forces on it add up to its weight, and act on its sides."""
    told = pinched.contacts(-1)
    points, forces = pinched.forces_of(-1)
    assert len(points) == 2 * len(told)  # nothing of the world touches, so that both have one
    np.testing.assert_allclose(forces.sum(0), 0.0, atol=1e-12)
    number = [c.name for c in pinched.mechanism.colliders].index("cube")
    sign = np.where(told.collider[:, 0] == number, 1.0, -1.0)
    up = (sign[:, None] * told.force).sum(0)[2]
    assert up == pytest.approx(0.3 * 9.81, rel=0.2)  # it is still lifted
    away = np.abs(told.position - pinched.x[-1, CUBE])[:, 0]
    np.testing.assert_allclose(away, 0.03, atol=1e-6)  # poses are recorded in single precision


def test_forces_between_frames_are_those_of_the_nearer_one(pinched):
    dt = pinched.time[1]
    for part, frame in ((0.2, 60), (0.8, 61)):
        start, along = pinched.arrows((60 + part) * dt).points, pinched.arrows((60 + part) * dt).vectors
        exact = pinched.arrows(pinched.time[frame])
        np.testing.assert_array_equal(start, exact.points)
        np.testing.assert_array_equal(along, exact.vectors)
    assert len(exact.points)


def test_strips_have_a_picture_for_each_pose(pinched, tmp_path, monkeypatch):
    """The table stays where it is, and the hand above it rises."""
    seen = {}
    monkeypatch.setattr("vigym.view.replay.strip.save_png", lambda path, image: seen.update({path.name: image}))
    size = {"width": 200, "height": 160}
    pinched.save(tmp_path / "four.png", poses=4, **size)
    pinched.save(tmp_path / "plain.png", poses=4, forces=False, **size)
    pinched.save(tmp_path / "solid.png", poses=4, forces=False, colliders=True, **size)
    image = seen["four.png"].astype(int)
    assert image.shape == (160, 200, 3)
    assert (seen["four.png"] != seen["plain.png"]).any()  # arrows
    assert (seen["solid.png"] != seen["plain.png"]).any()  # pads
    blue = image[..., 2] - image[..., 0] > 60  # the hand
    first, last = blue[:80, :100], blue[80:, 100:]
    assert np.argwhere(first)[:, 0].mean() > np.argwhere(last)[:, 0].mean() + 2


def test_films_have_arrows(pinched, tmp_path):
    from PIL import Image

    for name, forces in (("with.gif", True), ("without.gif", False)):
        pinched.save(tmp_path / name, forces=forces, width=80, height=60, fps=5, colliders=True)
    pictures = []
    for name in ("with.gif", "without.gif"):
        with Image.open(tmp_path / name) as film:
            film.seek(film.n_frames - 1)
            pictures.append(np.asarray(film.convert("RGB")).astype(int))
    assert (np.abs(pictures[0] - pictures[1]).max(-1) > 40).sum() > 10


def test_the_page_plots_forces_and_has_a_switch(pinched):
    data = plotted(pinched.html())
    (lines,) = (plot["lines"] for plot in data["plots"] if plot["title"] == "force between colliders")
    sizes = [np.linalg.norm(pinched.contacts(k).force, axis=-1) for k in range(len(pinched))]
    np.testing.assert_allclose(lines[0]["values"], [size.sum() for size in sizes], rtol=1e-3)
    np.testing.assert_allclose(lines[1]["values"], [size.max(initial=0.0) for size in sizes], rtol=1e-3)
    assert data["colliders"] == {"color": "59cc73", "shown": False}
    assert plotted(pinched.html(colliders=True))["colliders"]["shown"]


def test_pages_without_hidden_colliders_have_no_switch(replay):
    text = replay.html()
    assert "colliders" not in plotted(text)
    assert "__THREE_DEVTOOLS__" not in text.split("</head>")[0][:2000]


def test_the_switch_of_the_page(pinched, tmp_path, tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("browser"))
    try:
        browser.open(pinched.save(tmp_path / "run.html", forces=False).as_uri())
        browser.until("!!window.vigym && vigym.now() > 0.1", "the player to play")
        browser.run("vigym.seek(0.9)")
        browser.until("Math.abs(vigym.now() - 0.9) < 1e-3", "the player to go to 0.9 s")
        without = browser.still()
        browser.click("document.querySelector('#vigym-colliders')")
        drawn(browser, lambda picture: changed(without, picture) > 30)
        browser.click("document.querySelector('#vigym-colliders')")
        drawn(browser, lambda picture: changed(without, picture) < 10)
        assert not browser.complaints
    finally:
        browser.close()


def test_the_live_page_has_a_switch(capsys, tmp_path_factory):
    sim = gripper()
    live = Live(sim, sim.dt, Camera(1.0, 130.0, -20.0), speed=1e6, browse=False)
    browser = Browser(tmp_path_factory.mktemp("browser"))
    try:
        assert [node.visible for node in live.stage.colliders] == [False, False]
        browser.open(live.url)
        browser.until(f"!!{button('Single step')}", "the controls")
        for _ in range(30):  # fingers close
            sim.step(target=[[-0.12, 0.06, 0.06]])
        live.show(wait=False)
        arrows = np.asarray(live.stage.arrows.points)
        assert len(arrows) > 3
        assert arrows[:, 0, 2].min() > -0.01
        browser.still()
        browser.click(labelled("Colliders"))
        wait(lambda: live.colliders.value, "the switch")
        live.show(wait=False)
        assert all(node.visible for node in live.stage.colliders)
    finally:
        live.close()
        browser.close()


def test_the_command(pinch, tmp_path, capsys):
    from vigym.envs.view_command import view

    view(str(pinch), (tmp_path / "run.png", tmp_path / "run.html"), colliders=True)
    assert (tmp_path / "run.png").exists()
    assert plotted((tmp_path / "run.html").read_text(encoding="utf-8"))["colliders"]["shown"]


def test_the_demo(tmp_path, capsys):
    from vigym.envs.demo.command import demo

    demo("heap", seconds=0.4, out=tmp_path)
    assert "deepest penetration" in capsys.readouterr().out
    replay = Replay.load(tmp_path / "heap.vigym")
    assert len(replay) == 41
    assert len(replay.contacts(-1)) > 5
    assert replay.touches["gap"].min() > -1e-8


def test_a_body_far_away_is_not_followed_among_furniture(tmp_path):
    m = vigym.Mechanism()
    m.add_collider("table", "world", vigym.Box((0.5, 0.5, 0.5), position=(0, 0, -0.25)))
    m.add_body("ball", 1.0, shapes=[vigym.Sphere(0.1)], position=(0, 0, 0.1), collide=True)
    sim = vigym.Simulator(m)
    sim.set_state(v=[[3.0, 0, 0]])
    with sim.record(tmp_path / "run.vigym"):
        for _ in range(50):
            sim.step()
    assert Replay.load(tmp_path / "run.vigym").camera.trackbodyid is None


def test_frames_that_are_not_there(pinched):
    with pytest.raises(InputError, match="frame"):
        pinched.contacts(len(pinched))
