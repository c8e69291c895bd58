"""`arena leaderboard`."""

from __future__ import annotations

from pathlib import Path

import click

PIPED = 100
"""Columns of the table where no terminal says how many there are."""


@click.command("leaderboard", epilog="Example: arena leaderboard arena-out")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object, the best model first.")
def command(out: Path, as_json: bool) -> None:
    """Rate the models of the run in OUT, with intervals that know which battles share a video."""
    show_leaderboard(out, as_json=as_json)


def show_leaderboard(folder: Path, *, as_json: bool) -> None:
    """Print the leaderboard of the run in `folder`."""
    import json

    from runs.board import board_of
    from runs.console import out
    from runs.leaderboard import render

    table = board_of(folder)
    if as_json:
        click.echo(json.dumps(table, indent=2))
    else:
        console = out()
        width = console.width if console.is_terminal else max(console.width, PIPED)
        console.print(render(table), soft_wrap=False, width=width)
