"""`bench`: verifying, scoring, comparing, checking and exporting frozen sets."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from videoautoarena.runs.cli.program import options
from videoautoarena.runs.cli.sets.bench_run import probe, run_command
from videoautoarena.runs.exchange.interop.exports import (
    SET_EXPORTS,
    SetExportOptions,
    export_set,
    formats_with,
)
from videoautoarena.runs.formats.publishing import say_before_publishing
from videoautoarena.runs.formats.terminal import print_result, safe, say

if TYPE_CHECKING:
    from videoautoarena.runs.bench.format.reader import OpenBench


@options.command("arena bench compare my-bench openai:gpt-4o-mini google_genai:gemini-2.5-flash")
@options.OPENED_BENCH
@click.argument("a")
@click.argument("b")
@options.string("--judge J", "Judge whose rulings count, if there are several.")
@options.string("--anchor NAME", "Compare results against this model's answers.")
@options.AS_JSON
def compare(bench: OpenBench[Any], a: str, b: str, *, as_json: bool, **whose: Any) -> None:
    """Compare models A and B on BENCH, with a confidence interval.

    The comparison is paired by question and clustered by video. If both models were judged only
    against an anchor, those results are used without --anchor.
    """
    from videoautoarena.runs.bench.kinds.scorings import scoring_of
    from videoautoarena.runs.views.results.comparisons import comparison_json, comparison_report

    found = scoring_of(bench).compare(bench, a, b, **whose)
    options.print_viewed(
        comparison_json(found), lambda: comparison_report(found), as_json=as_json, notes=True
    )


@options.command("arena bench show my-bench", "arena bench show my-bench 3f2a9c01")
@options.OPENED_BENCH
@click.argument("item", required=False)
@options.AS_JSON
def show(bench: OpenBench[Any], item: str | None, as_json: bool) -> None:
    """List the items of BENCH, or show ITEM in full with every model's replies.

    ITEM is its id, or as much of its beginning as only one has. Shown are question, options and
    key, or both answers, or the rounds with their checklists.
    """
    from videoautoarena.runs.bench.score.show import list_items, show_item

    if item is None:
        found = list_items(bench)
        lines = found.as_lines(shutil.get_terminal_size().columns)
        options.print_report(found.to_json(), lines, as_json=as_json)
        return
    shown = show_item(bench, item)
    options.print_report(shown.to_json(), shown.as_lines(), as_json=as_json)


@options.command("arena bench diff my-bench-1 my-bench-2")
@options.BENCH
@click.argument("other", type=options.PATH)
@options.flag("--json", "Print one JSON object that names every change.", "as_json")
def diff(bench: Path, other: Path, as_json: bool) -> None:
    """Show what changed from BENCH to OTHER: questions, videos, settings."""
    from videoautoarena.runs.bench.format import verify as bench_diff
    from videoautoarena.runs.views.results.checks import diff_report

    found = bench_diff.diff(bench, other)
    options.print_viewed(found, lambda: diff_report(found), as_json=as_json)


@options.command("arena bench check my-bench --run arena-out")
@options.OPENED_BENCH
@options.path("--run", "Run or leaderboard whose order of models the scores should reproduce.")
@options.string("--judge J", "Judge whose rulings are used, if there are several.")
@options.AS_JSON
def check(bench: OpenBench[Any], *, as_json: bool, **against: Any) -> None:
    """Check whether BENCH measures what it should, from the results on it.

    Reports what longer answers, constant answers and answers without frames score, the headroom
    left, and how well the scores reproduce the run's order of models.
    """
    from videoautoarena.runs.bench.kinds.scorings import scoring_of
    from videoautoarena.runs.views.results.checks import validity_report

    found = scoring_of(bench).check(bench, **against)
    options.print_viewed(
        found.to_json(), lambda: validity_report(found), as_json=as_json, notes=True
    )


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
def export(bench: OpenBench[Any], to: Path, form: str | None, as_json: bool, **given: Any) -> None:
    """Export BENCH in the format of another project; an imported bench comes out unchanged.

    With inspect, it writes the results of models; with arena-hard, their results against an anchor.
    """
    from videoautoarena.runs.cli.results.inspect import on_terminal

    asked = options.take(SetExportOptions, given, on_progress=on_terminal)
    form, written = export_set(bench, to, form, asked, refuse=_refuse)
    for line in written.lines[1:]:
        say(line)
    if asked.frames:
        say_before_publishing(f"frames of videos are in {safe(str(to))}")
    options.print_line({"format": form, **written.found}, written.lines[0], as_json=as_json)


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
    type=click.FloatRange(min=1, max=1000),
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
    type=click.FloatRange(min=0, min_open=True, max=100),
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
        AnchorScoring,
        Scores,
        WantedScores,
    )
    from videoautoarena.runs.views.results.comparisons import pasted, set_reports

    way = options.take(AnchorScoring, typed)
    scores = scoring_of(bench).score(bench, WantedScores(**typed, way=way))
    if form == "json":
        options.print_report(scores.to_json(), (), as_json=True)
    elif form == "table":
        options.print_views(set_reports(scores))
    else:
        if form == "csv" and isinstance(scores, Scores) and scores.holds_both:
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
def verify(ctx: click.Context, bench: Path, videos: Path | None, as_json: bool) -> None:
    """Check that BENCH has not changed since it was frozen.

    Every byte is read. Changes are listed, and the exit code is then 1.
    """
    from videoautoarena.runs.bench.format import verify as benches

    checked = benches.verify(bench, videos)
    options.print_report(checked.as_json(), checked.as_lines(), as_json=as_json)
    ctx.exit(1 if checked.problems else 0)


bench_command.add_command(export)
bench_command.add_command(score)
bench_command.add_command(run_command)
bench_command.add_command(compare)
bench_command.add_command(check)
bench_command.add_command(diff)
bench_command.add_command(show)
bench_command.add_command(probe)
