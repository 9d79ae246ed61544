"""No impact creates energy, whatever strikes: friction, several contacts, different restitutions, chains.

The guard of kernels/impact.py compares kinetic energies as `sim.energy()` has them, with the work of weights since the
impact: it lets through 1e-9 of the kinetic energy. What is more comes from the integrator, between impacts as well as
in them: forces act at the current pose and constraints hold at the next one, h w apart, which changes energies by
O((h w)^2); in a chain under gravity, w^2 is g/L or more. And the solver leaves force times gap at up to the tolerance,
which is the work that it may add in a contact and a step.

Poisson's law seldom needs the guard, in 0.3 % of the impacts of random mechanisms: it is tested with restitutions above
1, which only the store of a simulator takes.
"""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mechanisms import Printed, numbers
from scenes import advance, box

from vigym import Mechanism, Simulator

ROD = (1 / 12, 1 / 12, 1e-3)  # of 1 kg and 1 m, along z


def kinetic(sim: Simulator) -> np.ndarray:
    _, _, v, w = sim.state
    mass, inertia = sim.parameter("mass"), sim.parameter("inertia")
    return 0.5 * (mass * (v * v).sum(-1)).sum(-1) + 0.5 * np.einsum("nbi,nbij,nbj->n", w, inertia, w)


def rebounded(sim: Simulator) -> np.ndarray:
    """Environments in whose last step something rebounded."""
    return sim._get("rebounds") > 0


def lowered(sim: Simulator) -> np.ndarray:
    """Those in which the guard lowered it."""
    return rebounded(sim) & (sim._get("factor") < 0.999).any((1, 2))


def leg(**contact: float) -> Mechanism:
    m = Mechanism(gravity=(0, 0, 0))
    for name in "ab":
        m.add_body(name, mass=1.0, inertia=ROD)
    m.add_joint("hip", "revolute", "world", "a", axis=(0, 1, 0), child_anchor=(0, 0, 0.5))
    m.add_joint("knee", "revolute", "a", "b", axis=(0, 1, 0), parent_anchor=(0, 0, -0.5), child_anchor=(0, 0, 0.5))
    m.add_contact("foot", "b", (0, 0, -0.5), offset=-3.0, **contact)
    return m


@pytest.mark.parametrize("cone", ["pyramid", "exact"])
@pytest.mark.parametrize(("friction", "restitution"), [(1.0, 0.7), (0.4, 1.0)])
def test_a_leg_of_two_links(cone, friction, restitution):
    # Newton's law would let a fifth of these gain, the worst 41 times what it has
    n, h, rng = 1000, 1e-3, np.random.default_rng(0)
    sim = Simulator(leg(friction=friction, restitution=restitution), dt=h, num_envs=n, cone=cone)
    sim.set_joint_state(rng.uniform(-1.2, 1.2, (n, 2)), 2.0 * rng.normal(size=(n, 2)))
    sim.set_parameters(offset=-3.0 + sim.contact_gaps() - 1e-5)
    strikes, energy = sim.contact_velocities()[:, 0, 2] < -0.05, sim.energy()
    assert strikes.sum() >= 424
    spin = np.linalg.norm(sim.state.w, axis=-1).max(-1)
    rises = np.zeros(n, bool)
    for _ in range(3):
        sim.step()
        rises |= rebounded(sim)
        spin = np.maximum(spin, np.linalg.norm(sim.state.w, axis=-1).max(-1))
        assert (sim.energy() <= energy * (1 + 1e-8 + (h * spin) ** 2) + 10 * sim.tolerance).all()
    assert (rises | ~strikes).mean() > 0.99


def test_a_leg_that_gained_thirty_times():
    sim = Simulator(leg(friction=1.0, restitution=0.7), dt=1e-3, cone="exact")
    sim.set_joint_state([[-0.769, 0.061]], [[1.27, 1.42]])
    sim.set_parameters(offset=[[-3.0 + sim.contact_gaps()[0, 0] - 1e-5]])
    before = sim.energy()[0]
    energy = advance(sim, 3, sim.energy)[:, 0]
    assert before == pytest.approx(3.99, abs=0.01)
    assert energy[0] < 0.01  # at the end of the compression
    assert 0.1 * before < energy[1] < 0.49 * before  # e^2 of it is the most that a single contact can return
    assert energy[2] == pytest.approx(energy[1], rel=1e-6)


@pytest.mark.parametrize("cone", ["pyramid", "exact"])
def test_rods_with_friction(cone):
    n, h = 2048, 2e-4
    m = Mechanism()
    m.add_body("rod", mass=1.0, inertia=ROD)
    for k, z in enumerate((-0.5, 0.5)):
        m.add_contact(f"end {k}", "rod", (0, 0, z), friction=0.5, restitution=0.5)
    sim = Simulator(m, dt=h, num_envs=n, cone=cone)
    rng = np.random.default_rng(1)
    sim.set_parameters(friction=rng.choice([0.2, 0.5, 1.0], (n, 2)), restitution=rng.choice([0.3, 0.8, 1.0], (n, 2)))
    turn, x, w = rng.uniform(0.1, 1.57, n), np.zeros((n, 1, 3)), np.zeros((n, 1, 3))
    q = np.stack([np.cos(turn / 2), 0 * turn, np.sin(turn / 2), 0 * turn], -1)[:, None]
    x[:, 0, 2], w[:, 0, 1] = 0.5 * np.cos(turn) + 1e-4, 4.0 * rng.normal(size=n)
    v = 2.0 * rng.normal(size=(n, 1, 3)) * [1.0, 0.0, 1.0]
    v[:, 0, 2] = -np.abs(v[:, 0, 2]) - 0.5
    sim.set_state(x=x, q=q, v=v, w=w)
    energy, spin = sim.energy(), np.abs(w).max((1, 2))
    for _ in range(8):
        sim.step()
        assert sim.status.converged.all()
        spin = np.maximum(spin, np.abs(sim.state.w).max((1, 2)))
        assert (sim.energy() <= energy * (1 + 1e-8 + (h * spin) ** 2)).all()


@pytest.mark.parametrize("cone", ["pyramid", "exact"])
@pytest.mark.parametrize("friction", [0.0, 0.5, 2.0])
def test_two_contacts_with_different_restitution(friction, cone):
    # a beam falls flat on two points, of any inertia; Poisson's law without complementarity lets 5 % of such gain
    n, h, rng = 2048, 1e-3, np.random.default_rng(2)
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("beam", mass=1.0, inertia=(1.0, 1.0, 1.0))
    for k, x in enumerate((-0.2, 0.5)):
        m.add_contact(f"c{k}", "beam", (x, 0, -0.1), friction=1.0, restitution=0.5)
    sim = Simulator(m, dt=h, num_envs=n, cone=cone)
    size = 10.0 ** rng.uniform(-3, 0.5, n)
    sim.set_parameters(inertia=size[:, None, None, None] * np.eye(3), restitution=rng.uniform(0, 1, (n, 2)))
    sim.set_parameters(friction=friction * rng.uniform(0, 1, (n, 2)))
    v, w = 2.0 * rng.normal(size=(n, 1, 3)), np.zeros((n, 1, 3))
    v[:, 0, 2], w[:, 0, 1] = -rng.uniform(0.5, 2, n), rng.normal(size=n)
    sim.set_state(x=[[0, 0, 0.1]], v=v, w=w)
    energy, rises = sim.energy(), np.zeros(n, bool)
    for _ in range(3):
        sim.step()
        assert sim.status.converged.mean() > 0.999
        rises |= rebounded(sim)
        spin = np.abs(sim.state.w).max((1, 2))
        assert (sim.energy() <= energy * (1 + 1e-8 + (h * spin) ** 2)).all()
    assert rises.mean() > 0.99


# -------------------- the guard


@pytest.mark.parametrize("gravity", [0.0, 9.81])
def test_the_guard_of_a_ball(gravity):
    # with a restitution of 1.1 to 4 it may leave with the speed with which it came, and not much less
    m = Mechanism(gravity=(0, 0, -gravity))
    m.add_body("ball", mass=2.0, inertia=(0.01, 0.01, 0.01))
    m.add_contact("skin", "ball", radius=0.1, friction=0.0, restitution=0.5)
    sim = Simulator(m, dt=1e-3, num_envs=4, tolerance=1e-10)
    sim._lanes.set("restitution", np.array([[1.1], [1.5], [2.5], [4.0]]))
    sim.set_state(x=[[0, 0, 0.1004]], v=[[0.7, 0, -1.0]])
    before = sim.energy()
    advance(sim, 2)
    np.testing.assert_allclose(sim.state.v[:, 0, 2], 1.0, atol=0.02)
    assert (sim.energy() <= before * (1 + 1e-8)).all()
    assert lowered(sim).all()
    np.testing.assert_allclose(sim.state.v[:, 0, 0], 0.7, atol=1e-9)


@pytest.mark.parametrize("cone", ["pyramid", "exact"])
def test_the_guard_of_a_leg(cone):
    n, h, rng = 1000, 1e-3, np.random.default_rng(0)
    sim = Simulator(leg(friction=0.5, restitution=0.5), dt=h, num_envs=n, cone=cone)
    sim._lanes.set("restitution", rng.uniform(1, 3, (n, 1)))
    sim.set_joint_state(rng.uniform(-1.2, 1.2, (n, 2)), 2.0 * rng.normal(size=(n, 2)))
    sim.set_parameters(offset=-3.0 + sim.contact_gaps() - 1e-5)
    energy, guarded, kept = sim.energy(), np.zeros(n, bool), np.zeros(n)
    spin = np.linalg.norm(sim.state.w, axis=-1).max(-1)
    for _ in range(3):
        sim.step()
        guarded |= lowered(sim)
        kept = np.where(lowered(sim), sim.energy() / energy, kept)
        spin = np.maximum(spin, np.linalg.norm(sim.state.w, axis=-1).max(-1))
        assert (sim.energy() <= energy * (1 + 1e-8 + (h * spin) ** 2) + 10 * sim.tolerance).all()
    assert guarded.sum() > 100
    assert np.median(kept[guarded]) > 0.98  # it takes no more than it must


def test_each_group_has_its_own_factor():
    # two balls in one mechanism, one of them with a restitution above 1: the other one does not notice
    m = Mechanism(gravity=(0, 0, 0))
    for k in range(2):
        m.add_body(f"ball {k}", mass=1.0, inertia=(0.01, 0.01, 0.01))
        m.add_contact(f"skin {k}", f"ball {k}", radius=0.1, friction=0.0, restitution=0.5)
    sim = Simulator(m, dt=1e-3, tolerance=1e-10)
    sim._lanes.set("restitution", np.array([[3.0, 0.5]]))
    sim.set_state(x=[[0, 0, 0.1003], [1, 0, 0.1006]], v=[[0, 0, -1.0], [0, 0, -2.0]])
    advance(sim, 2)
    np.testing.assert_allclose(sim.state.v[0, :, 2], [1.0, 1.0], atol=0.02)
    assert sim.state.v[0, 1, 2] == pytest.approx(0.5 * 2.0, abs=1e-6)
    assert sim._get("factor")[0, 1, 0] == 1.0


def test_a_bouncing_box():
    m = Mechanism()
    plain = box()
    m.add_body("box", mass=1.0, inertia=plain.bodies[0].inertia)
    for contact in plain.contacts:
        m.add_contact(contact.name, "box", contact.point, friction=0.0, restitution=0.8)
    rng = np.random.default_rng(0)
    sim = Simulator(m, dt=0.002, num_envs=16, tolerance=1e-8)
    q = rng.normal(size=(16, 1, 4))
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    sim.set_state(x=np.tile([0, 0, 0.6], (16, 1, 1)), q=q, w=3.0 * rng.normal(size=(16, 1, 3)))
    energy = advance(sim, 500, sim.energy)
    assert (energy <= 1.001 * energy[0]).all()  # the integrator's own error; in the middle of an impact there is less
    assert (energy[-1] < 0.9 * energy[0]).all()
    assert (energy[-1] > 0.05 * energy[0]).any()


def test_a_drive_does_not_pay_for_a_rebound_nor_forbid_it():
    """While a flywheel on the same body is driven, the body bounces as without it: its work counts."""
    speeds = []
    for effort in (0.0, 40.0):
        m = Mechanism(gravity=(0, 0, 0))
        m.add_body("box", mass=1.0, inertia=(0.1, 0.1, 0.1))
        m.add_body("wheel", mass=0.5, inertia=(0.01, 0.01, 0.01))
        m.add_joint("axle", "revolute", "box", "wheel", axis=(0, 0, 1))
        m.add_contact("sole", "box", (0, 0, -0.2), friction=0.0, restitution=0.9)
        sim = Simulator(m, dt=2e-3)
        sim.set_joint_state([[0.0]], [[30.0]], x=[[0, 0, 0.2004], [0, 0, 0]], v=[[0, 0, -1.0], [0, 0, 0]])
        advance(sim, 4, effort=[[effort]])
        speeds.append(sim.state.v[0, 0, 2])
    np.testing.assert_allclose(speeds, 0.9, rtol=5e-4)


def test_a_soft_contact_beside_one_that_bounces():
    # what the spring of the soft end gives back is its own; at 4 kHz of a bounce and 70 Hz of the spring
    h, m = 1e-4, Mechanism()
    m.add_body("beam", mass=1.0, inertia=ROD)
    m.add_contact("soft", "beam", (0, 0, -0.5), friction=0.2, compliance=1e-5)
    m.add_contact("hard", "beam", (0, 0, 0.5), friction=0.2, restitution=0.8)
    sim = Simulator(m, dt=h, num_envs=2)
    lying = [[np.sqrt(0.5), 0, np.sqrt(0.5), 0]]
    sim.set_state(x=[[0, 0, 0.01]], q=lying, v=[[0.3, 0, -0.7]], w=[[[0, 1.5, 0]], [[0, -1.5, 0]]])
    energy, rises = sim.energy(), 0
    for _ in range(2000):
        sim.step()
        assert sim.status.converged.all()
        rises += rebounded(sim)
        assert (sim.energy() <= energy * 1.001).all()  # springs are damped by the integrator
    assert (rises >= 2).all()


# -------------------- random mechanisms


class Touch(NamedTuple):
    body: int
    point: tuple[float, ...]
    friction: float
    restitution: float


class Case(Printed, NamedTuple("Case", [("links", list[float]), ("touches", list[Touch]), ("options", dict)])):
    """links: log10 of the masses; options: kind of all joints, whether rooted, cone, gravity, h, seed of states."""


touches = st.builds(
    Touch,
    st.integers(0, 3),
    st.tuples(*[numbers(-0.1, 0.1)] * 3),  # not at an anchor: what cannot move cannot be pushed
    st.sampled_from([0.0, 0.3, 1.0, 2.0]),
    st.sampled_from([1.0, 0.7, 0.3, 0.01]),
)
cases = st.builds(
    Case,
    st.lists(st.sampled_from([0.0, 1.0, -1.0, 2.0, -2.0]), min_size=1, max_size=4),
    st.lists(touches, min_size=1, max_size=8),
    st.fixed_dictionaries(
        {
            "kind": st.sampled_from(["revolute", "spherical"]),
            "rooted": st.booleans(),
            "cone": st.sampled_from(["pyramid", "exact"]),
            "gravity": st.sampled_from([0.0, 9.81]),
            "h": st.sampled_from([1e-3, 1e-4, 4e-3]),
            "seed": st.integers(0, 999),
        }
    ),
)


def chain(case: Case) -> Mechanism:
    """Links of 0.3 m; all contacts with one plane, far below."""
    options, m = case.options, Mechanism(gravity=(0, 0, -case.options["gravity"]))
    axes = np.random.default_rng(options["seed"]).normal(size=(4, 3))
    for i, size in enumerate(case.links):
        mass = 10.0**size
        m.add_body(f"b{i}", mass=mass, inertia=mass * 0.015 * np.array([0.9, 1.0, 0.7]))
        axis = {"axis": axes[i]} if options["kind"] == "revolute" else {}
        if i or options["rooted"]:
            ends = (f"b{i - 1}", f"b{i}") if i else ("world", "b0")
            anchors = {"parent_anchor": (0, 0, -0.15 if i else 0), "child_anchor": (0, 0, 0.15)}
            m.add_joint(f"j{i}", options["kind"], *ends, **anchors, **axis)
    for c, touch in enumerate(case.touches):
        body, options = f"b{touch.body % len(case.links)}", touch._asdict()
        m.add_contact(f"c{c}", body, offset=-100.0, **{k: options[k] for k in ("point", "friction", "restitution")})
    return m


@settings(max_examples=50)
@given(case=cases)
def test_random_mechanisms(case):
    """64 states of each, thrown at a plane that the lowest contact reaches in the first step; others come later."""
    n, h, gravity = 64, case.options["h"], case.options["gravity"]
    rng = np.random.default_rng(case.options["seed"])
    # rounding of the forces of an impact is 1e-16 of m v/h: kg and ms ask for a tolerance in proportion
    sim = Simulator(chain(case), dt=h, num_envs=n, cone=case.options["cone"], tolerance=1e-8 * 10 ** max(case.links))
    axes, bodies = sim.model.n_axes, len(case.links)
    q = rng.normal(size=(n, bodies, 4))
    roots = {"x": np.zeros((n, bodies, 3)), "q": q / np.linalg.norm(q, axis=-1, keepdims=True)}
    roots |= {"v": rng.normal(size=(n, bodies, 3)) - [0, 0, 1.0], "w": 3.0 * rng.normal(size=(n, bodies, 3))}
    sim.set_joint_state(0.7 * rng.normal(size=(n, axes)), 2.0 * rng.normal(size=(n, axes)), **roots)
    down = -sim.contact_velocities()[..., 2].min(-1)
    level = -100.0 + sim.contact_gaps().min(-1) - 0.5 * h * np.maximum(down, 0.0) * rng.random(n)
    sim.set_parameters(offset=np.repeat(level[:, None], len(case.touches), 1))
    energy, scale = sim.energy(), kinetic(sim) + 0.3 * gravity * sim.parameter("mass").sum(-1)
    fastest, cut = np.linalg.norm(sim.state.w, axis=-1).max(-1), 0.0
    for k in range(10):
        sim.step()
        # where the length of steps changes, weights act for half a step too long or too short
        power = gravity * (sim.parameter("mass") * np.linalg.norm(sim.state.v, axis=-1)).sum(-1)
        cut = cut + np.where(sim.status.substeps > 1, h * power, 0.0)
        noise = (k + 1) * len(case.touches) * 10 * sim.tolerance
        fastest = np.maximum(fastest, np.linalg.norm(sim.state.w, axis=-1).max(-1))
        allowed = 1e-8 + h**2 * (fastest**2 + gravity / 0.15)
        assert (sim.energy() - energy <= allowed * scale + noise + cut).all()


# -------------------- lanes


def test_lanes_that_bounce_at_different_times():
    """Every environment does the same alone and among others, bit for bit: some fly, some are struck, some rebound at
    first and some only with a lower factor."""
    n, rng = 24, np.random.default_rng(5)
    m = Mechanism()
    m.add_body("beam", mass=1.0, inertia=(0.05, 0.05, 0.05))
    for k, x in enumerate((-0.2, 0.5)):
        m.add_contact(f"c{k}", "beam", (x, 0, 0), friction=0.2, restitution=0.5)
    v, w, z = np.zeros((n, 1, 3)), np.zeros((n, 1, 3)), np.zeros((n, 1, 3))
    v[:, 0, 2], w[:, 0, 1], z[:, 0, 2] = -rng.uniform(0.5, 2, n), 0.2 * rng.normal(size=n), 4e-3 * rng.random(n)
    e = np.where(rng.random(n) < 0.4, 2.0, 0.4)[:, None] * [1.0, 0.3]

    def run(envs: np.ndarray, threads: int = 1) -> list[np.ndarray]:
        sim = Simulator(m, dt=1e-3, num_envs=len(envs), num_threads=threads)
        sim._lanes.set("restitution", e[envs])
        sim.set_state(x=z[envs], v=v[envs], w=w[envs])
        seen = []
        for _ in range(12):
            sim.step()
            seen.append(np.concatenate([lowered(sim)[None], rebounded(sim)[None], sim.status.iterations[None]]))
        return [*sim.state, sim.contact_forces(), np.moveaxis(np.array(seen), -1, 0)]

    together = run(np.arange(n), threads=2)
    guarded, rises = together[-1][..., 0], together[-1][..., 1]
    assert guarded.any()
    assert ((rises.sum(0) > 0) & (rises.sum(0) < n)).sum() >= 4  # steps in which some rebound and others do not
    for envs in (*np.arange(n)[:, None], np.array([5, 3, 17, 17, 0]), np.arange(7, 20)):
        for some, all_of_them in zip(run(envs), together, strict=True):
            np.testing.assert_array_equal(some, all_of_them[envs])
