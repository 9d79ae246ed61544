"""Robots with light links between heavy ones, that lie on the ground: it does not matter when they got their masses."""

import numpy as np
import pytest

from vigym import Capsule, Mechanism, Simulator

LINKS, LENGTH, DT = 8, 0.2, 0.01
# The sixth link is 512 times as light as its neighbours. Powers of two: products with them are not rounded
MASSES = np.array([2.0, 32.0, 16.0, 4.0, 32.0, 0.0625, 32.0, 32.0])


def snake(masses, friction=6.0):
    """Rods in a row, with ball joints between them, and a contact at each end."""
    mechanism = Mechanism()
    for k, mass in enumerate(masses):
        thin = (mass * 1e-3, mass * LENGTH**2 / 12, mass * LENGTH**2 / 12)
        mechanism.add_body(f"link {k}", mass=mass, inertia=thin, position=(LENGTH * k, 0, 0.02))
        mechanism.add_contact(f"tail {k}", f"link {k}", (-LENGTH / 2, 0, 0), radius=0.02, friction=friction)
    mechanism.add_contact("head", f"link {LINKS - 1}", (LENGTH / 2, 0, 0), radius=0.02, friction=friction)
    for k in range(1, LINKS):
        ends = {"parent_anchor": (LENGTH / 2, 0, 0), "child_anchor": (-LENGTH / 2, 0, 0)}
        mechanism.add_joint(f"joint {k}", "spherical", f"link {k - 1}", f"link {k}", damping=0.01, **ends)
    return mechanism


def with_masses_set(masses, num_envs=1):
    """The same robot, built with links of 1 kg."""
    sim = Simulator(snake(np.ones(LINKS)), dt=DT, num_envs=num_envs, tolerance=1e-6)
    sim.set_parameters(mass=masses, inertia=sim.parameter("inertia")[0] * masses[:, None, None])
    return sim


def test_masses_set_later_are_searched_with_as_well():
    """The start of a search follows the mass of the whole robot, however it got it: same bits."""
    built, later = Simulator(snake(MASSES), dt=DT, tolerance=1e-6), with_masses_set(MASSES)
    rng = np.random.default_rng(0)
    for _ in range(20):
        effort = rng.uniform(-6, 6, 3 * (LINKS - 1))
        for sim in (built, later):
            sim.step(effort)
        assert built.status.iterations == later.status.iterations
        assert np.array_equal(built.state.x, later.state.x)


def test_light_links_between_heavy_ones_do_not_stop_the_solver():
    """1,084 of 6,400 steps failed when a light link's contact was guessed to carry its own weight alone."""
    sim, rng = with_masses_set(MASSES, num_envs=64), np.random.default_rng(1)
    failed = 0
    for _ in range(100):
        sim.step(rng.uniform(-6, 6, (64, 3 * (LINKS - 1))))
        failed += int((~sim.status.converged).sum())
    assert failed == 0


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_heft_is_that_of_the_whole_part(factor):
    """Bodies that no joint connects do not count for each other."""
    mechanism = snake(MASSES)
    mechanism.add_body("alone", mass=2.0, inertia=(1, 1, 1), position=(0, 5, 5))
    model = Simulator(mechanism, dt=DT).model
    masses = np.append(MASSES, 2.0)
    assert np.array_equal(model.heft(masses), np.ones(LINKS + 1))
    masses[0] *= factor
    whole = masses[:LINKS].sum() / MASSES.sum()
    assert np.allclose(model.heft(np.stack([masses, masses])), [[whole] * LINKS + [1.0]] * 2, rtol=1e-14)


def test_masses_set_later_where_bodies_touch():
    """The same of two chains of capsules on a plane that is a collider; each of 64 kg, 16 times as heavy as built."""
    masses = np.array([2.0, 32.0, 16.0, 14.0, 32.0, 0.0625, 31.0, 0.9375])

    def heap(masses):
        m = Mechanism()
        m.add_ground()
        for k, mass in enumerate(masses):
            shape = Capsule(radius=0.02, length=LENGTH - 0.04)
            lying = (np.sqrt(0.5), 0, np.sqrt(0.5), 0)
            m.add_body(f"link {k}", mass=mass, shapes=[shape], position=(LENGTH * k, 0, 0.02), orientation=lying)
            if k % 4:
                ends = {"parent_anchor": (0, 0, LENGTH / 2), "child_anchor": (0, 0, -LENGTH / 2)}
                m.add_joint(f"joint {k}", "spherical", f"link {k - 1}", f"link {k}", damping=0.01, **ends)
        return m

    built, later = (Simulator(heap(these), dt=DT, tolerance=1e-6) for these in (masses, np.ones(LINKS)))
    later.set_parameters(mass=masses, inertia=later.parameter("inertia")[0] * masses[:, None, None])
    rng = np.random.default_rng(0)
    for _ in range(20):
        effort = rng.uniform(-1, 1, built.model.n_axes)
        for sim in (built, later):
            sim.step(effort)
        assert built.status.iterations == later.status.iterations
        assert np.array_equal(built.state.x, later.state.x)
