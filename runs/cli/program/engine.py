"""What plays: this process, or the machines of a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from videoautoarena.runs.cli.program import options

if TYPE_CHECKING:
    from videoautoarena.runs.cluster.engine import RayEngine

CLUSTER = options.together(
    options.choice(
        "--engine",
        ("local", "ray"),
        "Play in this process, or on the machines of a Ray cluster (pip install "
        "'videoautoarena[ray]').",
    ),
    click.option(
        "--address",
        metavar="HOST:PORT|auto",
        help="With --engine ray: head of the cluster. Run the command on the head's machine.  "
        "[default: a cluster of this machine alone]",
    ),
)
ENGINE = options.together(
    CLUSTER,
    click.option(
        "--lease",
        "lease_s",
        type=click.FloatRange(min=2, max=3600),
        metavar="SECONDS",
        help="With --engine ray: how long a worker may be silent before others play its videos.  "
        "[default: 15]",
    ),
)

ENGINE_NAMES = ("engine", "address", "lease_s")


@contextmanager
def engine_of(typed: dict[str, Any]) -> Iterator[RayEngine | None]:
    """Give the engine that was asked for, and take it out of what was typed; None: this process."""
    engine, address, lease_s = (typed.pop(name) for name in ENGINE_NAMES)
    if engine == "local":
        for option, value in (("--address", address), ("--lease", lease_s)):
            if value is not None:
                raise click.UsageError(f"{option} goes with --engine ray")
        yield None
        return
    from videoautoarena.runs.cluster.connection import connected, refuse_no_ray

    refuse_no_ray()
    from videoautoarena.runs.cluster.engine import RayEngine
    from videoautoarena.runs.cluster.jobs import LEASE_S

    with connected(address) as cluster:
        yield RayEngine(cluster, LEASE_S if lease_s is None else lease_s)
