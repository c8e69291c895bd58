"""Going on with a run: `resume`, `add`, `replay` and `merge`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from videoautoarena.runs.cli.program import ending, options
from videoautoarena.runs.cli.program.ending import STAGE, RunStage
from videoautoarena.runs.formats.terminal import print_results, safe, say


@options.command(
    "arena resume arena-out",
    "arena resume arena-out --retry-failed --max-usd 40",
    "arena resume arena-out --until rounds --freeze my-bench",
    codes=ending.EXIT_CODES,
)
@options.OUT
@options.config_option(": where the run's models are served")
@options.MOVED
@options.TRUST
@options.CONCURRENCY
@options.PATIENCE_AS_TYPED
@options.max_void("slots")
@options.CAPS
@options.UNTIL
@options.CARE
@options.FREEZE
@STAGE
def resume_command(out: Path, *, stage: RunStage, **typed: Any) -> int:
    """Continue the run in OUT with the settings it began with.

    A run that was begun elsewhere is not believed where it leads: --videos and arena.toml say so,
    or --trust-run agrees to what the refusal lists.
    """
    from videoautoarena.runs.api.simulate import resume
    from videoautoarena.runs.run.config.run_request import RunRequest

    request = RunRequest(out=out, **typed)
    return stage.play(
        out,
        lambda listeners, engine: resume(
            request, say=listeners.say, hear=listeners.hear, engine=engine
        ),
    )


@options.command(
    "arena add arena-out --model openai:gpt-4o --plan",
    "arena add arena-out --model flash --config arena.toml --battles 600 --max-usd 20",
    codes=ending.EXIT_CODES,
)
@options.OUT
@options.string(
    "--model", "New model: provider:model, or a name from the configuration file.", required=True
)
@options.whole(
    "--battles",
    "Number of stored answers to meet, earlier ones included; at most as many as there are.",
    least=1,
    # BATTLES of `runs.api.add`, which is loaded when the command runs.
    default=1500,
)
@options.config_option(" with the model's table")
@options.MOVED
@options.TRUST
@options.CONCURRENCY
@options.PATIENCE_AS_TYPED
@options.max_void("the whole run's slots")
@options.PLAN
@options.FSYNC
@options.CAPS
@STAGE
def add_command(out: Path, *, plan: bool, stage: RunStage, **typed: Any) -> int:
    """Add a model to the run in OUT: it answers past questions and meets stored answers.

    Decided battles are drawn at random. In each, the new model replaces one side, and the other
    side keeps its stored answer. The run's judges judge, and every leaderboard counts the new
    battles. The same command continues where it stopped.
    """
    from videoautoarena.runs.api.add import AddRequest, add, plan_addition, plan_as_json

    request = AddRequest(out=out, **typed)
    if plan:
        from videoautoarena.runs.tournament.plan_text import plan_view

        found, about = plan_addition(request)
        if options.is_json():
            options.print_json(plan_as_json(found, about))
            return 0
        print_results(about)
        options.print_rendered(plan_view(found))
        return 0
    return stage.play(
        out,
        lambda listeners, engine: add(
            request, say=listeners.say, hear=listeners.hear, engine=engine
        ),
    )


@options.command("arena replay arena-out")
@options.OUT
@options.json_flag("Print the result as JSON.")
def replay_command(out: Path) -> int:
    """Replay the run in OUT from its journal, offline, and compare every battle byte for byte.

    Nothing is written. The exit code is 1 if a battle comes out differently.
    """
    from videoautoarena.runs.tournament.replay import replay

    found = ending.run_async(replay(out))
    shown = [safe(line) for line in found.differences]
    shown.append(f"{found.battles} battles are identical, {found.others} differ")
    state = {"equal": found.battles, "different": found.differences}
    options.print_line(state, "\n".join(shown))
    return 1 if found.differences else 0


@options.command("arena merge night-1 night-2 --to both", "arena merge shards/* --to all")
@click.argument("folders", metavar="FOLDERS...", nargs=-1, required=True, type=options.PATH)
@options.TO_FOLDER
@options.NO_PROGRESS
@options.AS_JSON
def merge_command(folders: tuple[Path, ...], to: Path) -> None:
    """Put runs with the same settings over different videos into one run.

    Every battle, call and label is kept as it is, and each run keeps its own pairs. The new run is
    rated, audited, frozen and exported as any other; only its videos cannot be played on. The runs
    stay as they are, and no model is called.
    """
    from videoautoarena.runs.console.progress.listeners import progress
    from videoautoarena.runs.tournament.merge import in_words, merge_runs

    with progress(say, is_quiet=options.is_quiet()) as on_progress:
        merged = merge_runs(
            folders, to, on_page=lambda done, total: on_progress(done, total, "pages copied")
        )
    line = f"{safe(str(to))} holds {in_words(merged)}"
    options.print_line({"folder": str(to), **merged._asdict()}, line)
