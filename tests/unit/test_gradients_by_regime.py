"""Gradients of random legs in free motion, at a limit, sticking, sliding, in impacts and in rebounds, to 1e-6 of what
central differences of tightly converged steps say.

A leg is a free body and a shin on a driven hinge with limits; masses, lengths and poses are random, over three orders
of magnitude of mass. All of them are one kind of mechanism to the compiler, and another one with restitution.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from scenes import change

from vigym import Mechanism, Simulator
from vigym.engine.rotation import from_rotation_vector, multiply

DT, EPS = 0.005, 1e-4
REGIMES = ("free", "limit", "stick", "slide", "impact", "rebound")
NAMES = ("force", "torque", "effort", "target", "mass", "friction")


@dataclass
class Leg:
    """Numbers of a leg, and the seed of its pose and motion."""

    regime: str
    heavy: float
    light: float
    length: float
    seed: int

    def simulator(self) -> Simulator:
        """The leg, in its regime with the next step."""
        friction = {"stick": 3.0}.get(self.regime, 0.2)
        restitution = 0.5 if self.regime == "rebound" else 0.0
        m, size = Mechanism(), self.length
        for name, mass in (("thigh", self.heavy), ("shin", self.light)):
            m.add_body(name, mass, mass * size**2 * np.array([0.1, 0.12, 0.05]))
        kp = 5.0 * self.light * size**2
        m.add_joint("knee", "revolute", "thigh", "shin", axis=(0, 1, 0), parent_anchor=(0, 0, -size / 2),
                    child_anchor=(0, 0, size / 2), lower=-1.0, upper=0.5, kp=kp, kd=0.1 * kp)  # fmt: skip
        m.add_contact("foot", "shin", (0, 0, -size / 2), radius=size / 10, friction=friction, restitution=restitution)
        sim = Simulator(m, dt=DT, tolerance=1e-8 if restitution else 1e-12)
        rng = np.random.default_rng(self.seed)
        bent = 0.5 if self.regime == "limit" else rng.uniform(-0.8, 0.3)
        q = multiply(from_rotation_vector(0.3 * rng.normal(size=3)), [1.0, 0, 0, 0])
        sim.set_joint_state([bent], x=[[0, 0, 5 * size]] * 2, q=[q] * 2, v=[[0, 0, 0]] * 2, w=[[0, 0, 0]] * 2)
        down = sim.contact_gaps()[0, 0] - {"free": size, "limit": size}.get(self.regime, 1e-3 * size)
        v = {
            "stick": [0, 0, 0],
            "slide": [2.0, 0.5, -0.5],
            "impact": [1.0, 0.3, -2.0],
            "rebound": [1.0, 0.3, -2.0],
        }.get(self.regime, rng.normal(size=3))
        w = np.zeros(3) if self.regime == "stick" else 0.5 * rng.normal(size=3)
        x = sim.state.x[0]
        turning = v + np.cross(w, x - x[0])
        body = [np.linalg.solve(_matrix(turn), w) for turn in sim.state.q[0]]
        sim.set_state(x=x - [0, 0, down], q=sim.state.q[0], v=turning, w=body)
        for _ in range({"stick": 3, "slide": 2, "limit": 2, "rebound": 1}.get(self.regime, 0)):
            sim.step(effort=[[3.0 * kp]] if self.regime == "limit" else None)
        return sim


def _matrix(q: np.ndarray) -> np.ndarray:
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def check(leg: Leg) -> None:
    """Covectors times directions of all inputs, against differences of the fourth order."""
    sim, rng = leg.simulator(), np.random.default_rng(leg.seed + 1)
    weight = 9.81 * (leg.heavy + leg.light)
    controls = {
        "force": 0.1 * weight * rng.normal(size=(1, 2, 3)),
        "torque": 0.02 * weight * leg.length * rng.normal(size=(1, 2, 3)),
        "effort": np.full((1, 1), (50.0 if leg.regime == "limit" else 0.5) * leg.light * leg.length**2),
        "target": np.zeros((1, 1)),
    }
    fixed = {"mass": sim.parameter("mass"), "friction": sim.parameter("friction")}
    units = {name: np.maximum(np.abs(value), 1e-2) for name, value in controls.items()} | fixed
    ways = {name: unit * rng.uniform(0.5, 1.0, unit.shape) for name, unit in units.items()}
    saved, before = sim.save(), sim.state

    def after(name: str, amount: float):
        sim.restore(saved)
        sim.set_parameters(
            **{key: value + (amount * ways[key] if key == name else 0.0) for key, value in fixed.items()}
        )
        if name == "state":
            sim._lanes.set("v", before.v + amount * np.array([1.0, -0.5, 0.3]))
        given = {key: value + (amount * ways[key] if key == name else 0.0) for key, value in controls.items()}
        sim.step(**given)
        status = sim.status
        assume(status.converged.all() and not status.relaxed.any() and status.substeps.max() == 1)
        assume(not sim._get("even").any())
        return sim.state, np.linalg.norm(sim.contact_forces()[0]) > 1e-6 * weight

    base, touching = after("", 0.0)
    rebounds = sim.model.features.bounce and sim._get("rebounds").all()
    assume(touching == (leg.regime not in ("free", "limit")))
    assume(rebounds == (leg.regime == "rebound"))
    if leg.regime == "limit":
        assert abs(sim.joint_positions()[0, 0] - 0.5) < 1e-6
    bar = rng.normal(size=(1, 24))
    pulled = sim.vjp(bar, *NAMES)
    assert pulled.status.tolist() == ["ok"]
    for name in (*ways, "state"):
        far, near = ([change(after(name, k * sign * EPS)[0], base)[0] for sign in (1, -1)] for k in (2, 1))
        slopes = (8.0 * (near[0] - near[1]) - (far[0] - far[1])) / (12 * EPS)
        expected, size = bar[0] @ slopes, np.abs(slopes).max()
        if name == "state":
            found = pulled["state"].reshape(2, 12)[:, 6:9].sum(0) @ [1.0, -0.5, 0.3]
        else:
            found = (pulled[name] * ways[name]).sum()
        rounding = 1e-11 * (1.0 + np.abs(base.v).max() + np.abs(base.w).max()) / EPS
        bound = 1e-6 * size + rounding if leg.regime != "rebound" else 1e-4 * size + 100 * rounding
        assert abs(found - expected) < 5 * bound, (name, found, expected, size)


LEGS = {
    "heavy": st.floats(0.1, 100.0),
    "light": st.floats(0.1, 100.0),
    "length": st.floats(0.05, 2.0),
    "seed": st.integers(0, 1000),
}


@pytest.mark.parametrize("regime", REGIMES)
def test_random_legs(regime):
    few = settings(max_examples=8, phases=[Phase.explicit, Phase.generate])
    few(given(**LEGS)(lambda **numbers: check(Leg(regime, **numbers))))()


@pytest.mark.slow
@pytest.mark.parametrize("regime", REGIMES)
def test_many_random_legs(regime):
    many = settings(max_examples=300, phases=[Phase.explicit, Phase.generate])
    many(given(**LEGS)(lambda **numbers: check(Leg(regime, **numbers))))()
