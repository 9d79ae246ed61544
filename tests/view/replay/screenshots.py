"""Pictures of the pages for the documentation:

    python tests/view/replay/screenshots.py

writes docs/demo/page.png and docs/demo/live.png; look at them before they are committed.
"""

import sys
import tempfile
import time
from pathlib import Path

import gymnasium as gym
import numpy as np

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tests" / "view"))

from replay.browser import Browser  # noqa: E402

import vigym  # noqa: E402
from vigym.envs.controllers import scripted  # noqa: E402
from vigym.view.pictures.image import save_png  # noqa: E402

CLOSE = "[...document.querySelectorAll('.mantine-Notification-closeButton')].forEach(button => button.click())"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(Path(folder) / "browser", size=(1100, 640))
        env = gym.make("VIQuadruped-v0", render_mode="human", browse=False).unwrapped
        controller = scripted("VIQuadruped-v0")
        observation, _ = env.reset(seed=0, options={"command": (0.5, 0.0, 0.0)})
        env.record(Path(folder) / "run.vigym")
        browser.open(env.picture.live().url)
        for _ in range(260):
            observation, *_ = env.step(controller.act(observation))
        shoot(browser, "live.png")
        env.close()
        replay = vigym.Replay.load(Path(folder) / "run.vigym")
        page = replay.save(Path(folder) / "run.html")
        browser.open(page.as_uri())
        browser.until("!!window.vigym && vigym.now() > 0.1", "the player to play")
        browser.run("vigym.seek(2.6)")
        shoot(browser, "page.png")
        browser.close()


def shoot(browser: Browser, name: str) -> None:
    browser.run(CLOSE)  # that there is no graphics card is not news
    time.sleep(2.0)
    save_png(ROOT / "docs" / "demo" / name, browser.still().astype(np.uint8))
    print(f"wrote {ROOT / 'docs' / 'demo' / name}")


if __name__ == "__main__":
    main()
