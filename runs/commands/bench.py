"""`arena bench`."""

from __future__ import annotations

from pathlib import Path

import click

from runs.commands.bench_ask import check, compare, diff
from runs.commands.bench_files import export
from runs.commands.bench_play import command as play
from runs.commands.bench_score import score
from runs.commands.groups import TellingGroup


@click.group(
    "bench", cls=TellingGroup, epilog="Example: arena bench verify my-bench --videos clips"
)
def command() -> None:
    """Work with frozen test sets."""


@command.command("verify", epilog="Example: arena bench verify my-bench --videos clips")
@click.argument("bench", type=click.Path(path_type=Path))
@click.option("--videos", type=click.Path(path_type=Path), help="Check the videos in here, too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_context
def verify(ctx: click.Context, bench: Path, videos: Path | None, as_json: bool) -> None:
    """Check that BENCH is as it was frozen.

    Every byte is read; exit code 1 where something changed, which is named.
    """
    import json

    from runs import bench as benches
    from runs.console import tell_lines

    checked = benches.verify(bench, videos)
    if as_json:
        click.echo(json.dumps(checked.as_json(), indent=2))
    else:
        tell_lines(checked.as_lines())
    ctx.exit(1 if checked.problems else 0)


command.add_command(export)
command.add_command(score)
command.add_command(play)
command.add_command(compare)
command.add_command(check)
command.add_command(diff)
