"""What `arena freeze` asks of models before it writes: options, a plan, and how it ended."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from videoautoarena.runs.cli.program import options
from videoautoarena.runs.cli.program.ending import early_end, run_async
from videoautoarena.runs.cli.program.main import EXIT_VOIDS
from videoautoarena.runs.text.terminal import safe, say

if TYPE_CHECKING:
    from videoautoarena.runs.bench.freeze.freeze import Told
    from videoautoarena.runs.selecting.ground import Asking, Progress

_HOW = ("config", "concurrency", "patience", "retry_failed", "max_void", "plan", "quiet")
_CAPS = ("max_usd", "max_tokens")
ASKING = options.together(
    options.config_option(", for models that are asked"),
    options.CONCURRENCY,
    options.PATIENCE,
    options.flag("--retry-failed", "Ask again where a call failed."),
    options.max_void("the answers asked for"),
    options.PLAN,
    options.NO_PROGRESS,
    options.CAPS,
)
"""Options that only matter where models are asked."""


def take_asking(typed: dict[str, Any], videos: Path | None) -> Asking:
    """Return how models are asked, and take it out of what was typed."""
    from videoautoarena.runs.selecting.ground import Asking

    caps, patience_s = options.caps_of(typed), options.patience_s(typed)
    given = {name: typed.pop(name) for name in (*_HOW, *_CAPS)}
    return Asking(
        config=given["config"],
        videos=videos,
        concurrency=given["concurrency"],
        patience_s=patience_s,
        caps=caps,
        retry_failed=given["retry_failed"],
    )


def refuse_idle(ctx: click.Context) -> None:
    """Refuse options that say how models are asked where none is."""
    for param in ctx.command.params:
        typed = ctx.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE
        if typed and param.name in (*_HOW, *_CAPS):
            raise click.UsageError(f"{param.opts[0]} needs --hard", ctx)


def print_plan(out: Path, asking: Asking, *, as_json: bool) -> int:
    """Print what asking will take; return the exit code."""
    from videoautoarena.runs.selecting.asking import plan_hard

    planned = run_async(plan_hard(out, asking))
    options.print_report(planned.as_json(), planned.as_lines(), as_json=as_json)
    return 0


def ask_models(out: Path, asking: Asking, *, max_void: float, quiet: bool) -> Told | int:
    """Ask what has to be asked and say how it went; return the exit code if nothing can follow."""
    from videoautoarena.runs.bench.freeze.freeze import Told
    from videoautoarena.runs.console.events import Listeners, nobody
    from videoautoarena.runs.console.listeners import progress
    from videoautoarena.runs.selecting.asking import ask_hard

    with progress(say, is_quiet=quiet) as on_progress:

        def on_tried(so_far: Progress) -> None:
            on_progress(so_far.done, so_far.total, so_far.in_words())

        found, ended = run_async(
            ask_hard(out, asking, listeners=Listeners(say, nobody), on_tried=on_tried)
        )
    for reason, count in ended.reasons.most_common(3):
        say(safe(f"failed, {count}: {reason[:300]}"))
    if not ended.is_whole:
        left = f"{ended.in_words()}, {ended.total - ended.done} left; no bench is written"
        return early_end(ended, left) or EXIT_VOIDS
    if found.lost_share > max_void:
        say(
            f"{found.lost_share:.0%} of the answers asked for have no verdict, since a call "
            f"failed; more than --max-void allows ({max_void:.0%}), so no bench is written"
        )
        say("to ask for them again: add --retry-failed")
        return EXIT_VOIDS
    return Told(hard=found)
