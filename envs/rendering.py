"""Pictures of a task's environments; the renderer is imported when the first one is asked for."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from vigym.engine.errors import InputError

if TYPE_CHECKING:
    from vigym.envs.task import Task

RENDER_MODES = ["rgb_array", "depth_array"]


class Picture:
    """render_mode, size and camera of the pictures of a task."""

    def __init__(
        self, task: "Task", mode: str | None, width: int, height: int, camera: Mapping[str, Any] | None
    ) -> None:
        if mode not in (None, *RENDER_MODES):
            raise InputError(f"render_mode must be None or one of {', '.join(RENDER_MODES)}, got {mode!r}")
        self.task, self.mode, self.width, self.height = task, mode, width, height
        self.camera = {**task.camera, **(camera or {})}
        self._renderer: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_renderer": None}

    def renderer(self) -> Any:
        """The ray caster, made when first needed."""
        if self._renderer is None:
            from vigym.envs.view.picture import Camera, Renderer

            camera = Camera.from_config(self.camera)
            self._renderer = Renderer(self.task.sim.model.mechanism, self.width, self.height, camera)
        return self._renderer

    def render(self, env: int) -> Any:
        """An image (height, width, 3), or depths (height, width), of one environment."""
        if self.mode is None:
            raise RuntimeError('nothing to render: make the environment with render_mode="rgb_array" (or another one)')
        x, q = self.task.state.x[env], self.task.state.q[env]
        if self.mode == "depth_array":
            return self.renderer().depth(x, q)
        return self.renderer().render(x, q)

    def grid(self, num_envs: int) -> tuple[np.ndarray, ...]:
        """One picture an environment."""
        return tuple(self.render(env) for env in range(num_envs))

    def close(self) -> None:
        """Let go of the renderer."""
        self._renderer = None
