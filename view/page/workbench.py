"""The page of a robot: sliders of its joints, layers that explain it, and a simulation that one starts and stops."""

import math
import re
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from vigym.engine.errors import VigymError
from vigym.engine.mechanism import Mechanism
from vigym.engine.validation import Array
from vigym.view.page.gate import Gate, between, is_switch, one_of
from vigym.view.page.layers import Layers
from vigym.view.page.live import NOTES, PICTURES, SPEEDS, open_page
from vigym.view.page.stage import Stage, start_server, stop_server
from vigym.view.page.trial import DT, Trial
from vigym.view.pictures.arrows import forces_of
from vigym.view.pictures.picture import framing
from vigym.view.pictures.scene import Cast, parts_of

FILE = "as in the file"
MOST_SLIDERS = 200
_SHOWN_AT_FIRST = ("Looks",)


class Workbench:
    """Shows a mechanism until it is closed: call `turn` again and again, or `run`.

    Sliders pose the robot; while it is simulated they are the targets of its drives. Everything that a page asks for
    ends with that page, as for the live page.

    title: of the page. poses: joint coordinates and x, q of bodies, by name, to choose from
    """

    def __init__(
        self,
        mechanism: Mechanism,
        title: str = "",
        poses: Mapping[str, Mapping[str, Array]] | None = None,
        *,
        speed: float = 1.0,
        forces: bool = True,
        colliders: bool = False,
        browse: bool = True,
    ) -> None:
        self.trial, self.gate = Trial(mechanism), Gate()
        self._poses = {FILE: None, **(poses or {})}
        if poses:
            self._take(next(iter(poses)))
        sim = self.trial.sim
        cast = Cast(parts_of(sim.model.mechanism, {}, ()))
        camera = framing(cast.solids(sim.state.x[0], sim.state.q[0]), cast.body, 1.0)
        self.server = start_server(self.gate)
        self.stage = Stage(self.server, sim.model.mechanism, camera)
        self.layers = Layers(self.stage)
        self._reset = False
        self._owed = 0.0  # s that the simulation is late
        self._last = self._noted = time.monotonic()
        self._problem = ""
        self._controls(title, speed, forces, colliders)
        self._asked = self._values()
        self.url = self.gate.access.address(self.server.get_port())
        open_page(self.url, browse)

    def _controls(self, title: str, speed: float, forces: bool, colliders: bool) -> None:
        gui, allow = self.server.gui, self.gate.allow
        gui.set_panel_label(title or "vigym")
        gui.configure_theme(control_width="large", show_logo=False, show_share_button=False)
        gui.main_panel.dock_right()
        self.note = gui.add_markdown("")
        self.simulate = allow(gui.add_checkbox("Simulate", False), is_switch)
        self.hold = allow(
            gui.add_checkbox(
                "Hold the joints", True, hint="By drives that pull to the sliders; the file's own always do"
            ),
            is_switch,
        )
        first = min(SPEEDS, key=lambda name: abs(np.log(min(SPEEDS[name], 1e3) / speed)))
        self.pace = allow(gui.add_dropdown("Speed", list(SPEEDS), initial_value=first), one_of(SPEEDS))
        self._speeds = SPEEDS | {first: speed}
        self.choice: Any = None
        if len(names := list(self._poses)) > 1:
            self.choice = allow(gui.add_dropdown("Pose", names, initial_value=names[1]), one_of(names))
            self._chosen = names[1]
        self.gate.allow_press(gui.add_button("Reset"), lambda _: self._ask_reset())
        with gui.add_folder("Show"):
            shown = {name: name in _SHOWN_AT_FIRST or (name == "Colliders" and colliders) for name in self.layers.names}
            self.switches = {name: allow(gui.add_checkbox(name, on), is_switch) for name, on in shown.items()}
            self.arrows = allow(gui.add_checkbox("Contact forces", forces), is_switch)
        self.sliders: dict[int, Any] = {}  # by axis
        names, ranges, now = self.trial.sim.axis_names, self.trial.ranges(), self.trial.positions()
        own = [axis for axis in range(len(names)) if axis not in self.trial.followers]
        with gui.add_folder("Joints (rad, m)"):
            for axis in own[:MOST_SLIDERS]:
                value = float(now[axis])
                low, high = round_ends(*ranges[axis])
                low, high = min(low, value), max(high, value)
                high = max(high, low + 1e-6)
                slider = gui.add_slider(names[axis][:80], low, high, (high - low) / 1000, value)
                self.sliders[axis] = allow(slider, between(low, high))

    def _values(self) -> Array:
        """Joint coordinates (n_axes,) that the sliders ask for; followers have none."""
        asked = self.trial.positions().copy()
        for axis, slider in self.sliders.items():
            asked[axis] = float(self.gate.value(slider))
        return self.trial.followed(asked)

    def _follow(self) -> None:
        """Put the sliders where the joints are."""
        now = self.trial.positions()
        for axis, slider in self.sliders.items():
            slider.value = float(np.clip(now[axis], slider.min, slider.max))
        self._asked = self._values()

    def _ask_reset(self) -> None:
        self._reset = True

    def _take(self, name: str) -> None:
        """Take one of the poses."""
        given = self._poses[name]
        self._problem = ""
        if given is None:
            self.trial.reset()
        else:
            self._problem = self.trial.pose(given["positions"], given)

    def turn(self) -> None:
        """Do what the page asks for: one picture."""
        now = time.monotonic()
        passed, self._last = now - self._last, now
        chosen = FILE if self.choice is None else self.gate.value(self.choice)
        if self._reset or (self.choice is not None and chosen != self._chosen):
            self._reset, self._chosen = False, chosen
            self._take(chosen)
            self._follow()
        simulating = bool(self.gate.value(self.simulate))
        if simulating:
            self._simulate(passed)
        elif self.trial.is_moving:
            self.trial.stop()
            self._follow()
        else:
            self._pose()
        self._send(now)

    def _pose(self) -> None:
        asked = self._values()
        if (asked != self._asked).any():
            self._asked = asked
            self._problem = self.trial.pose(asked)

    def _simulate(self, passed: float) -> None:
        """Steps that are due, as long as there is time for them."""
        end = time.monotonic() + 1.0 / PICTURES
        self._owed = min(self._owed + passed * self._speeds[self.gate.value(self.pace)], 0.25)
        targets, hold = self._values(), bool(self.gate.value(self.hold))
        if not self.trial.is_compiled:
            self.note.content = "Compiling the physics of this robot: 5 to 30 s, once for this machine ..."
        while self._owed >= DT and time.monotonic() < end:
            try:
                self.trial.step(targets, hold=hold)
            except VigymError as error:
                self._problem, self._owed = str(error), 0.0
                return
            self._owed -= DT

    def _send(self, now: float) -> None:
        sim = self.trial.sim
        self.layers.show(sim, lambda name: bool(self.gate.value(self.switches[name])))
        forces = forces_of(sim, 0) if self.gate.value(self.arrows) and self.trial.is_moving else None
        self.stage.show(sim.state.x[0], sim.state.q[0], forces, follow=False)
        if now - self._noted > 1.0 / NOTES:
            self._noted = now
            self.note.content = plain(self._problem) or self._report()

    def _report(self) -> str:
        sim, mass = self.trial.sim, sum(body.mass for body in self.trial.mechanism.bodies)
        counts = f"{len(self.trial.mechanism.bodies)} bodies, {sim.model.n_axes} axes, {mass:.4g} kg"
        if not self.trial.is_moving:
            return counts
        failed = "" if sim.status.converged[0] else ", the last step did not converge"
        return f"{counts}; {sim.time[0]:.2f} s, {sim.energy()[0]:.4g} J{failed}"

    def run(self, seconds: float | None = None) -> None:
        """Do what pages ask for, until Ctrl-C, or for `seconds`."""
        end = np.inf if seconds is None else time.monotonic() + seconds
        try:
            while (start := time.monotonic()) < end:
                self.turn()
                time.sleep(max(0.002, 1.0 / PICTURES - (time.monotonic() - start)))
        finally:
            self.close()

    def close(self) -> None:
        """End the server."""
        if self.server is not None:
            server, self.server = self.server, None
            stop_server(server)


def round_ends(low: float, high: float) -> tuple[float, float]:
    """Ends of a range, to a thousandth of it or less inside, in few digits: the page shows them."""
    if not high > low:
        return low, high
    digits = 3 - math.floor(math.log10(high - low))
    unit = 10.0**digits
    return round(math.ceil(low * unit - 1e-9) / unit, digits), round(math.floor(high * unit + 1e-9) / unit, digits)


def plain(text: str) -> str:
    """Words of an error as a page can have them: names in it may be a stranger's, and the note is a kind of program."""
    return re.sub(r"[^\w .,:;=()'+-]", " ", text)[:300]
