"""`arena leaderboard`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

if TYPE_CHECKING:
    from runs.leaderboard_forms import Form
    from runs.slices import By

PIPED = 100
"""Columns of the table where no terminal says how many there are."""


def chosen_form(form: str | None, *, as_json: bool) -> str:
    """Return the form that --format and --json ask for together."""
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} ask for different things; give one")
    return "json" if as_json else form or "table"


@click.command("leaderboard", epilog="Example: arena leaderboard arena-out --by duration")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--by",
    type=click.Choice(["duration", "category", "round", "origin", "persona", "format"]),
    help="Rate every slice apart: by length of the video, its category, the round, where the "
    "question came from, how near the user is to the video, which form the question asks for.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "markdown", "latex", "csv", "json"]),
    help="How it is printed.  [default: table]",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def command(out: Path, by: str | None, form: str | None, as_json: bool) -> None:
    """Rate the models of the run in OUT, with intervals that know which battles share a video."""
    show_leaderboard(out, form=chosen_form(form, as_json=as_json), by=by)


def show_leaderboard(folder: Path, *, form: str = "table", by: str | None = None) -> None:
    """Print the leaderboard of the run in `folder`, or those of its slices."""
    import json

    from runs.board import board_of, slices_of

    table = board_of(folder) if by is None else slices_of(folder, cast("By", by))
    if form == "json":
        click.echo(json.dumps(table, indent=2))
    elif form == "table":
        _print(table)
    else:
        click.echo(_pasted(table, cast("Form", form)))


def _pasted(table: dict[str, Any], form: Form) -> str:
    from runs.leaderboard_forms import pasted
    from runs.slices_text import pasted_slices

    return pasted_slices(table, form) if "slices" in table else pasted(table, form)


def _print(table: dict[str, Any]) -> None:
    import os

    from runs.console import out
    from runs.leaderboard import render
    from runs.slices_text import render_slices

    console = out()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPED
    sliced = "slices" in table
    console.print(render_slices(table, console.width) if sliced else render(table))
