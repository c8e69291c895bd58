"""Going on with a run: `resume`, `add`, `replay` and `compact`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from videoautoarena.runs.cli.program import options
from videoautoarena.runs.cli.program.ending import EXIT_CODES, ending, if_whole, run_async
from videoautoarena.runs.cli.program.engine import ENGINE, engine_of
from videoautoarena.runs.text.terminal import print_result, safe, say

if TYPE_CHECKING:
    from videoautoarena.runs.cluster.engine import RayEngine
    from videoautoarena.runs.tournament.add import AddRequest
    from videoautoarena.runs.tournament.simulate import Limits


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
@options.OUT
@options.config_option(": where the run's models are served")
@options.CONTINUING
@options.max_void("slots")
@options.CAPS
@options.UNTIL
@options.CARE
@ENGINE
@options.DISPLAY
@options.STATE_AS_JSON
def resume_command(
    out: Path, videos: Path | None, until: str | None, *, as_json: bool, **typed: Any
) -> int:
    """Continue the run in OUT with the settings it began with.

    A run that was begun elsewhere is not believed where it leads: --videos and arena.toml say so,
    or --trust-run agrees to what the refusal lists.
    """
    from videoautoarena.runs.config.agreement import Trust
    from videoautoarena.runs.console.listeners import audience
    from videoautoarena.runs.rundir.opener import Care
    from videoautoarena.runs.tournament.simulate import resume

    with engine_of(typed) as engine, audience(options.take_display(typed)) as listeners:
        trust = Trust(typed["config"], typed["trust"])
        care = Care(typed["retry_failed"], typed["fsync"], until=until, trust=trust)
        finished = run_async(
            resume(
                out,
                videos=videos,
                limits=_limits(typed, engine),
                listeners=listeners,
                care=care,
            )
        )
    return if_whole(ending(finished, out, as_json=as_json), listeners)


def _limits(typed: dict[str, Any], engine: RayEngine | None) -> Limits:
    from videoautoarena.runs.tournament.simulate import Limits

    return Limits(
        typed["concurrency"],
        typed["max_void"],
        options.caps_of(typed),
        options.patience_s(typed),
        engine,
    )


@click.command(
    epilog="""\b
Examples:
  arena add arena-out --model openai:gpt-4o --plan
  arena add arena-out --model flash --config arena.toml --battles 600 --max-usd 20

\b
"""
    + EXIT_CODES
)
@options.OUT
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
@options.config_option(" with the model's table")
@options.CONTINUING
@options.max_void("the whole run's slots")
@options.PLAN
@options.FSYNC
@options.CAPS
@ENGINE
@options.DISPLAY
@options.STATE_AS_JSON
def add_command(out: Path, model: str, *, as_json: bool, plan: bool, **typed: Any) -> int:
    """Add a model to the run in OUT: it answers past questions and meets stored answers.

    Decided battles are drawn at random. In each, the new model replaces one side, and the other
    side keeps its stored answer. The run's judges judge, and every leaderboard counts the new
    battles. The same command continues where it stopped.
    """
    from videoautoarena.runs.console.listeners import audience
    from videoautoarena.runs.tournament.add import AddRequest, add

    request = AddRequest(
        model,
        typed["battles"],
        config=typed["config"],
        videos=typed["videos"],
        caps=options.caps_of(typed),
        fsync=typed["fsync"],
        trust=typed["trust"],
    )
    if plan:
        _print_plan(out, request, as_json=as_json)
        return 0
    with engine_of(typed) as engine, audience(options.take_display(typed)) as listeners:
        limits = _limits(typed, engine)
        finished = run_async(add(out, request, limits=limits, listeners=listeners))
    return if_whole(ending(finished, out, as_json=as_json), listeners)


def _print_plan(out: Path, request: AddRequest, *, as_json: bool) -> None:
    from videoautoarena.runs.tournament.add import plan_addition, plan_as_json
    from videoautoarena.runs.tournament.plan_text import as_lines

    plan, about = plan_addition(out, request)
    if as_json:
        print_result(json.dumps(plan_as_json(plan, about), indent=2))
        return
    print_result("\n".join([*about, *as_lines(plan, shutil.get_terminal_size().columns)]))


@click.command(epilog="Example: arena replay arena-out")
@options.OUT
@options.flag("--json", "Print the result as JSON.", "as_json")
def replay_command(out: Path, as_json: bool) -> int:
    """Replay the run in OUT from its journal, offline, and compare every battle byte for byte.

    Nothing is written. The exit code is 1 if a battle comes out differently.
    """
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
@options.OUT
@options.AS_JSON
def compact_command(out: Path, as_json: bool) -> None:
    """Rewrite the file of the run in OUT without unused space; its content stays the same."""
    from videoautoarena.memory.records.records import SCHEMA
    from videoautoarena.memory.store.connection import compact, size_of
    from videoautoarena.runs.rundir.reader import run_file

    path = run_file(out)
    say(f"compacting {safe(str(path))}, {size_of(path):,} bytes")
    before, after = compact(path)
    if as_json:
        print_result(json.dumps({"schema": SCHEMA, "before_bytes": before, "after_bytes": after}))
        return
    print_result(f"{before:,} bytes before, {after:,} after: {before - after:,} freed")


@click.command(
    "merge",
    epilog="""\b
Examples:
  arena merge night-1 night-2 --to both
  arena merge shards/* --to all""",
)
@click.argument("folders", metavar="FOLDERS...", nargs=-1, required=True, type=options.PATH)
@click.option("--to", required=True, type=click.Path(path_type=Path), help="Folder to create.")
@options.NO_PROGRESS
@options.AS_JSON
def merge_command(folders: tuple[Path, ...], to: Path, quiet: bool, as_json: bool) -> None:
    """Put runs with the same settings over different videos into one run.

    Every battle, call and label is kept as it is, and each run keeps its own pairs. The new run is
    rated, audited, frozen and exported as any other; only its videos cannot be played on. The runs
    stay as they are, and no model is called.
    """
    from videoautoarena.memory.records.records import SCHEMA
    from videoautoarena.runs.console.listeners import progress
    from videoautoarena.runs.tournament.merge import in_words, merge_runs

    with progress(say, is_quiet=quiet) as on_progress:
        merged = merge_runs(
            folders, to, on_page=lambda done, total: on_progress(done, total, "pages copied")
        )
    if as_json:
        state = {"schema": SCHEMA, "folder": str(to), **merged._asdict()}
        print_result(json.dumps(state))
        return
    print_result(f"{safe(str(to))} holds {in_words(merged)}")
