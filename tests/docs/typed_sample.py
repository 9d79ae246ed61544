"""A user's program, for `mypy --strict`: tests/docs/test_types.py."""

import numpy as np
from numpy.typing import NDArray

import vigym


def build(side: float) -> vigym.Mechanism:
    m = vigym.Mechanism(gravity=(0.0, 0.0, -9.81))
    m.add_body("box", mass=1.0, shapes=[vigym.Box((side, side, side))])
    m.add_body("arm", mass=0.2, inertia=0.01 * np.eye(3))
    m.add_joint("hinge", "revolute", "box", "arm", axis=(0, 1, 0), kp=10.0, kd=1.0)
    m.add_ground(friction=0.5)
    return m


def heights(sim: vigym.Simulator, steps: int) -> NDArray[np.float64]:
    sim.step(repeat=steps)
    if not sim.status.converged.all():
        raise vigym.VigymError("not solved")
    return sim.state.x[:, 0, 2]


def main() -> None:
    sim = vigym.Simulator(build(0.2), dt=0.01, num_envs=4)
    found: NDArray[np.float64] = heights(sim, 10)
    forces: NDArray[np.float64] = sim.contact_forces()
    saved = sim.save()
    sim.restore(saved)
    print(found.shape, forces.shape, sim.joint_positions().shape, sim.gradients().state.shape)


if __name__ == "__main__":
    main()
