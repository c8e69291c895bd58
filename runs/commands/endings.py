"""How commands that play battles begin and end: one event loop, a last line, an exit code."""

from __future__ import annotations

import asyncio
import gc
import json
import shlex
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from runs.cli import EXIT_INTERRUPTED, EXIT_VOIDS
from runs.console import safe, say, tell

if TYPE_CHECKING:
    from runs.playing import Finished

T = TypeVar("T")
Command = Callable[..., Any]


def run_async(work: Coroutine[object, object, T]) -> T:
    """Return what `work` comes to, in the process's one event loop."""
    # What was imported lives as long as the process; looking through it costs 0.5 ms a battle.
    gc.freeze()
    return asyncio.run(work)  # noqa: TID251 - this is the one place


def shown(command: Command) -> Command:
    """Add the options that say how a run is shown."""
    for option in reversed(_SHOWN):
        command = option(command)
    return command


_SHOWN = (
    click.option("--plain", is_flag=True, help="Lines instead of the live console."),
    click.option(
        "--trace",
        is_flag=False,
        flag_value="-",
        metavar="[FILE]",
        help="Tell every battle whole as it is settled; with FILE, write all events as JSON lines.",
    ),
    click.option("--quiet", "-q", is_flag=True, help="No live console, and no line a battle."),
)


def cared_for(command: Command) -> Command:
    """Add the options that say how a run is opened."""
    for option in reversed(_CARE):
        command = option(command)
    return command


_CARE = (
    click.option(
        "--retry-failed",
        is_flag=True,
        help="Play again what ended void or forfeit because a call had failed.",
    ),
    click.option("--fsync", is_flag=True, help="Keep every commit through a power cut; slower."),
)


def ending(finished: Finished, out: Path, *, as_json: bool) -> int:
    """Say how the run stands and what to type next; return the exit code."""
    if as_json:
        tell(json.dumps(_state(finished, out)))
    shown = safe(shlex.quote(str(out)))
    if finished.interrupted:
        say(
            f"interrupted with {finished.settled} of {finished.total} battles settled; "
            f"nothing is lost; to go on: arena resume {shown}"
        )
        return EXIT_INTERRUPTED
    voids = f", {finished.voids} of them void" if finished.voids else ""
    say(f"done: {finished.settled} battles settled{voids}; see: arena leaderboard {shown}")
    if finished.too_many_voids:
        say(
            f"{finished.void_share:.0%} of the slots are void, more than --max-void allows "
            f"({finished.max_void:.0%}); the reasons: arena status {shown}"
        )
        return EXIT_VOIDS
    return 0


def _state(finished: Finished, out: Path) -> dict[str, object]:
    return {
        "schema": 1,
        "out": str(out),
        "slots": finished.total,
        "settled": finished.settled,
        "void": finished.voids,
        "interrupted": finished.interrupted,
    }
