"""Recordings of environments, and what is made of them without a browser: films, strips, pages as text."""

import html
import json
import re
import sys
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled
from replay.hostile import HOSTILE, hostile

import vigym
from vigym import InputError, Replay
from vigym.__main__ import main

STILL = np.zeros(1, np.float32)


# -------------------- environments record


def test_an_environment_records_actions_and_rewards(tmp_path):
    env = gym.make("VICartPole-v0")
    env.reset(seed=0)
    recorder = env.unwrapped.record(tmp_path / "run.vigym")
    told = []
    for k in range(5):
        action = np.full(1, 0.1 * k, np.float32)
        told.append((action[0], env.step(action)[1], env.unwrapped.task.state.x[0]))
    env.reset(seed=1)
    recorder.close()
    env.step(STILL)  # no longer recorded
    r = Replay.load(tmp_path / "run.vigym")
    assert r.head["title"] == "VICartPole-v0"
    assert r.start.tolist() == [True, False, False, False, False, False, True]
    np.testing.assert_allclose(r.action[1:6, 0], [action for action, _, _ in told], rtol=1e-6)
    np.testing.assert_allclose(r.reward[1:6], [reward for _, reward, _ in told], rtol=1e-6)
    np.testing.assert_allclose(r.x[1:6], [x for _, _, x in told], atol=1e-6)
    np.testing.assert_allclose(r.time[:6], env.unwrapped.dt * np.arange(6), rtol=1e-6)


def test_closing_the_environment_ends_the_file(tmp_path):
    env = gym.make("VIPendulum-v0")
    env.reset(seed=0)
    env.unwrapped.record(tmp_path / "one.vigym")
    env.unwrapped.record(tmp_path / "two.vigym")  # ends the first one
    assert Replay.load(tmp_path / "one.vigym").complete
    assert not Replay.load(tmp_path / "two.vigym").complete
    env.close()
    assert Replay.load(tmp_path / "two.vigym").complete


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_one_of_a_batch(mode, tmp_path):
    """The recording of environment 1 of 3 shows what it went through, its last state before a reset included."""
    mode = gym.vector.AutoresetMode(mode)
    envs = gym.make_vec("VICartPole-v0", num_envs=3, max_episode_steps=6, autoreset_mode=mode)
    envs.reset(seed=0)
    envs.unwrapped.record(tmp_path / "batch.vigym", env=1)
    single = gym.make("VICartPole-v0").unwrapped
    single.reset(seed=1)
    expected = [single.task.state.x[0]]
    rng = np.random.default_rng(0)
    for _ in range(6):
        actions = rng.uniform(-1, 1, (3, 1)).astype(np.float32)
        envs.step(actions)
        single.step(actions[1])
        expected.append(single.task.state.x[0])
    envs.step(np.zeros((3, 1), np.float32))
    envs.close()
    r = Replay.load(tmp_path / "batch.vigym")
    np.testing.assert_allclose(r.x[:7], expected, atol=1e-6)
    assert r.start.tolist() == [True] + [False] * 6 + [True] + ([False] if mode.name == "SAME_STEP" else [])
    with pytest.raises(InputError, match="env must be 0 to 2"):
        envs.unwrapped.record(tmp_path / "batch.vigym", env=3)


def test_a_picture_of_the_recording_is_one_of_the_environment(tmp_path):
    env = gym.make("VIQuadruped-v0", terrain="steps", render_mode="rgb_array", width=120, height=90).unwrapped
    env.reset(seed=0)
    env.record(tmp_path / "run.vigym").close()
    r = Replay.load(tmp_path / "run.vigym")
    there = r.renderer(120, 90).render(r.x[0], r.q[0]).astype(int)
    assert (np.abs(there - env.render()).max(-1) > 10).mean() < 0.01  # poses are rounded to single precision


# -------------------- in between


def test_between_two_frames(replay):
    k = 40
    x, q, forces = replay.at(replay.time[k])
    np.testing.assert_allclose(x, replay.x[k])
    middle = 0.5 * (replay.time[k] + replay.time[k + 1])
    x, q, forces = replay.at(middle)
    np.testing.assert_allclose(x, 0.5 * (replay.x[k] + replay.x[k + 1]))
    np.testing.assert_allclose(forces, 0.5 * (replay.forces[k] + replay.forces[k + 1]))
    np.testing.assert_allclose(np.linalg.norm(q, axis=-1), 1.0)
    for time, end in ((-1.0, 0), (1e9, -1)):
        np.testing.assert_array_equal(replay.at(time)[0], replay.x[end])


def test_nothing_moves_from_one_episode_to_the_next(tmp_path):
    env = gym.make("VICartPole-v0").unwrapped
    env.reset(seed=0)
    env.record(tmp_path / "run.vigym")
    for _ in range(3):
        env.step(STILL)
    env.reset(seed=1)
    env.step(STILL)
    env.close()
    r = Replay.load(tmp_path / "run.vigym")
    k = int(np.flatnonzero(r.start)[1])
    assert r.time[k] == r.time[k - 1]
    assert np.abs(r.x[k] - r.x[k - 1]).max() > 1e-3
    np.testing.assert_allclose(r.at(r.time[k] - 1e-9)[0], r.x[k - 1], atol=1e-6)  # still where the episode ended
    np.testing.assert_array_equal(r.at(r.time[k])[0], r.x[k])


def test_thinned(replay):
    assert (np.diff(replay.thinned(1e6)) == 1).all()  # nothing is left out
    kept = replay.thinned(10.0)
    assert (kept[0], kept[-1]) == (0, len(replay) - 1)
    assert abs(len(kept) - 10.0 * replay.time[-1]) <= 2


def test_a_simulation_without_a_camera_is_framed_and_followed(tmp_path):
    from vigym.envs.demo.scenes import box, fourbar

    for make, followed in ((box, 0), (fourbar, None)):
        sim = make()
        with sim.record(tmp_path / "run.vigym"):
            for _ in range(100):
                sim.step()
        r = Replay.load(tmp_path / "run.vigym")
        assert r.camera.trackbodyid == followed


# -------------------- files


def test_films(replay, tmp_path, capsys):
    import imageio_ffmpeg
    from PIL import Image

    replay.save(tmp_path / "run.mp4", width=160, height=120)
    frames, seconds = imageio_ffmpeg.count_frames_and_secs(str(tmp_path / "run.mp4"))
    assert frames == round(replay.time[-1] * 30) + 1
    assert abs(seconds - frames / 30) < 0.05
    replay.save(tmp_path / "run.gif", width=160, height=120, fps=10, speed=2.0)
    with Image.open(tmp_path / "run.gif") as film:
        assert film.size == (160, 120)
        assert film.n_frames == round(replay.time[-1] * 5) + 1
        first = np.asarray(film.convert("RGB")).astype(int)
        film.seek(film.n_frames - 1)
        last = np.asarray(film.convert("RGB")).astype(int)
    assert (np.abs(first - last).max(-1) > 60).sum() > 50  # legs and tiles are elsewhere
    assert "run.mp4: 100%" in capsys.readouterr().err  # the progress bar


def test_a_film_that_cannot_be_written_says_why(replay, tmp_path):
    with pytest.raises(InputError, match=r"could not be written.*No such file"):
        replay.save(tmp_path / "no folder" / "run.mp4", width=16, height=16)
    with pytest.raises(InputError, match="even"):
        replay.save(tmp_path / "run.mp4", width=161, height=120)


def test_a_film_strip_has_the_poses_beside_each_other(replay, tmp_path, monkeypatch):
    seen = {}
    monkeypatch.setattr("vigym.view.replay.strip.save_png", lambda path, image: seen.update({path.name: image}))
    replay.save(tmp_path / "one.png", poses=1, width=240, height=80)
    replay.save(tmp_path / "four.png", poses=4, width=240, height=80)
    assert seen["four.png"].shape == (80, 240, 3)
    # the robot's black and blue parts, which the ground does not have
    dark = {name: (image.max(-1) < 90).any(0) for name, image in seen.items()}
    groups = {name: int((np.diff(columns.astype(int)) == 1).sum()) for name, columns in dark.items()}
    columns = np.flatnonzero(dark["four.png"])
    assert columns[-1] - columns[0] > 120  # from the left to the right
    assert groups["four.png"] > groups["one.png"]


def test_other_files_are_refused(replay, tmp_path):
    with pytest.raises(InputError, match=r"\.html, \.mp4, \.gif, \.png"):
        replay.save(tmp_path / "run.avi")


def test_the_page_holds_the_plots_and_is_of_moderate_size(replay):
    text = replay.html()
    data = plotted(text)
    plots = {plot["title"]: {line["name"]: line["values"] for line in plot["lines"]} for plot in data["plots"]}
    assert set(plots) == {"gap", "contact force", "force between colliders", "joint error", "reward"}
    assert len(plots["gap"]) == 4
    np.testing.assert_allclose(plots["reward"]["reward"], replay.reward, rtol=1e-3)
    np.testing.assert_allclose(list(plots["gap"].values()), replay.gaps.T, rtol=1e-3)
    np.testing.assert_allclose(data["time"], replay.time, rtol=1e-6)
    assert len(text) < 1.1e6  # bytes, of which 0.8e6 are the player
    frame = replay._repr_html_()
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', frame)[1])[:100] == text[:100]


def plotted(page):
    """The data that the page's plots are drawn from."""
    return json.loads(re.search(r"const REPLAY = (\{.*\});\n", page)[1])


@pytest.mark.parametrize("first", range(0, len(HOSTILE), 4))
def test_names_cannot_break_out_of_the_page(tmp_path, first):
    names = HOSTILE[first : first + 4]
    hostile(tmp_path / "run.vigym", names)
    replay = Replay.load(tmp_path / "run.vigym")
    page = replay.save(tmp_path / "run.html").read_text(encoding="utf-8")
    told = [name.replace("\ud800", "?") for name in names]
    data = plotted(page)
    assert [line["name"] for line in data["plots"][0]["lines"]] == told
    assert data["title"] == "".join(HOSTILE).replace("\ud800", "?")
    # none of it opens or closes anything: our script is one element, and what is around it is the player's
    script = page[page.index("const REPLAY") :]
    assert "<" not in script[: script.index("\n")]
    for name in (*HOSTILE[:6], "hostile"):
        assert name not in page.replace(script, "")
    assert script.count("</script") == 1


# -------------------- pictures of a batch


def test_a_batch_as_one_grid():
    envs = gym.make_vec("VICartPole-v0", num_envs=3, render_mode="rgb_array", width=64, height=48).unwrapped
    envs.reset(seed=0)
    grid, pictures = envs.render_grid(), envs.render()
    assert grid.shape == (96, 128, 3)
    for picture, (y, x) in zip(pictures, ((0, 0), (0, 64), (48, 0)), strict=True):
        assert (grid[y : y + 48, x : x + 64] == picture).all()
    assert (grid[48:, 64:] == 255).all()


# -------------------- the command line


def test_view_writes_files(trot, tmp_path, capsys):
    main(["view", str(trot), "--out", str(tmp_path / "new" / "folder" / "run.html"), str(tmp_path / "run.png")])
    out = capsys.readouterr().out
    assert f"wrote {tmp_path / 'new' / 'folder' / 'run.html'}" in out
    assert "</html>" in (tmp_path / "new" / "folder" / "run.html").read_text(encoding="utf-8")
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    main(["view", "VIPendulum-v0", "--seconds", "0.5", "--out", str(tmp_path / "pendulum.png")])
    assert (tmp_path / "pendulum.png").exists()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nothing"], "nor an environment: 'nothing' is not an environment"),
        (["VICartPole-v0", "--env-kwargs", "frame_skp=2"], "did you mean 'frame_skip'?"),
        (["VIPendulum-v0", "--out", "a.avi"], "a.avi: write a replay as one of .html"),
        ([__file__], "is not a recording of vigym"),
        ([__file__, "--seconds", "1"], "--seconds, --seed and --controller are for environments"),
        ([__file__, "--seed", "1"], "--seconds, --seed and --controller are for environments"),
        ([__file__, "--controller", "learned"], "--seconds, --seed and --controller are for environments"),
        (["VICartPole-v0", "--controller", "scripted"], "VICartPole-v0 has no scripted controller"),
        (["VIPendulum-v0", "--seconds", "-1"], "--seconds must be a positive number, got -1"),
        (["VIPendulum-v0", "--seconds", "nan"], "--seconds must be a positive number, got nan"),
        (["VIPendulum-v0", "--seed", "-1"], "--seed must be at least 0, got -1"),
    ],
)
def test_view_says_what_is_wrong(args, message):
    with pytest.raises(SystemExit, match=re.escape(message)):
        main(["view", *args])


def test_view_runs_a_controller(tmp_path):
    """A cart-pole has no scripted one: the learned policy keeps it up, random actions do not for long."""
    from vigym.envs.view_command import run

    frames = {}
    for kind in (None, "learned", "random"):
        run("VICartPole-v0", None, 0, kind, record=tmp_path / "run.vigym")
        frames[kind] = len(Replay.load(tmp_path / "run.vigym"))
    assert frames[None] == frames["learned"] == 501
    assert frames["random"] < 100


def test_a_recording_without_an_end_is_shown_as_far_as_it_goes(trot, tmp_path, capsys):
    (tmp_path / "cut.vigym").write_bytes(trot.read_bytes()[:-300])
    main(["view", str(tmp_path / "cut.vigym"), "--out", str(tmp_path / "cut.png")])
    assert "no end" in capsys.readouterr().out


def test_the_demo_writes_a_replay(tmp_path, capsys):
    main(["demo", "box", "--seconds", "0.2", "--out", str(tmp_path)])
    assert f"vigym view {tmp_path / 'box.vigym'}" in capsys.readouterr().out
    assert len(Replay.load(tmp_path / "box.vigym")) == 21


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--seed", "-1"], "--seed must be at least 0, got -1"),
        (["--out", __file__], "no folder can be made of"),
        (["--seconds", "0"], "--seconds must be a positive number, got 0"),
    ],
)
def test_the_demo_says_what_is_wrong(args, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=re.escape(message)):
        main(["demo", "hopper", "--no-picture", *args])


# -------------------- without the extra


def test_without_the_extra_the_message_says_what_to_install(replay, tmp_path, monkeypatch):
    for name in ("viser", "imageio_ffmpeg"):
        monkeypatch.setitem(sys.modules, name, None)
    for path in ("run.html", "run.mp4"):
        with pytest.raises(DependencyNotInstalled, match=r'pip install "vigym\[render\]"'):
            replay.save(tmp_path / path)
    with pytest.raises(DependencyNotInstalled, match=r'render_mode="human" needs viser: pip install'):
        gym.make("VIPendulum-v0", render_mode="human")
    with pytest.raises(SystemExit, match=r'pip install "vigym\[render\]"'):
        main(["view", "VIPendulum-v0"])
    # nothing else is affected
    replay.save(tmp_path / "run.png", width=64, height=48)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gym.make("VIPendulum-v0", render_mode="rgb_array", width=64, height=48)
        env.reset(seed=0)
        assert env.render().shape == (48, 64, 3)
    assert isinstance(vigym.Replay.load(env_recording(tmp_path)), Replay)


def env_recording(folder):
    env = gym.make("VIPendulum-v0").unwrapped
    env.reset(seed=0)
    env.record(folder / "plain.vigym")
    env.close()
    return folder / "plain.vigym"
