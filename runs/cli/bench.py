"""`bench`: verifying, scoring, comparing, checking and exporting frozen sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from videoautoarena.runs.cli.bench_run import bench_run_command as play
from videoautoarena.runs.cli.options import TellingGroup

if TYPE_CHECKING:
    from videoautoarena.runs.bench.format.reader import OpenBench
    from videoautoarena.runs.bench.score.anchor_score import Scores, WantedScores
    from videoautoarena.runs.bench.score.score import By, Of


_BENCH = click.Path(path_type=Path)


@click.command(
    "compare",
    epilog="Example: arena bench compare my-bench openai:gpt-4o-mini google_genai:gemini-2.5-flash",
)
@click.argument("bench", type=_BENCH)
@click.argument("a")
@click.argument("b")
@click.option("--judge", metavar="J", help="Whose rulings count, where several judged.")
@click.option("--anchor", metavar="NAME", help="By how they fared against this model's answers.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def compare(
    bench: Path, a: str, b: str, judge: str | None, anchor: str | None, as_json: bool
) -> None:
    """Say which of the models A and B is better on BENCH, and how sure that is.

    Question by question, over those that both were judged on, with videos as clusters. Where both
    were only held against an anchor, that counts without being named.
    """
    from videoautoarena.runs.bench.format.reader import open_bench
    from videoautoarena.runs.bench.kinds.scorings import scoring_of

    opened = open_bench(bench)
    found = scoring_of(opened).compare(opened, a, b, judge=judge, anchor=anchor)
    _print(found.to_json(), found.as_lines(), as_json=as_json)


@click.command("diff", epilog="Example: arena bench diff my-bench-1 my-bench-2")
@click.argument("bench", type=_BENCH)
@click.argument("other", type=_BENCH)
@click.option("--json", "as_json", is_flag=True, help="One JSON object, which names everything.")
def diff(bench: Path, other: Path, as_json: bool) -> None:
    """Say what changed from BENCH to OTHER: questions, videos, settings."""
    from videoautoarena.runs.bench.format import diff as bench_diff

    report = bench_diff.diff(bench, other)
    _print(report, bench_diff.as_lines(report), as_json=as_json)


@click.command("check", epilog="Example: arena bench check my-bench --run arena-out")
@click.argument("bench", type=_BENCH)
@click.option(
    "--run",
    type=click.Path(path_type=Path),
    help="The run, or any leaderboard, whose order the scores should give again.",
)
@click.option("--judge", metavar="J", help="Whose rulings are looked at, where several judged.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def check(bench: Path, run: Path | None, judge: str | None, as_json: bool) -> None:
    """Say whether BENCH measures what it should, by the results on it.

    What length, constant words and no frames win, how much room it leaves, and how far its scores
    order the models as the run does.
    """
    from videoautoarena.runs.bench.format.reader import open_bench
    from videoautoarena.runs.bench.kinds.scorings import scoring_of

    opened = open_bench(bench)
    found = scoring_of(opened).check(opened, run=run, judge=judge)
    _print(found.to_json(), found.as_lines(), as_json=as_json)


def _print(report: dict[str, Any], lines: Sequence[str], *, as_json: bool) -> None:
    import json

    from videoautoarena.runs.text.terminal import tell, tell_lines

    if as_json:
        tell(json.dumps(report, indent=2))
    else:
        tell_lines(lines)


@click.command(
    "export",
    epilog="""\b
Examples:
  arena bench export my-bench --to bench.json
  arena bench export my-bench --format inspect --to logs
  arena bench export my-bench --format arena-hard --to data""",
)
@click.argument("bench", type=click.Path(path_type=Path))
@click.option("--to", required=True, type=click.Path(path_type=Path),
              help="File to write, of inspect and arena-hard a folder.")  # fmt: skip
@click.option("--format", "form", type=click.Choice(["videoautobench", "inspect", "arena-hard"]),
              default="videoautobench", show_default=True,
              help="Whose file it is to be; of inspect a log a result.")  # fmt: skip
@click.option("--judge", help="Of inspect and arena-hard: only what this judge said.")
@click.option("--frames", type=click.IntRange(0, 64), default=0, show_default=True, metavar="N",
              help="Of inspect: so many thumbnails of frames in every sample.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace the file.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def export(bench: Path, to: Path, form: str, as_json: bool, **given: Any) -> None:
    """Write BENCH as others publish theirs; an imported one comes out as it went in.

    For Inspect's viewer it writes what models came to on it, for arena-hard what they came to
    against an anchor.
    """
    import json

    from videoautoarena.memory.records.records import SCHEMA
    from videoautoarena.runs.bench.format.reader import open_bench
    from videoautoarena.runs.bench.kinds.scorings import scoring_of
    from videoautoarena.runs.text.terminal import say, tell

    if form == "videoautobench" and given["judge"] is not None:
        raise click.UsageError("--judge is for --format inspect and arena-hard")
    if form != "inspect" and given["frames"]:
        raise click.UsageError("--frames is for --format inspect")
    opened = open_bench(bench)
    if form not in (known := scoring_of(opened).exports):
        raise click.UsageError(
            f"a set of kind {opened.manifest.kind} goes out as {', '.join(known)}, not as {form}"
        )
    written = {"inspect": _logs, "arena-hard": _folder, "videoautobench": _file}[form]
    found, lines = written(opened, to, **given)
    for line in lines[1:]:
        say(line)
    tell(json.dumps({"schema": SCHEMA, "format": form, **found}) if as_json else lines[0])


Exported = tuple[dict[str, Any], list[str]]


def _file(bench: OpenBench, to: Path, *, force: bool, **_: Any) -> Exported:
    from videoautoarena.runs.interop.videoautobench import export_videoautobench
    from videoautoarena.runs.rundir.reader import counted
    from videoautoarena.runs.text.terminal import safe

    number = export_videoautobench(bench, to, force=force)
    line = f"{safe(str(to))}: {counted(number, 'question')} as a videoautobench file"
    return {"file": str(to), "questions": number}, [line]


def _logs(bench: OpenBench, to: Path, **given: Any) -> Exported:
    from videoautoarena.runs.cli.inspect import on_terminal
    from videoautoarena.runs.interop.inspect_bench import export_results

    written = export_results(bench, to, **given, tell=on_terminal)
    files = [file.name for file in written.files]
    return {"folder": str(to), "files": files, "samples": written.samples}, written.as_lines()


def _folder(bench: OpenBench, to: Path, *, judge: str | None, force: bool, **_: Any) -> Exported:
    from videoautoarena.runs.interop.arena_hard_export import export_arena_hard
    from videoautoarena.runs.text.terminal import safe

    exported = export_arena_hard(bench, to, judge=judge, force=force)
    return exported.as_json(), [safe(exported.as_line())]


@click.command(
    "score",
    epilog="""\b
Examples:
  arena bench score my-bench --format latex
  arena bench score my-bench --anchor openai:gpt-4o-mini --style""",
)
@click.argument("bench", type=click.Path(path_type=Path))
@click.option("--by", type=click.Choice(["duration", "category", "topic"]),
              help="Also the scores of every part of the bench.")  # fmt: skip
@click.option("--of", "whole", type=click.Choice(["judged", "decided", "all"]), default="judged",
              show_default=True, help="Questions that are the whole.")  # fmt: skip
@click.option("--judge", help="Only what this judge said.")
@click.option("--anchor", metavar="NAME", help="Only what was held against this model's answers.")
@click.option("--weight", type=click.FloatRange(min=1, max=1000), default=3, show_default=True,
              help="Against an anchor: games that much better counts as.")  # fmt: skip
@click.option("--style", is_flag=True, help="Against an anchor: as if all answers looked alike.")
@click.option("--intervals", type=click.Choice(["clustered", "bootstrap"]), default="clustered",
              show_default=True,
              help="Against an anchor: by video, or by drawing videos again.")  # fmt: skip
@click.option("--format", "form", type=click.Choice(["table", "markdown", "latex", "csv", "json"]),
              help="As what to print it.  [default: table]")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def score(bench: Path, *, form: str | None, as_json: bool, **typed: Any) -> None:
    """Score every model that was judged on BENCH, as VideoAutoBench does, best first.

    Against a selected answer a win counts 1 and a tie a half, against a rejected one only a win
    counts; the score is the mean of the two percentages. What was held against an anchor has a
    table of its own: the share of games that a model would win. Intervals know which questions
    share a video.
    """
    import json

    from videoautoarena.runs.bench.format.reader import open_bench
    from videoautoarena.runs.bench.kinds.scorings import scoring_of
    from videoautoarena.runs.cli.options import chosen_form

    chosen = chosen_form(form, as_json=as_json)
    opened = open_bench(bench)
    scores = scoring_of(opened).score(opened, _wanted(**typed))
    if chosen == "json":
        click.echo(json.dumps(scores.to_json(), indent=2))
    else:
        _show(scores, chosen)


def _wanted(
    *, by: str | None, whole: str, judge: str | None, anchor: str | None, **way: Any
) -> WantedScores:
    from videoautoarena.runs.bench.score.anchor_score import WantedScores, Way

    return WantedScores(
        of=cast("Of", whole), by=cast("By | None", by), judge=judge, anchor=anchor, way=Way(**way)
    )


def _show(scores: Scores, form: str) -> None:
    """Print scores against references and against anchors, whichever there are.

    As CSV it is one table: that of the references where there are any.
    """
    from videoautoarena.runs.bench.score.anchor_text import pasted_anchored, render_each
    from videoautoarena.runs.bench.score.score_text import pasted_scores
    from videoautoarena.runs.cli.options import results as console
    from videoautoarena.runs.text.terminal import say

    board, anchored = scores.board, scores.anchored
    if form == "table":
        shown = console()
        for part in render_each(scores):
            shown.print(part)
        return
    parts = [pasted_scores(board, form)] if board["models"] else []
    if anchored and (form != "csv" or not parts):
        parts.append(pasted_anchored(anchored, form))
    elif anchored:
        say("what was held against an anchor is left out of the CSV; pass --anchor for that alone")
    click.echo("\n\n".join(parts))


@click.group(
    "bench", cls=TellingGroup, epilog="Example: arena bench verify my-bench --videos clips"
)
def bench_command() -> None:
    """Work with frozen test sets."""


@bench_command.command("verify", epilog="Example: arena bench verify my-bench --videos clips")
@click.argument("bench", type=click.Path(path_type=Path))
@click.option("--videos", type=click.Path(path_type=Path), help="Check the videos in here, too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_context
def verify(ctx: click.Context, bench: Path, videos: Path | None, as_json: bool) -> None:
    """Check that BENCH is as it was frozen.

    Every byte is read; exit code 1 where something changed, which is named.
    """
    import json

    from videoautoarena.runs.bench.format import verify as benches
    from videoautoarena.runs.text.terminal import tell_lines

    checked = benches.verify(bench, videos)
    if as_json:
        click.echo(json.dumps(checked.as_json(), indent=2))
    else:
        tell_lines(checked.as_lines())
    ctx.exit(1 if checked.problems else 0)


bench_command.add_command(export)
bench_command.add_command(score)
bench_command.add_command(play)
bench_command.add_command(compare)
bench_command.add_command(check)
bench_command.add_command(diff)
