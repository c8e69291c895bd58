"""Rating models: `leaderboard` and `rate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from videoautoarena.runs.cli.options import (
    check_picture,
    chosen_form,
    draw_picture,
    picture_options,
    print_board,
    rating_options,
    read_method,
)

if TYPE_CHECKING:
    from videoautoarena.runs.leaderboard.head_to_head import Pairs
    from videoautoarena.runs.leaderboard.slices import By, Slices
    from videoautoarena.runs.rating.leaderboard import Leaderboard
    from videoautoarena.runs.rating.method import Method


_TRAITS = (
    *("duration", "category", "round", "origin", "persona", "format", "pair"),
    *("judge", "standard"),
)


@click.command("leaderboard", epilog="Example: arena leaderboard arena-out --by duration")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--by",
    type=click.Choice(_TRAITS),
    help="Rate each slice separately: video duration, video category, round, origin of the "
    "question, how close the persona is to the video, question format, judge, or judging "
    "standard. With pair: head-to-head results.",
)
@click.option(
    "--without",
    type=click.Choice(["ties", "refusals"]),
    multiple=True,
    help="Leave ties or refusals out of the fit; may be given twice.",
)
@click.option(
    "--reweight",
    is_flag=True,
    help="Weight battles by inverse pairing probability.",
)
@click.option(
    "--details",
    is_flag=True,
    help="Also show each model's refusals, forfeits, voids, both-bad ties and answer length.",
)
@click.option(
    "--labels",
    is_flag=True,
    help="Rate on the scale of human labels: all verdicts, corrected by the labels of a random "
    "sample.",
)
@click.option(
    "--assume-random",
    is_flag=True,
    help="With --labels: treat all labels as a random sample.",
)
@picture_options
@rating_options
def leaderboard_command(
    out: Path,
    by: str | None,
    form: str | None,
    as_json: bool,
    details: bool,
    notes: bool,
    labels: bool,
    assume_random: bool,
    picture: Path | None,
    force: bool,
    **method: Any,
) -> None:
    """Rate the models of the run in OUT, with confidence intervals clustered by video."""
    chosen = chosen_form(form, as_json=as_json)
    if picture is not None and by == "pair":
        raise click.UsageError("--picture cannot draw --by pair; arena pictures draws heat maps")
    if assume_random and not labels:
        raise click.UsageError("--assume-random goes with --labels; give both")
    if labels and by is not None:
        raise click.UsageError("--labels rates the whole run; leave out --by")
    check_picture(picture, force=force)
    method["without"] = tuple(dict.fromkeys(method["without"]))
    how = read_method(method)
    board = (
        _on_labels(out, how, assume_random=assume_random)
        if labels
        else rate_run(out, by=by, method=how)
    )
    print_board(board, chosen, details=details, notes=notes)
    # A picture of pairs was refused above.
    draw_picture(cast("Leaderboard | Slices", board), picture)


def _on_labels(folder: Path, method: Method, *, assume_random: bool) -> Leaderboard:
    from videoautoarena.runs.leaderboard.board import labelled_board_of

    return labelled_board_of(folder, method, assume_random=assume_random)


def show_leaderboard(folder: Path) -> None:
    """Print the leaderboard of the run in `folder`."""
    print_board(rate_run(folder), "table")


def rate_run(
    folder: Path, *, by: str | None = None, method: Method | None = None
) -> Leaderboard | Slices | Pairs:
    """Return the leaderboard of the run in `folder`, those of its slices, or its pairs."""
    from videoautoarena.runs.leaderboard.board import board_of, pairs_of, slices_of
    from videoautoarena.runs.rating.method import USUAL

    how = method or USUAL
    if by is None:
        return board_of(folder, how)
    return pairs_of(folder, how) if by == "pair" else slices_of(folder, cast("By", by), how)


@click.command("rate", epilog="Example: arena rate battles.csv --json")
@click.argument("file", type=click.Path(path_type=Path))
@picture_options
@rating_options
def rate_command(
    file: Path,
    form: str | None,
    notes: bool,
    as_json: bool,
    picture: Path | None,
    force: bool,
    **method: Any,
) -> None:
    """Rate the battles in FILE: CSV, JSON lines or Parquet with model_a, model_b and winner."""
    from videoautoarena.runs.rating.rate import rate_file

    chosen = chosen_form(form, as_json=as_json)
    check_picture(picture, force=force)
    board = rate_file(file, read_method(method))
    print_board(board, chosen, notes=notes)
    draw_picture(board, picture)
