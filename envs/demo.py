"""`vigym demo`: one scene, simulated and written to files."""


def demo(scene: str = "box", seconds: float = 3.0, out: str = "vigym-demo") -> None:
    """Simulate a scene and write what happened to files.

    Args:
        scene: Name of the scene.
        seconds: Simulated time, in seconds.
        out: Folder for the files; it is made if it does not exist.
    """
    print(f"scene {scene}, {seconds:g} s, into {out}")
