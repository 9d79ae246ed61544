"""Derivatives of joint coordinates and rates by the state, at the present state: complex steps through the kernels that
read them (see gradients.py)."""

import numpy as np

from vigym.engine.gradients import INTEGERS, STEP, coordinates_at, lanes_of, perturb, pose_before
from vigym.engine.kernels import body, layout
from vigym.engine.rotation import Array
from vigym.engine.twin import Stepped


def coordinates_by_state(sim: Stepped) -> tuple[Array, Array]:
    """d(coordinates) and d(rates) by the state, (num_envs, n_axes, 12 n_bodies) each; zero for axes of three free
    rotations. rate = (coordinate - that of the pose from which v and w lead here)/h."""
    model, columns = sim.model, 12 * sim.model.n_bodies
    lanes = sim.num_envs * (columns + 1)  # the last one of each environment is not perturbed
    s = layout.state_store(model.features, model.sizes, lanes, 1, complex)[0]
    t = layout.scratch_store(model.features, model.sizes, lanes, complex)[0]
    m = sim._lanes.constants[0]
    for name in sim._lanes.store.fields:
        if name not in INTEGERS:
            setattr(s, name, lanes_of(sim._get(name), columns + 1))
    perturb(m, s, [])
    body.place_world(m, t)
    poses = [pose_before(s, i) for i in range(model.n_bodies)]
    earlier = coordinates_at(m, t, [x for x, _ in poses], [q for _, q in poses])
    now = coordinates_at(m, t, s.x, s.q)
    found = np.zeros((2, model.n_axes, lanes))
    for a, coordinate in now.items():
        found[0, a] = np.imag(coordinate) / STEP
        found[1, a] = np.imag(coordinate - earlier[a]) / STEP / s.h0.real
    by_env = np.moveaxis(found.reshape(2, model.n_axes, sim.num_envs, columns + 1)[..., :-1], 2, 1)
    return by_env[0], by_env[1]
