"""`arena bench run`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from videoautoarena.agents.models.registry import MOST_FRAMES
from videoautoarena.runs.bench.play.runner import OnSettled
from videoautoarena.runs.bench.play.tally import BenchTally
from videoautoarena.runs.cli.program import options
from videoautoarena.runs.cli.program.ending import early_end, exit_codes, run_async
from videoautoarena.runs.cli.program.engine import ENGINE, ENGINE_NAMES, engine_of
from videoautoarena.runs.cli.program.main import EXIT_CAP, EXIT_VOIDS
from videoautoarena.runs.console.events import Listeners, Say, nobody
from videoautoarena.runs.console.listeners import progress
from videoautoarena.runs.rundir.reader import counted
from videoautoarena.runs.text.terminal import print_result, safe, say

if TYPE_CHECKING:
    from videoautoarena.runs.bench.format.reader import OpenBench
    from videoautoarena.runs.bench.format.results import View
    from videoautoarena.runs.bench.kinds.scorings import Report
    from videoautoarena.runs.bench.play.runner import Asked, Ran


@contextmanager
def showing(say: Say, *, is_quiet: bool = False) -> Iterator[OnSettled]:
    """Give what hears of every question and shows how far they are."""
    with progress(say, is_quiet=is_quiet) as on_progress:
        yield lambda tally: on_progress(tally.settled, tally.total, _so_far(tally))


def _so_far(tally: BenchTally) -> str:
    words = [counted(tally.settled, tally.unit)]
    words += [counted(tally.forfeits, "forfeit")] * bool(tally.forfeits)
    words += [counted(tally.voids, "void")] * bool(tally.voids)
    return ", ".join(words)


class BenchSwap(options.Swap):
    """A share from 0 to 1, or one of the words "all" and "none"."""

    name = "share|all|none"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the share as a float, or "all"."""
        share = super().convert(0.0 if value == "none" else value, param, ctx)
        if share != "all" and not 0.0 <= share <= 1.0:
            self.fail(f"{value!r} is neither a share from 0 to 1 nor 'all' nor 'none'", param, ctx)
        return share


def _frames(_ctx: click.Context, _param: click.Parameter, typed: str | None) -> tuple[int, ...]:
    """Return the numbers of frames of `frames=4,8,16`, each once, ascending."""
    if typed is None:
        return ()
    name, _, listed = typed.partition("=")
    numbers = [part.strip() for part in listed.split(",")]
    if name != "frames" or not all(n.isdecimal() and 0 < int(n) <= MOST_FRAMES for n in numbers):
        raise click.BadParameter(
            f"{typed!r} is no sweep; write frames= and numbers from 1 to {MOST_FRAMES}, such as "
            "frames=4,16,64"
        )
    return tuple(sorted({int(number) for number in numbers}))


def _models(text: str) -> Callable[[options.Command], options.Command]:
    return click.option(
        "--model", callback=options.names, multiple=True, metavar="M[,M2..]", help=text
    )


_PLACES = options.together(
    click.option(
        "--videos", type=options.PATH, help="Folder of the videos.  [default: the bench's copies]"
    ),
    options.config_option(" that declares the models"),
)
_PACE = options.together(
    click.option(
        "--limit",
        type=click.IntRange(min=1),
        metavar="K",
        help="Ask K of the questions, sampled with the seed; a larger K includes those of a "
        "smaller one.",
    ),
    options.CONCURRENCY,
    options.PATIENCE,
    options.flag("--retry-failed", "Repeat failed answers and judgings."),
)
_WORK = options.together(options.PLAN, options.NO_PROGRESS, options.CAPS, ENGINE, options.AS_JSON)


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
@options.BENCH
@_models(
    "Models that answer, or whose answers were imported.  [default: arena.toml, else the "
    "offline cast]"
)
@click.option(
    "--judge",
    "judges",
    callback=options.names,
    multiple=True,
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
@_PLACES
@click.option(
    "--prompts",
    type=options.PATH,
    help="Folder of prompt files, such as judge.txt, that replace the built-in ones from the "
    "first call on.",
)
@options.figure("--seed", 0, "Seed of the answer order and of --limit.")
@click.option(
    "--swap",
    type=BenchSwap(),
    default=0.1,
    show_default=True,
    help="Share of rulings judged again with the answers in swapped order, as an audit. With "
    "'all', both orders count.",
)
@click.option(
    "--sweep",
    callback=_frames,
    metavar="frames=N[,N2..]",
    help="Of tasks and dialogues: play every model once with each of these numbers of frames.",
)
@options.choice(
    "--history",
    ["golden", "own"],
    "Of dialogues: send the reference answers of earlier rounds, or what the model answered "
    "itself, which is scored as a model of its own.",
)
@click.option(
    "--preset",
    type=click.Choice(["paper"]),
    help="Of dialogues: look at the videos as MT-Video-Bench does, 32 frames with a longer side "
    "of 720.",
)
@_PACE
@options.OFFLINE_JUDGE
@options.BLIND_REFEREE
@options.flag("--allow-self-judging", "Allow the judge to answer, too.")
@_WORK
def bench_run_command(bench: Path, *, as_json: bool, plan: bool, quiet: bool, **typed: Any) -> int:
    """Let models answer the questions of BENCH, and score or judge the answers.

    Preferences are judged against both reference answers; choices are read strictly, and free text
    is scored by a judge who has the key. Each scored round of a dialogue is asked with the rounds
    before it, and its reply held against a checklist.

    The same command continues where it stopped. Calls and results are stored in BENCH/results and
    reused for other models and judges.
    """
    from videoautoarena.runs.bench.format.reader import open_bench
    from videoautoarena.runs.bench.kinds.scorings import scoring_of
    from videoautoarena.runs.views.scores import set_reports

    engine = {name: typed.pop(name) for name in ENGINE_NAMES}
    opened = open_bench(bench)
    scoring = scoring_of(opened)
    if plan:
        return _plan(opened, _asked(typed), as_json=as_json)
    ran = _run(opened, _asked(typed), engine, is_quiet=quiet)
    scores = scoring.played(opened, ran) if ran.results else None
    if as_json:
        _print_json(ran, scores, folder=bench)
    elif scores is not None:
        options.print_views(set_reports(scores))
    return _ending(ran)


@click.command(
    "probe",
    epilog="""\b
Examples:
  arena bench probe my-tasks
  arena bench probe my-tasks --videos clips --model openai:gpt-4o-mini --max-usd 2""",
)
@options.BENCH
@_models(
    "Also ask these models without frames, with one, with shuffled ones, and with another "
    "video's.  [default: nobody is asked]"
)
@_PLACES
@options.figure("--seed", 0, "Seed of the order of frames, of the other video, and of --limit.")
@_PACE
@_WORK
def probe(bench: Path, *, as_json: bool, plan: bool, quiet: bool, **typed: Any) -> int:
    """Show what the options of a task set give away without its videos.

    Each probe picks an option by text alone: the longest, the one in a frequent place, the one
    often right elsewhere. What it earns is compared with chance, task by task. Items that are
    given away are counted, and defects are listed. With --model, models are asked, too: whoever
    knows answers without the video shows that the items give them away.
    """
    from videoautoarena.runs.bench.format.reader import open_bench
    from videoautoarena.runs.bench.score.asked_probes import probe_all
    from videoautoarena.runs.views.checks import probes_report

    engine = {name: typed.pop(name) for name in ENGINE_NAMES}
    opened, code = open_bench(bench), 0
    found = probe_all(opened)
    if typed["model"]:
        asked = _asked({**_UNASKED, **typed}, views=("blind", "one", "shuffled", "other"))
        if plan:
            return _plan(opened, asked, as_json=as_json)
        code = _ending(_run(opened, asked, engine, is_quiet=quiet))
        found = probe_all(opened)
    if as_json:
        print_result(json.dumps(found.to_json(), indent=2))
    else:
        options.print_view(probes_report(found))
    return code


_UNASKED = {
    "judges": (), "swap": 0.0, "allow_offline_judge": False, "allow_self_judging": False,
    "allow_blind_referee": False, "anchor": None, "sweep": (), "prompts": None,
    "history": "golden", "preset": None,
}  # fmt: skip
"""What `probe` does not ask for, of what `run` does."""


def _asked(typed: dict[str, Any], views: tuple[View, ...] = ("whole",)) -> Asked:
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
            leave=Leave(
                typed["allow_offline_judge"],
                typed["allow_self_judging"],
                blind=typed["allow_blind_referee"],
            ),
            anchor=typed["anchor"],
            frames=typed["sweep"],
            history=typed["history"],
            preset=typed["preset"],
            views=views,
        ),
        videos=typed["videos"],
        concurrency=typed["concurrency"],
        patience_s=options.patience_s(typed),
        caps=options.caps_of(typed),
        limit=typed["limit"],
        retry_failed=typed["retry_failed"],
        prompts=typed["prompts"],
    )


def _plan(opened: OpenBench[Any], asked: Asked, *, as_json: bool) -> int:
    """Print what it would take; return the exit code."""
    from videoautoarena.runs.bench.kinds.scorings import scoring_of

    found = run_async(scoring_of(opened).plan(opened, asked))
    columns = shutil.get_terminal_size().columns
    lines = () if as_json else (*found.as_lines(), *found.as_table(columns))
    options.print_report(found.as_json(), lines, as_json=as_json)
    return 0


def _run(opened: OpenBench[Any], asked: Asked, engine: dict[str, Any], *, is_quiet: bool) -> Ran:
    """Play it, in this process or by the `engine` that was typed."""
    from videoautoarena.runs.bench.kinds.scorings import scoring_of

    with engine_of(engine) as plays, showing(say, is_quiet=is_quiet) as on_settled:
        run, asked = scoring_of(opened).run, replace(asked, engine=plays)
        return run_async(
            run(opened, asked, listeners=Listeners(say, nobody), on_settled=on_settled)
        )


def _print_json(ran: Ran, scores: Report | None, *, folder: Path) -> None:
    """Print the scores of those who played; where not all was played, how far it is."""
    from videoautoarena.memory.records.records import SCHEMA

    board = None if scores is None else scores.to_json()
    if board is not None and ran.anchor is not None:
        board = board["anchored"][0]
    files = [str(file.relative_to(folder)) for file in ran.files]
    played = {"schema": SCHEMA, "judge": ran.judge or None, **ran.tally.as_json()}
    given = {"results": files, "kept": list(ran.kept), "scores": board}
    options.print_report({**played, **given}, (), as_json=True)


def _ending(ran: Ran) -> int:
    """Say how it went and what to type next; return the exit code."""
    from videoautoarena.runs.bench.play.game import NO_VIDEO
    from videoautoarena.runs.bench.play.tally import MOST_VOID
    from videoautoarena.runs.console.costs import possibly_paid_lines

    tally = ran.tally
    for reason, count in tally.reasons.most_common(3):
        say(safe(f"lost, {count}: {reason[:300]}"))
    for line in (*possibly_paid_lines(tally.lost, ()), *map(safe, ran.kept)):
        say(line)
    code = early_end(tally, f"{_so_far(tally)}, {tally.total - tally.settled} left")
    if code == EXIT_CAP and tally.complete:
        say(f"to score what all models have answered: repeat it with --limit {tally.complete}")
    if code is not None:
        return code
    faulty = tally.of_players.faulty(MOST_VOID)
    for one in faulty:
        say(one.sentence(MOST_VOID, to="questions"))
    if tally.voids > MOST_VOID * max(1, tally.settled):
        lost = sum(n for reason, n in tally.reasons.items() if reason.startswith(NO_VIDEO))
        again = "to repeat what failed: add --retry-failed"
        find = "pass the folder that holds the videos with --videos"
        say(f"{_so_far(tally)}; {find if lost >= tally.voids else again}")
        return EXIT_VOIDS
    if faulty:
        say("to repeat what failed: add --retry-failed")
    return EXIT_VOIDS if faulty else 0
