"""Going on with a run: `resume`, `add`, `replay` and `compact`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from videoautoarena.runs.cli.ending import (
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

if TYPE_CHECKING:
    from videoautoarena.runs.tournament.add import AddRequest


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
    help="Exit with code 3 if a larger share of slots is void.",
)
@capped
@stopped
@cared_for
@shown
@click.option("--json", "as_json", is_flag=True, help="Print the state of the run as JSON.")
def resume_command(
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
    from videoautoarena.agents.limits.budget import Caps
    from videoautoarena.runs.console.listeners import Display, audience
    from videoautoarena.runs.rundir.opener import Care
    from videoautoarena.runs.tournament.simulate import Limits, resume

    with audience(Display(**typed)) as listeners:
        limits = Limits(concurrency, max_void, Caps(max_usd, max_tokens), seconds_of(patience))
        care = Care(retry_failed, fsync, until=until)
        finished = run_async(
            resume(out, videos=videos, limits=limits, listeners=listeners, care=care)
        )
    return if_whole(ending(finished, out, as_json=as_json), listeners)


@click.command(
    epilog="""\b
Examples:
  arena add arena-out --model openai:gpt-4o --plan
  arena add arena-out --model flash --config arena.toml --battles 600 --max-usd 20

\b
"""
    + EXIT_CODES
)
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--model",
    required=True,
    help="New model: provider:model, or a name from the configuration file.",
)
@click.option(
    "--battles",
    type=click.IntRange(min=1),
    default=1500,
    show_default=True,
    help="Number of stored answers to meet, earlier ones included; at most as many as there are.",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="Configuration file with the model's table.  [default: ./arena.toml if it exists]",
)
@going_on
@click.option(
    "--max-void",
    type=click.FloatRange(0, 1),
    default=0.05,
    show_default=True,
    help="Exit with code 3 if a larger share of the whole run's slots is void.",
)
@click.option("--plan", is_flag=True, help="Estimate calls and cost; send nothing.")
@click.option(
    "--fsync",
    is_flag=True,
    help="Flush every commit to disk, so that it survives a power failure; slower.",
)
@capped
@shown
@click.option("--json", "as_json", is_flag=True, help="Print the state of the run as JSON.")
def add_command(
    out: Path,
    model: str,
    battles: int,
    config: Path | None,
    videos: Path | None,
    *,
    as_json: bool,
    concurrency: int,
    patience: float | None,
    max_void: float,
    max_usd: float | None,
    max_tokens: float | None,
    plan: bool,
    fsync: bool,
    **typed: Any,
) -> int:
    """Add a model to the run in OUT: it answers past questions and meets stored answers.

    Decided battles are drawn at random. In each, the new model replaces one side, and the other
    side keeps its stored answer. The run's judges judge, and every leaderboard counts the new
    battles. The same command continues where it stopped.
    """
    from videoautoarena.agents.limits.budget import Caps
    from videoautoarena.runs.console.listeners import Display, audience
    from videoautoarena.runs.tournament.add import AddRequest, add
    from videoautoarena.runs.tournament.simulate import Limits

    caps = Caps(max_usd, max_tokens)
    request = AddRequest(model, battles, config=config, videos=videos, caps=caps, fsync=fsync)
    if plan:
        _tell_plan(out, request, as_json=as_json)
        return 0
    with audience(Display(**typed)) as listeners:
        limits = Limits(concurrency, max_void, caps, seconds_of(patience))
        finished = run_async(add(out, request, limits=limits, listeners=listeners))
    return if_whole(ending(finished, out, as_json=as_json), listeners)


def _tell_plan(out: Path, request: AddRequest, *, as_json: bool) -> None:
    import json
    import shutil

    from videoautoarena.runs.text.terminal import print_result
    from videoautoarena.runs.tournament.add import plan_addition, plan_as_json
    from videoautoarena.runs.tournament.plan_text import as_lines

    plan, told = plan_addition(out, request)
    if as_json:
        print_result(json.dumps(plan_as_json(plan, told), indent=2))
        return
    print_result("\n".join([*told, *as_lines(plan, shutil.get_terminal_size().columns)]))


@click.command(epilog="Example: arena replay arena-out")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def replay_command(out: Path, as_json: bool) -> int:
    """Replay the run in OUT from its journal, offline, and compare every battle byte for byte.

    Nothing is written. The exit code is 1 if a battle comes out differently.
    """
    from videoautoarena.runs.cli.ending import run_async
    from videoautoarena.runs.text.terminal import print_result, safe
    from videoautoarena.runs.tournament.replay import replay

    found = run_async(replay(out))
    if as_json:
        state = {"schema": 1, "equal": found.battles, "different": found.differences}
        print_result(json.dumps(state))
    else:
        for line in found.differences:
            print_result(safe(line))
        print_result(f"{found.battles} battles are identical, {found.others} differ")
    return 1 if found.differences else 0


@click.command("compact", epilog="Example: arena compact arena-out")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def compact_command(out: Path, as_json: bool) -> None:
    """Rewrite the file of the run in OUT without unused space; its content stays the same."""
    from videoautoarena.memory.records.records import SCHEMA
    from videoautoarena.memory.store.connection import compact, size_of
    from videoautoarena.runs.rundir.reader import run_file
    from videoautoarena.runs.text.terminal import print_result, safe, say

    path = run_file(out)
    say(f"compacting {safe(str(path))}, {size_of(path):,} bytes")
    before, after = compact(path)
    if as_json:
        print_result(json.dumps({"schema": SCHEMA, "before_bytes": before, "after_bytes": after}))
        return
    print_result(f"{before:,} bytes before, {after:,} after: {before - after:,} freed")
