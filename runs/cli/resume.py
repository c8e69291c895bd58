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
    help="Share of void slots above which the exit code is 3.",
)
@capped
@stopped
@cared_for
@shown
@click.option("--json", "as_json", is_flag=True, help="Print how the run stands as JSON.")
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

    with audience(Display(**typed)) as told:
        limits = Limits(concurrency, max_void, Caps(max_usd, max_tokens), seconds_of(patience))
        care = Care(retry_failed, fsync, until=until)
        finished = run_async(resume(out, videos=videos, limits=limits, told=told, care=care))
    return if_whole(ending(finished, out, as_json=as_json), told)


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
@click.option("--model", required=True, help="Who is new: provider:model, or a name from the file.")
@click.option(
    "--battles",
    type=click.IntRange(min=1),
    default=1500,
    show_default=True,
    help="Stored answers that it meets, those of earlier among them; at most what is there.",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="The file with the model's table.  [default: ./arena.toml if it is there]",
)
@going_on
@click.option(
    "--max-void",
    type=click.FloatRange(0, 1),
    default=0.05,
    show_default=True,
    help="Share of void slots of the whole run above which the exit code is 3.",
)
@click.option("--plan", is_flag=True, help="Print what it will take, and do nothing.")
@click.option("--fsync", is_flag=True, help="Keep every commit through a power cut; slower.")
@capped
@shown
@click.option("--json", "as_json", is_flag=True, help="Print how the run stands as JSON.")
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
    """Add a model to the run in OUT: it answers past questions and meets the stored answers.

    Past decided battles are drawn at random; in each the newcomer takes one side and the other
    keeps its answer. The run's judges judge, and every leaderboard counts the battles. The same
    command goes on where it stopped.
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
    with audience(Display(**typed)) as told:
        limits = Limits(concurrency, max_void, caps, seconds_of(patience))
        finished = run_async(add(out, request, limits=limits, told=told))
    return if_whole(ending(finished, out, as_json=as_json), told)


def _tell_plan(out: Path, request: AddRequest, *, as_json: bool) -> None:
    import json
    import shutil

    from videoautoarena.runs.text.terminal import tell
    from videoautoarena.runs.tournament.add import plan_addition, plan_as_json
    from videoautoarena.runs.tournament.plan_text import as_lines

    plan, told = plan_addition(out, request)
    if as_json:
        tell(json.dumps(plan_as_json(plan, told), indent=2))
        return
    tell("\n".join([*told, *as_lines(plan, shutil.get_terminal_size().columns)]))


@click.command(epilog="Example: arena replay arena-out")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def replay_command(out: Path, as_json: bool) -> int:
    """Run OUT again from its journal, without a network, and compare every battle byte for byte.

    Writes nothing. Exit code 1 where a battle comes out differently.
    """
    from videoautoarena.runs.cli.ending import run_async
    from videoautoarena.runs.text.terminal import safe, tell
    from videoautoarena.runs.tournament.replay import replay

    found = run_async(replay(out))
    if as_json:
        state = {"schema": 1, "equal": found.battles, "different": found.differences}
        tell(json.dumps(state))
    else:
        for line in found.differences:
            tell(safe(line))
        tell(f"{found.battles} battles came out the same, {found.others} did not")
    return 1 if found.differences else 0


@click.command("compact", epilog="Example: arena compact arena-out")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def compact_command(out: Path, as_json: bool) -> None:
    """Write the file of the run in OUT anew, without gaps; nothing it holds changes."""
    from videoautoarena.memory.records.records import SCHEMA
    from videoautoarena.memory.store.connection import compact, size_of
    from videoautoarena.runs.rundir.reader import run_file
    from videoautoarena.runs.text.terminal import safe, say, tell

    path = run_file(out)
    say(f"compacting {safe(str(path))}, {size_of(path):,} bytes")
    before, after = compact(path)
    if as_json:
        tell(json.dumps({"schema": SCHEMA, "before_bytes": before, "after_bytes": after}))
        return
    tell(f"{before:,} bytes before, {after:,} after: {before - after:,} given back")
