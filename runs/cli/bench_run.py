"""`arena bench run`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from videoautoarena.runs.bench.play.runner import OnSettled
from videoautoarena.runs.bench.play.tally import BenchTally
from videoautoarena.runs.cli.ending import (
    PATIENCE,
    capped,
    exit_codes,
    gone_words,
    run_async,
    seconds_of,
)
from videoautoarena.runs.cli.main import EXIT_CAP, EXIT_GONE, EXIT_INTERRUPTED, EXIT_VOIDS
from videoautoarena.runs.cli.simulate import Swap, names
from videoautoarena.runs.console.events import Say
from videoautoarena.runs.console.listeners import progress
from videoautoarena.runs.rundir.reader import counted
from videoautoarena.runs.text.terminal import print_result, print_results, safe, say

if TYPE_CHECKING:
    from videoautoarena.runs.bench.play.runner import Asked, Ran
    from videoautoarena.runs.bench.score.anchor_score import Scores


@contextmanager
def showing(say: Say, *, is_quiet: bool = False) -> Iterator[OnSettled]:
    """Give what hears of every question and shows how far they are."""
    with progress(say, is_quiet=is_quiet) as on_progress:

        def on_settled(tally: BenchTally) -> None:
            on_progress(tally.settled, tally.total, told(tally))

        yield on_settled


def told(tally: BenchTally) -> str:
    """Return in a few words how it went so far."""
    words = [counted(tally.settled, "answer")]
    words += [counted(tally.forfeits, "forfeit")] * bool(tally.forfeits)
    words += [counted(tally.voids, "void")] * bool(tally.voids)
    return ", ".join(words)


class BenchSwap(Swap):
    """A share from 0 to 1, or one of the words "all" and "none"."""

    name = "share|all|none"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the share as a float, or "all"."""
        share = super().convert(0.0 if value == "none" else value, param, ctx)
        if share != "all" and not 0.0 <= share <= 1.0:
            self.fail(f"{value!r} is neither a share from 0 to 1 nor 'all' nor 'none'", param, ctx)
        return share


@click.command(
    "run",
    epilog="""\b
Examples:
  arena bench run my-bench --videos clips
  arena bench run my-bench --videos clips --model openai:gpt-4o-mini --judge openai:gpt-4o --plan
  arena bench run my-bench --videos clips --model mine,theirs --config arena.toml --max-usd 5
  arena bench run my-bench --videos clips --model mine,theirs --anchor openai:gpt-4o-mini

\b
"""
    + exit_codes("more than 5 % void, or of one model forfeits, or a model became unusable"),
)
@click.argument("bench", type=click.Path(path_type=Path))
@click.option(
    "--model",
    callback=names,
    metavar="M[,M2..]",
    help="Models that answer, or whose answers were imported.  [default: arena.toml, else the "
    "offline cast]",
)
@click.option(
    "--judge",
    "judges",
    callback=names,
    metavar="J[,J2..]",
    help="One or more judges; a panel decides by plurality.  [default: arena.toml, else the "
    "offline judge]",
)
@click.option(
    "--anchor",
    metavar="NAME",
    help="Compare every model with this model's answers only, in both orders and on a "
    "five-point scale; 'selected' and 'rejected' are the bench's own answers.",
)
@click.option(
    "--videos",
    type=click.Path(path_type=Path),
    help="Folder of the videos.  [default: the bench's copies]",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="Configuration file that declares the models.  [default: ./arena.toml if it exists]",
)
@click.option(
    "--prompts",
    type=click.Path(path_type=Path),
    help="Folder of prompt files, such as judge.txt, that replace the built-in ones from the "
    "first call on.",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Seed of the answer order and of --limit.",
)
@click.option(
    "--swap",
    type=BenchSwap(),
    default=0.1,
    show_default=True,
    help="Share of rulings judged again with the answers in swapped order, as an audit. With "
    "'all', both orders count.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="K",
    help="Ask K of the questions, sampled with the seed; a larger K includes those of a smaller "
    "one.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(min=1),
    default=16,
    show_default=True,
    help="Maximum number of concurrent model calls.",
)
@PATIENCE
@click.option("--retry-failed", is_flag=True, help="Repeat failed answers and judgings.")
@click.option(
    "--allow-offline-judge",
    is_flag=True,
    help="Allow the offline judge to judge answers of real models.",
)
@click.option("--allow-self-judging", is_flag=True, help="Allow the judge to answer, too.")
@click.option("--plan", is_flag=True, help="Estimate calls and cost; send nothing.")
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
@capped
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def bench_run_command(bench: Path, *, as_json: bool, plan: bool, quiet: bool, **typed: Any) -> int:
    """Let models answer the questions of BENCH; judge each answer against both references.

    The same command continues where it stopped. Calls and results are stored in BENCH/results and
    reused for other models and judges.
    """
    import json

    from videoautoarena.runs.bench.format.reader import open_bench
    from videoautoarena.runs.bench.kinds.scorings import scoring_of
    from videoautoarena.runs.console.events import Listeners, nobody

    asked, opened = _asked(typed), open_bench(bench)
    scoring = scoring_of(opened)
    if plan:
        planned = run_async(scoring.plan(opened, asked))
        if as_json:
            print_result(json.dumps(planned.as_json(), indent=2))
        else:
            print_results(planned.as_lines())
        return 0
    with showing(say, is_quiet=quiet) as on_settled:
        told = Listeners(say, nobody)
        ran = run_async(scoring.run(opened, asked, listeners=told, on_settled=on_settled))
    _show(ran, scoring.played(opened, ran) if ran.results else None, folder=bench, as_json=as_json)
    return _ending(ran)


def _asked(typed: dict[str, Any]) -> Asked:
    from videoautoarena.agents.limits.budget import Caps
    from videoautoarena.runs.bench.play.cast import Wanted
    from videoautoarena.runs.bench.play.runner import Asked
    from videoautoarena.runs.trials.trial import Leave

    return Asked(
        wanted=Wanted(
            models=typed["model"],
            judges=typed["judges"],
            config=typed["config"],
            swap=typed["swap"],
            seed=typed["seed"],
            leave=Leave(typed["allow_offline_judge"], typed["allow_self_judging"]),
            anchor=typed["anchor"],
        ),
        videos=typed["videos"],
        concurrency=typed["concurrency"],
        patience_s=seconds_of(typed["patience"]),
        caps=Caps(typed["max_usd"], typed["max_tokens"]),
        limit=typed["limit"],
        retry_failed=typed["retry_failed"],
        prompts=typed["prompts"],
    )


def _show(ran: Ran, scores: Scores | None, *, folder: Path, as_json: bool) -> None:
    """Print the scores of those who played; where not all was played, how far it is."""
    import json

    from videoautoarena.memory.records.records import SCHEMA
    from videoautoarena.runs.bench.score.anchor_text import render_each
    from videoautoarena.runs.cli.options import results as console

    if as_json:
        board = None
        if scores is not None:
            board = scores.anchored[0] if ran.anchor is not None else scores.board
        files = [str(file.relative_to(folder)) for file in ran.files]
        played = {"schema": SCHEMA, "judge": ran.judge, **ran.tally.as_json()}
        given = {"results": files, "kept": list(ran.kept), "scores": board}
        print_result(json.dumps({**played, **given}, indent=2))
    elif scores is not None:
        shown = console()
        for part in render_each(scores):
            shown.print(part)


def _ending(ran: Ran) -> int:
    """Say how it went and what to type next; return the exit code."""
    from videoautoarena.runs.bench.play.question import NO_VIDEO
    from videoautoarena.runs.bench.play.tally import MOST_VOID
    from videoautoarena.runs.console.costs import possibly_paid_lines

    tally = ran.tally
    for reason, count in tally.reasons.most_common(3):
        say(safe(f"lost, {count}: {reason[:300]}"))
    for line in (*possibly_paid_lines(tally.lost, ()), *map(safe, ran.kept)):
        say(line)
    left = tally.total - tally.settled
    if tally.hopeless:
        say(safe(f"stopped, because {tally.hopeless[:300]}"))
        say(f"{told(tally)}, {left} left; fix this, then repeat the command with --retry-failed")
        return EXIT_VOIDS
    if tally.is_capped:
        say(f"budget cap reached: {told(tally)}, {left} left; nothing is lost")
        say("to continue: repeat the command with a higher --max-usd or --max-tokens")
        if tally.complete:
            say(f"to score what all models have answered: repeat it with --limit {tally.complete}")
        return EXIT_CAP
    if tally.gone is not None:
        say(f"{gone_words(tally.gone)}: {told(tally)}, {left} left; nothing is lost")
        say("to continue, repeat the command")
        return EXIT_GONE
    if tally.is_interrupted:
        say(f"interrupted: {told(tally)}, {left} left; to continue, repeat the command")
        return EXIT_INTERRUPTED
    faulty = tally.of_players.faulty(MOST_VOID)
    for one in faulty:
        say(one.sentence(MOST_VOID, to="questions"))
    if tally.voids > MOST_VOID * max(1, tally.settled):
        lost = sum(n for reason, n in tally.reasons.items() if reason.startswith(NO_VIDEO))
        again = "to repeat what failed: add --retry-failed"
        find = "pass the folder that holds the videos with --videos"
        say(f"{told(tally)}; {find if lost >= tally.voids else again}")
        return EXIT_VOIDS
    if faulty:
        say("to repeat what failed: add --retry-failed")
    return EXIT_VOIDS if faulty else 0
