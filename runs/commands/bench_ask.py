"""`arena bench compare`, `diff` and `check`: what results say, and what changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

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
    from runs import anchor_compare, bench_compare

    report = anchor_compare.compare_any(bench, a, b, judge=judge, anchor=anchor)
    as_lines = anchor_compare.anchored_lines if "anchor" in report else bench_compare.as_lines
    _print(report, as_lines(report), as_json=as_json)


@click.command("diff", epilog="Example: arena bench diff my-bench-1 my-bench-2")
@click.argument("bench", type=_BENCH)
@click.argument("other", type=_BENCH)
@click.option("--json", "as_json", is_flag=True, help="One JSON object, which names everything.")
def diff(bench: Path, other: Path, as_json: bool) -> None:
    """Say what changed from BENCH to OTHER: questions, videos, settings."""
    from runs import bench_diff

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
    from runs import bench_check

    report = bench_check.check(bench, run=run, judge=judge)
    _print(report, bench_check.as_lines(report), as_json=as_json)


def _print(report: dict[str, Any], lines: Sequence[str], *, as_json: bool) -> None:
    import json

    from runs.console import tell, tell_lines

    if as_json:
        tell(json.dumps(report, indent=2))
    else:
        tell_lines(lines)
