"""`arena bench run`."""

from __future__ import annotations

import shutil
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from videoautoarena.agents.models.spec import MOST_FRAMES
from videoautoarena.runs.cli.program import ending, options
from videoautoarena.runs.cli.program.engine import ENGINE
from videoautoarena.runs.cli.program.main import EXIT_CAP, EXIT_VOIDS
from videoautoarena.runs.formats.terminal import safe, say

if TYPE_CHECKING:
    from videoautoarena.runs.bench.format.reader import OpenBench
    from videoautoarena.runs.bench.kinds.scorings import PrintedReport
    from videoautoarena.runs.bench.play.runner import BenchOrder, Ran
    from videoautoarena.runs.cluster.engine import RayEngine

    Engine: TypeAlias = AbstractContextManager[RayEngine | None]


def read_swap(text: str) -> float | str:
    """Return a share from 0 to 1, or "all"; "none" is 0."""
    share = options.read_share("0" if text == "none" else text)
    if isinstance(share, float) and not 0.0 <= share <= 1.0:
        raise click.BadParameter(f"{text!r} is neither a share from 0 to 1 nor 'all' nor 'none'")
    return share


def read_sweep(text: str) -> tuple[int, ...]:
    """Return the numbers of frames of `frames=4,8,16`, each once, ascending."""
    name, _, listed = text.partition("=")
    numbers = [part.strip() for part in listed.split(",")]
    if name != "frames" or not all(n.isdecimal() and 0 < int(n) <= MOST_FRAMES for n in numbers):
        raise click.BadParameter(
            f"{text!r} is no sweep; write frames= and numbers from 1 to {MOST_FRAMES}, such as "
            "frames=4,16,64"
        )
    return tuple(sorted({int(number) for number in numbers}))


_PLACES = options.together(
    options.path("--videos", "Folder of the videos.  [default: the bench's copies]"),
    options.flag("--allow-missing", "Count questions of videos that are not there as void."),
    options.config_option(" that declares the models"),
)
_LIMIT = options.whole(
    "--limit K",
    "Ask K of the questions, sampled with the seed; a larger K includes those of a smaller one.",
    least=1,
)
_AGAIN = "Repeat failed answers and judgings."


@options.command(
    "arena bench run my-bench --videos clips",
    "arena bench run my-bench --videos clips --model openai:gpt-4o-mini --judge openai:gpt-4o "
    "--plan",
    "arena bench run my-bench --videos clips --model mine,theirs --config arena.toml --max-usd 5",
    "arena bench run my-bench --videos clips --model mine,theirs --anchor openai:gpt-4o-mini",
    codes=ending.exit_codes(
        "more than 5 % void, or of one model forfeits, or a model became unusable"
    ),
)
@options.OPENED_BENCH
@options.listed(
    "--model M[,M2..]",
    "Models that answer, or whose answers were imported.  [default: arena.toml, else the "
    "offline cast]",
    "models",
)
@options.listed(
    "--judge J[,J2..]",
    "One or more judges; a panel decides by plurality.  [default: arena.toml, or its examiner, "
    "else the offline judge]",
    "judges",
)
@options.string(
    "--anchor NAME",
    "Compare every model with this model's answers only, in both orders and on a "
    "five-point scale; 'selected' and 'rejected' are the bench's own answers.",
)
@_PLACES
@options.path(
    "--prompts",
    "Folder of prompt files, such as judge.txt, that replace the built-in ones from the "
    "first call on.",
)
@options.figure("--seed", 0, "Seed of the answer order and of --limit.")
@options.string(
    "--swap SHARE|ALL|NONE",
    "Share of rulings judged again with the answers in swapped order, as an audit. With "
    "'all', both orders count.",
    reads=read_swap,
    default="0.1",
)
@options.string(
    "--sweep frames=N[,N2..]",
    "Of tasks and dialogues: play every model once with each of these numbers of frames.",
    "frames",
    reads=read_sweep,
)
@options.choice(
    "--history",
    ["golden", "own"],
    "Of dialogues: send the reference answers of earlier rounds, or what the model answered "
    "itself, which is scored as a model of its own.",
)
@options.choice(
    "--preset",
    ["paper"],
    "Of dialogues: look at the videos as MT-Video-Bench does, 32 frames with a longer side of 720.",
    is_open=True,
)
@_LIMIT
@options.paid(
    _AGAIN, options.LEAVE, options.flag("--allow-self-judging", "Allow the judge to answer, too.")
)
@ENGINE
@options.AS_JSON
def run_command(
    bench: OpenBench[Any],
    *,
    as_json: bool,
    plan: bool,
    is_quiet: bool,
    engine: Engine,
    **typed: Any,
) -> int:
    """Let models answer the questions of BENCH, and score or judge the answers.

    Preferences are judged against both reference answers; choices are read strictly, and free text
    is scored by a judge who has the key. Each scored round of a dialogue is asked with the rounds
    before it, and its reply held against a checklist.

    The same command continues where it stopped. Calls and results are stored in BENCH/results and
    reused for other models and judges.
    """
    from videoautoarena.runs.bench.kinds.scorings import scoring_of
    from videoautoarena.runs.views.results.comparisons import set_reports

    asked = _asked(typed)
    if plan:
        return _plan(bench, asked, as_json=as_json)
    ran = _run(bench, asked, engine, is_quiet=is_quiet)
    scores = scoring_of(bench).played(bench, ran) if ran.results else None
    if as_json:
        _print_json(ran, scores, folder=bench.folder)
    elif scores is not None:
        options.print_views(set_reports(scores))
    return _ending(ran)


@options.command(
    "arena bench probe my-tasks",
    "arena bench probe my-tasks --videos clips --model openai:gpt-4o-mini --max-usd 2",
)
@options.OPENED_BENCH
@options.listed(
    "--model M[,M2..]",
    "Also ask these models without frames, with one, with shuffled ones, and with another "
    "video's.  [default: nobody is asked]",
    "models",
)
@_PLACES
@options.figure("--seed", 0, "Seed of the order of frames, of the other video, and of --limit.")
@_LIMIT
@options.paid(_AGAIN)
@ENGINE
@options.AS_JSON
def probe(
    bench: OpenBench[Any],
    *,
    as_json: bool,
    plan: bool,
    is_quiet: bool,
    engine: Engine,
    **typed: Any,
) -> int:
    """Show what the options of a task set give away without its videos.

    Each probe picks an option by text alone: the longest, the one in a frequent place, the one
    often right elsewhere. What it earns is compared with chance, task by task. Items that are
    given away are counted, and defects are listed. With --model, models are asked, too: whoever
    knows answers without the video shows that the items give them away.
    """
    from videoautoarena.runs.bench.score.shortcuts import probe_all
    from videoautoarena.runs.views.results.checks import probes_report

    found = probe_all(bench)
    code = 0
    if typed["models"]:
        asked = _asked(typed, swap=0.0, views=("blind", "one", "shuffled", "other"))
        if plan:
            return _plan(bench, asked, as_json=as_json)
        code = _ending(_run(bench, asked, engine, is_quiet=is_quiet))
        found = probe_all(bench)
    options.print_viewed(found.to_json(), lambda: probes_report(found), as_json=as_json)
    return code


def _asked(typed: dict[str, Any], **beside: Any) -> BenchOrder:
    from videoautoarena.runs.bench.play.cast import Wanted
    from videoautoarena.runs.bench.play.runner import BenchOrder

    typed["frames"] = typed.get("frames") or ()
    wanted = options.take(Wanted, typed, **beside)
    return BenchOrder(wanted, **typed)


def _plan(opened: OpenBench[Any], asked: BenchOrder, *, as_json: bool) -> int:
    """Print what it would take; return the exit code."""
    from videoautoarena.runs.bench.kinds.scorings import scoring_of

    found = ending.run_async(scoring_of(opened).plan(opened, asked))
    columns = shutil.get_terminal_size().columns
    lines = () if as_json else (*found.as_lines(), *found.as_table(columns))
    options.print_report(found.as_json(), lines, as_json=as_json)
    return 0


def _run(opened: OpenBench[Any], asked: BenchOrder, engine: Engine, *, is_quiet: bool) -> Ran:
    """Play it, in this process or by the `engine` that was typed."""
    from videoautoarena.runs.bench.kinds.scorings import scoring_of

    run = scoring_of(opened).run
    with engine as plays:
        how = replace(asked, engine=plays)
        return ending.followed(
            lambda listeners, on_done: run(opened, how, listeners=listeners, on_done=on_done),
            is_quiet=is_quiet,
        )


def _print_json(ran: Ran, scores: PrintedReport | None, *, folder: Path) -> None:
    """Print the scores of those who played; where not all was played, how far it is."""
    from videoautoarena.runs.bench.play.tally import MOST_VOID, BenchEnd
    from videoautoarena.runs.formats.record_json import record_json

    tally = ran.tally
    board = None if scores is None else scores.to_json()
    if board is not None and ran.anchor is not None:
        board = board["anchored"][0]
    ended = BenchEnd(
        judge=ran.judge or None,
        settled=tally.done,
        of=tally.total,
        forfeits=tally.forfeits,
        forfeiting=tally.of_players.faulty(MOST_VOID),
        voids=tally.voids,
        interrupted=tally.is_interrupted,
        capped=tally.is_capped,
        gone=tally.gone.address if tally.gone else None,
        lost=tally.lost,
        results=[file.relative_to(folder) for file in ran.files],
        kept=ran.kept,
        scores=board,
    )
    options.print_report(record_json(ended), (), as_json=True)


def _ending(ran: Ran) -> int:
    """Say how it went and what to type next; return the exit code."""
    from videoautoarena.runs.bench.play.tally import MOST_VOID
    from videoautoarena.runs.console.progress.costs import possibly_paid_lines

    tally = ran.tally
    ending.say_reasons(tally.told_reasons, "lost")
    for line in (*possibly_paid_lines(tally.lost, ()), *map(safe, ran.kept)):
        say(line)
    code = ending.early_end(tally, f"{tally.in_words}, {tally.total - tally.done} left")
    if code == EXIT_CAP and tally.complete:
        say(f"to score what all models have answered: repeat it with --limit {tally.complete}")
    if code is not None:
        return code
    faulty = tally.of_players.faulty(MOST_VOID)
    for one in faulty:
        say(one.sentence(MOST_VOID, to="questions"))
    if tally.voids > MOST_VOID * max(1, tally.done):
        again = "to repeat what failed: add --retry-failed"
        find = "pass the folder that holds the videos with --videos"
        say(f"{tally.in_words}; {find if tally.lost_videos >= tally.voids else again}")
        return EXIT_VOIDS
    if faulty:
        say("to repeat what failed: add --retry-failed")
    return EXIT_VOIDS if faulty else 0
