"""`arena leaderboard`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from runs.commands.rating_options import chosen_form, print_board, rating_options, read_method

if TYPE_CHECKING:
    from runs.leaderboard_method import Method
    from runs.slices import By


@click.command("leaderboard", epilog="Example: arena leaderboard arena-out --by duration")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--by",
    type=click.Choice(["duration", "category", "round", "origin", "persona", "format"]),
    help="Rate every slice apart: by length of the video, its category, the round, where the "
    "question came from, how near the user is to the video, which form the question asks for.",
)
@rating_options
def command(out: Path, by: str | None, form: str | None, as_json: bool, **method: Any) -> None:
    """Rate the models of the run in OUT, with intervals that know which battles share a video."""
    chosen = chosen_form(form, as_json=as_json)
    show_leaderboard(out, form=chosen, by=by, method=read_method(method))


def show_leaderboard(
    folder: Path, *, form: str = "table", by: str | None = None, method: Method | None = None
) -> None:
    """Print the leaderboard of the run in `folder`, or those of its slices."""
    from runs.board import board_of, slices_of
    from runs.leaderboard_method import USUAL

    how = method or USUAL
    print_board(
        board_of(folder, how) if by is None else slices_of(folder, cast("By", by), how), form
    )
