"""`bench`: running, verifying, scoring, comparing, checking and exporting frozen sets."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

import click

from videoautoarena.agents.models.spec import MOST_FRAMES
from videoautoarena.runs.cli.program import ending, options
from videoautoarena.runs.cli.program.ending import ENGINE
from videoautoarena.runs.cli.program.main import EXIT_CAP, EXIT_VOIDS
from videoautoarena.runs.exchange.interop.exports import (
    SET_EXPORTS,
    SetExportOptions,
    export_set,
    formats_with,
)
from videoautoarena.runs.formats.terminal import (
    print_result,
    print_results,
    safe,
    say,
    say_before_publishing,
)

if TYPE_CHECKING:
    from videoautoarena.runs.api.jobs import ReadyJob
    from videoautoarena.runs.bench.format.reader import OpenBench
    from videoautoarena.runs.bench.kinds.scorings import PrintedReport
    from videoautoarena.runs.bench.play.plan import BenchPlan
    from videoautoarena.runs.bench.play.runner import Ran
    from videoautoarena.runs.cluster.engine import RayEngine

    Engine: TypeAlias = AbstractContextManager[RayEngine | None]


def read_swap(text: str) -> float | str:
    """Return a share from 0 to 1, or "all"; "none" is 0."""
    share = options.read_share("0" if text == "none" else text)
    if isinstance(share, float) and not 0.0 <= share <= 1.0:
        raise click.BadParameter(f"{text!r} is neither a share from 0 to 1 nor 'all' nor 'none'")
    return share


def read_sweep(text: str) -> tuple[int, ...]:
    """Return the numbers of frames in `frames=4,8,16`, each once, ascending."""
    name, _, listed = text.partition("=")
    typed = (part.strip() for part in listed.split(","))
    read = [options.read_whole(number, least=1, most=MOST_FRAMES) for number in typed]
    numbers = {number for number in read if number is not None}
    if name != "frames" or None in read:
        raise click.BadParameter(
            f"{text!r} is no sweep; write frames= and numbers from 1 to {MOST_FRAMES}, such as "
            "frames=4,16,64"
        )
    return tuple(sorted(numbers))


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
    plan: bool,
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
    from videoautoarena.runs.api.bench import Bench
    from videoautoarena.runs.bench.kinds.scorings import scoring_of
    from videoautoarena.runs.views.results.comparisons import set_reports

    # click gives None where no sweep was typed.
    typed["frames"] = typed["frames"] or ()
    job, ran = _played(Bench(bench).run.job, typed, engine, is_plan=plan)
    if ran is None:
        return _print_plan(job)
    scores = scoring_of(bench).played(bench, ran) if ran.results else None
    if options.is_json():
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
    plan: bool,
    engine: Engine,
    **typed: Any,
) -> int:
    """Show what the options of a task set give away without its videos.

    Each probe picks an option by text alone: the longest, the one in a frequent place, the one
    often right elsewhere. What it earns is compared with chance, task by task. Items that are
    given away are counted, and defects are listed. With --model, models are asked, too: whoever
    knows answers without the video shows that the items give them away.
    """
    from videoautoarena.runs.api.bench import Bench
    from videoautoarena.runs.views.results.checks import probes_report

    # Where nobody is asked there is nothing to plan.
    plan = plan and bool(typed["models"])
    job, played = _played(Bench(bench).probe.job, typed, engine, is_plan=plan)
    if played is None:
        return _print_plan(job)
    code = 0 if played.ran is None else _ending(played.ran)
    found = played.probes
    options.print_viewed(found.to_json(), lambda: probes_report(found))
    return code


Found = TypeVar("Found")
BenchJob: TypeAlias = "ReadyJob[BenchPlan, Found, Any]"


def _played(
    job_of: Callable[..., BenchJob[Found]], typed: dict[str, Any], engine: Engine, *, is_plan: bool
) -> tuple[BenchJob[Found], Found | None]:
    """Return a job and how it was played, in this process or elsewhere; None: only planned."""
    if is_plan:
        return job_of(**typed), None
    with engine as plays:
        job = job_of(**typed, engine=plays)
        return job, ending.played(job).found


def _print_plan(job: BenchJob[Any]) -> int:
    """Print the plan; return the exit code."""
    found = ending.run_async(job.plan(ending.audience()))
    if options.is_json():
        options.print_json(found.as_json())
        return 0
    print_results(found.as_lines())
    options.print_rendered(found.as_view())
    return 0


def _print_json(ran: Ran, scores: PrintedReport | None, *, folder: Path) -> None:
    """Print the end of playing as JSON, with the scores of the models that played."""
    from videoautoarena.runs.bench.play.tally import MOST_VOID, BenchEnd
    from videoautoarena.runs.formats.record_json import record_json

    tally = ran.tally
    board = None if scores is None else scores.to_json()
    # All that was just played is against one anchor, so there is one table of it.
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
        unread=tally.unread,
        gone=tally.gone.address if tally.gone else None,
        lost=tally.lost,
        results=[file.relative_to(folder) for file in ran.files],
        kept=ran.kept,
        scores=board,
    )
    options.print_json(record_json(ended))


def _ending(ran: Ran) -> int:
    """Say how playing ended and what to type next; return the exit code."""
    from videoautoarena.runs.bench.play.tally import MOST_VOID
    from videoautoarena.runs.console.progress.costs import possibly_paid_lines

    tally = ran.tally
    for line in (*tally.reasons(), *possibly_paid_lines(tally.lost, ()), *map(safe, ran.kept)):
        say(line)
    code = ending.early_end(tally, tally.so_far)
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


@options.command("arena bench compare my-bench openai:gpt-4o-mini google_genai:gemini-2.5-flash")
@options.OPENED_BENCH
@click.argument("a")
@click.argument("b")
@options.string("--judge J", "Judge whose rulings count, if there are several.")
@options.string("--anchor NAME", "Compare results against this model's answers.")
@options.AS_JSON
def compare(bench: OpenBench[Any], a: str, b: str, **whose: Any) -> None:
    """Compare models A and B on BENCH, with a confidence interval.

    The comparison is paired by question and clustered by video. If both models were judged only
    against an anchor, those results are used without --anchor.
    """
    from videoautoarena.runs.bench.kinds.scorings import scoring_of
    from videoautoarena.runs.views.results.comparisons import comparison_json, comparison_report

    found = scoring_of(bench).compare(bench, a, b, **whose)
    options.print_viewed(comparison_json(found), lambda: comparison_report(found), notes=True)


@options.command("arena bench show my-bench", "arena bench show my-bench 3f2a9c01")
@options.OPENED_BENCH
@click.argument("item", required=False)
@options.AS_JSON
def show(bench: OpenBench[Any], item: str | None) -> None:
    """List the items of BENCH, or show ITEM in full with every model's replies.

    ITEM is its id, or as much of its beginning as only one has. Shown are question, options and
    key, or both answers, or the rounds with their checklists.
    """
    from videoautoarena.runs.bench.score.show import list_items, show_item

    if item is None:
        found = list_items(bench)
        lines = found.as_lines(shutil.get_terminal_size().columns)
        options.print_report(found.to_json(), lines)
        return
    shown = show_item(bench, item)
    options.print_report(shown.to_json(), shown.as_lines())


@options.command("arena bench diff my-bench-1 my-bench-2")
@options.BENCH
@click.argument("other", type=options.PATH)
@options.json_flag("Print one JSON object that names every change.")
def diff(bench: Path, other: Path) -> None:
    """Show what changed from BENCH to OTHER: questions, videos, settings."""
    from videoautoarena.runs.bench.format import verify as bench_diff
    from videoautoarena.runs.views.results.checks import diff_report

    found = bench_diff.diff(bench, other)
    options.print_viewed(found, lambda: diff_report(found))


@options.command("arena bench check my-bench --run arena-out")
@options.OPENED_BENCH
@options.path("--run", "Run or leaderboard whose order of models the scores should reproduce.")
@options.string("--judge J", "Judge whose rulings are used, if there are several.")
@options.AS_JSON
def check(bench: OpenBench[Any], **against: Any) -> None:
    """Check whether BENCH measures what it should, from the results on it.

    Reports what longer answers, constant answers and answers without frames score, the headroom
    left, and how well the scores reproduce the run's order of models.
    """
    from videoautoarena.runs.bench.kinds.scorings import scoring_of
    from videoautoarena.runs.views.results.checks import validity_report

    found = scoring_of(bench).check(bench, **against)
    options.print_viewed(found.to_json(), lambda: validity_report(found), notes=True)


@options.command(
    "arena bench export my-bench --to bench.json",
    "arena bench export my-bench --format inspect --to logs",
    "arena bench export my-bench --format arena-hard --to data",
    "arena bench export my-tasks --model openai:gpt-4o-mini --to predictions.json",
    "arena bench export my-dialogues --model openai:gpt-4o-mini --to predictions",
)
@options.OPENED_BENCH
@options.path(
    "--to",
    f"File to write; with {formats_with('folder', last='and')}, a folder.",
    required=True,
)
@options.choice(
    "--format",
    list(SET_EXPORTS),
    "Format to write; inspect holds one log per result, mlvu the choices of one model.  "
    "[default: videoautobench; of tasks mlvu, of dialogues mt-video-bench]",
    "form",
    is_open=True,
)
@options.string("--judge", f"With {formats_with('judge', last='and')}: only this judge's rulings.")
@options.string(
    "--model M", "With mlvu: whose choices; with mt-video-bench: whose replies, not dialogues."
)
@options.THUMBNAILS
@options.OVERWRITE
@options.AS_JSON
def export(bench: OpenBench[Any], to: Path, form: str | None, **given: Any) -> None:
    """Export BENCH in the format of another project; an imported bench comes out unchanged.

    With inspect, it writes the results of models; with arena-hard, their results against an anchor.
    """
    from videoautoarena.runs.cli.results.inspect import on_terminal

    asked = options.taken(SetExportOptions, given, on_progress=on_terminal)
    form, written = export_set(bench, to, form, asked, refuse=_refuse)
    for line in written.lines[1:]:
        say(line)
    if asked.frames:
        say_before_publishing(f"frames of videos are in {safe(str(to))}")
    options.print_line({"format": form, **written.found}, written.lines[0])


def _refuse(why: str) -> NoReturn:
    raise click.UsageError(why)


@options.command(
    "arena bench score my-bench --format latex",
    "arena bench score my-bench --anchor openai:gpt-4o-mini --style",
)
@options.OPENED_BENCH
@options.string(
    "--by TRAIT",
    "Also score each part of the bench: by duration, category, topic, language, "
    "question-category of a tagged run, or a column of videos.csv.",
)
@options.choice("--of", ["judged", "decided", "all"], "Questions that count in the percentages.")
@options.string("--judge", "Only this judge's rulings.")
@options.string("--anchor NAME", "Only comparisons with this model's answers.")
@options.string(
    "--weight",
    "Against an anchor: number of games that a much better answer counts as.",
    type=options.FloatRange(min=1, max=1000),
    default=3,
)
@options.flag(
    "--style", "Against an anchor: control for answer style (length, markup, named details)."
)
@options.choice(
    "--intervals",
    ["clustered", "bootstrap"],
    "Against an anchor: confidence intervals clustered by video, or bootstrapped over videos.",
)
@options.string(
    "--margin",
    "After a sweep: points below the best that are as good.",
    type=options.FloatRange(min=0, min_open=True, max=100),
    default=2.0,
)
@options.flag(
    "--as-published", "Of tasks and dialogues: score by the published rules, faults included."
)
@options.table_form()
def score(bench: OpenBench[Any], *, form: str, **typed: Any) -> None:
    """Score every model that was run on BENCH, best first.

    Tasks with a right answer: accuracy by task, and the mean over tasks. Dialogues: items of
    checklists answered as expected, by ability, and the mean of the six abilities. Preferences are
    scored as VideoAutoBench does:

    against a selected answer, a win counts 1 and a tie one half; against a rejected answer, only a
    win counts. The score is the mean of the two percentages. Results against an anchor have a table
    of their own: the estimated win rate. Confidence intervals are clustered by video.
    """
    from videoautoarena.runs.bench.kinds.scorings import scoring_of
    from videoautoarena.runs.bench.score.anchor_score import (
        AnchorScores,
        AnchorScoring,
        WantedScores,
    )
    from videoautoarena.runs.views.results.comparisons import pasted, set_reports

    way = options.taken(AnchorScoring, typed)
    scores = scoring_of(bench).score(bench, WantedScores(**typed, way=way))
    if form == "json":
        options.print_json(scores.to_json())
    elif form == "table":
        options.print_views(set_reports(scores))
    else:
        if form == "csv" and isinstance(scores, AnchorScores) and scores.holds_both:
            say("results against an anchor are left out of the CSV; print them with --anchor")
        print_result(pasted(scores, form))


@options.group("arena bench verify my-bench --videos clips")
def bench_command() -> None:
    """Run, score and compare frozen test sets."""


@bench_command.member("arena bench verify my-bench --videos clips")
@options.BENCH
@options.path("--videos", "Also check the videos in this folder.")
@options.AS_JSON
@click.pass_context
def verify(ctx: click.Context, bench: Path, videos: Path | None) -> None:
    """Check that BENCH has not changed since it was frozen.

    Every byte is read. Changes are listed, and the exit code is then 1.
    """
    from videoautoarena.runs.bench.format import verify as benches

    checked = benches.verify(bench, videos)
    options.print_found(checked)
    ctx.exit(1 if checked.problems else 0)


bench_command.add_command(export)
bench_command.add_command(score)
bench_command.add_command(run_command)
bench_command.add_command(compare)
bench_command.add_command(check)
bench_command.add_command(diff)
bench_command.add_command(show)
bench_command.add_command(probe)
