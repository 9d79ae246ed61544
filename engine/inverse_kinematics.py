"""Inverse kinematics: joint coordinates that bring a point of a body to a place, and the body into an orientation.

Damped least squares (Levenberg and Marquardt) within the limits of the joints: with the error e, its rows J by the
joint coordinates and a damping lam relative to the largest row,

    d = J^T (J J^T + lam max(diag J J^T))^-1 e,        lam falls after steps that help, and grows after others

without the columns of joints that are at a limit and would leave it. All environments at once. From the middle of its
range, an arm of seven joints finds 93 % of the poses that it can have, and all of them in five attempts.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.engine import coordinates
from vigym.engine.controls import shape_of
from vigym.engine.dynamics import Dynamics
from vigym.engine.errors import InputError
from vigym.engine.mechanism import Mechanism
from vigym.engine.model import Model
from vigym.engine.rotation import Array, conjugate, multiply, rotate, to_rotation_vector
from vigym.engine.simulator import Simulator
from vigym.engine.validation import batch, body_number, count, number, vector

FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-3, 1e-12, 1e6
CHANGE = 4.0  # of the damping
LONGEST = 0.5  # change of a coordinate in a step, rad or m: longer ones end at limits, and stay there
FAR = 1.0  # m: how far from the start slides without limits are tried


class Reached(NamedTuple):
    """Solutions found for N targets.

    positions: (N, n_efforts) joint coordinates, as `set_joint_state` takes them; the nearest that were found.
    converged: (N,) whether both errors are within the tolerance.
    position_error: (N,) m; angle_error: (N,) rad; 0 of what was not asked for.
    iterations: (N,) of the attempt that was best.
    """

    positions: Array
    converged: NDArray[np.bool_]
    position_error: Array
    angle_error: Array
    iterations: NDArray[np.int64]


class Task(NamedTuple):
    """Targets of N environments: `place` (N, 3) of a point of the body, `turn` (N, 4) of the body, either or both; x, q
    (N, n, 3 and 4): poses of bodies without a joint."""

    model: Model
    dynamics: Dynamics
    body: int
    point: Array
    place: Array | None
    turn: Array | None
    x: Array
    q: Array

    def look(self, phi: Array) -> tuple[Array, Array]:
        """Errors e (N, 6) at joint coordinates phi (N, n_axes), and the rows J (N, 6, n_axes) of the motion."""
        x, q = coordinates.forward(self.model, phi, self.x, self.q)
        J = self.dynamics.jacobian(x, q, self.body, self.point)[:, :, self.dynamics.columns.number - phi.shape[1] :]
        e = np.zeros((len(phi), 6))
        if self.place is None:
            J[:, :3] = 0.0
        else:
            e[:, :3] = self.place - x[:, self.body] - rotate(q[:, self.body], self.point)
        if self.turn is None:
            J[:, 3:] = 0.0
        else:
            e[:, 3:] = to_rotation_vector(multiply(self.turn, conjugate(q[:, self.body])))
        return e, J


def inverse_kinematics(
    robot: Simulator | Mechanism,
    body: str,
    position: ArrayLike | None = None,
    orientation: ArrayLike | None = None,
    *,
    point: ArrayLike = (0.0, 0.0, 0.0),
    start: ArrayLike | None = None,
    tolerance: float = 1e-8,
    iterations: int = 200,
    attempts: int = 1,
) -> Reached:
    """Joint coordinates at which a point of a body is where it should be; nothing is moved.

    robot: a simulator, whose bodies without a joint are where they are, or a mechanism, where they start.
    position: (3,) or (N, 3) where the point should be, world, m. orientation: (4,) or (N, 4) of the body, scalar first.
        At least one of them; N is the number of environments of a simulator.
    point: (3,) in the body's frame, whose origin is the centre of mass, m.
    start: (n_efforts,) or (N, n_efforts) coordinates from which to search; the present ones if left out.
    tolerance: largest error of a solution that counts as converged, m and rad.
    attempts: searches, the first from `start`, others from random coordinates within the limits, until one converges;
        the best is returned. The same call finds the same solution.

    Coordinates stay within the limits of the joints. The body may be unable to get there: look at `converged`.
    """
    if not isinstance(robot, Simulator | Mechanism):
        raise InputError(f"robot must be a Simulator or a Mechanism, got {type(robot).__name__}")
    model = robot.model if isinstance(robot, Simulator) else Model(robot)
    if model.loops.parts:
        raise InputError(
            "inverse_kinematics does not know joints that close loops, nor couplings; leave them out of the mechanism"
        )
    if not model.n_axes:
        raise InputError("the mechanism has no free joint axis that could move the body")
    if position is None and orientation is None:
        raise InputError("give a position, an orientation, or both")
    if isinstance(robot, Simulator):
        size, x, q, phi = robot.num_envs, *(robot._get(name) for name in "xq"), robot.joint_positions()
    else:
        shapes = [shape_of(value) for value in (position, orientation, start) if value is not None]
        size = max([1, *(shape[0] for shape in shapes if shape is not None and len(shape) == 2)])
        x, q, phi = (np.repeat(value, size, axis=0) for value in coordinates.start(model))
    place = None if position is None else batch(position, "position", size, (3,), InputError)
    turn = None if orientation is None else batch(orientation, "orientation", size, (4,), InputError)
    if turn is not None:
        length = np.linalg.norm(turn, axis=-1, keepdims=True)
        if (length < 1e-12).any():
            raise InputError("orientation must not be zero")
        turn = turn / length
    if start is not None:
        phi = batch(start, "start", size, (model.n_axes,), InputError)
    where = vector(point, (3,), "point", InputError)
    task = Task(model, Dynamics(model), body_number(body, model.bodies), where, place, turn, x, q)
    tolerance = number(tolerance, "tolerance", InputError, above=0.0)
    iterations, attempts = count(iterations, "iterations"), count(attempts, "attempts")
    best = _search(task, phi, tolerance, iterations)
    rng = np.random.default_rng(0)
    for _ in range(attempts - 1):
        left = np.flatnonzero(~best.converged)
        drawn = _drawn(model, phi, rng)  # for all, so that what is found does not depend on the others
        if not left.size:
            break
        found = _search(_of(task, left), drawn[left], tolerance, iterations)
        errors = [reached.position_error**2 + reached.angle_error**2 for reached in (found, best)]
        better = errors[0] < errors[1][left]
        for mine, theirs in zip(best, found, strict=True):
            mine[left[better]] = theirs[better]
    return best


def _of(task: Task, env: NDArray[np.int64]) -> Task:
    """The targets of the environments `env` alone."""
    place, turn = (None if value is None else value[env] for value in (task.place, task.turn))
    return task._replace(place=place, turn=turn, x=task.x[env], q=task.q[env])


def _drawn(model: Model, phi: Array, rng: np.random.Generator) -> Array:
    """Random joint coordinates within the limits, alike in all environments but for slides without limits."""
    lower, upper, share = model.per_axis("lower"), model.per_axis("upper"), rng.uniform(size=model.n_axes)
    reach = np.where(model.joint_table.is_slide, FAR, np.pi)
    middle = np.where(model.joint_table.is_slide, phi, 0.0)
    low = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2 * reach, middle - reach))
    high = np.where(np.isfinite(upper), upper, np.where(np.isfinite(lower), lower + 2 * reach, middle + reach))
    return low + share * (high - low)


def _search(task: Task, start: Array, tolerance: float, iterations: int) -> Reached:
    """The nearest coordinates that a search from `start` (N, n_axes) finds."""
    lower, upper = task.model.per_axis("lower"), task.model.per_axis("upper")
    phi = np.clip(start, lower, upper)
    e, J = task.look(phi)
    damping, used = np.full(len(phi), FIRST_DAMPING), np.zeros(len(phi), np.int64)
    live = ~_reached(e, tolerance)
    for _ in range(iterations):
        env = np.flatnonzero(live)
        if not env.size:
            break
        used[env] += 1
        here = phi[env]
        push = (J[env] * e[env][:, :, None]).sum(1)
        held = ((here <= lower) & (push < 0.0)) | ((here >= upper) & (push > 0.0))
        rows = np.where(held[:, None], 0.0, J[env])
        square = rows @ np.swapaxes(rows, 1, 2)
        size = np.maximum(np.einsum("nkk->nk", square).max(-1), 1e-300)
        square += (damping[env] * size)[:, None, None] * np.eye(6)
        change = (rows * np.linalg.solve(square, e[env][..., None])).sum(1)
        change *= np.minimum(1.0, LONGEST / np.maximum(np.abs(change).max(-1), 1e-300))[:, None]
        tried = np.clip(coordinates.earlier(task.model, here, change, -np.ones(len(env))), lower, upper)
        e_tried, J_tried = _of(task, env).look(tried)
        better = (e_tried**2).sum(-1) < (e[env] ** 2).sum(-1)
        taken = env[better]
        phi[taken], e[taken], J[taken] = tried[better], e_tried[better], J_tried[better]
        scale = np.where(better, 1.0 / CHANGE, CHANGE)
        damping[env] = np.maximum(damping[env] * scale, LEAST_DAMPING)
        live[env] = ~_reached(e[env], tolerance) & (damping[env] < MOST_DAMPING)
    errors = np.linalg.norm(e[:, :3], axis=-1), np.linalg.norm(e[:, 3:], axis=-1)
    return Reached(coordinates.chosen_way(task.model, phi), _reached(e, tolerance), *errors, used)


def _reached(e: Array, tolerance: float) -> NDArray[np.bool_]:
    return (np.linalg.norm(e[:, :3], axis=-1) <= tolerance) & (np.linalg.norm(e[:, 3:], axis=-1) <= tolerance)
