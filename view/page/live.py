"""The live page: an environment while it runs, in a browser on this machine, at the pace that one chooses there."""

import os
import sys
import time
import webbrowser
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine.rotation import Array
from vigym.engine.shapes import Shape
from vigym.view.page.gate import Gate, Visitor, between, is_switch, one_of
from vigym.view.page.stage import Stage, start_server, stop_server
from vigym.view.pictures.arrows import forces_of
from vigym.view.pictures.camera import Camera

if TYPE_CHECKING:
    from vigym.engine.simulator import Simulator

SPEEDS = {"0.1x": 0.1, "0.25x": 0.25, "0.5x": 0.5, "1x": 1.0, "2x": 2.0, "4x": 4.0, "as fast as it goes": np.inf}
PICTURES = 60.0  # a second that are sent at most
LATE = 0.25  # s: who is later than that does not catch up
NOTES = 5.0  # a second


def open_page(url: str, browse: bool = True) -> bool:
    """Open it in a browser, or print its address where there is none, or none is wanted; whether it was opened."""
    screen = not sys.platform.startswith("linux") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    opened = browse and bool(screen) and webbrowser.open(url)
    print(f"vigym: {'opened' if opened else 'open'} {url}{'' if opened else ' in a browser'}", flush=True)
    return opened


class Live:
    """Shows one environment of a simulator, and hears what its user wants, as far as the gate lets it through.

    A pause, a push or a speed holds while the page that asked for it is connected.

    dt: time between two calls of `show`, s
    speed: times real time at first
    browse: open a browser, where there is one; its address is printed in any case
    """

    def __init__(
        self,
        sim: "Simulator",
        dt: float,
        camera: Camera,
        *,
        title: str = "",
        scenery: Iterable[Shape] = (),
        planes: Iterable[tuple[ArrayLike, float]] | None = None,
        speed: float = 1.0,
        browse: bool = True,
    ) -> None:
        self.sim, self.dt, self.gate = sim, dt, Gate()
        self.server = start_server(self.gate)
        mechanism = sim.model.mechanism
        self.stage = Stage(self.server, mechanism, camera, scenery, planes)
        self._due = self._sent = self._noted = -np.inf
        self._singles = 0  # steps that were asked for while it pauses
        self._names = [body.name for body in mechanism.bodies]
        self._controls(title, speed, mechanism.gravity)
        self.url = self.gate.access.address(self.server.get_port())
        open_page(self.url, browse)

    def _controls(self, title: str, speed: float, gravity: Array) -> None:
        gui, allow = self.server.gui, self.gate.allow
        gui.set_panel_label(title or "vigym")
        gui.configure_theme(control_layout="floating", show_logo=False, show_share_button=False)
        self.note = gui.add_markdown("")
        self.pause = allow(gui.add_checkbox("Pause", False), is_switch)
        single = gui.add_button("Single step", hint="Pauses, and makes one control step")
        self.gate.allow_press(single, self._single)
        first = min(SPEEDS, key=lambda name: abs(np.log(min(SPEEDS[name], 1e3) / speed)))
        self.pace = allow(gui.add_dropdown("Speed", list(SPEEDS), initial_value=first), one_of(SPEEDS))
        self._speeds = SPEEDS | {first: speed}
        self.follow = allow(gui.add_checkbox("Follow the robot", True), is_switch)
        self.arrows = allow(gui.add_checkbox("Contact forces", True), is_switch)
        self.colliders: Any = None
        if self.stage.colliders:
            self.colliders = allow(gui.add_checkbox("Colliders", False), is_switch)
        self.which: Any = None
        if (n := self.sim.num_envs) > 1:
            self.which = allow(gui.add_slider("Environment", 0, n - 1, 1, 0), between(0, n - 1, whole=True))
        with gui.add_folder("Push the robot"):
            weight = float(np.linalg.norm(gravity) or 9.81) * sum(b.mass for b in self.sim.model.mechanism.bodies)
            most = float(f"{1.5 * weight:.1g}")
            self.body = allow(gui.add_dropdown("Body", self._names), one_of(self._names))
            sliders = [gui.add_slider(f"Along {axis} [N]", -most, most, most / 50, 0.0) for axis in "xyz"]
            self.push = [allow(slider, between(-most, most)) for slider in sliders]
            self.gate.allow_press(gui.add_button("Let go"), lambda _: self.let_go())

    @property
    def env(self) -> int:
        """The environment that is looked at."""
        return int(self.gate.value(self.which)) if self.which is not None else 0

    @property
    def speed(self) -> float:
        """Times real time."""
        return self._speeds[self.gate.value(self.pace)]

    @property
    def paused(self) -> bool:
        """True if a page that is connected wants no more steps, and the server runs."""
        return self.server is not None and self.gate.value(self.pause)

    def force(self) -> Array | None:
        """The push, (num_envs, n_bodies, 3) N, world; None if there is none."""
        push = [float(self.gate.value(slider)) for slider in self.push]
        if not any(push):
            return None
        force = np.zeros((self.sim.num_envs, self.sim.model.n_bodies, 3))
        force[self.env, self._names.index(self.gate.value(self.body))] = push
        return force

    def let_go(self) -> None:
        """Push no longer."""
        for slider in self.push:
            slider.value = 0.0

    def _single(self, visitor: Visitor) -> None:
        if self.paused:
            self._singles += 1
        self.gate.hold(self.pause, visitor)
        self.pause.value = True

    def show(self, note: str = "", *, wait: bool = True) -> None:
        """Show the state as it is now. With `wait`, only return when the next step is due."""
        now = time.monotonic()
        if not wait or now - self._sent >= 1.0 / PICTURES or self.paused:
            self._send(note, now)
        if not wait:
            self._due = now
            return
        self._due += self.dt / self.speed
        if self._due < now - LATE:
            self._due = now
        while self.server is not None and (left := self._due - time.monotonic()) > 0.0:
            time.sleep(min(left, 0.05))
        if self.paused:
            self._send(note, time.monotonic())
        while self.paused and not self._singles:
            time.sleep(0.01)
        self._singles = max(0, self._singles - 1) if self.paused else 0

    def _send(self, note: str, now: float) -> None:
        if self.server is None:
            return
        env, sim = self.env, self.sim
        x, q = (sim._lanes.row(name, env) for name in "xq")
        forces = forces_of(sim, env) if self.gate.value(self.arrows) else None
        if self.colliders is not None:
            self.stage.show_colliders(self.gate.value(self.colliders))
        self.stage.show(x, q, forces, follow=self.gate.value(self.follow))
        self._sent = now
        if now - self._noted > 1.0 / NOTES or self.paused:
            self.note.content, self._noted = note, now

    def close(self) -> None:
        """End the server; whoever waits in `show` goes on."""
        if self.server is not None:
            server, self.server = self.server, None
            stop_server(server)
