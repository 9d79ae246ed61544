"""See this folder's `__init__.py`."""

import argparse
from pathlib import Path

from vigym.benchmarks.tosses.data import load
from vigym.benchmarks.uses import flip, toss, trust


def main(arguments: list[str] | None = None) -> None:
    """Draw the figure of one use."""
    parser = argparse.ArgumentParser(prog="python -m vigym.benchmarks.uses", description=__doc__)
    parser.add_argument("use", choices=("trust", "flip", "cube"))
    parser.add_argument("--out", type=Path, default=Path("docs/uses"), help="folder of the figure")
    parser.add_argument("--data", type=Path, help="file of tosses, for the cube")
    parser.add_argument("--windows", type=int, default=48, help="impacts of the cube that are fitted")
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / f"{given.use}.png"
    if given.use == "trust":
        trust.draw(path)
    elif given.use == "flip":
        flip.draw(path)
    elif given.data is None:
        parser.error("the cube needs --data cube_tosses.npz")
    else:
        found = toss.draw(toss.windows(load(given.data).halves()[0], given.windows), path)
        for name, value, sigma, unit in zip(toss.NAMES, found.values, found.sigmas, toss.UNITS, strict=True):
            print(f"{name:12} {value / unit:8.4f} +- {sigma / unit:.4f}")
        print(f"{found.seconds:.0f} s, median residual {found.errors[0]:.2f} -> {found.errors[-1]:.2f} of the noise")
    print(path)


if __name__ == "__main__":
    main()
