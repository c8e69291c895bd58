"""`arena add`: a newcomer against stored answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from runs.commands.endings import (
    EXIT_CODES,
    capped,
    ending,
    going_on,
    if_whole,
    run_async,
    seconds_of,
    shown,
)

if TYPE_CHECKING:
    from runs.add import Wish


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
def command(
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
    from agents.purse import Caps
    from runs.add import Wish, add
    from runs.audience import Display, audience
    from runs.simulate import Limits

    caps = Caps(max_usd, max_tokens)
    wish = Wish(model, battles, config=config, videos=videos, caps=caps, fsync=fsync)
    if plan:
        _tell_plan(out, wish, as_json=as_json)
        return 0
    with audience(Display(**typed)) as told:
        limits = Limits(concurrency, max_void, caps, seconds_of(patience))
        finished = run_async(add(out, wish, limits=limits, told=told))
    return if_whole(ending(finished, out, as_json=as_json), told)


def _tell_plan(out: Path, wish: Wish, *, as_json: bool) -> None:
    import json
    import shutil

    from runs.add import plan_addition, plan_as_json
    from runs.console import tell
    from runs.plan_text import as_lines

    plan, told = plan_addition(out, wish)
    if as_json:
        tell(json.dumps(plan_as_json(plan, told), indent=2))
        return
    tell("\n".join([*told, *as_lines(plan, shutil.get_terminal_size().columns)]))
