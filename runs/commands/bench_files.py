"""`arena bench export` and `arena bench score`: what leaves a bench."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

if TYPE_CHECKING:
    from runs.benches import OpenBench
    from runs.score import By, Of


@click.command(
    "export",
    epilog="""\b
Examples:
  arena bench export my-bench --to bench.json
  arena bench export my-bench --format inspect --to logs""",
)
@click.argument("bench", type=click.Path(path_type=Path))
@click.option("--to", required=True, type=click.Path(path_type=Path),
              help="File to write, of inspect a folder.")  # fmt: skip
@click.option("--format", "form", type=click.Choice(["videoautobench", "inspect"]),
              default="videoautobench", show_default=True,
              help="Whose file it is to be; of inspect a log a result.")  # fmt: skip
@click.option("--judge", help="Of inspect: only what this judge said.")
@click.option("--frames", type=click.IntRange(0, 64), default=0, show_default=True, metavar="N",
              help="Of inspect: so many thumbnails of frames in every sample.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace the file.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def export(bench: Path, to: Path, form: str, as_json: bool, **given: Any) -> None:
    """Write BENCH as others publish theirs; an imported one comes out as it went in.

    For Inspect's viewer it writes what models came to on it.
    """
    import json

    from memory.records import SCHEMA
    from runs.benches import open_bench
    from runs.console import say, tell

    if form != "inspect" and (given["judge"] is not None or given["frames"]):
        raise click.UsageError("--judge and --frames are for --format inspect")
    opened = open_bench(bench)
    found, lines = _logs(opened, to, **given) if form == "inspect" else _file(opened, to, **given)
    for line in lines[1:]:
        say(line)
    tell(json.dumps({"schema": SCHEMA, "format": form, **found}) if as_json else lines[0])


Exported = tuple[dict[str, Any], list[str]]


def _file(bench: OpenBench, to: Path, *, force: bool, **_: Any) -> Exported:
    from runs.console import safe
    from runs.exports import export_videoautobench
    from runs.reading import counted

    number = export_videoautobench(bench, to, force=force)
    line = f"{safe(str(to))}: {counted(number, 'question')} as a videoautobench file"
    return {"file": str(to), "questions": number}, [line]


def _logs(bench: OpenBench, to: Path, **given: Any) -> Exported:
    from runs.inspect_bench import export_results

    written = export_results(bench, to, **given)
    files = [file.name for file in written.files]
    return {"folder": str(to), "files": files, "samples": written.samples}, written.as_lines()


@click.command("score", epilog="Example: arena bench score my-bench --format latex")
@click.argument("bench", type=click.Path(path_type=Path))
@click.option("--by", type=click.Choice(["duration", "category", "topic"]),
              help="Also the scores of every part of the bench.")  # fmt: skip
@click.option("--of", "whole", type=click.Choice(["judged", "decided", "all"]), default="judged",
              show_default=True, help="Questions that are the whole.")  # fmt: skip
@click.option("--judge", help="Only what this judge said.")
@click.option("--format", "form", type=click.Choice(["table", "markdown", "latex", "csv", "json"]),
              help="As what to print it.  [default: table]")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def score(
    bench: Path, by: str | None, whole: str, judge: str | None, form: str | None, as_json: bool
) -> None:
    """Score every model that was judged on BENCH, as VideoAutoBench does, best first.

    Against a selected answer a win counts 1 and a tie a half, against a rejected one only a win
    counts; the score is the mean of the two percentages. Intervals know which questions share a
    video.
    """
    import json

    from runs.benches import open_bench
    from runs.commands.rating_options import chosen_form
    from runs.score import build_scores, results_by

    chosen = chosen_form(form, as_json=as_json)
    opened = open_bench(bench)
    board = build_scores(
        opened, results_by(opened, judge), of=cast("Of", whole), by=cast("By | None", by)
    )
    if chosen == "json":
        click.echo(json.dumps(board, indent=2))
        return
    from runs.console import out as console
    from runs.score_text import pasted_scores, render_scores

    if chosen == "table":
        console().print(render_scores(board))
    else:
        click.echo(pasted_scores(board, chosen))
