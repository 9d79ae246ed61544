"""One page for each environment, of the docstring of its task, and the gallery of all."""

import importlib
import inspect
from pathlib import Path

from vigym.envs.registration import ENVIRONMENTS

ROOT = Path(__file__).parents[2]
GYMNASIUM = "vigym.envs.classics."
FAMILIES = ["Robots", "Small", "As in Gymnasium's MuJoCo suite"]


def task(env_id: str) -> type:
    """Return the class of an environment's task."""
    module, name = ENVIRONMENTS[env_id][0].split(":")
    return getattr(importlib.import_module(module), name)


def family(env_id: str) -> str:
    """Name the group in which the gallery and the navigation show an environment."""
    module = ENVIRONMENTS[env_id][0]
    if module.startswith(GYMNASIUM):
        return FAMILIES[2]
    return "Small" if module.partition(":")[0].rpartition(".")[2] in ("pendulum", "cartpole") else "Robots"


def first_sentence(env_id: str) -> str:
    """Return the beginning of the description, one sentence."""
    text = inspect.getdoc(task(env_id)) or ""
    words = " ".join(text.removeprefix("## Description").split("\n## ")[0].split())
    return words.split(". ")[0].rstrip(".").replace(" :", ":") + "."


def film(env_id: str, up: str = "../") -> str:
    """Return the picture of an environment, a film where there is one."""
    if (ROOT / "docs" / "films" / f"{env_id}.webp").is_file():
        return f'<img src="{up}films/{env_id}.webp" alt="{env_id}" width="400" height="300" loading="lazy">'
    return ""


def page(env_id: str) -> str:
    """Write the page of an environment."""
    entry, steps, threshold = ENVIRONMENTS[env_id]
    text = inspect.getdoc(task(env_id)) or ""
    solved = "" if threshold is None else f" It counts as solved at a return of {threshold:g}."
    parts = [
        f"# {env_id}\n\n{film(env_id)}\n",
        f"Task: `{entry.replace(':', '.')}`; an episode has at most {steps} steps.{solved}\n",
        "```python\nimport gymnasium as gym\nimport vigym\n\n"
        f'env = gym.make("{env_id}")\nenvs = gym.make_vec("{env_id}", num_envs=64)\n```\n',
        f"```sh\nvigym view {env_id}\nvigym train {env_id}\n```\n",
        text,
    ]
    if (ROOT / "training" / "results" / env_id / "README.md").is_file():
        parts.append(
            f"\n## What is learned\n\n[Results of three seeds](../training/results/{env_id}/index.md) with the "
            f"committed settings, on one core.\n\n![Curves](../training/results/{env_id}/curve.png)\n"
        )
    return "\n".join(parts)


def gallery(up: str = "../") -> str:
    """Show all environments as films that lead to their pages."""
    groups: dict[str, list[str]] = {}
    for env_id in ENVIRONMENTS:
        groups.setdefault(family(env_id), []).append(env_id)
    lines = []
    for group in sorted(groups, key=FAMILIES.index):
        lines.append(f'## {group}\n\n<div class="gallery" markdown>\n')
        for env_id in groups[group]:
            lines.append(
                f'<figure markdown="span">\n[{film(env_id, up) or env_id}]({env_id}.md)\n'
                f"<figcaption markdown>[{env_id}]({env_id}.md) {first_sentence(env_id)}</figcaption>\n</figure>\n"
            )
        lines.append("</div>\n")
    return "\n".join(lines)


def navigation() -> list[dict[str, str] | dict[str, list[str]]]:
    """Return the environments as MkDocs lists them beside their pages."""
    groups: dict[str, list[str]] = {}
    for env_id in ENVIRONMENTS:
        groups.setdefault(family(env_id), []).append(f"environments/{env_id}.md")
    return [{group: groups[group]} for group in sorted(groups, key=FAMILIES.index)]


def pages() -> dict[str, str]:
    """Return all pages, by their place in the site."""
    return {f"environments/{env_id}.md": page(env_id) for env_id in ENVIRONMENTS}
