"""`arena bench score`: what the results on a bench come to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

if TYPE_CHECKING:
    from runs.anchor_score import Board, Intervals
    from runs.benches import OpenBench
    from runs.score import By, Of


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

    from runs.benches import open_bench
    from runs.commands.rating_options import chosen_form

    chosen = chosen_form(form, as_json=as_json)
    opened = open_bench(bench)
    board, anchored = _boards(opened, **typed)
    if chosen == "json":
        click.echo(json.dumps({**board, "anchored": anchored} if anchored else board, indent=2))
    else:
        show_scores(board, anchored, chosen)


def _boards(
    bench: OpenBench, *, by: str | None, whole: str, judge: str | None, anchor: str | None,
    weight: float, style: bool, intervals: str,
) -> tuple[Board, list[Board]]:  # fmt: skip
    """Return the scores against references and the boards against anchors."""
    from runs.anchor_score import Way, anchored_by, build_anchored
    from runs.score import build_scores, results_by

    held = anchored_by(bench, judge=judge, anchor=anchor)
    way = Way(weight=weight, style=style, intervals=cast("Intervals", intervals))
    anchored = build_anchored(bench, held, way, by=cast("By | None", by))
    results = results_by(bench, judge, may_be_none=bool(anchored)) if anchor is None else []
    board = build_scores(bench, results, of=cast("Of", whole), by=cast("By | None", by))
    if anchored and not results:
        board["stand_ins"] = all(one["stand_ins"] for one in anchored)
    return board, anchored


def show_scores(board: Board, anchored: list[Board], form: str) -> None:
    """Print scores against references and against anchors, whichever there are.

    As CSV it is one table: that of the references where there are any.
    """
    from runs.anchor_text import pasted_anchored, render_anchored
    from runs.commands.rating_options import results as console
    from runs.console import say
    from runs.score_text import pasted_scores, render_scores

    if form == "table":
        shown = console()
        if board["models"]:
            shown.print(render_scores(board))
        for place, one in enumerate(anchored):
            if place or board["models"]:
                shown.print()
            shown.print(render_anchored(one))
        return
    parts = [pasted_scores(board, form)] if board["models"] else []
    if anchored and (form != "csv" or not parts):
        parts.append(pasted_anchored(anchored, form))
    elif anchored:
        say("what was held against an anchor is left out of the CSV; pass --anchor for that alone")
    click.echo("\n\n".join(parts))
