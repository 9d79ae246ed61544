"""Views of a task's environments: pictures, the live page, recordings; each is imported when it is asked for."""

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from vigym.engine.errors import InputError
from vigym.engine.recording import Recorder
from vigym.engine.validation import count, number, show
from vigym.view.extra import check

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigym.envs.task import Array, Flags, Indices, Task

RENDER_MODES = ["human", "rgb_array", "depth_array"]


class Picture:
    """View of an environment, or of a batch of them: its `task`, render_mode, size and camera of pictures.

    speed, browse: of the live page, times real time at first, and whether to open a browser
    """

    def __init__(
        self,
        owner: Any,
        mode: str | None,
        width: int,
        height: int,
        camera: Mapping[str, Any] | None,
        speed: float = 1.0,
        browse: bool = True,
    ) -> None:
        if mode not in (None, *RENDER_MODES):
            raise InputError(f"render_mode must be None or one of {', '.join(RENDER_MODES)}, got {mode!r}")
        if mode == "human":
            check("viser", 'render_mode="human"')
        self.owner, self.mode, self.width, self.height = owner, mode, count(width, "width"), count(height, "height")
        self.task: Task = owner.task
        if camera is not None and not isinstance(camera, Mapping):
            raise InputError(f"default_camera_config must be a dict, got {show(camera)}")
        self.camera = {**self.task.camera, **(camera or {})}
        if camera:  # a mistake is told here, not with the first picture
            from vigym.view.pictures.camera import Camera

            Camera.from_config(self.camera)
        self.speed, self.browse = number(speed, "speed", InputError, above=0.0), browse
        self.recorder: Recorder | None = None
        self.trouble: OSError | None = None  # of the recording, see `complain`
        self._renderer: Any = None
        self._live: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_renderer": None, "_live": None, "recorder": None}

    @property
    def title(self) -> str:
        """The id, or the name of the task if the environment was not made by Gymnasium."""
        return self.owner.spec.id if self.owner.spec else type(self.task).__name__

    def renderer(self) -> Any:
        """The ray caster, made when first needed."""
        if self._renderer is None:
            from vigym.view.pictures.picture import Camera, Renderer

            camera = Camera.from_config(self.camera)
            mechanism, scene = self.task.sim.model.mechanism, self.task.scene()
            self._renderer = Renderer(mechanism, self.width, self.height, camera, **scene)
        return self._renderer

    def live(self) -> Any:
        """The page, made when first needed."""
        if self._live is None:
            from vigym.view.page.live import Live
            from vigym.view.pictures.camera import Camera

            camera = Camera.from_config(self.camera)
            options = {"title": self.title, "speed": self.speed, "browse": self.browse, **self.task.scene()}
            self._live = Live(self.task.sim, self.task.dt, camera, **options)
        return self._live

    def record(self, path: str | PathLike[str], env: int = 0) -> Recorder:
        """Write what happens in one environment to a file; a recording that is under way ends."""
        self.end_recording()
        look = {"title": self.title, "camera": self.camera, **self.task.scene()}
        self.recorder = Recorder(self.task.sim, path, env, n_actions=self.task.n_actions, **look)
        return self.recorder

    def began(self, env: "Indices") -> None:
        """Episodes have begun in these environments."""
        recorder = self.recorder
        if recorder is not None and recorder.is_open:
            self._written(lambda: recorder.jump(env))
        if self.mode == "human" and self.live().env in env:
            self.live().show(wait=False)

    def stepped(self, action: "Array", reward: "Array", acting: "Flags") -> None:
        """A control step was made: actions (num_envs, n_actions), rewards and whether it counts (num_envs,)."""
        recorder = self.recorder
        if recorder is not None and recorder.is_open and acting[recorder.env]:
            self._written(lambda: recorder.frame(self.task.frame_skip, action[recorder.env], reward[recorder.env]))
        if self.mode == "human":
            live = self.live()
            live.show(f"{self.task.elapsed[live.env] * self.task.dt:.2f} s, reward {reward[live.env]:.3f}")
            self.task.variation.hand = live.force()

    def _written(self, write: "Callable[[], None]") -> None:
        """Write to the recording; if it cannot be, the step goes on, and `complain` raises the error at its end."""
        try:
            write()
        except OSError as error:
            self.trouble = self.trouble or error

    def complain(self) -> None:
        """Raise the error of a recording that could not be written since the last call, if there is one."""
        if (trouble := self.trouble) is not None:
            self.trouble = None
            raise trouble

    def render(self, env: int) -> Any:
        """An image (height, width, 3), or depths (height, width), of one environment; None on the live page."""
        if self.mode is None:
            raise RuntimeError('nothing to render: make the environment with render_mode="rgb_array" (or another one)')
        if self.mode == "human":
            return self.live().show(wait=False)
        x, q = self.task.state.x[env], self.task.state.q[env]
        if self.mode == "depth_array":
            return self.renderer().depth(x, q)
        return self.renderer().render(x, q)

    def every(self, num_envs: int) -> tuple[np.ndarray, ...] | None:
        """One picture an environment; None on the live page."""
        if self.mode == "human":
            return self.render(0)
        return tuple(self.render(env) for env in range(num_envs))

    def grid(self, num_envs: int) -> np.ndarray:
        """The pictures of all environments in one."""
        from vigym.view.pictures.image import tile

        pictures = self.every(num_envs)
        if pictures is None:
            raise RuntimeError('a grid is a picture: make the environments with render_mode="rgb_array"')
        return tile(pictures)

    def end_recording(self) -> None:
        """Close the file, if there is one."""
        recorder, self.recorder = self.recorder, None
        if recorder is not None:
            recorder.close()

    def close(self) -> None:
        """Let go of the renderer, end the page and the recording."""
        self._renderer = None
        self.end_recording()
        if self._live is not None:
            self._live.close()
            self._live = None
