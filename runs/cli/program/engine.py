"""What plays: this process, or the machines of a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

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
    options.string(
        "--address HOST:PORT|auto",
        "With --engine ray: head of the cluster. Run the command on the head's machine.  "
        "[default: a cluster of this machine alone]",
    ),
)


@contextmanager
def _engine(engine: str, address: str | None, lease_s: float | None) -> Iterator[RayEngine | None]:
    """Give the engine that was asked for, up to the end; None: this process."""
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


ENGINE = options.gathered(
    "engine",
    _engine,
    CLUSTER,
    options.string(
        "--lease SECONDS",
        "With --engine ray: how long a worker may be silent before others play its videos.  "
        "[default: 15]",
        "lease_s",
        type=click.FloatRange(min=2, max=3600),
    ),
)
"""What gives an engine, or None for this process, once it is entered."""
