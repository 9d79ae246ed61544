"""The way to Ray: this machine by itself, or a cluster at an address."""

import socket

import ray

from vigym.engine.errors import InputError
from vigym.training.runs import Run


def connect(run: Run) -> int:
    """Go to Ray, on this machine or at an address: how many runners there will be. InputError if that cannot be."""
    address, asked = run.arguments["ray_address"], run.arguments["ray_runners"]
    if asked is not None and asked < 1:
        raise InputError(f"--ray-runners must be at least 1, got {asked}")
    if address is not None:
        reach(address)
        print(f"connecting to Ray at {address}")
    try:
        told = {"include_dashboard": False, "log_to_driver": False, "logging_level": "ERROR"}
        ray.init(address=address or "local", **told)
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        if address is None:
            raise
        raise InputError(f"no cluster of Ray for this machine at --ray-address {address}: {error}") from None
    have = int(ray.cluster_resources().get("CPU", 0))
    runners = min(have, run.settings["n_envs"]) if asked is None else asked
    if runners > have or not runners:
        ray.shutdown()
        raise InputError(
            f"--ray-runners {max(runners, 1)} needs as many processors, and Ray has {have}: ask for fewer runners, or "
            "add machines with `ray start --address=...`"
        )
    if address is not None and (free := int(ray.available_resources().get("CPU", 0))) < runners:
        print(f"waiting for processors: {runners} runners need one each, and others use all but {free} of {have}")
    return runners


def reach(address: str) -> None:
    """InputError, soon, if nothing answers at an address; Ray itself tries for minutes."""
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal():
        raise InputError(f"--ray-address must be a host and a port, such as 10.0.0.1:6379, got {address!r}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=5.0).close()
    except (OSError, OverflowError) as error:
        raise InputError(
            f"nothing answers at --ray-address {address} ({error}): start a cluster there with `ray start --head`"
        ) from None
