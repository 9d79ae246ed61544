"""The API reference: which names are on which page, and the pages of the command line."""

import ast
import inspect
from importlib import import_module
from pathlib import Path

import vigym

ROOT = Path(__file__).parents[2]
BRIDGES = "vigym.bridges."

# Page -> title, introduction, names
TOPICS = {
    "mechanism": (
        "Mechanisms and shapes",
        "Bodies, joints, contacts and colliders; SI units, quaternions with the scalar first.",
        [
            "vigym.Mechanism",
            "vigym.engine.joint.Joint",
            "vigym.Sphere",
            "vigym.Box",
            "vigym.Capsule",
            "vigym.Cylinder",
            "vigym.Plane",
            "vigym.Hull",
            "vigym.Mesh",
            "vigym.HeightField",
            "vigym.Surface",
        ],
    ),
    "simulator": (
        "Simulator",
        "Arrays lead with the environment, (num_envs, ...); bodies, axes and contacts are in the order in which they "
        "were added. [Simulation](../simulation.md) is the guide.",
        [
            "vigym.Simulator",
            "vigym.engine.state.State",
            "vigym.engine.state.Status",
            "vigym.Lag",
            "vigym.LearnedActuator",
            "vigym.ActuatorNetwork",
            "vigym.Imu",
            "vigym.ContactSensor",
            "vigym.ForceTorque",
            "vigym.RangeFinder",
            "vigym.HeightScan",
            "vigym.inverse_kinematics",
        ],
    ),
    "gradients": (
        "Gradients",
        "Derivatives of steps and rollouts, and bridges to PyTorch and JAX. [Gradients](../gradients.md) is the guide.",
        [
            "vigym.engine.derived.Gradients",
            "vigym.engine.derived.Pulled",
            "vigym.bridges.torch.step",
            "vigym.bridges.torch.rollout",
            "vigym.bridges.jax.step",
            "vigym.bridges.jax.rollout",
        ],
    ),
    "formats": (
        "Files and other engines",
        "[URDF](../urdf.md) and [MJCF](../mjcf.md) files, and mechanisms in MuJoCo and PyBullet.",
        [
            "vigym.load_urdf",
            "vigym.read_urdf",
            "vigym.UrdfModel",
            "vigym.load_mjcf",
            "vigym.read_mjcf",
            "vigym.MjcfModel",
            "vigym.to_mjcf",
            "vigym.to_pybullet",
        ],
    ),
    "environments": (
        "Environments and tasks",
        "What environments share, and what a task of your own is made of "
        "([guide](../simulation.md#an-environment-of-your-own)).",
        [
            "vigym.envs.env.RobotEnv",
            "vigym.envs.vector.RobotVectorEnv",
            "vigym.envs.task.Task",
            "vigym.envs.robot.RobotTask",
            "vigym.envs.randomization.Randomization",
        ],
    ),
    "view": (
        "Pictures and replays",
        "Without a display or a graphics library. [Pictures](../pictures.md), [replay](../replay.md).",
        [
            "vigym.Replay",
            "vigym.view.pictures.picture.Renderer",
            "vigym.view.pictures.camera.Camera",
            "vigym.view.pictures.arrows.Arrows",
        ],
    ),
    "training": (
        "Training",
        "The native batch in Stable-Baselines3, and policies that NumPy alone runs: [training](../training.md).",
        ["vigym.training.sb3.vec_env.NativeVecEnv", "vigym.envs.controllers.learned.LearnedPolicy"],
    ),
    "errors": (
        "Errors and warnings",
        "Bad input raises an error that names the argument, what was given, and what is allowed.",
        [
            "vigym.VigymError",
            "vigym.InputError",
            "vigym.MechanismError",
            "vigym.StateError",
            "vigym.BusyError",
            "vigym.UrdfError",
            "vigym.MjcfError",
            "vigym.MechanismWarning",
            "vigym.UrdfWarning",
            "vigym.MjcfWarning",
        ],
    ),
}
# Members that the pages do not list, as Python's own or those of Gymnasium's classes say the same
HIDDEN = "filters: ['!^_', '!^model$', '!^np_random', '!^metadata$']"


def found(name: str) -> object:
    """Return the object that a dotted name stands for."""
    module, _, last = name.rpartition(".")
    owner = import_module(module)
    return getattr(owner, last)


def docstring(name: str) -> str:
    """Return a docstring; of the bridges, which import libraries that need not be here, without importing them."""
    if not name.startswith(BRIDGES):
        return inspect.getdoc(found(name)) or ""
    module, _, last = name.rpartition(".")
    source = (ROOT / Path(*module.split(".")[1:])).with_suffix(".py").read_text(encoding="utf-8")
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    return ast.get_docstring(next(node for node in functions if node.name == last)) or ""


def where(name: str) -> str:
    """Return the dotted name under which an object is defined, which documentation is collected by."""
    if name.startswith(BRIDGES):
        return name
    thing = found(name)
    return f"{inspect.getmodule(thing).__name__}.{thing.__qualname__}"  # type: ignore[union-attr, attr-defined]


def summary(name: str) -> str:
    """Return the first paragraph of a docstring, in one line for a table."""
    text = docstring(name).split("\n\n")[0].split("\n- ")[0]
    return " ".join(text.split()).replace("|", "\\|")


def page(topic: str) -> str:
    """Write the page of a topic."""
    title, introduction, names = TOPICS[topic]
    parts = [f"# {title}\n\n{introduction}\n"]
    for name in names:
        inherited = (
            "true" if name.startswith(("vigym.Simulator", "vigym.Mechanism")) and name.count(".") == 1 else "false"
        )
        parts.append(f"::: {where(name)}\n    options:\n      inherited_members: {inherited}\n      {HIDDEN}\n")
    return "\n".join(parts)


def index() -> str:
    """Write the tables of all names."""
    parts = []
    for topic, (title, _, names) in TOPICS.items():
        rows = [f"| [`{name}`]({topic}.md#{where(name)}) | {summary(name)} |" for name in names]
        parts.append("\n".join([f"## {title}\n", "| name | |", "|---|---|", *rows, ""]))
    return "\n".join(parts)


def commands() -> str:
    """Write the options of every command, from its function."""
    from vigym.__main__ import COMMANDS, load

    parts = [
        '# Command line\n\n`pip install "vigym[cli]"` brings the program; `vigym COMMAND --help` shows the same.\n'
    ]
    for command, (_, line) in COMMANDS.items():
        function = load(command)
        text = inspect.getdoc(function) or ""
        explained = arguments(text)
        rows = []
        for name, parameter in inspect.signature(function).parameters.items():
            positional = "Positional" in str(parameter.annotation)
            option = name.upper() if positional else f"--{name.replace('_', '-')}"
            default = "" if parameter.default is parameter.empty else f"`{shown(parameter.default)}`"
            rows.append(f"| `{option}` | {default} | {explained.get(name, '')} |")
        parts.append(
            f"## vigym {command}\n\n{line}\n\n| option | default | |\n|---|---|---|\n" + "\n".join(rows) + "\n"
        )
    return "\n".join(parts)


def shown(default: object) -> str:
    """Write a default value as on the command line."""
    if default in (None, ()):
        return "none"
    return " ".join(map(str, default)) if isinstance(default, tuple) else str(default)


def arguments(text: str) -> dict[str, str]:
    """Read the section `Args:` of a docstring: name -> text."""
    told: dict[str, str] = {}
    name = ""
    for line in text.partition("Args:\n")[2].splitlines():
        if not line.strip():
            break
        if not line.startswith("        "):
            name, _, line = line.strip().partition(": ")
            told[name] = line
        else:
            told[name] += " " + line.strip()
    return {name: line.replace("|", "\\|") for name, line in told.items()}


def pages() -> dict[str, str]:
    """Return all pages, by their place in the site."""
    missing = {f"vigym.{name}" for name in vigym.__all__} - {name for _, _, names in TOPICS.values() for name in names}
    if missing:
        raise ValueError(f"public names without a place in the API reference: {', '.join(sorted(missing))}")
    return {"api/commands.md": commands(), **{f"api/{name}.md": page(name) for name in TOPICS}}
