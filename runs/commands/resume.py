"""`arena resume`: continue what a folder holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from runs.commands.endings import (
    EXIT_CODES,
    capped,
    cared_for,
    ending,
    going_on,
    if_whole,
    run_async,
    seconds_of,
    shown,
    stopped,
)


@click.command(
    epilog="""\b
Examples:
  arena resume arena-out
  arena resume arena-out --retry-failed --max-usd 40
  arena resume arena-out --until rounds

\b
"""
    + EXIT_CODES
)
@click.argument("out", type=click.Path(path_type=Path))
@going_on
@click.option(
    "--max-void",
    type=click.FloatRange(0, 1),
    default=0.05,
    show_default=True,
    help="Share of void slots above which the exit code is 3.",
)
@capped
@stopped
@cared_for
@shown
@click.option("--json", "as_json", is_flag=True, help="Print how the run stands as JSON.")
def command(
    out: Path,
    videos: Path | None,
    as_json: bool,
    concurrency: int,
    patience: float | None,
    max_void: float,
    max_usd: float | None,
    max_tokens: float | None,
    until: str | None,
    retry_failed: bool,
    fsync: bool,
    **typed: Any,
) -> int:
    """Continue the run in OUT with the settings it began with."""
    from agents.purse import Caps
    from runs.audience import Display, audience
    from runs.opening import Care
    from runs.simulate import Limits, resume

    with audience(Display(**typed)) as told:
        limits = Limits(concurrency, max_void, Caps(max_usd, max_tokens), seconds_of(patience))
        care = Care(retry_failed, fsync, until=until)
        finished = run_async(resume(out, videos=videos, limits=limits, told=told, care=care))
    return if_whole(ending(finished, out, as_json=as_json), told)
