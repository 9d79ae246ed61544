"""Random trees for the converters, and how bodies start to move in vigym and in other engines."""

from collections.abc import Callable

import mechanisms
import numpy as np
from hypothesis import strategies as st

from vigym import Mechanism, Simulator
from vigym.benchmarks.runner import Runner
from vigym.benchmarks.scenes import Scene
from vigym.engine.rotation import rotate
from vigym.engine.state import State

H = 5e-4  # s, of the first step, and half of it
INSTANT = 1e-6  # s: what peers take velocities for


def random_laws(rng: np.random.Generator, n_free: int, ball: bool, peer: str) -> dict:
    """Springs, dampers, drives that are cut or not, dry friction, limits that are far; what the peer has of them.

    Balls: neither has friction or limits of their axes; MuJoCo only has springs about zero that are all alike, and a
    damper on the angular velocity, where vigym's is on the rate of the rotation vector.
    """
    if n_free == 0:
        return {}
    if ball and peer == "mujoco":
        return {"stiffness": rng.uniform(0, 3)}
    n = n_free

    def few(*values: float) -> np.ndarray:
        return rng.uniform(*values, n) * (rng.random(n) < 0.6)

    laws = {"stiffness": rng.uniform(1, 5, n), "rest": 0.3 * rng.normal(size=n), "damping": few(0.0, 0.2)}
    laws |= {"kp": rng.uniform(1, 5, n), "kd": rng.uniform(0.01, 0.1, n), "target": rng.normal(size=n)}
    laws |= {"target_velocity": rng.normal(size=n)}
    if peer == "pybullet":  # MuJoCo's default integrator has kd as damping, which nothing limits
        laws["effort_limit"] = rng.choice([0.5, np.inf], n)
    if not ball:
        laws |= {"lower": rng.choice([-4.0, -np.inf], n), "upper": 4.0}
        if peer == "pybullet":  # MuJoCo's is soft: below
            laws["friction"] = few(0.0, 0.05)
    return laws


@st.composite
def trees(draw: st.DrawFn, peer: str) -> Scene:
    """A tree of 1 to 6 bodies, on the world or free, with joints of all kinds, at random coordinates, in motion."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m = Mechanism(gravity=(0.5, -1.0, -9.0))
    free, laws = draw(st.booleans()), draw(st.booleans())
    for i in range(draw(st.integers(1, 6))):
        body = mechanisms.random_body(rng)
        m.add_body(f"b{i}", **body) if i == 0 and free else m.add_body(f"b{i}", body["mass"], body["inertia"])
        if i == 0 and free:
            continue
        kind = draw(st.sampled_from([kind for kind in mechanisms.KINDS if kind != "floating"]))
        parent = f"b{draw(st.integers(0, i - 1))}" if i else "world"
        options = mechanisms.random_joint(rng, kind, laws=False)
        if laws:
            bare = Mechanism()
            bare.add_body("b", 1.0, (1, 1, 1))
            bare.add_joint("j", kind, "world", "b", **options)
            ball = not bare.joints[0].constrained[3:].any()
            options |= random_laws(rng, bare.joints[0].n_free, ball, peer)
        m.add_joint(f"j{i}", kind, parent, f"b{i}", **options)
    n = sum(joint.n_free for joint in m.joints)
    return in_motion(m, 0.4 * rng.normal(size=n), rng.choice([-1, 1], n) * rng.uniform(0.3, 0.7, n))


def in_motion(m: Mechanism, positions: np.ndarray, rates: np.ndarray) -> Scene:
    """These joint coordinates and rates."""
    sim = Simulator(m, dt=INSTANT, compiled=False)
    sim.set_joint_state(positions, rates)
    return Scene("tree", m, State(*(part[0] for part in sim.state)), H, steps=1)


def accelerations(scene: Scene, step: float = H) -> np.ndarray:
    """dv/dt and d(omega)/dt of all bodies in vigym (n_bodies, 6): differences over a step, extrapolated to zero."""
    instant = Simulator(scene.mechanism, dt=INSTANT, compiled=False)
    instant.set_state(*scene.start)
    found = []
    for h in (step, step / 2):
        sim = Simulator(scene.mechanism, dt=h, compiled=False)
        sim.set_state(x=scene.start.x, q=scene.start.q)
        sim.set_joint_state(instant.joint_positions(), instant.joint_velocities())
        _, q, v, w = (part[0].copy() for part in sim.state)
        sim.step()
        found.append(np.concatenate([sim.state.v[0] - v, rotate(q, sim.state.w[0] - w)], -1) / h)
    return 2 * found[1] - found[0]


def accelerations_of(make: Callable[[float], Runner], step: float = H) -> np.ndarray:
    """The same in another engine."""
    found = []
    for h in (step, step / 2):
        engine = make(h)
        engine.reset()
        before = np.concatenate(engine.velocities(), -1)
        engine.step(0)
        found.append((np.concatenate(engine.velocities(), -1) - before) / h)
    return 2 * found[1] - found[0]


def assert_alike(theirs: np.ndarray, ours: np.ndarray) -> None:
    # what is left is of second order in H, at motions that change by some tens per second: (0.02)^2
    np.testing.assert_allclose(theirs, ours, atol=1e-3 * (1 + np.abs(ours).max()))
