"""Friction on planes of any orientation: blocks that stick and slide, balls that roll.

The planes are all over the sphere. Gravity is a force, so that every body has its own, at slope `angle` against its
plane and towards `azimuth` in it, counted from the tangent t1 of its contacts:

    pull = m g (sin(angle) (cos(azimuth) t1 + sin(azimuth) t2) - cos(angle) n)
"""

import numpy as np
from scenes import GRAVITY, advance, corners, frames, on_planes, random_normals

from vigym import Mechanism, Simulator

BASE = corners((0.2, 0.2, 0.1))[:4]  # of the blocks, which are as heavy as the balls: 1 kg
CENTRE = np.zeros((1, 3))
RADIUS = 0.1
PLANES = 12
NORMALS = random_normals(PLANES, seed=3)
QUARTERS = np.arange(PLANES) % 4 * np.pi / 2  # azimuths along t1, t2, -t1, -t2


def body_frames(m: Mechanism) -> np.ndarray:
    """Rows t1, t2, n for every body."""
    return frames(m).reshape(len(m.bodies), -1, 3, 3)[:, 0]


def pull(m: Mechanism, angle, azimuth) -> np.ndarray:
    """The weights (..., n_bodies, 3), N, for masses of 1 kg; see the top of this file."""
    angle, azimuth = np.broadcast_arrays(angle, azimuth)
    local = [np.sin(angle) * np.cos(azimuth), np.sin(angle) * np.sin(azimuth), -np.cos(angle)]
    return GRAVITY * np.einsum("k...b,bkj->...bj", np.array(local), body_frames(m))


def local_velocity(sim: Simulator, m: Mechanism) -> np.ndarray:
    """Velocities along t1, t2, n (num_envs, n_bodies, 3)."""
    return np.einsum("nbj,bkj->nbk", sim.state.v, body_frames(m))


def test_tangents_are_orthonormal():
    m = on_planes(random_normals(200, seed=4), 0.5, CENTRE, RADIUS)
    basis = frames(m)
    np.testing.assert_allclose(basis @ basis.transpose(0, 2, 1), np.broadcast_to(np.eye(3), basis.shape), atol=1e-15)
    np.testing.assert_allclose(np.linalg.det(basis), 1.0, atol=1e-15)


def test_blocks_slide_down_with_the_acceleration_of_coulomb():
    # a = g (sin(angle) - cf cos(angle)) along the slope, which is here a direction of the pyramid, so that it is exact.
    # All forces are constant, so v = a t without error of discretisation; what complementarity leaves is explained in
    # the next test: 16e-8 (1 + log(steps)) / a, with a > 0.5 m/s^2.
    h, steps, cf = 0.01, 100, 0.3
    angle = np.radians([20.0, 30.0, 45.0, 60.0])[:, None] + np.zeros(PLANES)
    m = on_planes(NORMALS, cf, BASE)
    sim = Simulator(m, dt=h, num_envs=len(angle))
    advance(sim, steps, force=pull(m, angle, QUARTERS))
    a = GRAVITY * (np.sin(angle) - cf * np.cos(angle))
    expected = np.stack([a * np.cos(QUARTERS), a * np.sin(QUARTERS), 0 * a], -1) * steps * h
    np.testing.assert_allclose(local_velocity(sim, m), expected, rtol=0, atol=2e-6)
    assert np.abs(sim.state.w).max() < 1e-6


def test_blocks_stick_below_and_slip_above_the_threshold():
    # At rest if and only if tan(angle) <= cf: 1 % either way decides. At a sliding speed v, complementarity to 1e-8 W
    # leaves up to 1e-8 / v of force in each of s_psi and the three idle betas (and in the fourth, to make up for one of
    # them): 4 times that for each of 4 contacts. A block that sticks has 0.01 cf N to spare, which bounds v; friction
    # on one that slips may miss 16e-8 / v, with v = a t a speed of 16e-8 (1 + log(steps)) / a in all.
    h, steps = 0.01, 100
    angle = np.radians(np.linspace(8.0, 45.0, PLANES))
    margin = np.array([0.99, 1.01])[:, None]
    m = on_planes(NORMALS, np.tan(angle), BASE)
    sim = Simulator(m, dt=h, num_envs=2)
    slope = np.arctan(margin * np.tan(angle))
    advance(sim, steps, force=pull(m, slope, QUARTERS))
    speed = np.linalg.norm(sim.state.v, axis=-1)
    assert (speed[0] < 16e-8 / (0.01 * np.tan(angle) * GRAVITY * np.cos(slope[0]))).all()
    assert np.abs(sim.contact_forces().reshape(2, PLANES, -1, 3).sum(2) + pull(m, slope, QUARTERS))[0].max() < 1e-7
    a = GRAVITY * (np.sin(slope) - np.tan(angle) * np.cos(slope))
    assert (np.abs(speed[1] - a[1] * steps * h) < 16e-8 * (1 + np.log(steps)) / a[1]).all()


def pyramid_acceleration(angle, azimuth, cf) -> np.ndarray:
    """Acceleration by a pull (T1, T2) on a body at rest, by maximum dissipation within |f1| + |f2| <= cf N (..., 2).

    With T1 >= T2 >= 0 (the other cases by symmetry), c = cf N / m and pulls per mass:
        T1 + T2 <= c         sticks
        T1 - c >= T2         slides more along t1, which all of the friction opposes: (T1 - c, T2)
        otherwise            slides along the diagonal, where both directions oppose: (1, 1) (T1 + T2 - c) / 2
    """
    T = GRAVITY * np.sin(angle)[..., None] * np.stack([np.cos(azimuth), np.sin(azimuth)], -1)
    c = cf * GRAVITY * np.cos(angle)
    size = np.abs(T)
    large, small = size.max(-1), size.min(-1)
    diagonal = np.maximum((large + small - c) / 2, 0.0)
    straight = large - c >= small
    first, second = np.where(straight, large - c, diagonal), np.where(straight, small, diagonal)
    swapped = size[..., 0] < size[..., 1]
    return np.sign(T) * np.where(swapped[..., None], np.stack([second, first], -1), np.stack([first, second], -1))


def test_blocks_slide_askew_as_the_pyramid_predicts():
    # Between its four directions the pyramid is weaker than Coulomb's cone and turns the motion; flat plates, so that
    # friction has no arm. Constant accelerations again.
    h, steps, cf = 0.01, 50, 0.4
    azimuth = np.linspace(0.1, 2 * np.pi - 0.2, PLANES)
    angle = np.radians([12.0, 16.0, 19.0, 23.0, 30.0, 50.0])[:, None] + np.zeros(PLANES)
    m = on_planes(NORMALS, cf, BASE * [1, 1, 0])
    sim = Simulator(m, dt=h, num_envs=len(angle), cone="pyramid")
    advance(sim, steps, force=pull(m, angle, azimuth))
    a = pyramid_acceleration(angle, azimuth + 0 * angle, cf)
    kinds = np.abs(a).min(-1) / np.maximum(np.abs(a).max(-1), 1e-9)
    assert (kinds == 0).sum() > 10  # sticks
    assert (np.abs(kinds - 1) < 1e-9).sum() > 10  # diagonal
    assert ((kinds > 0) & (kinds < 0.99)).sum() > 10  # along one direction
    np.testing.assert_allclose(local_velocity(sim, m)[..., :2], a * steps * h, atol=1e-5)


def test_slopes_of_the_world_under_gravity():
    # The same with the mechanism's own gravity: planes tilted by 30 degrees to all sides. t1 is x (made tangential), so
    # that downhill, (n_x, n_y) in the world, is anywhere between t1 and t2.
    h, steps, cf, angle = 0.01, 50, 0.4, np.radians(30.0)
    side = np.linspace(0, 2 * np.pi, PLANES, endpoint=False) + 0.05
    tilt = np.sin(angle)
    normals = np.stack([tilt * np.cos(side), tilt * np.sin(side), np.full(PLANES, np.cos(angle))], -1)
    m = on_planes(normals, cf, BASE * [1, 1, 0], gravity=GRAVITY)
    sim = Simulator(m, dt=h, cone="pyramid")
    advance(sim, steps)
    downhill = body_frames(m) @ [0.0, 0.0, -1.0]
    a = pyramid_acceleration(np.full(PLANES, angle), np.arctan2(downhill[:, 1], downhill[:, 0]), cf)
    np.testing.assert_allclose(local_velocity(sim, m)[0, :, :2], a * steps * h, atol=1e-5)


def test_nothing_slows_a_body_without_friction():
    h, steps = 0.01, 200
    m = on_planes(NORMALS, 0.0, BASE)
    sim = Simulator(m, dt=h)
    v = 3.0 * np.einsum("k,bkj->bj", [0.6, 0.8, 0.0], body_frames(m))
    sim.set_state(v=v[None])
    advance(sim, steps, force=pull(m, np.zeros(PLANES), 0.0))
    np.testing.assert_allclose(sim.state.v[0], v, atol=steps * h * sim.tolerance)
    forces = sim.contact_forces()[0].reshape(PLANES, -1, 3).sum(1)
    np.testing.assert_allclose(forces, -pull(m, np.zeros(PLANES), 0.0), atol=1e-7)


def test_balls_roll_down():
    # Rolling without slipping, J = 2/5 m r^2: a = g sin(angle) / (1 + 2/5) down the slope, whatever the azimuth. Spin
    # and speed change by the same amount in every step, so this is exact, to `tolerance` in each of the steps.
    h, steps = 0.005, 100
    angle = np.radians([5.0, 15.0, 25.0, 35.0])[:, None] + np.zeros(PLANES)
    azimuth = np.linspace(0, 2 * np.pi, PLANES, endpoint=False)
    m = on_planes(NORMALS, 0.8, CENTRE, RADIUS)
    sim = Simulator(m, dt=h, num_envs=len(angle))
    advance(sim, steps, force=pull(m, angle, azimuth))
    v = GRAVITY * np.sin(angle) / 1.4 * steps * h
    expected = np.stack([v * np.cos(azimuth), v * np.sin(azimuth), 0 * v], -1)
    error = np.abs(local_velocity(sim, m) - expected).max(-1)
    assert error.max() < steps * h * sim.tolerance
    assert v.max() > 2.0


def test_a_sliding_ball_ends_up_rolling():
    # Friction acts at the point that touches, so the angular momentum about it is kept: m r v + J w = m r v0, and with
    # v = r w at the end, v = 5/7 v0, in whatever direction and however friction acts; exact as above. Friction needs
    # 2/7 v0 / (cf g) = 0.29 s.
    h, v0 = 0.005, 3.0
    direction = np.linspace(0, 2 * np.pi, PLANES, endpoint=False)
    m = on_planes(NORMALS, 0.3, CENTRE, RADIUS)
    sim = Simulator(m, dt=h)
    local = np.stack([np.cos(direction), np.sin(direction), 0 * direction], -1)
    start = v0 * np.einsum("bk,bkj->bj", local, body_frames(m))
    sim.set_state(v=start[None])
    steps = 200
    advance(sim, steps, force=pull(m, np.zeros(PLANES), 0.0))
    np.testing.assert_allclose(sim.state.v[0], 5 / 7 * start, atol=steps * h * sim.tolerance)
