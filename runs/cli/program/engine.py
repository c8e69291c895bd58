"""What plays and who watches: this process or a Ray cluster, a console, lines or a file."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from videoautoarena.runs.cli.program import options
from videoautoarena.runs.cli.program.ending import ending, if_whole, run_async

if TYPE_CHECKING:
    from videoautoarena.runs.cluster.engine import RayEngine
    from videoautoarena.runs.console.progress.display import Display
    from videoautoarena.runs.console.progress.events import Listeners
    from videoautoarena.runs.tournament.runner import Finished

    Engine: TypeAlias = AbstractContextManager[RayEngine | None]

CLUSTER = options.together(
    options.choice(
        "--engine",
        ("local", "ray"),
        "Play in this process, or on the machines of a Ray cluster (needs the extra `ray`).",
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


@dataclass(frozen=True)
class Stage:
    """What plays a run, how it is shown, and how its end is told."""

    engine: Engine
    display: Display
    as_json: bool

    def play(
        self,
        out: Path,
        start: Callable[[Listeners, RayEngine | None], Coroutine[object, object, Finished]],
    ) -> int:
        """Play the run in `out` that `start` opens, to its end; return the exit code."""
        from videoautoarena.runs.console.progress.listeners import audience

        with self.engine as engine, audience(self.display) as listeners:
            finished = run_async(start(listeners, engine))
        return if_whole(ending(finished, out, as_json=self.as_json), listeners)


STAGE = options.gathered(
    "stage",
    Stage,
    options.section("On a cluster", ENGINE),
    options.section(
        "What is shown",
        options.DISPLAY,
        options.flag("--json", "Print the state of the run as JSON.", "as_json"),
    ),
)
