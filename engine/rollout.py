"""Many steps in one call: controls of every step go in, what is read after every step comes out."""

from collections.abc import Mapping, Sequence

import numpy as np

from vigym.engine.errors import InputError
from vigym.engine.lanes import Lanes, Track
from vigym.engine.recording import Watcher, write_all
from vigym.engine.rotation import Array
from vigym.engine.tape import Tape
from vigym.engine.validation import show, suggestion, words

# Name of an output -> field of the state store
READ = {"x": "x", "q": "q", "v": "v", "w": "w", "joint_positions": "angle", "joint_velocities": "rate"}


def make_outputs(lanes: Lanes, steps: int, read: Sequence[str], out: Mapping[str, Array] | None) -> dict[str, Array]:
    """Arrays (steps, num_envs, ...) for what `read` names: new ones, or those of `out`, checked."""
    if not isinstance(out, Mapping | None):
        raise InputError(f"out must be what an earlier rollout returned, got {show(out)}")
    names = words(list(out), "out", InputError) if out is not None else [read] if isinstance(read, str) else read
    names = words(names, "read", InputError)
    for name in names:
        if name not in READ:
            raise InputError(f"a rollout cannot read {show(name)}: {suggestion(name, READ)}")
    shapes = {name: (steps, lanes.num_envs, *lanes.shape(READ[name])) for name in names}
    return {name: np.empty(shape) if out is None else checked(name, out[name], shape) for name, shape in shapes.items()}


def checked(name: str, array: Array, shape: tuple[int, ...]) -> Array:
    """The array out[name], if a rollout can write to it."""
    good = type(array) is np.ndarray and array.dtype == float and array.shape == shape
    if not (good and array.flags.c_contiguous and array.flags.writeable):
        raise InputError(f"out[{name!r}] must be an array (float64, contiguous) of shape {shape}, got {show(array)}")
    return array


def play(
    lanes: Lanes, recorders: Sequence[Watcher], steps: int, inward: Sequence[Track], outward: Sequence[Track]
) -> None:
    """Advance `lanes` by `steps` with the controls `inward` and fill `outward`; `recorders` see every step."""
    inward = [
        track._replace(array=track.array.copy())
        if any(np.may_share_memory(track.array, other.array) for other in outward)
        else track
        for track in inward
    ]
    if lanes.compiled and not recorders:
        lanes.play(steps, inward, outward)
        return
    for k in range(steps):
        for field, array in inward:
            lanes.set(field, array[k])
        lanes.run(1, resumed=k > 0)
        for field, array in outward:
            array[k] = lanes.get(field).reshape(array[k].shape)
        write_all(recorders, lambda recorder: recorder.frame(1))


def roll(
    lanes: Lanes,
    recorders: Sequence[Watcher],
    tracks: Sequence[Track],
    outputs: Mapping[str, Array],
    tape: Tape | None,
    steps: int,
    repeat: int,
) -> None:
    """A rollout of `steps` rows of controls, each for `repeat` steps, the states after which go into `outputs`."""
    wide = {
        name: array if repeat == 1 else np.empty((steps * repeat, *array.shape[1:])) for name, array in outputs.items()
    }
    outward = [Track(READ[name], array) for name, array in wide.items()]
    if tape is not None:
        outward, recorders = [*outward, *tape.tracks], [*recorders, *tape.recorders]
    play(lanes, recorders, steps * repeat, tracks, outward)
    if tape is not None:
        tape.end()
    if repeat > 1:
        for name, array in outputs.items():
            array[...] = wide[name][repeat - 1 :: repeat]
