"""`arena resume`: continue what a folder holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


@click.command(epilog="Example: arena resume arena-out")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--videos", type=click.Path(path_type=Path), help="Where the videos are, if they moved."
)
@click.option("--concurrency", type=click.IntRange(min=1), default=16, show_default=True)
@click.option(
    "--max-void",
    type=click.FloatRange(0, 1),
    default=0.05,
    show_default=True,
    help="Share of void slots above which the exit code is 3.",
)
@click.option("--quiet", "-q", is_flag=True, help="No line a battle.")
@click.option("--json", "as_json", is_flag=True, help="Print how the run stands as JSON.")
def command(out: Path, quiet: bool, as_json: bool, **process: Any) -> int:
    """Continue the run in OUT with the settings it began with."""
    from runs.commands.endings import ending, run_async
    from runs.console import say
    from runs.simulate import resume

    work = resume(out, say=say, quiet=quiet, **process)
    return ending(run_async(work), out, as_json=as_json)
