"""`arena resume`: continue what a folder holds."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(epilog="Example: arena resume arena-out")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--videos", type=click.Path(path_type=Path), help="Where the videos are, if they moved."
)
@click.option("--concurrency", type=click.IntRange(min=1), default=16, show_default=True)
@click.option("--quiet", "-q", is_flag=True, help="No progress lines.")
@click.option("--json", "as_json", is_flag=True, help="Print how the run stands as JSON.")
def command(out: Path, videos: Path | None, concurrency: int, quiet: bool, as_json: bool) -> int:
    """Continue the run in OUT with the settings it began with."""
    from runs.commands.endings import ending, run_async, speaker
    from runs.simulate import resume

    work = resume(out, videos=videos, concurrency=concurrency, say=speaker(quiet=quiet))
    return ending(run_async(work), out, as_json=as_json)
